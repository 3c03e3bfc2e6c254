// A button for each dimension of an array: its size, the axes it is split over, and a ruler cut into as many pieces.
import { h } from "../core/dom.js";
import { thousands } from "../core/format.js";
import { axisClass } from "../core/spans.js";

/** Pieces a ruler is cut into at most. */
const MOST_PIECES = 16;

/**
 * @param {import("./store.js").PlayStore} store
 * @param {import("./chooser.js").Chooser} chooser
 * @param {{key: string, name: string, dims: import("./store.js").Dimension[], field: "specs" | "constraints"}} of
 */
export function dimensions(store, chooser, of) {
  const asked =
    of.field === "specs" ? store.spec(of.key, of.dims) : (asSpec(store.wish.constraints[of.key]) ?? own(of.dims));
  return h(
    "span",
    { class: "dims" },
    of.dims.map((dim, at) =>
      dimension(store, chooser, of, at, { ...dim, axes: dim.axes === null && !store.isWaiting ? null : asked[at] }),
    ),
  );
}

/** @param {import("./store.js").Dimension[]} dims */
const own = (dims) => dims.map((one) => one.axes ?? []);

/** @param {any} asked */
const asSpec = (asked) => (Array.isArray(asked) ? asked : null);

/**
 * @param {import("./store.js").PlayStore} store
 * @param {import("./chooser.js").Chooser} chooser
 * @param {{key: string, name: string, dims: import("./store.js").Dimension[], field: "specs" | "constraints"}} of
 * @param {number} at
 * @param {import("./store.js").Dimension} dim
 */
function dimension(store, chooser, of, at, dim) {
  const { axes } = store.data;
  const words = dim.axes === null ? "?" : dim.axes.join("\u00b7") || "\u2014";
  const label =
    dim.axes === null
      ? "split as no axis is"
      : dim.axes.length
        ? `over ${dim.axes.join(", then ")}`
        : "on every device";
  const inside = [
    h(
      "span",
      { class: "dimwords" },
      h("span", { class: "dim" }, dim.problem ? h("span", { class: "mark" }, "\u25b2") : null, thousands(dim.size)),
      h("b", { class: dim.axes?.length ? `axis ${axisClass(dim.axes, axes)}` : "dim" }, words),
    ),
    ruler(dim, axes),
  ];
  const name = `${of.name}, dimension ${at}, size ${dim.size}: ${label}${dim.changed ? ", changed" : ""}${dim.problem ? ", does not divide" : ""}`;
  const looks = `dimension${dim.changed ? " changed" : ""}${dim.problem ? " bad" : ""}`;
  if (!store.isLive) return h("span", { class: looks, role: "img", "aria-label": name }, inside);
  const key = `${of.field}:${of.key}:${at}`;
  const pick = (/** @type {import("./chooser.js").Option} */ option) => {
    const spec =
      of.field === "specs" ? store.spec(of.key, of.dims) : (asSpec(store.wish.constraints[of.key]) ?? own(of.dims));
    const next = spec.map((one, i) => (i === at ? (option.axes ?? []) : one));
    store.set({ [of.field]: { [of.key]: next } });
  };
  /** @type {HTMLElement} */
  const button = h(
    "button",
    {
      type: "button",
      class: looks,
      "data-key": key,
      "aria-haspopup": "listbox",
      "aria-expanded": "false",
      "aria-label": name,
      onclick: () =>
        chooser.open(
          button,
          `dimension ${at} of ${of.name}`,
          dim.choices,
          dim.choices.findIndex((one) => one.axes.join() === (dim.axes ?? ["?"]).join()),
          axes,
          pick,
        ),
    },
    inside,
  );
  return button;
}

/** @param {import("./store.js").Dimension} dim @param {string[]} axes */
function ruler(dim, axes) {
  const count = dim.axes?.length ? Math.min(MOST_PIECES, Math.max(1, dim.pieces)) : 0;
  const pieces = Array.from({ length: count }, () => h("i"));
  return h("span", { class: `ruler ${count ? axisClass(dim.axes, axes) : "whole"}`, "aria-hidden": "true" }, pieces);
}
