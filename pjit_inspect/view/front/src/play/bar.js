// A bar of pieces in the colours of axes, with marks: the base, the chip's limit, the lower end of a range.
import { h } from "../core/dom.js";
import { axisClass } from "../core/spans.js";

/**
 * @typedef {{parts: [share: number, axes: string[] | string, hatched: boolean][], tick: number | null,
 *   limit?: number | null, low?: number | null}} BarData shares of the bar's length; "ink" and "held" are no axes
 */

/** @param {BarData | null} data @param {string[]} axes all axes, in the order of their colours */
export function bar(data, axes) {
  if (!data) return h("span.bar", { "aria-hidden": "true" });
  let at = 0;
  const parts = data.parts.map(([share, of, hatched]) => {
    const left = at;
    at += share;
    const hue = typeof of === "string" ? of : axisClass(of, axes);
    return h("i", { class: `${hue}${hatched ? " hatched" : ""}`, style: { left: part(left), width: part(share) } });
  });
  const mark = (/** @type {number | null | undefined} */ where, /** @type {string} */ name) =>
    where === null || where === undefined ? null : h("i", { class: name, style: { left: part(where) } });
  const low = data.low ? h("i.low", { style: { width: part(data.low) } }) : null;
  return h(
    "span.bar",
    { "aria-hidden": "true" },
    h("span.track", parts),
    low,
    mark(data.tick, "tick"),
    mark(data.limit, "limit"),
  );
}

/** @param {number} share */
const part = (share) => `${Math.min(100, Math.max(0, 100 * share))}%`;
