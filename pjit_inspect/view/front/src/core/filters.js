// Which rows are shown, and in which order. Not its job: drawing the list (`panes/list.js`), whether one row fits
// (`store.js`).
import { fits, searched } from "./store.js";

/** Every filter of the lists, switched off. */
export const CLEAR = { text: "", axes: null, kind: null, cause: null, role: null, note: null, isChanged: false };

const PHASES = ["forward", "backward", "recompute", "optimizer"];
const natural = new Intl.Collator("en", { numeric: true });

/** What a list can be sorted by, its own order first. @type {Record<string, [string, string][]>} */
const SORTS = {
  collectives: [
    ["size", "bytes"],
    ["time", "time"],
    ["name", "name"],
    ["count", "count"],
    ["place", "place"],
    ["phase", "phase"],
  ],
  arrays: [
    ["given", "role"],
    ["size", "bytes"],
    ["name", "name"],
    ["count", "count"],
    ["place", "place"],
  ],
  kernels: [
    ["size", "bytes"],
    ["time", "time"],
    ["name", "name"],
    ["count", "count"],
    ["place", "place"],
  ],
};

/** @param {import("./store.js").State} state */
export function isFiltered(state) {
  const keys = /** @type {(keyof typeof CLEAR)[]} */ (Object.keys(CLEAR));
  return keys.some((key) => (state[key] ?? null) !== CLEAR[key]);
}

/**
 * The key a list is sorted by: the chosen one, where this list has it; else its first, or time where it was measured.
 * @param {import("./store.js").State} state @param {any} first
 */
export function sortKey(state, first) {
  const keys = SORTS[state.list].map(([key]) => key);
  if (keys.includes(state.sort)) return state.sort;
  return first.measured && keys.includes("time") ? "time" : keys[0];
}

/**
 * Rows that fit, with their numbers, in the chosen order.
 * @param {import("./store.js").Store} store @param {import("./store.js").State} [state] @returns {[any, number][]}
 */
export function shownRows(store, state = store.state) {
  const { first } = store;
  const has = searched(store, state.text);
  const shown = store
    .rows(state.list)
    .map((row, i) => /** @type {[any, number]} */ ([row, i]))
    .filter(([row]) => fits(row, state, first) && has(row) && !(state.isChanged && store.goes(row)));
  const key = sortKey(state, first);
  if (key !== "given") shown.sort(([a, i], [b, j]) => ORDER[key](a, b) || i - j);
  return state.reversed ? shown.reverse() : shown;
}

/** @type {Record<string, (a: any, b: any) => number>} */
const ORDER = {
  size: (a, b) => bytes(b) - bytes(a),
  time: (a, b) => (b.time_us ?? -1) - (a.time_us ?? -1),
  count: (a, b) => b.number - a.number,
  name: (a, b) => natural.compare(a.name ?? a.what, b.name ?? b.what),
  place: (a, b) => Number(!a.place) - Number(!b.place) || natural.compare(a.place ?? "", b.place ?? ""),
  phase: (a, b) => phase(a) - phase(b) || bytes(b) - bytes(a),
};

/** The sorts that a list's rows have something for. @param {string} list @param {any[]} rows */
export function sortsOf(list, rows) {
  return SORTS[list].filter(([key]) => key !== "time" || rows.some((row) => row.time_us !== undefined));
}

/** @param {any} row */
function bytes(row) {
  return row.sent_bytes ?? row.bytes ?? 0;
}

/** @param {any} row */
function phase(row) {
  const at = PHASES.indexOf(row.phase);
  return at < 0 ? PHASES.length : at;
}

/**
 * Bytes sent and collectives per set of axes, of those that fit all filters but the one of the axes.
 * @param {import("./store.js").Store} store @param {import("./store.js").State} state
 */
export function filteredTotals(store, state) {
  const sums = new Map();
  let number = 0;
  for (const [row] of shownRows(store, { ...state, axes: null })) {
    const [sent, count] = sums.get(row.axes) ?? [0, 0];
    sums.set(row.axes, [sent + row.sent_bytes, count + row.number]);
    number += row.number;
  }
  return { sums, number };
}
