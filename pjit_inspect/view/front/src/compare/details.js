// The selected row in both programs: why it came, went or changed, both causes, both pictures, both figures.
import { h, table } from "../core/dom.js";
import { glyph } from "../core/glyphs.js";
import { axisClass, drawAxis, drawFacts, drawPairs, drawSpans } from "../core/spans.js";
import { moves } from "../devices/moves.js";
import { cutOf, drawShards } from "../devices/shard.js";
import { statusWords } from "./status.js";

const SIDES = ["before", "after"];

/** @param {import("./store.js").CompareStore} store */
export function details(store) {
  const box = h("section.details", { "aria-label": "Details", tabindex: 0 });
  const draw = () => {
    const row = store.selected;
    box.replaceChildren(...(row ? drawRow(store, row) : nothing(store)));
    box.scrollTop = 0;
  };
  store.listen((changed) => (changed.has("row") || changed.has("list") || changed.has("data")) && draw());
  draw();
  return box;
}

/** @param {import("./store.js").CompareStore} store */
function nothing(store) {
  const words = store.first.is_empty
    ? "Both programs are the same."
    : "Choose a row or a box. \u2191 \u2193 walk the list.";
  return [h("h2", "Nothing selected"), h("p.dim", words)];
}

/** @param {import("./store.js").CompareStore} store @param {any} row */
function drawRow(store, row) {
  const { first } = store;
  const set = row.axes === undefined ? null : first.axis_sets[row.axes];
  const isSame = row.status === "same";
  const [before, after] = row.sides;
  return [
    h(
      "h2",
      { class: set ? axisClass(set.axes, first.axes) : "ax-none" },
      glyph(row.glyph),
      " ",
      set ? [row.kind, " over ", drawAxis(set.words, set.axes, null, first.axes)] : h("bdi", row.name),
    ),
    h("p", statusWords(row.status), row.number > 1 ? ` \u00d7 ${row.number}; the figures below are of all` : ""),
    set ? h("p.code", h("bdi", row.name)) : null,
    row.reason.length
      ? h("p.cause.because", h("b", "Because "), drawSpans(row.reason, first.axes))
      : isSame
        ? null
        : h("p.dim", "Why it differs: no cause known."),
    changes(row),
    ...(isSame
      ? [h("h3", "In both programs"), ...side(store, after, "both")]
      : [before, after].flatMap((one, at) => [
          h("h3.sidehead", SIDES[at], h("span", at ? row.after : row.before)),
          ...(one ? side(store, one, SIDES[at]) : [h("p.dim", ABSENT[at])]),
        ])),
    row.by.length ? h("p.dim.small", `Joined by ${row.by.join(", ")}.`) : null,
  ].filter((one) => one !== null);
}

const ABSENT = [
  "Not there: no evidence joins it to anything in the program before.",
  "Not there: no evidence joins it to anything in the program after.",
];

/** @param {any} row */
function changes(row) {
  if (!row.changes.length) return null;
  const rows = row.changes.map((/** @type {string[]} */ [label, before, after]) => [label, before, h("b", after)]);
  return table("table.changes", ["of one", "before", "after"], rows);
}

/** @param {import("./store.js").CompareStore} store @param {any} one @param {string} words */
function side(store, one, words) {
  const { axes } = store.first;
  return [
    ...(one.causes ?? []).map((/** @type {any} */ cause) => h("p.cause", drawSpans(cause, axes))),
    one.picture ? moves(one.picture, axes) : null,
    one.shape ? cutPicture(store, one, words) : null,
    one.line ? h("code.line", one.line) : null,
    drawPairs(one.figures),
    drawFacts(one.facts, axes),
    one.names ? h("p.dim.small.code", one.names) : null,
  ].filter((part) => part !== null);
}

/** @param {import("./store.js").CompareStore} store @param {any} one @param {string} words */
function cutPicture(store, one, words) {
  const cut = store.data && cutOf(store.data, one.sharding, one.shape);
  if (!cut) return h("p.dim.small", "No picture: how it is cut is unknown, or follows no mesh axes.");
  const label = `${words}: ${one.figures.map((/** @type {string[]} */ pair) => pair.join(" ")).join(", ")}`;
  return h("div.picture", drawShards(cut, { axes: store.first.axes, width: 200, label }));
}
