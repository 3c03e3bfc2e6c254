// The details of a value in memory: how it is cut, its bytes, its life, and what it could be.
import { h } from "../core/dom.js";
import { bytesText, percentText, plural, thousands } from "../core/format.js";
import { cutOf, shardPicker } from "../devices/shard.js";
import { lifeWords } from "./data.js";

/**
 * @typedef {{
 *   numbers: (rows: string[][]) => HTMLElement,
 *   placeLink: (store: import("../core/store.js").Store, where: string) => HTMLElement,
 * }} Parts how the page draws figures and places
 */

/** @param {import("../core/store.js").Store} store @param {Parts} parts */
export function drawBuffer(store, { numbers, placeLink }) {
  const row = store.selected;
  const memory = /** @type {import("./data.js").Memory} */ (store.memory);
  const { first, state } = store;
  const kind = memory.kinds[row.kind];
  const cut = cutOf(memory.blob, row.sharding, row.shape);
  const peak = memory.spaces[0].peak;
  const alive = memory.alive(0, peak).find((one) => one.group === state.selection?.row);
  const share = alive && memory.hasCurve ? alive.bytes / memory.total(0)[peak] : 0;
  const how = memory.header.source;
  return [
    h("h2.code", h("bdi", row.name)),
    h(
      "p.sub",
      h("span", { class: `swatch mem-${row.kind}` }),
      ` ${[kind, row.number > 1 && plural(row.number, "buffer"), row.layers && `layers ${row.layers}`].filter(Boolean).join(", ")}`,
    ),
    cut ? shardPicker(cut, { axes: first.axes, label: `${row.name}: ${row.array}, ${row.spec}` }) : "",
    h(
      "p.small",
      row.spec === "not known"
        ? h("span.dim", "Its spec is not known. ")
        : [h("code", row.spec), row.array ? [" of ", h("code", row.array)] : "", ". "],
      h("code", row.local),
      " on each device.",
    ),
    numbers([
      ...(row.unpadded ? [["its elements", row.unpadded, "counted"]] : []),
      ["each, on one device", row.each, row.unpadded ? "with padding" : how],
      ...(row.number > 1 ? [[`all ${thousands(row.number)}`, bytesText(row.number * row.bytes), how]] : []),
      ...(alive
        ? [["at the peak", bytesText(alive.bytes), share ? `${how}, ${percentText(share)}` : how]]
        : [["at the peak", "none", how]]),
    ]),
    ...life(store, memory, row),
    ...(row.place ? [h("h3", "Source"), h("p", placeLink(store, row.place))] : []),
    ...could(row),
  ];
}

/** Who makes it, and who uses it last. @param {import("../core/store.js").Store} store @param {import("./data.js").Memory} memory @param {any} row */
function life(store, memory, row) {
  const words = lifeWords(memory, store.state.selection?.row ?? 0);
  if (!words) return [];
  const value = row.values[0];
  const isArgument = ["argument", "optimizer state"].includes(memory.kinds[row.kind]);
  const lines = [
    isArgument ? h("li", "an argument: there from the beginning") : null,
    end(store, "made by", memory.makerOf[value], row.names[0], row.made, isArgument),
    end(store, "last used by", memory.userOf[value], row.users[0], row.last),
  ].filter(Boolean);
  const turns = row.turns ? [h("li", `${thousands(row.turns)} turns of a loop each write a part of it`)] : [];
  return [
    h("h3", "Its life: ", words, row.number > 1 ? " each" : ""),
    h("ul.facts", lines, turns),
    row.number > 1 && lines.length ? h("p.dim.small", "The first of them is named.") : "",
  ];
}

/**
 * @param {import("../core/store.js").Store} store @param {string} what @param {number} kernel
 * @param {string | undefined} name @param {string} phase @param {boolean} [isArgument]
 */
function end(store, what, kernel, name, phase, isArgument = false) {
  if (kernel < 0 && (!name || isArgument)) return null;
  if (kernel < 0) return h("li", `${what} `, h("code", name));
  return h(
    "li",
    `${what} kernel ${thousands(kernel)}, `,
    h("button.link.code", { onclick: () => store.selectKernel(kernel) }, name ?? "its kernel"),
    phase ? `, ${phase}` : "",
  );
}

/** @param {any} row */
function could(row) {
  if (!row.could.length) return [];
  return [
    h("h3", "What it could be"),
    h(
      "ul.facts",
      row.could.map((/** @type {string} */ words) => h("li", words)),
    ),
  ];
}
