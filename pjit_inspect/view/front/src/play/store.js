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

/** Questions that are told before the kernel has heard of the first of them; later ones wait, the newest in one. */
const AHEAD = 4;

const LOST =
  "The kernel that answers is gone: it was restarted or shut down. This is the last state; run the cell again to go on.";

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
    /** Asked for while the kernel had too much to hear. @type {Partial<Omit<Wish, "seq">> | null} */
    this.held = null;
    /** Why nothing is answered any more; "" as long as it is. */
    this.lost = "";
    /** The page of another kind that is being made. @type {"inspect" | "compare" | null} */
    this.opening = null;
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

  /** Whether controls can be moved. */
  get isLive() {
    return this.ask !== null && !this.lost && !this.data.closed;
  }

  /** Why they cannot; "" where they can. @returns {string} */
  get whyStill() {
    return this.isLive ? "" : this.lost || this.data.closed || this.data.still_words;
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
    if (this.held && this.seq - data.heard < AHEAD) {
      const held = this.held;
      this.held = null;
      this.send({ type: "set", ...held });
      this.wish = { ...this.wish, seq: this.seq };
    }
    if (data.heard >= this.wish.seq) this.wish = nothing();
    this.tell("data");
  }

  /** Nobody answers any more. */
  lose() {
    this.lost = LOST;
    this.wish = nothing();
    this.held = this.opening = null;
    this.tell("data");
  }

  /** @param {Message} message */
  send(message) {
    if (!this.ask || this.lost) return;
    this.seq += 1;
    try {
      this.ask({ ...message, seq: this.seq });
    } catch {
      this.lose();
    }
  }

  /** A page of another kind, which takes a moment. @param {"inspect" | "compare"} type */
  openPage(type) {
    if (this.opening) return;
    this.opening = type;
    this.send({ type });
    this.tell("opening");
  }

  /** @returns {[string, number][]} */
  get mesh() {
    return this.wish.mesh ?? this.data.mesh.map((/** @type {any} */ one) => [one.name, one.size]);
  }

  /** Ask for controls; they are shown before the kernel answers. @param {Partial<Omit<Wish, "seq">>} wish */
  set(wish) {
    if (!this.isLive) return;
    const waits = this.held !== null || this.seq - this.data.heard >= AHEAD;
    if (waits) this.held = joined(this.held ?? {}, wish);
    else this.send({ type: "set", ...wish });
    if (this.lost) return;
    this.wish = { ...nothing(), ...joined(this.wish, wish), seq: waits ? Infinity : this.seq };
    this.tell("wish");
  }

  /** All controls as a textbook has them; figures are old until the kernel answers. @param {string} preset */
  preset(preset) {
    this.held = null;
    this.send({ type: "preset", preset });
    if (this.lost) return;
    this.wish = { ...nothing(), seq: this.seq };
    this.tell("wish");
  }

  /**
   * The axes of each dimension, with what is asked.
   * @param {"specs" | "results" | "constraints"} field @param {string} key @param {Dimension[]} dims
   * @returns {string[][]}
   */
  spec(field, key, dims) {
    const asked = this.wish[field][key];
    return Array.isArray(asked) ? asked : dims.map((one) => one.axes ?? []);
  }

  /** @param {number} number */
  goBack(number) {
    this.wish = nothing();
    this.held = null;
    this.send({ type: "go_back", number });
    if (!this.lost) return;
    this.lacking = number;
    this.tell("data");
  }
}

/**
 * What is asked for, and what is asked for after it.
 * @param {Partial<Wish>} wish @param {Partial<Wish>} next @returns {Partial<Wish>}
 */
function joined(wish, next) {
  return {
    ...wish,
    ...next,
    specs: { ...wish.specs, ...next.specs },
    results: { ...wish.results, ...next.results },
    constraints: { ...wish.constraints, ...next.constraints },
  };
}
