"""What a program holds beside its arrays: comparing it, hashing it or keeping it is not ours to do."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pjit_inspect as pi
from pjit_inspect.analyze.recompiles.recompiles import KeyHistory
from pjit_inspect.handles.session.log import Log
from pjit_inspect.observe.live import serials, waiting_jaxpr
from pjit_inspect.observe.watch import record

PROGRAM = """\
import atexit, os, sys
import jax, numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
import pjit_inspect as pi

def watched():
    mesh = jax.make_mesh((8,), ("a",), axis_types=(AxisType.Auto,))
    x = jax.device_put(np.ones((16, 16), np.float32), NamedSharding(mesh, P("a")))
    with pi.capture():
        jax.jit(lambda x: x @ x.T)(x).block_until_ready()

class Own:
    def __call__(self, *_, **__): pass
    def __eq__(self, _): raise TypeError("not comparable")
    __hash__ = None
"""


def run(*lines: str) -> str:
    """What a program with a pipe for its standard error prints."""
    script = PROGRAM + "".join(f"{textwrap.dedent(line)}\n" for line in lines)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_registered_for_the_end_of_the_program_may_refuse_to_be_compared():
    assert run("atexit.register(Own())", "watched()", "print('went on')") == "went on\n"


def test_listeners_of_jax_may_refuse_to_be_compared():
    lines = ("jax.monitoring.register_event_duration_secs_listener(Own())", "watched()", "print('went on')")
    assert run(*lines) == "went on\n"


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of the size of files ends a program on Linux")
def test_a_program_that_may_write_no_files_goes_on():
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL)"
    lines = (limit, "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))", "watched()", "os.write(1, b'went on')")
    assert run(*lines) == "went on"


class Silent(type):
    """A class of this metaclass is neither to be hashed nor compared."""

    def __hash__(cls) -> int:
        raise SystemExit("a metaclass was asked for a hash")

    def __eq__(cls, other: object) -> bool:
        raise SystemExit("a metaclass was asked to compare")


def test_the_metaclass_of_a_static_argument_is_not_asked():
    class Static(metaclass=Silent):
        def __hash__(self) -> int:
            return 3

        def __eq__(self, other: object) -> bool:
            return self is other

    with pi.capture() as log:
        found = jax.jit(lambda x, _: x + 1, static_argnums=1)(1.0, Static())
    assert float(found) == 2.0
    assert [static.text for static in log[-1].data.key.statics] == ["<Static>"]


def test_a_class_of_the_users_is_not_kept_alive():
    def compiled():
        class Static:
            held = jnp.ones((4,))

            def __hash__(self) -> int:
                return 3

            def __eq__(self, other: object) -> bool:
                return type(other) is type(self)

        with pi.capture():
            jax.jit(lambda x, _: x * 3, static_argnums=1)(np.float32(1), Static())
        return weakref.ref(Static), weakref.ref(Static.held)

    references = compiled()
    jax.clear_caches()
    gc.collect()
    assert [reference() for reference in references] == [None, None]


@pytest.mark.parametrize(
    "lock",
    [
        pytest.param(serials._lock, id="serials"),
        pytest.param(waiting_jaxpr._lock, id="waiting jaxprs"),
        pytest.param(Log()._lock, id="log"),
        pytest.param(KeyHistory()._lock, id="history"),
        pytest.param(record._Once(None, None)._lock, id="record"),
    ],
)
def test_a_signal_handler_that_compiles_waits_for_no_lock_of_its_own_thread(lock):
    assert lock.acquire(blocking=False)
    try:
        assert lock.acquire(blocking=False)
        lock.release()
    finally:
        lock.release()


def test_a_handler_that_looks_while_keys_are_placed_loses_none(monkeypatch: pytest.MonkeyPatch):
    with pi.capture() as log:
        for number in range(3):
            jax.jit(lambda x, number=number: x + number)(np.float32(1))
    history, place = KeyHistory(), KeyHistory._place
    for one in log:
        history.add(one.data)
    interrupted: list[int] = []

    def interrupt(self: KeyHistory, *given: object) -> None:
        place(self, *given)
        if not interrupted:
            interrupted.append(1)
            history.count(log[0].data)

    monkeypatch.setattr(KeyHistory, "_place", interrupt)
    serial = log[-1].data.key.serial
    assert history.count(log[-1].data) == len([one for one in log if one.data.key.serial <= serial])
