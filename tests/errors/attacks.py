"""Programs that JAX refuses, in other styles than those of `programs`: classes, calls over several lines, helpers, trees."""

# ruff: noqa: E501

from __future__ import annotations

from .case import CAST, EX, Case, varying

COUNT = "np.arange(1., 65.).reshape(8, 8)"
CALL = "call the jitted function in place"


def on(name: str, code: str, kind: str, *says: str, **more: object) -> Case:
    """A program."""
    return Case(name=name, code=code, kind=kind, says=says, **more)  # type: ignore[arg-type]


def explicit(name: str, code: str, kind: str, *says: str, **more: object) -> Case:
    """A program on the Explicit mesh; `x` is [8,8] split as `P('data', 'model')`."""
    want = str(more.pop("want", "")).replace("X", f"({COUNT})")
    return Case(
        name=name,
        code=f"x = counted(8, 8, spec=P('data', 'model'))\n{code}",
        kind=kind,
        says=says,
        mesh=EX,
        want=want,
        **more,
    )  # type: ignore[arg-type]


COMPILED = (
    on("A server that was compiled for another batch", """\
class Server:
    def __init__(self, w):
        self.w = w
        example = jax.ShapeDtypeStruct((8, 8), np.float32, sharding=NamedSharding(MESH, P('data')))
        self.predict = jax.jit(lambda w, x: x @ w).lower(w, example).compile()
    def __call__(self, x):
        return self.predict(self.w, x)
server = Server(counted(8, 8, mesh=MESH))
images = counted(8, 8, spec=P(None, 'model'), mesh=MESH)
result = server(images)
""", "compiled", "`x` is `P(None, 'model')`, but the program was compiled for `P('data', None)`", want=f"{COUNT} @ {COUNT}",
       by_hand={CALL: (("self.predict = jax.jit(lambda w, x: x @ w).lower(w, example).compile()", "self.predict = jax.jit(lambda w, x: x @ w)"),)}),
    on("A compiled step with a keyword", """\
step = jax.jit(lambda *, batch, scale: batch * scale)
spec = NamedSharding(MESH, P('model'))
fast = step.lower(batch=jax.ShapeDtypeStruct((8, 8), np.float32, sharding=spec), scale=2.).compile()
batch = counted(8, 8, spec=P('data'), mesh=MESH)
result = fast(batch=batch, scale=2.)
""", "compiled", "`batch` is `P('data', None)`, but the program was compiled for `P('model', None)`", want=f"{COUNT} * 2", by_hand={CALL: (("fast(batch", "step(batch"),)}),
    on("A compiled step that gets another number of rows", """\
def loss(w, x):
    return (x @ w).sum()
w = np.ones((8, 2), np.float32)
grad = jax.jit(jax.grad(loss)).lower(w, np.ones((16, 8), np.float32)).compile()
for rows in (16, 7):
    x = np.ones((rows, 8), np.float32)
    result = grad(w, x)
""", "compiled", "`x` is `float32[7,8]`, but the program was compiled for `float32[16,8]`", want="np.full((8, 2), 7.)", by_hand={CALL: (("result = grad(w", "result = jax.grad(loss)(w"),)}),
    on("A compiled step that gets integers", """\
double = jax.jit(lambda x: x * 2).lower(jax.ShapeDtypeStruct((4,), np.float32)).compile()
tokens = np.arange(4, dtype=np.int32)
result = double(tokens)
""", "compiled", "`tokens` is `int32[4]`, but the program was compiled for `float32[4]`", want="np.arange(4) * 2", by_hand={CALL: ((".lower(jax.ShapeDtypeStruct((4,), np.float32)).compile()", ""),)}),
)  # fmt: skip

PLACING = (
    on("A constraint in a layer without a mesh", """\
del EX
class Layer:
    def __init__(self, mesh):
        self.mesh = mesh
    def __call__(self, x):
        h = jnp.tanh(x)
        return jax.lax.with_sharding_constraint(h, jax.sharding.PartitionSpec('data', 'model'))
layer = Layer(MESH)
result = jax.jit(layer)(np.zeros((8, 8)))
""", "no mesh", "`with_sharding_constraint` got `jax.sharding.PartitionSpec('data', 'model')`, but no mesh is set", want="np.zeros((8, 8))"),
    on("Specs for a tree of parameters without a mesh", """\
del EX
specs = {'w': P('model'), 'b': P()}
params = {'w': np.ones((8, 4)), 'b': np.ones(4)}
result = jax.device_put(params, specs)['w']
""", "no mesh", "`device_put` got", want="np.ones((8, 4))", by_hand={"with `jax.set_mesh`": (("result", "jax.set_mesh(MESH)\nresult"),)}),
    on("out_shardings of init without a mesh", """\
del EX
def init(key):
    return jax.random.normal(key, (8, 8)) * 0
init_fn = jax.jit(
    init,
    out_shardings=P('data', 'model'),
)
result = init_fn(jax.random.key(0))
""", "no mesh", "`out_shardings` got", want="np.zeros((8, 8))"),
    on("A mesh axis that is mistyped in a helper", """\
def shard(x, *axes):
    return jax.device_put(x, NamedSharding(MESH, P(*axes)))
result = shard(np.ones((8, 8)), 'data', 'modle')
""", "unknown axis", "`modle`", want="np.ones((8, 8))", by_hand={"SPEC": (("P(*axes)", ""),)}),
    on("Rows that do not divide in a loop over shards", """\
sizes = [8, 12, 10]
placed = [jax.device_put(np.ones((n, 2)), NamedSharding(MESH, P('model'))) for n in sizes]
result = placed[2]
""", "indivisible", "10 / 4 = 2.5", want="np.ones((10, 2))",
       by_hand={"SPEC": (("P('model')", ""),), "pad dimension 0 from 10 to 12": (("result = placed[2]", "result = placed[2][:10]"), ("np.ones((n, 2))", "np.pad(np.ones((n, 2)), ((0, -n % 4), (0, 0)))"))}),
    on("A batch that is too small for the mesh", """\
batch = {'tokens': np.ones((3, 16), np.int32), 'mask': np.ones((3, 16))}
sharding = NamedSharding(MESH, P(('data', 'model')))
result = jax.tree.map(lambda leaf: jax.device_put(leaf, sharding), batch)['mask']
""", "indivisible", "3 / 8 = 0.375", by_hand={"SPEC": (("P(('data', 'model'))", ""),), "pad dimension 0": (("np.ones((3, 16)", "np.ones((8, 16)"),)}),
    on("A bias with the spec of its weight", """\
rules = {'kernel': P(None, 'model'), 'bias': P('data', 'model')}
params = {'kernel': np.ones((8, 4)), 'bias': np.ones(4)}
result = {name: jax.device_put(value, NamedSharding(MESH, rules[name])) for name, value in params.items()}['bias']
""", "rank", "`P('data', 'model')` has 2 entries, but ", want="np.ones(4)", by_hand={"SPEC": (("P('data', 'model')", ""),)}),
    on("Parameters of one mesh and a batch of another", """\
train_mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ('data', 'model'))
eval_mesh = jax.sharding.Mesh(np.array(jax.devices()[4:]).reshape(2, 2), ('data', 'model'))
params = jax.device_put({'dense': {'w': np.ones((4, 4))}}, NamedSharding(train_mesh, P(None, 'model')))
x = jax.device_put(np.ones((4, 4)), NamedSharding(eval_mesh, P('data')))
forward = jax.jit(lambda p, inputs: inputs @ p['dense']['w'])
result = forward(params, x)
""", "devices", "`params['dense']['w']` is on devices 0-3, `x` on devices 4-7", want="np.full((4, 4), 4.)"),
)  # fmt: skip

TREES = (
    on("in_shardings for a state and a batch of three", """\
rep = NamedSharding(MESH, P())
rows = NamedSharding(MESH, P('data'))
@partial(jax.jit, in_shardings=(rep, (rows, rows)))
def step(w, batch):
    x, y, mask = batch
    return ((x @ w - y) * mask).sum()
result = step(np.ones((8, 1)), (np.ones((8, 8)), np.ones((8, 1)), np.zeros((8, 1))))
""", "prefix", "`in_shardings[1]` has 2 entries, but the argument has 3", want="0.", by_hand={"give `in_shardings[1]` 3 entries": (("(rows, rows))", "(rows, rows, rows))"),), "give one sharding": (("(rows, rows))", "rows)"),)}),
    on("out_shardings for a step that also returns the loss", """\
rows = NamedSharding(MESH, P('data'))
def step(w, x):
    y = x @ w
    return w, y.sum(), {'y': y}
fast = jax.jit(step, out_shardings=(rows, rows))
result = fast(np.ones((8, 8)), np.ones((8, 8)))[0]
""", "prefix", "`out_shardings` has 2 entries, but the result has 3", want="np.ones((8, 8))",
       by_hand={"give `out_shardings` 3 entries": (("(rows, rows)", "(rows, None, rows)"),), "give one sharding": (("(rows, rows)", "NamedSharding(MESH, P())"),)}),
    on("in_shardings of a nested tree with a list", """\
s = NamedSharding(MESH, P())
params = {'layers': [{'w': np.ones((8, 8))}, {'w': np.ones((8, 8))}]}
forward = jax.jit(lambda p: p['layers'][0]['w'] + p['layers'][1]['w'], in_shardings=({'layers': [{'w': s}]},))
result = forward(params)
""", "prefix", "`in_shardings[0]['layers']` has 1 entry, but the argument has 2", want="np.full((8, 8), 2.)",
       by_hand={"give `in_shardings[0]['layers']` 2 entries": (("[{'w': s}]}", "[{'w': s}, {'w': s}]}"),), "give one sharding": (("[{'w': s}]}", "s}"),)}),
    on("in_specs of a shard_map with a dict", """\
def loss(params, x):
    return lax.pmean((x @ params['w'] + params['b']).mean(), 'data')
f = jax.shard_map(loss, mesh=MESH, in_specs=({'w': P()}, P('data')), out_specs=P())
result = f({'w': np.ones((8, 1)), 'b': np.zeros(1)}, np.ones((8, 8)))
""", "prefix", "`in_specs[0]` has the keys `w`, but the argument has `b` and `w`", want="8.", by_hand={"add `b`": (("{'w': P()}", "{'w': P(), 'b': P()}"),), "give one spec": (("({'w': P()},", "(P(),"),)}),
    on("vmap over a tree with one axis too many", """\
f = jax.vmap(lambda p, x: p['w'] * x, in_axes=({'w': 0, 'b': 0}, 0))
result = f({'w': np.ones(3)}, np.ones(3))
""", "prefix", "`in_axes[0]` has the keys `b` and `w`, but the argument has `w`", want="np.ones(3)", by_hand={"take `b` out": ((", 'b': 0", ""),), "give one number": (("{'w': 0, 'b': 0}", "0"),)}),
)  # fmt: skip

MAPPED = (
    on("pmap of a batch that is not split", """\
@partial(jax.pmap, axis_name='batch')
def step(x):
    return lax.psum(x.sum(), 'batch')
images = np.ones((32, 4), np.float32)
result = step(images)[0]
""", "pmap", "`images` has 32 along dimension 0, and `pmap` gives one to each of 8 devices: 32 / 8 = 4",
       by_hand={"reshape dimension 0 from 32 to 8 x 4": (("step(images)", "step(images.reshape(8, 4, 4))"), ("def step(x):\n", "def step(x):\n    return jax.vmap(inner)(x)\ndef inner(x):\n")),
                "use `jax.jit` of the": (("@partial(jax.pmap, axis_name='batch')", "@jax.jit\n@partial(jax.vmap, axis_name='batch')"), ("step(images)", "step(jax.device_put(images, NamedSharding(MESH, P('data'))))"))}),
    on("pmap of a learning rate", """\
update = jax.pmap(lambda p, g, lr: p - lr * g)
p = g = np.ones((8, 3))
result = update(p, g, 0.5)
""", "pmap", "`pmap` maps dimension 0 of every argument, and one of them is a scalar", want="np.full((8, 3), .5)", by_hand={"give `pmap` `in_axes` with": (("lr * g)", "lr * g, in_axes=(0, 0, None))"),)}, since=(0, 9, 0)),
    on("pmap of a batch and its shorter labels", """\
def loss(batch):
    return (batch['x'] - batch['y']).sum()
batch = {'x': np.ones((8, 2)), 'y': np.ones((4, 2))}
result = jax.pmap(loss)(batch)
""", "pmap", "`batch['x']` has 8, `batch['y']` has 4", by_hand={"give `pmap` `in_axes`": (("jax.pmap(loss)", "jax.pmap(loss, in_axes=({'x': 0, 'y': None},))"),)}),
)  # fmt: skip

EXPLICIT = (
    explicit("Heads that are split apart", "q, k = jnp.split(x, [3], axis=-1)\nresult = q\n", "new size", "3 / 4 = 0.75", want="X[:, :3]"),
    explicit("A window that rolls in a function", "def shift(a):\n    return jnp.roll(a, shift=(1, 2), axis=(0, 1))\nresult = shift(x)\n", "new size", "`roll` makes an array of length 1 along a dimension", want="np.roll(X, (1, 2), (0, 1))", until=(0, 12, 0)),
    explicit("Padding of one side", "result = jnp.pad(x, [(0, 0), (0, 3)], constant_values=1.)\n", "new size", "`pad` makes an array of length 11 along a dimension that is split over `model`: 11 / 4 = 2.75",
             want="np.pad(X, [(0, 0), (0, 3)], constant_values=1.)", by_hand={"make it a length of 12": (("jnp.pad(x, [(0, 0), (0, 3)], constant_values=1.)", "jax.sharding.reshard(jnp.pad(x, [(0, 0), (0, 4)], constant_values=1.), P())[:, :11]"),)}),
    explicit("Keys that are repeated for their groups", "k = x[None]\nresult = jnp.repeat(\n    k,\n    repeats=2,\n    axis=1,\n)\n", "split dimension", "JAX will not choose how the result of `repeat` is split: `k` is", want="np.repeat(X[None], 2, 1)"),
    explicit("A mask that is tiled", "mask = jnp.ones_like(x)\nresult = jnp.tile(mask, 2)\n", "split dimension", "`tile` works along dimension 1, which must not be split: `mask` is", want="np.ones((8, 16))", since=(0, 10, 0)),
    explicit("A cache that is written", "cache = x\ndef write(cache, new, at):\n    return jax.lax.dynamic_update_slice_in_dim(cache, new, at, axis=0)\nresult = write(cache, counted(1, 8), 2)\n", "update", "an update must be split as what it updates: `cache` is `P('data', 'model')` and `new` is `P(None, None)`",
             want="np.vstack([X[:2], np.arange(1., 9.)[None], X[3:]])"),
    explicit("A cache that is written by index", "step = jnp.int32(3)\nresult = x.at[step].set(jnp.zeros(8))\n", "indexing", "the result of `x.at[step].set(jnp.zeros(8))` is split: `x` is"),
    explicit("Rows of an embedding", "tokens = jax.device_put(np.array([1, 2, 3, 0]), NamedSharding(EX, P('data')))\nclass Table:\n    weight = x\n    def __call__(self, t):\n        return self.weight[t]\nresult = Table()(tokens)\n", "indexing", "", want="X[[1, 2, 3, 0]]"),
    explicit("Attention scores", "q, k = x.reshape(2, 4, 8, out_sharding=P('data', None, 'model')), x.reshape(2, 4, 8, out_sharding=P('data', None, 'model'))\nresult = jnp.einsum('bqd,bkd->bqk', q, k)\n", "contraction", "", want="np.einsum('bqd,bkd->bqk', X.reshape(2, 4, 8), X.reshape(2, 4, 8))"),
    explicit("A layer on its own activations", "w1, w2 = counted(8, 8, spec=P(None, 'model')), counted(8, 8, spec=P('model', None))\ndef mlp(h):\n    return jax.nn.relu(h @ w1) @ w2\nresult = mlp(jax.sharding.reshard(x, P('data')))\n", "contraction", "", want="(X @ X) @ X"),
    explicit("A residual that is split differently", "def block(h):\n    skip = h\n    h = jax.sharding.reshard(h, P('model', 'data'))\n    return skip + h\nresult = jax.jit(block)(x)\n", "conflict", "", want="X + X"),
    explicit("A stack of two", "y = jax.sharding.reshard(x, P('model'))\nresult = jnp.stack([x, y])\n", "conflict", "", want="np.stack([X, X])"),
    explicit("Means that are normalised along a sum", "result = jnp.cumsum(x * 1, axis=0)\n", "split dimension", "along dimension 0, which must not be split: `(x * 1)` is", fits=("jax.sharding.reshard((x * 1), P(None, 'model'))",), since=(0, 10, 0)),
    explicit("The best logits", "result = jax.lax.top_k(x, 2)[0]\n", "split dimension", "along dimension 1, which must not be split: `x` is", want="X[:, ::-1][:, :2]", since=(0, 10, 0)),
    explicit("The best logits, fewer than devices", "result = jax.lax.top_k(x, 2)[0]\n", "indivisible", "dimension 1 of `result` is 2, and `P('data', 'model')` splits it over `model` (4): 2 / 4 = 0.5", want="X[:, ::-1][:, :2]", until=(0, 10, 0),
             by_hand={"pad dimension 1 from 2 to 4": (("top_k(x, 2)[0]", "top_k(x, 4)[0].at[:, :2].get(out_sharding=P())"),), "SPEC": (("P('data', 'model')", ""),)}),
    explicit("Sorted rows", "result = jnp.sort(x, axis=-1)\n", "split dimension", "along dimension 1, which must not be split: `x` is", want="X", since=(0, 9, 2)),
    explicit("Images that are convolved", "img = jax.device_put(np.ones((2, 8, 8, 4), np.float32), NamedSharding(EX, P('data', None, None, 'model')))\nker = jnp.ones((3, 3, 4, 4))\nresult = jax.lax.conv_general_dilated(\n    img, ker, window_strides=(1, 1), padding='SAME',\n    dimension_numbers=('NHWC', 'HWIO', 'NHWC'),\n)\n", "convolution", ""),
    explicit("A head that is reshaped", "result = x.reshape(4, 16) * 1\n", "reshape", "", want="X.reshape(4, 16)"),
    explicit("Two tables that are looked up", "result = jnp.take_along_axis(x, jnp.zeros((8, 1), int), axis=1)\n", "indexing", "", want="X[:, :1]"),
)  # fmt: skip

LOOPS = (
    on("A loss that becomes a float", """\
def train(params, xs):
    def body(carry, x):
        p, loss = carry
        return (p - x, loss + x), None
    return lax.scan(body, (params, np.int32(0)), xs)[0]
result = train(np.float32(3), np.ones(3, np.float32))[0]
""", "loop type", "`carry[1]` goes in as `int32[]` and comes out as `float32[]`", want="0.", by_hand={"let the body return `carry[1]` through": (("loss + x)", "(loss + x).astype('int32'))"),)}),
    on("A history that grows", """\
def body(i, seen):
    return jnp.concatenate([seen, jnp.ones(1) * i])
result = lax.fori_loop(0, 3, body, jnp.zeros(1))
""", "loop type", "`seen` goes in as `float32[1]` and comes out as `float32[2]`", by_hand={"let the body return `seen` with the shape [1]": (("jnp.concatenate([seen, jnp.ones(1) * i])", "seen.at[0].set(i)"),),
       "start `seen` as long as it gets": (("jnp.concatenate([seen, jnp.ones(1) * i])", "seen.at[i].set(i)"), ("jnp.zeros(1))", "jnp.zeros(3))"))}),
    on("Half precision that comes back", """\
class Cell:
    w: jax.Array = None
    def __call__(self, h, x):
        h = jnp.tanh(h @ self.w + x)
        return h, h
cell = Cell()
cell.w = jnp.eye(4)
result = jax.lax.scan(cell, jnp.zeros(4, jnp.bfloat16), jnp.zeros((3, 4)))[0]
""", "loop type", "`h` goes in as `bfloat16[4]` and comes out as `float32[4]`", want="np.zeros(4)", by_hand={"let the body return `h` through": (("return h, h", "return h.astype('bfloat16'), h"),)}),
    on("A while over half precision", """\
result = jax.lax.while_loop(
    lambda s: s['i'] < 3,
    lambda s: {'i': s['i'] + 1, 'x': s['x'] * jnp.float32(2)},
    {'i': 0, 'x': jnp.ones(2, jnp.float16)},
)['x']
""", "loop type", "`s['x']` goes in as `float16[2]` and comes out as `float32[2]`", want="np.full(2, 8.)", by_hand={"let the body return `s['x']` through": (("s['x'] * jnp.float32(2)", "(s['x'] * jnp.float32(2)).astype('float16')"),)}),
    on("Branches of two shapes", """\
def crop(x): return x[:2]
def keep(x): return x
result = lax.cond(jnp.array(False), crop, keep, np.arange(4.))
""", "branch type", "`true_fun` gives `float32[2]`, `false_fun` gives `float32[4]`", want="np.arange(4.)", by_hand={"let both branches give one shape": (("x[:2]", "jnp.pad(x[:2], (0, 2))"),)}),
    on("A switch over activations", """\
acts = [jax.nn.relu, lambda x: x > 0, jnp.tanh]
result = lax.switch(0, acts, np.ones(3, np.float32))
""", "branch type", "`branch0` gives `float32[3]`, `branch1` gives `bool[3]`", want="np.ones(3)", by_hand={"let `branch1` return through `.astype('float32')`": (("x > 0", "(x > 0).astype('float32')"),)}),
    on("A loop over a ring within shard_map", """\
def ring(x):
    acc = jnp.zeros_like(x, shape=())
    def hop(i, c):
        acc, x = c
        return acc + x.sum(), lax.ppermute(x, 'model', [(j, (j + 1) % 4) for j in range(4)])
    return lax.fori_loop(0, 4, hop, (jnp.float32(0), x))[0][None]
result = jax.jit(jax.shard_map(ring, mesh=MESH, in_specs=P('model'), out_specs=P('model')))(np.ones(8, np.float32))
""", "loop type", "`c[0]` goes in as the same on all devices and comes out as varying over `model`", want="np.full(4, 8.)", by_hand={f"start `c[0]` with `{CAST}` to varying over `model`": (("(jnp.float32(0), x)", f"({varying('jnp.float32(0)', repr('model'))}, x)"),)}),
    on("A state of a NamedTuple that is too short", """\
import collections
State = collections.namedtuple('State', 'params opt step')
def train_step(state, batch):
    return State(state.params - batch, state.opt, state.step + 1.), state.params
result = lax.scan(train_step, State(0., None, np.int32(0)), np.ones(3))[0].params
""", "loop type", "`state.step` goes in as `int32[]` and comes out as `float32[]`", want="-3.", by_hand={"let the body return `state.step` through": (("state.step + 1.)", "(state.step + 1.).astype('int32'))"),)}),
)  # fmt: skip

SHARD_MAPS = (
    on("A mean over one axis of two", """\
@partial(jax.shard_map, mesh=MESH, in_specs=P('data', 'model'), out_specs=P())
def mean(x):
    return jax.lax.pmean(x.mean(), axis_name='data')
result = mean(np.ones((8, 8)))
""", "replication", "`out_specs` (`P()`) says that the result is equal along `model`, which JAX cannot see", want="",
       by_hand={"return it through `jax.lax.pmean` over `model`": (("axis_name='data'", "axis_name=('data', 'model')"),), "return it through `jax.lax.psum` over `model`": (("jax.lax.pmean(x.mean(), axis_name='data')", "lax.psum(jax.lax.pmean(x.mean(), axis_name='data'), 'model')"),),
                "name `model` in `out_specs`": (("out_specs=P()", "out_specs=P('model')"), ("axis_name='data')", "axis_name='data')[None]")), "give `jax.shard_map` `check_vma=False`": (("mesh=MESH,", "mesh=MESH, check_vma=False,"),)}),
    on("Gradients that are not summed", f"""\
def grads(w, x):
    return jax.grad(lambda w: ((x @ w) ** 2).mean())({varying('w', repr('data'))})
f = jax.shard_map(grads, mesh=MESH, in_specs=(P(), P('data')), out_specs=P())
result = f(np.ones((4, 1), np.float32), np.ones((8, 4), np.float32))
""", "replication", "is equal along `data`", by_hand={"return it through `jax.lax.psum` over `data`": ((f"return jax.grad(lambda w: ((x @ w) ** 2).mean())({varying('w', repr('data'))})", f"return lax.psum(jax.grad(lambda w: ((x @ w) ** 2).mean())({varying('w', repr('data'))}), 'data')"),),
                "return it through `jax.lax.pmean` over `data`": ((f"return jax.grad(lambda w: ((x @ w) ** 2).mean())({varying('w', repr('data'))})", f"return lax.pmean(jax.grad(lambda w: ((x @ w) ** 2).mean())({varying('w', repr('data'))}), 'data')"),),
                "name `data` in `out_specs`": (("out_specs=P())", "out_specs=P('data'))"),), "give `jax.shard_map` `check_vma=False`": (("mesh=MESH,", "mesh=MESH, check_vma=False,"),)}),
    on("A shard_map over rows that do not divide", """\
norm = jax.shard_map(lambda rows: rows / rows.sum(-1, keepdims=True), mesh=MESH, in_specs=P('model', None), out_specs=P('model', None))
scores = np.ones((6, 5))
result = norm(scores)
""", "indivisible", "dimension 0 of `rows` is 6", want="np.full((6, 5), .2)", by_hand={**{f"write `{one}`": (("P('model', None)", one),) for one in ("P('data', None)", "P(None, None)")}, "pad dimension 0": (("norm(scores)", "norm(np.pad(scores, ((0, 2), (0, 0)), constant_values=1.))[:6]"),)}),
    on("A shard_map with a spec that is too long", """\
f = jax.shard_map(lambda b: b + 1, mesh=MESH, in_specs=P('data', 'model'), out_specs=P('data'))
bias = np.zeros(8)
result = f(bias)
""", "rank", "`P('data', 'model')` has 2 entries, but `b` has 1 dimension", want="", by_hand={"SPEC": (("P('data', 'model')", ""),)}),
    on("A collective over an axis that is not there", """\
f = jax.shard_map(lambda x: x * 2, mesh=MESH, in_specs=P('batch'), out_specs=P('batch'))
result = f(np.ones((8, 8)))
""", "unknown axis", "`in_specs` names `batch`, but the axes `shard_map` is manual over are `data`, `model`", fits=()),
)  # fmt: skip

STATIC = (
    on("A config with a list", """\
import dataclasses
@dataclasses.dataclass(frozen=True)
class Config:
    widths: list
@partial(jax.jit, static_argnames=('config',))
def net(x, config):
    for width in config.widths:
        x = x[:width]
    return x
result = net(np.arange(8.), config=Config(widths=[4, 2]))
""", "static argument", "is static and holds something of the type `list`, which has no hash", want="np.arange(2.)", by_hand={"make the list in it a tuple": (("[4, 2]", "(4, 2)"),)}),
    on("A shape as a list", """\
@partial(jax.jit, static_argnums=(0,))
def zeros(shape):
    return jnp.zeros(shape)
result = zeros([2, 3])
""", "static argument", "`[2, 3]` is static and of the type `list`", fits=("tuple([2, 3])",), want="np.zeros((2, 3))"),
    on("A set of names", """\
step = jax.jit(lambda x, *, frozen: x * len(frozen), static_argnames='frozen')
frozen = {'a', 'b'}
result = step(np.ones(2), frozen=frozen)
""", "static argument", "`frozen` is static and of the type `set`", fits=("tuple(sorted(frozen))",), want="np.full(2, 2.)"),
    on("A table that is static", """\
table = jnp.arange(4.)
look = jax.jit(lambda i, table: table[i], static_argnums=1)
result = look(2, table)
""", "static argument", "`table` is static and of the type `array`", want="2.", by_hand={"leave it out": ((", static_argnums=1", ""),)}),
    on("A function among the parameters", """\
params = {'w': np.ones(3), 'act': jnp.tanh}
result = jax.jit(lambda p, x: p['act'](p['w'] * x))(params, 0.)
""", "static argument", "`p['act']` is given an object of the type", want="np.zeros(3)", by_hand={"take it out of `p`": (("lambda p, x: p['act'](", "lambda p, x, act: act("), ("* x))(params, 0.)", "* x), static_argnums=2)({'w': params['w']}, 0., jnp.tanh)"))}),
)  # fmt: skip

TRACED = (
    on("Early stopping", """\
@jax.jit
def train(x):
    for step in range(3):
        x = x / 2
        if jnp.abs(x) < 0.2:
            break
    return x
result = train(1.)
""", "traced value", "the `if` asks whether `jnp.abs(x) < 0.2` is true, which depends on the argument `x`", by_hand={"use `jnp.where`": (("        if jnp.abs(x) < 0.2:\n            break\n", ""), ("x = x / 2", "x = jnp.where(jnp.abs(x) < 0.2, x, x / 2)")),
        "use `jax.lax.cond`": (("        if jnp.abs(x) < 0.2:\n            break\n", ""), ("x = x / 2", "x = lax.cond(jnp.abs(x) < 0.2, lambda: x, lambda: x / 2)"))}),
    on("A log of the loss", """\
losses = []
@jax.jit
def step(w):
    loss = (w ** 2).sum()
    losses.append(float(loss))
    return w - 0.1 * w
result = step(np.ones(3))
""", "traced value", "`float(loss)` needs its value as a number", want="np.full(3, .9)", by_hand={"write `jnp.asarray(loss, float)`": (("losses.append(float(loss))", "losses.append(jnp.asarray(loss, float))"),)}),
    on("A comprehension that asks each", """\
@jax.jit
def count(xs):
    return sum([1 for x in xs if x > 0])
result = count(np.array([1., -1., 2.]))
""", "traced value", "asks whether", by_hand={"use `jnp.where`": (("sum([1 for x in xs if x > 0])", "jnp.where(xs > 0, 1, 0).sum()"),), "use `jax.lax.cond`": (("sum([1 for x in xs if x > 0])", "sum([lax.cond(x > 0, lambda: 1, lambda: 0) for x in xs])"),)}),
    on("numpy inside a loss", """\
def loss(logits, label):
    probs = np.exp(logits) / np.exp(logits).sum()
    return -jnp.log(probs[label])
result = jax.grad(loss)(np.zeros(2, np.float32), 0)
""", "traced value", "`np.exp(logits)` needs its values as a numpy array", want="np.array([-.5, .5])", by_hand={}),
    on("Dropout by Python's own switch", """\
class Model:
    def __init__(self):
        self.rate = 0.5
    def __call__(self, x, train):
        return x * 0 if train and self.rate else x
model = Model()
result = jax.jit(model.__call__)(np.ones(2), True)
""", "traced value", "`train`", want="np.zeros(2)", by_hand={"name it in": (("jax.jit(model.__call__)", "jax.jit(model.__call__, static_argnames='train')"),), "use `jnp.where`": (("x * 0 if train and self.rate else x", "jnp.where(train, x * 0, x)"),), "use `jax.lax.cond`": (("x * 0 if train and self.rate else x", "lax.cond(train, lambda: x * 0, lambda: x)"),)}),
    on("Chunks of a traced size", """\
@jax.jit
def chunks(x, n):
    return [x[i:i + n] for i in range(0, 4, n)]
result = chunks(np.arange(4.), 2)
""", "traced value", "needs its value as an integer, which depends on the argument `n`", want="np.arange(4.).reshape(2, 2)", by_hand={"use `jax.lax.fori_loop`": (("return [x[i:i + n] for i in range(0, 4, n)]", "return lax.fori_loop(0, 4 // n, lambda i, out: out.at[i].set(lax.dynamic_slice(x, (i * n,), (2,))), jnp.zeros((2, 2)))"),), "name it in": (("@jax.jit", "@partial(jax.jit, static_argnames='n')"),)}),
    on("A linspace of a traced number", """\
@jax.jit
def grid(stop, num):
    return jnp.linspace(0., stop, num)
result = grid(1., 3)
""", "traced value", "`jnp.linspace(0., stop, num)`", want="np.linspace(0., 1., 3)", by_hand={"name it in": (("@jax.jit", "@partial(jax.jit, static_argnames='num')"),)}),
    on("A module's cache of activations", """\
class Net:
    def forward(self, x):
        self.h = jnp.tanh(x)
        return self.h * 2
net = Net()
jax.vmap(net.forward)(np.zeros(3))
result = net.h + 0
""", "leaked value", "`net.h` is an intermediate value of", by_hand={"return the value from": (("        return self.h * 2\n", "        return self.h * 2, self.h\n"), ("jax.vmap(net.forward)(np.zeros(3))", "_, net.h = jax.vmap(net.forward)(np.zeros(3))")),
        "run it under": (("        return self.h * 2\n", "        return self.h * 2, self.h\n"), ("jax.vmap(net.forward)(np.zeros(3))", "_, net.h = jax.vmap(net.forward)(np.zeros(3))"))}),
)  # fmt: skip

ATTACKS = (*COMPILED, *PLACING, *TREES, *MAPPED, *EXPLICIT, *LOOPS, *SHARD_MAPS, *STATIC, *TRACED)
