// Variants as Python has packed them (`view/play/shared.py`): what several have alike is there once, and is shared here.

/** The one key of what stands for an entry of the pool. */
const REFERENCE = "$";

/** @param {{pool: any[], values: any[]}} packed @returns {any[]} */
export function unpacked({ pool, values }) {
  /** @type {any[]} */
  const parts = [];
  /** @type {(value: any) => any} */
  const whole = (value) => {
    if (Array.isArray(value)) return value.map(whole);
    if (value === null || typeof value !== "object") return value;
    const keys = Object.keys(value);
    if (keys.length === 1 && keys[0] === REFERENCE) return parts[value[REFERENCE]];
    return Object.fromEntries(keys.map((key) => [key, whole(value[key])]));
  };
  // A part refers only to those before it.
  pool.forEach((part) => parts.push(whole(part)));
  return values.map(whole);
}
