// What is wrong with the program, above the lists: one line each, and beside them what the chosen one is and what helps.
import { copyText } from "../core/copy.js";
import { h, moved } from "../core/dom.js";
import { drawSpans } from "../core/spans.js";

/** @param {import("../core/store.js").Store} store */
export function findings(store) {
  const box = h("section", { class: "findings", "aria-label": "Findings" });
  const draw = () => {
    const { rows, words, waits } = store.findings;
    const chosen = rows[store.state.finding] ? store.state.finding : 0;
    const quiet = words.length
      ? h("p", { class: waits ? "quiet waits" : "quiet", role: "status" }, drawSpans(words, store.first.axes))
      : null;
    box.hidden = !rows.length && !quiet;
    box.classList.toggle("none", !rows.length);
    box.replaceChildren(
      ...[rows.length ? list(store, chosen) : null, rows.length ? strip(store, rows[chosen]) : null, quiet].filter(
        (one) => one !== null,
      ),
    );
  };
  store.listen((changed) => (changed.has("findings") || changed.has("finding")) && draw());
  draw();
  return box;
}

/** Choose a finding, and select what it is about. @param {import("../core/store.js").Store} store @param {number} at */
function choose(store, at) {
  store.set({ finding: at });
  const { names, place } = store.findings.rows[at];
  const row = store
    .rows("collectives")
    .findIndex((one) => one.names?.some((/** @type {string} */ name) => names.includes(name)));
  if (row >= 0) store.select({ type: "collective", row });
  else if (place) store.selectName(place);
}

/** @param {import("../core/store.js").Store} store @param {number} chosen */
function list(store, chosen) {
  const { rows } = store.findings;
  return h(
    "ol",
    {
      class: "findinglist",
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const to = moved(event, store.state.finding, rows.length);
        if (to === null) return;
        event.preventDefault();
        const own = /** @type {HTMLElement} */ (event.currentTarget).parentElement;
        choose(store, to);
        /** @type {HTMLElement | undefined} */ (own?.querySelectorAll(".finding")[to])?.focus();
      },
    },
    rows.map((one, at) =>
      h(
        "li",
        {},
        h(
          "button",
          {
            type: "button",
            class: "finding",
            "aria-pressed": String(at === chosen),
            title: one.plain,
            onclick: () => choose(store, at),
          },
          h("span", { class: "findingnumber", "aria-hidden": "true" }, String(at + 1)),
          h("span", { class: "findingwords" }, drawSpans(one.sentence, store.first.axes)),
          h("span", { class: "findingfigures" }, drawSpans(one.figures, store.first.axes)),
        ),
      ),
    ),
  );
}

/** What the chosen finding is, and what helps. @param {import("../core/store.js").Store} store @param {any} one */
function strip(store, one) {
  const { axes } = store.first;
  const copy = h(
    "button",
    { type: "button", class: "button", title: "Copy the remedy", onclick: () => copyText(store, copy, one.code) },
    "Copy",
  );
  return h(
    "div",
    { class: "findingstrip" },
    h("p", { class: "findingfull" }, drawSpans(one.sentence, axes)),
    one.remedy.length
      ? h("div", { class: "remedy" }, h("p", {}, h("b", {}, "Remedy: "), drawSpans(one.remedy, axes)), copy)
      : null,
    one.bars.length
      ? h(
          "table",
          { class: "findingbars" },
          one.bars.map((/** @type {[string, number, string]} */ [words, share, figure]) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, words),
              h("td", { class: "track" }, h("span", { class: "fill", style: { width: `${100 * share}%` } })),
              h("td", { class: "figure" }, figure),
            ),
          ),
        )
      : null,
  );
}
