// A list of options of which each can have the focus: how keys walk it, and which is marked.
import { moved } from "./dom.js";

/**
 * Arrows, Home and End go on to another option; Enter and Space choose the one there is.
 * @param {Iterable<Element>} options @param {KeyboardEvent} event
 * @param {(option: HTMLElement) => void} chosen
 */
export function walk(options, event, chosen) {
  const all = /** @type {HTMLElement[]} */ ([...options]);
  const at = all.indexOf(/** @type {HTMLElement} */ (event.target));
  const to = event.key === "Enter" || event.key === " " ? at : moved(event, at, all.length);
  if (at < 0 || to === null) return;
  event.preventDefault();
  event.stopPropagation();
  all[to].focus();
  chosen(all[to]);
}

/** Marks one option of a list; it, or else the first, is reached by Tab. @param {Element} list @param {Element | null} option */
export function mark(list, option) {
  for (const one of list.querySelectorAll('[role="option"]:is([aria-selected="true"], [tabindex="0"])')) {
    one.setAttribute("aria-selected", "false");
    one.setAttribute("tabindex", "-1");
  }
  (option ?? list.querySelector('[role="option"]'))?.setAttribute("tabindex", "0");
  option?.setAttribute("aria-selected", "true");
}

/**
 * Scrolls a box, and nothing around it, as far as an element is hidden, with some pixels more.
 * @param {Element} box @param {Element} element @param {number} [more]
 */
export function intoView(box, element, more = 0) {
  const [area, at] = [box.getBoundingClientRect(), element.getBoundingClientRect()];
  const [right, bottom] = [area.left + box.clientWidth, area.top + box.clientHeight];
  if (at.top < area.top) box.scrollTop -= area.top - at.top + more;
  else if (at.bottom > bottom) box.scrollTop += at.bottom - bottom + more;
  if (at.left < area.left) box.scrollLeft -= area.left - at.left + more;
  else if (at.right > right) box.scrollLeft += at.right - right + more;
}
