// What is inside one box of the graph: its kernels, what they take from each other, from arguments and from other
// boxes, and what other boxes take from them. Pure; the columns are described in `view/inspector/graph.py`.
import { range } from "../../core/blob.js";
import { bytesText, flopsText, plural, thousands, timeText } from "../../core/format.js";

const STUBS = 6; // boxes on either side that get a stub of their own
/** How a kernel found its box, in words. @type {Record<string, string>} */
const HOW = {
  own: "",
  combined: "most of its names are of this scope",
  body: "most of what it fuses is of this scope",
  producer: "by what it sums",
  user: "by what takes its result",
  operand: "by what it takes",
  caller: "by the loop or call it stands in",
  argument: "by the argument it reads",
  array: "by the array it updates",
  loop: "moved out of a loop",
  none: "nothing tells its scope",
};

/**
 * @typedef {object} BoxKernel
 * @property {number} kernel its number in the program
 * @property {string} name of the instruction
 * @property {string} label what it does
 * @property {string} opcode
 * @property {number} bytes of its result; -1 when unknown
 * @property {number} runs per call; -1 when unknown
 * @property {number} time microseconds per call (measured); -1 where it was not
 * @property {number} matmuls
 * @property {number} flops -1 when unknown
 * @property {number} collective the first collective it is; -1 for none
 * @property {number} entity what it selects: collective row r as 2r, kernel row r as 2r + 1; -1 for nothing
 * @property {number} spot line of source; -1 for none
 * @property {string} how why it stands here; "" by its own name
 * @property {string[]} mixes what else it holds
 * @property {string[]} args names of the arguments it takes
 *
 * @typedef {object} Stub other boxes that values come from or go to
 * @property {boolean} isIn whether they come
 * @property {number} box -1 for several, and for the iteration before
 * @property {string} words
 * @property {string[]} more the boxes, where there are several
 * @property {number} bytes of distinct values, each time
 * @property {number[]} kernels places in `BoxContent.kernels`
 *
 * @typedef {object} BoxContent
 * @property {string} title
 * @property {string[]} facts
 * @property {BoxKernel[]} kernels in schedule order
 * @property {[number, number][]} edges places in `kernels`
 * @property {Stub[]} stubs
 * @property {boolean} isList whether most kernels are unconnected
 */

/** @typedef {import("../../core/blob.js").Store} Data */

/** @param {Data} data @param {number} box @returns {BoxContent} */
export function readBox(data, box) {
  const boxes = data.column("graph.kernel.box");
  /** @type {number[]} */
  const members = [];
  boxes.forEach((one, kernel) => one === box && members.push(kernel));
  const place = new Map(members.map((kernel, i) => [kernel, i]));
  const flow = readFlow(data, box, place);
  return {
    title: boxName(data, box),
    facts: factsOf(data, box),
    kernels: readKernels(data, members, flow.args),
    edges: flow.edges,
    stubs: [...stubsOf(data, flow.into, true), ...stubsOf(data, flow.outof, false)],
    isList: Boolean(data.column("graph.box.is_list")[box]),
  };
}

/** The labels of a row and those around it: "layer1/attn". @param {Data} data @param {number} row */
export function rowPath(data, row) {
  const parents = data.column("graph.row.parent");
  const labels = data.strings("graph.row.labels");
  /** @type {string[]} */
  const parts = [];
  for (let at = row; at > 0; at = parents[at]) parts.unshift(labels.at(at));
  return parts.join("/") || (row >= 0 ? labels.at(row) : "unknown");
}

/** "layer1/attn, backward". @param {Data} data @param {number} box */
export function boxName(data, box) {
  const { graph } = data.header;
  const path = rowPath(data, data.column("graph.box.row")[box]);
  return graph.is_differentiated ? `${path}, ${graph.phases[data.column("graph.box.phase")[box]]}` : path;
}

/** @param {Data} data @param {number} box */
function factsOf(data, box) {
  const column = (/** @type {string} */ name) => data.column(`graph.box.${name}`)[box];
  const [kernels, matmuls, inferred, times] = ["kernels", "matmuls", "inferred", "iterations"].map(column);
  return [
    plural(kernels, "kernel"),
    matmuls ? plural(matmuls, "matmul") : "",
    inferred ? `${thousands(inferred)} placed by inference` : "",
    times > 1 ? `per iteration, ${thousands(times)} per call` : "",
  ].filter(Boolean);
}

/** @param {Data} data @param {number[]} members @param {Map<number, Set<number>>} args @returns {BoxKernel[]} */
function readKernels(data, members, args) {
  const column = (/** @type {string} */ name) => data.column(`graph.kernel.${name}`);
  const [opcode, label, how, runs, bytes, matmuls, flops, spot, entity] = [
    "opcode",
    "label",
    "how",
    "runs",
    "bytes",
    "matmuls",
    "flops",
    "spot",
    "entity",
  ].map(column);
  const times = data.header.graph.measured ? column("time") : [];
  const names = data.strings("graph.kernel.names");
  const labels = data.strings("graph.labels");
  const opcodes = data.strings("graph.opcodes");
  const argNames = data.strings("graph.arguments");
  const collectives = new Map(
    [...data.column("graph.collective.kernel")]
      .map((kernel, i) => /** @type {[number, number]} */ ([kernel, i]))
      .reverse(),
  );
  const mixes = mixesOf(data, members);
  return members.map((kernel) => ({
    kernel,
    name: names.at(kernel),
    label: labels.at(label[kernel]),
    opcode: opcodes.at(opcode[kernel]),
    bytes: bytes[kernel],
    runs: runs[kernel],
    time: times[kernel] ?? -1,
    matmuls: matmuls[kernel],
    flops: flops[kernel],
    collective: collectives.get(kernel) ?? -1,
    entity: entity[kernel],
    spot: spot[kernel],
    how: HOW[data.header.graph.hows[how[kernel]]] ?? "",
    mixes: mixes.get(kernel) ?? [],
    args: [...(args.get(kernel) ?? [])].map((one) => argNames.at(one) || `argument ${one}`),
  }));
}

/** What kernels hold of other scopes. @param {Data} data @param {number[]} members */
function mixesOf(data, members) {
  const column = (/** @type {string} */ name) => data.column(`graph.mix.${name}`);
  const [kernels, rows, phases, counts] = ["kernel", "row", "phase", "instructions"].map(column);
  const inside = new Set(members);
  /** @type {Map<number, string[]>} */
  const found = new Map();
  kernels.forEach((kernel, i) => {
    if (!inside.has(kernel)) return;
    const phase = data.header.graph.is_differentiated ? `, ${data.header.graph.phases[phases[i]]}` : "";
    found.set(kernel, [
      ...(found.get(kernel) ?? []),
      `${rowPath(data, rows[i])}${phase} (${plural(counts[i], "instruction")})`,
    ]);
  });
  return found;
}

/**
 * @typedef {Map<number, {kernels: Set<number>, values: Map<string, number>, isLater: boolean}>} Sides by other box; -1
 *   for the iteration before; `isLater` when all values cross from one iteration to the next
 */

/**
 * Every read that touches the box, sorted out.
 * @param {Data} data @param {number} box @param {Map<number, number>} place
 */
function readFlow(data, box, place) {
  const [ends, source, element, carried, size] = ["ends", "source", "element", "carried", "bytes"].map((name) =>
    data.column(`graph.read.${name}`),
  );
  const sizes = data.column("graph.sizes");
  const boxes = data.column("graph.kernel.box");
  /** @type {Map<number, Set<number>>} */
  const args = new Map();
  const pairs = new Map();
  /** @type {Sides} */
  const into = new Map();
  const outof = new Map();
  for (let target = 0, read = 0; target < boxes.length; target++) {
    for (const [, end] = range(ends, target); read < end; read++) {
      const from = source[read];
      const isHere = boxes[target] === box;
      if (from < -1 && isHere) noted(args, target).add(-2 - from);
      if (from < 0 || (!isHere && boxes[from] !== box)) continue;
      const isLater = Boolean(carried[read]);
      const value = { name: `${from}.${element[read]}`, bytes: sizes[size[read]] ?? 0, isLater };
      if (!isHere) note(outof, boxes[target], /** @type {number} */ (place.get(from)), value);
      else if (boxes[from] !== box) note(into, boxes[from], /** @type {number} */ (place.get(target)), value);
      else if (isLater) note(into, -1, /** @type {number} */ (place.get(target)), value);
      else if (from < target)
        noted(pairs, /** @type {number} */ (place.get(from))).add(/** @type {number} */ (place.get(target)));
    }
  }
  const edges = [...pairs]
    .sort((a, b) => a[0] - b[0])
    .flatMap(([from, all]) => [...all].map((to) => /** @type {[number, number]} */ ([from, to])));
  return { edges, args, into, outof };
}

/** @param {Map<number, Set<number>>} sets @param {number} key */
function noted(sets, key) {
  const found = sets.get(key) ?? new Set();
  sets.set(key, found);
  return found;
}

/**
 * @param {Sides} sides @param {number} box @param {number} kernel
 * @param {{name: string, bytes: number, isLater: boolean}} value
 */
function note(sides, box, kernel, value) {
  const side = sides.get(box) ?? { kernels: new Set(), values: new Map(), isLater: true };
  sides.set(box, side);
  side.kernels.add(kernel);
  side.values.set(value.name, value.bytes);
  side.isLater &&= value.isLater;
}

/** @param {Data} data @param {number} box @param {boolean} isLater @param {boolean} isIn */
function sideName(data, box, isLater, isIn) {
  if (box < 0) return "the iteration before";
  return `${boxName(data, box)}${isLater ? (isIn ? ", the iteration before" : ", the next iteration") : ""}`;
}

/**
 * Those with most bytes, and the rest in one.
 * @param {Data} data @param {Sides} sides @param {boolean} isIn @returns {Stub[]}
 */
function stubsOf(data, sides, isIn) {
  const all = [...sides]
    .map(([box, side]) => ({
      isIn,
      box,
      words: sideName(data, box, side.isLater, isIn),
      more: /** @type {string[]} */ ([]),
      bytes: [...side.values.values()].reduce((a, b) => a + b, 0),
      kernels: [...side.kernels].sort((a, b) => a - b),
    }))
    .sort((a, b) => b.bytes - a.bytes || a.box - b.box);
  const shown = all.length > STUBS ? all.slice(0, STUBS - 1) : all;
  const rest = all.slice(shown.length);
  if (!rest.length) return shown;
  const more = rest.map((stub) => `${stub.words}: ${bytesText(stub.bytes)}`);
  const kernels = [...new Set(rest.flatMap((stub) => stub.kernels))].sort((a, b) => a - b);
  return [
    ...shown,
    {
      isIn,
      box: -1,
      words: `${plural(rest.length, "box").replace(/boxs$/, "boxes")} more`,
      more,
      bytes: rest.reduce((sum, stub) => sum + stub.bytes, 0),
      kernels,
    },
  ];
}

/** A kernel's full story, for the tooltip. @param {BoxKernel} one @param {Data} data @returns {string[]} */
export function kernelLines(one, data) {
  const runs =
    one.runs === 1 ? "" : one.runs < 0 ? ", run unknown times" : `, run ${thousands(one.runs)} times per call`;
  const args = one.args.slice(0, 8).join(", ") + (one.args.length > 8 ? ` and ${one.args.length - 8} more` : "");
  const mixes = one.mixes.slice(0, 4);
  if (one.mixes.length > 4) mixes.push(`${one.mixes.length - 4} more`);
  return [
    kernelTitle(one, data),
    `${one.name} (${one.opcode})`,
    `result ${one.bytes < 0 ? "of unknown size" : bytesText(one.bytes)}${runs}`,
    one.matmuls ? `${plural(one.matmuls, "matmul")}${one.flops < 0 ? "" : `, ${flopsText(one.flops)}`}` : "",
    one.time < 0 ? "" : `${timeText(one.time)} per call (measured, slowest device)`,
    args && `takes ${args}`,
    one.how && `stands here by inference: ${one.how}`,
    mixes.length ? `of several scopes, also ${mixes.join("; ")}` : "",
  ].filter(Boolean);
}

/** What it does; a collective with its axes. @param {BoxKernel} one @param {Data} data */
export function kernelTitle(one, data) {
  const set = axesOf(one, data);
  if (!set) return one.label;
  const row = data.header.collectives[data.column("graph.collective.row")[one.collective]];
  return `${row?.kind ?? one.opcode} over ${set.words}`;
}

/** The axis set of a collective; null for other kernels. @param {BoxKernel} one @param {Data} data */
export function axesOf(one, data) {
  const row =
    one.collective < 0 ? undefined : data.header.collectives[data.column("graph.collective.row")[one.collective]];
  return row ? data.header.axis_sets[row.axes] : null;
}
