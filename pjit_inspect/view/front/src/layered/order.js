// The order of items in their layers: fewer crossings by barycentres and swaps, a bounded number of times.

const SWEEPS = 10;
const PATIENCE = 3; // sweeps without a better order

/** Orders `layers.rows` in place. @param {import("./layers.js").Layers} layers */
export function orderLayers(layers) {
  const place = new Array(layers.layer.length).fill(0);
  layers.rows.forEach((row) => renumber(row, place));
  let best = layers.rows.map((row) => [...row]);
  let least = crossings(layers, place);
  for (let sweep = 0, idle = 0; sweep < SWEEPS && idle < PATIENCE && least; sweep++) {
    byNeighbours(layers, place, sweep % 2 === 0);
    swapNeighbours(layers, place);
    const now = crossings(layers, place);
    idle = now < least ? 0 : idle + 1;
    if (now < least) [best, least] = [layers.rows.map((row) => [...row]), now];
  }
  layers.rows = best;
}

/** @param {number[]} row @param {number[]} place */
function renumber(row, place) {
  row.forEach((item, i) => {
    place[item] = i;
  });
}

/**
 * One sweep: each item to the mean place of its neighbours in the layer before.
 * @param {import("./layers.js").Layers} layers @param {number[]} place @param {boolean} isDown
 */
function byNeighbours(layers, place, isDown) {
  const { rows } = layers;
  const near = isDown ? layers.up : layers.down;
  for (let step = 1; step < rows.length; step++) {
    const at = isDown ? step : rows.length - 1 - step;
    const row = rows[at];
    const scale = row.length / rows[isDown ? at - 1 : at + 1].length;
    const key = new Map(
      row.map((item) => [item, near[item].length ? (mean(near[item], place) + 0.5) * scale : place[item] + 0.5]),
    );
    row.sort((a, b) => /** @type {number} */ (key.get(a)) - /** @type {number} */ (key.get(b)) || place[a] - place[b]);
    renumber(row, place);
  }
}

/** @param {number[]} items @param {number[]} place */
function mean(items, place) {
  let sum = 0;
  for (const item of items) sum += place[item];
  return sum / items.length;
}

/**
 * Swaps two that stand side by side wherever that saves a crossing.
 * @param {import("./layers.js").Layers} layers @param {number[]} place
 */
function swapNeighbours(layers, place) {
  for (const row of layers.rows) {
    for (let i = 1; i < row.length; i++) {
      const [a, b] = [row[i - 1], row[i]];
      const saved = [layers.up, layers.down].reduce(
        (sum, near) => sum + over(near[a], near[b], place) - over(near[b], near[a], place),
        0,
      );
      if (saved <= 0) continue;
      [row[i - 1], row[i]] = [b, a];
      [place[a], place[b]] = [i, i - 1];
    }
  }
}

/**
 * Crossings of the edges of two items, the first to the left.
 * @param {number[]} left @param {number[]} right @param {number[]} place
 */
function over(left, right, place) {
  let count = 0;
  for (const a of left) for (const b of right) if (place[a] > place[b]) count++;
  return count;
}

/** All crossings between neighbouring layers. @param {import("./layers.js").Layers} layers @param {number[]} place */
function crossings(layers, place) {
  let count = 0;
  for (let at = 1; at < layers.rows.length; at++)
    count += between(layers, layers.rows[at - 1], layers.rows[at].length, place);
  return count;
}

/**
 * Inversions, counted with a binary indexed tree.
 * @param {import("./layers.js").Layers} layers @param {number[]} row @param {number} size @param {number[]} place
 */
function between(layers, row, size, place) {
  const tree = new Int32Array(size + 1);
  let count = 0;
  let seen = 0;
  for (const item of row) {
    const ends = layers.down[item].map((to) => place[to]);
    for (const end of ends) {
      count += seen;
      for (let i = end + 1; i > 0; i -= i & -i) count -= tree[i];
    }
    for (const end of ends) for (let i = end + 1; i <= size; i += i & -i) tree[i]++;
    seen += ends.length;
  }
  return count;
}
