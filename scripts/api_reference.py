"""Writes the API reference, `docs/api.md`, from the docstrings of everything users hold.

    python scripts/api_reference.py      after a change of a docstring, a signature, `%pjit` or the command line

Which names are in it: all of `pjit_inspect.__all__`, and the classes of `HELD`; tests/docs/test_api_reference.py finds
what is missing there, and a page that was not renewed. It needs no JAX. Not its job: teaching (docs/recipes.md).
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import inspect
import re
import sys
import typing
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "api.md"
sys.path.insert(0, str(ROOT))

import pjit_inspect as pi  # noqa: E402
from pjit_inspect import cli, testing  # noqa: E402
from pjit_inspect.ipython.magics import PjitMagics  # noqa: E402

HEAD = """\
# API reference

Written by `scripts/api_reference.py` from the docstrings; change those, not this page.
[recipes.md](recipes.md) shows how the parts are used, [recompiles.md](recompiles.md) and [causes.md](causes.md) what
reasons and causes mean, [hlo_model.md](hlo_model.md) how to walk a program.

```python
import pjit_inspect as pi
```

`None` stands for what is not known. Each figure is counted, modelled or measured, as its line says.
"""

HELD: dict[str, tuple[str, ...]] = {
    "What a record holds": (
        "model.program.layout.ArrayLayout", "model.program.layout.Sharding", "model.program.mesh.Mesh",
        "model.program.mesh.Device", "model.program.source.Frame", "model.record.record.Timings",
        "model.record.record.MemoryStats", "model.record.xla_warning.XlaWarning", "model.record.record.RecordData",
        "model.program.source.SourceText",
    ),
    "Collectives, and why they are there": (
        "model.report.collective.CollectiveTable", "model.report.collective.Collective", "model.report.cause.Cause",
        "model.report.collective.OtherCommunication",
        "model.report.advice.AdviceTable", "model.report.advice.Advice",
        "model.report.edit.Checked", "model.report.edit.Edit",
    ),
    "Shardings of the values between": (
        "model.report.sharding_table.ShardingTable", "model.report.sharding_table.ValueSharding",
        "model.sharding.sharded_program.AxisOrigin",
    ),
    "Kernels": (
        "model.report.fusion.FusionTable", "model.report.fusion.Fusion", "model.report.fusion.DistinctFusion",
        "model.report.passes.PassTable", "model.report.passes.Pass", "model.report.passes.Life",
        "model.report.passes.LifeEvent", "model.report.passes.Stage", "model.report.passes.StagedCollective",
        "model.report.passes.ChangedLine",
    ),
    "Memory": (
        "model.memory.memory_use.MemoryUse", "model.memory.memory_use.LiveTable",
        "model.memory.memory_use.LiveValue", "model.memory.memory_use.MemoryCurve",
        "model.memory.memory_use.Moment", "model.memory.memory_use.MemorySuggestion",
        "model.memory.fit.MemoryFit", "model.memory.fit.PaddedArray",
        "model.memory.autopsy.Autopsy", "model.memory.autopsy.ReportedTable", "model.memory.autopsy.ReportedValue",
        "model.record.shortage.MemoryShortage", "model.record.shortage.ReportedBuffer",
        "model.memory.live_arrays.LiveArray", "model.memory.live_arrays.DeviceHolding",
    ),
    "Two programs compared": (
        "model.diff.diff.DiffData", "model.diff.diff.SideFacts", "model.diff.diff.Figure", "model.diff.diff.AxisDiff",
        "model.diff.diff.Setting", "model.diff.diff.SourceChange", "model.diff.diff.Stages",
        "model.diff.diff.LoweringDiff", "model.diff.diff.OperationChange", "model.diff.pairs.Pair",
        "model.diff.pairs.Change",
        "model.diff.pairs.PairTable", "model.diff.pairs.CollectiveDiff", "model.diff.pairs.KernelDiff",
        "model.diff.pairs.ShardingDiff", "model.diff.pairs.ArrayDiff", "model.diff.pairs.WarningDiff",
    ),
    "Calls back into Python": (
        "model.report.host_callback.CallbackTable", "model.report.host_callback.HostCallback",
    ),
    "Where the time of a call goes": (
        "model.time.step_time.StepTime", "model.time.rows.TimedKernels", "model.time.rows.TimedKernel",
        "model.time.rows.TimedCollectives", "model.time.rows.TimedCollective", "model.time.rows.TimeShares",
        "model.time.rows.TimeShare", "model.time.rows.TimeLines", "model.time.rows.TimeLine",
        "model.time.step_time.Ceiling", "model.time.rows.TimelineSpan", "model.time.strips.Strip",
        "model.time.strips.Lane", "model.time.strips.Piece", "model.time.strips.LoopBox",
        "model.time.scaling.ScalingTable", "model.time.scaling.ScalingRow", "model.time.hardware.Hardware",
        "model.time.hardware.Sourced",
    ),
    "Measured times": (
        "model.record.kernel_times.KernelTimes", "model.record.kernel_times.KernelTime",
        "model.record.kernel_times.UnknownTime",
    ),
    "The parsed program": (
        "model.program.hlo.HloModule", "model.program.hlo.Computation", "model.program.hlo.Instruction",
        "model.program.shape.Shape", "model.program.shape.Layout", "model.program.hlo.Alias",
        "model.program.hlo.Donor",
    ),
    "Why it was compiled": (
        "model.record.reason.Reason", "model.record.reason.Difference", "model.record.reason.Resharding",
        "model.record.ledger.LedgerRow", "model.record.ledger.LedgerEntry", "model.record.ledger.RepeatedReason",
        "model.record.ledger.Pattern", "model.record.compile_table.SiteTable", "model.record.compile_table.SiteRow",
        "model.record.compile_table.CompileTable", "model.record.compile_table.CompileRow",
    ),
    "Sentences, and what their words are": (
        "model.words.sentence.Sentence", "model.words.sentence.Phrase",
    ),
    "Errors explained": (
        "model.report.explained_error.ErrorArray", "model.program.mesh.MeshAxes",
        "model.report.explained_error.Fit",
    ),
    "Other machines and meshes": (
        "model.record.target.TargetRow", "model.record.target.Target", "model.record.target.MemorySize",
        "model.record.target.Hypothesis", "model.record.target.Misfit", "model.record.target.KeyFigures",
        "model.record.target.SentOver",
    ),
    "The playground": (
        "model.play.variant.Variant", "model.play.variant.KindSent", "model.play.variant.Problem",
        "model.play.controls.Controls", "model.play.controls.ArgumentGroup", "model.play.controls.Choice",
        "model.play.controls.ConstraintControl", "model.play.controls.ResultControl", "model.play.code.Code",
        "model.play.code.CodeLine", "model.play.code.Proof", "model.play.search.SearchProgress",
        "model.play.setting.PlaySetting", "model.play.setting.Preset",
    ),
    "Several processes": (
        "model.record.merged.ProcessDifference", "model.record.merged.MergedProgram",
        "model.record.merged.MergedProcess", "model.record.merged.ProgramFacts",
    ),
    "Display, and how much a log holds": (
        "view.figures.figures.Figures", "view.render.shown.Shown", "handles.session.log.LogLimit",
    ),
    "Under the handles": (
        "model.report.report.RecordReport", "model.report.collective.AxisTotal", "model.report.collective.Least",
        "model.record.ledger.LedgerData",
        "model.record.blob.Blob", "model.sharding.sharded_program.ShardedProgram",
        "model.sharding.sharded_program.ShardedOp", "model.sharding.sharded_program.ShardedValue",
        "model.sharding.sharded_program.ShardingRule", "model.sharding.sharded_program.EntryValue",
        "model.sharding.sharded_program.Span", "model.sharding.sharded_program.PartitionedCollective",
        "model.sharding.sharded_program.Taker", "model.record.compile_key.CompileKey",
        "model.record.compile_key.FunctionKey", "model.record.compile_key.ArgumentKey",
        "model.record.compile_key.Container", "model.record.compile_key.NamedText",
        "model.record.compile_key.FedBack", "model.record.compile_key.MadeBy",
        "model.program.hlo.Details", "model.program.hlo_columns.Instructions",
        "model.program.hlo_columns.Computations", "model.program.hlo_columns.StackFrames",
        "model.program.hlo_columns.Links",
    ),
}  # fmt: skip
"""The classes whose objects users hold without making them, by section, as module and name under `pjit_inspect`."""


class _Verbatim(str):
    """An annotation that `inspect` prints as it stands in the source, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def main() -> None:
    """Writes the page."""
    PAGE.write_text(reference(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE.relative_to(ROOT)}\n")


def reference() -> str:
    """The whole page."""
    public = [(name, getattr(pi, name)) for name in pi.__all__]
    functions = [item for item in public if not inspect.isclass(item[1])]
    errors = [item for item in public if inspect.isclass(item[1]) and issubclass(item[1], Exception)]
    handles = [item for item in public if inspect.isclass(item[1]) and item not in errors]
    assertions = [(name, getattr(testing, name)) for name in testing.__all__ if name.startswith("assert_")]
    held = {title: [_held(path) for path in paths] for title, paths in HELD.items()}
    parts = [
        HEAD,
        *_section("Functions", functions),
        *_section("Handles", handles),
        *(part for title, found in held.items() for part in _section(title, found)),
        *_section("Assertions: `from pjit_inspect import testing`", assertions, "testing"),
        *_section("Errors", errors),
        _words(held_classes()),
        _magic(),
        _command_line(),
    ]
    return "\n".join(parts)


def held_classes() -> list[type]:
    """Every class the page has an entry for."""
    named = [getattr(pi, name) for name in pi.__all__]
    return [*(found for found in named if inspect.isclass(found)), *(_held(p)[1] for ps in HELD.values() for p in ps)]


def members_of(kind: type) -> Iterator[tuple[str, Any]]:
    """The public members a class defines, or inherits from a class of ours, in the order of their definition."""
    fields = {field.name for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    found: dict[str, Any] = {}
    for base in reversed([b for b in kind.__mro__ if b.__module__.startswith("pjit_inspect")]):
        own = {name: value for name, value in vars(base).items() if _is_public_member(name, value)}
        # A member that a class overrides is listed among that class's own.
        found = {name: value for name, value in found.items() if name not in own} | own
    yield from ((name, value) for name, value in found.items() if name not in fields)


def _held(path: str) -> tuple[str, type]:
    module, _, name = path.rpartition(".")
    return name, getattr(importlib.import_module(f"pjit_inspect.{module}"), name)


def _is_public_member(name: str, value: object) -> bool:
    is_code = inspect.isfunction(value) or isinstance(value, property | cached_property | classmethod | staticmethod)
    # Of the special methods, only those that say something of their own.
    return is_code and bool(inspect.getdoc(value)) and (not name.startswith("_") or name == "__getitem__")


# ---------------------------------------------------------------- entries


def _section(title: str, entries: Iterable[tuple[str, Any]], module: str = "pi") -> Iterator[str]:
    yield f"## {title}\n"
    for name, found in entries:
        yield _class(name, found) if inspect.isclass(found) else _function(f"{module}.{name}", found)


def _function(name: str, function: Callable[..., Any]) -> str:
    return f"### `{name}`\n\n```python\n{_call(name, function)}\n```\n\n{_prose(function)}\n"


def _class(name: str, kind: type) -> str:
    claim, attributes = _attributes(kind)
    lines = [f"### `{name}`\n", claim, ""]
    rows = [*_fields(kind, attributes), *(_member(member, value) for member, value in members_of(kind))]
    rows = [re.sub(r"\bSelf\b", name, row) for row in rows]
    if rows:
        lines += [*rows, ""]
    return "\n".join(lines)


def _attributes(kind: type) -> tuple[str, dict[str, str]]:
    """A class's docstring without its list of attributes, and what that says of each."""
    before, _, rest = _docstring(kind).partition("\nAttributes:\n")
    listed, _, after = rest.partition("\n\n")
    found: dict[str, str] = {}
    for entry in re.split(r"\n(?=  \w)", f"\n{listed}"):
        names, colon, text = entry.strip().partition(": ")
        if colon:
            found |= {name.strip(): _one_paragraph(text) for name in names.split(",")}
    return _escaped(f"{before.strip()}\n\n{after.strip()}".strip()), found


def _fields(kind: type, told: dict[str, str]) -> Iterator[str]:
    """The fields of a dataclass; for any other class the attributes that its docstring lists."""
    if not dataclasses.is_dataclass(kind):
        yield from (_row(name, text) for name, text in told.items())
        return
    for field in dataclasses.fields(kind):
        if field.repr or field.name in told:
            default = _default(field)
            yield _row(f"{field.name}: {field.type}{default}", told.get(field.name, ""))


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is dataclasses.MISSING:
        return " = {}" if field.default_factory is dict else ""
    # Values all of whose parts are unknown are many lines long.
    whole = f"{type(field.default).__name__}()" if dataclasses.is_dataclass(field.default) else repr(field.default)
    return f" = {whole}"


def _member(name: str, value: Any) -> str:
    if isinstance(value, property | cached_property):
        return _row(f"{name}: {inspect.signature(_function_of(value)).return_annotation}", _prose(value))
    return _row(_call(name, _function_of(value), bound=not isinstance(value, staticmethod)), _prose(value))


def _row(head: str, text: str) -> str:
    shown = "\n\n".join(part if i == 0 else f"  {part}" for i, part in enumerate(_indented(text).split("\n\n")))
    return f"- **`{head}`**" + (f": {shown}" if shown else "")


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ").replace("\n  \n  ", "\n\n")


def annotations_of(kind: type) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Member, annotation as written, and the names it can use, of every public field, property and method."""
    if dataclasses.is_dataclass(kind):
        names = vars(sys.modules[kind.__module__])
        yield from ((field.name, str(field.type), names) for field in dataclasses.fields(kind))
    for name, value in members_of(kind):
        function = _function_of(value)
        names = vars(sys.modules[function.__module__])
        signature = inspect.signature(function)
        written = [*(parameter.annotation for parameter in signature.parameters.values()), signature.return_annotation]
        yield from ((name, annotation, names) for annotation in written if isinstance(annotation, str))


def _function_of(member: Any) -> Callable[..., Any]:
    if isinstance(member, property):
        return typing.cast("Callable[..., Any]", member.fget)
    return member.func if isinstance(member, cached_property) else getattr(member, "__func__", member)


def _words(kinds: Iterable[type]) -> str:
    """The words that fields take one of, in the order of the page."""
    used: dict[tuple[str, tuple[str, ...]], dict[str, None]] = {}
    for kind in kinds:
        for member, annotation, names in annotations_of(kind):
            for alias in re.findall(r"[A-Za-z]\w*", annotation):
                if words := _literals(names.get(alias)):
                    used.setdefault((alias, words), {})[f"`{kind.__name__}.{member}`"] = None
    rows = [f"- **`{alias}`** ({', '.join(places)}): {', '.join(w)}" for (alias, w), places in used.items()]
    return "\n".join(["## Words\n", "What a field that is one of several words may be.\n", *rows, ""])


def _literals(alias: Any) -> tuple[str, ...]:
    """The values of a `Literal`, quoted, with None where it is one of them; () for anything else."""
    if typing.get_origin(alias) is typing.Literal:
        return tuple(f'"{value}"' for value in typing.get_args(alias))
    parts = typing.get_args(alias)
    if not any(typing.get_origin(part) is typing.Literal for part in parts):
        return ()
    return tuple(word for part in parts for word in ([*_literals(part)] or ["None"]))


# ---------------------------------------------------------------- signatures and docstrings


def _call(name: str, function: Callable[..., Any], *, bound: bool = False) -> str:
    """How it is called, with the annotations as they are written."""
    signature = inspect.signature(function)
    parameters = [p.replace(annotation=_written(p.annotation)) for p in signature.parameters.values()]
    returns = signature.return_annotation
    if name == "__getitem__":
        return f"[{', '.join(map(str, parameters[1:]))}] -> {returns}"
    shown = str(signature.replace(parameters=parameters[bound:], return_annotation=inspect.Signature.empty))
    if _is_scope(function):
        short = "log" if "Log" in returns else "guard"
        return f"with {name}{shown} as {short}:  # a {returns.removeprefix('Iterator[').removesuffix(']')}"
    return f"{name}{shown}" + (f" -> {returns}" if returns is not inspect.Signature.empty else "")


def _written(annotation: Any) -> Any:
    return _Verbatim(annotation) if isinstance(annotation, str) else annotation


def _is_scope(function: Any) -> bool:
    """Whether it is made by `contextlib.contextmanager`."""
    return getattr(function, "__code__", None) is contextmanager(lambda: iter(())).__code__


def _docstring(found: Any) -> str:
    return inspect.getdoc(found) or ""


def _prose(found: Any) -> str:
    return _escaped(_docstring(found))


def _one_paragraph(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    """What Markdown would take for markup outside of code, as text."""
    return re.sub(r"(`[^`]*`|\*\w[^*`\n]*\*)|([<*])", lambda match: match[1] or f"\\{match[2]}", text)


# ---------------------------------------------------------------- the notebook and the command line


def _magic() -> str:
    text = re.sub(r"::$", ":", _docstring(PjitMagics.pjit), flags=re.MULTILINE)
    settings = [
        _row(f"PjitMagics.{name} = {trait.default_value!r}", trait.help)
        for name, trait in PjitMagics.class_own_traits(config=True).items()
    ]
    lines = ["## In a notebook\n", "`%load_ext pjit_inspect` makes `%pjit` known; this is what `%pjit?` says.\n"]
    return "\n".join([*lines, "```text", text, "```\n", "`%config` sets:\n", *settings, ""])


def _command_line() -> str:
    lines = ["## On a command line\n"]
    for name, parser in _subcommands(cli._parser()):  # noqa: SLF001
        needed = [a for a in parser._actions if not a.option_strings or a.required]  # noqa: SLF001
        places = " ".join(map(_argument, needed))
        lines += [f"### `python -m pjit_inspect {name} {places}`\n", f"{_escaped(parser.description or '')}\n"]
        lines += [_row(_argument(action), action.help or "") for action in parser._actions if action.dest != "help"]  # noqa: SLF001
    return "\n".join([*lines, ""])


def _subcommands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            yield from typing.cast("dict[str, argparse.ArgumentParser]", action.choices).items()


def _argument(action: argparse.Action) -> str:
    shown = ", ".join(action.option_strings) or str(action.metavar)
    return f"{shown} {action.metavar}" if action.option_strings and action.metavar else shown


if __name__ == "__main__":
    main()
