// What to change: two lines in the header, and a pane with every row of advice, its code, its figures and its costs.
import { copyButton } from "../core/copy.js";
import { h } from "../core/dom.js";
import { plural } from "../core/format.js";
import { drawAxis, drawSpans } from "../core/spans.js";

/** @typedef {import("../core/store.js").Store} Store */

/** @type {Record<string, string>} */
const STATES = {
  asking: "Counted by XLA's partitioner; other changes in its place are still asked about",
  counted: "Counted as XLA's partitioner makes both programs",
  compiling: "Being compiled to the end",
  compiled: "Both programs were compiled to the end, and not run",
  fact: "A property of the program; nothing needs to be tried",
};

/**
 * The second line of the header: what to change, what it brings, and the button. It keeps its height, whatever is told.
 * @param {Store} store
 */
export function adviceLine(store) {
  const box = h("section.advicehead", { "aria-label": "What to change" });
  const draw = () => {
    box.hidden = !store.advice;
    if (!store.advice) return;
    const { answer, asked, rows, waits } = store.advice;
    const [best] = rows;
    const words = h(
      "p.said.advicewords",
      { role: "status" },
      drawSpans(answer, store.first.axes),
      best && best.state !== "fact"
        ? [best.code ? [": ", written(store, best)] : null, ". ", drawSpans(best.sentence, store.first.axes)]
        : null,
      best ? null : h("span.dim", `: ${asked}`),
    );
    words.title = [words.textContent, best?.code, best && asked].filter(Boolean).join("\n");
    words.classList.toggle("waits", waits);
    const open = h(
      "button.button",
      { "data-key": "open", title: asked, onclick: () => store.set({ centre: "advice", pane: "centre", wide: false }) },
      "Advice",
    );
    redraw(box, [words, best?.code ? copying(best, 0, "Copy the change") : null, best ? open : null]);
  };
  store.draws(["advice"], draw);
  return box;
}

/** Draws a box anew; an answer must not take the focus from the reader. @param {HTMLElement} box @param {any[]} parts */
function redraw(box, parts) {
  const { activeElement } = /** @type {Document | ShadowRoot} */ (box.getRootNode());
  const key = activeElement && box.contains(activeElement) ? activeElement.getAttribute("data-key") : null;
  box.replaceChildren(...parts.filter(Boolean));
  if (key) /** @type {HTMLElement | null} */ (box.querySelector(`[data-key="${key}"]`))?.focus();
}

/** @param {any} one @param {number} at @param {string} words */
const copying = (one, at, words) =>
  copyButton(words, () => one.code, {
    class: words === "Copy" ? "button" : "button primary",
    "data-key": `copy${at}`,
    title: one.code,
  });

/** What to write. @param {Store} store @param {any} one */
const written = (store, one) =>
  one.is_code ? h("code", one.code) : h("span", drawSpans(one.change, store.first.axes));

/** The same, and a button to copy it. @param {Store} store @param {any} one @param {number} at @param {any} more */
function change(store, one, at, more) {
  const copy = one.code ? copying(one, at, "Copy") : null;
  return h("div.advicechange", h("p.written", written(store, one)), copy, more);
}

/** The pane. @param {Store} store */
export function advicePane(store) {
  const box = h("div.advice", { tabindex: 0, role: "region", "aria-label": "Advice" });
  const draw = () => {
    const { summary, rows, notes, waits } = store.advice ?? { summary: [], rows: [], notes: [] };
    redraw(box, [
      h("p", { class: waits ? "waits" : undefined }, drawSpans(summary, store.first.axes)),
      ...rows.map((/** @type {any} */ one, /** @type {number} */ at) => drawRow(store, one, at)),
      ...notes.map((/** @type {string} */ words) => h("p.dim.small", words)),
    ]);
  };
  // With the data there is a kernel to ask, if any.
  store.draws(["advice", "data"], draw);
  return box;
}

/** Which collectives the first change leaves; hidden where it removes none. @param {Store} store */
export function changeSwitch(store) {
  const choice = (/** @type {boolean} */ isChanged, /** @type {string} */ words) =>
    h("button.button", { onclick: () => store.set({ isChanged }) }, words);
  const buttons = [choice(false, "As is"), choice(true, "With the change")];
  const title = "With the change: what it removes is left out, and what comes with it is told below.";
  const box = h("div.switch", { role: "group", "aria-label": "The program", title }, buttons);
  let isKept = false; // once its place is taken, nothing below it moves
  const draw = () => {
    isKept ||= store.removed.size > 0 || Boolean(store.advice?.waits);
    box.hidden = !isKept || store.state.centre !== "graph";
    buttons.forEach((one) => one.toggleAttribute("disabled", !store.removed.size));
    buttons.forEach((one, at) => one.setAttribute("aria-pressed", String(Boolean(at) === store.state.isChanged)));
  };
  store.draws(["advice", "isChanged", "centre"], draw);
  return box;
}

/** What comes with the first change, under the switch. @param {Store} store */
export function brought(store) {
  const box = h("p.brought.small", { role: "status" });
  store.draws(["advice", "isChanged", "centre"], () => {
    const [best] = store.advice?.rows ?? [];
    box.hidden = !best || !store.state.isChanged || store.state.centre !== "graph";
    box.title = "As XLA's partitioner makes them, before its last passes.";
    const each = (/** @type {any} */ { axes, words, number, sent }, /** @type {number} */ at) => [
      at ? ", " : " ",
      `${plural(number, "collective")} over `,
      drawAxis(words, axes, null, store.first.axes),
      ` (${sent})`,
    ];
    const some = best?.brings ?? [];
    box.replaceChildren(
      some.length ? "Comes with the change:" : "No collective comes with the change.",
      ...some.flatMap(each),
    );
  });
  return box;
}

/** How many rows there are, for the tab. @param {Store} store */
export function adviceCount(store) {
  const count = h("span.count");
  const draw = () => {
    count.textContent = store.advice?.rows.length ? ` ${store.advice.rows.length}` : "";
  };
  store.draws(["advice"], draw);
  return count;
}

/** @param {Store} store @param {any} one @param {number} at */
function drawRow(store, one, at) {
  const place = h(
    "button.adviceplace",
    { "data-key": `place${at}`, onclick: () => store.selectName(one.place) },
    h("code", one.place),
  );
  const saving = one.is_layout ? `another layout ${one.saving}` : one.saving;
  return h(
    "article.advicerow",
    { "aria-label": `Advice ${at + 1}` },
    h(
      "p.advicetitle",
      h("span.number", String(at + 1)),
      h("b", one.saving ? saving[0].toUpperCase() + saving.slice(1) : "Worth knowing"),
      one.is_layout ? h("span.dim", "at these sizes") : null,
      one.is_after_others ? h("span.dim", "with those above") : null,
      one.place ? place : null,
      h("span", { class: `known ${one.state}`, title: STATES[one.state] }, one.state),
    ),
    one.change.length || one.code ? change(store, one, at, check(store, one, at)) : null,
    h("p", drawSpans(one.sentence, store.first.axes)),
    one.state === "fact" ? h("p", drawSpans(one.cost, store.first.axes)) : figures(one),
    one.error ? h("p.refused", { role: "alert" }, one.error) : null,
  );
}

/** @param {Store} store @param {any} one @param {number} at */
function check(store, one, at) {
  if (!store.ask || (!one.can_check && one.state !== "compiling")) return null;
  return h(
    "button.button",
    {
      "data-key": `check${at}`,
      disabled: one.state === "compiling",
      title: "Compile the changed program to the end, run nothing, and count",
      onclick: () => store.ask?.({ type: "check", number: at }),
    },
    one.state === "compiling" ? "Compiling" : "Compile",
  );
}

/** Before and after, each with a bar, and what it costs. @param {any} one */
function figures(one) {
  return h(
    "div.advicefigures",
    one.figures.map((/** @type {[string, string, string, string, number, number]} */ figure) => {
      const [name, before, after, words, from, to] = figure;
      return h(
        "div",
        h("p", `${name} ${before} \u2192 `, h("b", after), h("span.dim", words)),
        h("span.from", { style: { width: `${100 * from}%` } }),
        h("span.to", { style: { width: `${100 * to}%` } }),
      );
    }),
    h("p", { class: one.cost === "costs nothing" ? "dim" : "costs" }, one.cost),
  );
}
