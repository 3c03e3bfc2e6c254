// How high the inspector is in a notebook: what it shows, up to a limit; a bar at the foot drags it, and what the reader
// chose is the limit from then on. A file of its own fills its window and has no bar.
import { h } from "../core/dom.js";

const KEY = "pjit_inspect.height";
const LEAST = 400;
const MOST = 1600;
const STEP = 24;
/** Limits nobody chose: of rows of boxes; of a picture of all kernels, or where panes stand under each other. */
const LIMIT = 720;
const TALL_LIMIT = 800;

/** @type {number} what was chosen on this page, where it cannot be stored */
let chosenHere = 0;

/**
 * @typedef {{
 *   remembered: () => number,
 *   set: (height: number, isChosen: boolean) => void,
 * }} Place where the inspector stands: the height chosen there, 0 for none; and what makes it higher or lower
 */

/** A widget, which stands in the notebook's own page. @param {HTMLElement} root @returns {Place} */
export function ownPlace(root) {
  return {
    remembered: () => {
      try {
        return Number(localStorage.getItem(KEY)) || chosenHere;
      } catch {
        return chosenHere; // storage is blocked
      }
    },
    set: (height, isChosen) => {
      root.style.setProperty("--pjit-height", `${height}px`);
      if (!isChosen) return;
      chosenHere = height;
      try {
        localStorage.setItem(KEY, String(height));
      } catch {
        // storage is blocked: this page alone remembers
      }
    },
  };
}

/**
 * A frame in a notebook's output: the page around it sets the height, if it has a script that answers
 * (`view/inspector/page.py`).
 * @param {(place: Place) => void} found
 */
export function framePlace(found) {
  const tell = (/** @type {any} */ words) => parent.postMessage({ pjitInspect: words }, "*");
  const hear = (/** @type {MessageEvent} */ event) => {
    const remembered = event.source === parent ? event.data?.pjitInspect?.remembered : undefined;
    if (typeof remembered !== "number") return;
    removeEventListener("message", hear);
    found({ remembered: () => remembered, set: (height, isChosen) => tell({ height, isChosen }) });
  };
  addEventListener("message", hear);
  tell({ isOpen: true });
}

/**
 * Gives the inspector the height of what it shows, and the bar.
 * @param {HTMLElement} root
 * @param {{need: () => number, isTall: () => boolean}} shown what it shows at first would take that many pixels
 * @param {Place} place
 */
export function followHeight(root, { need, isTall }, place) {
  const bounded = (/** @type {number} */ height) => Math.round(Math.max(LEAST, Math.min(MOST, height)));
  const limit = place.remembered() || (isTall() ? TALL_LIMIT : LIMIT);
  const choose = (/** @type {number} */ height) => {
    place.set(bounded(height), true);
    bar.setAttribute("aria-valuenow", String(bounded(height)));
  };
  const bar = h("div.heightbar", {
    role: "separator",
    "aria-orientation": "horizontal",
    "aria-label": "Height of the inspector",
    "aria-valuemin": LEAST,
    "aria-valuemax": MOST,
    title: "Drag to make it higher or lower (\u2191 \u2193)",
    tabindex: 0,
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const step = { ArrowDown: STEP, ArrowUp: -STEP }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      choose(root.offsetHeight + step);
    },
  });
  let from = 0;
  bar.addEventListener("pointerdown", (event) => {
    from = root.offsetHeight - event.screenY; // of the screen: what is dragged moves under the pointer
    bar.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  bar.addEventListener("pointermove", (event) => {
    if (bar.hasPointerCapture(event.pointerId)) choose(from + event.screenY);
  });
  root.classList.add("dragged");
  root.append(bar);
  const first = bounded(Math.min(need() + bar.offsetHeight, limit));
  bar.setAttribute("aria-valuenow", String(first));
  place.set(first, false);
}
