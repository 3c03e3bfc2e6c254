// Memory against bytes, a point for each variant: a click goes there. Places and words are Python's.
import { h, s } from "../core/dom.js";
import { follow, refill } from "./keep.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [480, 300, 46, 16, 22, 36];
/** Where a label may stand around its point, nearest first. */
const PLACES = [15, 20, 26].flatMap((away) =>
  [-40, 40, -140, 140, -90, 90].map((angle) => [away, (angle * Math.PI) / 180]),
);

/** @param {number} share */
const across = (share) => LEFT + share * (WIDTH - LEFT - RIGHT);
/** @param {number} share */
const up = (share) => HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);

/** @param {import("./store.js").PlayStore} store */
export function scatter(store) {
  const picture = h("div");
  const legend = h("p.dim.small");
  const title = h("span");
  const part = h("section.part", h("h2.minor", title, " ", h("span.plain", "lower left is better")), picture, legend);
  follow(
    store,
    () => [store.data.scatter, store.data.number, store.isLive],
    () => {
      const { scatter: data } = store.data;
      title.textContent = data.title;
      legend.textContent = data.legend;
      refill(picture, data.points.length ? [drawn(store, data)] : [h("p.nothing", data.missing)]);
    },
  );
  return part;
}

/** @param {import("./store.js").PlayStore} store @param {any} data */
function drawn(store, data) {
  const root = s(
    "svg.scatter",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": data.words },
    grid(data),
    data.front.length > 1 ? s("path.front", { d: steps(data.front) }) : null,
  );
  const places = data.points.map((/** @type {any} */ one) => [across(one.x), up(one.y)]);
  /** @type {number[][]} */
  const taken = [];
  data.points.forEach((/** @type {any} */ one, /** @type {number} */ at) => {
    const isNow = one.number === store.data.number;
    const [x, y] = places[at];
    const label = free(places, taken, x, y, String(one.number).length, isNow ? 8 : 0, one.least);
    root.append(
      s(
        "g",
        {
          class: `point is-${one.kind}${one.front ? " best" : ""}`,
          "data-number": one.number,
          onclick: () => store.goBack(one.number),
        },
        s("title", one.words),
        s("circle", { cx: x, cy: y, r: 12, class: "reach" }),
        isNow ? s("circle", { cx: x, cy: y, r: 9, class: "now" }) : null,
        sign(one, x, y),
        label
          ? s(
              "text",
              { x: label[0], y: label[1] + 3.8, "text-anchor": "middle", class: isNow ? "isnow" : null },
              one.number,
            )
          : null,
      ),
    );
  });
  return root;
}

/** @param {any} data */
function grid(data) {
  const parts = [];
  for (const [share, words] of data.y_ticks)
    parts.push(
      s("line.rule", { x1: LEFT, x2: WIDTH - RIGHT, y1: up(share), y2: up(share) }),
      s("text.faint", { x: LEFT - 6, y: up(share) + 3.5, "text-anchor": "end" }, words),
    );
  for (const [share, words] of data.x_ticks)
    parts.push(
      s("line.rule", { x1: across(share), x2: across(share), y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM + 4 }),
      s("text.faint", { x: across(share), y: HEIGHT - BOTTOM + 15, "text-anchor": "middle" }, words),
    );
  parts.push(
    s("text.faint", { x: LEFT, y: 11 }, data.y_label),
    s("text.faint", { x: WIDTH - RIGHT, y: HEIGHT - 5, "text-anchor": "end" }, data.x_label),
  );
  if (data.limit) {
    const [share, words] = data.limit;
    if (share === null) parts.push(s("text", { x: WIDTH - RIGHT, y: 11, "text-anchor": "end" }, words));
    else
      parts.push(
        s("line.chip", { x1: LEFT, x2: WIDTH - RIGHT, y1: up(share), y2: up(share) }),
        s("text", { x: WIDTH - RIGHT, y: up(share) - 4, "text-anchor": "end" }, words),
      );
  }
  return parts;
}

/** Down and to the right, one step at a time. @param {[number, number][]} front */
function steps(front) {
  return front.map(([x, y], at) => (at ? `H${across(x)}V${up(y)}` : `M${across(x)} ${up(y)}`)).join("");
}

/** @param {any} one @param {number} x @param {number} y */
function sign(one, x, y) {
  if (one.kind === "base") return s("rect.sign", { x: x - 4.5, y: y - 4.5, width: 9, height: 9 });
  if (one.kind === "misfit") return s("path.sign", { d: `M${x} ${y - 5.5}l5.2 9.4h-10.4z` });
  const least = one.least ? s("path.least", { d: `M${x} ${y - 6}v-12m-3.5 4l3.5-4 3.5 4` }) : null;
  return [least, s("circle.sign", { cx: x, cy: y, r: 4.5 })];
}

/**
 * A free place for a label, or none.
 * @param {number[][]} points @param {number[][]} taken @param {number} x @param {number} y @param {number} letters @param {number} more @param {boolean} isLeast whether an arrow stands above it
 */
function free(points, taken, x, y, letters, more, isLeast) {
  const half = 3.4 * letters + 2;
  const fits = (/** @type {number} */ a, /** @type {number} */ b) =>
    a - half > LEFT &&
    a + half < WIDTH - 2 &&
    b > TOP - 4 &&
    b < HEIGHT - BOTTOM - 4 &&
    !taken.some(([c, d, other]) => Math.abs(a - c) < half + other && Math.abs(b - d) < 12) &&
    !points.some(([c, d]) => Math.abs(a - c) < half + 5 && Math.abs(b - d) < 10);
  for (const [away, angle] of PLACES) {
    const [a, b] = [x + (away + more) * Math.cos(angle), y + (away + more) * Math.sin(angle)];
    if (!fits(a, b) || (isLeast && b < y - 6 && Math.abs(a - x) < half + 5)) continue;
    taken.push([a, b, half]);
    return [a, b];
  }
  return null;
}
