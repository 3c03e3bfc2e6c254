// The kernels of one box as a layered graph, drawn as SVG: producers above, consumers below.
import { axesOf, kernelLines, kernelTitle } from "./data.js";
import { isSelected, reveal, selectKernel } from "./selection.js";
import { s } from "../../core/dom.js";
import { bytesText } from "../../core/format.js";
import { layered } from "../../layered/layered.js";
import { axisClass } from "../../core/spans.js";
import { tooltip } from "../../core/tooltip.js";
import { stepTo } from "./walk.js";

const FONTS = {
  title: "600 11px system-ui, sans-serif",
  name: "10px ui-monospace, monospace",
  arg: "italic 10px system-ui, sans-serif",
};
const LINE = 13;
const PAD = 7;
const WIDEST = 210;

/**
 * @typedef {{kind: "title" | "name" | "arg", words: string}} Line
 * @typedef {{
 *   lines: Line[],
 *   kernel: number,
 *   stub: number,
 * }} Node a kernel's or a stub's place in `BoxContent`; -1 for the other
 * @typedef {{nodes: Node[], edges: [number, number][], picture: import("../../layered/layered.js").Picture}} Dag
 */

/**
 * The graph and where it is drawn.
 * @param {import("./data.js").BoxContent} content @param {import("../../core/blob.js").Store} data @returns {Dag}
 */
export function dagOf(content, data) {
  const pen = document.createElement("canvas").getContext("2d");
  const kernels = content.kernels.map((one, i) => ({ lines: kernelWords(one, data), kernel: i, stub: -1 }));
  const stubs = content.stubs.map((one, i) => ({ lines: stubWords(one), kernel: -1, stub: i }));
  const nodes = [...kernels, ...stubs].map((node) => ({
    ...node,
    lines: node.lines.map((line) => ({ kind: line.kind, words: fitted(pen, line, WIDEST - 2 * PAD) })),
  }));
  const sizes = nodes.map((node) => ({
    width: Math.ceil(Math.max(44, ...node.lines.map((line) => measured(pen, line)))) + 2 * PAD,
    height: node.lines.length * LINE + 8,
  }));
  const flows = content.stubs.flatMap((stub, i) =>
    stub.kernels.map(
      (kernel) =>
        /** @type {[number, number]} */ (stub.isIn ? [kernels.length + i, kernel] : [kernel, kernels.length + i]),
    ),
  );
  const edges = [...content.edges, ...flows];
  return { nodes, edges, picture: layered({ nodes: sizes, edges }, { width: 900 }) };
}

/** @param {import("./data.js").BoxKernel} one @param {import("../../core/blob.js").Store} data @returns {Line[]} */
function kernelWords(one, data) {
  const args = one.args.length > 1 ? `\u2190 ${one.args[0]} +${one.args.length - 1}` : `\u2190 ${one.args[0]}`;
  return [
    {
      kind: "title",
      words: one.matmuls && one.collective < 0 ? `\u00d7 ${kernelTitle(one, data)}` : kernelTitle(one, data),
    },
    { kind: "name", words: one.bytes < 0 ? one.name : `${one.name} ${bytesText(one.bytes)}` },
    ...(one.args.length ? [/** @type {Line} */ ({ kind: "arg", words: args })] : []),
  ];
}

/** @param {import("./data.js").Stub} stub @returns {Line[]} */
function stubWords(stub) {
  return [
    { kind: "arg", words: `${stub.isIn ? "from" : "to"} ${stub.words}` },
    { kind: "name", words: bytesText(stub.bytes) },
  ];
}

/** @param {CanvasRenderingContext2D | null} pen @param {Line} line */
function measured(pen, line) {
  if (!pen) return line.words.length * 6.2;
  pen.font = FONTS[line.kind];
  return pen.measureText(line.words).width;
}

/**
 * Cut in the middle where it is too long: names differ at their ends.
 * @param {CanvasRenderingContext2D | null} pen @param {Line} line @param {number} width
 */
function fitted(pen, line, width) {
  const all = [...line.words].slice(0, 200);
  let keep = all.length;
  let words = line.words.length > 200 ? all.join("") : line.words;
  while (keep > 4 && measured(pen, { kind: line.kind, words }) > width) {
    keep -= 1;
    const start = all.slice(0, Math.ceil(keep * 0.45)).join("");
    const end = all.slice(all.length - Math.floor(keep * 0.55)).join("");
    words = `${start}\u2026${end}`;
  }
  return words;
}

/**
 * @param {import("../../core/store.js").Store} store @param {import("./data.js").BoxContent} content @param {Dag} dag
 * @param {import("./pane.js").Moves} moves
 * @returns {{element: Element, update: () => void, focus: () => void, reveal: () => void}}
 */
export function boxDag(store, content, dag, moves) {
  const view = new DagView(store, content, dag, moves);
  return {
    element: view.svg,
    update: () => view.update(),
    focus: () => view.nodes[Math.max(0, view.current)]?.focus({ preventScroll: true }),
    reveal: () => view.current >= 0 && reveal(view.nodes[view.current]),
  };
}

class DagView {
  /**
   * @param {import("../../core/store.js").Store} store @param {import("./data.js").BoxContent} content @param {Dag} dag
   * @param {import("./pane.js").Moves} moves
   */
  constructor(store, content, dag, moves) {
    this.store = store;
    this.content = content;
    this.dag = dag;
    this.moves = moves;
    this.data = /** @type {import("../../core/blob.js").Store} */ (store.data);
    this.current = -1;
    const { picture } = dag;
    const most = Math.max(1, ...content.kernels.map((one) => one.bytes));
    this.edges = dag.edges.map(([from], i) => s("g.edge", this.edge(picture.routes[i], this.weight(from, most))));
    this.nodes = dag.nodes.map((node, i) => this.node(node, picture.boxes[i], i));
    const margin = 12;
    const width = picture.width + 2 * margin;
    const height = picture.height + 2 * margin;
    this.wires = s("g.wires", this.edges);
    this.svg = s(
      "svg.dag",
      {
        role: "listbox",
        "aria-label": `Kernels of ${content.title}: arrows walk along the graph`,
        viewBox: `${-margin} ${-margin} ${width} ${height}`,
        width,
        height,
        style: { "--dag-width": `${width}px` },
      },
      this.wires,
      this.nodes,
    );
    this.svg.addEventListener("keydown", (event) => this.key(/** @type {KeyboardEvent} */ (event)));
    this.tip = tooltip(/** @type {any} */ (this.svg));
  }

  /** Thicker for more bytes. @param {number} from @param {number} most */
  weight(from, most) {
    const bytes = this.content.kernels[from]?.bytes ?? this.content.stubs[from - this.content.kernels.length].bytes;
    return 1 + 1.5 * Math.max(0, Math.min(1, 1 + Math.log2(Math.max(1, bytes) / most) / 12));
  }

  /** @param {import("../../layered/layered.js").Route} route @param {number} weight */
  edge(route, weight) {
    const [x, y] = route[route.length - 1];
    return [
      s("polyline", { points: route.map((point) => point.join(",")).join(" "), "stroke-width": weight.toFixed(2) }),
      s("path.tip", { d: `M${x - 3.5} ${y - 5.5}h7L${x} ${y}z` }),
    ];
  }

  /** @param {Node} node @param {import("../../layered/layered.js").Box} box @param {number} index */
  node(node, box, index) {
    const one = this.content.kernels[node.kernel];
    const set = one ? axesOf(one, this.data) : null;
    const words = one ? kernelLines(one, this.data) : this.stubLines(node.stub);
    const kind = one
      ? set
        ? `move ${axisClass(set.axes, this.store.first.axes)}`
        : one.matmuls
          ? "matmul"
          : "plain"
      : "stub";
    const group = s(
      "g",
      {
        class: `kernel ${kind}${one?.mixes.length ? " mixed" : ""}`,
        role: "option",
        tabindex: index ? -1 : 0,
        "aria-label": words.join("; "),
        "aria-selected": "false",
        transform: `translate(${box.x} ${box.y})`,
        onclick: () => this.choose(index, true),
        onpointermove: (/** @type {PointerEvent} */ e) => this.tip.show(words, e.clientX, e.clientY),
        onpointerleave: () => this.tip.hide(),
      },
      s("rect", { width: box.width, height: box.height, rx: set ? 9 : 3 }),
      kind === "matmul" ? s("rect.side", { width: 3, height: box.height }) : null,
      node.lines.map((line, i) => s("text", { class: line.kind, x: PAD, y: 4 + LINE * (i + 0.78) }, line.words)),
    );
    return /** @type {SVGGElement} */ (group);
  }

  /** @param {number} index */
  stubLines(index) {
    const stub = this.content.stubs[index];
    return [
      `${stub.isIn ? "from" : "to"} ${stub.words}`,
      `${bytesText(stub.bytes)} of distinct values (counted)`,
      ...stub.more.slice(0, 12),
      stub.box >= 0 ? "Enter or click opens it" : "",
    ].filter(Boolean);
  }

  /** @param {number} index @param {boolean} opens whether a stub opens its box */
  choose(index, opens) {
    const node = this.dag.nodes[index];
    const stub = this.content.stubs[node.stub];
    this.tip.hide();
    if (stub && opens && stub.box >= 0) return this.moves.show(stub.box);
    this.current = index;
    this.nodes[index].focus({ preventScroll: true });
    reveal(this.nodes[index]);
    if (!stub) selectKernel(this.store, this.content.kernels[node.kernel]);
    this.mark();
  }

  /** Goes with the selection. */
  update() {
    const is = (/** @type {number} */ index) => {
      const one = this.content.kernels[this.dag.nodes[index]?.kernel];
      return Boolean(one) && isSelected(this.store, one);
    };
    // Of a group, the one that was clicked.
    if (this.current < 0 || !is(this.current)) this.current = this.dag.nodes.findIndex((_, i) => is(i));
    this.mark();
  }

  /** Lights the current kernel, what it takes from, and what takes its result. */
  mark() {
    const { dag, current, store } = this;
    const near = new Set();
    dag.edges.forEach(([from, to], i) => {
      const isLit = current >= 0 && (from === current || to === current);
      if (isLit) near.add(from).add(to);
      this.edges[i].classList.toggle("lit", isLit);
      if (isLit) this.wires.append(this.edges[i]); // over the others
    });
    this.svg.classList.toggle("chosen", current >= 0);
    this.nodes.forEach((element, i) => {
      const one = this.content.kernels[dag.nodes[i].kernel];
      const isOn = i === current || Boolean(one && isSelected(store, one));
      element.setAttribute("aria-selected", String(isOn));
      element.classList.toggle("near", near.has(i) && i !== current);
      element.setAttribute("tabindex", i === Math.max(0, current) ? "0" : "-1");
    });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const at = this.nodes.findIndex((node) => node === event.target);
    if (at < 0) return;
    const to = stepTo(event, at, this.dag.picture.boxes, this.dag.edges);
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(to, to === at && (event.key === "Enter" || event.key === " "));
  }
}
