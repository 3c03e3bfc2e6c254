// Draws the graph's geometry on a canvas: nothing is decided here but where words are cut.
import { bytesText } from "../../core/format.js";
import { HEAD, LINE, TOP, thickness } from "../data/matrix.js";

/**
 * @typedef {import("../data/matrix.js").Layout} Layout
 * @typedef {import("../data/matrix.js").Box} Box
 * @typedef {import("../data/words.js").Words} Words
 * @typedef {{lines: Map<Box, Set<number>>, boxes: Set<Box>}} Lit
 * @typedef {{
 *   scale: number,
 *   left: number,
 *   top: number,
 *   width: number,
 *   height: number,
 *   ratio: number,
 *   colors: Record<string, string>,
 *   words: Words,
 *   axisColor: (axes: number) => string,
 *   fillOf: (box: Box) => string[],
 *   hasAxisColors: boolean,
 *   lit: Lit,
 *   isFaded: (of: any) => boolean,
 *   goes: (of: any) => boolean,
 *   hover: Box | null,
 *   focus: {x: number, y: number, w: number, h: number} | null,
 *   found: Set<Box> | null,
 *   mostFlops: number,
 * }} Look
 */

const UI = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
const PLAIN = `12px ${UI}`;
const BOLD = `600 12px ${UI}`;
const SMALL = `11px ${UI}`;
const STRONG = `600 11px ${UI}`;
const SLANTED = `italic 11px ${UI}`;

/** @type {Map<string, number>} */
const widths = new Map();

/** @param {CanvasRenderingContext2D} g @param {string} text @param {string} font */
export function widthOf(g, text, font) {
  const key = font + text;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size > 20000) widths.clear();
    g.font = font;
    widths.set(key, (width = g.measureText(text).width));
  }
  return width;
}

/**
 * The first way to say it that fits, else the last one cut.
 * @param {CanvasRenderingContext2D} g @param {string[]} ways @param {number} room @param {string} font
 */
export function fitting(g, ways, room, font) {
  const found = ways.find((text) => widthOf(g, text, font) <= room);
  if (found !== undefined) return found;
  const text = ways[ways.length - 1];
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(g, `${text.slice(0, middle)}\u2026`, font) <= room) low = middle;
    else high = middle - 1;
  }
  return low ? `${text.slice(0, low).trimEnd()}\u2026` : "";
}

/**
 * The part of the picture that is in view.
 * @param {CanvasRenderingContext2D} g @param {Layout} layout @param {Look} look
 */
export function draw(g, layout, look) {
  const { scale, ratio } = look;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.fillStyle = look.colors.bg;
  g.fillRect(0, 0, look.width, look.height);
  g.setTransform(ratio * scale, 0, 0, ratio * scale, -look.left * ratio, -look.top * ratio);
  g.textBaseline = "middle";
  const top = look.top / scale;
  const bottom = (look.top + look.height) / scale;
  const isSeen = (/** @type {{y: number, h: number}} */ one) => one.y - 20 < bottom && one.y + one.h + 20 > top;
  for (const band of layout.bands) if (isSeen(band)) drawBand(g, layout, look, band);
  for (const arrow of layout.arrows) {
    const ys = arrow.points.map(([, y]) => y);
    const low = Math.min(...ys);
    if (isSeen({ y: low, h: Math.max(...ys) - low }))
      drawArrow(g, arrow.points, arrow.width, arrowColor(look, arrow), arrow.kind === "skip" ? 0.45 : 0.9);
  }
  for (const band of layout.bands) if (isSeen(band)) drawTitle(g, layout, look, band);
  for (const label of layout.labels) if (isSeen(label)) drawLabel(g, layout, look, label);
  for (const box of layout.boxes) if (isSeen(box)) drawBox(g, look, box, layout);
  for (const arrow of layout.arrows) drawFigure(g, layout, look, arrow);
  for (const pill of layout.pills) drawPill(g, look, pill, layout.short);
  if (look.hover) drawHover(g, layout, look, look.hover);
  if (look.focus) ring(g, look.focus, look.colors.select, 2);
  if (!layout.isStacked) drawHeads(g, layout, look);
}

/**
 * @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h
 * @param {number} r
 */
function rounded(g, x, y, w, h, r) {
  g.beginPath();
  g.roundRect(x + 0.5, y + 0.5, w, h, r);
}

/**
 * @param {CanvasRenderingContext2D} g @param {{x: number, y: number, w: number, h: number}} at @param {string} color
 * @param {number} width
 */
function ring(g, at, color, width) {
  g.strokeStyle = color;
  g.lineWidth = width;
  rounded(g, at.x - 2, at.y - 2, at.w + 3, at.h + 3, 6);
  g.stroke();
}

/**
 * @param {CanvasRenderingContext2D} g @param {string} text @param {number} x @param {number} y @param {string} font
 * @param {string} color
 */
function put(g, text, x, y, font, color) {
  g.font = font;
  g.fillStyle = color;
  g.fillText(text, x, y);
}

/** The phases, always on top. @param {CanvasRenderingContext2D} g @param {Layout} layout @param {Look} look */
function drawHeads(g, layout, look) {
  const { colors, words, scale, ratio } = look;
  g.setTransform(ratio * scale, 0, 0, ratio * scale, -look.left * ratio, 0);
  g.fillStyle = colors.bg;
  g.fillRect(look.left / scale, 0, look.width / scale, TOP - 6);
  const { is_differentiated } = words.graph.header;
  for (const column of layout.columns) {
    const sign = column.phase === 2 ? "  \u2191" : column.phase === 3 ? "" : "  \u2193";
    const name = is_differentiated ? words.graph.phases[column.phase] : "in the order of the program";
    put(g, name + sign, column.x + 3, 13, `600 13px ${UI}`, colors.text);
    g.fillStyle = colors.line;
    g.fillRect(column.x, 24, column.w, 1);
  }
}

/**
 * @param {CanvasRenderingContext2D} g @param {Layout} layout @param {Look} look
 * @param {import("../data/matrix.js").Band} band
 */
function drawBand(g, layout, look, band) {
  const { colors } = look;
  const { item } = band;
  const isClosed = isFolded(layout, item);
  g.lineWidth = 1;
  g.strokeStyle = colors.rule;
  if (isClosed)
    for (const shift of [6, 3]) {
      rounded(g, band.x + shift, band.y - shift, band.w, band.h, 4);
      g.stroke();
    }
  g.fillStyle = band.depth % 2 ? colors.panel : colors.band;
  g.strokeStyle = isClosed || item.isUnfolded ? colors.line : colors.rule;
  rounded(g, band.x, band.y, band.w, band.h, 4);
  g.fill();
  g.stroke();
}

/**
 * @param {import("../data/matrix.js").Layout} layout
 * @param {import("../data/fold.js").Item} item whether a frame stands for all members of its fold
 */
const isFolded = (layout, item) => item.row >= 0 && item.fold >= 0 && layout.view.isClosed[item.fold] === 1;

/**
 * The name of a frame.
 * @param {Words} words @param {CanvasRenderingContext2D} g @param {Layout} layout
 * @param {import("../data/matrix.js").Band} band
 */
function titleOf(words, g, layout, band) {
  return fitting(
    g,
    [`\u25be ${words.row(band.item, isFolded(layout, band.item) || band.item.isUnfolded)}`],
    Math.max(120, band.w - 20) * 0.6,
    BOLD,
  );
}

/**
 * The head of a frame, over arrows that pass it.
 * @param {CanvasRenderingContext2D} g @param {Layout} layout @param {Look} look
 * @param {import("../data/matrix.js").Band} band
 */
function drawTitle(g, layout, look, band) {
  const { colors, words } = look;
  const { item } = band;
  const isClosed = isFolded(layout, item);
  const name = titleOf(words, g, layout, band);
  const under = (/** @type {number} */ x, /** @type {number} */ width) => {
    g.fillStyle = band.depth % 2 ? colors.panel : colors.band;
    g.fillRect(x - 3, band.y + 5, width + 6, 18);
  };
  under(band.x + 8, widthOf(g, name, BOLD));
  put(g, name, band.x + 8, band.y + 14, BOLD, colors.text);
  if (!isClosed && !item.isUnfolded) return;
  const { times, alike, shown } = words.fold(item.fold);
  const start =
    badge(g, look, isClosed ? times : `${times} side by side`, band.x + 16 + widthOf(g, name, BOLD), band.y + 14) + 8;
  const notes = isClosed ? [`${alike} \u00b7 ${shown}`, `${shown} \u00b7 ${alike}`, shown] : ["click to fold"];
  const [x, room] = between(layout, start, band.x + band.w - 8, widthOf(g, notes[0], SMALL));
  const note = fitting(g, notes, room, SMALL);
  under(x, widthOf(g, note, SMALL));
  put(g, note, x, band.y + 14, SMALL, colors.dim);
}

/**
 * A place for words between the arrows in the middle of columns: where they fit, else where most is free.
 * @param {Layout} layout @param {number} start @param {number} end @param {number} want @returns {number[]}
 */
function between(layout, start, end, want) {
  const stops = layout.columns.map((column) => column.x + column.w / 2).filter((x) => x > start - 8 && x < end);
  const gaps = [start, ...stops.map((x) => x + 10)].map((x, i) => [x, (stops[i] ?? end) - x - 10]);
  return gaps.find(([, room]) => room >= want) ?? gaps.reduce((best, one) => (one[1] > best[1] ? one : best));
}

/** How wide the badge of a fold is. @param {CanvasRenderingContext2D} g @param {string} text */
const badgeWidth = (g, text) => widthOf(g, text, STRONG) + 12;

/** @param {CanvasRenderingContext2D} g @param {Look} look @param {string} text @param {number} x @param {number} y */
function badge(g, look, text, x, y) {
  const width = badgeWidth(g, text);
  g.fillStyle = look.colors.text;
  rounded(g, x, y - 8.5, width, 16, 8);
  g.fill();
  put(g, text, x + 6, y + 0.5, STRONG, look.colors.bg);
  return x + width;
}

/**
 * Where the badge of a fold's frame is.
 * @param {CanvasRenderingContext2D} g @param {Layout} layout @param {Words} words
 * @param {import("../data/matrix.js").Band} band
 */
export function badgeOf(g, layout, words, band) {
  const { item } = band;
  const isClosed = isFolded(layout, item);
  if (!isClosed && !item.isUnfolded) return null;
  const { times } = words.fold(item.fold);
  return {
    x: band.x + 16 + widthOf(g, titleOf(words, g, layout, band), BOLD),
    y: band.y + 5,
    w: badgeWidth(g, isClosed ? times : `${times} side by side`),
    h: 18,
  };
}

/**
 * @param {CanvasRenderingContext2D} g @param {Layout} layout @param {Look} look
 * @param {import("../data/matrix.js").Label} label
 */
function drawLabel(g, layout, look, label) {
  const { item, x, y, w } = label;
  const { words, colors } = look;
  const { graph } = words;
  const isClosed = item.fold >= 0 && layout.view.isClosed[item.fold] === 1;
  const sign = graph.children[item.row].length ? "\u25b8 " : "";
  const name = words.row(item, isClosed);
  if (layout.chipWidth) {
    drawLowLabel(g, look, label, sign + name, isClosed);
    return;
  }
  const cut = name.indexOf(", ");
  const isSplit = cut > 0 && widthOf(g, sign + name, BOLD) > w;
  put(g, fitting(g, [sign + (isSplit ? name.slice(0, cut) : name)], w, BOLD), x, y + 13, BOLD, colors.text);
  const second = isSplit ? name.slice(cut + 2) : graph.words["row.holds"](item.row);
  if (isClosed) {
    const { times, alike } = words.fold(item.fold);
    const end = badge(g, look, times, x, y + 30);
    put(g, fitting(g, [alike], w - (end - x) - 6, SMALL), end + 6, y + 30, SMALL, colors.dim);
  } else if (second && label.h >= 27)
    put(g, fitting(g, [second, second.split(", ")[0]], w, SMALL), x, y + 28, SMALL, colors.dim);
}

/**
 * The label of a low row: its name, and beside it what there is room for.
 * @param {CanvasRenderingContext2D} g @param {Look} look @param {import("../data/matrix.js").Label} label
 * @param {string} name @param {boolean} isClosed
 */
function drawLowLabel(g, look, label, name, isClosed) {
  const { item, x, y, w } = label;
  const { words, colors } = look;
  const times = isClosed ? words.fold(item.fold).times : "";
  const room = w - (times ? badgeWidth(g, times) + 6 : 0);
  const shown = fitting(g, [name, name.split(", ")[0]], room, BOLD);
  put(g, shown, x, y + 12.5, BOLD, colors.text);
  const end = x + widthOf(g, shown, BOLD) + 6;
  if (times) {
    badge(g, look, times, end, y + 12.5);
    return;
  }
  const second = words.graph.words["row.holds"](item.row);
  const rest = x + w - end;
  if (second && widthOf(g, second, SMALL) <= rest) put(g, second, end, y + 13, SMALL, colors.dim);
  else if (second && label.h >= 38) put(g, fitting(g, [second], w, SMALL), x, y + 28, SMALL, colors.dim);
}

/** @param {CanvasRenderingContext2D} g @param {Look} look @param {Box} box @param {Layout} layout */
function drawBox(g, look, box, layout) {
  const { colors } = look;
  const { x, y, w, h, cell } = box;
  const [fill, stroke] = look.fillOf(box);
  const isDim = look.found !== null && !look.found.has(box);
  g.globalAlpha = isDim ? 0.4 : 1;
  g.lineWidth = 1;
  if (box.isStack)
    for (const shift of [6, 3]) {
      g.fillStyle = colors.bg;
      g.strokeStyle = stroke;
      rounded(g, x + shift, y - shift, w, h, 5);
      g.fill();
      g.stroke();
    }
  g.fillStyle = fill;
  g.strokeStyle = stroke;
  rounded(g, x, y, w, h, 5);
  g.fill();
  g.stroke();
  if (layout.isStacked) put(g, look.words.phase(cell.phase), 14, y + 12.5, SMALL, colors.dim);
  if (layout.chipWidth) drawLowBox(g, look, box, stroke);
  else drawBoxHead(g, look, box);
  if (!layout.chipWidth && cell.flops > 0 && look.mostFlops) {
    g.fillStyle = stroke;
    g.fillRect(x + 1.5, y + h - 3, Math.max(2, (w - 2) * Math.sqrt(cell.flops / look.mostFlops)), 3);
  }
  const lit = look.lit.lines.get(box);
  const drawn = layout.chipWidth ? drawChip : drawLine;
  box.lines.forEach((line, i) => drawn(g, look, box, line, lit?.has(i) ?? false, isDim));
  g.globalAlpha = 1;
  if (look.lit.boxes.has(box)) ring(g, box, colors.select, 2);
}

/** @param {CanvasRenderingContext2D} g @param {Look} look @param {Box} box */
function drawBoxHead(g, look, box) {
  const { colors, words } = look;
  const { x, y, w, cell } = box;
  const heads = words.heads(cell);
  const least = widthOf(g, heads[Math.max(0, heads.length - 2)], PLAIN);
  const right = words.rights(cell).find((text) => least + widthOf(g, text, SMALL) + 24 <= w) ?? "";
  const rightWidth = right ? widthOf(g, right, SMALL) : 0;
  const left = fitting(g, heads, w - 16 - (right ? rightWidth + 8 : 0), PLAIN);
  put(g, left, x + 8, y + 13, PLAIN, colors.text);
  if (right) put(g, right, x + w - 8 - rightWidth, y + 13, SMALL, colors.dim);
  if (!cell.parts.length) return;
  g.setLineDash([2, 2]);
  g.strokeStyle = colors.dim;
  g.lineWidth = 1;
  g.beginPath();
  g.moveTo(x + 8, y + 20.5);
  g.lineTo(x + 8 + widthOf(g, left, PLAIN), y + 20.5);
  g.stroke();
  g.setLineDash([]);
}

/**
 * @param {CanvasRenderingContext2D} g @param {Look} look @param {Box} box
 * @param {import("../data/matrix.js").Line} line @param {boolean} isLit @param {boolean} isDim
 */
function drawLine(g, look, box, line, isLit, isDim) {
  const { colors, words } = look;
  const { x, w } = box;
  const y = box.y + line.y + LINE / 2;
  const { words: ways, figure } = words.line(line);
  const isMove = line.type === "move";
  const isShare = line.type === "share";
  const axis = isMove || isShare ? look.axisColor(line.of.axes) : colors.dim;
  if (isLit) {
    g.fillStyle = colors.strong;
    g.fillRect(x + 2, y - 8, w - 3, 16);
  }
  g.globalAlpha = isDim || ((isMove || isShare) && look.isFaded(line.of)) ? 0.4 : 1;
  if (isMove) {
    g.fillStyle = axis;
    g.fillRect(x + 8, y - 6, 4, 13);
    if (look.goes(line.of)) dashed(g, x + 5, y - 8, w - 10, colors.line);
  } else if (isShare) {
    g.setLineDash([2, 2]);
    g.strokeStyle = axis;
    g.lineWidth = 1;
    g.strokeRect(x + 8.5, y - 5.5, 3, 12);
    g.setLineDash([]);
  }
  const font = isMove ? STRONG : SLANTED;
  const figureFont = isMove ? SMALL : SLANTED;
  const figureWidth = figure ? widthOf(g, figure, figureFont) : 0;
  const start = isMove || isShare ? 17 : 8;
  put(
    g,
    fitting(g, ways, w - start - 14 - figureWidth, font),
    x + start,
    y + 0.5,
    font,
    look.hasAxisColors || !isMove ? axis : colors.text,
  );
  if (figure) put(g, figure, x + w - 8 - figureWidth, y + 0.5, figureFont, isMove ? colors.text : colors.dim);
  g.globalAlpha = isDim ? 0.4 : 1;
}

/**
 * A low box: a thick edge where there are matmuls; what runs in it stands at the right, where its chips leave room.
 * @param {CanvasRenderingContext2D} g @param {Look} look @param {Box} box @param {string} stroke
 */
function drawLowBox(g, look, box, stroke) {
  const { x, y, w, h, cell, lines } = box;
  if (cell.matmuls) {
    g.fillStyle = stroke;
    g.fillRect(x + 1, y + 2, 3, h - 3);
  }
  const { words, colors } = look;
  const first = lines.filter((line) => line.y === lines[0].y);
  const taken = first.length ? first[first.length - 1].x + first[first.length - 1].w : 0;
  const room = w - taken - 16;
  const [rights, all] = [words.rights(cell).filter(Boolean), words.heads(cell)];
  // A number alone, which is the last, says nothing beside chips; in an empty box it is better than nothing.
  const [heads, number] = [all.slice(0, -1), all.slice(lines.length ? all.length : -1)];
  const ways = [
    ...rights.flatMap((right) => heads.map((head) => `${head} \u00b7 ${right}`)),
    ...(cell.iterations === 1 && !words.isTimed ? heads : rights.length ? rights : heads),
    ...number,
  ];
  const found = ways.find((text) => widthOf(g, text, SMALL) <= room);
  if (!found) return;
  put(g, found, lines.length ? x + w - 7 - widthOf(g, found, SMALL) : x + 9, y + 12.5, SMALL, colors.dim);
}

/**
 * A kind of collective in a low box, beside the others.
 * @param {CanvasRenderingContext2D} g @param {Look} look @param {Box} box
 * @param {import("../data/matrix.js").Line} line @param {boolean} isLit @param {boolean} isDim
 */
function drawChip(g, look, box, line, isLit, isDim) {
  const { colors, words } = look;
  const [x, y] = [box.x + line.x, box.y + line.y];
  const { words: ways, figure } = words.chip(line);
  const isMove = line.type === "move";
  if (isLit) {
    g.fillStyle = colors.strong;
    g.strokeStyle = colors.select;
    g.lineWidth = 1;
    rounded(g, x, y, line.w - 1, LINE, 3);
    g.fill();
    g.stroke();
  }
  g.globalAlpha = isDim || (isMove && look.isFaded(line.of)) ? 0.4 : 1;
  const axis = isMove ? look.axisColor(line.of.axes) : colors.dim;
  if (isMove) {
    g.fillStyle = axis;
    g.fillRect(x + 4, y + 2.5, 4, 13);
    if (look.goes(line.of) && !isLit) dashed(g, x, y, line.w - 1, colors.line);
  }
  const start = x + (isMove ? 12 : 4);
  const figureWidth = figure ? widthOf(g, figure, SMALL) + 4 : 0;
  const text = fitting(g, ways, line.w - (start - x) - figureWidth - 3, STRONG);
  put(g, text, start, y + 9.5, isMove ? STRONG : SMALL, look.hasAxisColors || !isMove ? axis : colors.text);
  if (figure) put(g, figure, start + widthOf(g, text, STRONG) + 4, y + 9.5, SMALL, colors.text);
  g.globalAlpha = isDim ? 0.4 : 1;
}

/**
 * Around what is gone with the change.
 * @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {string} color
 */
function dashed(g, x, y, w, color) {
  g.setLineDash([3, 2]);
  g.strokeStyle = color;
  g.lineWidth = 1;
  rounded(g, x, y, w, LINE, 3);
  g.stroke();
  g.setLineDash([]);
}

/**
 * How wide such a piece is.
 * @param {CanvasRenderingContext2D} g @param {Words} words @param {import("../data/matrix.js").Content} content
 */
export function chipWidth(g, words, content) {
  const { words: ways, figure } = words.chip(content);
  const bar = content.type === "move" ? 12 : 4;
  return Math.ceil(bar + widthOf(g, ways[0], STRONG) + (figure ? widthOf(g, figure, SMALL) + 4 : 0) + 5);
}

/** Whether a line of a high box has room for whole words. @param {CanvasRenderingContext2D} g @param {Words} words @param {import("../data/matrix.js").Line} line @param {number} room */
export function lineFits(g, words, line, room) {
  const { words: ways, figure } = words.line(line);
  const left = room - 31 - (figure ? widthOf(g, figure, SMALL) : 0);
  return line.type !== "move" || ways.some((text) => widthOf(g, text, STRONG) <= left);
}

/** @param {Look} look @param {import("../data/matrix.js").Arrow} arrow */
function arrowColor(look, arrow) {
  if (look.hover?.cell === arrow.flow.source) return look.colors.out;
  if (look.hover?.cell === arrow.flow.target) return look.colors.in;
  return arrow.kind === "flow" ? look.colors.flow : look.colors.line;
}

/**
 * @param {CanvasRenderingContext2D} g @param {number[][]} points @param {number} width @param {string} color
 * @param {number} alpha
 */
export function drawArrow(g, points, width, color, alpha) {
  const last = points[points.length - 1];
  const before = points[points.length - 2];
  const length = Math.hypot(last[0] - before[0], last[1] - before[1]) || 1;
  const [ux, uy] = [(last[0] - before[0]) / length, (last[1] - before[1]) / length];
  const head = Math.min(4 + width * 0.8, length);
  g.globalAlpha = alpha;
  g.strokeStyle = g.fillStyle = color;
  g.lineWidth = width;
  g.lineJoin = "round";
  g.beginPath();
  points.forEach(([x, y], i) =>
    i === 0 ? g.moveTo(x, y) : i < points.length - 1 ? g.lineTo(x, y) : g.lineTo(x - ux * head, y - uy * head),
  );
  g.stroke();
  g.beginPath();
  g.moveTo(last[0], last[1]);
  for (const side of [1, -1])
    g.lineTo(last[0] - ux * head - side * uy * head * 0.6, last[1] - uy * head + side * ux * head * 0.6);
  g.fill();
  g.globalAlpha = 1;
}

/**
 * The bytes beside an arrow.
 * @param {CanvasRenderingContext2D} g @param {Layout} layout @param {Look} look
 * @param {import("../data/matrix.js").Arrow} arrow
 */
function drawFigure(g, layout, look, arrow) {
  if (arrow.kind === "skip" || layout.chipWidth) return;
  const ways = look.words.flowWays(arrow.flow);
  const [[x, y], [x2, y2]] = arrow.points;
  if (arrow.kind === "flow")
    return halo(g, look, ways[0], x - 8 - arrow.width / 2 - widthOf(g, ways[0], SMALL), freeHeight(layout, y, y2));
  const shown = fitting(g, ways, x2 - x - 4, SMALL);
  halo(g, look, shown, (x + x2) / 2 - widthOf(g, shown, SMALL) / 2 - 1, y - 8 - arrow.width / 2);
}

/** Where between two boxes a word lies on no frame. @param {Layout} layout @param {number} a @param {number} b */
function freeHeight(layout, a, b) {
  const [low, high] = [Math.min(a, b), Math.max(a, b)];
  const isFree = (/** @type {number} */ y) =>
    layout.bands.every(
      (band) => (y < band.y - 7 || y > band.y + (band.item.fold >= 0 ? 26 : 7)) && Math.abs(y - band.y - band.h) > 7,
    );
  return [(low + high) / 2, low + 9, high - 9].find(isFree) ?? (low + high) / 2;
}

/** @param {CanvasRenderingContext2D} g @param {Look} look @param {string} text @param {number} x @param {number} y */
function halo(g, look, text, x, y) {
  g.font = SMALL;
  g.lineWidth = 3;
  g.lineJoin = "round";
  g.strokeStyle = look.colors.bg;
  g.globalAlpha = 0.9;
  g.strokeText(text, x, y);
  g.globalAlpha = 1;
  g.fillStyle = look.colors.dim;
  g.fillText(text, x, y);
}

/**
 * @param {CanvasRenderingContext2D} g @param {Look} look @param {import("../data/matrix.js").Pill} pill
 * @param {boolean} isShort
 */
function drawPill(g, look, pill, isShort) {
  const text = `\u21bb ${isShort ? "" : "next "}\u00d7${pill.times}  ${bytesText(Math.round(pill.bytes))}`;
  const width = widthOf(g, text, SMALL) + 14;
  const x = pill.x + 10;
  const y = pill.y - 8;
  g.fillStyle = look.colors.bg;
  g.strokeStyle = look.colors.line;
  g.lineWidth = 1;
  g.setLineDash([3, 2]);
  rounded(g, x, y, width, 16, 8);
  g.fill();
  g.stroke();
  g.setLineDash([]);
  put(g, text, x + 7, y + 8.5, SMALL, look.colors.dim);
}

/**
 * Producers and consumers of a box.
 * @param {CanvasRenderingContext2D} g @param {Layout} layout @param {Look} look @param {Box} box
 */
function drawHover(g, layout, look, box) {
  const drawn = new Set(layout.arrows.map((arrow) => arrow.flow));
  const mine = layout.view.flows.filter((flow) => flow.source === box.cell || flow.target === box.cell);
  const near = new Set([box.cell, ...mine.flatMap((flow) => [flow.source, flow.target])]);
  g.fillStyle = look.colors.bg;
  g.globalAlpha = 0.6;
  for (const one of layout.boxes) if (!near.has(one.cell)) g.fillRect(one.x - 1, one.y - 1, one.w + 3, one.h + 3);
  g.globalAlpha = 1;
  let lane = 0;
  for (const flow of mine) {
    const from = layout.boxes.find((one) => one.cell === flow.source);
    const to = layout.boxes.find((one) => one.cell === flow.target);
    if (drawn.has(flow) || !from || !to || from === to) continue;
    const width = Math.max(1.5, Math.min(5, thickness(flow)));
    drawArrow(g, route(layout, from, to, lane++), width, from === box ? look.colors.out : look.colors.in, 0.85);
  }
  ring(g, box, look.colors.text, 2);
}

/**
 * A way from one box to any other beside the boxes: in gaps between columns, and between rows where it passes a column.
 * @param {Layout} layout @param {Box} from @param {Box} to @param {number} lane
 */
export function route(layout, from, to, lane) {
  const shift = 10 + 5 * (lane % 7);
  const start = from.y + Math.min(from.h - 6, from.h * 0.62);
  const end = to.y + Math.min(to.h - 6, HEAD / 2 + 3 * (lane % 4));
  if (from.x === to.x) {
    const side = from.x + Math.max(from.w, to.w);
    return [
      [from.x + from.w, start],
      [side + shift, start],
      [side + shift, end],
      [to.x + to.w, end],
    ];
  }
  const isRight = to.x > from.x;
  const out = isRight ? from.x + from.w : from.x;
  const into = isRight ? to.x : to.x + to.w;
  const near = isRight ? into - shift : into + shift;
  const far = isRight ? out + shift : out - shift;
  const passes = layout.columns.some((column) =>
    isRight ? column.x > from.x && column.x < to.x : column.x > to.x && column.x < from.x,
  );
  if (!passes)
    return [
      [out, start],
      [near, start],
      [near, end],
      [into, end],
    ];
  const level = rowGap(layout, from, to);
  return [
    [out, start],
    [far, start],
    [far, level],
    [near, level],
    [near, end],
    [into, end],
  ];
}

/** A height between rows, near where a line ends. @param {Layout} layout @param {Box} from @param {Box} to */
function rowGap(layout, from, to) {
  const want = to.isSpan ? from.y : to.y;
  const isFree = (/** @type {number} */ y) =>
    layout.boxes.every((box) => box.x === to.x || box.x === from.x || y < box.y || y > box.y + box.h);
  const heights = layout.boxes
    .filter((box) => !box.isSpan)
    .flatMap((box) => [box.y - 6, box.y + box.h + 6])
    .filter(isFree);
  return heights.reduce((best, y) => (Math.abs(y - want) < Math.abs(best - want) ? y : best), want - 6);
}
