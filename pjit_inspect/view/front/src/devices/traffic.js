// Device-to-device traffic: who sends how much to whom, as a matrix on a canvas, and the busiest links in a table.
import { colorsOf, penOf } from "../core/canvas.js";
import { h } from "../core/dom.js";
import { bytesText, thousands } from "../core/format.js";

const MOST = 256;
const TOP = 32; // room for a title and the numbers under it
/** Shades of the scale; areas of equal steps, as the cells have. */
const SHADES = [0.25, 0.5, 0.75, 1];

/** How strong the colour of a share of the largest is. @param {number} share */
const strength = (share) => 0.1 + 0.9 * Math.sqrt(share);

/** @param {import("../core/store.js").Store} store */
export function traffic(store) {
  const canvas = /** @type {HTMLCanvasElement} */ (
    h("canvas", {
      role: "img",
      tabindex: 0,
      "aria-label": "Traffic between devices",
      onmousemove: (/** @type {MouseEvent} */ e) => point(e),
      onmouseleave: () => {
        tip.textContent = "";
      },
    })
  );
  const tip = h("p.tip", { "aria-live": "polite" });
  const scale = h("div.scale");
  const busiest = h("div.busiest");
  const box = h("div.traffic", h("div.matrix", canvas, scale, tip), busiest);
  /** @type {{cells: Float64Array, count: number, per: number} | null} */
  let grid = null;
  const draw = () => {
    const { data } = store;
    if (!data) return;
    grid ??= binned(store);
    paint(canvas, grid, box);
    if (busiest.childElementCount) return;
    busiest.append(...links(store));
    scale.append(...scaleOf(grid));
  };
  const point = (/** @type {MouseEvent} */ event) => {
    if (!grid) return;
    const area = canvas.getBoundingClientRect();
    const { count, per } = grid;
    const left = leftOf(grid);
    const from = Math.floor(((event.clientY - area.top - TOP) / (area.height - TOP)) * count);
    const to = Math.floor(((event.clientX - area.left - left) / (area.width - left)) * count);
    if (from < 0 || to < 0 || from >= count || to >= count) return;
    const [sender, receiver] = [from, to].map((cell) => named(store, cell, per));
    const sent = bytesText(Math.round(grid.cells[from * count + to]));
    tip.textContent = `${sender} sends ${receiver} ${sent} per call (modelled)`;
  };
  store.listen((changed) => {
    if (["data", "centre", "pane", "theme"].some((key) => changed.has(key)) && store.state.centre === "traffic")
      requestAnimationFrame(draw);
  });
  new ResizeObserver(() => store.state.centre === "traffic" && draw()).observe(box);
  return box;
}

/** @param {import("../core/store.js").Store} store @param {number} bin @param {number} per */
function named(store, bin, per) {
  const ids = store.data?.column("mesh.ids") ?? [];
  return per === 1 ? `device ${ids[bin]}` : `positions ${thousands(bin * per)}\u2013${thousands((bin + 1) * per - 1)}`;
}

/** Pairs in at most 256 x 256 cells. @param {import("../core/store.js").Store} store */
function binned(store) {
  const data = /** @type {import("../core/blob.js").Store} */ (store.data);
  const size = store.first.mesh.size || 1;
  const per = Math.ceil(size / MOST);
  const count = Math.ceil(size / per);
  const cells = new Float64Array(count * count);
  const [from, to, bytes] = ["traffic.sources", "traffic.targets", "traffic.bytes"].map((name) => data.column(name));
  for (let i = 0; i < from.length; i++) cells[Math.floor(from[i] / per) * count + Math.floor(to[i] / per)] += bytes[i];
  return { cells, count, per };
}

/**
 * @param {HTMLCanvasElement} canvas @param {{cells: Float64Array, count: number, per: number}} grid
 * @param {HTMLElement} box
 */
function paint(canvas, grid, box) {
  const left = leftOf(grid);
  const side = Math.max(120, Math.min(box.clientWidth - 40, box.clientHeight - 96, 34 * grid.count + left, 460));
  const pen = penOf(canvas, side, side);
  if (!pen) return;
  const color = colorsOf(canvas);
  const [w, hh] = [(side - left) / grid.count, (side - TOP) / grid.count];
  let most = 0;
  for (const size of grid.cells) most = Math.max(most, size);
  pen.fillStyle = color("panel");
  pen.fillRect(left, TOP, side - left, side - TOP);
  pen.fillStyle = color("select");
  for (let i = 0; i < grid.cells.length; i++) {
    if (!grid.cells[i]) continue;
    pen.globalAlpha = strength(grid.cells[i] / most);
    pen.fillRect(
      left + (i % grid.count) * w,
      TOP + Math.floor(i / grid.count) * hh,
      Math.max(0.7, w - (w > 6 ? 1 : 0)),
      Math.max(0.7, hh - (hh > 6 ? 1 : 0)),
    );
  }
  pen.globalAlpha = 1;
  pen.fillStyle = color("dim");
  pen.font = "10px system-ui, sans-serif";
  const every = Math.max(1, Math.ceil((12 + 6 * String(grid.count * grid.per).length) / w));
  for (let i = 0; i < grid.count; i += every) {
    const half = pen.measureText(String(i * grid.per)).width / 2;
    pen.textAlign = "center";
    if (left + (i + 0.5) * w + half <= side) pen.fillText(String(i * grid.per), left + (i + 0.5) * w, TOP - 5);
    pen.textAlign = "right";
    pen.fillText(String(i * grid.per), left - 4, TOP + (i + 0.5) * hh + 3);
  }
  pen.textAlign = "center";
  pen.fillText("to device \u2192", left + (side - left) / 2, 11);
  pen.rotate(-Math.PI / 2);
  pen.fillText("\u2190 from device", -TOP - (side - TOP) / 2, 11);
  canvas.setAttribute(
    "aria-label",
    `Traffic between ${grid.count} places of the mesh; the busiest links stand in the table`,
  );
}

/** Room for the title and the numbers beside the rows. @param {{count: number, per: number}} grid */
const leftOf = (grid) => 26 + 6.5 * String(grid.count * grid.per).length;

/** What the strength of a cell's colour means. @param {{cells: Float64Array, per: number}} grid */
function scaleOf(grid) {
  let most = 0;
  for (const size of grid.cells) most = Math.max(most, size);
  if (!most) return [];
  return [
    h(
      "span",
      grid.per > 1 ? `${grid.per} devices send ${grid.per} others, per call:` : "a device sends another, per call:",
    ),
    ...SHADES.map((one) => {
      const share = one * one;
      return h("span", h("i.shade", { style: { opacity: strength(share) } }), bytesText(Math.round(share * most)));
    }),
  ];
}

/** @param {import("../core/store.js").Store} store */
function links(store) {
  const data = /** @type {import("../core/blob.js").Store} */ (store.data);
  const [from, to, bytes] = ["traffic.sources", "traffic.targets", "traffic.bytes"].map((name) => data.column(name));
  const ids = data.column("mesh.ids");
  if (!from.length) return [h("p.nothing", data.header.missing.hlo ?? "No device sends anything.")];
  const order = Array.from(bytes.keys())
    .sort((a, b) => bytes[b] - bytes[a])
    .slice(0, 24);
  const rows = order.map((i) =>
    h("tr", h("td", `${ids[from[i]]} \u2192 ${ids[to[i]]}`), h("td.figure", bytesText(Math.round(bytes[i])))),
  );
  const more = data.header.traffic_left_out;
  return [
    h("h2.minor", "Busiest links, per call"),
    h(
      "table.numbers",
      h("tr", h("th", { scope: "col" }, "from \u2192 to"), h("th", { scope: "col", class: "figure" }, "sends")),
      rows,
    ),
    h(
      "p.dim.small",
      "Rows send, columns receive; numbers are positions in the mesh. Modelled: rings send to the next device of the " +
        "group, an all-to-all an equal part to each; permutes are counted.",
    ),
    more ? h("p.dim.small", `${thousands(more)} collectives are not in it: their groups are unknown or too many.`) : "",
  ];
}
