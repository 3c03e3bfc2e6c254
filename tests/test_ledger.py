"""Reasons and the ledger through the public names: across scopes, threads, files."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi


def test_a_reason_reaches_back_beyond_the_scope_that_recorded_it():
    double = jax.jit(lambda x: x * 2)
    with pi.capture() as first:
        double(np.ones(3, np.float32))
    with pi.capture() as second:
        double(np.ones(4, np.float32))
    assert first[-1].reason.sentence == "first compile of `<lambda>`"
    assert second[-1].reason.sentence == "`x`: length 3 -> 4 (dimension 0)"
    assert str(second[-1].reason) == second[-1].reason.sentence


def test_scopes_that_nest_give_one_compile_one_reason():
    double = jax.jit(lambda x: x * 2)
    with pi.capture() as outer, pi.capture() as inner:
        double(np.ones(3, np.float32)), double(np.ones(5, np.float32))
    assert [r.reason for r in outer] == [r.reason for r in inner]
    assert len(outer) == 2


def test_a_function_compiled_on_request_counts_as_compiled():
    double = jax.jit(lambda x: x * 2)
    first = pi.inspect(double, np.ones(3, np.float32))
    second = pi.inspect(double, np.ones(6, np.float32))
    assert (first.reason.kind, second.reason.sentence) == ("first", "`x`: length 3 -> 6 (dimension 0)")
    assert pi.inspect(double, np.ones(6, np.float32)).reason.kind == "known"


def test_a_call_of_a_function_compiled_before_was_not_compiled_and_what_follows_is_compared_with_it():
    double = jax.jit(lambda x: x * 2)
    double(np.ones(3, np.float32))
    with pi.capture(calls=True) as log:
        double(np.ones(3, np.float32)), double(np.ones(7, np.float32))
    assert [r.reason.sentence for r in log.user_records()] == [
        "not compiled: JAX had this program already",
        "`x`: length 3 -> 7 (dimension 0)",
    ]
    assert pi.ledger(log).compiles == 1


def test_a_compile_of_what_jax_had_traced_before_says_that_it_is_not_the_first():
    double = jax.jit(lambda x: x * 2)
    double(np.ones(3, np.float32))
    with pi.capture() as log:
        double(jax.device_put(np.ones(3, np.float32), jax.devices()[2]))
    assert log[-1].reason.sentence == ("first compile of `<lambda>` that was recorded; JAX had traced it before")


def test_a_saved_record_keeps_its_key_and_its_reason(tmp_path):
    double = jax.jit(lambda x: x * 2)
    with pi.capture() as log:
        double(np.ones(3, np.float32)), double(np.ones(8, np.float32))
    log[-1].save(tmp_path / "double.pjit")
    loaded = pi.load(tmp_path / "double.pjit")
    assert loaded.reason == log[-1].reason
    assert loaded.data.key == log[-1].data.key


def test_a_program_from_a_file_has_no_reason_and_no_error(tmp_path):
    double = jax.jit(lambda x: x * 2)
    text = double.lower(np.ones(3, np.float32)).compile().as_text()
    (tmp_path / "double.hlo").write_text(text)
    assert pi.open(tmp_path / "double.hlo").reason.kind == "unknown"


def test_an_array_that_jit_copies_on_every_call_is_said_on_the_record():
    over = NamedSharding(Mesh(np.array(jax.devices()[:8]), ("x",)), P("x"))
    double = jax.jit(lambda x: x * 2, in_shardings=over)
    with pi.capture() as log:
        double(jnp.ones(8))
    (found,) = log["<lambda>"].reason.resharded
    assert (found.path, found.given, found.wanted) == ("x", "device 0", "P('x') on x=8")
    assert f"note  {found.sentence[:40]}" in str(log["<lambda>"])


def test_an_array_that_the_partitioner_wants_elsewhere_is_said_too():
    over = NamedSharding(Mesh(np.array(jax.devices()[:8]), ("x",)), P("x"))
    add = jax.jit(lambda x, y: jax.lax.with_sharding_constraint(x, over) + y)
    with pi.capture() as log:
        add(jnp.ones(8), jax.device_put(np.ones(8, np.float32), over))
    assert [one.path for one in log["<lambda>"].reason.resharded] == ["x"]


def test_the_ledger_of_a_log_is_in_its_order_and_shows_itself():
    double = jax.jit(lambda x: x * 2)
    with pi.capture() as log:
        for length in (3, 4, 5, 6):
            double(np.ones(length, np.float32))
    ledger = pi.ledger(log)
    assert repr(ledger) == "<Ledger of 4 compiles>"
    assert [e.index for e in ledger.entries] == [0, 1, 2, 3]
    assert [p.kind for p in ledger.patterns] == ["varying dimension"]
    assert ledger.patterns[0].buckets == (4, 8)
    assert set(ledger._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert str(ledger).startswith("4 compiles of your functions")
    assert ledger.total_s > 0


def test_the_ledger_of_the_session_is_the_default():
    pi.session_log().clear()
    log = pi.start()
    try:
        jax.jit(lambda x: x * 2)(np.ones(3, np.float32))
    finally:
        pi.stop()
    assert pi.ledger().compiles == len(log) == 1
    pi.session_log().clear()


def test_the_timeline_is_a_figure_with_the_stages_of_each_compile():
    double = jax.jit(lambda x: x * 2)
    with pi.capture() as log:
        double(np.ones(3, np.float32))
    figure = pi.ledger(log).timeline()
    assert [trace.name for trace in figure.data] == ["trace", "lower", "XLA"]
    starts = [trace.base[0] for trace in figure.data]
    assert starts == sorted(starts)
    assert starts[0] == 0


def test_importing_the_ledger_imports_no_plotly():
    import subprocess
    import sys

    script = "import pjit_inspect.api, sys; print('plotly' in sys.modules, 'jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
