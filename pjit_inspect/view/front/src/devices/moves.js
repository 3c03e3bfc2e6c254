// What a collective does to its array: a picture before, an arrow, a picture after.
import { h } from "../core/dom.js";
import { drawShards, sideCut } from "./shard.js";

/** @param {any} picture as `view/inspector/moves.py` has it @param {string[]} axes */
export function moves(picture, axes) {
  const half = (/** @type {any} */ one, /** @type {string} */ words) =>
    h(
      "figure",
      drawShards(sideCut(one), { axes, width: 84, label: `${words}: ${one.words}, ${one.caption}` }),
      h("figcaption", `${words}: ${one.caption}`, h("br"), h("code", one.words)),
    );
  const before = half(picture.before, "before");
  const tall = Number(before.querySelector("svg")?.getAttribute("height") ?? 0);
  const arrow = { class: "arrow", "aria-hidden": "true", style: { "margin-top": `${Math.max(16, tall / 2 - 8)}px` } };
  return h(
    "div.moves",
    h("div.pair", before, h("span", arrow, "\u2192"), half(picture.after, "after")),
    h("p.dim.small", picture.note),
  );
}
