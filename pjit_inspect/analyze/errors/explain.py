"""An error of JAX's explained by the table: what is wrong, and what would fit."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from pjit_inspect.analyze.errors.facts import axes, bodies, calls, explicit, functions, places, specs, traced, trees
from pjit_inspect.analyze.errors.table import ErrorRow, Judge, explain_row, read_table
from pjit_inspect.analyze.errors.ways import mesh_named
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, ExplainedError, Fit
from pjit_inspect.model.words.sentence import say

_SUBJECTS = {
    own.__name__.rpartition(".")[2]: own
    for own in (axes, bodies, calls, explicit, functions, places, specs, traced, trees)
}
_LONGEST = 20_000


@cache
def known_errors() -> tuple[ErrorRow, ...]:
    """The rows of the table, to be tried in turn."""
    return read_table(Path(__file__).with_name("messages.txt").read_text(encoding="utf-8"), _function)


def _function(path: str) -> Callable[..., object]:
    subject, _, function = path.partition(".")
    return getattr(_SUBJECTS[subject], function)


def _unknown(fit: Fit, arrays: tuple[ErrorArray, ...]) -> None:
    """The judge where nobody can be asked."""


def is_known(message: str) -> bool:
    """Tells whether a row of the table has this message."""
    return any(row.pattern.match(message[:_LONGEST]) for row in known_errors())


def explain_message(message: str, scene: ErrorScene, judge: Judge = _unknown) -> ExplainedError | None:
    """Explains a message by the table; None when no row has it. Raises nothing."""
    for row in known_errors():
        with suppress(ValueError, KeyError, IndexError, SyntaxError, TypeError, OverflowError):
            explained = explain_row(row, message[:_LONGEST], scene, judge)
            if explained is not None:
                explained = explicit.asked(explained, scene, judge)
                # What computes what was asked for stands before what computes something else, whatever it costs.
                fits = tuple(sorted(explained.fits, key=lambda fit: not fit.is_same))
                return replace(_with_mesh(replace(explained, fits=fits), scene), frame=scene.frame, line=scene.line)
    return None


_IN_BRACKETS = r"(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*"
_BARE = re.compile(rf"(out_sharding=|jax\.sharding\.reshard\({_IN_BRACKETS}?, )(P\({_IN_BRACKETS}\))")
"""Code that takes a bare spec only where a mesh is set, and the spec."""


def _with_mesh(explained: ExplainedError, scene: ErrorScene) -> ExplainedError:
    """Adds the mesh to bare specs where none is set, or a note that they need one."""
    if scene.is_mesh_set or not any(fit.is_code and _BARE.search(fit.edit) for fit in explained.fits):
        return explained
    if mesh := mesh_named(next((array.mesh for array in explained.arrays if array.mesh is not None), None), scene):
        with_it = rf"\g<1>NamedSharding({mesh}, \g<2>)"
        fits = [replace(fit, edit=_BARE.sub(with_it, fit.edit)) if fit.is_code else fit for fit in explained.fits]
        return replace(explained, fits=tuple(fits))
    note = say("a spec alone needs a mesh that is set, as by `jax.set_mesh`; elsewhere it goes into a `NamedSharding`")
    return replace(explained, notes=(*explained.notes, note))
