// Changes that could save a collective, in its details: what was counted before and after a compile, and a button to try.
import { h } from "../core/dom.js";
import { plural } from "../core/format.js";
import { drawSpans } from "../core/spans.js";

/** @type {Record<string, string>} what came of compiling it, where it does not help for certain */
const VERDICTS = {
  worse: "Compiled, it sends more.",
  nothing: "Compiled, it changes nothing.",
  depends: "Compiled, it sends less or more by how many turns its loops take.",
};

/**
 * @param {import("../core/store.js").Store} store
 * @param {any} row the collective
 */
export function suggestions(store, row) {
  const { rows, known, can_be_asked: canBeAsked, waits, error } = store.suggestions;
  if (!known && !canBeAsked && !rows.length) return [];
  const own = rows
    .map((one, number) => ({ one, number }))
    .filter(({ one }) => one.names.some((/** @type {string} */ name) => row.names.includes(name)));
  return [
    h("h3", {}, "What could save it"),
    ...own.map(({ one, number }) => card(store, one, number)),
    known && !own.length ? h("p", { class: "dim" }, none(rows.length)) : null,
    known ? null : ask(store, waits),
    waits ? h("p", { class: "dim waits", role: "status" }, "XLA is being asked") : null,
    error ? h("p", { class: "refused", role: "alert" }, error) : null,
  ].filter((one) => one !== null);
}

/** @param {number} count */
function none(count) {
  return count
    ? `This program has ${plural(count, "suggestion")}, none of which is about it.`
    : "No change that was tried saves a noticeable part.";
}

/** @param {import("../core/store.js").Store} store @param {boolean} waits */
function ask(store, waits) {
  if (!store.ask) return h("p", { class: "dim" }, h("code", {}, "record.suggestions"), " asks XLA (seconds).");
  return h(
    "button",
    { type: "button", class: "button", disabled: waits, onclick: () => store.ask?.({ type: "suggest" }) },
    "Check what could",
  );
}

/** @param {import("../core/store.js").Store} store @param {any} one @param {number} number */
function card(store, one, number) {
  const { axes } = store.first;
  const isCompiled = Boolean(one.figures.at(-1)[1]);
  const line = (/** @type {string} */ tag, /** @type {number} */ part) =>
    h(
      "tr",
      {},
      one.figures.map((/** @type {string[]} */ figure) => h(tag, {}, figure[part] || "\u2013")),
    );
  return h(
    "section",
    { class: "suggestion", "aria-label": "Suggestion" },
    h("p", {}, h("b", {}, drawSpans(one.title, axes))),
    h("p", { class: "small" }, drawSpans(one.sentence, axes)),
    h("table", { class: "sidebyside" }, line("th", 0), line("td", 1)),
    VERDICTS[one.verdict] ? h("p", { class: "dim" }, VERDICTS[one.verdict]) : null,
    store.ask && !isCompiled
      ? h(
          "button",
          {
            type: "button",
            class: "button",
            disabled: store.suggestions.waits,
            title: "Compile the changed program to the end, run nothing, and count",
            onclick: () => store.ask?.({ type: "check", number }),
          },
          "Check",
        )
      : null,
    one.error ? h("p", { class: "refused", role: "alert" }, one.error) : null,
  );
}
