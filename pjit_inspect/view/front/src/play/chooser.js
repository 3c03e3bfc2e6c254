// A list that opens beside a button. What cannot be chosen stays in it, with the reason: it can be reached and is read
// aloud, and Enter on it only says why.
import { h, moved } from "../core/dom.js";
import { axisClass } from "../core/spans.js";

/**
 * @typedef {{axes?: string[], value?: string, words: string, detail: string, allowed: boolean}} Option
 */

/** One list at a time, in a frame that it never leaves. */
export class Chooser {
  /** @param {HTMLElement} frame @param {(words: string) => void} say */
  constructor(frame, say) {
    this.frame = frame;
    this.say = say;
    /** @type {HTMLElement | null} */
    this.list = null;
    this.key = "";
    frame.addEventListener("pointerdown", (event) => {
      const target = /** @type {Node} */ (event.composedPath()[0]);
      if (this.list && !this.list.contains(target) && !this.button()?.contains(target)) this.close(false);
    });
  }

  /** The button it belongs to, which may have been drawn anew. @returns {HTMLElement | null} */
  button() {
    return /** @type {HTMLElement | null} */ (
      [...this.frame.querySelectorAll("[data-key]")].find((one) => /** @type {any} */ (one).dataset.key === this.key) ??
        null
    );
  }

  /**
   * @param {HTMLElement} button @param {string} title @param {Option[]} options
   * @param {number} chosen which of them is in force @param {string[]} axes @param {(option: Option) => void} pick
   */
  open(button, title, options, chosen, axes, pick) {
    const isOpen = this.list && this.key === button.dataset.key;
    this.close(false);
    if (isOpen) return;
    this.key = button.dataset.key ?? "";
    let at = Math.max(0, chosen);
    const rows = options.map((one, i) =>
      h(
        "div",
        {
          role: "option",
          id: `pjit-option-${i}`,
          "aria-selected": String(i === chosen),
          "aria-disabled": one.allowed ? null : "true",
          onclick: () => take(i),
          onpointermove: () => mark(i),
        },
        h("span", { "aria-hidden": "true" }, i === chosen ? "\u2713" : ""),
        h("b", { class: one.axes?.length ? `axis ${axisClass(one.axes, axes)}` : "" }, one.words),
        h("span.detail", one.detail),
      ),
    );
    const mark = (/** @type {number} */ to) => {
      rows[at].classList.remove("at");
      at = to;
      rows[at].classList.add("at");
      list.setAttribute("aria-activedescendant", rows[at].id);
    };
    const take = (/** @type {number} */ i) => {
      if (!options[i].allowed) {
        this.say(`${options[i].words}: ${options[i].detail}`);
        rows[i].classList.remove("refuses");
        requestAnimationFrame(() => rows[i].classList.add("refuses"));
        return;
      }
      this.close(true);
      if (i !== chosen) pick(options[i]);
    };
    const list = h(
      "div.chooser",
      {
        role: "listbox",
        tabindex: 0,
        "aria-label": title,
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          const to = moved(event, at, options.length);
          if (to !== null) mark(to);
          else if (event.key === "Enter" || event.key === " ") take(at);
          else if (event.key === "Escape" || event.key === "Tab") this.close(true);
          else return;
          event.preventDefault();
          event.stopPropagation();
        },
        onblur: () => setTimeout(() => this.list === list && !this.holdsFocus() && this.close(false)),
      },
      h("p.dim", { "aria-hidden": "true" }, title),
      rows,
    );
    this.list = list;
    this.frame.append(list);
    button.setAttribute("aria-expanded", "true");
    this.place(button);
    mark(at);
    list.focus({ preventScroll: true });
  }

  holdsFocus() {
    const root = /** @type {Document | ShadowRoot} */ (this.frame.getRootNode());
    return this.list?.contains(root.activeElement) ?? false;
  }

  /** @param {HTMLElement} button */
  place(button) {
    const { list, frame } = this;
    if (!list) return;
    const [box, area] = [button.getBoundingClientRect(), frame.getBoundingClientRect()];
    const left = Math.min(box.left - area.left, area.width - list.offsetWidth - 6);
    list.style.left = `${Math.max(6, left)}px`;
    list.style.top = `${box.bottom - area.top + 3}px`;
  }

  /** @param {boolean} isBack whether the button gets the focus */
  close(isBack) {
    const { list } = this;
    if (!list) return;
    this.list = null;
    list.remove();
    const button = this.button();
    button?.setAttribute("aria-expanded", "false");
    if (isBack) button?.focus({ preventScroll: true });
  }
}
