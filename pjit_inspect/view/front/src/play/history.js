// Every variant as a row: a click goes back to it. Rows can be sorted, named, and taken as the base.
import { h } from "../core/dom.js";
import { walk } from "../core/options.js";
import { follow, refill } from "./keep.js";

/** Rows drawn at once; searches try hundreds. */
const AT_ONCE = 40;

/** @type {[key: string, words: string][]} */
const COLUMNS = [
  ["number", "#"],
  ["change", "change"],
  ["mesh", "mesh"],
  ["sent", "sends"],
  ["memory", "memory"],
  ["time", "time"],
  ["fits", "fits"],
];

const FIGURES = ["sent", "memory", "time"];

/** @param {import("./store.js").PlayStore} store */
export function history(store) {
  const how = h("span.plain");
  const head = h("tr");
  const body = h("tbody", { onkeydown: (/** @type {KeyboardEvent} */ event) => key(store, body, event) });
  const note = h("p.dim.small");
  const lacks = h("p.problem.lacks", { role: "status", hidden: true });
  const more = h("button.more", { hidden: true });
  let shown = AT_ONCE;
  const draw = follow(
    store,
    () => [store.data.history, store.data.number, store.data.base, store.sort, shown, store.isLive, store.lacking],
    (again) => {
      const { history: all } = store.data;
      how.textContent = all.words;
      note.textContent = all.how;
      lacks.hidden = store.lacking === null;
      lacks.textContent = store.lacking === null ? "" : `Variant ${store.lacking}: ${store.lost || all.lacks}`;
      refill(
        head,
        COLUMNS.filter(([name]) => all.columns.includes(name)).map(([name, words]) =>
          h(
            "th",
            { scope: "col", class: `is-${name}`, "aria-sort": sorted(store, name) },
            sorter(store, name, all.titles[name] ?? words, again),
          ),
        ),
      );
      const rows = sortedRows(store);
      refill(
        body,
        rows.slice(0, shown).map((row) => variant(store, row)),
      );
      more.hidden = rows.length <= shown;
      more.textContent = `${rows.length - shown} more variants`;
    },
  );
  more.addEventListener("click", () => {
    shown += 10 * AT_ONCE;
    draw();
  });
  return h(
    "section.part",
    h("h2.minor", "Variants tried ", how),
    h("table.history", { role: "grid", "aria-label": "Variants tried" }, h("thead", head), body),
    more,
    lacks,
    note,
  );
}

/** @param {import("./store.js").PlayStore} store @param {string} name */
function sorted(store, name) {
  if (store.sort.key !== name) return null;
  return store.sort.reversed ? "descending" : "ascending";
}

/** @param {import("./store.js").PlayStore} store @param {string} name @param {string} words @param {() => void} draw */
function sorter(store, name, words, draw) {
  const mark = store.sort.key === name ? (store.sort.reversed ? " \u2193" : " \u2191") : "";
  return h(
    "button.sorter",
    {
      "data-key": `sort:${name}`,
      onclick: () => {
        store.sort = { key: name, reversed: store.sort.key === name && !store.sort.reversed };
        draw();
      },
    },
    words,
    mark,
  );
}

/** Rows in the chosen order; what is not known stands last. @param {import("./store.js").PlayStore} store @returns {any[]} */
export function sortedRows(store) {
  const { key, reversed } = store.sort;
  const sign = reversed ? -1 : 1;
  const value = (/** @type {any} */ row) => (key === "number" ? row.number : row.order[key]);
  return [...store.data.history.rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null) || a.number - b.number;
    return sign * (x < y ? -1 : x > y ? 1 : 0) || a.number - b.number;
  });
}

/** @param {import("./store.js").PlayStore} store @param {any} row */
function variant(store, row) {
  const isNow = row.number === store.data.number;
  const isLacking = row.kept === false;
  const rename = (/** @type {any} */ event) =>
    store.send({ type: "rename", number: row.number, name: event.target.value });
  const name =
    isNow && store.isLive
      ? h("input.field.naming", {
          "data-key": `name:${row.number}`,
          value: row.name,
          placeholder: "name it",
          "aria-label": `Name of variant ${row.number}`,
          onchange: rename,
          onclick: (/** @type {Event} */ event) => event.stopPropagation(),
          onkeydown: (/** @type {KeyboardEvent} */ event) => {
            event.stopPropagation();
            if (event.key === "Enter") rename(event);
          },
        })
      : row.name
        ? h("b", `${row.name} `)
        : null;
  const isBase = row.number === store.data.base;
  return h(
    "tr",
    {
      "data-number": row.number,
      "data-key": `row:${row.number}`,
      class: isLacking ? "unkept" : null,
      title: isLacking ? "this page has its figures only" : null,
      "aria-disabled": isLacking ? "true" : null,
      tabindex: isNow ? 0 : -1,
      "aria-selected": String(isNow),
      onclick: () => store.goBack(row.number),
    },
    h("td.dim", row.number),
    h(
      "td.is-change",
      { title: row.change },
      h("span.two-lines", name, row.change, isBase ? h("span.dim", " (base)") : null),
    ),
    h("td.is-mesh", row.mesh),
    FIGURES.filter((one) => store.data.history.columns.includes(one)).map((one) =>
      h("td", { class: `is-${one}${row.known[one] ? "" : " dim"}` }, row[one]),
    ),
    h("td.is-fits", { title: row.why }, row.problem ? h("span.mark", "\u25b2 ") : null, row.fits),
  );
}

/** @param {import("./store.js").PlayStore} store @param {HTMLElement} body @param {KeyboardEvent} event */
function key(store, body, event) {
  const row = /** @type {HTMLElement} */ (event.composedPath()[0]);
  if (event.key !== "b" || row.tagName !== "TR")
    return walk(body.querySelectorAll("tr"), event, (to) => store.goBack(Number(to.dataset.number)));
  store.send({ type: "base", number: Number(row.dataset.number) });
  event.preventDefault();
  event.stopPropagation();
}
