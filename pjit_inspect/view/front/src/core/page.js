// How every bundle begins: as a page, from the data in it; as a widget, in a root of its own.
import { fromBase64, inflate, openBlob } from "./blob.js";
import { h } from "./dom.js";

/** A store as it was packed. @param {Uint8Array<ArrayBuffer>} bytes */
export const unpack = async (bytes) => openBlob(await inflate(bytes));

/** The store in an element of the page. @param {string} id */
const readStore = (id) => unpack(fromBase64(document.getElementById(id)?.textContent ?? ""));

/**
 * Starts a page; does nothing where this is none. `#theme=dark` asks for a theme.
 * @param {string} css
 * @param {(root: HTMLElement, first: any, read: typeof readStore) => (data: import("./blob.js").Store) => void} start
 * draws what is there at once, and gives what takes the rest
 */
export async function startPage(css, start) {
  if (typeof document === "undefined") return;
  const [root, first] = ["pjit-inspector", "pjit-first"].map((id) => document.getElementById(id));
  if (!root || !first) return;
  document.head.append(h("style", css));
  const theme = new URLSearchParams(location.hash.slice(1)).get("theme");
  if (theme) document.documentElement.dataset.theme = theme;
  const open = start(root, JSON.parse(first.textContent ?? ""), readStore);
  try {
    open(await readStore("pjit-blob"));
    performance.mark("pjit-ready");
    root.setAttribute("data-ready", "true");
  } catch (error) {
    root.append(h("p.nothing", `The rest of this page could not be read: ${error}`));
  }
}

/**
 * The root of a widget, with its styles, in JupyterLab's theme; elsewhere the browser's preference counts.
 * @param {HTMLElement} el @param {string} css @param {() => void} [changed] runs when the theme is another
 */
export function widgetRoot(el, css, changed = () => {}) {
  const shadow = el.attachShadow ? el.attachShadow({ mode: "open" }) : el;
  const root = h("div");
  shadow.append(h("style", css), root);
  const theme = () => {
    root.classList.toggle("light", document.body.dataset.jpThemeLight === "true");
    root.classList.toggle("dark", document.body.dataset.jpThemeLight === "false");
  };
  theme();
  const watcher = new MutationObserver(() => (theme(), changed()));
  watcher.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
  return { root, unwatch: () => watcher.disconnect() };
}

/** Hears what a widget's model tells; gives what ends it. @param {any} model @param {Record<string, (message: any) => void>} heard */
export function hear(model, heard) {
  for (const [event, run] of Object.entries(heard)) model.on(event, run);
  return () => Object.entries(heard).forEach(([event, run]) => model.off(event, run));
}
