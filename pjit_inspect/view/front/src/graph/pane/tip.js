// What the pointer is told: the whole name, every figure, what is read and who takes it. Pure.
import { bytesText, flopsText, plural, thousands, timeText } from "../../core/format.js";

const MOST = 6;

/**
 * @typedef {import("../data/matrix.js").Layout} Layout
 * @typedef {import("../data/words.js").Words} Words
 * @typedef {import("../data/fold.js").Cell} Cell
 */

/**
 * @param {import("../data/hit.js").Hit} hit @param {Layout} layout @param {Words} words
 * @returns {string[]} the first is the title
 */
export function tipOf(hit, layout, words) {
  if (hit.type === "box") return boxTip(hit.box.cell, layout, words);
  if (hit.type === "line") return lineTip(hit.box, hit.line, words);
  const { item } = hit;
  const { graph } = words;
  const isClosed = item.fold >= 0 && (item.isUnfolded || layout.view.isClosed[item.fold] === 1);
  if (hit.type === "badge")
    return [
      words.fold(item.fold).name,
      item.isUnfolded ? "Click: one for all" : "Click: each by itself",
      words.fold(item.fold).alike,
    ];
  const name = isClosed ? words.fold(item.fold).name : graph.path(item.row);
  const holds = item.row > 0 ? graph.words["row.holds"](item.row) : "";
  const canOpen = item.isUnfolded || graph.children[item.row].length > 0;
  return [
    name,
    holds,
    isClosed ? `${words.fold(item.fold).alike}; ${words.fold(item.fold).shown}` : "",
    canOpen ? `Click: ${item.isUnfolded ? "fold" : item.isOpen ? "close" : "open"}` : "",
  ].filter(Boolean);
}

/** @param {Cell} cell @param {Layout} layout @param {Words} words */
function boxTip(cell, layout, words) {
  const figures = [
    `${plural(cell.kernels, words.graph.work)} (modelled${cell.inferred ? `; ${thousands(cell.inferred)} by inference` : ""})`,
    cell.matmuls
      ? `${plural(cell.matmuls, "matmul")}, ${cell.flops < 0 ? "FLOPs unknown" : flopsText(cell.flops)} (counted)`
      : "",
    `writes ${bytesText(cell.bytes)} (counted)`,
  ].filter(Boolean);
  const where = cell.slowest < 0 ? "" : ` in ${words.graph.label(cell.slowest)}, the slowest of ${cell.times}`;
  const time =
    cell.time < 0 ? [] : [`${timeText(cell.time)} per call${where} (measured, each kernel on its slowest device)`];
  const loop =
    cell.iterations === 1
      ? []
      : [
          cell.iterations < 0
            ? "all per trip of a loop; how many trips is unknown"
            : `all per trip; ${thousands(cell.iterations)} trips per call`,
        ];
  const stands =
    cell.times > 1 ? [`one of ${cell.times}: ${cell.time < 0 ? "" : "other "}figures are those of the shown one`] : [];
  const more =
    cell.differences.length > 3
      ? cell.differences.slice(3).map((of) => words.fullLine({ type: "difference", of }))
      : [];
  return [
    words.cell(cell),
    figures.join(", "),
    ...time,
    ...loop,
    ...stands,
    ...partsOf(cell, words),
    ...ways(cell, layout, words, "target"),
    ...ways(cell, layout, words, "source"),
    ...more,
  ];
}

/** Fusions that work for this box and another. @param {Cell} cell @param {Words} words */
function partsOf(cell, words) {
  const { graph } = words;
  const own = new Set(cell.boxes);
  const mine = new Set();
  const foreign = new Set();
  for (const [kernel] of cell.parts) (own.has(graph.kernel.box[kernel]) ? mine : foreign).add(kernel);
  return [
    mine.size ? `${plural(mine.size, "fusion")} here also work${mine.size === 1 ? "s" : ""} for other boxes` : "",
    foreign.size
      ? `${plural(foreign.size, "fusion")} in other boxes also work${foreign.size === 1 ? "s" : ""} for this one`
      : "",
  ].filter(Boolean);
}

/**
 * Producers or consumers, most bytes first.
 * @param {Cell} cell @param {Layout} layout @param {Words} words @param {"source" | "target"} end
 */
function ways(cell, layout, words, end) {
  const other = end === "source" ? "target" : "source";
  const flows = layout.view.flows
    .filter((flow) => flow[end] === cell)
    .sort((a, b) => (b.bytes || b.total) - (a.bytes || a.total));
  if (!flows.length) return [];
  const sign = end === "target" ? "\u2190" : "\u2192";
  const lines = flows.slice(0, MOST).map((flow) => {
    const layer = flow.relation === "next" ? ", next layer" : flow[other] === cell ? ", another layer" : "";
    return `${sign} ${words.flow(flow)} \u00b7 ${words.cell(flow[other])}${layer}`;
  });
  const rest = flows.length > MOST ? [`${sign} and ${flows.length - MOST} smaller`] : [];
  return [end === "target" ? "reads" : "gives to", ...lines, ...rest];
}

/** @param {import("../data/matrix.js").Box} box @param {number} at @param {Words} words */
function lineTip(box, at, words) {
  const line = box.lines[at];
  if (line.type === "more")
    return [words.cell(box.cell), ...line.rest.map((one) => words.fullLine(one)), "Click: open"];
  const title = words.fullLine(line);
  const where = words.cell(box.cell);
  if (line.type === "difference")
    return [
      title,
      `against the shown one, in ${where}`,
      line.of.members
        .slice(0, 8)
        .map((row) => words.graph.label(row))
        .join(", "),
      "Click: open that layer",
    ];
  if (line.type === "share")
    return [
      title,
      where,
      "Its share of an instruction that stands, and is counted, in another box",
      "Click: select it",
    ];
  const { runs, count } = line.of;
  const many =
    runs < 0
      ? "how often they run is unknown"
      : runs === count
        ? ""
        : `run ${thousands(runs)} times per call; bytes of one run each`;
  return [title, where, "what each device sends for them (modelled, ring)", many, "Click: select"].filter(Boolean);
}
