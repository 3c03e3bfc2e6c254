"""Parses a `%pjit` line: options, a subcommand, or code to run.

Two tables say what there is, for reading a line and for completing it: `OPTIONS`, and `SUBCOMMANDS` with the options of
their own and what may stand after them. A line is a subcommand if its first word is one and what follows fits; else it
is code. Not its job: carrying it out (`ipython.magics`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal, get_args

from IPython.core.error import UsageError

from pjit_inspect.model.record.target import Effort

View = Literal["text", "html", "widget", "tree", "facts", "memory", "time"]
VIEWS: tuple[View, ...] = get_args(View)
"""The views of a record."""

AS_TEXT: frozenset[View] = frozenset(("text", "tree", "facts", "memory", "time"))
"""The views in which all that is no record is shown as text."""

EFFORTS: tuple[Effort, ...] = get_args(Effort)
"""The stages up to which a program is compiled for a target."""

_AXIS = re.compile(r"(?P<name>[^=,\s]+)=(?P<size>[1-9]\d*)")
_OPTION = re.compile(r"--\w[\w-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetOptions:
    """The target that a program is compiled for once more, besides the devices it runs on.

    Attributes:
      name: the machine ("tpu:v5e:4x4"); None for fake CPU devices, as many as the mesh has.
      mesh: its axes with their sizes; None for the program's mesh.
      effort: the stage up to which to compile.
    """

    name: str | None = None
    mesh: Mapping[str, int] | None = None
    effort: Effort = "partition"

    @property
    def words(self) -> str:
        """The target in words, for a sentence."""
        if self.name is not None:
            return self.name
        if self.mesh is not None:
            return f"the mesh {' x '.join(f'{name}={size}' for name, size in self.mesh.items())}"
        return "fake CPU devices"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """Options for making and showing records.

    Attributes:
      view: the view to show.
      times: whether to show seconds and other times.
      measure: whether JAX's profiler runs while the code does.
      target: the target to compile for once more; None for none.
    """

    view: View = "html"
    times: bool = True
    measure: bool = False
    target: TargetOptions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One parsed `%pjit` line.

    Attributes:
      action: "run" code, record the rest of the "cell", or one of `SUBCOMMANDS`.
      text: the code to run, the call to play with, the name of a record or its number in the log, or two numbers; "" if
        there is none.
      line: (why) the line of source to explain; None for all lines.
      watch: (on) whether to print a line for each compile.
      limit: (on) the compile of one function at which to warn; None for never.
      on: (time) the machine to estimate for; "" for the record's own.
      quick: (time) whether XLA is only to partition the program for it.
      options: options for showing the result.
    """

    action: str
    text: str = ""
    line: int | None = None
    watch: bool = False
    limit: int | None = None
    on: str = ""
    quick: bool = False
    options: ShowOptions = ShowOptions()


@dataclass(frozen=True, slots=True)
class CommandOption:
    """An option of a `%pjit` line.

    Attributes:
      set: the command with the option set from its word; UsageError for a wrong one.
      values: the words it takes that can be listed; None for an option that stands alone.
    """

    set: Callable[[Command, str], Command]
    values: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Subcommand:
    """A word that is a command when it stands alone on a `%pjit` line, or with what it takes.

    Attributes:
      takes: what may stand after it, in words.
      operands: a pattern of what may, besides options; "" is always right.
      options: options of its own.
      form: how that is written, for a list of all subcommands.
    """

    takes: str = "nothing after it"
    operands: str = ""
    options: tuple[str, ...] = ()
    form: str = ""


def _view(command: Command, word: str) -> Command:
    return _shown(command, view=_one_of("--view", VIEWS, word))


def _target(command: Command, word: str) -> Command:
    if not word:
        raise UsageError("--target needs a machine: %pjit --target tpu:v5e:4x4 f(x); pjit_inspect.targets() lists them")
    return _aimed(command, name=word)


def _mesh(command: Command, word: str) -> Command:
    found = [_AXIS.fullmatch(part) for part in word.split(",")]
    sizes = {axis["name"]: int(axis["size"]) for axis in found if axis is not None}
    if len(sizes) != len(found):
        raise UsageError(f"--mesh needs axes with their sizes, without spaces, as in data=4,model=4, not {word!r}")
    return _aimed(command, mesh=sizes)


def _effort(command: Command, word: str) -> Command:
    return _aimed(command, effort=_one_of("--effort", EFFORTS, word))


def _line(command: Command, word: str) -> Command:
    if not word.isdecimal():
        but = f", not {word!r}" if word else ""
        raise UsageError(f"--line needs the number of a line of your source{but}: %pjit why --line 12")
    return replace(command, line=int(word))


def _limit(command: Command, word: str) -> Command:
    if not word.isdecimal() or int(word) < 1:
        but = f", not {word!r}" if word else ""
        raise UsageError(f"--limit needs a number of compiles, 1 or more{but}: %pjit on --limit 5")
    return replace(command, limit=int(word))


def _on(command: Command, word: str) -> Command:
    if not word:
        raise UsageError("--on needs a machine: %pjit time --on tpu:v5e:4x4; pjit_inspect.targets() lists them")
    return replace(command, on=word)


def _shown(command: Command, **changes: object) -> Command:
    return replace(command, options=replace(command.options, **changes))


def _aimed(command: Command, **changes: object) -> Command:
    return _shown(command, target=replace(command.options.target or TargetOptions(), **changes))


def _one_of(option: str, words: tuple[str, ...], word: str) -> str:
    if word not in words:
        raise UsageError(f"{option} needs one of {', '.join(words)}, not {word!r}{_nearest(word, words)}")
    return word


OPTIONS: dict[str, CommandOption] = {
    "--view": CommandOption(_view, VIEWS),
    "--no-times": CommandOption(lambda command, _: _shown(command, times=False)),
    "--measure": CommandOption(lambda command, _: _shown(command, measure=True)),
    "--target": CommandOption(_target, ()),
    "--mesh": CommandOption(_mesh, ()),
    "--effort": CommandOption(_effort, EFFORTS),
}
"""The options of `%pjit` and `%%pjit`. They come before code, and before or after a subcommand."""

OWN_OPTIONS: dict[str, CommandOption] = {
    "--watch": CommandOption(lambda command, _: replace(command, watch=True)),
    "--limit": CommandOption(_limit, ()),
    "--line": CommandOption(_line, ()),
    "--on": CommandOption(_on, ()),
    "--quick": CommandOption(lambda command, _: replace(command, quick=True)),
}
"""The options of single subcommands."""

# One word that can be a record's name (an identifier with dots, or `<lambda>`) or its number in the log. `show -1` and
# `show (x)` are Python.
_NAME = r"[A-Za-z_<][^\s(]*"
_RECORD = rf"{_NAME}|\d+"
_ONE = "the name or number of one record"

_OF_ONE = Subcommand(_ONE, _RECORD, form="[NAME]")

SUBCOMMANDS: dict[str, Subcommand] = {
    "on": Subcommand("--watch and --limit N", options=("--watch", "--limit")),
    "off": Subcommand(),
    "log": Subcommand(),
    "show": _OF_ONE,
    "why": Subcommand(f"{_ONE} and --line N", _RECORD, ("--line",), "[NAME] [--line N]"),
    "shardings": _OF_ONE,
    "memory": _OF_ONE,
    "advice": _OF_ONE,
    "passes": _OF_ONE,
    "time": Subcommand(
        f"{_ONE}, --on TARGET and --quick", _RECORD, ("--on", "--quick"), "[NAME] [--on TARGET] [--quick]"
    ),
    "arrays": Subcommand(),
    "play": Subcommand(
        f"{_ONE}, or a call of a function (play f(x)), which is not made",
        rf"{_RECORD}|[A-Za-z_].*\(.*",
        form="[NAME or call]",
    ),
    "diff": Subcommand(
        "the name of a function, or the numbers of two records (diff 0 3, diff -1 -3)",
        rf"{_NAME}|-?\d+\s+-?\d+",
        form="[NAME]",
    ),
    "ledger": Subcommand(),
    "error": Subcommand(),
    "forget": Subcommand(),
    "help": Subcommand(),
}

_VALID = f"{', '.join(f'{name} {own.form}'.rstrip() for name, own in SUBCOMMANDS.items())}, or code to run"


def parse_command(line: str, defaults: ShowOptions, is_defined: Callable[[str], bool]) -> Command:
    """The command in the text after `%pjit`.

    `is_defined` says whether a name has a value where the line runs. Raises UsageError (IPython shows it as one line)
    for an unknown option or subcommand; wrong Python is left for Python to refuse.
    """
    command = _parse(line.strip(), Command(action="run", options=defaults), is_defined)
    if command.options.measure and command.action not in ("run", "cell"):
        raise UsageError(f"--measure is for code that runs (%pjit --measure f(x)), not for {command.action!r}")
    if command.options.target is not None and command.action not in ("run", "cell", "show"):
        raise UsageError(
            f"--target, --mesh and --effort are for code that runs (%pjit --target tpu:v5e:4x4 f(x)) and for show, not "
            f"for {command.action!r}"
        )
    return command


def _parse(rest: str, command: Command, is_defined: Callable[[str], bool]) -> Command:
    if _split_word(rest)[0] in ("-h", "--help"):
        return replace(command, action="help")
    while rest.startswith("--"):
        word, rest = _split_word(rest)
        if word == "--cell":
            command = replace(command, action="cell")
            continue
        name, has_value, value = word.partition("=")
        if name not in OPTIONS:
            raise UsageError(f"unknown option {name}{_nearest(name, OPTIONS)}; the options are {', '.join(OPTIONS)}")
        if OPTIONS[name].values is not None and not has_value:
            value, rest = _split_word(rest)
        command = OPTIONS[name].set(command, value)
    if command.action == "cell":
        if rest:
            raise UsageError(f"%%pjit takes only options on its first line ({', '.join(OPTIONS)}), not {rest!r}")
        return command
    if not rest:
        raise UsageError(f"%pjit needs one of {_VALID}; %pjit? explains")
    first, after = _split_word(rest)
    found = _subcommand(first, after, command) if first in SUBCOMMANDS else None
    if found is None:
        _refuse_mistyped(rest, is_defined)
    return found or replace(command, text=rest)


def _subcommand(first: str, after: str, command: Command) -> Command | None:
    """The subcommand with what stands after it; None where that does not fit, so that the line may be code."""
    subcommand = SUBCOMMANDS[first]
    options: list[tuple[CommandOption, str]] = []
    operands = after
    # A call to play with is one text; nothing in it is an option.
    if "(" not in after:
        words, operands = after.split(), ""
        while words:
            name, has_value, value = words.pop(0).partition("=")
            option = OPTIONS.get(name) or (OWN_OPTIONS[name] if name in subcommand.options else None)
            if option is not None:
                if option.values is not None and not has_value and words:
                    value = words.pop(0)
                options.append((option, value))
            elif not operands and _OPTION.fullmatch(name):
                # Python reads `on --wath` as a difference; nobody means that.
                raise _refused(first)
            else:
                operands += f" {name}{has_value}{value}"
        operands = operands.lstrip()
    if operands and not re.fullmatch(subcommand.operands, operands, re.DOTALL):
        return None
    command = replace(command, action=first, text=operands)
    for option, value in options:
        command = option.set(command, value)
    return command


def _split_word(text: str) -> tuple[str, str]:
    word, *rest = text.split(maxsplit=1) or [""]
    return word, rest[0] if rest else ""


def _refused(subcommand: str) -> UsageError:
    takes = SUBCOMMANDS[subcommand].takes
    return UsageError(f"%pjit {subcommand} takes {takes}, and options: %pjit --view text {subcommand}")


def _refuse_mistyped(text: str, is_defined: Callable[[str], bool]) -> None:
    """Raises UsageError when `text` looks more like a mistyped command than like code."""
    if text.isidentifier():
        if not is_defined(text):
            nearest = _nearest(text, SUBCOMMANDS)
            raise UsageError(f"{text!r} is neither a variable nor a subcommand{nearest}; %pjit needs {_VALID}")
        return
    if _is_python(text):
        return
    words = text.split()
    first = words[0] if len(words) > 1 and words[0].isidentifier() else ""
    if first in SUBCOMMANDS:
        raise _refused(first)
    if first and not is_defined(first) and get_close_matches(first, SUBCOMMANDS):
        raise UsageError(f"unknown subcommand {first!r}{_nearest(first, SUBCOMMANDS)}; %pjit needs {_VALID}")
    if late := next((option for option in OPTIONS if any(word.split("=")[0] == option for word in words[1:])), None):
        raise UsageError(f"options stand before the code: %pjit {late} ...")


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _nearest(word: str, words: Iterable[str]) -> str:
    near = get_close_matches(word, list(words), n=1, cutoff=0.5)
    return f" (did you mean {near[0]!r}?)" if near else ""
