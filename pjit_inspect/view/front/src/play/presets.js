// The layouts of the textbooks, each a button that sets every control at once; one that is none here says why.
import { h } from "../core/dom.js";
import { onChange, refill } from "./keep.js";

/** @param {import("./store.js").PlayStore} store @param {(words: string) => void} say */
export function presets(store, say) {
  const chips = h("div", { class: "chips", role: "group", "aria-label": "Presets" });
  const reason = h("p", { class: "dim small whynot", hidden: true });
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
    "section",
    { class: "part presets", hidden: !store.isLive },
    h("h2", { class: "minor" }, "Presets ", h("span", { class: "plain" }, "set arguments, constraints and results")),
    chips,
    reason,
  );
  const draw = onChange(
    () => [store.data.presets, store.isLive],
    () => {
      part.hidden = !store.isLive;
      tell("");
      refill(
        chips,
        store.data.presets.map((/** @type {any} */ one) =>
          h(
            "button",
            {
              type: "button",
              class: "chip",
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
  store.listen(draw);
  draw();
  return part;
}
