"""The page of XLA's passes: a collective is followed, a pass is read, two texts stand beside each other."""

from __future__ import annotations

from typing import Any

import pytest
from axe_rules import AROUND, wrong

from pjit_inspect.model.report.passes import Life, LifeEvent, Pass, PassTable, Stage, StagedCollective
from pjit_inspect.view.passes.page import PassesInput, passes_page

NAMES = ("spmd-partitioning", "algsimp", "combiner")


def row(number: int, name: str, did: str = "") -> Pass:
    counts: dict[str, Any] = {f"{what}_{when}": 2 for what in ("instructions", "fusions", "copies") for when in BOTH}
    kinds = {f"collectives_{when}": (("all-reduce", 3),) for when in BOTH}
    return Pass(number=number, name=name, pipeline="p", did=did, **counts, **kinds)


BOTH = ("before", "after")


def event(number: int, kind: Any, words: str) -> LifeEvent:
    return LifeEvent(
        number=number, pass_name=NAMES[number - 1], kind=kind, words=words, operations=("`dot` (train.py:3)",)
    )


def staged(name: str, life: int, *parents: int) -> StagedCollective:
    return StagedCollective(
        name=name, kind="all-reduce", parents=parents, life=life, axes=("data",), payload_bytes=1 << 20
    )


MADE = event(1, "made", "all-reduce made for")
LIVES = (
    Life(name="c", kind="all-reduce", events=(MADE, event(3, "combined", "2 combined into one"))),
    Life(name="z", kind="all-reduce", events=(MADE, event(3, "removed", "removed")), is_removed=True),
)
TABLE = PassTable(
    (row(1, NAMES[0], "3 all-reduces made"), row(2, NAMES[1]), row(3, NAMES[2], "2 all-reduces combined into 1")),
    LIVES,
    (
        Stage(number=1, collectives=(staged("a", 0), staged("b", 0), staged("z", 1))),
        Stage(number=3, collectives=(staged("c", 0, 0, 1),)),
    ),
)


def lines(*texts: str) -> dict[str, tuple[str, str]]:
    return {text.split(" = ")[0]: (text, "train.py:3") for text in texts}


def page() -> str:
    given = PassesInput(
        table=TABLE,
        name="step",
        what="jit, compiled for 8 cpu devices",
        axes=(("data", 2), ("model", 4)),
        written=9,
        lines={
            0: lines("%x = f32[] add(%p, %q)"),
            1: lines("%x = f32[] add(%p, %q)", "%a = f32[] all-reduce(%x)"),
            2: lines("%x = f32[] add(%q, %p)", "%a = f32[] all-reduce(%x)"),
            3: lines("%x = f32[] add(%q, %p)", "%c = f32[] all-reduce(%x)"),
        },
    )
    return passes_page(given, still="<p>still</p>")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1280])
def test_it_shows_lanes_and_nothing_is_wrong_with_it(visit, width, scheme):
    shown = visit(page(), width=width, color_scheme=scheme)
    assert shown.page.locator(".node").count() == 4
    assert shown.page.locator(".end").count() == 1
    assert [one for one in wrong(shown.page) if one[0] not in AROUND] == []


def painted(shown) -> None:
    """Waits until what was chosen is drawn, a frame later."""
    shown.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_a_collective_is_followed_and_keys_walk(visit):
    shown = visit(page())
    painted(shown)
    shown.select("[data-node='1 0']").click()
    painted(shown)
    assert shown.page.locator(".node.own").count() == 3
    assert shown.texts(".events > li > b") == ["all-reduce made for", "2 combined into one"]
    shown.page.keyboard.press("ArrowLeft")
    painted(shown)
    assert shown.select(".node.chosen").get_attribute("data-node") == "0 0"
    shown.page.keyboard.press("ArrowDown")
    painted(shown)
    assert shown.select(".node.chosen").get_attribute("data-node") == "0 1"
    shown.page.keyboard.press("Escape")
    painted(shown)
    assert shown.page.locator(".node.own").count() == 0


def test_a_pass_is_read_and_two_texts_are_compared(visit):
    shown = visit(page())
    painted(shown)
    shown.select("[data-pass='3']").click()
    painted(shown)
    assert "combiner" in shown.select(".details h2").inner_text()
    assert "1 new, 1 gone" in shown.select(".texts .bar").inner_text()
    shown.page.keyboard.press("[")
    painted(shown)
    assert shown.texts(".texts mark") == ["p, %q", "q, %p"]
    shown.page.get_by_label("The earlier program").select_option("0")
    painted(shown)
    assert shown.page.locator(".pair").count() == 2
    shown.page.get_by_label("Only lines with these letters").fill("all-reduce")
    painted(shown)
    assert shown.page.locator(".pair").count() == 1
