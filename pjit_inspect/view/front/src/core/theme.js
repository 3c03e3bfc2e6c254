// The colours of every page, as custom properties: light, dark, with more contrast, and as the system forces them. Words
// can be read on each background they stand on. Colour means the mesh axis (`ax-`); phases are greys.

/** Name, light, dark; then, where they differ, with more contrast light and dark (7 to 1), and forced. */
const COLORS = `
text #1f2328 #e6e8eb #000 #fff CanvasText
dim #59626d #a2abb6 #000 #fff CanvasText
line #7f8894 #6d7682 #000 #fff CanvasText
rule #d9dde2 #343941 #000 #fff CanvasText
bg #fff #16181c - - Canvas
panel #f4f5f7 #1f2227 - - Canvas
picked #e6f0fc #16304d - - Canvas
strong #cfe3fa #1d426b - - Canvas
hover #ebedf0 #2a2e34
ax-0 #0a7570 #4cc9bf #074f4c #a0e2dd CanvasText
ax-1 #b04a06 #f0a05a #783204 #f7cfab CanvasText
ax-2 #a3286c #f08ac0 #812055 #f8c9e2 CanvasText
ax-3 #56700b #b3c95a #3b4d08 #cfdd97 CanvasText
ax-many #6a4bc0 #b9a0f5 #4d378c #dcd0fa CanvasText
ax-none #5f6772 #a5adb8 #42474f #d3d7dc CanvasText
select #0b63c4 #6cb2ff #08468b #b8daff Highlight
note #a32a1c #ff9d8f #862217 #ffcac3
ph-0 #99a2ad #68717c - - CanvasText
ph-1 #c2c8cf #454c55 - - CanvasText
ph-2 #6a7380 #949da8 - - CanvasText
ph-3 #49515b #c0c7cf - - CanvasText
band #fafbfc #191c20 #fff #16181c Canvas
flow #59626d #a2abb6 #000 #fff CanvasText
in #a34a00 #ffb070 - - LinkText
out #0b57c4 #7db7ff - - Highlight
heat #0b57a4 #5aa2f0 - - Highlight
mem-0 #5c6673 #8b95a1
mem-1 #8b96a3 #616b77
mem-2 #a59a86 #857a66
mem-3 #3f74b5 #5b8fd0
mem-4 #c28a4a #b57d3d
mem-5 #8d78c4 #8f79c9
mem-6 #6f9f63 #5f9152
mem-7 #cbd1d8 #434a53
mem-rest #e4e7eb #30353c
mem-ink #fff #fff
scope-0 #1d4f8c #8fbaf0
scope-1 #5b8fd0 #3a6cab
scope-2 #2f6bb0 #6b9fdf
scope-3 #86aede #2c5284
scope-4 #3f7cc4 #5286c8
scope-5 #a9c6e9 #24436b
scope-6 #4f86c9 #4478b9
less #2e6f18 #9bd67f
more #b3261e #ff9d8f
less-fill #cfe9c0 #2b4a20
more-fill #f8cfca #572a26
ink #3a424c #c3cad2
held #9aa3ae #68717c
track #eef0f2 #262a30`;

const ROWS = COLORS.trim()
  .split("\n")
  .map((row) => row.split(" "));

/** Declarations of one column; a name without a value there keeps the one it has. @param {number} column */
const of = (column) =>
  ROWS.map((row) => (row[column] && row[column] !== "-" ? `--${row[0]}:${row[column]};` : "")).join("");

const PREFERRED = ":root:not([data-theme=light])";
// A class that says the theme is stronger than what the browser prefers.
const [DARK, LIGHT] = ["dark", "light"].map((name) => `.pjit-inspector.pjit-inspector.${name}`);
const CHOSEN = `:root[data-theme=dark] .pjit-inspector,${DARK}`;
const PREFERS = `${PREFERRED},${PREFERRED} .pjit-inspector,:host .pjit-inspector`;
const MORE = "@media (prefers-contrast:more)";

/** What a class with such a name sets: the colour of an element. @type {Record<string, string>} */
const SETS = { ax: "c", mem: "m", scope: "m" };
const CLASSES = ROWS.map(([name]) => [name, SETS[name.split("-")[0]]])
  .filter(([, sets]) => sets)
  .map(([name, sets]) => `.${name}{--${sets}:var(--${name})}`);

/** The rules that set them. */
export const themeCss = `
${CLASSES.join("")}
:root,.pjit-inspector{${of(1)}color-scheme:light dark}
@media (prefers-color-scheme:dark){${PREFERS}{${of(2)}}}
:root[data-theme=light],${LIGHT}{${of(1)}color-scheme:light}
:root[data-theme=dark],${CHOSEN}{${of(2)}color-scheme:dark}
${MORE}{:root,.pjit-inspector.pjit-inspector,${LIGHT}{${of(3)}}${CHOSEN}{${of(4)}}}
${MORE} and (prefers-color-scheme:dark){${PREFERRED} .pjit-inspector.pjit-inspector:not(.light),:host .pjit-inspector.pjit-inspector:not(.light){${of(4)}}}
@media (forced-colors:active){.pjit-inspector.pjit-inspector.pjit-inspector{${of(5)}}}
`;
