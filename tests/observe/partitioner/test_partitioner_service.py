"""XLA's own partitioner answers from a process apart, and whatever happens to that process leaves no trace."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec
from observe.programs import auto_mesh, counted_compiles, recorded

from pjit_inspect.errors import CaptureError
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.partitioner import dump as partitioner_dump
from pjit_inspect.observe.partitioner import service as partitioner_service
from pjit_inspect.observe.partitioner.child import _options
from pjit_inspect.observe.partitioner.service import Partitioned, ask_partitioner, cancel, stop_server
from pjit_inspect.observe.shardy.how_compiled import compiler_options
from pjit_inspect.observe.shardy.numbering import read_places
from pjit_inspect.observe.watch.on_request import compile_record
from pjit_inspect.parse.hlo_proto.hlo import parse_program

ROOT = Path(__file__).parents[3]
FOLDER = "pjit_inspect_partitioner_"
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc")


@pytest.fixture(autouse=True)
def no_known_answers() -> Iterator[None]:
    """Each test asks anew, and leaves no folder."""
    partitioner_service._here.answers.found.clear()
    yield
    eventually(lambda: left_over() == [])


@pytest.fixture
def gspmd() -> Iterator[None]:
    with config(jax_use_shardy_partitioner=False):
        yield


@contextmanager
def config(**values: Any) -> Iterator[None]:
    before = {name: getattr(jax.config, name) for name in values}
    try:
        for name, value in values.items():
            jax.config.update(name, value)
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


def left_over(process: int | None = None) -> list[str]:
    """The folders of a process's server."""
    homes = {Path(tempfile.gettempdir()), Path("/dev/shm")}
    name = f"{FOLDER}{process or os.getpid()}_*"
    return [str(path) for home in homes if home.is_dir() for path in home.glob(name)]


# ---------------------------------------------------------------- what XLA writes, from JAX 0.12 on with the mesh

_NAMED = r"mesh\['data'=2,'model'=4\]"
BOTH = rf"\{{(devices=\[2,4\]<=\[8\]|{_NAMED}, \[\{{'data'\}}, \{{'model'\}}\])\}}"
"""Rows over `data`, columns over `model`."""
ROWS = rf"\{{(devices=\[2,1,4\]<=\[8\] last_tile_dim_replicate|{_NAMED}, \[\{{'data'\}}, \{{\}}\])\}}"
COLUMN = rf"(\{{\{{0,4\}}|\[4,2\]<=\[2,4\]T|{_NAMED} \{{'data'\}})"
"""Groups of devices that differ in `data` only."""

# ---------------------------------------------------------------- programs


def of(mesh: Any, shape: tuple[int, ...], *spec: Any, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, PartitionSpec(*spec)))


def bytecode(function: Callable[..., Any], *arguments: Any, platform: str = "cpu") -> bytes:
    lowered = jax.jit(function).trace(*arguments).lower(lowering_platforms=(platform,))
    out = io.BytesIO()
    lowered._lowering.stablehlo().operation.write_bytecode(file=out)
    return out.getvalue()


def product(x: jax.Array, w: jax.Array) -> jax.Array:
    return jnp.tanh(x @ w)


def mlp(rows: int = 16) -> bytes:
    mesh = auto_mesh()
    return bytecode(product, of(mesh, (rows, 32), "data", None), of(mesh, (32, 64), None, "model"))


def slow() -> bytes:
    """A program whose partitioning takes some tenths of a second."""
    mesh = auto_mesh()

    def deep(x: jax.Array, ws: list[jax.Array]) -> jax.Array:
        for w in ws:
            x = jnp.tanh(x @ w @ w.T)
        return (x * x).sum()

    weights = [of(mesh, (64, 64), "data", "model") for _ in range(60)]
    return bytecode(jax.grad(deep, 1), of(mesh, (32, 64), "data", None), weights)


def text(proto: bytes) -> str:
    return _jax.hlo_module(proto).to_string()


def answer_about(data: RecordData, **flags: str) -> Partitioned:
    assert data.stablehlo is not None
    return ask_partitioner(data.stablehlo.read(), devices=len(data.devices), flags={**data.flags, **flags})


# ---------------------------------------------------------------- answers


def test_before_partitioning_every_value_has_its_sharding_and_after_it_its_local_shape() -> None:
    found = ask_partitioner(mlp(), devices=8)
    before, after = text(found.before), text(found.after)
    # Rows of x over data=2, columns of w over model=4: their product is in 2 x 4 tiles of 8 x 16.
    assert re.search(r"f32\[16,64\]\S* dot\(.*sharding=" + BOTH, before)
    assert re.search(r"f32\[8,16\]\S* dot\(", after)
    assert not re.search(r" dot\(.*sharding=", after)
    (number,) = {int(own) for own in re.findall(r'op_name="#(\d+)/dot_general"', before + after)}
    assert read_places(found.places)[number].name == "jit(product)/dot_general"
    assert (found.partitioner, found.partitions, found.warnings) == ("shardy", 8, "")
    assert (found.free_inputs, found.free_outputs, found.result_names) == ((False, False), (True,), ("result",))


def test_a_sum_that_a_shard_map_asks_for_is_a_collective_after_partitioning() -> None:
    mesh = auto_mesh()
    summed = jax.shard_map(
        lambda x: jax.lax.psum(x.sum(0), "data"),
        mesh=mesh,
        in_specs=PartitionSpec("data", "model"),
        out_specs=PartitionSpec("model"),
    )
    after = text(ask_partitioner(bytecode(summed, of(mesh, (16, 64), "data", "model")), devices=8).after)
    # Devices that differ in `data` only: 0 and 4, 1 and 5, ...
    assert re.search(r"f32\[16\]\S* all-reduce\(.*channel_id=\d+.*replica_groups=" + COLUMN, after)


def test_a_carried_sharding_is_known_inside_a_loop() -> None:
    def f(x, w):
        return jax.lax.scan(lambda c, _: (jnp.sin(c), None), x, None, length=3)[0], w

    mesh = auto_mesh()
    program = bytecode(f, of(mesh, (16, 32), "data", None), of(mesh, (32, 64), None, "model"))
    before = text(ask_partitioner(program, devices=8).before)
    assert re.search(r"sine\(.*sharding=" + ROWS, before)
    assert re.search(r" while\(.*sharding=\{\{", before)


@pytest.mark.usefixtures("gspmd")
def test_gspmd_is_asked_where_jax_asked_it() -> None:
    mesh = auto_mesh()
    data = compile_record(jax.jit(product), (of(mesh, (16, 32), "data", None), of(mesh, (32, 64), None, "model")), {})
    found = answer_about(data)
    assert (found.partitioner, "Module has GSPMD attrs" in found.warnings) == ("gspmd", False)
    assert re.search(r"dot\(.*sharding=" + BOTH, text(found.before))


@pytest.mark.parametrize("level", ["0", "3"])
def test_gspmd_attributes_beside_shardys_meshes_are_told_in_xlas_own_words(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mesh = auto_mesh()
    shapes = (of(mesh, (16, 32), "data", None), of(mesh, (32, 64), None, "model"))
    place = NamedSharding(mesh, PartitionSpec("data", "model"))
    with config(jax_use_shardy_partitioner=False):
        exported = jax.export.export(jax.jit(lambda x, w: jax.lax.with_sharding_constraint(x @ w, place)))(*shapes)
    program = bytecode(lambda x, w: exported.call(x, w) + 1, *shapes)
    assert b"mesh" in program
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", level)
    stop_server()
    found = ask_partitioner(program, devices=8, flags={"jax_use_shardy_partitioner": "True"})
    assert found.partitioner == "gspmd"
    assert "] Module has GSPMD attrs or ops, but Shardy is enabled." in found.warnings


@pytest.mark.parametrize("devices", [256, 2048])
def test_a_mesh_of_many_devices_that_nobody_has_is_answered(devices: int) -> None:
    mesh = AbstractMesh((devices // 16, 16), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    program = bytecode(product, of(mesh, (devices, 32), "data", None), of(mesh, (32, 64), None, "model"))
    after = text(ask_partitioner(program, devices=devices).after)
    assert re.search(r"f32\[16,4\]\S* dot\(", after)


@pytest.mark.parametrize("platform", ["tpu", "cuda"])
def test_a_program_lowered_for_another_platform_is_answered(platform: str) -> None:
    mesh = auto_mesh()

    def f(x, w):
        y = x @ w
        return jnp.sort(y, -1), jnp.linalg.qr(y)[0], jax.lax.top_k(y, 4), jnp.fft.fft(y)

    shapes = (of(mesh, (16, 32), "data", None), of(mesh, (32, 64), None, "model"))
    found = ask_partitioner(
        bytecode(f, *shapes, platform=platform),
        devices=8,
        flags={"xla_tpu_no_such_option_here": "True", "xla_gpu_no_such_option_either": "3"},
    )
    assert re.search(r"dot\(.*sharding=" + BOTH, text(found.before))


def test_a_program_that_calls_back_into_python_is_answered_and_not_called() -> None:
    mesh = auto_mesh()
    called: list[int] = []

    def f(x):
        return jax.pure_callback(lambda a: called.append(1) or a, jax.ShapeDtypeStruct((16, 32), jnp.float32), x) + 1

    assert ask_partitioner(bytecode(f, of(mesh, (16, 32), "data", None)), devices=8).after
    assert not called


def test_a_program_of_very_many_results_has_all_their_names() -> None:
    mesh = auto_mesh()
    long = "a_name_that_is_as_long_as_names_in_a_tree_of_parameters_may_be" * 20
    results = {f"{long}_{k}": k for k in range(300)}
    program = bytecode(lambda x: {name: x + k for name, k in results.items()}, of(mesh, (16, 32), "data"))
    names = ask_partitioner(program, devices=8).result_names
    # More than the buffer of a socket holds.
    assert sum(map(len, names)) > 300_000
    assert names == tuple(f"result['{name}']" for name in sorted(results))


def test_an_answer_is_kept_for_the_same_question_only() -> None:
    program = mlp()
    first = ask_partitioner(program, devices=8)
    assert ask_partitioner(program, devices=8) is first
    other = ask_partitioner(program, devices=8, flags={"xla_cpu_enable_fast_math": "True"})
    assert other is not first
    assert (other.before, other.after) == (first.before, first.after)


def test_no_more_answers_are_kept_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = partitioner_service._here.answers
    monkeypatch.setattr(partitioner_service, "_MAX_ANSWERS", 2)
    programs = [mlp(rows) for rows in (16, 32, 48)]
    kept = [ask_partitioner(program, devices=8) for program in programs]
    assert list(answers.found.values()) == kept[1:]
    monkeypatch.setattr(partitioner_service, "_MAX_ANSWER_BYTES", 10)
    ask_partitioner(programs[0], devices=8)
    assert not answers.found


def test_asking_is_seen_by_nobody() -> None:
    records: list[RecordData] = []
    program = mlp()
    with counted_compiles() as names, recorded(records):
        ask_partitioner(program, devices=8)
    assert (names, records) == ([], [])


# ---------------------------------------------------------------- programs of which there is no answer


def test_a_program_of_one_partition_is_given_as_it_is() -> None:
    found = ask_partitioner(bytecode(product, jnp.ones((4, 4)), jnp.ones((4, 4))), devices=1)
    assert (found.partitions, found.after) == (1, b"")
    assert parse_program(found.before).with_opcode("dot").size == 1


def test_devices_that_do_not_fit_are_refused() -> None:
    with pytest.raises(CaptureError, match="12 devices do not fit a program of 8 partitions"):
        ask_partitioner(mlp(), devices=12)
    with pytest.raises(CaptureError, match=r"4,096 devices, .* 1 to 2,048"):
        ask_partitioner(mlp(), devices=4096)
    with pytest.raises(CaptureError, match="for 0 devices"):
        ask_partitioner(mlp(), devices=0)


def test_what_xla_refuses_is_refused_with_the_first_line_of_what_it_says() -> None:
    with pytest.raises(CaptureError, match=r"XLA does not compile the program .* xla_cpu_enable_fast_math"):
        ask_partitioner(mlp(), devices=8, flags={"xla_cpu_enable_fast_math": "perhaps"})


def test_bytes_that_are_no_program_are_refused() -> None:
    for content in (b"", b"no program", mlp()[:300]):
        with pytest.raises(CaptureError, match="gave no answer"):
            ask_partitioner(content, devices=8)


def test_a_program_too_large_is_refused_before_anything_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitioner_service, "_MAX_PROGRAM_BYTES", 100)
    stop_server()
    with pytest.raises(CaptureError, match="has 200 bytes"):
        ask_partitioner(b"x" * 200, devices=8)
    assert partitioner_service._here.lanes[0].helper is None


def test_compiler_options_are_told_from_flags_and_have_their_types() -> None:
    flags = {"jax_enable_x64": "False", "xla_cpu_enable_fast_math": "True", "xla_level": "-1", "xla_text": "a b"}
    assert compiler_options(flags) == {"xla_cpu_enable_fast_math": True, "xla_level": -1, "xla_text": "a b"}


def test_no_part_of_a_file_is_taken_for_all_of_it(tmp_path: Path) -> None:
    module = ask_partitioner(mlp(), devices=8).after
    length = len(module)
    content = b"\x0a" + bytes([length & 0x7F | 0x80, length >> 7]) + module
    file = tmp_path / "module.hlo.pb"
    file.write_bytes(content)
    assert partitioner_dump._is_complete(file)
    assert partitioner_dump._frame(file) == (3, length)
    for end in reversed(range(len(content))):
        os.truncate(file, end)
        assert not partitioner_dump._is_complete(file), end


# ---------------------------------------------------------------- processes


def server_process() -> int:
    ask_partitioner(mlp(112), devices=8)
    server = partitioner_service._here.lanes[0].helper
    assert server is not None
    return server.facts["process"]


def children_of(process: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def eventually(claim: Callable[[], Any]) -> Any:
    """What a claim returns, once that is true; a minute is for a machine that is busy."""
    for _ in range(6000):
        found = claim()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("never")


@contextmanager
def stopped_question(outcome: list[Any], **options: Any) -> Iterator[int]:
    """A question asked in a thread, and its child, stopped before it can answer."""
    program = slow()
    server = server_process()
    eventually(lambda: left_over() == [])

    def ask() -> None:
        try:
            outcome.append(ask_partitioner(program, devices=8, **options))
        except CaptureError as error:
            outcome.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    (child,) = stop_child_of(server)
    try:
        yield child
        thread.join(60)
        assert not thread.is_alive()
    finally:
        cancel()
        thread.join()
    eventually(lambda: not is_running(child))


def stop_child_of(server: int) -> list[int]:
    """The child of a server, stopped while it compiles."""
    while not [home for home in left_over() if Path(home, partitioner_dump.FACTS).exists()]:
        time.sleep(0)
    found = children_of(server)
    os.kill(found[0], signal.SIGSTOP)
    return found


@needs_proc
def test_the_server_has_one_thread_and_is_no_child_of_this_process() -> None:
    process = server_process()
    assert partitioner_service._here.lanes[0].helper.facts["threads"] == 1
    assert process not in children_of(os.getpid())
    assert os.getsid(process) != os.getsid(0)
    assert len(os.listdir(f"/proc/{process}/task")) == 1


@needs_proc
def test_a_child_that_is_killed_is_told_of_and_the_next_question_answered_by_the_same_server() -> None:
    outcome: list[Any] = []
    with stopped_question(outcome) as child:
        os.kill(child, signal.SIGKILL)
    assert "was killed (signal 9), and not by this package; memory may be short" in outcome[0]
    server = partitioner_service._here.lanes[0].helper
    assert ask_partitioner(mlp(), devices=8).after
    assert partitioner_service._here.lanes[0].helper is server


def test_half_of_the_answer_comes_before_the_other() -> None:
    early: list[bytes] = []
    found = ask_partitioner(slow(), devices=8, on_before=early.append)
    assert early == [found.before]


@needs_proc
def test_a_question_takes_no_longer_than_it_may() -> None:
    outcome: list[Any] = []
    with stopped_question(outcome, timeout_s=2.0):
        pass
    assert re.search(r"no answer after [12](\.\d+)? s", outcome[0])
    assert ask_partitioner(mlp(), devices=8).after


@needs_proc
def test_a_question_can_be_cancelled_in_another_thread() -> None:
    outcome: list[Any] = []
    with stopped_question(outcome):
        cancel()
    assert "cancelled" in outcome[0]
    assert ask_partitioner(mlp(), devices=8).after


@needs_proc
def test_questions_that_wait_are_cancelled_too_and_those_after_are_not() -> None:
    outcome: list[Any] = []
    waiting: list[Any] = []

    def wait() -> None:
        try:
            waiting.append(ask_partitioner(mlp(80), devices=8))
        except CaptureError as error:
            waiting.append(str(error))

    thread = threading.Thread(target=wait)
    with stopped_question(outcome):
        thread.start()
        # It waits for its turn, and so is heard when it is cancelled.
        eventually(lambda: len(partitioner_service._here.lanes[0]._tickets) == 2)
        cancel()
    thread.join(60)
    assert "cancelled" in outcome[0]
    assert "cancelled" in waiting[0]
    assert ask_partitioner(mlp(80), devices=8).after


@needs_proc
def test_a_question_that_waits_for_another_may_give_up() -> None:
    outcome: list[Any] = []
    with stopped_question(outcome):
        with pytest.raises(CaptureError, match="busy with other questions"):
            ask_partitioner(mlp(), devices=8, timeout_s=0.05)
        cancel()


@needs_proc
def test_an_interrupt_ends_the_child_and_the_server_whose_answer_nobody_waits_for() -> None:
    program = slow()
    server = server_process()
    eventually(lambda: left_over() == [])
    main = threading.main_thread().ident
    children: list[int] = []

    def interrupt() -> None:
        children.extend(stop_child_of(server))
        signal.pthread_kill(main, signal.SIGINT)

    # A shell that starts this in the background makes Python ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            ask_partitioner(program, devices=8)
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
    eventually(lambda: not is_running(children[0]) and not is_running(server))
    assert ask_partitioner(mlp(), devices=8).after
    assert server_process() != server


@needs_proc
def test_a_server_that_was_killed_is_replaced() -> None:
    server = server_process()
    os.kill(server, signal.SIGKILL)
    eventually(lambda: not is_running(server))
    assert ask_partitioner(mlp(), devices=8).after
    assert server_process() != server


@needs_proc
def test_a_server_that_is_killed_while_it_answers_is_told_of_and_its_child_and_folder_go() -> None:
    outcome: list[Any] = []
    with stopped_question(outcome):
        server = partitioner_service._here.lanes[0].helper
        os.kill(server.facts["process"], signal.SIGKILL)
    assert "the process that asks XLA's partitioner ended before it answered" in outcome[0]
    assert left_over() != []
    # The next server removes what nobody holds any more.
    assert ask_partitioner(mlp(), devices=8).after


def test_threads_that_ask_at_the_same_time_get_their_own_answers() -> None:
    programs = [mlp(rows) for rows in (16, 32, 48)]
    found: dict[int, Partitioned] = {}
    threads = [
        threading.Thread(target=lambda k=k: found.update({k: ask_partitioner(programs[k], devices=8)}))
        for k in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Rows are split in two.
    assert [re.search(r"f32\[(\d+),16\]\S* dot", text(found[k].after))[1] for k in range(3)] == ["8", "16", "24"]


def test_a_question_may_take_as_long_as_it_takes() -> None:
    assert ask_partitioner(mlp(), devices=8, timeout_s=float("inf")).after


def test_a_server_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    program = mlp()
    stop_server()
    with monkeypatch.context() as changed:
        changed.setattr(sys, "frozen", True, raising=False)
        with pytest.raises(CaptureError, match=r"cannot be started: this program is an application .*sys\.frozen"):
            ask_partitioner(program, devices=8)
    assert ask_partitioner(program, devices=8).after


def test_the_users_flags_hold_and_their_dumps_are_not_written_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = mlp()
    flags = tmp_path / "flags"
    folder = tmp_path / "dump"
    own = f"--xla_dump_to={folder} --xla_dump_hlo_pass_re=.* --xla_dump_hlo_module_re=nothing --xla_dump_hlo_as_text"
    flags.write_text(own)
    for value in (own + " --xla_force_host_platform_device_count=3", str(flags)):
        monkeypatch.setenv("XLA_FLAGS", value)
        stop_server()
        partitioner_service._here.answers.found.clear()
        assert ask_partitioner(program, devices=8).after
        assert not folder.exists()
    monkeypatch.setenv("XLA_FLAGS", "--xla_no_such_flag=1")
    stop_server()
    partitioner_service._here.answers.found.clear()
    # XLA ends a process that has such a flag, and so the user's own would have ended.
    with pytest.raises(CaptureError, match="no_such_flag"):
        ask_partitioner(program, devices=8)
    stop_server()


def test_no_option_of_a_record_names_a_file_of_the_users(tmp_path: Path) -> None:
    named = {"xla_gpu_dump_autotune_results_to": "/home/own", "xla_jf_dump_to": "C:\\own", "xla_dump_to": "own"}
    question = {"target": {}, "effort": "partition", "flags": named | {"xla_cpu_enable_fast_math": "True"}}
    options = _options(question, tmp_path)
    assert [name for name in options if name in named] == ["xla_dump_to"]
    assert options["xla_dump_to"] == str(tmp_path)
    assert options["xla_cpu_enable_fast_math"] is True


# ---------------------------------------------------------------- other user processes


def run_script(tmp_path: Path, body: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A script of the user's that has a program, in a process of its own."""
    (tmp_path / "program").write_bytes(mlp())
    (tmp_path / "slow").write_bytes(slow())
    script = tmp_path / "script.py"
    head = f"""
        import os, pathlib, sys
        from pjit_inspect.observe.partitioner import service
        program, slow = (pathlib.Path({str(tmp_path)!r}, name).read_bytes() for name in ("program", "slow"))
        ask = lambda: service.ask_partitioner(program, devices=8)
    """
    script.write_text(textwrap.dedent(head) + textwrap.dedent(body))
    return subprocess.run(
        [sys.executable, *options, str(script)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


def test_a_script_without_a_guard_does_not_run_again_and_nothing_is_warned_of(tmp_path: Path) -> None:
    done = run_script(tmp_path, 'print("ran", len(ask().after) > 0)', "-X", "dev", "-W", "error")
    assert (done.stdout, done.stderr, done.returncode) == ("ran True\n", "", 0)


def test_a_script_that_treats_every_warning_as_an_error_by_its_environment_is_answered(tmp_path: Path) -> None:
    done = run_script(tmp_path, "print(len(ask().after) > 0)", PYTHONWARNINGS="error", PYTHONDEVMODE="1")
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)


def test_a_script_that_asks_does_not_import_jax_for_it(tmp_path: Path) -> None:
    done = run_script(tmp_path, 'ask(); print("jax" in sys.modules, "jaxlib" in sys.modules)')
    assert done.stdout == "False False\n", done.stderr


def test_a_loop_of_os_wait_never_sees_the_server(tmp_path: Path) -> None:
    body = """
        ask()
        try:
            print(os.wait())
        except ChildProcessError:
            print("no child")
    """
    assert run_script(tmp_path, body).stdout == "no child\n"


def test_a_process_that_was_forked_off_has_a_server_of_its_own(tmp_path: Path) -> None:
    body = """
        ask()
        first = service._here.lanes[0].helper.facts["process"]
        child = os.fork()
        if not child:
            ask()
            os._exit(0 if service._here.lanes[0].helper.facts["process"] != first else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        service._here.answers.found.clear()
        ask()
        print(service._here.lanes[0].helper.facts["process"] == first)
    """
    assert run_script(tmp_path, body).stdout == "0\nTrue\n"


def test_closed_standard_files_do_not_matter(tmp_path: Path) -> None:
    body = f"""
        for number in (0, 1, 2):
            os.close(number)
        answer = ask()
        # What a library writes to standard error does not reach the server.
        os.open(os.devnull, os.O_WRONLY), os.open(os.devnull, os.O_WRONLY), os.open(os.devnull, os.O_WRONLY)
        os.write(2, b"something")
        service._here.answers.found.clear()
        pathlib.Path({str(tmp_path)!r}, "found").write_text(str(ask() == answer))
        os._exit(0)
    """
    done = run_script(tmp_path, body)
    assert done.returncode == 0
    assert (tmp_path / "found").read_text() == "True"


def test_it_can_be_asked_at_interpreter_exit(tmp_path: Path) -> None:
    body = """
        import atexit
        atexit.register(lambda: print(len(ask().after) > 0))
    """
    done = run_script(tmp_path, body)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_files_with_high_numbers_do_not_matter(tmp_path: Path) -> None:
    body = """
        import resource
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
        print(len(ask().after) > 0)
    """
    done = run_script(tmp_path, body)
    assert (done.stdout, done.stderr) == ("True\n", "")


@needs_proc
@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="looks into /dev/shm")
def test_nothing_is_left_when_the_users_process_is_killed(tmp_path: Path) -> None:
    body = f"""
        import signal, threading, time
        ask()
        server = service._here.lanes[0].helper.facts["process"]
        import glob
        while glob.glob(f"/dev/shm/{FOLDER}{{os.getpid()}}_*"):
            time.sleep(0)
        threading.Thread(target=lambda: service.ask_partitioner(slow, devices=8), daemon=True).start()
        while not glob.glob(f"/dev/shm/{FOLDER}{{os.getpid()}}_*/*.facts"):
            time.sleep(0)
        children = open(f"/proc/{{server}}/task/{{server}}/children").read().split()
        os.kill(int(children[0]), signal.SIGSTOP)
        pathlib.Path({str(tmp_path)!r}, "processes").write_text(f"{{server}} {{children[0]}} {{os.getpid()}}")
        os.kill(os.getpid(), signal.SIGKILL)
    """
    assert run_script(tmp_path, body).returncode == -signal.SIGKILL
    server, child, user = map(int, (tmp_path / "processes").read_text().split())
    eventually(lambda: not is_running(server))
    eventually(lambda: not is_running(child))
    assert left_over(user) == []


# ---------------------------------------------------------------- collectives of training steps

_COLLECTIVE = re.compile(
    r" (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\(.*?channel_id=(\d+)"
)


def channels(hlo: str) -> dict[str, str]:
    found = [(number, kind) for kind, number in _COLLECTIVE.findall(hlo)]
    assert len(dict(found)) == len(found)
    return dict(found)


def training_step(mesh: Mesh, rules: tuple[Any, Any], *, scan: bool) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    up, down = rules

    def layer(x: jax.Array, w: tuple[jax.Array, jax.Array]) -> jax.Array:
        scale = jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)
        return x + jax.nn.gelu(x * scale @ w[0]) @ w[1]

    def loss(weights: Any, x: jax.Array) -> jax.Array:
        if scan:
            x = jax.lax.scan(lambda c, w: (jax.checkpoint(layer)(c, w), None), x, weights)[0]
        else:
            for k in range(3):
                x = layer(x, (weights[0][k], weights[1][k]))
        return (x * x).mean()

    def step(weights: Any, moments: Any, x: jax.Array) -> Any:
        value, grads = jax.value_and_grad(loss)(weights, x)
        norm = jnp.sqrt(sum((g * g).sum() for g in jax.tree.leaves(grads)))
        moments = jax.tree.map(lambda m, g: 0.9 * m + g / (norm + 1), moments, grads)
        return jax.tree.map(lambda w, m: w - 0.1 * m, weights, moments), moments, value

    weights = (of(mesh, (3, 64, 256), None, *up), of(mesh, (3, 256, 64), None, *down))
    return step, (weights, weights, of(mesh, (16, 8, 64), "data", None, None))


STEPS = {
    "tensor parallel": (((None, "model"), ("model", None)), False),
    "fully sharded": ((("data", None), (None, "data")), False),
    "both, scanned with remat": ((("data", "model"), ("model", "data")), True),
}


@pytest.mark.parametrize("name", STEPS)
def test_every_collective_of_a_training_step_is_in_the_partitioned_module_by_its_channel(name: str) -> None:
    rules, scan = STEPS[name]
    function, arguments = training_step(auto_mesh(), rules, scan=scan)
    data = compile_record(jax.jit(function), arguments, {})
    assert data.hlo is not None
    compiled = channels(text(data.hlo.read()))
    asked = channels(text(answer_about(data).after))
    assert len(compiled) >= 3
    assert compiled.items() <= asked.items()
