// Text to the clipboard, also where a sandboxed page may not write to it.
import { h } from "./dom.js";

/** A button that copies. @param {string} words @param {() => string | undefined} text @param {Record<string, any>} [props] */
export function copyButton(words, text, props = {}) {
  const button = h("button.button", { ...props, onclick: () => copyText(button, words, text()) }, words);
  return button;
}

/** @param {HTMLElement} button @param {string} words on it @param {string | undefined} text */
async function copyText(button, words, text) {
  if (!text) return;
  const done = (await toClipboard(text)) || byCommand(text, button);
  button.textContent = done ? "Copied" : "Copying was refused";
  setTimeout(() => (button.textContent = words), 1500);
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
