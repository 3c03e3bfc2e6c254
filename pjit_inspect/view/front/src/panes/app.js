// Puts the panes together, and the keys that work everywhere.
import { adviceCount, advicePane, brought, changeSwitch } from "./advice.js";
import { h, tabs } from "../core/dom.js";
import { details } from "./details.js";
import { CLEAR, isFiltered, shownRows } from "../core/filters.js";
import { graph } from "../graph/pane/pane.js";
import { header } from "./header.js";
import { list } from "./list.js";
import { memoryPane } from "../memory/pane.js";
import { followDevice } from "../devices/follow.js";
import { mesh } from "../devices/mesh.js";
import { schedule } from "../schedule/pane.js";
import { timePane } from "../seconds/pane.js";
import { Store } from "../core/store.js";
import { texts } from "./texts.js";
import { totals } from "../devices/totals.js";
import { traffic } from "../devices/traffic.js";

const NARROW = 640;
const MIDDLE = 1100;
/** Pixels of the details under the graph, where panes stand under each other. */
const WHY = 236;
const PANES = [
  ["centre", "Overview", "The program: graph, memory, texts, traffic"],
  ["list", "List", "Collectives, arrays and kernels, one a row"],
  ["details", "Details", "What is selected, and why it is there"],
  ["mesh", "Mesh", "The devices, and what each sends"],
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
  const live = h("p.offscreen", { "aria-live": "polite" });
  const paneBar = tabs(
    "Panes",
    /** @type {any} */ (PANES),
    () => store.state.pane,
    (key) => store.set({ pane: key }),
  );
  paneBar.bar.classList.add("panes");
  const sums = totals(store);
  const middle = centre(store);
  const frame = h(
    "div",
    { class: first.mesh.size > 1 ? "frame" : "frame single" },
    header(store),
    paneBar.bar,
    list(store),
    middle,
    details(store),
    sums,
    mesh(store),
    live,
  );
  root.replaceChildren(frame);
  // With the traffic, or with the mesh where that is a pane of its own.
  new ResizeObserver(() => {
    const place = root.clientWidth > NARROW ? middle.querySelector(".traffic") : frame;
    if (sums.parentNode !== place) place?.prepend(sums);
  }).observe(root);
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
  followDevice(store, root);
  root.tabIndex = -1; // a click anywhere brings the keys here
  root.addEventListener("keydown", (event) => keys(store, root, event));
  root.addEventListener("click", (event) => keepFocus(root, /** @type {HTMLElement} */ (event.target)));
  // On a page of its own nothing need be clicked first.
  if (root.ownerDocument.body === root.parentNode)
    document.addEventListener("keydown", (event) => keys(store, root, event));
  return store;
}

/**
 * Pixels that the inspector would like to have: its graph, and the details of what is selected.
 * @param {HTMLElement} root @param {import("../core/store.js").Store} store
 */
export function neededHeight(root, store) {
  const of = (/** @type {string} */ one) => /** @type {HTMLElement | null} */ (root.querySelector(one));
  const { height } = store.graphNeed();
  const graph = (of(".centrebar")?.offsetHeight ?? 0) + height;
  const why = of(".details")?.scrollHeight ?? 0;
  const top = of(".top")?.offsetHeight ?? 0;
  const width = root.clientWidth;
  if (width <= NARROW) return top + (of(".panes")?.offsetHeight ?? 0) + graph + Math.min(why, WHY);
  if (width <= MIDDLE) return top + Math.max(graph, (5 / 3) * Math.min(why, 340));
  return top + Math.max(graph, why);
}

/**
 * What is selected at first: the dearest collective, or the longest where it was measured; where there is none, the
 * longest kernel or, where nothing was measured, the first array.
 * @param {import("../core/store.js").Store} store @returns {import("../core/store.js").Selection | null}
 */
function opening(store) {
  /** @param {string} list */
  const first = (list) => shownRows(store, { ...store.state, list })[0]?.[1];
  const collective = first("collectives");
  if (collective !== undefined) return { type: "collective", row: collective };
  const kernel = store.first.measured ? first("kernels") : undefined;
  if (kernel !== undefined) return { type: "kernel", row: kernel };
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
  const views = {
    graph: graph(store, schedule(store)),
    advice: advicePane(store),
    time: timePane(store),
    memory: memoryPane(store),
    text: textBox,
    traffic: traffic(store),
  };
  const { first } = store;
  const has = (/** @type {string} */ key) =>
    key === "text" || (key === "traffic" ? first.mesh.size > 1 : key === "advice" ? store.advice : first[`has_${key}`]);
  const bar = tabs(
    "What the middle shows",
    [
      ["graph", "Graph", "The program's parts, what flows between them, and their collectives (g)"],
      .../** @type {[string, any, string][]} */ ([
        ["advice", ["Advice", adviceCount(store)], "Changes that XLA was asked about"],
        ["time", "Time", "Where the seconds of a call go (s)"],
        ["memory", "Memory", "What is alive on a device while the program runs (a)"],
        ["text", "Linked text", "Source, jaxpr, StableHLO and HLO side by side (t)"],
        ["traffic", "Traffic", "What each device sends over each mesh axis, and to each other device (m)"],
      ]).filter(([key]) => has(key)),
    ],
    () => store.state.centre,
    (key) => store.set({ centre: key }),
  );
  const box = h(
    "section.centre",
    { "aria-label": "Program" },
    h("div.centrebar", bar.bar, textBar, changeSwitch(store)),
    brought(store),
    Object.values(views),
  );
  const update = () => {
    bar.update();
    for (const [key, view] of Object.entries(views)) view.hidden = key !== store.state.centre;
    textBar.hidden = store.state.centre !== "text";
  };
  store.draws(["centre"], update);
  return box;
}

/**
 * What a key does that no control took. Escape closes what is open, then empties the search or leaves its field, then
 * shows all rows again, then selects nothing.
 * @param {import("../core/store.js").Store} store @param {HTMLElement} root @param {KeyboardEvent} event
 */
function keys(store, root, event) {
  const target = /** @type {HTMLElement} */ (event.target);
  event.stopPropagation();
  const isField = target.matches("input, select, textarea");
  if (event.key === "Escape") {
    if (store.closers.some((close) => close())) event.preventDefault();
    else if (isFiltered(store.state)) store.set(CLEAR);
    else if (isField) root.focus({ preventScroll: true });
    else store.select(null);
    return keepFocus(root, target);
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isField) return;
  const { first } = store;
  /** @type {Record<string, () => void>} */
  const actions = {
    "/": () => {
      store.set({ pane: "list", wide: false });
      /** @type {HTMLElement | null} */ (root.querySelector(".list .filter"))?.focus();
    },
    "?": () => /** @type {HTMLElement | null} */ (root.querySelector(".helpbutton"))?.click(),
    t: () => store.set({ centre: "text", pane: "centre" }),
    s: () => first.has_time && store.set({ centre: "time", pane: "centre" }),
    a: () => first.has_memory && store.set({ centre: "memory", pane: "centre" }),
    g: () => store.set({ centre: "graph", pane: "centre" }),
    m: () => first.mesh.size > 1 && store.set({ centre: "traffic", pane: "centre" }),
    w: () => store.set({ wide: !store.state.wide }),
    c: () => /** @type {HTMLElement | null} */ (root.querySelector(".copytext"))?.click(),
    x: () => store.removed.size && store.set({ isChanged: !store.state.isChanged }),
    n: () => /** @type {HTMLElement | null} */ (root.querySelector(".notesbutton"))?.click(),
    // Where no control has the focus, the arrows are the list's.
    ...(target === root || !root.contains(target)
      ? { ArrowDown: () => store.walk(1), ArrowUp: () => store.walk(-1) }
      : {}),
  };
  const action = actions[event.key];
  if (!action || event.defaultPrevented) return;
  event.preventDefault();
  action();
  keepFocus(root, target);
}

/**
 * What hides a control that had the focus hands it to the inspector, so that keys go on.
 * @param {HTMLElement} root @param {HTMLElement} target
 */
function keepFocus(root, target) {
  const { activeElement } = /** @type {Document | ShadowRoot} */ (root.getRootNode());
  const isLost = !activeElement || activeElement === document.body || activeElement === target;
  if (isLost && !target.getClientRects().length) root.focus({ preventScroll: true });
}
