// The keys and the words, over the page.
import { h } from "../core/dom.js";
import { popover } from "../core/popover.js";

const KEYS = [
  ["?", "this help"],
  ["/", "find: words, or /a regular expression/"],
  ["\u2191 \u2193", "the row before, the next row"],
  ["Enter", "the next that was found; opens a row or a box"],
  ["Esc", "closes what is open, then clears"],
  ["g t m", "graph, linked text, traffic"],
  ["a s", "memory, seconds"],
  ["n x", "notes; as is, or with the change"],
  ["w", "texts over the whole width"],
  ["c", "copy as text"],
];
const WORDS = [
  ["collective", "A step in which devices send each other data."],
  ["partial sum", "A value that must still be added to those of other devices."],
  ["all-reduce", "Adds one array from every device; each gets the sum."],
  ["all-gather", "Joins the pieces of all devices; each gets the whole array."],
  ["reduce-scatter", "Adds one array from every device; each gets a piece of the sum."],
  ["all-to-all", "Cuts an array the other way: from rows to columns, say."],
  ["sends", "Bytes that one device sends in one call, modelled as a ring over the counted arrays."],
  ["kernel", "A piece of work that XLA runs as one."],
];

/** The button that opens them, also with `?`. @param {import("../core/store.js").Store} store */
export function helpButton(store) {
  const shut = () => {
    pop.show(false);
    pop.button.focus({ preventScroll: true });
  };
  const close = h("button.button", { onclick: shut }, "Close");
  const list = (/** @type {string} */ name, /** @type {string[][]} */ rows, /** @type {string} */ tag) =>
    h(
      "section",
      h("h3", name),
      h(
        "dl",
        rows.map(([term, words]) => [h("dt", h(tag, {}, term)), h("dd", words)]),
      ),
    );
  const box = h(
    "div.help",
    { role: "dialog", "aria-label": "Keys and words" },
    h("div.helphead", h("h2", "Keys and words"), close),
    list("Keys", KEYS, "kbd"),
    list("Words", WORDS, "b"),
    h("p", "A mesh axis has one colour. Blocks are pieces of an array, numbers in them devices; outlines are copies."),
  );
  const props = { class: "helpbutton", title: "Keys and words (?)", "aria-label": "Keys and words" };
  const pop = popover(store, props, "?", box, () => {
    pop.button.closest(".frame")?.append(box);
    requestAnimationFrame(() => close.focus({ preventScroll: true }));
  });
  return pop.button;
}
