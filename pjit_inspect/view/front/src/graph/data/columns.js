// The graph's columns (`view/inspector/graph.py` says what each means) with names. Nothing is copied but small indices.
import { range } from "../../core/blob.js";

/** @typedef {import("../../core/blob.js").Column} Column */

/** The four phases, as columns number them. */
export const FORWARD = 0;
export const RECOMPUTE = 1;
export const BACKWARD = 2;
export const UPDATE = 3;

/** One program's graph. Rows, boxes, kernels and folds are numbers: their places in the columns. */
export class Graph {
  /** @param {import("../../core/blob.js").Store} data */
  constructor(data) {
    const column = (/** @type {string} */ name) => data.column(`graph.${name}`);
    const group = (/** @type {string} */ name, /** @type {string[]} */ keys) =>
      Object.fromEntries(keys.map((key) => [key, column(`${name}.${key}`)]));
    this.header = data.header.graph;
    /** @type {string} what runs: "kernel", or "operation" where nothing has been fused yet */
    this.work = data.header.work;
    /** @type {string[]} */
    this.phases = this.header.phases;
    /** @type {number[]} the phases that occur, left to right */
    this.columns = this.header.columns;
    this.row = group("row", ["parent", "kind", "trips", "fold", "shown_as"]);
    this.box = group("box", [
      "row",
      "phase",
      "kernels",
      "inferred",
      "matmuls",
      "flops",
      "flops_per_call",
      "iterations",
      "bytes",
      "is_list",
    ]);
    /** @type {Column} microseconds per call, measured; empty where nothing was */
    this.boxTime = this.header.measured ? column("box.time") : new Float64Array(0);
    this.move = group("move", ["kind", "axes", "runs", "bytes", "ends"]);
    this.mention = group("mention", ["collective", "operands", "bytes", "ends"]);
    this.collective = group("collective", ["row", "box", "kernel", "bytes"]);
    this.kernel = group("kernel", [
      "opcode",
      "label",
      "box",
      "how",
      "loop",
      "runs",
      "bytes",
      "matmuls",
      "flops",
      "spot",
      "entity",
      "line",
    ]);
    this.mix = group("mix", ["kernel", "row", "phase", "instructions"]);
    this.read = group("read", ["ends", "source", "operand", "element", "carried", "bytes"]);
    this.arrow = group("arrow", ["source", "target", "values", "bytes", "carried"]);
    this.fold = group("fold", ["shown", "likeness", "essential"]);
    this.sizes = column("sizes");
    this._lists = {
      children: ["row.children", "row.children.ends"],
      members: ["fold.members", "fold.members.ends"],
      numbers: ["move.collectives", "move.collectives.ends"],
    };
    this._columns = Object.fromEntries(Object.entries(this._lists).map(([key, names]) => [key, names.map(column)]));
    this.words = Object.fromEntries(
      ["row.labels", "row.holds", "fold.labels", "kernel.names", "opcodes", "labels", "arguments"].map((name) => [
        name,
        cached(data.strings(`graph.${name}`)),
      ]),
    );
    this.rows = this.row.parent.length;
    this.boxes = this.box.row.length;
    this.kernels = this.kernel.box.length;
    this.folds = this.fold.shown.length;
    /** @type {number[][]} */
    this.children = this._all("children", this.rows);
    /** @type {number[][]} */
    this.members = this._all("members", this.folds);
    this._place = new Map(
      this.members.flatMap((rows) => rows.map((row, at) => /** @type {[number, number]} */ ([row, at]))),
    );
    this._kernels = null;
  }

  /** @param {string} key @param {number} count */
  _all(key, count) {
    const [values, ends] = this._columns[key];
    return Array.from({ length: count }, (_, i) => [...values.subarray(...range(ends, i))]);
  }

  /** @param {number} row */
  label(row) {
    return this.words["row.labels"](row);
  }

  /** What a row stands in, from the outside: "layer0 / attn". @param {number} row */
  path(row) {
    const names = [];
    for (let at = row; at > 0; at = this.row.parent[at]) names.unshift(this.label(at));
    return names.join(" / ") || this.label(row);
  }

  /** @param {number} row */
  kind(row) {
    return this.header.row_kinds[this.row.kind[row]];
  }

  /** The place of a member in its fold. @param {number} row */
  place(row) {
    return this._place.get(row) ?? -1;
  }

  /** The collectives of one line of a box. @param {number} move */
  collectives(move) {
    const [values, ends] = this._columns.numbers;
    return /** @type {Int32Array} */ (values.subarray(...range(ends, move)));
  }

  /** The kernels of each box, in schedule order. @param {number} box @returns {number[]} */
  kernelsOf(box) {
    if (!this._kernels) {
      this._kernels = Array.from({ length: this.boxes }, () => /** @type {number[]} */ ([]));
      for (let kernel = 0; kernel < this.kernels; kernel++) this._kernels[this.kernel.box[kernel]]?.push(kernel);
    }
    return this._kernels[box];
  }
}

/** @param {import("../../core/blob.js").Strings} strings @returns {(index: number) => string} */
function cached(strings) {
  /** @type {string[]} */
  const known = [];
  return (index) => (known[index] ??= strings.at(index));
}

/** The graph of a record; null when there is none. @param {import("../../core/blob.js").Store | null} data */
export function openGraph(data) {
  if (!data?.header.graph || data.header.graph.missing) return null;
  return new Graph(data);
}
