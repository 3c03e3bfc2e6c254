// The graph's geometry: rows by phases -> rectangles and lines, in pixels at scale 1. Pure: no DOM, linear time.
// A row's place depends only on what stands above it, so that opening one moves nothing above.
import { cellKey, viewOf } from "./fold.js";
import { BACKWARD, UPDATE } from "./columns.js";

/**
 * @typedef {import("./columns.js").Graph} Graph
 * @typedef {import("./fold.js").Shown} Shown
 * @typedef {import("./fold.js").View} View
 * @typedef {import("./fold.js").Cell} Cell
 * @typedef {import("./fold.js").Flow} Flow
 * @typedef {import("./fold.js").Item} Item
 * @typedef {import("./fold.js").Move} Move
 * @typedef {import("./fold.js").Difference} Difference
 * @typedef {{type: "move", of: Move} | {type: "share", of: Move}} MoveWords a collective, or a share of a combined one
 * @typedef {{type: "difference", of: Difference} | {type: "more", of: number, rest: Content[]}} DifferenceWords of
 *   another layer; or what there is no room for
 * @typedef {MoveWords | DifferenceWords} Content
 * @typedef {Content & {x: number, y: number, w: number}} Line its place in its box; all are `LINE` high
 * @typedef {{gap: number, band: number, end: number, inset: number, least: number}} Measures heights, in pixels: between
 *   rows, of a frame's head, at the foot, between a frame and what is in it, of the lowest row
 * @typedef {{
 *   cell: Cell,
 *   x: number,
 *   y: number,
 *   w: number,
 *   h: number,
 *   lines: Line[],
 *   isSpan: boolean,
 *   isStack: boolean,
 * }} Box
 * @typedef {{item: Item, x: number, y: number, w: number, h: number, depth: number}} Band
 * @typedef {{item: Item, x: number, y: number, h: number, w: number}} Label
 * @typedef {{flow: Flow, points: number[][], width: number, kind: "flow" | "saved" | "skip"}} Arrow
 * @typedef {{flow: Flow | null, phase: number, x: number, y: number, bytes: number, times: number}} Pill
 * @typedef {{
 *   columns: {phase: number, x: number, w: number}[],
 *   labelWidth: number,
 *   gutter: number,
 *   boxes: Box[],
 *   bands: Band[],
 *   labels: Label[],
 *   arrows: Arrow[],
 *   pills: Pill[],
 *   width: number,
 *   height: number,
 *   view: View,
 *   at: Map<number, Box>,
 *   isStacked: boolean,
 *   short: boolean,
 *   gap: number,
 *   measures: Measures,
 *   chipWidth: ChipWidth | undefined,
 * }} Layout `chipWidth` of a compact one only
 * @typedef {(content: Content) => number} ChipWidth
 */

export const HEAD = 24;
export const LINE = 17;
export const TOP = 36;
/** @type {Measures} */
const ROOMY = { gap: 26, band: 27, end: 14, inset: 10, least: HEAD + 3 };
/** @type {Measures} */
const COMPACT = { gap: 9, band: 26, end: 8, inset: 6, least: 24 };
const LANE = 7;
const CHIP_GAP = 5;
const MOST_CHIP_ROWS = 3;
/** Pixels for the name of a phase, where phases stand under each other. */
const STACKED = 82;
const STACK_GAP = 4;
const NAME = 22;
const MOST_DIFFERENCES = 3;
const MOST_BOXES = 60;
const MOST_HEIGHT = 1100;

/** @param {number} low @param {number} value @param {number} high */
const between = (low, value, high) => Math.round(Math.max(low, Math.min(high, value)));

/**
 * Widths of the columns for the room there is.
 * @param {number[]} phases @param {number} room @param {boolean} [isCompact]
 * @param {boolean} [isStacked] phases under each other
 */
export function columnsFor(phases, room, isCompact = false, isStacked = false) {
  if (isStacked) {
    const columns = phases.map((phase) => ({ phase, x: STACKED, w: room - STACKED - 10 }));
    return { columns, labelWidth: room - 20, gap: 0, width: room, gutter: 0, short: false };
  }
  if (isCompact) return compactColumns(phases, room);
  const isTight = room < (phases.length > 3 ? 900 : 640); // four phases in the middle pane: everything gives a little
  const labelWidth = between(isTight ? 96 : 104, 0.16 * room, isTight ? 96 : 190);
  const gap = between(isTight ? 46 : 54, 0.075 * room, isTight ? 46 : 84);
  const gutter = isTight ? 24 : room < 900 ? 32 : 46;
  const last =
    phases.length > 1 && phases[phases.length - 1] === UPDATE
      ? between(isTight ? 92 : 110, 0.14 * room, isTight ? 92 : 164)
      : 0;
  const wide = phases.length - (last ? 1 : 0);
  const rest = room - labelWidth - gutter - 16 - gap * (phases.length - 1) - last;
  const width = between(isTight ? 138 : 150, rest / wide, wide > 1 ? 270 : 420);
  const columns = sideBySide(phases, labelWidth + gutter, gap, width, last);
  const end = columns[columns.length - 1];
  return { columns, labelWidth, gap, width: end.x + end.w + 16, gutter, short: width < 216 };
}

/** As many phases side by side as there are. @param {number[]} phases @param {number} room */
function compactColumns(phases, room) {
  const labelWidth = between(78, 0.17 * room, 190);
  const gap = between(10, 0.018 * room, 24);
  const gutter = 14;
  const last = phases.length > 1 && phases[phases.length - 1] === UPDATE ? between(42, 0.085 * room, 120) : 0;
  const wide = phases.length - (last ? 1 : 0);
  const width = between(94, (room - labelWidth - gutter - 10 - gap * (phases.length - 1) - last) / wide, 420);
  const columns = sideBySide(phases, labelWidth + gutter, gap, width, last);
  const end = columns[columns.length - 1];
  return { columns, labelWidth, gap, width: end.x + end.w + 10, gutter, short: width < 190 };
}

/**
 * @param {number[]} phases @param {number} x @param {number} gap @param {number} width
 * @param {number} last the width of the last column, where it is another one
 */
function sideBySide(phases, x, gap, width, last) {
  return phases.map((phase, i) => ({
    phase,
    x: x + i * (width + gap),
    w: last && i === phases.length - 1 ? last : width,
  }));
}

/**
 * The whole picture.
 * @param {Graph} graph
 * @param {Shown} shown
 * @param {{
 *   room: number,
 *   phases?: number[],
 *   flows?: boolean,
 *   chipWidth?: ChipWidth,
 *   isStacked?: boolean,
 * }} options `chipWidth`: rows are as low as can be, what is in a box stands side by side in pieces that wide;
 *   `isStacked`: of a row first its name, then its phases, under each other
 * @returns {Layout}
 */
export function layoutOf(graph, shown, { room, phases = graph.columns, flows = true, chipWidth, isStacked = false }) {
  const view = viewOf(graph, shown, { flows });
  const sizes = columnsFor(phases, room, Boolean(chipWidth), isStacked);
  const measures = chipWidth ? COMPACT : ROOMY;
  /** @type {Layout} */
  const layout = {
    ...sizes,
    measures,
    chipWidth,
    isStacked,
    boxes: [],
    bands: [],
    labels: [],
    arrows: [],
    pills: [],
    height: 0,
    view,
    at: new Map(),
  };
  placeRows(layout);
  if (!isStacked) placeFlows(layout);
  if (!chipWidth) placePills(graph, layout);
  return layout;
}

/** What is in a box. @param {Cell} cell @param {number} width @returns {Line[]} */
function linesOf(cell, width) {
  const shown = cell.differences.slice(0, MOST_DIFFERENCES);
  const lines = [...movesOf(cell), ...differencesOf(shown)];
  const rest = differencesOf(cell.differences.slice(MOST_DIFFERENCES));
  if (rest.length) lines.push({ type: "more", of: rest.length, rest });
  return lines.map((line, i) => ({ ...line, x: 0, y: HEAD + 2 + LINE * i, w: width }));
}

/** @param {Cell} cell @returns {Content[]} */
const movesOf = (cell) => [
  ...cell.moves.map((of) => ({ type: /** @type {const} */ ("move"), of })),
  ...cell.shares.map((of) => ({ type: /** @type {const} */ ("share"), of })),
];

/** @param {Difference[]} differences @returns {Content[]} */
const differencesOf = (differences) => differences.map((of) => ({ type: /** @type {const} */ ("difference"), of }));

/**
 * The same side by side, in three rows at most; what has no room there is one "+3" at the end.
 * @param {Cell} cell @param {number} width @param {Layout} layout @returns {Line[]}
 */
function chipsOf(cell, width, { chipWidth = () => 0 }) {
  const moves = cell.moves.map((of) => ({ type: /** @type {const} */ ("move"), of }));
  const others = [...movesOf(cell).slice(moves.length), ...differencesOf(cell.differences)];
  const most = width - (cell.iterations === 1 ? 8 : 24); // room to say that it is per trip
  for (let count = moves.length; ; count--) {
    const rest = [...moves.slice(count), ...others];
    /** @type {Content[]} */
    const chips = moves.slice(0, count);
    if (rest.length) chips.push({ type: "more", of: rest.length, rest });
    let [x, row] = [0, 0];
    const placed = chips.map((chip) => {
      const w = Math.min(chipWidth(chip), most);
      if (x && x + w > most) [x, row] = [0, row + 1];
      const line = { ...chip, x: 5 + x, y: 3 + (LINE + 1) * row, w };
      x += w + CHIP_GAP;
      return line;
    });
    if (row < MOST_CHIP_ROWS || !count) return placed;
  }
}

/** @param {Layout} layout @param {Box} box */
function heightOf({ measures, chipWidth }, { lines }) {
  if (!lines.length) return measures.least;
  return lines[lines.length - 1].y + LINE + (chipWidth ? 4 : 5);
}

/** Rows from top to bottom, with frames around open ones. @param {Layout} layout */
function placeRows(layout) {
  const { items, cells } = layout.view;
  const { gap, band: head, end, inset, least } = layout.measures;
  /** @type {{end: number, band: Band, spans: Box[]}[]} */
  const open = [];
  let y = layout.isStacked ? 8 : TOP + 12;
  const finish = (/** @type {number} */ next) => {
    while (open.length && open[open.length - 1].end <= next) {
      const { band, spans } = /** @type {{end: number, band: Band, spans: Box[]}} */ (open.pop());
      const bottom = Math.max(y - gap, ...spans.map((box) => box.y + heightOf(layout, box)));
      for (const box of spans) box.h = bottom - box.y;
      band.h = bottom + inset - band.y;
      y = bottom + inset + gap - (open.length ? inset : 0);
    }
  };
  items.forEach((item, i) => {
    finish(i);
    const boxes = item.row < 0 ? [] : boxesOf(layout, item, cells, y);
    if (item.isOpen) {
      const band = { item, x: 6 + item.depth * 10, y, w: layout.width - 12 - item.depth * 20, h: 0, depth: item.depth };
      layout.bands.push(band);
      y += head;
      for (const box of boxes) Object.assign(box, { y, isSpan: !layout.isStacked, isStack: false });
      if (layout.isStacked) y = stack(layout, boxes, y);
      open.push({ end: i + 1 + item.count, band, spans: layout.isStacked ? [] : boxes });
    } else if (layout.isStacked) {
      layout.labels.push({ item, x: 14 + item.depth * 10, y, h: least, w: layout.labelWidth - item.depth * 20 });
      y = stack(layout, boxes, y + NAME) + gap - STACK_GAP;
    } else {
      const h = Math.max(least, ...boxes.map((box) => heightOf(layout, box)));
      for (const box of boxes) box.h = h;
      layout.labels.push({ item, x: 14 + item.depth * 10, y, h, w: layout.labelWidth - 4 - item.depth * 10 });
      y += h + gap;
    }
  });
  finish(items.length);
  layout.height = y - gap + end;
}

/** Boxes under each other; gives where the next may stand. @param {Layout} layout @param {Box[]} boxes @param {number} y */
function stack(layout, boxes, y) {
  for (const box of boxes) {
    Object.assign(box, { y, h: heightOf(layout, box) });
    y += box.h + STACK_GAP;
  }
  return y;
}

/** @param {Layout} layout @param {Item} item @param {Map<number, Cell>} cells @param {number} y */
function boxesOf(layout, item, cells, y) {
  const boxes = [];
  for (const column of layout.columns) {
    const cell = cells.get(cellKey(item.row, column.phase));
    if (!cell) continue;
    const isStack = item.fold >= 0 && layout.view.isClosed[item.fold] === 1;
    const { w } = column;
    const lines = layout.chipWidth ? chipsOf(cell, w, layout) : linesOf(cell, w);
    const box = { cell, x: column.x, y, w, h: 0, lines, isSpan: false, isStack };
    layout.at.set(cellKey(item.row, column.phase), box);
    boxes.push(box);
  }
  layout.boxes.push(...boxes);
  return boxes;
}

/** @param {Layout} layout @param {Cell} cell */
const boxOf = (layout, cell) => layout.at.get(cellKey(cell.row, cell.phase));

/** Arrows that the first picture has. @param {Layout} layout */
function placeFlows(layout) {
  const lanes = { ends: /** @type {number[][][]} */ ([]) };
  for (const flow of layout.view.flows) {
    const from = boxOf(layout, flow.source);
    const to = boxOf(layout, flow.target);
    if (!from || !to) continue;
    const points =
      flow.relation === "flow"
        ? along(layout, from, to)
        : flow.relation === "saved" && flow.bytes > 0
          ? level(layout, from, to)
          : flow.relation === "far skip"
            ? around(from, to, lanes, layout.gutter)
            : null;
    if (!points) continue;
    const kind = flow.relation === "far skip" ? "skip" : /** @type {"flow" | "saved"} */ (flow.relation);
    layout.arrows.push({ flow, points, width: kind === "skip" ? Math.min(3, thickness(flow)) : thickness(flow), kind });
  }
}

/** @param {Flow} flow */
export const thickness = (flow) => Math.max(1, Math.min(9, 0.75 * Math.log2(1 + (flow.bytes || flow.total) / 65536)));

/** Down, or up for the backward phase, to the next box. @param {Layout} layout @param {Box} from @param {Box} to */
function along(layout, from, to) {
  if (from.isSpan || to.isSpan) return null;
  const x = Math.round(from.x + from.w / 2);
  const isDown = to.y > from.y;
  const points = [
    [x, isDown ? from.y + from.h : from.y],
    [x, isDown ? to.y : to.y + to.h],
  ];
  return isFree(layout, points, from, to) ? points : null;
}

/** Straight across to a later phase. @param {Layout} layout @param {Box} from @param {Box} to */
function level(layout, from, to) {
  const top = Math.max(from.y, to.y);
  const bottom = Math.min(from.y + from.h, to.y + to.h);
  if (bottom - top < 10) return null;
  const y = Math.round((top + bottom) / 2);
  const points = [
    [from.x + from.w, y],
    [to.x, y],
  ];
  return isFree(layout, points, from, to) ? points : null;
}

/**
 * Past other boxes of its column, in the gutter on its left.
 * @param {Box} from @param {Box} to @param {{ends: number[][][]}} lanes @param {number} gutter
 */
function around(from, to, lanes, gutter) {
  const start = from.y + from.h * 0.75;
  const end = to.y + Math.min(to.h * 0.25, 12);
  const span = [Math.min(start, end), Math.max(start, end)];
  const free = (/** @type {number[][]} */ lane) => lane.every(([a, b]) => b < span[0] || a > span[1]);
  let lane = lanes.ends.findIndex(free);
  if (lane < 0) lane = lanes.ends.push([]) - 1;
  if (lane * LANE > gutter - 12) return null;
  lanes.ends[lane].push(span);
  const x = from.x - 10 - LANE * lane;
  return [
    [from.x, start],
    [x, start],
    [x, end],
    [to.x, end],
  ];
}

/**
 * Whether a line meets no box but its own two.
 * @param {Layout} layout @param {number[][]} points @param {Box} from @param {Box} to
 */
function isFree(layout, points, from, to) {
  return layout.boxes.every((box) => box === from || box === to || !meets(points, box));
}

/**
 * Whether a line of level and upright parts goes through a rectangle.
 * @param {number[][]} points @param {{x: number, y: number, w: number, h: number}} box
 */
export function meets(points, box) {
  for (let i = 1; i < points.length; i++) {
    const [[a, b], [c, d]] = [points[i - 1], points[i]];
    if (
      Math.max(a, c) > box.x &&
      Math.min(a, c) < box.x + box.w &&
      Math.max(b, d) > box.y &&
      Math.min(b, d) < box.y + box.h
    )
      return true;
  }
  return false;
}

/**
 * The step to the next member of a fold, on its border: one for each phase.
 * @param {Graph} graph @param {Layout} layout
 */
function placePills(graph, layout) {
  /** @type {Map<string, Pill>} */
  const pills = new Map();
  for (const flow of layout.view.flows) {
    if (flow.relation !== "next") continue;
    const key = `${flow.crossed},${flow.source.phase}`;
    const pill = pills.get(key) ?? placePill(graph, layout, flow);
    if (!pill) continue;
    pills.set(key, pill);
    pill.bytes += flow.total / Math.max(1, pill.times);
  }
  layout.pills.push(...pills.values());
}

/** @param {Graph} graph @param {Layout} layout @param {Flow} flow @returns {Pill | null} */
function placePill(graph, layout, flow) {
  const { phase } = flow.source;
  const column = layout.columns.find((one) => one.phase === phase);
  const band = layout.bands.find((one) => one.item.fold === flow.crossed && !one.item.isUnfolded && one.item.row >= 0);
  const box = band ?? layout.at.get(cellKey(graph.fold.shown[flow.crossed], phase));
  if (!column || !box) return null;
  return {
    flow,
    phase,
    x: column.x + column.w / 2,
    y: phase === BACKWARD ? box.y - (band ? 4 : 14) : box.y + box.h + (band ? 0 : 9),
    bytes: 0,
    times: graph.members[flow.crossed].length - 1,
  };
}

/**
 * What is open at first: the largest closed rows, as long as the picture stays one that can be overseen.
 * @param {Graph} graph @param {number} room @returns {Shown}
 */
export function openAtFirst(graph, room) {
  /** @type {Shown} */
  const shown = { open: new Set([0]), unfolded: new Set() };
  const refused = new Set();
  for (let layout = layoutOf(graph, shown, { room, flows: false }); ;) {
    const next = largestClosed(graph, layout, refused);
    if (next < 0) return shown;
    shown.open.add(next);
    const wider = layoutOf(graph, shown, { room, flows: false });
    if (wider.boxes.length <= MOST_BOXES && wider.height <= MOST_HEIGHT) {
      layout = wider;
      continue;
    }
    shown.open.delete(next);
    refused.add(next);
  }
}

/** @param {Graph} graph @param {Layout} layout @param {Set<number>} refused */
function largestClosed(graph, layout, refused) {
  let best = -1;
  let most = 0;
  for (const { item } of layout.labels) {
    if (item.row <= 0 || !graph.children[item.row].length || refused.has(item.row)) continue;
    const kernels = layout.columns.reduce(
      (sum, { phase }) => sum + (layout.at.get(cellKey(item.row, phase))?.cell.kernels ?? 0),
      0,
    );
    if (kernels > most) [best, most] = [item.row, kernels];
  }
  return best;
}
