// What arguments, results and constraints have alike: rows, of which a page draws as many as the reader looks at.
import { h } from "../core/dom.js";
import { plural } from "../core/format.js";
import { isWide } from "./dims.js";
import { trouble } from "./mesh.js";

/** Rows that are drawn at once. */
export const AT_ONCE = 60;

/** @typedef {import("./store.js").PlayStore} PlayStore */

/**
 * @param {PlayStore} store @param {any} one what it is of
 * @param {{opener?: any, name: any, control: any, held: any, below?: any}} parts from left to right, and under it
 */
export function row(store, one, { opener = h("span"), name, control, held, below = null }) {
  return h(
    "div",
    { class: `group${one.changed ? " changed" : ""}${isWide(store, one.dims) ? " wide" : ""}`, role: "listitem" },
    opener,
    h("span.name", name),
    control,
    held,
    one.problem ? h("div.problem", trouble(store, one.problem)) : null,
    below,
  );
}

/** A switch. @param {PlayStore} store @param {boolean} isOn @param {string} words @param {Record<string, any>} props */
export const tie = (store, isOn, words, props) =>
  h("button.tie", { role: "switch", "aria-checked": String(isOn), disabled: !store.isLive, ...props }, words);

/** A way back, in words. @param {string} words @param {Record<string, any>} props */
export const back = (words, props) => h("button.back", props, words);

/** A button for the rows that are not drawn yet, and how many may be. @param {() => void} again draws them */
export function growing(again) {
  const button = h("button.more", { hidden: true, onclick: () => ((more.shown += 4 * AT_ONCE), again()) });
  const more = {
    button,
    shown: AT_ONCE,
    tell: (/** @type {number} */ rest) => {
      button.hidden = rest <= 0;
      button.textContent = plural(rest, "more group");
    },
  };
  return more;
}
