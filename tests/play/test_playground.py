"""A playground: what is known at once, what XLA answers, in which order, and what is left behind."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect import guard
from pjit_inspect.errors import CaptureError, ChangeError, RecordNotFoundError
from pjit_inspect.model.play.variant import Variant

MESH = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def array(shape, *spec, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(MESH, P(*spec)))


def step(params, momentum, x):
    def loss(params, x):
        h = jax.lax.with_sharding_constraint(x @ params["w1"], NamedSharding(MESH, P("data", "model")))
        return ((jax.nn.relu(h) @ params["w2"]) ** 2).mean()

    slope = jax.grad(loss)(params, x)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, slope)
    return jax.tree.map(lambda w, m: w - 0.1 * m, params, momentum), momentum


def arguments():
    params = {"w1": array((32, 64), None, "model"), "w2": array((64, 32), "model", None)}
    return params, params, array((128, 32), "data", None)


@pytest.fixture
def play() -> Iterator[pi.Playground]:
    made = pi.playground(jax.jit(step), *arguments())
    yield made
    made.close()


def test_the_base_is_what_xla_makes_of_the_program_as_captured(play: pi.Playground):
    base = play.wait()
    record = base.record
    assert (base.number, base.stage, base.change) == (0, "partitioned", ())
    assert base.collectives == len(record.collectives)
    assert base.sent_bytes == sum(row.wire_bytes * row.count for row in record.collectives)
    # w1 and its momentum are 32 x 64 / 4, w2 alike; x is 128 x 32 / 2: of 4 bytes each.
    assert base.argument_bytes == 4 * (4 * 32 * 64 // 4 + 128 * 32 // 2)
    assert base.work == 1.0


def test_momentum_follows_its_parameter(play: pi.Playground):
    follows = {group.label: group.follows for group in play.controls.groups}
    assert follows == {
        "params['w1']": None,
        "params['w2']": None,
        "momentum['w1']": "params['w1']",
        "momentum['w2']": "params['w2']",
        "x": None,
    }
    found = play.set(specs={"params['w1']": P("data", "model")})
    assert [group.spec for group in found.controls.groups[:3:2]] == [("data", "model"), ("data", "model")]
    assert found.change == ("params['w1']: P('data', 'model')",)


def test_momentum_that_is_named_itself_is_cut_loose(play: pi.Playground):
    play.set(specs={"momentum['w1']": P("data", "model")})
    group = play.controls.group("momentum['w1']")
    assert group is not None
    assert (group.spec, group.is_cut_loose) == (("data", "model"), True)
    found = play.set(specs={"params['w1']": P(None, None)})
    assert found.controls.group("momentum['w1']").spec == ("data", "model")


def test_bytes_of_arguments_are_known_at_once_and_those_of_collectives_after_xla_has_answered(play: pi.Playground):
    play.wait()
    begun = play.set(specs={"params": P()})
    assert (begun.stage, begun.sent_bytes, begun.memory_source) == ("arguments", None, "arguments")
    assert begun.argument_bytes == 4 * (4 * 32 * 64 + 128 * 32 // 2)
    found = play.wait()
    assert found.stage == "partitioned"
    assert found.sent_bytes == sum(own.sent_bytes for own in found.by_axis)
    assert found.sent_bytes == sum(own.sent_bytes for own in found.by_kind)


def test_what_does_not_divide_is_refused_beside_its_control_with_meshes_that_do(play: pi.Playground):
    found = play.set(mesh={"data": 1, "model": 128})
    assert found.stage == "refused"
    problem = found.problem
    assert problem is not None
    assert problem.control == "params['w1']"
    assert "dimension 1: 64 / model=128 = 0.50, does not divide" in problem.text
    assert (("data", 2), ("model", 64)) in problem.meshes
    assert play.wait().stage == "refused"


def test_names_that_there_are_none_of_are_refused(play: pi.Playground):
    with pytest.raises(ChangeError, match=r"has no argument or result \"params\['w3'\]\", did you mean"):
        play.set(specs={"params['w3']": P()})
    with pytest.raises(ChangeError, match="uses 'pipe', and the mesh has data, model"):
        play.set(specs={"x": P("pipe")})
    with pytest.raises(ChangeError, match=r"no with_sharding_constraint at nowhere\.py:1"):
        play.set(constraints={"nowhere.py:1": None})
    assert play.variant.number == 0


def test_a_constraint_can_be_taken_out(play: pi.Playground):
    (constraint,) = play.controls.constraints
    assert (constraint.asked, constraint.is_on, constraint.shape) == (("data", "model"), True, (128, 64))
    found = play.set(constraints={constraint.place: None})
    assert found.change == (f"constraint at {constraint.place}: out",)
    assert not found.controls.constraints[0].is_on
    assert play.wait().stage == "partitioned"


def test_a_change_of_a_variant_is_told_by_that_one_where_it_is_shorter(play: pi.Playground):
    first = play.set(mesh={"data": 4, "model": 2}, specs={"params['w1']": P(), "params['w2']": P()})
    assert (first.parent, first.said) == (None, first.change)
    play.wait()
    (place,) = (one.place for one in play.controls.constraints)
    second = play.set(constraints={place: None})
    assert second.change == (*first.change, f"constraint at {place}: out")
    assert second.said == (f"as #{first.number}", f"constraint at {place}: out")
    # Before XLA has answered: the variant is forgotten, and the next is told by the base.
    third = play.set(specs={"x": P()})
    assert (third.parent, third.said) == (None, third.change)
    play.go_back(first)
    play.wait()
    play.set(constraints={place: None})
    play.wait()
    fourth = play.set(constraints={place: P("data", "model")}, specs={"x": P()})
    assert fourth.step == ("x: P(None, None)", f"constraint at {place}: as captured")


def test_another_mesh_takes_as_many_fake_devices(play: pi.Playground):
    play.set(mesh={"data": 4, "model": 8})
    found = play.wait()
    assert (found.devices, found.controls.target) == (32, "cpu:32")
    assert found.record.mesh.axes == (("data", 4), ("model", 8))


def test_what_was_set_before_is_the_same_variant_again(play: pi.Playground):
    play.wait()
    first = play.set(specs={"x": P()})
    play.wait()
    play.go_back(0)
    assert play.set(specs={"x": P()}).number == first.number
    assert [row.number for row in play.history] == [0, first.number]


def test_variants_are_named_gone_back_to_and_the_best_is_found(play: pi.Playground):
    base = play.wait()
    play.set(specs={"params": P(), "x": P(("data", "model"))})
    found = play.rename(play.wait(), "all data")
    assert found.title == "all data"
    assert play.go_back("all data").number == found.number
    best = min((base, play.variant), key=lambda row: row.sent_bytes)
    assert play.best("bytes").number == best.number
    with pytest.raises(RecordNotFoundError):
        play.go_back("nothing")


def test_everything_on_every_device_is_not_the_best_though_it_sends_nothing(play: pi.Playground):
    play.wait()
    (constraint,) = play.controls.constraints
    play.set(specs={"params": P(), "x": P()}, constraints={constraint.place: None})
    found = play.wait()
    assert (found.sent_bytes, found.work) == (0, 8.0)
    assert play.best("bytes").number == 0
    assert play.history.best("bytes", most_work=8.0).number == found.number


def test_a_newer_change_takes_the_place_of_one_that_was_not_answered(play: pi.Playground):
    seen: list[Variant] = []
    play.observe(seen.append)
    specs = [P("data", "model"), P("model", "data"), P(None, "data"), P("data", None), P(None, ("data", "model"))]
    for spec in specs:
        last = play.set(specs={"params['w1']": spec})
    assert play.wait().number == last.number
    answered = [row.number for row in seen if row.stage == "partitioned"]
    # An answer to what was left before it came is told of nobody, but for the base.
    assert [number for number in answered if number] == sorted(number for number in answered if number)
    assert answered[-1] in (last.number, 0)
    assert {row.number for row in play.history} <= {0, *answered, last.number}


def test_observers_hear_of_each_stage_in_order_and_no_more_after_they_leave(play: pi.Playground):
    play.wait()
    heard: list[tuple[int, str]] = []
    leave = play.observe(lambda row: heard.append((row.number, row.stage)))
    found = play.set(specs={"x": P()})
    play.wait()
    deadline = time.monotonic() + 10
    while len(heard) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert heard[-2:] == [(found.number, "arguments"), (found.number, "partitioned")]
    leave()
    play.set(specs={"x": P("data")})
    play.wait()
    assert (found.number + 1, "arguments") not in heard


def test_an_observer_that_raises_harms_nobody(play: pi.Playground, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guard, "_warned", set())
    play.wait()

    def fail(_: Variant) -> None:
        raise RuntimeError("mine")

    play.observe(fail)
    with pytest.warns(RuntimeWarning, match="an observer of the playground"):
        play.set(specs={"x": P()})
    assert play.wait().stage == "partitioned"


def test_full_effort_adds_memory_at_the_peak(play: pi.Playground):
    partitioned = play.wait()
    play.full()
    found = play.wait()
    assert (found.stage, found.memory_source) == ("full", "xla")
    assert found.memory_bytes is not None
    assert found.memory_bytes >= partitioned.argument_bytes
    # Counted as partitioned, also now.
    assert found.sent_bytes == partitioned.sent_bytes
    assert found.record.memory is not None


def test_stopping_takes_the_question_back(play: pi.Playground):
    play.wait()
    begun = play.set(specs={"x": P(None, "model")})
    play.stop()
    if play.variant.stage == "arguments":
        with pytest.raises(CaptureError, match="taken back"):
            play.wait()
    # XLA may have been faster.
    assert play.variant.number == begun.number


def test_a_hundred_changes_leave_nothing_behind(play: pi.Playground):
    play.wait()
    play.set(specs={"x": P()})
    play.wait()
    files, threads = open_files(), set(threading.enumerate())
    specs = [P("data", "model"), P("model", "data"), P(None, "data"), P("data"), P(None, ("data", "model"))]
    for number in range(100):
        play.set(specs={"params['w1']": specs[number % len(specs)], "x": P("data") if number % 2 else P()})
        if number % 10 == 0:
            time.sleep(0.05)
    last = play.wait(60)
    assert last.stage == "partitioned"
    deadline = time.monotonic() + 10
    while set(threading.enumerate()) - threads and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not set(threading.enumerate()) - threads
    assert open_files() <= files + 2
    # What was left before it was answered is no row.
    assert all(row.is_answered for row in play.history)
    assert len(play.history) <= 12


def open_files() -> int:
    gc.collect()
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def test_records_of_variants_long_ago_are_let_go_of_and_made_again(play: pi.Playground):
    play.wait()
    found = []
    for axes in (("data",), ("model",), ("data", "model"), ("model", "data")):
        for place in range(4):
            entry = axes if len(axes) > 1 else axes[0]
            spec = [(entry, None), (None, entry), (None, None), (entry,)][place]
            play.set(specs={"params['w2']": spec, "x": P("data") if place < 2 else P()})
            found.append(play.wait())
    assert len(play._records) <= 13
    first = found[0]
    assert first.record is not None
    assert len(first.record.collectives) == first.collectives


def test_a_closed_playground_keeps_its_history_and_asks_no_more(play: pi.Playground):
    play.wait()
    play.close()
    assert play.history[0].stage == "partitioned"
    assert play.set(specs={"x": P()}).stage == "arguments"
    with pytest.raises(CaptureError):
        play.wait(5)


def test_its_text_and_json_say_what_is_known(play: pi.Playground):
    play.wait()
    play.set(specs={"params['w1']": P()})
    play.wait()
    text = str(play)
    assert "playground: mesh data=2 x model=4" in text
    assert "params['w1']: P(None, None)" in text
    assert "follows params['w1']" in text
    assert repr(play) == "<Playground step: 2 variants, params['w1']: P(None, None), partitioned>"
    plain = json.loads(play.to_json())
    assert [row["number"] for row in plain["rows"]] == [0, 1]
    assert plain["rows"][1]["change"] == ["params['w1']: P(None, None)"]
    assert play.history.to_csv().splitlines()[0].startswith("number,name,sentence,change")


def test_a_chip_says_whether_it_fits_and_how_long_it_takes():
    made = pi.inspect(jax.jit(step), *arguments(), effort="partition").playground(fits="tpu:v5e")
    found = made.wait()
    assert found.available_bytes == round(15.75 * 2**30)
    assert found.fits is None
    assert found.time_s is not None
    assert 0 < found.time_s[0] <= found.time_s[1]
    made.close()


def test_hostile_names_stay_names():
    name = "</script><img src=x onerror=alert(1)>'\"\n"
    made = pi.playground(jax.jit(lambda p: p[name] @ p[name]), {name: array((32, 32), "data", None)})
    made.wait()
    html = made.show()._repr_mimebundle_()["text/html"]
    assert "<img" not in html
    compile(made.code().plain, "code", "exec")
    made.close()


def test_a_process_that_ends_takes_its_question_back_and_waits_for_it():
    """A thread that is in native code while Python ends would abort the process."""
    code = (
        "import time, jax, jax.numpy as jnp, pjit_inspect\n"
        "from pjit_inspect.errors import CaptureError\n"
        "from pjit_inspect.handles.play.subject import PlayedProgram\n"
        "def ask(self, setting, begun, *, effort, ticket):\n"
        "    while not ticket.is_cancelled:\n"
        "        time.sleep(0.01)\n"
        "    print('taken back', flush=True)\n"
        "    raise CaptureError('taken back')\n"
        "PlayedProgram.ask = ask\n"
        "play = pjit_inspect.inspect(jax.jit(lambda x: x * 2), jnp.ones(8)).playground()\n"
        "print('end', flush=True)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "end\ntaken back\n", "")
