// The graph of both programs, drawn once: scopes by phases; a box has the counts of both, and a colour for bytes sent.
import { h } from "../core/dom.js";
import { plural, thousands } from "../core/format.js";
import { drawAxis } from "../core/spans.js";
import { boxName } from "./list.js";
import { IN_BOXES } from "./store.js";
import { sign, STATUS, statusWords, trend } from "./status.js";

/** @param {import("./store.js").CompareStore} store */
export function graph(store) {
  const body = h("div.matrixbox", { tabindex: 0, role: "region", "aria-label": "Graph of both programs" });
  store.listen((changed) => {
    if (changed.has("data") || changed.has("onlyChanged")) body.replaceChildren(...draw(store));
    if (["data", "box", "row", "list", "onlyChanged"].some((key) => changed.has(key))) mark(store, body);
  });
  return h(
    "section.centre",
    { "aria-label": "Graph" },
    h("h2.minor", "Both programs by scope and phase; equal layers together"),
    body,
    h(
      "p.legend.dim.small",
      ["less", "more", "removed", "added"].map((one) => h("span", { class: `swatch fill-${one}` }, statusWords(one))),
      store.first.incomplete.length
        ? " of bytes sent, in the part that is there; counts and sizes: before \u2192 after"
        : " of bytes sent; counts and sizes: before \u2192 after; boxes are joined by scope and phase",
    ),
  );
}

/** @param {import("./store.js").CompareStore} store */
function draw(store) {
  const found = store.data?.header.graph;
  if (!found) return [];
  if (found.missing) return [h("p.nothing", found.missing)];
  const kept = keptRows(found, store.state.onlyChanged);
  /** @type {Map<string, number>} */
  const at = new Map();
  let most = 1;
  found.boxes.forEach((/** @type {any} */ box, /** @type {number} */ i) => {
    at.set(`${box.row} ${box.column}`, i);
    most = Math.max(most, Math.abs(box.bytes[1] - box.bytes[0]));
  });
  // A phase in which no row that is shown has a box gets no column.
  const phases = [...found.columns.keys()].filter((c) => [...kept].some((r) => at.has(`${r} ${c}`)));
  const heads = phases.map((c) => h("th", { scope: "col" }, found.columns[c] || "program"));
  const rows = found.rows.flatMap((/** @type {any} */ row, /** @type {number} */ r) => {
    if (!kept.has(r)) return [];
    const cells = phases.map((c) => {
      const i = at.get(`${r} ${c}`);
      return h("td", i === undefined ? null : drawBox(store, i, most));
    });
    return [h("tr", { class: row.is_group ? "group" : undefined }, rowHead(row), cells)];
  });
  const left = found.rows.length - kept.size;
  return [
    h("table.matrix", h("thead", h("tr", h("th", { scope: "col" }, "scope"), heads)), [h("tbody", rows)]),
    ...(left ? [h("p.nothing", `${thousands(left)} scopes are the same in both programs.`)] : []),
  ];
}

/** The rows that have a box that changed, and those around them; all where the reader wants all. @param {any} found @param {boolean} onlyChanged */
function keptRows(found, onlyChanged) {
  const own = new Set();
  for (const box of found.boxes) if (!onlyChanged || box.status !== "same") own.add(box.row);
  const kept = new Set();
  let depth = 0;
  for (let r = found.rows.length - 1; r >= 0; r--) {
    const row = found.rows[r];
    const isAround = depth > row.depth;
    if (!own.has(r) && !isAround) continue;
    depth = row.depth;
    if (r || own.has(r)) kept.add(r);
  }
  return kept;
}

/** @param {any} row */
function rowHead(row) {
  const [before, after] = row.counts;
  const times = before === after ? (after > 1 ? `\u00d7 ${after}` : "") : `\u00d7 ${before} \u2192 ${after}`;
  return h(
    "th",
    { scope: "row", style: { "--depth": Math.max(0, row.depth - 1) } },
    row.status === "same" ? null : sign(row.status),
    h("b", h("bdi", row.label)),
    times ? h("span.times", times) : null,
    row.holds ? h("span.dim.small.holds", row.holds) : null,
  );
}

/** @param {import("./store.js").CompareStore} store @param {number} i @param {number} most */
function drawBox(store, i, most) {
  const { first, data } = store;
  const box = data?.header.graph.boxes[i];
  const difference = box.bytes[1] - box.bytes[0];
  const kind = box.status === "changed" ? "same" : box.status;
  const strength = Math.round(25 + 75 * Math.sqrt(Math.abs(difference) / most));
  return h(
    "button",
    {
      class: `graphbox fill-${kind}`,
      "data-box": i,
      "aria-pressed": "false",
      style: { "--strength": `${strength}%` },
      title: "List what is in it",
      onclick: () => open(store, i),
    },
    h("span.offscreen", `${boxName(store, i)}: `),
    h(
      "span.boxhead",
      h("span", `${pair(box.kernels)} kernels`),
      h("b", { class: trend(difference) }, became(box, difference)),
    ),
    box.lines.map((/** @type {any} */ line) => {
      const set = first.axis_sets[line.axes];
      return h(
        "span",
        { class: `moveline${line.status === "same" ? " dim" : ""}` },
        h("span", `${pair(line.counts)} ${line.kind} `, drawAxis(set.words, set.axes, null, first.axes)),
        h("span", line.sent),
      );
    }),
    box.more ? h("span.dim.small", `and ${plural(box.more, "more kind")}`) : null,
  );
}

/** Lists what is in a box: what changed of it, or else what is the same; all again where it was chosen.
 * @param {import("./store.js").CompareStore} store @param {number} i */
function open(store, i) {
  const isChosen = store.state.box === i;
  const list = listOf(store, store.data?.header.graph.boxes[i]);
  store.filter({ list, box: isChosen ? null : i, status: null, axes: null });
  if (!isChosen && !store.shown().length) store.filter({ status: "same" });
  if (store.isNarrow()) store.set({ pane: "list" });
}

/** The list that a box opens: kernels where these are in view or it sends nothing.
 * @param {import("./store.js").CompareStore} store @param {any} box */
function listOf(store, box) {
  if (store.state.list === "kernels" || !box.lines.length) return "kernels";
  return "collectives";
}

/** What became of a box in a word or a sign, and its bytes. @param {any} box @param {number} difference */
function became(box, difference) {
  const [mark, word] = STATUS[box.status];
  if (!difference) return `${mark} ${word}`;
  const isInBoth = box.status === "less" || box.status === "more";
  return `${isInBoth ? mark : word} ${box.difference}`;
}

/** @param {number[]} counts */
const pair = ([before, after]) =>
  before === after ? thousands(after) : `${thousands(before)} \u2192 ${thousands(after)}`;

/** The box that filters, and those the selected row is in. @param {import("./store.js").CompareStore} store @param {HTMLElement} body */
function mark(store, body) {
  const of = new Set(IN_BOXES.includes(store.state.list) ? (store.selected?.boxes ?? []) : []);
  body.querySelectorAll("[data-box]").forEach((one) => {
    const i = Number(/** @type {HTMLElement} */ (one).dataset.box);
    one.setAttribute("aria-pressed", String(store.state.box === i));
    one.classList.toggle("has-selected", of.has(i));
  });
}
