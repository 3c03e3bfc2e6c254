"""The messages with which JAX refuses a callback to Python, and those of callbacks that fail, as facts.

Not its job: effects that must keep their order on several devices (`parse.messages.call_errors`), but for the text of
XLA's.

*Source*: the texts in `jax/_src` of 0.8.2, 0.10.2 and 0.12.0: `callback.py`, `ffi.py`, `ad_checkpoint.py`; and XLA's
`spmd_partitioner.cc` of 0.8 and 0.9.
"""

from __future__ import annotations

import re

from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts
from pjit_inspect.parse.messages.sharding_phrases import parse_integers

__all__ = ["CALLBACK_READERS"]

_SHARDING = re.compile(r"^pure_callback only supports SingleDeviceSharding, but got <class '([\w.]{1,200})'>$")
_GRADIENT = re.compile(r"^(Pure|IO) callbacks do not support JVP\.")
_ORDERED_MAPPED = re.compile(r"^Cannot `vmap` ordered IO callback\.$")
_MAPPED = re.compile(
    r"^vmap is only supported for the (pure_callback|ffi_call) primitive when vmap_method is one of .{1,300}\. Got "
    r"vmap_method=None\.$"
)
_REMAT = re.compile(r"^Effects not supported in (?:partial-eval|AD) of `checkpoint`/`remat`: \[(.{1,2000})\]$", re.S)
_FAILED = re.compile(r"^INTERNAL: CpuCallback error calling callback: Traceback \(most recent call last\):\n")
_SHAPE = re.compile(
    r"^RuntimeError: Incorrect output (shape|dtype) for return value #(\d{1,6}): Expected: "
    r"(\([\d, ]{0,200}\)|\w{1,24}), Actual: (\([\d, ]{0,200}\)|\w{1,24})$",
    re.M,
)
_COUNT = re.compile(
    r"^RuntimeError: Mismatched number of outputs from callback\. Expected: (\d{1,6}), Actual: (\d{1,6})$", re.M
)
_FRAME = re.compile(r'^  File "([^"\n]{1,1000})", line (\d{1,9}), in (\S{1,300})$', re.M)
_RAISED = re.compile(r"^([A-Za-z_][\w.]{0,200})(?:: ([^\n]{0,400}))?$")
# What XLA's partitioner of 0.8 and 0.9 says of an `io_callback` that must keep its order and has a result.
_SIDE_EFFECT = "side-effect HLO cannot have a replicated sharding: %"
_ORDERED_CALL = re.compile(
    r" = \(token\[\],[^\n]{0,2000}? custom-call\([^\n]{0,2000}?custom_call_target=\"xla_(?:ffi_)?python_"
)


def _refused(text: str) -> ErrorFacts | None:
    if found := _SHARDING.match(text):
        return ErrorFacts(kind="callback", names=(found[1].rpartition(".")[2],), reason="sharding")
    if found := _GRADIENT.match(text):
        operation = "pure_callback" if found[1] == "Pure" else "io_callback"
        return ErrorFacts(kind="callback", operation=operation, reason="gradient")
    if _ORDERED_MAPPED.match(text):
        return ErrorFacts(kind="callback", operation="io_callback", reason="ordered")
    if found := _MAPPED.match(text):
        return ErrorFacts(kind="callback", operation=found[1], reason="mapped")
    if (found := _REMAT.match(text)) and re.search(r"\bIOEffect\b|\bOrderedIOEffect\b", found[1]):
        return ErrorFacts(kind="callback", operation="io_callback", reason="remat")
    if _SIDE_EFFECT in text and _ORDERED_CALL.search(text):
        return ErrorFacts(kind="ordered effects", names=("OrderedIOEffect",), reason="partitioner")
    return None


def _failed(text: str) -> ErrorFacts | None:
    start = _FAILED.match(text)
    if start is None:
        return None
    if found := _SHAPE.search(text, start.end()):
        place = int(found[2])
        if found[1] == "shape":
            wanted, given = (ErrorArray(name="", shape=parse_integers(found[part])) for part in (3, 4))
        else:
            wanted, given = (ErrorArray(name="", dtype=found[part]) for part in (3, 4))
        return ErrorFacts(kind="callback", arrays=(given,), wanted=(wanted,), count=place, reason=found[1])
    if found := _COUNT.search(text, start.end()):
        return ErrorFacts(kind="callback", new_shape=(int(found[1]), int(found[2])), reason="count")
    return _raised(text, start.end())


def _raised(text: str, start: int) -> ErrorFacts | None:
    """What the function that was called raised: the last line of the traceback, and where."""
    lines = [line for line in text[start:].splitlines() if line.strip()]
    ends = [number for number, line in enumerate(lines) if line.startswith("  File ")]
    # The exception stands after the last frame, its line and perhaps the marks below that.
    after = [line for line in lines[ends[-1] + 1 :] if not line.startswith(" ")] if ends else []
    found = _RAISED.match(after[0]) if after else None
    frame = _FRAME.match(lines[ends[-1]]) if ends else None
    if found is None or frame is None or "/jax/_src/" in frame[1].replace("\\", "/"):
        return None
    return ErrorFacts(
        kind="callback", names=(found[1], found[2] or ""), function=frame[3], place=f"{frame[1]}:{frame[2]}",
        reason="raised",
    )  # fmt: skip


CALLBACK_READERS = (_refused, _failed)
