// The one entry: as a page (exported file, or the frame of the notebook's default display) it starts itself from the
// data in the page; as a widget module, anywidget calls `render`.
import { mount, neededHeight } from "./app.js";
import { followHeight, framePlace, ownPlace } from "./height.js";
import { followHash } from "../core/link.js";
import { hear, startPage, unpack, widgetRoot } from "../core/page.js";
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

/** Canvases take their colours when they are drawn: they are drawn again when the theme changes. @param {import("../core/store.js").Store} store */
function followTheme(store) {
  const draw = () => store.tell("theme");
  const media = ["(prefers-color-scheme: dark)", "(prefers-contrast: more)", "(forced-colors: active)"].map((query) =>
    matchMedia(query),
  );
  media.forEach((one) => one.addEventListener("change", draw));
  return () => media.forEach((one) => one.removeEventListener("change", draw));
}

/**
 * The height of what is shown, once it is drawn.
 * @param {HTMLElement} root @param {import("../core/store.js").Store} store @param {import("./height.js").Place} place
 */
function fitHeight(root, store, place) {
  const observer = new ResizeObserver(() => {
    if (!root.clientWidth) return; // not on the page yet
    observer.disconnect();
    const shown = { need: () => neededHeight(root, store), isTall: () => store.isNarrow() || store.graphNeed().isFlow };
    const follow = () => {
      followHeight(root, shown, place);
      requestAnimationFrame(() => store.tell("height"));
    };
    requestAnimationFrame(() => requestAnimationFrame(follow));
  });
  observer.observe(root);
}

/** @param {{model: any, el: HTMLElement}} widget */
function render({ model, el }) {
  const { root, unwatch } = widgetRoot(el, css, () => store.tell("theme"));
  root.classList.add("inset");
  const store = mount(root, JSON.parse(model.get("_first")));
  const unfollow = followTheme(store);
  let isOurs = false;
  let isClosed = false;
  /** @param {DataView} bytes */
  const data = (bytes) =>
    unpack(new Uint8Array(/** @type {ArrayBuffer} */ (bytes.buffer), bytes.byteOffset, bytes.byteLength));
  const follow = () => {
    isOurs = true; // the kernel knows it: only what the reader chooses is told
    store.selectName(model.get("selection"));
    isOurs = false;
  };
  const open = async () => {
    const bytes = /** @type {DataView} */ (model.get("_blob"));
    if (!bytes?.byteLength) return;
    const found = await data(bytes);
    if (isClosed) return;
    isOurs = true;
    store.open(found);
    follow();
    fitHeight(root, store, ownPlace(root));
    root.setAttribute("data-ready", "true");
  };
  const advise = () => {
    const words = model.get("_advice");
    if (words) store.setAdvice(JSON.parse(words));
  };
  /** @type {((bytes: DataView) => void) | null} */
  let taker = null;
  const given = () => {
    const bytes = /** @type {DataView} */ (model.get("_memory"));
    if (!bytes?.byteLength) return;
    taker?.(bytes);
    taker = null;
  };
  store.readMemory = async () =>
    data(
      await new Promise((take) => {
        taker = take;
        if (!model.get("_memory")?.byteLength) model.send({ type: "memory" });
        given();
      }),
    );
  store.ask = (message) => model.send(message);
  store.listen((changed) => {
    const name = store.selectionName();
    if (!changed.has("selection") || isOurs || !store.data || name === model.get("selection")) return;
    model.set("selection", name);
    model.save_changes();
  });
  advise();
  const unhear = hear(model, {
    "change:_advice": advise,
    "change:_memory": given,
    "change:_blob": open,
    "change:selection": follow,
  });
  open();
  model.send({ type: "drawn" });
  return () => {
    isClosed = true;
    [unfollow, unwatch, unhear].forEach((end) => end());
  };
}

startPage(css, (root, first, read) => {
  const isFrame = parent !== window;
  if (isFrame) root.classList.add("inset");
  const store = mount(root, first);
  if (document.getElementById("pjit-memory")) store.readMemory = () => read("pjit-memory");
  // Only the notebook's own page, around the frame, has anything to add (`delivery_html`).
  addEventListener("message", (event) => {
    if (isFrame && event.source === parent && Array.isArray(event.data?.pjitAdvice?.rows))
      store.setAdvice(event.data.pjitAdvice);
  });
  if (isFrame) parent.postMessage({ pjitInspect: { isListening: true } }, "*");
  return (data) => {
    store.open(data);
    if (isFrame) framePlace((place) => fitHeight(root, store, place));
    followHash(store);
    followTheme(store);
  };
});

export default { render };
