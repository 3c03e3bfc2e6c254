// The kernels of one box as a layered graph, drawn as SVG: producers above, consumers below.
import { axesOf, kernelLines, kernelTitle } from "./data.js";
import { isSelected, reveal, selectKernel } from "./selection.js";
import { s } from "../../core/dom.js";
import { bytesText } from "../../core/format.js";
import { layered } from "../../layered/layered.js";
import { axisClass } from "../../core/spans.js";
import { Wired, cutMiddle } from "./wired.js";

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
    lines: node.lines.map((line) => ({
      kind: line.kind,
      words: cutMiddle(line.words, (words) => measured(pen, { ...line, words }) <= WIDEST - 2 * PAD),
    })),
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
 * @param {import("../../core/store.js").Store} store @param {import("./data.js").BoxContent} content @param {Dag} dag
 * @param {import("./pane.js").Moves} moves
 * @returns {{element: Element, update: () => void, focus: () => void, reveal: () => void}}
 */
export function boxDag(store, content, dag, moves) {
  const view = new DagView(store, content, dag, moves);
  return {
    element: view.svg,
    update: () => view.update(),
    focus: () => view.groups[Math.max(0, view.current)]?.focus({ preventScroll: true }),
    reveal: () => view.current >= 0 && reveal(view.groups[view.current]),
  };
}

class DagView extends Wired {
  /**
   * @param {import("../../core/store.js").Store} store @param {import("./data.js").BoxContent} content @param {Dag} dag
   * @param {import("./pane.js").Moves} moves
   */
  constructor(store, content, dag, moves) {
    super(store, dag.edges);
    this.content = content;
    this.dag = dag;
    this.moves = moves;
    const most = Math.max(1, ...content.kernels.map((one) => one.bytes));
    this.arrows = dag.edges.map(([from], i) => this.arrow(dag.picture.routes[i], this.weight(from, most).toFixed(2)));
    this.groups = dag.nodes.map((node, i) => this.draw(node, dag.picture.boxes[i], i));
    const label = `Kernels of ${content.title}: arrows walk along the graph`;
    this.svg = this.assemble("svg.dag", label, dag.picture, [12, 12, 24]);
  }

  /** Thicker for more bytes. @param {number} from @param {number} most */
  weight(from, most) {
    const bytes = this.content.kernels[from]?.bytes ?? this.content.stubs[from - this.content.kernels.length].bytes;
    return 1 + 1.5 * Math.max(0, Math.min(1, 1 + Math.log2(Math.max(1, bytes) / most) / 12));
  }

  /** @param {Node} node @param {import("../../layered/layered.js").Box} box @param {number} index */
  draw(node, box, index) {
    const one = this.content.kernels[node.kernel];
    const set = one ? axesOf(one, this.data) : null;
    const words = one ? kernelLines(one, this.data) : this.stubLines(node.stub);
    const move = set && `move ${axisClass(set.axes, this.store.first.axes)}`;
    const kind = one ? move || (one.matmuls ? "matmul" : "plain") : "stub";
    return this.node(
      index,
      `${kind}${one?.mixes.length ? " mixed" : ""}`,
      words,
      box,
      s("rect", { width: box.width, height: box.height, rx: set ? 9 : 3 }),
      kind === "matmul" ? s("rect.side", { width: 3, height: box.height }) : null,
      node.lines.map((line, i) => s("text", { class: line.kind, x: PAD, y: 4 + LINE * (i + 0.78) }, line.words)),
    );
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
    if (stub && opens && stub.box >= 0) return this.moves.show(stub.box);
    this.goTo(index);
    reveal(this.groups[index]);
    if (!stub) selectKernel(this.store, this.content.kernels[node.kernel]);
    this.mark();
  }

  /** @param {number} index */
  isOn(index) {
    const one = this.content.kernels[this.dag.nodes[index]?.kernel];
    return Boolean(one) && isSelected(this.store, one);
  }
}
