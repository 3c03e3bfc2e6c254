// What of the graph lies at a place. Pure.
import { LINE } from "./matrix.js";

/**
 * @typedef {import("./matrix.js").Layout} Layout
 * @typedef {import("./matrix.js").Box} Box
 * @typedef {import("./fold.js").Item} Item
 * @typedef {{type: "badge", item: Item} | {type: "band", item: Item} | {type: "label", item: Item}} RowHit
 * @typedef {RowHit | {type: "box", box: Box} | {type: "line", box: Box, line: number}} Hit
 */

/** @param {{x: number, y: number, w: number, h: number}} at @param {number} x @param {number} y */
const isIn = (at, x, y) => x >= at.x && x <= at.x + at.w && y >= at.y && y <= at.y + at.h;

/**
 * @param {Layout} layout @param {number} x @param {number} y
 * @param {(band: any) => {x: number, y: number, w: number, h: number} | null} badgeOf @returns {Hit | null}
 */
export function hitAt(layout, x, y, badgeOf) {
  const box = layout.boxes.find((one) => isIn(one, x, y));
  if (box) {
    const line = box.lines.findIndex((one) =>
      isIn({ x: box.x + one.x, y: box.y + one.y, w: one.w, h: LINE - 0.01 }, x, y),
    );
    return line < 0 ? { type: "box", box } : { type: "line", box, line };
  }
  for (let i = layout.bands.length - 1; i >= 0; i--) {
    const band = layout.bands[i];
    const badge = badgeOf(band);
    if (badge && isIn(badge, x, y)) return { type: "badge", item: band.item };
    if (isIn({ ...band, h: layout.measures.band }, x, y)) return { type: "band", item: band.item };
  }
  const label = layout.labels.find((one) => isIn({ ...one, h: Math.min(one.h, 40) }, x, y));
  if (!label) return null;
  const isFold = label.item.fold >= 0 && layout.view.isClosed[label.item.fold] === 1;
  return isFold && !layout.chipWidth && y > label.y + 21 && x < label.x + 34
    ? { type: "badge", item: label.item }
    : { type: "label", item: label.item };
}
