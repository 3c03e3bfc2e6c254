// What selecting a kernel of a box means everywhere else, and what the selection means in a box.
import { intoView } from "../../core/options.js";
import { entityOf } from "../../core/store.js";

/**
 * Selects what a kernel is in the lists, or else its line of source.
 * @param {import("../../core/store.js").Store} store @param {import("./data.js").BoxKernel} one
 */
export function selectKernel(store, one) {
  const { data } = store;
  const row = one.collective < 0 ? -1 : (data?.column("graph.collective.row")[one.collective] ?? -1);
  if (row >= 0) store.select({ type: "collective", row });
  else if (one.entity >= 0) store.select(entityOf(one.entity));
  else if (one.spot >= 0) store.select({ type: "line", row: one.spot });
}

/**
 * Whether the selection is this kernel, or a group it is one of.
 * @param {import("../../core/store.js").Store} store @param {import("./data.js").BoxKernel} one
 */
export function isSelected(store, one) {
  const { listed: selection } = store;
  if (!selection || selection.type === "array") return false;
  if (selection.type === "line") return one.entity < 0 && one.collective < 0 && one.spot === selection.row;
  if (selection.type === "collective" && one.collective >= 0)
    return store.data?.column("graph.collective.row")[one.collective] === selection.row;
  return one.entity === 2 * selection.row + Number(selection.type === "kernel");
}

/** Scrolls only inside the pane. @param {Element} element */
export function reveal(element) {
  const box = element.closest(".boxbody");
  if (box) intoView(box, element, 8);
}
