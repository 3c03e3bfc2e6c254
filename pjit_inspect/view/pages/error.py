"""The page of an explained error: what is wrong, the user's line, the arrays, ways to fix it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pjit_inspect.model.program.mesh import MeshAxes
from pjit_inspect.model.report.explained_error import ErrorArray, ExplainedError, Fit
from pjit_inspect.model.words.sentence import Sentence, code, say
from pjit_inspect.view.document.columns import codes, table_of
from pjit_inspect.view.document.document import (
    Block,
    Column,
    Document,
    Line,
    Prose,
    Quote,
    Section,
    Sign,
    Span,
    Spans,
    SpecLabel,
    TableBlock,
    Text,
)
from pjit_inspect.view.document.notation import ranges_text, shape_text
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.document.quantities import plural
from pjit_inspect.view.record.answer import place_spans

_ARRAYS = 8
_LONGEST_LINE = 160
_LONGEST_REPLACED = 40


def error_view(error: ExplainedError) -> Document:
    """The display of an explained error."""
    meshes = dict.fromkeys(array.mesh for array in error.arrays if array.mesh is not None)
    blocks: list[Block] = [Line((Prose(_capital(error.sentence)),), "answer")]
    if error.frame is not None:
        blocks.append(Line((*place_spans((error.frame,)), Sign("dot"), *_source(error.line))))
    if error.arrays:
        blocks.append(_arrays(error.arrays, list(meshes)))
    if error.fits:
        blocks.append(Section((Text("Ways to fix it"),), tuple(map(_fit, error.fits))))
    blocks += [Line((Prose(_capital(note)),), "note") for note in error.notes]
    axes = dict.fromkeys(axis for mesh in meshes for axis in mesh.axis_names)
    return Document(axes=tuple(axes), blocks=tuple(blocks))


def _capital(sentence: Sentence) -> Sentence:
    """The sentence with a capital, where it begins with a word of English."""
    said = Sentence(sentence)
    first = said.phrases[0] if said.phrases else None
    if first is None or first.kind != "word":
        return said
    return Sentence.of((replace(first, text=first.text[:1].upper() + first.text[1:]), *said.phrases[1:]))


def _source(line: str) -> Spans:
    """The user's line in full: `Quote` is shortened to half a line."""
    if "`" in line or len(line) > _LONGEST_LINE:
        return (Quote(line),)
    return (Prose(say("{}", code(line))),) if line else ()


def _fit(fit: Fit) -> Line:
    # Not `Quote`, which is shortened: this is to be copied. Advice such as "pad dimension 0" is no code.
    edit = code(fit.edit) if fit.is_code else _capital(Sentence(fit.edit))
    place = say(" in place of {}", code(fit.replaces)) if 0 < len(fit.replaces) <= _LONGEST_REPLACED else ""
    line = f" in line {fit.line}" if fit.line is not None else ""
    return Line((Prose(say("• {}{}{}: {}", edit, place, line, fit.effect)),))


def _arrays(arrays: Sequence[ErrorArray], meshes: Sequence[MeshAxes]) -> TableBlock:
    """The arrays, with as many columns as something is known for."""
    shown = arrays[:_ARRAYS]
    # One mesh is said once, in the title.
    one = f"spec on {meshes[0]}" if len(meshes) == 1 else "spec"
    columns = [
        Column("array", lambda array: Quote(array.name or "not named"), shrink=True),
        Column("shape", lambda array: None if array.shape is None else Quote(array.dtype + shape_text(array.shape))),
        Column(printable(one), lambda array: None if array.spec is None else SpecLabel(array.spec)),
        Column(
            "mesh", lambda array: None if array.mesh is None or len(meshes) < 2 else Quote(str(array.mesh)), shrink=True
        ),
        Column("each device holds", _local),
    ]
    if len({array.device_ids for array in shown if array.device_ids}) > 1:
        columns.append(codes("devices", lambda array: ranges_text(array.device_ids or (), limit=4)))
    return table_of(columns, arrays, shown=_ARRAYS, rest=lambda hidden: f"and {plural(len(hidden), 'more array')}")


def _local(array: ErrorArray) -> Span | None:
    if array.local_shape is not None:
        return Quote(shape_text(array.local_shape))
    is_known = array.spec and array.mesh and array.shape and len(array.spec) <= len(array.shape)
    return Text("does not divide") if is_known else None
