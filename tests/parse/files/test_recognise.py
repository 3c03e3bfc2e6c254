"""A file is what it is, whatever its name; and what is no program is called by its kind."""

from __future__ import annotations

import gzip
import os
import tracemalloc
from pathlib import Path

import pytest
from data import hlo_fixtures as fixtures
from data.hlo_texts import read_program

from pjit_inspect.errors import ParseError
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.parse.files import recognise
from pjit_inspect.parse.files.record_file import read_record, write_record

NAME = "mlp_step.cpu_8"


def written(folder: Path, content: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(content)
    return path


def text() -> bytes:
    return fixtures.text(NAME).encode()


def proto() -> bytes:
    return fixtures.proto(NAME)


def wrapped() -> bytes:
    """The same in an `HloProto`, which is what XLA dumps."""
    length, rest = [], len(proto())
    while rest > 127:
        length.append(rest & 127 | 128)
        rest >>= 7
    return bytes((0x0A, *length, rest)) + proto()


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize("make", [text, proto, wrapped])
def test_a_program_is_recognised_in_every_form(tmp_path: Path, make, compress):
    program = read_program(written(tmp_path, compress(make())))
    assert program.module is not None
    assert len(program.module) == 207  # lines of the text that are instructions
    assert (program.data.name, program.data.transform) == ("step", "jit")
    assert program.text == (fixtures.text(NAME) if make is text else None)


def test_a_record_gets_the_module_alone(tmp_path: Path):
    assert read_program(written(tmp_path, wrapped())).data.hlo == Blob(proto())


def test_what_hlo_does_not_say_is_missing_and_not_invented(tmp_path: Path):
    data = read_program(written(tmp_path, text())).data
    assert (data.inputs, data.outputs, data.mesh, data.devices) == ((), (), None, ())
    assert set(data.missing) == {"inputs", "mesh", "outputs"}


def test_a_saved_record_is_recognised(tmp_path: Path):
    data = RecordData(name="f", hlo=Blob(proto()))
    path = tmp_path / "record"
    write_record(data, path)
    program = read_program(path)
    assert (program.data, program.module, program.text) == (data, None, None)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_text_with_a_byte_order_mark_is_a_text(tmp_path: Path, encoding: str):
    program = read_program(written(tmp_path, fixtures.text(NAME).encode(encoding)))
    assert program.module is not None
    assert not program.module.unknown


@pytest.mark.parametrize(("name", "transform"), [("jit_f", "jit"), ("pmap_f", "pmap"), ("f", "HLO"), ("jit__f", "jit")])
def test_the_name_and_transform_are_those_jax_put_into_the_name_of_the_module(
    tmp_path: Path, name: str, transform: str
):
    source = f"HloModule {name}\n\nENTRY %e {{\n  ROOT %x = f32[] parameter(0)\n}}\n"
    data = read_program(written(tmp_path, source.encode())).data
    assert (data.name, data.transform) == ("_f" if name == "jit__f" else "f", transform)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (gzip.compress(b"", mtime=0), "the file is empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "this is a PNG picture"),
        (gzip.compress(text(), mtime=0)[:-200], "the gzip file is cut off or damaged"),
        (gzip.compress(text(), mtime=0)[:50] + b"x" * 50, "the gzip file is cut off or damaged"),
        (b'{"displayTimeUnit":"ns","traceEvents":[]}', "this is a trace of a profiler, made for Perfetto"),
        (gzip.compress(b'{"traceEvents":[]}', mtime=0), "the profile beside it (xplane.pb) has them"),
        (b"\x0a\x04\x08\x01\x10\x02\x32\x00\x32\x05space\x32\x05bytes", "this is a memory profile (pprof)"),
        (b"{ lambda ; a:f32[2]. let", "this is a jaxpr"),
        (b"\x80\x04\x95\x00\x00", "this is a Python pickle"),
        (b"\x7fELF\x02\x01", "this is a compiled program (ELF)"),
        (b"BufferAssignment:\nallocation 0", "this is a buffer assignment"),
        (b"PK\x03\x04 no archive", "the archive's directory cannot be read"),
        (b"import jax\n", "the text begins with 'import jax'"),
        (b"\xff\x00\x01 rubbish", "read as a proto"),
        (b"\x0a\x04jit_\x12\x01x", "there is no computation in it, read as a proto"),
    ],
)
def test_what_is_no_program_is_called_by_its_kind(tmp_path: Path, content: bytes, message: str):
    path = written(tmp_path, content)
    with pytest.raises(ParseError) as caught:
        read_program(path)
    assert message in caught.value.message
    assert caught.value.path == str(path)
    assert caught.value.expected


@pytest.mark.parametrize(
    ("content", "name", "text"),
    [
        (b"module @jit_f attributes {mhlo.num_partitions = 8 : i32} {\n}\n", "f", True),
        (b"#loc = loc(unknown)\nmodule @jit_f {\n}\n", "f", True),
        (b"ML\xefR\x01StableHLO", "unnamed", False),
    ],
)
def test_a_program_before_optimization_is_a_record_without_an_optimized_one(tmp_path: Path, content, name, text):
    data = read_program(written(tmp_path, content)).data
    assert (data.name, data.hlo) == (name, None)
    assert (data.stablehlo_text is not None, data.stablehlo is not None) == (text, not text)
    assert "before optimization" in data.missing["hlo"]


def test_a_proto_that_is_cut_off_says_where(tmp_path: Path):
    with pytest.raises(ParseError, match="read as a proto") as caught:
        read_program(written(tmp_path, proto()[:1000]))
    assert caught.value.offset is not None


def test_an_error_in_a_text_names_the_file_and_the_line(tmp_path: Path):
    path = written(tmp_path, b"HloModule m\n\nENTRY %e {\n}\n")
    with pytest.raises(ParseError, match=rf"^{path}:4: there is no computation in it"):
        read_program(path)


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recognise, "MAX_BYTES", 1 << 20)
    with pytest.raises(ParseError, match="unpacks to more than 1048576 bytes"):
        read_program(written(tmp_path, gzip.compress(bytes(2 << 20), mtime=0)))


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recognise, "MAX_BYTES", 1 << 20)
    with pytest.raises(ParseError, match="the file has 1048577 bytes"):
        read_program(written(tmp_path, bytes((1 << 20) + 1)))


def test_what_is_no_regular_file_is_refused(tmp_path: Path):
    with pytest.raises(ParseError, match="no regular file"):
        read_program("/dev/null")
    with pytest.raises(FileNotFoundError):
        read_program(tmp_path / "nothing")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with a name")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for read in (read_program, read_record):
        with pytest.raises(ParseError, match=f"^{pipe}: this is no regular file"):
            read(pipe)


def test_a_gzip_bomb_is_refused(tmp_path: Path):
    # 32 MiB of zeros pack about 1000 to 1; no program repeats itself like that.
    with pytest.raises(ParseError, match="a gzip bomb"):
        read_program(written(tmp_path, gzip.compress(bytes(32 << 20), mtime=0)))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_text_has_a_bound_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack):
    monkeypatch.setattr(recognise, "MAX_TEXT_BYTES", 1000)
    with pytest.raises(ParseError, match="expected at most 1000"):
        read_program(written(tmp_path, pack(text())))
    assert read_program(written(tmp_path, pack(proto()))).module is not None


def test_a_file_that_needs_too_much_memory_is_a_parse_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def exhausted(_: bytes):
        raise MemoryError

    monkeypatch.setattr(recognise, "recognise", exhausted)
    with pytest.raises(ParseError, match="too large for the memory"):
        read_program(written(tmp_path, text()))


def test_little_of_a_text_that_is_no_program_is_quoted(tmp_path: Path):
    with pytest.raises(ParseError) as caught:
        read_program(written(tmp_path, b"root:x:0:0:\x7f" + b"secret" * 100))
    assert "root:x:0:0:" in str(caught.value)
    assert str(caught.value).count("secret") <= 1


def test_an_error_text_has_no_control_characters():
    error = ParseError("a\x1b[2J\nb", path="c\rd", expected="e\u202ef")
    assert str(error) == r"c\rd: a\x1b[2J\nb (expected e\u202ef)"


def test_a_small_file_takes_little_memory(tmp_path: Path):
    # Reading "at most 2 GiB" made room for as much, which a process with a limit has not.
    path = tmp_path / "step.hlo"
    path.write_text(fixtures.text("pallas.v5e"))
    tracemalloc.start()
    read_program(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 64 << 20
