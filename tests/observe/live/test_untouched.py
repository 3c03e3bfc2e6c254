"""Within a watched call no code of the user's objects runs that does not run without watching.

But for the hash and the equality of what JAX looks programs up by, which JAX itself asks for.
"""

from __future__ import annotations

import collections
import contextlib
import enum
import functools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pjit_inspect as pi
from pjit_inspect.observe.live.contents import jaxpr_text
from pjit_inspect.observe.live.foreign_parameters import without_foreign
from pjit_inspect.observe.live.short_text import named_text, short_text

RAN: collections.Counter[str] = collections.Counter()


class Hooked:
    """Counts whatever of its code runs."""

    def __getattribute__(self, name: str) -> Any:
        RAN[name] += 1
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def __repr__(self) -> str:
        RAN["repr"] += 1
        return "hooked"

    __str__ = __repr__

    def __bool__(self) -> bool:
        RAN["bool"] += 1
        return True

    def __len__(self) -> int:
        RAN["len"] += 1
        return 3

    def __hash__(self) -> int:
        RAN["hash"] += 1
        return 5

    def __eq__(self, other: object) -> bool:
        RAN["eq"] += 1
        return self is other

    def __call__(self, x: Any, *_: Any) -> Any:
        return x + 1

    def method(self, x: Any) -> Any:
        return x * 2


class HookedList(list):
    """The same of a list."""

    def __iter__(self) -> Iterator[Any]:
        RAN["iter"] += 1
        return super().__iter__()

    def __repr__(self) -> str:
        RAN["repr"] += 1
        return "list"

    def __len__(self) -> int:
        RAN["len"] += 1
        return super().__len__()


@jax.tree_util.register_pytree_node_class
@dataclass
class Node:
    """A tree with something beside its leaves."""

    x: Any
    beside: Any

    def tree_flatten(self) -> Any:
        return (self.x,), self.beside

    @classmethod
    def tree_unflatten(cls, beside: Any, leaves: Any) -> Any:
        RAN["unflatten"] += 1
        return cls(leaves[0], beside)


SHAPE = jax.ShapeDtypeStruct((), np.float32)


def closure(held: Any = None) -> Any:
    def f(x):
        return x + (held is None)

    return jax.jit(f)(1.0)


def in_a_closure() -> Any:
    return closure(Hooked()), closure(HookedList([Hooked()])), closure((Hooked(), 1)), closure({"a": Hooked()})


def as_a_default() -> Any:
    def f(x, a=Hooked(), *, b=Hooked()):  # noqa: B008
        return x

    return jax.jit(lambda x: f(x))(1.0), jax.jit(functools.partial(f))(1.0)


def in_a_partial() -> Any:
    return jax.jit(functools.partial(lambda a, x, b: x, Hooked(), b=Hooked()))(1.0)


def as_the_function() -> Any:
    return jax.jit(Hooked())(1.0)


def as_the_function_ahead() -> Any:
    return jax.jit(Hooked()).lower(1.0).compile()


def mapped() -> Any:
    return jax.jit(jax.vmap(Hooked()))(jnp.ones(3))


HOOKED = Hooked()


def as_a_method() -> Any:
    return jax.jit(HOOKED.method)(1.0)


def static() -> Any:
    f = jax.jit(lambda x, n, m=None: x, static_argnums=1, static_argnames="m")
    return f(1.0, Hooked()), f(1.0, (Hooked(), 1)), f(1.0, 2, m=Hooked())


def beside_leaves() -> Any:
    return jax.jit(lambda n: n.x)(Node(1.0, Hooked()))


def as_a_key() -> Any:
    return jax.jit(lambda d: 1.0)({Hooked(): 1.0})


def as_a_callback() -> Any:
    back = functools.partial(Hooked())
    one = jax.jit(lambda x: jax.pure_callback(Hooked(), SHAPE, x))
    return jax.block_until_ready((one(jnp.float32(1)), jax.jit(lambda x: jax.pure_callback(back, SHAPE, x))(1.0)))


def callback_in_a_loop() -> Any:
    def body(x, _):
        return jax.pure_callback(Hooked(), SHAPE, x), None

    return jax.block_until_ready(jax.jit(lambda x: jax.lax.scan(body, x, None, length=2)[0])(jnp.float32(1)))


class HookedNumber(np.float32):
    """A NumPy number that prints itself."""

    def __repr__(self) -> str:
        RAN["repr"] += 1
        return "number"

    __str__ = __repr__
    __hash__ = np.float32.__hash__


class HookedMeta(type):
    """Counts what its classes are asked for."""

    def __getattribute__(cls, name: str) -> Any:
        RAN[f"class {name}"] += 1
        return type.__getattribute__(cls, name)


class OfHookedMeta(metaclass=HookedMeta):
    """Prints itself, so that it is shown by what it holds."""

    def __repr__(self) -> str:
        RAN["repr"] += 1
        return "hooked"

    def __call__(self, x: Any) -> Any:
        return x + 1


def carried(value: Any) -> Any:
    """Wherever a function may carry a value."""

    def default(x: Any, held: Any = value) -> Any:
        return x

    back = functools.partial(lambda held, y: y, value)
    called = jax.jit(lambda x: jax.pure_callback(back, SHAPE, x))(jnp.float32(1))
    return closure(value), closure((value, [value])), jax.jit(default, static_argnums=1)(1.0, value), called


def number_of_theirs() -> Any:
    return carried(HookedNumber(2))


def of_their_metaclass() -> Any:
    return carried(OfHookedMeta()), carried(OfHookedMeta), jax.jit(OfHookedMeta())(1.0)


CASES = [
    number_of_theirs,
    of_their_metaclass,
    *(in_a_closure, as_a_default, in_a_partial, as_the_function, as_the_function_ahead, mapped, as_a_method, static),
    *(beside_leaves, as_a_key, as_a_callback, callback_in_a_loop),
]


def ran(case: Callable[[], Any], scope: contextlib.AbstractContextManager[Any]) -> collections.Counter[str]:
    jax.clear_caches()
    with scope:
        RAN.clear()
        case()
        return RAN.copy()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_only_hashes_and_equality_are_asked_for(case: Callable[[], Any]) -> None:
    bare = ran(case, contextlib.nullcontext())
    more = ran(case, pi.capture(calls=True)) - bare
    assert {name for name in more if name not in ("hash", "eq", "__class__", "__hash__", "__eq__")} == set()
    assert more["__class__"] <= 1


class Slow:
    """Takes its time to print itself."""

    def __repr__(self) -> str:
        time.sleep(30)
        return "slow"


class Leaving:
    """Ends the program when it is looked at."""

    def __getattr__(self, name: str) -> Any:
        raise SystemExit(3)

    def __repr__(self) -> str:
        raise SystemExit(4)


class SlowKey:
    """Takes its time to be looked up."""

    asked = 0

    def __hash__(self) -> int:
        type(self).asked += 1
        time.sleep(0.2)
        return 1

    def __eq__(self, other: object) -> bool:
        type(self).asked += 1
        time.sleep(0.2)
        return isinstance(other, SlowKey)


def test_a_hash_that_is_slow_is_asked_for_once_more_and_never_again() -> None:
    def asked(scope: contextlib.AbstractContextManager[Any]) -> int:
        SlowKey.asked = 0
        with scope:
            for number in range(3):
                jax.jit(lambda x, n, number=number: x + number, static_argnums=1)(1.0, SlowKey())
        return SlowKey.asked

    assert asked(pi.capture()) <= asked(contextlib.nullcontext()) + 1


@pytest.mark.parametrize("kind", [Slow, Leaving], ids=lambda kind: kind.__name__)
def test_what_prints_slowly_or_ends_the_program_does_neither(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_sleep(_: float) -> None:
        raise AssertionError("it was printed")

    monkeypatch.setattr(time, "sleep", no_sleep)
    with pi.capture(calls=True) as log:
        f = jax.jit(lambda x, n: x + 1, static_argnums=1)
        assert f(1.0, kind()) == f(1.0, kind()) == 2
        closure(kind())
    assert [record.name for record in log.user_records()] == ["<lambda>", "<lambda>", "f"]
    assert all(record.data.key is not None for record in log.user_records())
    assert kind.__name__ in log[1].reason.sentence


# ---------------------------------------------------------------- what they are called instead


class Config:
    """Prints in its own words."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __repr__(self) -> str:
        raise AssertionError("it must not be asked")


class Slotted:
    """Keeps its fields in slots."""

    __slots__ = ("_hidden", "width")

    def __init__(self) -> None:
        self.width, self._hidden = 3, 4

    __repr__ = Config.__repr__


@dataclass(frozen=True)
class Plain:
    """A dataclass."""

    width: int = 3
    name: str = "a"


class Pair(NamedTuple):
    """A named tuple."""

    a: int = 1
    b: str = "x"


class Number(int):
    """A number with a text of its own."""

    __repr__ = Config.__repr__


class Color(enum.Enum):
    """Names."""

    RED = 1


def function() -> None:
    """Nothing."""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Config(width=3, _cache={}), "Config(width=3)"),
        (Config(inner=Config(a=1)), "Config(inner=Config(a=1))"),
        (Config(), "<Config>"),
        (Slotted(), "Slotted(width=3)"),
        (Plain(), "Plain(width=3, name='a')"),
        (Pair(), "(1, 'x')"),
        (Number(7), "7"),
        (Color.RED, "Color.RED"),
        ([Config(a=1), {Number(1): "x"}], "[Config(a=1), {1: 'x'}]"),
        ({3, 1}, "{1, 3}"),
        ("text", "'text'"),
        (None, "None"),
        (True, "True"),
        (function, "function"),
        (Plain, "Plain"),
        (functools.partial(function, 1), "functools.partial(function, 1)"),
        (np.ones((2, 3), np.float32), "float32[2,3]"),
        (jnp.ones((2, 3)), "float32[2,3]"),
        (np.float32(2), repr(np.float32(2))),
        (jax.sharding.PartitionSpec("x"), repr(jax.sharding.PartitionSpec("x"))),
        (object(), "<object>"),
        (HookedList([1, 2]), "[1, 2]"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_is_called_by_what_it_holds(value: Any, text: str) -> None:
    assert short_text(value) == text


def test_values_that_python_itself_can_compare_have_a_digest() -> None:
    assert named_text("a", (1, "x")).digest == named_text("a", (1, "x")).digest is not None
    assert named_text("a", (Hooked(), 1)).digest is None
    assert named_text("a", Config(a=1)).serial is not None


# ---------------------------------------------------------------- jaxprs


def test_a_callback_of_the_users_is_named_by_its_class_in_the_jaxpr() -> None:
    traced = jax.jit(lambda x: jax.pure_callback(Leaving(), SHAPE, x)).trace(1.0)
    assert "_FlatCallback" in str(jaxpr_text(traced.jaxpr))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: jax.nn.gelu(jax.nn.relu(x)),
        jax.grad(lambda x: jax.nn.silu(x).sum()),
        lambda x: jax.pure_callback(np.sin, SHAPE, x),
        lambda x: jax.lax.scan(lambda c, _: (jax.nn.relu(c), None), x, None, length=3)[0],
        lambda x: jax.lax.cond(x > 0, jnp.sin, jnp.cos, x),
        lambda x: jax.jit(jnp.tanh)(x).astype(jnp.bfloat16),
    ],
)
def test_the_jaxpr_of_an_ordinary_program_is_printed_as_it_is(f: Any) -> None:
    jaxpr = jax.jit(f).trace(1.0).jaxpr
    assert without_foreign(jaxpr) is jaxpr


def test_rules_of_a_custom_derivative_print_by_their_names():
    """JAX prints a rule by the name in its debug info."""

    @jax.custom_vjp
    def doubled(x: jax.Array) -> jax.Array:
        return x * 2

    def forward(x: jax.Array) -> tuple[jax.Array, None]:
        return x * 2, None

    def backward(residuals: None, cotangent: jax.Array) -> tuple[jax.Array]:
        return (cotangent * 2,)

    doubled.defvjp(forward, backward)
    text = jaxpr_text(jax.make_jaxpr(lambda x: doubled(x))(jnp.ones(4)))
    assert text is not None
    assert "bwd=backward" in text
    assert "fwd=forward" in text
