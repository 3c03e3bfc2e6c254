// The one entry: as a page (exported file, or the frame of the notebook's default display) it starts itself from the
// data in the page; as a widget module, anywidget calls `render`.
import { mount, neededHeight } from "./app.js";
import { followHeight, framePlace, ownPlace } from "./height.js";
import { fromBase64, inflate, openBlob } from "../core/blob.js";
import { followHash } from "../core/link.js";
import adviceCss from "./advice.css";
import boxgraphCss from "../graph/box/box.css";
import memoryCss from "../memory/memory.css";
import graphCss from "../graph/pane/graph.css";
import scheduleCss from "../schedule/schedule.css";
import secondsCss from "../seconds/seconds.css";
import stylesCss from "../core/styles.css";
import { themeCss } from "../core/theme.js";
import tooltipCss from "../core/tooltip.css";

const css = [
  themeCss,
  stylesCss,
  tooltipCss,
  scheduleCss,
  boxgraphCss,
  graphCss,
  memoryCss,
  secondsCss,
  adviceCss,
].join("\n");

/** @param {Document | ShadowRoot} place */
function addStyle(place) {
  const style = document.createElement("style");
  style.textContent = css;
  (place instanceof Document ? place.head : place).append(style);
}

/**
 * Canvases take their colours when they are drawn: they are drawn again when the theme changes.
 * @param {import("../core/store.js").Store} store
 * @param {() => void} [changed]
 */
function followTheme(store, changed) {
  const draw = () => {
    changed?.();
    store.listeners.forEach((listener) => listener(new Set(["theme"])));
  };
  const media = ["(prefers-color-scheme: dark)", "(prefers-contrast: more)", "(forced-colors: active)"].map((query) =>
    matchMedia(query),
  );
  media.forEach((one) => one.addEventListener("change", draw));
  const notebook = new MutationObserver(draw);
  if (changed)
    notebook.observe(document.body, {
      attributes: true,
      attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"],
    });
  return () => {
    media.forEach((one) => one.removeEventListener("change", draw));
    notebook.disconnect();
  };
}

/**
 * The height of what is shown, once it is drawn.
 * @param {HTMLElement} root
 * @param {import("../core/store.js").Store} store
 * @param {import("./height.js").Place} place
 */
function fitHeight(root, store, place) {
  const observer = new ResizeObserver(() => {
    if (!root.clientWidth) return; // not on the page yet
    observer.disconnect();
    const shown = {
      need: () => neededHeight(root, store),
      isTall: () => store.isNarrow() || store.graphNeed().isFlow,
    };
    const follow = () => {
      followHeight(root, shown, place);
      requestAnimationFrame(() => store.listeners.forEach((listener) => listener(new Set(["height"]))));
    };
    requestAnimationFrame(() => requestAnimationFrame(follow));
  });
  observer.observe(root);
}

async function startPage() {
  const root = document.getElementById("pjit-inspector");
  const first = document.getElementById("pjit-first");
  const blob = document.getElementById("pjit-blob");
  if (!root || !first || !blob) return;
  const isFrame = parent !== window;
  if (isFrame) root.classList.add("inset");
  const store = mount(root, JSON.parse(first.textContent ?? ""));
  const memory = document.getElementById("pjit-memory");
  if (memory) store.readMemory = async () => openBlob(await inflate(fromBase64(memory.textContent ?? "")));
  // Only the notebook's own page, around the frame, has anything to add (`delivery_html`).
  addEventListener("message", (event) => {
    if (parent !== window && event.source === parent && Array.isArray(event.data?.pjitAdvice?.rows))
      store.setAdvice(event.data.pjitAdvice);
  });
  if (isFrame) parent.postMessage({ pjitInspect: { isListening: true } }, "*");
  try {
    store.open(openBlob(await inflate(fromBase64(blob.textContent ?? ""))));
    if (isFrame) framePlace((place) => fitHeight(root, store, place));
    followHash(store);
    followTheme(store);
    performance.mark("pjit-ready");
    root.setAttribute("data-ready", "true");
  } catch (error) {
    root.append(
      Object.assign(document.createElement("p"), {
        className: "nothing",
        textContent: `The rest of this page could not be read: ${error}`,
      }),
    );
  }
}

/** @param {{model: any, el: HTMLElement}} widget */
function render({ model, el }) {
  const shadow = el.attachShadow ? el.attachShadow({ mode: "open" }) : el;
  addStyle(/** @type {any} */ (shadow));
  const root = document.createElement("div");
  root.classList.add("inset");
  shadow.append(root);
  const theme = () => {
    const isLight = document.body.dataset.jpThemeLight; // JupyterLab's theme; elsewhere the browser's preference counts
    root.classList.toggle("light", isLight === "true");
    root.classList.toggle("dark", isLight === "false");
  };
  theme();
  const store = mount(root, JSON.parse(model.get("_first")));
  const unfollow = followTheme(store, theme);
  let isOurs = false;
  let isClosed = false;
  const open = async () => {
    const bytes = /** @type {DataView} */ (model.get("_blob"));
    if (!bytes?.byteLength) return;
    const buffer = /** @type {ArrayBuffer} */ (bytes.buffer);
    const data = openBlob(await inflate(new Uint8Array(buffer, bytes.byteOffset, bytes.byteLength)));
    if (isClosed) return;
    isOurs = true; // the kernel knows it: only what the reader chooses is told
    store.open(data);
    store.selectName(model.get("selection"));
    isOurs = false;
    fitHeight(root, store, ownPlace(root));
    root.setAttribute("data-ready", "true");
  };
  const tell = () => {
    if (isOurs || !store.data) return;
    const name = store.selectionName();
    if (name === model.get("selection")) return;
    model.set("selection", name);
    model.save_changes();
  };
  const follow = () => {
    isOurs = true;
    store.selectName(model.get("selection"));
    isOurs = false;
  };
  const heard = () => {
    const words = model.get("_advice");
    if (words) store.setAdvice(JSON.parse(words));
  };
  /** @type {((data: DataView) => void) | null} */
  let taker = null;
  const given = () => {
    const bytes = /** @type {DataView} */ (model.get("_memory"));
    if (!bytes?.byteLength) return;
    taker?.(bytes);
    taker = null;
  };
  store.readMemory = async () => {
    const bytes = await new Promise((take) => {
      taker = /** @type {(data: DataView) => void} */ (take);
      if (!model.get("_memory")?.byteLength) model.send({ type: "memory" });
      given();
    });
    const buffer = /** @type {ArrayBuffer} */ (bytes.buffer);
    return openBlob(await inflate(new Uint8Array(buffer, bytes.byteOffset, bytes.byteLength)));
  };
  store.ask = (message) => model.send(message);
  store.listen((changed) => changed.has("selection") && tell());
  model.on("change:_advice", heard);
  heard();
  model.on("change:_memory", given);
  model.on("change:_blob", open);
  model.on("change:selection", follow);
  open();
  model.send({ type: "drawn" });
  return () => {
    isClosed = true;
    unfollow();
    model.off("change:_memory", given);
    model.off("change:_blob", open);
    model.off("change:selection", follow);
    model.off("change:_advice", heard);
  };
}

if (typeof document !== "undefined" && document.getElementById("pjit-inspector")) {
  addStyle(document);
  startPage();
}

export default { render };
