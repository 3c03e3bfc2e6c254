"""One program compared with XLA's own dump, and the causes of its collectives judged.

Not its job: printing (`table`), or deciding how much may be wrong (`test_operations`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import jax

import pjit_inspect
from operations.forms import Program
from operations.xla_dump import MadeFor, dump, operations_of_collectives
from operations.xla_shardings_of import Specs, xla_shardings_of
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.sharding.sharded_program import ShardedProgram

__all__ = ["Score", "score"]

_CALL = "sdy.named_computation"
"""XLA has inlined calls before: what a call returns is a value inside it."""

_RESHARD = {"reshard_needed", "reshard_requested", "output", "full_replication"}
_ANYWHERE = {*_RESHARD, "loop_predicate", "unknown"}
"""An operand of any operation may be sharded otherwise, or decide on a loop."""

_OF_OPCODES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("dot", ("contraction",)),
    ("convolution", ("contraction", "halo")),
    ("reduce", ("reduction",)),
    ("gather scatter dynamic-slice dynamic-update-slice sort", ("indexing",)),
    ("topk", ("indexing", "no_sharding_rule")),
    # A function such as cumprod may be made of these.
    ("slice pad concatenate reverse reduce-window select-and-scatter", ("halo", "indexing")),
    # One position of a sharded dimension: the dimension of size 1 goes.
    ("reshape broadcast bitcast", ("indexing", "halo")),
    ("custom-call fft cholesky triangular-solve erf", ("no_sharding_rule",)),
    ("custom-call", ("indexing", "written", "no_sharding_rule")),
    ("call all-reduce all-gather reduce-scatter all-to-all collective-permute", ("written",)),
)
"""The kinds that a collective can have which XLA made for an instruction with one of these opcodes."""

_FURTHER = {"plain": (), "matmul": ("contraction", "reshard_needed"), "gradient": ()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One program, compared and judged.

    Attributes:
      name: the program's.
      compared: arrays with a counterpart in XLA's module, of the same name, type and shape.
      different: a line for each of these that XLA shards otherwise.
      unmatched: how many named arrays have no counterpart: XLA merged or rewrote them before.
      kinds: the kind of every cause.
      cause_bytes: the bytes they explain (payload, each time it runs).
      unknown: a line for each cause that is unknown.
      unknown_bytes: the bytes of these.
      unacceptable: a line for each cause of a kind that the operation cannot have, or for a sentence with a word that
        must not occur.
      contradicted: a line for each cause of a kind that the instruction cannot have for which XLA made the collective.
      elsewhere: a line for each cause found at another operation than the one XLA was at. A hint, not an error: a
        reshard is named after what makes the array, or what needs it.
      error: why the program could not be judged; "".
    """

    name: str
    compared: int = 0
    different: tuple[str, ...] = ()
    unmatched: int = 0
    kinds: tuple[str, ...] = ()
    cause_bytes: int = 0
    unknown: tuple[str, ...] = ()
    unknown_bytes: int = 0
    unacceptable: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    error: str = ""

    @property
    def causes(self) -> int:
        return len(self.kinds)

    @property
    def is_right(self) -> bool:
        return not (self.different or self.unknown or self.unacceptable or self.contradicted or self.error)


def score(program: Program) -> Score:
    """Compile the program twice, with the package and with XLA's dump."""
    # JAX traces an inner jitted function of its own once, and keeps the lines of whoever called it first.
    jax.clear_caches()
    mesh = program.arguments[0].sharding.mesh
    dumped = dump(program.function, program.arguments)
    theirs = xla_shardings_of(dumped.propagated, mesh)
    jax.clear_caches()
    record = pjit_inspect.inspect(program.function, *program.arguments)
    if record.propagation is None:
        return Score(name=program.name, error="its shardings are not known")
    ours = _by_name(record.propagation)
    compared, different = _compare(ours, theirs)
    rows = list(record.collectives)
    made_for = operations_of_collectives(dumped)
    causes = [(row, cause) for row in rows for cause in row.causes]
    unknown = [(row, cause) for row, cause in causes if cause.kind == "unknown"]
    return Score(
        name=program.name,
        compared=compared,
        different=different,
        unmatched=sum(count.total() for key, count in ours.items() if key[2]) - compared,
        kinds=tuple(cause.kind for _, cause in causes),
        cause_bytes=sum(cause.payload_bytes for _, cause in causes),
        unknown=tuple(f"{_what(row)}: {cause.sentence}" for row, cause in unknown),
        unknown_bytes=sum(cause.payload_bytes for _, cause in unknown),
        unacceptable=(*_unacceptable(program, rows), *_unexplained(rows)),
        contradicted=_contradicted(rows, made_for),
        elsewhere=_elsewhere(rows, made_for),
    )


# ---------------------------------------------------------------- shardings


def _by_name(program: ShardedProgram) -> Specs:
    """The package's answer, in the same form as XLA's."""
    found: Specs = defaultdict(Counter)
    for op in program.ops:
        for value in (program.values[index] for index in op.results):
            if op.op_name and op.opcode != _CALL:
                found[op.op_name, value.dtype, value.shape][value.spec] += 1
    for boundary in program.inputs:
        value = program.values[boundary.value]
        found[boundary.name, value.dtype, value.shape][value.spec] += 1
    return found


def _compare(ours: Specs, theirs: Specs) -> tuple[int, tuple[str, ...]]:
    """How many arrays have a counterpart, and those that differ whichever way arrays of one name are paired."""
    compared, different = 0, []
    for key in ours.keys() & theirs.keys():
        if not key[2]:
            continue  # A single number cannot be sharded.
        pairs = min(ours[key].total(), theirs[key].total())
        equal = (ours[key] & theirs[key]).total()
        compared += pairs
        different += [_line(key, ours[key] - theirs[key], theirs[key] - ours[key])] * (pairs - equal)
    return compared, tuple(sorted(different))


def _line(key: tuple[str, str, tuple[int, ...]], ours: Counter, theirs: Counter) -> str:
    name, dtype, shape = key
    return f"{name} {dtype}{list(shape)}: {' or '.join(map(str, ours))}; XLA's: {' or '.join(map(str, theirs))}"


# ---------------------------------------------------------------- causes


def _unacceptable(program: Program, rows: list[Collective]) -> list[str]:
    allowed = {"unknown", *_allowed(program)}
    words = program.operation.never if program.form == "plain" else ()
    found = []
    for row in rows:
        for cause in row.causes:
            if cause.kind not in allowed:
                found.append(f"{_what(row)}: {cause.kind} is none of {_listed(allowed)}: {cause.sentence}")
            found += [f"{_what(row)}: says {word!r}: {cause.sentence}" for word in words if word in cause.sentence]
    return found


def _allowed(program: Program) -> set[str]:
    """The kinds that a collective of this program may have."""
    operation = program.operation
    allowed = {*operation.causes, *_FURTHER[program.form]}
    if program.form == "gradient":
        allowed |= set(operation.backward)
    if "reshard_needed" in allowed:
        # How the partitioner reshards, where it knows no direct way.
        allowed.add("full_replication")
    results = jax.tree.leaves(jax.eval_shape(program.function, *program.arguments))
    if any(length % 8 for result in results for length in result.shape):
        # What the axes do not divide is returned replicated.
        allowed.add("output")
    return allowed


def _listed(kinds: set[str]) -> str:
    return ", ".join(sorted(kinds - {"unknown"})) or "no collective at all"


def _unexplained(rows: list[Collective]) -> list[str]:
    return [f"{_what(row)}: has no cause" for row in rows if not row.causes]


def _explained(rows: list[Collective], made_for: dict[int, MadeFor]) -> Iterator[tuple[Collective, Cause, MadeFor]]:
    """Collectives with one cause, and what XLA made them for; not those that XLA made of several later."""
    for row in rows:
        made = made_for.get(-1 if row.channel_id is None else row.channel_id)
        if made is not None and made.kind == row.kind and len(row.causes) == 1 and ":" not in row.op_name:
            yield row, row.causes[0], made


def _contradicted(rows: list[Collective], made_for: dict[int, MadeFor]) -> tuple[str, ...]:
    """Causes whose kind does not go with the instruction that XLA was at when it made the collective."""
    return tuple(
        f"{_what(row)}: {cause.kind}, but XLA made it for {_place(made)}: {cause.sentence}"
        for row, cause, made in _explained(rows, made_for)
        if cause.kind not in _possible(made)
    )


def _elsewhere(rows: list[Collective], made_for: dict[int, MadeFor]) -> tuple[str, ...]:
    """Causes found at another operation, where neither a request nor a reshard of XLA's own explains that."""
    return tuple(
        f"{_what(row)}: found at {cause.op_name}, but XLA made it for {_place(made)}: {cause.sentence}"
        for row, cause, made in _explained(rows, made_for)
        if made.name
        and "copy" not in made.opcodes
        and cause.op_name not in ("", made.name)
        and cause.kind not in ("unknown", "reshard_requested", "output")
    )


def _place(made: MadeFor) -> str:
    return f"{'|'.join(sorted(made.opcodes))} {made.name}" if made.name else "an instruction without a name"


def _possible(made: MadeFor) -> set[str]:
    found = set(_ANYWHERE)
    for opcodes, kinds in _OF_OPCODES:
        if made.opcodes & set(opcodes.split()):
            found |= set(kinds)
    return found


def _what(row: Collective) -> str:
    return f"{row.kind} over {row.axes_text}, {row.payload_bytes} B, {row.op_name or 'no name'}"
