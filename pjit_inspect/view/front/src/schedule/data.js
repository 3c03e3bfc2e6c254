// The schedule strip as numbers: what runs, in order, and from where to where each collective is under way. Pure; the
// columns are described in `view/inspector/schedule.py`. Places count kernels, not time.
import { bytesText, plural, thousands } from "../core/format.js";

const LEVELS = 3; // bars of one lane that are under way at once, drawn above each other

/**
 * @typedef {object} Event one collective
 * @property {number} collective its number in the program's table
 * @property {number} row its row in the list; -1 when it has none
 * @property {number} lane
 * @property {number} start place where it is issued
 * @property {number} end place where it is waited for
 * @property {number} firstUse kernel; -1 for none
 * @property {boolean} isAsync
 * @property {number} level which bar of its lane
 */

/**
 * @typedef {object} Strip
 * @property {number} size how many kernels
 * @property {number[]} phases those that occur, from top to bottom
 * @property {import("../core/blob.js").Column} starts first kernel of each run
 * @property {import("../core/blob.js").Column} rows the layer of each run
 * @property {Map<number, number>} tones 0 or 1 for each layer, in turn
 * @property {import("../core/blob.js").Column} runPhases
 * @property {Event[]} events by start
 * @property {number[]} levels how many bars each lane needs
 * @property {number[]} lanes the axis set of each lane
 * @property {number} firstMatmul
 * @property {boolean} isScheduled
 */

/** @param {import("../core/blob.js").Store} data @returns {Strip} */
export function readStrip(data) {
  const { graph } = data.header;
  const column = (/** @type {string} */ name) => data.column(`graph.${name}`);
  const runPhases = column("run.phase");
  const events = readEvents(column);
  return {
    size: column("kernel.box").length,
    phases: [...new Set(runPhases)].sort((a, b) => a - b),
    starts: column("run.start"),
    rows: column("run.row"),
    runPhases,
    tones: new Map([...new Set(column("run.row"))].map((row, i) => [row, i % 2])),
    events,
    levels: setLevels(events, graph.lanes.length),
    lanes: graph.lanes,
    firstMatmul: graph.first_matmul,
    isScheduled: graph.is_scheduled,
  };
}

/** @param {(name: string) => import("../core/blob.js").Column} column @returns {Event[]} */
function readEvents(column) {
  const [collective, lane, start, end, use, isAsync] = [
    "collective",
    "lane",
    "start",
    "end",
    "first_use",
    "is_async",
  ].map((name) => column(`event.${name}`));
  const rows = column("collective.row");
  return Array.from(collective, (number, i) => ({
    collective: number,
    row: rows[number] ?? -1,
    lane: lane[i],
    start: start[i],
    end: Math.max(end[i], start[i]),
    firstUse: use[i],
    isAsync: Boolean(isAsync[i]),
    level: 0,
  }));
}

/** Gives events that overlap bars above each other. @param {Event[]} events @param {number} lanes */
function setLevels(events, lanes) {
  const ends = Array.from({ length: lanes }, () => /** @type {number[]} */ ([]));
  for (const event of events) {
    const taken = ends[event.lane];
    const free = taken.findIndex((end) => end <= event.start);
    if (free >= 0) event.level = free;
    else event.level = taken.length < LEVELS ? taken.length : taken.indexOf(Math.min(...taken));
    taken[event.level] = Math.max(event.end, taken[event.level] ?? 0);
  }
  return ends.map((taken) => Math.max(1, taken.length));
}

/** The run of a kernel: the last that starts at or before it. @param {Strip} strip @param {number} kernel */
export function runOf(strip, kernel) {
  let low = 0;
  let high = strip.starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (strip.starts[middle] <= kernel) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Where a run ends. @param {Strip} strip @param {number} run */
export function endOf(strip, run) {
  return run + 1 < strip.starts.length ? strip.starts[run + 1] : strip.size;
}

/**
 * How many results of a lane are there but not taken yet, at each of `count` points from `from` on, `step` apart.
 * @param {Strip} strip @param {number} lane @param {number} from @param {number} step @param {number} count
 */
export function waiting(strip, lane, from, step, count) {
  const change = new Int32Array(count + 1);
  for (const event of strip.events) {
    if (event.lane !== lane || event.firstUse <= event.end) continue;
    const [first, last] = [event.end, event.firstUse].map((place) =>
      Math.max(0, Math.min(count, Math.round((place - from) / step))),
    );
    change[first]++;
    change[last]--;
  }
  let now = 0;
  return change.subarray(0, count).map((one) => (now += one));
}

/**
 * The event of a lane that is nearest to a place and at most `reach` away; -1 for none.
 * @param {Strip} strip @param {number} lane @param {number} place @param {number} reach
 */
export function nearest(strip, lane, place, reach) {
  let found = -1;
  let least = reach;
  strip.events.forEach((event, i) => {
    if (event.lane !== lane) return;
    const away = Math.max(0, event.start - place, place - event.end);
    if (away < least || (away === least && found < 0)) [found, least] = [i, away];
  });
  return found;
}

/**
 * What is known of an event, as lines.
 * @param {Strip} strip @param {number} index @param {import("../core/blob.js").Store} data @returns {string[]}
 */
export function eventLines(strip, index, data) {
  const event = strip.events[index];
  const row = data.header.collectives[event.row];
  const size = data.column("graph.collective.bytes")[event.collective] ?? -1;
  const over = data.header.axis_sets[strip.lanes[event.lane]]?.words ?? "";
  const kind = `${row?.kind ?? "collective"} over ${over}, ${size < 0 ? "size unknown" : `${bytesText(size)} on a device`}`;
  return [kind, row?.what ?? "", wayOf(event), useOf(strip, event, data)].filter(Boolean);
}

/** @param {Event} event */
function wayOf(event) {
  if (!event.isAsync) return `at place ${thousands(event.start)}, not asynchronous`;
  const meanwhile = event.end - event.start;
  const between = meanwhile ? plural(meanwhile, "kernel") : "no kernel";
  return `from place ${thousands(event.start)} to ${thousands(event.end)}: ${between} in between`;
}

/** @param {Strip} strip @param {Event} event @param {import("../core/blob.js").Store} data */
function useOf(strip, event, data) {
  if (event.firstUse < 0) return "no kernel takes its result";
  const later = event.firstUse - event.end;
  const name = data.strings("graph.kernel.names").at(event.firstUse);
  const early =
    strip.firstMatmul >= 0 && event.end <= strip.firstMatmul && event.firstUse > strip.firstMatmul
      ? ", after the first matmul"
      : "";
  return `first used ${later > 0 ? `${plural(later, "kernel")} later, ` : ""}by ${name}${early}`;
}
