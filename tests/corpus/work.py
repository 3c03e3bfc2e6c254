"""The counted work of the corpus, beside XLA's own count of the same programs with their loops written out.

XLA's cost analysis counts the body of a loop once, so a program with a loop is compared with a twin whose scans are
unrolled before JAX traces it. Twins that still have a loop (`while_loop`, loops inside library calls) are not compared.
Not its job: seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import jax
from jax._src.lax.control_flow import loops

import pjit_inspect as pi
from corpus.program import Program

__all__ = ["CountedWork", "count_work"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedWork:
    """Operations and bytes of one call on one device.

    Attributes:
      name: the program's.
      flops, products: ours, of the program as it is; `products` is the part in matrix products and convolutions.
      twin_flops, twin_products: ours, of the twin. XLA optimizes it otherwise, so the program's need not be equal.
      once, xla_once: operations of the program itself if every loop turned once: ours, and XLA's.
      unknown: kernels whose operations are unknown.
      xla_flops: XLA's, of the twin, without what it counts for collectives; None if that still has loops.
      moved: bytes that kernels touch, ours, of the program without loops; None if it has some.
      xla_moved: the same by XLA.
      loops: loops of the program.
    """

    name: str
    flops: int
    products: int
    twin_flops: int
    twin_products: int
    unknown: int
    once: float
    xla_once: float
    xla_flops: float | None
    moved: int | None
    xla_moved: float | None
    loops: int

    @property
    def flops_ratio(self) -> float | None:
        """Ours over XLA's, both of the twin; None where one is missing."""
        return self.twin_flops / self.xla_flops if self.xla_flops else None

    @property
    def once_ratio(self) -> float | None:
        """Ours over XLA's of the program itself, every loop turned once."""
        return self.once / self.xla_once if self.xla_once else None

    @property
    def loops_ratio(self) -> float | None:
        """Operations in products of the program over those of its twin; None without loops, or if that has some."""
        return self.products / self.twin_products if self.loops and self.xla_flops and self.twin_products else None

    @property
    def bytes_ratio(self) -> float | None:
        """The same of bytes."""
        return self.moved / self.xla_moved if self.moved is not None and self.xla_moved else None


def count_work(program: Program) -> CountedWork:
    """Compiles a program, and its twin if it has loops."""
    record = _record(program)
    step, loops_here = record.time, _loops(record)
    twin, cost, own = record, dict(record.cost or {}), dict(record.cost or {})
    if loops_here:
        with _unrolled():
            twin = _record(program)
        cost = dict(twin.cost or {})
    still, flat = _loops(twin), twin.time
    flops = _xla_flops(cost, twin)
    return CountedWork(
        name=program.name,
        flops=step.flops,
        products=step.product_flops,
        twin_flops=flat.flops,
        twin_products=flat.product_flops,
        unknown=sum(row.flops is None for row in step.kernels),
        once=sum((row.flops or 0) / (row.runs or 1) for row in step.kernels),
        xla_once=_xla_flops(own, record),
        xla_flops=None if still else flops,
        moved=None if loops_here else sum(row.bytes or 0 for row in step.kernels),
        xla_moved=None if loops_here else float(cost["bytes accessed"]) - _collective_bytes(record),
        loops=loops_here,
    )


def _xla_flops(cost: Mapping[str, Any], record: pi.CompileRecord) -> float:
    return float(cost.get("flops", 0.0)) + float(cost.get("transcendentals", 0.0)) - _collective_flops(record)


def _record(program: Program) -> pi.CompileRecord:
    function, arguments = program.build()
    return pi.inspect(function, *arguments)


def _loops(record: pi.CompileRecord) -> int:
    assert record.hlo is not None
    return len(record.hlo.with_opcode("while"))


@contextmanager
def _unrolled() -> Iterator[None]:
    """Every scan is written out, those of `lax.map` too."""
    scan = loops.scan

    def whole(f: Any, init: Any, xs: Any = None, length: int | None = None, **options: Any) -> Any:
        return scan(f, init, xs, length, **options | {"unroll": True})

    with mock.patch.object(loops, "scan", whole), mock.patch.object(jax.lax, "scan", whole):
        yield


def _collective_flops(record: pi.CompileRecord) -> float:
    """What XLA counts for collectives that add up: an operation for each element of a result."""
    assert record.hlo is not None
    module, total = record.hlo, 0
    for index in module.with_opcode("all-reduce", "all-reduce-start", "reduce-scatter").tolist():
        shape = module.reader.shape(int(module.instructions.shape[index]))
        total += sum(leaf.count or 0 for leaf in shape.leaves)
    return float(total)


def _collective_bytes(record: pi.CompileRecord) -> float:
    """What XLA counts for collectives: operands and results."""
    assert record.hlo is not None
    module, total = record.hlo, 0
    opcodes = (
        "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast"
    )  # fmt: skip
    for index in module.with_opcode(*opcodes).tolist():
        sizes = module.result_bytes
        total += int(sizes[index]) + sum(int(sizes[k]) for k in module.instructions.operands[index].tolist())
    return float(total)
