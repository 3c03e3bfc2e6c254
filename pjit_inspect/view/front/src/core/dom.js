// Elements. Text is only ever set as text, so that no name of the user's program can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** Items each key moves by. @type {Record<string, number>} */
const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/**
 * @template {HTMLElement | SVGElement} E
 * @param {E} element @param {string[]} classes @param {any[]} parts properties, where they come first, and children
 * @returns {E}
 */
function fill(element, classes, parts) {
  const isGiven = parts[0] && Object.getPrototypeOf(parts[0]) === Object.prototype;
  const [props, children] = isGiven ? [parts[0], parts.slice(1)] : [{}, parts];
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style")
      for (const [name, one] of Object.entries(value)) element.style.setProperty(name, String(one));
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...kept(children));
  return element;
}

/** Children without gaps; a condition that does not hold is one. @param {any[]} children */
export const kept = (children) =>
  children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false);

/** An element, such as `h("p.dim", { title }, words)`: tag and classes, properties, children. @param {string} tag @param {...any} parts @returns {HTMLElement} */
export function h(tag, ...parts) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (name === "button") element.setAttribute("type", "button");
  return fill(element, classes, parts);
}

/** The same of an SVG. @param {string} tag @param {...any} parts @returns {SVGElement} */
export function s(tag, ...parts) {
  const [name, ...classes] = tag.split(".");
  return fill(document.createElementNS(SVG, name), classes, parts);
}

/** What a field has to choose from: values and their words. @param {[any, string][]} all */
const optionsOf = (all) => all.map(([value, words]) => h("option", { value }, words));

/**
 * A field to choose from values; `choose` fills it anew.
 * @param {string} label @param {[any, string][]} all @param {any} value @param {(value: string) => void} chosen
 * @param {Record<string, any>} [props]
 */
export function choice(label, all, value, chosen, props = {}) {
  const attributes = { "aria-label": label, title: label, onchange: () => chosen(field.value), ...props };
  const field = /** @type {HTMLSelectElement} */ (h("select", attributes, optionsOf(all)));
  field.value = String(value);
  return field;
}

/** @param {HTMLSelectElement} field @param {[any, string][]} all */
export const choose = (field, all) => field.replaceChildren(...optionsOf(all));

/** A table; the first cell of a row is its head. @param {string} tag @param {any[]} heads @param {any[][]} rows */
export function table(tag, heads, rows) {
  const head = h(
    "tr",
    heads.map((words) => h("th", { scope: "col" }, words)),
  );
  const body = rows.map(([first, ...rest]) =>
    h(
      "tr",
      h("th", { scope: "row" }, first),
      rest.map((cell) => h("td", cell)),
    ),
  );
  return h(tag, h("thead", head), h("tbody", body));
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
 * @param {string} label @param {[string, any, string?][]} items @param {() => string} current
 * @param {(key: string) => void} chosen
 */
export function tabs(label, items, current, chosen) {
  const buttons = items.map(([key, words, title]) =>
    h("button", { role: "tab", title, "data-tab": key, onclick: () => chosen(key) }, words),
  );
  const bar = h(
    "div.tabs",
    {
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
