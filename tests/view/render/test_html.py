"""The HTML form: what an untrusted notebook keeps, what hostile names cannot do, the facts of the text."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
import view_reports
from hypothesis import given
from hypothesis import strategies as st

from pjit_inspect.view.document.document import Document, Line, Quote
from pjit_inspect.view.pages.session import log_view
from pjit_inspect.view.record.explain import explain_view
from pjit_inspect.view.record.record import record_view
from pjit_inspect.view.record.shardings import shardings_view
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.text import to_text
from pjit_inspect.view.svg.mesh_picture import mesh_lines

REPORTS = view_reports.every_report()
HTML = {name: to_html(record_view(report)) for name, report in REPORTS.items()}
HTML["explain"] = to_html(explain_view(REPORTS["explained"]))
HTML["shardings"] = to_html(shardings_view(REPORTS["explained"].data, view_reports.shardings()))
HTML["log"] = to_html(log_view([report.data for report in REPORTS.values()]))
STYLES = json.loads((Path(__file__).parents[1] / "jupyterlab_styles.json").read_text())["styles"]
# What our HTML may consist of: each is on the allow-list of JupyterLab 4's sanitizer.
TAGS = {"div", "p", "b", "span", "tt", "br", "img", "table", "tr", "td", "details", "summary", "wbr", "pre"}
ATTRIBUTES = {"style", "title", "open", "colspan", "rowspan", "alt", "width", "height", "src"}


class Reader(HTMLParser):
    """Reads HTML, and fails on a tag that is not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in ("img", "br", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize("name", HTML)
def test_only_tags_and_attributes_that_an_untrusted_notebook_keeps(name):
    reader = read(HTML[name])
    assert reader.tags <= TAGS
    assert {key for key, _ in reader.attributes} <= ATTRIBUTES


@pytest.mark.parametrize("name", HTML)
def test_every_inline_declaration_passes_jupyterlabs_sanitizer(name):
    declarations = {
        declaration.strip()
        for key, value in read(HTML[name]).attributes
        if key == "style"
        for declaration in (value or "").split(";")
    }
    for declaration in declarations:
        prop, _, value = declaration.partition(":")
        assert any(re.search(pattern, value.strip(), re.IGNORECASE) for pattern in STYLES[prop]), declaration


@pytest.mark.parametrize("name", HTML)
def test_pictures_are_images_without_script_or_link(name):
    for key, value in read(HTML[name]).attributes:
        if key != "src":
            continue
        head, _, body = (value or "").partition(",")
        assert head == "data:image/svg+xml;base64"
        nodes = ElementTree.fromstring(base64.b64decode(body)).iter()
        assert {node.tag.rpartition("}")[2] for node in nodes} <= {"svg", "defs", "pattern", "path", "rect", "text"}


@pytest.mark.parametrize("name", ["mlp_replicated", "mlp_data", "mlp_fsdp", "mlp_tensor", "one_device", "without_hlo"])
def test_html_says_everything_that_text_says(name):
    html = read(HTML[name])
    alts = [value or "" for key, value in html.attributes if key == "alt"]
    said = set(re.findall(r"[\w.'\[\]:,()*]+", " ".join([*html.words, *alts]).replace("\u00a0", " ")))
    said |= {word.strip(".,:;()") for word in said}
    # Times and arrows are single signs in HTML, an axis and its size a label, notes a triangle.
    ours = {"x", "note", "..."}
    mesh = REPORTS[name].data.mesh
    drawn = mesh_lines(mesh) if mesh is not None else ()
    text = "\n".join(line for line in to_text(record_view(REPORTS[name])).splitlines() if not line.startswith(drawn))
    for word in re.findall(r"[\w.'\[\]:,()*]+", text):
        bare = word.strip(".,:;()")
        assert word in said or bare in said or bare in ours or not bare, word


def test_hostile_names_are_words_and_nothing_else():
    reader = read(HTML["hostile"])
    text = "".join(reader.words)
    assert "<script>alert(1)</script>" in text
    assert "&lt;&amp;" in text
    for invisible in "\x00\x1b\u202e\u2066\u2028":
        assert invisible not in HTML["hostile"]
    assert "\\u202e" in text


def test_a_name_of_100_kb_is_shortened():
    html = HTML["hostile"]
    assert len(html) < 200_000
    assert "x" * 500 not in html


@given(st.text())
def test_any_name_stays_inside_its_element(name):
    reader = read(to_html(Document(blocks=(Line((Quote(name),)),))))
    assert reader.tags == {"div", "p", "tt"}


def test_html_has_no_id_and_is_the_same_every_time():
    assert " id=" not in "".join(HTML.values())
    assert HTML["train_step"] == to_html(record_view(view_reports.train_step()))


@pytest.mark.parametrize("name", HTML)
def test_a_display_stays_small(name):
    # 1,000 arrays on 4,096 devices and 70 arrays with 51 collectives alike: what is not shown is not sent.
    assert len(HTML[name]) < 150_000
