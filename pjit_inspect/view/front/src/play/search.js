// A search over layouts: its goal and its seconds, how far it is, and a button that stops it with what it has.
import { choice, h } from "../core/dom.js";
import { follow, refill } from "./keep.js";

/** @param {import("./store.js").PlayStore} store */
export function search(store) {
  const box = h("div.search", { role: "group", "aria-label": "Search" });
  let [goal, seconds] = ["bytes", 30];
  let isStopping = false;
  const draw = follow(
    store,
    () => [store.data.search, store.isLive, isStopping],
    () => {
      const { search: data } = store.data;
      if (data?.state !== "running") isStopping = false;
      if (!store.isLive || !data) return refill(box, data?.words ? [h("span.dim", data.words)] : []);
      if (data.state === "running")
        return refill(box, [
          h("progress", { max: 1, value: data.share, "aria-label": "Search" }),
          h("span.gauged", data.words),
          h(
            "button.button",
            {
              "data-key": "search",
              "aria-disabled": isStopping ? "true" : null,
              onclick: () => {
                if (isStopping) return;
                isStopping = true;
                store.send({ type: "stop_search" });
                draw();
              },
            },
            isStopping ? "Stopping" : "Stop",
          ),
        ]);
      /** @type {[string, string][]} */
      const all = ["bytes", "memory", "time"].map((one) => [one, one]);
      const goals = choice("What the search makes less", all, goal, (one) => (goal = one), { "data-key": "goal" });
      /** @type {[number, string][]} */
      const times = [10, 30, 60, 120].map((one) => [one, `${one} s`]);
      const take = (/** @type {string} */ one) => (seconds = Number(one));
      const budget = choice("How long it searches", times, seconds, take, { "data-key": "budget" });
      const start = h(
        "button.button",
        { "data-key": "search", onclick: () => store.send({ type: "search", goal, budget_s: seconds }) },
        "Search",
      );
      return refill(box, [start, " for less ", goals, " in ", budget, data.words ? h("span.dim", data.words) : null]);
    },
  );
  return box;
}
