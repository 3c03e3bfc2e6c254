// Undoes deflate (RFC 1950 and 1951) where the browser has no DecompressionStream. Pure.

const LENGTHS = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCES = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
  8193, 12289, 16385, 24577,
];
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** @typedef {{counts: number[], symbols: number[]}} Code a canonical Huffman code: codes per length, symbols in order */

/** @param {number[]} lengths @returns {Code} */
function codeOf(lengths) {
  const counts = new Array(16).fill(0);
  for (const length of lengths) counts[length]++;
  counts[0] = 0;
  const symbols = [];
  for (let length = 1; length < 16; length++)
    for (let symbol = 0; symbol < lengths.length; symbol++) if (lengths[symbol] === length) symbols.push(symbol);
  return { counts, symbols };
}

/** Bits of a stream, the lowest first. */
class Bits {
  /** @param {Uint8Array} bytes @param {number} at */
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at;
    this.held = this.count = 0;
  }

  /** @param {number} count */
  take(count) {
    while (this.count < count) {
      if (this.at >= this.bytes.length) throw new Error("the data end too soon");
      this.held |= this.bytes[this.at++] << this.count;
      this.count += 8;
    }
    const found = this.held & ((1 << count) - 1);
    this.held >>>= count;
    this.count -= count;
    return found;
  }

  /** The next symbol of a code. @param {Code} code */
  symbol({ counts, symbols }) {
    let [code, first, index] = [0, 0, 0];
    for (let length = 1; length < 16; length++) {
      code |= this.take(1);
      const count = counts[length];
      if (code - first < count) return symbols[index + code - first];
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw new Error("the data are damaged");
  }
}

const FIXED = [
  codeOf(Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8))),
  codeOf(new Array(30).fill(5)),
];

/** The two codes that a block brings. @param {Bits} bits */
function ownCodes(bits) {
  const [literals, distances, own] = [bits.take(5) + 257, bits.take(5) + 1, bits.take(4) + 4];
  const lengths = new Array(19).fill(0);
  for (let i = 0; i < own; i++) lengths[ORDER[i]] = bits.take(3);
  const code = codeOf(lengths);
  /** @type {number[]} */
  const all = [];
  while (all.length < literals + distances) {
    const symbol = bits.symbol(code);
    if (symbol < 16) all.push(symbol);
    else {
      const value = symbol === 16 ? all[all.length - 1] : 0;
      const times = symbol === 16 ? 3 + bits.take(2) : symbol === 17 ? 3 + bits.take(3) : 11 + bits.take(7);
      for (let i = 0; i < times; i++) all.push(value);
    }
  }
  return [codeOf(all.slice(0, literals)), codeOf(all.slice(literals))];
}

/** @param {Uint8Array} bytes with the header of zlib @returns {ArrayBuffer} */
export function inflateHere(bytes) {
  const bits = new Bits(bytes, 2);
  let out = new Uint8Array(4 * bytes.length + 1024);
  let end = 0;
  const room = (/** @type {number} */ more) => {
    if (end + more <= out.length) return;
    const larger = new Uint8Array(2 * (end + more));
    larger.set(out);
    out = larger;
  };
  for (let isLast = 0; !isLast;) {
    isLast = bits.take(1);
    const kind = bits.take(2);
    if (kind === 0) {
      bits.held = bits.count = 0;
      const length = bits.take(16);
      bits.take(16);
      room(length);
      out.set(bytes.subarray(bits.at, bits.at + length), end);
      bits.at += length;
      end += length;
      continue;
    }
    if (kind === 3) throw new Error("the data are damaged");
    const [literal, distance] = kind === 1 ? FIXED : ownCodes(bits);
    for (let symbol = bits.symbol(literal); symbol !== 256; symbol = bits.symbol(literal)) {
      if (symbol < 256) {
        room(1);
        out[end++] = symbol;
        continue;
      }
      const length = LENGTHS[symbol - 257] + bits.take(LENGTH_BITS[symbol - 257]);
      const far = bits.symbol(distance);
      const back = DISTANCES[far] + bits.take(far < 2 ? 0 : (far >> 1) - 1);
      if (back > end) throw new Error("the data are damaged");
      room(length);
      for (let i = 0; i < length; i++, end++) out[end] = out[end - back];
    }
  }
  return out.slice(0, end).buffer;
}
