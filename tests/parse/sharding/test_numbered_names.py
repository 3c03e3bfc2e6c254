"""Names of a numbered copy, as XLA writes them, and what they stand for."""

from __future__ import annotations

import pytest
from data.hlo_texts import encode_hlo_text

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.sharding.sharded_program import Place
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.sharding.propagated_hlo import NumberedNames

FRAMES = tuple(Frame(file="a.py", line=line) for line in (1, 2, 3))
BODY = "while/body/closed_call"
PLACES = (
    Place(name="jit(f)/while/body/closed_call", frames=FRAMES[:1], spans=(None,)),
    Place(name="jit(g)", frames=FRAMES[1:2], spans=(None,)),
    Place(name="dot_general", frames=FRAMES[2:], spans=(None,)),
    Place(name="jit(f)/mul", frames=FRAMES[2:], spans=(None,)),
    Place(name="jit(f)/mul", frames=FRAMES[1:2], spans=(None,)),
    Place(),
    Place(name="jit(f)/;z//#3/mul/dot_general", frames=FRAMES[:1], spans=(None,)),
    Place(name=BODY, frames=FRAMES[:1], spans=(None,)),
)


@pytest.mark.parametrize(
    ("numbered", "restored"),
    [
        ("#0/closed_call/#1/jit_g_/#2/dot_general", "jit(f)/while/body/closed_call/jit(g)/dot_general"),
        # The body of a loop that stands in a body of the same name.
        ("#0/closed_call/#7/closed_call/#7/closed_call/#2/dot_general", f"jit(f)/{BODY}/{BODY}/dot_general"),
        # MLIR made one of two of one name; of two, the second may lack the calls.
        ("#3/mul;#4/mul", "jit(f)/mul"),
        ("#0/closed_call/#2/dot_general;#2/dot_general", "jit(f)/while/body/closed_call/dot_general"),
        ("#3/mul;#2/dot_general", "jit(f)/mul;dot_general"),
        # XLA combined two collectives.
        ("#0/closed_call/(#2/dot_general:#3/mul)", "jit(f)/while/body/closed_call/(dot_general:jit(f)/mul)"),
        # An operation without a name, last and within.
        ("#0/closed_call/#5", "jit(f)/while/body/closed_call"),
        ("#0/closed_call/#5/#2/dot_general", "jit(f)/while/body/closed_call/dot_general"),
        # A user's scope may have any character.
        ("#6/dot_general;#3/mul", "jit(f)/;z//#3/mul/dot_general;jit(f)/mul"),
        # Names of arguments, and numbers that nothing has.
        ("params['#1/x']", "params['#1/x']"),
        ("p['enc(#1)']['b']", "p['enc(#1)']['b']"),
        ("p['a/#2/w']", "p['a/#2/w']"),
        ("p['(#4/u):v']", "p['(#4/u):v']"),
        ("a;b:#1;c", "a;b:#1;c"),
        ("w", "w"),
        ("", ""),
        ("#99/add", "#99/add"),
    ],
)  # fmt: skip
def test_a_numbered_name_is_that_of_its_operations(numbered: str, restored: str) -> None:
    assert NumberedNames(PLACES).place(numbered).name == restored


@pytest.mark.parametrize(
    ("numbered", "paths"),
    [
        ("#0/closed_call/#1/jit_g_/#2/dot_general", ((0, 1, 2),)),
        ("#3/mul;#2/dot_general", ((3,), (2,))),
        ("#0/closed_call/(#2/dot_general:#3/mul)", ((0, 2), (0, 3))),
        ("(#2/dot_general:#0/closed_call/(#2/dot_general:#3/mul))", ((2,), (0, 2), (0, 3))),
        ("(#2/dot_general:#2/dot_general)", ((2,),)),
        ("#6/dot_general;#3/mul", ((6,), (3,))),
        ("p['(#4/u):v']", ()),
        ("a;b:#1;c", ()),
        ("jit(f)/mul))", ()),
        ("", ()),
    ],
)
def test_a_name_says_which_operations_it_joins(numbered: str, paths: tuple[tuple[int, ...], ...]) -> None:
    names = NumberedNames(PLACES)
    assert names.paths(numbered) == paths
    assert all(names.of_path(path).name for path in paths)


def test_the_calls_stand_around_the_place_of_an_operation() -> None:
    assert NumberedNames(PLACES).place("#0/closed_call/#1/jit_g_/#2/dot_general").frames == FRAMES[::-1]


def test_of_two_that_were_made_one_the_first_tells_the_place() -> None:
    assert NumberedNames(PLACES).place("#4/mul;#3/mul").frames == FRAMES[1:2]


def test_what_has_no_number_has_no_place() -> None:
    assert NumberedNames(PLACES).place("w").frames == ()


def test_names_in_a_text_are_restored_and_nothing_else_is() -> None:
    said = 'W spmd.cc:656] %mul.2 = f32[4] multiply(%a), metadata={op_name="#3/mul" stack_frame_id=3}. #3/mul'
    restored = said.replace('op_name="#3/mul"', 'op_name="jit(f)/mul"')
    assert NumberedNames(PLACES).in_text(said) == restored


def test_names_in_a_program_are_restored_and_nothing_else_is() -> None:
    text = (
        "HloModule m, num_partitions=8\n\nENTRY %e (p: f32[16]) -> f32[16] {\n"
        '  %p = f32[16] parameter(0), metadata={op_name="w"}\n'
        '  ROOT %s = f32[16] sine(%p), metadata={op_name="NAME" source_file="a.py" source_line=3}\n}\n'
    )
    numbered, plain = (encode_hlo_text(text.replace("NAME", name)) for name in ("#3/mul", "jit(f)/mul"))
    found, wanted = parse_program(NumberedNames(PLACES).in_program(numbered)), parse_program(plain)
    assert [found.instruction(k).op_name for k in range(2)] == ["w", "jit(f)/mul"]
    assert [found.instruction(k).details for k in range(2)] == [wanted.instruction(k).details for k in range(2)]
