"""Programs that JAX refuses, as people write them. The mesh is data=2 x model=4."""

# ruff: noqa: E501

from __future__ import annotations

from .case import CAST, EX, Case, varying

COUNT = "np.arange(1., 65.).reshape(8, 8)"

COMPILED = (
    Case(
        name="a compiled step gets a batch that is split differently",
        kind="compiled",
        code="""\
step = jax.jit(lambda params, x: x * params['w'])
params = {'w': counted(8, 8, mesh=MESH)}
train = step.lower(params, counted(8, 8, spec=P('data'), mesh=MESH)).compile()
batch = counted(8, 8, spec=P('model'), mesh=MESH)
result = train(params, batch)
""",
        says=("`batch` is `P('model', None)`, but the program was compiled for `P('data', None)`",),
        fits=("jax.device_put(batch, NamedSharding(MESH, P('data', None)))", "call the jitted function in place"),
        want=f"{COUNT} ** 2",
        by_hand={"call the jitted": (("train(params", "step(params"),)},
    ),
    Case(
        name="a compiled step gets one leaf that is split differently",
        kind="compiled",
        code="""\
def step(params, x):
    return x @ params['w']
params = {'w': counted(8, 8, spec=P('model'), mesh=MESH), 'b': counted(8, mesh=MESH)}
x = counted(8, 8, mesh=MESH)
compiled = jax.jit(step).lower(params, x).compile()
params['w'] = jax.device_put(params['w'], NamedSharding(MESH, P(None, 'data')))
result = compiled(params, x)
""",
        says=("`params['w']` is `P(None, 'data')`, but the program was compiled for `P('model', None)`",),
        want=f"{COUNT} @ {COUNT}",
        by_hand={"call the jitted": (("compiled(params", "jax.jit(step)(params"),)},
    ),
    Case(
        name="a program compiled for one device gets a sharded array",
        kind="compiled",
        code="""\
double = jax.jit(lambda x: x * 2).lower(jax.ShapeDtypeStruct((8, 8), np.float32)).compile()
x = counted(8, 8, spec=P('data'), mesh=MESH)
result = double(x)
""",
        says=("`x` is `P('data', None)` on data=2 x model=4, but the program was compiled for device 0",),
        fits=("jax.device_put(x, jax.devices()[0])", "call the jitted function in place"),
        want=f"{COUNT} * 2",
        by_hand={"call the jitted": ((".lower(jax.ShapeDtypeStruct((8, 8), np.float32)).compile()", ""),)},
    ),
    Case(
        name="a compiled program gets an array of one device",
        kind="compiled",
        code="""\
def run(place):
    double = jax.jit(lambda x: x * 2).lower(counted(8, 8, spec=P(None, 'model'), mesh=place)).compile()
    x = jax.device_put(np.arange(1., 65., dtype=np.float32).reshape(8, 8), jax.devices()[5])
    return double(x)
result = run(MESH)
""",
        says=("`x` is on device 5, but the program was compiled for `P(None, 'model')` on data=2 x model=4",),
        want=f"{COUNT} * 2",
        by_hand={"call the jitted": ((".lower(counted(8, 8, spec=P(None, 'model'), mesh=place)).compile()", ""),)},
    ),
    Case(
        name="a compiled program gets another shape",
        kind="compiled",
        code="""\
double = jax.jit(lambda x: x * 2)
ready = double.lower(np.zeros((4, 8), np.float32)).compile()
x = counted(8, 8, mesh=MESH)
result = ready(x)
""",
        says=("`x` is `float32[8,8]`, but the program was compiled for `float32[4,8]`",),
        want=f"{COUNT} * 2",
        by_hand={"call the jitted": (("ready(x)", "double(x)"),)},
    ),
)

NO_MESH = (
    Case(
        name="a constraint without a mesh", kind="no mesh",
        code="""\
MESHES = MESH
del EX
def layer(x):
    return lax.with_sharding_constraint(x * 2, P('data', None))
x = np.arange(1., 65.).reshape(8, 8)
result = jax.jit(layer)(x)
""",
        says=("`with_sharding_constraint` got `P('data', None)`, but no mesh is set",),
        fits=("NamedSharding(MESH, P('data', None))", "jax.set_mesh(MESH)"), want=f"{COUNT} * 2",
    ),
    Case(
        name="a constraint without a mesh where all meshes are Explicit", kind="no mesh",
        code="""\
del MESH
x = np.arange(1., 65.).reshape(8, 8)
result = lax.with_sharding_constraint(x, P('data'))
""",
        says=("`with_sharding_constraint` got `P('data')`",),
        fits=("jax.device_put(x, NamedSharding(EX, P('data')))",), want=COUNT,
    ),
    Case(
        name="a constraint whose spec is a variable", kind="no mesh",
        code="""\
del EX
rows = P('data')
result = jax.jit(lambda x: lax.with_sharding_constraint(x, rows))(np.arange(1., 65.).reshape(8, 8))
""",
        says=("`with_sharding_constraint` got `rows`",),
        fits=("NamedSharding(MESH, rows)", "jax.set_mesh(MESH)"), want=COUNT,
    ),
    Case(
        name="in_shardings without a mesh", kind="no mesh",
        code="""\
del EX
x = np.arange(1., 65.).reshape(8, 8)
result = jax.jit(lambda x: x * 2, in_shardings=P(None, 'model'))(x)
""",
        says=("`in_shardings` got `P(None, 'model')`",),
        fits=("NamedSharding(MESH, P(None, 'model'))", "jax.set_mesh(MESH)"), want=f"{COUNT} * 2",
    ),
    Case(
        name="out_shardings of a decorator without a mesh", kind="no mesh",
        code="""\
del EX
@partial(jax.jit, out_shardings=P('model'))
def double(x):
    return x * 2
result = double(np.arange(1., 65.).reshape(8, 8))
""",
        says=("`out_shardings` got a PartitionSpec, but no mesh is set",),
        fits=("jax.set_mesh(MESH)",), want=f"{COUNT} * 2",
    ),
    Case(
        name="device_put without a mesh", kind="no mesh",
        code="""\
x = np.arange(1., 65.).reshape(8, 8)
result = jax.device_put(x, P('model', 'data'))
""",
        says=("`device_put` got `P('model', 'data')`",), want=COUNT,
    ),
    Case(
        name="a reshard without a mesh", kind="no mesh",
        code="""\
x = jnp.arange(1., 65.).reshape(8, 8)
result = jax.sharding.reshard(x, P('model'))
""",
        says=("`reshard` got `P('model'",),
        fits=("jax.device_put(x, NamedSharding(EX, P('model')))", "jax.set_mesh(EX)"), want=COUNT,
    ),
    Case(
        name="a reshard where the only mesh is Auto", kind="no mesh",
        code="""\
del EX
x = jnp.arange(1., 65.).reshape(8, 8)
result = jax.sharding.reshard(x, P('model'))
""",
        says=("`reshard` got `P('model'",),
        fits=("jax.lax.with_sharding_constraint(x, NamedSharding(MESH, P('model')))",), want=COUNT,
    ),
    Case(
        name="shard_map without a mesh", kind="no mesh",
        code="""\
del EX
double = jax.shard_map(lambda x: x * 2, in_specs=P('data'), out_specs=P('data'))
result = double(np.arange(1., 65.).reshape(8, 8))
""",
        says=("`shard_map` has no `mesh`, and none is set",),
        fits=("give `jax.shard_map` `mesh=MESH`", "jax.set_mesh(MESH)"), want=f"{COUNT} * 2",
        by_hand={"give `jax.shard_map`": (("x * 2,", "x * 2, mesh=MESH,"),)},
    ),
    Case(
        name="an axis that no mesh has", kind="no mesh",
        code="""\
x = np.arange(1., 65.).reshape(8, 8)
result = lax.with_sharding_constraint(x, P('expert'))
""",
        says=("`with_sharding_constraint` got `P('expert')`",), want=COUNT,
        by_hand={
            "with `jax.set_mesh`, set": (("x = np", "jax.set_mesh(jax.make_mesh((8,), ('expert',), "
            "axis_types=(jax.sharding.AxisType.Auto,)))\nx = np"),)
        },
    ),
    Case(
        name="an out_sharding where the only mesh is Auto", kind="no mesh",
        code="""\
del EX
x = jnp.ones((8, 8))
result = jnp.matmul(x, x, out_sharding=P('data'))
""",
        says=("`matmul` got `P('data'",), want="np.full((8, 8), 8.)",
        by_hand={"`MESH` has Auto axes; make a mesh with": (("x = jnp", "jax.set_mesh(jax.sharding.Mesh(MESH.devices, "
            "MESH.axis_names, axis_types=(jax.sharding.AxisType.Explicit,) * 2))\nx = jnp"),)},
    ),
)  # fmt: skip

S = "s = NamedSharding(MESH, P('data'))\n"
PREFIX = (
    Case(
        name="a key too many", kind="prefix",
        code=S + """\
params = {'w': np.ones((8, 8))}
result = jax.jit(lambda p: p['w'] * 2, in_shardings=({'w': s, 'b': s},))(params)
""",
        says=("`in_shardings[0]` has the keys `b` and `w`, but the argument has `w`",),
        fits=("take `b` out of `in_shardings[0]`", "give one sharding in place of the tree"), want="np.full((8, 8), 2.)",
        by_hand={"take `b`": ((", 'b': s", ""),), "give one sharding": (("{'w': s, 'b': s}", "s"),)},
    ),
    Case(
        name="a key missing", kind="prefix",
        code=S + """\
params = {'w': np.ones((8, 8)), 'b': np.ones(8)}
result = jax.jit(lambda p: p['w'] + p['b'], in_shardings=({'w': s},))(params)
""",
        says=("`in_shardings[0]` has the keys `w`, but the argument has `b` and `w`",),
        want="np.full((8, 8), 2.)",
        by_hand={"add `b` to `in_shardings[0]`": (("'w': s}", "'w': s, 'b': s}"),),
                 "give one sharding": (("({'w': s},)", "(s,)"),)},
    ),
    Case(
        name="another key", kind="prefix",
        code=S + """\
params = {'layer': {'kernel': np.ones((8, 8))}}
result = jax.jit(lambda p: p['layer']['kernel'], in_shardings=({'layer': {'weight': s}},))(params)
""",
        says=("`in_shardings[0]['layer']` has the keys `weight`, but the argument has `kernel`",),
        want="np.ones((8, 8))",
        by_hand={"take `weight` out of `in_shardings[0]['layer']` and add `kernel` to it": (("'weight': s", "'kernel': s"),),
                 "give one sharding": (("{'weight': s}", "s"),)},
    ),
    Case(
        name="one sharding for two arguments", kind="prefix",
        code=S + "result = jax.jit(lambda x, y: x + y, in_shardings=(s,))(np.ones((8, 8)), np.ones((8, 8)))\n",
        says=("`in_shardings` has 1 entry, but the call has 2 arguments",), want="np.full((8, 8), 2.)",
        by_hand={"give `in_shardings` 2 entries": (("(s,)", "(s, s)"),), "give one sharding": (("(s,)", "s"),)},
    ),
    Case(
        name="a dict for the arguments", kind="prefix",
        code=S + "result = jax.jit(lambda p: p['w'] * 2, in_shardings={'w': s})({'w': np.ones((8, 8))})\n",
        says=("`in_shardings` is a dict",), want="np.full((8, 8), 2.)",
        by_hand={"write a tuple": (("={'w': s}", "=({'w': s},)"),), "give one sharding": (("={'w': s}", "=s"),)},
    ),
    Case(
        name="a list for a tuple", kind="prefix",
        code=S + "pair = (np.ones((8, 8)), np.ones((8, 8)))\nresult = jax.jit(lambda p: p[0] + p[1], in_shardings=([s, s],))(pair)\n",
        says=("`in_shardings[0]` is a list, but the argument is a tuple",), want="np.full((8, 8), 2.)",
        by_hand={"write it as a tuple": (("([s, s],)", "((s, s),)"),), "give one": (("([s, s],)", "(s,)"),)},
    ),
    Case(
        name="a pair of shardings for one result", kind="prefix",
        code=S + "result = jax.jit(lambda x: x * 2, out_shardings=(s, s))(np.ones((8, 8)))\n",
        says=("`out_shardings` is a tuple, but the result is one array",), want="np.full((8, 8), 2.)",
        by_hand={"give one sharding": (("(s, s)", "s"),)},
    ),
    Case(
        name="a result too many", kind="prefix",
        code=S + "result = jax.jit(lambda x: (x, x, x), out_shardings=(s, s))(np.ones((8, 8)))\n",
        says=("`out_shardings` has 2 entries, but the result has 3",), want="np.ones((3, 8, 8))",
        by_hand={"give `out_shardings` 3 entries": (("(s, s)", "(s, s, s)"),), "give one": (("(s, s)", "s"),)},
    ),
    Case(
        name="device_put of a tree with another key", kind="prefix",
        code=S + "result = jax.device_put({'w': np.ones((8, 8))}, {'w': s, 'b': s})['w']\n",
        says=("the tree of shardings has the keys `b` and `w`, but what is placed has `w`",), want="np.ones((8, 8))",
        by_hand={"take `b` out of the tree": ((", 'b': s", ""),), "give one sharding": (("{'w': s, 'b': s}", "s"),)},
    ),
    Case(
        name="too few in_specs", kind="prefix",
        code="""\
add = jax.shard_map(lambda x, y: x + y, mesh=MESH, in_specs=(P('data'),), out_specs=P('data'))
result = add(np.ones((8, 8)), np.ones((8, 8)))
""",
        says=("`in_specs` has 1 entry, but the call has 2 arguments",), want="np.full((8, 8), 2.)",
        by_hand={"give `in_specs` 2": (("(P('data'),)", "(P('data'), P('data'))"),), "give one": (("(P('data'),)", "P('data')"),)},
    ),
    Case(
        name="out_specs for two results of one", kind="prefix",
        code="""\
double = jax.shard_map(lambda x: x * 2, mesh=MESH, in_specs=P('data'), out_specs=(P('data'), P('data')))
result = double(np.ones((8, 8)))
""",
        says=("`out_specs` is a tuple, but the result is one array",), want="np.full((8, 8), 2.)",
        by_hand={"give one spec": (("(P('data'), P('data'))", "P('data')"),)},
    ),
)  # fmt: skip

PMAP = (
    Case(
        name="pmap of twice as many slices as devices", kind="pmap",
        code="""\
x = np.arange(1., 65.).reshape(16, 4)
double = jax.pmap(lambda row: row * 2)
result = double(x).reshape(16, 4)
""",
        says=("`x` has 16 along dimension 0, and `pmap` gives one to each of 8 devices: 16 / 8 = 2",),
        want="np.arange(1., 65.).reshape(16, 4) * 2",
        by_hand={
            "reshape dimension 0 from 16 to 8 x 2 and": (("double(x)", "double(x.reshape(8, 2, 4))"), ("jax.pmap(lambda row: row * 2)", "jax.pmap(jax.vmap(lambda row: row * 2))")),
            "use `jax.jit` of the": (("jax.pmap(lambda row: row * 2)", "jax.jit(jax.vmap(lambda row: row * 2))"), ("double(x)", "double(jax.device_put(x, NamedSharding(MESH, P('data'))))")),
        },
    ),
    Case(
        name="pmap of arguments of two lengths", kind="pmap",
        code="""\
x, scale = np.ones((8, 4)), np.full(4, 3.)
times = jax.pmap(lambda row, scale: row * scale)
result = times(x, scale)
""",
        says=("`pmap` needs one length along dimension 0 of all it maps: `x` has 8, `scale` has 4",),
        want="np.full((8, 4), 3.)", by_hand={"give `pmap` `in_axes`": (("* scale)", "* scale, in_axes=(0, None))"),)},
    ),
    Case(
        name="pmap of a tree of another length", kind="pmap",
        code="""\
params = {'w': np.full(4, 3.)}
x = np.ones((8, 4))
times = jax.pmap(lambda params, row: row * params['w'])
result = times(params, x)
""",
        says=("`params['w']` has 4, `x` has 8",), want="np.full((8, 4), 3.)",
        by_hand={"give `pmap` `in_axes`": (("['w'])", "['w'], in_axes=(None, 0))"),)},
    ),
    Case(
        name="pmap of a scalar", kind="pmap",
        code="x = np.ones((8, 4))\ntimes = jax.pmap(lambda row, scale: row * scale)\nresult = times(x, 3.)\n",
        says=("`pmap` maps dimension 0 of every argument, and one of them is a scalar",), want="np.full((8, 4), 3.)",
        by_hand={"give `pmap` `in_axes` with `None` for that": (("* scale)", "* scale, in_axes=(0, None))"),)},
        since=(0, 9, 0),
    ),
    Case(
        name="pmap of what cannot be told", kind="pmap",
        code="""\
step = jax.pmap(lambda w, x: w + x)
w = np.ones((8, 3))
result = step(w, np.ones((32, 3)))
""",
        says=("do not have one slice for each device along the mapped dimension: one of them has 4",), fits=(), since=(0, 9, 0),
    ),
    Case(
        name="pmap with a wrong axis_size", kind="pmap",
        code="x = np.ones((8, 4))\nresult = jax.pmap(lambda row: row * 3, axis_size=4)(x)\n",
        says=("`axis_size` is 4, but the arrays that `pmap` maps have 8",), want="np.full((8, 4), 3.)",
        by_hand={"leave `axis_size` out": ((", axis_size=4", ""),)}, since=(0, 9, 0),
    ),
    Case(
        name="pmap on fewer devices", kind="pmap",
        code="""\
def loss(x, axis):
    f = jax.pmap(lambda row: row - lax.pmean(row, 'i'), axis_name='i', devices=jax.devices()[:4])
    return f(x)
x = np.ones((8, 4))
result = loss(x, 0).reshape(8, 4)
""",
        says=("`x` has 8 along dimension 0, and `pmap` gives one to each of 4 devices: 8 / 4 = 2",),
        want="np.zeros((8, 4))",
        by_hand={
            "reshape dimension 0 from 8 to 4 x 2": (("f(x)", "f(x.reshape(4, 2, 4))"), ("lambda row: row - lax.pmean(row, 'i')", "jax.vmap(lambda row: row - lax.pmean(row, 'i'))")),
            "use `jax.jit` of the": (("jax.pmap(lambda row: row - lax.pmean(row, 'i'), axis_name='i', devices=jax.devices()[:4])", "jax.jit(jax.vmap(lambda row: row - lax.pmean(row, 'i'), axis_name='i'))"), ("f(x)", "f(jax.device_put(x, NamedSharding(MESH, P('model'))))")),
        },
    ),
)  # fmt: skip

ORDERED = (
    Case(
        name="an ordered print on eight devices", kind="ordered effects",
        code="""\
@jax.jit
def step(x):
    jax.debug.print("{}", x.sum(), ordered=True)
    return x * 2
x = counted(8, 8, spec=P('data'), mesh=MESH)
result = step(x)
""",
        says=("the program runs on 8 devices, and `jax.debug.print` or `jax.debug.callback` in it has `ordered=True`",),
        fits=("write `ordered=False`",), by_hand={"write `ordered=False`": (("ordered=True", "ordered=False"),)}, want=f"{COUNT} * 2",
    ),
    Case(
        name="an ordered print under shard_map", kind="ordered effects",
        code="""\
def body(x):
    jax.debug.print("{}", x.sum(), ordered=True)
    return x * 2
step = jax.jit(jax.shard_map(body, mesh=MESH, in_specs=P('data'), out_specs=P('data')))
result = step(np.ones((8, 8)))
""",
        says=("the program runs on several devices",), by_hand={"write `ordered=False`": (("ordered=True", "ordered=False"),)}, want="np.full((8, 8), 2.)",
    ),
)  # fmt: skip


def typed(name: str, call: str, want: str = "", **more: object) -> Case:
    """A call on an Explicit mesh; `x` is [8,8] split as `P('data', 'model')`."""
    before = str(more.pop("before", ""))
    code = f"x = counted(8, 8, spec=P('data', 'model'))\n{before}result = {call}\n"
    return Case(name=name, code=code, want=want.replace("X", f"({COUNT})"), mesh=EX, **more)  # type: ignore[arg-type]


PICKS = {"says": ("JAX will not choose how the result of `",), "kind": "indexing"}
EXPLICIT = (
    typed("a slice by number", "x[:3]", "X[:3]", **PICKS,
          fits=("x.at[:3].get(out_sharding=P())", "jax.sharding.reshard(x, P(None, None))")),
    typed("a slice in the middle", "x[1:5, 2:4] + 1", "X[1:5, 2:4] + 1", **PICKS),
    typed("every second row", "x[::2]", "X[::2]", **PICKS),
    typed("one row", "x[3]", "X[3]", **PICKS),
    typed("the last column", "x[:, -1]", "X[:, -1]", **PICKS),
    typed("rows by a list", "x[jnp.array([0, 3])]", "X[[0, 3]]", **PICKS),
    typed("take", "jnp.take(x, jnp.array([1, 2]), axis=0)", "X[[1, 2]]", **PICKS),
    typed("the diagonal", "jnp.diag(x)", "np.diag(X)", **PICKS),
    typed("set a slice", "x.at[:2].set(1.0)", "np.vstack([np.ones((2, 8)), X[2:]])", kind="indexing",
          says=("the result of `x.at[:2].set(1.0)` is split: `x` is",), fits=("x.at[:2].set(1.0, out_sharding=P('data', 'model'))",)),
    typed("add to rows", "x.at[jnp.array([1, 1])].add(2.0, mode='drop')", "X + np.array([[0], [4], [0], [0], [0], [0], [0], [0]])",
          kind="indexing", fits=("x.at[jnp.array([1, 1])].add(2.0, mode='drop', out_sharding=P('data', 'model'))",)),
    typed("lax slice", "lax.slice(x, (0, 0), (3, 8))", "X[:3]", kind="new size",
          says=("`slice` makes an array of length 3 along a dimension that is split over `data`: 3 / 2 = 1.5; `x` is `P('data', 'model')`",),
          fits=("jax.sharding.reshard(x, P(None, 'model'))", "make it a length of 4"),
          by_hand={"make it a length of 4": (("(3, 8)", "(4, 8)"), ("result = lax.slice(x, (0, 0), (4, 8))", "result = jax.sharding.reshard(lax.slice(x, (0, 0), (4, 8)), P())[:3]"))}),
    typed("dynamic slice of one dimension", "lax.dynamic_slice_in_dim(x, 0, 6, axis=1)", "X[:, :6]", kind="new size",
          says=("`dynamic_slice_in_dim` makes an array of length 6 along a dimension that is split over `model`: 6 / 4 = 1.5",),
          by_hand={"make it a length of 8": (("lax.dynamic_slice_in_dim(x, 0, 6, axis=1)", "jax.sharding.reshard(lax.dynamic_slice_in_dim(x, 0, 8, axis=1), P())[:, :6]"),)}),
    typed("one row by number", "lax.dynamic_index_in_dim(x, 1, 0)", "X[1:2]", kind="new size", says=("1 / 2 = 0.5",)),
    typed("roll", "jnp.roll(x, 1, axis=0)", "np.roll(X, 1, axis=0)", kind="new size", until=(0, 12, 0),
          says=("`roll` makes an array of length 1 along a dimension that is split over `data`: 1 / 2 = 0.5",),
          fits=("jax.sharding.reshard(x, P(None, 'model'))",)),
    typed("roll on JAX 0.12", "jnp.roll(x, 1, axis=0)", "np.roll(X, 1, axis=0)", kind="split dimension", since=(0, 12, 0),
          says=("`roll` works along dimension 0, which must not be split: `x` is",), fits=("jax.sharding.reshard(x, P(None, 'model'))",)),
    typed("roll the other dimension", "jnp.roll([x * 1][0], 1, axis=1)", "np.roll(X, 1, axis=1)", kind="new size", since=(0, 10, 2), until=(0, 12, 0),
          says=("along a dimension that is split over `model`: 1 / 4 = 0.25",), fits=()),
    # Up to 0.10.0 the message has no types.
    typed("roll the other dimension of an unknown array", "jnp.roll([x * 1][0], 1, axis=1)", "np.roll(X, 1, axis=1)", kind="new size", until=(0, 10, 1),
          says=("along a dimension that is split over `model`: 1 / 4 = 0.25",), fits=()),
    typed("roll all", "jnp.roll(x, 1)", "np.roll(X, 1)", kind="new size", since=(0, 10, 0), until=(0, 12, 0), says=("1 / 8 = 0.125",)),
    # Up to 0.9.2 `x` is not even made flat.
    typed("roll all of what is not made flat", "jnp.roll(x, 1)", "np.roll(X, 1)", kind="reshape", until=(0, 10, 0),
          says=("a reshape to [64] would cut parts",), fits=("jax.sharding.reshard(x, P(None, None))",)),
    typed("pad", "jnp.pad(x, ((1, 0), (0, 0)))", "np.pad(X, ((1, 0), (0, 0)))", kind="new size",
          says=("`pad` makes an array of length 9 along a dimension that is split over `data`: 9 / 2 = 4.5",),
          by_hand={"make it a length of 10": (("jnp.pad(x, ((1, 0), (0, 0)))", "jax.sharding.reshard(jnp.pad(x, ((1, 1), (0, 0))), P())[:9]"),)}),
    typed("pad both", "jnp.pad(x, 1)", "np.pad(X, 1)", kind="new size", says=("a dimension that is split over `model`: 10 / 4 = 2.5",),
          by_hand={"make it a length of 12": (("jnp.pad(x, 1)", "jax.sharding.reshard(jnp.pad(x, ((1, 1), (1, 3))), P())[:, :10]"),)}),
    typed("split in eight", "jnp.split(x, 8, axis=0)", "np.stack(np.split(X, 8))", kind="new size", says=("1 / 2 = 0.5",)),
    typed("split in three", "jnp.array_split(x, 3, axis=0)[0]", "X[:3]", kind="new size", says=("3 / 2 = 1.5",)),
    typed("a convolution along a split dimension", "jnp.convolve(v, k)", "np.convolve(np.arange(1., 17.), [1., 2., 3.])",
          before="v, k = counted(16, spec=P('model')), counted(3)\n", kind="new size",
          says=("`convolve` makes an array of length 18 along a dimension that is split over `model`: 18 / 4 = 4.5",)),
    typed("a convolution of split features", "lax.conv_general_dilated(v, k, (1,), 'SAME')", kind="convolution",
          before="v, k = counted(8, 4, 16, spec=P('data', 'model')), counted(4, 4, 3, spec=P(None, 'model'))\n",
          says=("it does where the kernel is replicated",)),
    typed("a convolution with a split kernel", "lax.conv_general_dilated(v, k, window_strides=(1,), padding='VALID')",
          before="v, k = counted(8, 4, 16, spec=P('data')), counted(4, 4, 3, spec=P('model'))\n", kind="convolution"),
    typed("repeat", "jnp.repeat(x, 2, axis=0)", "np.repeat(X, 2, axis=0)", kind="split dimension",
          says=("the result of `jnp.repeat(x, 2, axis=0)` is split: `x` is `P('data', 'model')`",),
          fits=("jnp.repeat(x, 2, axis=0, out_sharding=P('data', 'model'))", "jax.sharding.reshard(x, P(None, 'model'))")),
    typed("repeat of the last dimension", "jnp.repeat(x, 3, axis=-1)", "np.repeat(X, 3, axis=-1)", kind="split dimension",
          says=("`x` is `P('data', 'model')`",)),
    typed("repeat by counts", "jnp.repeat(x, np.array([1, 2] * 4), axis=0)", "np.repeat(X, [1, 2] * 4, axis=0)",
          kind="split dimension", fits=("jnp.repeat(x, np.array([1, 2] * 4), axis=0, out_sharding=P('data', 'model'))", "jax.sharding.reshard(x, P(None, 'model'))")),
    typed("repeat flat", "jnp.repeat(x, 2)", "np.repeat(X, 2)", kind="split dimension",
          says=("the result of `jnp.repeat(x, 2)` is split: `x` is `P('data', 'model')`",),
          fits=("jnp.repeat(x, 2, out_sharding=P())",)),
    # From 0.9.1 on JAX takes it.
    typed("repeat flat of what is not split", "jnp.repeat(v, 2)", "np.repeat(X, 2)", before="v = counted(8, 8)\n", kind="split dimension", until=(0, 9, 1),
          says=("JAX will not choose how the result of `jnp.repeat(v, 2)` is split",),
          fits=("jnp.repeat(v, 2, out_sharding=P())",)),
    typed("tile", "jnp.tile(x, (2, 1))", "np.tile(X, (2, 1))", kind="split dimension",
          says=("`tile` works along dimension 0, which must not be split: `x` is `P('data', 'model')`",), since=(0, 10, 0),
          fits=("jax.sharding.reshard(x, P(None, 'model'))",)),
    typed("tile both", "jnp.tile(x, (2, 3))", "np.tile(X, (2, 3))", kind="split dimension", since=(0, 10, 0),
          says=("`tile` works along dimension 0, which must not be split",)),
    typed("cumsum", "jnp.cumsum(x, axis=1)", "np.cumsum(X, axis=1)", kind="split dimension", since=(0, 10, 0),
          says=("along dimension 1, which must not be split: `x` is `P('data', 'model')`",)),
    typed("map over a split dimension", "lax.map(lambda row: row * 2, x)", "X * 2", kind="split dimension",
          says=("`map` works along dimension 0, which must not be split: `x` is",)),
    typed("scan over two trees", "lax.scan(lambda c, row: (c + row['a'].sum() + row['b'].sum(), None), 0., xs)[0]", "X.sum() * 2",
          before="xs = {'a': x, 'b': counted(8, 8, spec=P('model'))}\n", kind="split dimension",
          says=("`scan` works along dimension 0, which must not be split: `xs['a']` is",)),
    typed("singular values", "jnp.linalg.svd(x, compute_uv=False)", "np.linalg.svd(X, compute_uv=False)", kind="split dimension",
          says=("`svd` takes matrices that are not split: `x` is `P('data', 'model')`",)),
    typed("solve with both sides split", "jnp.linalg.solve(a, b)", "np.ones((8, 8)) * 0.5",
          before="a = jax.sharding.reshard(jnp.eye(8) * 2, P('data', 'model'))\nb = jax.sharding.reshard(jnp.ones((8, 8)), P('data', 'model'))\n",
          kind="split dimension"),
    typed("update a part", "lax.dynamic_update_slice(x, u, (0, 0))", "np.vstack([np.arange(1., 17.).reshape(2, 8), X[2:]])",
          before="u = counted(2, 8, spec=P(None, 'model'))\n", kind="update",
          says=("an update must be split as what it updates: `x` is `P('data', 'model')` and `u` is `P(None, 'model')`",),
          fits=("jax.sharding.reshard(u, P('data', 'model'))",)),
    typed("update one row", "lax.dynamic_update_slice(x, u, (3, 0))", "np.vstack([X[:3], np.arange(1., 9.)[None], X[4:]])",
          before="u = counted(1, 8)\n", kind="update",
          fits=("lax.dynamic_update_slice(jax.sharding.reshard(x, P(None, 'model')), jax.sharding.reshard(u, P(None, 'model')), (3, 0))",)),
    typed("two that are put together", "jnp.concatenate([x, y])", "np.vstack([X, X])", before="y = counted(8, 8)\n", kind="conflict"),
    typed("three that are put together", "jnp.concatenate([x, y, z], axis=1)", "np.hstack([X, X, X])", kind="conflict",
          before="y, z = counted(8, 8), counted(8, 8, spec=P('model'))\n"),
    typed("a reshape in two", "x.reshape(8, 2, 4)", "X.reshape(8, 2, 4)", kind="reshape"),
    typed("a product with a precision", "jnp.einsum('ij,jk->ik', x, w, precision='highest')", "X @ X", kind="contraction",
          before="w = counted(8, 8, spec=P('model'))\n"),
    typed("a product of an array's own method", "x.dot(w)", "X @ X", kind="contraction",
          before="w = counted(8, 8, spec=P('model'))\n"),
    typed("x times x", "x @ x.T", "X @ X.T", kind="contraction"),
    typed("a conflict in a choice", "1 if (x + y).shape else 2", "1", before="y = counted(8, 8, spec=P('model', 'data'))\n", kind="conflict",
          says=("`x` is `P('data', 'model')` and `y` is `P('model', 'data')`",)),
    typed("where", "jnp.where(x > 9, x, y)", "X", before="y = counted(8, 8, spec=P('model', 'data'))\n", kind="conflict"),
    typed("a constraint on an Explicit mesh", "lax.with_sharding_constraint(x, P('model'))", "X", kind="other spec"),
    typed("a reshape in a function of JAX's", "jnp.ravel(y)", "X.ravel()", kind="reshape",
          before="y = counted(8, 8, spec=P(None, 'model'))\n"),
)  # fmt: skip

LOOPS = (
    typed("a carry that is moved", "lax.scan(body, x, None, length=3)[0]", "X * 8", kind="loop type",
          before="def body(c, _):\n    new = jax.sharding.reshard(c, P('model')) * 2\n    return new, None\n",
          says=("the body of `scan` must keep the type of its carry: `c` goes in as `P('data', 'model')` and comes out as `P('model', None)`",),
          by_hand={"let the body return `c` through `jax.sharding.reshard` to `P('data', 'model')`": (("return new,", "return jax.sharding.reshard(new, P('data', 'model')),"),)}),
    typed("a carry that starts replicated", "lax.scan(body, start, x[None])[0]", "X", kind="loop type",
          before="start = jnp.zeros((8, 8))\ndef body(total, step):\n    new = total + step\n    return new, None\n",
          says=("`total` goes in as `P(None, None)` and comes out as `P('data', 'model')`",),
          by_hand={"let the body return `total` through": (("return new,", "return jax.sharding.reshard(new, P(None, None)),"),)}),
    typed("one leaf of a carry", "lax.scan(body, {'w': x, 'm': x}, None, length=2)[0]['m']", "X", kind="loop type",
          before="def body(c, _):\n    new = jax.sharding.reshard(c['m'], P(None, 'model'))\n    return {'w': c['w'], 'm': new}, None\n",
          says=("`c['m']` goes in as `P('data', 'model')` and comes out as `P(None, 'model')`",),
          by_hand={"let the body return `c['m']` through": (("'m': new}", "'m': jax.sharding.reshard(new, P('data', 'model'))}"),)}),
    typed("fori_loop", "lax.fori_loop(0, 3, body, x)", "X * 8", kind="loop type",
          before="def body(i, c):\n    new = jax.sharding.reshard(c * 2, P(None, 'model'))\n    return new\n",
          says=("the body of `fori_loop` must keep the type of its carry: `c` goes in as `P('data', 'model')` and comes out as `P(None, 'model')`",),
          by_hand={"let the body return `c` through": (("return new", "return jax.sharding.reshard(new, P('data', 'model'))"),)}),
    typed("while_loop", "lax.while_loop(lambda c: c[0] < 3, body, (0, x))[1]", "X * 8", kind="loop type",
          before="def body(c):\n    new = jax.sharding.reshard(c[1] * 2, P(None, 'model'))\n    return c[0] + 1, new\n",
          says=("the body of `while_loop` must keep the type of its carry: `c[1]` goes in as",),
          by_hand={"let the body return `c[1]` through": (("1, new", "1, jax.sharding.reshard(new, P('data', 'model'))"),)}),
    typed("branches that differ", "lax.cond(True, one, other, x)", "X", kind="branch type",
          before="def one(x):\n    return x\ndef other(x):\n    new = jax.sharding.reshard(x, P(None, 'model'))\n    return new\n",
          says=("the branches of `cond` must give one type: `true_fun` gives `P('data', 'model')`, `false_fun` gives `P(None, 'model')`",),
          by_hand={"let `false_fun` return through `jax.sharding.reshard` to `P('data', 'model')`": (("return new", "return jax.sharding.reshard(new, P('data', 'model'))"),)}),
    typed("a switch whose branches differ", "lax.switch(0, [one, other], x)", "X", kind="branch type",
          before="def one(x):\n    return x\ndef other(x):\n    new = jax.sharding.reshard(x, P(None, 'model'))\n    return new\n",
          by_hand={"let `branch1` return through": (("return new", "return jax.sharding.reshard(new, P('data', 'model'))"),)}),
    Case(
        name="a carry of another dtype", kind="loop type",
        code="result = lax.scan(lambda c, x: (c + x, None), np.int32(0), np.ones(3, np.float32))[0]\n",
        says=("`c` goes in as `int32[]` and comes out as `float32[]`",), want="np.int32(3)",
        by_hand={"let the body return `c` through `.astype('int32')`": (("(c + x,", "((c + x).astype('int32'),"),)},
    ),
    Case(
        name="branches of two dtypes", kind="branch type",
        code="result = lax.cond(True, lambda x: x, lambda x: x.astype(jnp.int32), np.ones(3, np.float32))\n",
        says=("`true_fun` gives `float32[3]`, `false_fun` gives `int32[3]`",), want="np.ones(3)",
        by_hand={"let `false_fun` return through `.astype('float32')`": (("x.astype(jnp.int32)", "x.astype(jnp.int32).astype('float32')"),)},
    ),
    Case(
        name="a sum within shard_map that starts equal everywhere", kind="loop type",
        code="""\
def body(x):
    total, _ = lax.scan(lambda c, row: (c + row, None), jnp.zeros(()), x)
    return total[None]
result = jax.shard_map(body, mesh=MESH, in_specs=P('model'), out_specs=P('model'))(np.ones(8))
""",
        says=("`c` goes in as the same on all devices and comes out as varying over `model`",),
        fits=(varying("jnp.zeros(())", "('model',)"),), want="np.full(4, 2.)",
    ),
    Case(
        name="branches within shard_map", kind="branch type",
        code="""\
def body(x):
    zero = jnp.zeros(x.shape)
    return lax.cond(True, lambda: x, lambda: zero)
result = jax.shard_map(body, mesh=MESH, in_specs=P('model'), out_specs=P('model'))(np.ones(8))
""",
        says=("`true_fun` gives varying over `model`, `false_fun` gives the same on all devices",), want="np.ones(8)",
        by_hand={f"let `false_fun` return through `{CAST}` to varying over `model`": (("lambda: zero", f"lambda: {varying('zero', repr('model'))}"),)},
    ),
)  # fmt: skip

REPLICATION = (
    Case(
        name="a sum that is not made", kind="replication",
        code="""\
loss = jax.shard_map(lambda x: x.sum(), mesh=MESH, in_specs=P('data'), out_specs=P())
result = loss(np.ones((8, 8)))
""",
        says=("`out_specs` (`P()`) says that the result is equal along `data`, which JAX cannot see",),
        by_hand={"return it through `jax.lax.psum` over `data`": (("x.sum()", "lax.psum(x.sum(), 'data')"),),
                 "return it through `jax.lax.pmean` over `data`": (("x.sum()", "lax.pmean(x.sum(), 'data')"),),
                 "name `data` in `out_specs`": (("out_specs=P()", "out_specs=P('data')"), ("x.sum()", "x.sum()[None]")),
                 "give `jax.shard_map` `check_vma=False`": (("out_specs=P()", "out_specs=P(), check_vma=False"),)},
    ),
    Case(
        name="parts that are gathered", kind="replication",
        code="""\
gather = jax.shard_map(lambda x: lax.all_gather(x, 'model', tiled=True), mesh=MESH, in_specs=P('model'), out_specs=P())
result = gather(np.ones((8, 8)))
""",
        says=("equal along `model`",),
        by_hand={"return it through": (("lax.all_gather(x, 'model', tiled=True)", "lax.psum(lax.all_gather(x, 'model', tiled=True), 'model')"),),
                 "name `model` in `out_specs`": (("out_specs=P()", "out_specs=P('model')"),),
                 "give `jax.shard_map` `check_vma=False`": (("out_specs=P()", "out_specs=P(), check_vma=False"),)},
    ),
    Case(
        name="one result of two", kind="replication",
        code="""\
def step(w, x):
    return {'loss': x.sum()[None], 'y': x * w}
run = jax.shard_map(step, mesh=MESH, in_specs=(P(), P('data', 'model')), out_specs={'loss': P(), 'y': P('data', 'model')})
result = run(np.float32(2), np.ones((8, 8)))
""",
        says=("equal along `data` and `model`",),
        by_hand={"return it through": (("x.sum()[None]", "lax.psum(x.sum()[None], ('data', 'model'))"),),
                 "name `data` and `model` in `out_specs`": (("'loss': P()", "'loss': P(('data', 'model'))"),),
                 "give `jax.shard_map`": (("mesh=MESH,", "mesh=MESH, check_vma=False,"),)},
    ),
)  # fmt: skip

DELETED = (
    Case(
        name="an array used after it was donated", kind="deleted",
        code="""\
step = jax.jit(lambda x: x * 2, donate_argnums=0)
x = jnp.ones((8, 8))
y = step(x)
result = x + y
""",
        says=("`x` has no data any more: `step(x)` in line 3 donates it (`donate_argnums`)",),
        by_hand={"go on with what `step(x)` returned": (("x + y", "y + y"),)},
    ),
    Case(
        name="a state given twice", kind="deleted",
        code="""\
@partial(jax.jit, donate_argnames='state')
def step(state, x):
    return {'w': state['w'] + x, 'n': state['n'] + 1}
def train(state):
    for x in (1., 2.):
        new = step(state, x)
    return new
result = train({'w': jnp.zeros(4), 'n': jnp.zeros((), int)})
""",
        says=("`state['n']`", "no data any more: `step(state, x)` in line 6 donates it"),
        by_hand={"go on with what": (("new = step(state, x)", "state = new = step(state, x)"),)},
    ),
    Case(
        name="an array read after it was donated", kind="deleted",
        code="""\
step = jax.jit(lambda w, x: w * x, donate_argnums=(0,))
w, x = counted(8, 8, spec=P('data'), mesh=MESH), 2.
new = step(w, x)
result = np.asarray(w)
""",
        says=("`w` has no data any more: `step(w, x)` in line 3 donates it",),
        by_hand={"go on with what `step(w, x)` returned": (("np.asarray(w)", "np.asarray(new)"),)},
    ),
    Case(
        name="an array deleted by hand", kind="deleted",
        code="x = jnp.ones(4)\nx.delete()\nresult = x + 1\n",
        says=("`x` has no data any more: it was deleted",),
        by_hand={"go on with what the function returned": (("x.delete()", "x = jax.jit(lambda x: x)(x)"),),
                 "give the donating function a copy": (("x.delete()", "jnp.copy(x).delete()"),)},
    ),
    Case(
        name="one array for two donated arguments", kind="deleted",
        code="swap = jax.jit(lambda x, y: (y + 1, x * 2), donate_argnums=(0, 1))\nx = jnp.ones(4)\nresult = swap(x, x)\n",
        says=("`x` is given to two donated arguments",), fits=("swap(x, jnp.copy(x))",), want="(np.full(4, 2.), np.full(4, 2.))",
    ),
)  # fmt: skip

STATIC = (
    Case(
        name="a list as a static argument", kind="static argument",
        code="""\
take = jax.jit(lambda x, sizes: x[:sum(sizes)], static_argnums=1)
result = take(np.arange(8.), [1, 2])
""",
        says=("`[1, 2]` is static and of the type `list`, which has no hash",), fits=("tuple([1, 2])",), want="np.arange(3.)",
    ),
    Case(
        name="a list in a variable as a static argument", kind="static argument",
        code="""\
take = jax.jit(lambda x, sizes: x[:sum(sizes)], static_argnames='sizes')
sizes = [1, 2]
result = take(np.arange(8.), sizes=sizes)
""",
        says=("`sizes` is static and of the type `list`",), fits=("tuple(sizes)",), want="np.arange(3.)",
    ),
    Case(
        name="nested lists as a static argument", kind="static argument",
        code="take = jax.jit(lambda x, sizes: x[:sizes[0][0]], static_argnums=1)\nresult = take(np.arange(8.), [[1], [2]])\n",
        want="np.arange(1.)", by_hand={"pass a tuple in place of the list": (("[[1], [2]]", "((1,), (2,))"),)},
    ),
    Case(
        name="a dict as a static argument", kind="static argument",
        code="""\
scale = jax.jit(lambda x, options: x * options['by'], static_argnums=1)
result = scale(np.arange(8.), {'by': 2})
""",
        says=("`{'by': 2}` is static and of the type `dict`",), want="np.arange(8.) * 2",
        by_hand={"pass `tuple(sorted(d.items()))`": (("{'by': 2}", "tuple(sorted({'by': 2}.items()))"), ("options['by']", "dict(options)['by']"))},
    ),
    Case(
        name="an array as a static argument", kind="static argument",
        code="scale = jax.jit(lambda x, by: x * by, static_argnums=1)\nby = np.full(8, 2.)\nresult = scale(np.arange(8.), by)\n",
        says=("`by` is static and of the type `array`",), want="np.arange(8.) * 2",
        by_hand={"leave it out of the static": ((", static_argnums=1", ""),)},
    ),
    Case(
        name="a dataclass as a static argument", kind="static argument",
        code="""\
from dataclasses import dataclass
@dataclass
class Config:
    by: int = 2
scale = jax.jit(lambda x, config: x * config.by, static_argnames='config')
config = Config()
result = scale(np.arange(8.), config)
""",
        says=("`config` is static and of the type `Config`, which has no hash",), want="np.arange(8.) * 2",
        by_hand={"give `Config` a hash": (("@dataclass\n", "@dataclass(frozen=True)\n"),)},
    ),
    Case(
        name="text that is traced", kind="static argument",
        code="act = jax.jit(lambda x, kind: x * 2 if kind == 'twice' else x)\nresult = act(np.arange(8.), 'twice')\n",
        says=("`kind` is given an object of the type `str`, which is no array",), want="np.arange(8.) * 2",
        by_hand={"name it in the `jax.jit` of the function: `static_argnames='kind'`": (("else x)", "else x, static_argnames='kind')"),)},
    ),
)  # fmt: skip


def traced(name: str, body: str, call: str, want: str, **more: object) -> Case:
    """A jitted function `f` of `x` and `n`."""
    code = f"@jax.jit\ndef f(x, n):\n    {body}\nresult = {call}\n"
    return Case(name=name, code=code, kind=str(more.pop("kind", "traced value")), want=want, **more)  # type: ignore[arg-type]


STATIC_N = {
    "name it in the `jax.jit` of `f`: `static_argnames='n'`": (("@jax.jit", "@partial(jax.jit, static_argnames='n')"),)
}
STATIC_X = {
    "name it in the `jax.jit` of `f`: `static_argnames='x'`": (("@jax.jit", "@partial(jax.jit, static_argnames='x')"),)
}
TRACED = (
    traced("an if", "if n > 0:\n        return x\n    return -x", "f(3., 2)", "3.",
           says=("the `if` asks whether `n > 0` is true, which depends on the argument `n`: while `f` is traced for `jit`",),
           by_hand=STATIC_N | {"use `jnp.where`": (("if n > 0:\n        return x\n    return -x", "return jnp.where(n > 0, x, -x)"),),
                               "use `jax.lax.cond`": (("if n > 0:\n        return x\n    return -x", "return lax.cond(n > 0, lambda: x, lambda: -x)"),)}),
    traced("a choice in a line", "return x if n > 0 else -x", "f(3., 2)", "3.", says=("`n`",),
           fits=("jnp.where(n > 0, x, -x)", "name it in the `jax.jit` of `f`: `static_argnames='n'`"), by_hand=STATIC_N),
    traced("two truths", "return (n > 0) and (n < 5)", "f(3., 2)", "True", by_hand=STATIC_N,
           fits=("jnp.logical_and(n > 0, n < 5)", "name it in the `jax.jit` of `f`: `static_argnames='n'`")),
    traced("not", "return not n > 0", "f(3., 2)", "False", by_hand=STATIC_N,
           fits=("jnp.logical_not(n > 0)", "name it in the `jax.jit` of `f`: `static_argnames='n'`")),
    traced("a while", "while n > 0:\n        n = n - 1\n        x = x * 2\n    return x", "f(3., 2)", "12.",
           says=("the `while` asks whether `n > 0` is true",),
           by_hand=STATIC_N | {"use `jax.lax.while_loop`": (("while n > 0:\n        n = n - 1\n        x = x * 2\n    return x", "return lax.while_loop(lambda c: c[0] > 0, lambda c: (c[0] - 1, c[1] * 2), (n, x))[1]"),)}),
    traced("an assert", "assert n > 0\n    return x", "f(3., 2)", "3.", says=("the `assert` asks whether",),
           by_hand=STATIC_N | {"use `jax.experimental.checkify`": (("    assert n > 0\n", ""), ("result = ", "n = 2\nassert n > 0\nresult = "))}),
    traced("the larger one", "return max(x, n)", "f(3., 2)", "3.",
           says=("which depends on the arguments `x` and `n`",),
           by_hand={"name it in": (("@jax.jit", "@partial(jax.jit, static_argnames=('x', 'n'))"),)}),
    traced("a float", "return float(x) * n", "f(3., 2)", "6.", says=("`float(x)` needs its value as a number, which depends on the argument `x`",),
           by_hand=STATIC_X | {"write `jnp.asarray(x, float)`": (("float(x)", "jnp.asarray(x, float)"),)}),
    traced("an item", "return x.item() * n", "f(3., 2)", "6.", by_hand={"write `x`": (("x.item()", "x"),)}),
    traced("a sine of numpy", "return np.sin(x) * n", "f(3., 2)", "np.sin(3.) * 2", fits=("jnp.sin(x)",),
           says=("`np.sin(x)` needs its values as a numpy array",)),
    traced("an array of numpy", "return np.asarray(x) * n", "f(3., 2)", "6.", fits=("jnp.asarray(x)",)),
    traced("a mean of numpy", "return np.linalg.norm(x) * n", "f(np.ones(4), 2)", "4.", fits=("jnp.linalg.norm(x)",)),
    traced("a table of numpy", "return np.arange(4)[n] * x", "f(3., 2)", "6.", fits=("jnp.asarray(np.arange(4))[n]",)),
    traced("a range", "for _ in range(n):\n        x = x * 2\n    return x", "f(3., 2)", "12.", says=("`range(n)` needs its value as an integer",),
           by_hand=STATIC_N | {"use `jax.lax.fori_loop`": (("for _ in range(n):\n        x = x * 2\n    return x", "return lax.fori_loop(0, n, lambda i, x: x * 2, x)"),)}),
    traced("an item of a list", "return [x, x * 2, x * 3][n]", "f(3., 2)", "9.",
           by_hand=STATIC_N | {"make one array of what": (("[x, x * 2, x * 3][n]", "jnp.stack([x, x * 2, x * 3])[n]"),)}),
    traced("a shape", "return jnp.zeros((n, 4)) + x", "f(3., 2)", "np.full((2, 4), 3.)", by_hand=STATIC_N,
           says=("`jnp.zeros((n, 4))` needs a length of an array, which depends on the argument `n`",)),
    traced("a new shape", "return x.reshape((n, -1))", "f(np.ones(4), 2)", "np.ones((2, 2))", by_hand=STATIC_N),
    traced("arange", "return jnp.arange(n) * x", "f(3., 2)", "np.arange(2) * 3.", by_hand=STATIC_N),
    traced("an axis", "return jnp.sum(x, axis=n)", "f(np.ones((2, 3)), 0)", "np.full(3, 2.)", by_hand=STATIC_N,
           says=("`jnp.sum(x, axis=n)` needs an axis",)),
    traced("the first n", "return x[:n]", "f(np.ones(4), 2).sum()", "2.", says=("`x[:n]` needs where a slice begins or ends",),
           by_hand={"make `n` static, by `static_argnames='n'`": (("@jax.jit", "@partial(jax.jit, static_argnames='n')"),),
                    "keep the length": (("x[:n]", "jnp.where(jnp.arange(4) < n, x, 0)"),)}),
    traced("a mask", "return x[x > n].sum()", "f(np.arange(4.), 1)", "5.", says=("`x[x > n]` needs how many entries are true",),
           by_hand={"use `jnp.where` of the mask": (("x[x > n]", "jnp.where(x > n, x, 0)"),),
                    "use `jnp.nonzero` of the mask with `size=`": (("x[x > n]", "x[jnp.nonzero(x > n, size=2)]"),)}),
    traced("nonzero", "return jnp.nonzero(x)[0] * n", "f(np.array([0., 1., 1.]), 1)", "np.array([1, 2])",
           by_hand={"give `nonzero` the argument `size`": (("jnp.nonzero(x)", "jnp.nonzero(x, size=2)"),)}),
    traced("the unique ones", "return jnp.unique(x) * n", "f(np.array([1., 1., 2.]), 1)", "np.array([1., 2.])",
           by_hand={"give `unique` the argument `size`": (("jnp.unique(x)", "jnp.unique(x, size=2)"),)}),
    traced("repeats that are traced", "return jnp.repeat(x, n)", "f(np.ones(2), 3)", "np.ones(6)",
           by_hand=STATIC_N | {"give `repeat` the argument `total_repeat_length`": (("(x, n)", "(x, n, total_repeat_length=6)"),)}),
    traced("a key", "return {0: x, 1: x * 2}[n]", "f(3., 1)", "6.",
           by_hand={"keep the values in an array": (("{0: x, 1: x * 2}[n]", "jnp.stack([x, x * 2])[n]"),)}),
    traced("a formatted value", "print(f'{x:.3f}')\n    return x", "f(3., 1)", "3.",
           by_hand={"use `jax.debug.print`": (("print(f'{x:.3f}')", "jax.debug.print('{:.3f}', x)"),)}),
    traced("any of them", "return any(x > n)", "f(np.arange(4.), 1)", "True", fits=("jnp.any(x > n)",)),
    traced("one of them", "return n in x", "f(np.arange(4.), 1)", "True", fits=("jnp.any(x == n)",)),
    traced("none of them", "return n not in x", "f(np.arange(4.), 1)", "False", fits=("~jnp.any(x == n)",)),
    traced("an if any", "if any(x > n):\n        return x\n    return -x", "f(np.arange(4.), 1)", "np.arange(4.)",
           says=("the `if` asks whether `any(x > n)` is true",),
           by_hand={"use `jnp.where`": (("if any(x > n):\n        return x\n    return -x", "return jnp.where(jnp.any(x > n), x, -x)"),),
                    "use `jax.lax.cond`": (("if any(x > n):\n        return x\n    return -x", "return lax.cond(jnp.any(x > n), lambda: x, lambda: -x)"),)}),
    traced("an assert of two", "assert x.shape == (4,) and jnp.all(x >= 0), 'bad'\n    return x", "f(np.arange(4.), 1)", "np.arange(4.)",
           says=("the `assert` asks whether `x.shape == (4,) and jnp.all(x >= 0)` is true",),
           by_hand={"use `jax.experimental.checkify`": ((" and jnp.all(x >= 0)", ""),)}),
    traced("numpy's list of unique ones", "return np.unique(x)", "f(np.arange(4.), 1)", "np.arange(4.)",
           fits=("use a function of `jax.numpy`", "use `jax.pure_callback`"),
           by_hand={"use a function of `jax.numpy`": (("np.unique(x)", "jnp.unique(x, size=4)"),),
                    "use `jax.pure_callback`": (("np.unique(x)", "jax.pure_callback(np.unique, jax.ShapeDtypeStruct((4,), x.dtype), x)"),)}),
    Case(
        name="a module of a library", needs="flax", kind="traced value",
        code="""\
import flax.linen as nn
class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        if train:
            return nn.Dense(1)(x) * 0
        return nn.Dense(1)(x)
net = Net()
weights = net.init(jax.random.key(0), np.ones((2, 4)), True)
result = jax.jit(net.apply)(weights, np.ones((2, 4)), True)
""",
        says=("the `if` asks whether `train` is true",), want="np.zeros((2, 1))",
        by_hand={"use `jnp.where`": (("        if train:\n            return nn.Dense(1)(x) * 0\n        return nn.Dense(1)(x)", "        y = nn.Dense(1)(x)\n        return jnp.where(train, y * 0, y)"),),
                 "use `jax.lax.cond`": (("        if train:\n            return nn.Dense(1)(x) * 0\n        return nn.Dense(1)(x)", "        y = nn.Dense(1)(x)\n        return lax.cond(train, lambda: y * 0, lambda: y)"),)},
    ),
    Case(
        name="an if under vmap", kind="traced value",
        code="def g(x):\n    if x > 0:\n        return x\n    return -x\nresult = jax.vmap(g)(np.array([-1., 2.]))\n",
        says=("the `if` asks whether `x > 0` is true",), want="np.array([1., 2.])",
        by_hand={"use `jnp.where`": (("if x > 0:\n        return x\n    return -x", "return jnp.where(x > 0, x, -x)"),),
                 "use `jax.lax.cond`": (("if x > 0:\n        return x\n    return -x", "return lax.cond(x > 0, lambda: x, lambda: -x)"),)},
    ),
    Case(
        name="an if in a scan", kind="traced value",
        code="def body(c, x):\n    if x > 0:\n        c = c + x\n    return c, x\nresult = lax.scan(body, 0., np.array([-1., 2.]))[0]\n",
        says=("which depends on the argument `x`: while `body` is traced for `scan`",), want="2.",
        by_hand={"use `jnp.where`": (("if x > 0:\n        c = c + x", "c = jnp.where(x > 0, c + x, c)"),),
                 "use `jax.lax.cond`": (("if x > 0:\n        c = c + x", "c = lax.cond(x > 0, lambda: c + x, lambda: c)"),)},
    ),
)  # fmt: skip

BRANCHES = (
    typed("one of two results of a branch", "lax.cond(True, one, other, x)['b']", "X", kind="branch type",
          before="def one(x):\n    return {'a': x, 'b': x}\ndef other(x):\n    new = jax.sharding.reshard(x, P(None, 'model'))\n    return {'a': x, 'b': new}\n",
          says=("`true_fun` gives `P('data', 'model')` at `['b']`, `false_fun` gives `P(None, 'model')`",),
          by_hand={"let `false_fun` return through": (("'b': new}", "'b': jax.sharding.reshard(new, P('data', 'model'))}"),)}),
    Case(
        name="text in a tree that is traced", kind="static argument",
        code="f = jax.jit(lambda cfg: cfg['x'] * 2)\nresult = f({'x': 1., 'name': 'a'})\n",
        says=("`cfg['name']` is given an object of the type `str`",), want="2.",
        by_hand={"take it out of `cfg`": (("lambda cfg:", "lambda cfg, name:"), (", 'name': 'a'})", "}, 'a')"), ("* 2)", "* 2, static_argnums=1)"))},
    ),
    Case(
        name="a named tuple for shardings", kind="prefix",
        code=S + """\
from typing import NamedTuple
class Pair(NamedTuple):
    w: object
    b: object
result = jax.jit(lambda p: p.w + p.b, in_shardings=((s, s),))(Pair(np.ones(8), np.ones(8)))
""",
        says=("`in_shardings[0]` is a tuple, but the argument is an object of the type `Pair`",), want="np.full(8, 2.)",
        by_hand={"write it as an object of the type `Pair`": (("((s, s),)", "(Pair(s, s),)"),), "give one": (("((s, s),)", "(s,)"),)},
    ),
)  # fmt: skip

LEAKED = (
    Case(
        name="a value kept in a list", kind="leaked value",
        code="kept = []\n@jax.jit\ndef f(x):\n    kept.append(x * 2)\n    return x\nf(3.)\nresult = kept[0] + 1\n",
        says=("`kept[0]` is an intermediate value of `f` (traced for `jit`), and was kept after the function returned",),
        want="7.",
        by_hand={"return the value from `f`": (("    kept.append(x * 2)\n    return x\nf(3.)", "    return x * 2\nkept.append(f(3.))"),),
                 "run it under `jax.checking_leaks()`": (("    kept.append(x * 2)\n    return x\nf(3.)", "    return x * 2\nwith jax.checking_leaks():\n    kept.append(f(3.))"),)},
    ),
    Case(
        name="a value kept in an object", kind="leaked value",
        code="""\
class Model:
    @partial(jax.jit, static_argnums=0)
    def step(self, x):
        self.last = x * 2
        return x
model = Model()
model.step(3.)
result = model.last + 1
""",
        says=("`model.last` is an intermediate value of `step`",), want="7.",
        by_hand={"return the value from `step`": (("        self.last = x * 2\n        return x\n", "        return x, x * 2\n"), ("model.step(3.)\n", "_, model.last = model.step(3.)\n")),
                 "run it under": (("        self.last = x * 2\n        return x\n", "        return x, x * 2\n"), ("model.step(3.)\n", "with jax.checking_leaks():\n    _, model.last = model.step(3.)\n"))},
    ),
    Case(
        name="a kept value that numpy asks for", kind="leaked value",
        code="kept = []\n@jax.jit\ndef f(x):\n    kept.append(x * 2)\n    return x\nf(3.)\nresult = np.asarray(kept[0]) + 1\n",
        says=("`np.asarray(kept[0])` uses an intermediate value of `f` (traced for `jit`)",), want="7.",
        by_hand={"return the value from `f`": (("    kept.append(x * 2)\n    return x\nf(3.)", "    return x * 2\nkept.append(f(3.))"),)},
    ),
    Case(
        name="a value kept by a gradient", kind="leaked value",
        code="kept = []\ndef loss(x):\n    kept.append(x * 2)\n    return x ** 2\njax.grad(loss)(3.)\nresult = kept[0] + 1\n",
        says=("`kept[0]` is an intermediate value of",), want="7.",
        by_hand={"return the value from the function": (("    kept.append(x * 2)\n    return x ** 2\njax.grad(loss)(3.)", "    return x ** 2, x * 2\nkept.append(jax.grad(loss, has_aux=True)(3.)[1])"),),
                 "run it under": (("    kept.append(x * 2)\n    return x ** 2\njax.grad(loss)(3.)", "    return x ** 2, x * 2\nwith jax.checking_leaks():\n    kept.append(jax.grad(loss, has_aux=True)(3.)[1])"),)},
    ),
)  # fmt: skip

SIX = "np.arange(1., 49.).reshape(6, 8)"


def spec_case(name: str, code: str, spec: str, **more: object) -> Case:
    """A program whose spec is refused: `SPEC` in its code."""
    changes = dict(more.pop("by_hand", {}))  # type: ignore[call-overload]
    code = code.replace("SPEC", spec)
    return Case(name=name, code=code, by_hand=changes | {"SPEC": ((spec, ""),)}, **more)  # type: ignore[arg-type]


SIXES = f"x = {SIX}\n"
SPECS = (
    spec_case("a placed array", SIXES + "result = jax.device_put(x, NamedSharding(MESH, SPEC))\n", "P('model')",
              kind="indivisible", says=("dimension 0 of `x` is 6, and `P('model', None)` splits it over `model` (4): 6 / 4 = 1.5",),
              fits=("P('data', None)", "P(None, 'model')", "pad dimension 0 from 6 to 8", "P(None, None)"), want=SIX,
              by_hand={"pad dimension 0": (("device_put(x,", "device_put(np.pad(x, ((0, 2), (0, 0))),"), ("P('model')))", "P('model')))[:6]"))}),
    spec_case("in_shardings of a dict", "params = {'w': np.arange(1., 49.).reshape(6, 8)}\nplace = NamedSharding(MESH, SPEC)\n"
              "step = jax.jit(lambda p, x: p['w'] * x, in_shardings=({'w': place}, None))\nresult = step(params, 2.)\n",
              "P('model', None)", kind="indivisible", says=("6 / 4 = 1.5",), want=SIX + " * 2",
              by_hand={"pad dimension 0": (("step(params, 2.)", "step({'w': np.pad(params['w'], ((0, 2), (0, 0)))}, 2.)[:6]"),)}),
    spec_case("out_shardings", SIXES + "result = jax.jit(lambda x: x * 2, out_shardings=NamedSharding(MESH, SPEC))(x)\n",
              "P(('data', 'model'))", kind="indivisible", says=("6 / 8 = 0.75",), want=SIX + " * 2",
              by_hand={"pad dimension 0 from 6 to 8": ((")(x)", ")(np.pad(x, ((0, 2), (0, 0))))[:6]"),)}),
    spec_case("in_specs of shard_map", SIXES + "f = jax.shard_map(lambda x: x * 2, mesh=MESH, in_specs=SPEC, out_specs=SPEC)\nresult = f(x)\n",
              "P('model')", kind="indivisible", says=("dimension 0 of `x` is 6",), want=SIX + " * 2",
              by_hand={**{f"write `{one}`": (("P('model')", one),) for one in ("P('data', None)", "P(None, 'model')", "P(None, None)")},
                       "pad dimension 0": (("f(x)", "f(np.pad(x, ((0, 2), (0, 0))))[:6]"),)}),
    spec_case("a spec that is too long", "b = np.ones(6)\nresult = jax.device_put(b, NamedSharding(MESH, SPEC))\n",
              "P('data', 'model')", kind="rank", fits=("P('data')", "P(None)"), want="np.ones(6)"),
    spec_case("a scalar with a spec", "result = jax.device_put(np.float32(2), NamedSharding(MESH, SPEC))\n", "P('data')",
              kind="rank", fits=("P()",), want="np.float32(2)"),
    spec_case("in_shardings that are too long", "b = np.ones(8)\nresult = jax.jit(lambda b: b * 2, in_shardings=NamedSharding(MESH, SPEC))(b)\n",
              "P('data', None)", kind="rank", want="np.full(8, 2.)"),
    spec_case("a mistyped axis", "x = np.ones((8, 8))\nresult = jax.device_put(x, NamedSharding(MESH, SPEC))\n", "P('dat', None)",
              kind="unknown axis", fits=("P('data', None)",), want="np.ones((8, 8))"),
    spec_case("an axis that stands twice", "x = np.ones((8, 8))\nresult = jax.device_put(x, NamedSharding(MESH, SPEC))\n",
              "P('model', 'model')", kind="repeated axis", fits=("P('model', None)", "P(None, 'model')"), want="np.ones((8, 8))"),
    spec_case("the result of a product", "x, w = counted(6, 8), counted(8, 8)\nresult = jnp.einsum('ij,jk->ik', x, w, out_sharding=SPEC)\n",
              "P('model', None)", kind="indivisible", mesh=EX, says=("dimension 0 of `result` is 6",), want=f"{SIX} @ {COUNT}",
              by_hand={"pad dimension 0": (("'ij,jk->ik', x,", "'ij,jk->ik', jnp.pad(x, ((0, 2), (0, 0))),"), ("P('model', None))", "P('model', None)).at[:6].get(out_sharding=P())"))}),
    Case(
        name="a mesh that is too big", kind="mesh size",
        code="mesh = jax.make_mesh((4, 4), ('data', 'model'), axis_types=(jax.sharding.AxisType.Auto,) * 2)\nresult = np.ones(1)\n",
        says=("a mesh of shape (4, 4) needs 4 x 4 = 16 devices; there are 8",), want="np.ones(1)",
    ),
    Case(
        name="a mistyped axis of shard_map", kind="unknown axis",
        code="f = jax.shard_map(lambda x: x * 2, mesh=MESH, in_specs=P('data'), out_specs=P('dta'))\nresult = f(np.ones((8, 8)))\n",
        says=("`out_specs` names `dta`",), fits=("'data'",), want="np.full((8, 8), 2.)",
    ),
)  # fmt: skip

PLACES = (
    Case(
        name="parameters on four devices", kind="devices",
        code="""\
four = jax.sharding.Mesh(np.array(jax.devices()[:4]), ('model',))
step = jax.jit(lambda params, x: x @ params['w'])
params = {'w': counted(8, 8, spec=P('model'), mesh=four)}
x = counted(8, 8, spec=P('data'), mesh=MESH)
result = step(params, x)
""",
        says=("`params['w']` is on devices 0-3, `x` on devices 0-7",), want=f"{COUNT} @ {COUNT}",
    ),
    Case(
        name="a batch on one device", kind="devices",
        code="""\
def run(params, batch):
    return jax.jit(lambda w, x: x @ w)(params, batch)
batch = jax.device_put(np.ones((8, 8), np.float32), jax.devices()[3])
result = run(counted(8, 8, mesh=MESH), batch)
""",
        says=("`params` is on devices 0-7, `batch` on device 3",), want=f"np.ones((8, 8)) @ {COUNT}",
    ),
    Case(
        name="two single devices", kind="devices",
        code="""\
a, b = (jax.device_put(np.ones(4), jax.devices()[number]) for number in (1, 2))
result = a + b
""",
        says=("`a` is on device 1, `b` on device 2",), fits=("jax.device_put(b, a.sharding)",), want="np.full(4, 2.)",
    ),
    Case(
        name="a constraint on other devices", kind="devices",
        code="""\
four = jax.sharding.Mesh(np.array(jax.devices()[:4]), ('model',))
step = jax.jit(lambda w: lax.with_sharding_constraint(w * 2, NamedSharding(four, P('model'))))
w = counted(8, 8, spec=P('model'), mesh=MESH)
result = step(w)
""",
        says=("the sharding in `with_sharding_constraint` on devices 0-3",), want=f"{COUNT} * 2",
        by_hand={"make the sharding in `with_sharding_constraint` one of": (("NamedSharding(four", "NamedSharding(MESH"),)},
    ),
    Case(
        name="an Explicit operand of another mesh", kind="mesh",
        code="""\
turned = jax.sharding.Mesh(EX.devices.reshape(4, 2), ('model', 'data'), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
x, w = counted(8, 8, spec=P('data')), counted(8, 8, spec=P('model'), mesh=turned)
result = x @ w
""",
        mesh=EX, says=("`w` is on the mesh model=4 x data=2, but the mesh that is set is data=2 x model=4",),
        want=f"{COUNT} @ {COUNT}",
    ),
    Case(
        name="in_shardings of an Explicit argument", kind="other spec",
        code="""\
x = counted(8, 8, spec=P('data'))
result = jax.jit(lambda a: a * 2, in_shardings=NamedSharding(EX, P('model')))(x)
""",
        mesh=EX, says=("`x` is `P('data', None)`, but `in_shardings` asks for `P('model'",), want=f"{COUNT} * 2",
        by_hand={"leave `in_shardings` out": ((", in_shardings=NamedSharding(EX, P('model'))", ""),)},
    ),
    typed("a square and its like", "x + y", "X + X", before="y = counted(8, 8, spec=P('model', 'data'))\n", kind="conflict"),
    typed("a product in jit", "jax.jit(lambda x, w: jnp.tanh(x) @ w)(x, w)", "np.tanh(X) @ X", kind="contraction",
          before="w = counted(8, 8, spec=P('model'))\n"),
    typed("a product in a gradient", "jax.grad(loss)(x)", "", kind="contraction",
          before="w = counted(8, 8, spec=P('model'))\ndef loss(x):\n    return (x @ w).sum()\n"),
    typed("a product under vmap", "jax.vmap(lambda x: x @ w)(b)", "np.ones((2, 8, 8)) @ X", kind="contraction",
          before="b, w = jax.device_put(np.ones((2, 8, 8), np.float32), NamedSharding(EX, P(None, 'data', 'model'))), counted(8, 8, spec=P('model'))\n"),
    typed("an expression in a slice", "(x * 2)[:3]", "(X * 2)[:3]", kind="indexing", fits=()),
    typed("added in place", "x\nresult += y", "X + X", before="y = counted(8, 8, spec=P('model', 'data'))\n", kind="conflict", fits=()),
    typed("rows and columns", "a * b", "np.arange(1., 9.)[:, None] * np.arange(1., 9.)", kind="axis twice",
          before="a, b = counted(8, 1, spec=P('data')), counted(1, 8, spec=P(None, 'data'))\n"),
)  # fmt: skip

CASES = (
    *SPECS, *PLACES, *COMPILED, *NO_MESH, *PREFIX, *PMAP, *ORDERED, *EXPLICIT, *LOOPS, *REPLICATION, *DELETED, *STATIC, *TRACED, *BRANCHES, *LEAKED,
)  # fmt: skip
