// The page that compares two programs: starts itself from the data in the page.
import { fromBase64, inflate, openBlob } from "../core/blob.js";
import { h, tabs } from "../core/dom.js";
import stylesCss from "../core/styles.css";
import { themeCss } from "../core/theme.js";
import { axisBars } from "./axes.js";
import compareCss from "./compare.css";
import { details } from "./details.js";
import { graph } from "./graph.js";
import { head } from "./head.js";
import { fitFrame } from "./height.js";
import { list } from "./list.js";
import { sayOfParts } from "./status.js";
import { CompareStore } from "./store.js";

const PANES = {
  list: "What changed, one a row",
  graph: "Both programs, scopes by phases",
  details: "What is selected, before and after",
  axes: "What is sent over each mesh axis",
};
/** Pixels under which there is one pane, as in `compare.css`. */
const NARROW = 760;

/** @param {HTMLElement} root @param {any} first */
function mount(root, first) {
  const store = new CompareStore(first);
  const isPart = first.incomplete.length > 0;
  if (isPart) sayOfParts();
  const panes = tabs(
    "Panes",
    Object.entries(PANES).map(([one, title]) => [one, one, title]),
    () => store.state.pane,
    (pane) => store.set({ pane }),
  );
  panes.bar.classList.add("panes");
  const frame = h(
    "div",
    { class: `frame compare${isPart ? " of-parts" : ""}`, "data-pane": "list" },
    head(store),
    panes.bar,
    list(store),
    graph(store),
    details(store),
    axisBars(store),
  );
  store.isNarrow = () => root.clientWidth < NARROW;
  store.listen((changed) => {
    if (!changed.has("pane")) return;
    frame.dataset.pane = store.state.pane;
    panes.update();
  });
  root.classList.add("pjit-inspector");
  root.replaceChildren(frame);
  return store;
}

/** A theme that the address asks for: `#theme=dark`. */
function followHash() {
  const theme = new URLSearchParams(location.hash.slice(1)).get("theme");
  if (theme) document.documentElement.dataset.theme = theme;
}

async function start() {
  const root = document.getElementById("pjit-inspector");
  const first = document.getElementById("pjit-first");
  const blob = document.getElementById("pjit-blob");
  if (!root || !first || !blob) return;
  followHash();
  const store = mount(root, JSON.parse(first.textContent ?? ""));
  try {
    store.open(openBlob(await inflate(fromBase64(blob.textContent ?? ""))));
    requestAnimationFrame(() => fitFrame(root));
    performance.mark("pjit-ready");
    root.setAttribute("data-ready", "true");
  } catch (error) {
    root.append(h("p", { class: "nothing" }, `The rest of this page could not be read: ${error}`));
  }
}

document.head.append(h("style", {}, `${themeCss}\n${stylesCss}\n${compareCss}`));
start();
