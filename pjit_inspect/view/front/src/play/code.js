// The lines to write for this variant, those that changed marked; to be copied, and checked.
import { copyButton } from "../core/copy.js";
import { h } from "../core/dom.js";
import { plural } from "../core/format.js";
import { follow, refill } from "./keep.js";

/** Lines without a change from which on they are folded, and those of them that stay beside a change. */
const [LONG, BESIDE] = [10, 3];

/** @param {any} line */
function drawn(line) {
  return h(
    "span",
    { class: line.changed ? "line changed" : "line" },
    line.changed ? h("span.offscreen", "changed: ") : null,
    line.text || " ",
    line.changed ? h("span.dim", line.was ? `  # was ${line.was}` : "  # new") : null,
  );
}

/** The lines, long stretches without a change behind a click. @param {any[]} lines */
function folded(lines) {
  /** @type {any[]} */
  const found = [];
  for (let at = 0; at < lines.length;) {
    let end = at;
    while (end < lines.length && lines[end].changed === lines[at].changed) end++;
    const run = lines.slice(at, end);
    at = end;
    if (run[0].changed || run.length < LONG) found.push(run.map(drawn));
    else found.push(run.slice(0, BESIDE).map(drawn), rest(run.slice(BESIDE, -BESIDE)), run.slice(-BESIDE).map(drawn));
  }
  return found;
}

/** @param {any[]} run */
function rest(run) {
  const button = h(
    "button.more",
    { onclick: () => button.replaceWith(...run.map(drawn)) },
    `${plural(run.length, "line")} more`,
  );
  return button;
}

/** What came of tracing the function with these lines. @type {Record<string, string>} */
const PROOFS = { equal: "\u2713 ", different: "\u25b2 ", untried: "" };

/** @param {import("./store.js").PlayStore} store @param {(words: string) => void} say */
export function code(store, say) {
  let wasChecking = false;
  const how = h("span.plain");
  const buttons = h("span.right");
  const text = h("pre.lines", { tabindex: 0, "aria-label": "Code to write" });
  const note = h("p.dim.small.proof");
  follow(
    store,
    () => [store.data.code, store.isLive],
    () => {
      const { code: data } = store.data;
      how.textContent = data.words;
      const copy = copyButton("Copy", () => data.text, { "data-key": "copy" });
      refill(buttons, data.text ? [copy] : []);
      refill(text, folded(data.lines));
      note.className = `dim small proof ${data.proof}`;
      refill(note, [
        // It has the key of the button that was pressed, and so the focus.
        h("span", data.proof ? { "data-key": "check", tabindex: -1 } : {}, PROOFS[data.proof] ?? "", data.note),
        data.check && store.isLive ? check(store, data.check) : null,
      ]);
      if (wasChecking && data.proof) say(data.note);
      wasChecking = data.check?.state === "running";
    },
  );
  return h("section.part.codepart", h("h2.minor.headline", "Code to write ", how, buttons), text, note);
}

/** @param {import("./store.js").PlayStore} store @param {{state: string, words: string}} data */
function check(store, data) {
  const isRunning = data.state === "running";
  return h(
    "button",
    {
      class: `button${isRunning ? " working" : ""}`,
      "data-key": "check",
      "aria-disabled": isRunning ? "true" : null,
      onclick: () => isRunning || store.send({ type: "check" }),
    },
    data.words,
  );
}
