// Parts that are drawn again: what has the focus keeps it, and what did not change is not touched.
import { kept } from "../core/dom.js";
import { drawSpans } from "../core/spans.js";

/**
 * New children for a box; an element with the same `data-key` as the one that had the focus gets it.
 * @param {HTMLElement} box @param {any[]} children
 */
export function refill(box, children) {
  const root = /** @type {Document | ShadowRoot} */ (box.getRootNode());
  const had =
    root.activeElement && box.contains(root.activeElement) ? /** @type {HTMLElement} */ (root.activeElement) : null;
  const key = had?.dataset.key;
  box.replaceChildren(...kept(children));
  if (!had || root.activeElement === had) return;
  const next =
    key === undefined
      ? null
      : [...box.querySelectorAll("[data-key]")].find((one) => /** @type {HTMLElement} */ (one).dataset.key === key);
  /** @type {HTMLElement | null} */ (next ?? box.querySelector("[tabindex='0'], button, input, select"))?.focus({
    preventScroll: true,
  });
}

/**
 * Draws at once, and when what it shows is another than before; gives what to call where the store tells of no change.
 * @param {import("./store.js").PlayStore} store @param {() => any} shown what is drawn, as data
 * @param {(again: () => void) => void} draw
 */
export function follow(store, shown, draw) {
  let before = "";
  const look = () => {
    const text = JSON.stringify(shown());
    if (text === before) return;
    before = text;
    draw(look);
  };
  store.listen(look);
  look();
  return look;
}

/** A word or spans. @param {any} words @param {string[]} axes */
export function said(words, axes) {
  return typeof words === "string" ? words : drawSpans(words ?? [], axes);
}
