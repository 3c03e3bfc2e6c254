"""The flow of a small program: what is drawn, from where to where, and what is said of the values on the arrows."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from data import hlo_fixtures as fixtures
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect
from pjit_inspect.analyze.graph.flow import find_flow
from pjit_inspect.model.report.graph import FlowNode, ProgramFlow


@pytest.fixture(scope="module")
def mesh() -> Mesh:
    return Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))


def flow_of(fn, *args) -> ProgramFlow | None:
    record = pjit_inspect.inspect(fn, *args)
    graph, _ = record.state.analyses.graph_and_reason
    assert graph is not None
    assert record.hlo is not None
    return find_flow(graph, record.hlo, tuple(record.collectives), record.shardings)


def put(mesh: Mesh, shape: tuple[int, ...], *spec: str | None) -> jax.Array:
    return jax.device_put(np.ones(shape, np.float32), NamedSharding(mesh, P(*spec)))


def reached(flow: ProgramFlow, start: int) -> set[int]:
    """All nodes that the arrows lead to."""
    found, waiting = set(), [start]
    while waiting:
        at = waiting.pop()
        for source, target in flow.edges:
            if source == at and target not in found:
                found.add(target)
                waiting.append(target)
    return found


def rows(flow: ProgramFlow, kind: str) -> list[tuple[int, FlowNode]]:
    return [(i, node) for i, node in enumerate(flow.nodes) if node.kind == kind]


def test_two_matmuls_are_arguments_kernels_one_sum_and_a_result(mesh):
    def mlp(x, w1, w2):
        h = jnp.tanh(x @ w1)
        return h @ w2

    flow = flow_of(mlp, put(mesh, (256, 512), "data", None), put(mesh, (512, 2048), None, "model"),
                   put(mesh, (2048, 512), "model", None))  # fmt: skip
    assert flow is not None
    assert [node.number for _, node in rows(flow, "argument")] == [0, 1, 2]
    ((end, result),) = rows(flow, "result")
    assert result.number == 0
    for start, _ in rows(flow, "argument"):
        assert end in reached(flow, start)
    ((sum_at, summed),) = rows(flow, "collective")
    # The sum over `model` of 128 x 512 numbers on each device: the rows of `x` stay split over `data`.
    assert summed.array == "f32[128,512]"
    assert summed.spec == ("data", None)
    assert end in reached(flow, sum_at)
    # What goes into the sum is not the value of that line yet: its spec is not said.
    (before,) = [source for source, target in flow.edges if target == sum_at]
    assert flow.nodes[before].array == "f32[128,512]"
    assert flow.nodes[before].spec is None
    # The hidden activations are split over both axes.
    hidden = [node for _, node in rows(flow, "kernel") if node.spec == ("data", "model")]
    assert hidden
    assert {node.array for node in hidden} == {"f32[128,512]"}


def test_an_argument_that_is_returned_as_it_came_has_an_arrow_to_its_result(mesh):
    flow = flow_of(lambda x, y: (x, y.sum()), put(mesh, (8, 4), "data", None), put(mesh, (8, 4), "data", None))
    assert flow is not None
    first = next((row for row, node in rows(flow, "argument") if node.number == 0), None)
    results = {node.number: row for row, node in rows(flow, "result")}
    assert set(results) == {0, 1}
    # XLA may return it through a copy, and jit may forward it without the program.
    if first is not None:
        assert results[0] in reached(flow, first)


def test_a_loops_result_comes_from_its_body_and_no_arrow_runs_in_a_circle(mesh):
    def loop(x, w):
        return jax.lax.fori_loop(0, 5, lambda _, h: jnp.tanh(h @ w), x)

    flow = flow_of(loop, put(mesh, (64, 64), "data", None), put(mesh, (64, 64), None, None))
    assert flow is not None
    assert all(source < target or flow.nodes[source].kind == "argument" for source, target in flow.edges)
    ((end, _),) = rows(flow, "result")
    for start, _ in rows(flow, "argument"):
        assert end in reached(flow, start)


def test_a_program_of_more_than_forty_kernels_has_no_flow(mesh):
    def many(x):
        for i in range(30):
            x = jnp.sort(jnp.sin(x @ x.T) @ x, axis=i % 2)
        return x

    assert flow_of(many, put(mesh, (64, 64), None, None)) is None


def test_a_copy_is_not_drawn_and_its_arrow_goes_on():
    from pjit_inspect.analyze.graph.flow import _without

    nodes = [FlowNode(kind="argument", number=0), FlowNode(kind="kernel", number=0, kernel=0),
             FlowNode(kind="kernel", number=1, kernel=1), FlowNode(kind="result", number=0)]  # fmt: skip
    flow = _without({1}, nodes, [(0, 1), (1, 2), (2, 3)])
    assert [node.kind for node in flow.nodes] == ["argument", "kernel", "result"]
    assert flow.edges == ((0, 1), (1, 2))
    assert flow.copies == 1


def test_the_workspace_of_a_library_leaves_no_kernel():
    """The gradient of a convolution by cuDNN has 18 KiB, and worked in 6.56 MiB."""
    record = fixtures.on_h200("conv_grad")
    graph, _ = record.state.analyses.graph_and_reason
    assert graph is not None
    assert record.hlo is not None
    number = graph.kernels.names.index("cudnn-conv-bw-filter.1")
    assert graph.kernels.result_bytes[number] == 3 * 3 * 16 * 32 * 4
    flow = find_flow(graph, record.hlo, (), record.shardings)
    assert flow is not None
    assert next(node.array for node in flow.nodes if node.kernel == number) == "f32[32,3,3,16]"
