// Spans that Python worded (`view/inspector/words.py`), drawn.
import { h } from "./dom.js";
import { plural } from "./format.js";

/** The class that gives a set of axes its colour. @param {string[] | null} axes @param {string[]} all */
export function axisClass(axes, all) {
  if (!axes || !axes.length) return "ax-none";
  if (axes.length > 1) return "ax-many";
  const at = all.indexOf(axes[0].split(":(")[0]);
  return at < 0 || at > 3 ? "ax-many" : `ax-${at}`;
}

/** @param {any[]} spans @param {string[]} all the document's axes, in the order of their colours */
export function drawSpans(spans, all) {
  return spans.map((span) => drawSpan(span, all));
}

/** @param {any} span @param {string[]} all @returns {any} */
function drawSpan(span, all) {
  if (typeof span === "string") return span;
  if ("strong" in span && typeof span.strong === "string") return h("b", span.strong);
  if ("dim" in span) return h("span.dim", span.dim);
  if ("name" in span) return h("b.code", span.name);
  if ("code" in span) return h("code", span.code);
  if ("axis" in span) return drawAxis(span.axis, span.axes, span.size, all);
  if ("number" in span) return drawNumber(span);
  return "";
}

/** @param {string} words @param {string[] | null} axes @param {number | null} size @param {string[]} all */
export function drawAxis(words, axes, size, all) {
  return h("span", { class: `axis ${axisClass(axes, all)}` }, size === null ? words : `${words} ${size}`);
}

/** @param {any} span */
function drawNumber(span) {
  const text = span.unit ? `${span.number}\u00a0${span.unit}` : span.number;
  const how = span.how === "counted" || !span.unit ? undefined : span.how;
  return h(span.strong ? "b" : "span", { title: how }, text);
}

/** What is behind a cause, folded. @param {any[][]} all @param {string[]} axes */
export function drawFacts(all, axes) {
  if (!all?.length) return null;
  const items = all.map((fact) => h("li", drawSpans(fact, axes)));
  return h("details", h("summary", `${plural(all.length, "fact")} behind it`), h("ul.facts", items));
}

/** Names and values, of what is known. @param {string[][]} rows */
export const drawPairs = (rows) =>
  h(
    "dl.pairs",
    rows.filter(([, value]) => value).map(([label, value]) => [h("dt", label), h("dd.code", value)]),
  );
