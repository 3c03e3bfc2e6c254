"""How an explained error is shown: what is wrong, the user's line, the arrays, ways to fix it.

Not its job: finding any of it (`analyze.errors.explain`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pjit_inspect.model.program.mesh import MeshAxes
from pjit_inspect.model.report.explained_error import ErrorArray, ExplainedError, Fit
from pjit_inspect.model.words.sentence import Sentence, code, say
from pjit_inspect.view.document.document import (
    Block,
    Code,
    Column,
    Document,
    Line,
    Prose,
    Row,
    Section,
    Sign,
    Spans,
    SpecLabel,
    Table,
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
    """The user's line in full: `Code` is shortened to half a line."""
    if "`" in line or len(line) > _LONGEST_LINE:
        return (Code(line),)
    return (Prose(say("{}", code(line))),) if line else ()


def _fit(fit: Fit) -> Line:
    # Not `Code`, which is shortened: this is to be copied. Advice such as "pad dimension 0" is no code.
    edit = code(fit.edit) if fit.is_code else _capital(Sentence(fit.edit))
    place = say(" in place of {}", code(fit.replaces)) if 0 < len(fit.replaces) <= _LONGEST_REPLACED else ""
    line = f" in line {fit.line}" if fit.line is not None else ""
    return Line((Prose(say("• {}{}{}: {}", edit, place, line, fit.effect)),))


def _arrays(arrays: Sequence[ErrorArray], meshes: Sequence[MeshAxes]) -> Table:
    """The arrays, with as many columns as something is known for."""
    shown = arrays[:_ARRAYS]
    columns: list[Column] = [Column(title="array", shrink=True)]
    cells: list[list[Spans]] = [[(Code(array.name or "not named"),)] for array in shown]
    # One mesh is said once, in the title.
    one = f"spec on {meshes[0]}" if len(meshes) == 1 else "spec"
    for title, spans in (
        ("shape", [_shape(array) for array in shown]),
        (one, [_spec(array) for array in shown]),
        ("mesh", [_mesh(array) for array in shown] if len(meshes) > 1 else []),
        ("each device holds", [_local(array) for array in shown]),
        ("devices", [_devices(array) for array in shown] if _is_placing(shown) else []),
    ):
        if any(spans):
            columns.append(Column(title=printable(title), shrink=title == "mesh"))
            for row, span in zip(cells, spans, strict=True):
                row.append(span)
    rest: Spans = (Text(f"and {plural(len(arrays) - len(shown), 'more array')}"),) if len(arrays) > len(shown) else ()
    return Table(
        columns=tuple(columns), rows=tuple(Row(tuple(row)) for row in cells), text_rows=len(shown) if rest else None,
        text_rest=rest,
    )  # fmt: skip


def _mesh(array: ErrorArray) -> Spans:
    return (Code(str(array.mesh)),) if array.mesh is not None else ()


def _is_placing(arrays: Sequence[ErrorArray]) -> bool:
    return len({array.device_ids for array in arrays if array.device_ids}) > 1


def _shape(array: ErrorArray) -> Spans:
    return (Code(array.dtype + shape_text(array.shape)),) if array.shape is not None else ()


def _spec(array: ErrorArray) -> Spans:
    return (SpecLabel(array.spec),) if array.spec is not None else ()


def _local(array: ErrorArray) -> Spans:
    if array.local_shape is not None:
        return (Code(shape_text(array.local_shape)),)
    is_known = array.spec and array.mesh and array.shape and len(array.spec) <= len(array.shape)
    return (Text("does not divide"),) if is_known else ()


def _devices(array: ErrorArray) -> Spans:
    return (Code(ranges_text(array.device_ids, limit=4)),) if array.device_ids else ()
