"""XLA's warnings as three versions of it wrote them, and as older ones would have.

The messages of JAX 0.8.2, 0.10.2 and 0.12.0.1 are what those versions wrote, on eight fake CPU devices, for the
programs named beside them; shapes and shardings are checked against what the programs ask for.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.xla_warning import XlaWarning
from pjit_inspect.parse.messages.xla_warnings import parse_warnings

REST = (
    ". As the last resort, SPMD will replicate the tensor and then partition it to obtain the target sharding, which "
    "is inefficient. This issue will be fixed by Shardy partitioner in the future, which is tracked in b/433785288. "
    "Contact Shardy or XLA team for help."
)
# with_sharding_constraint(cos(with_sharding_constraint(x, P(None, "data", "model"))) * 2, P(("data", "model")))
# of f32[16,8,8] on a mesh of data=2, model=4: 8 / 2 and 8 / 4 are left of the second and third dimension.
JAX_0_10 = (
    "[SPMD] Involuntary full rematerialization. The compiler cannot go from sharding {devices=[1,2,4]<=[8]} to "
    "{devices=[8,1,1]<=[8]} efficiently for HLO operation %cos.0 = f32[16,4,2]{2,1,0} cosine(%sharding_constraint.0), "
    'sharding={devices=[1,2,4]<=[8]}, metadata={op_name="jit(f)/cos" stack_frame_id=5}' + REST
)
JAX_0_12 = (
    "[SPMD] Involuntary full rematerialization. The compiler cannot go from sharding {mesh['data'=2,'model'=4], [{}, "
    "{'data'}, {'model'}]} to {mesh['data'=2,'model'=4], [{'data', 'model'}, {}, {}]} efficiently for HLO operation "
    "%cos.0 = f32[16,4,2]{2,1,0} cosine(%sharding_constraint.0), sharding={mesh['data'=2,'model'=4], [{}, {'data'}, "
    "{'model'}]}, metadata={op_name=\"jit(f)/cos\" stack_frame_id=5}" + REST
)
# The carry of a scan, {"h's": x}, is constrained again in the body: XLA names the argument.
JAX_0_8_ARGUMENT = (
    "[SPMD] Involuntary full rematerialization. The compiler cannot go from sharding {devices=[8,1,1]<=[8]} to "
    "{devices=[1,2,4]<=[8]} efficiently for HLO operation %param = f32[2,8,8]{2,1,0} parameter(0), "
    'sharding={devices=[8,1,1]<=[8]}, metadata={op_name="p[\\"h\\\'s\\"]"}' + REST
)
# Before 2025 the message had another end, the instruction after a colon, and a tuple's type may hold comments.
OLDER = (
    "[spmd] Involuntary full rematerialization. The compiler was not able to go from sharding {maximal device=0} to "
    "{devices=[4,1]<=[4]} without doing a full rematerialization of the tensor for HLO operation: %fetch.3 = "
    '(f32[8,2]{1,0}, /*index=1*/s32[]) custom-call(f32[8,2]{1,0} %a, s32[] %b), custom_call_target="x. You probably", '
    'sharding={maximal device=0}, metadata={op_name="jit(f)/jit(main)/fetch" source_file="/home/me/train.py" '
    "source_line=41}. You probably want to enrich the sharding annotations to prevent this from happening."
)
OLDEST = (
    "[spmd] Involuntary full rematerialization. The compiled was not able to go from sharding {devices=[4,1]0,1,2,3} "
    "to {devices=[2,2]0,1,2,3} without doing a full rematerialization of the tensor. You probably want to enrich the "
    "sharding annotations to prevent this from happening."
)


def written(text: str, *, line: int = 656, time: str = "12:29:39.566377") -> str:
    return f"W1120 {time}   23171 spmd_partitioner.cc:{line}] {text}\n"


COSINE = {
    "instruction": "cos.0",
    "opcode": "cosine",
    "shape": "f32[16,4,2]{2,1,0}",
    "op_name": "jit(f)/cos",
    "stack_frame_id": 5,
}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (JAX_0_10, COSINE | {"from_sharding": "{devices=[1,2,4]<=[8]}", "to_sharding": "{devices=[8,1,1]<=[8]}"}),
        (
            JAX_0_12,
            COSINE
            | {
                "from_sharding": "{mesh['data'=2,'model'=4], [{}, {'data'}, {'model'}]}",
                "to_sharding": "{mesh['data'=2,'model'=4], [{'data', 'model'}, {}, {}]}",
            },
        ),
        (
            JAX_0_8_ARGUMENT,
            {
                "instruction": "param",
                "opcode": "parameter",
                "shape": "f32[2,8,8]{2,1,0}",
                "op_name": 'p["h\'s"]',
                "from_sharding": "{devices=[8,1,1]<=[8]}",
                "to_sharding": "{devices=[1,2,4]<=[8]}",
            },
        ),
        (
            OLDER,
            {
                "instruction": "fetch.3",
                "opcode": "custom-call",
                "shape": "(f32[8,2]{1,0}, /*index=1*/s32[])",
                "op_name": "jit(f)/jit(main)/fetch",
                "from_sharding": "{maximal device=0}",
                "to_sharding": "{devices=[4,1]<=[4]}",
                "source": (Frame(file="/home/me/train.py", line=41),),
            },
        ),
        (OLDEST, {"from_sharding": "{devices=[4,1]0,1,2,3}", "to_sharding": "{devices=[2,2]0,1,2,3}"}),
    ],
    ids=["0.10", "0.12", "0.8", "older", "oldest"],
)
def test_a_full_rematerialization_names_the_instruction_and_both_shardings(text: str, facts: dict) -> None:
    expected = XlaWarning(kind="full_rematerialization", text=text, where="spmd_partitioner.cc:656", **facts)
    assert parse_warnings(written(text)) == (expected,)


@pytest.mark.parametrize(
    "prefix",
    [
        "W1120 12:29:39.566377   23171 spmd_partitioner.cc:656] ",
        "E0531 10:54:04.832741 2609008 spmd_partitioner.cc:656] ",
        "W0000 00:00:1763640000.000000   12345 spmd_partitioner.cc:656] ",
        "2024-12-21 17:32:07.609345: E external/xla/xla/service/spmd/spmd_partitioner.cc:656] ",
        "| 92%|####| 71/76 [00:08<00:00]W1120 12:29:39.566377   23171 spmd_partitioner.cc:656] ",
    ],
)
def test_every_prefix_gives_the_line_of_xla_and_is_left_out_of_the_text(prefix: str) -> None:
    (warning,) = parse_warnings(prefix + JAX_0_10)
    assert (warning.where, warning.text) == ("spmd_partitioner.cc:656", JAX_0_10)


def test_equal_warnings_are_one_with_a_count_in_the_order_they_came() -> None:
    # JAX 0.10.2 wrote the first of these twice for one program.
    isa = "W1120 12:33:47.{}   23776 cpu_features.cc:106] Unknown CPU ISA: FOO\n"
    log = isa.format("948602") + written(JAX_0_10) + isa.format("949740") + written(JAX_0_12)
    found = parse_warnings(log)
    assert [(warning.kind, warning.count) for warning in found] == [
        ("other", 2),
        ("full_rematerialization", 1),
        ("full_rematerialization", 1),
    ]
    assert found[0] == XlaWarning(kind="other", text="Unknown CPU ISA: FOO", where="cpu_features.cc:106", count=2)


def test_the_same_text_from_another_line_of_xla_is_another_warning() -> None:
    found = parse_warnings(written("same", line=1) + written("same", line=2))
    assert [(warning.where, warning.count) for warning in found] == [
        ("spmd_partitioner.cc:1", 1),
        ("spmd_partitioner.cc:2", 1),
    ]


def test_lines_after_the_first_belong_to_a_message_but_not_to_a_rematerialization() -> None:
    slow = "\n****\n[Compiling module jit_f] Very slow compile? See the manual.\n****"
    found = parse_warnings(written(slow) + written(JAX_0_10) + "somebody else's line\n")
    assert [warning.text for warning in found] == [slow.strip(), JAX_0_10]


@pytest.mark.parametrize("cut", range(60, len(JAX_0_10), 37))
def test_a_message_that_was_cut_off_keeps_what_is_whole(cut: int) -> None:
    (warning,) = parse_warnings(written(JAX_0_10[:cut]))
    (whole,) = parse_warnings(written(JAX_0_10))
    assert (warning.kind, warning.text) == ("full_rematerialization", JAX_0_10[:cut].rstrip())
    for name in ("from_sharding", "to_sharding", "instruction", "opcode", "shape", "op_name", "stack_frame_id"):
        assert getattr(warning, name) in (None, getattr(whole, name))


@pytest.mark.parametrize("log", ["", "\n", "no message\n", "W1120 nothing of the kind", "info.cc:1] x\n"])
def test_a_text_without_messages_has_no_warnings(log: str) -> None:
    assert parse_warnings(log) == ()


JUNK = st.one_of(st.text(max_size=20), st.sampled_from(["{", "}", '"', "'", "%a = f(", "\\", "metadata={op_name="]))
MESSAGES = st.one_of(
    st.sampled_from([written(JAX_0_10), written(JAX_0_12), written(OLDER)]),
    st.integers(0, len(OLDER)).map(lambda cut: written(OLDER[:cut])),
    JUNK.map(written),
)


@given(st.lists(st.tuples(JUNK, MESSAGES), max_size=6))
def test_whatever_stands_there_every_message_counts_once(pieces: list[tuple[str, str]]) -> None:
    log = "".join(junk + message for junk, message in pieces)
    assert sum(warning.count for warning in parse_warnings(log)) == len(pieces)
