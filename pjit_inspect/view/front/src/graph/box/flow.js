// A small program drawn as itself: arguments, every kernel and collective, results, and on the arrows what flows there.
// What is written comes from `view/inspector/flow.py` and the graph's columns.
import { isSelected, selectKernel } from "./selection.js";
import { Wired } from "./wired.js";
import { h, s } from "../../core/dom.js";
import { intoView } from "../../core/options.js";
import { bytesText, plural, thousands } from "../../core/format.js";
import { axisClass } from "../../core/spans.js";
import { THUMB, thumb } from "../../devices/shard.js";
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
export class FlowPane extends Wired {
  /**
   * @param {import("../../core/store.js").Store} store
   * @param {boolean} isInset whether it stands in a notebook, which the wheel is to scroll
   */
  constructor(store, isInset) {
    const { nodes, edges, copies } = /** @type {import("../../core/blob.js").Store} */ (store.data).header.flow;
    super(store, edges);
    this.all = store.first.axes;
    const pen = document.createElement("canvas").getContext("2d");
    /** @type {FlowNode[]} */
    this.nodes = nodes.map((/** @type {any} */ node, /** @type {number} */ i) => this.read(node, i, nodes));
    this.sizes = this.nodes.map((node) => sizeOf(node, pen));
    const picture = layered({ nodes: this.sizes, edges: this.edges }, { width: 900 });
    this.width = picture.width;
    this.arrows = this.edges.map(([from], i) => {
      // The words beside the arrow belong to the source's place: the line passes them.
      const [[x, y]] = picture.routes[i];
      return this.arrow([[x, y - this.sizes[from].beside], ...picture.routes[i]]);
    });
    this.groups = this.nodes.map((_, i) => this.group(i, picture.boxes[i]));
    const label = "The program: arguments, kernels, collectives, results. Arrows walk along the flow";
    this.svg = this.assemble("svg.dag.flow", label, picture, [12, 8, 20]);
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
    return this.width <= TOO_WIDE * width;
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

  /** @param {number} index @param {{x: number, y: number}} place */
  group(index, place) {
    const node = this.nodes[index];
    const size = this.sizes[index];
    const height = size.height - size.beside;
    const isCollective = node.kind === "collective";
    const mini = node.of.tiles ? thumb({ ...node.of, spec: node.of.value.spec }, this.all) : null;
    const left = PAD + (mini ? THUMB.width + 8 : 0) + (isCollective ? 4 : 0);
    return this.node(
      index,
      `${node.kind} ${isCollective ? "move" : node.isMatmul ? "matmul" : "plain"} ${node.color}`,
      node.story,
      place,
      s("rect", { x: 0, width: size.box, height, rx: isCollective ? height / 2 : 3 }),
      node.isMatmul ? s("rect.side", { x: 0, width: 3, height }) : null,
      mini && s("g", { transform: `translate(${PAD} 7)` }, mini),
      node.lines.map((line, i) => this.text(line, i ? "name" : "title", left, 4 + LINE * (i + 0.78))),
      node.beside.map((line, i) => this.text(line, "beside", (size.port ?? 0) + BESIDE, height + LINE * (i + 0.95))),
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
    const { one } = this.nodes[index];
    this.goTo(index);
    const row = one ? -1 : this.store.rows("arrays").findIndex((array) => this.isEnd(index, array));
    if (one) selectKernel(this.store, /** @type {any} */ (one));
    else if (row >= 0) this.store.select({ type: "array", row });
    this.mark();
  }

  /** Whether an argument or result is a row of arrays. @param {number} index @param {any} row */
  isEnd(index, row) {
    const { of } = this.nodes[index];
    return (
      row.role === (of.kind === "argument" ? "input" : "output") && (row.name === of.name || row.name === of.pattern)
    );
  }

  /** @param {number} index */
  isOn(index) {
    const { one } = this.nodes[index];
    if (one) return isSelected(this.store, /** @type {any} */ (one));
    const { listed } = this.store;
    return listed?.type === "array" && this.isEnd(index, this.store.rows("arrays")[listed.row]);
  }

  update() {
    super.update();
    const group = this.groups[this.current];
    if (group && this.scroller.clientHeight) intoView(this.scroller, group, NEAR);
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
