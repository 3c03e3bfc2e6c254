// Puts the panes together, and the keys that work everywhere.
import { h, tabs } from "../core/dom.js";
import { details } from "./details.js";
import { CLEAR, isFiltered } from "../core/filters.js";
import { graph } from "../graph/pane/pane.js";
import { copyText } from "../core/copy.js";
import { header } from "./header.js";
import { list } from "./list.js";
import { mesh } from "../devices/mesh.js";
import { schedule } from "../schedule/pane.js";
import { Store } from "../core/store.js";
import { texts } from "./texts.js";
import { totals } from "../devices/totals.js";
import { traffic } from "../devices/traffic.js";

const NARROW = 640;
const PANES = [
  ["list", "List"],
  ["details", "Details"],
  ["centre", "Program"],
  ["mesh", "Mesh"],
];

/**
 * Draws an inspector into `root`; call `store.open` when the rest of its data is there.
 * @param {HTMLElement} root @param {any} first
 */
export function mount(root, first) {
  const store = new Store(first);
  root.classList.add("pjit-inspector");
  root.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab's own keys would act on the cell
  store.isNarrow = () => root.clientWidth <= NARROW;
  const live = h("p", { class: "offscreen", "aria-live": "polite" });
  const paneBar = tabs(
    "Panes",
    /** @type {any} */ (PANES),
    () => store.state.pane,
    (key) => store.set({ pane: key }),
  );
  paneBar.bar.classList.add("panes");
  const middle = centre(store);
  const frame = h(
    "div",
    { class: first.counts[0] ? "frame" : "frame quiet" },
    header(store),
    paneBar.bar,
    list(store),
    middle,
    details(store),
    totals(store),
    mesh(store),
    live,
  );
  root.replaceChildren(frame);
  const classes = () => {
    frame.classList.toggle("wide", store.state.wide);
    for (const [key] of PANES) frame.classList.toggle(`pane-${key}`, store.state.pane === key);
  };
  classes();
  store.listen((changed) => {
    if (changed.has("pane") || changed.has("wide")) classes();
    if (changed.has("pane")) paneBar.update();
    if (changed.has("selection")) live.textContent = spoken(store);
    if (changed.has("data") && !store.state.selection) store.select(opening(store), true);
  });
  root.addEventListener("keydown", (event) => keys(store, root, event));
  return store;
}

/**
 * What is selected at first: the dearest collective; where there is none, the first array.
 * @param {import("../core/store.js").Store} store
 * @returns {import("../core/store.js").Selection | null}
 */
function opening(store) {
  if (store.rows("collectives").length) return { type: "collective", row: 0 };
  return store.rows("arrays").length ? { type: "array", row: 0 } : null;
}

/** @param {import("../core/store.js").Store} store */
function spoken(store) {
  const row = store.selected;
  if (!row) return store.selectionName();
  return [row.kind ?? row.role, row.what ?? row.name, row.sent ?? row.all ?? row.traffic].join(", ");
}

/** The tabs in the middle. @param {import("../core/store.js").Store} store */
function centre(store) {
  const { bar: textBar, box: textBox } = texts(store);
  const views = { text: textBox, traffic: traffic(store), graph: graph(store, schedule(store)) };
  const bar = tabs(
    "What the middle shows",
    [
      ["graph", "Graph"],
      ["text", "Linked text"],
      ["traffic", "Traffic"],
    ],
    () => store.state.centre,
    (key) => store.set({ centre: key }),
  );
  const box = h(
    "section",
    { class: "centre", "aria-label": "Program" },
    h("div", { class: "centrebar" }, bar.bar, textBar),
    Object.values(views),
  );
  const update = () => {
    bar.update();
    for (const [key, view] of Object.entries(views)) view.hidden = key !== store.state.centre;
    textBar.hidden = store.state.centre !== "text";
  };
  store.listen((changed) => changed.has("centre") && update());
  update();
  return box;
}

/** @param {import("../core/store.js").Store} store @param {HTMLElement} root @param {KeyboardEvent} event */
function keys(store, root, event) {
  const target = /** @type {HTMLElement} */ (event.target);
  event.stopPropagation();
  if (event.key === "Escape") {
    if (isFiltered(store.state)) store.set(CLEAR);
    else store.select(null);
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input, select, textarea")) return;
  /** @type {Record<string, () => void>} */
  const actions = {
    "/": () => {
      store.set({ pane: "list" });
      /** @type {HTMLElement | null} */ (root.querySelector(".filter"))?.focus();
    },
    t: () => store.set({ centre: "text", pane: "centre" }),
    g: () => store.set({ centre: "graph", pane: "centre" }),
    m: () => store.set({ centre: "traffic", pane: "centre" }),
    w: () => store.set({ wide: !store.state.wide }),
    c: () => copyText(store, /** @type {HTMLElement} */ (root.querySelector(".buttons .button"))),
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}
