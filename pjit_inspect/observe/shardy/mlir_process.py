"""Has jaxlib read programs of files in a process apart: XLA checks input with assertions, and may crash on it.

XLA may print a damaged program for minutes. Not its job: the work there (`mlir_child`).
"""

from __future__ import annotations

from typing import Any

from pjit_inspect.errors import CaptureError
from pjit_inspect.observe.apart.call import Channel

_MOST_CHANNELS = 3
"""Programs that are printed at once: one that takes long keeps no other waiting."""
_START_S = 20.0
_WHAT = "the process that reads programs of files"

_channels: list[Channel] = []


def print_hlo_apart(proto: bytes, *, timeout_s: float = 120.0) -> str:
    """A serialised `xla.HloModuleProto` as XLA prints it. Raises CaptureError where there is no text."""
    return _ask("print", {}, proto, timeout_s)[1].decode("utf-8", "replace")


def read_borders_apart(program: bytes, *, is_bytecode: bool, timeout_s: float = 60.0) -> tuple[dict[str, Any], bytes]:
    """The arguments and results of StableHLO text or bytecode (`how_compiled.read_borders`), and its bytecode.

    Raises CaptureError if jaxlib cannot read it.
    """
    return _ask("borders", {"is_bytecode": is_bytecode}, program, timeout_s)


def _ask(task: str, question: dict[str, Any], program: bytes, timeout_s: float) -> tuple[dict[str, Any], bytes]:
    answer = _free_channel().ask(task, question, [program], timeout_s=timeout_s, start_s=_START_S)
    if not answer.blobs:
        raise CaptureError(f"{_WHAT} gave no answer: its file did not come")
    return answer.said, answer.blobs[0]


def _free_channel() -> Channel:
    """A channel without an open question: an existing or a new one, or the last if there are enough."""
    for channel in _channels:
        if not channel.is_busy():
            return channel
    if len(_channels) < _MOST_CHANNELS:
        _channels.append(Channel(_WHAT))
    return _channels[-1]


def stop_child() -> None:
    """End the processes, if there are any; the next request starts another."""
    for channel in _channels:
        channel.end()
