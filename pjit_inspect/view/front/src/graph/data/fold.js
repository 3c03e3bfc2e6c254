// What of a graph is visible: which rows are open, which folds stand for all their members, and what each visible box
// then holds. Pure: no DOM, no geometry. `analyze/graph/fold.py` and `graph_arrows.py` have the same rules with every
// row open and every fold closed; tests/front compares them.
import { range } from "../../core/blob.js";
import { BACKWARD, FORWARD, UPDATE } from "./columns.js";

/**
 * @typedef {import("./columns.js").Graph} Graph
 * @typedef {{
 *   open: Set<number>,
 *   unfolded: Set<number>,
 * }} Shown rows that are open, folds whose members stand side by side
 * @typedef {{
 *   row: number,
 *   fold: number,
 *   depth: number,
 *   isOpen: boolean,
 *   isUnfolded: boolean,
 *   count: number,
 * }} Item one visible row, or (isUnfolded) the frame around the members of a fold; `count` items follow inside of an
 *   open one
 * @typedef {{kind: number, axes: number, count: number, bytes: number, runs: number, collectives: number[]}} Move
 * @typedef {{members: number[], kind: number, axes: number, count: number, bytes: number}} Difference
 * @typedef {{
 *   row: number,
 *   phase: number,
 *   boxes: number[],
 *   times: number,
 *   kernels: number,
 *   inferred: number,
 *   matmuls: number,
 *   flops: number,
 *   iterations: number,
 *   bytes: number,
 *   time: number,
 *   slowest: number,
 *   moves: Move[],
 *   shares: Move[],
 *   differences: Difference[],
 *   parts: number[][],
 * }} Cell
 * @typedef {{
 *   source: Cell,
 *   target: Cell,
 *   relation: string,
 *   bytes: number,
 *   total: number,
 *   members: number,
 *   member: number,
 *   times: number,
 *   crossed: number,
 *   outside: boolean,
 * }} Flow
 * @typedef {{
 *   items: Item[],
 *   cells: Map<number, Cell>,
 *   flows: Flow[],
 *   stand: Int32Array,
 *   vis: Int32Array,
 *   isClosed: Uint8Array,
 * }} View
 */

const MOST_SKIPS = 6;

/**
 * `flows: false` leaves the arrows out.
 * @param {Graph} graph @param {Shown} shown @param {{flows?: boolean}} [options] @returns {View}
 */
export function viewOf(graph, shown, { flows = true } = {}) {
  const { stand, vis, isClosed } = standing(graph, shown);
  const cells = cellsOf(graph, stand, vis, isClosed);
  differences(graph, cells, stand, vis, isClosed);
  mixes(graph, cells, stand, vis);
  const items = itemsOf(graph, shown, isClosed);
  const view = { items, cells, flows: /** @type {Flow[]} */ ([]), stand, vis, isClosed };
  if (flows) view.flows = flowsOf(graph, view);
  return view;
}

/** The key of a cell. @param {number} row @param {number} phase */
export const cellKey = (row, phase) => row * 4 + phase;

/**
 * For each row the row that stands for it, the visible row that shows that one, and for each fold whether it is folded.
 * A fold inside a row that is closed is not folded: a closed row holds all that is in it.
 * @param {Graph} graph @param {Shown} shown
 */
export function standing(graph, shown) {
  const { parent, fold, shown_as } = graph.row;
  const stand = new Int32Array(graph.rows);
  const vis = new Int32Array(graph.rows);
  const isClosed = new Uint8Array(graph.folds);
  /** @type {Map<number, Map<number, number>>} */
  const places = new Map();
  const close = (/** @type {number} */ row) =>
    fold[row] >= 0 && isClosed[fold[row]] ? graph.fold.shown[fold[row]] : row;
  const counterpart = (/** @type {number} */ row, /** @type {number} */ around) => {
    if (!places.has(around))
      places.set(around, new Map([...graph.children[around]].reverse().map((child) => [shown_as[child], child])));
    const found = places.get(around)?.get(shown_as[row]);
    return found === undefined ? firstLeaf(graph, around, close) : close(found);
  };
  for (let row = 1; row < graph.rows; row++) {
    const around = parent[row];
    const isOpen = vis[around] === around && shown.open.has(around);
    if (stand[around] !== around) {
      stand[row] = isOpen || shown.open.has(stand[around]) ? counterpart(row, stand[around]) : stand[around];
    } else {
      if (fold[row] >= 0 && isOpen && !shown.unfolded.has(fold[row])) isClosed[fold[row]] = 1;
      stand[row] = close(row);
    }
    vis[row] = isOpen ? row : vis[around];
  }
  return { stand, vis, isClosed };
}

/** @param {Graph} graph @param {number} row @param {(row: number) => number} close */
function firstLeaf(graph, row, close) {
  let at = row;
  while (graph.children[at].length) at = close(graph.children[at][0]);
  return at;
}

/**
 * Visible rows, top to bottom.
 * @param {Graph} graph @param {Shown} shown @param {Uint8Array} isClosed @returns {Item[]}
 */
function itemsOf(graph, shown, isClosed) {
  /** @type {Item[]} */
  const items = [];
  const add = (/** @type {number} */ row, /** @type {number} */ depth) => {
    const isOpen = shown.open.has(row) && graph.children[row].length > 0;
    const item = { row, fold: graph.row.fold[row], depth, isOpen, isUnfolded: false, count: 0 };
    const at = items.push(item);
    if (isOpen) within(row, depth + 1);
    item.count = items.length - at;
  };
  const within = (/** @type {number} */ row, /** @type {number} */ depth) => {
    const done = new Set();
    for (const child of graph.children[row]) {
      const fold = graph.row.fold[child];
      if (fold < 0) add(child, depth);
      else if (!done.has(fold)) {
        done.add(fold);
        if (isClosed[fold]) {
          add(graph.fold.shown[fold], depth);
          continue;
        }
        const frame = { row: -1, fold, depth, isOpen: true, isUnfolded: true, count: 0 };
        const at = items.push(frame);
        graph.members[fold].forEach((member) => add(member, depth + 1));
        frame.count = items.length - at;
      }
    }
  };
  within(0, 0);
  if (!items.length) items.push({ row: 0, fold: -1, depth: 0, isOpen: false, isUnfolded: false, count: 0 });
  return items;
}

/**
 * What each visible box holds: of a fold, what its shown member holds, and the time of its slowest.
 * @param {Graph} graph @param {Int32Array} stand @param {Int32Array} vis @param {Uint8Array} isClosed
 */
function cellsOf(graph, stand, vis, isClosed) {
  const { box } = graph;
  /** @type {Map<number, Cell>} */
  const cells = new Map();
  const times = timesOf(graph, isClosed);
  for (let one = 0; one < graph.boxes; one++) {
    const row = box.row[one];
    const phase = box.phase[one];
    if (stand[row] !== row) continue;
    const key = cellKey(vis[row], phase);
    const found = cells.get(key);
    const cell = found ?? {
      row: vis[row],
      phase,
      boxes: [],
      times: times[row],
      kernels: 0,
      inferred: 0,
      matmuls: 0,
      flops: 0,
      iterations: box.iterations[one],
      bytes: 0,
      time: -1,
      slowest: -1,
      moves: [],
      shares: [],
      differences: [],
      parts: [],
    };
    if (!found) cells.set(key, cell);
    cell.boxes.push(one);
    cell.kernels += box.kernels[one];
    cell.inferred += box.inferred[one];
    cell.matmuls += box.matmuls[one];
    cell.flops = cell.flops < 0 || box.flops[one] < 0 ? -1 : cell.flops + box.flops[one];
    cell.bytes += box.bytes[one];
    if (cell.iterations !== box.iterations[one])
      cell.iterations = box.iterations[one] === 1 || cell.iterations === 1 ? 1 : -1;
    addMoves(graph, cell, one);
    addShares(graph, cell, one);
  }
  for (const cell of cells.values()) {
    cell.moves.sort((a, b) => b.bytes - a.bytes);
    cell.shares = cell.shares.filter((share) =>
      share.collectives.some((number) => !cell.boxes.includes(graph.collective.box[number])),
    );
    cell.shares.sort((a, b) => b.bytes - a.bytes);
  }
  if (graph.boxTime.length) addTimes(graph, stand, vis, isClosed, cells);
  return cells;
}

/**
 * Measured times: unlike all else they differ between equal layers, so that a box has the time of the slowest member it
 * stands for. `slowest` is that member's row; -1 where it stands for itself.
 * @param {Graph} graph @param {Int32Array} stand @param {Int32Array} vis @param {Uint8Array} isClosed
 * @param {Map<number, Cell>} cells
 */
function addTimes(graph, stand, vis, isClosed, cells) {
  const member = new Int32Array(graph.rows).fill(-1);
  for (let row = 1; row < graph.rows; row++) {
    const fold = graph.row.fold[row];
    member[row] = fold >= 0 && isClosed[fold] ? row : member[graph.row.parent[row]];
  }
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (let one = 0; one < graph.boxes; one++) {
    const row = graph.box.row[one];
    const cell = cells.get(cellKey(vis[stand[row]], graph.box.phase[one]));
    if (!cell || graph.boxTime[one] < 0) continue;
    const key = `${cell.row} ${cell.phase} ${member[row]}`;
    const sum = (sums.get(key) ?? 0) + graph.boxTime[one];
    sums.set(key, sum);
    if (sum > cell.time || cell.slowest === member[row]) [cell.time, cell.slowest] = [sum, member[row]];
  }
}

/** For each row how many it stands for. @param {Graph} graph @param {Uint8Array} isClosed */
function timesOf(graph, isClosed) {
  const times = new Int32Array(graph.rows).fill(1);
  for (let row = 1; row < graph.rows; row++) {
    const fold = graph.row.fold[row];
    times[row] = times[graph.row.parent[row]] * (fold >= 0 && isClosed[fold] ? graph.members[fold].length : 1);
  }
  return times;
}

/** @param {Move[]} moves @param {number} kind @param {number} axes */
function moveOf(moves, kind, axes) {
  let move = moves.find((one) => one.kind === kind && one.axes === axes);
  if (!move) moves.push((move = { kind, axes, count: 0, bytes: 0, runs: 0, collectives: [] }));
  return move;
}

/** @param {Graph} graph @param {Cell} cell @param {number} box */
function addMoves(graph, cell, box) {
  const [start, end] = range(graph.move.ends, box);
  for (let one = start; one < end; one++) {
    const move = moveOf(cell.moves, graph.move.kind[one], graph.move.axes[one]);
    const numbers = graph.collectives(one);
    move.count += numbers.length;
    move.bytes += graph.move.bytes[one];
    move.runs = move.runs < 0 || graph.move.runs[one] < 0 ? -1 : move.runs + graph.move.runs[one];
    move.collectives.push(...numbers);
  }
}

/** Combined collectives that stand elsewhere. @param {Graph} graph @param {Cell} cell @param {number} box */
function addShares(graph, cell, box) {
  const [start, end] = range(graph.mention.ends, box);
  for (let one = start; one < end; one++) {
    const number = graph.mention.collective[one];
    const line = lineOf(graph, number);
    if (line < 0) continue;
    const share = moveOf(cell.shares, graph.move.kind[line], graph.move.axes[line]);
    if (!share.collectives.includes(number)) share.collectives.push(number);
    share.count = share.collectives.length;
    share.bytes += graph.mention.bytes[one];
  }
}

/** The line a collective is counted in. @param {Graph} graph @param {number} number */
export function lineOf(graph, number) {
  const [start, end] = range(graph.move.ends, graph.collective.box[number]);
  for (let line = start; line < end; line++) if (graph.collectives(line).includes(number)) return line;
  return -1;
}

/**
 * What other members of closed folds have otherwise.
 * @param {Graph} graph @param {Map<number, Cell>} cells @param {Int32Array} stand @param {Int32Array} vis
 * @param {Uint8Array} isClosed
 */
function differences(graph, cells, stand, vis, isClosed) {
  for (const [fold, members] of countedBy(graph, stand, vis, isClosed)) {
    const shown = graph.fold.shown[fold];
    const usual = members.get(shown) ?? new Map();
    for (const member of graph.members[fold]) {
      if (member === shown) continue;
      const mine = members.get(member) ?? new Map();
      for (const key of new Set([...usual.keys(), ...mine.keys()])) {
        const [count, bytes] = mine.get(key) ?? [0, 0];
        const [less, lessBytes] = usual.get(key) ?? [0, 0];
        if (count === less && bytes === lessBytes) continue;
        const [cell, kind, axes] = key.split(",").map(Number);
        state(cells.get(cell), member, kind, axes, count - less, bytes - lessBytes);
      }
    }
  }
}

/**
 * @param {Cell | undefined} cell @param {number} member @param {number} kind @param {number} axes @param {number} count
 * @param {number} bytes
 */
function state(cell, member, kind, axes, count, bytes) {
  if (!cell) return;
  const same = cell.differences.find(
    (one) => one.kind === kind && one.axes === axes && one.count === count && one.bytes === bytes,
  );
  if (same) same.members.push(member);
  else cell.differences.push({ members: [member], kind, axes, count, bytes });
}

/**
 * Closed fold -> member -> "cell,kind,axes" -> [count, bytes].
 * @param {Graph} graph @param {Int32Array} stand @param {Int32Array} vis @param {Uint8Array} isClosed
 */
function countedBy(graph, stand, vis, isClosed) {
  /** @type {Map<number, Map<number, Map<string, number[]>>>} */
  const folds = new Map();
  for (let fold = 0; fold < graph.folds; fold++) if (isClosed[fold]) folds.set(fold, new Map());
  for (let box = 0; box < graph.boxes; box++) {
    const [start, end] = range(graph.move.ends, box);
    for (let row = start < end ? graph.box.row[box] : -1; row > 0; row = graph.row.parent[row]) {
      const members = folds.get(graph.row.fold[row]);
      if (!members) continue;
      if (!members.has(row)) members.set(row, new Map());
      const counts = /** @type {Map<string, number[]>} */ (members.get(row));
      const cell = cellKey(vis[stand[graph.box.row[box]]], graph.box.phase[box]);
      for (let line = start; line < end; line++) {
        const key = `${cell},${graph.move.kind[line]},${graph.move.axes[line]}`;
        const entry = counts.get(key) ?? [0, 0];
        counts.set(key, [entry[0] + graph.collectives(line).length, entry[1] + graph.move.bytes[line]]);
      }
    }
  }
  return folds;
}

/**
 * Fusions that stand in one cell and do work of another: [kernel, row, phase, instructions] in both.
 * @param {Graph} graph @param {Map<number, Cell>} cells @param {Int32Array} stand @param {Int32Array} vis
 */
function mixes(graph, cells, stand, vis) {
  const { kernel, row, phase, instructions } = graph.mix;
  for (let one = 0; one < kernel.length; one++) {
    const box = graph.kernel.box[kernel[one]];
    const at = graph.box.row[box];
    if (stand[at] !== at) continue;
    const home = cellKey(vis[at], graph.box.phase[box]);
    const other = cellKey(vis[stand[row[one]]], phase[one]);
    if (home === other) continue;
    const part = [kernel[one], row[one], phase[one], instructions[one]];
    cells.get(home)?.parts.push(part);
    cells.get(other)?.parts.push(part);
  }
}

/** Arrows between cells. @param {Graph} graph @param {Omit<View, "flows">} view @returns {Flow[]} */
export function flowsOf(graph, { cells, items, stand, vis, isClosed }) {
  const { source, target, bytes } = graph.arrow;
  const chains = chainsOf(graph, isClosed);
  const steps = stepsOf(graph, chains);
  const cellOf = Int32Array.from(graph.box.row, (row, box) => cellKey(vis[stand[row]], graph.box.phase[box]));
  const rows = graph.rows * 4 + 4;
  const folds = graph.folds + 2;
  /** @type {Map<number, Sum>} */
  const sums = new Map();
  for (let one = 0; one < source.length; one++) {
    const from = cellOf[source[one]];
    const to = cellOf[target[one]];
    const near = graph.box.row[source[one]];
    const far = graph.box.row[target[one]];
    const { step, crossed } = steps(near, far, graph.box.phase[source[one]], graph.box.phase[target[one]]);
    if (from === to && step === INSIDE) continue;
    const key = ((from * rows + to) * 3 + step) * folds + crossed + 1;
    let sum = sums.get(key);
    if (!sum) {
      const [a, b] = [cells.get(from), cells.get(to)];
      if (!a || !b) continue;
      sums.set(
        key,
        (sum = {
          flow: {
            source: a,
            target: b,
            relation: "",
            bytes: 0,
            total: 0,
            members: 0,
            member: -1,
            times: 1,
            crossed,
            outside: false,
          },
          own: 0,
          leaving: 0,
          entering: 0,
          step,
          seen: new Set(),
        }),
      );
    }
    addTo(sum, bytes[one], stand[near] === near, stand[far] === far, chains, near, far);
  }
  const order = orderOf(items, cells);
  const flows = [...sums.values()].map((sum) => finished(graph, sum, order, isClosed));
  return withSkips(flows.sort((a, b) => b.total - a.total));
}

/**
 * @param {Sum} sum @param {number} bytes @param {boolean} leaves @param {boolean} enters
 * @param {{ids: Int32Array, rows: number[][]}} chains @param {number} near @param {number} far
 */
function addTo(sum, bytes, leaves, enters, chains, near, far) {
  const a = chains.ids[near];
  const b = chains.ids[far];
  sum.flow.total += bytes;
  if (leaves && enters) sum.own += bytes;
  if (leaves) sum.leaving += bytes;
  if (enters) sum.entering += bytes;
  sum.seen.add(a * chains.rows.length + b);
  sum.flow.outside = chains.rows[a].length !== chains.rows[b].length;
  const members = chains.rows[b].length ? chains.rows[b] : chains.rows[a];
  if (members.length) sum.flow.member = members[members.length - 1];
}

/**
 * For each row the members of closed folds that it stands in, outer ones first, as a number of `rows`.
 * @param {Graph} graph @param {Uint8Array} isClosed
 */
function chainsOf(graph, isClosed) {
  const ids = new Int32Array(graph.rows);
  /** @type {number[][]} */
  const rows = [[]];
  for (let row = 1; row < graph.rows; row++) {
    const around = ids[graph.row.parent[row]];
    ids[row] =
      graph.row.fold[row] >= 0 && isFolded(graph, row, isClosed) ? rows.push([...rows[around], row]) - 1 : around;
  }
  return { ids, rows };
}

/**
 * Whether a row is a member of a closed fold, or of the like of one in a member that is not shown.
 * @param {Graph} graph @param {number} row @param {Uint8Array} isClosed
 */
function isFolded(graph, row, isClosed) {
  const fold = graph.row.fold[row];
  const like = graph.row.fold[graph.row.shown_as[row]];
  return Boolean(isClosed[fold] || (like >= 0 && isClosed[like]));
}

const INSIDE = 0;
const NEXT = 1;
const FAR = 2;
/** @typedef {{flow: Flow, own: number, leaving: number, entering: number, step: number, seen: Set<number>}} Sum */

/**
 * How an arrow between two rows goes among members of folds: within one, to the next one, or farther; and in which
 * fold.
 * @param {Graph} graph @param {{ids: Int32Array, rows: number[][]}} chains
 */
function stepsOf(graph, chains) {
  /** @type {Map<number, {fold: number, onward: number}>} */
  const known = new Map();
  const crossing = (/** @type {number[]} */ near, /** @type {number[]} */ far) => {
    const at = near.findIndex((row, i) => row !== far[i]);
    if (at < 0 || at >= far.length || graph.row.fold[near[at]] !== graph.row.fold[far[at]])
      return { fold: -1, onward: 0 };
    return { fold: graph.row.fold[near[at]], onward: graph.place(far[at]) - graph.place(near[at]) };
  };
  return (
    /** @type {number} */ near,
    /** @type {number} */ far,
    /** @type {number} */ phase,
    /** @type {number} */ other,
  ) => {
    const a = chains.ids[near];
    const b = chains.ids[far];
    const key = a * chains.rows.length + b;
    let found = known.get(key);
    if (!found) known.set(key, (found = crossing(chains.rows[a], chains.rows[b])));
    const { fold, onward } = found;
    if (fold < 0) return { step: INSIDE, crossed: -1 };
    const flows = phase === other && phase !== UPDATE && onward > 0 === (phase !== BACKWARD);
    return { step: Math.abs(onward) === 1 && flows ? NEXT : FAR, crossed: fold };
  };
}

/**
 * The place of each cell among those of its phase, top to bottom.
 * @param {Item[]} items @param {Map<number, Cell>} cells
 */
export function orderOf(items, cells) {
  /** @type {Map<Cell, number>} */
  const order = new Map();
  const counts = [0, 0, 0, 0];
  for (const item of items) {
    for (let phase = 0; phase < 4; phase++) {
      const cell = cells.get(cellKey(item.row, phase));
      if (cell && item.row >= 0) order.set(cell, counts[phase]++);
    }
  }
  return order;
}

/**
 * @param {Graph} graph @param {Sum} sum @param {Map<Cell, number>} order @param {Uint8Array} isClosed @returns {Flow}
 */
function finished(graph, sum, order, isClosed) {
  const { flow, step } = sum;
  flow.members = sum.seen.size;
  flow.bytes = step === INSIDE ? sum.own : sum.leaving || sum.entering;
  flow.times = timesBetween(graph, flow, isClosed) - (step === NEXT ? 1 : 0);
  flow.relation = step === NEXT ? "next" : step === FAR ? "across" : relationOf(graph, flow, order);
  return flow;
}

/** How many arrows one stands for. @param {Graph} graph @param {Flow} flow @param {Uint8Array} isClosed */
function timesBetween(graph, flow, isClosed) {
  const folds = new Set();
  for (const cell of [flow.source, flow.target]) {
    for (let row = cell.row; row > 0; row = graph.row.parent[row])
      if (graph.row.fold[row] >= 0 && isClosed[graph.row.fold[row]]) folds.add(graph.row.fold[row]);
  }
  return [...folds].reduce((times, fold) => times * graph.members[fold].length, 1);
}

/** @param {Graph} graph @param {Flow} flow @param {Map<Cell, number>} order */
function relationOf(graph, flow, order) {
  const { source, target } = flow;
  if (source.phase === target.phase) {
    if (source.phase === UPDATE) return "across";
    const from = /** @type {number} */ (order.get(source));
    const to = /** @type {number} */ (order.get(target));
    const steps = (to - from) * (source.phase === BACKWARD ? -1 : 1);
    return steps < 0 ? "against" : steps === 1 ? "flow" : "skip";
  }
  const isGroup = source.row === target.row || (target.phase === UPDATE && isAround(graph, target.row, source.row));
  return isGroup && target.phase > source.phase ? "saved" : "across";
}

/** @param {Graph} graph @param {number} outer @param {number} row */
function isAround(graph, outer, row) {
  let at = row;
  while (at > outer) at = graph.row.parent[at];
  return at === outer;
}

/** The forward skips of most bytes are drawn too. @param {Flow[]} flows */
function withSkips(flows) {
  flows
    .filter((flow) => flow.relation === "skip" && flow.source.phase === FORWARD)
    .slice(0, MOST_SKIPS)
    .forEach((flow) => {
      flow.relation = "far skip";
    });
  return flows;
}
