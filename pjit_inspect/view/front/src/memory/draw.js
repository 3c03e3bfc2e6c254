// The curve's picture: bands on each other over the places of the schedule, on the strip's scale. Where several kernels
// share a pixel, the one with most alive stands for them.
import { dashed, line } from "../core/canvas.js";
import { bytesText, roughBytesText } from "../core/format.js";

/** Pixels of the curve, and where there is little room. */
export const HEIGHTS = { high: 168, low: 120 };
const TOP = 22; // room for the words at the peak
const BOTTOM = 4;
const FONT = "10px system-ui, sans-serif";

/** @typedef {import("../schedule/draw.js").Scale} Scale */
/**
 * @typedef {{
 *   scale: Scale,
 *   height: number,
 *   total: Float64Array,
 *   bands: import("./data.js").Band[],
 *   color: (name: string) => string,
 *   life: Float64Array | null,
 *   peak: number,
 *   at: number,
 *   hover: number,
 *   limit: {bytes: number, words: string} | null,
 * }} Scene
 */

/** The kernel that stands for each pixel. @param {Scale} scale @param {Float64Array} total */
export function columnsOf(scale, total) {
  const count = Math.max(1, Math.round(scale.width));
  const shown = new Int32Array(count);
  for (let pixel = 0; pixel < count; pixel++) {
    const [from, to] = [pixel, pixel + 1].map((one) => scale.from + (one / count) * scale.span);
    let best = Math.min(total.length - 1, Math.floor(from));
    for (let kernel = best + 1; kernel < Math.min(total.length, Math.ceil(to)); kernel++)
      if (total[kernel] > total[best]) best = kernel;
    shown[pixel] = from >= total.length ? -1 : best;
  }
  return shown;
}

/** A step of the scale that gives at most six lines. @param {number} most */
function stepOf(most) {
  let step = 1;
  while (step * 6 < most) step *= 2;
  return step;
}

/** @param {Scene} scene */
export function topOf({ total, limit }) {
  let most = 0;
  for (const size of total) most = Math.max(most, size);
  const high = limit && limit.bytes < 1.5 * most ? Math.max(most, limit.bytes) : most;
  return Math.max(1, high);
}

/** @param {CanvasRenderingContext2D} pen @param {Scene} scene */
export function paint(pen, scene) {
  const { scale, color } = scene;
  const top = topOf(scene);
  const room = scene.height - TOP - BOTTOM;
  const y = (/** @type {number} */ bytes) => TOP + room * (1 - bytes / top);
  pen.font = FONT;
  pen.textBaseline = "middle";
  grid(pen, scene, top, y);
  const columns = columnsOf(scale, scene.total);
  const x = (/** @type {number} */ pixel) => scale.left + (pixel * scale.width) / columns.length;
  const below = new Float64Array(columns.length);
  for (const band of scene.bands) {
    const above = below.map((low, pixel) => (columns[pixel] < 0 ? low : low + band.bytes[columns[pixel]]));
    area(pen, x, y, below, above);
    pen.fillStyle = color(band.color);
    pen.fill();
    below.set(above);
  }
  outline(pen, x, y, below);
  pen.strokeStyle = color("text");
  pen.globalAlpha = 0.75;
  pen.lineWidth = 1;
  pen.stroke();
  pen.globalAlpha = 1;
  if (scene.life) life(pen, scene, columns, x, y);
  marks(pen, scene, y);
}

/** @param {CanvasRenderingContext2D} pen @param {Scene} scene @param {number} top @param {(bytes: number) => number} y */
function grid(pen, { scale, color }, top, y) {
  const step = stepOf(top);
  pen.textAlign = "right";
  for (let tick = 0; tick <= top; tick += step) {
    pen.fillStyle = color("rule");
    pen.fillRect(scale.left, Math.round(y(tick)) - 0.5, scale.width, 1);
    pen.fillStyle = color("dim");
    pen.fillText(tick ? roughBytesText(tick) : "0", scale.left - 6, y(tick));
  }
}

/**
 * Level over each pixel, between two lines.
 * @param {CanvasRenderingContext2D} pen @param {(pixel: number) => number} x @param {(bytes: number) => number} y
 * @param {Float64Array} below @param {Float64Array} above
 */
function area(pen, x, y, below, above) {
  pen.beginPath();
  const last = above.length;
  for (let pixel = 0; pixel < last; pixel++) {
    const level = y(above[pixel]);
    if (pixel && above[pixel] === above[pixel - 1]) continue;
    if (pixel) pen.lineTo(x(pixel), y(above[pixel - 1]));
    pen.lineTo(x(pixel), level);
  }
  pen.lineTo(x(last), y(above[last - 1]));
  for (let pixel = last - 1; pixel >= 0; pixel--) {
    if (pixel < last - 1 && below[pixel] === below[pixel + 1]) continue;
    if (pixel < last - 1) pen.lineTo(x(pixel + 1), y(below[pixel + 1]));
    pen.lineTo(x(pixel + 1), y(below[pixel]));
  }
  pen.lineTo(x(0), y(below[0]));
  pen.closePath();
}

/** @param {CanvasRenderingContext2D} pen @param {(pixel: number) => number} x @param {(bytes: number) => number} y @param {Float64Array} sizes */
function outline(pen, x, y, sizes) {
  pen.beginPath();
  for (let pixel = 0; pixel < sizes.length; pixel++) {
    pen.lineTo(x(pixel), y(sizes[pixel]));
    pen.lineTo(x(pixel + 1), y(sizes[pixel]));
  }
}

/**
 * The life of what is selected, from 0 up.
 * @param {CanvasRenderingContext2D} pen @param {Scene} scene @param {Int32Array} columns
 * @param {(pixel: number) => number} x @param {(bytes: number) => number} y
 */
function life(pen, { life: sizes, color }, columns, x, y) {
  const own = /** @type {Float64Array} */ (sizes);
  const shown = Float64Array.from(columns, (kernel) => (kernel < 0 ? 0 : own[kernel]));
  area(pen, x, y, new Float64Array(shown.length), shown);
  pen.fillStyle = pen.strokeStyle = color("bg");
  pen.globalAlpha = 0.35;
  pen.fill();
  pen.globalAlpha = 1;
  // On a ground of its own: bands may have the selection's colour.
  outline(pen, x, y, shown);
  pen.lineWidth = 4;
  pen.stroke();
  pen.strokeStyle = color("select");
  pen.lineWidth = 1.8;
  pen.stroke();
}

/** The chip's limit, the peak, and the moment that the table is of. @param {CanvasRenderingContext2D} pen @param {Scene} scene @param {(bytes: number) => number} y */
function marks(pen, scene, y) {
  const { height, scale, color, total, limit, peak, at, hover } = scene;
  const place = (/** @type {number} */ kernel) => scale.left + ((kernel + 0.5 - scale.from) / scale.span) * scale.width;
  const isIn = (/** @type {number} */ kernel) => kernel >= scale.from && kernel < scale.from + scale.span;
  if (limit && y(limit.bytes) > TOP / 2) {
    pen.strokeStyle = pen.fillStyle = color("note");
    const ends = [scale.left, scale.left + scale.width].map((x) => [x, y(limit.bytes)]);
    dashed(pen, [5, 3], () => line(pen, ...ends));
    pen.textAlign = "right";
    pen.fillText(limit.words, scale.left + scale.width - 2, y(limit.bytes) - 7);
  }
  if (hover >= 0 && isIn(hover)) {
    pen.strokeStyle = color("text");
    pen.lineWidth = 1;
    dashed(pen, [3, 2], () => line(pen, [place(hover), TOP - 6], [place(hover), height]));
  }
  if (isIn(at)) {
    pen.strokeStyle = color("select");
    pen.lineWidth = 1.5;
    line(pen, [place(at), TOP - 4], [place(at), height]);
  }
  if (!isIn(peak)) return;
  const words = `peak ${bytesText(total[peak])}`;
  const wide = pen.measureText(words).width;
  const [x, tip] = [place(peak), Math.max(TOP - 3, y(total[peak]) - 2)];
  pen.fillStyle = color("text");
  pen.beginPath();
  pen.moveTo(x, tip);
  pen.lineTo(x - 4, tip - 6);
  pen.lineTo(x + 4, tip - 6);
  pen.fill();
  const fits = x + 10 + wide < scale.left + scale.width;
  pen.textAlign = fits ? "left" : "right";
  pen.font = `600 ${FONT}`;
  pen.fillText(words, fits ? x + 8 : x - 8, tip - 6);
}
