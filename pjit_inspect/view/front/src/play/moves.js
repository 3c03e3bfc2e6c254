// What is sent: over each set of axes, by kind of collective, and the few that came and went, with their causes.
import { h } from "../core/dom.js";
import { glyph } from "../core/glyphs.js";
import { axisClass } from "../core/spans.js";
import { bar } from "./bar.js";
import { follow, refill, said } from "./keep.js";

/** @param {import("./store.js").PlayStore} store */
export function byAxis(store) {
  return table(store, {
    title: "Sends, by mesh axis",
    shown: () => store.data.by_axis,
    name: (row) => h("b", { class: `axis ${axisClass(row.axes, store.data.axes)}` }, row.words),
    first: "axis",
  });
}

/** @param {import("./store.js").PlayStore} store */
export function byKind(store) {
  return table(store, {
    title: "Collectives by kind",
    shown: () => store.data.by_kind,
    name: (row) => [glyph(row.kind), " ", row.kind],
    first: "kind",
  });
}

/**
 * @param {import("./store.js").PlayStore} store
 * @param {{title: string, shown: () => any, name: (row: any) => any, first: string}} of
 */
function table(store, of) {
  const how = h("span.plain");
  const head = h("thead");
  const body = h("tbody");
  const nothing = h("p.dim");
  const part = h("section.part", h("h2.minor", of.title, " ", how), h("table.figures", head, body), nothing);
  follow(
    store,
    () => [of.shown(), store.data.axes, store.isWaiting],
    () => {
      const { rows, how: words, columns, missing } = of.shown();
      part.classList.toggle("old", store.isWaiting || Boolean(of.shown().dim));
      how.textContent = words;
      nothing.textContent = missing;
      const titles = [of.first, "", ...columns];
      refill(head, [h("tr", rows.length ? titles.map((one) => (one ? h("th", { scope: "col" }, one) : h("td"))) : [])]);
      refill(
        body,
        rows.map((/** @type {any} */ row) =>
          h(
            "tr",
            h("th", { scope: "row" }, of.name(row)),
            h("td.barcell", bar(row.bar, store.data.axes)),
            row.cells.map((/** @type {string} */ cell) => h("td", cell)),
          ),
        ),
      );
    },
  );
  return part;
}

/** @param {import("./store.js").PlayStore} store */
export function moves(store) {
  const title = h("span");
  const how = h("span.plain");
  const compare = h("span.right");
  const rows = h("ul.moves");
  follow(
    store,
    () => [store.data.moves, store.isWaiting, store.opening, store.isLive],
    () => {
      const { moves: all, axes } = store.data;
      rows.classList.toggle("old", store.isWaiting || Boolean(all.dim));
      title.textContent = all.title;
      how.textContent = all.how;
      const open = h(
        "button.button",
        {
          "data-key": "compare",
          // While XLA is asked, what stands here is of another variant.
          disabled: Boolean(all.dim),
          "aria-disabled": store.opening ? "true" : null,
          onclick: () => store.openPage("compare"),
        },
        store.opening === "compare" ? "Comparing \u2026" : "Compare in full",
      );
      refill(compare, all.can_compare && store.isLive ? [open] : []);
      refill(rows, [
        all.rows.map((/** @type {any} */ row) => move(row, axes)),
        all.rest ? h("li.move.rest", h("span"), h("span.dim", all.rest[0]), h("span.amount", all.rest[1])) : null,
        all.missing ? h("li.dim", all.missing) : null,
      ]);
    },
  );
  return h("section.part", h("h2.minor.headline", title, " ", how, compare), rows);
}

/** @param {any} row @param {string[]} axes */
function move(row, axes) {
  return h(
    "li.move",
    h("span", { class: axisClass(row.axes, axes) }, glyph(row.kind)),
    h("span.movename", row.status ? h("b", `${row.status} `) : null, said(row.what, axes)),
    h("span.amount", row.amount),
    h(
      "span.cause.small.dim",
      { title: row.whole },
      row.kind,
      " ",
      h("b", { class: `axis ${axisClass(row.axes, axes)}` }, row.axes_words),
      row.place ? ` \u00b7 ${row.place}` : "",
      row.cause?.length ? [" \u2014 ", said(row.cause, axes)] : null,
    ),
    h("span.amount.small.dim", row.counts),
  );
}
