// What of the graph belongs to the selection, and what must be open to see a box. Pure but for the store that is read.
import { range } from "../../core/blob.js";
import { cellKey } from "./fold.js";

/**
 * @typedef {import("./columns.js").Graph} Graph
 * @typedef {import("./matrix.js").Layout} Layout
 * @typedef {import("./matrix.js").Box} Box
 * @typedef {{lines: Map<Box, Set<number>>, boxes: Set<Box>, phases: Set<number>, hidden?: number}} Lit
 */

/**
 * The visible box that stands for a box; null when there is none.
 * @param {Graph} graph
 * @param {Layout} layout
 * @param {number} box
 */
export function visibleBox(graph, layout, box) {
  const { vis, stand } = layout.view;
  return layout.at.get(cellKey(vis[stand[graph.box.row[box]]], graph.box.phase[box])) ?? null;
}

/**
 * Boxes and lines of the selection; `phases` those of its boxes in the view, shown or not; `hidden` a box of it that no
 * box in the view holds itself.
 * @param {import("../../core/store.js").Store} store
 * @param {Graph} graph
 * @param {Layout} layout
 * @returns {Lit}
 */
export function litBy(store, graph, layout) {
  const { selection } = store.state;
  /** @type {Lit} */
  const lit = { lines: new Map(), boxes: new Set(), phases: new Set() };
  if (!selection) return lit;
  const own = boxesOf(store, graph, selection);
  for (const number of own) {
    const { vis, stand, cells } = layout.view;
    const key = cellKey(vis[stand[graph.box.row[number]]], graph.box.phase[number]);
    const box = layout.at.get(key);
    if (!cells.get(key)?.boxes.includes(number)) lit.hidden ??= number;
    else if (box) lit.boxes.add(box);
    else lit.phases.add(graph.box.phase[number]);
  }
  if (selection.type === "collective") lightLines(graph, layout, selection.row, lit);
  return lit;
}

/**
 * The boxes that hold what is selected.
 * @param {import("../../core/store.js").Store} store
 * @param {Graph} graph
 * @param {import("../../core/store.js").Selection} selection
 * @returns {Set<number>}
 */
function boxesOf(store, graph, selection) {
  const { kernel } = graph;
  if (selection.type === "collective")
    return new Set(
      [...graph.collective.row].flatMap((row, i) => (row === selection.row ? [graph.collective.box[i]] : [])),
    );
  if (selection.type === "array") return readersOf(store, graph);
  const [column, wanted] =
    selection.type === "kernel" ? [kernel.entity, 2 * selection.row + 1] : [kernel.spot, selection.row];
  const found = new Set();
  for (let one = 0; one < graph.kernels; one++) if (column[one] === wanted) found.add(kernel.box[one]);
  return found;
}

/**
 * The boxes that take the selected argument.
 * @param {import("../../core/store.js").Store} store
 * @param {Graph} graph
 */
function readersOf(store, graph) {
  const found = new Set();
  const names = new Set([store.selected?.name, ...(store.selected?.names ?? [])]);
  const { source, ends } = graph.read;
  const isWanted = new Set();
  for (let i = 0; i < (graph.header.arguments ?? 0); i++) if (names.has(graph.words.arguments(i))) isWanted.add(-2 - i);
  if (!isWanted.size) return found;
  for (let kernel = 0; kernel < graph.kernels; kernel++) {
    const [start, end] = range(ends, kernel);
    for (let one = start; one < end; one++) if (isWanted.has(source[one])) found.add(graph.kernel.box[kernel]);
  }
  return found;
}

/** @param {Graph} graph @param {Layout} layout @param {number} row @param {Lit} lit */
function lightLines(graph, layout, row, lit) {
  for (const box of layout.boxes) {
    box.lines.forEach((line, i) => {
      if (
        (line.type !== "move" && line.type !== "share") ||
        !line.of.collectives.some((number) => graph.collective.row[number] === row)
      )
        return;
      if (!lit.lines.has(box)) lit.lines.set(box, new Set());
      lit.lines.get(box)?.add(i);
    });
  }
}

/**
 * Opens every row around a box, and unfolds folds that show another member.
 * @param {Graph} graph
 * @param {import("./fold.js").Shown} shown
 * @param {number} box
 */
export function reveal(graph, shown, box) {
  const { parent, fold } = graph.row;
  for (let row = graph.box.row[box]; row > 0; row = parent[row]) {
    if (fold[row] >= 0 && graph.fold.shown[fold[row]] !== row) shown.unfolded.add(fold[row]);
    shown.open.add(parent[row]);
  }
}
