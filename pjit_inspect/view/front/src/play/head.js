// The top: what is shown, the three numbers, how far they are computed, and against which variant.
import { choice, h } from "../core/dom.js";
import { bar } from "./bar.js";
import { follow, refill, said } from "./keep.js";

/** Milliseconds after which a kernel that has not heard of a change is said to be busy. */
const PATIENCE_MS = 1500;

/** @param {import("./store.js").PlayStore} store */
export function head(store) {
  const what = h("h1.what");
  const answer = h("p.answer");
  const buttons = h("div.buttons");
  follow(
    store,
    () => [store.data.title, store.data.answer, store.data.can_inspect, store.opening, store.isLive],
    () => {
      const { title, answer: words, axes, can_inspect } = store.data;
      refill(what, [said(title, axes)]);
      refill(answer, [said(words, axes)]);
      const open = h(
        "button.button",
        {
          "data-key": "inspect",
          disabled: !can_inspect,
          "aria-disabled": store.opening ? "true" : null,
          onclick: () => store.openPage("inspect"),
        },
        store.opening === "inspect" ? "Opening the inspector \u2026" : "Open inspector of this variant",
      );
      refill(buttons, store.isLive ? [open] : []);
    },
  );
  return h("div.top", h("div.title", what, buttons), answer);
}

/** @param {import("./store.js").PlayStore} store */
export function numbers(store) {
  const cells = [0, 1, 2].map(() => h("section.number"));
  const strip = h("div.numbers", { role: "group", "aria-label": "Bytes, memory and time" }, cells);
  follow(
    store,
    () => [store.data.numbers, store.isWaiting],
    () => {
      const { numbers: all, axes } = store.data;
      strip.setAttribute("aria-busy", String(store.isWaiting || all.some((/** @type {any} */ one) => one.dim)));
      cells.forEach((cell, at) => {
        const one = all[at];
        cell.classList.toggle("old", one.dim || store.isWaiting);
        refill(cell, [
          h("h2.minor", one.label),
          h(
            "p.big",
            one.problem ? h("span.mark", "\u25b2 ") : null,
            one.approximate ? h("span.approximate", { title: "modelled, not counted" }, "\u2248 ") : null,
            one.value,
            one.unit ? h("small", ` ${one.unit}`) : null,
            one.more ? h("small", ` ${one.more}`) : null,
            one.change ? [" ", h("span.change", one.change)] : null,
          ),
          bar(one.bar, axes),
          h("p.known", said(one.how, axes)),
        ]);
      });
    },
  );
  // It stays in sight: what is scrolled to stops below it.
  const measure = () => strip.parentElement?.style.setProperty("--strip", `${strip.offsetHeight}px`);
  new ResizeObserver(measure).observe(strip);
  return strip;
}

/** @param {import("./store.js").PlayStore} store */
export function stages(store) {
  const steps = h("ol.steps");
  const full = h("span");
  const against = h("label.against");
  follow(
    store,
    () => [store.data.stages, store.isWaiting],
    () =>
      refill(
        steps,
        store.data.stages.map((/** @type {any} */ one) =>
          h(
            "li",
            { class: store.isWaiting ? "todo" : one.state, "aria-current": one.state === "now" ? "step" : null },
            one.words,
          ),
        ),
      ),
  );
  follow(
    store,
    () => [store.data.full, store.isLive],
    () => refill(full, store.isLive ? [fullButton(store)] : []),
  );
  follow(
    store,
    () => [store.data.bases, store.data.base],
    () => {
      const { bases, base } = store.data;
      const props = { "data-key": "base", "aria-label": null, title: null, disabled: !store.isLive };
      const choose = choice("", bases, base, (number) => store.send({ type: "base", number: Number(number) }), props);
      refill(against, ["against ", choose]);
    },
  );
  return h("div.rail", steps, full, slowness(store), against);
}

/** What is said when the kernel has not heard for a while what was set. @param {import("./store.js").PlayStore} store */
function slowness(store) {
  const words = h("span.dim.slow", { role: "status" });
  let timer = 0;
  store.listen(() => {
    if (store.isWaiting && !timer)
      timer = setTimeout(() => (words.textContent = "the kernel is busy; this is asked when it is free"), PATIENCE_MS);
    if (store.isWaiting) return;
    clearTimeout(timer);
    timer = 0;
    words.textContent = "";
  });
  return words;
}

/** @param {import("./store.js").PlayStore} store */
function fullButton(store) {
  const { state, words } = store.data.full;
  const type = { running: "stop", possible: "full" }[/** @type {string} */ (state)];
  if (!type) return words ? h("span.dim", words) : null;
  return h("button.button", { "data-key": "full", onclick: () => store.send({ type }) }, words);
}
