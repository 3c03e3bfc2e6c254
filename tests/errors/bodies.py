"""Programs that JAX refuses for what a function of the user's returns, calls or took: loops, branches, callbacks, donation."""

# ruff: noqa: E501

from __future__ import annotations

from .case import Case


def loop(name: str, body: str, call: str, **more: object) -> Case:
    """A loop's body, and the loop."""
    return Case(name=name, code=f"{body}\nresult = {call}\n", kind=str(more.pop("kind", "loop structure")), **more)  # type: ignore[arg-type]


STRUCTURES = (
    loop("a step that counts anew", "def step(state, x):\n    new = {'w': state['w'] + x, 'n': 1}\n    return new, x", "lax.scan(step, {'w': 0.}, np.ones(3))[0]['w']",
         says=("the body of `scan` must return its carry as the same tree: `state` comes out with `n`, which it went in without",), want="3.",
         by_hand={"leave `n` out of what `step` returns for `state`": ((", 'n': 1", ""),), "start `state` with `n`, too": (("{'w': 0.}", "{'w': 0., 'n': 0}"),)}),
    loop("momentum that is lost", "def update(opt, g):\n    return {'mu': opt['mu'] + g}, None", "lax.scan(update, {'mu': 0., 'nu': {'a': 0., 'b': 0.}}, np.ones(3))[0]['mu']",
         says=("`opt` comes out without `nu`, which it went in with",), want="3.",
         by_hand={"let `update` return `nu` in `opt`, too": (("+ g}", "+ g, 'nu': opt['nu']}"),)}),
    loop("a key that is renamed", "start = {'a': 0., 'b': 1.}\ndef body(c, x):\n    return {'a': c['a'] + x, 'c': c['b']}, None", "lax.scan(body, start, np.ones(3))[0]['a']",
         says=("`c` comes out without `b`, which it went in with and with `c`, which it went in without",), want="3.",
         by_hand={"let `body` return `b` in `c`, too": (("'c': c['b']", "'b': c['b']"),), "leave `c` out": (("'c': c['b']", "'b': c['b']"),), "start `c` with `c`, too": (("'b': 1.}", "'c': 1.}"), ("c['b']", "c['c']"))}),
    loop("a key that is renamed and one more", "start = {'a': 0., 'b': 1.}\ndef body(c, x):\n    return {'a': c['a'] + x, 'y': x, 'z': x}, None", "lax.scan(body, start, np.ones(3))[0]['a']",
         says=("`c` comes out without `b`, which it went in with and with `y` and `z`, which it went in without",), want="3.",
         by_hand={"let `body` return `b`": ((", 'y': x, 'z': x", ", 'b': c['b']"),), "leave `y` and `z` out": ((", 'y': x, 'z': x", ", 'b': c['b']"),), "start `c` with `y` and `z`, too": (("'b': 1.}", "'y': 1., 'z': 1.}"),)}),
    loop("a pair of which one comes back", "def body(c, x):\n    total, count = c\n    return total + x, None", "lax.scan(body, (0., 0), np.ones(3))[0][0]",
         says=("`c` goes in as a tuple and comes out as one array",), want="3.", by_hand={"let `body` return `c` as a tuple": (("return total + x,", "return (total + x, count),"),)}),
    loop("a pair of which three come back", "def body(c, x):\n    total, count = c\n    return (total + x, count, x), None", "lax.scan(body, (0., 0), np.ones(3))[0][0]",
         says=("`c` goes in as a tuple of 2 and comes out as a tuple of 3",), want="3.", by_hand={"let `body` return 2 in `c`": ((", count, x)", ", count)"),)}),
    loop("a list that comes back for a pair", "def body(c, x):\n    c = [c[0] + x, c[1]]\n    return c, None", "lax.scan(body, (0., 0), np.ones(3))[0][0]",
         says=("`c` goes in as a tuple and comes out as a list",), want="3.", by_hand={"let `body` return `c` as a tuple": (("return c,", "return tuple(c),"),)}),
    loop("a place that starts empty", "def body(c, x):\n    return {'best': x, 'last': c['best']}, None", "lax.scan(body, {'best': 0., 'last': None}, np.ones(3))[0]['best']",
         says=("`c['last']` goes in as None and comes out as one array",), want="1.", by_hand={"start `c['last']` with an array": (("None}, np", "0.}, np"),)}),
    loop("a body that returns nothing", "def body(i, c):\n    c = c + i", "lax.fori_loop(0, 3, body, 1.)",
         says=("the body of `fori_loop` must return its carry as the same tree: `c` goes in as one array and comes out as None",), want="4.",
         by_hand={"let `body` return an array for `c`": (("    c = c + i", "    return c + i"),)}),
    loop("a body that returns its counter", "def body(i, total):\n    return total + i, i", "jax.jit(lambda n: lax.fori_loop(0, n, body, 1.))(3)",
         says=("`total` goes in as one array and comes out as a tuple",), want="4.", by_hand={"let `body` return one array for `total`": (("+ i, i", "+ i"),)}),
    loop("a state that comes back as a tuple", "from typing import NamedTuple\nclass State(NamedTuple):\n    w: object\n    m: object\ndef step(s, x):\n    return (s.w + x, s.m), x", "lax.scan(step, State(0., 2.), np.ones(3))[0].w",
         says=("`s` goes in as an object of the type `State` and comes out as a tuple",), want="3.",
         by_hand={"let `step` return an object of the type `State` for `s`": (("(s.w + x, s.m)", "State(s.w + x, s.m)"),)}),
    loop("static fields that change", "import dataclasses\nfrom functools import partial\n@partial(jax.tree_util.register_dataclass, data_fields=['w'], meta_fields=['n'])\n@dataclasses.dataclass\nclass State:\n    w: object\n    n: int\ndef step(s, x):\n    return State(s.w + x, s.n + 1), x",
         "lax.scan(step, State(0., 0), np.ones(3))[0].w", says=("`s` goes in and comes out as an object of the type `State`, but what is static in it differs",), want="3.",
         by_hand={"let `step` return `s` with what is static in it unchanged": (("s.n + 1", "s.n"),)}),
    loop("a loop whose state is left behind", "def body(c):\n    i, x = c\n    return i + 1", "lax.while_loop(lambda c: c[0] < 3, body, (0, 1.))[0]",
         says=("the body of `while_loop` must return its carry as the same tree: `c` goes in as a tuple and comes out as one array",), want="3", by_hand={"let `body` return `c` as a tuple": (("return i + 1", "return i + 1, x"),)}),
    loop("a method whose state is left behind", "class Net:\n    def cell(self, carry, x):\n        h, c = carry\n        return (h + x,), h\n    def run(self, xs):\n        return lax.scan(self.cell, (0., 0.), xs)[0]", "Net().run(np.ones(3))[0]",
         says=("`carry` goes in as a tuple of 2 and comes out as a tuple of 1",), want="3.", by_hand={"let `cell` return 2 in `carry`": (("(h + x,)", "(h + x, c)"),)}),
    loop("a scan without a second result", "def body(c, x):\n    return c + x", "lax.scan(body, 0., np.ones(3))[0]", says=("the body of `scan` must return a pair",), want="3.",
         by_hand={"let `body` return the carry and `None`": (("return c + x", "return c + x, None"),)}),
    loop("a number for a truth", "def more(c):\n    return 3 - c", "lax.while_loop(more, lambda c: c + 1, 0)", says=("the condition of `while_loop` must give one truth, and gives `int32[]`",), want="3",
         by_hand={"let `more` compare, as with `!= 0`": (("3 - c", "(3 - c) != 0"),)}),
    loop("a truth for each", "def more(c):\n    return c < 3", "lax.while_loop(more, lambda c: c + 1, np.array([0, 1]))", says=("gives `bool[2]`",), want="np.array([3, 4])",
         by_hand={"let `more` return `jnp.all` or `jnp.any` of it": (("return c < 3", "return jnp.any(c < np.array([3, 3]))"),)}),
    loop("rows of two lengths", "xs, ys = np.ones(3), np.ones(4)", "lax.scan(lambda c, xy: (c + xy[0] * xy[1], None), 0., (xs, ys))[0]", says=("must have one length along dimension 0, and has 3, 4",), want="3.",
         by_hand={"take the first 3 of each": (("(xs, ys)", "(xs, ys[:3])"),)}, since=(0, 8, 0)),
    loop("a length that is not that of the rows", "xs = np.ones(3)", "lax.scan(lambda c, x: (c + x, None), 0., xs, length=4)[0]", says=("`length` is 4, but what `scan` goes over has 3 along dimension 0",), want="3.",
         by_hand={"leave `length` out": ((", length=4", ""),)}),
    loop("a branch with one more key", "def train(x):\n    return {'y': x, 'loss': x * 2}\ndef test(x):\n    return {'y': x}", "lax.cond(True, train, test, 1.)['y']", kind="branch structure",
         says=("the branches of `cond` must return the same tree: `train` has `loss`, which `test` has not",), want="1.",
         by_hand={"let `test` return `loss`, too": (("{'y': x}", "{'y': x, 'loss': 0.}"),), "leave `loss` out of what `train` returns": ((", 'loss': x * 2", ""),)}),
    loop("a branch that returns a pair", "", "lax.cond(True, lambda x: (x, x), lambda x: x, 1.)[0]", kind="branch structure",
         says=("`true_fun` gives a tuple, `false_fun` gives one array",), want="1.", by_hand={"let `false_fun` return a tuple": (("lambda x: x, 1.", "lambda x: (x, x), 1."),)}),
    loop("a branch that returns nothing", "def keep(x):\n    return x\ndef warn(x):\n    jax.debug.print('{}', x)", "lax.cond(True, keep, warn, 1.)", kind="branch structure",
         says=("`keep` gives one array, `warn` gives None",), want="1.", by_hand={"let `warn` return a value": (("print('{}', x)", "print('{}', x)\n    return x"),)}),
    loop("branches of two lengths deep inside", "def one(x):\n    return {'a': x, 'b': (x, x)}\ndef two(x):\n    return {'a': x, 'b': (x,)}", "lax.switch(0, [one, one, two], 1.)['a']", kind="branch structure",
         says=("`one` gives a tuple of 2 at `['b']`, `two` gives a tuple of 1",), want="1.", by_hand={"let both return as many at `['b']`": (("(x,)}", "(x, 0.)}"),)}),
    loop("branches with other static fields", "import dataclasses\n@partial(jax.tree_util.register_dataclass, data_fields=['w'], meta_fields=['n'])\n@dataclasses.dataclass\nclass State:\n    w: object\n    n: int\ndef one(x):\n    return State(x, 1)\ndef two(x):\n    return State(x, 2)",
         "lax.cond(True, one, two, 1.).w", kind="branch structure", says=("`one` and `two` give an object of the type `State`, but what is static in it differs",), want="1.",
         by_hand={"let both return the same static parts": (("State(x, 2)", "State(x, 1)"),)}),
    loop("a predicate for each element", "x = np.array([1., -1.])", "lax.cond(x > 0, lambda x: x, lambda x: -x, x)", kind="branch structure", says=("`x > 0` has the shape [2], and `cond` takes one truth for all",),
         by_hand={"use `jnp.where`": (("lax.cond(x > 0, lambda x: x, lambda x: -x, x)", "jnp.where(x > 0, x, -x)"),), "give `cond` the `jnp.any`": (("(x > 0,", "(jnp.any(x > 0),"),)}),
)  # fmt: skip

SIN = "jax.ShapeDtypeStruct((8, 8), np.float32)"
CALLBACKS = (
    Case(name="a callback that declares the global shape", kind="callback", code=f"""\
f = jax.jit(jax.shard_map(lambda x: jax.pure_callback(np.sin, {SIN}, x), mesh=MESH, in_specs=P('data'), out_specs=P('data')))
result = np.asarray(f(counted(8, 8, spec=P('data'), mesh=MESH)))
""", says=("the function that the callback calls has the shape `[4,8]`, but `[8,8]` was declared",), want="np.sin(np.arange(1., 65.).reshape(8, 8))",
         by_hand={"declare `[4,8]`": (("((8, 8), np", "((4, 8), np"),)}),
    Case(name="a callback that sums", kind="callback", code=f"result = np.asarray(jax.jit(lambda x: jax.pure_callback(np.sum, {SIN}, x))(np.ones((8, 8), np.float32)))\n",
         says=("has the shape `[]`, but `[8,8]` was declared",), want="64.", by_hand={"declare `[]`": (("((8, 8), np.float32), x", "((), np.float32), x"),)}),
    Case(name="a callback with two results", kind="callback", code=f"result = np.asarray(jax.jit(lambda x: jax.pure_callback(lambda a: (a, a), {SIN}, x))(np.ones((8, 8), np.float32)))\n",
         says=("the function that the callback calls returned 2 arrays, and 1 array was declared",), by_hand={"declare 2 arrays": ((SIN, f"({SIN},) * 2"),)}),
    Case(name="a callback that raises", kind="callback", code=f"def host(a):\n    raise ValueError('no data')\nresult = np.asarray(jax.jit(lambda x: jax.pure_callback(host, {SIN}, x))(np.ones((8, 8), np.float32)))\n",
         says=("the program called `host` in Python, which raised `ValueError: no data` in line 2",), fits=()),
    Case(name="a callback on a sharding", kind="callback", code=f"f = jax.jit(lambda x: jax.pure_callback(np.sin, {SIN}, x, sharding=NamedSharding(MESH, P('data'))))\nresult = f(counted(8, 8, spec=P('data'), mesh=MESH))\n",
         says=("`sharding` of a callback says which device calls, and got a `NamedSharding`",), want="np.sin(np.arange(1., 65.).reshape(8, 8))",
         by_hand={"leave `sharding` out": ((", sharding=NamedSharding(MESH, P('data'))", ""),)}),
    Case(name="a gradient through a callback", kind="callback", code="def f(x):\n    return (jax.pure_callback(np.sin, jax.ShapeDtypeStruct((3,), np.float32), x) * x).sum()\nresult = jax.grad(f)(np.zeros(3, np.float32))\n",
         says=("`pure_callback` calls Python, whose gradient JAX does not know",), want="np.zeros(3)",
         by_hand={"call it in a function with": (("def f(x):\n    return (jax.pure_callback(np.sin, jax.ShapeDtypeStruct((3,), np.float32), x) * x)", "@jax.custom_jvp\ndef sin(x):\n    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((3,), np.float32), x)\n@sin.defjvp\ndef _(p, t):\n    return sin(*p), jnp.cos(*p) * t[0]\ndef f(x):\n    return (sin(x) * x)"),),
                  "give `pure_callback` the `jax.lax.stop_gradient`": (("np.float32), x) * x", "np.float32), lax.stop_gradient(x)) * x"),)}),
    Case(name="a gradient of what logs", kind="callback", code="def f(x):\n    io_callback(lambda a: None, None, x)\n    return x.sum()\nresult = jax.grad(f)(np.zeros(3, np.float32))\n",
         says=("`io_callback` calls Python",), want="np.ones(3)", by_hand={"give `io_callback` the": (("None, x)", "None, lax.stop_gradient(x))"),)}),
    Case(name="an ordered callback for each element", kind="callback", code="def f(x):\n    io_callback(lambda a: None, None, x, ordered=True)\n    return x\nresult = jax.vmap(f)(np.ones(3))\n",
         says=("`io_callback` with `ordered=True` is under `vmap`",), want="np.ones(3)", fits=("write `ordered=False`", "use `jax.lax.map`"), by_hand={"write `ordered=False`": (("ordered=True", "ordered=False"),), "use `jax.lax.map`": (("jax.vmap(f)(np", "lax.map(f, (np"), ("np.ones(3))", "np.ones(3)))"))}),
    Case(name="a callback for each element", kind="callback", code="f = lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), np.float32), x)\nresult = jax.vmap(f)(np.zeros(3, np.float32))\n",
         says=("`pure_callback` is under `vmap` and does not say how it takes a batch",), want="np.zeros(3)",
         by_hand={"give it `vmap_method='sequential'`": (("32), x)", "32), x, vmap_method='sequential')"),), "give it `vmap_method='expand_dims'`": (("32), x)", "32), x, vmap_method='expand_dims')"),)}),
    Case(name="a callback that is computed again", kind="callback", code="@jax.checkpoint\ndef f(x):\n    io_callback(lambda: None, None)\n    return (x ** 2).sum()\nresult = jax.grad(f)(np.ones(3))\n",
         says=("`io_callback` is within `jax.checkpoint`",), want="np.full(3, 2.)", by_hand={"call it outside": (("    io_callback(lambda: None, None)\n", ""), ("result", "io_callback(lambda: None, None)\nresult"))}),
    Case(name="an ordered callback with a result", kind="ordered effects", until=(0, 10, 0), code=f"f = jax.jit(lambda x: io_callback(np.sin, {SIN}, x, ordered=True))\nresult = f(counted(8, 8, spec=P('data'), mesh=MESH))\n",
         says=("has `ordered=True` and a result, which XLA cannot place",), fits=("write `ordered=False`",), by_hand={"write `ordered=False`": (("ordered=True", "ordered=False"),)}, want="np.sin(np.arange(1., 65.).reshape(8, 8))"),
    Case(name="an ordered print in a loop", kind="ordered effects", code="""\
@jax.jit
def run(x):
    def body(c, _):
        jax.debug.callback(print, c.sum(), ordered=True)
        return c * 2, None
    return lax.scan(body, x, None, length=2)[0]
x = counted(8, 8, spec=P('data'), mesh=MESH)
result = run(x)
""", says=("the program runs on 8 devices",), fits=("write `ordered=False`",), by_hand={"write `ordered=False`": (("ordered=True", "ordered=False"),)}, want="np.arange(1., 65.).reshape(8, 8) * 4"),
    Case(name="an ordered print under pmap", kind="ordered effects", code="def f(x):\n    jax.debug.print('{}', x, ordered=True)\n    return x\nresult = jax.pmap(f)(np.ones((8, 3)))\n",
         says=("`jax.debug.print` or `jax.debug.callback` in it has `ordered=True`",), fits=("write `ordered=False`",), by_hand={"write `ordered=False`": (("ordered=True", "ordered=False"),)}, want="np.ones((8, 3))"),
)  # fmt: skip

DONATED = (
    Case(name="a donated array passed to the same function again", kind="deleted", code="step = jax.jit(lambda x: x * 2, donate_argnums=0)\nx = jnp.ones(4)\ny = step(x)\nresult = step(x)\n",
         says=("`x` has no data any more: `step(x)` in line 3 donates it",), fits=("go on with what `step(x)` returned", "step(jnp.copy(x))"), by_hand={"go on with": (("result = step(x)", "result = step(y)"),)}),
    Case(name="a donated array passed to a compiled program again", kind="deleted", code="step = jax.jit(lambda x: x * 2, donate_argnums=0).lower(jnp.ones(4)).compile()\nx = jnp.ones(4)\ny = step(x)\nresult = step(x)\n",
         says=("`x` has no data any more: `step(x)` in line 3 donates it",), fits=("go on with", "step(jnp.copy(x))"), by_hand={"go on with": (("result = step(x)", "result = step(y)"),)}),
    Case(name="a donated array of eight devices passed to another function", kind="deleted", code="step = jax.jit(lambda x: x * 2, donate_argnums=0)\nx = counted(8, 8, spec=P('data'), mesh=MESH)\ny = step(x)\nresult = jax.jit(lambda a: a + 1)(x)\n",
         says=("`x` has no data any more: `step(x)` in line 3 donates it",), want="", by_hand={"go on with": (("a + 1)(x)", "a + 1)(y)"),)}),
    Case(name="moments that are not taken back", kind="deleted", code="""\
@partial(jax.jit, donate_argnums=(0, 1))
def step(w, m, x):
    return w - x, m + x
def train():
    w, m = jnp.zeros(4), jnp.zeros(4)
    for x in range(3):
        w, _ = step(w, m, float(x))
    return w
result = train()
""", says=("`m` has no data any more: `step(w, m, float(x))` in line 7 donates it (`donate_argnums`), and the function took its memory",),
         fits=("go on with what `step(w, m, float(x))` returned", "step(w, jnp.copy(m), float(x))"), want="np.full(4, -3.)", by_hand={"go on with": (("w, _ =", "w, m ="),)}),
    Case(name="a method that donates its own state", kind="deleted", code="""\
class Trainer:
    def __init__(self):
        self.state = jnp.zeros(4)
        self.step = jax.jit(lambda s, x: s + x, donate_argnums=0)
    def run(self, x):
        new = self.step(self.state, x)
        return new
t = Trainer()
t.run(1.)
result = t.run(2.)
""", says=("`self.state` has no data any more: `self.step(self.state, x)` in line 6 donates it (`donate_argnums`), and its memory is gone once that has run",),
         fits=("go on with",), by_hand={"go on with": (("new = self", "self.state = new = self"),)}),
    Case(name="a name of another function", kind="deleted", code="""\
step = jax.jit(lambda x: x * 2, donate_argnums=0)
def other(x):
    return step(x)
x = jnp.ones(4)
y = step(x)
result = x + 1
""", says=("`step(x)` in line 5 donates it",), fits=("go on with", "step(jnp.copy(x))"), by_hand={"go on with": (("x + 1", "y + 1"),)}),
    Case(name="an array that is donated and needed", kind="deleted", code="step = jax.jit(lambda x, y: x * 2 + y, donate_argnums=0)\nx = jnp.ones(4)\nresult = step(x, x)\n",
         says=("`x` is given to a donated argument and to another one, which needs it, too",), fits=("step(x, jnp.copy(x))",), want="np.full(4, 3.)"),
    Case(name="tied weights that are donated", kind="deleted", code="step = jax.jit(lambda p, x: jax.tree.map(lambda a: a + x, p), donate_argnums=0)\nw = jnp.ones(4)\np = {'enc': w, 'dec': w}\nresult = step(p, 1.)['enc']\n",
         says=("one array is given to two donated arguments",), want="np.full(4, 2.)", by_hand={"give one of them a copy": (("'dec': w}", "'dec': jnp.copy(w)}"),)}),
)  # fmt: skip
