"""`capture(measure=True)` on real programs: what was measured is in the program, ran as often as counted, is its own.

No test compares one time with another: the machine has other work to do.
"""

from __future__ import annotations

import glob
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect import guard
from pjit_inspect.handles.measured import measuring
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.profiler import profiler
from pjit_inspect.parse.profile import runs


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(guard, "_warned", set())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield
    assert glob.glob(f"{tmp_path}/pjit_inspect_*") == []
    assert _jax.profile_folder() is None


def sharded(shape: tuple[int, ...], *spec: str | None) -> jax.Array:
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    return jax.device_put(np.ones(shape, np.float32), NamedSharding(mesh, P(*spec)))


def looped(trips: int) -> Any:
    """A function with a loop of so many trips, and a collective in its body."""

    def scanned(x: jax.Array, w: jax.Array) -> jax.Array:
        def body(carry: jax.Array, _: None) -> tuple[jax.Array, None]:
            return jnp.tanh(carry @ w), None

        return jax.lax.scan(body, x, None, length=trips)[0].sum()

    return jax.jit(scanned)


def times_of(record: pi.CompileRecord) -> KernelTimes:
    assert record.kernel_times is not None, record.data.missing
    return record.kernel_times


def test_what_was_measured_stands_in_the_program_and_ran_as_often_as_it_is_counted_to():
    function, x, w = looped(5), sharded((16, 16), "data"), sharded((16, 16), None, "model")
    with pi.capture(measure=True) as log:
        for _ in range(3):
            function(x, w)
    record = log["scanned"]
    times = times_of(record)
    # The first of three calls is left out of the means.
    assert (times.calls, times.left_out, times.devices, times.unknown) == (2, 0, 8, ())
    assert times.warm_up_us is not None
    assert record.hlo is not None
    opcodes = {record.hlo.instruction(i).name: record.hlo.instruction(i).opcode for i in range(len(record.hlo))}
    assert {row.instruction: row.opcode for row in times}.items() <= opcodes.items()
    counted = {one.name: one.count for one in record.fusions}
    counted |= {name: one.count for one in record.collectives for name in one.instructions}
    measured = {row.instruction: row.runs_per_call for row in times}
    assert {1, 5} <= set(counted.values())
    # The entry's run once, the body's five times. The condition would run a sixth time: XLA counts this loop itself.
    assert {name: n for name, n in counted.items() if measured.get(name) != n} == {
        name: n for name, n in counted.items() if n == 6
    }
    assert all(0 <= row.mean_us <= row.slowest_us for row in times)
    assert times.call_us >= times.mean_call_us > 0
    assert [row.slowest_us for row in times] == sorted((row.slowest_us for row in times), reverse=True)


def test_loops_within_loops_take_at_least_what_they_run_and_the_call_at_least_what_its_entry_runs():
    def nested(x: jax.Array, w: jax.Array) -> jax.Array:
        def body(carry: jax.Array, _: None) -> tuple[jax.Array, None]:
            carry = jax.lax.fori_loop(0, 3, lambda i, v: jnp.sin(v @ w) + i, carry)
            return jax.lax.cond(carry.sum() > 1e9, lambda v: v @ w @ w, lambda v: v @ w, carry), None

        return jax.lax.scan(body, x, None, length=4)[0].sum()

    function, x, w = jax.jit(nested), sharded((128, 128), "data"), sharded((128, 128), None, "model")
    with pi.capture(measure=True) as log:
        for _ in range(3):
            function(x, w)
    record = log["nested"]
    times = times_of(record)
    assert times.unknown == ()
    regions = [row for row in times if row.holds_others]
    assert {1, 4} <= {row.runs_per_call for row in regions}
    for row in regions:
        inside = [op.name for computation in record.hlo.find(row.instruction).called for op in computation]
        held = [times.of(name) for name in inside]
        assert row.mean_us >= 0.999 * sum(one.mean_us for one in held if one is not None)
    entry = {op.name for op in record.hlo.computation(record.hlo.entry)}
    assert times.mean_call_us >= 0.999 * sum(row.mean_us for row in times if row.instruction in entry)


def test_a_function_compiled_before_the_block_is_measured_too():
    function, x = jax.jit(lambda x: x * 3 + 1), jnp.ones(7)
    function(x)
    with pi.capture(measure=True) as log:
        for _ in range(4):
            function(x)
    assert [times_of(record).calls for record in log] == [3]
    assert log[0].data.cached == "memory"


def test_results_that_nobody_holds_are_waited_for():
    one, all_devices = jnp.ones((200, 200)), sharded((400, 400), "data")
    heavy = jax.jit(lambda x: jnp.linalg.matrix_power(x, 9).sum())
    with pi.capture(measure=True) as log:
        for _ in range(4):
            heavy(one)
            heavy(all_devices)
    assert [(times_of(r).calls, times_of(r).left_out) for r in log if r.origin == "user"] == [(3, 0), (3, 0)]


def test_functions_of_one_name_do_not_get_each_others_times():
    def made(steps: int) -> Any:
        def same(x: jax.Array) -> jax.Array:
            for _ in range(steps):
                x = jnp.sin(x @ x)
            return x

        return jax.jit(same)

    x = jnp.ones((8, 8))
    functions, calls = [made(1), made(2), made(2)], (1, 2, 3)
    with pi.capture(measure=True) as log:
        for function, number in zip(functions, calls, strict=True):
            for _ in range(number):
                function(x)
    assert [times_of(record).calls for record in log.find("same")] == [1, 1, 2]


def test_a_program_that_did_not_run_has_no_times_and_says_so():
    x = jnp.ones(5)
    with pi.capture(measure=True) as log:
        jax.jit(lambda x: x * 11).lower(x).compile()
    (record,) = log
    assert record.kernel_times is None
    assert record.data.missing["kernel_times"] == "the profiler saw no run of it"
    with warnings.catch_warnings(), pi.capture(measure=True) as log:
        warnings.simplefilter("error")
        jax.jit(lambda x: x * 15).lower(x).compile()
        jax.jit(lambda x: x * 16)(x)
    assert log[0].data.missing["kernel_times"] == "the profiler saw no run of it"
    assert times_of(log[1]).calls == 1
    assert "kernel_times unknown" in str(record)


def test_without_measure_nothing_is_said_of_times_and_no_profiler_runs(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the profiler must not be touched")

    monkeypatch.setattr(jax.profiler, "start_trace", refuse)
    monkeypatch.setattr(profiler, "Profiler", refuse)
    with pi.capture(calls=True) as log:
        jax.jit(lambda x: x * 12)(1.0)
    assert log[-1].kernel_times is None
    assert "kernel_times" not in log[-1].data.missing


def test_a_saved_record_has_its_times(tmp_path: Path):
    with pi.capture(measure=True) as log:
        jax.jit(lambda x: x * 13)(jnp.ones(3))
    record = log.user_records()[-1]
    record.save(tmp_path / "one.pjit")
    loaded = pi.load(tmp_path / "one.pjit")
    assert loaded == record
    assert loaded.kernel_times == record.kernel_times
    assert str(loaded.kernel_times) == str(record.kernel_times)


def test_our_own_waiting_program_is_no_record_in_any_scope():
    with pi.capture() as outer, pi.capture(measure=True) as inner:
        jax.jit(lambda x: x * 14)(1.0)
    assert [record.name for record in inner] == ["<lambda>"]
    assert [record.name for record in outer] == ["<lambda>"]


# The user's call comes first.


def measured_call(value: float) -> tuple[pi.Log, list[str], float]:
    """A measured call, what was warned of, and its result."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with pi.capture(measure=True) as log:
            result = jax.jit(lambda x: x * value)(jnp.float32(2))
    return log, [str(w.message) for w in said if "pjit_inspect" in str(w.message)], float(result)


def test_with_a_profiler_of_the_users_the_call_runs_and_the_profiler_goes_on(tmp_path: Path):
    jax.profiler.start_trace(str(tmp_path / "mine"))
    log, said, result = measured_call(21)
    jax.profiler.stop_trace()
    assert result == 42
    assert len(said) == 1
    assert "running already" in said[0]
    assert "running already" in log.user_records()[-1].data.missing["kernel_times"]
    assert glob.glob(f"{tmp_path}/mine/**/*.xplane.pb", recursive=True)


def test_a_stray_stop_in_the_block_fails_as_it_would_without_us():
    with pytest.raises(RuntimeError, match="No profile started") as bare:
        jax.profiler.stop_trace()
    with pi.capture(measure=True) as log:
        jax.jit(lambda x: x * 22)(1.0)
        with pytest.raises(RuntimeError) as watched:
            jax.profiler.stop_trace()
        jax.jit(lambda x: x * 24)(1.0)
    assert str(watched.value) == str(bare.value)
    assert [times_of(record).calls for record in log.user_records()] == [1, 1]


@pytest.mark.parametrize("ends", [True, False], ids=["ends", "goes on"])
def test_a_profiler_that_the_block_starts_runs_and_ours_makes_way_with_one_sentence(ends: bool, tmp_path: Path):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with pi.capture(measure=True) as log:
            jax.jit(lambda x: x * 25)(1.0)
            jax.profiler.start_trace(str(tmp_path / "mine"))
            jax.block_until_ready(jax.jit(lambda x: x * 26)(1.0))
            with pytest.raises(RuntimeError, match="already been started"):
                jax.profiler.start_trace(str(tmp_path / "other"))
            if ends:
                jax.profiler.stop_trace()
        if not ends:
            jax.profiler.stop_trace()
    (ours,) = [str(w.message) for w in said if "pjit_inspect" in str(w.message)]
    assert "started a profiler of its own" in ours
    for record in log.user_records():
        assert "started a profiler of its own" in record.data.missing["kernel_times"]
    (written,) = (tmp_path / "mine").rglob("*.xplane.pb")
    planes = jax.profiler.ProfileData.from_file(str(written)).planes
    events = [dict(event.stats).get("hlo_module") for plane in planes for line in plane.lines for event in line.events]
    assert any(events)
    # The next block is measured again.
    assert measured_call(27)[0].user_records()[-1].kernel_times is not None


def test_the_profiler_is_what_it_was_after_a_measured_block():
    from jax._src import profiler as jax_profiler

    before = dict(vars(jax_profiler._profile_state))
    measured_call(28)
    assert vars(jax_profiler._profile_state) == before


def fail(*_: Any, **__: Any) -> Any:
    raise RuntimeError("injected")


@pytest.mark.parametrize(
    ("home", "name"),
    [
        (jax.profiler, "start_trace"),
        (jax.profiler, "ProfileOptions"),
        (profiler, "_Fence"),
        (profiler, "read_trace"),
        (measuring, "read_runs"),
        (runs, "sum_events"),
        (tempfile, "TemporaryDirectory"),
        (_jax, "profile_folder"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_whatever_fails_the_call_survives_with_one_warning_and_the_reason(
    home: Any, name: str, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patch:
        patch.setattr(home, name, fail)
        log, said, result = measured_call(23 + len(name))
    record = log.user_records()[-1]
    assert result == 2 * (23 + len(name))
    assert len(said) == 1
    assert record.kernel_times is None
    assert record.data.missing["kernel_times"] == "RuntimeError: injected"


def test_a_profiler_that_fails_to_stop_can_be_started_again(monkeypatch: pytest.MonkeyPatch):
    stop = jax.profiler.stop_trace
    with monkeypatch.context() as patch:
        patch.setattr(jax.profiler, "stop_trace", fail)
        log, said, result = measured_call(41)
    assert (result, len(said)) == (82, 1)
    assert log.user_records()[-1].data.missing["kernel_times"] == "RuntimeError: injected"
    assert jax.profiler.stop_trace is stop
    assert measured_call(42)[0].user_records()[-1].kernel_times is not None


@pytest.mark.parametrize("content", [b"", b"\xff" * 100])
def test_a_trace_that_is_empty_or_damaged_costs_the_times_only(content: bytes, monkeypatch: pytest.MonkeyPatch):
    stop = jax.profiler.stop_trace

    def damage() -> None:
        folder = Path(str(_jax.profile_folder()))
        stop()
        for file in folder.rglob("*.xplane.pb"):
            file.write_bytes(content)

    monkeypatch.setattr(jax.profiler, "stop_trace", damage)
    log, said, result = measured_call(51 + len(content))
    assert result == 2 * (51 + len(content))
    # An empty trace is whole: a platform whose profiler tells nothing.
    assert len(said) == (1 if content else 0)
    assert log.user_records()[-1].data.missing["kernel_times"]


@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_what_the_block_raises_comes_out_as_it_is(kind: type[BaseException]):
    error = kind("mine")
    function = jax.jit(lambda x: x * 61)

    def work() -> None:
        function(1.0)
        raise error

    with pytest.raises(kind) as caught, pi.capture(measure=True) as log:
        work()
    assert caught.value is error
    record = log["<lambda>"]
    if kind is ZeroDivisionError:
        assert times_of(record).calls == 1
    else:
        assert record.data.missing["kernel_times"] == "the measured block was interrupted"


def test_measured_blocks_in_each_other_measure_the_outer_one():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with pi.capture(measure=True) as outer, pi.capture(measure=True) as inner:
            jax.jit(lambda x: x * 71)(1.0)
    assert outer[-1].kernel_times is not None
    assert "running already" in inner[-1].data.missing["kernel_times"]
    assert len([w for w in said if "pjit_inspect" in str(w.message)]) == 1


def test_no_array_of_the_users_is_held(monkeypatch: pytest.MonkeyPatch):
    import gc
    import weakref

    x = jnp.arange(5.0) + 1
    with pi.capture(measure=True) as log:
        y = jax.jit(lambda x: x * 81)(x)
    held = [weakref.ref(x), weakref.ref(y)]
    del x, y
    gc.collect()
    assert [ref() for ref in held] == [None, None]
    assert log[-1].kernel_times is not None


@pytest.fixture
def disk_cache(tmp_path: Path) -> Iterator[None]:
    from jax.experimental.compilation_cache import compilation_cache

    wanted = {
        "jax_compilation_cache_dir": str(tmp_path / "cache"),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    before = {name: jax.config.values[name] for name in wanted}
    compilation_cache.reset_cache()
    for name, value in wanted.items():
        jax.config.update(name, value)
    yield
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


def test_a_program_from_the_cache_on_disk_is_measured_where_it_is_the_only_one_of_its_name(disk_cache: None):
    def from_disk(x: jax.Array) -> jax.Array:
        return jnp.sin(x @ x)

    x = jnp.ones((8, 8))
    jax.jit(from_disk)(x)
    jax.clear_caches()
    with pi.capture(measure=True) as log:
        function = jax.jit(from_disk)
        function(x)
        function(x)
    record = log["from_disk"]
    assert record.data.cached == "persistent"
    assert times_of(record).calls == 1
    # The process holds another program of that name, which nobody recorded. It runs under its own number.
    fresh = jax.jit(from_disk).lower(jnp.ones((4, 4))).compile()
    jax.clear_caches()
    with pi.capture(measure=True) as log:
        jax.jit(from_disk)(x)
        fresh(jnp.ones((4, 4)))
    assert times_of(log["from_disk"]).calls == 1
    jax.clear_caches()
    # Where it does not run, the runs may as well be its, for all that anybody knows.
    with pi.capture(measure=True) as log:
        jax.jit(from_disk)(x)
    assert log["from_disk"].kernel_times is None
    assert "cannot tell it from another program" in log["from_disk"].data.missing["kernel_times"]
    del fresh
