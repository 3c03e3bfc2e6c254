// What is inside one box of the matrix: the small graph of its kernels, or a list where a graph would say less.
import { readBox } from "./data.js";
import { boxDag, dagOf } from "./dag.js";
import { boxList } from "./list.js";
import { h } from "../../core/dom.js";

const WIDEST = 1600;
const MOST = 160; // kernels in a graph
const TOO_NARROW = 1.8; // a picture that many times as wide as the pane starts as a list

/** What closes the box that is open in a host. @type {WeakMap<HTMLElement, () => void>} */
const closers = new WeakMap();

/**
 * Opens a box of the graph in `host`, which must be positioned, over what is there and in place of a box that is open
 * there already. Returns what closes it. A stub of another box opens that one in its place; `changed(box)` tells which
 * is open now, -1 for none.
 * @param {import("../../core/store.js").Store} store @param {number} box @param {HTMLElement} host
 * @param {(box: number) => void} [changed]
 * @param {boolean} [isQuiet] whether the page opens it by itself: then the reader's focus stays where it is
 * @returns {() => void}
 */
export function openBox(store, box, host, changed = () => {}, isQuiet = false) {
  const { data } = store;
  if (!data || data.header.graph?.missing) return () => {};
  closers.get(host)?.();
  const before = /** @type {HTMLElement | null} */ (
    /** @type {Document | ShadowRoot} */ (host.getRootNode()).activeElement
  );
  const pane = h("section", { class: isQuiet ? "boxpane quiet" : "boxpane", role: "region" });
  // Until the reader turns to it, the wheel is the notebook's.
  for (const turn of ["pointerdown", "focusin"]) pane.addEventListener(turn, () => pane.classList.remove("quiet"));
  const close = () => {
    stop();
    if (!pane.isConnected) return;
    pane.remove();
    changed(-1);
    if (before?.isConnected) before.focus({ preventScroll: true });
  };
  let stop = () => {};
  let isFirst = isQuiet;
  const show = (/** @type {number} */ number) => {
    stop();
    stop = fill(store, pane, number, { close, show }, isFirst);
    isFirst = false;
    changed(number);
  };
  pane.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation(); // the selection stays
    event.preventDefault();
    close();
  });
  host.append(pane);
  closers.set(host, close);
  show(box);
  return close;
}

/** @typedef {{close: () => void, show: (box: number) => void}} Moves */

/**
 * One box in the pane; returns what ends its listening.
 * @param {import("../../core/store.js").Store} store @param {HTMLElement} pane @param {number} box @param {Moves} moves
 * @param {boolean} isQuiet
 */
function fill(store, pane, box, moves, isQuiet) {
  const data = /** @type {import("../../core/blob.js").Store} */ (store.data);
  const content = readBox(data, box);
  const dag = content.kernels.length > MOST || content.isList ? null : dagOf(content, data);
  const canDraw = dag !== null && dag.picture.width <= WIDEST;
  let isList = !canDraw || dag.picture.width > TOO_NARROW * pane.clientWidth;
  let stop = () => {};
  const body = h("div.boxbody");
  const button = canDraw
    ? h(
        "button.button",
        {
          onclick: () => {
            isList = !isList;
            draw(true);
          },
        },
        "As list",
      )
    : null;
  const why =
    dag && !canDraw
      ? "Too wide to draw: a list."
      : content.isList
        ? "Most kernels here are not connected: a list."
        : canDraw
          ? ""
          : "Too many kernels to draw: a list.";
  const draw = (/** @type {boolean} */ isAgain) => {
    stop();
    if (button) button.textContent = isList ? "As graph" : "As list";
    const view = isList || !dag ? boxList(store, content, moves) : boxDag(store, content, dag, moves);
    body.replaceChildren(view.element);
    view.update();
    stop = listening(store, view.update);
    if (!isAgain) view.focus();
    body.scrollLeft = (body.scrollWidth - body.clientWidth) / 2;
    view.reveal();
  };
  pane.setAttribute("aria-label", `Inside ${content.title}`);
  pane.replaceChildren(
    h(
      "header.boxhead",
      h("h3.boxtitle", h("bdi", content.title)),
      h(
        "div.boxbuttons",
        button,
        h(
          "button.button",
          { "aria-label": "Close (Escape)", title: "Close (Escape)", onclick: moves.close },
          "\u00d7 Close",
        ),
      ),
      h("p.dim.boxfacts", `${content.facts.join(" \u00b7 ")}. Attribution of kernels to boxes is modelled. ${why}`),
    ),
    body,
  );
  draw(isQuiet);
  return () => stop();
}

/**
 * What goes with the selection now, by store: one listener for all boxes that are opened, since a store forgets none.
 * @type {WeakMap<import("../../core/store.js").Store, {update: () => void}>}
 */
const followers = new WeakMap();

/**
 * Runs `update` when the selection changes, until what it returns is called or another box is opened.
 * @param {import("../../core/store.js").Store} store @param {() => void} update
 */
function listening(store, update) {
  let slot = followers.get(store);
  if (!slot) {
    const made = (slot = { update });
    followers.set(store, made);
    store.listen((changed) => changed.has("selection") && made.update());
  }
  const mine = slot;
  mine.update = update;
  return () => {
    if (mine.update === update) mine.update = () => {};
  };
}
