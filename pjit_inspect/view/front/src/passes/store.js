// What the reader has chosen: a pass, a collective at a stage, the two programs whose texts stand beside each other.

/** @typedef {{number: number, name: string, pipeline: string, did: string, sentence: string, file: string, figures: [string, string][]}} Pass */
/** @typedef {{kind: string, axes: string[] | null, words: string, parents: number[], life: number, name: string, size: string}} Staged */
/** @typedef {{text: string, where: string, name: string}} Line */

export class PassesStore {
  /** @param {any} first */
  constructor(first) {
    this.first = first;
    /** @type {Pass[]} */
    this.passes = first.passes;
    /** @type {{number: number, rows: Staged[]}[]} */
    this.stages = first.stages.map((/** @type {any} */ [number, rows]) => ({
      number,
      rows: rows.map((/** @type {any[]} */ [kind, axes, words, parents, life, name, size]) => ({
        kind,
        axes,
        words,
        parents,
        life,
        name,
        size,
      })),
    }));
    /** @type {string[]} */
    this.axes = first.axes.map((/** @type {[string, number]} */ [name]) => name);
    /** The number of the chosen pass. @type {number | null} */
    this.pass = null;
    /** A collective, as stage and row. @type {[number, number] | null} */
    this.chosen = null;
    const telling = this.passes.filter((one) => one.did).at(-1) ?? this.passes[0];
    /** @type {number} */
    this.after = telling?.number ?? 0;
    this.before = this.numberBefore(this.after);
    /** @type {any} */
    this.data = null;
    /** @type {Map<number, Line[]>} */
    this.programs = new Map();
    /** @type {(() => void)[]} */
    this.listeners = [];
  }

  /** @param {() => void} listener */
  listen(listener) {
    this.listeners.push(listener);
  }

  tell() {
    for (const one of this.listeners) one();
  }

  /** @param {import("../core/blob.js").Store} data */
  open(data) {
    this.data = data;
    this.tell();
  }

  /** @param {number} number */
  numberBefore(number) {
    return this.passes.filter((one) => one.number < number).at(-1)?.number ?? 0;
  }

  /** @param {number} number */
  named(number) {
    return this.passes.find((one) => one.number === number) ?? null;
  }

  /** @param {number} number */
  choosePass(number) {
    this.pass = number;
    this.chosen = null;
    this.after = number;
    this.before = this.numberBefore(number);
    this.tell();
  }

  /** @param {number} stage @param {number} row */
  choose(stage, row) {
    this.chosen = [stage, row];
    this.pass = null;
    this.tell();
  }

  /** @param {number} before @param {number} after */
  compare(before, after) {
    this.before = before;
    this.after = after;
    this.tell();
  }

  clear() {
    this.chosen = null;
    this.pass = null;
    this.tell();
  }

  /** @returns {Staged | null} */
  get row() {
    return this.chosen ? this.stages[this.chosen[0]].rows[this.chosen[1]] : null;
  }

  /** Whether a row belongs to what is chosen: its ancestors, and what it became. */
  get family() {
    /** @type {Set<string>} */
    const found = new Set();
    if (!this.chosen) return found;
    const [stage, row] = this.chosen;
    let rows = new Set([row]);
    for (let at = stage; at >= 0; at--) {
      for (const one of rows) found.add(`${at} ${one}`);
      rows = new Set([...rows].flatMap((one) => this.stages[at].rows[one].parents));
    }
    rows = new Set([row]);
    for (let at = stage + 1; at < this.stages.length; at++) {
      const own = new Set();
      this.stages[at].rows.forEach((one, place) => {
        if (one.parents.some((parent) => rows.has(parent))) own.add(place);
      });
      for (const one of own) found.add(`${at} ${one}`);
      rows = own;
    }
    return found;
  }

  /** The lines of a program, in XLA's order. @param {number} number @returns {Line[]} */
  program(number) {
    const known = this.programs.get(number);
    if (known) return known;
    /** @type {Line[]} */
    const found = [];
    if (this.data?.has(`program.${number}`)) {
      const texts = this.data.strings("lines");
      const wheres = this.data.strings("wheres");
      const where = this.data.column("where");
      let at = 0;
      for (const step of this.data.column(`program.${number}`)) {
        at += step;
        const text = texts.at(at);
        const name = text.replace(/^ROOT /, "").split(" = ")[0];
        found.push({ text, where: wheres.at(where[at]), name: name.replace(/^%/, "") });
      }
    }
    this.programs.set(number, found);
    return found;
  }

  /** Keys: arrows walk ancestors and neighbours, brackets the passes, Escape shows all. @param {string} key */
  key(key) {
    if (key === "Escape") this.clear();
    else if (key === "[" || key === "]") this.walkPasses(key === "]" ? 1 : -1);
    else if (this.chosen && key.startsWith("Arrow")) this.walk(key);
    else return false;
    return true;
  }

  /** @param {number} by */
  walkPasses(by) {
    const at = this.passes.findIndex((one) => one.number === this.after);
    const to = this.passes[Math.max(0, Math.min(this.passes.length - 1, at + by))];
    if (to) this.choosePass(to.number);
  }

  /** @param {string} key */
  walk(key) {
    if (!this.chosen) return;
    const [stage, row] = this.chosen;
    const own = this.stages[stage].rows;
    if (key === "ArrowLeft" && own[row].parents.length) this.choose(stage - 1, own[row].parents[0]);
    if (key === "ArrowRight" && stage + 1 < this.stages.length) {
      const to = this.stages[stage + 1].rows.findIndex((one) => one.parents.includes(row));
      if (to >= 0) this.choose(stage + 1, to);
    }
    if (key === "ArrowUp" || key === "ArrowDown") {
      const order = drawnOrder(own, this.axes);
      const to = order[order.indexOf(row) + (key === "ArrowDown" ? 1 : -1)];
      if (to !== undefined) this.choose(stage, to);
    }
  }
}

/**
 * The places of rows as they are drawn: by kind, axes, and what they end in, so that what is joined stands together.
 * @param {Staged[]} rows @param {string[]} axes
 */
export function drawnOrder(rows, axes) {
  const place = (/** @type {Staged} */ row) =>
    !row.axes?.length ? 99 : row.axes.length > 1 ? 98 : axes.indexOf(row.axes[0].split(":(")[0]);
  return rows
    .map((_, at) => at)
    .sort(
      (a, b) =>
        rows[a].kind.localeCompare(rows[b].kind) ||
        place(rows[a]) - place(rows[b]) ||
        rows[a].life - rows[b].life ||
        a - b,
    );
}
