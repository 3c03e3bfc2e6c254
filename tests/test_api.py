"""What users call, from a sharded program to its record and back from a file."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import textwrap
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError
from pjit_inspect.handles import propagate


@pytest.fixture
def mesh() -> Mesh:
    return Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def place(mesh: Mesh, shape: tuple[int, ...], *spec: Any) -> jax.Array:
    return jax.device_put(np.ones(shape, np.float32), NamedSharding(mesh, P(*spec)))


def without_advice(record: pi.CompileRecord) -> list[str]:
    """What is displayed; that changes can still be asked about is said only where the program can be compiled again."""
    return [line for line in str(record).splitlines() if not line.startswith("What to change (not asked yet")]


def megatron(mesh: Mesh) -> tuple[Any, tuple[Any, ...]]:
    """relu(x @ w1) @ w2 with w1 split by columns and w2 by rows over `model`."""

    @jax.jit
    def mlp(params, x):
        return jax.nn.relu(x @ params["w1"]) @ params["w2"]

    params = {"w1": place(mesh, (32, 128), None, "model"), "w2": place(mesh, (128, 32), "model", None)}
    return mlp, (params, place(mesh, (16, 32), "data", None))


def test_a_megatron_mlp_sums_once_over_model(mesh: Mesh) -> None:
    mlp, args = megatron(mesh)
    with pi.capture() as log:
        mlp(*args)
    record = log["mlp"]
    # By hand: each device holds a partial sum of the f32[8, 32] result, summed over the 4 devices of its `model` row.
    (row,) = record.collectives
    assert (row.kind, row.axes, row.count) == ("all-reduce", ("model",), 1)
    assert row.groups == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert row.payload_bytes == 8 * 32 * 4
    assert row.wire_bytes == 2 * 8 * 32 * 4 * 3 // 4
    assert row.source[0].file == __file__
    assert row.source[0].function.endswith("mlp")
    assert [a.path for a in record.inputs] == ["params['w1']", "params['w2']", "x"]
    assert record.memory is not None
    assert record.memory.argument_bytes == (32 * 32 + 32 * 32 + 8 * 32) * 4


def test_a_collective_in_a_scan_counts_once_for_each_layer(mesh: Mesh) -> None:
    layers = 5
    stacked = place(mesh, (layers, 32, 32), None, None, "model")
    x = place(mesh, (16, 32), "data", "model")

    @jax.jit
    def deep(stacked, x):
        def layer(carry, w):
            y = jax.lax.with_sharding_constraint(carry @ w, NamedSharding(mesh, P("data", "model")))
            return y, None

        return jax.lax.scan(layer, x, stacked)[0]

    with pi.capture() as log:
        deep(stacked, x)
    rows = log["deep"].collectives
    # Each layer contracts a dimension of `x` that is split over `model`: whatever the partitioner does about it, it
    # does once for each of the five layers, over `model`.
    assert len(rows) >= 1
    assert {row.count for row in rows} == {layers}
    assert {row.axes for row in rows} == {("model",)}


def test_axes_are_named_right_when_the_devices_stand_in_another_order() -> None:
    shuffled = np.array(jax.devices())[[3, 1, 4, 0, 5, 7, 2, 6]].reshape(2, 4)
    mlp, args = megatron(Mesh(shuffled, ("data", "model")))
    with pi.capture() as log:
        mlp(*args)
    (row,) = log["mlp"].collectives
    assert row.axes == ("model",)
    assert row.groups == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert log["mlp"].mesh is not None
    assert log["mlp"].mesh.device_ids == (3, 1, 4, 0, 5, 7, 2, 6)


def test_a_log_finds_the_newest_of_a_name_and_names_the_nearest(mesh: Mesh) -> None:
    mlp, args = megatron(mesh)
    with pi.capture() as log:
        mlp(*args)
        jnp.convolve(np.ones(7, np.float32), np.ones(3, np.float32))
        jax.jit(lambda v: v + 1)(1.0)
    assert log["mlp"] is log.find("mlp")[-1]
    assert log.names()[:2] == ("mlp", "<lambda>")
    assert [r.name for r in log.user_records()] == ["mlp", "<lambda>"]
    assert log[-1].name == "<lambda>"
    with pytest.raises(pi.RecordNotFoundError, match=r"no record of 'mpl'; the nearest names are 'mlp'"):
        log["mpl"]
    with pytest.raises(KeyError):
        log["mpl"]
    with pytest.raises(IndexError):
        log[99]
    log.clear()
    with pytest.raises(pi.RecordNotFoundError, match="nothing has been captured yet"):
        log["mlp"]


def test_the_session_log_grows_between_start_and_stop() -> None:
    log = pi.start()
    try:
        assert pi.start() is log
        before = len(log)
        jax.jit(lambda v: v + 31)(1.0)
        assert len(log) > before
    finally:
        assert pi.stop() is log
    after = len(log)
    jax.jit(lambda v: v + 37)(1.0)
    assert len(log) == after
    log.clear()


def test_inspect_takes_shapes_instead_of_arrays(mesh: Mesh) -> None:
    mlp, args = megatron(mesh)
    shapes = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=a.sharding), args)
    record = pi.inspect(mlp, *shapes)
    assert [c.kind for c in record.collectives] == ["all-reduce"]
    assert record.user_frame is not None
    assert record.user_frame.file == __file__


def test_texts_of_all_stages_are_there(mesh: Mesh) -> None:
    mlp, args = megatron(mesh)
    record = pi.inspect(mlp, *args)
    assert "dot_general" in (record.jaxpr or "")
    assert "stablehlo.dot_general" in (record.stablehlo or "")
    assert "HloModule jit_mlp" in (record.hlo_text or "")
    assert record.hlo is not None
    assert str(record).splitlines()[0].startswith("mlp  jit")
    assert repr(record) == f"<CompileRecord mlp (jit) at {record.user_frame.where}>"  # type: ignore[union-attr]


def test_a_saved_record_reads_back_equal_and_without_jax(mesh: Mesh, tmp_path: pathlib.Path) -> None:
    mlp, args = megatron(mesh)
    record = pi.inspect(mlp, *args)
    path = tmp_path / "mlp.pjit"
    record.save(path)
    loaded = pi.load(path)
    assert loaded == record
    assert loaded.collectives == record.collectives
    assert without_advice(loaded) == without_advice(record)
    script = f"""
        import sys
        sys.modules["jax"] = sys.modules["jaxlib"] = None  # importing them now fails
        import pjit_inspect as pi
        record = pi.load({str(path)!r})
        print(len(record.collectives), record.stablehlo is not None, record.hlo is not None)
        print(str(record) == open({str(tmp_path / "text")!r}).read())
    """
    (tmp_path / "text").write_text(str(loaded))
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["1", "True", "True", "True"], done.stderr


def test_the_page_of_a_record_loads_nothing(mesh: Mesh, tmp_path: pathlib.Path) -> None:
    mlp, args = megatron(mesh)
    pi.inspect(mlp, *args).to_html(tmp_path / "mlp.html")
    page = (tmp_path / "mlp.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in page
    assert "http://" not in page.replace("http://www.w3.org/", "")
    assert "https://" not in page


def test_collectives_over_two_axes_are_found_as_tables_write_them(mesh: Mesh) -> None:
    x = jax.ShapeDtypeStruct((16, 64), np.float32, sharding=NamedSharding(mesh, P(("data", "model"))))
    rows = pi.inspect(lambda x: x.sum(), x).collectives
    assert rows[0].axes_text == "data x model"
    assert list(rows.over("data x model")) == list(rows.over("model", "data")) == list(rows)
    assert not rows.over("data")


def test_tables_draw_themselves_and_so_do_their_parts(mesh: Mesh) -> None:
    mlp, args = megatron(mesh)
    record = pi.inspect(mlp, *args)
    assert "all-reduce" in str(record.collectives)
    assert "all-reduce" in record.collectives.over("model")._repr_mimebundle_()["text/html"]
    assert str(record.collectives.over("data")) == "no collectives"
    assert str(record.collectives[:0]) == "no collectives"
    assert record.fusions._repr_mimebundle_()["text/plain"]
    assert repr(record.collectives) == "CollectiveTable(1 collective)"


def test_a_record_of_one_device_has_no_mesh_and_says_so() -> None:
    record = pi.inspect(lambda a: a @ a, np.ones((4, 4), np.float32))
    assert record.mesh is None
    assert len(record.collectives) == 0
    assert record.inputs[0].spec is None
    assert record.inputs[0].replication == 1


def test_results_name_the_donated_arguments_they_lie_in(mesh: Mesh) -> None:
    def update(state, batch):
        return {"count": state["count"] + 1, "mean": batch.mean(), "sum": state["sum"] + batch}

    state = {"count": jnp.zeros(()), "sum": place(mesh, (16, 32), "data", "model")}
    record = pi.inspect(jax.jit(update, donate_argnums=0), state, place(mesh, (16, 32), "data", "model"))
    reused = {layout.path: layout.aliases for layout in record.outputs}
    assert reused["result['sum']"] == "state['sum']"
    assert reused["result['mean']"] != "state['sum']"


def test_results_name_the_arguments_they_lie_in_beside_ordered_effects() -> None:
    def noisy(state):
        jax.debug.print("{}", state.sum(), ordered=True)
        return state + 1

    record = pi.inspect(jax.jit(noisy, donate_argnums=0), jnp.ones((8, 8)))
    assert [layout.aliases for layout in record.outputs] == ["state"]


def test_the_sum_of_a_megatron_mlp_is_explained_by_its_contraction(mesh: Mesh) -> None:
    mlp, args = megatron(mesh)
    record = pi.inspect(mlp, *args)
    (row,) = record.collectives
    # relu(...) is split by columns and w2 by rows: the product sums over a dimension that is split over `model`.
    assert row.cause is not None
    assert (row.cause.kind, row.cause.evidence) == ("contraction", "sharding")
    text = repr(record.explain())
    assert "1 collective; each device sends 1.50 KiB per call." in text
    assert "all-reduce over model sends 1.50 KiB, 100 %  contraction" in text
    assert "params['w2']" in text
    # The other's second line is about advice on the whole program.
    assert repr(record.explain("model")).splitlines()[2:] == text.splitlines()[3:]
    assert "text/html" in record.explain("contraction")._repr_mimebundle_()


def test_an_explanation_of_nothing_names_what_there_is(mesh: Mesh) -> None:
    mlp, args = megatron(mesh)
    record = pi.inspect(mlp, *args)
    nothing = repr(record.explain("all-gather"))
    assert nothing.startswith("no collective of kind all-gather. There are: kinds all-reduce; causes contraction;")
    with pytest.raises(TypeError, match=r"explain takes a kind, a cause, an axis, a name or a line, not 1\.5"):
        record.explain(1.5)  # type: ignore[arg-type]


def test_every_value_of_a_megatron_mlp_has_its_sharding(mesh: Mesh) -> None:
    mlp, args = megatron(mesh)
    record = pi.inspect(mlp, *args)
    by_name = {row.name: row for row in record.shardings if not row.op}
    assert by_name["params['w1']"].spec == (None, "model")
    # x: 16 x 32 f32 over data=2: 1024 bytes on each device where an eighth is 256.
    assert (by_name["x"].bytes_per_device, by_name["x"].replication, by_name["x"].wasted_bytes) == (1024, 4, 768)
    hidden = next(row for row in record.shardings if row.op == "dot_general" and row.global_shape == (16, 128))
    assert hidden.spec == ("data", "model")
    assert hidden.origins["model"].startswith("argument `params['w1']`, through `dot_general` at test_api.py:")
    assert hidden.line is not None
    assert hidden in record.shardings.at_line(hidden.line)
    assert "how every value is sharded" in str(record.shardings)
    assert repr(record.shardings[:2]) == "ShardingTable(2 values)"


def test_shardings_that_are_not_known_say_why() -> None:
    record = pi.CompileRecord(pi.inspect(lambda a: a + 1, np.ones((4,), np.float32)).data)
    assert len(record.shardings) == 0
    assert record.shardings.missing
    assert record.shardings.missing in str(record.shardings)


def test_a_program_without_shardings_is_whole_on_every_device_of_the_mesh_that_is_set(mesh: Mesh) -> None:
    with pi.capture() as log, jax.set_mesh(mesh):
        jax.jit(lambda a: jnp.sin(a))(np.ones((64, 64), np.float32))
    shardings = log[-1].shardings
    assert shardings.devices == 8
    # 64 * 64 * 4 bytes on each device, where an even split is an eighth of that.
    assert {(row.replication, row.wasted_bytes) for row in shardings} == {(8, 16384 - 2048)}


def test_a_program_for_one_device_wastes_nothing() -> None:
    shardings = pi.inspect(lambda a: jnp.sin(a), np.ones((64, 64), np.float32)).shardings
    assert {(row.replication, row.wasted_bytes) for row in shardings} == {(1, 0)}


def test_where_xla_splits_by_gspmd_shardings_and_causes_are_what_gspmd_chose() -> None:
    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
    rows = jax.ShapeDtypeStruct((16, 32), np.float32, sharding=NamedSharding(mesh, P("data", None)))
    columns = jax.ShapeDtypeStruct((32, 64), np.float32, sharding=NamedSharding(mesh, P(None, "model")))
    before = jax.config.jax_use_shardy_partitioner
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jax.config.update("jax_use_shardy_partitioner", False)
        try:
            record = pi.inspect(lambda x, w: (jnp.tanh(x @ w), (x @ w).sum(1)), rows, columns)
        finally:
            jax.config.update("jax_use_shardy_partitioner", before)
    (tanh,) = (row for row in record.shardings if row.op.endswith("tanh"))
    # Rows follow x, columns follow w: nothing else is possible without communication.
    assert tanh.spec == ("data", "model")
    assert tanh.local_shape == (8, 16)
    assert record.propagation is not None
    assert (record.propagation.partitioner, record.propagation.is_predicted) == ("gspmd", False)
    # The sum over columns, which `model` splits, is the only thing to communicate.
    (summed,) = record.collectives
    assert (summed.axes, summed.cause.kind, summed.cause.evidence) == (("model",), "reduction", "sharding")


def test_a_collective_inside_of_one_expression_is_said_to_be_within_it(mesh: Mesh) -> None:
    record = pi.inspect(lambda x: jax.nn.softmax(x, axis=1), place(mesh, (16, 64), "data", "model"))
    # The largest of each row, and the sum of each.
    assert len(record.collectives) == 2
    for row in record.collectives:
        made = next(fact for fact in row.cause.facts if "made it between" in fact)
        assert made.count("`jax.nn.softmax(x, axis=1)`") == 2
        assert " inside `jax.nn.softmax" in made


def test_the_result_of_a_callback_goes_from_one_device_to_all(mesh: Mesh) -> None:
    # JAX calls back from one device: it gets all of `w`, and its result must go to the others.
    def step(w):
        return jnp.sin(jax.pure_callback(lambda v: v * 2, jax.ShapeDtypeStruct((64, 64), np.float32), w))

    record = pi.inspect(step, place(mesh, (64, 64), "data", "model"))
    assert {row.cause.kind for row in record.collectives} == {"no_sharding_rule"}
    (spread,) = record.collectives.of_kind("all-reduce")
    assert "and sends its result to all others" in spread.cause.sentence
    assert spread.cause.value == ""
    for gather in record.collectives.of_kind("all-gather"):
        assert "gets all of `w`" in gather.cause.sentence
        assert gather.cause.value == "w"


def words(shown: object) -> str:
    return " ".join(str(shown).split())


def test_without_an_answer_it_is_said_why_and_the_note_goes_once_the_partitioner_has_answered(
    mesh: Mesh, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    def no_answer(*_: object, **__: object) -> object:
        raise CaptureError("it took too long")

    step, arguments = megatron(mesh)
    record = pi.inspect(step, *arguments)
    with monkeypatch.context() as patch:
        patch.setattr(propagate, "ask", no_answer)
        (row,) = record.collectives
        assert (row.cause.kind, row.cause.evidence) == ("contraction", "name")
        assert record.data.missing["partitioner"] == "it took too long"
        assert record.propagation is None
        assert "it took too long" in words(record.shardings)
        # A file says it as well.
        record.save(tmp_path / "unknown.pjit")
        loaded = pi.load(tmp_path / "unknown.pjit")
        assert "it took too long" in words(loaded.shardings)
        assert "causes rest on names, not on XLA's own shardings: it took too long" in words(loaded.show("text"))
    record.ask_partitioner()
    assert [row.cause.evidence for row in record.collectives] == ["sharding"]
    assert "partitioner" not in record.data.missing
    assert "it took too long" not in words(record.shardings) + words(record.show("text"))


def test_causes_and_shardings_are_found_when_somebody_looks_and_saved_with_the_record(
    mesh: Mesh, tmp_path: pathlib.Path
) -> None:
    step, arguments = megatron(mesh)
    record = pi.inspect(step, *arguments)
    assert "propagation_and_reason" not in record.state.analyses.known
    (row,) = record.collectives
    assert (row.kind, row.axes, row.cause.kind, row.cause.evidence) == (
        "all-reduce",
        ("model",),
        "contraction",
        "sharding",
    )
    record.save(tmp_path / "mlp.pjit")
    loaded = pi.load(tmp_path / "mlp.pjit")
    assert [r.cause.kind for r in loaded.collectives] == ["contraction"]
    assert [r.cause.evidence for r in loaded.collectives] == ["sharding"]
    assert len(loaded.shardings) == len(record.shardings)
    assert list(loaded.suggestions) == []
    assert loaded.suggestions.missing


def test_a_checked_suggestion_counts_what_it_saves(mesh: Mesh) -> None:
    # w1 contracts over model (an all-reduce of 32 x 512 halves), w2 gets it on its columns: the Megatron pair the wrong
    # way round. The right way sums [32, 128] once: 2 * 3/4 * 32*128*4 = 24 KiB; before, 2 * 3/4 * 32*512*4 = 96 KiB.
    w1 = place(mesh, (128, 512), "model", None)
    w2 = place(mesh, (512, 128), None, "model")
    record = pi.inspect(lambda x, w1, w2: jnp.tanh(x @ w1) @ w2, place(mesh, (64, 128), "data", None), w1, w2)
    best = record.suggestions[0]
    checked = best.check()
    assert (checked.before_bytes, checked.after_bytes, checked.verdict) == (96 * 1024, 24 * 1024, "helps")
    assert best.sent == (96 * 1024, 24 * 1024)
