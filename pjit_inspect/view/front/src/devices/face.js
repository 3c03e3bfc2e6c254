// The front face of an array's picture: which blocks there are and who holds them. The rules of
// `view/svg/shard_picture.py`; tests/front compares both. Not its job: drawing (`shard.js`).

const MAX_BLOCKS = 8;
const FOLDED_BLOCKS = 4;

/**
 * @typedef {{
 *   shape: number[],
 *   tiles: number[],
 *   spec: string[][] | null,
 *   devices: ArrayLike<number>,
 *   tileOf: ArrayLike<number>,
 *   copies: number,
 *   partial: string[],
 *   isPartial?: boolean,
 * }} Cut
 * @typedef {{
 *   rowDim: number | null,
 *   columnDim: number | null,
 *   rows: number,
 *   columns: number,
 *   perBlock: [number, number],
 *   depthDims: number[],
 *   blocks: {row: number, column: number, devices: number[]}[],
 * }} Face
 */

/**
 * The dimensions drawn down and across: split ones first, then the longest, in the array's order.
 * @param {Cut} cut @returns {[number | null, number | null]}
 */
export function drawnDims(cut) {
  const ranked = cut.tiles.map((_, dim) => dim);
  ranked.sort(
    (a, b) => Number(cut.tiles[a] === 1) - Number(cut.tiles[b] === 1) || cut.shape[b] - cut.shape[a] || a - b,
  );
  const drawn = ranked.slice(0, 2).sort((a, b) => a - b);
  return drawn.length === 2 ? [drawn[0], drawn[1]] : [null, drawn.length ? drawn[0] : null];
}

/** @param {number} rows @param {number} columns @returns {[number, number]} */
function tilesPerBlock(rows, columns) {
  if (Math.max(rows, columns) <= MAX_BLOCKS) return [1, 1];
  return [Math.ceil(rows / FOLDED_BLOCKS), Math.ceil(columns / FOLDED_BLOCKS)];
}

/** The index of a row-major tile number. @param {number} tile @param {number[]} tiles */
export function unravel(tile, tiles) {
  const index = new Array(tiles.length);
  for (let dim = tiles.length - 1; dim >= 0; dim--) {
    index[dim] = tile % tiles[dim];
    tile = Math.floor(tile / tiles[dim]);
  }
  return index;
}

/**
 * @param {Cut} cut @param {[number | null, number | null]} [dims]
 * @param {number[]} [behind] tile index of the dimensions not drawn @returns {Face}
 */
export function face(cut, dims = drawnDims(cut), behind = cut.tiles.map(() => 0)) {
  const [rowDim, columnDim] = dims;
  const count = (/** @type {number | null} */ dim) => (dim === null ? 1 : cut.tiles[dim]);
  const perBlock = tilesPerBlock(count(rowDim), count(columnDim));
  const rows = Math.ceil(count(rowDim) / perBlock[0]);
  const columns = Math.ceil(count(columnDim) / perBlock[1]);
  const depthDims = cut.tiles.map((_, dim) => dim).filter((dim) => dim !== rowDim && dim !== columnDim);
  /** @type {number[][]} */
  const held = Array.from({ length: rows * columns }, () => []);
  for (let i = 0; i < cut.devices.length; i++) {
    const index = unravel(cut.tileOf[i], cut.tiles);
    if (depthDims.some((dim) => index[dim] !== behind[dim])) continue;
    const row = rowDim === null ? 0 : Math.floor(index[rowDim] / perBlock[0]);
    const column = columnDim === null ? 0 : Math.floor(index[columnDim] / perBlock[1]);
    held[row * columns + column].push(cut.devices[i]);
  }
  const blocks = held.map((devices, i) => ({
    row: Math.floor(i / columns),
    column: i % columns,
    devices: devices.sort((a, b) => a - b),
  }));
  return { rowDim, columnDim, rows, columns, perBlock, depthDims, blocks };
}

/**
 * What one tile covers of the split dimensions, one string for each; "all" where none is split.
 * @param {number} tile @param {Cut} cut
 */
export function splitSlices(tile, cut) {
  const whole = slicesText(tile, cut);
  if (whole === "all") return [whole];
  return whole.split(", ").filter((part) => part !== ":");
}

/** What one tile covers: "0:512, :"; "all" for the whole array. @param {number} tile @param {Cut} cut */
export function slicesText(tile, cut) {
  const index = unravel(tile, cut.tiles);
  const parts = cut.shape.map((length, dim) => {
    const step = Math.ceil(length / cut.tiles[dim]);
    const [start, stop] = [Math.min(index[dim] * step, length), Math.min((index[dim] + 1) * step, length)];
    return start === 0 && stop === length ? ":" : `${start}:${stop}`;
  });
  return parts.every((part) => part === ":") ? "all" : parts.join(", ");
}
