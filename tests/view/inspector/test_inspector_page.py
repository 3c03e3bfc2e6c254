from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest
import view_reports

from pjit_inspect.view.diff.payload import COMPARE_BUNDLE
from pjit_inspect.view.inspector.page import (
    BUNDLE,
    bundle_text,
    inspector_frame,
    inspector_page,
    inspector_widget,
    widget_words,
)
from pjit_inspect.view.inspector.payload import InspectorInput, inspector_payload

FRONT = BUNDLE.parent


def payload(name: str = "train_step"):
    return inspector_payload(InspectorInput(report=view_reports.every_report()[name]))


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def tags(page: str) -> list[tuple[str, dict[str, str | None]]]:
    reader = Tags()
    reader.feed(page)
    return reader.found


def test_the_policy_lets_only_this_script_run_and_nothing_be_fetched():
    page = inspector_page(payload())
    policy = dict(tags(page)[3][1])["content"] or ""
    digest = base64.b64encode(hashlib.sha256(bundle_text().encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; ")
    assert re.search(f"; script-src 'sha256-[^' ]+' 'sha256-{re.escape(digest)}';", policy)
    (carried,) = re.findall(r'<script type="text/plain" id="pjit-script">([^<]*)</script>', page)
    assert zlib.decompress(base64.b64decode(carried)).decode() == bundle_text()


@pytest.mark.parametrize("name", ["train_step", "hostile", "without_hlo"])
def test_a_page_has_four_script_elements_and_no_address(name: str):
    page = inspector_page(payload(name))
    assert [dict(attrs).get("type") for tag, attrs in tags(page) if tag == "script"] == [
        "application/json",
        "text/plain",
        "text/plain",
        "module",
    ]
    assert not any(attrs.get("src") or attrs.get("href") for _, attrs in tags(page))


def test_the_bundle_cannot_end_its_script_element_early():
    assert not re.search(r"</script|<!--", bundle_text(), re.IGNORECASE)
    assert bundle_text().isascii()


def test_the_bundle_loads_nothing_and_writes_no_markup():
    source = "".join(file.read_text() for file in sorted((FRONT / "src").rglob("*.js")))
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\bfetch\(|XMLHttp", source
    )


def test_a_notebook_output_has_the_still_display_beside_the_frame_and_hides_it_only_then():
    html = inspector_frame(payload("hostile"), "<p>still</p>")
    found = tags(html)
    assert [tag for tag, _ in found] == ["div", "style", "iframe", "div", "p", "script"]
    # The script beside the frame is the same whatever the program: no word of it stands there.
    assert (
        html[html.rindex("<script>") :]
        == (other := inspector_frame(payload("train_step"), ""))[other.rindex("<script>") :]
    )
    assert found[2][1]["sandbox"] == "allow-scripts allow-downloads"
    assert (found[2][1]["srcdoc"] or "").startswith("<!DOCTYPE html>")
    assert html.index("<p>still</p>") > html.index("</iframe>")
    assert html.count("</iframe>") == 1


def test_the_bundles_are_what_their_sources_build(tmp_path: Path):
    node = shutil.which("node")
    builder = next(
        (
            path
            for path in (FRONT / "node_modules/.bin/esbuild", shutil.which("esbuild"))
            if path and Path(path).exists()
        ),
        None,
    )
    if node is None or builder is None:
        pytest.skip("needs node and esbuild: `npm ci` in pjit_inspect/view/front")
    command = re.search(r'"build": "esbuild (.*?)"', (FRONT / "package.json").read_text())
    assert command
    options = [word for word in command[1].split() if not word.startswith("--outdir")]
    subprocess.run([str(builder), *options, f"--outdir={tmp_path}", "--log-level=error"], cwd=FRONT, check=True)
    for bundle in (BUNDLE, COMPARE_BUNDLE):
        built = (tmp_path / bundle.name).read_text()
        assert built == bundle.read_text(), "run `npm run build` in pjit_inspect/view/front"


def test_a_widget_tells_facts_in_its_text_form_and_still_html_beside_it():
    report = view_reports.train_step()
    widget = inspector_widget(payload(), words=widget_words(report), still="<p>still</p>")
    bundle, _ = widget._repr_mimebundle_()
    assert bundle["text/plain"] == repr(widget) == "<pjit_inspect widget: train_step, 51 collectives>"
    assert bundle["text/html"] == "<p>still</p>"
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_a_widgets_selection_can_be_set_and_watched():
    widget = inspector_widget(payload(), words="", still="")
    seen = []
    widget.observe(lambda change: seen.append(change["new"]), names="selection")
    widget.selection = "all-reduce.125"
    assert seen == ["all-reduce.125"]
    assert {"_first", "_blob", "selection", "_esm"} <= set(widget.keys)
