"""Applies advice to the source of a program, as a person would write it, and counts what that sends.

A line is replaced by the code of the advice, a constraint's sharding is written anew, arguments are passed with another
sharding, results get other `out_shardings`. All changes before a row are made, too, as its figures are on top of
theirs. Not its job: the changed copy of a program that advice itself asks XLA about (`observe.shardy.what_if`).
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import jax
from jax.sharding import NamedSharding, PartitionSpec

import pjit_inspect as pi
from pjit_inspect.handles.trials import Trials
from pjit_inspect.model.program.mesh import spec_text
from pjit_inspect.model.report.advice import Advice
from pjit_inspect.model.sharding.sharded_program import ShardedProgram

Built = tuple[Callable[..., Any], tuple[Any, ...]]
_CALL = "jax.lax.with_sharding_constraint("
_CONSTRAIN = ("with_sharding_constraint", "pinned")
_SPEC = re.compile(r"(?:pass |out_shardings: |, )(?P<label>\S.*?) as (?P<spec>P\((?:[^()]|\([^()]*\))*\))")
CLOSE = 0.02
"""The bytes that advice says, and those of the changed source, may differ by this share of what the program sends."""


class NotApplicableError(Exception):
    """The text of the advice cannot be followed; says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """One row of advice, and what the changed source sends.

    Attributes:
      row: the advice.
      start: bytes that the program sends without any change.
      found: bytes that the program with the changed source sends; None where it could not be changed.
      why: why it could not be changed.
      is_words: whether the change is told in words that only a person can follow.
    """

    row: Advice
    start: int
    found: int | None = None
    why: str = ""
    is_words: bool = False

    @property
    def is_close(self) -> bool:
        """True if the changed source sends what the advice says."""
        said = self.row.sent
        return self.found is not None and said is not None and abs(self.found - said[1]) <= CLOSE * max(1, self.start)

    def __str__(self) -> str:
        said = "?" if self.row.sent is None else f"{self.row.sent[0]:,} -> {self.row.sent[1]:,}"
        found = self.why or f"{self.found:,}"
        mark = "ok   " if self.is_close else "words" if self.is_words else "WRONG"
        where = self.row.source[0].where if self.row.source else "-"
        return f"{mark} {self.row.kind} {where} said {said} applied {found} | {self.row.change}"


@dataclass(frozen=True, slots=True)
class _Wrap:
    """A piece of a file, by its ends, that stays within other text: what was around it from `begin` to `end` goes."""

    begin: int
    first: int
    last: int
    end: int
    before: str
    after: str


@dataclass(slots=True)
class _Changes:
    """All changes of one program by now: lines of files, specs of arguments, specs of results."""

    lines: dict[str, list[_Wrap]] = field(default_factory=dict)
    arguments: dict[str, PartitionSpec] = field(default_factory=dict)
    results: dict[str, PartitionSpec] = field(default_factory=dict)


def apply_advice(build: Callable[[], Built]) -> Iterator[Applied]:
    """Every row of a program's advice that has code, applied to the source, with all rows before it."""
    jax.clear_caches()
    function, arguments = build()
    record = pi.inspect(function, *arguments)
    rows = [row for row in record.advice if row.state == "counted"]
    trials, changes = Trials(record.data, (), None), _Changes()
    start = trials.answer(()).counts.bytes
    for row in rows:
        # Another layout is by itself.
        changes = _Changes() if row.kind == "layout" else changes
        try:
            _add(changes, row, trials.copied().program)
            yield Applied(row=row, start=start, found=_count(build, changes, arguments))
        except (NotApplicableError, ValueError, TypeError, SyntaxError) as error:
            is_words = isinstance(error, NotApplicableError)
            yield Applied(row=row, start=start, why=f"{type(error).__name__}: {error!s:.160}", is_words=is_words)
            return


def _sent(record: Any) -> int:
    """Bytes that the program sends as XLA's partitioner makes it, as the figures of advice."""
    return Trials(record.data, (), None).answer(()).counts.bytes


def _sharding(arguments: Any, spec: PartitionSpec) -> NamedSharding:
    """A sharding on the first mesh of the arguments that has its axes."""
    axes = {axis for entry in spec if entry for axis in ((entry,) if isinstance(entry, str) else entry)}
    own = [leaf.sharding.mesh for leaf in jax.tree.leaves(arguments) if isinstance(leaf.sharding, NamedSharding)]
    return NamedSharding(next(mesh for mesh in own if axes <= set(mesh.axis_names)), spec)


# ---------------------------------------------------------------- from the text to a change


def _add(changes: _Changes, row: Advice, program: ShardedProgram) -> None:
    text = row.change
    if text.startswith(("pass ", "out_shardings: ")):
        own = changes.arguments if text.startswith("pass ") else changes.results
        found = {one["label"]: _spec(one["spec"]) for one in _SPEC.finditer(text)}
        if " more likewise" in text:
            every = _every(row, program, "argument" if own is changes.arguments else "result")
            if not found.items() <= every.items():
                raise NotApplicableError("what it names is not what was changed")
            found = every
        own |= found
        if "; return them so" in text:
            changes.results |= _every(row, program, "result")
        if not found:
            raise NotApplicableError("no array is named")
        return
    if not row.source:
        raise NotApplicableError("it has no line")
    frame = row.source[0]
    source = Path(frame.file).read_text()
    if text == "leave it out" or text.startswith("ask for "):
        change = _requested(source, frame.line, frame.columns, text)
    else:
        change = _constrained(source, frame.line, text)
    changes.lines.setdefault(frame.file, []).append(change)


def _every(row: Advice, program: ShardedProgram, kind: str) -> dict[str, PartitionSpec]:
    """The spec of every argument or result that was changed, by its name, where the text names the first few."""
    borders = program.inputs if kind == "argument" else program.outputs
    specs = {borders[edit.index].label: edit.spec or () for edit in row.edits if edit.kind == kind}
    return {label: _spec(spec_text(spec)) for label, spec in specs.items()}


def _spec(text: str) -> PartitionSpec:
    return eval(text, {"P": PartitionSpec})


def _constrained(source: str, number: int, text: str) -> _Wrap:
    """The piece of the file that the code of the advice wraps, which finds its mesh."""
    begin, line = _line(source, number)
    at = text.find(_CALL)
    if at < 0:
        raise NotApplicableError("it is no code")
    start = begin + len(line) - len(line.lstrip()) + at
    rest = text[at + len(_CALL) :]
    for place in (one.start() for one in re.finditer(r", P\(", rest)):
        spec = re.match(r"P\((?:[^()]|\([^()]*\))*\)", rest[place + 2 :])
        if spec is None:
            continue
        piece, after = rest[:place], rest[place + 2 + spec.end() + 1 :]
        was = text[:at] + piece + after
        if line.strip() == was or line.strip().partition("  #")[0] == was:
            return _wrap((start, start), (start + len(piece),) * 2, spec[0])
    return _expression(source, number, text)


def _expression(source: str, number: int, text: str) -> _Wrap:
    """As `_constrained`, where the code is one expression of several lines: it is there exactly once."""
    try:
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call)
    except SyntaxError as error:
        raise NotApplicableError(f"the code does not parse: {text}") from error
    wanted = ast.dump(call.args[0])
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.expr) and ast.dump(node) == wanted]
    found = [node for node in nodes if node.lineno <= number <= (node.end_lineno or node.lineno)]
    if len(found) != 1:
        raise NotApplicableError(f"{len(found)} expressions of the line are the one to be written")
    begin, end = _ends(source, found[0])
    return _wrap((begin, begin), (end, end), ast.unparse(call.args[1]))


def _requested(source: str, number: int, columns: Sequence[int], text: str) -> _Wrap:
    """The array that a constraint on a line, or the tests' helper for it, is on; with another sharding or left out."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and node.lineno == number]
    own = [node for node in calls if ast.unparse(node.func).rpartition(".")[2] in _CONSTRAIN]
    if len(own) > 1 and columns:
        own = [node for node in own if node.col_offset == columns[0]] or own
    if len(own) != 1:
        raise NotApplicableError(f"{len(own)} constraints are on the line")
    begin, end = _ends(source, own[0])
    first, last = _ends(source, own[0].args[1 if ast.unparse(own[0].func) == "pinned" else 0])
    return _wrap((begin, first), (last, end), "" if text == "leave it out" else text.removeprefix("ask for "))


def _wrap(begin: tuple[int, int], end: tuple[int, int], spec: str) -> _Wrap:
    return _Wrap(*begin, *end, _CALL if spec else "", f", _advised(lambda P: {spec}))" if spec else "")


def _written(source: str, wraps: Sequence[_Wrap]) -> str:
    """The file with all pieces wrapped, of which some may be in others; of equal ones the last is outside."""
    edits = list[tuple[tuple[int, ...], int, int, str]]()
    for number, own in enumerate(wraps):
        size = own.last - own.first
        edits.append(((-own.begin, 0, size, number), own.begin, own.first, own.before))
        edits.append(((-own.last, 1, -size, -number), own.last, own.end, own.after))
    # From the end on: what is put somewhere later stands before what was put there earlier.
    for _, begin, end, text in sorted(edits):
        source = source[:begin] + text + source[end:]
    return source


def _line(source: str, number: int) -> tuple[int, str]:
    lines = source.splitlines(keepends=True)
    return sum(map(len, lines[: number - 1])), lines[number - 1].rstrip("\n")


def _ends(source: str, node: ast.expr) -> tuple[int, int]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset


# ---------------------------------------------------------------- from the change to its bytes


def _count(build: Callable[[], Built], changes: _Changes, given: Any) -> int:
    """Bytes that the program with all changes sends."""
    jax.clear_caches()
    with _changed_files(changes, given):
        function, arguments = build()
        arguments = _passed(function, arguments, changes.arguments)
        function = _returned(function, arguments, changes.results)
        return _sent(pi.inspect(function, *arguments))


@contextmanager
def _changed_files(changes: _Changes, given: Any) -> Iterator[None]:
    """Functions of the changed files have the code of the changed source meanwhile."""
    swapped: list[tuple[FunctionType, Any]] = []
    try:
        for file, pieces in changes.lines.items():
            module = next(own for own in list(sys.modules.values()) if getattr(own, "__file__", None) == file)
            source = _written(Path(file).read_text(), pieces)
            vars(module)["_advised"] = lambda spec: _sharding(given, spec(PartitionSpec))
            copy = _run(source, module)
            for name, own in vars(module).items():
                other = vars(copy).get(name)
                if (
                    isinstance(own, FunctionType)
                    and isinstance(other, FunctionType)
                    and own.__code__.co_filename == file
                ):
                    swapped.append((own, own.__code__))
                    own.__code__ = other.__code__
        yield
    finally:
        for own, code in swapped:
            own.__code__ = code


def _run(source: str, like: ModuleType) -> ModuleType:
    """A copy of a module with another source, at the same path."""
    copy = ModuleType(f"advised_{like.__name__.replace('.', '_')}")
    vars(copy).update(__file__=like.__file__, __package__=like.__package__, _advised=vars(like)["_advised"])
    sys.modules[copy.__name__] = copy
    try:
        exec(compile(source, str(like.__file__), "exec"), vars(copy))
    finally:
        del sys.modules[copy.__name__]
    return copy


def _passed(function: Any, arguments: tuple[Any, ...], specs: dict[str, PartitionSpec]) -> tuple[Any, ...]:
    """The arguments, those that are named with another sharding."""
    signature, names = inspect.signature(function.__wrapped__), list[str]()
    for name, value in signature.bind(*arguments).arguments.items():
        is_many = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        names += [f"{name}[{number}]" for number in range(len(value))] if is_many else [name]
    left = dict(specs)

    def placed(path: Any, leaf: Any) -> Any:
        label = names[path[0].idx] + jax.tree_util.keystr(path[1:])
        spec = left.pop(label, None)
        if spec is None:
            return leaf
        sharding = NamedSharding(leaf.sharding.mesh, spec)
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)

    changed = jax.tree_util.tree_map_with_path(placed, arguments)
    if left:
        raise NotApplicableError(f"no argument is {', '.join(left)}")
    return changed


def _returned(function: Any, arguments: tuple[Any, ...], specs: dict[str, PartitionSpec]) -> Any:
    """The function compiled with `out_shardings` for the results that are named, and those it asks for itself."""
    if not specs:
        return function
    paths, tree = jax.tree_util.tree_flatten_with_path(jax.eval_shape(function, *arguments))
    lowered = function.trace(*arguments)
    asked = jax.tree.leaves(getattr(lowered, "out_shardings", None), is_leaf=lambda own: own is None) or []
    own = asked if len(asked) == len(paths) else [None] * len(paths)
    left = dict(specs)
    for number, (path, _) in enumerate(paths):
        spec = left.pop("result" + jax.tree_util.keystr(path), None)
        own[number] = own[number] if spec is None else _sharding(arguments, spec)
    if left:
        raise NotApplicableError(f"no result is {', '.join(left)}")
    return jax.jit(function.__wrapped__, out_shardings=jax.tree.unflatten(tree, own))
