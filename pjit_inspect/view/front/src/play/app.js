// The playground as a whole: controls at the left, what they come to at the right, then every variant tried, and code.
import { h } from "../core/dom.js";
import { Chooser } from "./chooser.js";
import { code } from "./code.js";
import { constraints } from "./constraints.js";
import { dimensionWidth } from "./dims.js";
import { groups } from "./groups.js";
import { head, numbers, stages } from "./head.js";
import { history, sortedRows } from "./history.js";
import { mesh } from "./mesh.js";
import { byAxis, byKind, moves } from "./moves.js";
import { presets } from "./presets.js";
import { results } from "./results.js";
import { scatter } from "./scatter.js";
import { search } from "./search.js";

/** @type {[keys: string[], words: string][]} */
const KEYS = [
  [["\u2191", "\u2193"], "on a size: double, halve"],
  [["Enter"], "on a dimension: choose"],
  [["[", "]"], "variants"],
  [["b"], "base"],
  [["f"], "full"],
  [["c"], "copy code"],
];

/** @param {HTMLElement} root @param {import("./store.js").PlayStore} store */
export function mount(root, store) {
  const live = h("p.offscreen", { "aria-live": "polite" });
  const say = (/** @type {string} */ words) => {
    live.textContent = words;
  };
  const frame = h("div.frame.playground", { role: "region", "aria-label": "Playground" });
  const chooser = new Chooser(frame, say);
  const gone = h("p.gone", { role: "status" });
  const note = h("p.problem.noted", { role: "alert", hidden: true });
  const opened = h("section.opened", { hidden: true });
  const feet = foot();
  frame.append(
    gone,
    head(store),
    opened,
    note,
    numbers(store),
    stages(store),
    h(
      "div.body",
      h(
        "div.controls",
        mesh(store, chooser),
        presets(store, say),
        groups(store, chooser),
        constraints(store, chooser),
        results(store, chooser),
      ),
      h("div.answers", h("div.two", byAxis(store), byKind(store)), moves(store)),
    ),
    h("div.tried", h("div.triedlist", history(store), search(store)), scatter(store)),
    code(store, say),
    feet,
    live,
  );
  frame.addEventListener("keydown", (event) => onKey(store, frame, event));
  const draw = () => {
    if (gone.textContent !== store.whyStill) gone.textContent = store.whyStill;
    gone.hidden = store.isLive;
    feet.hidden = !store.isLive;
    frame.style.setProperty("--dimension", `${dimensionWidth(store)}px`);
    note.hidden = !store.data.note;
    note.textContent = store.data.note ? `\u25b2 ${store.data.note}` : "";
    if (store.data.said && store.data.said !== live.dataset.said) say((live.dataset.said = store.data.said));
  };
  store.listen(draw);
  draw();
  root.classList.add("pjit-inspector", "play");
  root.replaceChildren(frame);
  return {
    open: (/** @type {string} */ title, /** @type {string} */ page) => {
      const key = store.opening ?? "inspect";
      store.opening = null;
      store.tell("opening");
      if (page) show(opened, title, page, () => focusOn(frame, key));
      else say(`${title}: it could not be made`);
    },
  };
}

/** @param {HTMLElement} frame @param {string} key */
function focusOn(frame, key) {
  /** @type {HTMLElement | null} */ (frame.querySelector(`[data-key="${key}"]`))?.focus();
}

/** A page of another kind, in a frame of its own that may reach nothing. @param {HTMLElement} box @param {string} title @param {string} page @param {() => void} closed */
function show(box, title, page, closed) {
  const close = h(
    "button.button",
    {
      onclick: () => {
        box.hidden = true;
        box.replaceChildren();
        closed();
      },
    },
    "Close",
  );
  box.replaceChildren(
    h("div.title", h("b", title), close),
    h("iframe", { sandbox: "allow-scripts allow-downloads", srcdoc: page, title }),
  );
  box.hidden = false;
  close.focus();
}

function foot() {
  return h(
    "div.foot.dim.small",
    KEYS.map(([keys, words]) =>
      h(
        "span",
        keys.map((key) => [h("kbd", key), " "]),
        words,
      ),
    ),
  );
}

/** @param {import("./store.js").PlayStore} store @param {HTMLElement} frame @param {KeyboardEvent} event */
function onKey(store, frame, event) {
  const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
  const rows = sortedRows(store).filter((one) => one.kept !== false);
  const at = rows.findIndex((one) => one.number === store.data.number);
  const next = event.key === "[" ? rows[at - 1] : event.key === "]" ? rows[at + 1] : null;
  const press = (/** @type {string} */ key) =>
    /** @type {HTMLElement | null} */ (frame.querySelector(`[data-key="${key}"]`))?.click();
  if (next) store.goBack(next.number);
  else if (event.key === "b") store.send({ type: "base", number: store.data.number });
  else if (event.key === "f") press("full");
  else if (event.key === "c") press("copy");
  else return;
  event.preventDefault();
  event.stopPropagation();
}
