// The schedule strip: kernels in the order they run, by phase and layer, and a lane of collectives for each set of mesh
// axes. It shows what the matrix cannot: weights gathered long before their use, what runs while something is under
// way.
import { colorsOf, penOf } from "../core/canvas.js";
import { h, onceAFrame } from "../core/dom.js";
import { thousands } from "../core/format.js";
import { LANE, heightOf, paint, topOf } from "./draw.js";
import { endOf, eventLines, nearest, readStrip, runOf } from "./data.js";
import { axisClass } from "../core/spans.js";
import { tooltip } from "../core/tooltip.js";

const LEAST_SPAN = 12; // places that fill the strip when zoomed in most
const REACH = 5; // pixels from the pointer to a bar
const NARROW = 520;

let strips = 0;

/**
 * The strip; it fills itself once the data are there.
 * @param {import("../core/store.js").Store} store @returns {HTMLElement}
 */
export function schedule(store) {
  const box = h("section.schedule", { "aria-label": "Schedule" });
  const fill = () => {
    const { data } = store;
    const strip = data && !data.header.graph?.missing ? readStrip(data) : null;
    if (!strip?.size) return box.replaceChildren(h("p.nothing", data ? "No schedule: no kernel is known to run." : ""));
    box.replaceChildren(...new StripView(store, strip).parts);
  };
  store.listen((changed) => changed.has("data") && fill());
  if (store.data) fill();
  return box;
}

/** The strip of one program. */
export class StripView {
  /** @param {import("../core/store.js").Store} store @param {import("./data.js").Strip} strip */
  constructor(store, strip) {
    this.store = store;
    this.strip = strip;
    this.data = /** @type {import("../core/blob.js").Store} */ (store.data);
    this.view = { from: 0, span: Math.max(LEAST_SPAN, strip.size) };
    this.current = this.hover = -1;
    this.width = 0;
    /** Called when it was painted: what stands on its scale goes with it. */
    this.painted = () => {};
    this.draw = onceAFrame(() => this.paint());
    const { graph, axis_sets: sets } = this.data.header;
    this.laneNames = strip.lanes.map((lane) => sets[lane]?.words ?? "unknown");
    this.laneClasses = strip.lanes.map((lane) => axisClass(sets[lane]?.axes ?? null, store.first.axes));
    this.phaseNames = strip.phases.map((phase) => (graph.is_differentiated ? graph.phases[phase] : "kernels"));
    this.labels = this.data.strings("graph.row.labels");
    /** @type {Map<number, string>} */
    this.labelOf = new Map();
    this.lit = new Set();
    /** @type {number[]} */
    this.kernels = [];
    this.canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { "aria-hidden": "true" }));
    this.option = h("div.offscreen", { role: "option", id: `pjit-strip-${++strips}`, "aria-selected": "true" });
    this.box = this.makeBox();
    this.tip = tooltip(this.box);
    this.parts = [this.head(), this.box];
    store.listen((changed) => this.changed(changed));
    new ResizeObserver(() => this.resize()).observe(this.box);
    this.follow();
  }

  makeBox() {
    return h(
      "div.strip",
      {
        role: "listbox",
        tabindex: 0,
        "aria-label":
          "Collectives in the order of the schedule: left and right walk, up and down change the lane, " +
          "plus and minus zoom, 0 shows all",
        "aria-activedescendant": this.option.id,
        style: { height: `${heightOf(this.strip)}px` },
        onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e),
        onwheel: (/** @type {WheelEvent} */ e) => this.wheel(e),
        onpointerdown: (/** @type {PointerEvent} */ e) => this.grab(e),
        onpointermove: (/** @type {PointerEvent} */ e) => this.point(e),
        onpointerleave: () => this.leave(),
      },
      this.canvas,
      this.option,
    );
  }

  head() {
    const { size, isScheduled } = this.strip;
    const order = isScheduled ? "XLA's schedule" : "order of the program's bytes, XLA fixed none";
    const words = `${order}; places count kernels, not time; ${thousands(size)} kernels`;
    const button = (/** @type {string} */ sign, /** @type {string} */ title, /** @type {() => void} */ click) =>
      h("button.button", { title, "aria-label": title, onclick: click }, sign);
    return h(
      "div.striphead",
      h("h3", "Schedule"),
      h("span.dim.stripwords", { title: words }, words),
      h(
        "span.stripzoom",
        button("\u2212", "Zoom out (-)", () => this.zoom(2)),
        button("+", "Zoom in (+)", () => this.zoom(0.5)),
        button("All", "Show all (0)", () => this.show(0, size)),
      ),
    );
  }

  resize() {
    this.width = this.box.clientWidth;
    this.draw();
  }

  /** @param {Set<string>} changed */
  changed(changed) {
    if (changed.has("selection")) this.follow();
    if (["theme", "pane", "centre", "wide"].some((key) => changed.has(key))) this.draw();
  }

  /** Goes with the selection, and moves only when none of it is in sight. */
  follow() {
    const { selection } = this.store.state;
    const { strip } = this;
    const isOurs = (/** @type {import("./data.js").Event} */ event) =>
      selection?.type === "collective" && event.row === selection.row;
    if (this.current < 0 || !isOurs(strip.events[this.current])) this.current = strip.events.findIndex(isOurs);
    this.lit = new Set(strip.events.flatMap((event, i) => (isOurs(event) ? [i] : [])));
    this.kernels =
      selection?.type === "kernel"
        ? this.kernelsOf(2 * selection.row + 1)
        : selection?.type === "buffer"
          ? (this.store.selected?.kernels ?? [])
          : [];
    const places = [...[...this.lit].map((i) => strip.events[i].start), ...this.kernels];
    const { from, span } = this.view;
    if (places.length && !places.some((place) => place >= from && place <= from + span))
      this.show(places[0] - span / 2, span);
    this.tell();
    this.draw();
  }

  /** @param {number} entity */
  kernelsOf(entity) {
    /** @type {number[]} */
    const found = [];
    this.data.column("graph.kernel.entity").forEach((one, kernel) => one === entity && found.push(kernel));
    return found;
  }

  /** The current event in words, for those who do not see it. */
  tell() {
    const { strip, current } = this;
    this.option.textContent =
      current < 0
        ? `${thousands(strip.events.length)} collectives; none selected`
        : eventLines(strip, current, this.data).join("; ");
    this.option.setAttribute("aria-setsize", String(strip.events.length));
    if (current < 0) this.option.removeAttribute("aria-posinset");
    else this.option.setAttribute("aria-posinset", String(current + 1));
  }

  scale() {
    const left = this.width < NARROW ? 66 : 92;
    return { left, width: Math.max(1, this.width - left - 10), ...this.view, gap: 0 };
  }

  paint() {
    if (!this.width) return;
    const pen = penOf(this.canvas, this.width, heightOf(this.strip));
    if (!pen) return;
    const color = colorsOf(this.canvas);
    paint(pen, {
      strip: this.strip,
      scale: this.scale(),
      color,
      laneColors: this.laneClasses.map(color),
      laneNames: this.laneNames,
      phaseNames: this.phaseNames,
      label: (row) => this.label(row),
      lit: (event) => this.lit.has(event),
      kernels: this.kernels,
      current: this.current,
      hover: this.hover,
    });
    this.painted();
  }

  /** @param {number} row */
  label(row) {
    const known = this.labelOf.get(row) ?? this.labels.at(row);
    this.labelOf.set(row, known);
    return known;
  }

  /** Shows `span` places from `from` on, as far as there are any. @param {number} from @param {number} span */
  show(from, span) {
    const all = Math.max(LEAST_SPAN, this.strip.size);
    const wide = Math.max(LEAST_SPAN, Math.min(all, span));
    this.view = { from: Math.max(0, Math.min(all - wide, from)), span: wide };
    this.draw();
  }

  /** @param {number} factor @param {number} [place] what stays where it is; the current event, or the middle */
  zoom(factor, place) {
    const { from, span } = this.view;
    const event = this.strip.events[this.current];
    const seen = event && event.start >= from && event.start <= from + span;
    const fixed = place ?? (seen ? event.start : from + span / 2);
    this.show(fixed - (fixed - from) * factor, span * factor);
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    const isZoom = event.ctrlKey || event.metaKey || event.shiftKey;
    if (!isZoom && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return; // the page scrolls
    event.preventDefault();
    const { width } = this.scale();
    if (isZoom) this.zoom(1.0018 ** (event.deltaY || event.deltaX), this.place(event));
    else this.show(this.view.from + (event.deltaX / width) * this.view.span, this.view.span);
  }

  /** @param {MouseEvent} event */
  place(event) {
    const { left, width, from, span } = this.scale();
    return from + ((event.clientX - this.box.getBoundingClientRect().left - left) / width) * span;
  }

  /** A drag moves the view; a click without one selects. @param {PointerEvent} event */
  grab(event) {
    if (event.button) return;
    const { from, span } = this.view;
    const { width } = this.scale();
    let isDrag = false;
    this.box.setPointerCapture(event.pointerId);
    const move = (/** @type {PointerEvent} */ now) => {
      isDrag ||= Math.abs(now.clientX - event.clientX) > 3;
      if (isDrag) this.show(from - ((now.clientX - event.clientX) / width) * span, span);
    };
    const stop = () => {
      this.box.removeEventListener("pointermove", move);
      this.box.removeEventListener("pointerup", done);
      this.box.removeEventListener("pointercancel", stop);
    };
    const done = (/** @type {PointerEvent} */ now) => {
      stop();
      if (!isDrag) this.pick(now);
    };
    this.box.addEventListener("pointermove", move);
    this.box.addEventListener("pointerup", done);
    this.box.addEventListener("pointercancel", stop);
  }

  /** What is at the pointer: an event, or a kernel in a phase. @param {MouseEvent} event */
  at(event) {
    const { strip } = this;
    const y = event.clientY - this.box.getBoundingClientRect().top;
    const place = this.place(event);
    const kernel = Math.floor(place);
    const lane = [...strip.phases, ...strip.lanes].findIndex(
      (_, i) => y >= topOf(strip, i) && y < topOf(strip, i) + LANE,
    );
    const { width, span } = this.scale();
    if (lane >= strip.phases.length)
      return { event: nearest(strip, lane - strip.phases.length, place, (REACH * span) / width), kernel: -1 };
    const isThere =
      lane >= 0 && kernel >= 0 && kernel < strip.size && strip.runPhases[runOf(strip, kernel)] === strip.phases[lane];
    return { event: -1, kernel: isThere ? kernel : -1 };
  }

  /** @param {PointerEvent} event */
  point(event) {
    const found = this.at(event);
    this.box.style.cursor = found.event >= 0 || found.kernel >= 0 ? "pointer" : "";
    if (found.event !== this.hover) this.draw();
    this.hover = found.event;
    const lines =
      found.event >= 0
        ? eventLines(this.strip, found.event, this.data)
        : found.kernel >= 0
          ? this.kernelLines(found.kernel)
          : [];
    if (lines.length) this.tip.show(lines, event.clientX, event.clientY);
    else this.tip.hide();
  }

  leave() {
    this.hover = -1;
    this.tip.hide();
    this.draw();
  }

  /** @param {number} kernel @returns {string[]} */
  kernelLines(kernel) {
    const { strip, data } = this;
    const run = runOf(strip, kernel);
    const phase = this.phaseNames[strip.phases.indexOf(strip.runPhases[run])];
    const length = endOf(strip, run) - strip.starts[run];
    const what = data.strings("graph.labels").at(data.column("graph.kernel.label")[kernel]);
    return [
      `${this.label(strip.rows[run])}, ${phase}`,
      `kernel ${thousands(kernel)}: ${data.strings("graph.kernel.names").at(kernel)} (${what})`,
      `${thousands(length)} in a row here, from place ${thousands(strip.starts[run])}`,
    ];
  }

  /** @param {MouseEvent} event */
  pick(event) {
    const found = this.at(event);
    this.box.focus({ preventScroll: true });
    if (found.event >= 0) this.choose(found.event);
    else if (found.kernel >= 0) this.store.selectKernel(found.kernel);
  }

  /** @param {number} index */
  choose(index) {
    this.current = index;
    const { row, start } = this.strip.events[index];
    const { from, span } = this.view;
    if (start < from || start > from + span) this.show(start - span / 2, span);
    if (row >= 0) this.store.select({ type: "collective", row });
    this.tell();
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { strip, current } = this;
    const last = strip.events.length - 1;
    const { from, span } = this.view;
    /** @type {Record<string, number>} */
    const jumps = {
      ArrowRight: Math.min(last, current + 1),
      ArrowLeft: Math.max(0, current - 1),
      Home: 0,
      End: last,
      ArrowDown: this.inLane(1),
      ArrowUp: this.inLane(-1),
    };
    /** @type {number | undefined} */
    const to = jumps[event.key];
    /** @type {Record<string, () => void>} */
    const acts = {
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      0: () => this.show(0, strip.size),
      PageDown: () => this.show(from + span * 0.8, span),
      PageUp: () => this.show(from - span * 0.8, span),
    };
    if (to === undefined && !acts[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    if (to === undefined) acts[event.key]();
    else if (last >= 0) this.choose(to);
  }

  /** The nearest event of the next lane that has any. @param {number} step */
  inLane(step) {
    const { strip, current } = this;
    const event = strip.events[Math.max(0, current)];
    for (let lane = (event?.lane ?? 0) + step; lane >= 0 && lane < strip.lanes.length; lane += step) {
      const found = nearest(strip, lane, event.start, Infinity);
      if (found >= 0) return found;
    }
    return Math.max(0, current);
  }
}
