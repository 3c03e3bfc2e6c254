// Where each position of a mesh stands: up to four axes as rows and columns of blocks of rows and columns; more are
// folded.
// Not its job: drawing (`mesh.js`).

/**
 * @typedef {{
 *   shown: number[],
 *   folded: number[],
 *   columns: number,
 *   rows: number,
 *   gapX: number[],
 *   gapY: number[],
 *   cellOf: Int32Array,
 *   sizes: number[],
 * }} Grid
 */

/** The axes that are drawn unless the reader chooses: the first four longer than one device. @param {number[]} shape */
export function defaultAxes(shape) {
  return shape
    .map((_, axis) => axis)
    .filter((axis) => shape[axis] > 1)
    .slice(0, 4);
}

/**
 * Which axes go down and which across: the last across, the one before it down, and so on outwards; a single axis
 * wraps.
 * @param {number[]} shape @param {number[]} [shown] @returns {Grid}
 */
export function gridOf(shape, shown = defaultAxes(shape)) {
  const size = shape.reduce((a, b) => a * b, 1);
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const folded = shape.map((_, axis) => axis).filter((axis) => shape[axis] > 1 && !shown.includes(axis));
  let [down, across] = split(shown);
  let wrap = 0;
  if (shown.length === 1 && shape[shown[0]] > 16) wrap = Math.ceil(Math.sqrt(shape[shown[0]] * 2));
  const count = (/** @type {number[]} */ axes) => axes.reduce((n, axis) => n * shape[axis], 1);
  const columns = wrap || count(across);
  const rows = wrap ? Math.ceil(shape[shown[0]] / wrap) : count(down);
  const cellOf = new Int32Array(size);
  const index = (/** @type {number} */ position, /** @type {number[]} */ axes) =>
    axes.reduce((n, axis) => n * shape[axis] + (Math.floor(position / strides[axis]) % shape[axis]), 0);
  for (let position = 0; position < size; position++) {
    if (folded.some((axis) => Math.floor(position / strides[axis]) % shape[axis])) cellOf[position] = -1;
    else if (wrap) cellOf[position] = index(position, shown);
    else cellOf[position] = index(position, down) * columns + index(position, across);
  }
  // A gap after every run of the innermost axis, where there is one further out.
  const gapX = across.length > 1 ? [shape[across[across.length - 1]]] : [];
  const gapY = down.length > 1 ? [shape[down[down.length - 1]]] : [];
  return { shown, folded, columns, rows, gapX, gapY, cellOf, sizes: shape };
}

/** @param {number[]} axes @returns {[number[], number[]]} down and across */
function split(axes) {
  const down = axes.filter((_, i) => (axes.length - i) % 2 === 0);
  const across = axes.filter((_, i) => (axes.length - i) % 2 === 1);
  return [down, across];
}

/** The axes drawn down and across, outermost first. @param {Grid} grid */
export function sides(grid) {
  return split(grid.shown);
}
