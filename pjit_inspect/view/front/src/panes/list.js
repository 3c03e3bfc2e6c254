// The list on the left: collectives, arrays or kernels, with a filter and chips.
import { choice, choose, h, tabs } from "../core/dom.js";
import { intoView, mark as markOption, walk } from "../core/options.js";
import { plural, thousands } from "../core/format.js";
import { FORMS, tableText } from "./copies.js";
import { copyButton } from "../core/copy.js";
import { popover } from "../core/popover.js";
import { glyph } from "../core/glyphs.js";
import { axisClass, drawAxis } from "../core/spans.js";
import { cutOf, sideCut, thumb } from "../devices/shard.js";
import { CLEAR, isFiltered, shownRows, sortKey, sortsOf } from "../core/filters.js";

const LISTS = ["collectives", "arrays", "kernels"]; // in the order of `first.counts`
const PAGE = 300;
const CHIPS = ["list", "data", "axes", "kind", "role"];
const ROWS = [...CHIPS, "text", "cause", "note", "advice", "isChanged", "sort", "reversed"];

/** @param {import("../core/store.js").Store} store */
export function list(store) {
  const { first } = store;
  const names = [
    ["collectives", "Collectives", "Steps in which devices send each other data"],
    ["arrays", "Arrays", "Arguments, results and, where XLA was asked, the values between them"],
    ["kernels", "Kernels", "Pieces of work that XLA runs one after another on each device"],
  ];
  const items = names.map(
    ([key, words, title], i) =>
      /** @type {[string, any, string]} */ ([
        key,
        [h("span.tabname", words), h("span.count", first.counts[i] === null ? "" : ` ${thousands(first.counts[i])}`)],
        title,
      ]),
  );
  const bar = tabs(
    "What to list",
    items,
    () => store.state.list,
    (key) => store.set({ list: key }),
  );
  const input = /** @type {HTMLInputElement} */ (
    h("input", {
      type: "search",
      class: "filter",
      placeholder: "Find (/)",
      title: "Every word of a name, scope, axis, kind, file:line, function or source text; or /a regular expression/",
      "aria-label": "Find in the list",
      oninput: () => store.set({ text: input.value }),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const step = { ArrowDown: 1, ArrowUp: -1, Enter: event.shiftKey ? -1 : 1 }[event.key];
        if (!step || event.isComposing) return;
        event.preventDefault();
        store.walk(step);
      },
    })
  );
  const chips = h("div.chips");
  const tools = new Tools(store);
  const options = h("div", { "aria-label": "Rows" });
  const rest = h("div");
  const rows = h(
    "div.rows",
    {
      tabindex: -1,
      onkeydown: (/** @type {KeyboardEvent} */ event) =>
        walk(rows.querySelectorAll(".row"), event, (row) => {
          if (event.key === "Enter" && store.isNarrow()) store.set({ pane: "details" });
          store.select({ type: /** @type {any} */ (store.state.list.slice(0, -1)), row: Number(row.dataset.row) });
        }),
    },
    options,
    rest,
  );
  let limit = PAGE;
  /** @type {[any, number][]} */
  let shown = [];
  store.walk = (step) => {
    const current = store.listed;
    const at = `${current?.type}s` === store.state.list ? shown.findIndex(([, i]) => i === current?.row) : -1;
    const to = at < 0 ? 0 : (at + step + shown.length) % shown.length;
    if (shown.length) store.select({ type: /** @type {any} */ (store.state.list.slice(0, -1)), row: shown[to][1] });
  };
  const draw = () => {
    const all = store.rows(store.state.list);
    shown = shownRows(store);
    tools.update(all, shown);
    const current = store.listed;
    if (current && `${current.type}s` === store.state.list)
      limit = Math.max(limit, shown.findIndex(([, i]) => i === current.row) + 1);
    options.setAttribute("role", shown.length ? "listbox" : "group");
    rest.replaceChildren();
    const isTimed = sortKey(store.state, store.first) === "time";
    const longest = isTimed ? all.reduce((most, row) => Math.max(most, row.time_us ?? 0), 0) : 0;
    options.replaceChildren(
      ...shown.slice(0, limit).map(([row, i], at) => drawRow(store, row, i, at === 0 && !current, longest)),
    );
    if (shown.length > limit)
      rest.append(
        h(
          "button.more",
          {
            onclick: () => {
              limit += PAGE * 4;
              draw();
            },
          },
          `${thousands(shown.length - limit)} more`,
        ),
      );
    const more = store.data?.header.more[store.state.list];
    if (more && !store.state.text) rest.append(h("p.nothing", more));
    if (!shown.length) rest.append(nothing(store, input));
    mark(store, rows);
  };
  const update = (/** @type {Set<string>} */ changed) => {
    if (changed.has("list")) limit = PAGE;
    if (["list", "data"].some((key) => changed.has(key))) bar.update();
    if (input.value !== store.state.text) input.value = store.state.text;
    if (CHIPS.some((key) => changed.has(key))) drawChips(store, chips);
    if (ROWS.some((key) => changed.has(key))) draw();
    else if (changed.has("selection") || changed.has("pane") || changed.has("wide")) {
      if (store.listed?.row && !isDrawn(store, rows)) draw();
      else mark(store, rows);
    }
  };
  store.listen(update);
  update(new Set(["data"]));
  return h(
    "section.list",
    { "aria-label": "List" },
    bar.bar,
    h("div.filters", h("div.tools", input, tools.open, tools.sort, tools.order), tools.facets(chips), tools.status),
    rows,
  );
}

/** Sorting, the filters behind a button, and how many rows are left. */
class Tools {
  /** @param {import("../core/store.js").Store} store */
  constructor(store) {
    this.store = store;
    this.list = "";
    this.sort = choice("Sort by", [], "", (value) => store.set({ sort: value }));
    this.order = h("button.button.order", { onclick: () => store.set({ reversed: !store.state.reversed }) });
    this.cause = choice("Only this cause", [], "", (value) => store.set({ cause: value || null }));
    this.count = h("span.shown", { role: "status" });
    const clear = h("button.button", { onclick: () => store.set(CLEAR) }, "Clear");
    this.status = h("p.dim.status", this.count, clear);
    this.box = h("div.facets", { role: "group", "aria-label": "Filters" });
    const title = "Filter by axis, kind and cause";
    this.open = popover(store, { class: "facet", title }, "Filters \u25be", this.box).button;
  }

  /** What opens over the list. @param {HTMLElement} chips */
  facets(chips) {
    this.box.append(chips, this.cause, this.copies());
    return this.box;
  }

  /** Copies the rows that are shown, as they are sorted. */
  copies() {
    const { store } = this;
    const text = (/** @type {string} */ form) => {
      const rows = shownRows(store).map(([row]) => row);
      return tableText(form, store.state.list, rows, store.data?.header.axis_sets ?? []);
    };
    const buttons = FORMS.map(([form, words]) => copyButton(words, () => text(form)));
    return h("div.chips", { role: "group", "aria-label": "Copy the rows as" }, "Copy the rows as", buttons);
  }

  /** @param {any[]} all @param {[any, number][]} shown */
  update(all, shown) {
    const { state, data } = this.store;
    const list = `${state.list} ${Boolean(data)}`;
    if (list !== this.list) this.options(all);
    this.list = list;
    this.sort.value = sortKey(state, this.store.first);
    this.cause.value = state.cause ?? "";
    this.order.textContent = state.reversed ? "\u2191" : "\u2193";
    this.order.setAttribute("aria-pressed", String(state.reversed));
    this.order.setAttribute("aria-label", "Reverse the order");
    this.order.title = "Reverse the order";
    const isPart = shown.length < all.length;
    const every = this.store.first.counts[LISTS.indexOf(state.list)] ?? sum(all); // with what the page leaves out
    this.count.textContent = isPart ? `${thousands(sum(shown.map(([row]) => row)))} of ${thousands(every)}` : "";
    this.status.hidden = !isPart;
    this.open.setAttribute(
      "aria-pressed",
      String([state.axes, state.kind, state.role, state.cause ?? null].some((one) => one !== null)),
    );
  }

  /** What this list can be sorted by, and the causes it has. @param {any[]} all */
  options(all) {
    choose(
      this.sort,
      sortsOf(this.store.state.list, all).map(([key, words]) => [key, `by ${words}`]),
    );
    const causes = new Map();
    for (const row of all)
      for (const cause of row.causes ?? []) causes.set(cause, (causes.get(cause) ?? 0) + row.number);
    const ranked = [...causes].sort((a, b) => b[1] - a[1]);
    choose(this.cause, [
      ["", "any cause"],
      ...ranked.map(([cause, count]) => /** @type {[string, string]} */ ([cause, `${cause} (${thousands(count)})`])),
    ]);
    this.cause.hidden = ranked.length < 2;
  }
}

/** @param {import("../core/store.js").Store} store @param {HTMLInputElement} input */
function nothing(store, input) {
  const { state } = store;
  if (isFiltered(state)) {
    const clear = () => {
      input.value = "";
      store.set(CLEAR);
    };
    return h("p.nothing", "Nothing fits. ", elsewhere(store), h("button.button", { onclick: clear }, "Clear"));
  }
  const key = { collectives: "hlo", kernels: "hlo", arrays: "inputs" }[state.list] ?? "";
  const why = store.data?.header.missing[key];
  const none = {
    collectives: "No collectives: the devices do not communicate.",
    arrays: "No arrays.",
    kernels: "No fused kernels.",
  }[state.list];
  return h("p.nothing", why ?? (store.data ? none : ""));
}

/** The other lists that have what is looked for. @param {import("../core/store.js").Store} store */
function elsewhere(store) {
  const { text } = store.state;
  return LISTS.flatMap((list) => {
    const number = text ? sum(shownRows(store, { ...store.state, ...CLEAR, text, list }).map(([row]) => row)) : 0;
    const go = () => store.set({ ...CLEAR, text, list });
    if (!number) return [];
    return [h("button.button", { onclick: go }, plural(number, list.slice(0, -1))), " "];
  });
}

/** How many things rows stand for. @param {any[]} rows */
function sum(rows) {
  return rows.reduce((number, row) => number + row.number, 0);
}

/** @param {import("../core/store.js").Store} store @param {HTMLElement} chips */
function drawChips(store, chips) {
  const { first, state } = store;
  const all = store.rows(state.list);
  const chip = (
    /** @type {any[]} */ words,
    /** @type {boolean} */ on,
    /** @type {() => void} */ click,
    /** @type {string} */ title,
    /** @type {string} */ name,
  ) => h("button.chip", { title, "aria-label": name, "aria-pressed": String(on), onclick: click }, words);
  /** @type {HTMLElement[]} */
  const shown = [];
  if (state.list === "collectives") {
    for (const [axes, number] of counted(all, "axes")) {
      const set = first.axis_sets[axes] ?? store.data?.header.axis_sets[axes];
      const square = h("span", { class: `square ${axisClass(set.axes, first.axes)}` });
      shown.push(
        chip(
          [square, `${set.words} `, h("span.count", thousands(number))],
          state.axes === axes,
          () => store.set({ axes: state.axes === axes ? null : axes }),
          `Only over ${set.words}`,
          `${set.words}, ${thousands(number)}`,
        ),
      );
    }
    for (const [kind, number] of counted(all, "kind"))
      shown.push(
        chip(
          [glyph(kind), " ", h("span.count", thousands(number))],
          state.kind === kind,
          () => store.set({ kind: state.kind === kind ? null : kind }),
          `Only ${kind}`,
          `${kind}, ${thousands(number)}`,
        ),
      );
  }
  if (state.list === "arrays")
    for (const [role, number] of counted(all, "role"))
      shown.push(
        chip(
          [`${role}s `, h("span.count", thousands(number))],
          state.role === role,
          () => store.set({ role: state.role === role ? null : role }),
          `Only ${role}s`,
          `${role}s, ${thousands(number)}`,
        ),
      );
  chips.replaceChildren(...(shown.length > 1 ? shown : []));
}

/** @param {any[]} rows @param {string} key @returns {[any, number][]} */
function counted(rows, key) {
  const counts = new Map();
  for (const row of rows) counts.set(row[key], (counts.get(row[key]) ?? 0) + row.number);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

/**
 * @param {import("../core/store.js").Store} store @param {any} row @param {number} index @param {boolean} isFirst
 * @param {number} longest the longest measured time of the list where that sorts it, 0 elsewhere
 */
function drawRow(store, row, index, isFirst, longest) {
  const type = /** @type {"collective" | "array" | "kernel"} */ (store.state.list.slice(0, -1));
  const parts = { collective: collectiveParts, array: arrayParts, kernel: kernelParts }[type](store, row, longest);
  return h(
    "div",
    {
      class: `row ${parts.color}${store.goes(row) ? " goes" : ""}`,
      role: "option",
      "data-row": index,
      "aria-selected": "false",
      tabindex: isFirst ? 0 : -1,
      title: `${parts.full ?? parts.name}${store.goes(row) ? "\nGone with the change" : ""}`,
      onclick: () => {
        // Asked first: afterwards the browser would have to lay out all panes for it.
        const goes = store.state.pane === "list" && store.isNarrow();
        store.select({ type, row: index });
        if (goes) store.set({ pane: "details" });
      },
    },
    glyph(parts.sign),
    h("span.half", h("span.name", h("bdi", parts.name)), h("span.size", parts.size)),
    h(
      "span.half",
      h("span.sub", parts.sub),
      parts.pictures.length ? h("span.shapes", parts.pictures) : null,
      row.number > 1 ? h("span.times", `\u00d7 ${thousands(row.number)}`) : null,
    ),
    parts.share === null ? null : h("span.bar", { style: { "--share": String(parts.share) } }),
  );
}

/**
 * A row's figure and its bar, and what is said beside: of bytes, or of the time where that sorts the list.
 * @param {any} row @param {number} longest @param {string} bytes @param {number | null} share of the bytes
 */
function figures(row, longest, bytes, share) {
  if (!longest) return { size: bytes, beside: row.time && `${row.time} measured`, share };
  if (!row.time) return { size: "unknown", beside: bytes, share: null };
  return { size: row.time, beside: `measured, ${bytes}`, share: row.time_us / longest };
}

/** @param {import("../core/store.js").Store} store @param {any} row @param {number} longest */
function collectiveParts(store, row, longest) {
  const set = store.first.axis_sets[row.axes] ?? store.data?.header.axis_sets[row.axes];
  const { beside, size, share } = figures(row, longest, row.sent, row.share);
  const kind = [row.kind, " ", set ? drawAxis(set.words, set.axes, null, store.first.axes) : ""];
  const sub = [beside, kind, row.place].filter(Boolean).flatMap((one, i) => (i ? [" \u00b7 ", one] : [one]));
  const sides = row.picture ? [row.picture.before, row.picture.after] : [];
  return {
    sign: row.kind,
    name: row.name,
    full: `${row.what}\n${row.kind}, ${row.phase || "phase unknown"}, ${row.cause}, ${row.place}`,
    size,
    sub,
    share,
    pictures: sides.flatMap((side, i) => [i ? "\u2192" : null, thumb(sideCut(side), store.first.axes)]),
    color: axisClass(set?.axes ?? null, store.first.axes),
  };
}

/** @param {import("../core/store.js").Store} store @param {any} row */
function arrayParts(store, row) {
  const sharding = store.data?.header.shardings[row.sharding];
  const axes = [...new Set((sharding?.spec ?? []).flat())];
  const cut = store.data && cutOf(store.data, row.sharding, row.shape);
  const sub = [row.array, row.spec, row.place].filter(Boolean).join(" \u00b7 ");
  return {
    sign: "array",
    name: row.name,
    full: `${row.name}\n${sub}`,
    size: row.all,
    sub,
    share: null,
    pictures: cut ? [thumb(cut, store.first.axes)] : [],
    color: axisClass(axes, store.first.axes),
  };
}

/** @param {import("../core/store.js").Store} _store @param {any} row @param {number} longest */
function kernelParts(_store, row, longest) {
  const contains = row.contains
    .slice(0, 3)
    .map((/** @type {any} */ [opcode, n]) => (n > 1 ? `${opcode} \u00d7${n}` : opcode))
    .join(", ");
  const { beside, size, share } = figures(row, longest, row.traffic, null);
  const sub = [beside, row.target || row.kind, contains, row.place].filter(Boolean).join(" \u00b7 ");
  return {
    sign: "kernel",
    name: row.what,
    full: `${row.what}\n${sub}`,
    size,
    sub,
    share,
    pictures: [],
    color: "ax-none",
  };
}

/** @param {import("../core/store.js").Store} store @param {HTMLElement} rows */
function mark(store, rows) {
  const { list: kind } = store.state;
  const selection = store.listed;
  const isHere = selection !== null && `${selection.type}s` === kind;
  const found = /** @type {HTMLElement | null} */ (
    isHere ? rows.querySelector(`.row[data-row="${selection.row}"]`) : null
  );
  markOption(rows, found);
  if (found) requestAnimationFrame(() => intoView(rows, found));
}

/**
 * Whether the selected row is among those drawn: of a long list only the first are.
 * @param {import("../core/store.js").Store} store @param {HTMLElement} rows
 */
function isDrawn(store, rows) {
  const { list: kind } = store.state;
  const selection = store.listed;
  return `${selection?.type}s` !== kind || rows.querySelector(`.row[data-row="${selection?.row}"]`) !== null;
}
