// A row for each group of equal arguments, with a chooser for each dimension; what cannot be stands under its row.
import { h } from "../core/dom.js";
import { plural } from "../core/format.js";
import { dimensions, isWide } from "./dims.js";
import { onChange, refill } from "./keep.js";
import { trouble } from "./mesh.js";

/** Rows that are drawn at once. */
const AT_ONCE = 60;

/** @param {import("./store.js").PlayStore} store @param {import("./chooser.js").Chooser} chooser */
export function groups(store, chooser) {
  const rows = h("div", { class: "groups", role: "list" });
  const more = h("button", { type: "button", class: "more", hidden: true, onclick: () => grow() });
  let shown = AT_ONCE;
  const hint = h("span", { class: "plain" }, "a chooser for each dimension");
  const filter = h("input", {
    class: "field",
    type: "search",
    placeholder: "filter",
    "aria-label": "Show arguments whose name has these words",
    oninput: (/** @type {any} */ event) => {
      store.filter = event.target.value;
      shown = AT_ONCE;
      draw();
    },
  });
  const grow = () => {
    shown += 4 * AT_ONCE;
    draw();
  };
  const found = () => {
    const words = store.filter.toLowerCase().split(/\s+/).filter(Boolean);
    return store.data.groups.filter((/** @type {any} */ one) =>
      words.every((word) => one.search.toLowerCase().includes(word)),
    );
  };
  const draw = onChange(
    () => [
      store.data.groups,
      [...store.loose],
      store.showsFollowers,
      store.data.axes,
      store.wish.specs,
      store.isWaiting,
      [...store.open],
      store.filter,
      shown,
      store.isLive,
    ],
    () => {
      hint.hidden = !store.isLive;
      const all = found();
      const own = all.filter((/** @type {any} */ one) => !isFollower(store, one));
      const followers = all.filter((/** @type {any} */ one) => isFollower(store, one));
      const isOpen = store.showsFollowers || store.filter !== "" || followers.length < 3;
      const rest = Math.max(0, own.length - shown) + (isOpen ? Math.max(0, followers.length - shown) : 0);
      const drawn = (/** @type {any[]} */ some) => some.slice(0, shown).map((one) => group(store, chooser, one, draw));
      refill(rows, [
        drawn(own),
        followers.length >= 3 && !store.filter ? followerRow(store, isOpen, draw) : null,
        isOpen ? drawn(followers) : null,
        all.length
          ? null
          : h("p", { class: "nothing" }, store.filter ? "No argument has these words." : "No arguments."),
      ]);
      more.hidden = !rest;
      more.textContent = plural(rest, "more group");
    },
  );
  filter.hidden = store.data.groups.length < 8;
  store.listen(draw);
  draw();
  return h(
    "section",
    { class: "part" },
    h("h2", { class: "minor headline" }, "Arguments ", hint, h("span", { class: "plain right" }, "bytes per device")),
    h("div", { class: "tools" }, filter),
    rows,
    more,
  );
}

/** Whether a group is split as another is: as an optimizer's state follows its parameter. @param {import("./store.js").PlayStore} store @param {any} one */
function isFollower(store, one) {
  return one.follows && !store.loose.has(one.key);
}

/** One row for all arrays that follow others. @param {import("./store.js").PlayStore} store @param {boolean} isOpen @param {() => void} draw */
function followerRow(store, isOpen, draw) {
  const toggle = () => {
    store.showsFollowers = !store.showsFollowers;
    draw();
  };
  return h(
    "div",
    { class: "group followers", role: "listitem" },
    h(
      "button",
      {
        type: "button",
        class: "opener wide",
        "data-key": "followers",
        "aria-expanded": String(isOpen),
        onclick: toggle,
      },
      isOpen ? "\u25be " : "\u25b8 ",
      store.data.followers,
    ),
  );
}

/**
 * @param {import("./store.js").PlayStore} store
 * @param {import("./chooser.js").Chooser} chooser
 * @param {any} one
 * @param {() => void} draw
 */
function group(store, chooser, one, draw) {
  const isOpen = store.open.has(one.key);
  const toggle = () => {
    if (isOpen) store.open.delete(one.key);
    else store.open.add(one.key);
    draw();
  };
  const opener =
    one.members.length > 1
      ? h(
          "button",
          {
            type: "button",
            class: "opener",
            "data-key": `open:${one.key}`,
            "aria-expanded": String(isOpen),
            "aria-label": `${isOpen ? "Fold" : "Show"} the ${one.members.length + one.more_members} arrays of ${one.name}`,
            onclick: toggle,
          },
          isOpen ? "\u25be" : "\u25b8",
        )
      : h("span", {});
  return h(
    "div",
    { class: `group${one.changed ? " changed" : ""}${isWide(store, one.dims) ? " wide" : ""}`, role: "listitem" },
    opener,
    h(
      "span",
      { class: "name" },
      h("code", { title: one.title }, one.name),
      one.sub ? h("span", { class: "dim small" }, one.sub) : null,
    ),
    control(store, chooser, one, draw),
    h("span", { class: "held" }, one.held, h("span", { class: "dim small" }, one.copies)),
    one.problem ? h("div", { class: "problem" }, trouble(store, one.problem)) : null,
    isOpen ? members(store, chooser, one) : null,
  );
}

/** What is chosen for a group: that it follows another, or its dimensions. @param {import("./store.js").PlayStore} store @param {import("./chooser.js").Chooser} chooser @param {any} one @param {() => void} draw */
function control(store, chooser, one, draw) {
  const follows = isFollower(store, one);
  const toggle = () => {
    if (follows) store.loose.add(one.key);
    else store.loose.delete(one.key);
    if (!one.follows) store.send({ type: "follow", key: one.asks });
    draw();
  };
  const tie = one.can_follow
    ? h(
        "button",
        {
          type: "button",
          class: "tie",
          role: "switch",
          "data-key": `follow:${one.key}`,
          "aria-checked": String(follows),
          disabled: !store.isLive,
          title: follows ? "Cut it loose: give it a spec of its own" : "Let it follow again",
          "aria-label": `${one.name} follows ${one.can_follow}`,
          onclick: toggle,
        },
        follows ? `as ${one.can_follow}` : "on its own",
      )
    : null;
  if (follows) return h("span", { class: "dims" }, tie);
  const dims = one.dims.length
    ? dimensions(store, chooser, { id: one.key, key: one.asks, name: one.name, dims: one.dims, field: "specs" })
    : h("span", { class: "dims dim small" }, one.scalar);
  return tie ? h("span", { class: "stack" }, tie, dims) : dims;
}

/** @param {import("./store.js").PlayStore} store @param {import("./chooser.js").Chooser} chooser @param {any} one */
function members(store, chooser, one) {
  const rest = one.more_members + Math.max(0, one.members.length - AT_ONCE);
  return h(
    "div",
    { class: "members", role: "list", "aria-label": `Arrays of ${one.name}` },
    one.members.slice(0, AT_ONCE).map((/** @type {any} */ own) => member(store, chooser, one, own)),
    rest ? h("p", { class: "dim small" }, plural(rest, "more array")) : null,
  );
}

/**
 * One array of a group, split as that is, or on its own with the way back.
 * @param {import("./store.js").PlayStore} store
 * @param {import("./chooser.js").Chooser} chooser
 * @param {any} one
 * @param {any} own
 */
function member(store, chooser, one, own) {
  const spec = store.spec("specs", one.asks, one.dims);
  const asGroup = one.dims.map((/** @type {any} */ dim, /** @type {number} */ at) => ({
    ...dim,
    axes: dim.axes === null ? null : spec[at],
  }));
  const back = h(
    "button",
    {
      type: "button",
      class: "back",
      "data-key": `back:${own.key}`,
      "aria-label": `${own.name}: as the group`,
      title: "Split it as the others of the group are",
      onclick: () => store.set({ specs: { [own.key]: spec } }),
    },
    "back to the group",
  );
  const isAlone = own.dims !== null && !own.as;
  return h(
    "div",
    { class: `member${own.dims ? " alone" : ""}`, role: "listitem" },
    h(
      "span",
      { class: "name" },
      h("code", {}, own.name),
      h(
        "span",
        { class: "dim small" },
        own.as ? `as ${own.as}` : isAlone ? "on its own" : "",
        isAlone && store.isLive && one.dims.every((/** @type {any} */ dim) => dim.axes !== null) ? [" ", back] : null,
      ),
    ),
    one.dims.length
      ? dimensions(store, chooser, { key: own.key, name: own.name, dims: own.dims ?? asGroup, field: "specs" })
      : null,
  );
}
