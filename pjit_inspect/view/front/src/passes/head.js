// The head: what it is, the answer, and how the collectives were followed.
import { h } from "../core/dom.js";
import { drawAxis } from "../core/spans.js";

/** @param {import("./store.js").PassesStore} store */
export function head(store) {
  const { first } = store;
  const mesh = first.axes.map((/** @type {[string, number]} */ [name, size], /** @type {number} */ at) => [
    at ? " × " : "",
    drawAxis(name, [name], size, store.axes),
  ]);
  return h(
    "header",
    { class: "top" },
    h(
      "p",
      { class: "what" },
      h("b", {}, first.name),
      ` XLA's passes · ${first.what}`,
      mesh.length ? [" · mesh ", mesh] : null,
    ),
    h("p", { class: "answer" }, h("b", {}, first.head), `; ${first.more}.`),
    first.known_by ? h("p", { class: "dim small" }, first.known_by) : null,
  );
}
