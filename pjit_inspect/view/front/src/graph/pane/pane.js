// The graph pane: the matrix of scopes by phases, its toolbar, and what the pointer and the keyboard do in it. What is
// visible is `data/fold.js`, where it stands `data/matrix.js`, how it looks `draw.js`.
import { FlowPane } from "../box/flow.js";
import { openBox } from "../box/pane.js";
import { h, onceAFrame } from "../../core/dom.js";
import { fills, legend, readColors } from "./colors.js";
import { openGraph } from "../data/columns.js";
import { chipWidth, draw, lineFits } from "./draw.js";
import { Finder } from "./finder.js";
import { litBy, reveal, usesOf } from "../data/selection.js";
import { followPointer } from "./pointer.js";
import { Words, asText } from "../data/words.js";
import { graphTree, nodesOf } from "./tree.js";
import { popover } from "../../core/popover.js";
import { copyButton } from "../../core/copy.js";
import { LINE, TOP, layoutOf, openAtFirst } from "../data/matrix.js";
import { axisClass } from "../../core/spans.js";

const NARROW = 560;
const TALL = 640;
const LEAST_SCALE = 0.3;
const MOST_SCALE = 3;
const READABLE = 0.9;

/**
 * @typedef {import("../../core/store.js").Store} Store
 * @typedef {import("../data/matrix.js").Box} Box
 * @typedef {import("../data/fold.js").Shown} Shown
 * @typedef {import("../data/fold.js").Item} Item
 * @typedef {{box: Box | null, line: number, item?: Item}} Focus a row, a box, or a line of a box
 */

/**
 * A button of the toolbar.
 * @param {string} words @param {string} title @param {() => void} click @param {string} [more] classes
 */
const button = (words, title, click, more = "") =>
  h("button", { class: `button ${more}`, title, "aria-label": title, onclick: click }, words);

/**
 * The pane, with the schedule strip under it; it fills itself once the data are there.
 * @param {Store} store @param {HTMLElement} strip
 */
export function graph(store, strip) {
  const box = h("section.graph", { "aria-label": "Graph" });
  /** @type {GraphView | null} */
  let view = null;
  store.listen((changed) => {
    if (changed.has("data") && store.data) {
      const found = openGraph(store.data);
      const isInset = box.closest(".pjit-inspector")?.classList.contains("inset");
      view = found && new GraphView(store, found, strip, isInset);
      store.usesOf = (row) => (found ? usesOf(store, found, row) : { collectives: [], kernels: [] });
      store.graphNeed = () => view?.need ?? { height: 0, isFlow: false };
      box.replaceChildren(
        ...(view ? view.parts : [h("p.nothing", store.data.header.graph?.missing || "No graph of this record.")]),
      );
    }
    view?.changed(changed);
  });
  return box;
}

/** Where a line of a box is. @param {Box} box @param {import("../data/matrix.js").Line | undefined} line */
const inLine = (box, line) =>
  line ? { x: box.x + line.x + 3, y: box.y + line.y + 1, w: line.w - 6, h: LINE - 2 } : box;

/** What is open, where it stands, what is lit: one graph on the page. */
export class GraphView {
  /** @type {Shown | null} */
  shown = null;
  /** @type {Shown | null} what was open before a selection opened more */
  before = null;
  /** @type {import("../data/matrix.js").Layout | null} */
  layout = null;
  /** @type {import("../data/selection.js").Lit} */
  lit = { lines: new Map(), boxes: new Set() };
  /** @type {Box | null} */
  hover = null;
  /** @type {Focus | null} */
  focus = null;
  /** @type {Set<number>} */
  openBoxes = new Set();

  // How it looks. The size is that of the pane when rows were last arranged for it.
  scale = 1;
  width = 0;
  height = 0;
  mostFlops = 0;
  /** Whether phases stand under each other. */
  isStacked = false;
  /** Whether rows are as low as can be. */
  isCompact = false;
  /** @type {boolean | null} what the reader chose */
  wantsCompact = null;
  isStale = false;
  hasBegun = false;
  /** @type {Record<string, string>} */
  colors = {};
  /** @type {((box: Box) => string[]) | null} */
  fillOf = null;
  /** @type {number | undefined} */
  idle = undefined;

  canvas = /** @type {HTMLCanvasElement} */ (
    h("canvas", { role: "img", "aria-label": "The graph; the tree beside it says the same" })
  );
  pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d", { alpha: false }));
  space = h("div.graphspace", h("div.graphstick", this.canvas));
  box = h("div.graphbox", { tabindex: -1 }, this.space);
  view = h("div.graphview", this.box);
  foot = h("div.graphfoot");
  said = h("div");
  stripButton = button(
    "Schedule",
    "Show or hide when kernels run",
    () => this.showStrip(Boolean(this.strip.hidden)),
    "flowkeep",
  );
  paintSoon = onceAFrame(() => this.isVisible && this.paintNow());

  /**
   * @param {Store} store @param {import("../data/columns.js").Graph} found @param {HTMLElement} strip
   * @param {boolean} [isInset] whether it stands in a notebook, which the wheel is to scroll
   */
  constructor(store, found, strip, isInset = false) {
    // Over the scroller, not in it, a wheel's turn goes on to the page around it; the scroll bars stay.
    if (isInset) this.view.append(this.canvas);
    this.store = store;
    this.graph = found;
    this.strip = strip;
    this.sets = store.data?.header.axis_sets ?? [];
    this.words = new Words(found, this.sets);
    this.flow = store.data?.header.flow ? new FlowPane(store, isInset) : null;
    /** Whether boxes have the colour of their time. */
    this.isTimed = this.words.isTimed = Boolean(found.header.measured); // what was asked for
    this.finder = new Finder(this);
    this.tree = graphTree({
      nodes: () => (this.layout ? nodesOf(this.layout, this.words, this.openBoxes) : []),
      act: (node) => this.act(node),
      open: (node, isOpen) => this.openNode(node, isOpen),
      moved: (node) => this.moved(node),
      key: (event) => this.key(event),
    });
    this.flowButton = button(
      "Boxes",
      "Show rows of boxes, or the flow of all kernels",
      () => this.showFlow(Boolean(this.flow?.element.hidden)),
      "flowkeep",
    );
    this.compactButton = button("Compact", "Low rows, or all there is to say", () => this.toggleCompact());
    this.bar = this.toolbar();
    this.parts = [
      this.bar,
      this.tree.element,
      ...(this.flow ? [this.flow.element] : []),
      this.view,
      this.foot,
      this.strip,
    ];
    const mouse = followPointer(this);
    const scrolled = () => {
      mouse.quiet();
      this.paint();
    };
    this.box.addEventListener("scroll", scrolled, { passive: true });
    new ResizeObserver(() => this.resized()).observe(this.box);
  }

  /** Search, zoom, what is drawn. */
  toolbar() {
    const title = "Copy the graph as text";
    const text = () => (this.layout ? asText(this.layout, this.words) : "");
    const copy = copyButton("Copy", text, { title, "aria-label": title });
    const box = h(
      "div.menu.viewmenu",
      { role: "group", "aria-label": "View of the graph" },
      h(
        "span.chips",
        button("\u2212", "Zoom out (-)", () => this.zoom(1 / 1.2)),
        button("Fit", "Fit the width (0)", () => this.fit()),
        button("+", "Zoom in (+)", () => this.zoom(1.2)),
        this.compactButton,
        button("Reset", "Open what is open at first", () => this.reset()),
        copy,
      ),
      this.said,
    );
    const { button: open } = popover(this.store, { title: "Zoom, how to read it" }, "View \u25be", box);
    return h(
      "div.graphbar",
      this.flow ? this.flowButton : null,
      ...this.finder.parts,
      this.stripButton,
      h("span.pop.push", open, box),
    );
  }

  /** All kernels as they run, in place of boxes. @param {boolean} isShown */
  showFlow(isShown) {
    if (!this.flow) return;
    this.flow.element.hidden = !isShown;
    this.flowButton.textContent = isShown ? "Boxes" : "Flow";
    this.view.parentElement?.classList.toggle("flowing", isShown);
    if (isShown) this.flow.update();
    else this.resized();
  }

  /** Pixels that all of it takes, with its bars. */
  get need() {
    const isFlow = Boolean(this.flow && !this.flow.element.hidden);
    const picture = isFlow ? (this.flow?.need ?? 0) : (this.layout?.height ?? 0) * this.scale + this.foot.offsetHeight;
    return { height: this.bar.offsetHeight + picture + this.strip.offsetHeight + 6, isFlow };
  }

  /** @param {boolean} isShown */
  showStrip(isShown) {
    this.strip.hidden = !isShown;
    this.stripButton.setAttribute("aria-pressed", String(isShown));
  }

  /** @param {Set<string>} changed */
  changed(changed) {
    if (changed.has("theme")) this.dress();
    if (changed.has("centre") || changed.has("pane") || changed.has("wide")) this.resized();
    if (changed.has("selection") || changed.has("height")) this.flow?.update();
    if (changed.has("selection")) this.selected();
    else if (["axes", "kind", "list", "advice", "isChanged"].some((key) => changed.has(key))) this.paint();
  }

  get isVisible() {
    return this.box.clientWidth > 0 && this.box.clientHeight > 0;
  }

  resized() {
    const pane = this.view.parentElement;
    if (pane?.clientWidth && !this.hasBegun) this.begin(pane);
    if (!this.layout && pane?.clientHeight) this.showStrip(pane.clientWidth >= NARROW && pane.clientHeight >= TALL);
    if (!this.isVisible) return;
    const { clientWidth: width, clientHeight: height } = this.box;
    if (this.layout && width === this.width && height === this.height && !this.isStale) return;
    const isFirst = !this.layout;
    [this.width, this.height] = [width, height];
    this.shown ??= openAtFirst(this.graph, Math.max(width, NARROW));
    this.isCompact = this.wantsCompact ?? !this.fitsRoomy(width, height);
    this.compactButton.setAttribute("aria-pressed", String(this.isCompact));
    this.isStacked = this.graph.columns.length > 1 && (width < NARROW || (this.isCompact && !this.fitsWords(width)));
    if (this.isStacked) this.isCompact = true;
    this.arrange();
    this.fit();
    this.dress();
    if (isFirst || this.isStale) this.selected();
    this.isStale = false;
  }

  /** A small program is drawn as itself where it has room; a box that would stand alone is opened. @param {Element} pane */
  begin(pane) {
    this.hasBegun = true;
    const fits = this.flow?.fits(pane.clientWidth) ?? false;
    this.showFlow(fits);
    if (fits || this.graph.boxes !== 1) return;
    openBox(this.store, 0, this.view, undefined, true);
  }

  /** Whether every phase and row of the first picture is in sight with all there is to say, in whole words. @param {number} width @param {number} height */
  fitsRoomy(width, height) {
    if (!this.shown || (width < NARROW && this.graph.columns.length > 1)) return false;
    const roomy = layoutOf(this.graph, this.shown, { room: width, flows: false });
    const fits = roomy.boxes.every(({ lines, w }) => lines.every((line) => lineFits(this.pen, this.words, line, w)));
    return fits && roomy.height <= height && roomy.width * READABLE <= width;
  }

  /** Whether columns side by side have room for whole words. @param {number} width */
  fitsWords(width) {
    if (!this.shown) return true;
    const { boxes } = layoutOf(this.graph, this.shown, { room: width, flows: false, chipWidth: this.chipWidth });
    return boxes.every(({ lines }) => lines.every((line) => line.type !== "move" || this.chipWidth(line) <= line.w));
  }

  /** How wide a piece of a low row is. @param {import("../data/matrix.js").Content} content */
  chipWidth = (content) => chipWidth(this.pen, this.words, content);

  /** Low rows, or all there is to say. */
  toggleCompact() {
    this.wantsCompact = !this.isCompact;
    this.isStale = true;
    this.resized();
  }

  /** Where everything stands, after rows opened or the room changed. */
  arrange() {
    if (!this.shown) return;
    this.layout = layoutOf(this.graph, this.shown, {
      room: this.width,
      isStacked: this.isStacked,
      chipWidth: this.isCompact ? this.chipWidth : undefined,
    });
    this.mostFlops = Math.max(0, ...this.layout.boxes.map((box) => box.cell.flops));
    this.hover = null;
    this.relit();
    // A picture that got shorter must not move under the reader: what is in view stays there.
    this.size(this.box.scrollTop > 0 ? this.box.scrollTop + this.box.clientHeight : 0);
    clearTimeout(this.idle);
    this.idle = setTimeout(() => this.tree.update(), 60);
  }

  /** @param {number} [least] height */
  size(least = 0) {
    if (!this.layout) return;
    this.space.style.width = `${Math.max(this.layout.width * this.scale, 1)}px`;
    this.space.style.height = `${Math.max(this.layout.height * this.scale, least)}px`;
    this.paint();
  }

  /** Colours and legend. */
  dress() {
    if (!this.layout) return;
    this.recolor();
    if (this.isTimed) this.foot.replaceChildren(legend(this.graph.header.measured, this.layout));
    this.said.replaceChildren(...this.notes().map((words) => h("p.dim", words)));
    this.paint();
  }

  recolor() {
    if (!this.layout) return;
    this.colors = readColors(this.box);
    this.fillOf = fills(this.isTimed, this.layout, this.colors);
  }

  /** What a reader must know of the figures. */
  notes() {
    const { graph, layout } = this;
    const cells = [...(layout?.view.cells.values() ?? [])];
    return [
      `${graph.work[0].toUpperCase()}${graph.work.slice(1)}s are assigned to boxes by estimate.`,
      !graph.header.has_scopes && "Rows follow functions, loops and arguments: the program names no scopes.",
      cells.some((cell) => cell.iterations !== 1) && "\u201cPer trip\u201d is one iteration of a loop.",
      cells.some((cell) => cell.moves.some((move) => this.sets[move.axes].words.includes(":("))) &&
        "axis:(m)k is a part of an axis, k devices long, after parts of m devices together.",
      cells.some((cell) => cell.shares.length) &&
        "A dashed bar is a share of a combined collective, which another box counts.",
      cells.some((cell) => cell.parts.length) && "A dashed line marks fusions that work for several boxes.",
      cells.some((cell) => cell.matmuls) && "A thick left edge marks matrix products.",
    ].filter((words) => words !== false);
  }

  paint() {
    if (this.layout) this.paintSoon();
  }

  paintNow() {
    const { canvas, layout, box, store, fillOf } = this;
    if (!layout || !fillOf) return;
    // Another theme has another background.
    if (getComputedStyle(box).getPropertyValue("--bg").trim() !== this.colors.bg) this.recolor();
    const ratio = devicePixelRatio || 1;
    const width = box.clientWidth;
    const height = box.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const context = this.pen;
    const { axes, kind, isChanged } = store.state;
    const rows = store.rows("collectives");
    const goes = (/** @type {import("../data/fold.js").Move} */ of) =>
      store.removed.size > 0 && of.collectives.every((one) => store.goes(rows[this.graph.collective.row[one]]));
    const kinds = this.graph.header.kinds;
    draw(context, layout, {
      ...{ scale: this.scale, left: box.scrollLeft, top: box.scrollTop, width, height, ratio },
      colors: this.colors,
      words: this.words,
      axisColor: (set) => this.colors[axisClass(this.sets[set].axes, store.first.axes)],
      fillOf,
      hasAxisColors: !this.isTimed,
      lit: this.lit,
      goes,
      isFaded: (of) =>
        (axes !== null && of.axes !== axes) || (kind !== null && kinds[of.kind] !== kind) || (isChanged && goes(of)),
      hover: this.hover,
      focus: this.focusPlace(),
      found: this.finder.boxes(),
      mostFlops: this.mostFlops,
    });
  }

  // ---------------------------------------------------------------- rows

  /** @param {number} row @param {boolean} [isOpen] */
  toggle(row, isOpen) {
    if (!this.shown || !this.graph.children[row]?.length) return;
    this.before = null;
    if (isOpen ?? !this.shown.open.has(row)) this.shown.open.add(row);
    else this.shown.open.delete(row);
    this.arrange();
    this.dress();
  }

  /** Every member of a fold by itself, or one for all. @param {number} fold */
  unfold(fold) {
    if (!this.shown) return;
    this.before = null;
    if (!this.shown.unfolded.delete(fold)) this.shown.unfolded.add(fold);
    this.arrange();
    this.dress();
  }

  reset() {
    this.before = null;
    this.shown = openAtFirst(this.graph, Math.max(this.width, NARROW));
    this.arrange();
    this.fit();
    this.dress();
  }

  // ---------------------------------------------------------------- selection and search

  relit() {
    if (this.layout) this.lit = litBy(this.store, this.graph, this.layout);
  }

  /** The selection changed: its line is lit, opened if no visible box has it, and brought into view. */
  selected() {
    if (!this.layout || !this.shown) return;
    if (!this.isVisible) {
      this.isStale = true;
      return;
    }
    if (this.before) {
      // what only the last selection needed open closes again
      this.shown = this.before;
      this.before = null;
      this.arrange();
      this.dress();
    }
    this.relit();
    if (!this.lit.boxes.size && this.lit.hidden !== undefined) {
      this.before = { open: new Set(this.shown.open), unfolded: new Set(this.shown.unfolded) };
      reveal(this.graph, this.shown, this.lit.hidden);
      this.arrange();
      this.dress();
    }
    const boxes = [...this.lit.boxes].sort((a, b) => a.y - b.y);
    if (boxes.length && !boxes.some((box) => this.isInView(box))) this.bring(boxes[0]);
    this.paint();
  }

  /** @param {{y: number, h: number}} place */
  isInView(place) {
    const top = this.box.scrollTop / this.scale;
    const bottom = top + this.box.clientHeight / this.scale;
    return place.y >= top + TOP - 8 && Math.min(place.y + place.h, place.y + 120) <= bottom;
  }

  /** Scrolls only in the pane. @param {{x: number, y: number, w: number, h: number}} place */
  bring(place) {
    const { box, scale } = this;
    if (!this.isInView(place)) box.scrollTop = Math.max(0, (place.y - TOP - 24) * scale);
    if (place.x * scale < box.scrollLeft) box.scrollLeft = (place.x - 20) * scale;
    else if ((place.x + place.w) * scale > box.scrollLeft + box.clientWidth)
      box.scrollLeft = (place.x + place.w + 12) * scale - box.clientWidth;
  }

  /** Opens what is around a box and goes there. @param {number} number */
  goTo(number) {
    if (!this.shown) return;
    const row = this.graph.box.row[number];
    const phase = this.graph.box.phase[number];
    this.before = null;
    reveal(this.graph, this.shown, number);
    this.arrange();
    this.dress();
    const box = this.layout?.at.get(row * 4 + phase);
    if (!box) return;
    this.focus = { box, line: -1 };
    this.tree.choose(`b${row * 4 + phase}`);
    this.bring(box);
    this.paint();
  }

  // ---------------------------------------------------------------- acts

  /** @param {Box | null} box */
  hoverOn(box) {
    if (box === this.hover) return;
    this.hover = box;
    this.paint();
  }

  /** A row's name: it opens or closes. @param {Item} item */
  choose(item) {
    if (item.isUnfolded) this.unfold(item.fold);
    else this.toggle(item.row);
  }

  /**
   * A line: its collective is selected; again, the next one of it; a difference opens the layer that has it.
   * @param {Box} box @param {number} at
   */
  pick(box, at) {
    const line = box.lines[at];
    const { store, graph } = this;
    if (line.type === "difference") {
      const [member] = line.of.members;
      this.shown?.unfolded.add(graph.row.fold[member]);
      return this.toggle(member, true);
    }
    if (line.type === "more") return this.enter(box);
    const rows = [...new Set(line.of.collectives.map((number) => graph.collective.row[number]))].filter(
      (row) => row >= 0,
    );
    const now = store.state.selection;
    const current = now?.type === "collective" ? rows.indexOf(now.row) : -1;
    if (rows.length) store.select({ type: "collective", row: rows[(current + 1) % rows.length] });
  }

  /** A box: what is in it; of several boxes together, the row opens first. @param {Box} box */
  enter(box) {
    const { cell } = box;
    if (cell.boxes.length > 1 && this.graph.children[cell.row].length && !this.shown?.open.has(cell.row))
      return this.toggle(cell.row, true);
    const host = this.view.parentElement;
    if (host && cell.boxes.length) openBox(this.store, cell.boxes[0], host);
  }

  // ---------------------------------------------------------------- zoom

  /** @param {number} factor @param {number} [x] @param {number} [y] what stays where it is, in the pane */
  zoom(factor, x = this.box.clientWidth / 2, y = TOP) {
    const scale = Math.max(LEAST_SCALE, Math.min(MOST_SCALE, this.scale * factor));
    const { box } = this;
    const [left, top] = [
      (box.scrollLeft + x) * (scale / this.scale) - x,
      (box.scrollTop + y) * (scale / this.scale) - y,
    ];
    this.scale = scale;
    this.size();
    box.scrollLeft = left;
    box.scrollTop = top;
  }

  fit() {
    if (!this.layout) return;
    this.scale = Math.max(READABLE, Math.min(1, this.box.clientWidth / this.layout.width));
    this.size();
  }

  // ---------------------------------------------------------------- keyboard

  /** @param {import("./tree.js").Node | null} node */
  moved(node) {
    this.box.classList.toggle("focused", node !== null);
    this.focus = node && { item: node.item, box: node.box, line: node.line };
    const place = this.focusPlace();
    if (place && !this.isInView(place)) this.bring(place);
    this.paint();
  }

  /** Where the focus is drawn. */
  focusPlace() {
    const { focus, layout } = this;
    if (!focus || !layout) return null;
    const cell = focus.box?.cell;
    const box = cell && layout.boxes.find((one) => one.cell.row === cell.row && one.cell.phase === cell.phase);
    if (box) return focus.line < 0 ? box : inLine(box, box.lines[focus.line]);
    const band = layout.bands.find((one) => one.item.row === focus.item?.row && one.item.fold === focus.item.fold);
    if (band) return { x: band.x + 3, y: band.y + 3, w: band.w - 6, h: (this.layout?.measures.band ?? 0) - 6 };
    const label = layout.labels.find((one) => one.item.row === focus.item?.row);
    return label ? { x: label.x - 4, y: label.y + 2, w: label.w + 2, h: Math.min(label.h, 36) } : null;
  }

  /** @param {import("./tree.js").Node} node */
  act(node) {
    if (node.box && node.line >= 0) this.pick(node.box, node.line);
    else if (node.box) this.enter(node.box);
    else this.choose(node.item);
  }

  /** @param {import("./tree.js").Node} node @param {boolean} isOpen */
  openNode(node, isOpen) {
    if (!node.box) return node.item.isUnfolded ? this.unfold(node.item.fold) : this.toggle(node.item.row, isOpen);
    const key = node.box.cell.row * 4 + node.box.cell.phase;
    if (isOpen) this.openBoxes.add(key);
    else this.openBoxes.delete(key);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const fold = this.focus?.item?.fold ?? -1;
    /** @type {Record<string, () => void>} */
    const actions = {
      "+": () => this.zoom(1.2),
      "=": () => this.zoom(1.2),
      "-": () => this.zoom(1 / 1.2),
      0: () => this.fit(),
      x: () => fold >= 0 && this.unfold(fold),
      PageDown: () => {
        this.box.scrollTop += this.box.clientHeight * 0.8;
      },
      PageUp: () => {
        this.box.scrollTop -= this.box.clientHeight * 0.8;
      },
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
    this.tree.update();
  }
}
