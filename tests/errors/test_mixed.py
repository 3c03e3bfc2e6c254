"""Messages with the scenes of other errors: nothing raises, and what is proposed is still Python without gaps."""

from __future__ import annotations

import contextlib
import re

import jax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pjit_inspect.analyze.errors.explain import explain_message, is_known
from pjit_inspect.model.report.explained_error import ErrorScene, ExplainedError
from pjit_inspect.observe.errors.scene import error_scene
from pjit_inspect.view.pages.error import error_view
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.text import to_text

from .case import refusal
from .every import CASES


@pytest.fixture(scope="module")
def known() -> list[tuple[str, ErrorScene]]:
    found = []
    # A program that sets a mesh would leave it set for those after it.
    for case in CASES:
        if not case.is_here or "set_mesh" in case.code:
            continue
        link: BaseException | None = refusal(case)
        with jax.set_mesh(case.mesh) if case.mesh is not None else contextlib.nullcontext():
            while link is not None and not is_known(str(link)):
                link = link.__cause__ or link.__context__
            assert link is not None, case.name
            found.append((str(link), error_scene(link)))
    return found


_CUT = re.compile(r"(?<!,)\.\.\.")


def check(explained: ExplainedError | None) -> None:
    if explained is None:
        return
    assert explained.sentence
    assert "``" not in explained.sentence
    # What is cut ends so; labels of an `einsum` hold it.
    assert not _CUT.search(explained.sentence.replace(" ...", ""))
    for fit in explained.fits:
        assert fit.edit
        assert fit.effect
        assert not _CUT.search(fit.edit)
        if fit.is_code:
            # A keyword argument is Python where it is given.
            compile(fit.edit if not fit.edit.partition("=")[0].isidentifier() else f"f({fit.edit})", "fit", "eval")


def test_messages_with_the_scenes_of_others(known, request):
    """Each message with every eighth scene; with `--all` with every one."""
    scenes, stride = [ErrorScene(), *(scene for _, scene in known)], 1 if request.config.getoption("--all") else 8
    for number, (text, _) in enumerate(known):
        for scene in scenes[number % stride :: stride]:
            check(explain_message(text, scene))


def test_every_message_alone_is_shown(known):
    for text, _ in known:
        explained = explain_message(text, ErrorScene())
        if explained is not None:
            assert to_text(error_view(explained))
            assert to_html(error_view(explained))


@settings(max_examples=300)
@given(st.data())
def test_a_damaged_message_is_read_and_explained_without_an_error(known, data):
    text, scene = data.draw(st.sampled_from(known))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    damaged = text[:start] + data.draw(st.text(max_size=8)) + text[end:]
    for one in (scene, ErrorScene()):
        found = explain_message(damaged, one)
        if found is not None:
            to_text(error_view(found))
