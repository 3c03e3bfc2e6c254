// Layers of a graph without circles, and the places that long edges get in the layers they cross.

/**
 * @typedef {object} Layers
 * @property {number[][]} rows items of each layer, in their order
 * @property {number[]} layer by item; items below `count` are the graph's nodes, the rest are places of long edges
 * @property {number} count how many nodes
 * @property {number[]} width by item
 * @property {number[]} height by item
 * @property {number[]} box by item: how much of the width, from the left, lines from above may reach
 * @property {(number | undefined)[]} port by item: where the line below must leave, from the left
 * @property {number[]} source by item: the node whose result passes there; for a node itself
 * @property {number[][]} up by item: items one layer above that lead to it
 * @property {number[][]} down by item: items one layer below that it leads to
 * @property {number[]} x by item: its middle; set by `placeItems`
 */

/** @param {import("./layered.js").Size[]} nodes @param {[number, number][]} edges @returns {Layers} */
export function buildLayers(nodes, edges) {
  const layer = ranks(nodes.length, edges);
  /** @type {Layers} */
  const layers = {
    rows: [],
    layer,
    count: nodes.length,
    width: nodes.map((node) => node.width),
    height: nodes.map((node) => node.height),
    box: nodes.map((node) => node.box ?? node.width),
    port: nodes.map((node) => node.port),
    source: nodes.map((_, i) => i),
    up: nodes.map(() => []),
    down: nodes.map(() => []),
    x: [],
  };
  for (const [source, targets] of targetsOf(edges)) thread(layers, source, targets);
  layers.layer.forEach((at, item) => (layers.rows[at] ??= []).push(item));
  return layers;
}

/** Each node with its targets, each once, in order. @param {[number, number][]} edges */
function targetsOf(edges) {
  /** @type {Map<number, Set<number>>} */
  const found = new Map();
  for (const [from, to] of edges) found.set(from, (found.get(from) ?? new Set()).add(to));
  return [...found].sort((a, b) => a[0] - b[0]);
}

/**
 * The layer of each node: the longest way to it from above. What nothing leads to stands right above its first reader,
 * so that a gathered weight is next to its use.
 * @param {number} count @param {[number, number][]} edges
 */
function ranks(count, edges) {
  const order = sorted(count, edges);
  const { next, before } = neighbours(count, edges);
  const layer = new Array(count).fill(0);
  for (const node of order) for (const to of next[node]) layer[to] = Math.max(layer[to], layer[node] + 1);
  for (const node of order) {
    if (!before[node].length && next[node].length)
      layer[node] = next[node].reduce((least, to) => Math.min(least, layer[to]), Infinity) - 1;
  }
  return layer;
}

/** @param {number} count @param {[number, number][]} edges */
function neighbours(count, edges) {
  const next = Array.from({ length: count }, () => /** @type {number[]} */ ([]));
  const before = next.map(() => /** @type {number[]} */ ([]));
  for (const [from, to] of edges) {
    next[from].push(to);
    before[to].push(from);
  }
  return { next, before };
}

/** Sources before targets. @param {number} count @param {[number, number][]} edges */
function sorted(count, edges) {
  const { next, before } = neighbours(count, edges);
  const waits = before.map((all) => all.length);
  const order = waits.flatMap((number, node) => (number ? [] : [node]));
  for (let at = 0; at < order.length; at++) {
    for (const to of next[order[at]]) if (--waits[to] === 0) order.push(to);
  }
  if (order.length < count)
    throw new Error(`edges run in a circle through node ${waits.findIndex((number) => number > 0)}: expected none`);
  return order;
}

/**
 * One line from a node down to its last target, with a branch to each.
 * @param {Layers} layers @param {number} source @param {Set<number>} targets
 */
function thread(layers, source, targets) {
  const last = [...targets].reduce((most, to) => Math.max(most, layers.layer[to]), 0);
  let item = source;
  for (let at = layers.layer[source] + 1; at <= last; at++) {
    for (const to of targets) if (layers.layer[to] === at) link(layers, item, to);
    if (at === last) return;
    const place = layers.layer.push(at) - 1;
    layers.width.push(0);
    layers.height.push(0);
    layers.box.push(0);
    layers.port.push(undefined);
    layers.source.push(source);
    layers.up.push([]);
    layers.down.push([]);
    link(layers, item, place);
    item = place;
  }
}

/** @param {Layers} layers @param {number} upper @param {number} lower */
function link(layers, upper, lower) {
  layers.down[upper].push(lower);
  layers.up[lower].push(upper);
}
