// What the playground shows, what the reader asked for and has no answer to yet, and who is told.
// Figures and words are Python's (`view/play/payload.py`); here is only what the kernel has not heard yet.

/**
 * @typedef {{type: string, [key: string]: any}} Message
 * @typedef {{size: number, axes: string[] | null, changed: boolean, problem: boolean, pieces: number,
 *   choices: Choice[]}} Dimension
 * @typedef {{axes: string[], words: string, detail: string, allowed: boolean}} Choice
 * @typedef {{seq: number, mesh: [string, number][] | null, target: string | null, specs: Record<string, string[][]>,
 *   results: Record<string, string[][] | null>, constraints: Record<string, any>}} Wish
 */

/** @returns {Wish} */
const nothing = () => ({ seq: 0, mesh: null, target: null, specs: {}, results: {}, constraints: {} });

export class PlayStore {
  /** @param {any} data @param {((message: Message) => void) | null} ask null where there is no kernel */
  constructor(data, ask) {
    this.data = data;
    this.ask = ask;
    /** The number of the last question. Answers say which they know of. */
    this.seq = 0;
    /** Told to the kernel and not answered: shown at once, so that quick clicks add up. @type {Wish} */
    this.wish = nothing();
    /** Groups of arguments that are open. @type {Set<string>} */
    this.open = new Set();
    /** Groups that shall have a spec of their own, and have none yet. @type {Set<string>} */
    this.loose = new Set();
    /** Whether the arrays that follow others are shown. */
    this.showsFollowers = false;
    this.filter = "";
    /** The variant that somebody asked for, and a page without a kernel has only the figures of. @type {number | null} */
    this.lacking = null;
    this.sort = { key: "number", reversed: false };
    /** @type {((changed: string) => void)[]} */
    this.listeners = [];
  }

  get isLive() {
    return this.ask !== null;
  }

  /** Whether the kernel has not answered yet. */
  get isWaiting() {
    return this.wish.seq > 0;
  }

  /** @param {(changed: string) => void} listener */
  listen(listener) {
    this.listeners.push(listener);
  }

  /** @param {string} changed */
  tell(changed) {
    this.listeners.forEach((listener) => listener(changed));
  }

  /** What the kernel says; older than what is shown, it is dropped. @param {any} data */
  take(data) {
    if (data.version < this.data.version) return;
    this.data = data;
    if (data.heard >= this.wish.seq) this.wish = nothing();
    this.tell("data");
  }

  /** @param {Message} message */
  send(message) {
    if (!this.ask) return;
    this.seq += 1;
    this.ask({ ...message, seq: this.seq });
  }

  /** @returns {[string, number][]} */
  get mesh() {
    return this.wish.mesh ?? this.data.mesh.map((/** @type {any} */ one) => [one.name, one.size]);
  }

  /** Ask for controls; they are shown before the kernel answers. @param {Partial<Omit<Wish, "seq">>} wish */
  set(wish) {
    if (!this.ask) return;
    this.send({ type: "set", ...wish });
    const { specs, results, constraints } = this.wish;
    this.wish = {
      ...this.wish,
      ...wish,
      specs: { ...specs, ...wish.specs },
      results: { ...results, ...wish.results },
      constraints: { ...constraints, ...wish.constraints },
      seq: this.seq,
    };
    this.tell("wish");
  }

  /** All controls as a textbook has them; figures are old until the kernel answers. @param {string} preset */
  preset(preset) {
    this.send({ type: "preset", preset });
    this.wish = { ...nothing(), seq: this.seq };
    this.tell("wish");
  }

  /**
   * The axes of each dimension, with what is asked.
   * @param {"specs" | "results" | "constraints"} field
   * @param {string} key
   * @param {Dimension[]} dims
   * @returns {string[][]}
   */
  spec(field, key, dims) {
    const asked = this.wish[field][key];
    return Array.isArray(asked) ? asked : dims.map((one) => one.axes ?? []);
  }

  /** @param {number} number */
  goBack(number) {
    this.wish = nothing();
    this.send({ type: "go_back", number });
  }
}
