"""Which function it is: two that share a name or a line, one that is defined again, one whose text was edited."""

from __future__ import annotations

import functools

import jax
import numpy as np

from recompiles.functions import run_module
from recompiles.scenario import scenario

X = np.arange(4, dtype=np.float32)


@scenario("first compile of `<lambda>`")
def two_lambdas_on_one_line(_):
    jax.jit(lambda x: x + 1)(X), jax.jit(lambda x: x * 2)(X)


@scenario("first compile of `<lambda>`")
def two_equal_lambdas_on_one_line(_):
    jax.jit(lambda x: x + 1)(X), jax.jit(lambda x: x + 1)(X)


@scenario("a new `<lambda>` object with the same code", compiles=4)
def two_lambdas_on_one_line_in_a_loop(_):
    for _ in range(2):
        jax.jit(lambda x: x + 1)(X), jax.jit(lambda x: x * 2)(X)


def _either(flag):
    if flag:

        def f(x):
            return x + 1
    else:

        def f(x):
            return x * 2

    return f


@scenario("first compile of `f`")
def a_def_in_each_branch_of_an_if(_):
    jax.jit(_either(True))(X), jax.jit(_either(False))(X)


@scenario("first compile of `f`")
def both_branches_while_both_functions_are_alive(_):
    functions = [_either(True), _either(False)]
    for function in functions:
        jax.jit(function)(X)


@scenario("`f` was defined again with the same code", compiles=3)
def one_branch_then_the_other_then_the_first_again(_):
    for flag in (True, False, True):
        jax.jit(_either(flag))(X)


@scenario("first compile of `g`")
def one_name_defined_twice_in_a_row(_):
    def g(x):
        return x + 1

    jax.jit(g)(X)

    def g(x):
        return x - 1

    jax.jit(g)(X)


class First:
    def run(self, x):
        return x + 1


class Second:
    def run(self, x):
        return x * 2


@scenario("first compile of `run`")
def a_method_of_the_same_name_of_another_class(_):
    jax.jit(First().run)(X), jax.jit(Second().run)(X)


@scenario("first compile of `f`")
def a_partial_of_the_other_branch(_):
    for flag in (True, False):
        jax.jit(functools.partial(_either(flag)))(X)


def _logged(function):
    @functools.wraps(function)
    def called(x):
        return function(x)

    return called


@scenario("first compile of `f`")
def a_decorated_function_of_the_other_branch(_):
    for flag in (True, False):
        jax.jit(_logged(_either(flag)))(X)


@scenario("a new wrapper object (`_logged`) around `f`")
def a_decorated_function_decorated_again(_):
    inner = _either(True)
    for _ in range(2):
        jax.jit(_logged(inner))(X)


def loss(x, y):
    return (x * y).sum()


@scenario("a new wrapper object (`grad`) around `loss`")
def grad_of_another_argument(_):
    for number in (0, 1):
        jax.jit(jax.grad(loss, argnums=number))(X, X)


@scenario("`n`, which `<lambda>` closes over: 2 -> 3")
def a_lambda_of_a_factory(_):
    def make(n):
        return lambda x: x * n

    for n in (2, 3):
        jax.jit(make(n))(X)


@scenario(None, compiles=1)
def a_list_that_is_closed_over_and_changes_is_no_compile(_):
    held = [1.0]
    f = jax.jit(lambda x: x * held[0])
    f(X)
    held[0] = 2.0
    f(X)


def scaled(a, x):
    return a * x


@scenario("`a`, which the partial of `scaled` holds: 2 -> 3")
def a_partial_with_a_positional_argument(_):
    for a in (2, 3):
        jax.jit(functools.partial(scaled, a))(X)


# ---------------------------------------------------------------- texts that change, texts that are not there


BRANCHES = """import jax

flag = True
if flag:
    def step(x):
        return x + 1
else:
    def step(x):
        return x * 2
step = jax.jit(step)
"""


@scenario("another `step` (edited_step.py:8), with other code")
def an_edited_module_that_takes_the_other_branch(folder):
    run_module(folder, BRANCHES, BRANCHES.replace("flag = True", "flag = False"))


ABOVE = """import jax


def other(x):
    return x


@jax.jit
def step(x):
    return x * 2
"""


@scenario("`step` was defined again with the same code")
def a_module_edited_above_the_function(folder):
    run_module(folder, ABOVE, ABOVE.replace("def other", "# Another function.\ndef other"))


@scenario("`step` (edited_step.py:9) was edited: line 3 of it `return x * 2` -> `return x * 5`")
def a_module_edited_above_the_function_and_in_it(folder):
    text = ABOVE.replace("x * 2", "x * 5")
    run_module(folder, ABOVE, text.replace("def other", "# Another function.\ndef other"))


METHODS = """import jax


class Model:
    def apply(self, x):
        return x * 2


class Other:
    def apply(self, x):
        return x


def step(x):
    return jax.jit(Model().apply)(x)
"""


@scenario("`Model.apply` (edited_step.py:5) was edited: line 2 of it `return x * 2` -> `return x * 7`")
def a_method_edited_where_another_class_has_one_of_its_name(folder):
    run_module(folder, METHODS, METHODS.replace("x * 2", "x * 7"))


@scenario("`step` (edited_step.py:8) was defined again with other code")
def a_module_that_was_edited_before_its_function_ran(folder):
    """The text of the first function is gone when it is first called: what was edited is not known."""
    run_module(folder, ABOVE, ABOVE.replace("x * 2", "x * 5"), written_early=True)


@scenario("`f` was defined again with the same code")
def a_function_without_a_text_made_again(_):
    for _ in range(2):
        space: dict = {}
        exec("def f(x):\n    return x * 2", space)
        jax.jit(space["f"])(X)


@scenario("another `f` (<string>:1), with other code")
def two_functions_without_a_text(_):
    for text in ("def f(x):\n    return x * 2", "def f(x):\n    return x + 2"):
        space: dict = {}
        exec(text, space)
        jax.jit(space["f"])(X)
