"""Writes and reads `.pjit` files: one compile record each.

A file is a zip archive of `record.json` (every field but the programs and the log), `jaxpr.txt`, `stablehlo.mlirbc`,
`stablehlo.mlir`, `propagation.json`, `times.json`, `module.hlo.pb` and `compiler.log`; `record.json` lists which of
these the record has. Devices, meshes and shardings are rows of tables in `record.json`, referred to by index. Equal
records give equal bytes.

Files are not trusted: sizes are bounded, nothing is unpickled, evaluated or extracted to disk, and every fault is a
`ParseError`. Not its job: the contents of programs (`parse.hlo_proto.hlo`), or finding files (`api`).
"""

from __future__ import annotations

import errno
import io
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, BinaryIO

from pjit_inspect.errors import ParseError, PjitInspectError, VersionError
from pjit_inspect.model.program.layout import Sharding
from pjit_inspect.model.program.mesh import Device, Mesh
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.parse.files.json_entries import propagation_bytes, read_propagation, read_times, times_bytes
from pjit_inspect.parse.files.json_fields import (
    TableWriter,
    from_json,
    json_bytes,
    parse_json,
    tables_from_json,
    to_json,
)
from pjit_inspect.parse.files.regular_file import open_regular
from pjit_inspect.parse.files.whole_file import write_whole
from pjit_inspect.parse.wire.clean import cleaned

FORMAT = "pjit_inspect record"
"""The `format` every record file names."""

VERSION = 4
"""The version of the format this package writes, and the newest it reads."""

_JSON = "record.json"

_TEXT = (
    lambda text: text.encode("utf-8", "surrogatepass"),
    lambda content, _: content.decode("utf-8", "surrogatepass"),
)
_BLOB = (Blob.read, lambda content, _: Blob(content))
_ENTRIES: dict[str, tuple[str, Callable[[Any], bytes], Callable[[bytes, str], Any]]] = {
    "jaxpr": ("jaxpr.txt", *_TEXT),
    "stablehlo_text": ("stablehlo.mlir", *_TEXT),
    "compiler_log": ("compiler.log", *_TEXT),
    "stablehlo": ("stablehlo.mlirbc", *_BLOB),
    "hlo": ("module.hlo.pb", *_BLOB),
    "buffers": ("buffers.xla", *_BLOB),
    "propagation": ("propagation.json", propagation_bytes, read_propagation),
    "kernel_times": ("times.json", times_bytes, read_times),
}
"""Field of the record -> the name of its entry, and how its value is written and read."""
_KNOWN = {_JSON, *(name for name, _, _ in _ENTRIES.values())}
_TABLES = (Device, Mesh, Sharding)

_MAX_ENTRIES = 1000
# JSON takes up to thirty times its size once it is read.
_MAX_JSON_BYTES = 16 << 20
_MAX_ENTRY_BYTES = 1 << 30
_MAX_TOTAL_BYTES = 2 << 30
# Readers treat a larger entry with a higher compression ratio as a zip bomb, so writing stores it uncompressed.
_BOMB_BYTES, _BOMB_RATIO = 16 << 20, 200
_CHUNK = 1 << 20
_MAX_RANK = 64

_FIRST_DATE = (1980, 1, 1, 0, 0, 0)
_PLAIN_FILE = 0o644 << 16
_UNIX = 3
_ENCRYPTED = 0x1

_ZIP_STARTS = b"PK\x03\x04"
_EXPECTED_FILE = "a record that CompileRecord.save wrote"
_BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, ValueError,
    OverflowError, IndexError, MemoryError,
)  # fmt: skip


def write_record(data: RecordData, path_or_file: str | os.PathLike[str] | BinaryIO) -> None:
    """Writes one record as a `.pjit` file.

    A path is written as by `parse.files.whole_file`; a file object gets the bytes in one `write`. Raises OSError, and
    the errors of `record_bytes`; an old file then stays.
    """
    content = record_bytes(data)
    if isinstance(path_or_file, (str, os.PathLike)):
        write_whole(path_or_file, content)
    else:
        path_or_file.write(content)


def record_bytes(data: RecordData) -> bytes:
    """The bytes of a `.pjit` file.

    Raises PjitInspectError when a program is too large for the format, and any error of making a program's bytes.
    """
    entries: dict[str, bytes] = {}
    for field, (name, write, _) in _ENTRIES.items():
        if (value := getattr(data, field)) is None:
            continue
        content = write(value)
        if name.endswith(".json") and len(content) > _MAX_JSON_BYTES:
            reason = f"too large to save: {len(content)} bytes"
            data = replace(data, **{field: None}, missing={**data.missing, field: reason})
        else:
            entries[name] = content
    entries[_JSON] = _json_bytes(data)
    _check_writable(entries)
    buffer = io.BytesIO()
    archive = zipfile.ZipFile(buffer, "w")
    try:
        for name in sorted(entries):
            archive.writestr(_entry_info(name, entries[name]), entries[name])
        archive.close()
    except BaseException:
        # Closing it in the middle of an entry would raise a ValueError in place of Ctrl-C.
        archive.fp = None
        raise
    return buffer.getvalue()


def _json_bytes(data: RecordData) -> bytes:
    tables = TableWriter(*_TABLES)
    record = to_json(data, RecordData, tables, skip=tuple(_ENTRIES))
    # Listed, so that a file that lost an entry is damaged, not a record without that program.
    programs = [field for field in sorted(_ENTRIES) if getattr(data, field) is not None]
    head = {"format": FORMAT, "version": VERSION, "programs": programs}
    return json_bytes({**head, "tables": tables.to_json(), "record": record})


def _check_writable(entries: dict[str, bytes]) -> None:
    for name, content in entries.items():
        limit = _limit(name)
        if len(content) > limit:
            raise PjitInspectError(f"the record is too large to save: {name} has {len(content)} bytes, at most {limit}")
    total = sum(map(len, entries.values()))
    if total > _MAX_TOTAL_BYTES:
        raise PjitInspectError(f"the record is too large to save: {total} bytes, at most {_MAX_TOTAL_BYTES}")


def _limit(name: str) -> int:
    """The most bytes of an entry."""
    return _MAX_JSON_BYTES if name.endswith(".json") else _MAX_ENTRY_BYTES


def _entry_info(name: str, content: bytes) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=_FIRST_DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    if len(content) > _BOMB_BYTES and _shrinks_too_well(content):
        info.compress_type = zipfile.ZIP_STORED
    # The same bytes on every operating system.
    info.create_system, info.external_attr = _UNIX, _PLAIN_FILE
    return info


def _shrinks_too_well(content: bytes) -> bool:
    """True if readers would treat it as a bomb when compressed; its beginning nearly always decides."""
    packer, size = zlib.compressobj(), 0
    for start in range(0, len(content), _CHUNK):
        size += len(packer.compress(content[start : start + _CHUNK]))
        if size * _BOMB_RATIO >= len(content):
            return False
    return (size + len(packer.flush())) * _BOMB_RATIO < len(content)


def read_record(path_or_file: str | os.PathLike[str] | BinaryIO) -> RecordData:
    """The record in a `.pjit` file, given as a path or a seekable binary file.

    Raises ParseError (with the path, and the byte if known) when the file is cut off, damaged, not a
    record, or larger than the format allows; VersionError when a newer package wrote it; OSError as `open` does.
    """
    if isinstance(path_or_file, (str, os.PathLike)):
        with open_regular(path_or_file, _EXPECTED_FILE) as file:
            return _read(file, os.fspath(path_or_file))
    return _read(path_or_file, None)


def _read(file: BinaryIO, path: str | None) -> RecordData:
    try:
        _check_is_archive(file)
        with _open_archive(file) as archive:
            entries = _checked_entries(archive)
            whole = _read_json(archive, entries)
            _check_header(whole)
            programs = _read_programs(archive, entries, whole.get("programs"))
            return _clean(replace(_record_from_json(whole), **programs))
    except ParseError as error:
        # The readers below do not know the path; the error's kind and offset stay.
        raise type(error)(error.message, path=path, offset=error.offset, expected=error.expected) from error.__cause__
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise ParseError("the archive's offsets point outside the file", path=path, expected=_EXPECTED_FILE) from error


def _clean(data: RecordData) -> RecordData:
    try:
        return cleaned(data)
    except ValueError as error:
        raise ParseError(f"names differ in characters that cannot be shown only: {str(error)[:200]}") from error


def _check_is_archive(file: BinaryIO) -> None:
    file.seek(0)
    start = file.read(len(_ZIP_STARTS))
    if start == _ZIP_STARTS:
        return
    if not start:
        raise ParseError("the file is empty", offset=0, expected=_EXPECTED_FILE)
    message = f"the file begins with {start!r}, so it is no zip archive; HLO files are for `open`"
    raise ParseError(message, offset=0, expected=_EXPECTED_FILE)


def _open_archive(file: BinaryIO) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except _BROKEN as error:
        size = file.seek(0, os.SEEK_END)
        message = f"the archive's directory cannot be read ({error}); the file is damaged or cut off"
        raise ParseError(message, offset=size, expected="a whole zip archive") from error


def _checked_entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The archive's entries by name, after the checks that need only its directory."""
    infos = archive.infolist()
    if len(infos) > _MAX_ENTRIES:
        raise ParseError(f"the archive has {len(infos)} entries", expected=f"at most {_MAX_ENTRIES}")
    entries: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        _check_name(info)
        if info.filename not in _KNOWN:
            continue
        _check_size(info)
        if info.filename in entries:
            raise ParseError(f"the entry {info.filename!r} is there twice", offset=info.header_offset)
        entries[info.filename] = info
    total = sum(info.file_size for info in entries.values())
    if total > _MAX_TOTAL_BYTES:
        raise ParseError(f"the entries unpack to {total} bytes", expected=f"at most {_MAX_TOTAL_BYTES}")
    return entries


def _check_name(info: zipfile.ZipInfo) -> None:
    name = info.filename
    # Nothing is ever extracted, but such a name shows that the file was made to harm others who extract it.
    if name.startswith("/") or "\\" in name or name[1:2] == ":" or ".." in name.split("/"):
        message = f"the entry name {name[:80]!r} leads out of the archive"
        raise ParseError(message, offset=info.header_offset, expected="a relative name")


def _check_size(info: zipfile.ZipInfo) -> None:
    name, offset = info.filename, info.header_offset
    if info.flag_bits & _ENCRYPTED:
        raise ParseError(f"the entry {name!r} is encrypted", offset=offset)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        message = f"the entry {name!r} is packed by method {info.compress_type}"
        raise ParseError(message, offset=offset, expected="stored or deflated")
    limit = _limit(name)
    if info.file_size > limit:
        message = f"the entry {name!r} unpacks to {info.file_size} bytes"
        raise ParseError(message, offset=offset, expected=f"at most {limit}")
    if info.file_size > _BOMB_BYTES and info.file_size > info.compress_size * _BOMB_RATIO:
        message = f"the entry {name!r} unpacks {info.compress_size} bytes to {info.file_size}: a zip bomb"
        raise ParseError(message, offset=offset, expected=f"at most {_BOMB_RATIO} to 1")


def _read_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        with archive.open(info) as stream:
            # zipfile returns at most the declared size, which was checked; one byte more reveals a lie.
            content = stream.read(info.file_size + 1)
    except _BROKEN as error:
        message = f"the entry {info.filename!r} is damaged or cut off: {error}"
        raise ParseError(message, offset=info.header_offset) from error
    if len(content) != info.file_size:
        message = f"the entry {info.filename!r} has {len(content)} bytes"
        raise ParseError(message, offset=info.header_offset, expected=str(info.file_size))
    return content


def _read_programs(archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], listed: Any) -> dict[str, Any]:
    """Each program field's value; None for fields that are not `listed`."""
    if not isinstance(listed, list) or not all(isinstance(field, str) and field in _ENTRIES for field in listed):
        message = f"{_JSON}: $.programs is no list of programs"
        raise ParseError(message, expected=f"some of {', '.join(sorted(_ENTRIES))}")
    found = dict.fromkeys(_ENTRIES)
    for field in listed:
        name, _, read = _ENTRIES[field]
        if name not in entries:
            raise ParseError(f"the archive has no {name}, which {_JSON} lists")
        content = _read_entry(archive, entries[name])
        try:
            found[field] = read(content, name)
        except UnicodeDecodeError as error:
            message = f"the entry {name!r} is not UTF-8 at its byte {error.start}"
            raise ParseError(message, offset=entries[name].header_offset) from error
    return found


def _read_json(archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo]) -> Any:
    if _JSON not in entries:
        raise ParseError(f"the archive has no {_JSON}", expected=_EXPECTED_FILE)
    return parse_json(_read_entry(archive, entries[_JSON]), _JSON)


def _record_from_json(whole: Any) -> RecordData:
    _check_ranks(whole.get("tables"))
    tables = tables_from_json(whole.get("tables"), _TABLES, f"{_JSON}: $.tables")
    data = from_json(whole.get("record"), RecordData, f"{_JSON}: $.record", tables, skip=tuple(_ENTRIES))
    _check_layouts(data)
    return data


def _check_header(whole: Any) -> None:
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise ParseError(f"{_JSON} does not name its format", expected=f'"format": "{FORMAT}"')
    version = whole.get("version")
    if type(version) is not int or version < 1:
        raise ParseError(f"{_JSON}: $.version is no version number", expected=f"an integer from 1 to {VERSION}")
    if version > VERSION:
        shown = version if version < 1_000_000 else "over a million"
        message = f"the record is of version {shown}, this package reads up to version {VERSION}: update pjit-inspect"
        raise VersionError(message)


def _check_ranks(raw_tables: Any) -> None:
    # Before any row is made: rows multiply their counts, which takes minutes for a million large numbers.
    for table, field in (("Mesh", "shape"), ("Sharding", "tiles")):
        rows = raw_tables.get(table) if isinstance(raw_tables, dict) else None
        for index, row in enumerate(rows if isinstance(rows, list) else ()):
            counts = row.get(field) if isinstance(row, dict) else None
            if isinstance(counts, list) and len(counts) > _MAX_RANK:
                message = f"{_JSON}: $.tables.{table}[{index}].{field} is a list of {len(counts)}"
                raise ParseError(message, expected=f"at most {_MAX_RANK}")


def _check_layouts(data: RecordData) -> None:
    """Refuses impossible lengths of arrays; the types themselves check the rest."""
    for field in ("inputs", "outputs"):
        for index, layout in enumerate(getattr(data, field)):
            where = f"{_JSON}: $.record.{field}[{index}]"
            if len(layout.global_shape) > _MAX_RANK or any(length < 0 for length in layout.global_shape):
                raise ParseError(f"{where}.global_shape is no shape", expected=f"0 to {_MAX_RANK} lengths of 0 or more")
