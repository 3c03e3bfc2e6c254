// What a search looks for, and the user's code as words to look through. Pure.

/**
 * Whether words have what is looked for; null where nothing is. Between slashes stands a regular expression; else every
 * word must be there. Capitals count nowhere. A broken expression is found nowhere.
 * @param {string} text @returns {((words: string) => boolean) | null}
 */
export function matcher(text) {
  const written = text.trim().match(/^\/(.+)\/$/);
  if (written) {
    try {
      const wanted = new RegExp(written[1], "i");
      return (words) => wanted.test(words);
    } catch {
      return () => false;
    }
  }
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!wanted.length) return null;
  return (words) => {
    const low = words.toLowerCase();
    return wanted.every((word) => low.includes(word));
  };
}

/**
 * Place, function and source text of each place, "" for what is not known; read when it is first asked for.
 * @param {import("./blob.js").Store} data @returns {(spot: number) => string}
 */
export function spotWords(data) {
  const [files, lines, functions] = ["spot_files", "spot_lines", "spot_functions"].map((name) => data.column(name));
  const { files: names, functions: defined, texts } = data.header;
  /** @type {Map<number, (line: number) => string>} */
  const sources = new Map();
  const source = (/** @type {number} */ file) => {
    if (!texts[`source${file}`]) return () => "";
    const text = data.strings(`source${file}.lines`);
    return (/** @type {number} */ line) => (line > 0 && line <= text.length ? text.at(line - 1) : "");
  };
  /** @type {Map<number, string>} */
  const known = new Map();
  return (spot) => {
    if (spot < 0 || spot >= files.length) return "";
    const file = files[spot];
    if (!sources.has(file)) sources.set(file, source(file));
    if (!known.has(spot)) {
      const text = /** @type {(line: number) => string} */ (sources.get(file))(lines[spot]);
      known.set(spot, `${names[file]}:${lines[spot]} ${defined[functions[spot]] ?? ""} ${text}`);
    }
    return /** @type {string} */ (known.get(spot));
  };
}
