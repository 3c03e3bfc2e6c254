"""The fused kernels of an optimized program, and the library kernels beside them (custom calls, and `fft`).

A kernel counts when it runs: in the program itself, in a loop, a branch, a call, or an asynchronous computation. On
CPU, XLA wraps kernels that run on several threads in a `call`: the fusions in it are what is reported. Fusions that
only start or finish a collective are reported with the collectives. Not its job: what a kernel costs.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple, cast

import numpy as np

from pjit_inspect.analyze.program.backend_config import library_of_fusion
from pjit_inspect.analyze.program.body_forms import BodyForms, Form, RowBytes
from pjit_inspect.analyze.program.custom_calls import describe_custom_call, runs_kernel, workspace_of
from pjit_inspect.analyze.program.fusion_traffic import bytes_read, bytes_written, is_plain
from pjit_inspect.analyze.program.loops import count_runs
from pjit_inspect.analyze.program.source import UNKNOWN_FILES, UserFiles, user_frames
from pjit_inspect.model.program.hlo import Computation, HloModule, Instruction
from pjit_inspect.model.program.hlo_columns import Links
from pjit_inspect.model.program.opcodes import operations
from pjit_inspect.model.program.table import LaterRows
from pjit_inspect.model.report.collective import KINDS
from pjit_inspect.model.report.fusion import DistinctFusion, Fusion, FusionTable

_RUNS_INSIDE = operations("region", "body")
_KERNELS = frozenset(("fusion", "custom-call", "fft"))
_CUSTOM = "kCustom"
_NO_WORK = operations("given")
_NO_RESULT = operations("parameter", "made", "tuple", "rename", "collective") | {"custom-call"}
"""Opcodes that write no result: names for others, values cheaper to make than to read, and collectives, counted
elsewhere."""
_MOST = 1 << 53
"""Counts stop here: only a damaged program claims more."""
_MOST_BYTES = 1 << 63
"""More bytes than any program moves; a larger claim is unknown."""


def find_fusions(module: HloModule, *, files: UserFiles = UNKNOWN_FILES) -> FusionTable:
    """Every fused kernel that runs, and every library kernel, in schedule order.

    What a loop, a branch or a call runs stands where it is called. `files` says which files are the user's.
    """
    kernels = list(_kernels(module))
    distinct = _distinct(kernels, _Columns(module, files))
    rows = LaterRows(len(kernels), lambda: _each(distinct, module.reader.names(kernels)))
    return FusionTable(cast("Any", rows), distinct)


def _distinct(kernels: Sequence[int], context: _Columns) -> tuple[DistinctFusion, ...]:
    """The kernels that differ (`FusionTable.distinct`), in schedule order."""
    module, columns, runs = context.module, context.module.instructions, count_runs(context.module)
    found: dict[tuple[int, int | None, int, int], tuple[dict[str, Any], list[int]]] = {}
    where = (each[kernels].tolist() for each in (columns.computation, columns.op_name, columns.frame))
    rows = zip(kernels, context.likenesses(kernels), *where, strict=True)
    for place, (kernel, likeness, computation, op_name, frame) in enumerate(rows):
        facts = context.facts(kernel, likeness)
        key = id(facts), runs[computation].most, op_name, frame
        if key not in found:
            # With the facts themselves, so that their id cannot be used again.
            found[key] = facts, []
        found[key][1].append(place)
    names = module.reader.names([kernels[places[0]] for _, places in found.values()])
    return tuple(
        DistinctFusion(
            Fusion(name=name, count=count, op_name=module.op_names[op_name], source=context.source(frame), **facts),
            tuple(places),
        )
        for name, ((_, count, op_name, frame), (facts, places)) in zip(names, found.items(), strict=True)
    )


def _each(distinct: Sequence[DistinctFusion], names: Sequence[str]) -> Iterator[Fusion]:
    """Every kernel; whoever shows thousands needs only those that differ."""
    shared: dict[int, dict[str, Any]] = {}
    for fusion, places in distinct:
        shared.update(dict.fromkeys(places, _shared(fusion)))
    return (Fusion(name=name, **shared[place]) for place, name in enumerate(names))


def _shared(kernel: Fusion) -> dict[str, Any]:
    """All of a kernel but its name."""
    return {field.name: getattr(kernel, field.name) for field in fields(kernel) if field.name != "name"}


def _kernels(module: HloModule) -> Iterator[int]:
    """The kernels of the entry computation and of those it runs, each computation once."""
    is_kernel = module.is_opcode(_KERNELS)
    is_looked_at = is_kernel | module.is_opcode(_RUNS_INSIDE)
    has_notes = not {"custom-call", *KINDS}.isdisjoint(module.opcodes)

    def of(computation: Computation) -> Iterator[int]:
        order = computation.order
        return iter(order[is_looked_at[order]].tolist())

    stack, seen = [of(module.computation(module.entry))], set[int]()
    while stack:
        index = next(stack[-1], None)
        if index is None:
            stack.pop()
            continue
        if is_kernel[index]:
            if not has_notes or runs_kernel(module.instruction(index)):
                yield index
        else:
            called = [own for own in module.instruction(index).called if own.index not in seen]
            seen.update(computation.index for computation in called)
            stack.extend(map(of, reversed(called)))


class _Inner(NamedTuple):
    """The content of a fusion's body, fusions in it included.

    `opcodes` counts instructions by opcode; `stored` is the bytes of all results that would be stored, `passed` the
    same without what the body returns. Bytes are None when unknown.
    """

    opcodes: Mapping[int, int]
    stored: int | None
    passed: int | None


class _Columns:
    """Data shared by all kernels of one program: columns as lists, and facts of equal shapes, frames and bodies."""

    def __init__(self, module: HloModule, files: UserFiles) -> None:
        self.module = module
        self.opcode: list[int] = module.instructions.opcode.tolist()
        self.bytes: list[int] = module.result_bytes.tolist()
        self.operands, self.called = _Lists(module.instructions.operands), _Lists(module.instructions.called)
        self.no_result = {k for k, opcode in enumerate(module.opcodes) if opcode in _NO_RESULT}
        self.broadcast = module.opcodes.index("broadcast") if "broadcast" in module.opcodes else -1
        leaves = module.reader.shape
        self._arrays_of = functools.cache(lambda row: tuple(str(leaf) for leaf in leaves(row).leaves if leaf.is_array))
        # The user's frames above one of the module's, and that one.
        self.source = functools.cache(lambda frame: user_frames(module.frames_table.chain(frame), files))
        self._fusion = module.opcodes.index("fusion") if "fusion" in module.opcodes else -1
        self._inner: dict[int, _Inner] = {}
        self._forms = BodyForms(module)
        self._inner_of_form: dict[object, _Inner] = {}
        self._plain_of_form: dict[object, bool] = {}
        self._words: dict[int, tuple[tuple[str, int], ...]] = {}
        self._facts: dict[object, dict[str, Any]] = {}

    def arrays(self, index: int) -> tuple[str, ...]:
        """The arrays an instruction yields, as XLA prints their shapes."""
        return self._arrays_of(int(self.module.instructions.shape[index]))

    def is_stored(self, index: int) -> bool:
        """True if an instruction would write a result to memory if it ran alone."""
        if self.opcode[index] == self.broadcast:
            # One number in every place; a damaged program may have a broadcast of nothing.
            operands = self.operands.of(index)
            return not operands or bool(self.module.instruction(operands[0]).shape.dimensions)
        return self.opcode[index] not in self.no_result

    def total(self, indices: Iterable[int]) -> int | None:
        """Bytes of the results of these instructions together; None when one is unknown."""
        sizes = [self.bytes[index] for index in indices]
        return None if -1 in sizes else _added(sizes)

    def inner(self, computation: int) -> _Inner:
        """The content of a fusion's body. Bodies in it come first, each once, as they may nest deep."""
        form = self._forms.of(computation)
        if form in self._inner_of_form:
            return self._inner_of_form[form]
        stack = [computation]
        while stack:
            top = stack[-1]
            missing = [] if top in self._inner else [c for c in self._called(top) if c not in self._inner]
            if missing:
                stack.extend(missing)
            else:
                stack.pop()
                self._inner[top] = self._inner.get(top) or self._sum_once(top)
        return self._inner[computation]

    def _sum_once(self, computation: int) -> _Inner:
        """The content of one body (`_sum`), counted once for all bodies of its form."""
        form = self._forms.of(computation)
        if form is None or self._called(computation):
            return self._sum(computation)
        if form not in self._inner_of_form:
            self._inner_of_form[form] = self._sum(computation)
        return self._inner_of_form[form]

    def opcodes(self, inner: Sequence[_Inner]) -> tuple[tuple[str, int], ...]:
        """The opcodes in one kernel and their counts, most frequent first."""
        if len(inner) != 1:
            return _opcodes(inner, self)
        # The object is kept in `_inner`, so that its id cannot be used again.
        key = id(inner[0])
        if key not in self._words:
            self._words[key] = _opcodes(inner, self)
        return self._words[key]

    def is_plain(self, kernel: int) -> bool:
        """True if a fusion reads all of its operands and writes all of its result."""
        called = self.called.of(kernel)
        form = self._forms.of(called[0]) if called else None
        if form is None:
            return False
        if form not in self._plain_of_form:
            self._plain_of_form[form] = is_plain(self.module.computation(called[0]))
        return self._plain_of_form[form]

    def likenesses(self, kernels: Sequence[int]) -> Iterator[object]:
        """For each kernel a key that equal kernels share; None for one that has to be looked into by itself."""
        links, shape = self.module.instructions.operands, self.module.instructions.shape
        own = np.asarray(kernels, np.int64)
        shapes = RowBytes(shape[links.items]).of(links.starts[own], links.starts[own + 1])
        results, opcodes, kernel_of = shape[own].tolist(), self.opcode, self.module.reader.kernel
        for kernel, form, result, taken in zip(kernels, self._body_forms(kernels), results, shapes, strict=True):
            if form is None:
                yield None
                continue
            # What takes one array twice reads it once.
            operands = self.operands.of(kernel)
            twice = tuple(map(operands.index, operands)) if len(set(operands)) < len(operands) else ()
            yield (form, result, taken, twice, opcodes[kernel], *kernel_of(kernel), self.library(kernel))

    def library(self, kernel: int) -> str:
        """The library that makes the code of a custom fusion, by its configuration; "" for any other."""
        is_custom = self.module.reader.kernel(kernel)[0] == _CUSTOM
        return library_of_fusion(self.module.reader.details(kernel).backend_config) if is_custom else ""

    def _body_forms(self, kernels: Sequence[int]) -> Iterator[Form | None]:
        """The form of the one computation that each calls."""
        called = [self.called.of(kernel) for kernel in kernels]
        forms = iter(self._forms.of_each([own[0] for own in called if len(own) == 1]))
        return (next(forms) if len(own) == 1 else None for own in called)

    def facts(self, index: int, likeness: Any) -> dict[str, Any]:
        """The facts of a kernel beside its name and place; looked into once for equal kernels."""
        facts = None if likeness is None else self._facts.get(likeness)
        if facts is None:
            facts = _facts(self.module.instruction(index), list(dict.fromkeys(self.operands.of(index))), self)
            # Of a body with fusions in it, or one that reads parts of an array, the form does not tell all.
            if likeness and likeness[0] in self._inner_of_form and self._plain_of_form.get(likeness[0], False):
                self._facts[likeness] = facts
        return facts

    def traffic(self, kernel: Instruction) -> tuple[int | None, int | None]:
        """The bytes a fusion reads and writes; None when unknown."""
        if not self.is_plain(kernel.index):
            return bytes_read(kernel), bytes_written(kernel)
        operands = dict.fromkeys(self.operands.of(kernel.index))
        sizes, written = [self.bytes[operand] for operand in operands], self.bytes[kernel.index]
        return None if -1 in sizes else sum(sizes), None if written < 0 else written

    def _called(self, computation: int) -> Mapping[int, int]:
        """The bodies of the fusions in a computation, and how many of the fusions have them."""
        fusions = [i for i in self.module.computation(computation).range if self.opcode[i] == self._fusion]
        return Counter(body for index in fusions for body in self.called.of(index))

    def _sum(self, computation: int) -> _Inner:
        body, inside = self.module.computation(computation), self._called(computation)
        own = [index for index in body.range if self.opcode[index] != self._fusion]
        opcodes = Counter(self.opcode[index] for index in own)
        for called, times in inside.items():
            for opcode, count in self._inner[called].opcodes.items():
                opcodes[opcode] = min(_MOST, opcodes[opcode] + times * count)
        nested = [_times(self._inner[called].stored, times) for called, times in inside.items()]
        root = body.root
        given = {root.index} | ({operand.index for operand in root.operands} if root.opcode == "tuple" else set())
        stored = [index for index in own if self.is_stored(index)]
        return _Inner(
            opcodes=opcodes,
            stored=_added([self.total(stored), *nested]),
            passed=_added([self.total(index for index in stored if index not in given), *nested]),
        )


class _Lists:
    """Links as Python's lists: a slice of a column costs more than what is done with it."""

    def __init__(self, links: Links) -> None:
        self._starts: list[int] = links.starts.tolist()
        self._items: list[int] = links.items.tolist()

    def of(self, index: int) -> list[int]:
        """The items of one row."""
        return self._items[self._starts[index] : self._starts[index + 1]]


def _added(sizes: Iterable[int | None]) -> int | None:
    """The sum of sizes; None when one is unknown, or when the sum is more than any program has."""
    total = 0
    for size in sizes:
        if size is None or total + size > _MOST_BYTES:
            return None
        total += size
    return total


def _times(size: int | None, times: int) -> int | None:
    return None if size is None else _added([size * times])


def _facts(kernel: Instruction, operands: Sequence[int], context: _Columns) -> dict[str, Any]:
    """The facts that equal kernels share: all but their names and places."""
    total, index, is_fusion = context.total, kernel.index, kernel.opcode == "fusion"
    kind, target = context.module.reader.kernel(index)
    inner = [context.inner(c) for c in context.called.of(index)] if is_fusion else []
    read, written = context.traffic(kernel) if is_fusion else (total(operands), total((index,)))
    is_call = kernel.opcode == "custom-call"
    return {
        "kind": kind.removeprefix("k").lower() if is_fusion else kernel.opcode,
        "instructions": context.opcodes(inner) if kernel.opcode != "fft" else (("fft", 1),),
        "inputs": tuple(text for operand in operands for text in context.arrays(operand)),
        "outputs": context.arrays(index),
        "bytes_read": read,
        "bytes_written": written,
        "bytes_saved": _saved(inner) if is_fusion else 0,
        "target": target or None,
        **(_library_facts(kernel, written) if is_call else {"library": context.library(index)}),
    }


def _library_facts(call: Instruction, written: int | None) -> dict[str, Any]:
    """The library and routine of a custom call, and its bytes; scratch memory is no result."""
    what, workspace = describe_custom_call(call), workspace_of(call)
    left = None if written is None else written - workspace
    return {"library": what.library, "routine": what.routine, "workspace_bytes": workspace, "bytes_written": left}


def _opcodes(inner: Iterable[_Inner], context: _Columns) -> tuple[tuple[str, int], ...]:
    rows = Counter[int]()
    for body in inner:
        rows.update(body.opcodes)
    counts = [(context.module.opcodes[row], count) for row, count in rows.items()]
    kept = [item for item in counts if item[0] not in _NO_WORK]
    return tuple(sorted(kept, key=lambda item: (-item[1], item[0])))


def _saved(inner: Iterable[_Inner]) -> int | None:
    """One write and one read of every result in the body that would be stored and is not the fusion's own."""
    return _times(_added([body.passed for body in inner]), 2)
