// The lines to write for this variant, those that changed marked; to be copied, and checked.
import { copyText } from "../core/copy.js";
import { h } from "../core/dom.js";
import { onChange, refill } from "./keep.js";

/** @param {import("./store.js").PlayStore} store */
export function code(store) {
  const how = h("span", { class: "plain" });
  const buttons = h("span", { class: "right" });
  const text = h("pre", { class: "lines", tabindex: 0, "aria-label": "Code to write" });
  const note = h("p", { class: "dim small proof" });
  const draw = onChange(
    () => [store.data.code, store.isLive],
    () => {
      const { code: data } = store.data;
      how.textContent = data.words;
      const copy = h(
        "button",
        {
          type: "button",
          class: "button",
          "data-key": "copy",
          onclick: () => copyText(/** @type {any} */ (null), copy, data.text),
        },
        "Copy",
      );
      refill(buttons, data.text ? [copy] : []);
      refill(
        text,
        data.lines.map((/** @type {any} */ line) =>
          h(
            "span",
            { class: line.changed ? "line changed" : "line" },
            line.changed ? h("span", { class: "offscreen" }, "changed: ") : null,
            line.text || " ",
            line.changed ? h("span", { class: "dim" }, line.was ? `  # was ${line.was}` : "  # new") : null,
          ),
        ),
      );
      refill(note, [
        data.note,
        data.can_check && store.isLive
          ? h(
              "button",
              { type: "button", class: "button", "data-key": "check", onclick: () => store.send({ type: "check" }) },
              data.can_check,
            )
          : null,
      ]);
    },
  );
  store.listen(draw);
  draw();
  return h(
    "section",
    { class: "part codepart" },
    h("h2", { class: "minor headline" }, "Code to write ", how, buttons),
    text,
    note,
  );
}
