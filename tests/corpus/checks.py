"""What the package says of a program, compared with what XLA says: shardings, sizes, names, counterfactuals.

Every check returns its failures in words, and how much it compared. Not its job: finding out what XLA says
(`xla_truth`), shardings themselves (`sharding_checks`), or adding up (`table`).
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from corpus.program import Counterfactual, Expected, Never, Program
from corpus.sharding_checks import Result, check_shardings, count_unpaired
from corpus.xla_text import Array
from corpus.xla_truth import Moved, Operand, XlaTruth
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import Collective

__all__ = [
    "Result",
    "check_counterfactual",
    "check_expected",
    "check_kinds",
    "check_names",
    "check_shardings",
    "check_sizes",
    "count_unpaired",
    "pairs",
]

_MOVING = ("all-gather", "all-to-all")
_REQUESTS = ("reshard_requested", "reshard_needed", "output", "full_replication")
_CODE = re.compile(r"`([^`]*)`")
_SHAPE = re.compile(r"\[(\d[\d, ]*)\]")


# ---------------------------------------------------------------- causes and their operands


def pairs(record: Any, truth: XlaTruth) -> Iterator[tuple[Collective, Cause, Moved, tuple[Operand, ...]]]:
    """Every cause with what XLA moves for it: the operand of a combined collective, else all operands."""
    for row in record.collectives:
        moved = next((truth.collectives[name] for name in row.instructions if name in truth.collectives), None)
        for index, cause in enumerate(row.causes if moved else ()):
            operands = moved.operands[index : index + 1] if len(row.causes) > 1 else moved.operands
            yield row, cause, moved, operands


def _where(row: Collective) -> str:
    return f"{row.instructions[0] if row.instructions else row.kind} over {row.axes_text}"


def _labels(record: Any, truth: XlaTruth) -> dict[str, str]:
    """Whatever an argument is called in a sentence -> JAX's name for it."""
    names = {name: name for name in truth.arguments}
    for boundary in record.propagation.inputs if record.propagation else ():
        if boundary.name in truth.arguments:
            names[boundary.label] = boundary.name
    return names


def _named(text: str, labels: dict[str, str]) -> set[str]:
    """The arguments that stand in backticks, slices of them too."""
    return {name for code in _CODE.findall(text) for name in [_argument(code, labels)] if name}


def _argument(code: str, labels: dict[str, str]) -> str:
    while code not in labels and code.endswith("]"):
        code = code[: code.rindex("[")]
    return labels.get(code, "")


# ---------------------------------------------------------------- sizes


def check_sizes(record: Any, truth: XlaTruth) -> Result:
    """A cause that rests on shardings names an array that the collective can have moved: its type, its size."""
    labels = _labels(record, truth)
    compared, failures = 0, []
    for row, cause, moved, operands in pairs(record, truth):
        if cause.evidence != "sharding" or not _moves_all_of_it(moved, cause):
            continue
        named = _named_arrays(cause, truth, labels)
        if not named:
            continue
        compared += 1
        if not any(_fits(array, operands, row, len(truth.devices)) for array in named):
            sizes = ", ".join(f"{array.dtype}{list(array.shape)}" for array in named)
            moves = ", ".join(f"{o.array.dtype}{list(o.array.shape)}" for o in operands[:3])
            failures.append(f"{_where(row)} moves {moves}; said: {sizes}: {cause.sentence}")
    return Result(compared=compared, failures=tuple(failures))


def _moves_all_of_it(moved: Moved, cause: Cause) -> bool:
    """Whether the array that the sentence names is the one that is moved, all of it."""
    # A look-up gathers the table or the positions, a halo is an edge, and an argmax gathers what each device found.
    if not cause.value and (cause.kind in ("indexing", "halo", "reduction") or "its result is moved" in cause.sentence):
        return False
    return moved.kind in _MOVING or (moved.kind == "collective-permute" and cause.kind in _REQUESTS)


def _named_arrays(cause: Cause, truth: XlaTruth, labels: dict[str, str]) -> list[Array]:
    value = _argument(cause.value, labels)
    if value:
        return [truth.arguments[value]]
    found = [truth.arguments[name] for name in _named(cause.sentence, labels) - _differentiated(cause, labels)]
    for fact in cause.facts:
        for shape in _SHAPE.findall(_CODE.sub("", fact)):
            found.append(Array("", tuple(int(n) for n in shape.split(","))))
    return found


def _differentiated(cause: Cause, labels: dict[str, str]) -> set[str]:
    """The arguments that a gradient's operation names as what it is with respect to: they are not what moves."""
    arrays = _named(cause.moved, labels) | _named(cause.summed, labels)
    return _named(cause.operation, labels) - arrays if cause.phase == "backward" else set()


def _fits(array: Array, operands: tuple[Operand, ...], row: Collective, devices: int) -> bool:
    elements = sum(operand.array.elements for operand in operands)
    if array.dtype and _family(array.dtype) != _family(operands[0].array.dtype):
        return False
    shapes = [array.shape]
    if "while" in row.op_name and len(array.shape) > 1:
        shapes.append(array.shape[1:])
    return any(elements in _local_sizes(shape, devices) for shape in shapes)


def _family(dtype: str) -> str:
    return "float" if dtype[0] in "fb" else "integer"


def _local_sizes(shape: tuple[int, ...], devices: int) -> set[int]:
    """The numbers of elements that a piece of an array may have, over some of the devices."""
    pieces = [k for k in range(1, devices + 1) if devices % k == 0]
    sizes = {1: {1}}
    for length in shape:
        grown: dict[int, set[int]] = defaultdict(set)
        for (used, found), k in itertools.product(sizes.items(), pieces):
            if devices % (used * k) == 0:
                grown[used * k] |= {size * -(-length // k) for size in found}
        sizes = grown
    return set(itertools.chain.from_iterable(sizes.values()))


# ---------------------------------------------------------------- names


def check_names(record: Any, truth: XlaTruth) -> Result:
    """The arguments that causes name are those that XLA's dataflow leads to, of the right layer."""
    labels = _labels(record, truth)
    families = Counter(map(_skeleton, truth.arguments))
    compared, failures = 0, []
    for row, cause, moved, operands in pairs(record, truth):
        value = _argument(cause.value, labels)
        source = operands[0].argument
        named = _named(cause.sentence, labels) - _differentiated(cause, labels) | ({value} if value else set())
        allowed = _allowed(operands)
        compared += bool(value and source) or any(families[_skeleton(name)] > 1 for name in named)
        wrong = []
        if moved.kind in _MOVING and value and source and value != source:
            wrong.append(f"the array is `{source}`, not `{value}`")
        wrong += [
            f"`{name}` is of another layer than {_list(allowed, name)}"
            for name in sorted(named - allowed)
            if any(_skeleton(name) == _skeleton(other) for other in allowed)
        ]
        wrong += [
            f"it is the gradient of {' or '.join(sorted(operands[0].partners))}, not of `{name}`"
            for name in _gradients(cause.sentence, labels)
            if operands[0].partners and name not in allowed
        ]
        if wrong:
            failures.append(f"{_where(row)}: {'; '.join(dict.fromkeys(wrong))}: {cause.sentence}")
    return Result(compared=compared, failures=tuple(failures))


def _allowed(operands: tuple[Operand, ...]) -> set[str]:
    return {
        name
        for o in operands
        for name in ({o.argument} - {""}) | o.factors | o.elements | o.partners | o.used_with
    }  # fmt: skip


def _gradients(sentence: str, labels: dict[str, str]) -> set[str]:
    return {labels[code] for code in re.findall(r"the gradient of `([^`]*)`", sentence) if code in labels}


def _skeleton(name: str) -> str:
    return re.sub(r"\[\d+\]|_\d+", "#", name)


def _list(names: set[str], like: str) -> str:
    return " or ".join(f"`{name}`" for name in sorted(names) if _skeleton(name) == _skeleton(like))


# ---------------------------------------------------------------- kinds

_KINDS = {
    "dot": {"contraction"},
    "convolution": {"contraction"},
    # XLA may multiply and add instead of a small product.
    "reduce": {"reduction", "contraction", "loop_predicate"},
    "gather": {"indexing"},
    "scatter": {"indexing"},
}


def check_kinds(record: Any, truth: XlaTruth) -> Result:
    """The partitioner's all-reduces have the kind of cause that what XLA sums there has."""
    compared, failures = 0, []
    for row, cause, moved, operands in pairs(record, truth):
        makers = {opcode for opcode, _ in operands[0].producers} & set(_KINDS)
        if moved.kind != "all-reduce" or len(makers) != 1 or cause.kind in ("unknown", "written"):
            continue
        if "takes one element" in cause.sentence:
            # The devices that do not hold the element add zeros: nothing of what made it is summed.
            continue
        (maker,) = makers
        compared += 1
        if cause.kind not in _KINDS[maker]:
            failures.append(f"{_where(row)} sums a {maker}; said: {cause.kind}: {cause.sentence}")
    return Result(compared=compared, failures=tuple(failures))


# ---------------------------------------------------------------- expectations, counterfactuals


def check_expected(program: Program, record: Any) -> Result:
    """The collectives worked out by hand are there, with their causes; what must not be said is not said."""
    lines = program.lines
    failures = [f"not found: {wanted}" for wanted in program.expected if not _meets(wanted, record, lines)]
    for never in program.never:
        failures += [f"{never}: {_where(row)}: {cause.sentence}" for row, cause in _forbidden(never, record, lines)]
    return Result(compared=len(program.expected) + len(program.never), failures=tuple(failures))


def _meets(wanted: Expected, record: Any, lines: Mapping[str, int]) -> bool:
    return any(
        row.kind in wanted.kind.split("|")
        and set(row.axes or ()) == set(wanted.axes.split())
        and cause.kind in wanted.cause.split("|")
        and all(_with_lines(text, lines) in cause.sentence for text in wanted.says)
        and (wanted.shape is None or cause.payload_bytes == math.prod(wanted.shape) * _bytes(row.dtype))
        for row in record.collectives
        for cause in row.causes
    )


def _with_lines(text: str, lines: Mapping[str, int]) -> str:
    return re.sub(r"\{(\w+)\}", lambda tag: str(lines.get(tag[1], tag[0])), text)


def _bytes(dtype: str) -> int:
    digits = re.search(r"\d+", dtype)
    return int(digits[0]) // 8 if digits else 1


def _forbidden(never: Never, record: Any, lines: Mapping[str, int]) -> Iterator[tuple[Collective, Cause]]:
    for row in record.collectives:
        for cause in row.causes:
            axes = set(row.axes or ())
            if (
                row.kind == (never.kind or row.kind)
                and axes == set(never.axes.split() or axes)
                and cause.kind == (never.cause or cause.kind)
                and _with_lines(never.says, lines) in cause.sentence
            ):
                yield row, cause


def check_counterfactual(
    program: Program, counterfactual: Counterfactual, record: Any, truth: XlaTruth, other: XlaTruth
) -> Result:
    """What a cause blames, left out (`other`), makes the collective go or change: kind, groups or size."""
    blame = re.compile(_with_lines(counterfactual.blame, program.lines))
    before, after = _signatures(truth), _signatures(other)
    kinds = counterfactual.kinds.split("|") if counterfactual.kinds else None
    blamed: dict[Any, list[str]] = defaultdict(list)
    for row, cause, moved, operands in pairs(record, truth):
        if blame.search(cause.sentence) and cause.kind != "unknown" and (kinds is None or row.kind in kinds):
            for operand in operands:
                blamed[moved.kind, moved.groups, operand.array].append(f"{_where(row)}: {cause.sentence}")
    failures = [sentences[0] for key, sentences in blamed.items() if before[key] - after[key] < len(sentences)]
    if counterfactual.must and not blamed:
        failures.append(f"no cause blames {counterfactual.without} ({blame.pattern})")
    return Result(compared=len(blamed), failures=tuple(failures))


def _signatures(truth: XlaTruth) -> Counter:
    return Counter(
        (moved.kind, moved.groups, operand.array) for moved in truth.collectives.values() for operand in moved.operands
    )
