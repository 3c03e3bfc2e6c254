// The mesh on a canvas: every device at its place; groups of the selected collective, slices of the selected array, or
// what each device sends as heat. Smooth at thousands of devices. The words beside it say the same.
import { h, moved, tabs, onceAFrame } from "../core/dom.js";
import { range } from "../core/blob.js";
import { colorsOf, cut, penOf } from "../core/canvas.js";
import { splitSlices } from "./face.js";
import { bytesText, plural } from "../core/format.js";
import { defaultAxes, gridOf, sides } from "./grid.js";
import { cutOf } from "./shard.js";
import { axisClass } from "../core/spans.js";

/** Pixels above the numbers, for the names of the axes that go across. */
const NAMES = 14;
const FONT = "10.5px system-ui, sans-serif";

/** @param {import("../core/store.js").Store} store */
export function mesh(store) {
  const { first } = store;
  const view = new MeshView(store);
  const bar = tabs(
    "What the mesh shows",
    [
      ["selection", "Selection", "The devices that send each other what is selected"],
      ["heat", "Sends", "What each device sends per call"],
    ],
    () => store.state.heat,
    (key) => store.set({ heat: key }),
  );
  const words = h("p.said.meshwords.dim");
  const fold = h("div.folds");
  const draw = () => {
    view.draw();
    words.title = words.textContent = describe(store);
  };
  if (defaultAxes(first.mesh.shape).length < first.mesh.shape.filter((/** @type {number} */ n) => n > 1).length)
    fold.append(...foldChips(store, view, draw));
  store.listen((changed) => {
    if (changed.has("heat")) bar.update();
    if (["selection", "data", "heat", "device", "theme", "pane", "wide"].some((key) => changed.has(key))) draw();
  });
  new ResizeObserver(() => view.resize()).observe(view.box);
  queueMicrotask(draw);
  return h("section.mesh", { "aria-label": "Mesh" }, view.box, h("div.meshside", bar.bar, words, fold));
}

/**
 * More than four axes: choose which are drawn.
 * @param {import("../core/store.js").Store} store @param {MeshView} view @param {() => void} draw
 */
function foldChips(store, view, draw) {
  const { axes, shape } = store.first.mesh;
  return axes
    .map((/** @type {string} */ name, /** @type {number} */ axis) => {
      if (shape[axis] < 2) return null;
      const chip = h(
        "button.chip",
        {
          "aria-pressed": String(view.grid.shown.includes(axis)),
          title: `Draw ${name}, or show its first index only`,
          onclick: () => {
            const shown = view.grid.shown.includes(axis)
              ? view.grid.shown.filter((one) => one !== axis)
              : [...view.grid.shown, axis].sort((a, b) => a - b).slice(-4);
            view.grid = gridOf(shape, shown);
            view.resize();
            [...(chip.parentElement?.children ?? [])].forEach((one) =>
              one.setAttribute(
                "aria-pressed",
                String(shown.includes(Number(/** @type {HTMLElement} */ (one).dataset.axis))),
              ),
            );
            draw();
          },
          "data-axis": axis,
        },
        `${name} ${shape[axis]}`,
      );
      return chip;
    })
    .filter(Boolean);
}

/** What the mesh shows, in a line; a device that is followed comes first. @param {import("../core/store.js").Store} store */
function describe(store) {
  const { first, data, state } = store;
  const row = store.selected;
  const device = state.device !== null && data ? deviceWords(data, state.device) : "";
  if (device || first.mesh.missing) return device || first.mesh.missing;
  if (state.heat === "heat") return "the stronger, the more it sends (modelled, ring)";
  if (row && state.selection?.type === "collective" && data) {
    const { axes, words } = data.header.axis_sets[row.axes];
    const groups = plural(row.groups_count, row.kind === "collective-permute" ? "pair" : "group");
    return `${groups} ${axes === null ? words : `over ${words}`}: ${row.groups_words}`;
  }
  if (row && state.selection?.type === "array") return `slices of ${row.spec}, ${row.each} each`;
  return plural(first.mesh.size, "device");
}

/** What is known of a device. @param {import("../core/blob.js").Store} data @param {number} position */
function deviceWords(data, position) {
  const host = data.column("mesh.hosts")[position];
  const [start, end] = range(data.column("mesh.coords.ends"), position);
  const coords = [...data.column("mesh.coords").subarray(start, end)];
  const facts = [
    `sends ${bytesText(Math.round(data.column("sent")[position] ?? 0))} per call`,
    host >= 0 ? `host ${host}` : "",
    coords.length ? `at (${coords.join(", ")})` : "",
  ];
  return `device ${data.column("mesh.ids")[position]}: ${facts.filter(Boolean).join(", ")}`;
}

class MeshView {
  /** @param {import("../core/store.js").Store} store */
  constructor(store) {
    this.store = store;
    this.grid = gridOf(store.first.mesh.shape);
    this.canvas = /** @type {HTMLCanvasElement} */ (
      h("canvas", {
        tabindex: 0,
        role: "img",
        "aria-label": "Mesh",
        onmousemove: (/** @type {MouseEvent} */ e) => this.point(e),
        onmouseleave: () => store.set({ device: store.followed }),
        onclick: (/** @type {MouseEvent} */ e) => this.pick(e),
        onkeydown: (/** @type {KeyboardEvent} */ e) => this.walk(e),
      })
    );
    this.box = h("div.meshbox", this.canvas);
    this.width = this.height = 0;
    this.draw = onceAFrame(() => this.paint());
  }

  resize() {
    this.width = this.box.clientWidth;
    this.height = this.box.clientHeight;
    this.draw();
  }

  /** Lengths of the picture; the cells fill the space, up to a comfortable size. */
  layout() {
    const { columns, rows, gapX, gapY } = this.grid;
    const [left, top] = [this.leftWidth(), NAMES + 17];
    const gaps = (/** @type {number[]} */ gap, /** @type {number} */ count) =>
      gap.length ? Math.ceil(count / gap[0]) - 1 : 0;
    const [nx, ny] = [gaps(gapX, columns), gaps(gapY, rows)];
    const cell = (/** @type {number} */ space, /** @type {number} */ count, /** @type {number} */ most) =>
      Math.max(1, Math.min(most, space / count));
    const w = cell(this.width - left - 6 - 8 * nx, columns, 80);
    const hh = cell(this.height - top - 6 - 6 * ny, rows, 58);
    return {
      left,
      top,
      w,
      h: hh,
      x: (/** @type {number} */ c) => left + c * w + (gapX.length ? Math.floor(c / gapX[0]) * 8 : 0),
      y: (/** @type {number} */ r) => top + r * hh + (gapY.length ? Math.floor(r / gapY[0]) * 6 : 0),
    };
  }

  /** Room for the name of the axis that goes down, and its numbers. */
  leftWidth() {
    const [down] = sides(this.grid);
    const longest = Math.max(0, ...down.map((axis) => (this.store.first.mesh.axes[axis] ?? "").length));
    return Math.min(110, Math.max(30, longest * 6.2 + 12));
  }

  paint() {
    if (!this.width || !this.height) return;
    const pen = penOf(this.canvas, this.width, this.height);
    if (!pen) return;
    pen.font = FONT;
    const colors = colorsOf(this.canvas);
    const at = this.layout();
    const shown = this.what(colors);
    this.cells(pen, at, colors, shown);
    if (shown.row && this.store.state.heat === "selection") this.groups(pen, at, colors, shown.row);
    this.names(pen, at, colors);
    this.canvas.setAttribute("aria-label", this.label());
  }

  label() {
    const { first, state } = this.store;
    const size = first.mesh.axes
      .map((/** @type {string} */ axis, /** @type {number} */ i) => `${axis} ${first.mesh.shape[i]}`)
      .join(" by ");
    const device =
      state.device === null ? "" : `; device ${this.store.data?.column("mesh.ids")[state.device] ?? state.device}`;
    return `Mesh of ${plural(first.mesh.size, "device")} ${size}${device}. Arrow keys choose a device.`;
  }

  /** What the cells show: words and shade for each position. @param {(name: string) => string} colors */
  what(colors) {
    const { store } = this;
    const { data, state, first } = store;
    const row = state.selection?.type === "collective" ? store.selected : null;
    if (state.heat === "heat" && data) return this.heat(data, colors);
    if (state.selection?.type === "array" && data && store.selected) {
      const array = store.selected;
      const cut = cutOf(data, array.sharding, array.shape);
      if (cut) return this.slices(cut, data, colors, first.axes);
    }
    return { row, words: this.sentWords(row), fill: () => "", shade: () => 0 };
  }

  /**
   * What a device sends for a collective; a permute's arrows need the room, and only who sends nothing says so.
   * @param {any} row @returns {(position: number) => string}
   */
  sentWords(row) {
    if (!row) return () => "";
    if (row.kind !== "collective-permute" || !this.store.data) return () => row.sent;
    const { data } = this.store;
    const ends = data.column("groups.ends");
    const all = data.column("groups");
    const senders = new Set();
    const [start, end] = range(data.column("group_sets.ends"), row.groups);
    for (let pair = start; pair < end; pair++) {
      const [from, to] = range(ends, pair);
      if (to - from > 1 && all[from] !== all[to - 1]) senders.add(all[from]);
    }
    return (/** @type {number} */ position) => (senders.has(position) ? "" : "\nkeeps");
  }

  /** @param {import("../core/blob.js").Store} data @param {(name: string) => string} colors */
  heat(data, colors) {
    const sent = data.column("sent");
    let most = 0;
    for (const size of sent) most = Math.max(most, size);
    return {
      row: null,
      words: (/** @type {number} */ p) => bytesText(Math.round(sent[p] ?? 0)),
      fill: () => colors("select"),
      shade: (/** @type {number} */ p) => (most ? 0.08 + 0.6 * ((sent[p] ?? 0) / most) : 0),
    };
  }

  /**
   * @param {import("./face.js").Cut} cut @param {import("../core/blob.js").Store} data
   * @param {(name: string) => string} colors @param {string[]} axes
   */
  slices(cut, data, colors, axes) {
    const tileOf = new Map();
    for (let i = 0; i < cut.devices.length; i++) tileOf.set(cut.devices[i], cut.tileOf[i]);
    const ids = data.column("mesh.ids");
    const tiles = cut.tiles.reduce((a, b) => a * b, 1);
    const color = colors(axisClass([...new Set((cut.spec ?? []).flat())], axes));
    const words = (/** @type {number} */ p) =>
      tileOf.has(ids[p]) ? splitSlices(tileOf.get(ids[p]), cut).join("\n") : "";
    return {
      row: null,
      words,
      fill: () => color,
      shade: (/** @type {number} */ p) =>
        tileOf.has(ids[p]) ? (tiles === 1 ? 0.2 : 0.1 + (0.45 * tileOf.get(ids[p])) / (tiles - 1)) : 0,
    };
  }

  /**
   * @param {CanvasRenderingContext2D} pen @param {any} at @param {(name: string) => string} colors @param {any} shown
   */
  cells(pen, at, colors, shown) {
    const { columns, cellOf } = this.grid;
    const ids = this.store.data?.column("mesh.ids");
    const { device } = this.store.state;
    const small = at.w < 24 || at.h < 14;
    const inset = small ? Math.min(1, at.w * 0.15) : 6;
    for (let position = 0; position < cellOf.length; position++) {
      const cell = cellOf[position];
      if (cell < 0) continue;
      const x = at.x(cell % columns) + inset;
      const y = at.y(Math.floor(cell / columns)) + inset;
      const [w, hh] = [Math.max(0.8, at.w - 2 * inset), Math.max(0.8, at.h - 2 * inset)];
      const shade = shown.shade(position);
      if (small) {
        pen.globalAlpha = shade || 0.35;
        pen.fillStyle = shade ? shown.fill(position) : colors("line");
        pen.fillRect(x, y, w, hh);
        pen.globalAlpha = 1;
      } else
        this.box1(pen, colors, {
          x,
          y,
          w,
          h: hh,
          shade,
          fill: shown.fill(position),
          id: ids ? ids[position] : position,
          words: shown.words(position),
        });
      if (position === device) this.ring(pen, colors, x, y, w, hh);
    }
  }

  /**
   * One device with room for words.
   * @param {CanvasRenderingContext2D} pen @param {(name: string) => string} colors @param {any} cell
   */
  box1(pen, colors, cell) {
    pen.beginPath();
    pen.roundRect(cell.x, cell.y, cell.w, cell.h, 4);
    pen.fillStyle = colors("bg");
    pen.fill();
    if (cell.shade) {
      pen.globalAlpha = cell.shade;
      pen.fillStyle = cell.fill;
      pen.fill();
      pen.globalAlpha = 1;
    }
    pen.strokeStyle = colors("line");
    pen.lineWidth = 1;
    pen.stroke();
    pen.fillStyle = colors("text");
    pen.textAlign = "left";
    pen.font = `600 ${FONT}`;
    const both = cell.h >= 28;
    pen.fillText(String(cell.id), cell.x + 5, cell.y + (both ? 13 : cell.h / 2 + 4));
    pen.font = FONT;
    if (!both || !cell.words) return;
    const wraps = cell.h >= 40 && !cell.words.includes("\n") && pen.measureText(cell.words).width > cell.w - 8;
    const lines = cell.words.split(wraps ? " " : "\n").slice(0, cell.h >= 40 ? 2 : 1);
    lines.forEach((/** @type {string} */ line, /** @type {number} */ i) => {
      // A part of a figure would be another figure.
      if (pen.measureText(line).width <= cell.w - 8) pen.fillText(line, cell.x + 5, cell.y + 26 + 13 * i);
    });
  }

  /**
   * @param {CanvasRenderingContext2D} pen @param {(name: string) => string} colors @param {number} x @param {number} y
   * @param {number} w @param {number} hh
   */
  ring(pen, colors, x, y, w, hh) {
    pen.strokeStyle = colors("select");
    pen.lineWidth = 2;
    pen.strokeRect(x - 1, y - 1, w + 2, hh + 2);
  }

  /**
   * Groups: a capsule for neighbours, arcs for others, arrows for permutes.
   * @param {CanvasRenderingContext2D} pen @param {any} at @param {(name: string) => string} colors @param {any} row
   */
  groups(pen, at, colors, row) {
    const { data, first } = this.store;
    if (!data) return;
    const color = colors(axisClass(data.header.axis_sets[row.axes].axes, first.axes));
    const [start, end] = range(data.column("group_sets.ends"), row.groups);
    const ends = data.column("groups.ends");
    const all = data.column("groups");
    const small = at.w < 24 || at.h < 14;
    for (let group = start; group < end; group++) {
      const [from, to] = range(ends, group);
      const members = all.subarray(from, to);
      if (small) this.tint(pen, at, colors, color, members, group - start);
      else if (row.kind === "collective-permute") this.arrow(pen, at, color, members);
      else this.capsule(pen, at, color, members);
    }
  }

  /**
   * Tiny cells: neighbouring groups in two strengths, the first outlined.
   * @param {CanvasRenderingContext2D} pen @param {any} at @param {(name: string) => string} colors
   * @param {string} color @param {any} members @param {number} number
   */
  tint(pen, at, colors, color, members, number) {
    pen.fillStyle = number ? color : colors("select");
    pen.globalAlpha = number ? 0.25 + 0.35 * (number % 2) : 0.95;
    for (const position of members) {
      const cell = this.grid.cellOf[position];
      if (cell >= 0)
        pen.fillRect(
          at.x(cell % this.grid.columns),
          at.y(Math.floor(cell / this.grid.columns)),
          Math.max(1, at.w - 0.5),
          Math.max(1, at.h - 0.5),
        );
    }
    pen.globalAlpha = 1;
  }

  /** @param {any} at @param {number} position @returns {[number, number] | null} */
  middle(at, position) {
    const cell = this.grid.cellOf[position];
    if (cell === undefined || cell < 0) return null;
    return [at.x(cell % this.grid.columns) + at.w / 2, at.y(Math.floor(cell / this.grid.columns)) + at.h / 2];
  }

  /** @param {CanvasRenderingContext2D} pen @param {any} at @param {string} color @param {any} members */
  capsule(pen, at, color, members) {
    const middles = [...members].map((position) => this.middle(at, position)).filter((one) => one !== null);
    if (middles.length < 2) return;
    const xs = middles.map(([x]) => x);
    const ys = middles.map(([, y]) => y);
    const isRow =
      Math.max(...ys) - Math.min(...ys) < 1 &&
      Math.max(...xs) - Math.min(...xs) < (at.w + 8) * (middles.length - 1) + 1;
    const isColumn =
      Math.max(...xs) - Math.min(...xs) < 1 &&
      Math.max(...ys) - Math.min(...ys) < (at.h + 6) * (middles.length - 1) + 1;
    pen.strokeStyle = pen.fillStyle = color;
    if (!isRow && !isColumn) return this.arcs(pen, color, middles);
    const [x, y] = [Math.min(...xs) - at.w / 2 + 2, Math.min(...ys) - at.h / 2 + 2];
    const [w, hh] = [Math.max(...xs) - Math.min(...xs) + at.w - 4, Math.max(...ys) - Math.min(...ys) + at.h - 4];
    pen.beginPath();
    pen.roundRect(x, y, w, hh, 6);
    pen.globalAlpha = 0.13;
    pen.fill();
    pen.globalAlpha = 1;
    pen.lineWidth = 1.5;
    pen.stroke();
    pen.lineWidth = 3;
    pen.beginPath();
    for (let i = 1; i < middles.length; i++) {
      const [a, b] = [middles[i - 1], middles[i]];
      const half = isRow ? at.w / 2 - 6 : at.h / 2 - 6;
      if (isRow) (pen.moveTo(a[0] + half, a[1]), pen.lineTo(b[0] - half, b[1]));
      else (pen.moveTo(a[0], a[1] + half), pen.lineTo(b[0], b[1] - half));
    }
    pen.stroke();
  }

  /** @param {CanvasRenderingContext2D} pen @param {string} color @param {[number, number][]} middles */
  arcs(pen, color, middles) {
    pen.strokeStyle = color;
    pen.lineWidth = 1.6;
    for (let i = 1; i < middles.length; i++) {
      const [[ax, ay], [bx, by]] = [middles[i - 1], middles[i]];
      pen.beginPath();
      pen.moveTo(ax, ay);
      pen.quadraticCurveTo((ax + bx) / 2 + (by - ay) * 0.18, (ay + by) / 2 - (bx - ax) * 0.18, bx, by);
      pen.stroke();
    }
  }

  /** A permute's pair. @param {CanvasRenderingContext2D} pen @param {any} at @param {string} color @param {any} pair */
  arrow(pen, at, color, pair) {
    const a = this.middle(at, pair[0]);
    const b = this.middle(at, pair[pair.length - 1]);
    if (!a || !b || pair[0] === pair[pair.length - 1]) return;
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    const length = Math.hypot(dx, dy) || 1;
    const [ux, uy] = [dx / length, dy / length];
    const lift = length > at.w * 1.6 ? 10 : 4;
    const start = [a[0] + ux * 14 - uy * 5, a[1] + uy * 10 + ux * 5];
    const tip = [b[0] - ux * 14 - uy * 5, b[1] - uy * 10 + ux * 5];
    pen.strokeStyle = pen.fillStyle = color;
    pen.lineWidth = 1.6;
    pen.beginPath();
    pen.moveTo(start[0], start[1]);
    pen.quadraticCurveTo((start[0] + tip[0]) / 2 - uy * lift, (start[1] + tip[1]) / 2 + ux * lift, tip[0], tip[1]);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(tip[0], tip[1]);
    pen.lineTo(tip[0] - ux * 7 - uy * 3.5, tip[1] - uy * 7 + ux * 3.5);
    pen.lineTo(tip[0] - ux * 7 + uy * 3.5, tip[1] - uy * 7 - ux * 3.5);
    pen.fill();
  }

  /**
   * Axis names and indices at the edges.
   * @param {CanvasRenderingContext2D} pen @param {any} at @param {(name: string) => string} colors
   */
  names(pen, at, colors) {
    const { axes } = this.store.first.mesh;
    if (!axes.length) return;
    const [down, across] = sides(this.grid);
    const { columns, rows, gapX, gapY } = this.grid;
    const color = (/** @type {number} */ axis) => colors(axisClass([axes[axis]], this.store.first.axes));
    if (across.length) {
      const inner = across[across.length - 1];
      pen.textAlign = "center";
      pen.fillStyle = color(inner);
      this.numbers(pen, columns, gapX[0] ?? columns, at.w, 22, (i) => [at.x(i) + at.w / 2, NAMES + 11]);
      this.named(pen, axes[inner], at.left, NAMES - 3);
      if (across.length > 1) {
        // The outer axis: a number over each of its blocks, before them its name.
        const block = gapX[0];
        const outer = axes[across[0]];
        const end = at.left + pen.measureText(axes[inner]).width + 14;
        pen.fillStyle = color(across[0]);
        const nameEnd = this.named(pen, outer, end, NAMES - 3);
        pen.textAlign = "center";
        this.numbers(pen, columns / block, Infinity, block * at.w + 8, 22, (i) => {
          const middle = at.x(i * block) + (block * at.w) / 2;
          return middle - 10 < nameEnd ? null : [middle, NAMES - 3];
        });
      }
    }
    if (!down.length) return;
    const isFine = at.h >= 11 || down.length < 2; // else the numbers are those of the outer axis' blocks
    const shown = down[isFine ? down.length - 1 : 0];
    const block = isFine ? 1 : gapY[0];
    pen.fillStyle = color(shown);
    pen.textAlign = "right";
    this.numbers(pen, rows / block, isFine ? (gapY[0] ?? rows) : Infinity, block * at.h, 13, (i) => [
      at.left - 5,
      at.y(i * block) + (block * at.h) / 2 + 4,
    ]);
    pen.fillText(cut(pen, axes[shown], at.left - 8), at.left - 5, NAMES + 11);
  }

  /**
   * The name of an axis; tells where it ends.
   * @param {CanvasRenderingContext2D} pen @param {string} name @param {number} x @param {number} y
   */
  named(pen, name, x, y) {
    pen.textAlign = "left";
    const words = cut(pen, name, this.width - x - 4);
    pen.fillText(words, x, y);
    pen.textAlign = "center";
    return x + pen.measureText(words).width + 8;
  }

  /**
   * Numbers along an edge, as many as have room; from 0 again after every `turn`.
   * @param {CanvasRenderingContext2D} pen @param {number} count @param {number} turn
   * @param {number} step pixels from one to the next @param {number} room pixels that each needs
   * @param {(i: number) => [number, number] | null} place
   */
  numbers(pen, count, turn, step, room, place) {
    const every = Math.max(1, Math.ceil(room / step));
    if (every > 1 && turn < count && turn < 2 * every) return; // one lone 0 for each block would say nothing
    for (let i = 0; i < count; i++) {
      if ((i % turn) % every) continue;
      const at = place(i);
      if (at) pen.fillText(String(i % turn), ...at);
    }
  }

  /** @param {MouseEvent} event */
  position(event) {
    const box = this.canvas.getBoundingClientRect();
    const at = this.layout();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const find = (
      /** @type {(i: number) => number} */ start,
      /** @type {number} */ step,
      /** @type {number} */ count,
      /** @type {number} */ value,
    ) => {
      for (let i = 0; i < count; i++) if (value >= start(i) && value < start(i) + step) return i;
      return -1;
    };
    const [column, row] = [find(at.x, at.w, this.grid.columns, x), find(at.y, at.h, this.grid.rows, y)];
    if (column < 0 || row < 0) return null;
    const found = this.grid.cellOf.indexOf(row * this.grid.columns + column);
    return found < 0 ? null : found;
  }

  /** @param {MouseEvent} event */
  point(event) {
    this.store.set({ device: this.position(event) ?? this.store.followed });
  }

  /** @param {MouseEvent} event */
  pick(event) {
    const found = this.position(event);
    this.store.followed = found === this.store.followed ? null : found;
    this.store.set({ device: this.store.followed });
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const size = this.grid.cellOf.length;
    const { columns } = this.grid;
    /** @type {Record<string, number>} */
    const jumps = { ArrowDown: columns, ArrowUp: -columns };
    const from = this.store.state.device ?? -1;
    const cell = from < 0 ? -1 : this.grid.cellOf[from];
    const to =
      event.key in jumps ? this.grid.cellOf.indexOf(Math.max(0, cell) + jumps[event.key]) : moved(event, from, size);
    if (event.key === "Escape") this.store.followed = null;
    else if (to === null || to < 0) return;
    else this.store.followed = to;
    event.preventDefault();
    this.store.set({ device: this.store.followed });
  }
}
