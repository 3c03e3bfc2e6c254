// A strip of what runs when, to scale: a lane of kernels, with its waits, and a lane for each mesh axis. Not its job: which
// strip there is (`pane.js`), or the words of a piece (`view/time/payload.py`).
import { h, s } from "../core/dom.js";
import { timeText } from "../core/format.js";
import { axisClass } from "../core/spans.js";
import { tooltip } from "../core/tooltip.js";

/** Pixels of the names of lanes, at least and at most. */
const [LEAST_NAME, MOST_NAME] = [66, 104];
/** Pixels above the lanes, with and without names of loops. */
const [NAMED, BARE] = [18, 4];
const COMPUTE = 30;
const AXIS = 16;
const GAP = 6;
const LETTER = 6.2;
const PHASES = ["forward", "recompute", "backward", "optimizer"];
const KINDS = ["kernel", "wait", "transfer", "copy"];
/** Pixels under which a piece has no edge of its own. */
const EDGE = 3;

/** @typedef {[number, number, number, string, string[] | null, string, string, string, string[]]} Piece */
/** @typedef {{name: string, axes: string[], pieces: Piece[]}} Lane */
/** @typedef {{title: string, network: string, length: number, loops: [number, number, number, string][], lanes: Lane[]}} Strip */

/** The class that gives a phase its colour. @param {string} phase */
export const phaseClass = (phase) => (PHASES.includes(phase) ? `ph-${PHASES.indexOf(phase)}` : "ph-none");

/**
 * @param {import("../core/store.js").Store} store @param {Strip} strip @param {number} width
 * @param {(strip: number) => void} open called with the number of a loop's strip
 */
export function drawStrip(store, strip, width, open) {
  const names = Math.max(...strip.lanes.map((lane) => lane.name.length)) * LETTER * 1.1 + 8;
  const left = Math.min(MOST_NAME, Math.max(LEAST_NAME, names));
  const room = Math.max(80, width - left - 12);
  const at = (/** @type {number} */ seconds) => left + (room * seconds) / strip.length;
  const parts = [hatches()];
  const top = strip.loops.length ? NAMED : BARE;
  let y = top;
  strip.lanes.forEach((lane, number) => {
    const height = number ? AXIS : COMPUTE;
    const axis = lane.axes.length ? `axis ${axisClass(lane.axes, store.first.axes)}` : "";
    parts.push(s("text", { class: `lane ${axis}`, x: 0, y: y + height / 2 + 4 }, cut(lane.name, (left - 8) / 1.1)));
    parts.push(s("rect.ground", { x: left, y, width: room, height }));
    lane.pieces.forEach((piece, place) => parts.push(...drawPiece(store, piece, `${number}.${place}`, at, y, height)));
    y += height + GAP;
  });
  parts.push(...strip.loops.flatMap((loop) => drawLoop(loop, at, open)));
  parts.push(...ticks(strip.length, at, y, room));
  const picture = /** @type {SVGSVGElement} */ (
    s("svg.timestrip", { width, height: y + 16, viewBox: `0 0 ${width} ${y + 16}`, "aria-hidden": "true" }, parts)
  );
  const box = h("div.stripbox", picture);
  listen(store, strip, box);
  return box;
}

/** @param {import("../core/store.js").Store} store @param {Piece} piece @param {string} place @param {(s: number) => number} at @param {number} y @param {number} height */
function drawPiece(store, piece, place, at, y, height) {
  const [begin, end, kind, phase, axes, label] = piece;
  const x = at(begin);
  const width = Math.max(0.75, at(end) - x);
  const isTransfer = KINDS[kind] === "transfer";
  const color = isTransfer ? axisClass(axes, store.first.axes) : KINDS[kind] === "kernel" ? phaseClass(phase) : "";
  const found = [
    s("rect", {
      class: `piece ${KINDS[kind]} ${color} ${width > EDGE ? "edged" : ""}`,
      ...(KINDS[kind] === "wait" ? { fill: axes && !axes.length ? "url(#pjit-copies)" : "url(#pjit-wait)" } : {}),
      x,
      y,
      width,
      height,
      "data-piece": place,
    }),
  ];
  const words = KINDS[kind] === "wait" ? timeText((end - begin) * 1e6) : label;
  if (!isTransfer && words && words.length * LETTER + 10 < width)
    found.push(s("text", { class: `inside ${KINDS[kind]}`, x: x + width / 2, y: y + height / 2 + 4 }, words));
  return found;
}

/** @param {[number, number, number, string]} loop @param {(s: number) => number} at @param {(strip: number) => void} open */
function drawLoop([begin, end, strip, words], at, open) {
  const x = at(begin);
  const width = at(end) - x;
  const frame = s("rect.loop", { x, y: NAMED - 1.5, width, height: COMPUTE + 3 });
  if (words.length * LETTER > width) return [frame];
  const label = s("text.loopwords", { x: x + width / 2, y: 12, onclick: () => open(strip) }, words);
  return [frame, label];
}

/** @param {number} length @param {(s: number) => number} at @param {number} y @param {number} room */
function ticks(length, at, y, room) {
  const rough = length / Math.max(2, Math.floor(room / 110));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? rough;
  const found = [];
  for (let number = 0; number * step <= length * 1.0001; number++) {
    const x = at(number * step);
    const words = number ? timeText(number * step * 1e6).replace(/\.0+ /, " ") : "0";
    found.push(s("path.tick", { d: `M${x} ${y - GAP}v4` }));
    found.push(s("text.tickwords", { x: Math.min(x, at(length) - 12), y: y + 9 }, words));
  }
  return found;
}

function hatches() {
  const one = (/** @type {string} */ id) =>
    s(
      "pattern",
      { id, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      s("rect", { width: 5, height: 5, class: `${id} back` }),
      s("path", { d: "M1 0V5", class: id }),
    );
  return s("defs", one("pjit-wait"), one("pjit-copies"));
}

/** What is pointed at is told, and a click selects it. @param {import("../core/store.js").Store} store @param {Strip} strip @param {HTMLElement} box */
function listen(store, strip, box) {
  const tip = tooltip(box);
  const pieceOf = (/** @type {Event} */ event) => {
    const place = /** @type {Element} */ (event.target).getAttribute?.("data-piece")?.split(".").map(Number);
    return place ? strip.lanes[place[0]].pieces[place[1]] : null;
  };
  box.addEventListener("pointermove", (event) => {
    const piece = pieceOf(event);
    if (piece) tip.show(piece[8], event.clientX, event.clientY);
    else tip.hide();
  });
  box.addEventListener("pointerleave", () => tip.hide());
  box.addEventListener("click", (event) => {
    const piece = pieceOf(event);
    if (piece?.[7]) store.selectName(piece[7]);
  });
}

/** @param {string} words @param {number} width */
function cut(words, width) {
  const most = Math.floor(width / LETTER);
  return words.length > most ? `${words.slice(0, most - 1)}\u2026` : words;
}
