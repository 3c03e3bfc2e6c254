// A menu of pictures: each part of the page that is in view, and all of it, as a file. Not its job: making one
// (`core/picture.js`).
import { h } from "../core/dom.js";
import { popover } from "../core/popover.js";
import { asPng, pictureOf, saveFile } from "../core/picture.js";

/** What there may be a picture of, and where it is on the page; the graph tells its own. @type {[string, string][]} */
const PARTS = [
  ["All", ".frame"],
  ["Graph", ".graph"],
  ["Time", ".timepane"],
  ["Memory", ".mempane"],
  ["Schedule", ".schedule"],
  ["Linked text", ".texts"],
  ["Traffic", ".traffic"],
  ["Mesh", ".mesh"],
  ["Totals", ".totals"],
  ["List", ".list"],
  ["Details", ".details"],
  ["Advice", ".advice"],
];
const FORMS = ["svg", "png"];

/** @param {import("../core/store.js").Store} store */
export function pictureMenu(store) {
  const menu = h("div.menu", { role: "group", "aria-label": "Pictures to save" });
  const said = h("span.offscreen", { role: "status" });
  const { button: open, show } = popover(
    store,
    { title: "Save a picture of what is shown" },
    "Picture \u25be",
    menu,
    () => menu.replaceChildren(...partsInView(box).map(([name, part]) => entry(name, part))),
  );
  const box = h("span.pop.pictures", open, menu, said);
  const entry = (/** @type {string} */ name, /** @type {Element} */ part) =>
    h(
      "div.pictureof",
      h("span", name),
      FORMS.map((form) =>
        h(
          "button.button",
          {
            "aria-label": `${name} as ${form.toUpperCase()}`,
            onclick: async () => {
              show(false); // it is no part of the picture
              open.focus({ preventScroll: true });
              said.textContent = await save(store, name, part, form);
            },
          },
          form.toUpperCase(),
        ),
      ),
    );
  box.addEventListener("focusout", (event) => {
    const to = /** @type {Node | null} */ (event.relatedTarget);
    if (to && !box.contains(to)) show(false);
  });
  return box;
}

/** @param {Element} near @returns {[string, Element][]} */
function partsInView(near) {
  const page = near.closest(".pjit-inspector");
  /** @type {[string, Element][]} */
  const found = [];
  for (const [name, selector] of PARTS) {
    const part = page?.querySelector(selector);
    if (part?.clientWidth && part.clientHeight) found.push([name, part]);
  }
  return found;
}

/**
 * Saves a part; returns what is said of it.
 * @param {import("../core/store.js").Store} store @param {string} name @param {Element} part @param {string} form
 */
async function save(store, name, part, form) {
  const { name: program } = store.first;
  const title = `${program}: ${name.toLowerCase()}`;
  try {
    const text = (name === "Graph" && store.graphPicture(title)) || pictureOf(part, title);
    const blob = form === "svg" ? new Blob([text], { type: "image/svg+xml" }) : await asPng(text);
    const file = `${program}_${name.toLowerCase()}`.replace(/[^A-Za-z0-9_.-]+/g, "_").slice(0, 100);
    saveFile(blob, `${file}.${form}`);
    return `Saved ${file}.${form}`;
  } catch (error) {
    return `The picture could not be made: ${error}`;
  }
}
