// The top: what is shown, the three numbers, how far they are computed, and against which variant.
import { h } from "../core/dom.js";
import { bar } from "./bar.js";
import { onChange, refill, said } from "./keep.js";

/** Milliseconds after which a kernel that has not heard of a change is said to be busy. */
const PATIENCE_MS = 1500;

/** @param {import("./store.js").PlayStore} store */
export function head(store) {
  const what = h("h1", { class: "what" });
  const answer = h("p", { class: "answer" });
  const buttons = h("div", { class: "buttons" });
  const draw = onChange(
    () => [store.data.title, store.data.answer, store.data.can_inspect, store.opening, store.isLive],
    () => {
      const { title, answer: words, axes, can_inspect } = store.data;
      refill(what, [said(title, axes)]);
      refill(answer, [said(words, axes)]);
      const open = h(
        "button",
        {
          type: "button",
          class: "button",
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
  store.listen(draw);
  draw();
  return h("div", { class: "top" }, h("div", { class: "title" }, what, buttons), answer);
}

/** @param {import("./store.js").PlayStore} store */
export function numbers(store) {
  const cells = [0, 1, 2].map(() => h("section", { class: "number" }));
  const strip = h("div", { class: "numbers", role: "group", "aria-label": "Bytes, memory and time" }, cells);
  const draw = onChange(
    () => [store.data.numbers, store.isWaiting],
    () => {
      const { numbers: all, axes } = store.data;
      strip.setAttribute("aria-busy", String(store.isWaiting || all.some((/** @type {any} */ one) => one.dim)));
      cells.forEach((cell, at) => {
        const one = all[at];
        cell.classList.toggle("old", one.dim || store.isWaiting);
        refill(cell, [
          h("h2", { class: "minor" }, one.label),
          h(
            "p",
            { class: "big" },
            one.problem ? h("span", { class: "mark" }, "\u25b2 ") : null,
            one.approximate ? h("span", { class: "approximate", title: "modelled, not counted" }, "\u2248 ") : null,
            one.value,
            one.unit ? h("small", {}, ` ${one.unit}`) : null,
            one.more ? h("small", {}, ` ${one.more}`) : null,
            one.change ? [" ", h("span", { class: "change" }, one.change)] : null,
          ),
          bar(one.bar, axes),
          h("p", { class: "known" }, said(one.how, axes)),
        ]);
      });
    },
  );
  store.listen(draw);
  draw();
  // It stays in sight: what is scrolled to stops below it.
  const measure = () => strip.parentElement?.style.setProperty("--strip", `${strip.offsetHeight}px`);
  new ResizeObserver(measure).observe(strip);
  return strip;
}

/** @param {import("./store.js").PlayStore} store */
export function stages(store) {
  const steps = h("ol", { class: "steps" });
  const full = h("span", {});
  const slow = slowness(store);
  const against = h("label", { class: "against" });
  const drawSteps = onChange(
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
  const drawFull = onChange(
    () => [store.data.full, store.isLive],
    () => refill(full, store.isLive ? [fullButton(store)] : []),
  );
  const drawBase = onChange(
    () => [store.data.bases, store.data.base],
    () => {
      const { bases, base } = store.data;
      const choose = h(
        "select",
        {
          "data-key": "base",
          onchange: (/** @type {any} */ event) => store.send({ type: "base", number: Number(event.target.value) }),
          disabled: !store.isLive,
        },
        bases.map((/** @type {[number, string]} */ [number, words]) =>
          h("option", { value: number, selected: number === base }, words),
        ),
      );
      refill(against, ["against ", choose]);
    },
  );
  const draw = () => [drawSteps, drawFull, drawBase, slow.draw].forEach((one) => one());
  store.listen(draw);
  draw();
  return h("div", { class: "rail" }, steps, full, slow.words, against);
}

/** What is said when the kernel has not heard for a while what was set. @param {import("./store.js").PlayStore} store */
function slowness(store) {
  const words = h("span", { class: "dim slow", role: "status" });
  let timer = 0;
  const draw = () => {
    if (store.isWaiting && !timer)
      timer = setTimeout(() => (words.textContent = "the kernel is busy; this is asked when it is free"), PATIENCE_MS);
    if (store.isWaiting) return;
    clearTimeout(timer);
    timer = 0;
    words.textContent = "";
  };
  return { words, draw };
}

/** @param {import("./store.js").PlayStore} store */
function fullButton(store) {
  const { full } = store.data;
  if (full.state === "running")
    return h(
      "button",
      { type: "button", class: "button", "data-key": "full", onclick: () => store.send({ type: "stop" }) },
      full.words,
    );
  if (full.state !== "possible") return full.words ? h("span", { class: "dim" }, full.words) : null;
  return h(
    "button",
    { type: "button", class: "button", "data-key": "full", onclick: () => store.send({ type: "full" }) },
    full.words,
  );
}
