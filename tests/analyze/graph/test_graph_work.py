"""Operations of matrix products, against counting every multiplication."""

from __future__ import annotations

import itertools

import pytest
from data import hlo_fixtures as fixtures
from data.hlo_texts import parse_hlo_text
from graph_cases import compiled, graph_of
from hypothesis import given, settings
from hypothesis import strategies as st


def text(body: str, result: str, *parameters: str) -> str:
    given_lines = [f"  %p{n} = {shape} parameter({n})" for n, shape in enumerate(parameters)]
    arguments = ", ".join(f"p{n}: {shape}" for n, shape in enumerate(parameters))
    head = f"HloModule m\nENTRY %main ({arguments}) -> {result} {{\n"
    return head + "\n".join(given_lines) + f"\n  ROOT %d = {result} {body}\n}}\n"


def flops(source: str) -> tuple[int, int]:
    graph = graph_of(parse_hlo_text(source))
    return int(graph.kernels.matmuls.sum()), int(graph.kernels.flops.sum())


def test_a_product_counts_two_operations_per_multiply_add():
    source = text(
        "dot(%p0, %p1), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
        "f32[2,3,5]",
        "f32[2,3,4]",
        "f32[2,4,5]",
    )
    assert flops(source) == (1, 2 * 2 * 3 * 4 * 5)


def test_a_library_product_is_counted_by_what_it_contracts():
    config = '{\\"gemm_backend_config\\":{\\"dot_dimension_numbers\\":{\\"lhs_contracting_dimensions\\":[\\"1\\"]}}}'
    source = text(
        f'custom-call(%p0, %p1), custom_call_target="__cublas$gemm", backend_config="{config}"',
        "f32[3,5]",
        "f32[3,4]",
        "f32[4,5]",
    )
    assert flops(source) == (1, 2 * 3 * 4 * 5)


def test_products_within_nested_fusions_count_for_the_kernel():
    source = """HloModule m
%inner (a: f32[3,4], b: f32[4,5]) -> f32[3,5] {
  %a = f32[3,4] parameter(0)
  %b = f32[4,5] parameter(1)
  ROOT %d = f32[3,5] dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
%outer (c: f32[3,4], e: f32[4,5]) -> f32[3,5] {
  %c = f32[3,4] parameter(0)
  %e = f32[4,5] parameter(1)
  ROOT %f = f32[3,5] fusion(%c, %e), kind=kOutput, calls=%inner
}
ENTRY %main (p: f32[3,4], q: f32[4,5]) -> f32[3,5] {
  %p = f32[3,4] parameter(0)
  %q = f32[4,5] parameter(1)
  ROOT %g = f32[3,5] fusion(%p, %q), kind=kOutput, calls=%outer
}
"""
    assert flops(source) == (1, 2 * 3 * 4 * 5)


def test_the_products_of_a_compiled_program_are_those_it_was_written_with():
    import jax.numpy as jnp

    graph = compiled(lambda x, w: jnp.tanh(x @ w) @ w.T, jnp.ones((8, 16)), jnp.ones((16, 32)))
    assert int(graph.kernels.flops.sum()) == 2 * (2 * 8 * 16 * 32)


def met(length: int, outputs: int, size: int, stride: int, low: int, spread: int, holes: int) -> int:
    """Pairs of output and window place that meet data, each tried."""
    return sum(
        (place := z * stride - low + w * spread) >= 0 and place % holes == 0 and place // holes < length
        for z, w in itertools.product(range(outputs), range(size))
    )


@settings(deadline=None, max_examples=120)
@given(
    length=st.integers(1, 7),
    outputs=st.integers(1, 7),
    size=st.integers(1, 5),
    stride=st.integers(1, 4),
    low=st.integers(-3, 6),
    spread=st.integers(1, 3),
    holes=st.integers(1, 4),
)
def test_a_convolution_counts_only_places_that_meet_data(
    length: int, outputs: int, size: int, stride: int, low: int, spread: int, holes: int
):
    window = f"{{size={size} stride={stride} pad={low}_0 lhs_dilate={holes} rhs_dilate={spread}}}"
    source = text(
        f"convolution(%p0, %p1), window={window}, dim_labels=b0f_0io->b0f",
        f"f32[2,{outputs},3]",
        f"f32[2,{length},4]",
        f"f32[{size},4,3]",
    )
    count = met(length, outputs, size, stride, low, spread, holes)
    assert flops(source) == (1, 2 * 2 * 3 * 4 * count)


@pytest.mark.parametrize(
    "window", ["{size=9223372036854775807}", "{size=1000000}", "{size=3 stride=9223372036854775807}"]
)
def test_a_window_too_large_to_count_is_unknown_or_counted_in_no_time(window: str):
    source = text(
        f"convolution(%p0, %p1), window={window}, dim_labels=b0f_0io->b0f", "f32[2,5,3]", "f32[2,5,4]", "f32[3,4,3]"
    )
    graph = graph_of(parse_hlo_text(source))
    assert graph.kernels.matmuls.tolist() == [1]
    assert graph.boxes[0].flops is None or graph.boxes[0].flops >= 0


def test_convolutions_of_cudnn_count_in_both_directions():
    graph = fixtures.on_h200("conv_grad").state.analyses.graph_and_reason[0]
    assert graph is not None
    # 3 x 3 over 64 x 64 with a rim of zeros: 190 of 192 places meet data in each dimension. Once forward, once back.
    assert sorted(int(own) for own in graph.kernels.flops if own) == [2 * 8 * 32 * 16 * 190**2] * 2


def test_the_work_of_an_attention_of_cudnn_is_unknown():
    graph = fixtures.on_h200("attention_cudnn").state.analyses.graph_and_reason[0]
    assert graph is not None
    assert [int(own) for own in graph.kernels.flops] == [-1]
    assert graph.boxes[0].flops is None
