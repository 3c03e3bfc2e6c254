// The rows of a list as a table for other programs: tab-separated, comma-separated, or Markdown. Pure.
// Not its job: which rows (`core/filters.js`), the clipboard (`core/copy.js`).

/** Ways to write a table, and their names. @type {[string, string][]} */
export const FORMS = [
  ["tsv", "TSV"],
  ["markdown", "Markdown"],
  ["csv", "CSV"],
];

/** For each list the names of its columns, and where a row has them. @type {Record<string, [string, (row: any, sets: any[]) => any][]>} */
const COLUMNS = {
  collectives: [
    ["collective", (row) => row.kind],
    ["axes", (row, sets) => sets[row.axes]?.words],
    ["number", (row) => row.number],
    ["sent_bytes", (row) => row.sent_bytes],
    ["time_us", (row) => row.time_us],
    ["phase", (row) => row.phase],
    ["cause", (row) => row.cause],
    ["name", (row) => row.name],
    ["source", (row) => row.place],
  ],
  arrays: [
    ["role", (row) => row.role],
    ["name", (row) => row.name],
    ["number", (row) => row.number],
    ["array", (row) => row.array],
    ["spec", (row) => row.spec],
    ["local", (row) => row.local],
    ["copies", (row) => row.copies],
    ["bytes", (row) => row.bytes],
    ["source", (row) => row.place],
  ],
  kernels: [
    ["kernel", (row) => row.what],
    ["kind", (row) => row.target || row.kind],
    ["number", (row) => row.number],
    ["bytes", (row) => row.bytes],
    ["time_us", (row) => row.time_us],
    ["source", (row) => row.place],
  ],
};

/**
 * The rows of a list in one of the forms; what is unknown is empty.
 * @param {string} form @param {string} list @param {any[]} rows @param {any[]} sets the header's sets of axes
 */
export function tableText(form, list, rows, sets) {
  const columns = COLUMNS[list].filter(([, of]) => rows.some((row) => of(row, sets) !== undefined));
  const cells = [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, of]) => plain(of(row, sets))))];
  if (form === "markdown") {
    const [head, ...rest] = cells.map((line) => `| ${line.map(markdown).join(" | ")} |`);
    return `${[head, `|${" --- |".repeat(columns.length)}`, ...rest].join("\n")}\n`;
  }
  const write = form === "csv" ? quoted : (/** @type {string} */ cell) => cell.replace(/[\t\r\n]+/g, " ");
  return `${cells.map((line) => line.map(write).join(form === "csv" ? "," : "\t")).join("\n")}\n`;
}

/** A cell as text; a spreadsheet takes none for a formula. @param {any} value */
function plain(value) {
  if (typeof value === "number") return String(value);
  const text = String(value ?? "");
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

/** @param {string} cell */
const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replace(/"/g, '""')}"` : cell);

/** Nothing in a cell is taken for markup. @param {string} cell */
const markdown = (cell) => cell.replace(/[\r\n]+/g, " ").replace(/[\\`*_{}[\]<>|#&~]/g, "\\$&");
