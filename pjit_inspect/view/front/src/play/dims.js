// A button for each dimension of an array: its size, the axes it is split over, and a ruler cut into as many pieces.
import { h } from "../core/dom.js";
import { thousands } from "../core/format.js";
import { axisClass } from "../core/spans.js";

/** Pieces a ruler is cut into at most. */
const MOST_PIECES = 16;

/** Pixels a button is wide at least and at most, beside its letters, and for each of them. */
const [LEAST, MOST, AROUND, LETTER] = [100, 190, 22, 6.9];

/** Those of each state that was drawn. @type {WeakMap<object, number>} */
const widths = new WeakMap();

/** Pixels of buttons that leave room for a name beside them. */
const MOST_BESIDE = 330;

/** Whether the buttons of an array take a line of their own. @param {import("./store.js").PlayStore} store @param {unknown[]} dims */
export const isWide = (store, dims) => dims.length * dimensionWidth(store) > MOST_BESIDE;

/**
 * How wide all buttons are: as the one with the most letters, so that they stand in columns.
 * @param {import("./store.js").PlayStore} store
 */
export function dimensionWidth(store) {
  const known = widths.get(store.data);
  if (known !== undefined) return known;
  const { groups, results, constraints } = store.data;
  const dims = [...groups, ...results, ...constraints].flatMap((one) => [
    ...one.dims,
    ...(one.members ?? []).flatMap((/** @type {any} */ own) => own.dims ?? []),
  ]);
  const letters = dims.map((one) => (one.axes ?? []).join("\u00b7").length + thousands(one.size).length);
  const most = letters.reduce((longest, one) => Math.max(longest, one), 0);
  const width = Math.round(Math.min(MOST, Math.max(LEAST, AROUND + LETTER * most)));
  widths.set(store.data, width);
  return width;
}

/**
 * @typedef {{key: string, id?: string, name: string, dims: import("./store.js").Dimension[],
 *   field: "specs" | "results" | "constraints", isFree?: boolean}} Of what is chosen for, its own id where the kernel
 *   knows it by another, and whether XLA chooses now
 */

/** @param {import("./store.js").PlayStore} store @param {import("./chooser.js").Chooser} chooser @param {Of} of */
export function dimensions(store, chooser, of) {
  const asked = store.spec(of.field, of.key, of.dims);
  return h(
    "span",
    { class: `dims${of.isFree ? " free" : ""}` },
    of.dims.map((dim, at) =>
      dimension(store, chooser, of, at, { ...dim, axes: dim.axes === null && !store.isWaiting ? null : asked[at] }),
    ),
  );
}

/**
 * @param {import("./store.js").PlayStore} store @param {import("./chooser.js").Chooser} chooser @param {Of} of
 * @param {number} at @param {import("./store.js").Dimension} dim
 */
function dimension(store, chooser, of, at, dim) {
  const { axes } = store.data;
  const words = dim.axes === null ? "?" : dim.axes.join("\u00b7") || "\u2014";
  const label =
    dim.axes === null
      ? of.isFree
        ? "not known yet"
        : "split as no axis is"
      : dim.axes.length
        ? `over ${dim.axes.join(", then ")}`
        : "on every device";
  const inside = [
    h(
      "span.dimwords",
      h("span.dim", dim.problem ? h("span.mark", "\u25b2") : null, thousands(dim.size)),
      h("b", { class: dim.axes?.length ? `axis ${axisClass(dim.axes, axes)}` : "dim" }, words),
    ),
    ruler(dim, axes),
  ];
  const marks = `${dim.changed ? ", changed" : ""}${dim.problem ? ", does not divide" : ""}`;
  const name = `${of.name}, dimension ${at}, size ${dim.size}: ${label}${of.isFree ? ", as XLA chooses" : ""}${marks}`;
  const looks = `dimension${dim.changed ? " changed" : ""}${dim.problem ? " bad" : ""}`;
  const title = dim.axes?.length ? `${thousands(dim.size)} over ${dim.axes.join(", then ")}` : null;
  if (!store.isLive) return h("span", { class: looks, role: "img", "aria-label": name, title }, inside);
  const key = `${of.field}:${of.id ?? of.key}:${at}`;
  const pick = (/** @type {import("./chooser.js").Option} */ option) => {
    const next = store.spec(of.field, of.key, of.dims).map((one, i) => (i === at ? (option.axes ?? []) : one));
    store.set({ [of.field]: { [of.key]: next } });
  };
  /** @type {HTMLElement} */
  const button = h(
    "button",
    {
      class: looks,
      "data-key": key,
      "aria-haspopup": "listbox",
      "aria-expanded": "false",
      "aria-label": name,
      title,
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
