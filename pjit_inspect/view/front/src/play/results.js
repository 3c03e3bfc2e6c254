// A row for each group of equal results, with a chooser for each dimension: as XLA chooses, until somebody sets it.
import { h } from "../core/dom.js";
import { dimensions } from "./dims.js";
import { follow, refill } from "./keep.js";
import { back, growing, row } from "./rows.js";

/** With more groups than these, or more of them set, they are folded until somebody looks. */
const FEW = 6;

/** @param {import("./store.js").PlayStore} store @param {import("./chooser.js").Chooser} chooser */
export function results(store, chooser) {
  const rows = h("div.groups", { role: "list" });
  const count = h("span.plain");
  const more = growing(() => draw());
  const summary = h("summary", { "data-key": "results" }, h("h2.minor", "Results ", count));
  const part = /** @type {HTMLDetailsElement} */ (h("details.part", summary, rows, more.button));
  let isFirst = true;
  const draw = follow(
    store,
    () => [store.data.results, store.data.axes, store.wish.results, store.isWaiting, more.shown, store.isLive],
    () => {
      const { results: all, results_words } = store.data;
      part.hidden = !all.length;
      const told = all.filter((/** @type {any} */ one) => one.changed || one.problem).length;
      if ((told && told <= FEW) || (isFirst && all.length <= FEW)) part.open = true;
      isFirst = false;
      count.textContent = results_words;
      refill(
        rows,
        all.slice(0, more.shown).map((/** @type {any} */ one) => result(store, chooser, one)),
      );
      more.tell(all.length - more.shown);
    },
  );
  return part;
}

/** @param {import("./store.js").PlayStore} store @param {import("./chooser.js").Chooser} chooser @param {any} one */
function result(store, chooser, one) {
  const wish = store.wish.results[one.key];
  const isFree = wish === undefined ? one.free : wish === null;
  const free = back("let XLA choose", {
    "data-key": `free:${one.key}`,
    "aria-label": `${one.name}: as XLA chooses`,
    title: "Take the spec away: XLA chooses again",
    onclick: () => store.set({ results: { [one.key]: null } }),
  });
  const sub = [one.sub, isFree ? ", as XLA chooses" : ", set", isFree || !store.isLive ? null : [" ", free]];
  return row(store, one, {
    name: [h("code", { title: one.title }, one.name), h("span.dim.small", sub)],
    control: one.dims.length
      ? dimensions(store, chooser, { key: one.key, name: one.name, dims: one.dims, field: "results", isFree })
      : h("span.dims.dim.small", one.scalar),
    held: h("span.held", one.held),
  });
}
