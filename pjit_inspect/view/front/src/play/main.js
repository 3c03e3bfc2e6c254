// The one entry: as a page it starts itself from the data in the page, without a kernel; as a widget module, anywidget
// calls `render`.
import { hear, startPage, widgetRoot } from "../core/page.js";
import stylesCss from "../core/styles.css";
import { themeCss } from "../core/theme.js";
import { mount } from "./app.js";
import playCss from "./play.css";
import { PlayStore } from "./store.js";

const css = `${themeCss}\n${stylesCss}\n${playCss}`;

/** The one key of what stands for an entry of the pool. */
const REFERENCE = "$";

/** Variants as Python has packed them (`view/play/shared.py`): what several have alike is there once. @param {{pool: any[], values: any[]}} packed @returns {any[]} */
function unpacked({ pool, values }) {
  /** @type {any[]} */
  const parts = [];
  /** @type {(value: any) => any} */
  const whole = (value) => {
    if (Array.isArray(value)) return value.map(whole);
    if (value === null || typeof value !== "object") return value;
    const keys = Object.keys(value);
    if (keys.length === 1 && keys[0] === REFERENCE) return parts[value[REFERENCE]];
    return Object.fromEntries(keys.map((key) => [key, whole(value[key])]));
  };
  // A part refers only to those before it.
  pool.forEach((part) => parts.push(whole(part)));
  return values.map(whole);
}

/** A page's own history: every variant it has, with all that is shown of it. @param {PlayStore} store @param {any[]} variants */
function browse(store, variants) {
  store.goBack = (number) => {
    const found = variants.find((one) => one.number === number);
    store.lacking = found ? null : number;
    if (found) store.take({ ...store.data, ...found });
    else store.tell("data");
  };
}

/** @param {{model: any, el: HTMLElement}} widget */
function render({ model, el }) {
  const { root, unwatch } = widgetRoot(el, css);
  const read = () => ({ ...JSON.parse(model.get("_state")), history: JSON.parse(model.get("_history")) });
  const store = new PlayStore(read(), (message) => model.send(message));
  const app = mount(root, store);
  const changed = () => store.take(read());
  // What hides the still twin in the notebook's own page, as long as this is drawn (`view/play/still.py`).
  el.setAttribute("data-pjit-play", model.get("_key"));
  const unhear = hear(model, {
    "change:_state": changed,
    "change:_history": changed,
    "msg:custom": (message) => message?.type === "page" && app.open(message.title, message.page),
    // The host's word that a kernel came or went; whether there is one is told by a message that cannot be sent.
    comm_live_update: () => store.send({ type: "drawn" }),
  });
  root.setAttribute("data-ready", "true");
  model.send({ type: "drawn", seq: 0 });
  return () => {
    unwatch();
    unhear();
  };
}

startPage(css, (root, first) => {
  root.classList.remove("page");
  const store = new PlayStore(first, null);
  mount(root, store);
  return (data) => browse(store, unpacked(data.header.variants));
});

export default { render };
