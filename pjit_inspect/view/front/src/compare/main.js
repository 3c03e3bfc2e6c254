// The page that compares two programs: starts itself from the data in the page.
import { h, tabs } from "../core/dom.js";
import { startPage } from "../core/page.js";
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

startPage(`${themeCss}\n${stylesCss}\n${compareCss}`, (root, first) => {
  const store = mount(root, first);
  return (data) => {
    store.open(data);
    requestAnimationFrame(() => fitFrame(root));
  };
});
