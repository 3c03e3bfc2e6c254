// The top: what was compiled, the answer in a sentence, notes that filter, and the buttons.
import { copyText } from "../core/copy.js";
import { h } from "../core/dom.js";
import { CLEAR } from "../core/filters.js";
import { drawSpans } from "../core/spans.js";

/** @param {import("../core/store.js").Store} store */
export function header(store) {
  const { first } = store;
  const copy = h(
    "button",
    { type: "button", class: "button", title: "Copy as text (c)", onclick: () => copyText(store, copy) },
    "Copy as text",
  );
  const widen = h(
    "button",
    {
      type: "button",
      class: "button widen",
      title: "Texts over the whole width (w)",
      onclick: () => store.set({ wide: !store.state.wide }),
    },
    "Widen",
  );
  store.listen((changed) => {
    if (changed.has("wide")) widen.textContent = store.state.wide ? "Narrow" : "Widen";
  });
  const notes = first.notes.map((/** @type {any} */ note, /** @type {number} */ number) =>
    noteChip(store, note, number),
  );
  return h(
    "header",
    { class: "top" },
    h(
      "div",
      { class: "title" },
      h("div", { class: "what" }, drawSpans(first.title, first.axes)),
      h("div", { class: "buttons" }, copy, widen),
    ),
    h("p", { class: "answer" }, drawSpans(first.answer, first.axes)),
    notes.length ? h("div", { class: "notes", role: "group", "aria-label": "Notes" }, notes) : null,
  );
}

/**
 * A note; a click shows only the rows it is about.
 * @param {import("../core/store.js").Store} store
 * @param {any} note
 * @param {number} number
 */
function noteChip(store, note, number) {
  const words = [
    note.warns ? h("span", { class: "mark", "aria-hidden": "true" }, "\u25b2 ") : null,
    h("bdi", {}, note.words),
  ];
  if (!note.list) return h("span", { class: "note", title: note.words }, words);
  const choose = () =>
    store.set(store.state.note === number ? { note: null } : { ...CLEAR, list: note.list, note: number });
  const chip = h(
    "button",
    {
      type: "button",
      class: "note",
      "aria-pressed": "false",
      title: `Show only these: ${note.words}`,
      onclick: choose,
    },
    words,
  );
  store.listen(
    (changed) => changed.has("note") && chip.setAttribute("aria-pressed", String(store.state.note === number)),
  );
  return chip;
}
