// The graph's colours, as the theme has them: of mesh axes, and of time where it was measured, with its legend.
import { h } from "../../core/dom.js";
import { timeText } from "../../core/format.js";

const NAMES =
  "text dim line rule bg panel picked strong select band flow in out heat ax-0 ax-1 ax-2 ax-3 ax-many ax-none";

/**
 * @typedef {import("../data/matrix.js").Layout} Layout
 * @typedef {import("../data/matrix.js").Box} Box
 */

/**
 * The theme's colours, by the names of their custom properties.
 * @param {HTMLElement} element @returns {Record<string, string>}
 */
export function readColors(element) {
  const style = getComputedStyle(element);
  const color = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim() || style.color;
  return Object.fromEntries(NAMES.split(" ").map((name) => [name, color(name)]));
}

/** The time of the box that takes longest. @param {Layout} layout */
const mostOf = (layout) => Math.max(0, ...layout.boxes.map((box) => box.cell.time));

/**
 * Fill and edge of a box: the stronger, the longer it takes.
 * @param {boolean} isTimed @param {Layout} layout @param {Record<string, string>} colors
 * @returns {(box: Box) => string[]}
 */
export function fills(isTimed, layout, colors) {
  const most = Math.max(1, mostOf(layout));
  const share = (/** @type {Box} */ box) => (isTimed && box.cell.time > 0 ? box.cell.time / most : 0);
  return (box) => [
    share(box) ? blend(colors, colors.heat, 0.06 + 0.5 * Math.sqrt(share(box))) : colors.bg,
    colors.line,
  ];
}

/**
 * A part of a colour over the background.
 * @param {Record<string, string>} colors @param {string} color @param {number} part
 */
function blend(colors, color, part) {
  const [a, b] = [colors.bg, color].map(parts);
  if (!a || !b) return color; // a system colour: it has no parts
  return `rgb(${a.map((value, i) => Math.round(value + (b[i] - value) * part)).join(" ")})`;
}

/** @param {string} color */
function parts(color) {
  const hex = color.match(/^#([0-9a-f]{3}|[0-9a-f]{6})$/i)?.[1];
  const digits = hex?.length === 3 ? [...hex].map((one) => one + one) : hex?.match(/../g);
  if (digits) return digits.map((one) => parseInt(one, 16));
  const numbers = color.match(/^rgba?\(([^)]*)\)/)?.[1];
  return numbers ? numbers.split(/[\s,/]+/, 3).map(Number) : null;
}

/** What the colours of a measured record mean. @param {string} measured @param {Layout} layout */
export function legend(measured, layout) {
  const isFolded = layout.boxes.some((box) => box.cell.slowest >= 0);
  const words = `most: ${timeText(mostOf(layout))} per call (measured, slowest device${isFolded ? ", slowest of equal layers" : ""})`;
  const title = `${measured}. The profiler slows the program; a collective's time includes waiting.`;
  return h("span.key", { title }, h("i.swatch", { style: { "--c": "var(--heat)" } }), words);
}
