// What is alive at a moment, as rows or as a map: name, kind, spec, bytes, and when. Arrow keys walk; a choice selects.
import { h, s } from "../core/dom.js";
import { mark as markOption, walk } from "../core/options.js";
import { bytesText, percentText, thousands } from "../core/format.js";
import { squares } from "./treemap.js";

export const PAGE = 60;
const MAP_CELLS = 70;
const LIFE = { width: 116, height: 14 };
/** Pixels of a cell of the map that hold its words. */
const WORDS = { width: 46, height: 18 };

/**
 * @typedef {import("./data.js").Memory} Memory
 * @typedef {import("./data.js").Alive} Alive
 * @typedef {{memory: Memory, rows: Alive[], rest: number, at: number, by: "kind" | "scope", limit: number, more: () => void}} Shown
 */

/** @param {import("../core/store.js").Store} store @param {Shown} shown */
export function drawRows(store, shown) {
  const { memory, rows, limit } = shown;
  const head = h(
    "div.memrow.memhead",
    { "aria-hidden": "true" },
    ["", "what", "kind", "spec", "each", "all", memory.hasCurve ? "alive" : ""].map((title, i) =>
      h("span", { class: CELLS[i] }, title),
    ),
  );
  const items = rows.slice(0, limit).map((alive) => row(store, shown, alive));
  const left = rows.slice(limit);
  const foot = [
    left.length
      ? h(
          "button.more",
          { onclick: shown.more },
          `${thousands(left.length)} more, ${bytesText(left.reduce((sum, one) => sum + one.bytes, 0))}`,
        )
      : null,
    shown.rest > 0 ? h("p.nothing", `and ${bytesText(shown.rest)} in smaller buffers, which have no name here`) : null,
  ];
  const isSpecKnown = rows.slice(0, limit).some(({ group }) => memory.rows[group].spec !== "not known");
  const box = h("div", { class: isSpecKnown ? "" : "nospec" }, head, list(store, "memlist", items));
  return [box, h("div", foot)];
}

const CELLS = ["swatch", "memname", "memkind", "memspec code", "figure memeach", "figure", "memlife"];

/** @param {import("../core/store.js").Store} store @param {string} name @param {HTMLElement[]} items */
function list(store, name, items) {
  const box = h(
    "div",
    {
      class: name,
      role: items.length ? "listbox" : "group",
      "aria-label": "Values, most bytes first",
      onkeydown: (/** @type {KeyboardEvent} */ event) =>
        walk(box.querySelectorAll("[data-group]"), event, (item) =>
          store.select({ type: "buffer", row: Number(item.dataset.group) }),
        ),
    },
    items,
  );
  mark(store, box);
  if (!items.length) box.append(h("p.nothing", "Nothing is alive."));
  return box;
}

/** @param {import("../core/store.js").Store} store @param {Shown} shown @param {Alive} alive */
function row(store, { memory, at }, { group, count, bytes }) {
  const one = memory.rows[group];
  const kind = memory.kinds[one.kind];
  const times = one.number === 1 ? "" : count === one.number ? `\u00d7 ${count}` : `\u00d7 ${count} of ${one.number}`;
  const turns = /** @type {any} */ (one).turns;
  return h(
    "div.memrow",
    {
      role: "option",
      "data-group": group,
      "aria-selected": "false",
      "aria-label": `${one.name}${times && `, ${times}`}, ${kind}, ${bytesText(bytes)}, spec ${one.spec}${one.place && `, ${one.place}`}`,
      tabindex: -1,
      title: [one.name, kind, one.place].filter(Boolean).join("\n"),
      onclick: () => store.select({ type: "buffer", row: group }),
    },
    h("span", { class: `swatch mem-${one.kind}` }),
    h(
      "span.memname",
      h("bdi.code", one.name),
      h("span.dim", ` ${[times, one.place].filter(Boolean).join(" \u00b7 ")}`),
    ),
    h("span.memkind.dim", turns ? `${kind}, ${thousands(turns)} turns` : kind),
    h("span", { class: one.spec === "not known" ? "memspec dim" : "memspec code" }, one.spec),
    h("span.figure.memeach.dim", one.number > 1 ? one.each : ""),
    h("span.figure", bytesText(bytes)),
    h("span.memlife", memory.hasCurve ? life(memory, group, at) : null),
  );
}

/** How much of a row is alive when: a staircase for layers that are saved one after the other. @param {Memory} memory @param {number} group @param {number} at */
function life(memory, group, at) {
  const { values, kind } = memory.rows[group];
  const { width, height } = LIFE;
  /** @type {Map<number, number>} */
  const steps = new Map();
  for (const value of values)
    for (const [from, to] of memory.spans(value)) {
      steps.set(from, (steps.get(from) ?? 0) + 1);
      steps.set(to + 1, (steps.get(to + 1) ?? 0) - 1);
    }
  const x = (/** @type {number} */ kernel) => Math.round((10 * (kernel * width)) / memory.kernels) / 10;
  let now = 0;
  let most = 0;
  const ordered = [...steps].sort((a, b) => a[0] - b[0]);
  for (const [, step] of ordered) most = Math.max(most, (now += step));
  now = 0;
  let path = "";
  for (const [kernel, step] of ordered) {
    const y = (/** @type {number} */ count) => Math.round(10 * (height - 1 - (count / most) * (height - 3))) / 10;
    path += `${path ? "L" : "M"}${x(kernel)} ${y(now)}`;
    now += step;
    path += `L${x(kernel)} ${y(now)}`;
  }
  return s(
    "svg",
    { class: `mem-${kind}`, width, height, "aria-hidden": "true" },
    s("path.ground", { d: `M0 ${height - 0.5}H${width}` }),
    s("path.span", { d: path }),
    at >= 0 ? s("path.pin", { d: `M${x(at + 0.5)} 0V${height}` }) : null,
  );
}

/** @param {import("../core/store.js").Store} store @param {Shown} shown @param {{width: number, height: number}} size */
export function drawMap(store, shown, size) {
  const { memory, rows } = shown;
  /** @type {Map<string, {name: string, rows: Alive[], bytes: number}>} */
  const parts = new Map();
  for (const alive of rows) {
    const one = memory.rows[alive.group];
    const scope = /** @type {any} */ (one).scope.split("/")[0];
    const name = shown.by === "kind" ? memory.kinds[one.kind] : scope || "no scope";
    const part = parts.get(name) ?? { name, rows: /** @type {Alive[]} */ ([]), bytes: 0 };
    part.rows.push(alive);
    part.bytes += alive.bytes;
    parts.set(name, part);
  }
  const ranked = [...parts.values()].sort((a, b) => b.bytes - a.bytes);
  const all = rows.reduce((sum, one) => sum + one.bytes, 0) + shown.rest;
  const areas = squares([...ranked.map((part) => part.bytes), ...(shown.rest > 0 ? [shown.rest] : [])], {
    x: 0,
    y: 0,
    w: size.width,
    h: size.height,
  });
  /** @type {HTMLElement[]} */
  const items = [];
  /** @type {HTMLElement[]} */
  const titles = [];
  ranked.forEach((part, i) => {
    const area = areas[i];
    const hasTitle = area.h > 42 && area.w > 60;
    if (hasTitle)
      titles.push(
        h("span.maptitle", { style: place({ ...area, h: 15 }) }, h("b", part.name), ` ${bytesText(part.bytes)}`),
      );
    const inner = hasTitle ? { ...area, y: area.y + 15, h: area.h - 15 } : area;
    const cells = squares(
      part.rows.map((one) => one.bytes),
      inner,
    );
    part.rows.slice(0, MAP_CELLS).forEach((alive, at) => {
      if (cells[at].w * cells[at].h < 6) return;
      items.push(cell(store, memory, alive, cells[at], all));
    });
  });
  const rest = shown.rest > 0 ? areas[areas.length - 1] : null;
  const box = list(store, "memmap", items);
  box.style.height = `${size.height}px`;
  box.append(...titles);
  if (rest && rest.w > 3)
    box.append(h("span.maprest", { style: place(rest), title: `smaller buffers, ${bytesText(shown.rest)}` }));
  return [box];
}

/** @param {import("./treemap.js").Area} area */
function place({ x, y, w, h: high }) {
  return { left: `${x}px`, top: `${y}px`, width: `${Math.max(0, w - 1)}px`, height: `${Math.max(0, high - 1)}px` };
}

/**
 * @param {import("../core/store.js").Store} store @param {Memory} memory @param {Alive} alive
 * @param {import("./treemap.js").Area} area @param {number} all
 */
function cell(store, memory, { group, count, bytes }, area, all) {
  const one = memory.rows[group];
  const kind = memory.kinds[one.kind];
  const words = `${one.name}${count > 1 ? ` \u00d7 ${count}` : ""}`;
  const part = percentText(bytes / all);
  return h(
    "div",
    {
      class: `mapcell mem-${one.kind}`,
      role: "option",
      "data-group": group,
      "aria-selected": "false",
      "aria-label": `${words}, ${kind}, ${bytesText(bytes)}, ${part}`,
      tabindex: -1,
      title: `${words}\n${kind}, ${bytesText(bytes)}, ${part}`,
      style: place(area),
      onclick: () => store.select({ type: "buffer", row: group }),
    },
    area.w > WORDS.width && area.h > WORDS.height
      ? [h("bdi", words), area.h > 2 * WORDS.height ? h("span", bytesText(bytes)) : null]
      : null,
  );
}

/** Which item is selected. @param {import("../core/store.js").Store} store @param {Element} box */
export function mark(store, box) {
  const { selection } = store.state;
  const found = selection?.type === "buffer" ? box.querySelector(`[data-group="${selection.row}"]`) : null;
  markOption(box, found);
  return found;
}
