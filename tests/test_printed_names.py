"""Nothing that is printed of a record moves the terminal: every string in a file, and every name, may hold anything.

A walk over all public attributes of a record, and of what those return, looks at each `str` and `repr`. Not its job:
damaged files (`parse/test_damage.py`), HTML (`browser/test_exported_page.py`, `browser/test_hostile_names.py`).
"""

from __future__ import annotations

import dataclasses
import io
import json
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from data import hlo_fixtures as fixtures
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.model.words.sentence import PHRASE_KINDS, Sentence, say
from pjit_inspect.model.words.sentence import name as named
from pjit_inspect.parse.wire.clean import clean_line, clean_text, cleaned

POISON = "\x1b[31m\a\u202e\u2066\x9b\u2028\r\x00"
"""An escape sequence, a bell, overrides of the direction, a control sequence in one character, line ends, a zero."""

FORBIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def bad_characters(text: str) -> set[str]:
    return {char for char in text if unicodedata.category(char) in FORBIDDEN and char not in "\n\t"}


def test_an_explained_error_is_printed_as_plain_text():
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    jitted = jax.jit(lambda tree: tree, in_shardings=({f"a{POISON}": None},))

    def refused(call, *args) -> pi.ErrorExplanation:
        with pytest.raises((ValueError, TypeError)) as error:
            call(*args)
        return pi.explain_error(error.value)

    for explained in (
        refused(NamedSharding, mesh, P(f"axis{POISON}")),
        refused(jitted, {f"b{POISON}": 1.0}),
        refused(int, f"1{POISON}"),
    ):
        for path, value in public_values(explained, "explanation", set()):
            for text in (str(value), repr(value)):
                assert not bad_characters(text), (path, text)


# ---------------------------------------------------------------- a walk


def public_values(value: Any, path: str, seen: set[int], depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Everything public that is reached from `value`, with the way there."""
    if id(value) in seen or depth > 8 or isinstance(value, (bytes, int, float, np.ndarray, type)) or value is None:
        return
    seen.add(id(value))
    yield path, value
    if isinstance(value, Sentence):
        yield from public_values(value.phrases, f"{path}.phrases", seen, depth + 1)
    if isinstance(value, str):
        return
    if isinstance(value, Mapping):
        for key, item in list(value.items())[:50]:
            yield from public_values(key, f"{path} key", seen, depth + 1)
            yield from public_values(item, f"{path}[{key!r}]", seen, depth + 1)
        return
    if isinstance(value, (tuple, list, set, frozenset)):
        for number, item in enumerate(list(value)[:20]):
            yield from public_values(item, f"{path}[{number}]", seen, depth + 1)
        return
    if not type(value).__module__.startswith("pjit_inspect"):
        return
    if hasattr(value, "__len__") and hasattr(value, "__getitem__"):
        for number in range(min(len(value), 5)):
            yield from public_values(value[number], f"{path}[{number}]", seen, depth + 1)
    for name in dir(value):
        # `state` is for modules of the package.
        if name.startswith("_") or name == "state":
            continue
        try:
            item = getattr(value, name)
        except pi.PjitInspectError:
            continue
        if not callable(item):
            yield from public_values(item, f"{path}.{name}", seen, depth + 1)


def dirty(value: Any, path: str) -> list[str]:
    """The ways to everything that prints what it must not."""
    found: list[str] = []
    # The objects are kept: the id of one that is gone may be another's.
    kept = list(public_values(value, path, set()))
    for way, one in kept:
        bad = bad_characters(str(one)) | bad_characters(repr(one))
        if bad:
            found.append(f"{way} ({type(one).__name__}): {sorted(map(ascii, bad))}")
    return found


def displays(record: pi.CompileRecord, folder: Path) -> Iterator[tuple[str, str]]:
    yield "show", str(record.show("text"))
    yield "explain", str(record.explain())
    yield "shardings", str(record.shardings.show())
    for name in ("collectives", "fusions", "callbacks", "findings", "shardings", "kernel_times"):
        table = getattr(record, name)
        if table is not None:
            # Not of a copy: line ends in a cell of CSV stay what they are.
            yield name, str(table.show())
            yield f"{name} as TSV", table.to_tsv()
            yield f"{name} as CSV", table.to_csv()
            yield f"{name} in Markdown", table.to_markdown()
    yield "tree", str(record.show("tree"))
    yield "log", str(pi.Log([record]).show())
    yield "ledger", str(pi.ledger(pi.Log([record])))
    record.to_svg(folder / "picture.svg")
    yield "svg", (folder / "picture.svg").read_text()
    record.save(folder / "again.pjit")
    if record.data.process_index is not None:
        yield "merge", str(pi.merge(folder / "again.pjit"))


# ---------------------------------------------------------------- files


@pytest.fixture(scope="module")
def captured() -> pi.CompileRecord:
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    arrays = {
        "w": jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, P("data", "model"))),
        "x": jax.device_put(jnp.ones((16, 8)), NamedSharding(mesh, P("model", None))),
    }

    def step(tree):
        return (tree["w"] @ tree["x"]).sum()

    with pi.capture(calls=True) as log:
        jax.jit(step)(arrays)
        jax.jit(step)({**arrays, "x": arrays["x"][:, :4]})
    record = log["step"]
    str(record)
    return record


@pytest.fixture(scope="module")
def faulty() -> pi.CompileRecord:
    """A program with a finding that needs no trial: its argument is copied by each call."""
    return resharded("w")


def resharded(key: str) -> pi.CompileRecord:
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    layout = {key: NamedSharding(mesh, P(None, "model"))}
    arrays = {key: jnp.ones((64, 128))}
    with pi.capture() as log:
        jax.jit(lambda tree: {name: array @ array.T @ array for name, array in tree.items()}, in_shardings=(layout,))(
            arrays
        )
    record = log["<lambda>"]
    assert record.findings
    return record


WORDS = {"cached", "format", "kind", "missed", "origin", "partitioner", "programs", "type"}
"""Fields that hold one of a few words, and are refused with anything else."""

OTHER_WORDS = {"bare", "nan", "inf", "-inf", *PHRASE_KINDS}


def poisoned(value: Any, key: str = "", spared: tuple[str, ...] = ()) -> Any:
    """JSON with the poison behind every string that is no word of the format, and in none of the fields `spared`."""
    if key in spared:
        return value
    if isinstance(value, dict):
        return {name: poisoned(item, name, spared) for name, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item, key, spared) for item in value]
    return (
        value + POISON
        if isinstance(value, str) and key not in WORDS and value not in OTHER_WORDS and not value.isdecimal()
        else value
    )


def poisoned_file(content: bytes, spared: tuple[str, ...] = ()) -> tuple[bytes, int]:
    """A record file with poison in every string of every entry, and how many strings that are."""
    buffer, number = io.BytesIO(), 0
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            entry = old.read(name)
            if name.endswith(".json"):
                changed = json.dumps(poisoned(json.loads(entry), spared=spared))
                number += changed.count("\\u202e")
                entry = changed.encode()
            elif name.endswith((".txt", ".mlir", ".log")):
                entry = POISON.encode() + entry
                number += 1
            new.writestr(name, entry)
    return buffer.getvalue(), number


def test_a_walk_finds_what_is_dirty():
    assert dirty({"a": ("b\x1b",)}, "here") == ["here (dict): []"] or dirty({"a": ("b\x1b",)}, "here")
    assert bad_characters(POISON) == set(POISON) - set("[31m")


def test_nothing_printed_of_a_poisoned_record_moves_the_terminal(captured: pi.CompileRecord, tmp_path: Path):
    path = tmp_path / "step.pjit"
    captured.save(path)
    content, number = poisoned_file(path.read_bytes())
    assert number > 100
    path.write_bytes(content)
    record = pi.load(path)
    assert record.collectives
    assert record.propagation is not None
    assert dirty(record, "record") == []
    for what, shown in displays(record, tmp_path):
        assert not bad_characters(shown), what


def test_nothing_printed_of_a_poisoned_finding_moves_the_terminal(faulty: pi.CompileRecord, tmp_path: Path):
    path = tmp_path / "apply.pjit"
    faulty.save(path)
    # Of another transform than jit it is not known what a call copies, of an unknown type not how much.
    path.write_bytes(poisoned_file(path.read_bytes(), spared=("transform", "dtype"))[0])
    record = pi.load(path)
    found = record.findings
    assert {one.kind for one in found} == {"resharded_argument"}
    # The poison is in what they say.
    assert "\\x1b" in "".join(found[0].sentence)
    assert any("\\x1b" in phrase.text for phrase in found[0].sentence.phrases)
    assert dirty(record, "record") == []
    for what, shown in displays(record, tmp_path):
        assert not bad_characters(shown), what


def test_a_walk_goes_into_sentences():
    phrases = [way for way, _ in public_values(say("it is {}", named("a")), "here", set())]
    assert phrases[0] == "here"
    assert "here.phrases[1]" in phrases


def poisoned_hlo(name: str) -> bytes:
    """A program with poison in every name of an operation, of a file and of a function, and in its own."""
    proto = fixtures.proto(name)
    for word in (b"jit(step)", b"jit_step"):
        assert len(word) == len(word.replace(word[-4:], b"\x1b\x07\xe2\x80"[:4]))
        proto = proto.replace(word, word[:-2] + b"\x1b\x07")
    return proto


def test_nothing_printed_of_poisoned_hlo_moves_the_terminal(tmp_path: Path):
    text = fixtures.text("mlp_step.cpu_8").replace("jit(step)", f"jit({POISON})").replace("%all-", "%all\x07-")
    for file, content in (("step.pb", poisoned_hlo("mlp_step.cpu_8")), ("step.hlo", text.encode())):
        path = tmp_path / file
        path.write_bytes(content)
        record = pi.open(path)
        assert record.collectives
        assert dirty(record, "record") == []
        assert not any(bad_characters(record.hlo.reader.name(row)) for row in range(len(record.hlo)))
        for what, shown in displays(record, tmp_path):
            assert not bad_characters(shown), what


def test_nothing_printed_of_a_poisoned_dump_moves_the_terminal(tmp_path: Path):
    for number, content in enumerate(("HloModule x\n\n", fixtures.text("pallas.v5e")[:4000])):
        (tmp_path / f"module_000{number}.jit_f\x1b[31m\u202e.cpu_after_optimizations.txt").write_text(content)
    log = pi.open(tmp_path)
    assert isinstance(log, pi.Log)
    assert len(log) == 2
    assert not bad_characters(str(log.show()))
    for record in log:
        assert dirty(record, "record") == []


# ---------------------------------------------------------------- this process


def test_nothing_printed_of_a_live_program_with_odd_names_moves_the_terminal(tmp_path: Path):
    # Not the axes: XLA ends the process when their names have control characters.
    key = "w\x1b[31m\u202e\a"
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    def step(tree):
        return (tree[key] @ tree["x"]).sum()

    step.__name__ = step.__qualname__ = f"step{key}"
    arrays = {
        key: jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, P("data", "model"))),
        "x": jax.device_put(jnp.ones((16, 8)), NamedSharding(mesh, P("model", None))),
    }
    with pi.capture() as log:
        jax.jit(step)(arrays)
        jax.jit(step)({**arrays, "x": arrays["x"][:, :4]})
    record = next(record for record in reversed(log) if record.name.startswith("step"))
    assert dirty(record, "record") == []
    for what, shown in displays(record, tmp_path):
        assert not bad_characters(shown), what
    # The session's history knows the function by its own name, whatever is printed of it.
    assert record.reason.kind != "first"
    assert "\\x1b[31m" in record.name
    loaded = pi.load(tmp_path / "again.pjit")
    assert loaded == record


def test_nothing_printed_of_live_findings_with_odd_names_moves_the_terminal(tmp_path: Path):
    live = resharded("w\x1b[31m\u202e\a")
    assert dirty(live.findings, "findings") == []
    for what, shown in displays(live, tmp_path):
        assert not bad_characters(shown), what


# ---------------------------------------------------------------- what clean is


def test_a_line_has_no_newline_and_a_text_keeps_its_own():
    assert clean_line("a\nb\tc") == "a\\x0ab\\x09c"
    assert clean_text("a\nb\tc\r\nd\re") == "a\nb\tc\nd\\x0de"
    assert clean_text("ascii\x7f\x1b") == "ascii\\x7f\\x1b"
    every = "".join(map(chr, range(0x100)))
    assert clean_text(every.replace("\r", "")) == "".join(map(clean_text, every.replace("\r", "")))
    assert all(clean_text(char) == (char if char in "\n\t" else clean_line(char)) for char in every)
    assert clean_line("\u202e\ud800\U000e0001") == "\\u202e\\ud800\\U000e0001"
    assert clean_line("größe ∇ 模型") == clean_text("größe ∇ 模型") == "größe ∇ 模型"


def test_what_is_clean_is_the_same_object(captured: pi.CompileRecord):
    assert cleaned(captured.data) is captured.data
    assert cleaned(cleaned(dataclasses.replace(captured.data, name=POISON))).name == clean_line(POISON)
