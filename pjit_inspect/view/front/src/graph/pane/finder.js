// The graph's search field: it counts what was found, fades the rest, and Enter goes from one to the next.
import { h } from "../../core/dom.js";
import { thousands } from "../../core/format.js";
import { visibleBox } from "../data/selection.js";
import { BoxSearch } from "../data/search.js";

/** The field of one graph. */
export class Finder {
  /** @param {import("./pane.js").GraphView} view */
  constructor(view) {
    this.view = view;
    this.search = new BoxSearch(view.graph, view.words, (spot) => view.store.spotWords(spot));
    /** @type {number[]} */
    this.hits = [];
    this.hit = -1;
    /** @type {{layout: any, hits: number[], boxes: Set<import("../data/matrix.js").Box>} | null} */
    this.known = null;
    this.field = /** @type {HTMLInputElement} */ (
      h("input", {
        type: "search",
        class: "search",
        placeholder: "Find in the graph",
        "aria-label": "Find a scope, kernel or collective in the graph; Enter goes to the next",
        oninput: () => this.find(),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      })
    );
    this.count = h("span.hits", { "aria-live": "polite" });
    this.parts = [this.field, this.count];
  }

  find() {
    this.hits = this.search.find(this.field.value);
    this.hit = -1;
    this.say();
    this.view.paint();
  }

  say() {
    const none = this.field.value.trim() ? "nothing" : "";
    const number = thousands(this.hits.length);
    this.count.textContent = !this.hits.length ? none : this.hit < 0 ? number : `${this.hit + 1} of ${number}`;
  }

  /** The visible boxes that stand for what was found; null without a search. */
  boxes() {
    const { layout, graph } = this.view;
    const { hits } = this;
    if (!layout || !this.field.value.trim()) return null;
    if (this.known?.layout !== layout || this.known.hits !== hits) {
      const boxes = hits.flatMap((hit) => visibleBox(graph, layout, hit) ?? []);
      this.known = { layout, hits, boxes: new Set(boxes) };
    }
    return this.known.boxes;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Escape" && this.field.value) {
      event.stopPropagation();
      this.field.value = "";
      this.find();
    }
    if (event.key !== "Enter" || !this.hits.length) return;
    event.preventDefault();
    this.hit = (this.hit + (event.shiftKey ? -1 : 1) + this.hits.length) % this.hits.length;
    this.say();
    this.view.goTo(this.hits[this.hit]);
  }
}
