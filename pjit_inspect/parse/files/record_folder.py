"""Folders of `.pjit` files, one folder for each process of a program: their names, and finding them.

`records/process-1-of-4/0007_train_step.pjit` is the eighth record of process 1 of 4. A folder without records means
that the process recorded nothing. Beside the records is `saved.json`, the list of written files: names, and the SHA-256
of each file's contents. Only a file that is listed, and unchanged since, is replaced or removed. Not its job: the
contents of a record's file (`parse.files.record_file`).
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pjit_inspect.errors import ParseError
from pjit_inspect.parse.files.regular_file import open_regular
from pjit_inspect.parse.files.whole_file import write_together
from pjit_inspect.standard import load_standard

_FOLDER = re.compile(r"process-(\d{1,9})-of-(\d{1,9})")
_NO_NAME = re.compile(r"[^\w.-]+", re.ASCII)
_LONGEST = 60

_LIST = "saved.json"
_FORMAT = "pjit_inspect log"
_MAX_LIST_BYTES = 64 << 20
_PATIENCE_S, _PAUSE_S = 10.0, 0.01

_EXPECTED = ".pjit files, or folders that have some, as Log.save writes them"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFolder:
    """The folder of one process, by its name: process number and count."""

    process: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A `.pjit` file, and the process of its folder; None for other folders."""

    path: Path
    folder: FoundFolder | None = None


def folder_name(process: int, count: int) -> str:
    """The folder name of one process: `process-1-of-4`."""
    return f"process-{process}-of-{count}"


def file_name(number: int, name: str) -> str:
    """The file name of one record: its place in the log, and its name with characters that every system accepts."""
    return f"{number:04}_{_NO_NAME.sub('_', name)[:_LONGEST]}.pjit"


def save_records(folders: Mapping[Path, Mapping[str, Callable[[], bytes]]]) -> None:
    """Writes the records of a log, by folder and name; each is made just before writing.

    All are on the disk before the first is moved to its place. Then records of an earlier log that this one lacks are
    removed. Raises FileExistsError where a file of that name was not written by this function or was changed since,
    OSError as `write_whole`, and the errors of making a record: then everything is as before.
    """
    with _lock:
        _save(folders)


# Two threads may save logs at the same time.
_lock = threading.RLock()


def _renew_lock() -> None:
    # In a forked child the thread that held the lock does not exist.
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def _save(folders: Mapping[Path, Mapping[str, Callable[[], bytes]]]) -> None:
    made = [folder for folder in folders if not folder.exists()]
    earlier: dict[Path, dict[str, str]] = {}
    held = ExitStack()
    try:
        for folder, files in folders.items():
            folder.mkdir(parents=True, exist_ok=True)
            held.enter_context(_held(folder))
            earlier[folder] = _written_before(folder)
            _check_free(folder, files.keys() - earlier[folder].keys())
        write_together(_contents(folders, earlier))
    except BaseException:
        for folder in made:
            # An empty folder would mean that the process recorded nothing.
            with suppress(OSError):
                folder.rmdir()
        held.close()
        raise
    with held:
        for folder, files in folders.items():
            for name in earlier[folder].keys() - files.keys():
                (folder / name).unlink(missing_ok=True)


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Keeps other processes from saving into a folder, on systems with file locks.

    Raises BlockingIOError if another process keeps the lock too long.
    """
    try:
        fcntl = load_standard("fcntl")
    except ModuleNotFoundError:
        yield
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    reason = "another process has been saving a log into this folder; save elsewhere"
                    raise BlockingIOError(errno.EWOULDBLOCK, reason, str(folder)) from None
                time.sleep(_PAUSE_S)
            except OSError:
                # Some file systems have no locks.
                break
        yield
    finally:
        # A process forked meanwhile has a copy of the descriptor.
        with suppress(OSError):
            fcntl.flock(opened, fcntl.LOCK_UN)
        os.close(opened)


def _contents(
    folders: Mapping[Path, Mapping[str, Callable[[], bytes]]], earlier: Mapping[Path, Mapping[str, str]]
) -> Iterator[tuple[Path, bytes]]:
    for folder, files in folders.items():
        # Both digests of a replaced name: the process may end between writing the list and the file.
        listed = {name: [digest] for name, digest in earlier[folder].items()}
        for name, make in files.items():
            content = make()
            listed.setdefault(name, []).append(hashlib.sha256(content).hexdigest())
            yield folder / name, content
        yield folder / _LIST, json.dumps({"format": _FORMAT, "files": listed}, indent=1, sort_keys=True).encode()


def _written_before(folder: Path) -> dict[str, str]:
    """The files of a folder that `save_records` wrote and nobody changed since, with their digests."""
    found = {}
    for name, digests in _listed(folder / _LIST).items():
        path = folder / name
        if name != path.name or path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest in digests:
            found[name] = digest
    return found


def _listed(path: Path) -> dict[str, list[str]]:
    if not os.path.lexists(path):
        return {}
    try:
        with open_regular(path, "the list of a folder's records") as file:
            whole = json.loads(file.read(_MAX_LIST_BYTES))
        if whole["format"] == _FORMAT:
            return {str(name): [str(digest) for digest in digests] for name, digests in whole["files"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    raise FileExistsError(errno.EEXIST, "this is no list that Log.save wrote: move it, or save elsewhere", str(path))


def _check_free(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        if os.path.lexists(folder / name):
            reason = "this file was not written by Log.save, or was changed since: move it, or save elsewhere"
            raise FileExistsError(errno.EEXIST, reason, str(folder / name))


def find_records(paths: Iterable[str | os.PathLike[str]]) -> tuple[tuple[FoundFile, ...], tuple[FoundFolder, ...]]:
    """Every `.pjit` file in `paths` and their folders, in the order of names; and the folders.

    Links to folders are not followed. Raises ParseError for a path that is no file and no folder.
    """
    files: dict[Path, FoundFile] = {}
    folders: dict[FoundFolder, None] = {}
    for given in paths:
        path = Path(given)
        if not path.exists():
            raise ParseError("there is no such file or folder", path=os.fspath(path), expected=_EXPECTED)
        for folder, names in _walk(path):
            process = _process_of(folder)
            if process is not None:
                folders[process] = None
            files |= {(folder / name).absolute(): FoundFile(path=folder / name, folder=process) for name in names}
    return tuple(files.values()), tuple(folders)


def _walk(path: Path) -> Iterator[tuple[Path, list[str]]]:
    """Each folder with its records. A file given by name counts as one, whatever its name."""
    if not path.is_dir():
        yield path.parent, [path.name]
        return
    for folder, below, names in os.walk(path):
        below.sort(key=_natural)
        yield Path(folder), sorted((name for name in names if name.endswith(".pjit")), key=_natural)


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """A sort key by which process 10 comes after process 9."""
    return tuple(
        (int(part), "") if part.isascii() and part.isdigit() else (-1, part)
        for part in re.split(r"([0-9]{1,18})", name)
    )


def _process_of(folder: Path) -> FoundFolder | None:
    match = _FOLDER.fullmatch(folder.absolute().name)
    return None if match is None else FoundFolder(process=int(match[1]), count=int(match[2]))
