// How figures that are added up here are written: the rules of `view/document/quantities.py` and
// `view/document/notation.py`.
// tests/front compares both.

const UNITS = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, PiB: 2 ** 50 };

/** @param {number} size */
function unitOf(size) {
  if (size < 2 ** 10) return "B";
  if (size < 2 ** 20) return "KiB";
  if (size < 10 * 2 ** 30) return "MiB";
  if (size < 10 * 2 ** 40) return "GiB";
  return size < 10 * 2 ** 50 ? "TiB" : "PiB";
}

/** A size on its own, three digits: "1,399 MiB", "79.3 MiB", "2 KiB". @param {number} size */
export function bytesText(size) {
  const unit = unitOf(size);
  const value = size / UNITS[unit];
  if (Number.isInteger(value) || value >= 99.95) return `${thousands(halfEven(value))} ${unit}`;
  return `${fixed(value, value >= 9.995 ? 1 : 2)} ${unit}`;
}

/** Decimals as Python rounds them: an exact tie goes to the even digit. @param {number} value @param {number} digits */
function fixed(value, digits) {
  const scale = 10 ** digits;
  const floor = Math.floor(value * scale);
  return (floor + 0.5) / scale === value && floor % 2 === 0 ? (floor / scale).toFixed(digits) : value.toFixed(digits);
}

/** @param {number} value */
function halfEven(value) {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 ? floor + 1 : floor;
}

/** @param {number} value */
export function thousands(value) {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** @param {number} count @param {string} noun */
export function plural(count, noun) {
  return `${thousands(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * Numbers in order, runs folded: "0-3 6"; at most `limit` runs, then "...".
 * @param {number[]} numbers @param {number} [limit]
 */
export function rangesText(numbers, limit) {
  /** @type {number[][]} */
  const runs = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = runs[runs.length - 1];
    if (last && number === last[1] + 1) last[1] = number;
    else runs.push([number, number]);
  }
  const shown = limit === undefined ? runs : runs.slice(0, limit);
  const words = shown.map(([a, b]) => (b - a > 1 ? `${a}-${b}` : b > a ? `${a} ${b}` : `${a}`));
  return words.join(" ") + (shown.length < runs.length ? " ..." : "");
}

/** A time on its own, three digits: "41.2 ms", "812 \u00b5s", "1,310 s". @param {number} microseconds */
export function timeText(microseconds) {
  const [size, unit] = microseconds < 999.5 ? [1, "\u00b5s"] : microseconds < 999.5e3 ? [1e3, "ms"] : [1e6, "s"];
  const value = microseconds / size;
  const digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${digits ? fixed(value, digits) : thousands(halfEven(value))} ${unit}`;
}

/** Floating-point operations, in three digits: "2.5 GFLOP". @param {number} flops */
export function flopsText(flops) {
  const power = Math.min(5, Math.max(0, Math.floor(Math.log10(Math.max(1, flops)) / 3)));
  const value = flops / 1000 ** power;
  const digits = value >= 100 ? thousands(Math.round(value)) : Number(value.toPrecision(3));
  return `${digits} ${["", "K", "M", "G", "T", "P"][power]}FLOP`;
}

/** A size in two digits, where there is little room: "1.5 GiB"; from 995 on in the next unit. @param {number} size */
export function roughBytesText(size) {
  const power = Math.min(5, Math.floor(Math.log2(Math.max(1, size) * 1.03) / 10));
  const value = size / 2 ** (10 * power);
  return `${value >= 9.95 ? Math.round(value) : Number(value.toFixed(1))} ${Object.keys(UNITS)[power]}`;
}

/** A share in full percent, never rounded up: what is not the same is not 100%. @param {number} share */
export function percentText(share) {
  return `${Math.floor(100 * share)}%`;
}
