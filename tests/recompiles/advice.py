"""Programs that compile too often, each with the advice it gets and the program that follows it.

Not its job: running them (test_advice.py).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.analyze.recompiles import eager_loops, fed_back
from pjit_inspect.analyze.recompiles import patterns as recompile_patterns
from pjit_inspect.handles.session.history import HISTORY
from pjit_inspect.model.record.ledger import Pattern, PatternKind

__all__ = ["CASES", "Case", "Programs", "programs_of"]


@dataclass(frozen=True, slots=True)
class Case:
    """One piece of advice on one program.

    Attributes:
      name: what the program does.
      kind: the pattern that gives it.
      text: the advice as the source has it, with `{}` for what is filled in.
      advice: the advice as it is printed for this program.
      problem: the program; it returns what it computes.
      remedies: it with the advice applied, one program for each thing it offers.
      counted: "user" to count programs of the user's functions, "all" where operations outside jit count.
    """

    name: str
    kind: PatternKind
    text: str
    advice: str
    problem: Callable[[], Any]
    remedies: tuple[Callable[[], Any], ...]
    counted: str = "user"


@dataclass(frozen=True, slots=True)
class Programs:
    """What was compiled: a name for each program, and the patterns the ledger found in them."""

    names: tuple[str, ...]
    patterns: tuple[Pattern, ...]


def programs_of(run: Callable[[], Any], counted: str) -> tuple[Programs, Any]:
    """Run a program with empty caches."""
    jax.clear_caches()
    HISTORY.clear()
    with pi.capture() as log:
        result = run()
    records = log if counted == "all" else log.user_records()
    return Programs(tuple(record.name for record in records), pi.ledger(log).patterns), result


CASES: list[Case] = []


def case(kind: PatternKind, text: str, *filled_in: str, counted: str = "user"):
    """Adds a program, a function that returns the problem and its remedies, to the cases."""

    def add(make: Callable[[], tuple[Callable[[], Any], ...]]) -> Callable:
        problem, *remedies = make()
        CASES.append(Case(make.__name__, kind, text, text.format(*filled_in), problem, tuple(remedies), counted))
        return make

    return add


X = np.arange(4, dtype=np.float32)


def mesh() -> Mesh:
    return Mesh(np.array(jax.devices()[:8]), ("x",))


def split() -> NamedSharding:
    return NamedSharding(mesh(), P("x"))


# ---------------------------------------------------------------- lengths


LENGTHS = (5, 6, 7, 8, 9)


def _sum_of_squares(x):
    return (x**2).sum()


def _padded(lengths):
    f = jax.jit(lambda x, mask: jnp.where(mask, x**2, 0).sum())
    results = []
    for length in lengths:
        size = next(size for size in (8, 16) if size >= length)
        x = np.pad(np.ones(length, np.float32), (0, size - length))
        results.append(float(f(x, np.arange(size) < length)))
    return results


@case("varying dimension", recompile_patterns.PAD, "8 or 16", "at most 2 programs", "16", "5")
def lengths_that_vary():
    def problem():
        f = jax.jit(_sum_of_squares)
        return [float(f(np.ones(length, np.float32))) for length in LENGTHS]

    return problem, lambda: _padded(LENGTHS)


@case("varying dimension", recompile_patterns.PAD, "8", "1 program", "8", "4")
def lengths_that_one_bucket_holds():
    def problem():
        f = jax.jit(_sum_of_squares)
        return [float(f(np.ones(length, np.float32))) for length in (5, 6, 7, 8)]

    return problem, lambda: _padded((5, 6, 7, 8))


@case("varying dimension", recompile_patterns.PAD_AMONG_OTHERS, "8", "1 length", "4")
def lengths_that_vary_and_a_type_that_does():
    calls = [(5, np.float32), (6, np.float32), (7, np.float16), (8, np.float16)]

    def problem():
        f = jax.jit(_sum_of_squares)
        return [float(f(np.ones(length, kind))) for length, kind in calls]

    def remedy():
        f = jax.jit(lambda x, mask: jnp.where(mask, x**2, 0).sum())
        return [float(f(np.ones(8, kind), np.arange(8) < length)) for length, kind in calls]

    return problem, remedy


# ---------------------------------------------------------------- static arguments


@case("static argument", recompile_patterns.PASS_AS_ARGUMENT, "n")
def a_static_number():
    def problem():
        f = jax.jit(lambda x, n: x * n, static_argnums=1)
        return [f(X, n) for n in (2, 3, 4)]

    def remedy():
        f = jax.jit(lambda x, n: x * n)
        return [f(X, n) for n in (2, 3, 4)]

    return problem, remedy


class Config:
    """Compared by identity."""

    def __init__(self, rate=2.0):
        self.rate = rate


class ByValue(Config):
    def __eq__(self, other):
        return isinstance(other, ByValue) and self.rate == other.rate

    def __hash__(self):
        return hash(self.rate)


@case("static argument", recompile_patterns.SAME_OBJECT_OR_EQUALITY)
def a_static_object_made_anew():
    def problem():
        f = jax.jit(lambda x, config: x * config.rate, static_argnums=1)
        return [f(X, Config()) for _ in range(3)]

    def one_object():
        f, config = jax.jit(lambda x, config: x * config.rate, static_argnums=1), Config()
        return [f(X, config) for _ in range(3)]

    def with_equality():
        f = jax.jit(lambda x, config: x * config.rate, static_argnums=1)
        return [f(X, ByValue()) for _ in range(3)]

    return problem, one_object, with_equality


@case("static argument", recompile_patterns.SAME_OBJECT)
def a_static_nan():
    def problem():
        f = jax.jit(lambda x, fill: jnp.where(x > 1, x, fill).sum(), static_argnums=1)
        return [float(jnp.isnan(f(X, float("nan")))) for _ in range(3)]

    def remedy():
        f, nan = jax.jit(lambda x, fill: jnp.where(x > 1, x, fill).sum(), static_argnums=1), float("nan")
        return [float(jnp.isnan(f(X, nan))) for _ in range(3)]

    return problem, remedy


@case("static argument", recompile_patterns.SAME_OBJECT)
def a_static_lambda_made_anew():
    def problem():
        f = jax.jit(lambda x, function: function(x), static_argnums=1)
        return [f(X, lambda x: x * 2) for _ in range(3)]

    def remedy():
        f, double = jax.jit(lambda x, function: function(x), static_argnums=1), lambda x: x * 2
        return [f(X, double) for _ in range(3)]

    return problem, remedy


# ---------------------------------------------------------------- functions made anew


@case("made anew", recompile_patterns.JIT_ONCE)
def a_lambda_in_a_loop():
    def problem():
        return [jax.jit(lambda x: x * 2)(X) for _ in range(3)]

    def remedy():
        f = jax.jit(lambda x: x * 2)
        return [f(X) for _ in range(3)]

    return problem, remedy


@case("made anew", recompile_patterns.JIT_ONCE)
def grad_in_a_loop():
    def problem():
        return [jax.jit(jax.grad(_sum_of_squares))(X) for _ in range(3)]

    def remedy():
        f = jax.jit(jax.grad(_sum_of_squares))
        return [f(X) for _ in range(3)]

    return problem, remedy


def _make(factor):
    def step(x):
        return x * factor

    return step


@case("made anew", recompile_patterns.JIT_ONCE_AND_PASS, "`factor`")
def a_closed_over_number():
    def problem():
        return [jax.jit(_make(factor))(X) for factor in (2.0, 3.0, 4.0)]

    def remedy():
        f = jax.jit(lambda x, factor: x * factor)
        return [f(X, factor) for factor in (2.0, 3.0, 4.0)]

    return problem, remedy


@case("made anew", recompile_patterns.JIT_ONCE_AND_PASS, "`factor`")
def a_closed_over_array():
    def problem():
        return [jax.jit(_make(X + number))(X) for number in range(3)]

    def remedy():
        f = jax.jit(lambda x, factor: x * factor)
        return [f(X, X + number) for number in range(3)]

    return problem, remedy


def _scale(x, factor):
    return x * factor


@case("made anew", recompile_patterns.JIT_ONCE_AND_PASS, "`factor`")
def a_partial_with_a_number():
    def problem():
        return [jax.jit(functools.partial(_scale, factor=factor))(X) for factor in (2.0, 3.0, 4.0)]

    def remedy():
        f = jax.jit(_scale)
        return [f(X, factor=factor) for factor in (2.0, 3.0, 4.0)]

    return problem, remedy


class Scaler:
    def __init__(self, factor):
        self.factor = factor

    def apply(self, x):
        return x * self.factor


@case("made anew", recompile_patterns.MAKE_BOTH_ONCE, "`self`")
def a_method_of_an_object_made_anew():
    def problem():
        return [jax.jit(Scaler(2).apply)(X) for _ in range(3)]

    def remedy():
        f = jax.jit(Scaler(2).apply)
        return [f(X) for _ in range(3)]

    return problem, remedy


# ---------------------------------------------------------------- types and places


@case("weak type", recompile_patterns.ONE_FORM, "lr", "lr")
def a_number_that_is_an_array_in_some_calls():
    rates = (0.5, jnp.float32(0.25), 0.125)

    def problem():
        f = jax.jit(lambda x, lr: x * lr)
        return [f(X, lr) for lr in rates]

    def as_arrays():
        f = jax.jit(lambda x, lr: x * lr)
        return [f(X, jnp.asarray(lr, jnp.float32)) for lr in rates]

    def as_numbers():
        f = jax.jit(lambda x, lr: x * lr)
        return [f(X, float(lr)) for lr in rates]

    return problem, as_arrays, as_numbers


@case("weak type", recompile_patterns.START_AS_ARRAY, "mean", "mean", "float32")
def a_mean_that_starts_as_a_number():
    def run(mean):
        f = jax.jit(lambda mean, x: 0.9 * mean + 0.1 * x)
        for number in range(4):
            mean = f(mean, np.float32(number))
        return mean

    return (lambda: run(0.0)), (lambda: run(jnp.asarray(0.0, "float32")))


@case("numpy and jax.Array", recompile_patterns.PUT_ALWAYS, "x")
def numpy_in_some_calls():
    x = np.arange(8, dtype=np.float32)

    def problem():
        f = jax.jit(lambda x: x * 2)
        return [f(x), f(jax.device_put(x, split())), f(x)]

    def remedy():
        f = jax.jit(lambda x: x * 2)
        return [f(jax.device_put(x, split())) for _ in range(3)]

    return problem, remedy


# ---------------------------------------------------------------- results that come back


def _momentum_step(w, mom):
    mom = 0.9 * mom + 2 * w
    return w - 0.1 * mom, mom


def _train(mom, *, out_shardings=None):
    step = jax.jit(_momentum_step, out_shardings=out_shardings)
    w = jax.device_put(np.arange(8, dtype=np.float32), split())
    for _ in range(3):
        w, mom = step(w, mom)
    return w, mom


@case("feedback", fed_back.START_SO, "`mom`", "it comes", "mom", "NamedSharding(mesh, P('x'))")
def momentum_that_starts_on_one_device():
    return (lambda: _train(jnp.zeros(8))), (lambda: _train(jax.device_put(jnp.zeros(8), split())))


@case("feedback", fed_back.START_SO, "`mom`", "it comes", "mom", "NamedSharding(mesh, P('x'))")
def momentum_that_starts_in_numpy():
    return (lambda: _train(np.zeros(8, np.float32))), (lambda: _train(jax.device_put(np.zeros(8, np.float32), split())))


def _tree_step(params, x):
    return {name: w - 0.1 * x.sum() for name, w in params.items()}


@case("feedback", fed_back.START_SO, "`params['a']` and 1 more", "they come", "value", "NamedSharding(mesh, P())")
def all_parameters():
    def run(params):
        step, x = jax.jit(_tree_step), jax.device_put(np.ones(8, np.float32), split())
        for _ in range(3):
            params = step(params, x)
        return params

    start = {"a": jnp.ones(()), "b": jnp.ones(())}
    return (lambda: run(start)), (lambda: run(jax.device_put(start, NamedSharding(mesh(), P()))))


def _constrained(state):
    return jax.lax.with_sharding_constraint(state + 1, NamedSharding(mesh(), P()))


def _loop(step, state):
    for _ in range(3):
        state = step(state)
    return state


@case(
    "feedback", fed_back.EITHER, "`state`", "it comes", "state", "NamedSharding(mesh, P(None))",
    "32 B on each device; the program that takes it so sends 0 B per call", "`result`", "`state`",
    "4 B on each device; the program that takes it so sends 28 B per call",
)  # fmt: skip
def a_state_that_starts_sharded_and_comes_back_replicated():
    start = np.arange(8, dtype=np.float32)

    def run(place, **options):
        return _loop(jax.jit(_constrained, **options), jax.device_put(start, place))

    whole = NamedSharding(mesh(), P())
    return (lambda: run(split())), (lambda: run(whole)), (lambda: run(split(), out_shardings=split()))


def _sum_everywhere(state, x):
    return jax.lax.with_sharding_constraint(jnp.zeros(8) + (state * x).sum(), NamedSharding(mesh(), P()))


@case("feedback", fed_back.KEEP_SO, "`result`", "`state`")
def a_state_that_is_only_summed():
    """Both programs add partial sums, and send as much; only the first holds an eighth of the state."""
    x = np.arange(8, dtype=np.float32) / 100

    def run(**options):
        step, given = jax.jit(_sum_everywhere, **options), jax.device_put(x, split())
        return _loop(lambda state: step(state, given), jax.device_put(x, split()))

    return run, lambda: run(out_shardings=split())


def _two(a, b):
    return tuple(jax.lax.with_sharding_constraint(x + 1, NamedSharding(mesh(), P())) for x in (a, b))


@case(
    "feedback", fed_back.EITHER, "`a` and 1 more", "they come", "a", "NamedSharding(mesh, P(None))",
    "64 B on each device; the program that takes it so sends 0 B per call", "what comes back", "`a` and 1 more",
    "8 B on each device; the program that takes it so sends 56 B per call",
)  # fmt: skip
def two_states_that_look_the_same():
    start = np.arange(8, dtype=np.float32)

    def run(step, place):
        state = (jax.device_put(start, place),) * 2
        for _ in range(3):
            state = step(*state)
        return state

    whole, kept = NamedSharding(mesh(), P()), jax.jit(_two, out_shardings=(split(), split()))
    return (lambda: run(jax.jit(_two), split())), (lambda: run(jax.jit(_two), whole)), (lambda: run(kept, split()))


@case(
    "feedback", fed_back.EITHER, "`state`", "it comes", "state", "NamedSharding(mesh, P(None))",
    "32 B on each device; the program that takes it so sends 0 B per call", "`result`", "`state`",
    "4 B on each device; the program that takes it so sends 28 B per call",
)  # fmt: skip
def a_state_that_goes_where_out_shardings_ask():
    replicated, start = NamedSharding(mesh(), P()), np.arange(8, dtype=np.float32)

    def run(place, end):
        return _loop(jax.jit(lambda state: state + 1, out_shardings=end), jax.device_put(start, place))

    return (lambda: run(split(), replicated)), (lambda: run(replicated, replicated)), (lambda: run(split(), split()))


def _moments_step(params, moments, x):
    grads = jax.grad(lambda w, x: jnp.tanh(x @ w).var())(params["w"], x)
    moments = {"w": 0.9 * moments["w"] + 0.1 * grads}
    return {"w": params["w"] - moments["w"]}, moments


@case("feedback", fed_back.START_SO, "`moments['w']`", "it comes", "value", "NamedSharding(mesh, P('x', None))")
def moments_with_a_spec_that_splits_nothing():
    """flax#5172: `P(None, None)` is a spec, and in full on every device; nobody wants moments to come back so."""
    x, w = np.ones((8, 16), np.float32), np.ones((16, 16), np.float32)

    def run(*spec):
        over = NamedSharding(mesh(), P("x", None))
        step = jax.jit(_moments_step, out_shardings=({"w": over}, {"w": over}))
        params = {"w": jax.device_put(w, over)}
        moments = {"w": jax.device_put(0 * w, NamedSharding(mesh(), P(*spec)))}
        given = jax.device_put(x, NamedSharding(mesh(), P()))
        for _ in range(3):
            params, moments = step(params, moments, given)
        return params, moments

    return (lambda: run(None, None)), (lambda: run("x", None))


@case("feedback", fed_back.START_SO, "`state`", "it comes", "state", "NamedSharding(mesh, P('x'))")
def a_state_that_goes_where_in_shardings_ask():
    def run(start):
        step = jax.jit(lambda state: state + 1, in_shardings=split(), out_shardings=split())
        return _loop(step, start)

    return (lambda: run(jnp.zeros(8))), (lambda: run(jax.device_put(jnp.zeros(8), split())))


@case("feedback", fed_back.START_SO, "`state`", "it comes", "state", "NamedSharding(mesh, P('x'))")
def a_state_on_explicit_axes():
    def run(*spec):
        over = jax.make_mesh((8,), ("x",), axis_types=(AxisType.Explicit,))
        place, end = NamedSharding(over, P(*spec)), NamedSharding(over, P("x"))
        start = jax.device_put(np.arange(8, dtype=np.float32), place)
        return _loop(jax.jit(lambda state: jax.sharding.reshard(state + 1, end)), start)

    return (lambda: run(None)), (lambda: run("x"))


# ---------------------------------------------------------------- operations outside jit


@case("eager loop", eager_loops.ONE_SHAPE, counted="all")
def lengths_outside_jit():
    def problem():
        return [float(jax.lax.tanh(np.ones(length, np.float32))[0]) for length in (3, 4, 5, 6)]

    def remedy():
        f = jax.jit(lambda x: jax.lax.tanh(x)[0])
        return [float(f(np.pad(np.ones(length, np.float32), (0, 8 - length)))) for length in (3, 4, 5, 6)]

    return problem, remedy


@case("eager loop", eager_loops.ONE_SHAPE, counted="all")
def shapes_that_parameters_decide():
    def problem():
        return [float(jnp.zeros(length).sum()) for length in (3, 4, 5, 6)]

    def remedy():
        f = jax.jit(lambda length: jnp.where(jnp.arange(8) < length, jnp.zeros(8), 0).sum())
        return [float(f(length)) for length in (3, 4, 5, 6)]

    return problem, remedy


@case("eager loop", eager_loops.PASS_WHAT_CHANGES, counted="all")
def parameters_outside_jit():
    x = np.arange(8, dtype=np.float32)

    def problem():
        return [np.asarray(jax.lax.integer_pow(x, n)) for n in (3, 4, 5, 6)]

    def remedy():
        f = jax.jit(lambda x, n: x**n)
        return [np.asarray(f(x, n)) for n in (3, 4, 5, 6)]

    return problem, remedy
