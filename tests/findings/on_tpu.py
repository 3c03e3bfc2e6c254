"""Programs with one fault that only a TPU's compiler shows, and some without; compiled ahead of time, kept as records.

What must be found was written down before they were compiled. The records are in tests/data/findings, so that no test
needs a TPU's compiler; lines are those of this file, so a change of it needs them made anew:

    PYTHONPATH=.:tests python -m findings.on_tpu      needs libtpu (or its file in TPU_LIBRARY_PATH)

Not its job: programs that any compiler shows (`faults`, `clean`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from corpus.arrays import grid, one

from findings.case import Built, Fault, fault

TPU_FAULTS: list[Fault] = []
TPU_CLEAN: list[Callable[[], Built]] = []

RECORDS = Path(__file__).parents[1] / "data" / "findings"
TARGET = "tpu:v5e:2x4"


def path_of(build: Callable[..., Any], *, fixed: bool = False) -> Path:
    """Where the record of a program is kept."""
    return RECORDS / f"{build.__name__}{'_fixed' * fixed}.pjit"


def clean(build: Callable[[], Built]) -> Callable[[], Built]:
    TPU_CLEAN.append(build)
    return build


@fault(
    TPU_FAULTS,
    "tile_padding",
    line="call",
    says=("`w`", "8 x 128", "mostly padding"),
    remedy=("reshape",),
    saves="arguments",
    tried=False,
    is_kept=True,
)
def matrices_of_half_a_tile(*, fixed: bool = False) -> Built:
    mesh = grid(data=2, model=4)

    @jax.jit
    def mixed(w, x):
        return jnp.einsum("hij,bhj->bhi", w.reshape(256, 64, 64) if fixed else w, x)

    shape = (256, 64 * 64) if fixed else (256, 64, 64)
    return mixed, (one(mesh, shape, "model"), one(mesh, (8, 256, 64), "data", "model", None))


@fault(
    TPU_FAULTS,
    "tile_padding",
    line="call",
    says=("`state`", "8 x 128", "mostly padding"),
    remedy=("split another dimension", "`model`"),
    saves="arguments",
    tried=False,
    is_kept=True,
)
def states_split_into_slivers(*, fixed: bool = False) -> Built:
    mesh = grid(data=2, model=4)

    @jax.jit
    def decayed(state, x):
        return state * 0.9 + x[:, None, :]

    spec = ("data", "model", None) if fixed else ("data", None, "model")
    return decayed, (one(mesh, (128, 64, 128), *spec), one(mesh, (128, 128), "data", None))


@fault(
    TPU_FAULTS,
    "exposed_collective",
    says=("`model`", "while nothing else does", "a matrix product is independent of it"),
    remedy=(),
    saves="sent",
    tried=False,
    is_kept=True,
)
def a_sum_beside_a_product_that_needs_nothing_of_it(*, fixed: bool = False) -> Built:
    mesh = grid(model=8)

    @jax.jit
    def both(x, w1, w2, y):
        return (x @ w1) @ w2, jnp.tanh(y @ y)  # @here

    weights = one(mesh, (512, 4096), None, "model"), one(mesh, (4096, 512), "model", None)
    return both, (one(mesh, (2048, 512)), *weights, one(mesh, (1024, 1024)))


@clean
def an_mlp_whose_next_layer_needs_the_sum() -> Built:
    mesh = grid(data=2, model=4)

    @jax.jit
    def apply(x, w1, w2):
        for _ in range(2):
            x = x + jax.nn.gelu(x @ w1) @ w2
        return x

    weights = one(mesh, (512, 2048), None, "model"), one(mesh, (2048, 512), "model", None)
    return apply, (one(mesh, (1024, 512), "data", None), *weights)


@clean
def one_token_with_a_cache_of_its_heads() -> Built:
    mesh = grid(data=2, model=4)

    def decode(cache, q, k, position):
        cache = jax.lax.dynamic_update_slice(cache, k, (0, position, 0, 0))
        s = jax.nn.softmax(jnp.einsum("bqhk,bthk->bhqt", q, cache))
        return cache, jnp.einsum("bhqt,bthk->bqhk", s, cache)

    spec = ("data", None, "model", None)
    new = one(mesh, (16, 1, 32, 128), *spec)
    cache = one(mesh, (16, 1024, 32, 128), *spec)
    return jax.jit(decode, donate_argnums=0), (cache, new, new, one(mesh, (), dtype=jnp.int32))


def make(build: Callable[..., Built], **how: Any) -> None:
    """Compile one program for the target, and keep its record."""
    import pjit_inspect as pi

    jax.clear_caches()
    function, arguments = build(**how)
    path = path_of(build, **how)
    pi.inspect(function, *arguments).what_if(target=TARGET, effort="full").save(path)
    sys.stdout.write(f"{path.name} {path.stat().st_size:,} bytes\n")


def main() -> None:
    """Make every record anew."""
    RECORDS.mkdir(exist_ok=True)
    for one_fault in TPU_FAULTS:
        make(one_fault.build)
        if one_fault.remedy:
            make(one_fault.build, fixed=True)
    for build in TPU_CLEAN:
        make(build)


if __name__ == "__main__":
    sys.exit(main())
