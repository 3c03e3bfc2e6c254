// The picture of one array: a block per distinct tile, its devices, copies behind, partial sums dashed.
import { choice, h, s } from "../core/dom.js";
import { drawnDims, face } from "./face.js";
import { rangesText } from "../core/format.js";
import { axisClass } from "../core/spans.js";

let patterns = 0;

/**
 * The record's sharding `index` as a cut of an array.
 * @param {import("../core/blob.js").Store} data @param {number} index @param {number[]} shape
 * @returns {import("./face.js").Cut | null}
 */
export function cutOf(data, index, shape) {
  const sharding = data.header.shardings[index];
  if (!sharding) return null;
  const ends = data.column("shardings.ends");
  const [start, end] = [index ? ends[index - 1] : 0, ends[index]];
  return {
    shape,
    tiles: sharding.tiles,
    spec: sharding.spec,
    copies: sharding.copies,
    partial: sharding.partial,
    devices: data.column("sharding_devices").subarray(start, end),
    tileOf: data.column("sharding_tiles").subarray(start, end),
  };
}

/**
 * @param {import("./face.js").Cut} cut
 * @param {{
 *   axes: string[],
 *  dims?: [number | null, number | null],
 *   behind?: number[],
 *   width?: number,
 *   label: string,
 * }} options
 */
export function drawShards(cut, options) {
  const shown = face(cut, options.dims ?? drawnDims(cut), options.behind);
  const { width, height } = faceSize(cut, shown, options.width ?? 220);
  const depth = shown.depthDims.length ? 9 : 0;
  const isPartial = cut.isPartial || cut.partial.length > 0;
  const behind = isPartial ? 2 : Math.min(3, cut.copies - 1);
  const left = Math.max(22, 6 + 5.8 * depthWords(cut, shown).length);
  const top = 20 + depth;
  const right = depth + behind * 3.5 + 2;
  const color = axisClass([...new Set(dimAxes(cut, shown.rowDim).concat(dimAxes(cut, shown.columnDim)))], options.axes);
  const partialColor = axisClass(cut.partial, options.axes);
  const parts = [];
  if (depth)
    parts.push(
      s("path.edge", {
        d: `M0 0l${depth} ${-depth}h${width}l${-depth} ${depth}M${width} ${height}l${depth} ${-depth}v${-height}`,
      }),
    );
  for (let step = behind; step > 0; step--) {
    const x = depth + step * 3.5;
    parts.push(
      s("rect", { class: isPartial ? `copy partial ${partialColor}` : "copy", x, y: x - 2 * depth, width, height }),
    );
  }
  const id = `pjit-hatch-${patterns++}`;
  const hatched = isPartial || cut.copies > 1;
  if (hatched) parts.unshift(hatch(id, isPartial ? partialColor : ""));
  const [w, hh] = [width / shown.columns, height / shown.rows];
  const most = shown.blocks.length - 1 || 1;
  shown.blocks.forEach((block, i) => {
    const [x, y] = [block.column * w, block.row * hh];
    const opacity = shown.blocks.length === 1 ? 0.3 : 0.22 + (0.5 * i) / most;
    const rect = s("rect", {
      class: block.devices.length ? `block ${color}` : "block empty",
      x,
      y,
      width: w,
      height: hh,
      "fill-opacity": opacity,
    });
    parts.push(rect);
    if (hatched && block.devices.length) parts.push(s("rect", { x, y, width: w, height: hh, fill: `url(#${id})` }));
    if (!block.devices.length) return;
    const ring = s("rect.ring", { x: x + 1, y: y + 1, width: w - 2, height: hh - 2 });
    holders.set(ring, block.devices);
    parts.push(label(x + w / 2, y + hh / 2, devicesLabel(block.devices, w - 6)), ring);
  });
  parts.push(...rulers(cut, shown, width, height, depth, options.axes));
  const below = Math.max(0, behind * 3.5 - depth) + 3; // copies stick out below, too
  const box = [-left, -top, left + width + right + (shown.depthDims.length ? 6 : 0), top + height + below];
  return s(
    "svg.shards",
    { viewBox: box.join(" "), width: box[2], height: box[3], role: "img", "aria-label": options.label },
    parts,
  );
}

/** The devices that hold what lies under a ring (`follow.js`). @type {WeakMap<Element, number[]>} */
export const holders = new WeakMap();

/** What a collective's picture has of one side, as a cut. @param {any} side @returns {import("./face.js").Cut} */
export const sideCut = (side) => ({
  ...side,
  tileOf: side.tile_of,
  copies: new Set(side.tile_of).size > 1 ? 1 : side.tile_of.length,
  isPartial: side.is_partial,
});

export const THUMB = { width: 20, height: 14 };

/**
 * How an array is cut, as small as a letter: blocks, an outline for copies, dashes for partial sums.
 * @param {{shape: number[], tiles: number[], spec: string[][] | null, copies?: number, partial?: string[], isPartial?: boolean}} cut
 * @param {string[]} all the axes, in the order of their colours
 */
export function thumb(cut, all) {
  const { width, height } = THUMB;
  const shown = face({ copies: 1, partial: [], ...cut, devices: [], tileOf: [] });
  const isPartial = cut.isPartial || (cut.partial ?? []).length > 0;
  const axes = isPartial ? (cut.partial ?? []) : [...new Set((cut.spec ?? []).flat())];
  const [w, hh] = [width / shown.columns, height / shown.rows];
  const most = shown.blocks.length - 1 || 1;
  const isCopied = isPartial || (cut.copies ?? 1) > 1;
  return s(
    "svg",
    { class: `thumb ${axisClass(axes, all)}`, width: width + 4, height: height + 4, "aria-hidden": "true" },
    isCopied ? s("rect", { class: isPartial ? "dashed" : "", x: 3.5, y: 0.5, width, height }) : null,
    shown.blocks.map(({ row, column }, i) =>
      s("rect", {
        class: isPartial ? "face dashed" : "face",
        x: 0.5 + column * w,
        y: 3.5 + row * hh,
        width: w,
        height: hh,
        "fill-opacity": shown.blocks.length > 1 ? 0.15 + (0.55 * i) / most : isPartial ? 0.1 : 0.3,
      }),
    ),
  );
}

/** @param {string} id @param {string} color */
function hatch(id, color) {
  return s(
    "pattern",
    { id, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    s("path", { class: `hatch ${color}`, d: "M1 0V5" }),
  );
}

/** @param {number} x @param {number} y @param {string} text */
function label(x, y, text) {
  const width = text.length * 6.2 + 6;
  return s(
    "g",
    s("rect.label", { x: x - width / 2, y: y - 7, width, height: 14, rx: 2 }),
    s("text", { x, y: y + 3.7 }, text),
  );
}

/** @param {number[]} devices @param {number} width */
export function devicesLabel(devices, width) {
  for (const limit of [undefined, 3, 2, 1]) {
    const text = rangesText(devices, limit);
    if (text.length * 6.2 + 6 <= width) return text;
  }
  return String(devices[0]);
}

/** @param {import("./face.js").Cut} cut @param {number | null} dim */
function dimAxes(cut, dim) {
  return dim === null || !cut.spec || cut.tiles[dim] === 1 ? [] : cut.spec[dim];
}

/**
 * The array's proportions, damped, with room for a label in every block.
 * @param {import("./face.js").Cut} cut @param {import("./face.js").Face} shown @param {number} most
 */
function faceSize(cut, shown, most) {
  if (shown.columnDim === null) return { width: 44, height: 30 };
  const longest = Math.max(...shown.blocks.map((block) => rangesText(block.devices, 2).length)) * 6.2 + 12;
  const least = shown.columns * Math.min(shown.columns <= 4 ? 60 : 30, longest);
  if (shown.rowDim === null) return { width: Math.min(Math.max(100, least), most), height: 28 };
  const ratio = (cut.shape[shown.columnDim] || 1) / (cut.shape[shown.rowDim] || 1);
  const stretch = Math.exp(Math.max(-0.5, Math.min(0.5, Math.log(ratio) / 4)));
  const height = Math.max(62 / stretch, shown.rows * (shown.rows <= 4 ? 20 : 16.5), 44);
  return { width: Math.min(Math.max(86 * stretch, least, 52), most), height };
}

/**
 * @param {import("./face.js").Cut} cut @param {import("./face.js").Face} shown @param {number} width
 * @param {number} height @param {number} depth @param {string[]} axes
 */
function rulers(cut, shown, width, height, depth, axes) {
  const parts = [];
  for (const [dim, across] of /** @type {[number | null, boolean][]} */ ([
    [shown.columnDim, true],
    [shown.rowDim, false],
  ])) {
    if (dim === null) continue;
    const own = dimAxes(cut, dim);
    const color = axisClass(own, axes);
    const [length, count] = across ? [width, shown.columns] : [height, shown.rows];
    if (cut.tiles[dim] > 1) {
      const step = length / count;
      const bits = Array.from({ length: count }, (_, i) => [i * step + 1.2, (i + 1) * step - 1.2]);
      const d = bits.map(([a, b]) => (across ? `M${a} ${-depth - 3}H${b}` : `M-3 ${a}V${b}`)).join("");
      parts.push(s("path", { class: `ruler ${color}`, d, transform: across ? `translate(${depth} 0)` : undefined }));
    }
    const words = own.length
      ? `${cut.shape[dim]} ${own.join(" ")}`
      : cut.tiles[dim] > 1 && cut.tiles[dim] < cut.shape[dim]
        ? `${cut.shape[dim]} / ${cut.tiles[dim]}`
        : String(cut.shape[dim]);
    const upright = words.length <= 3; // a lone 8 on its side would be an infinity
    const beside = upright
      ? { x: -12, y: height / 2 + 4 }
      : { x: -9, y: height / 2, transform: `rotate(-90 -9 ${height / 2})` };
    const at = across ? { x: (width + depth) / 2, y: -depth - 8 } : beside;
    parts.push(s("text", { class: `dim ${color}`, ...at }, words));
  }
  if (shown.depthDims.length) {
    const words = depthWords(cut, shown);
    const own = shown.depthDims.flatMap((dim) => dimAxes(cut, dim));
    parts.push(
      s("text", { class: `dim depth ${axisClass(own, axes)}`, x: -4, y: -depth + 1, "text-anchor": "end" }, words),
    );
  }
  return parts;
}

/** What stands at the corner: the lengths that are not drawn. @param {import("./face.js").Cut} cut @param {import("./face.js").Face} shown */
const depthWords = (cut, shown) =>
  shown.depthDims.map((dim) => [cut.shape[dim], ...dimAxes(cut, dim)].join(" ")).join(" \u00d7 ");

/**
 * Choose which dimensions are drawn, and which tile of the others.
 * @param {import("./face.js").Cut} cut @param {{axes: string[], label: string}} options
 */
export function shardPicker(cut, options) {
  let dims = drawnDims(cut);
  const behind = cut.tiles.map(() => 0);
  const box = h("div.picture");
  const draw = () => box.replaceChildren(drawShards(cut, { ...options, dims, behind }));
  draw();
  if (cut.tiles.length < 3) return h("div", box);
  const lengths = cut.shape.map((length, dim) => /** @type {[number, string]} */ ([dim, `${dim}: ${length}`]));
  const select = (/** @type {0 | 1} */ side, /** @type {string} */ words) =>
    choice(words, lengths, dims[side], (value) => {
      const [dim, other] = [Number(value), dims[1 - side]];
      const swapped = other === dim ? dims[side] : other;
      dims = side === 0 ? [dim, swapped] : [swapped, dim];
      refresh();
    });
  const [down, across] = [select(0, "Dimension drawn down"), select(1, "Dimension drawn across")];
  const sliders = h("div.sliders");
  const refresh = () => {
    down.value = String(dims[0]);
    across.value = String(dims[1]);
    behind.fill(0);
    sliders.replaceChildren(
      ...cut.tiles
        .map((count, dim) => (count > 1 && !dims.includes(dim) ? slider(dim, count) : null))
        .filter((one) => one !== null),
    );
    draw();
  };
  const slider = (/** @type {number} */ dim, /** @type {number} */ count) => {
    const value = h("span.dim", `1 of ${count}`);
    const input = /** @type {HTMLInputElement} */ (
      h("input", {
        type: "range",
        min: 0,
        max: count - 1,
        value: 0,
        "aria-label": `Piece of dimension ${dim}`,
        oninput: () => {
          behind[dim] = Number(input.value);
          value.textContent = `${behind[dim] + 1} of ${count}`;
          draw();
        },
      })
    );
    return h("label", `piece of ${dim} `, input, value);
  };
  refresh();
  return h("div", box, h("div.picker", h("label", "down ", down), h("label", "across ", across)), sliders);
}
