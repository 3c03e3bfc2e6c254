// A box of words beside the pointer. It never takes the pointer, and never leaves the inspector.
import { h } from "./dom.js";

const AWAY = 14;

/** @typedef {{show: (lines: string[], x: number, y: number) => void, hide: () => void}} Tooltip */

/**
 * The tooltip of a part of the inspector; it hangs on the whole frame, so that no pane cuts it.
 * @param {HTMLElement} near @returns {Tooltip}
 */
export function tooltip(near) {
  const box = h("div.floating", { "aria-hidden": "true", hidden: true });
  return {
    /** At a place of the window; the first line is the title. */
    show(lines, x, y) {
      const frame = near.closest(".frame");
      if (!frame || !lines.length) return;
      if (box.parentNode !== frame) frame.append(box);
      box.replaceChildren(...lines.map((line, i) => h(i ? "p" : "b", {}, h("bdi", line))));
      box.hidden = false;
      const area = frame.getBoundingClientRect();
      const { offsetWidth: width, offsetHeight: height } = box;
      const left = Math.max(4, Math.min(x - area.left + AWAY, area.width - width - 4));
      const under = y - area.top + AWAY;
      const top = under + height + 4 > area.height ? y - area.top - height - AWAY : under;
      box.style.left = `${left}px`;
      box.style.top = `${Math.max(4, top)}px`;
    },
    hide() {
      box.hidden = true;
    },
  };
}
