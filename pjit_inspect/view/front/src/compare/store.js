// What the reader of a comparison has chosen, and who is told of it.

/**
 * @typedef {"removed" | "added" | "less" | "more" | "changed" | "same"} Status
 * @typedef {{
 *   list: string,
 *   onlyChanged: boolean,
 *   status: Status | null,
 *   axes: number | null,
 *   box: number | null,
 *   row: number | null,
 *   pane: string,
 * }} State
 */

/** The lists whose rows stand in boxes of the graph. */
export const IN_BOXES = ["collectives", "kernels"];

export class CompareStore {
  /** @param {any} first what is painted before anything is decoded */
  constructor(first) {
    this.first = first;
    /** @type {import("../core/blob.js").Store | null} */
    this.data = null;
    /** @type {((changed: Set<string>) => void)[]} */
    this.listeners = [];
    /** Whether there is room for one pane only. @type {() => boolean} */
    this.isNarrow = () => false;
    /** @type {State} */
    this.state = {
      list: "collectives",
      onlyChanged: true,
      status: null,
      axes: null,
      box: null,
      row: null,
      pane: "list",
    };
  }

  /** @param {(changed: Set<string>) => void} listener */
  listen(listener) {
    this.listeners.push(listener);
  }

  /** @param {Partial<State>} changes */
  set(changes) {
    const own = /** @type {Record<string, any>} */ (this.state);
    const changed = new Set(Object.keys(changes).filter((key) => own[key] !== /** @type {any} */ (changes)[key]));
    Object.assign(this.state, changes);
    if (changed.size) this.listeners.forEach((listener) => listener(changed));
  }

  /** @param {import("../core/blob.js").Store} data */
  open(data) {
    this.data = data;
    this.listeners.forEach((listener) => listener(new Set(["data"])));
    this.set({ row: this.shown()[0] ?? null });
  }

  get rows() {
    return this.data?.header.lists[this.state.list]?.rows ?? [];
  }

  get selected() {
    return this.state.row === null ? null : (this.rows[this.state.row] ?? null);
  }

  /** The places of the rows that the filters leave. @returns {number[]} */
  shown() {
    const { onlyChanged, status, axes, box, list } = this.state;
    const found = [];
    for (const [at, row] of this.rows.entries()) {
      if (status ? row.status !== status : onlyChanged && row.status === "same") continue;
      if (list === "collectives" && axes !== null && row.axes !== axes) continue;
      if (IN_BOXES.includes(list) && box !== null && !row.boxes.includes(box)) continue;
      found.push(at);
    }
    return found;
  }

  /** Filters, and the first row that they leave. @param {Partial<State>} changes */
  filter(changes) {
    this.set(changes);
    this.set({ row: this.shown()[0] ?? null });
  }
}
