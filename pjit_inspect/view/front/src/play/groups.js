// A row for each group of equal arguments, with a chooser for each dimension; what cannot be stands under its row.
import { h } from "../core/dom.js";
import { plural } from "../core/format.js";
import { dimensions } from "./dims.js";
import { follow, refill } from "./keep.js";
import { AT_ONCE, back, growing, row, tie } from "./rows.js";

/** @typedef {import("./store.js").PlayStore} PlayStore @typedef {import("./chooser.js").Chooser} Chooser */

/** @param {PlayStore} store @param {Chooser} chooser */
export function groups(store, chooser) {
  const rows = h("div.groups", { role: "list" });
  const more = growing(() => draw());
  const hint = h("span.plain", "a chooser for each dimension");
  const filter = h("input.field", {
    type: "search",
    placeholder: "filter",
    "aria-label": "Show arguments whose name has these words",
    oninput: (/** @type {any} */ event) => {
      store.filter = event.target.value;
      more.shown = AT_ONCE;
      draw();
    },
  });
  const found = () => {
    const words = store.filter.toLowerCase().split(/\s+/).filter(Boolean);
    return store.data.groups.filter((/** @type {any} */ one) =>
      words.every((word) => one.search.toLowerCase().includes(word)),
    );
  };
  const draw = follow(
    store,
    () => [
      [store.data.groups, store.data.axes, store.wish.specs, store.isWaiting, store.isLive, more.shown],
      [[...store.loose], store.showsFollowers, [...store.open], store.filter],
    ],
    (again) => {
      hint.hidden = !store.isLive;
      const all = found();
      const own = all.filter((/** @type {any} */ one) => !isFollower(store, one));
      const followers = all.filter((/** @type {any} */ one) => isFollower(store, one));
      const isOpen = store.showsFollowers || store.filter !== "" || followers.length < 3;
      const hidden = (/** @type {any[]} */ some) => Math.max(0, some.length - more.shown);
      const drawn = (/** @type {any[]} */ some) =>
        some.slice(0, more.shown).map((one) => group(store, chooser, one, again));
      refill(rows, [
        drawn(own),
        followers.length >= 3 && !store.filter ? followerRow(store, isOpen, again) : null,
        isOpen ? drawn(followers) : null,
        all.length ? null : h("p.nothing", store.filter ? "No argument has these words." : "No arguments."),
      ]);
      more.tell(hidden(own) + (isOpen ? hidden(followers) : 0));
    },
  );
  filter.hidden = store.data.groups.length < 8;
  const head = h("h2.minor.headline", "Arguments ", hint, h("span.plain.right", "bytes per device"));
  return h("section.part", head, h("div.tools", filter), rows, more.button);
}

/** Whether a group is split as another is: as an optimizer's state follows its parameter. @param {PlayStore} store @param {any} one */
const isFollower = (store, one) => one.follows && !store.loose.has(one.key);

/** Takes a key out of a set, or puts it in. @param {Set<string>} keys @param {string} key */
const flip = (keys, key) => keys.delete(key) || keys.add(key);

/** One row for all arrays that follow others. @param {PlayStore} store @param {boolean} isOpen @param {() => void} draw */
function followerRow(store, isOpen, draw) {
  const onclick = () => {
    store.showsFollowers = !store.showsFollowers;
    draw();
  };
  const props = { "data-key": "followers", "aria-expanded": String(isOpen), onclick };
  const words = [isOpen ? "\u25be " : "\u25b8 ", store.data.followers];
  return h("div.group.followers", { role: "listitem" }, h("button.opener.wide", props, words));
}

/** @param {PlayStore} store @param {Chooser} chooser @param {any} one @param {() => void} draw */
function group(store, chooser, one, draw) {
  const isOpen = store.open.has(one.key);
  const props = {
    "data-key": `open:${one.key}`,
    "aria-expanded": String(isOpen),
    "aria-label": `${isOpen ? "Fold" : "Show"} the ${one.members.length + one.more_members} arrays of ${one.name}`,
    onclick: () => {
      flip(store.open, one.key);
      draw();
    },
  };
  return row(store, one, {
    opener: one.members.length > 1 ? h("button.opener", props, isOpen ? "\u25be" : "\u25b8") : h("span"),
    name: [h("code", { title: one.title }, one.name), one.sub ? h("span.dim.small", one.sub) : null],
    control: control(store, chooser, one, draw),
    held: h("span.held", one.held, h("span.dim.small", one.copies)),
    below: isOpen ? members(store, chooser, one) : null,
  });
}

/** What is chosen for a group: that it follows another, or its dimensions. @param {PlayStore} store @param {Chooser} chooser @param {any} one @param {() => void} draw */
function control(store, chooser, one, draw) {
  const follows = isFollower(store, one);
  const switched = one.can_follow
    ? tie(store, follows, follows ? `as ${one.can_follow}` : "on its own", {
        "data-key": `follow:${one.key}`,
        title: follows ? "Cut it loose: give it a spec of its own" : "Let it follow again",
        "aria-label": `${one.name} follows ${one.can_follow}`,
        onclick: () => {
          flip(store.loose, one.key);
          if (!one.follows) store.send({ type: "follow", key: one.asks });
          draw();
        },
      })
    : null;
  if (follows) return h("span.dims", switched);
  const dims = one.dims.length
    ? dimensions(store, chooser, { id: one.key, key: one.asks, name: one.name, dims: one.dims, field: "specs" })
    : h("span.dims.dim.small", one.scalar);
  return switched ? h("span.stack", switched, dims) : dims;
}

/** @param {PlayStore} store @param {Chooser} chooser @param {any} one */
function members(store, chooser, one) {
  const rest = one.more_members + Math.max(0, one.members.length - AT_ONCE);
  return h(
    "div.members",
    { role: "list", "aria-label": `Arrays of ${one.name}` },
    one.members.slice(0, AT_ONCE).map((/** @type {any} */ own) => member(store, chooser, one, own)),
    rest ? h("p.dim.small", plural(rest, "more array")) : null,
  );
}

/** One array of a group, split as that is, or on its own with the way back. @param {PlayStore} store @param {Chooser} chooser @param {any} one @param {any} own */
function member(store, chooser, one, own) {
  const spec = store.spec("specs", one.asks, one.dims);
  const asGroup = one.dims.map((/** @type {any} */ dim, /** @type {number} */ at) => ({
    ...dim,
    axes: dim.axes === null ? null : spec[at],
  }));
  const home = back("back to the group", {
    "data-key": `back:${own.key}`,
    "aria-label": `${own.name}: as the group`,
    title: "Split it as the others of the group are",
    onclick: () => store.set({ specs: { [own.key]: spec } }),
  });
  const isAlone = own.dims !== null && !own.as;
  const hasWay = isAlone && store.isLive && one.dims.every((/** @type {any} */ dim) => dim.axes !== null);
  const how = h("span.dim.small", own.as ? `as ${own.as}` : isAlone ? "on its own" : "", hasWay ? [" ", home] : null);
  return h(
    "div",
    { class: `member${own.dims ? " alone" : ""}`, role: "listitem" },
    h("span.name", h("code", own.name), how),
    one.dims.length
      ? dimensions(store, chooser, { key: own.key, name: own.name, dims: own.dims ?? asGroup, field: "specs" })
      : null,
  );
}
