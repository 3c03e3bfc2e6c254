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


# Two cells that define a function of one name look the same, so that "edited" is more than anybody can tell.
@scenario("`step` (In [3]:1) was defined again with other code: line 3 of it `y = x * 2` -> `y = x * 3`")
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


@scenario("`f` (In [3]:1) was defined again with other code: line 2 of it `return x * 2` -> `return x @ x`")
def two_cells_that_define_a_function_of_one_name(shell):
    cell = "def f(x):\n    return {}\njax.jit(f)(x)"
    _cells(shell, cell.format("x * 2"), cell.format("x @ x"))


@scenario("`step` was defined again with the same code (In [2] -> In [3])")
def another_line_of_the_cell_edited(shell):
    _cells(shell, CELL, f"{CELL}\nprint('again')")


_BRANCHES = """if flag:
    def f(x):
        return x + 1
else:
    def f(x):
        return x * 2
jax.jit(f)(x)"""


@scenario("first compile of `f`")
def a_cell_run_again_that_takes_the_other_branch(shell):
    _cells(shell, "flag = True", _BRANCHES, "flag = False", _BRANCHES)


@scenario("another `f` (In [5]:5), with other code")
def an_edited_cell_that_takes_the_other_branch(shell):
    _cells(shell, "flag = True", _BRANCHES, "flag = False", f"{_BRANCHES}  # again")


@scenario("first compile of `<lambda>`")
def two_lambdas_on_one_line_of_a_cell(shell):
    _cells(shell, "jax.jit(lambda x: x + 1)(x), jax.jit(lambda x: x * 2)(x)")


@scenario(None, compiles=1)
def a_cell_that_only_calls_run_again(shell):
    _cells(shell, "f = jax.jit(lambda x: x * 2)", "f(x)", "f(x)")
