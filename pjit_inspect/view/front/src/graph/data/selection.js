// What of the graph belongs to the selection, and what must be open to see a box. Pure but for the store that is read.
import { range } from "../../core/blob.js";
import { cellKey } from "./fold.js";

/**
 * @typedef {import("./columns.js").Graph} Graph
 * @typedef {import("./matrix.js").Layout} Layout
 * @typedef {import("./matrix.js").Box} Box
 * @typedef {{lines: Map<Box, Set<number>>, boxes: Set<Box>, hidden?: number}} Lit
 */

/**
 * The visible box that stands for a box; null when there is none.
 * @param {Graph} graph @param {Layout} layout @param {number} box
 */
export function visibleBox(graph, layout, box) {
  const { vis, stand } = layout.view;
  return layout.at.get(cellKey(vis[stand[graph.box.row[box]]], graph.box.phase[box])) ?? null;
}

/**
 * Boxes and lines of the selection; `hidden` is a box of it that no box in the view holds itself.
 * @param {import("../../core/store.js").Store} store @param {Graph} graph @param {Layout} layout @returns {Lit}
 */
export function litBy(store, graph, layout) {
  const { selection } = store.state;
  /** @type {Lit} */
  const lit = { lines: new Map(), boxes: new Set() };
  if (!selection) return lit;
  const own = boxesOf(store, graph, selection);
  for (const number of own) {
    const { vis, stand, cells } = layout.view;
    const key = cellKey(vis[stand[graph.box.row[number]]], graph.box.phase[number]);
    const box = layout.at.get(key);
    if (!cells.get(key)?.boxes.includes(number)) lit.hidden ??= number;
    else if (box) lit.boxes.add(box);
  }
  const { listed } = store;
  if (listed?.type === "collective") lightLines(graph, layout, listed.row, lit);
  return lit;
}

/**
 * The boxes that hold what is selected.
 * @param {import("../../core/store.js").Store} store @param {Graph} graph
 * @param {import("../../core/store.js").Selection} selection @returns {Set<number>}
 */
function boxesOf(store, graph, selection) {
  const { kernel } = graph;
  if (selection.type === "collective")
    return new Set(
      [...graph.collective.row].flatMap((row, i) => (row === selection.row ? [graph.collective.box[i]] : [])),
    );
  if (selection.type === "buffer") {
    const { own, kernels } = store.selected ?? { own: null, kernels: [] };
    if (own?.type === "array") return readersOf(store, graph);
    return new Set(kernels.map((/** @type {number} */ one) => kernel.box[one]));
  }
  if (selection.type === "array") return readersOf(store, graph);
  const [column, wanted] =
    selection.type === "kernel" ? [kernel.entity, 2 * selection.row + 1] : [kernel.spot, selection.row];
  const found = new Set();
  for (let one = 0; one < graph.kernels; one++) if (column[one] === wanted) found.add(kernel.box[one]);
  return found;
}

/**
 * The boxes that take the selected argument.
 * @param {import("../../core/store.js").Store} store @param {Graph} graph
 */
function readersOf(store, graph) {
  const { listed } = store;
  const row = listed ? store.rows(`${listed.type}s`)[listed.row] : null;
  return new Set(kernelsThatRead(graph, row).map((kernel) => graph.kernel.box[kernel]));
}

/** The arguments of a row, as kernels name them: an array and those alike. @param {Graph} graph @param {any} row */
function argumentsOfRow(graph, row) {
  const names = new Set([row?.name, ...(row?.names ?? [])]);
  const wanted = new Set();
  if (row?.role !== "input") return wanted;
  for (let i = 0; i < (graph.header.arguments ?? 0); i++) if (names.has(graph.words.arguments(i))) wanted.add(-2 - i);
  return wanted;
}

/** The kernels that take an argument, or one of those alike. @param {Graph} graph @param {any} row */
function kernelsThatRead(graph, row) {
  const { source, ends } = graph.read;
  const wanted = argumentsOfRow(graph, row);
  const reads = (/** @type {number} */ kernel) => {
    const [start, end] = range(ends, kernel);
    for (let one = start; one < end; one++) if (wanted.has(source[one])) return true;
    return false;
  };
  return wanted.size ? Array.from({ length: graph.kernels }, (_, kernel) => kernel).filter(reads) : [];
}

/**
 * The kernels that take an argument and nothing else, or only what such kernels make of it: its slices, its casts, and
 * the collectives that move it. Kernels stand in the order they run, so that one pass finds all.
 * @param {Graph} graph @param {any} row
 */
function kernelsOfAlone(graph, row) {
  const { source, ends } = graph.read;
  const own = argumentsOfRow(graph, row);
  /** @type {number[]} */
  const found = [];
  for (let kernel = 0; own.size && kernel < graph.kernels; kernel++) {
    const [start, end] = range(ends, kernel);
    if (start === end || !source.subarray(start, end).every((/** @type {number} */ one) => own.has(one))) continue;
    own.add(kernel);
    found.push(kernel);
  }
  return found;
}

/**
 * Rows of the collectives that move an argument alone; and what takes it: what these kernels do, how many, on which
 * line.
 * @param {import("../../core/store.js").Store} store @param {Graph} graph @param {any} row
 * @returns {{collectives: number[], kernels: {words: string, place: string, count: number}[]}}
 */
export function usesOf(store, graph, row) {
  const collectives = new Set();
  /** @type {Map<string, {words: string, place: string, count: number}>} */
  const kernels = new Map();
  const rowOf = new Map([...graph.collective.kernel].map((kernel, i) => [kernel, graph.collective.row[i]]));
  for (const kernel of kernelsOfAlone(graph, row)) {
    const collective = rowOf.get(kernel) ?? -1;
    if (collective >= 0) collectives.add(collective);
  }
  for (const kernel of kernelsThatRead(graph, row)) {
    if (!rowOf.has(kernel)) {
      const words = graph.words.labels(graph.kernel.label[kernel]);
      const place = graph.kernel.spot[kernel] < 0 ? "" : store.spotName(graph.kernel.spot[kernel]);
      const one = kernels.get(`${words} ${place}`) ?? { words, place, count: 0 };
      one.count++;
      kernels.set(`${words} ${place}`, one);
    }
  }
  return { collectives: [...collectives].sort((a, b) => a - b), kernels: [...kernels.values()] };
}

/** @param {Graph} graph @param {Layout} layout @param {number} row @param {Lit} lit */
function lightLines(graph, layout, row, lit) {
  for (const box of layout.boxes) {
    box.lines.forEach((line, i) => {
      const all = line.type === "more" ? line.rest : [line];
      const isOf = (/** @type {import("./matrix.js").Content} */ one) =>
        (one.type === "move" || one.type === "share") &&
        one.of.collectives.some((number) => graph.collective.row[number] === row);
      if (!all.some(isOf)) return;
      if (!lit.lines.has(box)) lit.lines.set(box, new Set());
      lit.lines.get(box)?.add(i);
    });
  }
}

/**
 * Opens every row around a box, and unfolds folds that show another member.
 * @param {Graph} graph @param {import("./fold.js").Shown} shown @param {number} box
 */
export function reveal(graph, shown, box) {
  const { parent, fold } = graph.row;
  for (let row = graph.box.row[box]; row > 0; row = parent[row]) {
    if (fold[row] >= 0 && graph.fold.shown[fold[row]] !== row) shown.unfolded.add(fold[row]);
    shown.open.add(parent[row]);
  }
}
