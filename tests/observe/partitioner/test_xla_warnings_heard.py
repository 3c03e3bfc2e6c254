"""What XLA warns of comes with the partitioner's answer; the user's standard error is neither read nor touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import pjit_inspect as pi
from pjit_inspect.observe.partitioner import dump

PREAMBLE = """
import json, os, sys, threading
import jax, numpy as np
import pjit_inspect as pi
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
def f(x):
    x = jax.lax.with_sharding_constraint(jax.numpy.sin(x), NamedSharding(mesh, P(None, "data", "model")))
    return jax.lax.with_sharding_constraint(jax.numpy.cos(x) * 2, NamedSharding(mesh, P(("data", "model"), None, None)))
def compile_f():
    jax.jit(f).lower(jax.ShapeDtypeStruct((16, 8, 8), np.float32)).compile()
"""
WARNING = "[SPMD] Involuntary full rematerialization. The compiler cannot go from sharding"


def run(program: str, *, pipe: bool = True, folder: Path | None = None, **environment: str) -> tuple[str, str]:
    """Standard output, and all that came to standard error, of a new process that ends well."""
    script, own = PREAMBLE + program, {**os.environ, **environment}
    if pipe:
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=own)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr
    assert folder is not None
    with (folder / "stderr").open("w+") as file:
        done = subprocess.run(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=file, text=True, check=True, env=own
        )
        file.seek(0)
        return done.stdout, file.read()


@pytest.mark.parametrize("is_pipe", [True, False])
def test_a_full_rematerialization_is_on_the_record_in_the_words_of_the_compile(is_pipe: bool, tmp_path: Path) -> None:
    program = """
with pi.capture() as log:
    compile_f()
print(json.dumps([(w.kind, w.op_name, w.count, w.text) for w in log["f"].warnings]))
"""
    output, errors = run(program, pipe=is_pipe, folder=tmp_path)
    ((kind, name, count, text),) = json.loads(output)
    assert (kind, name, count) == ("full_rematerialization", "jit(f)/cos", 1)
    assert text.startswith(WARNING)
    # The user's own compile says it on standard error, once.
    assert [line.partition("] ")[2] for line in errors.splitlines() if WARNING in line] == [text]


def test_standard_error_is_the_users_while_xla_compiles() -> None:
    program = """
before = os.fstat(2), os.get_inheritable(2), set(os.listdir("/proc/self/fd")), threading.active_count()
during = []
jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: during.append(os.fstat(2)))
with pi.capture() as log:
    compile_f()
after = os.fstat(2), os.get_inheritable(2), set(os.listdir("/proc/self/fd")), threading.active_count()
same = os.path.samestat
print(len(during) > 0, all(same(one, before[0]) for one in during))
print(same(after[0], before[0]), after[1:2] == before[1:2])
print(len(after[2]) <= len(before[2]) + 1, after[3] == before[3])
"""
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("this system does not list the descriptors of a process")
    assert run(program)[0].split() == ["True"] * 6


def test_the_descriptors_that_the_user_reuses_stay_the_users(tmp_path: Path) -> None:
    program = f"""
with pi.capture() as log:
    compile_f()
    os.closerange(3, 4096)
    mine = [os.open({str(tmp_path)!r} + f"/{{k}}", os.O_RDWR | os.O_CREAT) for k in range(40)]
    facts = [os.fstat(own) for own in mine]
    jax.clear_caches()
    compile_f()
print(all(os.path.samestat(os.fstat(own), was) for own, was in zip(mine, facts)))
print([os.fstat(own).st_size for own in mine] == [0] * 40)
"""
    assert run(program)[0].split() == ["True"] * 2


def test_a_program_from_the_compilation_cache_has_its_warnings(tmp_path: Path) -> None:
    program = f"""
jax.config.update("jax_compilation_cache_dir", {str(tmp_path)!r})
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
compile_f()
jax.clear_caches()
with pi.capture() as log:
    compile_f()
print(log["f"].data.cached, [w.kind for w in log["f"].warnings])
"""
    assert run(program)[0].strip() == "persistent ['full_rematerialization']"


def test_a_user_who_silences_xla_has_the_warnings_on_the_record() -> None:
    program = """
with pi.capture() as log:
    compile_f()
print([w.kind for w in log["f"].warnings])
"""
    output, errors = run(program, TF_CPP_MIN_LOG_LEVEL="3")
    assert output.strip() == "['full_rematerialization']"
    assert WARNING not in errors


def test_a_program_that_warns_of_nothing_says_so_and_one_that_communicates_nothing_is_not_asked_about() -> None:
    mesh = Mesh(np.array(jax.devices()[:8]), ("x",))
    split = jax.ShapeDtypeStruct((16, 8), jnp.float32, sharding=NamedSharding(mesh, PartitionSpec("x")))
    summed, doubled = pi.inspect(lambda x: x.sum(), split), pi.inspect(lambda x: x * 2, split)
    assert (summed.warnings, doubled.warnings) == ((), ())
    assert (summed.data.compiler_log, doubled.data.compiler_log) == ("", None)


def test_warnings_are_picked_from_what_a_process_writes(tmp_path: Path) -> None:
    warned = "W1120 12:29:39.566377   23171 spmd_partitioner.cc:656] [SPMD] Involuntary full rematerialization. ..."
    older = "2025-11-20 12:29:39.566377: W external/xla/xla/service/spmd/spmd_partitioner.cc:656] [SPMD] Invo..."
    failed = "E1120 12:29:39.566377   23171 some_pass.cc:1] It fails"
    others = (
        "I1120 12:29:39.566377   23171 service.cc:152] XLA service initialized",
        "E1120 12:29:39.566377   23171 slow_operation_alarm.cc:73] Very slow compile?",
        "2025-11-20 12:29:39.566377: E external/xla/xla/service/slow_operation_alarm.cc:65] Very slow compile?",
        "Traceback (most recent call last):",
        "W1120",
        "",
    )
    written = "\n".join((others[0], warned, *others[1:4], older, failed, *others[4:]))
    assert dump.read_warnings(tmp_path) == ""
    (tmp_path / dump.STDERR).write_text(written)
    assert dump.read_warnings(tmp_path).splitlines() == [warned, older, failed]
