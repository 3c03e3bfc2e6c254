// Text to the clipboard, also where a sandboxed page may not write to it.
import { h } from "./dom.js";

/**
 * @param {import("./store.js").Store} store @param {HTMLElement} button
 * @param {string} [text] what else than the whole display
 */
export async function copyText(store, button, text = store.data?.header.text) {
  if (!text) return;
  const done = (await toClipboard(text)) || byCommand(text, button);
  const words = button.dataset.words ?? button.textContent ?? "";
  button.dataset.words = words; // a second click finds the answer to the first
  button.textContent = done ? "Copied" : "Copying was refused";
  setTimeout(() => {
    button.textContent = words;
  }, 1500);
}

/** @param {string} text */
async function toClipboard(text) {
  const policy = /** @type {any} */ (document).permissionsPolicy ?? /** @type {any} */ (document).featurePolicy;
  if (policy && !policy.allowsFeature("clipboard-write")) return false; // trying would only make the browser complain
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // a sandboxed page may not
  }
}

/** @param {string} text @param {HTMLElement} near */
function byCommand(text, near) {
  const area = /** @type {HTMLTextAreaElement} */ (h("textarea.offscreen", { "aria-hidden": "true" }));
  area.value = text;
  near.after(area);
  area.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    area.remove();
    near.focus();
  }
}
