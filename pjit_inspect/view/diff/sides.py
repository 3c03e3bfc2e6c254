"""The details of a selected row on one side: the cause with its facts, the picture, the figures.

Not its job: grouping the rows (`view.diff.rows`), drawing (`view/front/src/compare`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.program.running import RunningInstructions
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.fusion import Fusion
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.report.sharding_table import ValueSharding
from pjit_inspect.model.words.sentence import axis, name, say
from pjit_inspect.view.document.notation import array_text, known_spec_text, shape_text
from pjit_inspect.view.document.quantities import bytes_text, count_text
from pjit_inspect.view.inspector.arrays import value_sharding
from pjit_inspect.view.inspector.moves import move_data
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.words import name_data, sentence_data, spans_data
from pjit_inspect.view.record.cause_groups import group_by_cause
from pjit_inspect.view.record.collectives import source_line
from pjit_inspect.view.record.findings import finding_of

_CAUSES = 2
_NAMES = 4
_SHAPES = 6


@dataclass(frozen=True, slots=True)
class SideWriter:
    """Writes rows of one of the programs. Every method takes one or more similar rows.

    Attributes:
      report: the program's report.
      running: its instructions, for the pictures; None where there is no program.
      tables: the shardings of both programs.
      mesh: the program's mesh; None where it is not known.
    """

    report: RecordReport
    running: RunningInstructions | None
    tables: SharedTables
    mesh: Mesh | None

    def collectives(self, rows: Sequence[Collective]) -> dict[str, Any]:
        """Details of one side of a collective row: cause, shard picture, bytes."""
        first = rows[0]
        found = [finding_of(self.report, group) for group in group_by_cause(rows)[:_CAUSES]]
        return {
            "causes": [spans_data(sentence) for one in found for sentence in one.sentences],
            "facts": [spans_data(fact) for one in found[:1] for fact in one.facts],
            "picture": move_data(self.report, first, self.running),
            "figures": _figures(
                number=count_text(len(rows)),
                moves=f"{first.dtype}{shape_text(first.local_shape)}",
                payload=f"{bytes_text(first.payload_bytes)} each",
                runs=f"{count_text(first.count)} per call, each",
                phase=first.phase or "",
                schedule=_schedule(first),
                place=_place(first),
            ),
            "line": name_data(source_line(self.report.data, first.source) or ""),
            "names": _names([one for row in rows for one in row.instructions[:1]]),
        }

    def arrays(self, rows: Sequence[ArrayLayout]) -> dict[str, Any]:
        """The shards of an argument or result, and whether its memory is donated or aliased."""
        first = rows[0]
        return {
            **self._cut(first.global_shape, first.sharding),
            "figures": _figures(
                number=count_text(len(rows)),
                array=array_text(first),
                spec=known_spec_text(first.spec) if first.sharding is not None else "unknown",
                piece=shape_text(first.local_shape) if first.local_shape is not None else "unknown",
                size=f"{bytes_text(first.bytes_per_device)} on each device, each",
                donated="yes" if first.donated else "",
                used="" if first.kept else "no: jit dropped it",
                memory=f"that of {first.aliases}" if first.aliases else "",
            ),
            "names": _names([row.path for row in rows]) if len(rows) > 1 else "",
        }

    def values(self, rows: Sequence[ValueSharding]) -> dict[str, Any]:
        """The shards of a value inside the program, and the origin of each axis."""
        first = rows[0]
        origins = [say("{} from {}", axis(own), origin) for own, origin in first.origins.items()]
        return {
            **self._cut(first.global_shape, None if first.is_per_shard else value_sharding(first.spec, self.mesh)),
            "causes": list(map(sentence_data, origins)),
            "figures": _figures(
                number=count_text(len(rows)),
                made_by=first.op,
                array=f"{first.dtype}{shape_text(first.global_shape)}",
                spec=known_spec_text(first.spec),
                piece=shape_text(first.local_shape),
                size=f"{bytes_text(first.bytes_per_device)} on each device, each",
                place=_place(first),
            ),
            "line": name_data(source_line(self.report.data, first.source) or ""),
        }

    def kernels(self, rows: Sequence[Fusion]) -> dict[str, Any]:
        """The reads and writes of a kernel."""
        first = rows[0]
        return {
            "causes": [sentence_data(say("belongs to {}", name(first.op_name)))] if first.op_name else [],
            "figures": _figures(
                number=count_text(len(rows)),
                reads=_shapes(first.inputs),
                writes=_shapes(first.outputs),
                bytes_read=f"{bytes_text(first.bytes_read)} each",
                bytes_written=f"{bytes_text(first.bytes_written)} each",
                runs=f"{count_text(first.count)} per call, each",
                place=_place(first),
            ),
            "line": name_data(source_line(self.report.data, first.source) or ""),
            "names": _names([row.name for row in rows]),
        }

    def _cut(self, shape: Sequence[int], sharding: Sharding | None) -> dict[str, Any]:
        lengths = [min(length, 2**53 - 1) for length in shape]
        return {"shape": lengths, "sharding": -1 if sharding is None else self.tables.sharding(sharding)}


def _figures(**values: str) -> list[list[str]]:
    return [[label.replace("_", " "), name_data(value)] for label, value in values.items() if value]


def _place(row: Collective | ValueSharding | Fusion) -> str:
    return row.source[0].where if row.source else ""


def _schedule(row: Collective) -> str:
    if not row.is_async:
        return "synchronous"
    return "asynchronous" if row.overlap_count is None else f"asynchronous beside {count_text(row.overlap_count)}"


def _shapes(shapes: Sequence[str]) -> str:
    more = f", {len(shapes) - _SHAPES} more" if len(shapes) > _SHAPES else ""
    return ", ".join(shapes[:_SHAPES]) + more


def _names(names: Sequence[str]) -> str:
    more = f", and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
    return ", ".join(map(name_data, names[:_NAMES])) + more
