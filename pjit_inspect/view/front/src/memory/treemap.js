// Rectangles whose areas are as sizes, as near to squares as can be. Pure.

/** @typedef {{x: number, y: number, w: number, h: number}} Area */

/** @param {number[]} sizes descending @param {Area} area @returns {Area[]} in the same order */
export function squares(sizes, area) {
  const all = sizes.reduce((a, b) => a + b, 0);
  /** @type {Area[]} */
  const found = [];
  if (!all) return sizes.map(() => ({ ...area, w: 0, h: 0 }));
  const unit = (area.w * area.h) / all;
  let { x, y, w, h } = area;
  for (let at = 0; at < sizes.length;) {
    const short = Math.max(1e-9, Math.min(w, h));
    let end = at + 1;
    let sum = sizes[at] * unit;
    let worst = worstOf(sum, sizes[at] * unit, sizes[at] * unit, short);
    while (end < sizes.length) {
      const more = sum + sizes[end] * unit;
      const next = worstOf(more, sizes[at] * unit, sizes[end] * unit, short);
      if (next > worst) break;
      [sum, worst] = [more, next];
      end++;
    }
    const thick = sum / short;
    let along = 0;
    for (; at < end; at++) {
      const length = thick ? (sizes[at] * unit) / thick : 0;
      found.push(w >= h ? { x, y: y + along, w: thick, h: length } : { x: x + along, y, w: length, h: thick });
      along += length;
    }
    if (w >= h) [x, w] = [x + thick, w - thick];
    else [y, h] = [y + thick, h - thick];
  }
  return found;
}

/** How far the worst of a row is from a square. @param {number} sum @param {number} most @param {number} least @param {number} side */
function worstOf(sum, most, least, side) {
  return Math.max((side * side * most) / (sum * sum), (sum * sum) / Math.max(1e-9, side * side * least));
}
