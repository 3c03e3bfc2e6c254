// What is drawn of an element as a picture that opens on its own: an SVG with every colour and font written in it, and
// the same as PNG. Text stays text. Not its job: which parts of the page there are pictures of (`panes/pictures.js`).

const NS = "http://www.w3.org/2000/svg";
/** What of a drawing comes from style sheets, which the file does not have. */
const LOOKS = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "opacity",
  "visibility",
  "display",
  "font-family",
  "font-size",
  "font-weight",
  "font-style",
  "text-anchor",
  "dominant-baseline",
  "letter-spacing",
  "paint-order",
];
/** What only a page needs. */
const OF_THE_PAGE = /^(on|aria-|data-|tabindex$|role$|class$)/;
const PIXELS = 2;
/** More than browsers draw on one canvas. */
const MOST_PIXELS = 64e6;
const LONGEST_SIDE = 16000;

/** @typedef {{left: number, top: number, width: number, height: number}} Area */

/** The element as it is drawn now, as the text of an SVG file. @param {Element} element @param {string} title */
export function pictureOf(element, title) {
  const area = element.getBoundingClientRect();
  const scene = new Scene(area, title, backgroundOf(element));
  scene.walk(element, scene.root);
  return scene.text();
}

/**
 * A drawing by itself, in its own size, whatever part of it is in view.
 * @param {SVGSVGElement} drawing @param {string} title
 */
export function pictureOfDrawing(drawing, title) {
  const { width, height } = drawing.viewBox.baseVal;
  const scene = new Scene({ left: 0, top: 0, width, height }, title, backgroundOf(drawing));
  scene.drawing(drawing, scene.root, { left: 0, top: 0, width, height });
  return scene.text();
}

/**
 * A painted canvas; `near` is the element whose background it has.
 * @param {HTMLCanvasElement} canvas @param {Element} near @param {string} title
 * @param {number} ratio pixels of the canvas for one of the picture
 */
export function pictureOfCanvas(canvas, near, title, ratio) {
  const area = { left: 0, top: 0, width: canvas.width / ratio, height: canvas.height / ratio };
  const scene = new Scene(area, title, backgroundOf(near));
  scene.painted(canvas, scene.root, area);
  return scene.text();
}

/** The pixels of an SVG file, twice as many each way. @param {string} text @returns {Promise<Blob>} */
export async function asPng(text) {
  const image = new Image();
  // A page of its own policy may show such an address, and no other.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  const ratio = ratioOf(image.width, image.height);
  canvas.width = Math.max(1, Math.round(image.width * ratio));
  canvas.height = Math.max(1, Math.round(image.height * ratio));
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, failed) =>
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("the picture is too large"))), "image/png"),
  );
}

/** Pixels for each of a picture of this size: as many as a canvas can have. @param {number} width @param {number} height */
export function ratioOf(width, height) {
  const most = Math.min(Math.sqrt(MOST_PIXELS / (width * height)), LONGEST_SIDE / Math.max(width, height));
  return Math.min(PIXELS, most);
}

/** Hands a file to the reader. @param {Blob} blob @param {string} name */
export function saveFile(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The first background around an element that is one. @param {Element} element */
function backgroundOf(element) {
  for (let at = /** @type {Element | null} */ (element); at; at = at.parentElement) {
    const color = getComputedStyle(at).backgroundColor;
    if (isSeen(color)) return color;
    const root = at.getRootNode();
    if (!at.parentElement && root instanceof ShadowRoot) return backgroundOf(root.host);
  }
  return "#fff";
}

/** @param {string} color */
const isSeen = (color) => color !== "transparent" && !/^rgba\(.*, 0\)$/.test(color);

/** An SVG that is being written. */
class Scene {
  /** @param {Area} area @param {string} title @param {string} background */
  constructor(area, title, background) {
    this.area = area;
    this.root = document.createElementNS(NS, "svg");
    this.clips = 0;
    const [width, height] = [Math.ceil(area.width), Math.ceil(area.height)];
    set(this.root, { xmlns: NS, viewBox: `0 0 ${width} ${height}`, width, height });
    this.add(this.root, "title", {}).textContent = title;
    this.add(this.root, "rect", { width, height, fill: background });
  }

  text() {
    return new XMLSerializer().serializeToString(this.root);
  }

  /** @param {Element} to @param {string} tag @param {Record<string, string | number>} attributes */
  add(to, tag, attributes) {
    const made = document.createElementNS(NS, tag);
    set(made, attributes);
    to.append(made);
    return made;
  }

  /** @param {Area} area */
  place(area) {
    return { x: round(area.left - this.area.left), y: round(area.top - this.area.top) };
  }

  /** An element and what is in it, in the order of the page. @param {Element} element @param {Element} to */
  walk(element, to) {
    const style = getComputedStyle(element);
    const area = element.getBoundingClientRect();
    if (style.display === "none" || style.visibility === "hidden" || style.opacity === "0") return;
    if (element instanceof SVGSVGElement) return this.drawing(element, to, area);
    if (element instanceof HTMLCanvasElement) return this.painted(element, to, area);
    let into = style.opacity === "1" ? to : this.add(to, "g", { opacity: style.opacity });
    if (area.width && area.height) this.frame(into, style, area);
    if (style.overflowX !== "visible") into = this.clipped(into, area);
    if (element instanceof HTMLInputElement) this.words(into, element.value || element.placeholder, style, area);
    else if (element instanceof HTMLSelectElement)
      this.words(into, element.selectedOptions[0]?.textContent ?? "", style, area);
    else if (element instanceof HTMLDetailsElement && !element.open) {
      const summary = element.querySelector("summary");
      if (summary) this.walk(summary, into);
    } else for (const child of element.childNodes) this.child(child, into, style);
  }

  /** @param {ChildNode} child @param {Element} to @param {CSSStyleDeclaration} style its parent's */
  child(child, to, style) {
    if (child instanceof Element) this.walk(child, to);
    else if (child.nodeType === Node.TEXT_NODE) this.run(/** @type {Text} */ (child), to, style);
  }

  /** Background and border. @param {Element} to @param {CSSStyleDeclaration} style @param {Area} area */
  frame(to, style, area) {
    const { x, y } = this.place(area);
    const [width, height] = [round(area.width), round(area.height)];
    const rx = Math.min(parseFloat(style.borderTopLeftRadius) || 0, height / 2);
    if (isSeen(style.backgroundColor)) this.add(to, "rect", { x, y, width, height, rx, fill: style.backgroundColor });
    const sides = ["Top", "Right", "Bottom", "Left"].map((side) => {
      const of = (/** @type {string} */ what) => /** @type {any} */ (style)[`border${side}${what}`];
      const wide = of("Style") === "none" ? 0 : parseFloat(of("Width")) || 0;
      return { wide, color: of("Color"), dash: of("Style") === "dashed" ? 3 * wide : 0 };
    });
    const [{ wide, color, dash }] = sides;
    const line = (/** @type {{wide: number, color: string, dash: number}} */ one) => ({
      fill: "none",
      stroke: one.color,
      "stroke-width": one.wide,
      "stroke-dasharray": one.dash || "none",
    });
    if (wide && sides.every((one) => one.wide === wide && one.color === color)) {
      const inner = { x: x + wide / 2, y: y + wide / 2, width: width - wide, height: height - wide, rx };
      this.add(to, "rect", { ...inner, ...line({ wide, color, dash }) });
      return;
    }
    const [right, bottom] = [x + width, y + height];
    const ends = [
      [x, y, right, y],
      [right, y, right, bottom],
      [x, bottom, right, bottom],
      [x, y, x, bottom],
    ];
    sides.forEach((one, at) => {
      if (!one.wide || !isSeen(one.color)) return;
      const inward = (at === 0 || at === 3 ? 1 : -1) * (one.wide / 2);
      const [dx, dy] = at % 2 ? [inward, 0] : [0, inward];
      const [x1, y1, x2, y2] = ends[at];
      this.add(to, "path", { d: `M${x1 + dx} ${y1 + dy}L${x2 + dx} ${y2 + dy}`, ...line(one) });
    });
  }

  /** @param {Element} to @param {Area} area */
  clipped(to, area) {
    const id = `clip${++this.clips}`;
    const { x, y } = this.place(area);
    this.add(this.add(to, "clipPath", { id }), "rect", { x, y, width: round(area.width), height: round(area.height) });
    return this.add(to, "g", { "clip-path": `url(#${id})` });
  }

  /** The lines that a text is broken into. @param {Text} node @param {Element} to @param {CSSStyleDeclaration} style */
  run(node, to, style) {
    const isPre = style.whiteSpace.startsWith("pre");
    /** @type {(Area & {words: string})[]} */
    const lines = [];
    for (const piece of pieces(node)) {
      const last = lines[lines.length - 1];
      const words = isPre ? piece.words : piece.words.replace(/\s+/, " ");
      if (last && Math.abs(last.top - piece.top) < 2) {
        last.words += words;
        last.width = piece.left + piece.width - last.left;
      } else lines.push({ ...piece, words });
    }
    for (const one of lines) if (one.words.trim()) this.line(to, one.words, style, one);
  }

  /** Words in a field of a form. @param {Element} to @param {string} words @param {CSSStyleDeclaration} style @param {Area} area */
  words(to, words, style, area) {
    const left = area.left + (parseFloat(style.paddingLeft) || 0) + (parseFloat(style.borderLeftWidth) || 0);
    this.line(to, words, style, { left, top: area.top, width: 0, height: area.height });
  }

  /** @param {Element} to @param {string} words @param {CSSStyleDeclaration} style @param {Area} area */
  line(to, words, style, area) {
    const { x, y } = this.place(area);
    const made = this.add(to, "text", {
      x,
      y: round(y + area.height / 2),
      "dominant-baseline": "central",
      fill: style.color,
      "font-family": style.fontFamily,
      "font-size": style.fontSize,
      "font-weight": style.fontWeight,
      "font-style": style.fontStyle,
      // Where another font is taken for it, words take the room they have here.
      ...(area.width ? { textLength: round(area.width), lengthAdjust: "spacingAndGlyphs" } : {}),
    });
    made.textContent = words.replace(/\s/g, "\u00a0"); // an SVG drops spaces at the ends
  }

  /** @param {SVGSVGElement} drawing @param {Element} to @param {Area} area */
  drawing(drawing, to, area) {
    if (!area.width || !area.height) return;
    const copy = /** @type {SVGSVGElement} */ (drawing.cloneNode(true));
    const pairs = [drawing, ...drawing.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((one, at) => dress(one, pairs[at]));
    set(copy, { ...this.place(area), width: round(area.width), height: round(area.height) });
    to.append(copy);
  }

  /** @param {HTMLCanvasElement} canvas @param {Element} to @param {Area} area */
  painted(canvas, to, area) {
    if (!canvas.width || !canvas.height) return;
    const size = { width: round(area.width), height: round(area.height) };
    this.add(to, "image", { ...this.place(area), ...size, href: canvas.toDataURL("image/png") });
  }
}

/** The words of a text with their places; letter by letter where one is broken. @param {Text} node */
function* pieces(node) {
  const range = document.createRange();
  const area = (/** @type {number} */ from, /** @type {number} */ to) => {
    range.setStart(node, from);
    range.setEnd(node, to);
    const found = [...range.getClientRects()].filter((one) => one.width);
    return { box: range.getBoundingClientRect(), isWhole: found.every((one) => Math.abs(one.top - found[0].top) < 2) };
  };
  for (const { 0: words, index } of node.data.matchAll(/\s+|\S+/g)) {
    const { box, isWhole } = area(index, index + words.length);
    const parts = isWhole ? [words] : [...words];
    let at = index;
    for (const part of parts) {
      const { left, top, width, height } = isWhole ? box : area(at, at + part.length).box;
      at += part.length;
      if (width) yield { words: part, left, top, width, height };
    }
  }
}

/** Gives a copy the looks that its original has on the page. @param {Element} copy @param {Element} original */
function dress(copy, original) {
  const style = getComputedStyle(original);
  for (const { name } of [...copy.attributes]) if (OF_THE_PAGE.test(name)) copy.removeAttribute(name);
  const looks = LOOKS.map((name) => [name, style.getPropertyValue(name)]).filter(([, value]) => value);
  copy.setAttribute("style", looks.map(([name, value]) => `${name}:${value}`).join(";"));
}

/** @param {Element} element @param {Record<string, string | number>} attributes */
function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}

/** @param {number} length */
const round = (length) => Math.round(length * 100) / 100;
