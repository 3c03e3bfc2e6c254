// A device that the reader follows: its pieces are marked in every picture of an array, and a click on a piece chooses it.
import { onceAFrame } from "../core/dom.js";
import { holders } from "./shard.js";

/** @param {import("../core/store.js").Store} store @param {HTMLElement} root */
export function followDevice(store, root) {
  const ids = () => store.data?.column("mesh.ids") ?? [];
  const mark = onceAFrame(() => {
    const id = store.state.device === null ? null : ids()[store.state.device];
    for (const ring of root.querySelectorAll(".shards .ring"))
      ring.classList.toggle("on", id !== null && Boolean(holders.get(ring)?.includes(id)));
  });
  store.listen(mark);
  root.addEventListener("click", (event) => {
    const devices = holders.get(/** @type {Element} */ (event.target));
    if (!devices) return;
    // Again on the same piece: the next device that holds it, after the last none.
    const at = store.followed === null ? -1 : devices.indexOf(ids()[store.followed]);
    const next = devices[at + 1];
    store.followed = next === undefined ? null : [...ids()].indexOf(next);
    store.set({ device: store.followed });
  });
}
