// Memory over the schedule as numbers: what is alive at each kernel, in bands and by name. Pure; the columns are
// described in `view/memory/payload.py`. A kernel stands for the moment at which most is alive until the next begins.
import { range } from "../core/blob.js";
import { plural, thousands } from "../core/format.js";
import { entityOf } from "../core/store.js";

/** Scopes that have a band of their own; the others share one. */
const SCOPES = 7;
const NAMELESS = "smaller, unnamed";

/**
 * @typedef {object} Group equal buffers of equal layers: a row
 * @property {string} name
 * @property {number} kind
 * @property {number} number how many buffers
 * @property {number} bytes of each
 * @property {string} each the same in words
 * @property {string} spec
 * @property {string} place
 * @property {string[]} names instructions that make them
 * @property {number[]} values their numbers
 * @property {number[]} kernels that make them, or use them last
 * @property {number[]} spots lines of source of what makes them
 * @property {import("../core/store.js").Selection | null} own what makes them, as the lists have it
 *
 * @typedef {{name: string, peak: number, most: number, nameless: number, first: number, end: number}} Space
 * @typedef {{name: string, color: string, bytes: Float64Array}} Band from below
 * @typedef {{group: number, count: number, bytes: number}} Alive
 */

/** What the pane is made of, read once. */
export class Memory {
  /** @param {import("../core/blob.js").Store} blob @param {import("../core/store.js").Store} store */
  constructor(blob, store) {
    this.blob = blob;
    const { header } = blob;
    this.header = header;
    /** @type {Space[]} */
    this.spaces = header.spaces;
    /** @type {string[]} */
    this.kinds = header.kinds;
    this.kernels = header.kernels;
    this.hasCurve = header.kernels > 0;
    const column = (/** @type {string} */ name) => blob.column(name);
    this.groupOf = column("value.group");
    this.kindOf = column("value.kind");
    this.scopeOf = column("value.scope");
    this.makerOf = column("value.maker");
    this.userOf = column("value.user");
    this.ends = column("value.ends");
    this.from = column("span.from");
    this.to = column("span.to");
    /** @type {Group[]} */
    this.rows = header.groups;
    this.rows.forEach((row) => Object.assign(row, { values: [], kernels: [], spots: [], own: null }));
    this.groupOf.forEach((group, value) => this.rows[group].values.push(value));
    for (const row of this.rows) {
      const of = (/** @type {import("../core/blob.js").Column} */ kernels) => row.values.map((one) => kernels[one]);
      row.kernels = [...new Set([...of(this.makerOf), ...of(this.userOf)])].filter((one) => one >= 0);
      const spots = of(this.makerOf).map((kernel) => store.data?.column("graph.kernel.spot")[kernel] ?? -1);
      row.spots = [...new Set(spots)].filter((spot) => spot >= 0);
      row.own = ownOf(row, this.makerOf[row.values[0]] ?? -1, store);
    }
    /** @type {Map<string, Band[]>} */
    this.made = new Map();
  }

  /** Bytes alive, kernel by kernel. @param {number} space */
  total(space) {
    return /** @type {Float64Array} */ (this.blob.column(`bytes.${space}`));
  }

  /** The spans of a value. @param {number} value @returns {[number, number][]} */
  spans(value) {
    const [first, end] = range(this.ends, value);
    return Array.from({ length: end - first }, (_, i) => [this.from[first + i], this.to[first + i]]);
  }

  /** The parts of the curve, which add up to it at every kernel. @param {number} space @param {"kind" | "scope"} by */
  bands(space, by) {
    const key = `${space} ${by}`;
    const known = this.made.get(key);
    if (known) return known;
    const parts = by === "kind" ? this.kindParts() : this.scopeParts(space);
    const rest = this.total(space).slice();
    /** @type {Band[]} */
    const found = [];
    for (const { name, color, has } of parts) {
      const bytes = this.sum(space, has);
      if (!bytes.some(Boolean)) continue;
      bytes.forEach((size, at) => (rest[at] -= size));
      found.push({ name, color, bytes });
    }
    if (rest.some(Boolean)) found.push({ name: NAMELESS, color: "mem-rest", bytes: rest });
    this.made.set(key, found);
    return found;
  }

  kindParts() {
    return this.kinds.map((name, kind) => ({
      name,
      color: `mem-${kind}`,
      has: (/** @type {number} */ value) => this.kindOf[value] === kind,
    }));
  }

  /** The scopes of most bytes at the peak, in the order of their names; what has none lies below. @param {number} space */
  scopeParts(space) {
    const { peak, first, end } = this.spaces[space];
    const most = new Map();
    for (let value = first; value < end; value++) {
      const size = this.isAlive(value, peak) ? this.rows[this.groupOf[value]].bytes : 0;
      most.set(this.scopeOf[value], (most.get(this.scopeOf[value]) ?? 0) + size);
    }
    /** @type {string[]} */
    const names = this.header.scopes;
    const order = new Intl.Collator("en", { numeric: true });
    const ranked = [...most.keys()].filter((scope) => names[scope]).sort((a, b) => most.get(b) - most.get(a));
    const shown = ranked.slice(0, SCOPES).sort((a, b) => order.compare(names[a], names[b]));
    const others = new Set(ranked.slice(SCOPES));
    const parts = shown.map((scope, i) => ({
      name: names[scope],
      color: `scope-${i}`,
      has: (/** @type {number} */ value) => this.scopeOf[value] === scope,
    }));
    const none = {
      name: "no scope",
      color: "mem-0",
      has: (/** @type {number} */ value) => !names[this.scopeOf[value]],
    };
    const rest = {
      name: plural(others.size, "other scope"),
      color: "mem-1",
      has: (/** @type {number} */ value) => others.has(this.scopeOf[value]),
    };
    return [none, ...parts, rest];
  }

  /** Bytes of some values, kernel by kernel. @param {number} space @param {(value: number) => boolean} has */
  sum(space, has) {
    const { first, end } = this.spaces[space];
    const change = new Float64Array(this.kernels + 1);
    for (let value = first; value < end; value++) {
      if (!has(value)) continue;
      const size = this.rows[this.groupOf[value]].bytes;
      const [start, stop] = range(this.ends, value);
      for (let span = start; span < stop; span++) {
        change[this.from[span]] += size;
        change[this.to[span] + 1] -= size;
      }
    }
    for (let at = 1; at < change.length; at++) change[at] += change[at - 1];
    return change.subarray(0, this.kernels);
  }

  /** Bytes of a row, kernel by kernel. @param {number} group */
  life(group) {
    const { values } = this.rows[group];
    const space = this.spaces.findIndex(({ first, end }) => values[0] >= first && values[0] < end);
    const own = new Set(values);
    return this.sum(Math.max(0, space), (value) => own.has(value));
  }

  /** @param {number} value @param {number} kernel */
  isAlive(value, kernel) {
    const [start, stop] = range(this.ends, value);
    for (let span = start; span < stop; span++) if (this.from[span] <= kernel && kernel <= this.to[span]) return true;
    return false;
  }

  /** The rows that are alive at a kernel, most bytes first. @param {number} space @param {number} kernel @returns {Alive[]} */
  alive(space, kernel) {
    const { first, end } = this.spaces[space];
    const counts = new Map();
    for (let value = first; value < end; value++) {
      if (this.hasCurve && !this.isAlive(value, kernel)) continue;
      counts.set(this.groupOf[value], (counts.get(this.groupOf[value]) ?? 0) + 1);
    }
    return this.ranked(counts);
  }

  /** All rows of a space, most bytes together first. @param {number} space @returns {Alive[]} */
  all(space) {
    const { first, end } = this.spaces[space];
    const counts = new Map();
    for (let value = first; value < end; value++)
      counts.set(this.groupOf[value], (counts.get(this.groupOf[value]) ?? 0) + 1);
    return this.ranked(counts);
  }

  /** @param {Map<number, number>} counts @returns {Alive[]} */
  ranked(counts) {
    return [...counts]
      .map(([group, count]) => ({ group, count, bytes: count * this.rows[group].bytes }))
      .sort((a, b) => b.bytes - a.bytes || a.group - b.group);
  }
}

/**
 * What makes a row's buffers, as the lists have it: an argument is an array, all else a kernel or a collective.
 * @param {Group} row @param {number} maker @param {import("../core/store.js").Store} store
 * @returns {import("../core/store.js").Selection | null}
 */
function ownOf(row, maker, store) {
  const entity = maker < 0 ? -1 : (store.data?.column("graph.kernel.entity")[maker] ?? -1);
  if (entity >= 0) return entityOf(entity);
  const at = store
    .rows("arrays")
    .findIndex((one) => one.role === "input" && (one.name === row.name || one.names.includes(row.name)));
  return at < 0 ? null : { type: "array", row: at };
}

/** What a row's life is, in words. @param {Memory} memory @param {number} group */
export function lifeWords(memory, group) {
  const row = memory.rows[group];
  const lengths = row.values.map((value) => memory.spans(value).reduce((sum, [from, to]) => sum + to - from + 1, 0));
  const [least, most] = [Math.min(...lengths), Math.max(...lengths)];
  if (!memory.hasCurve || !most) return "";
  if (least === memory.kernels) return `all ${plural(memory.kernels, "kernel")}`;
  return least === most ? plural(most, "kernel") : `${thousands(least)} to ${plural(most, "kernel")}`;
}
