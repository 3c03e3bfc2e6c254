// A button that opens a box. Escape and the button close it.
import { h } from "./dom.js";

/**
 * @param {import("./store.js").Store} store @param {Record<string, any>} props of the button
 * @param {any} words on the button @param {HTMLElement} box @param {() => void} [opening] runs before it is shown
 */
export function popover(store, props, words, box, opening = () => {}) {
  box.hidden = true;
  const toggle = () => show(Boolean(box.hidden));
  const button = h(
    "button",
    { ...props, class: `button ${props.class ?? ""}`, "aria-expanded": "false", onclick: toggle },
    words,
  );
  const show = (/** @type {boolean} */ isShown) => {
    if (isShown) opening();
    box.hidden = !isShown;
    button.setAttribute("aria-expanded", String(isShown));
  };
  store.closers.push(() => {
    if (box.hidden) return false;
    show(false);
    button.focus({ preventScroll: true });
    return true;
  });
  return { button, show };
}
