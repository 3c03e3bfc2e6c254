"""One sentence for a cause, in the user's names, and the facts that prove it.

Not its job: finding the cause (`analyze.causes`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pjit_inspect.analyze.needs import Need, Part
from pjit_inspect.analyze.value_names import ValueNames, spec_text
from pjit_inspect.model.cause import CauseKind
from pjit_inspect.model.propagation import AxisOrigin, Propagation, axis_name

__all__ = ["Wording", "origin_text", "word_need"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What to say of a need: the clause after "all-reduce over `model`: ", and the facts."""

    clause: str
    facts: tuple[str, ...]


def word_need(
    need: Need, names: ValueNames, kind: CauseKind, axes: tuple[str, ...] | None, *, moves_result: bool = False
) -> Wording:
    """The clause and the facts for a need that causes a collective of cause `kind` over some mesh axes.

    With `moves_result` the partitioner has computed the need's op with its operand as it is, and moves its result.
    """
    need = _over_these(need, frozenset(axes or ()))
    writer = _Writer(need=need, names=names, program=names.program, moves_result=moves_result)
    clauses: dict[CauseKind, Callable[[], str]] = {
        "contraction": writer.contraction,
        "reduction": writer.reduction,
        "reshard_requested": writer.requested,
        "reshard_needed": writer.needed,
        "output": writer.output,
        "halo": writer.halo,
        "indexing": writer.indexing,
        "full_replication": writer.full_replication,
        "written": writer.written,
    }
    return Wording(clause=clauses[kind](), facts=writer.facts())


def _over_these(need: Need, axes: frozenset[str]) -> Need:
    """The part of a need over several axes that one collective of several serves; any other as it is."""
    if not axes or not axes < need.axes:
        return need
    parts = tuple(part for part in need.parts if axes & {axis_name(axis) for axis in part.axes})
    return replace(need, axes=need.axes & axes, parts=parts) if parts else need


def _joined(words: list[str], last: str = " and ") -> str:
    return last.join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _over(axes: tuple[str, ...]) -> str:
    return _joined([f"`{axis}`" for axis in axes])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writer:
    need: Need
    names: ValueNames
    program: Propagation
    moves_result: bool

    # ------------------------------------------------------------ clauses

    def contraction(self) -> str:
        sides = " on both sides" if len({part.operand for part in self.need.parts}) > 1 else ""
        return (
            f"{self._op()} sums over {self._dimensions()}, which {self._is()} sharded over {self._axes()}{sides}, "
            "so each device has a partial sum"
        )

    def reduction(self) -> str:
        return f"{self._op()} reduces {self._dimensions()}, sharded over {self._axes()}: each device has a part of it"

    def requested(self) -> str:
        given, wanted = self._specs()
        what, request = self._named(self.need.value), self.need.request
        if request is None or request.index == self.need.op:
            return f"{self._requester()} asks for {wanted}, but {what} is {given}"
        asked = self.program.values[self.program.ops[request.index].results[0]].spec
        if self.moves_result:
            return f"{self._requester()} asks for `{spec_text(asked)}`; {self._moved_result()}"
        return (
            f"{self._requester()} asks for `{spec_text(asked)}`; for that {self._op()} needs {what} as {wanted}, "
            f"but it is {given}"
        )

    def output(self) -> str:
        request, given_wanted = self.need.request, self._specs()
        if request is None:
            return "a result of the program must be sharded otherwise than it is computed"
        boundary = self.program.outputs[request.index]
        name = f"`{boundary.name or f'result {request.index}'}`"
        given, wanted = given_wanted
        if boundary.spec is None:
            part = self.need.parts[0]
            length = self.program.values[part.value].shape[part.dimension]
            return (
                f"{name} is returned whole: its dimension {part.dimension} has {length} elements, which "
                f"{_over(part.axes)} ({self.program.pieces(part.axes)} devices) does not divide"
            )
        if self.need.op is None:
            return f"{name} must be {wanted} (`out_shardings`), but is computed as {given}"
        asked = f"`{spec_text(boundary.spec)}` (`out_shardings`)"
        if self.moves_result:
            return f"{name} must be {asked}; {self._moved_result()}"
        return f"{name} must be {asked}, but {self._op()} has its operand as {given}"

    def needed(self) -> str:
        if not self.need.parts:
            return f"{self._op()} needs its operand sharded otherwise than it is"
        given, wanted = self._specs()
        what = self._named(self.need.value, "an operand")
        if self._has_no_rule():
            return f"the partitioner cannot split {self._op()}, so it needs {what} whole, but that is {given}"
        taken = self._taken()
        if self.moves_result:
            return self._moved_result()
        if taken:
            return f"{self._op()} needs {what} as {wanted}, but it is {given}: {taken}"
        return f"{self._op()} needs {what} as {wanted}, but it is {given}"

    def _has_no_rule(self) -> bool:
        if self.need.op is None:
            return False
        op = self.program.ops[self.need.op]
        return op.rule is None and op.kind not in ("while", "manual_computation")

    def _moved_result(self) -> str:
        what, (given, _) = self._named(self.need.value, "an operand"), self._specs()
        return f"{self._op()} is computed with {what} as {given}, and its result is moved"

    def halo(self) -> str:
        return (
            f"{self._op()} reads across the edges of the pieces along {self._dimensions()}, sharded over "
            f"{self._axes()}, so neighbours exchange them"
        )

    def indexing(self) -> str:
        if self.need.is_sum and self.need.op is not None and self.program.ops[self.need.op].kind == "scatter":
            return (
                f"{self._op()} adds up what lies along {self._dimensions()}, sharded over {self._axes()}, so each "
                "device has a partial sum"
            )
        return (
            f"{self._op()} looks up positions along {self._dimensions()}, which {self._is()} sharded over "
            f"{self._axes()}, so a device needs what others hold"
        )

    def full_replication(self) -> str:
        given, wanted = self._specs()
        what = self._named(self.need.value)
        return (
            f"the partitioner found no direct way from {given} to {wanted} for {what}: every device gathers all of it "
            "and keeps its piece"
        )

    def written(self) -> str:
        return f"{self._op()} is a collective in your code"

    # ------------------------------------------------------------ pieces of them

    def _op(self) -> str:
        if self.need.op is None:
            return self.names.value(self.need.value) if self.need.value is not None else "the program"
        return self.names.op(self.program.ops[self.need.op])

    def _is(self) -> str:
        return "is" if len(self._shown_parts()) == 1 or self._same_lengths() else "are"

    def _shown_parts(self) -> list[Part]:
        """The operands' dimensions; the results', where it is only about those."""
        operands = [part for part in self.need.parts if part.operand is not None]
        return operands or list(self.need.parts)

    def _same_lengths(self) -> bool:
        return self.need.kind == "contraction" and len({part.operand for part in self._shown_parts()}) == len(
            self._shown_parts()
        )

    def _dimensions(self) -> str:
        parts = self._shown_parts()
        if self._same_lengths() and len(parts) == 2:
            one, two = parts
            return (
                f"dimension {one.dimension} of {self._value(one)} and dimension {two.dimension} of {self._value(two)}"
            )
        by_value: dict[int, list[int]] = {}
        for part in parts:
            by_value.setdefault(part.value, []).append(part.dimension)
        phrases = [
            f"dimension{'s' * (len(dims) > 1)} {_joined([str(d) for d in dims])} of {self._named(value)}"
            for value, dims in list(by_value.items())[:2]
        ]
        return _joined(phrases)

    def _value(self, part: Part) -> str:
        return self._named(part.value)

    def _named(self, value: int | None, otherwise: str = "the value") -> str:
        """A value, as it is called in a sentence about the op."""
        inside = None if self.need.op is None else self.program.ops[self.need.op]
        return otherwise if value is None else self.names.value(value, inside)

    def _axes(self) -> str:
        order = list(self.program.sizes)
        return _over(tuple(sorted(self.need.axes, key=lambda axis: order.index(axis) if axis in order else 0)))

    def _specs(self) -> tuple[str, str]:
        """The value's sharding as it is, and as it is wanted."""
        if self.need.value is None:
            return "sharded otherwise", "another sharding"
        given = self.program.values[self.need.value].spec
        return f"`{spec_text(given)}`", f"`{spec_text(self.need.target or given)}`"

    def _requester(self) -> str:
        request = self.need.request
        if request is None or request.kind != "reshard_requested":
            return self._op()
        return self.names.op(self.program.ops[request.index])

    def _taken(self) -> str:
        if not self.need.taken:
            return ""
        axis, dimension = self.need.taken[0]
        return f"axis `{axis}` already splits dimension {dimension} of the result"

    # ------------------------------------------------------------ facts

    def facts(self) -> tuple[str, ...]:
        found = [self._part_fact(part) for part in self.need.parts]
        found += [self._origin_fact(origin, part) for part in self.need.parts for origin in self._origins(part)]
        if self.need.request is not None and self.need.request.kind == "reshard_requested":
            found.append(f"asked for by {self._requester()}")
        if self.need.taken:
            found.append(self._taken())
        return tuple(dict.fromkeys(found))

    def _part_fact(self, part: Part) -> str:
        value = self.program.values[part.value]
        place = "result" if part.operand is None else f"operand {part.operand}"
        if self.need.op is None:
            place = "result of the program"
        text = (
            f"{place}, {self._value(part)}: shape {list(value.shape)}, {spec_text(value.spec)}; dimension "
            f"{part.dimension} is sharded over {_over(part.axes)}"
        )
        if part.wanted is not None:
            text += f" and wanted {'over ' + _over(part.wanted) if part.wanted else 'whole'}"
        return text

    def _origins(self, part: Part) -> list[AxisOrigin]:
        axes = {axis_name(axis) for axis in part.axes}
        value = self.program.values[self.names.outside(part.value)]
        if value.argument is not None:
            # That an argument's sharding is the argument's says nothing.
            return []
        return [origin for origin in value.origins if origin.axis in axes]

    def _origin_fact(self, origin: AxisOrigin, part: Part) -> str:
        return f"`{origin.axis}` on {self._value(part)} comes from {origin_text(origin, self.names)}"


def origin_text(origin: AxisOrigin, names: ValueNames) -> str:
    """Where an axis came from, in the user's names."""
    program, index = names.program, origin.index
    if origin.kind == "input" and index is not None and index < len(program.inputs):
        return f"argument `{program.inputs[index].label}`"
    if origin.kind == "output" and index is not None and index < len(program.outputs):
        return f"the sharding asked for `{program.outputs[index].name or f'result {index}'}`"
    if origin.kind == "constraint" and index is not None and index < len(program.ops):
        return f"the constraint {names.op(program.ops[index])}"
    return "the specs of a `shard_map`" if origin.kind == "manual" else "an unknown place"
