// The top: what was compiled, the answer in a sentence, what to change, notes that filter, and the buttons.
import { adviceLine } from "./advice.js";
import { copyButton } from "../core/copy.js";
import { h } from "../core/dom.js";
import { CLEAR } from "../core/filters.js";
import { plural } from "../core/format.js";
import { drawSpans } from "../core/spans.js";
import { helpButton } from "./help.js";
import { popover } from "../core/popover.js";
import { question } from "./question.js";

/** @param {import("../core/store.js").Store} store */
export function header(store) {
  const { first } = store;
  const copyProps = { class: "button copytext", title: "Copy as text (c)" };
  const copy = copyButton("Copy as text", () => store.data?.header.text, copyProps);
  const widen = h(
    "button.button.widen",
    { title: "Texts over the whole width (w)", onclick: () => store.set({ wide: !store.state.wide }) },
    "Widen",
  );
  store.listen((changed) => {
    if (changed.has("wide")) widen.textContent = store.state.wide ? "Narrow" : "Widen";
  });
  const what = h("h1.what", drawSpans(first.title, first.axes));
  what.title = what.textContent ?? "";
  return h(
    "header.top",
    h("div.title", what, h("div.buttons", notes(store), copy, widen, helpButton(store))),
    question(store),
    h(
      "p.answer",
      drawSpans(first.answer, first.axes),
      first.measured ? ` ${first.measured[0].toUpperCase()}${first.measured.slice(1)}.` : null,
    ),
    staleLink(store),
    adviceLine(store),
  );
}

/** Everything that is neither the answer nor the change, behind a count. @param {import("../core/store.js").Store} store */
function notes(store) {
  const { again = [], axes, notes: all, unasked } = store.first;
  const lines = [...again, ...(unasked.length ? [unasked] : [])].map((spans) => h("p.note", drawSpans(spans, axes)));
  const chips = all.map((/** @type {any} */ note, /** @type {number} */ number) => noteChip(store, note, number));
  const count = lines.length + chips.length;
  if (!count) return null;
  const isWarning = again.length || all.some((/** @type {any} */ note) => note.warns);
  const sign = isWarning ? h("span.mark", { "aria-hidden": "true" }, "\u25b2 ") : null;
  const box = h("div.menu.notes", { role: "group", "aria-label": "Notes" }, lines, chips);
  const { button } = popover(
    store,
    { class: "notesbutton", title: "What else is known (n)" },
    [sign, plural(count, "note")],
    box,
  );
  return h("span.pop", button, box);
}

/** What the page's address names and the program has not. @param {import("../core/store.js").Store} store */
function staleLink(store) {
  const words = h("span");
  const hide = () => store.set({ stale: "" });
  const close = h("button.button", { onclick: hide }, "Dismiss");
  const box = h("p.stale", { role: "status" }, words, close);
  box.hidden = true;
  store.listen((changed) => {
    if (!changed.has("stale")) return;
    box.hidden = !store.state.stale;
    const name = store.state.stale.slice(0, 200);
    words.textContent =
      name && `This link names ${name}, which this program does not have. It may be of another compile. `;
  });
  return box;
}

/**
 * A note; a click shows only the rows it is about.
 * @param {import("../core/store.js").Store} store @param {any} note @param {number} number
 */
function noteChip(store, note, number) {
  const words = [note.warns ? h("span.mark", { "aria-hidden": "true" }, "\u25b2 ") : null, h("bdi", note.words)];
  if (!note.list) return h("p.note", words);
  const choose = () =>
    store.set(store.state.note === number ? { note: null } : { ...CLEAR, list: note.list, note: number });
  const chip = h(
    "button.note",
    { "aria-pressed": "false", title: `Show only these: ${note.words}`, onclick: choose },
    words,
  );
  store.listen(
    (changed) => changed.has("note") && chip.setAttribute("aria-pressed", String(store.state.note === number)),
  );
  return chip;
}
