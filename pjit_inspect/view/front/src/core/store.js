import { matcher, spotWords } from "./search.js";

// What the reader has chosen, and the record's data once they are decoded. One change, one round of updates.

/**
 * @typedef {{type: "collective" | "array" | "kernel" | "buffer" | "line", row: number}} Selection
 * @typedef {{
 *   list: string,
 *   centre: string,
 *   pane: string,
 *   wide: boolean,
 *   text: string,
 *   axes: number | null,
 *   kind: string | null,
 *   role: string | null,
 *   heat: string,
 *   device: number | null,
 *   selection: Selection | null,
 *   files: number,
 *   shown: string[],
 *   hoverSpot: number,
 *   cause: string | null,
 *   note: number | null,
 *   isChanged: boolean,
 *   sort: string,
 *   reversed: boolean,
 *   stale: string,
 * }} State
 * @typedef {{answer: any[], summary: any[], asked: string, rows: any[], notes: string[], waits: boolean}} Advice
 */

const ALIVE = "alive:"; // what a name begins with that is a value in memory

/** What a number of a collective or a kernel stands for. @param {number} entity @returns {Selection} */
export const entityOf = (entity) => ({ type: entity % 2 ? "kernel" : "collective", row: entity >> 1 });

/** The state, and who wants to know of its changes. */
export class Store {
  /** @param {any} first @param {{texts?: string[]}} [options] */
  constructor(first, options = {}) {
    this.first = first;
    /** @type {import("./blob.js").Store | null} */
    this.data = null;
    /** @type {State} */
    this.state = {
      list: "collectives",
      centre: first.has_graph ? "graph" : "text",
      pane: "centre",
      wide: false,
      text: "",
      axes: null,
      kind: null,
      role: null,
      cause: null,
      note: null,
      isChanged: false,
      sort: "",
      reversed: false,
      heat: "selection",
      device: null,
      selection: null,
      files: 0,
      shown: options.texts ?? ["source", "hlo"],
      hoverSpot: -1,
      stale: "",
    };
    /** Memory over the schedule, once somebody looked at it. @type {any} */
    this.memory = null;
    this.memoryError = "";
    /** Yields the data of memory, as they were packed; the page says where they are. @type {(() => Promise<import("./blob.js").Store>) | null} */
    this.readMemory = null;
    /** The value in memory that a link names, until its data are there. */
    this.awaited = "";
    /** What to change, as far as it is known; null where there is nothing to say. @type {Advice | null} */
    this.advice = first.advice;
    /** Instructions of the collectives that the first change removes. @type {Set<string>} */
    this.removed = new Set(first.advice?.rows[0]?.removes);
    this.isReading = false;
    /** The position of the device that is followed; `state.device` is that, or the one under the pointer. @type {number | null} */
    this.followed = null;
    /** Asks the kernel; null in a page without one. @type {((message: any) => void) | null} */
    this.ask = null;
    /** @type {((changed: Set<string>) => void)[]} */
    this.listeners = [];
    /** Whether the page shows one pane at a time; the page that holds the store says so. */
    this.isNarrow = () => false;
    /** @type {(row: any) => {collectives: number[], kernels: {words: string, place: string, count: number}[]}} what takes
     * an argument; the graph says so */
    this.usesOf = () => ({ collectives: [], kernels: [] });
    /** Moves the selection along the rows that are listed; the list says so. @type {(step: number) => void} */
    this.walk = () => {};
    /** Each closes what it has open, and says whether anything was. @type {(() => boolean)[]} */
    this.closers = [];
    /** @type {(spot: number) => string} place, function and source text of a place, to look through */
    this.spotWords = () => "";
    /** Pixels the graph takes to be in sight, and whether it is a picture of all kernels; the graph says so. */
    this.graphNeed = () => ({ height: 0, isFlow: false });
  }

  /** @param {(changed: Set<string>) => void} listener */
  listen(listener) {
    this.listeners.push(listener);
  }

  /** @param {...string} changed */
  tell(...changed) {
    this.listeners.forEach((listener) => listener(new Set(changed)));
  }

  /** Draws at once, and when one of these changed. @param {string[]} keys @param {() => void} draw */
  draws(keys, draw) {
    this.listen((changed) => keys.some((key) => changed.has(key)) && draw());
    draw();
  }

  /** @param {Partial<State>} changes */
  set(changes) {
    const keys = /** @type {(keyof State)[]} */ (Object.keys(changes));
    const changed = keys.filter((key) => this.state[key] !== changes[key]);
    Object.assign(this.state, changes);
    if (changed.length) this.tell(...changed);
  }

  /** @param {import("./blob.js").Store} data */
  open(data) {
    this.data = data;
    this.spotWords = spotWords(data);
    this.tell("data");
  }

  /** Reads the data of memory; listeners hear of it. @param {(blob: import("./blob.js").Store) => any} make */
  async openMemory(make) {
    if (!this.readMemory || this.isReading) return;
    this.isReading = true;
    try {
      this.memory = make(await this.readMemory());
    } catch (error) {
      this.memoryError = `What is alive in memory could not be read: ${error}`;
    }
    this.tell("memory");
    if (this.awaited) this.set({ stale: this.selectName(this.awaited) ? "" : this.awaited });
    this.awaited = "";
  }

  /** More is known by now. @param {Advice} advice */
  setAdvice(advice) {
    this.advice = advice;
    this.removed = new Set(advice.rows[0]?.removes);
    this.tell("advice");
  }

  /** Whether all collectives of a row are gone with the first change. @param {any} row */
  goes(row) {
    return Boolean(row?.names?.length) && row.names.every((/** @type {string} */ name) => this.removed.has(name));
  }

  /** Rows of a list; those of the first view until all are there. @param {string} list @returns {any[]} */
  rows(list) {
    if (list === "buffers") return this.memory?.rows ?? [];
    if (this.data) return this.data.header[list] ?? [];
    return list === "collectives" ? this.first.collectives : [];
  }

  /** @returns {any} the selected row, or null */
  get selected() {
    const { selection } = this.state;
    if (!selection || selection.type === "line") return null;
    return this.rows(`${selection.type}s`)[selection.row] ?? null;
  }

  /**
   * @param {Selection | null} selection
   * @param {boolean} [isOpening] whether the page chose it: then a stale link stays said
   */
  select(selection, isOpening = false) {
    const now = this.state.selection;
    if (now?.type === selection?.type && now?.row === selection?.row) return;
    const listed = this.asListed(selection);
    const list = listed && listed.type !== "line" ? { list: `${listed.type}s` } : {};
    this.set({ selection, ...(isOpening ? {} : { stale: "" }), ...list });
  }

  /** A kernel of the program: its row in the lists, or else its line of source. @param {number} kernel */
  selectKernel(kernel) {
    const [entity, spot] = ["entity", "spot"].map((name) => this.data?.column(`graph.kernel.${name}`)[kernel] ?? -1);
    if (entity >= 0) this.select(entityOf(entity));
    else if (spot >= 0) this.select({ type: "line", row: spot });
  }

  /** What the lists have of a selection: of a value in memory, what makes it. @param {Selection | null} selection @returns {Selection | null} */
  asListed(selection) {
    return selection?.type === "buffer" ? (this.rows("buffers")[selection.row]?.own ?? null) : selection;
  }

  /** The selection as the lists have it. */
  get listed() {
    return this.asListed(this.state.selection);
  }

  /** Places of the selection. @returns {Set<number>} */
  spots() {
    const { selection } = this.state;
    if (!selection) return new Set();
    return selection.type === "line" ? new Set([selection.row]) : new Set(this.selected?.spots ?? []);
  }

  /** A name for the selection that outlives this page: an instruction, an array's path, a line. */
  selectionName() {
    const { selection } = this.state;
    if (!selection || !this.data) return "";
    if (selection.type === "line") return this.spotName(selection.row);
    const row = this.selected;
    if (row && selection.type === "buffer") return `${ALIVE}${row.names[0] ?? row.name}`;
    return row ? (selection.type === "array" ? row.name : (row.names[0] ?? "")) : "";
  }

  /** @param {number} spot */
  spotName(spot) {
    if (!this.data) return "";
    const file = this.data.header.files[this.data.column("spot_files")[spot]];
    return file === undefined ? "" : `${file}:${this.data.column("spot_lines")[spot]}`;
  }

  /** Select what a name stands for; false when there is no such thing. @param {string} name */
  selectName(name) {
    if (!name) {
      this.select(null);
      return true;
    }
    if (name.startsWith(ALIVE)) return this.selectAlive(name);
    for (const type of /** @type {const} */ (["collective", "kernel", "array"])) {
      const row = this.rows(`${type}s`).findIndex((one) =>
        type === "array" ? one.name === name || one.names.includes(name) : one.names?.includes(name),
      );
      if (row >= 0) {
        this.select({ type, row });
        return true;
      }
    }
    const count = this.data?.column("spot_lines").length ?? 0;
    for (let spot = 0; spot < count; spot++) {
      if (this.spotName(spot) !== name) continue;
      this.select({ type: "line", row: spot });
      return true;
    }
    return false;
  }

  /** Select a value in memory by the instruction that makes it, or its own name; at once, or when it can be known. @param {string} name */
  selectAlive(name) {
    if (!this.memory) {
      if (!this.readMemory) return false;
      this.awaited = name;
      this.set({ centre: "memory", pane: "centre" });
      return true;
    }
    const own = name.slice(ALIVE.length);
    const row = this.rows("buffers").findIndex((one) => one.names.includes(own) || one.name === own);
    if (row >= 0) this.select({ type: "buffer", row });
    return row >= 0;
  }
}

/** What is looked through of a row: its own words, and the code it comes from. @param {Store} store @param {any} row */
function rowWords(store, row) {
  return [
    row.kind,
    row.what,
    row.name,
    row.place,
    row.cause,
    row.phase,
    ...(row.causes ?? []),
    row.array,
    row.spec,
    row.target,
    ...(row.names ?? []),
    ...(row.lines ?? []).flat(),
    ...(row.spots ?? []).map((/** @type {number} */ spot) => store.spotWords(spot)),
    row.axes === undefined ? "" : store.first.axis_sets[row.axes]?.words,
  ]
    .filter(Boolean)
    .join(" ");
}

/**
 * Which rows have what is looked for; all, where nothing is.
 * @param {Store} store @param {string} text @returns {(row: any) => boolean}
 */
export function searched(store, text) {
  const isWanted = matcher(text);
  return isWanted ? (row) => isWanted(rowWords(store, row)) : () => true;
}

/** Whether a row fits the filters, the search apart. @param {any} row @param {State} state @param {any} first */
export function fits(row, state, first) {
  const { note = null } = state;
  if (note !== null && first.notes[note].list === state.list && !row.notes?.includes(note)) return false;
  if (state.list === "collectives") {
    if ((state.cause ?? null) !== null && !row.causes.includes(state.cause)) return false;
    if (state.axes !== null && row.axes !== state.axes) return false;
    if (state.kind !== null && row.kind !== state.kind) return false;
  }
  return state.list !== "arrays" || state.role === null || row.role === state.role;
}
