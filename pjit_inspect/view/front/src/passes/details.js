// What is chosen: a collective with every event of its life, or a pass with what it did; else all passes.
import { h } from "../core/dom.js";
import { glyph } from "../core/glyphs.js";
import { axisClass, drawAxis } from "../core/spans.js";

const MOST = 40;

/** @param {import("./store.js").PassesStore} store */
export function details(store) {
  const box = h("aside", { class: "details", "aria-live": "polite" });
  const paint = () => {
    const pass = store.pass === null ? null : store.named(store.pass);
    const shown = store.row ? collective(store) : pass ? onePass(store, pass) : everything(store);
    box.replaceChildren(...shown.filter((one) => one !== null));
  };
  store.listen(paint);
  paint();
  return box;
}

/** @param {import("./store.js").PassesStore} store */
function back(store) {
  return h("button", { type: "button", class: "button", onclick: () => store.clear() }, "All passes");
}

/** @param {import("./store.js").PassesStore} store */
function collective(store) {
  const row = /** @type {import("./store.js").Staged} */ (store.row);
  const life = store.first.lives[row.life];
  const [stage] = /** @type {[number, number]} */ (store.chosen);
  const step = store.stages[stage].number;
  const pass = store.named(step);
  const events = life ? life.events : [];
  const end = !life ? "" : life.gone ? `gone at the end; last called ${life.name}` : `at the end ${life.name}`;
  return [
    back(store),
    h(
      "h2",
      { class: axisClass(row.axes, store.axes) },
      glyph(row.kind),
      ` ${row.kind} over `,
      drawAxis(row.words, row.axes, null, store.axes),
    ),
    h(
      "p",
      { class: "dim small" },
      row.size ? `${row.size} · ` : "",
      "after ",
      pass ? pass.name : "no pass",
      " ",
      h("code", {}, row.name),
      life?.name === row.name ? null : [" · ", end],
    ),
    h(
      "ol",
      { class: "events" },
      events.map((/** @type {any} */ event) => eventRow(store, event)),
    ),
    h("p", {}, life ? "" : "What became of it is unknown."),
  ];
}

/** @param {import("./store.js").PassesStore} store @param {any} event */
function eventRow(store, event) {
  const shown = event.of.slice(0, MOST);
  return h(
    "li",
    { class: `is-${event.kind}` },
    h("b", {}, event.words),
    h(
      "button",
      {
        type: "button",
        class: "link small",
        onclick: () => store.choosePass(event.number),
        disabled: !store.named(event.number),
      },
      `${event.pass} · ${event.number}`,
    ),
    h(
      "ul",
      {},
      shown.map((/** @type {string} */ one) => h("li", {}, operation(store, one, event.kind !== "combined"))),
      event.of.length > MOST ? h("li", { class: "dim" }, `${event.of.length - MOST} more`) : null,
    ),
  );
}

/** An operation, and its line of source. @param {import("./store.js").PassesStore} store @param {string} words @param {boolean} withLine */
function operation(store, words, withLine) {
  const where = /\(([^()]+:\d+)\)$/.exec(words)?.[1];
  const line = where && withLine ? store.first.sources[where] : "";
  return [h("code", {}, words.replaceAll("`", "")), line ? h("pre", { class: "line" }, line) : null];
}

/** @param {import("./store.js").PassesStore} store @param {import("./store.js").Pass} pass */
function onePass(store, pass) {
  const kernels = store.first.kernels
    .flatMap((/** @type {any} */ [name, kind, events]) =>
      events
        .filter((/** @type {any} */ [number]) => number === pass.number)
        .map((/** @type {any} */ [, words]) => ({ name, kind, words })),
    )
    .map((/** @type {any} */ one) => ({ ...one, words: one.words.replace(/^pass \d+, [^:]*: /, "") }));
  return [
    back(store),
    h("h2", {}, h("span", { class: "dim" }, `${pass.number} `), h("span", { class: "code" }, pass.name)),
    pass.sentence ? h("p", {}, pass.sentence) : h("p", { class: "dim" }, "This pass is known by its name only."),
    pass.file
      ? h("p", { class: "small" }, h("code", {}, pass.file), h("span", { class: "dim" }, " in openxla/xla"))
      : null,
    pass.pipeline ? h("p", { class: "dim small" }, `in the pipeline ${pass.pipeline}`) : null,
    h(
      "table",
      { class: "figures" },
      pass.figures.map(([name, value]) => h("tr", {}, h("th", {}, name), h("td", {}, value))),
    ),
    pass.did ? h("p", {}, h("b", {}, pass.did)) : h("p", { class: "dim" }, "It changed no collective."),
    kernels.length ? h("h3", {}, `${kernels.length} kernels and copies of the end that it made or changed`) : null,
    h(
      "ul",
      { class: "kernels" },
      kernels.slice(0, MOST).map((/** @type {any} */ one) => h("li", {}, h("code", {}, one.name), " ", one.words)),
      kernels.length > MOST ? h("li", { class: "dim" }, `${kernels.length - MOST} more`) : null,
    ),
  ];
}

/** @param {import("./store.js").PassesStore} store */
function everything(store) {
  return [
    h("h2", {}, "Every pass that changed the program"),
    h(
      "ol",
      { class: "every" },
      store.passes.map((one) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", class: "link", title: one.sentence, onclick: () => store.choosePass(one.number) },
            h("span", { class: "dim number" }, one.number),
            h("span", { class: "code" }, one.name),
          ),
          h("span", { class: "dim small" }, one.figures[0][1]),
          one.did ? h("b", { class: "small" }, one.did) : null,
        ),
      ),
    ),
  ];
}
