// The page of XLA's passes: starts itself from the data in the page.
import { fromBase64, inflate, openBlob } from "../core/blob.js";
import { h } from "../core/dom.js";
import stylesCss from "../core/styles.css";
import { themeCss } from "../core/theme.js";
import { details } from "./details.js";
import { head } from "./head.js";
import { lanes } from "./lanes.js";
import passesCss from "./passes.css";
import { PassesStore } from "./store.js";
import { texts } from "./texts.js";

/** @param {HTMLElement} root @param {any} first */
function mount(root, first) {
  const store = new PassesStore(first);
  const frame = h(
    "div",
    { class: first.no_lines ? "frame passes bare" : "frame passes" },
    head(store),
    lanes(store),
    details(store),
    texts(store),
  );
  root.classList.add("pjit-inspector");
  root.replaceChildren(frame);
  document.addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (store.key(event.key)) event.preventDefault();
  });
  return store;
}

async function start() {
  const root = document.getElementById("pjit-inspector");
  const first = document.getElementById("pjit-first");
  const blob = document.getElementById("pjit-blob");
  if (!root || !first || !blob) return;
  const theme = new URLSearchParams(location.hash.slice(1)).get("theme");
  if (theme) document.documentElement.dataset.theme = theme;
  const store = mount(root, JSON.parse(first.textContent ?? ""));
  try {
    store.open(openBlob(await inflate(fromBase64(blob.textContent ?? ""))));
    root.setAttribute("data-ready", "true");
  } catch (error) {
    root.append(h("p", { class: "nothing" }, `The texts of this page could not be read: ${error}`));
  }
}

document.head.append(h("style", {}, `${themeCss}\n${stylesCss}\n${passesCss}`));
start();
