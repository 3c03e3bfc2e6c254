// One small sign for each kind of collective; the kind is always a word beside it.
import { s } from "./dom.js";

/** @type {Record<string, string>} */
const PATHS = {
  "all-reduce": "M9.5 2.5H3l3.2 3.7L3 10h6.5",
  "all-gather": "M1.8 1.8h8.4v8.4H1.8zM6 1.8v8.4M1.8 6h8.4",
  "reduce-scatter": "M6 1.5v4M6 5.5L2 10M6 5.5l4 4.5M6 5.5V10",
  "all-to-all": "M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2M9 1.5L10.5 3 9 4.5M9 7.5L10.5 9 9 10.5",
  "ragged-all-to-all": "M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2",
  "collective-permute": "M1.5 4h8M7.5 2l2 2-2 2M10.5 8h-8M4.5 6l-2 2 2 2",
  "collective-broadcast": "M2 6h3M5 6l4-4M5 6h4.5M5 6l4 4",
  kernel: "M2 3h8v6H2z",
  array: "M2 2.5h8M2 6h8M2 9.5h8M2 2.5v7M10 2.5v7",
  line: "M2 3h8M2 6h5M2 9h7",
};

/** @param {string} kind @param {string} [more] */
export function glyph(kind, more = "") {
  const path = PATHS[kind] ?? PATHS.kernel;
  return s(
    "svg",
    { class: `glyph ${more}`, viewBox: "0 0 12 12", width: 13, height: 13, "aria-hidden": "true" },
    s("path", { d: path }),
  );
}
