// The strip of all passes, and under it the lanes of collectives: a line is one collective as it was made, and keeps its
// height through every pass, so that what is thick at the end was combined.
import { h, onceAFrame, s } from "../core/dom.js";
import { glyph } from "../core/glyphs.js";
import { axisClass } from "../core/spans.js";
import { drawnOrder } from "./store.js";

const LEFT = 104;
const RIGHT = 96;
const LEAST_COLUMN = 118;
const NODE = 8;
const GAP = 14;
const HIGH = 360;

/** @param {import("./store.js").PassesStore} store */
export function lanes(store) {
  const box = h("div", { class: "lanes" });
  const pane = h("section", { class: "strip", "aria-label": "Passes, and collectives through them" }, box);
  let width = 0;
  const paint = () => {
    const least = LEFT + RIGHT + LEAST_COLUMN * store.stages.length;
    width = Math.max(pane.clientWidth - 2, Math.min(least, 2400));
    box.replaceChildren(...draw(store, width));
  };
  const soon = onceAFrame(paint);
  new ResizeObserver(() => pane.clientWidth - 2 !== width && soon()).observe(pane);
  store.listen(soon);
  return pane;
}

/** @param {import("./store.js").PassesStore} store @param {number} width */
function draw(store, width) {
  const { stages } = store;
  const room = width - LEFT - RIGHT;
  const centre = (/** @type {number} */ stage) => LEFT + (room * (stage + 0.5)) / Math.max(1, stages.length);
  if (!stages.length) {
    const words = "No pass made or changed a collective.";
    return [ticks(store, width, centre), h("p", { class: "nothing" }, words)];
  }
  const layout = place(store);
  const picture = s("svg", {
    width,
    height: layout.height,
    class: store.chosen ? "picture picked" : "picture",
    role: "img",
    "aria-label": store.first.head,
  });
  for (const lane of layout.lanes) {
    picture.append(
      s("rect", { class: "lane", x: LEFT, y: lane.top - 3, width: room, height: lane.height + 6 }),
      ...laneWords(lane),
    );
  }
  const family = store.family;
  picture.append(...ribbons(store, layout, centre, family), ...nodes(store, layout, centre, family));
  picture.append(...ends(store, layout, centre(stages.length - 1)));
  const words =
    "One line is one collective as it was made; it keeps its height through every pass, so that what is thick was combined. A line that ends in × was removed.";
  return [
    ticks(store, width, centre),
    columns(store, width),
    picture,
    h("p", { class: "dim small legend" }, words, " ", keys()),
  ];
}

/** A coordinate, shorter. @param {number} value */
function tenths(value) {
  return Math.round(value * 10) / 10;
}

function keys() {
  const key = (/** @type {string} */ text) => h("kbd", {}, text);
  return [
    key("←"),
    key("→"),
    " what it was made of, and became; ",
    key("↑"),
    key("↓"),
    " its neighbours; ",
    key("["),
    key("]"),
    " the pass before and after; ",
    key("Esc"),
    " all",
  ];
}

/**
 * All passes as ticks; those that changed the program can be clicked, those that changed a collective lead to a column.
 * @param {import("./store.js").PassesStore} store @param {number} width @param {(stage: number) => number} centre
 */
function ticks(store, width, centre) {
  const { passes, stages, first } = store;
  const at = (/** @type {number} */ number) =>
    LEFT + ((width - LEFT - RIGHT) * (number + 0.5)) / Math.max(1, first.written);
  const picture = s("svg", { width, height: 46, class: "ticks", role: "group", "aria-label": "All passes" });
  picture.append(
    s("text", { x: 4, y: 13 }, `${passes.length} of ${first.written}`),
    s("text", { x: 4, y: 26, class: "faint" }, "steps changed it"),
    s("path", {
      class: "every",
      d: Array.from({ length: first.written }, (_, i) => `M${tenths(at(i))} 9v4`).join(""),
    }),
  );
  stages.forEach((stage, column) => {
    const [from, to] = [at(stage.number), centre(column)];
    picture.append(s("path", { class: "lead", d: `M${from} 18C${from} 34 ${to} 26 ${to} 44` }));
  });
  for (const one of passes) {
    const x = at(one.number);
    const names = [one.did ? "tick did" : "tick", one.number === store.after ? "now" : ""];
    const tick = s(
      "g",
      { class: names.join(" "), onclick: () => store.choosePass(one.number) },
      s("title", {}, `${one.number} ${one.name}${one.did ? `: ${one.did}` : ""}`),
      s("rect", { class: "reach", x: x - 3, y: 0, width: 6, height: 20 }),
      s("rect", { x: x - 1, y: 4, width: 2, height: 14 }),
    );
    picture.append(tick);
  }
  return picture;
}

/** @param {import("./store.js").PassesStore} store @param {number} width */
function columns(store, width) {
  const buttons = store.stages.map((stage) => {
    const pass = store.named(stage.number);
    return h(
      "button",
      {
        type: "button",
        class: "column",
        "data-pass": stage.number,
        "aria-pressed": store.pass === stage.number ? "true" : "false",
        disabled: !pass,
        title: pass?.sentence,
        onclick: () => pass && store.choosePass(stage.number),
      },
      h("span", {}, h("span", { class: "dim" }, `${stage.number} `), pass ? pass.name : "before all passes"),
      h("b", {}, pass ? pass.did : "as the program was written"),
    );
  });
  const style = {
    width: `${width}px`,
    padding: `0 ${RIGHT}px 4px ${LEFT}px`,
    "grid-template-columns": `repeat(${buttons.length}, minmax(0, 1fr))`,
  };
  return h("div", { class: "columns", style }, buttons);
}

/**
 * @typedef {{kind: string, top: number, height: number, first: number, last: number}} Lane
 * @typedef {{y: number[], high: number[]}} Column
 * @typedef {{lanes: Lane[], columns: Column[], height: number, taken: number[][]}} Layout
 */

/** Where each collective is drawn. @param {import("./store.js").PassesStore} store @returns {Layout} */
function place(store) {
  const { stages } = store;
  /** @type {number[][]} */
  const weights = [];
  for (const [at, stage] of stages.entries()) {
    /** @type {number[]} */
    const shares = at ? stages[at - 1].rows.map(() => 0) : [];
    for (const row of stage.rows) for (const parent of row.parents) shares[parent] += 1;
    weights.push(
      stage.rows.map((row) =>
        row.parents.length ? row.parents.reduce((sum, one) => sum + weights[at - 1][one] / shares[one], 0) : 1,
      ),
    );
  }
  const kinds = [...new Set(stages.flatMap((stage) => stage.rows.map((row) => row.kind)))].sort();
  const sizes = kinds.map((kind) =>
    stages.map((stage, at) => stage.rows.reduce((sum, row, i) => sum + (row.kind === kind ? weights[at][i] : 0), 0)),
  );
  const whole = sizes.reduce((sum, own) => sum + Math.max(...own), 0) || 1;
  const unit = Math.max(0.6, Math.min(9, HIGH / whole));
  const gap = unit >= 3 ? 1.5 : unit >= 1.5 ? 0.5 : 0;
  let top = 8;
  const lanes = kinds.map((kind, k) => {
    const height = Math.max(Math.max(...sizes[k]) * unit, 14);
    const count = (/** @type {number} */ at) => stages[at]?.rows.filter((row) => row.kind === kind).length ?? 0;
    const lane = {
      kind,
      top,
      height,
      first: Math.max(...stages.map((_, at) => count(at))),
      last: count(stages.length - 1),
    };
    top += height + GAP;
    return lane;
  });
  const drawn = stages.map((stage, at) => {
    const fill = new Map(lanes.map((lane) => [lane.kind, lane.top]));
    /** @type {number[]} */
    const y = [];
    /** @type {number[]} */
    const high = [];
    for (const row of drawnOrder(stage.rows, store.axes)) {
      const { kind } = stage.rows[row];
      y[row] = fill.get(kind) ?? 0;
      high[row] = Math.max(0.5, weights[at][row] * unit - gap);
      fill.set(kind, y[row] + weights[at][row] * unit);
    }
    return { y, high };
  });
  return { lanes, columns: drawn, height: top, taken: drawn.map((one) => one.y.map(() => 0)) };
}

/** @param {Lane} lane */
function laneWords(lane) {
  const y = lane.top + 9;
  const sign = glyph(lane.kind);
  sign.setAttribute("x", "2");
  sign.setAttribute("y", String(y - 10));
  const count = lane.first === lane.last ? `${lane.last}` : `${lane.first} → ${lane.last}`;
  const isShort = lane.height < 26;
  return [
    sign,
    s("text", { x: 18, y }, lane.kind.replace("collective-", "")),
    s("text", { x: isShort ? LEFT - 6 : 18, y: isShort ? y : y + 13, class: isShort ? "faint right" : "faint" }, count),
  ];
}

/**
 * @param {import("./store.js").PassesStore} store @param {Layout} layout @param {(stage: number) => number} centre
 * @param {Set<string>} family
 */
function* ribbons(store, layout, centre, family) {
  for (let at = 1; at < store.stages.length; at++) {
    const [before, after] = [layout.columns[at - 1], layout.columns[at]];
    const rows = store.stages[at].rows;
    const children = before.y.map(() => 0);
    for (const row of rows) for (const parent of row.parents) children[parent] += 1;
    const [left, right] = [centre(at - 1) + NODE / 2, centre(at) - NODE / 2];
    for (const place of drawnOrder(rows, store.axes)) {
      const row = rows[place];
      const order = drawnOrder(store.stages[at - 1].rows, store.axes);
      const parents = row.parents.length > 1 ? order.filter((one) => row.parents.includes(one)) : row.parents;
      const whole = parents.reduce((sum, one) => sum + before.high[one] / children[one], 0) || 1;
      let to = after.y[place];
      for (const parent of parents) {
        const share = before.high[parent] / children[parent];
        const from = before.y[parent] + layout.taken[at - 1][parent];
        layout.taken[at - 1][parent] += share;
        const high = (after.high[place] * share) / whole;
        const old = store.stages[at - 1].rows[parent];
        const changed = parents.length > 1 || old.kind !== row.kind;
        const isOwn = family.has(`${at - 1} ${parent}`) && family.has(`${at} ${place}`);
        yield s("path", {
          class: `ribbon ${axisClass(row.axes, store.axes)}${changed ? " changed" : ""}${isOwn ? " own" : ""}`,
          d: band(left, from, share, right, to, high),
        });
        to += high;
      }
    }
    for (const [parent, count] of children.entries()) if (!count) yield* gone(store, at - 1, parent, before, left);
  }
}

/** @param {number} x0 @param {number} y0 @param {number} h0 @param {number} x1 @param {number} y1 @param {number} h1 */
function band(x0, y0, h0, x1, y1, h1) {
  const middle = (x0 + x1) / 2;
  const f = (/** @type {number[]} */ ...all) => all.map(tenths).join(" ");
  return `M${f(x0, y0)}C${f(middle, y0, middle, y1, x1, y1)}V${f(y1 + h1)}C${f(middle, y1 + h1, middle, y0 + h0, x0, y0 + h0)}Z`;
}

/** One that a pass removed ends in a cross. @param {import("./store.js").PassesStore} store @param {number} stage @param {number} row @param {Column} column @param {number} left */
function* gone(store, stage, row, column, left) {
  const y = column.y[row] + column.high[row] / 2;
  const color = axisClass(store.stages[stage].rows[row].axes, store.axes);
  yield s("path", { class: `end ${color}`, d: `M${left} ${y}h18m-3 -3l6 6m0 -6l-6 6` });
}

/**
 * @param {import("./store.js").PassesStore} store @param {Layout} layout @param {(stage: number) => number} centre
 * @param {Set<string>} family
 */
function* nodes(store, layout, centre, family) {
  for (const [at, stage] of store.stages.entries()) {
    const { y, high } = layout.columns[at];
    for (const [place, row] of stage.rows.entries()) {
      const isOwn = family.has(`${at} ${place}`);
      const isChosen = store.chosen?.[0] === at && store.chosen[1] === place;
      yield s(
        "rect",
        {
          class: `node ${axisClass(row.axes, store.axes)}${isOwn ? " own" : ""}${isChosen ? " chosen" : ""}`,
          "data-node": `${at} ${place}`,
          x: centre(at) - NODE / 2,
          y: y[place],
          width: NODE,
          height: high[place],
          onclick: () => store.choose(at, place),
        },
        s("title", {}, `${row.name} (${row.kind}) over ${row.words}${row.size ? `, ${row.size}` : ""}`),
      );
    }
  }
}

/** Bytes at the right edge, where there is room. @param {import("./store.js").PassesStore} store @param {Layout} layout @param {number} x */
function* ends(store, layout, x) {
  const stage = store.stages.at(-1);
  const column = layout.columns.at(-1);
  if (!stage || !column) return;
  let free = 0;
  for (const row of drawnOrder(stage.rows, store.axes)) {
    const y = column.y[row] + column.high[row] / 2 + 4;
    if (y < free || !stage.rows[row].size) continue;
    free = y + 13;
    yield s("text", { x: x + NODE, y, class: "faint" }, stage.rows[row].size);
  }
}
