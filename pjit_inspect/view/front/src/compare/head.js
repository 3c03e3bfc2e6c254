// The top of the page: whether it is the same work, the answer, the figures.
import { copyButton } from "../core/copy.js";
import { h } from "../core/dom.js";
import { drawSpans } from "../core/spans.js";
import { STATUS } from "./status.js";

/** @param {import("./store.js").CompareStore} store */
export function head(store) {
  const { first } = store;
  const copy = copyButton("Copy as text", () => store.data?.header.text);
  return h(
    "header.top",
    { tabindex: 0 },
    h("div.title", h("h1.what", drawSpans(first.title, first.axes)), copy),
    first.incomplete.length ? note("Incomplete program ", first.incomplete, first.axes) : null,
    first.parity.length ? note("Not the same work: ", first.parity, first.axes) : null,
    h("p.answer", drawSpans(first.answer, first.axes)),
    h("ul.figures", { tabindex: 0, "aria-label": "Figures of both programs" }, first.figures.map(figure)),
    first.notes.length ? h("p.dim.small", joined(first.notes, first.axes)) : null,
  );
}

/** Sentences in one line. @param {any[][]} sentences @param {string[]} axes */
function joined(sentences, axes) {
  return sentences.flatMap((one, at) => [at ? "; " : "", ...drawSpans(one, axes)]);
}

/** What a reader has to know before the answer. @param {string} title @param {any[][]} sentences @param {string[]} axes */
function note(title, sentences, axes) {
  return h("p.parity", { role: "note" }, h("b", title), joined(sentences, axes));
}

/** @param {any} one */
function figure(one) {
  const [mark] = STATUS[one.status];
  const isVerdict = one.status === "less" || one.status === "more";
  return h(
    "li",
    h("span.dim.small", one.label),
    h("span.both", one.before, " \u2192 ", h("b", one.after)),
    h(
      "span.small",
      h("span", { class: isVerdict ? `is-${one.status}` : "dim" }, `${isVerdict ? `${mark} ` : ""}${one.change}`),
      h("span.dim", ` \u00b7 ${one.how}`),
    ),
  );
}
