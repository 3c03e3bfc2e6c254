// A layered picture of a small graph without circles: boxes in layers, every edge downwards along straight runs that
// pass between the boxes. Pure: the same graph gives the same picture, and nothing here knows a page.
//
// All edges of one box leave it as one line that branches, since they are one kernel's result. Long edges get a place
// of their own in every layer they cross, so that no line can run through a box.
import { buildLayers } from "./layers.js";
import { orderLayers } from "./order.js";
import { placeItems } from "./place.js";
import { routeEdges } from "./routes.js";

const GAP = 22;
const WIDTH = 1200;

/**
 * @typedef {{width: number, height: number, box?: number, port?: number}} Size where a node is wider than what is drawn
 *   of it as a box: the box's width, from the left, which lines may reach, and where the line below leaves it
 * @typedef {{nodes: Size[], edges: [number, number][]}} Graph
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 * @typedef {[number, number][]} Route corners, from the source's lower border to the target's upper border
 * @typedef {{width: number, height: number, boxes: Box[], routes: Route[]}} Picture one route for each edge, in order
 */

/**
 * The picture of a graph. Parts that no edge connects stand beside each other, in rows at most `width` wide where each
 * part allows it; boxes without edges come last. Throws when the edges run in a circle or name no box.
 * @param {Graph} graph @param {{width?: number}} [options] @returns {Picture}
 */
export function layered(graph, options = {}) {
  checkEdges(graph);
  const pieces = components(graph).map((nodes) => pieceOf(graph, nodes));
  return packed(graph, pieces, options.width ?? WIDTH);
}

/** @param {Graph} graph */
function checkEdges({ nodes, edges }) {
  const wrong = edges.find(([from, to]) => from === to || !(from in nodes) || !(to in nodes));
  if (wrong) throw new Error(`edge ${wrong.join(" -> ")}: expected two different nodes of 0 to ${nodes.length - 1}`);
}

/**
 * Nodes that edges connect, each part in order; parts by their first node, nodes without edges last.
 * @param {Graph} graph
 */
function components({ nodes, edges }) {
  const root = nodes.map((_, i) => i);
  const find = (/** @type {number} */ node) => {
    while (root[node] !== node) node = root[node] = root[root[node]];
    return node;
  };
  for (const [from, to] of edges) {
    const [a, b] = [find(from), find(to)];
    root[Math.max(a, b)] = Math.min(a, b);
  }
  /** @type {Map<number, number[]>} */
  const parts = new Map();
  nodes.forEach((_, node) => {
    const part = parts.get(find(node));
    if (part) part.push(node);
    else parts.set(find(node), [node]);
  });
  const all = [...parts.values()];
  return [...all.filter((part) => part.length > 1), ...all.filter((part) => part.length === 1)];
}

/** One part, laid out from (0, 0). @param {Graph} graph @param {number[]} members */
function pieceOf(graph, members) {
  const place = new Map(members.map((node, i) => [node, i]));
  /** @type {number[]} */
  const numbers = [];
  graph.edges.forEach(([from], i) => place.has(from) && numbers.push(i));
  const edges = numbers.map((i) => /** @type {[number, number]} */ (graph.edges[i].map((node) => place.get(node))));
  const layers = buildLayers(
    members.map((node) => graph.nodes[node]),
    edges,
  );
  orderLayers(layers);
  placeItems(layers);
  return { members, numbers, ...routeEdges(layers, edges) };
}

/**
 * Parts beside each other, in rows.
 * @param {Graph} graph @param {ReturnType<typeof pieceOf>[]} pieces @param {number} width
 */
function packed(graph, pieces, width) {
  /** @type {Picture} */
  const picture = {
    width: 0,
    height: 0,
    boxes: graph.nodes.map((node) => ({ x: 0, y: 0, ...node })),
    routes: graph.edges.map(() => []),
  };
  let x = 0;
  let y = 0;
  let tallest = 0;
  for (const piece of pieces) {
    if (x && x + piece.width > width) [x, y, tallest] = [0, y + tallest + GAP, 0];
    piece.members.forEach((node, i) =>
      Object.assign(picture.boxes[node], { x: x + piece.boxes[i].x, y: y + piece.boxes[i].y }),
    );
    piece.numbers.forEach((edge, i) => {
      picture.routes[edge] = piece.routes[i].map(([px, py]) => [x + px, y + py]);
    });
    tallest = Math.max(tallest, piece.height);
    picture.width = Math.max(picture.width, x + piece.width);
    picture.height = Math.max(picture.height, y + tallest);
    x += piece.width + GAP;
  }
  return picture;
}
