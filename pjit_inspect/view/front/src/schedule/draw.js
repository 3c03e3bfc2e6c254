// The schedule strip's picture: phases of kernels above, lanes of collectives below, on one scale of places.
import { cut, dashed, line } from "../core/canvas.js";
import { thousands } from "../core/format.js";
import { endOf, runOf, waiting } from "./data.js";

export const TOP = 14; // room for the words at the first matmul
export const LANE = 14;
const BAR = 9; // height of the bars of a lane; the rest shows what waits
const BOTTOM = 14;
const FONT = "10px system-ui, sans-serif";

/** @typedef {import("./data.js").Strip} Strip */
/** @typedef {{left: number, width: number, from: number, span: number, gap: number}} Scale */
/**
 * @typedef {{
 *   strip: Strip,
 *   scale: Scale,
 *   color: (name: string) => string,
 *   laneColors: string[],
 *   laneNames: string[],
 *   phaseNames: string[],
 *   label: (row: number) => string,
 *   lit: (event: number) => boolean,
 *   kernels: number[],
 *   current: number,
 *   hover: number,
 * }} Scene
 */

/** @param {Strip} strip */
export function heightOf(strip) {
  return TOP + LANE * (strip.phases.length + strip.lanes.length) + (strip.lanes.length ? 4 : 0) + BOTTOM;
}

/** Where a lane starts: phases first, then collectives. @param {Strip} strip @param {number} lane */
export function topOf(strip, lane) {
  return TOP + LANE * lane + (lane >= strip.phases.length ? 4 : 0);
}

/** @param {Scale} scale @param {number} place */
export function xOf(scale, place) {
  return scale.left + ((place - scale.from) / scale.span) * scale.width;
}

/** @param {CanvasRenderingContext2D} pen @param {Scene} scene */
export function paint(pen, scene) {
  const { scale, strip } = scene;
  pen.font = FONT;
  pen.textBaseline = "middle";
  names(pen, scene);
  pen.save();
  pen.beginPath();
  pen.rect(scale.left, 0, scale.width, heightOf(strip));
  pen.clip();
  ground(pen, scene);
  runs(pen, scene);
  strip.lanes.forEach((_, lane) => waits(pen, scene, lane));
  strip.lanes.forEach((_, lane) => bars(pen, scene, lane));
  ruler(pen, scene);
  matmul(pen, scene);
  marked(pen, scene);
  pen.restore();
}

/** @param {CanvasRenderingContext2D} pen @param {Scene} scene */
function names(pen, { strip, scale, color, laneColors, laneNames, phaseNames }) {
  pen.textAlign = "right";
  [...phaseNames, ...laneNames].forEach((name, lane) => {
    const isLane = lane >= phaseNames.length;
    pen.fillStyle = isLane
      ? laneColors[lane - phaseNames.length]
      : phaseNames.length > 1
        ? color(`ph-${strip.phases[lane]}`)
        : color("dim"); // as the columns' heads
    pen.fillText(cut(pen, name, scale.left - 8), scale.left - 6, topOf(strip, lane) + LANE / 2);
  });
}

/** A faint line under every lane. @param {CanvasRenderingContext2D} pen @param {Scene} scene */
function ground(pen, { strip, scale, color }) {
  pen.fillStyle = color("rule");
  for (let lane = 0; lane <= strip.phases.length + strip.lanes.length; lane++) {
    const y = lane === strip.phases.length + strip.lanes.length ? topOf(strip, lane - 1) + LANE : topOf(strip, lane);
    pen.fillRect(scale.left, y - 0.5, scale.width, 0.5);
  }
}

/**
 * Kernels: neighbours of one layer and phase in one tone, the next layer in another.
 * @param {CanvasRenderingContext2D} pen @param {Scene} scene
 */
function runs(pen, scene) {
  const { strip, scale, color } = scene;
  const tones = [0.62, 0.4];
  const drawn = strip.phases.map(() => -1);
  pen.fillStyle = color("line");
  const last = Math.min(strip.starts.length - 1, runOf(strip, scale.from + scale.span));
  for (let run = Math.max(0, runOf(strip, scale.from)); run <= last; run++) {
    const lane = strip.phases.indexOf(strip.runPhases[run]);
    const x = xOf(scale, strip.starts[run]);
    const end = xOf(scale, endOf(strip, run));
    if (end <= drawn[lane]) continue; // a pixel that is filled already
    const from = Math.max(x, drawn[lane]);
    const wide = Math.max(0.7, end - from);
    drawn[lane] = from + wide;
    pen.globalAlpha = tones[strip.tones.get(strip.rows[run]) ?? 0];
    pen.fillRect(from, topOf(strip, lane) + 1, Math.max(0.7, wide - (wide > 4 ? 0.7 : 0)), LANE - 2);
    if (end - x > 24) label(pen, scene, run, x, end, lane);
  }
  pen.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} pen @param {Scene} scene @param {number} run @param {number} x @param {number} end
 * @param {number} lane
 */
function label(pen, scene, run, x, end, lane) {
  const left = Math.max(x, scene.scale.left) + 3;
  const room = Math.min(end, scene.scale.left + scene.scale.width) - left - 3;
  const words = scene.label(scene.strip.rows[run]);
  if (room < 20 || pen.measureText(words).width > room) return;
  pen.globalAlpha = 1;
  pen.fillStyle = scene.color("text");
  pen.textAlign = "left";
  pen.fillText(words, left, topOf(scene.strip, lane) + LANE / 2 + 0.5);
  pen.fillStyle = scene.color("line");
}

/**
 * How many results wait for their first use, as a thin band: the fuller, the more.
 * @param {CanvasRenderingContext2D} pen @param {Scene} scene @param {number} lane
 */
function waits(pen, { strip, scale, laneColors }, lane) {
  const step = 2;
  const count = Math.ceil(scale.width / step);
  const counts = waiting(strip, lane, scale.from, (scale.span * step) / scale.width, count);
  const most = counts.reduce((a, b) => Math.max(a, b), 0);
  const y = topOf(strip, strip.phases.length + lane) + BAR + 2;
  if (!most) return;
  pen.fillStyle = laneColors[lane];
  for (let i = 0; i < count; i++) {
    let end = i + 1;
    while (end < count && counts[end] === counts[i]) end++;
    if (counts[i]) {
      pen.globalAlpha = 0.2 + 0.6 * (counts[i] / Math.max(4, most));
      pen.fillRect(scale.left + i * step, y, (end - i) * step, 2);
    }
    i = end - 1;
  }
  pen.globalAlpha = 1;
}

/** @param {Scene} scene @param {number} index @returns {[number, number, number, number]} */
export function barOf({ strip, scale }, index) {
  const event = strip.events[index];
  const height = BAR / strip.levels[event.lane];
  const x = xOf(scale, event.start);
  const y = topOf(strip, strip.phases.length + event.lane) + 1 + event.level * height;
  const width = xOf(scale, event.end) - x;
  return [
    x,
    y,
    Math.max(1.6, width - (width > 4 ? 0.7 : 0)),
    Math.max(1.5, height - (strip.levels[event.lane] > 1 ? 0.8 : 0)),
  ];
}

/**
 * The collectives of a lane, as one path.
 * @param {CanvasRenderingContext2D} pen @param {Scene} scene @param {number} lane
 */
function bars(pen, scene, lane) {
  const { strip, scale, laneColors } = scene;
  pen.beginPath();
  strip.events.forEach((event, i) => {
    if (event.lane !== lane || event.start > scale.from + scale.span || event.end < scale.from - scale.span / 100)
      return;
    pen.rect(...barOf(scene, i));
  });
  pen.fillStyle = laneColors[lane];
  pen.globalAlpha = 0.85;
  pen.fill();
  pen.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} pen @param {Scene} scene */
function ruler(pen, { strip, scale, color }) {
  const y = heightOf(strip) - BOTTOM / 2 + 1;
  const step = tick((scale.span * 70) / scale.width);
  pen.fillStyle = color("dim");
  for (let place = Math.ceil(scale.from / step) * step; place <= scale.from + scale.span; place += step) {
    const x = xOf(scale, place);
    const words = thousands(place);
    const half = pen.measureText(words).width / 2;
    const at = Math.max(scale.left + half, Math.min(scale.left + scale.width - half, x));
    pen.textAlign = "center";
    pen.fillRect(x - 0.25, y - BOTTOM / 2 - 1, 0.5, 3);
    if (Math.abs(at - x) < 12) pen.fillText(words, at, y + 1);
  }
}

/** 1, 2 or 5 times a power of ten, at least `least`. @param {number} least */
function tick(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least) ?? 10 * power;
}

/** @param {CanvasRenderingContext2D} pen @param {Scene} scene */
function matmul(pen, { strip, scale, color }) {
  if (strip.firstMatmul < 0) return;
  const x = xOf(scale, strip.firstMatmul);
  const words = "first matmul";
  const wide = pen.measureText(words).width;
  if (x < scale.left - 1 || x > scale.left + scale.width) return;
  pen.strokeStyle = pen.fillStyle = color("text");
  pen.lineWidth = 1;
  dashed(pen, [3, 2], () => line(pen, [x, 4], [x, heightOf(strip) - BOTTOM]));
  pen.textAlign = "left";
  const fits = x + 4 + wide < scale.left + scale.width;
  pen.fillText(words, fits ? x + 4 : x - 4 - wide, TOP / 2);
}

/** What is selected, what the pointer is at. @param {CanvasRenderingContext2D} pen @param {Scene} scene */
function marked(pen, scene) {
  const { strip, scale, color } = scene;
  pen.strokeStyle = pen.fillStyle = color("select");
  pen.lineWidth = 1.5;
  for (const kernel of scene.kernels) {
    const lane = strip.phases.indexOf(strip.runPhases[runOf(strip, kernel)]);
    const x = xOf(scale, kernel);
    pen.fillRect(x - 0.5, topOf(strip, lane) - 1, Math.max(2, xOf(scale, kernel + 1) - x), LANE + 1);
  }
  strip.events.forEach((_, i) => scene.lit(i) && ring(pen, scene, i, i === scene.current));
  if (scene.current >= 0) ring(pen, scene, scene.current, true);
  if (scene.hover >= 0 && scene.hover !== scene.current) ring(pen, scene, scene.hover, true);
}

/**
 * A ring around a bar; with its way to the first use, which a triangle marks.
 * @param {CanvasRenderingContext2D} pen @param {Scene} scene @param {number} index @param {boolean} isFull
 */
function ring(pen, scene, index, isFull) {
  const { strip, scale } = scene;
  const event = strip.events[index];
  const [x, y, width, height] = barOf(scene, index);
  pen.strokeRect(x - 1, y - 1, width + 2, height + 2);
  if (!isFull || event.firstUse < 0) return;
  const use = xOf(scale, event.firstUse + 0.5);
  const lane = strip.phases.indexOf(strip.runPhases[runOf(strip, event.firstUse)]);
  const under = topOf(strip, strip.phases.length + event.lane) + BAR + 3;
  const isInside = use <= x + width; // what starts it may use it before it is waited for
  if (!isInside) line(pen, [x + width, under], [use, under]);
  line(pen, [use, isInside ? y - 1 : under], [use, topOf(strip, lane) + LANE]);
  pen.beginPath();
  pen.moveTo(use, topOf(strip, lane) + LANE - 6);
  pen.lineTo(use - 3.5, topOf(strip, lane) + LANE);
  pen.lineTo(use + 3.5, topOf(strip, lane) + LANE);
  pen.fill();
}
