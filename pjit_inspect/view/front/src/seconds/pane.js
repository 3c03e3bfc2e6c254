// The pane of seconds: how long a call takes and how sure that is, its shares, what runs when, and what takes the time.
import { h, onceAFrame, tabs } from "../core/dom.js";
import { drawSpans } from "../core/spans.js";
import { drawStrip, phaseClass } from "./strip.js";

/** What limits a kernel -> its place in the scale of greys. */
const LIMITS = ["compute", "memory", "neither"];
/** Pixels of a letter within a bar. */
const LETTER = 6.5;

/** @param {import("../core/store.js").Store} store */
export function timePane(store) {
  const box = h("section.timepane", { "aria-label": "Time", tabindex: 0, hidden: true });
  let isDrawn = false;
  const show = () => {
    const data = store.data?.header.time;
    if (isDrawn || store.state.centre !== "time" || !data) return;
    isDrawn = true;
    box.append(...parts(store, data).filter((one) => one !== null));
  };
  store.listen((changed) => (changed.has("centre") || changed.has("data")) && show());
  return box;
}

/** @param {import("../core/store.js").Store} store @param {any} data */
function parts(store, data) {
  const [range, ceilings] = [data.range, data.ceilings];
  return [
    h(
      "div.timepair",
      panel("How sure", "seconds a call", rows(range)),
      ceilings.length > 1 ? panel("Ceilings", "what no schedule can beat", rows(ceilings, true)) : null,
    ),
    panel("Shares", "of a call", data.bars.map(bar)),
    ...strips(store, data.strips, data.bars.length > 1),
    what(store, data.tables),
    picture("Roofline", data.roofline),
    picture("Scaling", data.scaling),
    h(
      "footer.dim.small",
      [`known by: ${data.known_by}`, ...data.notes, data.footer].map((words) => h("p", words)),
    ),
  ];
}

/** @param {string} title @param {string} words @param {any} body */
function panel(title, words, body) {
  return h("section.timepanel", h("h2.minor", title, h("span", ` ${words}`)), body);
}

/** Names, figures and bars of one scale. @param {any[]} found @param {boolean} [isBound] */
function rows(found, isBound = false) {
  return h(
    "dl",
    { class: isBound ? "timerows bound" : "timerows" },
    found.flatMap(([name, words, share, saved]) => [
      h("dt", name),
      h("dd.line", h("i", { style: { width: `${100 * share}%` } })),
      h("dd.number", words),
      h("dd.saved.dim", saved ?? ""),
    ]),
  );
}

/** One stacked bar with its words. @param {any} one */
function bar(one) {
  return h(
    "div.timebar",
    h("span.dim", one.name),
    h(
      "div.stack",
      { role: "img", "aria-label": one.parts.map((/** @type {any} */ [n, , w]) => `${n} ${w}`).join("; ") },
      one.parts.map((/** @type {[string, number, string]} */ [name, share, words]) => {
        const part = h(
          "i",
          { class: colorOf(name), style: { width: `${100 * share}%` }, title: `${name}: ${words}` },
          h("span", `${name} ${Math.round(100 * share)}\u00a0%`),
        );
        new ResizeObserver(() => {
          const label = /** @type {HTMLElement} */ (part.firstElementChild);
          label.hidden = part.clientWidth < (label.textContent ?? "").length * LETTER + 8;
        }).observe(part);
        return part;
      }),
    ),
    h(
      "p.key.small",
      one.parts.map((/** @type {[string, number, string]} */ [name, , words]) =>
        h("span", h("i", { class: colorOf(name) }), name, h("span.dim", ` ${words}`)),
      ),
    ),
  );
}

/** @param {string} name */
function colorOf(name) {
  if (LIMITS.includes(name)) return `limit-${LIMITS.indexOf(name)}`;
  if (name === "waits for network" || name === "network") return "waits";
  return phaseClass(name) === "ph-none" && name !== "kernels" ? "rest" : phaseClass(name);
}

/**
 * The call, and one turn of the loop that is open.
 * @param {import("../core/store.js").Store} store @param {any[]} all
 * @param {boolean} hasLegend whether the colours are explained above
 */
function strips(store, all, hasLegend) {
  if (!all.length) return [];
  let opened = 1;
  const box = h("div.strips");
  const draw = onceAFrame(() => {
    const width = box.clientWidth;
    if (!width) return;
    const shown = [all[0], ...(all.length > 1 ? [all[opened]] : [])];
    box.replaceChildren(
      ...shown.map((strip, number) =>
        h(
          "section",
          { "aria-label": strip.title },
          h(
            "div.stripbar",
            h("h2.minor", strip.title, h("span", strip.network && ` ${strip.network}`)),
            number && all.length > 2 ? chooser() : null,
          ),
          drawStrip(store, strip, width, open),
        ),
      ),
    );
  });
  const open = (/** @type {number} */ number) => {
    opened = number;
    draw();
  };
  const chooser = () =>
    h(
      "span",
      { role: "group", "aria-label": "Which loop is open" },
      all
        .slice(1)
        .map((strip, at) =>
          h(
            "button.button",
            { "aria-pressed": String(at + 1 === opened), onclick: () => open(at + 1) },
            all.slice(1).filter((one) => one.phase === strip.phase).length > 1 || !strip.phase
              ? `loop ${at + 1}`
              : strip.phase,
          ),
        ),
    );
  new ResizeObserver(draw).observe(box);
  return [h("section.timepanel", hasLegend ? null : legend(all), box)];
}

/** @param {any[]} all */
function legend(all) {
  const lanes = all.flatMap((strip) => strip.lanes);
  const phases = new Set(
    lanes.flatMap((lane) =>
      lane.pieces.filter((/** @type {any} */ one) => one[2] === 0).map((/** @type {any} */ one) => one[3]),
    ),
  );
  const waits = lanes.some((lane) => lane.pieces.some((/** @type {any} */ one) => one[2] === 1));
  const keys = [...phases].map((phase) => [phaseClass(phase), phase || "kernels"]);
  if (waits) keys.push(["waits", "waits for network"]);
  return h(
    "p.key.small",
    keys.map(([color, words]) => h("span", h("i", { class: color }), words)),
  );
}

/** What takes the time, as a table. @param {import("../core/store.js").Store} store @param {any[]} tables */
function what(store, tables) {
  let shown = 0;
  const body = h("div.timetable", { tabindex: 0, role: "region", "aria-label": "What takes the time" });
  const bar = tabs(
    "What takes the time",
    tables.map((table, at) => [String(at), table.name, `Seconds of a call ${table.name}`]),
    () => String(shown),
    (key) => {
      shown = Number(key);
      bar.update();
      fill();
    },
  );
  const fill = () => body.replaceChildren(table(store, tables[shown]));
  fill();
  return h("section.timepanel", h("div.stripbar", h("h2.minor", "What takes the time"), bar.bar), body);
}

/** @param {import("../core/store.js").Store} store @param {any} data */
function table(store, { titles, right, rows: found, names, rest }) {
  const side = (/** @type {number} */ at) => (right[at] ? "right" : undefined);
  return h(
    "table",
    h(
      "thead",
      h(
        "tr",
        titles.map((/** @type {string} */ title, /** @type {number} */ at) => h("th", { class: side(at) }, title)),
      ),
    ),
    h(
      "tbody",
      found.map((/** @type {any[][]} */ cells, /** @type {number} */ row) =>
        h(
          "tr",
          { onclick: () => names[row] && store.selectName(names[row]) },
          cells.map((spans, at) => h("td", { class: side(at) }, drawSpans(spans, store.first.axes))),
        ),
      ),
      rest ? h("tr", h("td.dim", { colspan: titles.length }, rest)) : null,
    ),
  );
}

/** @param {string} name @param {any} drawn */
function picture(name, drawn) {
  if (!drawn) return null;
  const { src, alt, width, height, title, notes } = drawn;
  return panel(name, title, [
    h("div.roofline", { tabindex: 0, role: "region", "aria-label": name }, h("img", { src, alt, width, height })),
    h("p.dim.small", notes),
  ]);
}
