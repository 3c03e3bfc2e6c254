"""Cells of a notebook that run again, as they were or edited, in an IPython shell of their own."""

from __future__ import annotations

import IPython  # noqa: F401  (without it there are no notebooks)

from recompiles.scenario import scenario

SETUP = "import jax, numpy as np\nx = np.arange(4, dtype=np.float32)"
CELL = "@jax.jit\ndef step(x):\n    y = x * 2\n    return y\nstep(x)"


def _cells(shell, *cells: str) -> None:
    for cell in (SETUP, *cells):
        shell.run_cell(cell, store_history=True).raise_error()


@scenario("`step` was defined again with the same code (In [2] -> In [3])")
def cell_run_again(shell):
    _cells(shell, CELL, CELL)


@scenario("`step` (In [3]:1) was edited: line 3 of it `y = x * 2` -> `y = x * 3`")
def cell_edited(shell):
    _cells(shell, CELL, CELL.replace("x * 2", "x * 3"))


@scenario("`x`: length 4 -> 6 (dimension 0)")
def called_from_another_cell(shell):
    _cells(shell, CELL, "step(np.ones(6, np.float32))")


@scenario("`rate`, which `step` closes over: 0.1 -> 0.2")
def factory_in_a_cell(shell):
    make = "def make(rate):\n    @jax.jit\n    def step(x):\n        return x * rate\n    return step"
    _cells(shell, make, "make(0.1)(x)", "make(0.2)(x)")


@scenario("a new `<lambda>` object with the same code")
def lambda_in_a_cell_loop(shell):
    _cells(shell, "for _ in range(2):\n    jax.jit(lambda x: x * 2)(x)")


@scenario("`<lambda>` was defined again with the same code (In [2] -> In [3])")
def lambda_cell_run_again(shell):
    _cells(shell, "f = jax.jit(lambda x: x * 2)\nf(x)", "f = jax.jit(lambda x: x * 2)\nf(x)")
