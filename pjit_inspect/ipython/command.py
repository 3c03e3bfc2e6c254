"""Parses a `%pjit` line: options, a subcommand, or code to run.

Pure text work. Not its job: carrying it out (`ipython.magics`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal, cast, get_args

from IPython.core.error import UsageError

from pjit_inspect.model.record.target import Effort

View = Literal["text", "html", "widget", "tree", "facts", "memory"]
Action = Literal[
    "run",
    "cell",
    "on",
    "off",
    "log",
    "show",
    "why",
    "shardings",
    "memory",
    "arrays",
    "play",
    "diff",
    "ledger",
    "error",
    "forget",
    "help",
]

VIEWS: tuple[View, ...] = ("text", "html", "widget", "tree", "facts", "memory")
"""The views of a record."""

SUBCOMMANDS: tuple[Action, ...] = (
    "on",
    "off",
    "log",
    "show",
    "why",
    "shardings",
    "memory",
    "arrays",
    "play",
    "diff",
    "ledger",
    "error",
    "forget",
    "help",
)
"""The words that are commands when they are alone on a `%pjit` line."""

OPTIONS = ("--view", "--no-times", "--measure", "--target", "--mesh", "--effort")
"""The options of `%pjit` and `%%pjit`. They come before code, and before or after a subcommand."""

EFFORTS: tuple[Effort, ...] = get_args(Effort)
"""The stages up to which a program is compiled for a target."""

_CELL = "--cell"
_VALID = (
    "on, off, log, show [NAME], why [NAME] [--line N], shardings [NAME], memory [NAME], arrays, "
    "play [NAME or call], diff [NAME], ledger, error, forget, help, or code to run"
)
# One word that can be a record's name (an identifier with dots, or `<lambda>`) or its number in the log. `show -1` and
# `show (x)` are Python.
_OF_A_RECORD = re.compile(r"(?P<action>show|why|shardings|memory|play)(?:\s+(?P<name>[A-Za-z_<][^\s(]*|\d+))?")
_PLAY = re.compile(r"play\s+(?P<code>[A-Za-z_].*\(.*)", re.DOTALL)
_DIFF = re.compile(r"diff\s+(?P<which>[A-Za-z_<][^\s(]*|-?\d+\s+-?\d+)")
_WHY_LINE = re.compile(r"(?P<before>why(?:\s+\S+)*?)\s+--line(?:\s+|=)(?P<line>\S*)(?P<after>.*)")
_ON = re.compile(r"on((?:\s+--watch|\s+--limit(?:\s+|=)\S+)+)")
_LIMIT = re.compile(r"--limit(?:\s+|=)(\S+)")
_TAKES = {
    "on": "--watch and --limit N",
    "show": "the name or number of one record",
    "why": "the name or number of one record and --line N",
    "shardings": "the name or number of one record",
    "memory": "the name or number of one record",
    "play": "the name or number of one record, or a call of a function (play f(x)), which is not made",
    "diff": "the name of a function, or the numbers of two records (diff 0 3, diff -1 -3)",
}
_TWO_WORDS = re.compile(r"(?P<first>[A-Za-z_]\w*)\s+\S.*")
# A subcommand with options after it. Options come before code: after it they could be part of the code.
_LATE_OPTIONS = re.compile(
    rf"(?P<command>(?:{'|'.join(SUBCOMMANDS)})\b[^(]*?)\s+"
    r"(?P<options>--(?:view|no-times|measure|target|mesh|effort)\b.*)"
)
_LATE_OPTION = re.compile(r"\s(?P<option>--view|--no-times|--measure|--target|--mesh|--effort)\b")
_AXIS = re.compile(r"(?P<name>[^=,\s]+)=(?P<size>[1-9]\d*)")


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
      options: options for showing the result.
    """

    action: Action
    text: str = ""
    line: int | None = None
    watch: bool = False
    limit: int | None = None
    options: ShowOptions = ShowOptions()


def parse_command(line: str, defaults: ShowOptions, is_defined: Callable[[str], bool]) -> Command:
    """The command in the text after `%pjit`.

    `is_defined` says whether a name has a value where the line runs. Raises UsageError (IPython shows it as one line)
    for an unknown option or subcommand; wrong Python is left for Python to refuse.
    """
    command = _parse(line, defaults, is_defined)
    if command.options.measure and command.action not in ("run", "cell"):
        raise UsageError(f"--measure is for code that runs (%pjit --measure f(x)), not for {command.action!r}")
    if command.options.target is not None and command.action not in ("run", "cell", "show"):
        raise UsageError(
            f"--target, --mesh and --effort are for code that runs (%pjit --target tpu:v5e:4x4 f(x)) and for show, not "
            f"for {command.action!r}"
        )
    return command


def _parse(line: str, defaults: ShowOptions, is_defined: Callable[[str], bool]) -> Command:
    options, rest, whole_cell = _take_options(line.strip(), defaults)
    if whole_cell:
        if rest:
            raise UsageError(f"%%pjit takes only options on its first line ({', '.join(OPTIONS)}), not {rest!r}")
        return Command(action="cell", options=options)
    if not rest:
        raise UsageError(f"%pjit needs one of {_VALID}; %pjit? explains")
    rest, source_line = _take_line(rest)
    if late := _LATE_OPTIONS.fullmatch(rest):
        options, more, _ = _take_options(late["options"], options)
        rest = f"{late['command']} {more}".rstrip()
    if rest in SUBCOMMANDS:
        return Command(action=rest, line=source_line, options=options)
    if match := _ON.fullmatch(rest):
        return Command(action="on", watch="--watch" in match[1].split(), limit=_limit(match[1]), options=options)
    if re.match(r"on\s+--", rest):
        # `on --wath` is Python, too.
        raise UsageError(f"%pjit on takes {_TAKES['on']}: %pjit on --watch --limit 5")
    if match := _OF_A_RECORD.fullmatch(rest):
        return Command(
            action=cast(Action, match["action"]), text=match["name"] or "", line=source_line, options=options
        )
    if match := _DIFF.fullmatch(rest):
        return Command(action="diff", text=match["which"], options=options)
    if match := _PLAY.fullmatch(rest):
        return Command(action="play", text=match["code"], options=options)
    _refuse_mistyped(rest, is_defined)
    return Command(action="run", text=rest, options=options)


def _take_options(rest: str, options: ShowOptions) -> tuple[ShowOptions, str, bool]:
    whole_cell = False
    if rest.split(maxsplit=1)[:1] in (["-h"], ["--help"]):
        return options, "help", False
    while rest.startswith("--"):
        word, rest = _split_word(rest)
        name, has_value, value = word.partition("=")
        if word == _CELL:
            whole_cell = True
        elif word == "--no-times":
            options = replace(options, times=False)
        elif word == "--measure":
            options = replace(options, measure=True)
        elif name in ("--view", "--target", "--mesh", "--effort"):
            if not has_value:
                value, rest = _split_word(rest)
            options = _with_value(options, name, value)
        else:
            raise UsageError(f"unknown option {name}{_nearest(name, OPTIONS)}; the options are {', '.join(OPTIONS)}")
    return options, rest, whole_cell


def _with_value(options: ShowOptions, name: str, value: str) -> ShowOptions:
    """The options with one of them set from its word."""
    if name == "--view":
        return replace(options, view=_view(value))
    target = options.target or TargetOptions()
    if name == "--mesh":
        target = replace(target, mesh=_mesh(value))
    elif name == "--effort":
        if value not in EFFORTS:
            raise UsageError(f"--effort needs one of {', '.join(EFFORTS)}, not {value!r}{_nearest(value, EFFORTS)}")
        target = replace(target, effort=value)
    elif not value:
        raise UsageError("--target needs a machine: %pjit --target tpu:v5e:4x4 f(x); pjit_inspect.targets() lists them")
    else:
        target = replace(target, name=value)
    return replace(options, target=target)


def _mesh(word: str) -> dict[str, int]:
    found = [_AXIS.fullmatch(part) for part in word.split(",")]
    sizes = {axis["name"]: int(axis["size"]) for axis in found if axis is not None}
    if len(sizes) != len(found):
        raise UsageError(f"--mesh needs axes with their sizes, without spaces, as in data=4,model=4, not {word!r}")
    return sizes


def _take_line(rest: str) -> tuple[str, int | None]:
    """The text without the `--line N` of `why`, and N."""
    match = _WHY_LINE.fullmatch(rest)
    if match is None:
        if re.fullmatch(r"why\b.*\s--line", rest):
            raise UsageError("--line needs the number of a line of your source: %pjit why --line 12")
        return rest, None
    if not match["line"].isdecimal():
        raise UsageError(
            f"--line needs the number of a line of your source, not {match['line']!r}: %pjit why --line 12"
        )
    return f"{match['before']}{match['after']}", int(match["line"])


def _limit(words: str) -> int | None:
    """The N of `--limit N`; None without it."""
    match = _LIMIT.search(words)
    if match is None:
        return None
    if not match[1].isdecimal() or int(match[1]) < 1:
        raise UsageError(f"--limit needs a number of compiles, 1 or more, not {match[1]!r}: %pjit on --limit 5")
    return int(match[1])


def _split_word(text: str) -> tuple[str, str]:
    word, *rest = text.split(maxsplit=1) or [""]
    return word, rest[0] if rest else ""


def _view(word: str) -> View:
    for view in VIEWS:
        if view == word:
            return view
    raise UsageError(f"--view needs one of {', '.join(VIEWS)}, not {word!r}{_nearest(word, VIEWS)}")


def _refuse_mistyped(text: str, is_defined: Callable[[str], bool]) -> None:
    """Raises UsageError when `text` looks more like a mistyped command than like code."""
    if text.isidentifier():
        if not is_defined(text):
            nearest = _nearest(text, SUBCOMMANDS)
            raise UsageError(f"{text!r} is neither a variable nor a subcommand{nearest}; %pjit needs {_VALID}")
        return
    if _is_python(text):
        return
    match = _TWO_WORDS.fullmatch(text)
    first = match["first"] if match else ""
    if first in SUBCOMMANDS:
        takes = _TAKES.get(first, "nothing after it")
        raise UsageError(f"%pjit {first} takes {takes}, and options: %pjit --view text {first}")
    if first and not is_defined(first) and get_close_matches(first, SUBCOMMANDS):
        raise UsageError(f"unknown subcommand {first!r}{_nearest(first, SUBCOMMANDS)}; %pjit needs {_VALID}")
    if late := _LATE_OPTION.search(text):
        raise UsageError(f"options stand before the code: %pjit {late['option']} ...")


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _nearest(word: str, words: tuple[str, ...]) -> str:
    near = get_close_matches(word, words, n=1, cutoff=0.5)
    return f" (did you mean {near[0]!r}?)" if near else ""
