"""Errors as rows of tables: how JAX words one, what it comes to, and what mends it.

A row has a pattern, the same for all versions of JAX, and templates whose holes are its groups. A group is named by
what it holds: `axis_2` a mesh axis, `spec`, `code_type` and `name_b` what they say, `axes` and `codes` the quoted parts
of a list, `entry` one of a spec, `split` the spec of a type, `shape_x` a shape, `class_x` a class without its module,
`n_x` a number; any other, words. `{n/n_parts}` divides, `{n^n_parts}` is the next multiple, `{n:entry}` says
"2 entries", `{a|words}` the words where `a` is not known, and `{?a}` nothing, if it is known. Where a sentence needs
more, the row's `facts` read it from the message and the scene. Not its job: whether a change is legal, which JAX is
asked (`observe.errors.check`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar, cast

from pjit_inspect.analyze.errors.printed import read_type
from pjit_inspect.analyze.errors.specs import axes_list, counted, division, next_multiple, over_words, spec_words
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorKind, ErrorScene, ExplainedError, Fit
from pjit_inspect.model.words.sentence import Phrase, Sentence, axis, code, joined, name, say, spec

Facts = Mapping[str, object]
"""Facts of one error: the groups of its message, and readings of the scene."""

Judge = Callable[[Fit, tuple[ErrorArray, ...]], ErrorArray | bool | None]
"""Asks JAX whether it takes a change, and for the first array that the expression makes then; None where that cannot
be known. The arrays are those that the change is about, () for the scene's."""

Propose = Callable[[Judge], Iterable[Fit]]
"""Changes for which JAX is asked while they are worked out."""

Reader = Callable[[re.Match[str], ErrorScene], Facts | None]
Proposer = Callable[[Facts, ErrorScene], Iterable[Fit]]

_Held = TypeVar("_Held")
_KINDS: dict[str, Callable[[str], object]] = {
    "axis": axis, "spec": spec, "code": code, "name": name, "n": int,
    "split": lambda text: spec_words(read_type(text).spec),
    "axes": lambda text: axes_list(sorted(set(quoted(text)))), "class": lambda text: code(text.rpartition(".")[2]),
    "codes": lambda text: joined([code(one) for one in sorted(set(quoted(text)))]),
    "entry": lambda text: over_words(tuple(quoted(text)) or text),
    "shape": lambda text: re.sub(r"\((.*?),?\)", r"[\1]", text.replace(" ", "")),
}  # fmt: skip
_HOLE = re.compile(r"\{(\?)?(\w+)(?:([/^:])(\w+))?(?:\|([^{}]*))?\}")
_LONGEST = 200


class Way(NamedTuple):
    """Advice, or code in place of the user's `replaces`: templates; one whose holes are not known is left out."""

    edit: str
    effect: str
    replaces: str = ""
    is_last: bool = False
    """Leaves the way out where a change of the code is proposed."""


class ErrorRow(NamedTuple):
    """One error.

    Attributes:
      kind: which it is.
      pattern: how JAX words it, searched from the message's beginning.
      sentences: what is wrong, templates: the first whose holes are all known.
      ways: what mends it: templates, and functions that propose changes of the scene's expression.
      facts: reads more; None from it where this is another error of the same words. Of what it gives, "arrays" are
        those it is about, "notes" what else is said, "each" more facts of each part, which has its own ways, and "fits"
        the changes, or a function that asks JAX for them.
    """

    kind: ErrorKind
    pattern: re.Pattern[str]
    sentences: tuple[str, ...]
    ways: tuple[Way | Proposer, ...] = ()
    facts: Reader | None = None


def row(
    kind: ErrorKind, pattern: str, sentence: str | tuple[str, ...], *ways: Way | Proposer, facts: Reader | None = None
) -> ErrorRow:
    """A row; a "." of its pattern matches a line's end, too."""
    return ErrorRow(
        kind, re.compile(pattern, re.S), (sentence,) if isinstance(sentence, str) else sentence, ways, facts
    )


def explain_row(known: ErrorRow, message: str, scene: ErrorScene, judge: Judge) -> ExplainedError | None:
    """The error explained; None where the row is about another."""
    match = known.pattern.match(message)
    more = known.facts(match, scene) if match and known.facts else {}
    if match is None or more is None:
        return None
    facts = {**_from_scene(scene), **_from_message(match), **more}
    sentence = first_filled(known.sentences, facts)
    if not sentence:
        return None
    if callable(fits := facts.get("fits")):
        facts["fits"] = tuple(cast("Propose", fits)(judge))
    return ExplainedError(
        kind=known.kind, sentence=sentence, fits=tuple(_fits(known, facts, scene)),
        notes=tuple(Sentence(note) for note in listed_facts(facts, "notes", str)),
        arrays=listed_facts(facts, "arrays", ErrorArray),
    )  # fmt: skip


def _from_message(match: re.Match[str]) -> dict[str, object]:
    groups = {key: " ".join(text.split())[:_LONGEST] for key, text in match.groupdict().items() if text is not None}
    # A backtick in it would end the code that it stands in.
    return {key: _KINDS.get(key.split("_")[0], str)(text.replace("`", "'")) for key, text in groups.items()}


def quoted(text: str) -> list[str]:
    """The quoted parts of a text."""
    return re.findall(r"'([^'\n]{1,200})'", text)


def _from_scene(scene: ErrorScene) -> dict[str, object]:
    known: dict[str, object] = {"operator": code(scene.operator)} if scene.operator.isidentifier() else {}
    own = [variable for variable in scene.meshes.values() if variable]
    known |= {"mesh": code(own[0])} if len(own) == 1 else {}
    return known | ({"expression": code(scene.expression)} if scene.expression else {})


def _hole(hole: re.Match[str], facts: Facts) -> object:
    """The value for a hole; None where it is not known."""
    only, key, sign, other, words = hole.groups()
    value, more = facts.get(key), facts.get(other)
    if only:
        return None if value is None else ""
    if sign == ":" and isinstance(value, int):
        return counted(value, other)
    if sign and isinstance(value, int) and isinstance(more, int) and more:
        return division(value, more) if sign == "/" else f"{next_multiple(value, more):,}"
    found = words if sign or value is None else value
    return f"{found:,}" if isinstance(found, int) else found


def filled(template: str, facts: Facts) -> Sentence | None:
    """A template with its holes filled; None where one of them is not known."""
    parts = [_hole(hole, facts) for hole in _HOLE.finditer(template)]
    return None if None in parts else say(_HOLE.sub("{}", template), *parts)


def _plain(template: str, facts: Facts) -> str | None:
    """A template as code: what fills its holes has no marks."""
    parts = [_hole(hole, facts) for hole in _HOLE.finditer(template)]
    texts = iter([part.text if isinstance(part, Phrase) else str(part) for part in parts])
    return None if None in parts else _HOLE.sub(lambda _: next(texts), template)


def listed_facts(facts: Facts, key: str, kind: type[_Held]) -> tuple[_Held, ...]:
    """A fact that is a tuple; () for one that is not known."""
    held = facts.get(key, ())
    return tuple(one for one in held if isinstance(one, kind)) if isinstance(held, tuple) else ()


def first_filled(templates: Iterable[str], facts: Facts) -> Sentence:
    """The first of some templates whose holes are all known; "" where none is."""
    return next((words for template in templates if (words := filled(template, facts)) is not None), Sentence())


def _fits(known: ErrorRow, facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    proposed = list(listed_facts(facts, "fits", Fit))
    for way in known.ways:
        if isinstance(way, Way) and way.is_last and any(fit.is_code for fit in proposed):
            continue
        for part in listed_facts(facts, "each", dict) or ({},):
            held = {**facts, **part}
            for fit in _fits_of(way, held, scene) if isinstance(way, Way) else way(held, scene):
                if fit not in proposed and fit.edit != fit.replaces and (not fit.is_code or _is_python(fit.edit)):
                    proposed.append(fit)
    yield from proposed


def _fits_of(way: Way, facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    effect = filled(way.effect, facts)
    if way.replaces:
        edit, replaced = _plain(way.edit, facts), _plain(way.replaces, facts)
        if edit and replaced and effect is not None and replaced in scene.expression:
            yield Fit(edit=edit, effect=effect, replaces=replaced)
    elif (words := filled(way.edit, facts)) is not None and effect is not None:
        yield Fit(edit=words, effect=effect, is_code=False)


def _is_python(text: str) -> bool:
    """Tells whether a text is an expression or a keyword argument: the user's line may be cut."""
    return read_code(f"f({text})" if text.partition("=")[0].isidentifier() else text) is not None


def read_code(text: str) -> ast.expr | None:
    """An expression as a tree; None for any other text."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
