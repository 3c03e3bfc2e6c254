// The layouts of the textbooks, each a button that sets every control at once; one that is none here says why.
import { h } from "../core/dom.js";
import { follow, refill } from "./keep.js";

/** @param {import("./store.js").PlayStore} store @param {(words: string) => void} say */
export function presets(store, say) {
  const chips = h("div.chips", { role: "group", "aria-label": "Presets" });
  const reason = h("p.dim.small.whynot", { hidden: true });
  const tell = (/** @type {string} */ why) => {
    reason.hidden = !why;
    reason.textContent = why;
    if (why) say(why);
  };
  const choose = (/** @type {any} */ one) => {
    tell(one.allowed ? "" : `${one.words}: ${one.title}`);
    if (one.allowed && one.preset !== null) store.preset(one.preset);
    else if (one.allowed) store.goBack(one.number);
  };
  const part = h(
    "section.part.presets",
    { hidden: !store.isLive },
    h("h2.minor", "Presets ", h("span.plain", "set arguments, constraints and results")),
    chips,
    reason,
  );
  follow(
    store,
    () => [store.data.presets, store.isLive],
    () => {
      part.hidden = !store.isLive;
      tell("");
      refill(
        chips,
        store.data.presets.map((/** @type {any} */ one) =>
          h(
            "button.chip",
            {
              "data-key": `preset:${one.words}`,
              "aria-pressed": String(one.is_now),
              "aria-disabled": one.allowed ? null : "true",
              "aria-description": one.title,
              title: one.title,
              onclick: () => choose(one),
            },
            one.words,
          ),
        ),
      );
    },
  );
  return part;
}
