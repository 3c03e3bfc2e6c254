// Where items stand in their layers: as near to the middle of their neighbours as the order and the spaces allow.

const SWEEPS = 6;
const BETWEEN_BOXES = 18;
const BESIDE_LINE = 12;
const BETWEEN_LINES = 9;

/** Sets `layers.x`, the middle of each item, from 0. @param {import("./layers.js").Layers} layers */
export function placeItems(layers) {
  const { rows } = layers;
  layers.x = new Array(layers.layer.length).fill(0);
  for (const row of rows) packRow(layers, row);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const all = sweep % 2 ? [...rows].reverse() : rows;
    for (const row of all)
      settle(layers, row, sweep >= SWEEPS - 2 ? [layers.up, layers.down] : [sweep % 2 ? layers.down : layers.up]);
  }
  straighten(layers);
  straighten(layers);
  const left = layers.x.reduce((least, x, item) => Math.min(least, x - layers.width[item] / 2), Infinity);
  layers.x = layers.x.map((x) => x - left);
}

/**
 * Least distance of the middles of two that stand side by side.
 * @param {import("./layers.js").Layers} layers @param {number} a @param {number} b
 */
function apart(layers, a, b) {
  const lines = Number(a >= layers.count) + Number(b >= layers.count);
  return (layers.width[a] + layers.width[b]) / 2 + [BETWEEN_BOXES, BESIDE_LINE, BETWEEN_LINES][lines];
}

/** Side by side, around 0. @param {import("./layers.js").Layers} layers @param {number[]} row */
function packRow(layers, row) {
  let at = 0;
  row.forEach((item, i) => {
    layers.x[item] = at += i ? apart(layers, row[i - 1], item) : 0;
  });
  for (const item of row) layers.x[item] -= at / 2;
}

/**
 * How much an edge wants to be straight: those between places of long lines most.
 * @param {import("./layers.js").Layers} layers @param {number} a @param {number} b
 */
function pull(layers, a, b) {
  return [1, 2, 8][Number(a >= layers.count) + Number(b >= layers.count)];
}

/**
 * Moves a layer's items to the weighted mean of their neighbours: the least squares under the order and the distances,
 * by pooling those that would overlap.
 * @param {import("./layers.js").Layers} layers @param {number[]} row @param {number[][][]} sides
 */
function settle(layers, row, sides) {
  /** @type {{sum: number, weight: number, count: number}[]} */
  const pools = [];
  const offsets = [0];
  row.forEach((item, i) => {
    if (i) offsets.push(offsets[i - 1] + apart(layers, row[i - 1], item));
    const [want, weight] = wanted(layers, item, sides);
    pools.push({ sum: (want - offsets[i]) * weight, weight, count: 1 });
    while (pools.length > 1 && value(pools[pools.length - 2]) > value(pools[pools.length - 1])) {
      const last = /** @type {{sum: number, weight: number, count: number}} */ (pools.pop());
      const into = pools[pools.length - 1];
      into.sum += last.sum;
      into.weight += last.weight;
      into.count += last.count;
    }
  });
  let i = 0;
  for (const pool of pools) for (let n = 0; n < pool.count; n++, i++) layers.x[row[i]] = value(pool) + offsets[i];
}

/** @param {{sum: number, weight: number}} pool */
function value(pool) {
  return pool.sum / pool.weight;
}

/**
 * @param {import("./layers.js").Layers} layers @param {number} item @param {number[][][]} sides
 * @returns {[number, number]}
 */
function wanted(layers, item, sides) {
  let sum = 0;
  let weight = 0;
  for (const near of sides) {
    for (const other of near[item]) {
      const force = pull(layers, item, other);
      sum += force * layers.x[other];
      weight += force;
    }
  }
  return weight ? [sum / weight, weight] : [layers.x[item], 0.1];
}

/**
 * Makes long lines straight as far down as there is room, then bends them once.
 * @param {import("./layers.js").Layers} layers
 */
function straighten(layers) {
  const place = new Map(layers.rows.flatMap((row) => row.map((item, i) => [item, i])));
  const lines = layers.rows.flat().filter((item) => item >= layers.count && layers.up[item][0] < layers.count);
  for (const first of lines) {
    let low = -Infinity;
    let high = Infinity;
    /** @type {number[]} */
    let piece = [];
    for (
      let item = first;
      item !== undefined;
      item = /** @type {number} */ (layers.down[item].find((one) => one >= layers.count))
    ) {
      const [from, to] = room(layers, item, /** @type {number} */ (place.get(item)));
      if (from > high || to < low) {
        align(layers, piece, low, high);
        [piece, low, high] = [[], -Infinity, Infinity];
      }
      piece.push(item);
      [low, high] = [Math.max(low, from), Math.min(high, to)];
    }
    align(layers, piece, low, high);
  }
}

/**
 * Between its neighbours.
 * @param {import("./layers.js").Layers} layers @param {number} item @param {number} at @returns {[number, number]}
 */
function room(layers, item, at) {
  const row = layers.rows[layers.layer[item]];
  const low = at ? layers.x[row[at - 1]] + apart(layers, row[at - 1], item) : -Infinity;
  const high = at + 1 < row.length ? layers.x[row[at + 1]] - apart(layers, item, row[at + 1]) : Infinity;
  return [Math.min(low, layers.x[item]), Math.max(high, layers.x[item])]; // where it is, it may stay
}

/**
 * Right under what is above if it can be, else near the middle of where they were.
 * @param {import("./layers.js").Layers} layers @param {number[]} piece @param {number} low @param {number} high
 */
function align(layers, piece, low, high) {
  if (!piece.length) return;
  const above = layers.x[layers.up[piece[0]][0]];
  const middle = piece.reduce((sum, item) => sum + layers.x[item], 0) / piece.length;
  const x = above >= low && above <= high ? above : Math.max(low, Math.min(high, middle));
  for (const item of piece) layers.x[item] = x;
}
