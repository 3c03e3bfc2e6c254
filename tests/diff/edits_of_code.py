"""Pairs whose code differs: layers, types, sizes, differentiation, and edits that make no other program."""

from __future__ import annotations

import functools
import linecache

import jax
import jax.numpy as jnp
from causes.case import AG, AR
from causes.meshes import LINE, array

from diff.pair import ADDED, CHANGED, REMOVED, Build, EditPair, Move, pair

__all__ = ["PAIRS"]

PAIRS: list[EditPair] = []

Both = tuple[Build, Build]


def line(shape: tuple[int, ...], *spec: object, dtype: object = jnp.float32) -> jax.ShapeDtypeStruct:
    return array(shape, *spec, mesh=LINE, dtype=dtype)


def written(text: str, name: str):
    """The function `step` of a text, as if it stood in a file (or an edited cell) of that name."""
    file = f"/tmp/diff_pairs/{name}"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, object] = {"jax": jax, "jnp": jnp}
    exec(compile(text, file, "exec"), scope)
    return scope["step"]


_MLP = """\
def block(x, p):
    h = jnp.tanh(x @ p["up"])
    return x + h @ p["down"]


def step(params, x):
    scale = 0.5
    shift = x.mean(axis=1, keepdims=True)
    x = (x - shift) * scale
    for p in params:
        x = block(x, p)
    return x
"""


def mlp_arguments(layers: int = 3):
    one = {"up": line((128, 256), None, "x"), "down": line((256, 128), "x", None)}
    return [one] * layers, line((64, 128))


def texts(before: str, after: str, names: tuple[str, str] = ("train.py", "train.py")) -> Both:
    return (
        lambda: (jax.jit(written(before, names[0])), mlp_arguments()),
        lambda: (jax.jit(written(after, names[1])), mlp_arguments()),
    )


# ---------------------------------------------------------------- no other program


@pair(PAIRS, "the very same program", is_empty=True)
def nothing() -> Both:
    return texts(_MLP, _MLP)


@pair(PAIRS, "a comment at a line's end, one on its own, and a docstring are no code", is_empty=True)
def comment_added() -> Both:
    after = _MLP.replace('x @ p["up"])', 'x @ p["up"])  # columns').replace(
        "    scale", '    """One step."""\n    # half\n    scale'
    )
    return texts(_MLP, after)


@pair(PAIRS, "lines that stand elsewhere in the file", is_empty=True)
def lines_moved() -> Both:
    return texts(_MLP, "import os\n\n\nLAYERS = 3\n\n\n" + _MLP)


@pair(PAIRS, "an edited cell has another file name", is_empty=True)
def cell_run_again() -> Both:
    return texts(_MLP, "# again\n" + _MLP, names=("ipykernel_1/1.py", "ipykernel_1/2.py"))


@pair(PAIRS, "a local variable of another name", is_empty=True)
def variable_renamed() -> Both:
    return texts(_MLP, _MLP.replace("h = ", "hidden = ").replace("x + h", "x + hidden"))


@pair(PAIRS, "a parameter of another name", is_empty=True)
def parameter_renamed() -> Both:
    after = _MLP.replace("params", "weights").replace("def step(weights, x)", "def step(weights, inputs)")
    return texts(_MLP, after.replace("    scale", "    x = inputs\n    scale"))


@pair(PAIRS, "two lines that do not need each other in the other order", is_empty=True)
def lines_swapped() -> Both:
    one, two = "    scale = 0.5\n", "    shift = x.mean(axis=1, keepdims=True)\n"
    return texts(_MLP, _MLP.replace(one + two, two + one))


@pair(PAIRS, "a helper function of another name: the collectives are the same")
def helper_renamed() -> Both:
    return texts(_MLP, _MLP.replace("block(", "layer("))


@pair(PAIRS, "the function has another name: that is said, and the collectives are the same")
def function_renamed() -> Both:
    def before():
        return jax.jit(written(_MLP, "train.py")), mlp_arguments()

    def after():
        text = _MLP.replace("def step(", "def train_step(") + "\n\nstep = train_step\n"
        return jax.jit(written(text, "train.py")), mlp_arguments()

    return before, after


@pair(PAIRS, "scopes around the code: the collectives are the same")
def scope_added() -> Both:
    after = _MLP.replace("        x = block(x, p)", '        with jax.named_scope("mlp"):\n            x = block(x, p)')
    return texts(_MLP, after)


@pair(PAIRS, "donation says whose memory results lie in: no collective differs")
def donation_switched() -> Both:
    step = written(_MLP.replace("return x\n", "return x, params\n"), "train.py")
    return (
        lambda: (jax.jit(step), mlp_arguments()),
        lambda: (jax.jit(step, donate_argnums=(0, 1)), mlp_arguments()),
    )


@pair(PAIRS, "an option of the compiler that concerns code generation")
def compiler_option() -> Both:
    step = written(_MLP, "train.py")
    options = {"xla_cpu_enable_fast_min_max": True}
    return (
        lambda: (jax.jit(step), mlp_arguments()),
        lambda: (jax.jit(step, compiler_options=options), mlp_arguments()),
    )


@pair(PAIRS, "options of jit that concern the call", is_empty=True)
def jit_options() -> Both:
    step = written(_MLP, "train.py")
    return lambda: (jax.jit(step), mlp_arguments()), lambda: (
        jax.jit(step, keep_unused=True, inline=True),
        mlp_arguments(),
    )


# ---------------------------------------------------------------- layers


@pair(PAIRS, "each layer sums once: a fourth adds one", Move(ADDED, AR, "x"))
def layer_added() -> Both:
    step = written(_MLP, "train.py")
    return lambda: (jax.jit(step), mlp_arguments(3)), lambda: (jax.jit(step), mlp_arguments(4))


@pair(PAIRS, "two layers of five go", Move(REMOVED, AR, "x", 2))
def layers_removed() -> Both:
    step = written(_MLP, "train.py")
    return lambda: (jax.jit(step), mlp_arguments(5)), lambda: (jax.jit(step), mlp_arguments(3))


def _scoped(widths: list[int]):
    def step(params, x):
        for number, p in enumerate(params):
            with jax.named_scope(f"layer{number}"):
                h = jnp.tanh(x @ p["up"])
                x = jnp.sin(x + h @ p["down"])
        return x

    layers = [{"up": line((128, width), None, "x"), "down": line((width, 128), "x", None)} for width in widths]
    return jax.jit(step), (layers, line((64, 128)))


@pair(PAIRS, "a layer of its own width in the middle of 16: the others are the same", Move(ADDED, AR, "x"))
def layer_in_the_middle() -> Both:
    widths = [256, 512] * 8
    return lambda: _scoped(widths), lambda: _scoped([*widths[:7], 1024, *widths[7:]])


@pair(PAIRS, "the first of 6 layers goes, and all others get another number", Move(REMOVED, AR, "x"))
def first_layer_removed() -> Both:
    widths = [256, 512, 1024, 256, 768, 512]
    return lambda: _scoped(widths), lambda: _scoped(widths[1:])


def _gathered(shapes: list[int]):
    def step(params, x):
        sums = []
        for number, p in enumerate(params):
            with jax.named_scope(f"layer{number}"):
                x = jnp.tanh(x @ p["w"])
        return x, sums

    return jax.jit(step), ([{"w": line((128, 128), "x", None)} for _ in shapes], line((64, 128), "x", None))


@pair(PAIRS, "each layer gathers its weight: one more of eight gathers one more", Move(ADDED, AG, "x"))
def gathered_layer_added() -> Both:
    return lambda: _gathered([0] * 8), lambda: _gathered([0] * 9)


@pair(
    PAIRS,
    "a loop of four turns has one sum that runs four times; written out there are four that run once: one is the same "
    "sum with another number of runs, three are new",
    Move(CHANGED, AR, "x"),
    Move(ADDED, AR, "x", 3),
    before=(0, 12),
)
def loop_written_out() -> Both:
    def body(x, p):
        h = jnp.tanh(x @ p["up"])
        return x + h @ p["down"]

    def scanned(params, x):
        return jax.lax.scan(lambda x, p: (body(x, p), None), x, params)[0]

    def unrolled(params, x):
        for k in range(4):
            x = body(x, jax.tree.map(lambda p: p[k], params))  # noqa: B023
        return x

    def arguments():
        return {"up": line((4, 128, 256), None, None, "x"), "down": line((4, 256, 128), None, "x", None)}, line(
            (64, 128)
        )

    def named(function):
        def step(params, x):
            return function(params, x)

        return jax.jit(step), arguments()

    return lambda: named(scanned), lambda: named(unrolled)


# ---------------------------------------------------------------- types and sizes


def _gather(x):
    def step(x):
        y = jax.lax.with_sharding_constraint(x + 1, jax.sharding.NamedSharding(LINE, jax.sharding.PartitionSpec()))
        return y * 2

    return jax.jit(step), (x,)


@pair(PAIRS, "the same gather of numbers half as wide", Move(CHANGED, AG, "x"))
def type_narrower() -> Both:
    one, two = (line((64, 128), "x", None, dtype=dtype) for dtype in (jnp.int32, jnp.int16))
    return lambda: _gather(one), lambda: _gather(two)


@pair(PAIRS, "a larger batch: each device's part of the same sums is larger", Move(CHANGED, AR, "x", 3))
def batch_larger() -> Both:
    step = written(_MLP, "train.py")
    params, _ = mlp_arguments()
    return lambda: (jax.jit(step), (params, line((64, 128)))), lambda: (jax.jit(step), (params, line((96, 128))))


# ---------------------------------------------------------------- differentiation


def _loss(is_remat: bool):
    def pair_of_layers(x, p):
        h = jnp.tanh(x @ p["up0"])
        x = jnp.sin(x + h @ p["down0"])
        h = jnp.tanh(x @ p["up1"])
        return jnp.sin(x + h @ p["down1"])

    run = jax.checkpoint(pair_of_layers) if is_remat else pair_of_layers

    def step(params, x):
        def loss(params):
            return (run(x, params) ** 2).mean()

        return jax.grad(loss)(params)

    ups = {f"up{k}": line((128, 256), None, "x") for k in (0, 1)}
    downs = {f"down{k}": line((256, 128), "x", None) for k in (0, 1)}
    return jax.jit(step), (ups | downs, line((64, 128)))


@pair(
    PAIRS,
    "the first layer's sum is taken again in the backward pass, as its result is not kept; that of the second is the "
    "result of the checkpoint, whose sine needs its argument again: so both sums of the forward pass run again",
    Move(ADDED, AR, "x", because="the backward pass computes this part of the forward pass again"),
    Move(CHANGED, AR, "x"),
    revised="two were expected to be added; XLA combines one of the two with a sum of the forward pass, which has two "
    "arrays then, and from 0.10 on the names of both; from 0.12 on it does not",
    before=(0, 12),
    since=(0, 10),
)
def remat_added() -> Both:
    return lambda: _loss(False), lambda: _loss(True)


def _data_parallel(layers: int):
    def step(params, x):
        def loss(params):
            y = x
            for w in params:
                y = jnp.tanh(y @ w)
            return (y**2).sum()

        return jax.grad(loss)(params)

    return jax.jit(step), ([line((128, 128)) for _ in range(layers)], line((64, 128), "x", None))


@pair(
    PAIRS,
    "XLA combines the sums of all gradients into one, which has one array more",
    Move(CHANGED, AR, "x"),
)
def gradient_more_in_a_combined_sum() -> Both:
    return lambda: _data_parallel(3), lambda: _data_parallel(4)


@pair(
    PAIRS,
    "the loss returned beside the gradient is one more array in the sum",
    Move(CHANGED, AR, "x"),
    revised="one more sum was expected; XLA combines it with that of the gradient",
)
def loss_returned() -> Both:
    def made(take):
        def step(params, x):
            def loss(params):
                y = jnp.tanh(x @ params)
                return (y**2).sum()

            return take(loss)(params)

        return jax.jit(step), (line((128, 128)), line((64, 128), "x", None))

    return lambda: made(jax.grad), lambda: made(functools.partial(jax.value_and_grad))
