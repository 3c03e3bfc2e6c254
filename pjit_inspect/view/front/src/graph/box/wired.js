// A layered picture whose nodes can be chosen: how they look is the graph's or the flow's, how they are lit, walked and
// joined by arrows is here.
import { stepTo } from "./walk.js";
import { s } from "../../core/dom.js";
import { tooltip } from "../../core/tooltip.js";

/** @typedef {import("../../layered/layered.js").Picture} Picture */

export class Wired {
  /** @param {import("../../core/store.js").Store} store @param {[number, number][]} edges */
  constructor(store, edges) {
    this.store = store;
    this.data = /** @type {import("../../core/blob.js").Store} */ (store.data);
    this.edges = edges;
    /** The node that was clicked, or walked to. */
    this.current = -1;
    /** @type {Element[]} */
    this.arrows = [];
    /** @type {SVGGElement[]} */
    this.groups = [];
  }

  /**
   * Draws all of it, with room around.
   * @param {string} tag @param {string} label @param {Picture} picture @param {[number, number, number]} room at the left
   * and right, above, and above and below
   */
  assemble(tag, label, picture, [side, top, both]) {
    this.picture = picture;
    const [width, height] = [picture.width + 2 * side, picture.height + both];
    this.wires = s("g.wires", this.arrows);
    const viewBox = `${-side} ${-top} ${width} ${height}`;
    const style = { "--dag-width": `${width}px` };
    const props = { role: "listbox", "aria-label": label, viewBox, width, height, style };
    const svg = s(tag, props, this.wires, this.groups);
    svg.addEventListener("keydown", (event) => this.key(/** @type {KeyboardEvent} */ (event)));
    this.tip = tooltip(/** @type {any} */ (svg));
    return svg;
  }

  /** @param {number[][]} route @param {string} [weight] of its line */
  arrow(route, weight) {
    const [x, y] = route[route.length - 1];
    return s(
      "g.edge",
      s("polyline", { points: route.map((point) => point.join(",")).join(" "), "stroke-width": weight }),
      s("path.tip", { d: `M${x - 3.5} ${y - 5.5}h7L${x} ${y}z` }),
    );
  }

  /**
   * @param {number} index @param {string} kind classes @param {string[]} story what the tooltip tells
   * @param {{x: number, y: number}} place @param {...any} parts
   */
  node(index, kind, story, place, ...parts) {
    const props = {
      class: `kernel ${kind}`,
      role: "option",
      tabindex: index ? -1 : 0,
      "aria-label": story.join("; "),
      "aria-selected": "false",
      transform: `translate(${place.x} ${place.y})`,
      onclick: () => this.choose(index, true),
      onpointermove: (/** @type {PointerEvent} */ event) => this.tip?.show(story, event.clientX, event.clientY),
      onpointerleave: () => this.tip?.hide(),
    };
    return /** @type {SVGGElement} */ (s("g", props, parts));
  }

  /** Whether the selection is a node, or a group it is one of. @param {number} _index @returns {boolean} */
  isOn(_index) {
    return false;
  }

  /** @param {number} _index @param {boolean} _opens whether it was chosen, and not only walked to */
  choose(_index, _opens) {}

  /** @param {number} index */
  goTo(index) {
    this.tip?.hide();
    this.current = index;
    this.groups[index].focus({ preventScroll: true });
  }

  /** Goes with the selection: of a group, the one that was clicked. */
  update() {
    if (this.current < 0 || !this.isOn(this.current)) this.current = this.groups.findIndex((_, i) => this.isOn(i));
    this.mark();
  }

  /** Lights the current node, what it takes from, and what takes its result. */
  mark() {
    const near = new Set();
    this.edges.forEach(([from, to], i) => {
      const isLit = this.current >= 0 && (from === this.current || to === this.current);
      if (isLit) near.add(from).add(to);
      this.arrows[i].classList.toggle("lit", isLit);
      if (isLit) this.wires?.append(this.arrows[i]); // over the others
    });
    this.wires?.parentElement?.classList.toggle("chosen", this.current >= 0);
    this.groups.forEach((group, i) => {
      group.setAttribute("aria-selected", String(i === this.current || this.isOn(i)));
      group.classList.toggle("near", near.has(i) && i !== this.current);
      group.setAttribute("tabindex", i === Math.max(0, this.current) ? "0" : "-1");
    });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const at = this.groups.findIndex((group) => group === event.target);
    const to = at < 0 || !this.picture ? undefined : stepTo(event, at, this.picture.boxes, this.edges);
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(to, to === at && (event.key === "Enter" || event.key === " "));
  }
}

/** Cut in the middle where words are too long: names differ at their ends. @param {string} words @param {(words: string) => boolean} fits */
export function cutMiddle(words, fits) {
  const all = [...words].slice(0, 200);
  let keep = all.length;
  let shown = words.length > 200 ? all.join("") : words;
  while (keep > 4 && !fits(shown)) {
    keep -= 1;
    const end = all.slice(all.length - Math.floor(keep * 0.55)).join("");
    shown = `${all.slice(0, Math.ceil(keep * 0.45)).join("")}\u2026${end}`;
  }
  return shown;
}
