"""What is read of a compile's key: it keeps nothing alive, survives hostile values, and costs calls nothing."""

from __future__ import annotations

import dataclasses
import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from observe.programs import recorded

from pjit_inspect.model.record.compile_key import CompileKey
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.key import definitions
from pjit_inspect.observe.key.static_arguments import passed, tree_facts
from pjit_inspect.observe.live import serials, short_text

X = np.arange(4, dtype=np.float32)


def key_of(function, *args, **kwargs) -> CompileKey:
    records: list = []
    with recorded(records):
        function(*args, **kwargs)
    (key,) = [data.key for data in records if data.origin == "user"]
    assert key is not None
    return key


def strings(value) -> Iterator[object]:
    """Every value in a key, however deep."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from strings(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from strings(item)
    else:
        yield value


# ---------------------------------------------------------------- nothing is kept


def test_a_key_holds_only_text_numbers_and_truths() -> None:
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))
    x = jax.device_put(np.ones((8, 8), np.float32), NamedSharding(mesh, P("data")))
    closed = jnp.ones(3)
    key = key_of(jax.jit(lambda x, n: x * n + closed.sum(), static_argnums=1), x, 2)
    assert {type(value) for value in strings(key)} <= {str, int, float, bool, type(None)}


def test_the_arguments_closures_and_functions_of_a_recorded_call_are_freed() -> None:
    class Captured(np.ndarray):
        """An array that allows weak references."""

    def run() -> list[weakref.ref]:
        closed, passed_in = np.ones(3).view(Captured), jnp.ones(5)
        function = lambda x: x * closed.sum()  # noqa: E731
        records.append(key_of(jax.jit(function), passed_in))
        return [weakref.ref(closed), weakref.ref(passed_in), weakref.ref(function)]

    records: list[CompileKey] = []
    held = run()
    jax.clear_caches()
    gc.collect()
    assert [ref() for ref in held] == [None, None, None]


def test_a_call_that_compiles_nothing_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from pjit_inspect.observe.watch import record

    count = [0]
    kept = record.call_facts

    def counted(*args, **kwargs):
        count[0] += 1
        return kept(*args, **kwargs)

    monkeypatch.setattr(record, "call_facts", counted)
    function = jax.jit(lambda x: x * 2)
    with recorded([]):
        for _ in range(5):
            function(X)
    assert count == [1]


# ---------------------------------------------------------------- what is read


def test_a_call_shows_its_static_arguments_positions_keywords_and_donation() -> None:
    function = jax.jit(lambda x, n, *, scale: x * n * scale, static_argnums=1, donate_argnames="scale")
    key = key_of(function, X, 3, scale=jnp.asarray(X))
    assert [(s.name, s.text) for s in key.statics] == [("n", "3")]
    assert (key.positional, key.keywords, key.donated) == (1, ("scale",), ("scale",))
    assert [(a.path, a.type, a.committed) for a in key.arguments] == [
        ("x", "numpy.ndarray", None),
        ("scale", "jax.Array", False),
    ]


def test_a_program_compiled_ahead_of_time_shows_what_its_lowering_knew() -> None:
    def lowered_and_compiled() -> None:
        jax.jit(lambda x, n: x**n, static_argnums=1).lower(jax.ShapeDtypeStruct((4,), np.float32), 3).compile()

    key = key_of(lowered_and_compiled)
    assert key.function is not None
    assert key.function.kind == "lambda"
    assert [(s.name, s.text) for s in key.statics] == [("n", "3")]
    assert [(a.path, a.shape) for a in key.arguments] == [("x", (4,))]


def test_each_compile_names_the_first_cache_that_had_no_entry() -> None:
    function = jax.jit(lambda x: x * 2)
    keys = [key_of(function, X), key_of(function, jax.device_put(X, jax.devices()[1]))]
    assert [key.missed for key in keys] == ["tracing", "lowering"]


def test_compiles_are_numbered_in_order_and_know_their_time() -> None:
    keys = [key_of(jax.jit(lambda x: x * 2), X) for _ in range(2)]
    assert keys[0].serial < keys[1].serial
    assert keys[0].began_s <= keys[0].ended_s <= keys[1].began_s


def test_a_constant_that_jax_hoists_is_no_argument() -> None:
    big = jnp.arange(5000.0)
    key = key_of(jax.jit(lambda x: x + big.sum()), X)
    assert [a.path for a in key.arguments] == ["x"]


# ---------------------------------------------------------------- hostile values


class Hostile:
    """A static value whose every method misbehaves but the two that JAX needs."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hostile)


def test_a_static_value_that_cannot_be_printed_is_named_by_its_type() -> None:
    key = key_of(jax.jit(lambda x, config: x * 2, static_argnums=1), X, Hostile())
    assert [s.text for s in key.statics] == ["<Hostile>"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.5, "1.5"),
        ("a\nb", "'a\\nb'"),
        ("x" * 500, "'" + "x" * 76 + "..."),
        (1 << 999, "an integer of 1000 bits"),
        (np.ones((2, 3), np.float32), "float32[2,3]"),
        ((1,), "(1,)"),
        ([1, (2, [3, [4]])], "[1, (2, [3, ...])]"),
        ({"b": 1, "a": [2]}, "{'b': 1, 'a': [2]}"),
        (list(range(9)), "[0, 1, 2, 3, 4, 5, ... 9 in all]"),
        (object(), "<object>"),
        (np.float32, "float32"),
        (np, "numpy"),
        (test_a_call_that_compiles_nothing_reads_nothing, "test_a_call_that_compiles_nothing_reads_nothing"),
    ],
)
def test_any_value_is_one_short_line(value: object, text: str) -> None:
    assert short_text.short_text(value) == text


def test_an_address_in_a_repr_is_left_out() -> None:
    class Odd:
        def __repr__(self) -> str:
            return f"<Odd at 0x{id(self):x}>"

    assert short_text.short_text(Odd()) == "<Odd>"


# ---------------------------------------------------------------- identity and source


def test_an_object_keeps_its_number_and_no_other_gets_it() -> None:
    class Thing:
        pass

    first = Thing()
    number = serials.serial_of(first)
    assert serials.serial_of(first) == number
    seen = {number}
    for _ in range(50):
        # The address of a dead object goes to the next one.
        seen.add(serials.serial_of(Thing()))
    assert len(seen) == 51
    assert serials.serial_of((1, 2)) is None


def test_code_is_the_same_wherever_it_stands_and_another_when_it_does_something_else() -> None:
    spaces: list[dict] = [{}, {}, {}]
    for space, text in zip(
        spaces, ("def f(x):\n  return x + 1", "\n\ndef f(x):\n  return x + 1", "def f(x): return x + 2"), strict=True
    ):
        exec(text, space)
    codes = [definitions.describe_function(space["f"]).code for space in spaces]
    assert codes[0] == codes[1] != codes[2]


def test_inner_functions_count_as_code() -> None:
    spaces: list[dict] = [{}, {}]
    for space, number in zip(spaces, (1, 2), strict=True):
        exec(f"def f(x):\n  g = lambda y: y + {number}\n  return g(x)", space)
    codes = [definitions.describe_function(space["f"]).code for space in spaces]
    assert codes[0] != codes[1]


def test_a_tree_is_known_by_its_containers_and_their_static_fields() -> None:
    @jax.tree_util.register_pytree_node_class
    class Node:
        def __init__(self, w, kind):
            self.w, self.kind = w, kind

        def tree_flatten(self):
            return (self.w,), self.kind

        @classmethod
        def tree_unflatten(cls, kind, leaves):
            return cls(*leaves, kind)

    def facts(*args, **kwargs):
        return tree_facts(jax.tree.structure((args, kwargs)))

    numbers = {facts([1, 2])[0], facts((1, 2))[0], facts(Node(1, "a"))[0], facts(Node(1, "b"))[0]}
    assert len(numbers) == 4
    assert facts(Node(1, "a")) == facts(Node(2, "a"))
    assert [c.type for c in facts({"a": [1]})[1]] == ["dict", "list"]
    assert passed(jax.tree.structure(((1, 2), {"b": 1, "a": 2}))) == (2, ("a", "b"))


def test_clearing_jaxs_caches_is_seen() -> None:
    before = _jax.cache_clears()
    assert _jax.cache_clears() == before
    jax.clear_caches()
    assert _jax.cache_clears() > before


def test_the_flags_that_programs_depend_on_are_known_by_name() -> None:
    names = [name for name, _ in _jax.tracing_flags()]
    assert {"jax_enable_x64", "jax_default_matmul_precision", "jax_default_device", "jax_disable_jit"} <= set(names)
    assert len(set(names)) == len(names)
    with jax.default_matmul_precision("float32"):
        assert dict(_jax.tracing_flags())["jax_default_matmul_precision"] == "float32"


@pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="JAX does not name it")
def test_configuration_that_a_module_registers_later_is_known_by_name() -> None:
    script = (
        "import jax, pjit_inspect as pi\nfrom jax._src import config\ndef f(x): return x + 1\n"
        "with pi.capture() as log:\n"
        "  jax.jit(f)(1)\n"
        "  late = dict(include_in_jit_key=True, include_in_trace_context=True)\n"
        "  config.bool_state('late_flag', False, '', **late)\n"
        "  jax.jit(f)(1)\n"
        "print(log[-1].reason.sentence)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    said = "a module that was imported since has registered configuration `late_flag`: JAX traces everything again"
    assert ran.stdout.strip() == said, ran.stderr
