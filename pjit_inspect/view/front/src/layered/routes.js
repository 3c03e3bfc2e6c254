// The lines of a layered picture: ports at the boxes, runs between the layers, and from these the heights.

const EDGE = 10; // least distance of a port from a box's corner
const PORTS = 9; // wanted distance of two ports
const MARGIN = 9; // from a layer to the first run between layers
const TRACK = 6;

/**
 * @typedef {import("./layers.js").Layers} Layers
 * @typedef {{
 *   top: number,
 *   ends: Map<number, number>,
 *   low: number,
 *   high: number,
 *   track: number,
 * }} Net a line between two layers: where it comes from, where it ends by lower item, the span of its run, and which
 *   run; -1 for a straight one
 */

/**
 * Boxes and routes of one part; `layers` must be ordered and placed.
 * @param {Layers} layers @param {[number, number][]} edges
 */
export function routeEdges(layers, edges) {
  const ports = findPorts(layers);
  const nets = layers.rows.map((row) => netsBelow(layers, row, ports));
  const tracks = nets.map((row) => assignTracks([...row.values()]));
  const rows = heights(layers, tracks);
  const boxes = Array.from({ length: layers.count }, (_, node) => {
    const row = rows[layers.layer[node]];
    return { x: layers.x[node] - layers.width[node] / 2, y: row.top + (row.height - layers.height[node]) / 2 };
  });
  const routes = edges.map(([from, to]) => route(layers, boxes, nets, rows, from, to));
  const width = layers.x.reduce((most, x, item) => Math.max(most, x + layers.width[item] / 2), 0);
  const last = rows[rows.length - 1];
  return { boxes, routes, width, height: last.top + last.height };
}

/** Where layers start, and how high they are. @param {Layers} layers @param {number[]} tracks */
function heights(layers, tracks) {
  let top = 0;
  return layers.rows.map((row, at) => {
    const height = row.reduce((most, item) => Math.max(most, layers.height[item]), 0);
    const start = top;
    top += height + 2 * MARGIN + TRACK * Math.max(0, tracks[at] - 1);
    return { top: start, height };
  });
}

/** @param {number} value @param {number} low @param {number} high */
function within(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

/** Where ports of a box may be. @param {Layers} layers @param {number} item @returns {[number, number]} */
function reach(layers, item) {
  const left = layers.x[item] - layers.width[item] / 2;
  const middle = left + layers.box[item] / 2;
  const half = Math.max(0, layers.box[item] / 2 - EDGE);
  return [middle - half, middle + half];
}

/** One port below each item, one above for each line that ends there. @param {Layers} layers */
function findPorts(layers) {
  const below = layers.x.map((_, item) => portBelow(layers, item));
  /** @type {Map<number, number>[]} lower item -> upper item -> x */
  const above = layers.up.map((all, item) => portsAbove(layers, item, all, below));
  return { below, above };
}

/**
 * Under the middle, moved so that one of the lines below runs straight if it can.
 * @param {Layers} layers @param {number} item
 */
function portBelow(layers, item) {
  const port = layers.port[item];
  if (port !== undefined) return layers.x[item] - layers.width[item] / 2 + port;
  const middle = layers.x[item];
  if (item >= layers.count || !layers.down[item].length) return middle;
  const [low, high] = reach(layers, item);
  const straight = layers.down[item].map((to) => within(middle, ...reach(layers, to)));
  const inside = straight
    .filter((x) => x >= low && x <= high)
    .sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  return inside.length ? inside[0] : middle;
}

/**
 * Ports in the order of what they come from, right under it where that is free.
 * @param {Layers} layers @param {number} item @param {number[]} uppers @param {number[]} below
 */
function portsAbove(layers, item, uppers, below) {
  const [low, high] = reach(layers, item);
  const order = [...uppers].sort((a, b) => below[a] - below[b] || a - b);
  const space = order.length > 1 ? Math.min(PORTS, (high - low) / (order.length - 1)) : 0;
  const found = order.map((upper) => within(below[upper], low, high));
  for (let i = 1; i < found.length; i++) found[i] = Math.max(found[i], found[i - 1] + space);
  for (let i = found.length - 1, most = high; i >= 0; i--, most -= space) found[i] = Math.min(found[i], most);
  return new Map(order.map((upper, i) => [upper, found[i]]));
}

/**
 * The lines from one layer to the next, by upper item.
 * @param {Layers} layers @param {number[]} row @param {ReturnType<typeof findPorts>} ports
 */
function netsBelow(layers, row, ports) {
  /** @type {Map<number, Net>} */
  const nets = new Map();
  for (const item of row) {
    if (!layers.down[item].length) continue;
    const ends = new Map(layers.down[item].map((to) => [to, ports.above[to].get(item) ?? 0]));
    const xs = [ports.below[item], ...ends.values()];
    nets.set(item, { top: ports.below[item], ends, low: Math.min(...xs), high: Math.max(...xs), track: -1 });
  }
  return nets;
}

/** Gives each line that bends a run of its own where lines overlap; how many runs there are. @param {Net[]} nets */
function assignTracks(nets) {
  const bent = nets.filter((net) => net.high - net.low > 0.01);
  const score = bent.map((net) =>
    bent.reduce((sum, other) => (other === net ? sum : sum + cost(net, other) - cost(other, net)), 0),
  );
  const order = bent.map((_, i) => i).sort((a, b) => score[a] - score[b] || bent[a].low - bent[b].low || a - b);
  let most = 0;
  order.forEach((i, n) => {
    const net = bent[i];
    net.track = 0;
    for (const before of order.slice(0, n))
      if (bent[before].low - 4 < net.high && net.low < bent[before].high + 4)
        net.track = Math.max(net.track, bent[before].track + 1);
    most = Math.max(most, net.track + 1);
  });
  return most;
}

/**
 * What it costs to run the first line above the second: crossings, and much for lying on each other.
 * @param {Net} above @param {Net} below
 */
function cost(above, below) {
  if (above.low > below.high || below.low > above.high) return 0;
  let sum = below.top > above.low && below.top < above.high ? 1 : 0;
  for (const x of above.ends.values()) {
    if (x > below.low && x < below.high) sum += 1;
    if (Math.abs(x - below.top) < 2) sum += 20;
  }
  return sum;
}

/**
 * @param {Layers} layers @param {{x: number, y: number}[]} boxes @param {Map<number, Net>[]} nets
 * @param {{top: number, height: number}[]} rows @param {number} from @param {number} to
 */
function route(layers, boxes, nets, rows, from, to) {
  const chain = [to];
  for (let item = to; item !== from; chain.push(item))
    item = layers.up[item].find((one) => layers.source[one] === from) ?? from;
  chain.reverse();
  /** @type {[number, number][]} */
  const points = [];
  for (let i = 0; i + 1 < chain.length; i++) {
    const at = layers.layer[chain[i]];
    const net = /** @type {Net} */ (nets[at].get(chain[i]));
    const row = rows[at];
    const end = net.ends.get(chain[i + 1]) ?? 0;
    if (i === 0) points.push([net.top, boxes[from].y + layers.height[from]]);
    if (Math.abs(end - net.top) < 0.01) continue;
    const y = row.top + row.height + MARGIN + TRACK * net.track;
    points.push([net.top, y], [end, y]);
  }
  points.push([points[points.length - 1][0], boxes[to].y]);
  return points;
}
