// A small program drawn as itself: arguments, every kernel and collective, results, and on the arrows what flows there.
// What is written comes from `view/inspector/flow.py` and the graph's columns.
import { isSelected, selectKernel } from "./selection.js";
import { stepTo } from "./walk.js";
import { h, s } from "../../core/dom.js";
import { bytesText, plural, thousands } from "../../core/format.js";
import { axisClass } from "../../core/spans.js";
import { THUMB, thumb } from "../../devices/shard.js";
import { tooltip } from "../../core/tooltip.js";
import { layered } from "../../layered/layered.js";

const TITLE = "600 11px system-ui, sans-serif";
const SMALL = "10px ui-monospace, monospace";
const LINE = 13;
const PAD = 8;
const WIDEST = 230;
/** Pixels around what is brought into view, so that what comes before or after it can be seen. */
const NEAR = 60;
const PORT = 18; // where an arrow with words beside it leaves its box, from the left
const BESIDE = 7; // between an arrow and the words beside it
const TOO_WIDE = 2;

/**
 * @typedef {{words: string, isMinor?: boolean, axes?: string[]}} Piece of a line, in the colour of its axes
 * @typedef {object} FlowNode
 * @property {"argument" | "kernel" | "collective" | "result"} kind
 * @property {Piece[][]} lines in the box, the title first
 * @property {Piece[][]} beside on the arrow that leaves it
 * @property {string[]} story for the tooltip
 * @property {string} color
 * @property {boolean} isMatmul
 * @property {any} of the node in the header
 * @property {{kernel: number, collective: number, entity: number, spot: number} | null} one what a kernel selects
 */

/** The picture of one program, with a selection that goes with the page's. */
export class FlowPane {
  /**
   * @param {import("../../core/store.js").Store} store
   * @param {boolean} isInset whether it stands in a notebook, which the wheel is to scroll
   */
  constructor(store, isInset) {
    this.store = store;
    this.data = /** @type {import("../../core/blob.js").Store} */ (store.data);
    const { nodes, edges, copies } = this.data.header.flow;
    this.all = store.first.axes;
    /** @type {[number, number][]} */
    this.edges = edges;
    const pen = document.createElement("canvas").getContext("2d");
    /** @type {FlowNode[]} */
    this.nodes = nodes.map((/** @type {any} */ node, /** @type {number} */ i) => this.read(node, i, nodes));
    this.sizes = this.nodes.map((node) => sizeOf(node, pen));
    this.picture = layered({ nodes: this.sizes, edges: this.edges }, { width: 900 });
    this.current = -1;
    this.arrows = this.edges.map((_, i) => this.arrow(i));
    this.groups = this.nodes.map((_, i) => this.group(i));
    this.wires = s("g", this.arrows);
    const [width, height] = [this.picture.width + 24, this.picture.height + 20];
    this.svg = s(
      "svg.dag.flow",
      {
        role: "listbox",
        "aria-label": "The program: arguments, kernels, collectives, results. Arrows walk along the flow",
        viewBox: `-12 -8 ${width} ${height}`,
        width,
        height,
        style: { "--dag-width": `${width}px` },
      },
      this.wires,
      this.groups,
    );
    this.svg.addEventListener("keydown", (event) => this.key(/** @type {KeyboardEvent} */ (event)));
    this.scroller = h("div.flowbody", isInset ? null : this.svg);
    const kernels = nodes.filter((/** @type {any} */ node) => node.kind === "kernel").length;
    const collectives = nodes.filter((/** @type {any} */ node) => node.kind === "collective").length;
    const words = [plural(kernels, this.data.header.work), plural(collectives, "collective")];
    const left = copies ? `; ${copies} layout cop${copies === 1 ? "y" : "ies"} not drawn` : ", all drawn";
    this.element = h(
      "div.flowpane",
      isInset ? this.besideScroller() : this.scroller,
      h("p.dim.flowfoot", `${words.join(", ")}${left}. Shapes and bytes on arrows are those of one device.`),
    );
    this.tip = tooltip(/** @type {any} */ (this.svg));
    this.element.hidden = true;
  }

  /** The picture over its scroll bars' box, not in it: a wheel's turn goes on to the notebook, a drag moves the picture. */
  besideScroller() {
    const { scroller, svg } = this;
    const space = h("div");
    const clip = h("div.flowclip", svg);
    scroller.append(space);
    const place = () => {
      clip.style.width = `${scroller.clientWidth}px`;
      clip.style.height = `${scroller.clientHeight}px`;
      const area = svg.getBoundingClientRect();
      space.style.width = `${area.width}px`;
      space.style.height = `${area.height}px`;
      svg.style.transform = `translate(${-scroller.scrollLeft}px, ${-scroller.scrollTop}px)`;
    };
    scroller.addEventListener("scroll", place, { passive: true });
    const observer = new ResizeObserver(place);
    observer.observe(scroller);
    observer.observe(svg);
    dragged(clip, scroller);
    return h("div.flowview", scroller, clip);
  }

  /** Pixels that the picture and its foot take. */
  get need() {
    return Number(this.svg.getAttribute("height")) + this.element.offsetHeight - this.scroller.offsetHeight;
  }

  /** Whether it can be read in a pane of this width. @param {number} width */
  fits(width) {
    return this.picture.width <= TOO_WIDE * width;
  }

  /** @param {any} node @param {number} index @param {any[]} all @returns {FlowNode} */
  read(node, index, all) {
    if (node.kind === "argument" || node.kind === "result") return this.end(node);
    const { data, store } = this;
    const column = (/** @type {string} */ name) => data.column(`graph.${name}`);
    const kernel = node.kernel;
    const collective = [...column("collective.kernel")].indexOf(kernel);
    const row = collective < 0 ? undefined : data.header.collectives[column("collective.row")[collective]];
    const set = row && data.header.axis_sets[row.axes];
    const spot = column("kernel.spot")[kernel];
    const place = spot < 0 ? "" : store.spotName(spot);
    const runs = column("kernel.runs")[kernel];
    const times = runs === 1 ? "" : runs < 0 ? "\u00d7 unknown" : `\u00d7 ${thousands(runs)}`;
    const isMatmul = !row && column("kernel.matmuls")[kernel] > 0;
    const label = data.strings("graph.labels").at(column("kernel.label")[kernel]);
    const bytes = column("kernel.bytes")[kernel];
    const goesOn = this.edges.some(([from, to]) => from === index && all[to].kind !== "result");
    const value = node.value.array ? `${node.value.array} ` : "";
    const size = bytes < 0 ? "" : bytesText(bytes);
    /** @type {Piece[]} */
    const title = row
      ? [{ words: `${row.kind} ` }, { words: set.words, axes: set.axes ?? [] }]
      : [{ words: `${isMatmul ? "\u00d7 " : ""}${label}` }];
    const below = [row && node.sent ? `sends ${node.sent}` : "", place.split("/").pop() ?? "", times].filter(Boolean);
    return {
      kind: node.kind,
      lines: [title, [{ words: below.join(" \u00b7 ") || data.strings("graph.kernel.names").at(kernel) }]],
      beside: goesOn ? [[{ words: `${value}${size}` }], ...(node.value.spec ? [specPieces(node.value.spec)] : [])] : [],
      story: [
        row ? `${row.kind} over ${set.words}` : label,
        `${data.strings("graph.kernel.names").at(kernel)}${place ? `, ${place}` : ""}`,
        node.sent ? `${node.sent} sent by each device, each time (modelled, ring)` : "",
        `result ${value}${size} on one device${times ? `, run ${times.slice(2)} times per call` : ""}`,
        node.value.spec ? `the value it computes: ${specText(node.value.spec)}` : "",
      ].filter(Boolean),
      color: set ? axisClass(set.axes, this.all) : "ax-none",
      isMatmul,
      of: node,
      one: { kernel, collective, entity: column("kernel.entity")[kernel], spot },
    };
  }

  /** @param {any} node @returns {FlowNode} */
  end(node) {
    const { spec } = node.value;
    return {
      kind: node.kind,
      lines: [
        [{ words: node.name }, ...(node.array ? [{ words: ` ${node.array}`, isMinor: true }] : [])],
        ...(spec ? [specPieces(spec)] : []),
        ...(node.bytes ? [[{ words: `each ${node.local} ${node.bytes}` }]] : []),
      ],
      beside: [],
      story: [
        `${node.kind} ${node.name}`,
        [node.array, spec ? specText(spec) : ""].filter(Boolean).join(" "),
        node.bytes ? `each device: ${node.local}, ${node.bytes}` : "",
      ].filter(Boolean),
      color: "ax-none",
      isMatmul: false,
      of: node,
      one: null,
    };
  }

  /** @param {number} index */
  arrow(index) {
    const [from] = this.edges[index];
    const route = this.picture.routes[index];
    const [x, y] = route[route.length - 1];
    const [startX, startY] = route[0];
    // The words beside the arrow belong to the source's place: the line passes them.
    const top = startY - this.sizes[from].beside;
    const points = [[startX, top], ...route].map((point) => point.join(",")).join(" ");
    return s("g.edge", s("polyline", { points }), s("path.tip", { d: `M${x - 3.5} ${y - 5.5}h7L${x} ${y}z` }));
  }

  /** @param {number} index */
  group(index) {
    const node = this.nodes[index];
    const size = this.sizes[index];
    const place = this.picture.boxes[index];
    const left = 0;
    const height = size.height - size.beside;
    const mini = node.of.tiles ? thumb({ ...node.of, spec: node.of.value.spec }, this.all) : null;
    const indent = mini ? THUMB.width + 8 : 0;
    return /** @type {SVGGElement} */ (
      s(
        "g",
        {
          class: `kernel ${node.kind} ${node.kind === "collective" ? "move" : node.isMatmul ? "matmul" : "plain"} ${node.color}`,
          role: "option",
          tabindex: index ? -1 : 0,
          "aria-label": node.story.join("; "),
          "aria-selected": "false",
          transform: `translate(${place.x} ${place.y})`,
          onclick: () => this.choose(index),
          onpointermove: (/** @type {PointerEvent} */ event) => this.tip.show(node.story, event.clientX, event.clientY),
          onpointerleave: () => this.tip.hide(),
        },
        s("rect", { x: left, width: size.box, height, rx: node.kind === "collective" ? height / 2 : 3 }),
        node.isMatmul ? s("rect.side", { x: left, width: 3, height }) : null,
        mini && s("g", { transform: `translate(${left + PAD} 7)` }, mini),
        node.lines.map((line, i) =>
          this.text(
            line,
            i ? "name" : "title",
            left + PAD + indent + (node.kind === "collective" ? 4 : 0),
            4 + LINE * (i + 0.78),
          ),
        ),
        node.beside.map((line, i) => this.text(line, "beside", (size.port ?? 0) + BESIDE, height + LINE * (i + 0.95))),
      )
    );
  }

  /** @param {Piece[]} line @param {string} kind @param {number} x @param {number} y */
  text(line, kind, x, y) {
    return s(
      "text",
      { class: kind, x, y },
      line.map((piece) =>
        piece.axes || piece.isMinor
          ? s("tspan", { class: piece.axes ? `axisname ${axisClass(piece.axes, this.all)}` : "minor" }, piece.words)
          : piece.words,
      ),
    );
  }

  /** @param {number} index */
  choose(index) {
    const { one, of } = this.nodes[index];
    this.tip.hide();
    this.current = index;
    this.groups[index].focus({ preventScroll: true });
    if (one) selectKernel(this.store, /** @type {any} */ (one));
    else {
      const role = of.kind === "argument" ? "input" : "output";
      const rows = this.store.rows("arrays");
      const row = rows.findIndex((row) => row.role === role && (row.name === of.name || row.name === of.pattern));
      if (row >= 0) this.store.select({ type: "array", row });
    }
    this.mark();
  }

  /** @param {number} index */
  isOn(index) {
    const { one, of } = this.nodes[index];
    if (one) return isSelected(this.store, /** @type {any} */ (one));
    const { listed: selection } = this.store;
    if (selection?.type !== "array") return false;
    const row = this.store.rows("arrays")[selection.row];
    return (
      row.role === (of.kind === "argument" ? "input" : "output") && (row.name === of.name || row.name === of.pattern)
    );
  }

  /** Goes with the selection. */
  update() {
    if (this.current < 0 || !this.isOn(this.current)) this.current = this.nodes.findIndex((_, i) => this.isOn(i));
    this.mark();
    const group = this.groups[this.current];
    const body = this.scroller;
    const area = body.getBoundingClientRect();
    if (!group || !area.height) return;
    const at = group.getBoundingClientRect();
    if (at.top < area.top) body.scrollTop -= area.top - at.top + NEAR;
    else if (at.bottom > area.bottom) body.scrollTop += at.bottom - area.bottom + NEAR;
  }

  /** Lights what is selected, what it takes, and what takes its result. */
  mark() {
    const near = new Set();
    this.edges.forEach(([from, to], i) => {
      const isLit = this.current >= 0 && (from === this.current || to === this.current);
      if (isLit) near.add(from).add(to);
      this.arrows[i].classList.toggle("lit", isLit);
      if (isLit) this.wires.append(this.arrows[i]);
    });
    this.groups.forEach((group, i) => {
      group.setAttribute("aria-selected", String(i === this.current || this.isOn(i)));
      group.classList.toggle("near", near.has(i) && i !== this.current);
      group.setAttribute("tabindex", i === Math.max(0, this.current) ? "0" : "-1");
    });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const at = this.groups.findIndex((group) => group === event.target);
    const to = at < 0 ? undefined : stepTo(event, at, this.picture.boxes, this.edges);
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(to);
  }
}

/** A drag on one element scrolls another; a click stays a click. @param {HTMLElement} on @param {HTMLElement} scroller */
function dragged(on, scroller) {
  /** @type {{x: number, y: number, left: number, top: number} | null} */
  let start = null;
  let isDrag = false;
  on.addEventListener("pointerdown", (event) => {
    isDrag = false;
    start = { x: event.clientX, y: event.clientY, left: scroller.scrollLeft, top: scroller.scrollTop };
  });
  on.addEventListener("pointermove", (event) => {
    if (!start) return;
    const [x, y] = [event.clientX - start.x, event.clientY - start.y];
    if (!isDrag && Math.hypot(x, y) < 4) return;
    if (!isDrag) on.setPointerCapture(event.pointerId);
    isDrag = true;
    scroller.scrollLeft = start.left - x;
    scroller.scrollTop = start.top - y;
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) on.addEventListener(end, () => (start = null));
  on.addEventListener("click", (event) => isDrag && event.stopPropagation(), true);
}

/** @param {string[][]} spec @returns {Piece[]} */
function specPieces(spec) {
  return [
    { words: "P(" },
    ...spec.flatMap((axes, i) => [
      ...(i ? [{ words: ", " }] : []),
      axes.length ? { words: axes.join("+"), axes } : { words: "\u2013" },
    ]),
    { words: ")" },
  ];
}

/** @param {string[][]} spec */
function specText(spec) {
  return specPieces(spec)
    .map((piece) => piece.words)
    .join("");
}

/** Room for the box and for what stands beside its arrow. @param {FlowNode} node @param {CanvasRenderingContext2D | null} pen */
function sizeOf(node, pen) {
  const length = (/** @type {Piece[]} */ line, /** @type {string} */ font) => {
    const words = line.map((piece) => piece.words).join("");
    if (!pen) return words.length * 6.4;
    pen.font = font;
    return pen.measureText(words).width;
  };
  for (const line of node.lines) shorten(line, (one) => length(one, line === node.lines[0] ? TITLE : SMALL));
  const indent = node.of.tiles ? THUMB.width + 8 : node.kind === "collective" ? 8 : 0;
  const inside = node.lines.map((line, i) => length(line, i ? SMALL : TITLE));
  const box = Math.ceil(Math.max(56, ...inside)) + 2 * PAD + indent;
  const words = Math.max(0, ...node.beside.map((line) => length(line, SMALL)));
  const beside = node.beside.length ? node.beside.length * LINE + 4 : 0;
  return {
    box,
    beside,
    width: Math.max(box, PORT + Math.ceil(words) + BESIDE),
    port: node.beside.length ? PORT : undefined,
    height: node.lines.length * LINE + 8 + beside,
  };
}

/** Cut in the middle where it is too long: names differ at their ends. @param {Piece[]} line @param {(line: Piece[]) => number} length */
function shorten(line, length) {
  const longest = line.reduce((most, piece) => (piece.words.length > most.words.length ? piece : most), line[0]);
  let all = [...longest.words];
  while (all.length > 8 && length(line) > WIDEST) {
    all = [...all.slice(0, Math.ceil(all.length * 0.45)), "\u2026", ...all.slice(-Math.floor(all.length * 0.55) + 2)];
    longest.words = all.join("");
  }
}
