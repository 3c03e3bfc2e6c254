"""The table of errors, which is the file `messages.txt`: how JAX words each, what is wrong, and how to fix it.

A row begins with its kind and a pattern, the same for all versions of JAX. A piece in capitals is one that `let`
defines, or that `printed` has. A hole in small letters is a group of the usual form for its name, or of another, as in
`{given=shape}`; it fills holes of the templates. A group is named by what it holds: `axis_2` a mesh axis, `spec`,
`code_type` and `name_b` what they say, `axes` and `codes` the quoted parts of a list, `entry` one of a spec, `split`
that of a type, `shape_x` a shape, `class_x` a class without its module, `n_x` a number; any other, words.

In a template `{n/n_parts}` divides, `{n^n_parts}` is the next multiple, `{n:entry}` says "2 entries", `{a|words}` the
words where `a` is not known, and `{?a}` nothing if it is; `[[words]]` are left out where one of their holes is not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar, cast

from pjit_inspect.analyze.errors import printed
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

Reader = Callable[..., Facts | None]
"""Reads a message's match and the scene, and all that the row's second pattern finds after it, if it has one."""
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
_FORMS = {
    "n": r"\d{1,18}", "axis": r"\S{1,200}", "spec": printed.SPEC, "specs": printed.SPEC, "type": printed.TYPE,
    "shape": printed.SHAPE, "mesh": printed.MESH, "sharding": printed.SHARDING, "path": r"\S{1,400}?",
}  # fmt: skip
"""The usual form of a group, by its name or by another that is given for it."""
_WORD = r"\w{1,200}"
"""The form of any other group."""
_PIECE = re.compile(r"\{(([a-z]+)\w*)(?:=([a-z]+))?\}")
_HOLE = re.compile(r"\{(\?)?(\w+)(?:([/^:])(\w+))?(?:\|([^{}]*))?\}")
_OPTIONAL = re.compile(r"\[\[(.*?)\]\]")
_LONGEST = 200


class Way(NamedTuple):
    """Advice, or code in place of the user's `replaces`: templates; one whose holes are not known is left out."""

    edit: str
    effect: str
    replaces: str = ""
    is_last: bool = False
    """Leaves the way out where a change of the code is proposed."""


@dataclass(slots=True)
class ErrorRow:
    """One error.

    Attributes:
      kind: which it is.
      pattern: how JAX words it, searched from the message's beginning; a "." matches a line's end, too.
      then: how JAX words each of several things after that.
      sentences: what is wrong, templates: the first whose holes are all known.
      ways: what fixes it: templates, and functions that propose changes of the scene's expression.
      reader: reads more facts; None from it where this is another error of the same words. Of these "arrays" are those
        it is about, "notes" what else is said, "each" more facts of each part, which has its own ways, and "fits" the
        changes, or a function that asks JAX for them.
    """

    kind: ErrorKind
    pattern: re.Pattern[str]
    then: re.Pattern[str] | None = None
    sentences: list[str] = field(default_factory=list)
    ways: list[Way | Proposer] = field(default_factory=list)
    reader: Reader | None = None


# ---------------------------------------------------------------- the text of the table


def read_table(text: str, function: Callable[[str], Callable[..., object]]) -> tuple[ErrorRow, ...]:
    """Reads the rows; `function` finds a reader or proposer by name. A line of eight spaces goes on with the last."""
    pieces = {key: held for key, held in vars(printed).items() if key.isupper() and isinstance(held, str)}
    rows: list[ErrorRow] = []
    for line in re.sub(r"\n {8}", " ", text).splitlines():
        key, _, body = line.strip().partition("] " if line.startswith("[") else ": ")
        if not body or key.startswith("#"):
            continue
        for piece in re.findall(r"\{([A-Z]\w*)\}", body):
            body = body.replace(f"{{{piece}}}", pieces[piece])
        if key.startswith("let "):
            pieces[key[4:]] = body
        elif key.startswith("["):
            rows.append(ErrorRow(cast("ErrorKind", key[1:]), re.compile(_PIECE.sub(_group, body), re.S)))
        elif key == "then":
            rows[-1].then = re.compile(_PIECE.sub(_group, body), re.M)
        elif key == "means":
            rows[-1].sentences.append(body)
        elif key == "reads":
            rows[-1].reader = cast("Reader", function(body))
        elif body.startswith("@"):
            rows[-1].ways.append(cast("Proposer", function(body[1:])))
        else:
            edit, _, effect = body.partition(" => ")
            edit, _, replaces = edit.partition(" in place of ") if key == "code" else (edit, "", "")
            rows[-1].ways.append(Way(edit, effect, replaces, key == "else"))
    return tuple(rows)


def _group(hole: re.Match[str]) -> str:
    return f"(?P<{hole[1]}>{_FORMS.get(hole[3] or hole[2], _WORD)})"


# ---------------------------------------------------------------- one row


def explain_row(known: ErrorRow, message: str, scene: ErrorScene, judge: Judge) -> ExplainedError | None:
    """The error explained; None where the row is about another."""
    match = known.pattern.match(message)
    if match is None:
        return None
    found = (list(known.then.finditer(message, match.end())),) if known.then else ()
    more = known.reader(match, scene, *found) if known.reader else {}
    if more is None or found == ([],):
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


def _held_holes(template: str, facts: Facts) -> tuple[str, list[object]]:
    """A template without the optional words that are not known, and the values for its holes."""

    def known(words: re.Match[str]) -> str:
        return "" if None in [_hole(hole, facts) for hole in _HOLE.finditer(words[1])] else words[1]

    whole = _OPTIONAL.sub(known, template)
    return whole, [_hole(hole, facts) for hole in _HOLE.finditer(whole)]


def filled(template: str, facts: Facts) -> Sentence | None:
    """A template with its holes filled; None where one of them is not known."""
    whole, parts = _held_holes(template, facts)
    return None if None in parts else say(_HOLE.sub("{}", whole), *parts)


def _plain(template: str, facts: Facts) -> str | None:
    """A template as code: what fills its holes has no marks."""
    whole, parts = _held_holes(template, facts)
    texts = iter([part.text if isinstance(part, Phrase) else str(part) for part in parts])
    return None if None in parts else _HOLE.sub(lambda _: next(texts), whole)


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
