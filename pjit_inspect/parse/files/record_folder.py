"""Folders of `.pjit` files, one folder for each process of a program: their names, and finding them.

`records/process-1-of-4/0007_train_step.pjit` is the eighth record of process 1 of 4. A folder without files says that
the process recorded nothing. Not its job: what a file holds (`parse.files.record_file`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pjit_inspect.errors import ParseError

__all__ = ["FoundFile", "FoundFolder", "file_name", "find_records", "folder_name", "remove_saved"]

_FOLDER = re.compile(r"process-(\d{1,9})-of-(\d{1,9})")
_FILE = re.compile(r"\d{4,}_[\w.-]*\.pjit", re.ASCII)
_NO_NAME = re.compile(r"[^\w.-]+", re.ASCII)
_LONGEST = 60

_EXPECTED = ".pjit files, or folders that have some, as Log.save writes them"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFolder:
    """The folder of one process, by its name: which of how many."""

    process: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A `.pjit` file, and the process whose folder it lies in; None when it lies elsewhere."""

    path: Path
    folder: FoundFolder | None = None


def folder_name(process: int, count: int) -> str:
    """What the folder of one process is called: `process-1-of-4`."""
    return f"process-{process}-of-{count}"


def file_name(number: int, name: str) -> str:
    """What the file of one record is called: its place in the log, and what of its name any system takes."""
    return f"{number:04}_{_NO_NAME.sub('_', name)[:_LONGEST]}.pjit"


def remove_saved(folder: Path, keep: Iterable[str]) -> None:
    """Remove the files that an earlier save left in a process's folder, by the names it gives, but those to `keep`."""
    kept = set(keep)
    for path in folder.iterdir():
        if _FILE.fullmatch(path.name) and path.name not in kept:
            path.unlink()


def find_records(paths: Iterable[str | os.PathLike[str]]) -> tuple[tuple[FoundFile, ...], tuple[FoundFolder, ...]]:
    """Every `.pjit` file among `paths` and in the folders among them, in the order of their names; and the folders.

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
    """Each folder with its records. A file that was given by name is one, whatever it is called."""
    if not path.is_dir():
        yield path.parent, [path.name]
        return
    for folder, below, names in os.walk(path):
        below.sort(key=_natural)
        yield Path(folder), sorted((name for name in names if name.endswith(".pjit")), key=_natural)


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """So that process 10 comes after process 9."""
    return tuple(
        (int(part), "") if part.isascii() and part.isdigit() else (-1, part)
        for part in re.split(r"([0-9]{1,18})", name)
    )


def _process_of(folder: Path) -> FoundFolder | None:
    match = _FOLDER.fullmatch(folder.absolute().name)
    return None if match is None else FoundFolder(process=int(match[1]), count=int(match[2]))
