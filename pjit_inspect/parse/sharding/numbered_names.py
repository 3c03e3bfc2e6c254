"""Numbers in XLA's names, and their operations; only a numbered copy has them (`observe.shardy.numbering`).

XLA writes the calls that lead to an instruction before its operation (`#38/closed_call/#97/add`). It joins the names of
merged instructions (`#45/mul;#44/mul`, `#38/closed_call/(#96/dot:#92/sum)`). A move of an argument has the argument's
name, which has no number. Not its job: matching instructions (`analyze.partition.align`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pjit_inspect.model.sharding.sharded_program import Place
from pjit_inspect.parse.wire.hlo_schema import decode

_NUMBER = re.compile(r"(?<![^/(:;])#(\d{1,9})(?:/([\w.-]+))?(/|(?=[;:)]|$))", re.ASCII)
_NAME = re.compile(r'(?<=op_name=")[^"\n]*(?=")')
_FIRST = re.compile(r"[^;:]*")


class NumberedNames:
    """The names of a numbered copy.

    Args:
      places: the place of each numbered operation.
    """

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places
        self._known: dict[str, Place] = {}

    def place(self, name: str) -> Place:
        """JAX's place of an instruction, from its name in the copy; without a number, the name alone."""
        if name not in self._known:
            self._known[name] = self._read(name)
        return self._known[name]

    def _read(self, name: str) -> Place:
        numbers = map(self._numbered, _NUMBER.finditer(_FIRST.match(name)[0]))  # type: ignore[index]
        found = [place for place in numbers if place is not None]
        if not found:
            return Place(name=name)
        *calls, own = found
        for call in reversed(calls):
            own = own.within(call)
        # Of several merged operations, the first is what the instruction still does, and has the calls.
        first, *others = map(self._restored, name.split(";"))
        others = [part for part in dict.fromkeys(others) if part and not f"/{first}".endswith(f"/{part}")]
        return replace(own, name=";".join((first, *others)))

    def _numbered(self, match: re.Match[str]) -> Place | None:
        """The operation of a number; None for text that only looks like one, as in an argument's name."""
        number, last = int(match[1]), match[2] or ""
        place = self._places[number] if number < len(self._places) else None
        return place if place is not None and place.kept == last else None

    def _restored(self, part: str) -> str:
        def one(match: re.Match[str]) -> str:
            place = self._numbered(match)
            if place is None:
                return match[0]
            return f"{place.name}{match[3]}" if place.name else ""

        restored = _NUMBER.sub(one, part)
        # The last operation may have no name, while its calls have one.
        return restored.removesuffix("/") if restored != part else part

    def in_text(self, text: str) -> str:
        """A text by XLA with the operations' original names."""
        return _NAME.sub(lambda match: self.place(match[0]).name, text)

    def in_program(self, content: bytes) -> bytes:
        """A serialized `xla.HloModuleProto` with the operations' original names. Raises ParseError."""
        module = decode("Module", content, offset=0)
        for place, computation in enumerate(module.computations):
            module.computations[place] = self._in_computation(computation)
        # XLA takes a name right before a file for that of a function.
        names = module.stack_frame_index.function_names
        for place, name in enumerate(names):
            names[place] = self.place(name).name
        return module.SerializeToString()

    def _in_computation(self, content: bytes) -> bytes:
        computation = decode("Computation", content, offset=0)
        for place, own in enumerate(computation.instructions):
            instruction = decode("Instruction", own, offset=0)
            if name := instruction.metadata.op_name:
                instruction.metadata.op_name = self.place(name).name
                computation.instructions[place] = instruction.SerializeToString()
        return computation.SerializeToString()
