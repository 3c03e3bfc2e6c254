"""Function objects that change: made anew, redefined, edited, with other closed-over values."""

from __future__ import annotations

import functools
import importlib
import linecache
import sys
from pathlib import Path

import jax
import numpy as np

from recompiles.scenario import scenario

X = np.arange(4, dtype=np.float32)


@scenario("a new `<lambda>` object with the same code")
def lambda_in_a_loop(_):
    for _ in range(2):
        jax.jit(lambda x: x * 2)(X)


@scenario(None, compiles=1)
def the_same_function_jitted_again_is_no_compile(_):
    def double(x):
        return x * 2

    jax.jit(double)(X), jax.jit(double)(X)


@scenario("first compile of `<lambda>`")
def two_lambdas_are_two_functions(_):
    jax.jit(lambda x: x * 2)(X)
    jax.jit(lambda x: x * 3)(X)


def scale(x, factor):
    return x * factor


@scenario("a new `functools.partial` of `scale` with the same values")
def partial_in_a_loop(_):
    for _ in range(2):
        jax.jit(functools.partial(scale, factor=2))(X)


@scenario("`factor`, which the partial of `scale` holds: 2 -> 3")
def partial_with_another_value(_):
    for factor in (2, 3):
        jax.jit(functools.partial(scale, factor=factor))(X)


def make_step(factor):
    def step(x):
        return x * factor

    return step


@scenario("`factor`, which `step` closes over: 2 -> 3")
def closed_over_number(_):
    for factor in (2, 3):
        jax.jit(make_step(factor))(X)


@scenario("`factor`, which `step` closes over: another object, float32[4] both times")
def closed_over_array(_):
    for factor in (X + 1, X + 2):
        jax.jit(make_step(factor))(X)


@scenario("`step` was defined again with the same code")
def factory_called_again_with_the_same_value(_):
    for _ in range(2):
        jax.jit(make_step(2))(X)


@scenario("the default of `n` in `<lambda>`: 0 -> 1")
def default_of_a_lambda(_):
    for i in range(2):
        jax.jit(lambda x, n=i: x * n)(X)


class Scaler:
    def __init__(self, factor):
        self.factor = factor

    def apply(self, x):
        return x * self.factor

    def __call__(self, x):
        return x * self.factor


@scenario("a new bound method object of `Scaler.apply`")
def bound_method_made_anew(_):
    scaler = Scaler(2)
    for _ in range(2):
        jax.jit(scaler.apply)(X)


@scenario("`self`, whose method `Scaler.apply` is: another object, <Scaler> both times")
def method_of_another_object(_):
    for factor in (2, 3):
        jax.jit(Scaler(factor).apply)(X)


@scenario("a new `Scaler` object")
def callable_object(_):
    for _ in range(2):
        jax.jit(Scaler(2))(X)


def loss(x):
    return (x**2).sum()


@scenario("a new wrapper object (`grad`) around `loss`")
def grad_wrapper_made_anew(_):
    for _ in range(2):
        jax.jit(jax.grad(loss))(X)


@scenario("a new wrapper object (`vmap`) around `loss`")
def vmap_wrapper_made_anew(_):
    for _ in range(2):
        jax.jit(jax.vmap(loss))(np.ones((2, 3), np.float32))


@scenario("a new `<lambda>` object with the same code; `x`: length 3 -> 4 (dimension 0)")
def lambda_in_a_loop_with_another_length(_):
    for length in (3, 4):
        jax.jit(lambda x: x * 2)(np.ones(length, np.float32))


# ---------------------------------------------------------------- source


STEP = """import jax


@jax.jit
def step(x):
    y = x * 2
    return y
"""


def run_module(folder: Path, *texts: str, written_early: bool = False) -> None:
    """Import a module, call its `step`, write it anew, reload it, call again.

    `written_early` writes each next text before the function of the one before is called.
    """
    path, name = folder / "edited_step.py", "edited_step"
    sys.path.insert(0, str(folder))
    try:
        for number, text in enumerate(texts):
            path.write_text(text)
            # Python and linecache tell a changed file by its time and size.
            importlib.invalidate_caches()
            module = sys.modules.get(name)
            module = importlib.import_module(name) if module is None else importlib.reload(module)
            if written_early and number + 1 < len(texts):
                path.write_text(texts[number + 1] + "# later")
            module.step(X)
            if not written_early:
                assert linecache.getline(str(path), 1) == texts[number].splitlines(keepends=True)[0]
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(name, None)


@scenario("`step` (edited_step.py:4) was edited: line 3 of it `y = x * 2` -> `y = x * 30`")
def edited_and_reloaded(folder):
    run_module(folder, STEP, STEP.replace("x * 2", "x * 30"))


@scenario("`step` (edited_step.py:4) was edited: line 3 of it `x = x + 1` is new")
def a_line_more(folder):
    run_module(folder, STEP, STEP.replace("    y =", "    x = x + 1\n    y ="))


@scenario("`step` (edited_step.py:4) was edited: line 3 of it `y = x * 2` -> `y = x * 30`, and 1 more")
def two_lines_edited(folder):
    run_module(folder, STEP, STEP.replace("x * 2", "x * 30").replace("return y", "return y + 10"))


@scenario("`step` was defined again with the same code")
def only_a_comment_was_edited(folder):
    run_module(folder, STEP, STEP.replace("x * 2", "x * 2  # doubles"))


@scenario("`step` was defined again with the same code")
def reloaded_as_it_was(folder):
    run_module(folder, STEP, STEP)
