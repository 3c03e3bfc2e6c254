// The graph as a tree for keyboard and screen reader: rows, their boxes, their lines. It has the focus; the canvas
// draws where it is. Built when the pane is idle or the focus comes, so that opening a row waits for nothing.
import { h } from "../../core/dom.js";
import { cellKey } from "../data/fold.js";

/**
 * @typedef {import("../data/matrix.js").Layout} Layout
 * @typedef {import("../data/matrix.js").Box} Box
 * @typedef {import("../data/words.js").Words} Words
 * @typedef {{
 *   key: string,
 *   level: number,
 *   name: string,
 *   expanded: boolean | null,
 *   item: import("../data/fold.js").Item,
 *   box: Box | null,
 *   line: number,
 * }} Node
 */

/**
 * Every item of the tree, top to bottom. `openBoxes` are keys of cells whose lines are items too.
 * @param {Layout} layout @param {Words} words @param {Set<number>} openBoxes @returns {Node[]}
 */
export function nodesOf(layout, words, openBoxes) {
  /** @type {Node[]} */
  const nodes = [];
  for (const item of layout.view.items) {
    const isClosed = item.row >= 0 && item.fold >= 0 && layout.view.isClosed[item.fold] === 1;
    const level = item.depth + 1;
    const canOpen = item.isUnfolded || words.graph.children[item.row]?.length > 0;
    const fold =
      isClosed || item.isUnfolded
        ? `, ${words.fold(item.fold).times}, ${isClosed ? words.fold(item.fold).shown : "side by side"}`
        : "";
    nodes.push({
      key: item.isUnfolded ? `f${item.fold}` : `r${item.row}`,
      level,
      name: words.row(item, isClosed) + fold,
      expanded: canOpen ? item.isOpen : null,
      item,
      box: null,
      line: -1,
    });
    if (item.row < 0) continue;
    for (const { phase } of layout.columns) {
      const key = cellKey(item.row, phase);
      const box = layout.at.get(key);
      if (!box) continue;
      const hasLines = box.lines.length > 0;
      const isOpen = openBoxes.has(key);
      nodes.push({
        key: `b${key}`,
        level: level + 1,
        name: words.box(box.cell, box.lines),
        expanded: hasLines ? isOpen : null,
        item,
        box,
        line: -1,
      });
      if (isOpen)
        box.lines.forEach((line, i) =>
          nodes.push({
            key: `l${key},${i}`,
            level: level + 2,
            name: words.fullLine(line),
            expanded: null,
            item,
            box,
            line: i,
          }),
        );
    }
  }
  return nodes;
}

/**
 * The tree's element. `act` is told of Enter, `open` of arrows that open and close, `moved` of the item that has the
 * focus.
 * @param {{
 *   nodes: () => Node[],
 *   act: (node: Node) => void,
 *   open: (node: Node, isOpen: boolean) => void,
 *   moved: (node: Node | null) => void,
 *   key: (event: KeyboardEvent) => void,
 * }} on
 */
export function graphTree(on) {
  const prefix = `pjit-tree-${++trees}-`;
  const element = h("div.offscreen.graphtree", {
    role: "tree",
    tabindex: 0,
    "aria-label": "Graph: scopes by phases. Arrows move, Enter opens or selects.",
  });
  /** @type {Node[]} */
  let nodes = [];
  let current = "";
  const at = () => nodes.findIndex((node) => node.key === current);
  const point = (/** @type {number} */ to) => {
    const node = nodes[to] ?? null;
    current = node?.key ?? "";
    const child = /** @type {HTMLElement | undefined} */ (element.children[to]);
    element.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
    child?.setAttribute("aria-selected", "true");
    if (child) element.setAttribute("aria-activedescendant", child.id);
    else element.removeAttribute("aria-activedescendant");
    on.moved(document.activeElement === element || element.getRootNode() instanceof ShadowRoot ? node : null);
  };
  const update = () => {
    nodes = on.nodes();
    element.replaceChildren(
      ...nodes.map((node, i) =>
        h(
          "div",
          {
            id: prefix + i,
            role: "treeitem",
            "aria-level": node.level,
            "aria-expanded": node.expanded === null ? undefined : String(node.expanded),
            "aria-selected": String(node.key === current),
          },
          h("bdi", node.name),
        ),
      ),
    );
    if (current && at() < 0) current = "";
    if (current) element.setAttribute("aria-activedescendant", prefix + at());
  };
  element.addEventListener("focus", () => {
    update();
    point(Math.max(0, at()));
  });
  element.addEventListener("blur", () => on.moved(null));
  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = target(event.key, nodes, at());
    if (to === null) return on.key(event);
    event.preventDefault();
    if (typeof to === "number") return point(to);
    if (to.open === null) on.act(nodes[at()]);
    else on.open(nodes[at()], to.open);
    update();
    point(Math.max(0, at()));
  });
  const choose = (/** @type {string} */ key) => {
    current = key;
  };
  return { element, update, choose };
}

let trees = 0;

/**
 * Where a key leads: an item, or that the current one is opened (`open`), or done (null).
 * @param {string} key @param {Node[]} nodes @param {number} at @returns {number | {open: boolean | null} | null}
 */
export function target(key, nodes, at) {
  if (!nodes.length) return null;
  const node = nodes[at] ?? nodes[0];
  if (key === "ArrowDown") return Math.min(nodes.length - 1, at + 1);
  if (key === "ArrowUp") return Math.max(0, at - 1);
  if (key === "Home") return 0;
  if (key === "End") return nodes.length - 1;
  if (key === "Enter" || key === " ") return { open: null };
  if (key === "ArrowRight") {
    if (node.expanded === false) return { open: true };
    return nodes[at + 1]?.level > node.level ? at + 1 : at;
  }
  if (key === "ArrowLeft") {
    if (node.expanded) return { open: false };
    for (let i = at - 1; i >= 0; i--) if (nodes[i].level < node.level) return i;
    return at;
  }
  return null;
}
