// The one entry: as a page it starts itself from the data in the page, without a kernel; as a widget module, anywidget
// calls `render`.
import { fromBase64, inflate, openBlob } from "../core/blob.js";
import { h } from "../core/dom.js";
import stylesCss from "../core/styles.css";
import { themeCss } from "../core/theme.js";
import { mount } from "./app.js";
import playCss from "./play.css";
import { unpacked } from "./shared.js";
import { PlayStore } from "./store.js";

const css = `${themeCss}\n${stylesCss}\n${playCss}`;

/** A page's own history: every variant it has, with all that is shown of it. @param {PlayStore} store @param {any[]} variants */
function browse(store, variants) {
  store.goBack = (number) => {
    const found = variants.find((one) => one.number === number);
    store.lacking = found ? null : number;
    if (found) store.take({ ...store.data, ...found });
    else store.tell("data");
  };
}

async function startPage() {
  const root = document.getElementById("pjit-inspector");
  const first = document.getElementById("pjit-first");
  const blob = document.getElementById("pjit-blob");
  if (!root || !first || !blob) return;
  const theme = new URLSearchParams(location.hash.slice(1)).get("theme");
  if (theme) document.documentElement.dataset.theme = theme;
  root.classList.remove("page");
  const store = new PlayStore(JSON.parse(first.textContent ?? ""), null);
  mount(root, store);
  try {
    browse(store, unpacked(openBlob(await inflate(fromBase64(blob.textContent ?? ""))).header.variants));
    root.setAttribute("data-ready", "true");
  } catch (error) {
    root.append(h("p", { class: "nothing" }, `The other variants of this page could not be read: ${error}`));
  }
}

/** @param {{model: any, el: HTMLElement}} widget */
function render({ model, el }) {
  const shadow = el.attachShadow ? el.attachShadow({ mode: "open" }) : el;
  const root = h("div");
  shadow.append(h("style", {}, css), root);
  const theme = () => {
    const isLight = document.body.dataset.jpThemeLight; // JupyterLab's theme; elsewhere the browser's preference counts
    root.classList.toggle("light", isLight === "true");
    root.classList.toggle("dark", isLight === "false");
  };
  theme();
  const watcher = new MutationObserver(theme);
  watcher.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  const read = () => ({ ...JSON.parse(model.get("_state")), history: JSON.parse(model.get("_history")) });
  const store = new PlayStore(read(), (message) => model.send(message));
  const app = mount(root, store);
  const changed = () => store.take(read());
  const heard = (/** @type {any} */ message) => {
    if (message?.type === "page") app.open(message.title, message.page);
  };
  // The host's word that a kernel came or went; whether there is one is told by a message that cannot be sent.
  const asksAgain = () => store.send({ type: "drawn" });
  // What hides the still twin in the notebook's own page, as long as this is drawn (`view/play/still.py`).
  el.setAttribute("data-pjit-play", model.get("_key"));
  model.on("change:_state", changed);
  model.on("change:_history", changed);
  model.on("msg:custom", heard);
  model.on("comm_live_update", asksAgain);
  root.setAttribute("data-ready", "true");
  model.send({ type: "drawn", seq: 0 });
  return () => {
    watcher.disconnect();
    model.off("change:_state", changed);
    model.off("change:_history", changed);
    model.off("msg:custom", heard);
    model.off("comm_live_update", asksAgain);
  };
}

if (typeof document !== "undefined" && document.getElementById("pjit-inspector")) {
  document.head.append(h("style", {}, css));
  startPage();
}

export default { render };
