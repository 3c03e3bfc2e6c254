"""Which earlier value a value is the same data as. Read off programs of HLO text as XLA writes them for scans."""

from __future__ import annotations

import jax
from data.hlo_texts import parse_hlo_text

import pjit_inspect as pi
from pjit_inspect.analyze.sharding.axes import with_origins
from pjit_inspect.analyze.sharding.same_data import SameData
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.parse.sharding.propagated_hlo import read_propagated_hlo

MESH = Mesh(axis_names=("x",), shape=(4,), device_ids=tuple(range(4)))

SCAN = """HloModule m, num_partitions=4

%forward (f: (s32[], f32[8], f32[3,8], f32[3,8])) -> (s32[], f32[8], f32[3,8], f32[3,8]) {
  %f = (s32[], f32[8], f32[3,8], f32[3,8]) parameter(0), SHARDINGS
  %i = s32[] get-tuple-element(%f), index=0
  %c = f32[8] get-tuple-element(%f), index=1
  %ws = f32[3,8] get-tuple-element(%f), index=2, sharding={devices=[1,4]<=[4]}
  %saved = f32[3,8] get-tuple-element(%f), index=3
  %zero = s32[] constant(0)
  %row = f32[1,8] dynamic-slice(%ws, %i, %zero), dynamic_slice_sizes={1,8}, sharding={devices=[1,4]<=[4]}
  %w = f32[8] reshape(%row), sharding={devices=[4]<=[4]}, metadata={op_name="jit(g)/while/squeeze"}
  %h = f32[8] multiply(%c, %w), metadata={op_name="jit(g)/while/mul"}
  %h2 = f32[1,8] reshape(%h), metadata={op_name="jit(g)/while/broadcast_in_dim"}
  %kept = f32[3,8] dynamic-update-slice(%saved, %h2, %i, %zero)
  ROOT %t = (s32[], f32[8], f32[3,8], f32[3,8]) tuple(%i, %h, %ws, %kept)
}

%fc (a: (s32[], f32[8], f32[3,8], f32[3,8])) -> pred[] {
  %a = (s32[], f32[8], f32[3,8], f32[3,8]) parameter(0)
  ROOT %yes = pred[] constant(true)
}

%backward (b: (s32[], f32[8], f32[3,8])) -> (s32[], f32[8], f32[3,8]) {
  %b = (s32[], f32[8], f32[3,8]) parameter(0)
  %j = s32[] get-tuple-element(%b), index=0
  %ct = f32[8] get-tuple-element(%b), index=1
  %res = f32[3,8] get-tuple-element(%b), index=2
  %nil = s32[] constant(0)
  %r = f32[1,8] dynamic-slice(%res, %j, %nil), dynamic_slice_sizes={1,8}
  %r1 = f32[8] reshape(%r), metadata={op_name="jit(g)/transpose/squeeze"}
  %g = f32[8] multiply(%ct, %r1), metadata={op_name="jit(g)/transpose/mul"}
  ROOT %u = (s32[], f32[8], f32[3,8]) tuple(%j, %g, %res)
}

%bc (d: (s32[], f32[8], f32[3,8])) -> pred[] {
  %d = (s32[], f32[8], f32[3,8]) parameter(0)
  ROOT %no = pred[] constant(true)
}

ENTRY %main (x: f32[8], ws: f32[3,8]) -> f32[8] {
  %x = f32[8] parameter(0), sharding={devices=[4]<=[4]}, metadata={op_name="x"}
  %ws0 = f32[3,8] parameter(1), sharding={devices=[1,4]<=[4]}, metadata={op_name="ws[\\'up\\']"}
  %n = s32[] constant(0)
  %empty = f32[] constant(0)
  %space = f32[3,8] broadcast(%empty), dimensions={}
  %in = (s32[], f32[8], f32[3,8], f32[3,8]) tuple(%n, %x, %ws0, %space)
  %loop = (s32[], f32[8], f32[3,8], f32[3,8]) while(%in), condition=%fc, body=%forward
  %y = f32[8] get-tuple-element(%loop), index=1
  %all = f32[3,8] get-tuple-element(%loop), index=3
  %in2 = (s32[], f32[8], f32[3,8]) tuple(%n, %y, %all)
  %barred = (s32[], f32[8], f32[3,8]) opt-barrier(%in2)
  %back = (s32[], f32[8], f32[3,8]) while(%barred), condition=%bc, body=%backward
  ROOT %out = f32[8] get-tuple-element(%back), index=1
}
""".replace("SHARDINGS", "sharding={{replicated}, {devices=[4]<=[4]}, {devices=[1,4]<=[4]}, {devices=[1,4]<=[4]}}")


def program(text: str = SCAN) -> ShardedProgram:
    return read_propagated_hlo(parse_hlo_text(text), [MESH]).program


def operand(found: ShardedProgram, op_name: str, number: int) -> int:
    return next(op.operands[number] for op in found.ops if op.op_name == op_name)


def test_a_scans_slice_is_the_arguments_piece_of_that_turn():
    found = program()
    names = ValueNames(found)
    weight = operand(found, "jit(g)/while/mul", 1)
    assert names.value(weight) == "`ws['up'][i]`"
    assert names.argument(weight) == "ws['up']"


def test_what_a_loop_changes_is_not_what_it_began_with():
    found = program()
    carried = operand(found, "jit(g)/while/mul", 0)
    assert SameData(found).before(carried) is None
    assert ValueNames(found).value(carried).endswith(" that a loop carries")


def test_a_saved_residual_is_its_forward_value():
    # Through the backward loop, a barrier, the forward loop's result and the update that saved it.
    found = program()
    residual = operand(found, "jit(g)/transpose/mul", 1)
    product = next(op.results[0] for op in found.ops if op.op_name == "jit(g)/while/mul")
    assert SameData(found).behind(residual) == product


def test_results_of_a_barrier_are_its_operands_one_by_one():
    found = program()
    barrier = next(op for op in found.ops if op.kind == "optimization_barrier")
    data = SameData(found)
    steps = [data.before(result) for result in barrier.results]
    assert [step.value if step is not None else None for step in steps] == list(barrier.operands)


def test_an_axis_is_followed_along_equal_factors_from_the_argument_that_has_it():
    text = """HloModule m, num_partitions=4

ENTRY %main (x: f32[8,16], w: f32[16,4]) -> f32[4,8] {
  %x = f32[8,16] parameter(0), sharding={devices=[4,1]<=[4]}, metadata={op_name="x"}
  %w = f32[16,4] parameter(1), sharding={replicated}, metadata={op_name="w"}
  %y = f32[8,4] dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={devices=[4,1]<=[4]}
  ROOT %z = f32[4,8] transpose(%y), dimensions={1,0}, sharding={devices=[1,4]<=[4]}
}
"""
    found = with_origins(program(text))
    (origin,) = found.values[found.ops[-1].results[0]].origins
    assert (origin.axis, origin.kind, origin.index) == ("x", "input", 0)


def test_an_axis_that_nothing_brings_comes_from_the_constraint_behind():
    text = """HloModule m, num_partitions=4

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8] parameter(0), sharding={replicated}, metadata={op_name="x"}
  %y = f32[8] tanh(%x), sharding={devices=[4]<=[4]}, metadata={op_name="jit(f)/tanh"}
  ROOT %z = f32[8] copy(%y), sharding={devices=[4]<=[4]}, metadata={op_name="jit(f)/sharding_constraint"}
}
"""
    found = with_origins(program(text))
    tanh, asked = found.ops
    (origin,) = found.values[tanh.results[0]].origins
    assert (origin.kind, origin.index) == ("constraint", found.ops.index(asked))


def test_a_value_is_computed_from_what_its_loops_and_functions_were_given():
    mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))

    def given(*spec):
        return jax.ShapeDtypeStruct((16,), "float32", sharding=jax.NamedSharding(mesh, jax.P(*spec)))

    inner = jax.jit(jax.numpy.tanh)

    def function(a, b, c, d):
        total, _ = jax.lax.scan(lambda total, _: (inner(total + c), None), a, length=3)
        return total, b * 2, inner(d)

    names = pi.inspect(function, given("x"), given(), given(), given()).state.analyses.names
    found = [names.arguments(result.value) for result in names.program.outputs]
    assert found == [{0, 2}, {1}, {3}]
