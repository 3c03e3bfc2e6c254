// Reads the column store that `view/inspector/blob.py` writes. Columns are views into the buffer; those of steps are
// added up when they are first asked for.
const MAGIC = "PJITVIEW";
/**
 * How a column's numbers lie in the buffer, by the names Python gives them.
 * @type {Record<string, new (buffer: ArrayBuffer, offset: number, length: number) => Column>}
 */
const ARRAYS = { i4: Int32Array, u1: Uint8Array, u4: Uint32Array, f8: Float64Array, s4: Uint32Array };

/**
 * @typedef {Int32Array | Uint8Array | Uint32Array | Float64Array} Column
 * @typedef {{
 *   header: any,
 *   column: (name: string) => Column,
 *   strings: (name: string) => Strings,
 *   has: (name: string) => boolean,
 * }} Store
 */

/** A table of strings, decoded one at a time. */
export class Strings {
  /** @param {Uint8Array} bytes @param {Uint32Array} ends */
  constructor(bytes, ends) {
    this.bytes = bytes;
    this.ends = ends;
    this.length = ends.length;
    this.decoder = new TextDecoder();
  }

  /** @param {number} index */
  at(index) {
    const start = index ? this.ends[index - 1] : 0;
    return this.decoder.decode(this.bytes.subarray(start, this.ends[index]));
  }

  /** Bytes of the longest string. */
  longest() {
    let most = 0;
    for (let i = 0, start = 0; i < this.length; start = this.ends[i++]) most = Math.max(most, this.ends[i] - start);
    return most;
  }
}

/** @param {ArrayBuffer} buffer @returns {Store} */
export function openBlob(buffer) {
  const decoder = new TextDecoder();
  if (decoder.decode(new Uint8Array(buffer, 0, 8)) !== MAGIC) throw new Error("this is no inspector data");
  const [version, length] = new Uint32Array(buffer, 8, 2);
  if (version !== 1) throw new Error(`inspector data of version ${version}; this page reads version 1`);
  const header = JSON.parse(decoder.decode(new Uint8Array(buffer, 16, length)));
  const start = 16 + length;
  /** @type {Set<string>} */
  const summed = new Set();
  const has = (/** @type {string} */ name) => name in header.columns;
  const column = (/** @type {string} */ name) => {
    if (!has(name)) return new Int32Array(0);
    const [type, offset, count] = header.columns[name];
    const found = new ARRAYS[type](buffer, start + offset, count);
    if (type !== "s4" || summed.has(name)) return found;
    summed.add(name);
    for (let i = 1; i < count; i++) found[i] += found[i - 1];
    return found;
  };
  const strings = (/** @type {string} */ name) =>
    new Strings(/** @type {Uint8Array} */ (column(name)), /** @type {Uint32Array} */ (column(`${name}.ends`)));
  return { header, column, strings, has };
}

/** The half-open range of row `index` in a column of ends. @param {Column} ends @param {number} index */
export function range(ends, index) {
  return [index ? ends[index - 1] : 0, ends[index] ?? 0];
}

/** Base64 -> bytes. @param {string} text */
export function fromBase64(text) {
  const raw = atob(text.trim());
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** Bytes as zlib deflates them -> what they were. @param {Uint8Array<ArrayBuffer>} bytes @returns {Promise<ArrayBuffer>} */
export async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return await new Response(stream).arrayBuffer();
}
