// The memory pane: how much is alive over the schedule, above the strip of what runs; what is alive at one moment; and
// the life of what is selected. It reads its data, a store of their own, when it is first shown.
import { colorsOf, penOf } from "../core/canvas.js";
import { h, onceAFrame, tabs } from "../core/dom.js";
import { bytesText, thousands } from "../core/format.js";
import { drawSpans } from "../core/spans.js";
import { tooltip } from "../core/tooltip.js";
import { readStrip } from "../schedule/data.js";
import { StripView } from "../schedule/pane.js";
import { Memory } from "./data.js";
import { HEIGHTS, paint } from "./draw.js";
import { PAGE, drawMap, drawRows, mark } from "./table.js";

const NAMED = 5; // values that the tooltip names
const LEAST_MAP = 180;
const ROOMY = 620; // pixels of a pane that has room for a high curve
const VIEWS = [
  ["moment", "Alive", "Values alive at the chosen moment"],
  ["map", "As a map", "The same values as areas"],
  ["all", "Largest, whenever", "The largest values of the whole run"],
];
const HELP = ["help", "What could help", "Changes that would lower the peak"];

/** @param {import("../core/store.js").Store} store */
export function memoryPane(store) {
  const box = h("section.mempane", { "aria-label": "Memory", hidden: true });
  /** @type {MemoryView | null} */
  let view = null;
  const show = () => {
    if (store.state.centre !== "memory") return;
    if (view) return view.draw();
    store.memoryError ||= store.first.no_memory ?? "";
    if (!store.memory && !store.memoryError) {
      box.replaceChildren(h("p.nothing", { role: "status" }, "Finding what is alive\u2026"));
      return store.openMemory((blob) => new Memory(blob, store));
    }
    if (!store.memory) return box.replaceChildren(h("p.nothing", { role: "status" }, store.memoryError));
    view = new MemoryView(store, box);
  };
  store.listen((changed) => ["centre", "data", "memory"].some((key) => changed.has(key)) && show());
  return box;
}

class MemoryView {
  /** @param {import("../core/store.js").Store} store @param {HTMLElement} box */
  constructor(store, box) {
    this.store = store;
    this.memory = /** @type {Memory} */ (store.memory);
    this.space = 0;
    /** @type {"kind" | "scope"} */
    this.by = "kind";
    this.view = "moment";
    this.at = this.memory.spaces[0].peak;
    this.hover = -1;
    this.limit = PAGE;
    this.width = 0;
    this.height = HEIGHTS.low;
    this.draw = onceAFrame(() => this.paint());
    this.canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { "aria-hidden": "true" }));
    this.curve = this.makeCurve();
    this.tip = tooltip(this.curve);
    this.legend = h("div.memlegend");
    this.table = h("div.memtable");
    this.back = h(
      "button.button",
      { title: "Back to the peak (p)", onclick: () => this.pin(this.peak) },
      "To the peak",
    );
    this.count = h("span.dim.memcount");
    this.tabs = tabs(
      "What the table shows",
      /** @type {any} */ (this.memory.header.suggestions.length ? [...VIEWS, HELP] : VIEWS),
      () => this.view,
      (key) => this.setView(key),
    );
    this.strip = this.makeStrip();
    box.replaceChildren(...this.parts());
    this.box = box;
    store.listen((changed) => this.changed(changed));
    new ResizeObserver(() => this.resize()).observe(box);
    this.follow();
    this.fill();
  }

  get peak() {
    return this.memory.spaces[this.space].peak;
  }

  parts() {
    const { memory } = this;
    const { header } = memory;
    const axes = this.store.first.axes;
    const words = [
      h("h2.offscreen", "Memory over the schedule"),
      h("p.memanswer", drawSpans(header.answer, axes)),
      header.fits.length ? h("div.memfits", header.fits.map(fitBar)) : null,
      header.provenance.map((/** @type {any[]} */ spans) => h("p.dim.small", drawSpans(spans, axes))),
    ];
    const head = h("div.memtop", words);
    const lower = h("div.memviews", this.tabs.bar, this.back, this.count);
    if (!memory.hasCurve) return [head, lower, this.table];
    return [head, h("div.membar", this.legend, this.choices()), this.curve, ...this.strip.parts, lower, this.table];
  }

  /** By what the bands are, and of which memory. */
  choices() {
    const button = (
      /** @type {string} */ words,
      /** @type {() => boolean} */ isOn,
      /** @type {() => void} */ click,
      title = "",
    ) => Object.assign(h("button.button", { title, onclick: click }, words), { isOn });
    const by = /** @type {const} */ (["kind", "scope"]).map((one) =>
      button(
        one,
        () => this.by === one,
        () => this.setBy(one),
        `Bands by ${one} (${one[0]})`,
      ),
    );
    const spaces = this.memory.spaces.map((space, i) =>
      button(
        space.name,
        () => this.space === i,
        () => this.setSpace(i),
      ),
    );
    this.buttons = [...by, ...spaces];
    return h(
      "span.memchoices",
      spaces.length > 1 ? h("span", { role: "group", "aria-label": "Which memory" }, spaces) : null,
      h("span", { role: "group", "aria-label": "Bands by" }, h("span.dim", "by "), by),
    );
  }

  makeCurve() {
    return h(
      "div.memcurve",
      {
        role: "slider",
        tabindex: 0,
        "aria-label":
          "Memory over the schedule: left and right one kernel, up and down ten, page up and down a hundred, " +
          "p the peak, k and s bands by kind and by scope, plus and minus zoom, 0 shows all",
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
        onwheel: (/** @type {WheelEvent} */ event) => this.strip.wheel(event),
        onpointermove: (/** @type {PointerEvent} */ event) => this.point(event),
        onpointerleave: () => this.leave(),
        onclick: (/** @type {MouseEvent} */ event) => {
          const kernel = this.kernelAt(event);
          if (kernel >= 0) this.pin(kernel);
        },
      },
      this.canvas,
    );
  }

  /** The strip of what runs; where there is no graph, its scale alone. */
  makeStrip() {
    const data = /** @type {import("../core/blob.js").Store} */ (this.store.data);
    const strip = data.header.graph?.missing ? null : readStrip(data);
    if (!strip || strip.size !== this.memory.kernels) return new Plain(this);
    const view = new StripView(this.store, strip);
    view.painted = this.draw;
    return view;
  }

  resize() {
    this.width = this.curve.clientWidth;
    this.height = this.box.clientHeight >= ROOMY ? HEIGHTS.high : HEIGHTS.low;
    this.curve.style.height = `${this.height}px`;
    this.draw();
    if (this.view === "map") this.fill();
  }

  /** @param {Set<string>} changed */
  changed(changed) {
    if (this.store.state.centre !== "memory") return;
    if (changed.has("selection") || changed.has("centre")) this.follow();
    if (["theme", "wide", "pane", "centre"].some((key) => changed.has(key))) this.draw();
  }

  /** Goes with the selection: its life, and its row. */
  follow() {
    const { memory, store } = this;
    this.lit = groupsOf(memory, store);
    this.life = this.lit.length && memory.hasCurve ? lifeOf(memory, this.lit, this.space) : null;
    const found = mark(store, this.table);
    found?.scrollIntoView({ block: "nearest" });
    this.draw();
  }

  // ---------------------------------------------------------------- choices

  /** @param {"kind" | "scope"} by */
  setBy(by) {
    this.by = by;
    this.fill();
    this.draw();
  }

  /** @param {number} space */
  setSpace(space) {
    this.space = space;
    this.at = this.peak;
    this.follow();
    this.fill();
  }

  /** @param {string} view */
  setView(view) {
    this.view = view;
    this.limit = PAGE;
    this.tabs.update();
    this.fill();
  }

  /** The moment that the table is of. @param {number} kernel */
  pin(kernel) {
    this.at = Math.max(0, Math.min(this.memory.kernels - 1, kernel));
    this.limit = PAGE;
    const { from, span } = this.strip.view;
    if (this.at < from || this.at >= from + span) this.strip.show(this.at - span / 2, span);
    this.fill();
    this.draw();
  }

  // ---------------------------------------------------------------- what is shown

  /** The table, the legend, and the words around. */
  fill() {
    const { memory, space, at, view } = this;
    const rows = view === "all" ? memory.all(space) : memory.alive(space, at);
    const known = rows.reduce((sum, one) => sum + one.bytes, 0);
    const all = memory.hasCurve ? memory.total(space)[at] : known;
    const shown = {
      memory,
      rows,
      at: memory.hasCurve ? at : -1,
      rest: view === "all" ? 0 : all - known,
      by: this.by,
      limit: this.limit,
      more: () => {
        this.limit += 4 * PAGE;
        this.fill();
      },
    };
    const size = {
      width: (this.table.clientWidth || 400) - 20,
      height: Math.max(LEAST_MAP, this.table.clientHeight - 4),
    };
    const drawn =
      view === "map"
        ? drawMap(this.store, shown, size)
        : view === "help"
          ? [helpList(memory.header.suggestions)]
          : drawRows(this.store, shown);
    this.table.replaceChildren(...drawn);
    this.count.hidden = view === "help";
    const number = rows.reduce((sum, one) => sum + one.count, 0);
    const where = !memory.hasCurve ? "" : at === this.peak ? "at the peak" : `at kernel ${thousands(at)}`;
    const first = this.tabs.bar.querySelector("[data-tab=moment]");
    if (first) first.textContent = memory.hasCurve ? `Alive ${where}: ${bytesText(all)}` : "Arguments and results";
    this.back.hidden = !memory.hasCurve || at === this.peak;
    this.count.textContent = `${thousands(number)} values, equal ones in a row`;
    for (const button of this.buttons ?? [])
      button.setAttribute("aria-pressed", String(/** @type {any} */ (button).isOn()));
    if (memory.hasCurve) this.tell();
  }

  /** The moment in words, and the bands' names with what they take there. */
  tell() {
    const { memory, at, curve } = this;
    const bands = memory.bands(this.space, this.by);
    this.legend.replaceChildren(
      ...bands.map((band) =>
        h(
          "span",
          {
            class: band.bytes[at] ? "memband" : "memband dim",
            title: `${band.name}: ${bytesText(band.bytes[at])} at kernel ${thousands(at)}`,
          },
          h("i", { class: `swatch ${band.color}` }),
          h("bdi", band.name),
          band.bytes[at] ? h("span.dim", ` ${bytesText(band.bytes[at])}`) : null,
        ),
      ),
    );
    curve.setAttribute("aria-valuemin", "0");
    curve.setAttribute("aria-valuemax", String(memory.kernels - 1));
    curve.setAttribute("aria-valuenow", String(at));
    curve.setAttribute("aria-valuetext", this.lines(at).join("; "));
  }

  /** @param {number} kernel */
  lines(kernel) {
    const { memory, space, store } = this;
    const total = memory.total(space)[kernel];
    const names = store.data?.has("graph.kernel.names") ? store.data.strings("graph.kernel.names") : null;
    const name = names && kernel < names.length ? `, ${names.at(kernel)}` : "";
    const alive = memory.alive(space, kernel);
    const largest = alive
      .slice(0, NAMED)
      .map(
        ({ group, count, bytes }) =>
          `${bytesText(bytes)}  ${memory.rows[group].name}${count > 1 ? ` \u00d7 ${count}` : ""}`,
      );
    const rest = total - alive.slice(0, NAMED).reduce((sum, one) => sum + one.bytes, 0);
    return [
      `${bytesText(total)} alive`,
      `kernel ${thousands(kernel)} of ${thousands(memory.kernels)}${name}`,
      ...largest,
      ...(rest > 0 ? [`${bytesText(rest)}  all else`] : []),
    ];
  }

  paint() {
    if (!this.memory.hasCurve) return;
    this.width ||= this.curve.clientWidth;
    if (!this.width) return;
    const pen = penOf(this.canvas, this.width, this.height);
    if (!pen) return;
    paint(pen, {
      scale: this.scale(),
      height: this.height,
      total: this.memory.total(this.space),
      bands: this.memory.bands(this.space, this.by),
      color: colorsOf(this.canvas),
      life: this.life ?? null,
      peak: this.peak,
      at: this.at,
      hover: this.hover,
      limit: this.space ? null : limitOf(this.memory.header.fits),
    });
  }

  scale() {
    this.strip.width ||= this.width;
    return this.strip.scale();
  }

  // ---------------------------------------------------------------- pointer and keys

  /** @param {MouseEvent} event */
  kernelAt(event) {
    const { left, width, from, span } = this.scale();
    const place = from + ((event.clientX - this.curve.getBoundingClientRect().left - left) / width) * span;
    const kernel = Math.floor(place);
    return place < from || place > from + span || kernel < 0 || kernel >= this.memory.kernels ? -1 : kernel;
  }

  /** @param {PointerEvent} event */
  point(event) {
    const kernel = this.kernelAt(event);
    if (kernel !== this.hover) {
      this.hover = kernel;
      this.draw();
    }
    if (kernel < 0) this.tip.hide();
    else this.tip.show(this.lines(kernel), event.clientX, event.clientY);
  }

  leave() {
    this.hover = -1;
    this.tip.hide();
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { at } = this;
    /** @type {Record<string, number>} */
    const moves = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      ArrowUp: at + 10,
      ArrowDown: at - 10,
      PageUp: at + 100,
      PageDown: at - 100,
      Home: 0,
      End: this.memory.kernels - 1,
      p: this.peak,
    };
    /** @type {Record<string, () => void>} */
    const acts = {
      k: () => this.setBy("kind"),
      s: () => this.setBy("scope"),
      "+": () => this.strip.zoom(0.5, at),
      "=": () => this.strip.zoom(0.5, at),
      "-": () => this.strip.zoom(2, at),
      0: () => this.strip.show(0, this.memory.kernels),
    };
    /** @type {number | undefined} */
    const to = moves[event.key];
    if (to === undefined && !acts[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    if (to === undefined) acts[event.key]();
    else this.pin(to);
  }
}

/** A scale without a strip: the program has no graph. */
class Plain {
  /** @param {MemoryView} owner */
  constructor(owner) {
    this.owner = owner;
    this.view = { from: 0, span: Math.max(1, owner.memory.kernels) };
    this.width = 0;
    /** @type {HTMLElement[]} */
    this.parts = [];
  }

  scale() {
    return { left: 66, width: Math.max(1, this.owner.width - 76), ...this.view, gap: 0 };
  }

  show() {}
  zoom() {}
  wheel() {}
}

/**
 * The rows that belong to the selection: itself, or what the selected kernel, collective or array makes.
 * @param {Memory} memory @param {import("../core/store.js").Store} store @returns {number[]}
 */
function groupsOf(memory, store) {
  const { selection } = store.state;
  if (!selection || selection.type === "line") return [];
  if (selection.type === "buffer") return [selection.row];
  return memory.rows.flatMap((row, i) =>
    row.own?.type === selection.type && row.own.row === selection.row ? [i] : [],
  );
}

/** @param {Memory} memory @param {number[]} groups @param {number} space */
function lifeOf(memory, groups, space) {
  const own = new Set(groups);
  return memory.sum(space, (value) => own.has(memory.groupOf[value]));
}

/** What a chip has, where the program was compiled for it: no other schedule can be judged by it. @param {any[]} fits */
function limitOf(fits) {
  const own = fits.find((one) => one.is_own);
  return own ? { bytes: own.has, words: `${own.chip}: ${bytesText(own.has)}` } : null;
}

/** Changes that would make the peak smaller. @param {string[]} sentences */
function helpList(sentences) {
  return h(
    "ul.memhelp",
    sentences.map((words) => h("li", words)),
  );
}

/** How much of a chip is needed; hatched where that is not counted. @param {any} fit */
function fitBar(fit) {
  const share = Math.min(1, fit.needed / fit.has);
  const answer = fit.fits === false ? "does not fit" : fit.fits ? "fits" : "may fit";
  return h(
    "span",
    {
      class: `memfit ${fit.fits === false ? "over" : ""} ${fit.how === "counted" ? "" : "hatched"}`,
      title: fit.sentence,
    },
    h("span.track", h("span.fill", { style: { width: `${100 * share}%` } })),
    h("span", h("b", answer), ` ${fit.words}, ${fit.how}`),
  );
}
