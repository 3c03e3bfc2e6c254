// What every painted picture needs: a canvas as large as its place, the theme's colours, lines, words that fit.

/** @typedef {CanvasRenderingContext2D} Pen */

/**
 * Gives a canvas a size in pixels of the page; its pen draws in these.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height
 */
export function penOf(canvas, width, height) {
  const ratio = globalThis.devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  const pen = canvas.getContext("2d");
  pen?.scale(ratio, ratio);
  return pen;
}

/** The theme's colours, by name. @param {Element} element @returns {(name: string) => string} */
export function colorsOf(element) {
  const style = getComputedStyle(element);
  return (name) => style.getPropertyValue(`--${name}`).trim() || "#888";
}

/** As much of some words as there is room for. @param {Pen} pen @param {string} words @param {number} room */
export function cut(pen, words, room) {
  if (pen.measureText(words).width <= room) return words;
  let length = words.length - 1;
  while (length > 1 && pen.measureText(`${words.slice(0, length)}\u2026`).width > room) length--;
  return `${words.slice(0, length)}\u2026`;
}

/** A line through points. @param {Pen} pen @param {...number[]} points */
export function line(pen, ...points) {
  pen.beginPath();
  for (const [x, y] of points) pen.lineTo(x, y);
  pen.stroke();
}

/** What is drawn with dashes. @param {Pen} pen @param {number[]} dashes @param {() => void} draw */
export function dashed(pen, dashes, draw) {
  pen.setLineDash(dashes);
  draw();
  pen.setLineDash([]);
}
