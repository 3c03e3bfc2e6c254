// Two bars for each set of mesh axes: what is sent over it before (hollow) and after (filled), on one scale.
import { h } from "../core/dom.js";
import { axisClass } from "../core/spans.js";
import { statusWords } from "./status.js";

/** @param {import("./store.js").CompareStore} store */
export function axisBars(store) {
  const { first } = store;
  const { unit, rows } = first.bars;
  const buttons = rows.map((/** @type {any} */ row) => {
    const set = first.axis_sets[row.axes];
    return h(
      "button",
      {
        class: `axisrow ${axisClass(set.axes, first.axes)}`,
        "aria-pressed": "false",
        onclick: () =>
          store.filter({ list: "collectives", axes: store.state.axes === row.axes ? null : row.axes, status: null }),
      },
      h("span.axis", { title: set.words }, set.words),
      h(
        "span.track",
        { "aria-hidden": "true" },
        h("span.bar.before", { style: { width: `${100 * row.shares[0]}%` } }),
        h("span.bar.after", { style: { width: `${100 * row.shares[1]}%` } }),
      ),
      h("span.sent", row.sent),
      h(
        "span.became",
        first.incomplete.length ? null : [statusWords(row.status), isInBoth(row) ? ` ${row.change}` : null],
      ),
      h("span.dim.number", `${row.counts} ${row.counts === "1" ? "collective" : "collectives"}`),
    );
  });
  store.listen((changed) => {
    if (!changed.has("axes")) return;
    rows.forEach((/** @type {any} */ row, /** @type {number} */ at) =>
      buttons[at].setAttribute("aria-pressed", String(store.state.axes === row.axes)),
    );
  });
  return h(
    "section.totals",
    { "aria-label": "Sends, by mesh axis" },
    h(
      "h2.minor",
      `Each device sends per call (${unit}), by mesh axis${first.incomplete.length ? ", in the part that is there" : ""} `,
      h("span.key", h("i.before"), "before ", h("i.after"), "after"),
    ),
    h("div.axisrows", buttons.length ? buttons : h("p.dim", first.unsent ?? "Nothing is sent.")),
  );
}

/** Whether there is a share to tell. @param {any} row */
const isInBoth = (row) => row.status === "less" || row.status === "more";
