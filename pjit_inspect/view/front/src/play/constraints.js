// The constraints that the user's program has, on, off or with another spec; and those that a preset or a search put in.
import { h } from "../core/dom.js";
import { dimensions } from "./dims.js";
import { follow, refill, said } from "./keep.js";
import { row, tie } from "./rows.js";

/** @param {import("./store.js").PlayStore} store @param {import("./chooser.js").Chooser} chooser */
export function constraints(store, chooser) {
  const rows = h("div.groups", { role: "list" });
  const part = h("section.part", h("h2.minor", "Constraints"), rows);
  follow(
    store,
    () => [store.data.constraints, store.data.axes, store.wish.constraints, store.isLive],
    () => {
      part.hidden = !store.data.constraints.length;
      refill(
        rows,
        store.data.constraints.map((/** @type {any} */ one) => constraint(store, chooser, one)),
      );
    },
  );
  return part;
}

/** @param {import("./store.js").PlayStore} store @param {import("./chooser.js").Chooser} chooser @param {any} one */
function constraint(store, chooser, one) {
  const wish = store.wish.constraints[one.key];
  const isOn = wish === undefined ? one.on : wish !== false;
  const props = {
    "data-key": `constraint:${one.key}`,
    "aria-label": one.new ? `new constraint ${one.name}` : `constraint ${one.name}`,
    onclick: () => store.set({ constraints: { [one.key]: !isOn } }),
  };
  return row(store, one, {
    name: [said(one.words, store.data.axes), h("span.dim.small", one.place)],
    control:
      one.dims.length && isOn
        ? dimensions(store, chooser, { key: one.key, name: one.name, dims: one.dims, field: "constraints" })
        : h("span.dims"),
    held: tie(store, isOn, isOn ? (one.new ? "take out" : "on") : "off", props),
  });
}
