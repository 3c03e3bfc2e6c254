"""Damaged programs and records, made at random but the same for the same seed, and what is done with each.

`test_damage.py` reads a few hundred of them, `scripts/fuzz` as many as it is asked for. A case is right when it is
read and everything can be made of it (`lowerings`), or is refused with a `ParseError`. Not its job: time and memory
(`scripts/fuzz`).
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

from data import hlo_fixtures as fixtures
from data.hlo_texts import parse_hlo_text
from google.protobuf.message import DecodeError
from lowerings import lower_file, read_file

from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.program.backend_config import read_backend_config
from pjit_inspect.analyze.program.custom_calls import describe_custom_call
from pjit_inspect.analyze.program.fusions import find_fusions
from pjit_inspect.analyze.report.report import report
from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.program.mesh import Device
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.kernel_times import KernelTime, KernelTimes
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective, Taker
from pjit_inspect.model.words.sentence import name as named
from pjit_inspect.model.words.sentence import say
from pjit_inspect.parse.files.record_file import read_record, write_record
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.wire.hlo_schema import message_class

__all__ = ["KINDS", "Case", "make_case", "real_record", "use_case"]

PROGRAMS = (
    "mlp_step.cpu_8", "mlp_step.v5e_2x4", "mlp_step.h100_1x1x8", "pallas.v5e", "permute_ring.h100_1x1x8",
    "permute_line.h100_1x1x8", "collective_matmul.v5e_2x4", "collective_matmul.v5p_2x2x1",
)  # fmt: skip
"""Small programs with all that the analyses look at: loops, rings, transfers, kernels of all backends."""

EXTREMES = (0, 1, -1, 7, 127, 255, 2**16, 2**31 - 1, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One damaged input: its kind, and the bytes."""

    kind: str
    data: bytes


def make_case(number: int, seed: int = 0, kinds: tuple[str, ...] = ()) -> Case:
    """Case `number` of the run with this `seed`; kinds take turns."""
    kinds = kinds or tuple(KINDS)
    kind = kinds[number % len(kinds)]
    random = Random(f"{seed}/{number}")
    return Case(kind=kind, data=KINDS[kind](random))


def use_case(case: Case, *, lower: bool = False) -> str:
    """ "read" or "refused"; whatever else is raised is a defect. With `lower` every output is made of it, too."""
    try:
        if lower:
            lower_file(case.data)
            return "read"
        if case.kind in ("zip", "entries", "real", "names"):
            _use_record(read_record(io.BytesIO(case.data)))
        elif case.kind == "cut":
            read_file(case.data)
        elif case.kind == "text":
            _use_module(parse_hlo_text(case.data.decode("utf-8", "replace")))
        else:
            _use_module(parse_program(case.data))
    except ParseError as error:
        return "refused" if error.message else "refused without a word"
    return "read"


def _use_module(module: HloModule) -> None:
    for index in range(len(module)):
        instruction = module.instruction(index)
        details = instruction.details
        read_backend_config(details.backend_config)
        if instruction.opcode == "custom-call":
            describe_custom_call(instruction)
        assert instruction.shape.text() is not None
        assert instruction.frames is not None
    assert len(module.result_bytes) == len(module.users) == len(module)
    assert module.other is not None
    find_collectives(module, fixtures.MESH, range(8))
    find_fusions(module)


def _use_record(data: RecordData) -> None:
    report(data, None if data.hlo is None else parse_program(data.hlo.read()))


# ---------------------------------------------------------------- bytes


def damaged(random: Random, content: bytes) -> bytes:
    """The bytes with one to twenty changes."""
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 3, 20))):
        if data:
            random.choice(CHANGES)(random, data)
    return bytes(data)


def _place(random: Random, data: bytearray, most: int = 64) -> slice:
    start = random.randrange(len(data))
    return slice(start, start + random.randint(1, most))


def _set_byte(random: Random, data: bytearray) -> None:
    data[random.randrange(len(data))] = random.randrange(256)


def _flip_bit(random: Random, data: bytearray) -> None:
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _cut_out(random: Random, data: bytearray) -> None:
    del data[_place(random, data)]


def _cut_off(random: Random, data: bytearray) -> None:
    del data[random.randrange(len(data)) :]


def _insert(random: Random, data: bytearray) -> None:
    at = random.randrange(len(data))
    data[at:at] = random.randbytes(random.randint(1, 16))


def _repeat(random: Random, data: bytearray) -> None:
    place = _place(random, data, 1024)
    data[place.start : place.start] = data[place] * random.randint(1, 4)


def _claim(random: Random, data: bytearray) -> None:
    """A length, or a number, far too large."""
    at = random.randrange(len(data))
    data[at : at + 1] = random.choice((b"\xff\xff\xff\xff\x07", b"\xff" * 9 + b"\x01", b"\x80" * 3, b"\xff" * 12))


def _fill(random: Random, data: bytearray) -> None:
    place = _place(random, data)
    data[place] = random.choice((b"\0", b"\xff", b"\x80")) * len(data[place])


CHANGES: tuple[Callable[[Random, bytearray], None], ...] = (
    _set_byte, _set_byte, _flip_bit, _cut_out, _cut_off, _insert, _repeat, _claim, _fill,
)  # fmt: skip


def _proto(random: Random) -> bytes:
    return damaged(random, fixtures.proto(random.choice(PROGRAMS)))


# ---------------------------------------------------------------- fields


def _fields(random: Random) -> bytes:
    """A program that is a proper message, with fields that say something else."""
    module = message_class("Module").FromString(fixtures.proto(random.choice(PROGRAMS)))
    for _ in range(random.choice((1, 1, 2, 5))):
        if random.random() < 0.2:
            _change_message(random, module)
        elif len(module.computations):
            _change_computation(random, module, random.randrange(len(module.computations)))
    return module.SerializeToString()


def _change_computation(random: Random, module: Any, place: int) -> None:
    # What an earlier change made of its bytes may be no message.
    with suppress(DecodeError):
        computation = message_class("Computation").FromString(module.computations[place])
        if random.random() < 0.1:
            _change_message(random, computation)
        elif len(computation.instructions):
            chosen = random.randrange(len(computation.instructions))
            instruction = message_class("Instruction").FromString(computation.instructions[chosen])
            _change_message(random, instruction)
            computation.instructions[chosen] = instruction.SerializeToString()
        module.computations[place] = computation.SerializeToString()


def _change_message(random: Random, message: Any, depth: int = 0) -> None:
    """Changes one field of a message, or of a message in it."""
    present = message.ListFields()
    fields = [field for field, _ in present] if present and random.random() < 0.8 else message.DESCRIPTOR.fields
    field = random.choice(list(fields))
    is_list = field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED
    value = getattr(message, field.name)
    if random.random() < 0.15:
        message.ClearField(field.name)
    elif is_list:
        _change_list(random, field, value, depth)
    elif field.message_type is not None:
        if depth < 6:
            value.SetInParent()
            _change_message(random, value, depth + 1)
    else:
        setattr(message, field.name, _scalar(random, field, value))


def _change_list(random: Random, field: Any, values: Any, depth: int) -> None:
    action = random.choice(("drop", "repeat", "shuffle", "change", "change"))
    if action == "drop" and len(values):
        del values[random.randrange(len(values)) :]
    elif action == "repeat" and len(values):
        values.extend([values[random.randrange(len(values))]] * random.randint(1, 3))
    elif action == "shuffle":
        content = list(values)
        random.shuffle(content)
        del values[:]
        values.extend(content)
    elif field.message_type is not None:
        if depth < 6:
            _change_message(random, random.choice(values) if len(values) else values.add(), depth + 1)
    elif len(values):
        place = random.randrange(len(values))
        values[place] = _scalar(random, field, values[place])
    else:
        values.append(_scalar(random, field, None))


def _scalar(random: Random, field: Any, value: Any) -> Any:
    if field.cpp_type == field.CPPTYPE_STRING:
        words: tuple[Any, ...] = (
            "",
            "add",
            "fusion",
            "while",
            "all-reduce",
            "collective-permute",
            "x" * 1000,
            "{" * 300,
        )
        word = random.choice(words)
        return word.encode() if field.type == field.TYPE_BYTES else word
    if field.cpp_type == field.CPPTYPE_BOOL:
        return random.random() < 0.5
    if field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return random.choice((0.0, -1.0, 1e30, float("nan"), float("inf")))
    bits = 32 if field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_UINT32) else 64
    signed = field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_INT64)
    number = random.choice((*EXTREMES, random.randrange(64), (value or 0) + random.choice((-1, 1))))
    number %= 1 << bits
    return number - (1 << bits) if signed and number >> (bits - 1) else number


# ---------------------------------------------------------------- text


def _text(random: Random) -> bytes:
    text = fixtures.text(random.choice(PROGRAMS))
    if random.random() < 0.25:
        return damaged(random, text.encode())
    lines = text.splitlines()
    for _ in range(random.choice((1, 1, 3, 20))):
        if lines:
            random.choice(LINE_CHANGES)(random, lines)
    return "\n".join(lines).encode("utf-8", "replace")


def _drop_lines(random: Random, lines: list[str]) -> None:
    start = random.randrange(len(lines))
    del lines[start : start + random.choice((1, 1, 5, len(lines)))]


def _swap_lines(random: Random, lines: list[str]) -> None:
    a, b = random.randrange(len(lines)), random.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]


def _repeat_lines(random: Random, lines: list[str]) -> None:
    start = random.randrange(len(lines))
    lines[start:start] = lines[start : start + random.randint(1, 20)]


def _change_number(random: Random, lines: list[str]) -> None:
    _change_match(random, lines, r"-?\d+", str(random.choice((*EXTREMES, 10**30))))


def _change_word(random: Random, lines: list[str]) -> None:
    words = ("while", "fusion", "parameter", "constant", "tuple", "f32", "token", "ROOT", "%", "frobnicate")
    _change_match(random, lines, r"[\w.-]+", random.choice(words))


def _change_mark(random: Random, lines: list[str]) -> None:
    marks = ("", "{", "}", "(", ")", ",", '"', "[" * 2000, "{" * 2000, "(" * 2000, '"' * 99, "\\", "\0", "\ud800", "/*")
    _change_match(random, lines, r"[^\w\s]", random.choice(marks))


def _change_match(random: Random, lines: list[str], pattern: str, new: str) -> None:
    place = random.randrange(len(lines))
    found = list(re.finditer(pattern, lines[place]))
    if found:
        match = random.choice(found)
        lines[place] = lines[place][: match.start()] + new + lines[place][match.end() :]


LINE_CHANGES: tuple[Callable[[Random, list[str]], None], ...] = (
    _drop_lines, _swap_lines, _repeat_lines, _change_number, _change_number, _change_word, _change_mark,
)  # fmt: skip


# ---------------------------------------------------------------- records


LOG = """\
W0000 00:00:1.2 3 spmd.cc:1] [SPMD] Involuntary full rematerialization. The compiler cannot go from sharding \
{devices=[1,2,4]<=[8]} to {devices=[8,1,1]<=[8]} efficiently for HLO operation %cos.0 = f32[16,4,2]{2,1,0} \
cosine(%x), sharding={devices=[1,2,4]<=[8]}, metadata={op_name="jit(f)/cos" stack_frame_id=5}. As the last resort
E0000 00:00:1.3 3 other.cc:1] something else
"""
"""What a compiler wrote."""


@cache
def real_record() -> bytes:
    """A record that JAX made, with every entry there is: somebody had looked at its causes."""
    data = read_record(fixtures.HERE / "mlp.before_xla_was_asked.pjit")
    assert data.propagation is not None
    ops = tuple(range(len(data.propagation.ops)))
    inserted = PartitionedCollective(
        kind="all-reduce", channel_id=1, groups=((0, 1), (2, 3)), dtype="f32", elements=64, makers=ops[-1:],
        made_shape=(8, 8), takers=(Taker(op=ops[-1], operand=0, shape=(8, 8)),), outputs=(0,), visited=ops,
    )  # fmt: skip
    propagation = replace(data.propagation, is_predicted=False, collectives=(inserted,))
    rows = tuple(
        KernelTime(instruction=name, opcode=name, slowest_us=2.0, mean_us=1.0) for name in ("all-reduce", "dot.1", "")
    )
    times = KernelTimes(calls=3, devices=4, call_us=5.0, mean_call_us=4.0, warm_up_us=9.0, rows=rows)
    buffer = io.BytesIO()
    whole = replace(
        data, propagation=propagation, kernel_times=times, compiler_log=LOG, process_index=0, process_count=2
    )
    write_record(whole, buffer)
    return buffer.getvalue()


@cache
def _record(name: str) -> bytes:
    rows = Sharding(spec=("data", None), tiles=(2, 1), device_ids=tuple(range(8)), tile_of=(0, 0, 0, 0, 1, 1, 1, 1))
    inputs = tuple(
        ArrayLayout(path=path, dtype="float32", global_shape=(16, 32), sharding=rows) for path in ("x", "params['w']")
    )
    data = RecordData(
        name="f",
        inputs=inputs,
        outputs=inputs[:1],
        mesh=fixtures.MESH,
        meshes=(fixtures.MESH,),
        devices=tuple(Device(id=i, platform="cpu", kind="cpu") for i in range(8)),
        user_frame=Frame(file="/tmp/cell.py", line=2, cell="In [7]"),
        jaxpr="{ lambda ; a:f32[16,32]. let in (a,) }",
        hlo=Blob(fixtures.proto(name)),
        cost={"flops": 1024.0},
        reason=Reason(kind="changed", sentence=say("{}: length {} -> {}", named("x"), 8, 16)),
    )
    buffer = io.BytesIO()
    write_record(data, buffer)
    return buffer.getvalue()


def _zip(random: Random) -> bytes:
    """A record file whose bytes are damaged, most often where the archive describes itself."""
    content = _record(random.choice(PROGRAMS))
    if random.random() < 0.5:
        return damaged(random, content)
    tail = random.randint(1, 600)
    return content[:-tail] + damaged(random, content[-tail:])


def _entries(random: Random) -> bytes:
    """A proper archive whose entries are damaged, missing, too many, or claim to be what they are not."""
    entries = _entries_of(_record(random.choice(PROGRAMS)))
    action = random.choice(("json", "json", "json", "json text", "program", "missing", "more"))
    if action == "json":
        entries["record.json"] = _changed_json(random, entries["record.json"])
    elif action == "json text":
        entries["record.json"] = damaged(random, entries["record.json"])
    elif action == "program":
        entries["module.hlo.pb"] = _fields(random) if random.random() < 0.5 else _proto(random)
    elif action == "missing":
        del entries[random.choice(sorted(entries))]
    else:
        name = random.choice(("../../etc/passwd", "/tmp/x", "C:\\x", "a/../../b", "zeros", "record.json/", "\u202e"))
        entries[name] = bytes(random.choice((0, 10, 1 << 20)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", random.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))) as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name), content, archive.compression)
    return buffer.getvalue()


def _entries_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _archive_of(entries: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name), content, archive.compression)
    return buffer.getvalue()


def _real_record(random: Random) -> bytes:
    """A record of JAX's with one to three entries changed: what any of its parts says may be something else."""
    entries = _entries_of(real_record())
    for name in random.sample(sorted(entries), random.choice((1, 1, 3))):
        if name.endswith(".json") and random.random() < 0.8:
            entries[name] = _changed_json(random, entries[name])
        elif name == "module.hlo.pb" and random.random() < 0.5:
            entries[name] = random.choice((_fields, _proto))(random)
        else:
            entries[name] = damaged(random, entries[name])
    return _archive_of(entries)


NAMES = (
    "", "\x1b[2J\a", "\u202e", "\ud800", "\x00", "x" * 100_000, "<script>", "a\nb", "`", "{}", "%", "\\x1b", "-1",
    "1e999", "\u2066" * 50, "[" * 3000, "params['w'][0]", "data", "model",
)  # fmt: skip


def _names(random: Random) -> bytes:
    """A record of JAX's in which many strings are others."""
    entries = _entries_of(real_record())
    share = random.choice((0.01, 0.05, 0.3))
    for name in [name for name in entries if name.endswith(".json")]:
        entries[name] = json.dumps(_renamed(random, json.loads(entries[name]), share)).encode()
    return _archive_of(entries)


def _renamed(random: Random, value: Any, share: float) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(random, item, share) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(random, item, share) for item in value]
    # Words of the format are refused otherwise.
    if isinstance(value, str) and value not in WORDS and random.random() < share:
        return random.choice(NAMES) + random.choice(("", value))
    return value


WORDS = {
    "pjit_inspect record", "hlo", "jaxpr", "stablehlo", "stablehlo_text", "propagation", "kernel_times", "compiler_log",
    "shardy", "gspmd", "user", "input", "output", "constraint", "manual", "unknown", "first", "jit", "named",
}  # fmt: skip


def _cut(random: Random) -> bytes:
    """A file of any kind that ends too soon."""
    name = random.choice(PROGRAMS)
    made: tuple[Callable[[], bytes], ...] = (
        lambda: fixtures.text(name).encode(), lambda: fixtures.proto(name), real_record, lambda: _record(name),
        lambda: gzip.compress(fixtures.text(name).encode(), 1),
    )  # fmt: skip
    content = random.choice((*made[:2], *made))()
    return content[: random.randrange(1, len(content))]


def _changed_json(random: Random, content: bytes) -> bytes:
    whole = json.loads(content)
    for _ in range(random.choice((1, 1, 3))):
        holder: Any = whole
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            key = random.choice(keys) if keys else None
            if key is None or not isinstance(holder[key], dict | list) or random.random() < 0.2:
                break
            holder = holder[key]
        if key is None:
            continue
        if random.random() < 0.2:
            del holder[key]
        else:
            odd = (None, True, "", "x" * 5000, [], {}, [[]] * 50, -1, 1.5, 2**70, [0] * 100, {"a": {"b": None}})
            holder[key] = random.choice((*odd, *EXTREMES))
    return json.dumps(whole).encode()


KINDS: dict[str, Callable[[Random], bytes]] = {
    "proto": _proto,
    "fields": _fields,
    "text": _text,
    "zip": _zip,
    "entries": _entries,
    "real": _real_record,
    "names": _names,
    "cut": _cut,
}
"""Kind -> what makes a case of it: protos with damaged bytes, protos with odd fields, texts, record files with damaged
bytes, record files with odd entries, a record of JAX's with any entry damaged, the same with other strings, and files
that end too soon."""
