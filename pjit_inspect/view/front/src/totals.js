// One bar per set of mesh axes: what each device sends over it. A click filters the list.
import { h } from "./dom.js";
import { axisClass, drawSpans } from "./spans.js";

/** @param {import("./store.js").Store} store */
export function totals(store) {
  const { first } = store;
  const rows = first.totals.map((/** @type {any} */ total) => {
    const set = first.axis_sets[total.axes];
    const button = h("button", { type: "button", class: `total ${axisClass(set.axes, first.axes)}`, "aria-pressed": "false", title: `${set.words}: payload ${total.payload} (counted), sent ${total.sent} (modelled, ring); ${total.number} collectives`, onclick: () => store.set({ list: "collectives", axes: store.state.axes === total.axes ? null : total.axes }) },
      h("span", { class: "axisname" }, set.words), h("span", { class: "track" }, h("span", { class: "fill", style: { width: `${Math.max(0.8, 100 * total.share)}%` } })),
      h("span", { class: "figure" }, total.sent), h("span", { class: "count" }, total.number));
    store.listen((changed) => {
      if (!changed.has("axes")) return;
      button.setAttribute("aria-pressed", String(store.state.axes === total.axes));
      button.classList.toggle("faded", store.state.axes !== null && store.state.axes !== total.axes);
    });
    return button;
  });
  return h("section", { class: "totals", "aria-label": "Sent per device and call, by mesh axis" },
    h("h3", {}, "Sent per device and call, by mesh axis"), rows.length ? rows : h("p", { class: "dim" }, "Nothing is sent."),
    first.memory.length ? h("p", { class: "memory dim" }, drawSpans(first.memory, first.axes)) : null);
}
