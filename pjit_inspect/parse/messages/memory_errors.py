"""Reads XLA's reports of a memory that was too small: `RESOURCE_EXHAUSTED` of compilers and of allocators.

A report is read line by line. `_FORMS` has a pattern for each form of sentence, whose named groups are facts; a line of
none is kept as it stands. Not its job: which program it was, or what the buffers in the list are for
(`analyze.memory.autopsy`).

*Source*: the texts in libtpu 0.0.42; `docs/errors` of openxla/xla; `BufferAssignment::ToVerboseString`,
`bfc_allocator.cc`, `pjrt_stream_executor_client.cc`; and what users post.
"""

# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from pjit_inspect.model.record.shortage import NO_MEMORY, MemoryShortage, ReportedBuffer
from pjit_inspect.parse.wire.text_scan import unquote_text

_LONGEST = 1 << 20
_MOST_BUFFERS, _MOST_UNKNOWN = 1_000, 1_000
_LONGEST_LINE = 20_000
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40, "P": 50}
_SIZE = r"\d[\d,]{0,25}(?:\.\d{1,6})?(?: ?[KMGTP](?:i?B)?| ?B| bytes)?"
_FIGURE = re.compile(r"([\d,]+(?:\.\d+)?) ?([KMGTP]?)")
# The last is how the CPU of JAX 0.8.1 says it, where a run ends for it.
_STATUS = re.compile(rf"{NO_MEMORY}: |[Rr]esource exhausted: |INTERNAL: [^\n]{{0,200}}?(?=Out of memory )")
# On a GPU XLA runs kernels while it compiles, and takes the fastest. What it says of each that failed follows this.
_TUNING = re.compile(r"Failed to get configs for: \d{1,9} out of \d{1,9} instructions\.")


def parse_memory_shortage(message: str) -> MemoryShortage | None:
    """Reads a message of XLA's about a memory that was too small; None for another error. Raises nothing."""
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
    return 0 if figure is None else round(float(figure[1].replace(",", "")) * 2 ** _UNITS[figure[2]])


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
        if not self._shortage.sentence and line and not _HEAD.fullmatch(line):
            self._set(sentence=_HEAD.sub("", line))
        while line:
            found = next(((into, own) for into, form in _FORMS if (own := form.match(line))), None)
            if found is None:
                self._keep(line)
                return
            into, match = found
            facts = {name: text for name, text in match.groupdict().items() if text is not None}
            self._take(into, facts, match[0])
            line = line[match.end() :].strip()

    def found(self) -> MemoryShortage:
        """All of it."""
        return replace(self._shortage, sums=self._sums, largest=tuple(self._buffers), unknown=tuple(self._unknown))

    def _keep(self, text: str) -> None:
        if len(self._unknown) < _MOST_UNKNOWN:
            self._unknown.append(text)

    def _set(self, **facts: object) -> None:
        self._shortage = replace(self._shortage, **facts)  # pyright: ignore[reportArgumentType]

    def _take(self, into: str, facts: dict[str, str], text: str) -> None:
        """Put what a form says where it belongs."""
        if into in ("sum", "heading"):
            self._add(facts, is_heading=into == "heading")
        elif into in ("buffer", "new buffer"):
            self._of_buffer(facts, text, is_new=into == "new buffer")
        elif into == "both cores":
            self._add({"TensorCore": facts["tensor"], "SparseCore": facts["sparse"]}, is_heading=False)
            needed, available = _bytes(facts["tensor"]) + _bytes(facts["sparse"]), _bytes(facts["available"])
            self._set(kind="compile", space="hbm", needed_bytes=needed, available_bytes=available)
        else:
            # Kind and memory; what is a size is one of the sizes of a shortage.
            said: dict[str, object] = dict(zip(("kind", "space"), into.split(), strict=False))
            if asked := facts.get("asked_bytes"):
                said["is_rounded"] = re.search(r"[KMGTP]", asked) is not None
            self._set(**said, **{key: _bytes(own) if key.endswith("bytes") else own for key, own in facts.items()})

    def _add(self, facts: dict[str, str], *, is_heading: bool) -> None:
        """Sums and their parts: those below a heading have its name before theirs; what has no name ends it."""
        name, size = facts.pop("name", ""), facts.pop("size", "unknown size")
        of = f"{self._section} / {name}" if self._section and name and not is_heading else name
        self._section = name if is_heading else self._section if name else ""
        found = {f"{of}, {part}" if of else part.replace("_", " "): own for part, own in facts.items()}
        found |= {of: size} if size != "unknown size" else {}
        self._sums |= {part: _bytes(own) for part, own in found.items()}

    def _of_buffer(self, facts: dict[str, str], text: str, *, is_new: bool) -> None:
        """Facts of the newest buffer; before there is one, the line is not understood."""
        if is_new and len(self._buffers) < _MOST_BUFFERS:
            self._buffers.append(ReportedBuffer(bytes=0))
        elif is_new or not self._buffers:
            self._keep(text)
            return
        for name, said in facts.items():
            own = _READ[name](said) if name in _READ else {name: _bytes(said) if name.endswith("bytes") else said}
            if left := own.pop("left", ""):
                self._keep(str(left))
            self._buffers[-1] = replace(self._buffers[-1], **own)  # pyright: ignore[reportArgumentType]


def _operator(text: str) -> dict[str, object]:
    known = {"op_type": "", "op_name": "", "source_file": "", "source_line": ""}
    for key, quoted, plain in _PAIR.findall(text):
        if key in known:
            known[key] = unquote_text(quoted) if quoted else plain
    line, left = known["source_line"], _PAIR.sub("", text).strip()
    return {
        "op_name": known["op_name"] or known["op_type"],
        "source_file": known["source_file"],
        "source_line": int(line) if line.isdecimal() and len(line) < 10 else None,
        "left": left,
    }


def _shape(text: str) -> dict[str, object]:
    array = _ARRAY.match(text)
    sizes = [] if array is None else re.findall(r"\d{1,18}", array[2])
    return {"shape": text, "dtype": "" if array is None else array[1], "dimensions": tuple(map(int, sizes))}


def _label(text: str) -> dict[str, object]:
    made = _MADE.match(text)
    name, rest = (made[1], text[made.end() :]) if made is not None else ("", text)
    opcode = re.search(r"(?:^|[ \t])([a-z][\w\-]*)(?:\(|$)", rest)
    return {"instruction": name, "opcode": "" if opcode is None else opcode[1]}


_READ: Mapping[str, Callable[[str], dict[str, object]]] = {
    "operator": _operator, "shape": _shape, "argument": lambda text: {**_shape(text), "is_argument": True}, "label": _label,
}  # fmt: skip
"""Facts of a buffer that say several things."""
_HEAD = re.compile(r"E\d{4}: \w+:\s*|From /job:\S+:\s*")
_PAIR = re.compile(r'(\w+)=(?:("(?:[^"\\]|\\.)*")|(\{[^{}]*\}|[^\s"]+))')
_ARRAY = re.compile(r"(\w+)\[([\d,<=]*)\]")
_NAMED_SIZE = re.compile(r"(?<!P)<(\w+)>")
_MADE = re.compile(r"%?([\w.\-]+) = ")


def _forms(*forms: tuple[str, str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Compiles the forms; `<name>` in a pattern is a size."""
    sized = ((into, _NAMED_SIZE.sub(lambda found: f"(?P<{found[1]}>{_SIZE})", form)) for into, form in forms)
    return tuple((into, re.compile(form)) for into, form in sized)


_FORMS = _forms(
    ("", _HEAD.pattern),
    ("", r"XLA:TPU compile permanent error\.|EXECUTION FAILED: RESOURCE_EXHAUSTED:|Error allocating device buffer:|={10,}"),
    # A compiler refuses.
    ("compile hbm", r"Ran out of memory on HBM, the total memory required for HLO temporaries \(<needed_bytes>\) exceeds available HBM \(<available_bytes>\)\.?"),
    ("compile", r"Ran out of memory in memory space (?P<space>\w+)\. Used <needed_bytes> of <available_bytes> \w+\. Exceeded \w+ capacity by \d[\d.]*\w?\.?(?: Memory usage report:)?"),
    ("compile", r"Ran out of memory in memory space (?P<space>\w+) while allocating on stack for .*?Scoped allocation with size <needed_bytes> and limit <available_bytes> exceeded scoped \w+ limit by \d[\d.]*\w?\.(?: It should not be .*)?"),
    ("both cores", r"TPU TensorCore Hbm usage: <tensor>, SparseCore Hbm usage:? <sparse>, exceeding available bytes: <available>"),
    ("compile", r"Allocation \(size=<asked_bytes>\) would exceed memory \(size=<available_bytes>\) :: (?:.*?\bspace=(?P<space>\w+))?.*"),
    # An allocator has no room.
    ("allocation", r"Out of memory (?:while trying to allocate|allocating) <asked_bytes>\.?(?=\s|$)"),
    ("allocation", r"Failed to allocate request for [\d.]+\w+ \(<asked_bytes>\) on device ordinal (?P<device>\d+)"),
    ("allocation", r"[Ff]ailed to allocate [\d.]+ ?\w+ \(<asked_bytes>\) from device: CUDA_ERROR_OUT_OF_MEMORY(?:: out of memory)?"),
    ("allocation", r"Allocator \((?:[A-Z]+_(?P<device>\d+)_)?\w+\) ran out of memory trying to allocate [\d.]+ ?\w+ ?\(rounded to <asked_bytes>\)(?: ?requested by op ?\S*)?"),
    ("allocation", r"Allocator \((?:[A-Z]+_(?P<device>\d+)_)?\w+\) ran out of memory trying to allocate <asked_bytes>(?: with freed_by_count=\d+\.)?"),
    ("", r"If the cause is memory fragmentation maybe the environment variable .* will improve the situation\."),
    ("", r"The caller indicates that this is not a failure, .* if more memory were available\."),
    ("allocation hbm", r"Attempting to allocate <asked_bytes>\. That was not possible\. There are <free_bytes> free\.[;,]*"),
    ("load hbm", r"Attempting to reserve <asked_bytes> at the bottom of memory\. That was not possible\. There are <free_bytes> free, \d[\d.]*\w+ reserved, and \d[\d.]*\w+ reservable\.[;,]*(?: Scope: [^.]*\.*)?"),
    ("", r"Error loading program '(?P<program>[^']{1,500})':"),
    ("", r"\((?P<device>\dx\dx\d_HBM\d+)\)"),
    ("", r"with allocator \S+ on device (?P<device>\d+)\."),
    ("", r"\[executable_name='(?P<program>[^']{0,500})'\]"),
    ("", r"\[tf-allocator-allocation-error='[^']*'\]"),
    ("", r":? ?while running replica \d+ and partition \d+ of a replicated computation \(other replicas may have failed as well\)\."),
    # Sums.
    ("heading", r"Total (?P<name>\w+ usage) >= <size>:"),
    ("heading", r"(?P<name>Program) \w+ requirement <size>:"),
    ("heading", r"(?P<name>HBM capacity) <size>:"),
    ("sum", r"Output size(?: <output>; shares <output_in_arguments> with arguments| unknown)\."),
    ("sum", r"BufferAssignment OOM Debugging\.|BufferAssignment stats:|Peak buffers:"),
    ("sum", r"(?:No|Largest) program (?:allocations|arguments and outputs) in \w+:?"),
    ("sum", r"(?P<name>[a-z_ ]{1,60} (?:allocation|fragmentation)):\s+<size>(?: \([\d.]+%\))?"),
    ("sum", r"(?P<name>[A-Z][\w\- ]{0,40}):\s+\d[\d.]*\w*\s+\(\s*<size>\)"),
    ("sum", r"(?P<name>[A-Za-z][\w\- ]{0,40}?)\s{2,}(?:unknown size|<size>)(?: \((?:[^()]*Unpadded \(<unpadded>\) Padded \(<padded>\)(?:[^()]*\(<fragmentation>\))?)?.*\))?$"),
    # The list of the largest.
    ("new buffer", r"\d+\. Size: <bytes>|Buffer \d+:"),
    ("buffer", r"Size: <bytes>"),
    ("buffer", r"Unpadded size: <unpadded_bytes>"),
    ("buffer", r"Extra memory due to padding: <padding_bytes> \([\d.]+x expansion\)"),
    ("buffer", r"Operator: (?P<operator>.*)"),
    ("buffer", r"Entry Parameter Subshape: (?P<argument>.*)"),
    ("buffer", r"Shape: (?P<shape>.*)"),
    ("buffer", r"XLA [Ll]abel: (?P<label>.*)"),
    ("buffer", r"Allocation type: (?P<allocation>.*)"),
    ("buffer", r"Tag: (?P<tag>.*)"),
)  # fmt: skip
"""Each form of sentence: what its named groups are facts of, and its pattern. The first that fits is taken."""
