// The texts of two programs beside each other: only the instructions that differ.
import { h } from "../core/dom.js";
import { thousands } from "../core/format.js";

const MOST = 150;

/** @param {import("./store.js").PassesStore} store */
export function texts(store) {
  if (store.first.no_lines) return h("section", { class: "texts" }, h("p", { class: "nothing" }, store.first.no_lines));
  let most = MOST;
  let wanted = "";
  const rows = h("div", { class: "rows", tabindex: 0, role: "region", "aria-label": "Instructions that differ" });
  const words = h("span", { class: "dim" });
  const choices = (/** @type {string} */ label, /** @type {(number: number) => void} */ chosen) => {
    const select = /** @type {HTMLSelectElement} */ (
      h(
        "select",
        { "aria-label": label, onchange: () => chosen(Number(select.value)) },
        h("option", { value: 0 }, "before all passes"),
        store.passes.map((one) => h("option", { value: one.number }, `${one.number} ${one.name}`)),
      )
    );
    return select;
  };
  const before = choices("The earlier program", (number) => store.compare(number, store.after));
  const after = choices("The later program", (number) => store.compare(store.before, number));
  const filter = h("input", {
    type: "search",
    placeholder: "only lines with …",
    "aria-label": "Only lines with these letters",
    oninput: (/** @type {Event} */ event) => {
      wanted = /** @type {HTMLInputElement} */ (event.target).value;
      paint();
    },
  });
  const step = (/** @type {number} */ by, /** @type {string} */ sign, /** @type {string} */ title) =>
    h("button", { type: "button", class: "button", title, onclick: () => store.walkPasses(by) }, sign);
  const paint = () => {
    before.value = String(store.before);
    after.value = String(store.after);
    if (!store.data) return;
    const found = differing(store, store.before, store.after);
    const shown = wanted ? found.filter((one) => `${one.before}${one.after}${one.where}`.includes(wanted)) : found;
    const count = (/** @type {(one: any) => boolean} */ is) => thousands(found.filter(is).length);
    words.textContent = `${count((one) => one.before && one.after)} changed, ${count((one) => !one.before)} new, ${count((one) => !one.after)} gone${wanted ? `; ${thousands(shown.length)} of them shown` : ""}`;
    const more = h(
      "button",
      {
        type: "button",
        class: "button",
        onclick: () => {
          most += 1000;
          paint();
        },
      },
      `${thousands(shown.length - most)} more`,
    );
    rows.replaceChildren(
      ...shown.slice(0, most).map((one) => row(store, one)),
      ...(shown.length > most ? [more] : []),
      ...(found.length ? [] : [h("p", { class: "nothing" }, "These two programs have the same instructions.")]),
    );
  };
  let seen = [-1, -1];
  store.listen(() => {
    if (seen[0] !== store.before || seen[1] !== store.after) {
      most = MOST;
      rows.scrollTop = 0;
    }
    seen = [store.before, store.after];
    paint();
  });
  paint();
  return h(
    "section",
    { class: "texts", "aria-label": "Two programs beside each other" },
    h(
      "div",
      { class: "bar" },
      h("h2", { class: "minor" }, "What differs"),
      step(-1, "◀", "the pass before"),
      before,
      "→",
      after,
      step(1, "▶", "the next pass"),
      words,
      filter,
    ),
    rows,
  );
}

/**
 * The instructions that differ, by name, in the order of the later program; then those that are gone.
 * @param {import("./store.js").PassesStore} store @param {number} before @param {number} after
 */
export function differing(store, before, after) {
  const old = new Map(store.program(before).map((line) => [line.name, line]));
  const found = [];
  for (const line of store.program(after)) {
    const other = old.get(line.name);
    old.delete(line.name);
    if (other?.text !== line.text)
      found.push({
        name: line.name,
        before: other?.text ?? "",
        after: line.text,
        where: line.where || other?.where || "",
      });
  }
  for (const line of old.values()) found.push({ name: line.name, before: line.text, after: "", where: line.where });
  return found;
}

/** @param {import("./store.js").PassesStore} store @param {{before: string, after: string, where: string}} one */
function row(store, one) {
  const source = store.first.sources[one.where] ?? "";
  const [left, right] = marked(one.before, one.after);
  return h(
    "div",
    { class: `pair ${one.before ? (one.after ? "is-changed" : "is-gone") : "is-new"}` },
    h("span", { class: "where code", title: source }, one.where),
    h("code", { class: "side old" }, left),
    h("code", { class: "side new" }, right),
    source ? h("span", { class: "source code dim" }, source) : null,
  );
}

/** What differs between two lines, marked. @param {string} one @param {string} two */
function marked(one, two) {
  if (!one || !two) return [one, two];
  let start = 0;
  while (start < one.length && start < two.length && one[start] === two[start]) start++;
  let end = 0;
  while (end < Math.min(one.length, two.length) - start && one.at(-1 - end) === two.at(-1 - end)) end++;
  const parts = (/** @type {string} */ text) => [
    text.slice(0, start),
    h("mark", {}, text.slice(start, text.length - end)),
    text.slice(text.length - end),
  ];
  return [parts(one), parts(two)];
}
