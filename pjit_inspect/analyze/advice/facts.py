"""Facts that cost something other than bytes: many tiny collectives, and equal layers that are compiled one by one.

Not its job: facts that cost bytes or memory (`analyze.findings`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from pjit_inspect.analyze.program.phases import LATER
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.opcodes import PRODUCTS
from pjit_inspect.model.record.record import Timings
from pjit_inspect.model.report.advice import Advice
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.words.sentence import Sentence, axis, bytes_in_words, joined, say

_TINY_BYTES = 4096
"""A link sends as much in less time than it takes to begin, on every machine this package knows."""
_MANY = 16
_LAYERS = 8
"""Fewer tiny collectives in a call, or fewer equal layers, are told by nobody."""


def find_other_facts(rows: Sequence[Collective], names: ValueNames | None, timings: Timings | None) -> Iterator[Advice]:
    """The facts of one program: its collectives, its operations with their names, and how long it took to compile."""
    yield from _tiny_collectives(rows)
    if names is not None:
        yield from _written_out(names, timings)


def _tiny_collectives(rows: Sequence[Collective]) -> Iterator[Advice]:
    """Collectives of one kind and the same axes that send next to nothing, and are most of those that run.

    Those that are known to overlap with something are left out.
    """
    alike: dict[tuple[str, tuple[str, ...] | None], list[Collective]] = defaultdict(list)
    for row in rows:
        if (row.wire_bytes or 0) <= _TINY_BYTES and row.overlap_count in (None, 0):
            alike[row.kind, row.axes].append(row)
    every = sum(row.count or 1 for row in rows)
    for (kind, axes), own in alike.items():
        runs = sum(row.count or 1 for row in own)
        at_least = "at least " if any(row.count is None for row in own) else ""
        if runs >= _MANY and 2 * runs >= every:
            most = max(row.payload_bytes or 0 for row in own)
            yield Advice(
                kind="tiny_collectives",
                sentence=say(
                    "{}{} {}s over {} move at most {} each, and each has to be started and waited for",
                    at_least,
                    f"{runs:,}",
                    kind,
                    joined([axis(one) for one in axes]) if axes else Sentence("devices"),
                    bytes_in_words(most),
                ),
                change="compute these values together, so that one collective has all (`jnp.stack`), or less often",
                state="fact",
                source=own[0].source,
                cost_bytes=sum((row.wire_bytes or 0) * (row.count or 1) for row in own),
            )


def _written_out(names: ValueNames, timings: Timings | None) -> Iterator[Advice]:
    """Products that one line of source becomes again and again, in all layers of a Python loop."""
    lines: Counter[object] = Counter()
    first = {}
    for op in names.program.ops:
        if op.kind in PRODUCTS and op.frames and names.phase(op) not in LATER:
            shapes = tuple(names.program.values[value].shape for value in (*op.operands, *op.results))
            key = op.frames, op.spans, op.op_name.rpartition("/")[2], shapes
            lines[key] += 1
            first.setdefault(key, op)
    repeated = {key: number for key, number in lines.items() if number >= _LAYERS}
    if not repeated or 2 * sum(repeated.values()) < lines.total():
        return
    # A line that is run several times in a layer is a multiple.
    number = min(repeated.values())
    op = first[max(repeated, key=lambda key: repeated[key])]
    took = f", {timings.compile_s:.1f} s of compiling in all" if timings is not None and timings.compile_s else ""
    yield Advice(
        kind="written_out_layers",
        sentence=say(
            "{} equal layers are written out: XLA compiles each by itself ({} operations{})",
            f"{number:,}",
            f"{len(names.program.ops):,}",
            took,
        ),
        change="stack their weights and run one layer in `jax.lax.scan`",
        state="fact",
        source=names.frames(op)[-1:] or names.frames(op),
    )
