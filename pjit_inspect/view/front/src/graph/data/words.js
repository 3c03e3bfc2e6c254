// The graph's words: rows, boxes, lines and arrows, in the picture, for a screen reader and as text to copy. Pure.
import { bytesText, flopsText, percentText, plural, roughBytesText, thousands, timeText } from "../../core/format.js";

/**
 * @typedef {import("./columns.js").Graph} Graph
 * @typedef {import("./fold.js").Cell} Cell
 * @typedef {import("./fold.js").Flow} Flow
 * @typedef {import("./matrix.js").Layout} Layout
 * @typedef {import("./matrix.js").Line} Line
 * @typedef {import("./matrix.js").Content} Content
 */

/** @type {Record<string, string>} */
const PLAIN = {
  "collective-permute": "permute",
  "collective-broadcast": "broadcast",
  "ragged-all-to-all": "ragged a2a",
};

/** The words of one graph; `sets` are the header's sets of axes. */
export class Words {
  /** @param {Graph} graph @param {any[]} sets */
  constructor(graph, sets) {
    this.graph = graph;
    this.sets = sets;
    this.isTimed = false; // whether boxes have the colour of their time
  }

  /** The axes of a collective; nothing where the mesh is unknown: that is said once, above. @param {number} axes */
  axes(axes) {
    const set = this.sets[axes];
    return set.words === "axis unknown" ? "" : set.words;
  }

  /** @param {number} kind */
  kind(kind) {
    const name = this.graph.header.kinds[kind];
    return PLAIN[name] ?? name;
  }

  /** @param {number} phase */
  phase(phase) {
    return this.graph.header.is_differentiated ? this.graph.phases[phase] : "program";
  }

  /** @param {Cell} cell */
  cell(cell) {
    const { graph } = this;
    const name = cell.row ? graph.path(cell.row) : "the whole program";
    return graph.header.is_differentiated ? `${this.phase(cell.phase)} \u00b7 ${name}` : name;
  }

  /** What stands first in a box, longest form first. @param {Cell} cell */
  heads(cell) {
    const kernels = plural(cell.kernels, this.graph.work);
    return cell.matmuls
      ? [`${kernels} \u00b7 ${plural(cell.matmuls, "matmul")}`, kernels, thousands(cell.kernels)]
      : [kernels, thousands(cell.kernels)];
  }

  /** What stands at its right: its time, FLOPs, or how often all of it runs. @param {Cell} cell */
  right(cell) {
    if (this.isTimed) return cell.time < 0 ? "" : timeText(cell.time);
    if (cell.iterations > 1) return `per trip, \u00d7${thousands(cell.iterations)}`;
    if (cell.iterations < 0) return "per trip";
    return cell.matmuls && cell.flops > 0 ? flopsText(cell.flops) : "";
  }

  /**
   * The same, the longest form first; what is per trip must not look as if it were per call, so that one never goes.
   * @param {Cell} cell
   */
  rights(cell) {
    const full = this.right(cell);
    return cell.iterations === 1 || this.isTimed ? [full] : [full, "per trip", "\u21bb"];
  }

  /**
   * A line of a box: ways to say it, the longest first, and its figure.
   * @param {Content} line @returns {{words: string[], figure: string}}
   */
  line({ type, of }) {
    if (type === "more") return { words: [`${plural(of, "more difference")}`, `+${thousands(of)}`], figure: "" };
    const kind = this.kind(of.kind);
    const axes = this.axes(of.axes);
    const tight = axes.replace(/ \u00d7 /g, "\u00d7");
    if (type === "move") {
      const times = `${thousands(of.count)}\u00d7`;
      return {
        words: [`${times} ${kind}  ${axes}`, `${of.count > 1 ? `${times} ` : ""}${kind} ${tight}`],
        figure: bytesText(of.bytes),
      };
    }
    if (type === "share")
      return { words: [`in a combined ${kind} ${axes}`, `in combined ${kind} ${tight}`], figure: bytesText(of.bytes) };
    const who =
      of.members.length > 2 ? `${of.members.length} others` : of.members.map((row) => this.graph.label(row)).join(", ");
    const few = of.members.length > 2 ? who : who.replace(/[^\d, ]+/g, "") || who;
    const count = of.count ? `${of.count > 0 ? "+" : "\u2212"}${Math.abs(of.count)} ` : "";
    return {
      words: [`${who}: ${count}${kind} ${axes}`, `${few}: ${count}${kind} ${tight}`],
      figure: `${of.bytes < 0 ? "\u2212" : "+"}${bytesText(Math.abs(of.bytes))}`,
    };
  }

  /**
   * What stands in a low row, in whole words, and its figure.
   * @param {Content} content @returns {{words: string[], figure: string}}
   */
  chip(content) {
    if (content.type === "more") return { words: [`+${thousands(content.of)}`], figure: "" };
    const { of } = content;
    const times = of.count > 1 ? `${thousands(of.count)}\u00d7 ` : "";
    const words = `${times}${this.kind(of.kind)} ${this.axes(of.axes).replace(/ \u00d7 /g, "\u00d7")}`.trim();
    return { words: [words], figure: roughBytesText(of.bytes) };
  }

  /** What a line stands for: of "+3" all three. @param {Content} line @returns {Content[]} */
  contents(line) {
    return line.type === "more" ? line.rest : [line];
  }

  /** @param {Content} line */
  fullLine(line) {
    const { words, figure } = this.line(line);
    return [words[0].replace(/\s+/g, " "), figure].filter(Boolean).join(" ");
  }

  /**
   * Bytes of an arrow: of the shown member; with the number of members where it leads into or out of a fold.
   * @param {Flow} flow
   */
  flow(flow) {
    if (!flow.bytes)
      return flow.members === 1
        ? `${bytesText(flow.total)} ${this.graph.label(flow.member)}`
        : `${bytesText(flow.total)} in all`;
    return flow.outside && flow.members > 1 ? `${bytesText(flow.bytes)} \u00d7${flow.members}` : bytesText(flow.bytes);
  }

  /** The same in ever fewer characters. @param {Flow} flow */
  flowWays(flow) {
    const size = flow.bytes || flow.total;
    const many = flow.bytes && flow.outside && flow.members > 1 ? ` \u00d7${flow.members}` : "";
    const rough = roughBytesText(size);
    return [this.flow(flow), rough + many, rough, rough.replace(/ (.).*/, "$1")];
  }

  /** Name, number of members, and how alike they are. @param {number} fold */
  fold(fold) {
    const { graph } = this;
    const members = graph.members[fold];
    const shown = graph.fold.shown[fold];
    const first = this._start(fold);
    const odd = members
      .map((row, i) => [row, graph.fold.likeness[first + i]])
      .filter(([row, like]) => row !== shown && like < 1);
    const same = members.length - odd.length;
    const named =
      odd.length <= 2
        ? odd.map(([row, like]) => `${graph.label(row)} ${percentText(like)}`).join(", ")
        : `${odd.length} others ${percentText(Math.min(...odd.map(([, like]) => like)))} or more`;
    const alike = !odd.length ? "all identical" : `${same > 1 ? `${same} identical; ` : ""}${named} alike`;
    return {
      name: graph.words["fold.labels"](fold),
      times: `\u00d7${members.length}`,
      alike,
      shown: `shown: ${graph.label(shown)}`,
    };
  }

  /** @param {number} fold */
  _start(fold) {
    return this.graph.members.slice(0, fold).reduce((sum, members) => sum + members.length, 0);
  }

  /**
   * The name of a visible row.
   * @param {import("./fold.js").Item} item @param {boolean} isClosed whether it stands for its fold
   */
  row(item, isClosed) {
    const { graph } = this;
    if (item.row < 0 || isClosed) return this.fold(item.fold).name;
    if (item.row === 0) return "the whole program";
    return graph.kind(item.row) === "loop" ? `${graph.label(item.row)}${this.trips(item.row)}` : graph.label(item.row);
  }

  /** @param {number} row */
  trips(row) {
    const trips = this.graph.row.trips[row];
    return trips < 0 ? ", trips unknown" : ` \u00d7${thousands(trips)}`;
  }

  /** A box in one sentence. @param {Cell} cell @param {Line[]} lines */
  box(cell, lines) {
    const about = [this.heads(cell)[0], this.right(cell)].filter(Boolean).join(", ");
    const all = lines.flatMap((line) => this.contents(line));
    return [`${this.phase(cell.phase)}: ${about}`, ...all.map((line) => this.fullLine(line))].join("; ");
  }
}

/** The visible rows and boxes as text. @param {Layout} layout @param {Words} words */
export function asText(layout, words) {
  const lines = [];
  for (const item of layout.view.items) {
    const isClosed = item.fold >= 0 && layout.view.isClosed[item.fold] === 1;
    const indent = "  ".repeat(item.depth);
    const times = isClosed ? ` ${words.fold(item.fold).times} (${words.fold(item.fold).shown})` : "";
    lines.push(`${indent}${words.row(item, isClosed)}${times}`);
    for (const box of layout.boxes) {
      if (item.row < 0 || box.cell.row !== item.row) continue;
      const about = [words.heads(box.cell)[0], words.right(box.cell)].filter(Boolean).join(", ");
      lines.push(`${indent}  ${words.phase(box.cell.phase)}: ${about}`);
      const all = box.lines.flatMap((line) => words.contents(line));
      for (const line of all) lines.push(`${indent}    ${words.fullLine(line)}`);
    }
  }
  return lines.join("\n");
}
