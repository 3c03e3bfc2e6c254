"""Arrays of combined collectives, each told from its equals by what is proved of the others."""

from __future__ import annotations

from data.hlo_texts import parse_hlo_text

from pjit_inspect.analyze.collectives.collective_sites import find_sites
from pjit_inspect.analyze.partition.join import join
from pjit_inspect.model.sharding.sharded_program import (
    EntryValue,
    PartitionedCollective,
    ShardedOp,
    ShardedProgram,
    ShardedValue,
)

ALL_REDUCE = "replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=%sum"
WORDS = {"all_reduce": ALL_REDUCE} | {
    name: f', metadata={{op_name="jit(f)/{name}"}}' for name in ("dot", "norm", "zero")
}
SUM = """%sum (l: f32[], r: f32[]) -> f32[] {
  %l = f32[] parameter(0)
  %r = f32[] parameter(1)
  ROOT %s = f32[] add(%l, %r)
}

"""


def sums(*rows: tuple[str, int, tuple[int, ...], tuple[int, ...]], results: int) -> ShardedProgram:
    """A program of sums on channels 1, 2, ...: each its name, its elements, what it is made of, where it goes."""
    return ShardedProgram(
        ops=tuple(ShardedOp(opcode="stablehlo.dot_general", op_name=name) for name, _, _, _ in rows),
        values=tuple(ShardedValue(dtype="f32", shape=(), spec=()) for _ in range(results)),
        outputs=tuple(EntryValue(name=f"result[{k}]", value=k) for k in range(results)),
        collectives=tuple(
            PartitionedCollective(
                kind="all-reduce", channel_id=k + 1, groups=((0, 1, 2, 3),), dtype="f32", elements=elements,
                visited=(k,), sources=(sources,), reaches=reaches,
            )
            for k, (_, elements, sources, reaches) in enumerate(rows)
        ),
        is_predicted=False,
    )  # fmt: skip


def channels(program: ShardedProgram, text: str) -> list[list[list[int | None]]]:
    """For each collective of a text, and each of its arrays, the channels of those that it may be."""
    found = join(program, find_sites(parse_hlo_text(f"HloModule m, num_partitions=4\n\n{SUM}{text}")))
    return [[[edge.channel_id for edge in array.edges] for array in arrays] for arrays in found]


EQUAL = """ENTRY %main (p: f32[4,4], q: f32[4,4], r: f32[4,4]) -> (f32[4,4], f32[4,4], f32[4,4]) {{
  %p = f32[4,4] parameter(0)
  %q = f32[4,4] parameter(1)
  %r = f32[4,4] parameter(2)
  %a = f32[4,4] {of_a}
  %b = f32[4,4] {of_b}
  %c = f32[4,4] {of_c}
  %all = (f32[4,4], f32[4,4], f32[4,4]) all-reduce(%c, %a, %b), channel_id=3, {all_reduce}{dot}
  %c2 = f32[4,4] get-tuple-element(%all), index=0
  %a2 = f32[4,4] get-tuple-element(%all), index=1
  %b2 = f32[4,4] get-tuple-element(%all), index=2
  ROOT %out = (f32[4,4], f32[4,4], f32[4,4]) tuple(%a2, %b2, %c2)
}}
"""


def test_equal_arrays_are_told_apart_by_what_they_are_made_of() -> None:
    rows = [("jit(f)/dot", 16, (-1 - k,), (0, 1, 2)) for k in range(3)]
    text = EQUAL.format(of_a="negate(%p)", of_b="negate(%q)", of_c="negate(%r)", **WORDS)
    assert channels(sums(*rows, results=3), text) == [[[3], [1], [2]]]


def test_equal_arrays_are_told_apart_by_where_they_go() -> None:
    rows = [("jit(f)/dot", 16, (-1,), (k,)) for k in range(3)]
    text = EQUAL.format(of_a="negate(%p)", of_b="sine(%p)", of_c="cosine(%p)", **WORDS)
    assert channels(sums(*rows, results=3), text) == [[[3], [1], [2]]]


def test_of_those_that_are_alike_in_all_none_is_picked_but_the_first_that_has_the_channel() -> None:
    rows = [("jit(f)/dot", 16, (-1,), (0, 1, 2)) for _ in range(3)]
    text = EQUAL.format(of_a="negate(%p)", of_b="sine(%p)", of_c="cosine(%p)", **WORDS)
    assert channels(sums(*rows, results=3), text) == [[[3], [1, 2], [1, 2]]]


def test_a_name_that_xla_kept_tells_more_than_a_size() -> None:
    rows = [(f"jit(f)/{name}", 16, (-1,), (0, 1, 2)) for name in ("up", "down", "out")]
    text = EQUAL.format(of_a="negate(%p)", of_b="sine(%p)", of_c="cosine(%p)", **WORDS)
    text = text.replace("jit(f)/dot", "jit(f)/(out:up:down)")
    assert channels(sums(*rows, results=3), text) == [[[3], [1], [2]]]


def test_one_name_that_xla_kept_is_that_of_all_parts_whatever_made_them() -> None:
    rows = [("jit(f)/dot", 16, (-1 - k,), (0, 1, 2)) for k in range(3)]
    named = {f"of_{letter}": f"negate(%{array}){WORDS['norm']}" for letter, array in zip("abc", "pqr", strict=True)}
    assert channels(sums(*rows, results=3), EQUAL.format(**named, **WORDS)) == [[[3], [1], [2]]]


TWICE = """ENTRY %main (p: f32[4,4]) -> f32[] {{
  %p = f32[4,4] parameter(0)
  %a = f32[4,4] negate(%p)
  %b = f32[4,4] sine(%p)
  %all = (f32[4,4], f32[4,4]) all-reduce(%b, %a), channel_id=2, {all_reduce}{dot}
  %b2 = f32[4,4] get-tuple-element(%all), index=0
  %a2 = f32[4,4] get-tuple-element(%all), index=1
  %zero = f32[] constant(0)
  %one = f32[] reduce(%a2, %zero), dimensions={{0,1}}, to_apply=%sum
  %two = f32[] reduce(%b2, %zero), dimensions={{0,1}}, to_apply=%sum
  %first = f32[] all-reduce(%zero), channel_id=5, {all_reduce}{zero}
  %norms = (f32[], f32[], f32[]) all-reduce(%first, %one, %two), channel_id=6, {all_reduce}{norm}
  %x = f32[] get-tuple-element(%norms), index=0
  %y = f32[] get-tuple-element(%norms), index=1
  %z = f32[] get-tuple-element(%norms), index=2
  %xy = f32[] add(%x, %y)
  ROOT %norm = f32[] add(%xy, %z)
}}
"""


def test_what_is_known_tells_those_apart_that_are_made_of_it() -> None:
    """As the norms of equal layers' gradients: all are made of all arguments, and all go to all results."""
    rows = [
        ("jit(f)/dot", 16, (-1,), ()), ("jit(f)/dot", 16, (-1,), ()), ("jit(f)/norm", 1, (0,), (0,)),
        ("jit(f)/norm", 1, (1,), (0,)), ("jit(f)/zero", 1, (), ()), ("jit(f)/norm", 1, (4,), (0,)),
    ]  # fmt: skip
    found = channels(sums(*rows, results=1), TWICE.format(**WORDS))
    assert found == [[[2], [1]], [[5]], [[6], [3], [4]]]
