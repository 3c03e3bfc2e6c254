// What became of a thing: a sign, a word, a colour. The sign and the word are enough without the colour.
import { h } from "../core/dom.js";

/** @type {Record<string, [sign: string, word: string]>} */
export const STATUS = {
  removed: ["\u2212", "removed"],
  added: ["+", "added"],
  less: ["\u25bc", "less"],
  more: ["\u25b2", "more"],
  changed: ["\u2248", "changed"],
  same: ["=", "same"],
};

/** Where a program is there in part, what only one of them has is neither gone nor new. */
export function sayOfParts() {
  STATUS.removed[1] = "only before";
  STATUS.added[1] = "only after";
}

export const STATUSES = Object.keys(STATUS);

/** The sign, with its word for who cannot see it. @param {string} status */
export function sign(status) {
  const [mark, word] = STATUS[status];
  return h("span", { class: `sign is-${status}`, title: word }, mark, h("span.offscreen", ` ${word}`));
}

/** Sign and word. @param {string} status */
export function statusWords(status) {
  const [mark, word] = STATUS[status];
  return h("span", { class: `statusword is-${status}` }, `${mark} ${word}`);
}

/** The verdict of bytes: fewer is good. @param {number} difference @returns {string} */
export function trend(difference) {
  return difference < 0 ? "is-less" : difference > 0 ? "is-more" : "is-same";
}
