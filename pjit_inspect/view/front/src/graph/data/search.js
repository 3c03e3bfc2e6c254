// Finds boxes by what is written in them: scopes, kernels, operations, arguments they take, collectives, mesh axes, and
// the user's code. Pure.
import { range } from "../../core/blob.js";
import { matcher } from "../../core/search.js";

/**
 * @typedef {import("./columns.js").Graph} Graph
 * @typedef {import("./words.js").Words} Words
 */

/** The boxes of a graph as words to look through, made at the first search. */
export class BoxSearch {
  /** @param {Graph} graph @param {Words} words @param {(spot: number) => string} code the words of a place in the code */
  constructor(graph, words, code) {
    this.graph = graph;
    this.code = code;
    this.words = words;
    /** @type {string[] | null} */
    this.texts = null;
  }

  /**
   * Boxes that have what is looked for (`matcher`), rows in order; of boxes that one visible box stands for, the shown one.
   * @param {string} text
   * @returns {number[]}
   */
  find(text) {
    const isWanted = matcher(text);
    if (!isWanted) return [];
    this.texts ??= Array.from({ length: this.graph.boxes }, (_, box) => this._text(box));
    const found = this.texts.flatMap((one, box) => (isWanted(one) ? [box] : []));
    const isFound = new Set(found.map((box) => this._key(this.graph.box.row[box], box)));
    return found.filter((box) => {
      const row = this.graph.box.row[box];
      const shown = this.graph.row.shown_as[row];
      return shown === row || !isFound.has(this._key(shown, box));
    });
  }

  /** @param {number} row @param {number} box */
  _key(row, box) {
    return row * 4 + this.graph.box.phase[box];
  }

  /** @param {number} box */
  _text(box) {
    const { graph, words } = this;
    const row = graph.box.row[box];
    const parts = [words.phase(graph.box.phase[box]), graph.path(row), graph.words["row.holds"](row)];
    const [start, end] = range(graph.move.ends, box);
    for (let line = start; line < end; line++)
      parts.push(graph.header.kinds[graph.move.kind[line]], words.axes(graph.move.axes[line]));
    const kernels = graph.kernelsOf(box);
    for (const kernel of kernels)
      parts.push(
        graph.words["kernel.names"](kernel),
        graph.words.labels(graph.kernel.label[kernel]),
        ...argumentsOf(graph, kernel).map((argument) => graph.words.arguments(argument)),
      );
    for (const spot of new Set(kernels.map((kernel) => graph.kernel.spot[kernel]))) parts.push(this.code(spot));
    return parts.join(" ");
  }
}

/** The arguments that a kernel takes, as they are numbered. @param {Graph} graph @param {number} kernel */
export function argumentsOf(graph, kernel) {
  const { source, ends } = graph.read;
  const [start, end] = range(ends, kernel);
  const found = new Set();
  for (let one = start; one < end; one++) if (source[one] <= -2) found.add(-2 - source[one]);
  return /** @type {number[]} */ ([...found]);
}
