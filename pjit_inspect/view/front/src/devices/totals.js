// One bar per set of mesh axes: what each device sends over it. A click filters the list.
import { h } from "../core/dom.js";
import { CLEAR, filteredTotals, isFiltered } from "../core/filters.js";
import { bytesText, plural, thousands } from "../core/format.js";
import { axisClass, drawSpans } from "../core/spans.js";

const TITLE = "Each device sends per call, by mesh axis";
const FILTERS = ["axes", "list", "text", "kind", "cause", "note", "isChanged"];

/** @param {import("../core/store.js").Store} store */
export function totals(store) {
  const { first } = store;
  const rows = first.totals.map((/** @type {any} */ total) => {
    const set = first.axis_sets[total.axes];
    const figures = `sends ${total.sent} (modelled, ring)`;
    const button = h(
      "button",
      {
        class: `total ${axisClass(set.axes, first.axes)}`,
        "aria-pressed": "false",
        title: `${set.words}: ${figures}; ${total.number}`,
        onclick: () => store.set({ list: "collectives", axes: store.state.axes === total.axes ? null : total.axes }),
      },
      h("span.axisname", set.words),
      h("span.track", h("span.fill", { style: { width: `${Math.max(0.8, 100 * total.share)}%` } })),
      h("span.figure", total.sent),
      h("span.count", total.number),
    );
    return { total, button };
  });
  const title = h("h2.minor", { "aria-live": "polite" }, TITLE);
  store.listen((changed) => FILTERS.some((key) => changed.has(key)) && follow(store, title, rows));
  return h(
    "section.totals",
    { "aria-label": TITLE },
    title,
    rows.length ? rows.map((/** @type {any} */ row) => row.button) : h("p.dim", first.unsent ?? "Nothing is sent."),
    first.memory.length ? h("p.memory.dim", drawSpans(first.memory, first.axes)) : null,
    first.measured ? h("p.memory.dim", first.measured) : null,
  );
}

/**
 * The bars show what the list shows; a chosen axis only fades the others.
 * @param {import("../core/store.js").Store} store @param {HTMLElement} title
 * @param {{total: any, button: HTMLElement}[]} rows
 */
function follow(store, title, rows) {
  const { state, first } = store;
  const { sums, number } = filteredTotals(
    store,
    state.list === "collectives" ? state : { ...state, ...CLEAR, list: "collectives" },
  );
  const isPart = state.list === "collectives" && isFiltered({ ...state, axes: null });
  title.textContent = isPart
    ? `Each device sends per call, ${thousands(number)} of ${thousands(first.counts[0])} collectives`
    : TITLE;
  for (const { total, button } of rows) {
    const [sent, count] = sums.get(total.axes) ?? [0, 0];
    const part = total.sent_bytes ? sent / total.sent_bytes : 0;
    button.setAttribute("aria-pressed", String(state.axes === total.axes));
    button.classList.toggle("faded", state.axes !== null && state.axes !== total.axes);
    const [fill, figure, counted] = [".fill", ".figure", ".count"].map(
      (one) => /** @type {HTMLElement} */ (button.querySelector(one)),
    );
    fill.style.width = isPart ? `${100 * total.share * part}%` : `${Math.max(0.8, 100 * total.share)}%`;
    fill.style.minWidth = isPart && !sent ? "0" : "";
    figure.textContent = isPart ? bytesText(Math.round(sent)) : total.sent;
    counted.textContent = isPart ? plural(count, "collective") : total.number;
  }
}
