// The pointer on the graph: hover and its tooltip, click, drag, and zoom by the wheel with Ctrl (or a pinch).
import { badgeOf } from "./draw.js";
import { hitAt } from "../data/hit.js";
import { tipOf } from "./tip.js";
import { TOP } from "../data/matrix.js";
import { tooltip } from "../../core/tooltip.js";

const DRAG = 4;
const REST = 250;

/** @typedef {import("./pane.js").GraphView} GraphView */

/** Follows the pointer on a graph's canvas; `quiet` takes the tooltip away. @param {GraphView} view */
export function followPointer(view) {
  const { canvas, box } = view;
  const tip = tooltip(box);
  let resting = 0;
  const quiet = () => {
    clearTimeout(resting);
    tip.hide();
  };
  const hover = (/** @type {PointerEvent} */ event) => {
    const hit = under(view, event);
    canvas.classList.toggle(
      "link",
      hit !== null && (hit.type !== "label" || view.graph.children[hit.item.row].length > 0),
    );
    view.hoverOn(hit && (hit.type === "box" || hit.type === "line") ? hit.box : null);
    const lines = hit && view.layout ? tipOf(hit, view.layout, view.words) : [];
    quiet();
    if (lines.length) resting = setTimeout(() => tip.show(lines, event.clientX, event.clientY), REST);
  };
  const wasDrag = drag(view, hover, quiet);
  canvas.addEventListener("click", (event) => {
    if (wasDrag()) return;
    quiet();
    click(view, under(view, event));
  });
  canvas.addEventListener("pointerleave", () => {
    quiet();
    view.hoverOn(null);
  });
  view.view.addEventListener("wheel", (event) => wheel(view, event), { passive: false });
  return { quiet };
}

/**
 * Drags the picture; tells whether the last press was one.
 * @param {GraphView} view @param {(event: PointerEvent) => void} hover @param {() => void} quiet
 */
function drag({ canvas, box }, hover, quiet) {
  /** @type {{x: number, y: number, left: number, top: number} | null} */
  let start = null;
  let isDrag = false;
  canvas.addEventListener("pointerdown", (event) => {
    isDrag = false;
    if (event.button !== 0 || event.pointerType === "touch") return;
    start = { x: event.clientX, y: event.clientY, left: box.scrollLeft, top: box.scrollTop };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!start) return hover(event);
    if (!isDrag && Math.hypot(event.clientX - start.x, event.clientY - start.y) < DRAG) return;
    if (!isDrag) canvas.setPointerCapture(event.pointerId);
    isDrag = true;
    quiet();
    canvas.classList.add("grab");
    box.scrollLeft = start.left - (event.clientX - start.x);
    box.scrollTop = start.top - (event.clientY - start.y);
  });
  const end = () => {
    start = null;
    canvas.classList.remove("grab");
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  return () => isDrag;
}

/** What is at a place of the window. @param {GraphView} view @param {MouseEvent} event */
function under({ canvas, box, layout, scale, words }, event) {
  const area = canvas.getBoundingClientRect();
  const context = canvas.getContext("2d");
  if (!layout || !context || event.clientY - area.top < (TOP - 8) * scale) return null;
  const x = (event.clientX - area.left + box.scrollLeft) / scale;
  const y = (event.clientY - area.top + box.scrollTop) / scale;
  return hitAt(layout, x, y, (band) => badgeOf(context, layout, words, band));
}

/** @param {GraphView} view @param {import("../data/hit.js").Hit | null} hit */
function click(view, hit) {
  view.focus = null;
  if (!hit) return;
  if (hit.type === "badge") view.unfold(hit.item.fold);
  else if (hit.type === "band" || hit.type === "label") view.choose(hit.item);
  else if (hit.type === "line") view.pick(hit.box, hit.line);
  else view.enter(hit.box);
}

/** @param {GraphView} view @param {WheelEvent} event */
function wheel(view, event) {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  const area = view.canvas.getBoundingClientRect();
  view.zoom(
    Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) * 0.01),
    event.clientX - area.left,
    event.clientY - area.top,
  );
}
