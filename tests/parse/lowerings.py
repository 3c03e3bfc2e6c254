"""Everything that can be made of a record, one after the other: what `scripts/fuzz` asks of every damaged file.

Not its job: damaged files (`mutations`), or what the outputs say (`tests/view`).
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from data.hlo_texts import read_program

import pjit_inspect as pi
from pjit_inspect.errors import ParseError
from pjit_inspect.parse.files.recognise import Program

__all__ = ["lower_file", "lower_program", "read_file"]

_FIGURES = ("axis_totals", "traffic", "bytes_per_device", "compile_times", "memory")
_NOT_PRINTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def read_file(content: bytes) -> Program:
    """Open a file as a user does. Raises ParseError when it is refused."""
    with tempfile.TemporaryDirectory(prefix="pjit_inspect_fuzz_") as name:
        path = Path(name) / "case"
        path.write_bytes(content)
        return read_program(path)


def lower_file(content: bytes) -> None:
    """Open a file as a user does, and lower what is in it. Raises ParseError when it is refused."""
    program = read_file(content)
    with tempfile.TemporaryDirectory(prefix="pjit_inspect_fuzz_") as name:
        lower_program(program, Path(name))


def lower_program(program: Program, folder: Path) -> None:
    """Every output of one program, with `folder` for files."""
    # XLA is not asked to print damaged protos: it does so in a process of its own, which may end.
    record = pi.CompileRecord(program.data, hlo=program.module, hlo_text=program.text or "")
    printed = [str(record), str(record.explain()), str(record.shardings.show()), str(record.reason), str(record.mesh)]
    printed += [str(table.show()) for table in (record.collectives, record.fusions, record.callbacks)]
    printed += [str(cause.sentence) for row in record.collectives for cause in row.causes]
    printed += [str(record.findings), str(record.findings.show())]
    printed += [str(record.show(way)) for way in ("tree", "memory", "facts")]
    printed += [str(record.fits("v5e")), str(pi.diff(record, record))]
    for table in (record.collectives, record.fusions, record.shardings, record.findings):
        printed.append(table.to_markdown())
        table.to_csv(), table.to_tsv()
    printed += _other_displays(record)
    for figure in _FIGURES:
        made = getattr(record.figures, figure)
        printed.append(str(made))
        made._repr_mimebundle_()
    record.show()._repr_mimebundle_()
    record.explain()._repr_mimebundle_()
    record.to_html(folder / "page.html")
    record.to_svg(folder / "picture.svg")
    printed.append((folder / "picture.svg").read_text(encoding="utf-8"))
    _save_and_merge(record, folder, printed)
    for text in printed:
        found = _NOT_PRINTED.search(text)
        assert found is None, f"{found!r} is printed"


def _other_displays(record: pi.CompileRecord) -> list[str]:
    log, times = pi.Log([record, record]), record.kernel_times
    ledger = pi.ledger(log)
    ledger.timeline()._repr_mimebundle_()
    ledger._repr_mimebundle_()
    log._repr_mimebundle_()
    return [str(ledger), str(log.show()), *([] if times is None else [str(times.show())])]


def _save_and_merge(record: pi.CompileRecord, folder: Path, printed: list[str]) -> None:
    path = folder / "case.pjit"
    record.save(path)
    again = pi.load(path)
    assert again == pi.CompileRecord(record.report.data), "what was saved is read as something else"
    # Two records of one process are its log; of two, its difference.
    (folder / "process-1-of-2").mkdir()
    record.save(folder / "process-1-of-2" / "0000_case.pjit")
    try:
        printed.append(str(pi.merge(folder)))
    except ParseError as error:
        printed.append(str(error))
