// The graph's colours: of phases, mesh axes and sizes, as the theme has them; and the legend of what is chosen.
import { h } from "../../core/dom.js";
import { bytesText, timeText } from "../../core/format.js";
import { axisClass } from "../../core/spans.js";

const MODES = [
  ["plain", "nothing"],
  ["axis", "mesh axis"],
  ["sharding", "sharding"],
  ["bytes", "bytes written"],
  ["flops", "FLOPs"],
  ["time", "time"],
];
const NAMES = [
  "text",
  "dim",
  "line",
  "rule",
  "bg",
  "panel",
  "picked",
  "strong",
  "select",
  "band",
  "flow",
  "in",
  "out",
  "heat",
];
const AXES = ["ax-0", "ax-1", "ax-2", "ax-3", "ax-many", "ax-none"];

/**
 * @typedef {import("../data/columns.js").Graph} Graph
 * @typedef {import("../data/matrix.js").Layout} Layout
 * @typedef {import("../data/matrix.js").Box} Box
 */

/**
 * What boxes can be coloured by: by shardings where they are known, by time where it was measured.
 * @param {Graph} graph @param {boolean} hasShardings
 */
export function modesOf(graph, hasShardings) {
  return MODES.filter(([key]) => (key !== "sharding" || hasShardings) && (key !== "time" || graph.header.measured));
}

/**
 * The theme's colours, by the names of their custom properties.
 * @param {HTMLElement} element @returns {Record<string, string>}
 */
export function readColors(element) {
  const style = getComputedStyle(element);
  const names = [...NAMES, ...AXES];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim() || style.color]));
}

/**
 * The class of the axes that send most in a box; "" when nothing does.
 * @param {Box} box @param {any[]} sets @param {string[]} all
 */
function busiest(box, sets, all) {
  const [move] = box.cell.moves;
  return move ? axisClass(sets[move.axes].axes, all) : "";
}

/**
 * The class of the axes that the values of a box are split over; "" when that is unknown.
 * @param {Box} box @param {Map<number, string[]> | null} shardings @param {string[]} all
 */
function split(box, shardings, all) {
  const known = box.cell.boxes.map((one) => shardings?.get(one)).filter((axes) => axes !== undefined);
  return known.length ? axisClass(/** @type {string[]} */ (known[0]), all) : "";
}

/**
 * Fill and edge of a box.
 * @param {string} mode @param {Layout} layout @param {Record<string, string>} colors
 * @param {{sets: any[], all: string[], shardings: Map<number, string[]> | null}} known
 * @returns {(box: Box) => string[]}
 */
export function fills(mode, layout, colors, { sets, all, shardings }) {
  if (mode === "axis" || mode === "sharding") {
    return (box) => {
      const name = mode === "axis" ? busiest(box, sets, all) : split(box, shardings, all);
      return name ? [blend(colors, colors[name], 0.2), colors[name]] : [colors.bg, colors.line];
    };
  }
  if (mode === "bytes" || mode === "flops" || mode === "time") {
    const most = Math.max(1, ...layout.boxes.map((box) => box.cell[mode]));
    return (box) => [
      box.cell[mode] > 0 ? blend(colors, colors.heat, 0.06 + 0.5 * Math.sqrt(box.cell[mode] / most)) : colors.bg,
      colors.line,
    ];
  }
  return () => [colors.bg, colors.line];
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
  if (hex)
    return hex.length === 3
      ? [...hex].map((one) => parseInt(one + one, 16))
      : [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return (
    color
      .match(/^rgba?\(([^)]*)\)/)?.[1]
      .split(/[\s,/]+/)
      .slice(0, 3)
      .map(Number) ?? null
  );
}

/** The figure of the box whose colour is strongest. @param {string} mode @param {Layout} layout */
function mostOf(mode, layout) {
  const figure = /** @type {"bytes" | "flops" | "time"} */ (mode);
  const most = Math.max(0, ...layout.boxes.map((box) => box.cell[figure]));
  const isFolded = layout.boxes.some((box) => box.cell.slowest >= 0);
  if (mode === "time")
    return `most: ${timeText(most)} per call (measured, slowest device${isFolded ? ", slowest of equal layers" : ""})`;
  return mode === "bytes" ? `most: ${bytesText(most)}` : "most FLOPs";
}

/**
 * What the colours mean.
 * @param {string} mode @param {Graph} graph @param {Layout} layout @param {any[]} sets @param {string[]} all
 */
export function legend(mode, graph, layout, sets, all) {
  const key = (/** @type {string} */ color, /** @type {string} */ words, /** @type {string} */ kind = "") =>
    h("span.key", h("i", { class: `swatch ${kind}`, style: { "--c": color } }), words);
  const used = [...new Set(layout.boxes.flatMap((box) => box.cell.moves.map((move) => move.axes)))];
  const axes = used.map((axis) => key(`var(--${axisClass(sets[axis].axes, all)})`, sets[axis].words, "bar"));
  const measured = `${graph.header.measured}. The profiler slows the program; a collective's time includes waiting.`;
  const boxes =
    mode === "axis"
      ? [h("span.key", "box: the axis with most bytes")]
      : mode === "sharding"
        ? [
            h("span.key", "box: what most bytes of the values on its lines are split over (modelled)"),
            key("var(--ax-none)", "replicated"),
            key("var(--ax-many)", "several axes"),
            ...all.map((axis) => key(`var(--${axisClass([axis], all)})`, axis)),
          ]
        : [h("span", { title: mode === "time" ? measured : undefined }, key("var(--heat)", mostOf(mode, layout)))];
  return mode === "plain" ? [] : [...boxes, ...(mode === "sharding" ? [] : axes)];
}
