"""A compile as a log holds it: a record when asked for, and no sooner."""

import gc
import subprocess
import sys
import weakref

import jax
import numpy as np
import pytest

import pjit_inspect as pi
from pjit_inspect.handles.session.captured import Captured, recent_records
from pjit_inspect.handles.session.log import Log, LogLimit

CAPTURED_ONLY = """
import sys, jax, jax.numpy as jnp
import pjit_inspect as pi
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((8,), ("data",))
rows = NamedSharding(mesh, P("data"))
pi.start()
with pi.capture(calls=True) as log:
    jax.jit(lambda x: x.sum())(jax.device_put(jnp.ones((16, 4)), rows))
pi.stop()
ours = {name for name in sys.modules if name.startswith("pjit_inspect.")}
print(len(log) > 0, *sorted(n for n in ours if n.split(".")[1] in ("view", "analyze", "ipython") and n.count(".") > 1
      and not n.startswith(("pjit_inspect.analyze.recompiles", "pjit_inspect.view.render.displayable"))))
print("pjit_inspect.handles.record" in sys.modules)
"""


def test_a_process_that_is_captured_and_never_looked_at_imports_no_record_no_analysis_and_no_view():
    done = subprocess.run([sys.executable, "-c", CAPTURED_ONLY], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first.startswith("True")
    allowed = {"pjit_inspect.analyze.program", "pjit_inspect.model.words.sentence", "pjit_inspect.view.render"}
    assert not set(first.split()[1:]) - allowed
    assert second == "False"


@pytest.fixture
def data():
    return pi.inspect(lambda x: x * 2, np.ones(3, np.float32)).data


def test_it_is_the_same_record_each_time(data):
    log = Log()
    log._add(Captured(data, None))
    assert log[-1] is log[0] is next(iter(log)) is log[data.name]
    assert log[:1][0] is log[0]


def test_what_capture_left_is_read_once_and_after_forgetting_is_still_read(data):
    read = []

    def finish(given):
        read.append(given)
        return given

    one = Captured(data, finish)
    one.secure()
    one.secure()
    assert one.record.data.name == data.name
    assert len(read) == 1


def test_what_can_wait_is_not_read_before_somebody_asks(data):
    class Finish:
        can_wait, calls = True, 0

        def __call__(self, given):
            type(self).calls += 1
            return given

    one = Captured(data, Finish())
    one.secure()
    assert Finish.calls == 0
    _ = one.record.data
    assert Finish.calls == 1


def test_programs_are_forgotten_before_and_after_it_is_a_record(data):
    before, after = Captured(data, None), Captured(data, None)
    assert before.held_bytes == after.record.held_bytes > 0
    before.forget_programs("the log was full")
    after.forget_programs("the log was full")
    for one in (before, after):
        assert one.held_bytes == 0
        assert one.record.data.missing["hlo"] == "the log was full"
        assert one.record.data.hlo is None


def test_the_bound_of_a_log_holds_for_what_nobody_has_looked_at(data):
    log = Log(limit=LogLimit(records=3))
    for _ in range(5):
        log._add(Captured(data, None))
    assert (len(log), log.dropped) == (3, 2)


def test_recent_records_are_those_that_a_log_or_anybody_holds(data):
    log = Log()
    log._add(Captured(data, None))
    log._add(Captured(data, None))
    second = log[1]
    assert recent_records()[:2] == [second, log[0]]
    assert recent_records()[0] is second
    kept = log[0]
    log.clear()
    del second
    gc.collect()
    assert recent_records()[0] is kept
    del kept
    gc.collect()
    assert all(record.data is not data for record in recent_records())


def test_programs_that_are_forgotten_are_not_kept_by_what_completes_a_record():
    session, (x,) = pi.start(), [np.ones(4, np.float32)]
    try:
        with pi.capture() as log:
            jax.jit(lambda x: x * 3 + 1)(x)
        assert log[-1].jaxpr
        program = weakref.ref(log[-1].data)
        log.clear()
        del log
        for one in session._compiles:
            one.forget_programs("there was no room")
        gc.collect()
        assert program() is None
        assert session[-1].data.hlo is None
        assert session[-1].jaxpr
    finally:
        pi.stop()
        session.clear()


def test_a_large_program_is_held_as_bytes_once_the_block_is_over():
    # Until then as XLA's own module: 6.8 MB were measured for 17 KB of StableHLO.
    def many(x):
        for n in range(1_500):
            x = x * (n + 1.5)
        return x

    step = jax.jit(many)
    with pi.capture() as log:
        step(np.ones(4, np.float32))
        (large,) = (one for one in log._compiles if len(one._data.stablehlo.read()) > 32 * 1024)
        assert large._data.hlo.size is None
    assert large._data.hlo.size > 0
    assert large.held_bytes == large._data.hlo.size + large._data.stablehlo.size
