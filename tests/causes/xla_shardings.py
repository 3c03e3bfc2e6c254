"""The shardings of a program as propagation in this process predicts them, beside those in XLA's own dump of a compile.

XLA rewrites a program a little before it propagates, and its dump of Shardy's module has no names. So values are
matched by what they are: the op that makes them, their type, and the same of their operands, as many steps back as both
agree. Its dump of HLO, made a moment later, has names: there values are matched by JAX's name of the op and the type.
Not its job: deciding what may differ (`test_shardings_equal_xla`).
"""

from __future__ import annotations

import io
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from data.hlo_texts import parse_hlo_text

from causes.case import Case
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.propagation import _Walk, propagate
from pjit_inspect.parse.sharding.propagated_hlo import read_propagated_hlo

__all__ = ["Comparison", "Dumped", "compare_by_name", "compare_by_structure", "dump"]

_STEPS = 6
_SAME = {"dot": "dot_general", "sharding_constraint": "constraint", "reshard": "constraint", "topk": "top_k"}
_CALL = "sdy.named_computation"
"""XLA has inlined calls before; what enters and leaves them is the same value on both sides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dumped:
    """One program: as propagated here, and what XLA wrote."""

    ours: ShardedProgram
    shardy: str
    hlo: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How many values are equal, a line for each that is not, and the ops that XLA's dump has no counterpart of."""

    equal: int = 0
    different: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()


def dump(case: Case) -> Dumped:
    """Compile the case's program as JAX does, with XLA's dump on."""
    function, arguments = case.build()
    lowered = function.lower(*arguments)
    bytecode = io.BytesIO()
    lowered.compiler_ir().operation.write_bytecode(file=bytecode)
    with tempfile.TemporaryDirectory() as folder:
        lowered.compile(compiler_options={"xla_dump_to": folder, "xla_dump_hlo_pass_re": "shardy"})
        (shardy,) = Path(folder).rglob("*.after_propagation.mlir")
        (hlo,) = Path(folder).rglob("*.after_shardy-xla.*")
        texts = shardy.read_text(), hlo.read_text()
    ours = propagate(bytecode.getvalue())
    assert ours is not None
    return Dumped(ours=ours, shardy=texts[0], hlo=texts[1])


# ---------------------------------------------------------------- by structure


def compare_by_structure(dumped: Dumped) -> Comparison:
    """Against Shardy's module after propagation, value by value."""
    with _mlir.open_module(dumped.shardy.encode()) as module:
        theirs = _Walk(given=(), required=()).read(module)
    pair = _Pair(dumped.ours), _Pair(theirs)
    equal = sum(_match(*pair, steps) for steps in range(_STEPS, -1, -1))
    return _leftovers(*pair, equal)


class _Pair:
    """One side: the values not matched yet, and what each is, for every number of steps back."""

    def __init__(self, program: ShardedProgram) -> None:
        self.program = program
        self.aliases = _aliases(program)
        self.left = set(range(len(program.values))) - set(self.aliases)
        self.levels = self._levels()

    def _levels(self) -> list[list[object]]:
        first = [self._kind(index) for index in range(len(self.program.values))]
        levels: list[list[object]] = [first]
        for _ in range(_STEPS):
            levels.append([self._deeper(index, first, levels[-1]) for index in range(len(first))])
        return levels

    def _kind(self, index: int) -> object:
        value = self.program.values[index]
        if value.op is None:
            return hash(("argument", value.argument, value.dtype, value.shape))
        op = self.program.ops[value.op]
        made = "result" if index in op.results else "region"
        return hash((made, _SAME.get(op.kind, op.kind), value.dtype, value.shape))

    def _deeper(self, index: int, first: list[object], level: list[object]) -> object:
        value = self.program.values[index]
        if value.op is None or index not in self.program.ops[value.op].results:
            return first[index]
        return hash((first[index], tuple(level[self._source(i)] for i in self.program.ops[value.op].operands)))

    def _source(self, index: int) -> int:
        while index in self.aliases:
            index = self.aliases[index]
        return index

    def groups(self, steps: int) -> dict[object, list[int]]:
        found: dict[object, list[int]] = defaultdict(list)
        for index in sorted(self.left):
            found[self.levels[steps][index]].append(index)
        return found

    def take(self, indices: Iterable[int]) -> None:
        self.left -= set(indices)

    def specs(self, indices: Iterable[int]) -> Counter:
        return Counter(self.program.values[index].spec for index in indices)

    def opcode(self, index: int) -> str:
        op = self.program.values[index].op
        return "argument" if op is None else self.program.ops[op].opcode

    def line(self, index: int) -> str:
        value = self.program.values[index]
        op = self.program.ops[value.op] if value.op is not None else None
        made_by = f"{op.opcode} {op.op_name}" if op else "argument"
        return f"{made_by} {value.dtype}{list(value.shape)} {value.spec}"


def _aliases(program: ShardedProgram) -> dict[int, int]:
    found = {}
    for source, target in program.links:
        op = program.values[target].op
        if op is not None and program.ops[op].opcode == _CALL:
            found[target] = source
    return found


def _match(ours: _Pair, theirs: _Pair, steps: int) -> int:
    """Takes the values away that are equal, of each group as many as both sides have."""
    equal = 0
    others = theirs.groups(steps)
    for key, mine in ours.groups(steps).items():
        for spec, count in (ours.specs(mine) & theirs.specs(others.get(key, ()))).items():
            ours.take([i for i in mine if ours.program.values[i].spec == spec][:count])
            theirs.take([i for i in others[key] if theirs.program.values[i].spec == spec][:count])
            equal += count
    return equal


def _leftovers(ours: _Pair, theirs: _Pair, equal: int) -> Comparison:
    """What is left on both sides with the same op and type differs; the rest has no counterpart."""
    others = theirs.groups(0)
    different, rewritten = [], []
    for key, mine in ours.groups(0).items():
        pairs = list(zip(mine, others.get(key, ()), strict=False))
        different += [f"{ours.line(i)}; XLA's: {theirs.program.values[j].spec}" for i, j in pairs]
        rewritten += [ours.opcode(i) for i in mine[len(pairs) :]]
    return Comparison(equal=equal, different=tuple(different), rewritten=tuple(rewritten))


# ---------------------------------------------------------------- by name


def compare_by_name(dumped: Dumped, mesh: Mesh) -> Comparison:
    """Against HLO before partitioning: for every name and type the specs that some value has."""
    theirs = _by_name(read_propagated_hlo(parse_hlo_text(dumped.hlo), [mesh]).program)
    equal, different, rewritten = 0, [], []
    for key, specs in _by_name(dumped.ours).items():
        if key not in theirs:
            rewritten.append(key[0])
        elif specs <= theirs[key]:
            equal += 1
        else:
            different.append(f"{key}: {specs}; XLA's: {theirs[key]}")
    return Comparison(equal=equal, different=tuple(different), rewritten=tuple(rewritten))


def _by_name(program: ShardedProgram) -> dict[tuple[str, str, tuple[int, ...]], set]:
    found: dict[tuple[str, str, tuple[int, ...]], set] = defaultdict(set)
    for op in program.ops:
        for value in (program.values[index] for index in op.results):
            if op.op_name and op.opcode != _CALL:
                found[op.op_name, value.dtype, value.shape].add(value.spec)
    return found
