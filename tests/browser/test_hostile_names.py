"""Names that attack, in everything a program brings, in every lowering: text, never markup."""

from __future__ import annotations

import dataclasses
import json

import pytest
import view_reports
from pages import REPORTS, frame_of, page_of, widget_of

from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.advice import Advice, AdviceTable
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.edit import Edit
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.words.sentence import Sentence

NAMES = (
    "<script>globalThis.hacked = 1</script>",
    "</script><script>globalThis.hacked = 2</script>",
    "</iframe><img src=x onerror=globalThis.hacked=3>",
    "\"'><svg onload=globalThis.hacked=4>",
    "javascript:globalThis.hacked=5",
    "a\u202eb\u2066c",
    "nul\x00",
    "--><!--</style></textarea></template>",
    "${globalThis.hacked=6}`\\u003cscript>{{7*7}}",
    "x" * 100_000,
)
LOWERINGS = {"file": page_of, "frame": frame_of, "widget": widget_of}


def hostile_data(name: str) -> RecordData:
    """A record in which every string a program brings is `name`."""
    report = REPORTS["train_step"]
    frame = dataclasses.replace(view_reports.MLP_SOURCE, file=name, cell=name, lines=(name,))
    inputs = tuple(dataclasses.replace(layout, path=name, dtype=name) for layout in report.data.inputs)
    at = dataclasses.replace(view_reports._at(1)[0], file=name, cell=name, function=name)
    return dataclasses.replace(
        report.data, name=name, primitive=name, inputs=inputs, outputs=inputs[:3], sources=(frame,), user_frame=at,
        defined_at=at, missing={"hlo": name, name: name},
    )  # fmt: skip


def hostile_report(name: str) -> RecordReport:
    """The train step with one name for everything."""
    report = REPORTS["train_step"]
    assert report.collectives is not None
    assert report.fusions is not None
    at = dataclasses.replace(view_reports._at(1)[0], file=name, cell=name, function=name)
    cause = Cause(
        kind="contraction", sentence=f"`{name}`: {name}", facts=(name,), source=(at,), op_name=name, value=name
    )
    rows = tuple(
        dataclasses.replace(row, op_name=name, source=(at,), instructions=(name,), dtype=name, causes=(cause,))
        for row in report.collectives
    )
    kernels = tuple(
        dataclasses.replace(
            row, name=name, target=name, op_name=name, inputs=(name,), instructions=((name, 2),), source=(at,)
        )
        for row in report.fusions
    )
    advice = Advice(
        kind="line", sentence=Sentence(name), change=name, edits=(Edit(kind="remove", index=1),), sent=(2, 1),
        costs=name, source=(at,),
    )  # fmt: skip
    return dataclasses.replace(
        report,
        data=hostile_data(name),
        notes=(name,),
        warnings=(name,),
        advice=AdviceTable((advice, dataclasses.replace(advice, state="fact")), untried=name),
        collectives=dataclasses.replace(report.collectives, rows=rows),
        fusions=dataclasses.replace(report.fusions, rows=kernels),
    )


@pytest.mark.parametrize("lowering", LOWERINGS)
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_hostile_names_are_text_everywhere(visit, name: str, lowering: str):
    texts = dict.fromkeys(("jaxpr", "stablehlo", "hlo_text"), f"{name}\n{name}")
    opened = visit(LOWERINGS[lowering](hostile_report(name), **texts), ready=False)
    page = opened.page
    place = page.frame_locator("iframe.pjit-inspect-live") if lowering == "frame" else page
    root = place.locator(".pjit-inspector[data-ready]")
    root.wait_for()
    for tab in ("arrays", "kernels", "collectives"):
        root.locator(f".frame > section [data-tab={tab}]").first.click()
        root.locator(".row").first.click()
    for tab in ("advice", "traffic", "text", "heat"):
        root.locator(f".frame > section [data-tab={tab}]").first.click()
    root.locator(".widen").click()
    frames = page.frames
    assert [frame.evaluate("typeof globalThis.hacked") for frame in frames] == ["undefined"] * len(frames)
    assert len(frames) == (2 if lowering == "frame" else 1)
    assert root.locator("script, img, iframe, style, textarea").count() == 0
    shown = root.inner_text()
    assert "\u202e" not in shown
    assert "\x00" not in json.dumps(shown)
