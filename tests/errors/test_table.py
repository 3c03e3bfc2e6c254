"""Errors that the table has: what is said of each, and that every line of code which is proposed was tried and runs.

The expectations are written by hand. The mesh is data=2 x model=4 on eight devices.
"""

# ruff: noqa: E501

from __future__ import annotations

import contextlib

import jax
import pytest

import pjit_inspect as pi

from .case import EX, Case, mended, refusal, run


def on(
    name: str, code: str, kind: str, *says: str, fits: tuple[str, ...] = (), mesh: object = None, **more: object
) -> Case:
    """A program; `fits` are the changes of code that must be proposed, each by its beginning."""
    return Case(name=name, code=code, kind=kind, says=says, fits=fits, mesh=mesh, **more)  # type: ignore[arg-type]


AXES = (
    on("a sum outside of shard_map", "x = np.ones((8, 2), np.float32)\nresult = jax.jit(lambda x: lax.psum(x, 'data'))(x)\n",
       "unbound axis", "`psum` works along `data`", "not inside `jax.shard_map`",
       fits=("jax.shard_map(lambda x: lax.psum(x, 'data'), mesh=", ), want="np.full((4, 2), 2.)"),
    on("an index outside of shard_map", "result = lax.axis_index('rows')\n", "unbound axis", "`axis_index` works along `rows`", "no mesh of this line has `rows`"),
    on("one destination twice", "f = lambda x: lax.ppermute(x, 'model', [(0, 1), (1, 1)])\nresult = jax.shard_map(f, mesh=MESH, in_specs=P('model'), out_specs=P('model'))(np.ones(8))\n",
       "collective", "device 1 receives from 0 and 1"),
    on("one source twice", "f = lambda x: lax.ppermute(x, 'model', [(2, 1), (2, 3)])\nresult = jax.shard_map(f, mesh=MESH, in_specs=P('model'), out_specs=P('model'))(np.ones(8))\n",
       "collective", "device 2 sends to 1 and 3"),
    on("rows that do not go round", "f = lambda x: lax.all_to_all(x, 'model', 0, 0, tiled=True)\nresult = jax.shard_map(f, mesh=MESH, in_specs=P('model'), out_specs=P('model'))(np.ones(24))\n",
       "collective", "that part has 6", "6 / 4 = 1.5"),
    on("a sum that is scattered unevenly", "f = lambda x: lax.psum_scatter(x, 'model', tiled=True)\nresult = jax.shard_map(f, mesh=MESH, in_specs=P('data'), out_specs=P(('data', 'model')))(np.ones(12))\n",
       "collective", "`psum_scatter` splits the sum over 4 devices", "6 / 4 = 1.5", since=(0, 8, 2)),
    on("reshard on a mesh of Auto axes", "jax.set_mesh(MESH)\nx = np.ones((8, 8))\nresult = jax.sharding.reshard(x, P('data'))\n",
       "manual axes", "`reshard` takes Explicit axes only, and `data` in", "is `Auto`", fits=("jax.lax.with_sharding_constraint(x, P('data'))",), want="np.ones((8, 8))", since=(0, 10, 0)),
    on("two meshes", "other = jax.make_mesh((8,), ('x',), axis_types=(jax.sharding.AxisType.Auto,))\njax.set_mesh(MESH)\nresult = jax.shard_map(lambda a: a, mesh=other, in_specs=P('x'), out_specs=P('x'))(np.ones(8))\n",
       "mesh", "is given the mesh `x=8`, but the mesh that is set is `data=2 x model=4`"),
    on("a mesh of another rank", "result = jax.sharding.Mesh(np.array(jax.devices()), ('a', 'b'))\n", "mesh", "they have 1, and the names are 2"),
    on("specs that are shardings", "result = jax.shard_map(lambda a: a, mesh=MESH, in_specs=NamedSharding(MESH, P('data')), out_specs=P('data'))(np.ones(8))\n",
       "prefix", "`in_specs` of `jax.shard_map` takes specs", "`NamedSharding`"),
    on("unreduced over half of it", "a, b = counted(8, 8, spec=P(('data', 'model'))), counted(8, spec=P(('data', 'model')))\nresult = jax.sharding.reshard(jnp.einsum('ji,j->i', a, b, out_sharding=P(None, unreduced={'data'})), P())\n",
       "unreduced", "`data` and `model`, but `out_sharding` says unreduced over `data`", mesh=EX, since=(0, 10, 0),
       fits=("unreduced={'data', 'model'}", "jnp.einsum('ji,j->i', a, b, out_sharding=P(None))")),
)  # fmt: skip

PLACES = (
    on("host memory and device memory", "x = counted(8, mesh=MESH)\ny = jax.device_put(np.ones(8, np.float32), NamedSharding(MESH, P('data')).with_memory_kind('pinned_host'))\n@jax.jit\ndef add(x, y):\n    return x + y\nresult = add(x, y)\n",
       "memory space", "`x` is in device memory, `y` in host memory", fits=("jax.device_put(y, jax.memory.Space.Device)",), want="np.arange(2., 10.)", since=(0, 10, 0)),
    on("three shards of eight", "shards = [jax.device_put(np.ones(4), d) for d in jax.devices()[:3]]\nresult = jax.make_array_from_single_device_arrays((8,), NamedSharding(MESH, P('data')), shards)\n",
       "shards", "needs 8 shards", "got 3", "3, 4, 5, 6, 7"),
    on("shards of another shape", "shards = [jax.device_put(np.ones(5), d) for d in jax.devices()]\nresult = jax.make_array_from_single_device_arrays((8,), NamedSharding(MESH, P('data')), shards)\n",
       "shards", "`(4,)`", "`(5,)`"),
    on("exported for eight", "exported = jax.export.export(jax.jit(lambda x: x * 2, in_shardings=NamedSharding(MESH, P('data'))))(jax.ShapeDtypeStruct((8,), np.float32))\nresult = exported.call(np.ones(8, np.float32))\n",
       "exported", "exported for 8 devices, and its arguments are on 1"),
)  # fmt: skip

CALLS = (
    on("a compiled program without an argument", "f = jax.jit(lambda x, y: x + y).lower(np.ones(3), np.ones(3)).compile()\nresult = f(np.ones(3))\n",
       "compiled", "`f` was compiled for other arguments: it takes 2 positional arguments, and got 1"),
    on("a compiled program with a static argument", "n = 2\nf = jax.jit(lambda x, n: x * n, static_argnums=1).lower(np.ones(3), n).compile()\nresult = f(np.ones(3), n)\n",
       "compiled", "it takes 1 positional argument, and got 2", fits=("f(np.ones(3))",), want="np.full(3, 2.)"),
    on("a compiled program with a static keyword", "f = jax.jit(lambda x, n: x * n, static_argnames='n').lower(np.ones(3), n=2).compile()\nresult = f(np.ones(3), n=2)\n",
       "compiled", "the keywords differ: `n`", fits=("f(np.ones(3))",), want="np.full(3, 2.)"),
    on("a compiled program by keyword", "y = np.ones(3)\nf = jax.jit(lambda x, y: x + y).lower(np.ones(3), y).compile()\nresult = f(np.ones(3), y=y)\n",
       "compiled", "got 1; the keywords differ: `y`", fits=("f(np.ones(3), y)",), want="np.full(3, 2.)"),
    on("a compiled program with another tree", "params = {'w': np.ones(3)}\nf = jax.jit(lambda p: p['w']).lower(params).compile()\nparams = {'b': np.ones(3)}\nresult = f(params)\n",
       "compiled", "`params` was a dict with 'w', and is a dict with 'b'"),
    on("a masked array", "x = np.ma.masked_array(np.ones(3), [0, 1, 0])\nresult = jnp.add(x, 1)\n", "argument", "`x` is a masked array of numpy",
       fits=("x.filled(0)",), want="np.array([2., 1., 2.])", since=(0, 9, 0)),
    on("a list", "x = [1., 2.]\nresult = jnp.negative(x)\n", "argument", "`x` is of the type `list`", fits=("jnp.asarray(x)",), want="np.array([-1., -2.])"),
)  # fmt: skip

FUNCTIONS = (
    on("lengths that differ under vmap", "a, b = np.ones((3, 2)), np.ones(2)\nresult = jax.vmap(lambda a, b: a + b)(a, b)\n",
       "mapped", "`a` has 3", "`b` has 2", fits=("jax.vmap(lambda a, b: a + b, in_axes=(None, 0))", "jax.vmap(lambda a, b: a + b, in_axes=(0, None))")),
    on("in_axes out of range", "x = np.ones(3)\nresult = jax.vmap(lambda x: x * 2, in_axes=1)(x)\n", "mapped", "`vmap` maps dimension 1 of every argument, and `x` has 1 dimension",
       fits=("jax.vmap(lambda x: x * 2, in_axes=0)",), want="np.full(3, 2.)"),
    on("a gradient of a vector", "result = jax.grad(lambda x: x ** 2)(np.ones(3, np.float32))\n", "gradient", "returns an array of shape `(3,)`", fits=("jax.jacrev",), want="2 * np.eye(3)"),
    on("a gradient with respect to an integer", "n = jnp.int32(3)\nresult = jax.grad(lambda x: x ** 2)(n)\n", "gradient", "`n` is `int32`", fits=("n.astype('float32')",), want="6."),
    on("a gradient of a loop", "result = jax.grad(lambda x: lax.while_loop(lambda c: c < 10, lambda c: c * 2, x))(1.)\n", "gradient", "a loop whose number of steps is not known"),
    on("two trees", "a, b = {'w': 1, 'b': 2}, {'w': 1}\nresult = jax.tree.map(lambda p, g: p - g, a, b)\n", "tree", "only the first has `b`" if jax.__version_info__ >= (0, 9) else "the first has the keys ['b', 'w'], another ['w']"),
    on("a product of two shapes", "a, b = np.ones((8, 16)), np.ones((8, 16))\nresult = jnp.matmul(a, b)\n", "argument", "16 and 8", "`a` is `[8,16]`", fits=("a.T", "b.T")),
)  # fmt: skip

JIT = "@jax.jit\ndef f(x, n):\n    return {}\nresult = f({}, 3)\n"
TRACED = (
    on("a sorted list", JIT.format("sorted(x)", "np.array([2., 1.])"), "traced value", "`sorted(x)` asks whether an array is true", fits=("jnp.sort(x)",), want="np.array([1., 2.])"),
    on("a root of math", JIT.format("math.sqrt(x)", "4."), "traced value", "`math.sqrt(x)` needs its value as a number", fits=("jnp.sqrt(x)",), want="2."),
    on("zeros of numpy", JIT.format("np.zeros(n) + x", "1."), "traced value", "`np.zeros(n)` needs a length of an array: while"),
    on("tiles", JIT.format("jnp.tile(x, n)", "np.ones(2)"), "traced value", "`jnp.tile(x, n)` needs `reps` of `tile`: while", since=(0, 9, 0)),
    on("keys", JIT.format("jax.random.split(jax.random.key(0), n)", "1."), "traced value", "needs `shape` of `random_split`: while"),
    on("the devices of what is traced", JIT.format("x.devices()", "1."), "traced value", "`x.devices()` needs `devices` of an array that has data, which depends on the argument `x`"),
    on("a number of a library's", "@jax.jit\ndef f(x, k):\n    return lax.top_k(x, k)[0]\nresult = f(np.array([1., 3., 2.]), 2)\n", "traced value", "`lax.top_k(x, k)` needs a", "which depends on the argument `k`"),
    on("a switch between functions", "@jax.jit\ndef f(x, on):\n    return jnp.maximum(x, 0) if on else x\nresult = f(np.array([-1., 2.]), True)\n", "traced value", "`jnp.maximum(x, 0) if on else x` asks whether",
       fits=("jnp.where(on, jnp.maximum(x, 0), x)",), want="np.array([0., 2.])"),
    on("the key of the largest", "@jax.jit\ndef f(d):\n    return max(d, key=lambda k: d[k])\nresult = f({'a': 1., 'b': 2.})\n", "traced value", "asks whether an array is true"),
    on("an object that is no tree", "class State:\n    pass\nresult = lax.scan(lambda s, x: (s, x), State(), np.ones(3))\n", "argument", "is of the type `State`, which JAX cannot take as an array", since=(0, 10, 0)),
    on("two arguments of a compiled program", "sh = NamedSharding(MESH, P('data'))\nf = jax.jit(lambda p, x: p['w'] + x).lower({'w': counted(8, spec=P('data'), mesh=MESH)}, counted(8, spec=P('data'), mesh=MESH)).compile()\n"
       "p, x = {'w': counted(8, spec=P('model'), mesh=MESH)}, counted(8, spec=P('model'), mesh=MESH)\nresult = f({'w': jax.device_put(p['w'], sh)}, x)\n",
       "compiled", "`x` is `P('model')`, but the program was compiled for `P('data')`", fits=("jax.device_put(x, NamedSharding(MESH, P('data')))",), want="2 * np.arange(1., 9.)"),
    on("what waits", JIT.format("x.block_until_ready()", "1."), "traced value", "needs `block_until_ready` of an array that has data", since=(0, 10, 0)),
    on("text that is returned", JIT.format("x, 'done'", "1."), "argument", "`f` returns an object of the type `str`", since=(0, 9, 0)),
    on("out_axes for three results of two", "result = jax.vmap(lambda x: (x, x), out_axes=(0, 0, 0))(np.ones(3))\n", "prefix", "`out_axes` has 3 entries, but the result has 2"),
    on("two trees of shardings of other keys", "one = NamedSharding(MESH, P())\np, q = {'w': np.ones(8)}, {'a': np.ones(8)}\nresult = jax.jit(lambda p, q: p, in_shardings=({'w': one, 'b': one}, {'c': one}))(p, q)\n",
       "prefix", "`in_shardings[0]` has the keys `b` and `w`, but the argument has `w`"),
    on("a member of an enumeration", "import enum\nclass Mode(enum.Enum):\n    A = 1\nf = jax.jit(lambda x, mode: x)\nresult = f(np.ones(3), Mode.A)\n", "static argument", "`mode` is given an object of the type `Mode`"),
    on("a static argument that is mapped", "g = jax.jit(lambda x, n: x[:n], static_argnames='n')\nresult = jax.vmap(g)(np.ones((3, 4)), np.array([1, 2, 3]))\n", "static argument", "a static argument is traced by what is around the call"),
    on("a history that is joined", "result = lax.fori_loop(0, 3, lambda i, c: jnp.concatenate([c, c]), np.ones(2))\n", "loop type", "`c` goes in as `float64[2]`" if jax.config.jax_enable_x64 else "`c` goes in as `float32[2]`"),
    on("a state that is given over several lines", "step = jax.jit(lambda s, g: s - g, donate_argnums=0)\ns = counted(8)\nnew = step(\n    s,\n    1.,\n)\nresult = s + 1\n", "deleted",
       "`s` has no data any more: `step( s, 1., )` in line 3 donates it"),
    on("one of in_axes for two", "a, b = np.ones(3), np.ones(3)\nresult = jax.vmap(lambda x, y: x + y, in_axes=(0,))(a, b)\n", "mapped", "`in_axes` has the length 1, and the function got 2 arguments"),
    on("a compiled program with one key more", "f = jax.jit(lambda p: p['w']).lower({'w': np.ones(3)}).compile()\nparams = {'w': np.ones(3), 'b': np.ones(3)}\nresult = f(params)\n",
       "compiled", "`params` has other keys: `b`", since=(0, 9, 0)),
)  # fmt: skip

# What JAX raises here has a cause that it raised, and caught, in a function of its own.
SHAPES = (
    on("a bias along the other dimension", "logits, bias = jnp.ones((8, 16)), jnp.arange(8.)\nresult = logits + bias\n", "argument",
       "`logits + bias` needs one length, or 1, along dimension 1: 16 and 8 (`logits` is `[8,16]` and `bias` is `[8]`)", fits=("bias[:, None]",), want="1 + np.arange(8.)[:, None] + np.zeros((8, 16))"),
    on("a bias of a layer", "class Layer:\n    w, b = jnp.ones((16, 4)), jnp.arange(8.)\n    def __call__(self, x):\n        return x @ self.w + self.b\nresult = Layer()(jnp.ones((8, 16)))\n", "argument",
       "`(x @ self.w)` is `[8,4]` and `self.b` is `[8]`", fits=("self.b[:, None]",), want="16 + np.arange(8.)[:, None] + np.zeros((8, 4))"),
    on("a product in a jitted function", "@jax.jit\ndef f(x, y):\n    return x * y\nresult = f(jnp.ones((8, 16)), jnp.arange(8.))\n", "argument",
       "`x * y` needs", "`y` is `[8]`", fits=("y[:, None]",), want="np.arange(8.)[:, None] + np.zeros((8, 16))"),
    on("a choice between shapes", "x, y = jnp.ones((8, 16)), jnp.ones(8)\nresult = jnp.where(x > 2, x, y)\n", "argument",
       "`jnp.where(x > 2, x, y)` needs one length, or 1, along dimension 1: 16 and 8", fits=("y[:, None]",), want="np.ones((8, 16))"),
    on("shapes that no new dimension joins", "x, y = jnp.ones((8, 16)), jnp.ones(3)\nresult = jnp.add(x, y)\n", "argument", "`x` is `[8,16]` and `y` is `[3]`"),
    on("ranks that lax does not join", "x, y = jnp.ones((8, 16)), jnp.arange(8.)\nresult = lax.add(x, y)\n", "argument",
       "`x` is `[8,16]` and `y` is `[8]`", fits=("",), want="1 + np.arange(8.)[:, None] + np.zeros((8, 16))"),
    # JAX's own text says 8 of the second and 16 of the first.
    on("a label of two lengths", "q, k = jnp.ones((2, 4, 8)), jnp.ones((2, 4, 16))\nresult = jnp.einsum('bth,bsh->bts', q, k)\n", "argument", "`h` is 8 long in `q`, 16 long in `k`"),
    on("a label of three operands", "q, k, w = jnp.ones((2, 4, 8)), jnp.ones((2, 4, 8)), jnp.ones((16, 3))\nresult = jnp.einsum('bth,...h,hd->bd', q, k, w)\n", "argument", "`h` is 8 long in `q` and `k`, 16 long in `w`"),
    on("a label of what has no name", "q, k = jnp.ones((2, 4, 8)), jnp.ones((2, 4, 16))\nresult = jnp.einsum('bth,bsh->bts', q * 2, k * 2)\n", "argument", "`h` is 8 long in one operand and 16 in another"),
)  # fmt: skip

SEVERAL = "@jax.jit\ndef f(x, y):\n    {}\n    return x\nresult = f(jnp.arange(4.), jnp.arange(4.))\n"
TRUTHS = (
    on("an if of several elements", SEVERAL.format("if x > 0:\n        x = y"), "argument", "the `if` asks whether `x > 0` is true, and an array of several elements has a truth for each"),
    on("both of several elements", SEVERAL.format("x = (x > 0) and (y < 2)"), "argument", "`(x > 0) and (y < 2)` asks", fits=("jnp.logical_and(x > 0, y < 2)",), want="np.array([False, True, False, False])"),
    on("a choice of several elements", SEVERAL.format("x = 1 if x > 0 else 2"), "argument", "`1 if x > 0 else 2` asks", fits=("jnp.where(x > 0, 1, 2)",), want="np.array([2, 1, 1, 1])"),
)  # fmt: skip

MISTAKES = (
    on("axes of two types", "x, y = counted(8, 4, spec=P('data')), counted(8, 4, spec=P('data'), mesh=MESH)\nresult = x + y\n", "mesh",
       "`y` is on the mesh data=2 x model=4 with Auto axes, everything else on data=2 x model=4 with Explicit axes", fits=("jax.device_put(y, NamedSharding(EX, P('data', None)))",), want="2 * np.arange(1., 33.).reshape(8, 4)"),
    on("an axis in place of a spec", "result = NamedSharding(MESH, 'data')\n", "prefix", "`NamedSharding(MESH, 'data')` gives it something else", fits=("NamedSharding(MESH, P('data'))",)),
    on("a tuple in place of a spec", "result = NamedSharding(MESH, ('data', None))\n", "prefix", "of a mesh and a `PartitionSpec`", fits=("NamedSharding(MESH, P('data', None))",)),
    on("a spec before its mesh", "result = NamedSharding(P('data'), MESH)\n", "prefix", "of a mesh and a `PartitionSpec`", fits=("NamedSharding(MESH, P('data'))",)),
    on("an argument less", "f = jax.jit(lambda x, y: x + y)\nresult = f(np.ones(3))\n", "argument", "`f(np.ones(3))` calls `<lambda>` without `y`"),
    on("an argument more", "@jax.jit\ndef f(x):\n    return x\nresult = f(np.ones(3), 2)\n", "argument", "`f` takes 1 by position, and `f(np.ones(3), 2)` calls it with 2"),
    on("a keyword of another name", "@jax.jit\ndef f(x):\n    return x\nresult = f(np.ones(3), y=2)\n", "argument", "calls `f` with `y`, which it does not take"),
    on("a dimension that is not there", "f = lambda x: lax.all_gather(x, 'data', axis=2, tiled=True)\nresult = jax.shard_map(f, mesh=MESH, in_specs=P('data'), out_specs=P('data'))(np.ones((8, 4)))\n",
       "argument", "names dimension 2 of an array that has 2"),
    on("a static name with a letter more", "def f(x, n, size):\n    return x[:size]\nf = jax.jit(f, static_argnames=('n', 'sizes'))\nresult = f(np.ones(3), 1, size=2)\n", "static argument",
       "`static_argnames` names `sizes`, which is no argument of the function: it takes `x`, `n` and `size`", fits=("'size'",), want="np.ones(2)"),
    on("a static number beyond the arguments", "result = jax.jit(lambda x: x, static_argnums=3)(2)\n", "static argument", "counted from 0, but the function takes 1 by position"),
    on("a slice of a length that is traced", "@jax.jit\ndef f(x, start, size):\n    return x[start:start + size]\nresult = f(np.arange(10), 2, 3)\n", "traced value", "`x[start:start + size]` needs where a slice begins or ends"),
    on("a slice of four", "@jax.jit\ndef f(x, start):\n    return x[:, start:start + 4]\nresult = f(np.ones((2, 10)), 2)\n", "traced value", "needs where a slice begins", fits=("jax.lax.dynamic_slice_in_dim(x, start, 4, axis=1)",), want="np.ones((2, 4))"),
    on("a slice of a number that is known", "n = 3\n@jax.jit\ndef f(x, start):\n    return x[start:n + start]\nresult = f(np.arange(10), 2)\n", "traced value", "needs where a slice begins", fits=("jax.lax.dynamic_slice_in_dim(x, start, n)",), want="np.array([2, 3, 4])"),
    on("a reshape to one number", "x = counted(8, 8, spec=P(None, 'model'))\nresult = x.reshape(64)\n", "reshape", "a reshape to [64] would cut parts", mesh=EX,
       fits=("jnp.reshape(x, (64,), out_sharding=P('model'))", "jnp.reshape(x, (64,), out_sharding=P(None))"), want="np.arange(1., 65.)"),
    on("a constraint on what has no name", "x = counted(8, 8, spec=P('data', 'model'))\nresult = lax.with_sharding_constraint(x * 2, P('model', 'data'))\n", "other spec", "`(x * 2)` is `P('data', 'model')`, but", mesh=EX,
       fits=("jax.sharding.reshard((x * 2), P('model', 'data'))",), want="2 * np.arange(1., 65.).reshape(8, 8)"),
    on("pmap of more rows than devices", "result = jax.pmap(lambda x: x * 2)(np.ones((16, 4)))\n", "pmap", "`np.ones((16, 4))` has 2", since=(0, 9, 0)),
    on("vmap of a number", "a = np.arange(3.)\nresult = jax.vmap(lambda a, b: a * b)(a, 2.5)\n", "mapped", "`2.5` has no dimension"),
    on("what is donated by name", "f = jax.jit(lambda s, g: s - g, donate_argnames='s')\ns = counted(8)\nnew = f(s=s, g=1.)\nresult = s + 1\n", "deleted", "in line 3 donates it (`donate_argnames`)", fits=("f(s=jnp.copy(s), g=1.)",), want="np.arange(2., 10.)"),
    on("an array of numpy that is static", "f = jax.jit(lambda x, shape: x.reshape(shape), static_argnums=1)\nx = np.ones(6)\nresult = f(x, np.array([2, 3]))\n", "static argument", "`np.array([2, 3])` is static and of the type `array`"),
    on("names with in_shardings", "one = NamedSharding(MESH, P())\nf = jax.jit(lambda x, y: x + y, in_shardings=(one, one))\nresult = f(np.ones(8), y=np.ones(8))\n", "argument", "takes positional arguments only"),
)  # fmt: skip

CASES = [case for case in (*AXES, *PLACES, *CALLS, *FUNCTIONS, *TRACED, *SHAPES, *TRUTHS, *MISTAKES) if case.is_here]


@pytest.fixture(autouse=True)
def _as_it_was():
    before = jax.sharding.get_mesh()
    yield
    jax.set_mesh(before)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_row_says_what_is_wrong_and_every_line_that_it_proposes_runs(case: Case):
    with jax.set_mesh(case.mesh) if case.mesh is not None else contextlib.nullcontext():
        explanation = pi.explain_error(refusal(case))
    assert explanation.kind == case.kind
    for words in case.says:
        assert words in explanation.sentence
    lines = [fit for fit in explanation.fits if fit.is_code]
    assert [fit.edit[: len(start)] for fit, start in zip(lines, case.fits or (), strict=True)] == list(case.fits or ())
    assert explanation.frame is not None
    for version, fit in enumerate(lines, start=1):
        space = run(case, mended(case, case.code, fit, explanation), version)
        if case.want:
            import numpy as np

            np.testing.assert_allclose(np.asarray(space["result"]), eval(case.want, {"np": np}))


OBJECT = (
    "class M:\n    w = 2.\n    @jax.jit\n    def f(self, x):\n        return self.w * x\nresult = M().f(np.ones(3))\n"
)


@pytest.mark.parametrize(
    ("code", "said", "unsaid"),
    [
        # What runs while it is traced prints no value.
        (JIT.format("print('loss', float(x))", "1."), "use `jax.debug.print`", "asarray"),
        (JIT.format("print('loss', x.item())", "1."), "use `jax.debug.print`", "write"),
        (JIT.format("print('loss', np.asarray(x))", "1."), "use `jax.debug.print`", "asarray"),
        # A program that knows the object goes on with the old `w`.
        (OBJECT, "register the class as a tree", "for objects with a hash"),
        (OBJECT, "a later change of what the object holds is not seen", "for objects with a hash"),
        # No loop of JAX's makes a list, and no slice of JAX's has a length that is traced.
        (JIT.format("[x * i for i in range(n)]", "1."), "static_argnames='n'", "fori_loop"),
        (JIT.format("x[n:n + n]", "np.ones(9)"), "static_argnames='n'", "dynamic_slice"),
        (TRUTHS[0].code, "`jnp.all` or `jnp.any`", "static_argnames"),
    ],
)
def test_what_is_advised_is_what_the_line_is_for(code: str, said: str, unsaid: str):
    found = pi.explain_error(refusal(on("advice", code, "traced value")))
    told = " ".join(f"{fit.edit} {fit.effect}" for fit in found.fits)
    assert said in told
    assert unsaid not in told


# ---------------------------------------------------------------- values


PARTS = "result = jax.shard_map(lambda x: {}, mesh=MESH, in_specs=P('data'), out_specs={}, check_vma=False)(np.ones(8, np.float32))\n"


@pytest.mark.parametrize("result", ["x.sum()", "jnp.stack([x.sum()])"])
def test_a_result_of_shard_map_is_offered_no_spec_that_takes_one_device_for_all(result: str):
    # Each of two devices has four ones: their sum is 8. With `check_vma=False` the spec P() returns 4, one device's.
    found = pi.explain_error(refusal(on("parts", PARTS.format(result, "P('data', 'model')"), "rank")))
    assert found.kind == "rank"
    for fit in found.fits:
        assert fit.spec is None or "data" in str(fit.spec)
        assert not fit.is_code or "P()" not in fit.edit


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="the `shard_map` of JAX 0.8's pmap names its own axis")
def test_pmap_speaks_of_the_one_argument_that_there_is():
    x = jax.numpy.ones((9, 3))
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        jax.pmap(lambda x: x)(x)
    found = pi.explain_error(caught.value)
    assert found.kind == "pmap"
    assert "9" in found.sentence
    assert "another" not in found.sentence


def test_the_line_of_a_constraint_on_other_devices_is_told():
    code = """\
four = jax.sharding.Mesh(np.array(jax.devices()[:4]), ('x',))
def f(x):
    return lax.with_sharding_constraint(x.sum(0), NamedSharding(four, P('x')))
x = counted(8, 8, spec=P('data'), mesh=MESH)
result = jax.jit(f)(x)
"""
    case = on("elsewhere", code, "devices", since=(0, 10, 0))
    if not case.is_here:
        return
    found = pi.explain_error(refusal(case))
    assert "the sharding is at elsewhere_0.py:3" in found.notes
    assert any("one of `MESH`" in fit.edit for fit in found.fits)


def test_an_array_whose_sum_is_asked_for_is_not_proposed_as_static():
    found = pi.explain_error(refusal(on("a sum", JIT.format("x * int(x.sum())", "np.ones(3)"), "traced value")))
    assert found.kind == "traced value"
    assert not [fit for fit in found.fits if "static" in fit.edit]


def test_what_a_library_or_a_choice_asks_of_an_argument_alone_can_be_static():
    for code, names in (("lax.top_k(x, n)", "n"), ("jnp.maximum(x, 0) if n else x", "n")):
        found = pi.explain_error(refusal(on("static", JIT.format(code, "np.ones(8)"), "traced value")))
        assert [fit.edit for fit in found.fits if "static_argnames" in fit.edit] == [
            f"name it in the `jax.jit` of `f`: `static_argnames='{names}'`"
        ]
        assert not [fit for fit in found.fits if "lax.cond" in fit.edit]


def test_what_is_made_of_an_array_by_a_function_is_not_proposed_as_static():
    found = pi.explain_error(refusal(on("argmax", JIT.format("int(jnp.argmax(x))", "np.ones(8)"), "traced value")))
    assert not [fit for fit in found.fits if "static" in fit.edit]


def test_each_of_two_arguments_that_are_alike_is_placed():
    code = """\
sh = NamedSharding(MESH, P('data'))
f = jax.jit(lambda p, x: p['w'] + x).lower({'w': counted(8, spec=P('data'), mesh=MESH)}, counted(8, spec=P('data'), mesh=MESH)).compile()
p, x = {'w': counted(8, spec=P('model'), mesh=MESH)}, counted(8, spec=P('model'), mesh=MESH)
result = f(p, x)
"""
    found = pi.explain_error(refusal(on("both", code, "compiled")))
    assert [fit.target for fit in found.fits if fit.is_code] == ["p['w']", "x"]
    assert "every argument needs its own change" in found.notes


def test_an_only_argument_of_a_compiled_program_is_named_as_it_is_written():
    code = """\
f = jax.jit(lambda x: x * 2).lower(jax.ShapeDtypeStruct((8, 8), np.float32, sharding=NamedSharding(MESH, P('data')))).compile()
result = f(counted(8, 8, spec=P(None, 'model'), mesh=MESH))
"""
    case = on("inline", code, "compiled")
    found = pi.explain_error(refusal(case))
    fit = next(fit for fit in found.fits if fit.is_code)
    assert fit.edit.startswith(
        "jax.device_put(counted(8, 8, spec=P(None, 'model'), mesh=MESH), NamedSharding(MESH, P('data', None)))"
    )
    assert run(case, mended(case, code, fit, found), 1)["result"].shape == (8, 8)


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="JAX 0.8 does not say how the indices are split")
def test_a_gather_by_split_indices_keeps_their_split():
    code = "t, i = jnp.ones((8, 2)), jax.device_put(jnp.arange(8), P('model'))\nresult = t[i, :]\n"
    case = on("gather", code, "indexing", mesh=EX)
    with jax.set_mesh(EX):
        found = pi.explain_error(refusal(case))
    assert found.fits[0].edit == "t.at[i, :].get(out_sharding=P('model', None))"
    assert "`i` is `P('model')`" in found.sentence


# ---------------------------------------------------------------- what is tried, and what is not


def test_no_function_of_the_user_runs_to_try_a_fit():
    ran = []

    def own(x):
        ran.append(1)
        return x

    x, w = jax.device_put(jax.numpy.ones((8, 8)), jax.sharding.NamedSharding(EX, jax.P("data"))), jax.numpy.ones((8, 8))
    w = jax.device_put(w, jax.sharding.NamedSharding(EX, jax.P("model")))
    with pytest.raises(Exception) as caught:  # noqa: PT011
        _ = own(x) + w
    before = len(ran)
    found = pi.explain_error(caught.value)
    assert len(ran) == before
    assert found.kind == "conflict"
    assert all(fit.is_checked for fit in found.fits)


def test_an_unknown_error_of_several_lines_is_its_first_line():
    found = pi.explain_error(RuntimeError("first\nsecond"))
    assert (found.kind, found.sentence, found.notes) == ("unknown", "`RuntimeError`: first", ())


def test_a_callback_that_returns_another_shape_is_read_as_every_version_writes_it():
    for compute in ("", "Compute error: "):
        said = (
            f"INTERNAL: {compute}CpuCallback error calling callback: Traceback (most recent call last):\n  File "
            '"/jax/_src/callback.py", line 793, in _wrapped_callback\nRuntimeError: Incorrect output shape for return value '
            "#0: Expected: (8, 8), Actual: (4, 8)"
        )
        found = pi.explain_error(RuntimeError(said))
        assert (found.kind, found.sentence) == (
            "callback",
            "the result of the function that the callback calls has the shape `[4,8]`, but `[8,8]` was declared",
        )
        assert "sees one device's part" in found.notes[0]


def test_what_is_the_user_s_is_not_changed_to_try_a_fit():
    code = """\
specs = ['data', 'model']
state = {'n': 3}
x, y = counted(8, 8, spec=P('data')), counted(8, 8, spec=P('model'))
result = jnp.add(x, jnp.multiply(y, state.pop('n') if 'n' in state else 1))
"""
    case = on("a pop", code, "conflict", mesh=EX)
    with jax.set_mesh(EX):
        error = refusal(case)
        frame = error.__traceback__.tb_next.tb_next.tb_frame  # type: ignore[union-attr]
        frame.f_globals["state"]["n"] = 3
        found = pi.explain_error(error)
    assert frame.f_globals["state"] == {"n": 3}
    assert found.kind == "conflict"


def test_numbers_that_numpy_draws_are_not_drawn_again():
    import numpy as np

    code = """\
x, y = counted(8, 8, spec=P('data')), counted(8, 8, spec=P('model'))
result = jnp.add(x * np.random.rand(), y)
"""
    with jax.set_mesh(EX):
        error = refusal(on("drawn", code, "conflict", mesh=EX))
        before = np.random.get_state(legacy=False)["state"]["pos"]  # type: ignore[index]
        pi.explain_error(error)
    assert np.random.get_state(legacy=False)["state"]["pos"] == before  # type: ignore[index]
