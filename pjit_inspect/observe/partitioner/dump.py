"""The folder into which XLA writes about one program while its partitioner is asked.

It is in memory if there is room, and is locked while in use; folders left by a killed server are removed by the next
one. Not its job: making XLA write (`observe.partitioner.child`), or waiting for it.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

PASSES = "spmd-partitioning|sharding-propagation"
"""Not "shardy" too, for which XLA writes five more files, nor "shardy-verbose", which can end the process."""
MAX_BYTES = 1 << 30
FACTS, DEVICES, STDERR = "pjit_inspect.facts", "pjit_inspect.devices", "pjit_inspect.stderr"
PLACES, RULES = "pjit_inspect.places", "pjit_inspect.rules"
"""Our files: the child's facts about the program, its devices in order, XLA's output, the places of operations, and the
calls whose partition rules are not known."""

_PASSES = ("spmd-partitioning", "tpu-spmd-partitioning")
_AFTER = tuple(f".after_{name}." for name in _PASSES)
_PROPAGATION = "sharding-propagation"
_BEFORE = (
    *(f".before_{name}." for name in _PASSES),
    ".after_shardy-xla.",
    f".after_{_PROPAGATION}.",
    f".before_{_PROPAGATION}.",
)
_WHOLE, _OPTIMIZED = ".before_optimizations.hlo.pb", ".after_optimizations.hlo.pb"
_MAX_TEXT_BYTES = 1 << 26
_WARNING = re.compile(
    r"(?:[WEF]\d{4} [\d:.]+ +\d+ |\d{4}-\d\d-\d\d [\d:.]+: [WEF] )(?!\S*slow_operation_alarm)[^\s:\]]+:\d+\]"
)
_MOST_WARNINGS = 1000
_MEMORY, _PREFIX = "/dev/shm", "pjit_inspect_partitioner_"
_MOST_TRIES = 100
"""Most tries to make a folder: a starting server looks once, and can take away at most one of them."""


def make_folder(owner: int, program_bytes: int) -> tuple[Path, int]:
    """A new folder for a question of the process `owner`, and a lock on it, as `hold` gives one.

    Between the two a server that starts just then may take it for left over, and remove it: then it is made anew.
    """
    for _ in range(_MOST_TRIES):
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{owner}_", dir=_roomy(program_bytes)))
        with suppress(BlockingIOError, FileNotFoundError):
            held = hold(folder)
            if _is_same(folder, held):
                return folder, held
            os.close(held)
    raise BlockingIOError("a folder for XLA's dump was taken for left over, again and again")


def _is_same(folder: Path, opened: int) -> bool:
    """True if the folder is there, and the one that was opened."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.stat(folder), os.fstat(opened))
    return False


def hold(folder: str | Path) -> int:
    """A lock on a folder, for as long as this process or a child has it open. Raises BlockingIOError when held."""
    import fcntl

    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(held)
        raise
    return held


def remove_left_over() -> None:
    """Removes folders of killed servers, which are no longer held."""
    for home in (_MEMORY, tempfile.gettempdir()):
        with suppress(OSError):
            names = [entry.path for entry in os.scandir(home) if entry.name.startswith(_PREFIX)]
            for name in names:
                with suppress(OSError):
                    if os.lstat(name).st_uid != os.getuid():
                        continue
                    held = hold(name)
                    shutil.rmtree(name, ignore_errors=True)
                    os.close(held)


def _roomy(program_bytes: int) -> str | None:
    """Memory folder if it has room for XLA's output about a program of this size; None for the temporary folder."""
    try:
        room = os.statvfs(_MEMORY)
    except OSError:
        return None
    # 16 layers: 191 KB of bytecode, 5 MB of dump.
    needed = min((32 << 20) + 64 * program_bytes, MAX_BYTES)
    return _MEMORY if os.access(_MEMORY, os.W_OK) and room.f_bavail * room.f_frsize >= needed else None


def size_bytes(folder: Path) -> int:
    """The total size of its files."""
    with suppress(OSError), os.scandir(folder) as entries:
        return sum(entry.stat().st_size for entry in entries)
    return 0


def find_modules(folder: Path) -> tuple[Path, Path] | None:
    """The files before and after partitioning, once both are complete."""
    with suppress(OSError):
        # Numbered in the order of passes. A pass that changes nothing writes nothing: then an earlier file holds.
        names = sorted(name for name in os.listdir(folder) if name.endswith(".hlo.pb"))
        after = next((name for name in names if any(part in name for part in _AFTER)), None)
        if after is None:
            return None
        own = [name for name in names[: names.index(after)] if name.split(".")[0] == after.split(".")[0]]
        before = next((name for part in _BEFORE for name in own if part in name), None)
        if before is not None and _is_complete(folder / before) and _is_complete(folder / after):
            return folder / before, folder / after
    return None


def find_before(folder: Path) -> Path | None:
    """The file right before partitioning, as soon as it is complete, which is long before that after it."""
    return _complete_file(folder, [f".before_{own}." for own in _PASSES])


def find_whole(folder: Path) -> Path | None:
    """The file before all passes, once it is complete: nothing precedes it in a program of one partition."""
    return _complete_file(folder, [_WHOLE])


def _complete_file(folder: Path, parts: Sequence[str]) -> Path | None:
    with suppress(OSError):
        names = sorted(name for name in os.listdir(folder) if name.endswith(".hlo.pb"))
        found = (folder / name for name in names if any(part in name for part in parts))
        return next(filter(_is_complete, found), None)
    return None


def open_places(folder: Path) -> int:
    """Opens the file with the places of operations."""
    return os.open(folder / PLACES, os.O_RDONLY)


def open_module(path: Path) -> int:
    """An open file, placed at the module in it."""
    file = os.open(path, os.O_RDONLY)
    os.lseek(file, _frame(path)[0], os.SEEK_SET)
    return file


def _is_complete(path: Path) -> bool:
    start, length = _frame(path)
    return start > 0 and path.stat().st_size >= start + length


def _frame(path: Path) -> tuple[int, int]:
    """The begin of the module in a file of XLA's, and its length; (0, 0) while it is not written.

    The file is a `xla.HloProto` whose first field is the module. Its length is written before it: a part of a file is
    never taken for the whole.
    """
    with path.open("rb") as file:
        head = file.read(11)
    length = 0
    if head[:1] != b"\x0a":
        return 0, 0
    for place, byte in enumerate(head[1:]):
        length |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return place + 2, length
    return 0, 0


def used_shardy(folder: Path) -> bool:
    """True if no file names GSPMD's propagation, which runs in the place of Shardy's."""
    return not any(_PROPAGATION in name for name in os.listdir(folder))


def read_text(path: Path) -> str:
    """The beginning of a text; "" where there is none."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(_MAX_TEXT_BYTES).decode("utf-8", "replace")
    return ""


def read_warnings(folder: Path) -> str:
    """XLA's warnings while it partitioned, one message per line, without those about slow compilation."""
    said = read_text(folder / STDERR).splitlines()
    return "\n".join(list(filter(_WARNING.match, said))[:_MOST_WARNINGS])


def read_buffers(folder: Path) -> bytes:
    """XLA's text about the memory of the program, the buffer assignment; b"" for none."""
    texts = map(read_text, sorted(folder.glob("*-buffer-assignment.txt"), reverse=True))
    return next((text.encode() for text in texts if len(text) < _MAX_TEXT_BYTES), b"")


def read_optimized(folder: Path) -> bytes:
    """The program as XLA scheduled it, a serialized `xla.HloModuleProto`; b"" where it wrote none."""
    return next(filter(None, map(read_module, sorted(folder.glob(f"*{_OPTIMIZED}"), reverse=True))), b"")


def read_module(path: Path) -> bytes:
    """The program in a file of XLA's, a serialized `xla.HloModuleProto`; b"" while it is not complete."""
    start, length = _frame(path)
    if not _is_complete(path):
        return b""
    with path.open("rb") as file:
        file.seek(start)
        return file.read(length)


def leave_text(folder: Path, name: str, text: str) -> None:
    """Leave a text in the folder, whole: somebody looks there while it is written."""
    part = folder / f"{name}.part"
    part.write_bytes(text.encode("utf-8", "replace"))
    part.replace(folder / name)
