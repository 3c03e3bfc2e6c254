// The deep link: `#sel=all-reduce.125&view=text&list=arrays&wide`. It changes with the selection and is followed on
// load.

/** @param {import("./store.js").Store} store */
export function followHash(store) {
  const views = [
    "graph",
    "text",
    "traffic",
    ...(store.advice ? ["advice"] : []),
    ...(store.first.has_time ? ["time"] : []),
    ...(store.first.has_memory ? ["memory"] : []),
  ];
  const read = () => {
    const parts = new URLSearchParams(location.hash.slice(1));
    /** @type {any} */
    const changes = {};
    if (views.includes(parts.get("view") ?? "")) changes.centre = parts.get("view");
    if (["collectives", "arrays", "kernels"].includes(parts.get("list") ?? "")) changes.list = parts.get("list");
    if (["list", "details", "centre", "mesh"].includes(parts.get("pane") ?? "")) changes.pane = parts.get("pane");
    if (parts.has("wide")) changes.wide = true;
    if (parts.has("theme")) document.documentElement.dataset.theme = parts.get("theme") ?? "";
    store.set(changes);
    const name = parts.get("sel");
    // A link may be older than the program: what it names can have another name now, or be gone.
    if (name && name !== store.selectionName()) store.set({ stale: store.selectName(name) ? "" : name });
  };
  read();
  addEventListener("hashchange", read);
  const write = () => {
    const parts = new URLSearchParams(location.hash.slice(1));
    if (!store.state.stale) parts.set("sel", store.selectionName());
    parts.set("view", store.state.centre);
    if (store.state.wide) parts.set("wide", "");
    else parts.delete("wide");
    try {
      history.replaceState(null, "", `#${parts}`);
    } catch {
      // a sandboxed frame has no address of its own
    }
  };
  let waiting = 0;
  store.listen((changed) => {
    if (!["selection", "centre", "wide"].some((key) => changed.has(key))) return;
    clearTimeout(waiting); // the browser works on an address for milliseconds: once, when the reader rests
    waiting = setTimeout(write, 120);
  });
}
