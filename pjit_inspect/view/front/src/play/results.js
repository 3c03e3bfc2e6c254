// A row for each group of equal results, with a chooser for each dimension: as XLA chooses, until somebody sets it.
import { h } from "../core/dom.js";
import { plural } from "../core/format.js";
import { dimensions, isWide } from "./dims.js";
import { onChange, refill } from "./keep.js";
import { trouble } from "./mesh.js";

/** With more groups than these, or more of them set, they are folded until somebody looks. */
const FEW = 6;
/** Rows that are drawn at once. */
const AT_ONCE = 60;

/** @param {import("./store.js").PlayStore} store @param {import("./chooser.js").Chooser} chooser */
export function results(store, chooser) {
  const rows = h("div", { class: "groups", role: "list" });
  const count = h("span", { class: "plain" });
  const more = h("button", { type: "button", class: "more", hidden: true, onclick: () => grow() });
  const part = /** @type {HTMLDetailsElement} */ (
    h(
      "details",
      { class: "part" },
      h("summary", { "data-key": "results" }, h("h2", { class: "minor" }, "Results ", count)),
      rows,
      more,
    )
  );
  let shown = AT_ONCE;
  let isFirst = true;
  const grow = () => {
    shown += 4 * AT_ONCE;
    draw();
  };
  const draw = onChange(
    () => [store.data.results, store.data.axes, store.wish.results, store.isWaiting, shown, store.isLive],
    () => {
      const { results: all, results_words } = store.data;
      part.hidden = !all.length;
      const told = all.filter((/** @type {any} */ one) => one.changed || one.problem).length;
      if ((told && told <= FEW) || (isFirst && all.length <= FEW)) part.open = true;
      isFirst = false;
      count.textContent = results_words;
      refill(
        rows,
        all.slice(0, shown).map((/** @type {any} */ one) => result(store, chooser, one)),
      );
      more.hidden = all.length <= shown;
      more.textContent = plural(all.length - shown, "more group");
    },
  );
  store.listen(draw);
  draw();
  return part;
}

/** @param {import("./store.js").PlayStore} store @param {import("./chooser.js").Chooser} chooser @param {any} one */
function result(store, chooser, one) {
  const wish = store.wish.results[one.key];
  const isFree = wish === undefined ? one.free : wish === null;
  const back = h(
    "button",
    {
      type: "button",
      class: "back",
      "data-key": `free:${one.key}`,
      "aria-label": `${one.name}: as XLA chooses`,
      title: "Take the spec away: XLA chooses again",
      onclick: () => store.set({ results: { [one.key]: null } }),
    },
    "let XLA choose",
  );
  return h(
    "div",
    { class: `group${one.changed ? " changed" : ""}${isWide(store, one.dims) ? " wide" : ""}`, role: "listitem" },
    h("span", {}),
    h(
      "span",
      { class: "name" },
      h("code", { title: one.title }, one.name),
      h(
        "span",
        { class: "dim small" },
        one.sub,
        isFree ? ", as XLA chooses" : ", set",
        isFree || !store.isLive ? null : [" ", back],
      ),
    ),
    one.dims.length
      ? dimensions(store, chooser, { key: one.key, name: one.name, dims: one.dims, field: "results", isFree })
      : h("span", { class: "dims dim small" }, one.scalar),
    h("span", { class: "held" }, one.held),
    one.problem ? h("div", { class: "problem" }, trouble(store, one.problem)) : null,
  );
}
