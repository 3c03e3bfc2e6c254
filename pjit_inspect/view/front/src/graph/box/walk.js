// Arrow keys in a layered picture: along an edge where there is one, else to the nearest in that direction. Pure.

/** @typedef {import("../../layered/layered.js").Box} Box */

/**
 * Where a key leads from a node; undefined for keys that lead nowhere.
 * @param {KeyboardEvent} event @param {number} at @param {Box[]} boxes @param {[number, number][]} edges
 * @returns {number | undefined}
 */
export function stepTo(event, at, boxes, edges) {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  return {
    Home: 0,
    End: boxes.length - 1,
    Enter: at,
    " ": at,
    ArrowDown: toward(boxes, edges, at, 0, 1),
    ArrowUp: toward(boxes, edges, at, 0, -1),
    ArrowRight: toward(boxes, edges, at, 1, 0),
    ArrowLeft: toward(boxes, edges, at, -1, 0),
  }[event.key];
}

/** @param {Box[]} boxes @param {[number, number][]} edges @param {number} at @param {number} dx @param {number} dy */
function toward(boxes, edges, at, dx, dy) {
  const middle = (/** @type {Box} */ box) => [box.x + box.width / 2, box.y + box.height / 2];
  const [x, y] = middle(boxes[at]);
  const linked = new Set(
    edges.flatMap(([from, to]) => (dy > 0 && from === at ? [to] : dy < 0 && to === at ? [from] : [])),
  );
  let found = at;
  let least = Infinity;
  boxes.forEach((box, i) => {
    const [bx, by] = middle(box);
    const along = (bx - x) * dx + (by - y) * dy;
    const aside = Math.abs((bx - x) * dy) + Math.abs((by - y) * dx);
    if (i === at || along <= 1 || (dx && aside > box.height + boxes[at].height)) return;
    const cost = along + 2 * aside - (linked.has(i) ? 1e5 : 0);
    if (cost < least) [found, least] = [i, cost];
  });
  return found;
}
