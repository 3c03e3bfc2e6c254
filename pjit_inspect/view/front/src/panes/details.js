// The details of the selection: why, before and after, the numbers, where, and what could save some of it.
import { h } from "../core/dom.js";
import { plural, thousands } from "../core/format.js";
import { glyph } from "../core/glyphs.js";
import { cutOf, drawShards, shardPicker } from "../devices/shard.js";
import { axisClass, drawProse, drawSpans } from "../core/spans.js";

/** @param {import("../core/store.js").Store} store */
export function details(store) {
  const box = h("section", { class: "details", "aria-label": "Details", tabindex: 0 });
  const draw = () => {
    const { selection } = store.state;
    box.replaceChildren(...(selection === null || !store.data ? empty(store) : DRAW[selection.type](store)));
  };
  store.listen((changed) => {
    if (changed.has("selection"))
      requestAnimationFrame(() => {
        box.scrollTop = 0;
      });
    if (
      changed.has("selection") ||
      changed.has("data") ||
      (changed.has("device") && store.state.selection?.type === "array")
    )
      draw();
  });
  draw();
  return box;
}

/** @param {import("../core/store.js").Store} store */
function empty(store) {
  const memory = store.first.memory.length ? [h("p", {}, drawSpans(store.first.memory, store.first.axes))] : [];
  const times = store.first.times.length
    ? [h("p", { class: "dim" }, drawSpans(store.first.times, store.first.axes))]
    : [];
  const measured = store.first.measured ? [h("p", {}, store.first.measured)] : [];
  return [
    h("h2", {}, "Nothing selected"),
    h("p", { class: "dim" }, "Choose a row, a line or a device. \u2191 \u2193 walk the list."),
    ...memory,
    ...measured,
    ...times,
  ];
}

const DRAW = { collective: drawCollective, array: drawArray, kernel: drawKernel, line: drawLine };

/** @param {import("../core/store.js").Store} store */
function drawCollective(store) {
  const row = store.selected;
  const { axes } = store.first;
  const set = store.data?.header.axis_sets[row.axes];
  return [
    h("h2", { class: axisClass(set.axes, axes) }, glyph(row.kind), " ", drawSpans(row.title, axes)),
    h("p", { class: "sub code" }, h("bdi", {}, row.what)),
    h(
      "div",
      { class: "marks" },
      row.chips.map((/** @type {string} */ chip) => h("span", { class: "markchip" }, chip)),
    ),
    ...row.reasons
      .flatMap((/** @type {any} */ reason) => [
        ...reason.sentences.map((/** @type {any} */ sentence) => h("p", { class: "cause" }, drawSpans(sentence, axes))),
        reason.facts.length
          ? h(
              "details",
              {},
              h("summary", {}, `${plural(reason.facts.length, "fact")} behind it`),
              h(
                "ul",
                { class: "facts" },
                reason.facts.map((/** @type {any} */ fact) => h("li", {}, drawSpans(fact, axes))),
              ),
            )
          : null,
      ])
      .filter(Boolean),
    ...(row.picture ? [moves(row, axes)] : []),
    numbers(row.numbers),
    facts([
      ["moves", row.moves],
      [row.kind === "collective-permute" ? "from, to" : "groups", row.groups_words],
      ["at the same time", row.beside],
    ]),
    ...places(store, row),
    ...instructions(row.names, row.number),
    ...row.suggestions.map((/** @type {any} */ one) => suggestion(one, axes)),
  ];
}

/** @param {any} row @param {string[]} axes */
function moves(row, axes) {
  const side = (/** @type {any} */ one, /** @type {string} */ words) => {
    const cut = {
      ...one,
      tileOf: one.tile_of,
      copies: new Set(one.tile_of).size > 1 ? 1 : one.tile_of.length,
      isPartial: one.is_partial,
    };
    return h(
      "figure",
      {},
      drawShards(cut, { axes, width: 84, label: `${words}: ${one.words}, ${one.caption}` }),
      h("figcaption", {}, `${words}: ${one.caption}`, h("br"), h("code", {}, one.words)),
    );
  };
  const before = side(row.picture.before, "before");
  const tall = Number(before.querySelector("svg")?.getAttribute("height") ?? 0);
  return h(
    "div",
    { class: "moves" },
    h(
      "div",
      { class: "pair" },
      before,
      h(
        "span",
        { class: "arrow", "aria-hidden": "true", style: { "margin-top": `${Math.max(16, tall / 2 - 8)}px` } },
        "\u2192",
      ),
      side(row.picture.after, "after"),
    ),
    h("p", { class: "dim small" }, row.picture.note),
  );
}

/** Label, figure, unit, provenance. @param {string[][]} rows */
function numbers(rows) {
  return h(
    "table",
    { class: "numbers" },
    rows.map(([label, figure, how], i) => {
      const cut = figure.lastIndexOf(" ");
      const [value, unit] =
        cut > 1 && !figure.startsWith("\u00d7") ? [figure.slice(0, cut), figure.slice(cut + 1)] : [figure, ""];
      return h(
        "tr",
        { class: i === rows.length - 1 ? "sum" : undefined },
        h("th", { scope: "row" }, label),
        h("td", { class: "figure" }, value),
        h("td", { class: "unit" }, unit),
        h("td", { class: "how" }, how),
      );
    }),
  );
}

/** @param {string[][]} rows */
function facts(rows) {
  const known = rows.filter(([, value]) => value);
  return h(
    "dl",
    { class: "pairs" },
    known.map(([label, value]) => [h("dt", {}, label), h("dd", { class: "code" }, value)]),
  );
}

/** @param {import("../core/store.js").Store} store @param {any} row */
function places(store, row) {
  if (!row.lines?.length) return [];
  const items = row.lines.map((/** @type {[any, string]} */ [where, line], /** @type {number} */ i) =>
    h(
      "li",
      {},
      placeLink(store, where),
      i ? h("span", { class: "dim" }, " (caller)") : null,
      line ? h("code", { class: "line" }, line) : null,
    ),
  );
  return [h("h3", {}, "Source"), h("ul", { class: "places" }, items)];
}

/**
 * A place in the source; one that leads somewhere is a button.
 * @param {import("../core/store.js").Store} store
 * @param {string} where
 */
function placeLink(store, where) {
  const count = store.data?.column("spot_lines").length ?? 0;
  for (let spot = 0; spot < count; spot++)
    if (store.spotName(spot) === where)
      return h(
        "button",
        { type: "button", class: "link code", onclick: () => store.select({ type: "line", row: spot }) },
        where,
      );
  return h("code", {}, where);
}

/** @param {string[]} names @param {number} number */
function instructions(names, number) {
  const known = names.filter(Boolean);
  if (!known.length) return [];
  const shown = known.slice(0, 8).join(", ") + (number > 8 ? ` and ${thousands(number - 8)} more` : "");
  return [h("h3", {}, `In the HLO (${plural(number, "instruction")})`), h("p", { class: "code names" }, shown)];
}

/** @param {any} one @param {string[]} axes */
function suggestion(one, axes) {
  return h(
    "aside",
    { class: "suggestion" },
    h("b", {}, "Suggestion"),
    h("p", {}, drawProse(one.title, axes)),
    h("p", {}, drawProse(one.sentence, axes)),
    h(
      "dl",
      { class: "pairs" },
      h("dt", {}, "gain"),
      h("dd", {}, one.gain),
      h("dt", {}, "check"),
      h("dd", {}, one.checked),
    ),
  );
}

/** @param {import("../core/store.js").Store} store */
function drawArray(store) {
  const row = store.selected;
  const { data, first, state } = store;
  const cut = data && cutOf(data, row.sharding, row.shape);
  const copies =
    row.copies === null
      ? "copies unknown"
      : row.copies === 1
        ? "no copies"
        : `${thousands(row.copies)} copies of each element`;
  const label = `${row.name}: ${row.array}, ${row.spec}, ${copies}`;
  return [
    h("h2", { class: "code" }, h("bdi", {}, row.name)),
    h(
      "p",
      { class: "sub" },
      row.role,
      row.number > 1 ? `, ${thousands(row.number)} alike` : "",
      row.place ? `, ${row.place}` : "",
      row.phase ? `, ${row.phase}` : "",
    ),
    cut
      ? shardPicker(cut, { axes: first.axes, device: state.device, label })
      : h("p", { class: "dim" }, row.fate[0] ?? "Its sharding is unknown."),
    h("p", { class: "small" }, `${copies}. `, h("code", {}, row.spec)),
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
    facts([
      ["global", row.array],
      ["local, per device", row.local],
    ]),
    row.fate.length
      ? h(
          "ul",
          { class: "facts" },
          row.fate.map((/** @type {string} */ words) => h("li", {}, drawProse(words, first.axes))),
        )
      : "",
    state.device === null ? h("p", { class: "dim small" }, "Point at a device of the mesh to see its block.") : "",
    row.names.length ? h("p", { class: "code names" }, row.names.slice(0, 40).join(", ")) : "",
  ];
}

/** @param {import("../core/store.js").Store} store */
function drawKernel(store) {
  const row = store.selected;
  const contains = row.contains.map((/** @type {any} */ [opcode, times]) =>
    h("li", {}, h("code", {}, opcode), times > 1 ? ` \u00d7 ${times}` : ""),
  );
  const shapes = (/** @type {string[]} */ all, /** @type {number} */ more) =>
    all.join(", ") + (more ? ` and ${more} more` : "");
  return [
    h("h2", {}, glyph("kernel"), " ", row.target || `${row.kind} fusion`),
    h("p", { class: "sub code" }, h("bdi", {}, row.what)),
    row.place ? h("ul", { class: "places" }, h("li", {}, placeLink(store, row.place))) : "",
    numbers(row.numbers),
    h("h3", {}, "Contains"),
    contains.length
      ? h("ul", { class: "opcodes" }, contains)
      : h("p", { class: "dim" }, "What it contains is unknown."),
    facts([
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
      h("h3", {}, `${plural(rows.length, type)} of this line`),
      h(
        "ul",
        { class: "places" },
        rows.slice(0, 30).map(([row, i]) =>
          h(
            "li",
            {},
            h(
              "button",
              {
                type: "button",
                class: "link",
                onclick: () => store.select({ type, row: i }),
              },
              glyph(type === "collective" ? row.kind : type),
              " ",
              row.what ?? row.name,
            ),
            h("span", { class: "dim" }, ` ${row.sent ?? row.traffic ?? row.each}`),
          ),
        ),
      ),
    ]);
  return [
    h("h2", { class: "code" }, store.spotName(spot)),
    ...(parts.length ? parts : [h("p", { class: "dim" }, "No collective, kernel or array is of this line.")]),
  ];
}
