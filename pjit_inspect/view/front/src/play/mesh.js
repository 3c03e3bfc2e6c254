// The mesh and the machine: a stepper for each axis, axes that come and go, and what does not divide, with ways out.
import { h } from "../core/dom.js";
import { thousands } from "../core/format.js";
import { axisClass } from "../core/spans.js";
import { follow, refill, said } from "./keep.js";

/** @param {import("./store.js").PlayStore} store @param {import("./chooser.js").Chooser} chooser */
export function mesh(store, chooser) {
  const controls = h("div.meshrow");
  const facts = h("p.dim.small");
  const problem = h("div.problem", { role: "alert", hidden: true });
  let isAdding = false;
  const addButton = () =>
    h(
      "button.button",
      {
        "data-key": "add-axis",
        onclick: () => {
          isAdding = true;
          draw();
          /** @type {HTMLElement | null} */ (controls.querySelector("[data-key='axis-name']"))?.focus();
        },
      },
      "Add axis",
    );
  const finish = () => {
    isAdding = false;
    draw();
    /** @type {HTMLElement | null} */ (controls.querySelector("[data-key='add-axis']"))?.focus();
  };
  const draw = follow(
    store,
    () => [
      store.mesh,
      store.wish.target,
      store.data.target,
      store.data.mesh_problem,
      store.data.mesh,
      isAdding,
      store.isLive,
    ],
    () => {
      const { mesh: sizes, data } = store;
      const steppers = sizes.map(([name, size], at) => [
        at ? h("span.times", { "aria-hidden": "true" }, "\u00d7") : null,
        stepper(store, name, size),
      ]);
      const total = sizes.reduce((product, [, size]) => product * size, 1);
      refill(controls, [
        steppers,
        h("span.product", "= ", h("b", thousands(total)), total === 1 ? " device" : " devices"),
        target(store, chooser),
        store.isLive ? (isAdding ? adder(store, finish) : addButton()) : null,
      ]);
      facts.textContent = data.target.facts;
      facts.hidden = !data.target.facts;
      problem.hidden = !data.mesh_problem;
      refill(problem, data.mesh_problem ? trouble(store, data.mesh_problem) : []);
    },
  );
  return h("section.part", h("h2.minor", "Mesh and target"), controls, facts, problem);
}

/** @param {import("./store.js").PlayStore} store @param {string} name @param {number} size */
function stepper(store, name, size) {
  const { axes } = store.data;
  const set = (/** @type {number} */ to) => {
    if (to >= 1 && Number.isInteger(to) && to !== current())
      store.set({ mesh: store.mesh.map(([own, was]) => [own, own === name ? to : was]) });
  };
  const current = () => store.mesh.find(([own]) => own === name)?.[1] ?? size;
  const half = () => (current() % 2 ? current() - 1 : current() / 2);
  const was = store.data.mesh.find((/** @type {any} */ one) => one.name === name)?.base ?? null;
  const button = (
    /** @type {string} */ key,
    /** @type {string} */ label,
    /** @type {string} */ sign,
    /** @type {() => void} */ onclick,
  ) => h("button", { tabindex: -1, "data-key": `${key}:${name}`, "aria-label": label, onclick }, sign);
  const field = /** @type {HTMLInputElement} */ (
    h("input", {
      "data-key": `axis:${name}`,
      role: "spinbutton",
      inputmode: "numeric",
      value: String(size),
      "aria-label": `devices along ${name}`,
      "aria-valuenow": size,
      "aria-valuemin": 1,
      disabled: !store.isLive,
      onfocus: () => field.select(),
      onchange: () => {
        if (/^\d+$/.test(field.value)) set(Number(field.value));
        // What is no size, or the one it has, stands there no longer.
        field.value = String(current());
      },
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "ArrowUp") set(2 * current());
        else if (event.key === "ArrowDown") set(half());
        else if (event.key === "Enter") field.dispatchEvent(new Event("change"));
        else return;
        event.preventDefault();
      },
    })
  );
  const drop =
    store.isLive && store.mesh.length > 1
      ? h(
          "button.drop",
          {
            "data-key": `drop:${name}`,
            title: `Drop the axis ${name}`,
            "aria-label": `Drop the axis ${name}`,
            onclick: () => store.set({ mesh: store.mesh.filter(([own]) => own !== name) }),
          },
          "drop",
        )
      : null;
  return h(
    "span",
    { class: `axisbox ${axisClass([name], axes)}` },
    h("b.axis", name),
    h(
      "span",
      { class: `stepper${was !== null && was !== size ? " changed" : ""}` },
      store.isLive ? button("less", `Halve ${name}`, "\u2212", () => set(half())) : null,
      field,
      store.isLive ? button("more", `Double ${name}`, "+", () => set(2 * current())) : null,
    ),
    drop,
  );
}

/** @param {import("./store.js").PlayStore} store @param {() => void} done */
function adder(store, done) {
  const name = /** @type {HTMLInputElement} */ (
    h("input.field", {
      "data-key": "axis-name",
      placeholder: "name",
      "aria-label": "Name of the new axis",
      "aria-describedby": "pjit-axis-wrong",
    })
  );
  const wrong = h("span.wrong", { id: "pjit-axis-wrong", role: "alert" });
  const add = () => {
    const word = name.value.trim();
    const why = store.mesh.some(([own]) => own === word)
      ? `the mesh has an axis ${word} already`
      : /^[A-Za-z_]\w*$/.test(word)
        ? ""
        : "a name is letters, digits and _, and begins with no digit";
    wrong.textContent = why ? `\u25b2 ${why}` : "";
    if (why) return name.setAttribute("aria-invalid", "true");
    done();
    return store.set({ mesh: [...store.mesh, [word, 2]] });
  };
  name.addEventListener("keydown", (event) => {
    if (event.key === "Enter") add();
    else if (event.key === "Escape") done();
    else return;
    // The button that gets the focus now is not pressed by the same key.
    event.preventDefault();
    event.stopPropagation();
  });
  return h(
    "span.adder",
    name,
    h("button.button", { onclick: add }, "Add, size 2"),
    h("button.button", { onclick: done }, "Cancel"),
    wrong,
  );
}

/** @param {import("./store.js").PlayStore} store @param {import("./chooser.js").Chooser} chooser */
function target(store, chooser) {
  const { target: now } = store.data;
  const words = store.wish.target ?? now.words;
  if (!store.isLive) return h("span.targetchip", words);
  /** @type {HTMLElement} */
  const button = h(
    "button.targetchip",
    {
      "data-key": "target",
      "aria-haspopup": "listbox",
      "aria-expanded": "false",
      onclick: () =>
        chooser.open(
          button,
          "the machine it is for",
          now.options,
          now.options.findIndex((/** @type {any} */ one) => one.value === now.value),
          [],
          (option) => store.set({ target: option.value }),
        ),
    },
    words,
    " \u25be",
  );
  return button;
}

/**
 * What cannot be, and what to do: each remedy is a question of its own.
 * @param {import("./store.js").PlayStore} store @param {{words: any, remedies: {words: string, set: any}[]}} problem
 */
export function trouble(store, problem) {
  return [
    h("p", h("span.mark", "\u25b2 "), said(problem.words, store.data.axes)),
    problem.remedies.length
      ? h(
          "div.chips",
          problem.remedies.map((one) =>
            store.isLive && one.set
              ? h("button.chip", { "data-key": `way:${one.words}`, onclick: () => store.set(one.set) }, one.words)
              : h("span.chip", one.words),
          ),
        )
      : null,
  ];
}
