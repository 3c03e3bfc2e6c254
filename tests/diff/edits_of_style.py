"""Pairs whose code is written otherwise and computes the same: what moves is the same, however it is spelled."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from causes.case import AG, AR
from causes.meshes import LINE
from jax.lax import with_sharding_constraint
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from diff.edits_of_code import line, written
from diff.pair import ADDED, REMOVED, Build, EditPair, Move, pair

__all__ = ["PAIRS"]

PAIRS: list[EditPair] = []

Both = tuple[Build, Build]

_MLP = """\
def block(x, p):
    h = jnp.tanh(x @ p["up"])
    return x + h @ p["down"]


def step(params, x):
    for p in params:
        x = block(x, p)
    return jnp.sin(x)
"""


def arguments(up: str = "up", dtype: object = jnp.float32):
    one = {up: line((128, 256), None, "x", dtype=dtype), "down": line((256, 128), "x", None, dtype=dtype)}
    return [one] * 3, line((64, 128), dtype=dtype)


def texts(before: str, after: str, up: str = "up") -> Both:
    return (
        lambda: (jax.jit(written(before, "style.py")), arguments()),
        lambda: (jax.jit(written(after, "style.py")), arguments(up)),
    )


@pair(PAIRS, "a helper written out where it was called: each layer sums as before")
def helper_written_out() -> Both:
    after = _MLP.replace("x = block(x, p)", 'x = x + jnp.tanh(x @ p["up"]) @ p["down"]')
    return texts(_MLP, after)


@pair(PAIRS, "a line made two: each layer sums as before")
def line_made_two() -> Both:
    return texts(_MLP, _MLP.replace('    return x + h @ p["down"]', '    y = h @ p["down"]\n    return x + y'))


@pair(PAIRS, "a product written as an einsum: each layer sums the same product over the same axis")
def product_as_einsum() -> Both:
    return texts(_MLP, _MLP.replace('h @ p["down"]', 'jnp.einsum("bf,fd->bd", h, p["down"])'))


@pair(PAIRS, "a part of the parameters under another key: each layer sums as before")
def key_renamed() -> Both:
    return texts(_MLP, _MLP.replace('p["up"]', 'p["wi"]'), up="wi")


@pair(PAIRS, "parameters in another order: each layer sums as before")
def parameters_in_another_order() -> Both:
    step, turned = written(_MLP, "style.py"), written(_MLP.replace("(params, x)", "(x, params)"), "style.py")
    return lambda: (jax.jit(step), arguments()), lambda: (jax.jit(turned), arguments()[::-1])


@pair(PAIRS, "a scope of another name: each layer sums as before")
def scope_renamed() -> Both:
    call = "        x = block(x, p)"
    scoped = [_MLP.replace(call, f'        with jax.named_scope("{own}"):\n    {call}') for own in ("mlp", "ffn")]
    return texts(scoped[0], scoped[1])


@pair(PAIRS, "one axis, or a tuple of that axis: the same spec", is_empty=True)
def spec_spelled_otherwise() -> Both:
    def made(spec: P):
        def step(x):
            return with_sharding_constraint(jnp.tanh(x), NamedSharding(LINE, spec)) * 2

        return jax.jit(step), (line((64, 128)),)

    return lambda: made(P("x", None)), lambda: made(P(("x",)))


@pair(PAIRS, "a call repeated: the second gathers once more", Move(ADDED, AG, "x"))
def gathered_twice() -> Both:
    def made(times: int):
        def step(x, ws):
            for w in ws[:times]:
                x = jnp.tanh(x @ w)
            return x

        return jax.jit(step), (line((64, 128), "x", None), [line((128, 128), "x", None)] * 2)

    return lambda: made(1), lambda: made(2)


@pair(
    PAIRS,
    "the batch sharded: the gradient of a replicated weight is summed over the batch's axis",
    Move(ADDED, AR, "x", because="x"),
)
def batch_sharded() -> Both:
    def step(w, x):
        return jax.grad(lambda w: (jnp.tanh(x @ w) ** 2).sum())(w)

    return lambda: (jax.jit(step), (line((128, 128)), line((64, 128)))), lambda: (
        jax.jit(step),
        (line((128, 128)), line((64, 128), "x", None)),
    )


@pair(
    PAIRS,
    "the loss a mean over the features too: the sum over them, which are sharded, is still one number",
    Move(REMOVED, AR, "x"),
    Move(ADDED, AR, "x"),
)
def maximum_for_sum() -> Both:
    def made(reduce):
        def step(x):
            return reduce(x * 2)

        return jax.jit(step), (line((64, 128), None, "x"),)

    return lambda: made(jnp.sum), lambda: made(jnp.max)
