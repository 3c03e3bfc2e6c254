"""What XLA says when memory is short: `RESOURCE_EXHAUSTED` of compilers and of allocators, as facts.

A report is read line by line; each form of line has its pattern, and a line of none is kept as it stands. Not its job:
which program it was, or what the buffers in the list are for (`analyze.memory.reported`).

*Source*: the texts in libtpu 0.0.42; `docs/errors` of openxla/xla; `BufferAssignment::ToVerboseString`,
`bfc_allocator.cc`, `pjrt_stream_executor_client.cc`; and what users post.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from pjit_inspect.model.record.shortage import NO_MEMORY, MemoryShortage, ReportedBuffer
from pjit_inspect.parse.wire.text_scan import unquote

__all__ = ["parse_memory_shortage"]

_LONGEST = 1 << 20
_MOST_BUFFERS, _MOST_UNKNOWN = 1_000, 1_000
_LONGEST_LINE = 20_000
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40, "P": 50}
_SIZE = r"\d{1,20}(?:\.\d{1,6})?(?:[KMGTP]i?)?(?:B| bytes)?"
_FIGURE = re.compile(r"([\d.]+)([KMGTP]?)")
# The last is how the CPU of JAX 0.8.1 says it, where a run ends for it.
_STATUS = re.compile(rf"{NO_MEMORY}: |[Rr]esource exhausted: |INTERNAL: [^\n]{{0,200}}?(?=Out of memory )")
# On a GPU XLA runs kernels while it compiles, and takes the fastest. What it says of each that failed follows this.
_TUNING = re.compile(r"Failed to get configs for: \d{1,9} out of \d{1,9} instructions\.")


def parse_memory_shortage(message: str) -> MemoryShortage | None:
    """What a message of XLA's says of a memory that was too small; None for another error. Raises nothing."""
    begin = _STATUS.search(message[:_LONGEST])
    if begin is None:
        return None
    report = _Report()
    for line in message[begin.end() : _LONGEST].splitlines():
        report.read(line[:_LONGEST_LINE].strip())
    found = report.found()
    is_tuning = found.kind == "allocation" and _TUNING.search(message[: begin.start()])
    return replace(found, kind="tuning") if is_tuning else found


def _bytes(text: str) -> int:
    """XLA rounds to two decimals of a unit that is a power of 1,024."""
    figure = _FIGURE.match(text)
    return 0 if figure is None else round(float(figure[1]) * 2 ** _UNITS[figure[2]])


class _Report:
    """A report as far as it was read."""

    def __init__(self) -> None:
        self._shortage = MemoryShortage(kind="allocation", sentence="")
        self._buffers: list[ReportedBuffer] = []
        self._unknown: list[str] = []
        self._sums: dict[str, int] = {}
        self._section = ""

    def read(self, line: str) -> None:
        """One line, which may hold several sentences."""
        if not self._shortage.sentence and line and not _CODE.fullmatch(line):
            self._set(sentence=_CODE.sub("", line))
        while line:
            for form, take in _FORMS:
                match = form.match(line)
                if match is not None:
                    take(self, match)
                    line = line[match.end() :].strip()
                    break
            else:
                if len(self._unknown) < _MOST_UNKNOWN:
                    self._unknown.append(line)
                return

    def found(self) -> MemoryShortage:
        """All of it."""
        return replace(self._shortage, sums=self._sums, largest=tuple(self._buffers), unknown=tuple(self._unknown))

    def _set(self, **facts: object) -> None:
        self._shortage = replace(self._shortage, **facts)  # pyright: ignore[reportArgumentType]

    # ------------------------------------------------------------ what was short

    def nothing(self, _: re.Match[str]) -> None:
        """It says nothing that is not known."""

    def before_scheduling(self, match: re.Match[str]) -> None:
        self._set(kind="compile", space="hbm", needed_bytes=_bytes(match[1]), available_bytes=_bytes(match[2]))

    def in_space(self, match: re.Match[str]) -> None:
        needed, available = _bytes(match[2]), _bytes(match[3])
        self._set(kind="compile", space=match[1], needed_bytes=needed, available_bytes=available)

    def both_cores(self, match: re.Match[str]) -> None:
        needed = _bytes(match[1]) + _bytes(match[2])
        self._sums |= {"TensorCore": _bytes(match[1]), "SparseCore": _bytes(match[2])}
        self._set(kind="compile", space="hbm", needed_bytes=needed, available_bytes=_bytes(match[3]))

    def one_allocation(self, match: re.Match[str]) -> None:
        space = "" if (named := re.search(r"\bspace=(\w+)", match[3])) is None else named[1]
        self._set(kind="compile", space=space, asked_bytes=int(match[1]), available_bytes=int(match[2]))

    def asked(self, match: re.Match[str]) -> None:
        is_rounded = not match[1].endswith("bytes")
        self._set(kind="allocation", asked_bytes=_bytes(match[1]), is_rounded=is_rounded)

    def exact(self, match: re.Match[str]) -> None:
        self._set(kind="allocation", asked_bytes=int(match[1]), device=match[2])

    def device_buffer(self, match: re.Match[str]) -> None:
        asked, free = _bytes(match[1]), _bytes(match[2])
        self._set(kind="allocation", space="hbm", asked_bytes=asked, is_rounded=True, free_bytes=free)

    def reserve(self, match: re.Match[str]) -> None:
        asked, free = _bytes(match[1]), _bytes(match[2])
        self._set(kind="load", space="hbm", asked_bytes=asked, is_rounded=True, free_bytes=free)

    def program(self, match: re.Match[str]) -> None:
        self._set(program=match[1])

    def device(self, match: re.Match[str]) -> None:
        self._set(device=match[1])

    # ------------------------------------------------------------ sums

    def head(self, match: re.Match[str]) -> None:
        self._section = match[1]
        self._sums[match[1]] = _bytes(match[2])

    def sum(self, match: re.Match[str]) -> None:
        name = match[1] if not self._section else f"{self._section} / {match[1]}"
        if match[2] != "unknown size":
            self._sums[name] = _bytes(match[2])

    def output(self, match: re.Match[str]) -> None:
        self._section = ""
        if match[1] is not None:
            self._sums |= {"output": _bytes(match[1]), "output in arguments": _bytes(match[2])}

    def stats(self, _: re.Match[str]) -> None:
        self._section = ""

    # ------------------------------------------------------------ the list

    def buffer(self, match: re.Match[str]) -> None:
        if len(self._buffers) < _MOST_BUFFERS:
            self._buffers.append(ReportedBuffer(bytes=_bytes(match[1]) if match[1] else 0))
        else:
            self._unknown.append(match[0])

    def _of_buffer(self, line: str, **facts: object) -> None:
        """Facts of the newest buffer; before there is one, the line is not understood."""
        if self._buffers:
            self._buffers[-1] = replace(self._buffers[-1], **facts)  # pyright: ignore[reportArgumentType]
        else:
            self._unknown.append(line)

    def size(self, match: re.Match[str]) -> None:
        self._of_buffer(match[0], bytes=_bytes(match[1]))

    def unpadded(self, match: re.Match[str]) -> None:
        self._of_buffer(match[0], unpadded_bytes=_bytes(match[1]))

    def operator(self, match: re.Match[str]) -> None:
        known = {"op_type": "", "op_name": "", "source_file": "", "source_line": ""}
        for key, quoted, plain in _PAIR.findall(match[1]):
            if key in known:
                known[key] = unquote(quoted).decode("utf-8", "replace") if quoted else plain
        if left := _PAIR.sub("", match[1]).strip():
            self._unknown.append(left)
        line = known["source_line"]
        self._of_buffer(
            match[0],
            op_name=known["op_name"] or known["op_type"],
            source_file=known["source_file"],
            source_line=int(line) if line.isdecimal() and len(line) < 10 else None,
        )

    def shape(self, match: re.Match[str]) -> None:
        array = _ARRAY.match(match[2])
        sizes = [] if array is None else re.findall(r"\d{1,18}", array[2])
        self._of_buffer(
            match[0],
            shape=match[2],
            dtype="" if array is None else array[1],
            dimensions=tuple(map(int, sizes)),
            **({"is_argument": True} if match[1] else {}),
        )

    def label(self, match: re.Match[str]) -> None:
        made = _MADE.match(match[1])
        name, rest = (made[1], match[1][made.end() :]) if made is not None else ("", match[1])
        opcode = re.search(r"(?:^|[ \t])([a-z][\w\-]*)(?:\(|$)", rest)
        self._of_buffer(match[0], instruction=name, opcode="" if opcode is None else opcode[1])

    def allocation(self, match: re.Match[str]) -> None:
        self._of_buffer(match[0], allocation=match[1])

    def tag(self, match: re.Match[str]) -> None:
        self._of_buffer(match[0], tag=match[1])


_CODE = re.compile(r"E\d{4}: \w+:\s*")
_PAIR = re.compile(r'(\w+)=(?:("(?:[^"\\]|\\.)*")|(\{[^{}]*\}|[^\s"]+))')
_ARRAY = re.compile(r"(\w+)\[([\d,<=]*)\]")
_MADE = re.compile(r"%?([\w.\-]+) = ")


def _forms(
    *forms: tuple[str, Callable[[_Report, re.Match[str]], None]],
) -> tuple[tuple[re.Pattern[str], Callable], ...]:
    return tuple((re.compile(text.replace("SIZE", f"({_SIZE})")), take) for text, take in forms)


_FORMS = _forms(
    (_CODE.pattern, _Report.nothing),
    (r"XLA:TPU compile permanent error\.", _Report.nothing),
    (
        r"Ran out of memory on HBM, the total memory required for HLO temporaries \(SIZE\) exceeds available HBM "
        r"\(SIZE\)\.?",
        _Report.before_scheduling,
    ),
    (
        r"Ran out of memory in memory space (\w+)\. Used SIZE of SIZE \w+\. Exceeded \w+ capacity by SIZE\.?"
        r"(?: Memory usage report:)?",
        _Report.in_space,
    ),
    (
        r"TPU TensorCore Hbm usage: SIZE, SparseCore Hbm usage:? SIZE, exceeding available bytes: SIZE",
        _Report.both_cores,
    ),
    (r"Allocation \(size=(\d{1,18})\) would exceed memory \(size=(\d{1,18})\) :: (.*)", _Report.one_allocation),
    # Allocators.
    (rf"EXECUTION FAILED: {NO_MEMORY}:", _Report.nothing),
    (r"Out of memory (?:while trying to allocate|allocating) SIZE\.?(?=\s|$)", _Report.asked),
    (r"Failed to allocate request for [\d.]+\w+ \((\d{1,18})B\) on device ordinal (\d+)", _Report.exact),
    (
        r"Error allocating device buffer: Attempting to allocate SIZE\. That was not possible\. There are SIZE free\."
        r"[;,]?",
        _Report.device_buffer,
    ),
    (r"Error allocating device buffer:", _Report.nothing),
    (
        r"Attempting to allocate SIZE\. That was not possible\. There are SIZE free\.[;,]?",
        _Report.device_buffer,
    ),
    (r"Error loading program '([^']{1,500})':", _Report.program),
    (
        r"Attempting to reserve SIZE at the bottom of memory\. That was not possible\. There are SIZE free, "
        r"SIZE reserved, and SIZE reservable\.(?: Scope: [^.]*\.*)?",
        _Report.reserve,
    ),
    (r"\((\dx\dx\d_HBM\d+)\)", _Report.device),
    (r"with allocator \S+ on device (\d+)\.", _Report.device),
    (r"\[executable_name='([^']{0,500})'\]", _Report.program),
    (r"\[tf-allocator-allocation-error='[^']*'\]", _Report.nothing),
    (
        r":? ?while running replica \d+ and partition \d+ of a replicated computation "
        r"\(other replicas may have failed as well\)\.",
        _Report.nothing,
    ),
    # Sums.
    (r"Total (\w+ usage) >= SIZE:", _Report.head),
    (r"(Program) \w+ requirement SIZE:", _Report.head),
    (r"Output size(?: SIZE; shares SIZE with arguments| unknown)\.", _Report.output),
    (r"BufferAssignment OOM Debugging\.", _Report.stats),
    (r"BufferAssignment stats:", _Report.stats),
    (r"([a-z_ ]{1,60} (?:allocation|fragmentation)):\s+SIZE(?: \([\d.]+%\))?", _Report.sum),
    (
        r"([A-Za-z][\w\- ]{0,40}?)\s{2,}(unknown size|" + _SIZE + r")(?: \(.*\))?$",
        _Report.sum,
    ),
    # The list of the largest.
    (r"(?:No|Largest) program (?:allocations|arguments and outputs) in \w+:?", _Report.stats),
    (r"Peak buffers:", _Report.stats),
    (r"\d+\. Size: SIZE", _Report.buffer),
    (r"Buffer \d+:()", _Report.buffer),
    (r"Size: SIZE", _Report.size),
    (r"Unpadded size: SIZE", _Report.unpadded),
    (r"Extra memory due to padding: SIZE \([\d.]+x expansion\)", _Report.nothing),
    (r"Operator: (.*)", _Report.operator),
    (r"(?:(Entry Parameter Sub)s|S)hape: (.*)", _Report.shape),
    (r"XLA [Ll]abel: (.*)", _Report.label),
    (r"Allocation type: (.*)", _Report.allocation),
    (r"Tag: (.*)", _Report.tag),
    (r"={10,}", _Report.nothing),
)
