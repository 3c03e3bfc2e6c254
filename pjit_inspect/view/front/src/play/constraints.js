// The constraints that the user's program has, on, off or with another spec; and those that a preset or a search put in.
import { h } from "../core/dom.js";
import { dimensions, isWide } from "./dims.js";
import { onChange, refill, said } from "./keep.js";
import { trouble } from "./mesh.js";

/** @param {import("./store.js").PlayStore} store @param {import("./chooser.js").Chooser} chooser */
export function constraints(store, chooser) {
  const rows = h("div", { class: "groups", role: "list" });
  const part = h("section", { class: "part" }, h("h2", { class: "minor" }, "Constraints"), rows);
  const draw = onChange(
    () => [store.data.constraints, store.data.axes, store.wish.constraints, store.isLive],
    () => {
      part.hidden = !store.data.constraints.length;
      refill(
        rows,
        store.data.constraints.map((/** @type {any} */ one) => constraint(store, chooser, one)),
      );
    },
  );
  store.listen(draw);
  draw();
  return part;
}

/** @param {import("./store.js").PlayStore} store @param {import("./chooser.js").Chooser} chooser @param {any} one */
function constraint(store, chooser, one) {
  const wish = store.wish.constraints[one.key];
  const isOn = wish === undefined ? one.on : wish !== false;
  return h(
    "div",
    { class: `group${one.changed ? " changed" : ""}${isWide(store, one.dims) ? " wide" : ""}`, role: "listitem" },
    h("span", {}),
    h("span", { class: "name" }, said(one.words, store.data.axes), h("span", { class: "dim small" }, one.place)),
    one.dims.length && isOn
      ? dimensions(store, chooser, { key: one.key, name: one.name, dims: one.dims, field: "constraints" })
      : h("span", { class: "dims" }),
    h(
      "button",
      {
        type: "button",
        class: "tie",
        role: "switch",
        "data-key": `constraint:${one.key}`,
        "aria-checked": String(isOn),
        "aria-label": one.new ? `new constraint ${one.name}` : `constraint ${one.name}`,
        disabled: !store.isLive,
        onclick: () => store.set({ constraints: { [one.key]: !isOn } }),
      },
      isOn ? (one.new ? "take out" : "on") : "off",
    ),
    one.problem ? h("div", { class: "problem" }, trouble(store, one.problem)) : null,
  );
}
