// What a record was asked that never ran: where it came from, and its figures beside those.
import { h } from "../core/dom.js";
import { drawSpans } from "../core/spans.js";

/**
 * @param {import("../core/store.js").Store} store
 * @returns {any} null for a record of a program that was compiled to run
 */
export function question(store) {
  const { question: asked, axes } = store.first;
  if (!asked) return null;
  const heads = asked.titles.map((/** @type {string} */ title, /** @type {number} */ at) =>
    h("th", { scope: "col", role: "columnheader", class: asked.right[at] ? "right" : undefined }, title),
  );
  const rows = asked.rows.map((/** @type {any[][]} */ row) =>
    h(
      "tr",
      { role: "row" },
      row.map((cell, at) =>
        at
          ? h("td", { role: "cell", class: asked.right[at] ? "right" : undefined }, drawSpans(cell, axes))
          : h("th", { scope: "row", role: "rowheader" }, drawSpans(cell, axes)),
      ),
    ),
  );
  return h(
    "section.question",
    { "aria-label": "What if" },
    asked.lines.map((/** @type {any[]} */ line) => h("p", drawSpans(line, axes))),
    // Roles are said, as a table that is laid out otherwise loses its own.
    h(
      "table",
      { role: "table" },
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads)),
      h("tbody", { role: "rowgroup" }, rows),
    ),
  );
}
