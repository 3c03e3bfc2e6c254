"""Makes answers from the files that XLA's partitioner leaves in a folder while it works.

The process that compiles is ended as soon as the partitioner's files are complete: later steps, above all code
generation, are never awaited. Not its job: making XLA write (`observe.partitioner.child`), or watching that process
(`observe.apart.server`, which makes a `Watch` for each question).
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from pjit_inspect.errors import CaptureError
from pjit_inspect.observe.partitioner import dump as partitioner_dump


class Watch:
    """One question while it is answered.

    Attributes:
      question: the question for the process that compiles, with the folder it writes to.
    """

    def __init__(self, owner: int, question: dict[str, Any]) -> None:
        partitioner_dump.remove_left_over()
        self._folder, self._held = partitioner_dump.make_folder(owner, question["program"])
        self.question: dict[str, Any] = {**question, "folder": str(self._folder)}
        # A child that is killed afterwards need not come to its end; the compiler for TPUs comes to it by itself.
        self._is_early = question["effort"] == "partition" and question["target"].get("platform") != "tpu"
        self._is_half_told = not self._is_early
        self._facts: dict[str, Any] = {}

    def half(self) -> int | None:
        """The open file of the program before partitioning, once, where it comes long before the rest."""
        if self._is_half_told or (before := partitioner_dump.find_before(self._folder)) is None:
            return None
        self._is_half_told = True
        return partitioner_dump.open_module(before)

    def is_enough(self) -> bool:
        """True if the requested files are complete. Raises CaptureError if XLA writes too much."""
        if partitioner_dump.size_bytes(self._folder) > partitioner_dump.MAX_BYTES:
            raise CaptureError(
                f"XLA writes more than {partitioner_dump.MAX_BYTES >> 30} GiB about this program, more than is read; "
                f"ask about fewer layers"
            )
        return self._is_early and self._files() is not None

    def _files(self) -> tuple[Path, ...] | None:
        """The programs before and after partitioning, once they are complete; of one partition, that before alone."""
        self._facts = self._facts or json.loads(
            partitioner_dump.read_text(self._folder / partitioner_dump.FACTS) or "{}"
        )
        if self._facts.get("partitions") != 1:
            return partitioner_dump.find_modules(self._folder)
        whole = partitioner_dump.find_whole(self._folder)
        return None if whole is None else (whole,)

    def answer(self, said: dict[str, Any], how: str) -> tuple[dict[str, Any], list[int]]:
        """The facts and open files; `said` by the process itself, which ended as `how` says, or "".

        Raises CaptureError if there is no answer.
        """
        files, facts = self._files(), self._facts
        stderr = partitioner_dump.read_text(self._folder / partitioner_dump.STDERR)
        # A program for which memory is short was partitioned nevertheless.
        if how or files is None or not facts:
            raise CaptureError(said.get("failure") or _why(how, stderr))
        answer = {
            **facts,
            "failure": "",
            **said,
            "devices": json.loads(partitioner_dump.read_text(self._folder / partitioner_dump.DEVICES)),
            "partitioner": "shardy" if partitioner_dump.used_shardy(self._folder) else "gspmd",
            "warnings": partitioner_dump.read_warnings(self._folder),
            "rules": json.loads(partitioner_dump.read_text(self._folder / partitioner_dump.RULES) or "[]"),
        }
        places = partitioner_dump.open_places(self._folder)
        return answer, [places, *map(partitioner_dump.open_module, files)]

    def clear(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)
        os.close(self._held)


def _why(how: str, stderr: str) -> str:
    """The reason why a process has no answer, although it ended as `how` says or compiled the program."""
    if not how:
        return "XLA compiled the program but wrote no program before and after partitioning"
    said = next((line for line in reversed(stderr.splitlines()) if line.startswith(("F", "E"))), "")
    return f"the process that asked XLA's partitioner {how}" + (f": {said[:300]}" if said else "")
