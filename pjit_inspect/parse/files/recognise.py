"""The kind of a file, and the program in it.

Reads HLO text, HLO protos, either of them compressed with gzip, and saved records. A file is data: sizes are bounded,
and anything that is no program is a `ParseError` that names its kind. Not its job: directories
(`parse.files.dump_directory`).
"""

from __future__ import annotations

import gzip
import io
import itertools
import os
import re
import zlib
from dataclasses import dataclass, replace
from typing import Literal

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.incomplete import why_incomplete
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.parse.files.record_file import read_record
from pjit_inspect.parse.files.regular_file import open_regular
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.hlo_text.hlo_text import EncodedText, encode_hlo_texts
from pjit_inspect.parse.wire.clean import clean_line, clean_text
from pjit_inspect.parse.wire.wire import split_message

MAX_BYTES = 2 << 30
"""The largest file that is read, and the largest unpacked size."""

MAX_TEXT_BYTES = 512 << 20
"""The same for HLO text, which needs several times its size in memory."""

EXPECTED = (
    "HLO text, an HLO proto, StableHLO, a profile (xplane.pb), gzip of any, a saved record (.pjit), or a directory "
    "that XLA dumped into or JAX's profiler wrote"
)
"""The kinds of files that `pjit_inspect.open` reads."""

Kind = Literal["record", "text", "proto", "mlir"]

_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_CHUNK = 1 << 24
# As in `parse.files.record_file`: a larger file with a higher compression ratio is treated as a bomb.
_BOMB_BYTES, _BOMB_RATIO = 16 << 20, 200
_BYTE_ORDER_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
_BEGINNING = 1 << 10
_MLIR_BYTECODE = b"ML\xefR"
_MLIR_TEXTS = ("module @", "module {", "module attributes", "#loc", "sdy.mesh", "func.func")

_TRACE = "a trace of a profiler, made for Perfetto, without the programs; the profile beside it (xplane.pb) has them"
_MEMORY = (
    "a memory profile (pprof), as `jax.profiler.save_device_memory_profile` writes it; nothing opens such files yet, "
    "and `pjit_inspect.live_arrays()` shows what this process holds"
)
_OTHERS = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF": "a PDF document",
    b"\x7fELF": "a compiled program (ELF)",
    b"\x80\x04\x95": "a Python pickle",
    b"\x80\x05\x95": "a Python pickle",
    b"\x93NUMPY": "a NumPy array",
    b"\x89HDF": "an HDF5 file",
    b"SQLite format 3": "an SQLite database",
    b"\x28\xb5\x2f\xfd": "compressed with zstd: unpack it first",
    b"\xfd7zXZ": "compressed with xz: unpack it first",
    b"BZh": "compressed with bzip2: unpack it first",
}
"""Beginnings of other kinds of files. *Source*: the `file` command's magic numbers."""

_OTHER_TEXTS = {
    "{ lambda": "a jaxpr",
    '{"displayTimeUnit"': _TRACE,
    '{"traceEvents"': _TRACE,
    '{ "displayTimeUnit"': _TRACE,
    '{ "traceEvents"': _TRACE,
    "BufferAssignment:": "a buffer assignment",
    "Summary:": "a memory usage report",
    "; ModuleID": "LLVM IR",
    "<": "HTML or XML",
}
"""Beginnings of other kinds of texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """The contents of a file.

    Attributes:
      data: the record.
      module: its optimized program, parsed; None for a saved record, which is parsed on first use.
      text: its optimized program as XLA printed it, if the file has that.
    """

    data: RecordData
    module: HloModule | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """The contents of a profile: a serialised `XSpace`, which `parse.profile` reads."""

    trace: bytes


def read_programs(path: str | os.PathLike[str]) -> list[Program] | Profile:
    """The programs in a file of any known kind, in order, or a profile. Only HLO text has more than one program.

    Raises `ParseError` that names the file and what was expected, `VersionError` for a record of a newer version, and
    `OSError` when the file cannot be opened.
    """
    name = os.fspath(path)
    try:
        content = _unpacked(_read(name))
        kind = recognise(content)
        if kind == "record":
            return [Program(data=read_record(path))]
        if kind == "mlir":
            return [_from_mlir(content)]
        if kind == "text":
            return [_from_encoded(one) for one in encode_hlo_texts(_decoded(content))]
        return _from_proto(content)
    except MemoryError as error:
        message = "the file is too large for the memory of this machine"
        raise ParseError(message, path=name, expected=EXPECTED) from error
    except ParseError as error:
        if error.path is not None:
            raise
        raise type(error)(error.message, path=name, offset=error.offset, expected=error.expected) from error


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """The unpacked contents of a file. Raises `ParseError` if it is no regular file or too large, and `OSError`."""
    return _unpacked(_read(os.fspath(path)))


def recognise(content: bytes) -> Kind:
    """The kind of `content`, a whole file or its beginning. Raises `ParseError` that names another kind."""
    if not content:
        raise ParseError("the file is empty", expected=EXPECTED)
    if content.startswith(_ZIP):
        return "record"
    for start, what in _OTHERS.items():
        if content.startswith(start):
            raise ParseError(f"this is {what}", expected=EXPECTED)
    if content.startswith(_MLIR_BYTECODE):
        return "mlir"
    if not _is_text(content[:_BEGINNING]):
        return "proto"
    text = _decoded(content[:_BEGINNING]).lstrip()
    if text.startswith(_MLIR_TEXTS):
        return "mlir"
    for start, what in _OTHER_TEXTS.items():
        if text.startswith(start):
            raise ParseError(f"this is {what}", expected=EXPECTED)
    return "text"


def _is_text(beginning: bytes) -> bool:
    if beginning[:2] in _BYTE_ORDER_MARKS:
        return True
    return not any(byte < 32 and byte not in b"\t\n\f\r" for byte in beginning)


def _decoded(content: bytes) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    return content.decode("utf-8", "replace")


def _read(path: str) -> bytes:
    with open_regular(path, EXPECTED) as file:
        beginning = file.read(_BEGINNING)
        size, limit = os.fstat(file.fileno()).st_size, _limit(beginning)
        if size > limit:
            raise ParseError(f"the file has {size} bytes", expected=f"at most {limit}")
        # A file that grows meanwhile is not read further; memory is reserved for the requested size.
        return beginning + file.read(max(0, size - len(beginning)))


def _limit(beginning: bytes) -> int:
    """The most bytes to read of a file with this beginning."""
    return min(MAX_BYTES, MAX_TEXT_BYTES) if _is_text(beginning[:_BEGINNING]) else MAX_BYTES


def _unpacked(content: bytes) -> bytes:
    """The content, unpacked if it is compressed with gzip."""
    if not content.startswith(_GZIP):
        return content
    chunks, size = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            while chunk := file.read(_CHUNK):
                size += len(chunk)
                chunks.append(chunk)
                _check_unpacked(len(content), size, _limit(chunks[0]))
    except (OSError, EOFError, zlib.error) as error:
        raise ParseError(f"the gzip file is cut off or damaged ({error})", expected=EXPECTED) from error
    return b"".join(chunks)


def _check_unpacked(packed: int, size: int, limit: int) -> None:
    if size > limit:
        raise ParseError(f"the file unpacks to more than {limit} bytes", expected=f"at most {limit}")
    if size > _BOMB_BYTES and size > packed * _BOMB_RATIO:
        message = f"the file unpacks {packed} bytes to {size} and more: a gzip bomb"
        raise ParseError(message, expected=f"at most {_BOMB_RATIO} to 1")


def _from_encoded(one: EncodedText) -> Program:
    if isinstance(one.proto, ParseError):
        return unreadable_program(one.name, one.proto.message)
    module = parse_program(one.proto)
    return Program(data=_record(module, one.proto), module=module, text=one.text)


def _from_mlir(content: bytes) -> Program:
    """The program before optimization only, from StableHLO as bytecode or text."""
    reasons: dict[str, str] = dict.fromkeys(("hlo", "mesh", "inputs", "outputs"), _BEFORE)
    if content.startswith(_MLIR_BYTECODE):
        return Program(data=RecordData(name="unnamed", transform="StableHLO", stablehlo=Blob(content), missing=reasons))
    text = clean_text(_decoded(content))
    found = _MLIR_NAME.search(text)
    name, transform = _split_name(found[1] if found else "")
    transform = "StableHLO" if transform == "HLO" else transform
    return Program(data=RecordData(name=clean_line(name), transform=transform, stablehlo_text=text, missing=reasons))


_MLIR_NAME = re.compile(r"^\s*module @\"?([\w.$<>\-]{1,1000})", flags=re.M)
_BEFORE = "the file has the program before optimization, and XLA has not compiled it"


def _other_proto(content: bytes) -> Profile | str:
    """The kind of a proto that is no program; "" if unknown."""
    try:
        fields = list(itertools.islice(split_message(content, 0, len(content)), _FIRST_FIELDS))
    except ParseError:
        fields = []
    if any(field.number == 6 and content[field.start : field.end] in _PPROF for field in fields):
        return _MEMORY
    planes = [content[field.start : min(field.end, field.start + 64)] for field in fields if field.number == 1]
    return Profile(content) if any(b"/host:" in plane or b"/device:" in plane for plane in planes) else ""


_FIRST_FIELDS = 10_000
_PPROF = (b"space", b"objects", b"allocations", b"samples")


def _from_proto(content: bytes) -> list[Program] | Profile:
    what = _other_proto(content)
    if isinstance(what, Profile):
        return what
    if what:
        raise ParseError(f"this is {what}", expected=EXPECTED)
    try:
        module = parse_program(content)
    except ParseError as error:
        # For a file that is no program at all, the byte where reading stopped says nothing.
        expected = error.expected if content[:1] == _FIRST_FIELD else EXPECTED
        raise ParseError(f"{error.message}, read as a proto", offset=error.offset, expected=expected) from error
    return [program_of(module, content)]


def program_of(module: HloModule, content: bytes) -> Program:
    """The program of a module, parsed from `content`, a serialised `HloModuleProto` or `HloProto`."""
    proto, buffers = _parts(content)
    data = _record(module, proto)
    return Program(data=replace(data, buffers=Blob(buffers)) if buffers else data, module=module)


_FIRST_FIELD = b"\x0a"
"""The first byte of a module's name, and of a module in an `HloProto`."""


def _parts(content: bytes) -> tuple[bytes, bytes]:
    """The module alone, and XLA's buffer assignment, if they are in an `HloProto`; b"" for no assignment."""
    parts = {field.number: field for field in split_message(content, 0, len(content))}
    if 1 not in parts or not parts.keys() <= {1, 3}:
        return content, b""
    module, buffers = parts[1], parts.get(3)
    return content[module.start : module.end], b"" if buffers is None else content[buffers.start : buffers.end]


def unreadable_program(name: str, reason: str) -> Program:
    """The program of a module `name` whose file is missing or unreadable because of `reason`."""
    name, transform = _split_name(name)
    data = RecordData(name=clean_line(name), transform=transform, missing={**_NOT_IN_HLO, "hlo": clean_line(reason)})
    return Program(data=data)


def _record(module: HloModule, proto: bytes) -> RecordData:
    """The record of a program alone."""
    name, transform = _split_name(module.name)
    lacks = why_incomplete(module.unknown)
    missing = {**_NOT_IN_HLO, **({"hlo": lacks} if lacks else {})}
    return RecordData(name=name, transform=transform, hlo=Blob(proto), missing=missing)


def _split_name(name: str) -> tuple[str, str]:
    """Name and transform: JAX puts both into the module's name."""
    prefix = next((prefix for prefix in _TRANSFORMS if name.startswith(prefix)), "")
    return name.removeprefix(prefix) or "unnamed", _TRANSFORMS.get(prefix, "HLO")


_TRANSFORMS = {"jit_": "jit", "pmap_": "pmap"}
_NOT_IN_HLO: dict[str, str] = dict.fromkeys(("inputs", "mesh", "outputs"), "HLO does not say")
