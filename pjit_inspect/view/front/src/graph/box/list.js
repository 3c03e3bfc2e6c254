// The kernels of one box as a list, in schedule order, where a graph would say less.
import { axesOf, kernelLines, kernelTitle } from "./data.js";
import { isSelected, reveal, selectKernel } from "./selection.js";
import { h } from "../../core/dom.js";
import { walk } from "../../core/options.js";
import { bytesText, thousands } from "../../core/format.js";
import { glyph } from "../../core/glyphs.js";
import { axisClass } from "../../core/spans.js";

const PAGE = 300;

/**
 * @param {import("../../core/store.js").Store} store @param {import("./data.js").BoxContent} content
 * @param {import("./pane.js").Moves} moves
 * @returns {{element: Element, update: () => void, focus: () => void, reveal: () => void}}
 */
export function boxList(store, content, moves) {
  const data = /** @type {import("../../core/blob.js").Store} */ (store.data);
  let limit = PAGE;
  /** @type {HTMLElement[]} */
  let options = [];
  const list = h("div", {
    class: `boxrows${content.kernels.some((one) => one.args.length) ? "" : " noargs"}`,
    role: "listbox",
    "aria-label": `Kernels of ${content.title}`,
    onkeydown: (/** @type {KeyboardEvent} */ event) =>
      walk(options, event, (option) => selectKernel(store, content.kernels[options.indexOf(option)])),
  });
  const update = () =>
    options.forEach((option, i) => option.setAttribute("aria-selected", String(isSelected(store, content.kernels[i]))));
  const draw = () => {
    options = content.kernels.slice(0, limit).map((one, i) => row(store, data, one, i));
    list.replaceChildren(...options);
    update();
    more.hidden = content.kernels.length <= limit;
    more.textContent = `${thousands(content.kernels.length - limit)} more`;
  };
  const more = h("button.more", {
    onclick: () => {
      limit += PAGE * 4;
      draw();
    },
  });
  draw();
  const element = h("div.boxlist", stubs(content, moves, true), list, more, stubs(content, moves, false));
  const chosen = () => options.find((option) => option.getAttribute("aria-selected") === "true");
  return {
    element,
    update,
    focus: () => (chosen() ?? options[0])?.focus({ preventScroll: true }),
    reveal: () => {
      const row = chosen();
      if (row) reveal(row);
    },
  };
}

/**
 * @param {import("../../core/store.js").Store} store @param {import("../../core/blob.js").Store} data
 * @param {import("./data.js").BoxKernel} one @param {number} index
 */
function row(store, data, one, index) {
  const set = axesOf(one, data);
  const kind = set ? data.header.collectives[data.column("graph.collective.row")[one.collective]].kind : "kernel";
  const args = one.args.length
    ? `\u2190 ${one.args.slice(0, 3).join(", ")}${one.args.length > 3 ? ` +${one.args.length - 3}` : ""}`
    : "";
  return h(
    "div",
    {
      class: `boxrow ${set ? axisClass(set.axes, store.first.axes) : "ax-none"}${one.mixes.length ? " mixed" : ""}`,
      role: "option",
      tabindex: index ? -1 : 0,
      title: kernelLines(one, data).join("\n"),
      onclick: () => selectKernel(store, one),
    },
    glyph(kind),
    h("span.name", h("bdi", `${one.matmuls && !set ? "\u00d7 " : ""}${kernelTitle(one, data)}`)),
    h("span.code.dim.name", h("bdi", one.name)),
    h("span.dim.name.args", args ? h("bdi", args) : null),
    h("span.size", one.bytes < 0 ? "" : bytesText(one.bytes)),
  );
}

/**
 * What comes from other boxes, or goes there.
 * @param {import("./data.js").BoxContent} content @param {import("./pane.js").Moves} moves @param {boolean} isIn
 */
function stubs(content, moves, isIn) {
  const all = content.stubs.filter((stub) => stub.isIn === isIn);
  if (!all.length) return null;
  return h(
    "p.boxstubs.dim",
    isIn ? "from " : "to ",
    all.flatMap((stub, i) => {
      const words = `${stub.words} ${bytesText(stub.bytes)}`;
      const shown =
        stub.box < 0
          ? h("span", { title: stub.more.join("\n") }, words)
          : h("button.link", { onclick: () => moves.show(stub.box) }, words);
      return [i ? " \u00b7 " : "", shown];
    }),
  );
}
