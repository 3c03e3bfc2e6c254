// The details of the selection: why, before and after, the numbers, where, and what could save some of it.
import { h } from "../core/dom.js";
import { plural, thousands } from "../core/format.js";
import { glyph } from "../core/glyphs.js";
import { moves } from "../devices/moves.js";
import { cutOf, drawShards, shardPicker } from "../devices/shard.js";
import { axisClass, drawFacts, drawPairs, drawSpans } from "../core/spans.js";
import { drawBuffer } from "../memory/details.js";

/** Characters of a first sentence that leave the picture in sight. */
const LONG = 260;

/** @param {import("../core/store.js").Store} store */
export function details(store) {
  const box = h("section.details", { "aria-label": "Details", tabindex: 0 });
  const draw = () => {
    const { selection, list } = store.state;
    const isGallery = store.data && list === "arrays" && !["array", "line", "buffer"].includes(selection?.type ?? "");
    const parts = isGallery ? gallery(store) : selection === null || !store.data ? empty(store) : null;
    box.replaceChildren(...(parts ?? DRAW[/** @type {NonNullable<typeof selection>} */ (selection).type](store)));
  };
  store.listen((changed) => {
    if (changed.has("selection"))
      requestAnimationFrame(() => {
        box.scrollTop = 0;
      });
    if (["selection", "data", "list"].some((key) => changed.has(key))) draw();
  });
  draw();
  return box;
}

const MOST_PICTURES = 60;

/**
 * All arguments side by side, how each is cut over the mesh: what the list of arrays opens with.
 * @param {import("../core/store.js").Store} store
 */
function gallery(store) {
  const { data, first } = store;
  const inputs = store
    .rows("arrays")
    .map((row, i) => /** @type {[any, number]} */ ([row, i]))
    .filter(([row]) => row.role === "input");
  const pictures = inputs.slice(0, MOST_PICTURES).map(([row, i]) => {
    const cut = data && cutOf(data, row.sharding, row.shape);
    const times = row.number > 1 ? ` \u00d7 ${thousands(row.number)}` : "";
    return h(
      "button.small-multiple",
      { title: `${row.name}\n${row.array} ${row.spec}`, onclick: () => store.select({ type: "array", row: i }) },
      cut ? drawShards(cut, { axes: first.axes, width: 58, label: `${row.array}, ${row.spec}` }) : h("span.dim", "?"),
      h("b.code", h("bdi", row.name), times),
      h("code", row.spec),
    );
  });
  return [
    h(
      "h2",
      plural(
        inputs.reduce((sum, [row]) => sum + row.number, 0),
        "argument",
      ),
    ),
    h("p.dim.small", "How each is split. Numbers in blocks are devices: click one to follow it."),
    h("div.multiples", pictures),
    ...(inputs.length > MOST_PICTURES ? [h("p.dim.small", `${inputs.length - MOST_PICTURES} more in the list`)] : []),
  ];
}

/**
 * What takes an argument, and the collectives among it.
 * @param {import("../core/store.js").Store} store @param {any} row
 */
function uses(store, row) {
  const { collectives, kernels } = store.usesOf(row);
  const all = store.rows("collectives");
  const parts = [];
  if (collectives.length)
    parts.push(
      h("h3", `${plural(collectives.length, "collective")} of it alone`),
      h(
        "ul.places.uses",
        collectives
          .slice(0, 12)
          .map((at) =>
            h(
              "li",
              h(
                "button.link",
                { onclick: () => store.select({ type: "collective", row: at }) },
                glyph(all[at].kind),
                ` ${all[at].kind} over ${store.data?.header.axis_sets[all[at].axes].words}`,
              ),
              h("span.dim", ` ${all[at].sent}`),
            ),
          ),
      ),
    );
  if (kernels.length)
    parts.push(
      h("h3", "Read by"),
      h(
        "ul.places.uses",
        kernels
          .slice(0, 12)
          .map(({ words, place, count }) =>
            h(
              "li",
              h("code", words),
              count > 1 ? h("span.times", ` \u00d7 ${thousands(count)} `) : " ",
              place ? placeLink(store, place) : null,
            ),
          ),
        kernels.length > 12 ? h("li.dim", `and ${kernels.length - 12} more`) : null,
      ),
    );
  return parts;
}

/** @param {import("../core/store.js").Store} store */
function empty(store) {
  const memory = store.first.memory.length ? [h("p", drawSpans(store.first.memory, store.first.axes))] : [];
  const times = store.first.times.length ? [h("p.dim", drawSpans(store.first.times, store.first.axes))] : [];
  const measured = store.first.measured ? [h("p", store.first.measured)] : [];
  return [
    h("h2", "Nothing selected"),
    h("p.dim", "Choose a row, a line or a device. \u2191 \u2193 walk the list."),
    ...memory,
    ...measured,
    ...times,
  ];
}

const DRAW = { collective: drawCollective, array: drawArray, kernel: drawKernel, line: drawLine, buffer: drawInMemory };

/** @param {import("../core/store.js").Store} store */
function drawInMemory(store) {
  return drawBuffer(store, { numbers, placeLink });
}

/** @param {import("../core/store.js").Store} store */
function drawCollective(store) {
  const row = store.selected;
  const { axes } = store.first;
  const set = store.data?.header.axis_sets[row.axes];
  return [
    h("h2", { class: axisClass(set.axes, axes) }, glyph(row.kind), " ", drawSpans(row.title, axes)),
    h("p.sub.code", h("bdi", row.what)),
    h(
      "div.marks",
      row.chips.map((/** @type {string} */ chip) => h("span.markchip", chip)),
    ),
    ...why(row, axes),
    numbers(row.numbers),
    drawPairs([
      ["moves", row.moves],
      [row.kind === "collective-permute" ? "from, to" : "groups", row.groups_words],
      ["at the same time", row.beside],
    ]),
    ...places(store, row),
    ...instructions(row.names, row.number),
  ];
}

/**
 * The reasons, and the picture as early as can be: what is first said of it stands above, where it is short.
 * @param {any} row @param {string[]} axes
 */
function why(row, axes) {
  const reasons = row.reasons.flatMap((/** @type {any} */ reason) => [
    ...reason.sentences.map((/** @type {any} */ sentence) => h("p.cause", drawSpans(sentence, axes))),
    ...[drawFacts(reason.facts, axes)].filter((one) => one !== null),
  ]);
  if (!row.picture) return reasons;
  const above = (reasons[0]?.textContent ?? "").length <= LONG ? 1 : 0;
  return [...reasons.slice(0, above), moves(row.picture, axes), ...reasons.slice(above)];
}

/** Label, figure, unit, provenance. @param {string[][]} rows */
function numbers(rows) {
  return h(
    "table.numbers",
    rows.map(([label, figure, how], i) => {
      const cut = figure.lastIndexOf(" ");
      const [value, unit] =
        cut > 1 && !figure.startsWith("\u00d7") ? [figure.slice(0, cut), figure.slice(cut + 1)] : [figure, ""];
      return h(
        "tr",
        { class: i === rows.length - 1 ? "sum" : undefined },
        h("th", { scope: "row" }, label),
        h("td.figure", value),
        h("td.unit", unit),
        h("td.how", how),
      );
    }),
  );
}

/** @param {import("../core/store.js").Store} store @param {any} row */
function places(store, row) {
  if (!row.lines?.length) return [];
  const items = alike(row.lines).map(({ where, line, all }, i) =>
    h(
      "li",
      { title: all.length > 1 ? all.join("\n") : undefined },
      placeLink(store, where),
      all.length > 1 ? h("span.times", ` \u00d7 ${thousands(all.length)}`) : null,
      i ? h("span.dim", " (caller)") : null,
      line ? h("code.line", line) : null,
    ),
  );
  return [h("h3", "Source"), h("ul.places", items)];
}

/** Places whose lines of source read the same, in one file, as one. @param {[string, string][]} lines */
function alike(lines) {
  /** @type {Map<string, {where: string, line: string, all: string[]}>} */
  const found = new Map();
  for (const [where, line] of lines) {
    const key = line ? `${where.slice(0, where.lastIndexOf(":"))}\n${line}` : where;
    const one = found.get(key);
    if (one) one.all.push(where);
    else found.set(key, { where, line, all: [where] });
  }
  return [...found.values()];
}

/**
 * A place in the source; one that leads somewhere is a button.
 * @param {import("../core/store.js").Store} store @param {string} where
 */
function placeLink(store, where) {
  const count = store.data?.column("spot_lines").length ?? 0;
  for (let spot = 0; spot < count; spot++)
    if (store.spotName(spot) === where)
      return h("button.link.code", { onclick: () => store.select({ type: "line", row: spot }) }, where);
  return h("code", where);
}

/** @param {string[]} names @param {number} number */
function instructions(names, number) {
  const known = names.filter(Boolean);
  if (!known.length) return [];
  const shown = known.slice(0, 8).join(", ") + (number > 8 ? ` and ${thousands(number - 8)} more` : "");
  return [h("h3", `In the HLO (${plural(number, "instruction")})`), h("p.code.names", shown)];
}

/** @param {import("../core/store.js").Store} store */
function drawArray(store) {
  const row = store.selected;
  const { data, first } = store;
  const cut = data && cutOf(data, row.sharding, row.shape);
  const copies =
    row.copies === null
      ? "copies unknown"
      : row.copies === 1
        ? "no copies"
        : `${thousands(row.copies)} copies of each element`;
  const label = `${row.name}: ${row.array}, ${row.spec}, ${copies}`;
  return [
    h("h2.code", h("bdi", row.name)),
    h(
      "p.sub",
      row.role,
      row.number > 1 ? `, ${thousands(row.number)} alike` : "",
      row.place ? `, ${row.place}` : "",
      row.phase ? `, ${row.phase}` : "",
    ),
    cut ? shardPicker(cut, { axes: first.axes, label }) : h("p.dim", row.fate[0] ?? "Its sharding is unknown."),
    h("p.small", `${copies}. `, h("code", row.spec)),
    numbers([
      ["per device", row.each, row.each === "unknown" ? "unknown" : "counted"],
      [
        "copies of each element",
        row.copies === null ? "unknown" : `\u00d7 ${row.copies}`,
        row.copies === null ? "unknown" : "counted",
      ],
      [
        row.number > 1 ? `all ${row.number}, per device` : "in all, per device",
        row.all,
        row.all === "unknown" ? "unknown" : "counted",
      ],
    ]),
    drawPairs([
      ["global", row.array],
      ["local, per device", row.local],
    ]),
    row.fate.length
      ? h(
          "ul.facts",
          row.fate.map((/** @type {any[]} */ words) => h("li", drawSpans(words, first.axes))),
        )
      : "",
    ...uses(store, row),
    row.names.length ? h("p.code.names", row.names.slice(0, 40).join(", ")) : "",
  ];
}

/** @param {import("../core/store.js").Store} store */
function drawKernel(store) {
  const row = store.selected;
  const contains = row.contains.map((/** @type {any} */ [opcode, times]) =>
    h("li", h("code", opcode), times > 1 ? ` \u00d7 ${times}` : ""),
  );
  const shapes = (/** @type {string[]} */ all, /** @type {number} */ more) =>
    all.join(", ") + (more ? ` and ${more} more` : "");
  return [
    h("h2", glyph("kernel"), " ", row.target || `${row.kind} fusion`),
    h("p.sub.code", h("bdi", row.what)),
    row.place ? h("ul.places", h("li", placeLink(store, row.place))) : "",
    numbers(row.numbers),
    h("h3", "Contains"),
    contains.length ? h("ul.opcodes", contains) : h("p.dim", "What it contains is unknown."),
    drawPairs([
      ["reads", shapes(row.inputs, row.inputs_more)],
      ["writes", shapes(row.outputs, 0)],
    ]),
    ...instructions(row.names, row.number),
  ];
}

/** @param {import("../core/store.js").Store} store */
function drawLine(store) {
  const spot = store.state.selection?.row ?? -1;
  const found = /** @type {const} */ (["collective", "kernel", "array"]).map((type) => ({
    type,
    rows: store
      .rows(`${type}s`)
      .map((row, i) => /** @type {[any, number]} */ ([row, i]))
      .filter(([row]) => row.spots.includes(spot)),
  }));
  const parts = found
    .filter(({ rows }) => rows.length)
    .flatMap(({ type, rows }) => [
      h("h3", `${plural(rows.length, type)} of this line`),
      h(
        "ul.places",
        rows
          .slice(0, 30)
          .map(([row, i]) =>
            h(
              "li",
              h(
                "button.link",
                { onclick: () => store.select({ type, row: i }) },
                glyph(type === "collective" ? row.kind : type),
                " ",
                row.what ?? row.name,
              ),
              h("span.dim", ` ${row.sent ?? row.traffic ?? row.each}`),
            ),
          ),
      ),
    ]);
  return [
    h("h2.code", store.spotName(spot)),
    ...(parts.length ? parts : [h("p.dim", "No collective, kernel or array is of this line.")]),
  ];
}
