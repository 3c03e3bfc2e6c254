// The top: what was compiled, the answer in a sentence, notes that filter, and the buttons.
import { h } from "./dom.js";
import { drawSpans } from "./spans.js";

/** @param {import("./store.js").Store} store */
export function header(store) {
  const { first } = store;
  const copy = h("button", { type: "button", class: "button", title: "Copy as text (c)", onclick: () => copyText(store, copy) }, "Copy as text");
  const widen = h("button", { type: "button", class: "button widen", title: "Texts over the whole width (w)", onclick: () => store.set({ wide: !store.state.wide }) }, "Widen");
  store.listen((changed) => {
    if (changed.has("wide")) widen.textContent = store.state.wide ? "Narrow" : "Widen";
  });
  const notes = first.notes.map((/** @type {any} */ note) => noteChip(store, note));
  return h("header", { class: "top" },
    h("div", { class: "title" }, h("div", { class: "what" }, drawSpans(first.title, first.axes)), h("div", { class: "buttons" }, copy, widen)),
    h("p", { class: "answer" }, drawSpans(first.answer, first.axes)),
    notes.length ? h("div", { class: "notes" }, notes) : null,
  );
}

/** @param {import("./store.js").Store} store @param {any} note */
function noteChip(store, note) {
  const words = [h("span", { class: "mark", "aria-hidden": "true" }, "\u25b2 "), note.words];
  const axes = store.first.axis_sets.findIndex((/** @type {any} */ set) => set.axes === null);
  if (note.filter !== "no axis" || axes < 0) return h("span", { class: "note", title: note.words }, words);
  const chip = h("button", { type: "button", class: "note", "aria-pressed": "false", onclick: () => store.set({ list: "collectives", axes: store.state.axes === axes ? null : axes }) }, words);
  store.listen(() => chip.setAttribute("aria-pressed", String(store.state.axes === axes)));
  return chip;
}

/** @param {import("./store.js").Store} store @param {HTMLElement} button @param {string} [text] what else than the whole display */
export async function copyText(store, button, text = store.data?.header.text) {
  if (!text) return;
  const done = (await toClipboard(text)) || byCommand(text, button);
  button.textContent = done ? "Copied" : "Copying was refused";
  setTimeout(() => { button.textContent = "Copy as text"; }, 1500);
}

/** @param {string} text */
async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // a sandboxed page may not
  }
}

/** @param {string} text @param {HTMLElement} near */
function byCommand(text, near) {
  const area = /** @type {HTMLTextAreaElement} */ (h("textarea", { class: "offscreen", "aria-hidden": "true" }));
  area.value = text;
  near.after(area);
  area.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    area.remove();
    near.focus();
  }
}
