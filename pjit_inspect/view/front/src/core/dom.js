// Elements. Text is only ever set as text, so that no name of the user's program can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** Items each key moves by. @type {Record<string, number>} */
const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/**
 * @template {HTMLElement | SVGElement} E
 * @param {E} element
 * @param {Record<string, any>} props
 * @param {any[]} children
 * @returns {E}
 */
function fill(element, props, children) {
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style")
      for (const [name, one] of Object.entries(value)) element.style.setProperty(name, String(one));
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** @param {string} tag @param {Record<string, any>} [props] @param {...any} children @returns {HTMLElement} */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** @param {string} tag @param {Record<string, any>} [props] @param {...any} children @returns {SVGElement} */
export function s(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

/** Arrow keys, Home and End move along items. @param {KeyboardEvent} event @param {number} at @param {number} count */
export function moved(event, at, count) {
  if (!count) return null;
  if (event.key in STEPS) return Math.max(0, Math.min(count - 1, at + STEPS[event.key]));
  if (event.key === "Home") return 0;
  return event.key === "End" ? count - 1 : null;
}

/**
 * A row of tabs, each a key, its words, and what it shows in a sentence; `chosen(key)` runs on a choice.
 * @param {string} label
 * @param {[string, any, string?][]} items
 * @param {() => string} current
 * @param {(key: string) => void} chosen
 */
export function tabs(label, items, current, chosen) {
  const buttons = items.map(([key, words, title]) =>
    h("button", { type: "button", role: "tab", title, "data-tab": key, onclick: () => chosen(key) }, words),
  );
  const bar = h(
    "div",
    {
      class: "tabs",
      role: "tablist",
      "aria-label": label,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const to = moved(
          event,
          items.findIndex(([key]) => key === current()),
          items.length,
        );
        if (to === null) return;
        event.preventDefault();
        chosen(items[to][0]);
        buttons[to].focus();
      },
    },
    buttons,
  );
  const update = () => {
    items.forEach(([key], i) => {
      buttons[i].setAttribute("aria-selected", String(key === current()));
      buttons[i].tabIndex = key === current() ? 0 : -1;
    });
  };
  update();
  return { bar, update };
}

/** What calls `paint` at the next frame, once however often it is called before. @param {() => void} paint */
export function onceAFrame(paint) {
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      paint();
    });
  };
}
