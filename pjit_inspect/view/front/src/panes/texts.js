// Source, jaxpr, StableHLO and optimized HLO side by side. Only the lines in sight exist; lines of one place light
// together.
import { choice, h } from "../core/dom.js";
import { plural, thousands } from "../core/format.js";
import { entityOf } from "../core/store.js";

const LINE = 16;
const KINDS = [
  ["source", "Source"],
  ["jaxpr", "jaxpr"],
  ["stablehlo", "StableHLO"],
  ["hlo", "HLO"],
];

/** @param {import("../core/store.js").Store} store */
export function texts(store) {
  const chips = KINDS.map(([key, words]) =>
    h("button.chip", { "data-text": key, onclick: () => toggle(store, key) }, words),
  );
  const hits = h("span.dim.hits", { role: "status" });
  const search = /** @type {HTMLInputElement} */ (
    h("input", {
      type: "search",
      class: "filter textsearch",
      placeholder: "Find in the texts",
      "aria-label": "Find in the texts",
      title: "Enter: the next line, Shift Enter: the one before",
      oninput: () => find(0),
      onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && find(event.shiftKey ? -1 : 1),
    })
  );
  const find = (/** @type {number} */ step) => {
    const counts = panes.map((pane) => pane.find(search.value, step));
    hits.textContent = search.value
      ? plural(
          counts.reduce((sum, count) => sum + count, 0),
          "line",
        )
      : "";
  };
  const bar = h("div.textbar", { role: "group", "aria-label": "Which texts" }, search, hits, chips);
  const box = h("div.texts");
  /** @type {Pane[]} */
  let panes = [];
  const build = () => {
    const { shown } = store.state;
    chips.forEach((chip) => chip.setAttribute("aria-pressed", String(shown.includes(chip.dataset.text ?? ""))));
    panes = store.data
      ? KINDS.filter(([key]) => shown.includes(key)).map(([key, words]) => new Pane(store, key, words))
      : [];
    box.replaceChildren(
      ...(panes.length ? panes.map((pane) => pane.box) : [h("p.nothing", store.data ? "Choose a text above." : "")]),
    );
    follow();
  };
  // After the other panes have changed, so that the browser lays them out once; first all that scroll, then all that
  // draw.
  const follow = () => {
    const held = panes.map((pane) => pane.hold);
    requestAnimationFrame(() => {
      panes.forEach((pane, i) => held[i] || pane.follow());
      panes.forEach((pane) => pane.draw());
    });
  };
  store.listen((changed) => {
    if (changed.has("data") || changed.has("shown")) build();
    else if (changed.has("files")) build();
    else if (["selection", "pane", "centre"].some((key) => changed.has(key)))
      follow(); // what was hidden could not scroll
    else if (changed.has("hoverSpot") || changed.has("wide")) panes.forEach((pane) => pane.draw());
    if (changed.has("wide")) {
      store.set({ shown: store.state.wide ? KINDS.map(([key]) => key) : ["source", "hlo"] });
    }
  });
  build();
  return { bar, box };
}

/** @param {import("../core/store.js").Store} store @param {string} key */
function toggle(store, key) {
  const on = store.state.shown.includes(key);
  store.set({
    shown: KINDS.map(([one]) => one).filter((one) => (one === key ? !on : store.state.shown.includes(one))),
  });
}

/** One text. */
class Pane {
  /** @param {import("../core/store.js").Store} store @param {string} kind @param {string} words */
  constructor(store, kind, words) {
    this.store = store;
    this.kind = kind;
    this.hold = false;
    /** @type {number[]} lines that hold what is looked for */
    this.found = [];
    this.at = -1;
    this.first = this.last = -1;
    /** @type {HTMLElement[]} */
    this.rows = [];
    const data = /** @type {import("../core/blob.js").Store} */ (store.data);
    this.key = kind === "source" ? `source${store.state.files}` : kind;
    const text = data.header.texts[this.key];
    this.lines = data.strings(`${this.key}.lines`);
    this.numbers = data.column(`${this.key}.numbers`);
    this.spots = data.column(`${this.key}.spots`);
    this.phases = data.column(`${this.key}.phases`);
    this.entities = data.column(`${this.key}.entities`);
    const total = text?.total ?? this.lines.length;
    const count =
      this.lines.length < total ? `${thousands(this.lines.length)} of ${plural(total, "line")}` : plural(total, "line");
    this.view = h("div.window");
    this.space = h(
      "div.space",
      {
        style: {
          height: `${this.lines.length * LINE + 4}px`,
          "min-width": `calc(${Math.min(500, this.lines.longest()) + 8} * 1ch)`,
        },
      },
      this.view,
    );
    this.scroll = h(
      "div.scroll",
      { tabindex: 0, role: "region", "aria-label": words, onscroll: () => this.draw() },
      this.space,
    );
    const head = h(
      "div.texthead",
      h("b", words),
      kind === "source"
        ? this.files(data)
        : h("span.dim", { title: "Lines are numbered as in the whole text" }, text ? count : ""),
      text?.how
        ? h(
            "span.dim.guess",
            { tabindex: 0, role: "note", title: text.how, "aria-label": text.how },
            "matched by order",
          )
        : null,
      text?.note ? h("span.dim.left", { title: text.note }, text.note) : null,
    );
    this.box = h(
      "div",
      { class: text ? "textpane" : "textpane missing" },
      head,
      text ? this.scroll : h("p.nothing", data.header.missing[this.key] ?? "There is no such text."),
    );
    new ResizeObserver(() => this.draw()).observe(this.scroll);
  }

  /** Which file, where there are several. @param {import("../core/blob.js").Store} data */
  files(data) {
    const names = Object.keys(data.header.texts).filter((key) => key.startsWith("source"));
    if (names.length < 2) return h("span.dim.code", data.header.texts.source0?.name ?? "");
    return choice(
      "File",
      names.map((key, i) => [i, data.header.texts[key].name]),
      this.store.state.files,
      (file) => this.store.set({ files: Number(file) }),
    );
  }

  /** What a line is to the selection: "is", "of", "hover" or "". @param {number} index @param {Marks} marks */
  state(index, marks) {
    const { entity, spots, hover, strong } = marks;
    if (entity >= 0 && this.entities[index] === entity) return "is";
    const spot = this.spots[index];
    if (spot < 0) return "";
    if (
      spots.has(spot) &&
      (marks.phases === null ||
        this.kind === "source" ||
        this.phases[index] === 0 ||
        marks.phases.has(this.phases[index]))
    )
      return this.kind === "source" || strong ? "is" : "of";
    return spot === hover ? "hover" : "";
  }

  /**
   * @typedef {{entity: number, spots: Set<number>, phases: Set<number> | null, hover: number, strong: boolean}} Marks
   */
  marks() {
    const { hoverSpot } = this.store.state;
    const { listed: selection } = this.store;
    const entity =
      selection?.type === "collective" ? 2 * selection.row : selection?.type === "kernel" ? 2 * selection.row + 1 : -1;
    const phase =
      selection?.type === "collective"
        ? (this.store.data?.header.phases.indexOf(this.store.selected?.phase ?? "") ?? 0)
        : 0;
    return {
      entity,
      spots: this.store.spots(),
      phases: phase > 0 ? new Set([phase]) : null,
      hover: hoverSpot,
      strong: false,
    };
  }

  /** Draws the lines in sight; where they stand already, only what they are to the selection. */
  draw() {
    const top = this.scroll.scrollTop;
    const height = this.scroll.clientHeight;
    if (!height) return;
    const first = Math.max(0, Math.floor(top / LINE) - 4);
    const last = Math.min(this.lines.length, Math.ceil((top + height) / LINE) + 4);
    const marks = this.marks();
    if (first === this.first && last === this.last) {
      this.rows.forEach((row, at) => {
        if (row.className !== this.style(first + at, marks)) row.className = this.style(first + at, marks);
      });
      return;
    }
    const rows = [];
    for (let i = first; i < last; i++) rows.push(this.line(i, marks));
    [this.first, this.last, this.rows] = [first, last, rows];
    this.view.style.transform = `translateY(${first * LINE}px)`;
    this.view.replaceChildren(...rows);
  }

  /** @param {number} i */
  isLinked(i) {
    return this.spots[i] >= 0 || this.entities[i] >= 0;
  }

  /**
   * Looks for words, without regard to case; goes to the first line that has them, or `step` lines of them further. How
   * many there are.
   * @param {string} words @param {number} step
   */
  find(words, step) {
    const wanted = words.toLowerCase();
    if (!step) {
      this.found = [];
      for (let i = 0; wanted && i < this.lines.length; i++)
        if (this.lines.at(i).toLowerCase().includes(wanted)) this.found.push(i);
    }
    const count = this.found.length;
    this.at = count ? (step ? (Math.max(0, this.found.indexOf(this.at)) + step + count) % count : 0) : -1;
    this.at = this.at < 0 ? -1 : this.found[this.at];
    if (this.at >= 0) this.scroll.scrollTop = Math.max(0, (this.at - 4) * LINE);
    this.draw();
    return count;
  }

  /** The classes of a line. @param {number} i @param {Marks} marks */
  style(i, marks) {
    return `ln ${this.state(i, marks)}${this.isLinked(i) ? " linked" : ""}${i === this.at ? " hit" : ""}`;
  }

  /** @param {number} i @param {Marks} marks */
  line(i, marks) {
    const spot = this.spots[i];
    const linked = this.isLinked(i);
    return h(
      "div",
      {
        class: this.style(i, marks),
        onclick: linked ? () => this.click(i) : undefined,
        onmouseenter: spot >= 0 ? () => this.store.set({ hoverSpot: spot }) : undefined,
      },
      h("span.no", String(this.numbers[i])),
      h("bdi", this.lines.at(i)),
    );
  }

  /** @param {number} i */
  click(i) {
    const entity = this.entities[i];
    this.hold = true; // its own scroll position stays
    if (entity >= 0) this.store.select(entityOf(entity));
    else this.store.select({ type: "line", row: this.spots[i] });
    this.hold = false;
  }

  /** Shows the selection, and scrolls only when none of it is in sight. */
  follow() {
    const marks = this.marks();
    if (marks.entity >= 0 || marks.spots.size) this.reveal(marks);
  }

  /** @param {Marks} marks */
  reveal(marks) {
    const top = this.scroll.scrollTop / LINE;
    const bottom = top + this.scroll.clientHeight / LINE - 1;
    for (let i = Math.max(0, Math.ceil(top)); i < Math.min(bottom, this.lines.length); i++)
      if (this.state(i, marks) === "is") return;
    const found = this.firstOf(marks);
    if (found >= 0) this.scroll.scrollTop = Math.max(0, (found - 4) * LINE);
    else if (this.kind === "source") this.otherFile(marks);
  }

  /** The first line that is the selection, else the first that belongs to it; -1 for none. @param {Marks} marks */
  firstOf(marks) {
    const exact = marks.entity < 0 ? -1 : this.entities.indexOf(marks.entity);
    if (exact >= 0) return exact;
    let first = this.lines.length;
    for (const spot of marks.spots) {
      for (let i = this.spots.indexOf(spot); i >= 0 && i < first; i = this.spots.indexOf(spot, i + 1))
        if (this.state(i, marks)) first = i;
    }
    return first < this.lines.length ? first : -1;
  }

  /** The selection may stand in another file. @param {Marks} marks */
  otherFile(marks) {
    const { data } = this.store;
    const spot = [...marks.spots][0];
    if (!data || spot === undefined) return;
    const file = data.column("spot_files")[spot];
    if (file !== this.store.state.files && `source${file}` in data.header.texts)
      queueMicrotask(() => this.store.set({ files: file }));
  }
}
