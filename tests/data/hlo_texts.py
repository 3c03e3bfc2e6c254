"""One program from HLO text, as the tests write it. Not its job: reading texts (`pjit_inspect.parse.hlo_text`)."""

from __future__ import annotations

import os

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.incomplete import MORE_PROGRAMS
from pjit_inspect.parse.files.recognise import Program, read_programs
from pjit_inspect.parse.hlo_proto.columns import verbatim_field
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.hlo_text.hlo_text import encode_hlo_texts


def parse_hlo_text(text: str, *, path: str | None = None) -> HloModule:
    """The program that `text` describes, as XLA prints it.

    Lines that cannot be read, unknown attributes and opcodes are kept, and counted in `HloModule.unknown`. Raises
    `ParseError` with the line, naming `path` when it is given, for a text that is no HLO.
    """
    return parse_program(encode_hlo_text(text, path=path), path=path)


def encode_hlo_text(text: str, *, path: str | None = None) -> bytes:
    """The same as a serialised `xla.HloModuleProto`, for `parse_program`.

    Ids are given in the order of the text. What has no field stands in a field of our own (`parse.hlo_proto.hlo`).
    """
    try:
        first, *more = encode_hlo_texts(text)
    except ParseError as error:
        raise ParseError(error.message, path=path, offset=error.offset, expected=error.expected) from error
    if isinstance(first.proto, ParseError):
        raise ParseError(first.proto.message, path=path, offset=first.proto.offset, expected=first.proto.expected)
    return first.proto + verbatim_field(MORE_PROGRAMS, "") * len(more)


def read_program(path: str | os.PathLike[str]) -> Program:
    """The first program of a file of any kind. Raises as `read_programs`."""
    programs = read_programs(path)
    assert isinstance(programs, list)
    return programs[0]
