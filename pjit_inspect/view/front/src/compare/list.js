// The lists: before, after, difference; only what changed, unless the reader asks for all.
import { h, moved, tabs } from "../core/dom.js";
import { plural, thousands } from "../core/format.js";
import { glyph } from "../core/glyphs.js";
import { axisClass, drawAxis } from "../core/spans.js";
import { IN_BOXES } from "./store.js";
import { sign, STATUSES, statusWords, trend } from "./status.js";

const LISTS = ["collectives", "arguments", "results", "shardings", "kernels"];
/** Rows that are drawn at once. */
const AT_ONCE = 150;
/** Pixels of the longest bar: the three columns of figures. */
const BAR = 178;
const REDRAWN = ["data", "list", "onlyChanged", "status", "axes", "box"];

const OF_BOX = "Rows with something in that box; their figures are of all that is alike, in other boxes too.";

/** @param {import("./store.js").CompareStore} store */
export function list(store) {
  const names = LISTS.filter((name) => total(store, name, STATUSES) > 0 || name === "collectives");
  const bar = tabs(
    "Lists",
    [
      ...names.map((name) => /** @type {[string, any]} */ ([name, [name, " ", count(changedCount(store, name))]])),
      ["around", "source"],
    ],
    () => store.state.list,
    (name) => store.filter({ list: name, status: null, axes: null, ...(IN_BOXES.includes(name) ? {} : { box: null }) }),
  );
  const filters = h("div.chips", { role: "group", "aria-label": "Filters" });
  const heads = h("div.heads.dim.small", { "aria-hidden": "true" });
  const rows = h("div.rows");
  const view = new Rows(store, rows);
  store.listen((changed) => {
    if (REDRAWN.some((key) => changed.has(key))) {
      bar.update();
      const isRows = store.state.list !== "around";
      filters.replaceChildren(...(isRows ? chips(store) : []));
      heads.hidden = filters.hidden = !isRows;
      heads.replaceChildren(...columns(store));
      if (isRows) view.draw();
      else rows.replaceChildren(...around(store));
    } else if (changed.has("row")) view.mark();
  });
  return h("section.list", { "aria-label": "What changed" }, bar.bar, filters, heads, rows);
}

/** @param {import("./store.js").CompareStore} store @param {string} name @param {string[]} statuses */
function total(store, name, statuses) {
  const counts = store.first.counts[name] ?? {};
  return statuses.reduce((sum, one) => sum + (counts[one] ?? 0), 0);
}

/** @param {import("./store.js").CompareStore} store @param {string} name */
const changedCount = (store, name) =>
  total(
    store,
    name,
    STATUSES.filter((one) => one !== "same"),
  );

/** @param {number} number */
const count = (number) => h("span.count", thousands(number));

/** @param {import("./store.js").CompareStore} store */
function chips(store) {
  const { state } = store;
  const chip = (/** @type {any} */ words, /** @type {boolean} */ isOn, /** @type {() => void} */ onclick) =>
    h("button.chip", { "aria-pressed": String(isOn), onclick }, words);
  const counts = store.first.counts[state.list] ?? {};
  const found = [
    chip("only what changed", state.onlyChanged && !state.status, () =>
      store.filter({ onlyChanged: state.status ? true : !state.onlyChanged, status: null }),
    ),
    ...STATUSES.filter((one) => counts[one]).map((one) =>
      chip([statusWords(one), count(counts[one])], state.status === one, () =>
        store.filter({ status: state.status === one ? null : /** @type {any} */ (one) }),
      ),
    ),
  ];
  if (state.axes !== null)
    found.push(
      chip(["over ", store.first.axis_sets[state.axes].words, " \u00d7"], true, () => store.filter({ axes: null })),
    );
  if (state.box !== null)
    found.push(chip([boxName(store, state.box), " \u00d7"], true, () => store.filter({ box: null })));
  return found;
}

/** @param {import("./store.js").CompareStore} store @param {number} at */
export function boxName(store, at) {
  const graph = store.data?.header.graph;
  const box = graph.boxes[at];
  const phase = graph.columns[box.column];
  return `${graph.rows[box.row].label}${phase ? `, ${phase}` : ""}`;
}

/** @param {import("./store.js").CompareStore} store */
function columns(store) {
  const found = store.data?.header.lists[store.state.list];
  if (!found) return [];
  const words = ["", `what, where; ${found.unit} ${found.what}`, "before", "after", "difference"];
  return words.map((one) => h("span", { title: one }, one));
}

/** The rows of one list, drawn as far as the reader looks. */
class Rows {
  /** @param {import("./store.js").CompareStore} store @param {HTMLElement} box */
  constructor(store, box) {
    this.store = store;
    this.box = box;
    /** @type {number[]} */
    this.shown = [];
    this.drawn = 0;
    this.most = 1;
    this.listbox = h("div", {
      role: "listbox",
      tabindex: 0,
      "aria-label": "Rows, largest difference first",
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
    });
  }

  draw() {
    this.shown = this.store.shown();
    this.drawn = 0;
    this.most = Math.max(1, ...this.store.rows.map((/** @type {any} */ row) => Math.abs(row.bytes)));
    this.listbox.replaceChildren();
    const parts = this.shown.length ? [this.listbox] : [h("p.nothing", this.nothing())];
    this.box.replaceChildren(...parts, ...this.below());
    this.grow(AT_ONCE);
    this.box.scrollTop = 0;
    this.mark();
  }

  nothing() {
    const { state, first, data } = this.store;
    if (!data) return "Reading the programs ...";
    if (state.box !== null || state.axes !== null || state.status) return "Nothing of that kind is here.";
    const same = first.counts[state.list]?.same ?? 0;
    if (!same) return `Neither program has ${state.list}.`;
    return `Nothing changed: ${thousands(same)} ${same === 1 ? "is" : "are"} the same in both programs.`;
  }

  /** What is not drawn yet, what the page does not have, and a note on the figures. */
  below() {
    const list = this.store.data?.header.lists[this.store.state.list];
    const [changed, same] = list?.left_out ?? [0, 0];
    const left = this.store.state.onlyChanged ? changed : changed + same;
    const words = `${plural(left, "more kind")} not on this page: d.${this.store.state.list} has all`;
    this.more = h("button.more", { onclick: () => this.grow(AT_ONCE) }, "Show more");
    const said = [left ? words : "", this.store.state.box === null ? "" : OF_BOX, list?.note ?? ""].filter(Boolean);
    return [this.more, ...said.map((one) => h("p.nothing", one))];
  }

  /** @param {number} number */
  grow(number) {
    const next = this.shown.slice(this.drawn, this.drawn + number);
    this.listbox.append(...next.map((at) => this.row(at)));
    this.drawn += next.length;
    const left = this.shown.length - this.drawn;
    if (!this.more) return;
    this.more.hidden = !left;
    this.more.textContent = `Show ${thousands(Math.min(left, AT_ONCE))} of ${thousands(left)} more`;
  }

  /** @param {number} at */
  row(at) {
    const row = this.store.rows[at];
    const { first } = this.store;
    const set = row.axes === undefined ? null : first.axis_sets[row.axes];
    const color = set ? axisClass(set.axes, first.axes) : "ax-none";
    const share = Math.sqrt(Math.abs(row.bytes) / this.most);
    const words = [row.kind, set && drawAxis(set.words, set.axes, null, first.axes), ...row.more].filter(Boolean);
    return h(
      "div",
      {
        class: `row ${color}`,
        role: "option",
        id: `row-${at}`,
        "data-at": at,
        "aria-selected": "false",
        onclick: () => this.store.set({ row: at, ...(this.store.isNarrow() ? { pane: "details" } : {}) }),
      },
      sign(row.status),
      glyph(row.glyph),
      h(
        "span.name",
        { title: row.name },
        h("bdi", row.name),
        row.number > 1 ? h("span.dim", ` \u00d7 ${thousands(row.number)}`) : null,
      ),
      h(
        "span.sub",
        words.flatMap((word, i) => (i ? [i === 1 && set ? " " : " \u00b7 ", word] : [word])),
      ),
      h("span.cell.before", row.before),
      h("span.cell.after", row.after),
      h("span", { class: `cell difference ${trend(row.bytes)}` }, row.difference),
      share ? h("span.bar", { style: { width: `${Math.round(BAR * share)}px` } }) : null,
    );
  }

  mark() {
    const { row } = this.store.state;
    this.listbox.querySelector('[aria-selected="true"]')?.setAttribute("aria-selected", "false");
    const at = row === null ? null : this.listbox.querySelector(`[data-at="${row}"]`);
    at?.setAttribute("aria-selected", "true");
    if (at) this.listbox.setAttribute("aria-activedescendant", at.id);
    else this.listbox.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const to = moved(event, this.shown.indexOf(this.store.state.row ?? -1), this.shown.length);
    if (to === null) return;
    event.preventDefault();
    if (to >= this.drawn) this.grow(to + 1 - this.drawn);
    this.store.set({ row: this.shown[to] });
    this.listbox.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }
}

/** What was set and written otherwise. @param {import("./store.js").CompareStore} store */
function around(store) {
  const found = store.data?.header.around;
  if (!found) return [];
  const settings = found.settings.map((/** @type {string[]} */ [kind, name, before, after]) =>
    h("li", h("b", `${kind} `), h("code", name), `: ${before} \u2192 ${after}`),
  );
  const source = found.source.map((/** @type {string[]} */ [status, where, text]) =>
    h("li", { class: `edit is-edit-${status}` }, sign(status), h("code.dim", where), h("code", text)),
  );
  const warnings = found.warnings.map((/** @type {string[]} */ [status, text]) => h("li", sign(status), ` ${text}`));
  const part = (/** @type {string} */ title, /** @type {HTMLElement[]} */ items, /** @type {string} */ none) => [
    h("h2.minor", title),
    items.length ? h("ul.around", items) : h("p.dim", none),
  ];
  return [
    h(
      "div.aroundbox",
      { tabindex: 0, role: "region", "aria-label": "Source and settings" },
      part("Source", source, "The lines of the user's functions are the same, or their text is not recorded."),
      part("Flags, versions, mesh, devices", settings, "All are the same."),
      part("Warnings of XLA", warnings, "No warning came or went."),
    ),
  ];
}
