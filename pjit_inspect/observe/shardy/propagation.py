"""Finds the shardings of every value of a program: runs Shardy's propagation on a copy of the captured StableHLO.

Nothing is compiled. Only passes that terminate and that XLA also runs on the program are used, in a separate MLIR
context; `sdy-convert-global-to-local`, which can crash the process, is never used. Not its job: conclusions from the
shardings (`analyze`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.sharding.sharded_program import (
    AxisOrigin,
    EntryValue,
    Place,
    ShardedOp,
    ShardedProgram,
    ShardedValue,
    axis_name,
)
from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.before_propagation import add_missing_rules, calls_to_regions, rewrite_as_xla
from pjit_inspect.observe.shardy.how_compiled import count_partitions, has_gspmd_marks
from pjit_inspect.observe.shardy.mlir_locations import read_location
from pjit_inspect.observe.shardy.mlir_process import run_passes_apart
from pjit_inspect.observe.shardy.shardy_attributes import (
    Spec,
    read_mesh,
    read_names,
    read_origins,
    read_rule,
    read_shardings,
    read_tensor,
)

_IMPORT = "sdy-import-pipeline"
_CALLS_PASS = "sdy-import-func-calls"
_CALLS_TO_REGIONS = ("sdy-flatten-call-graph", "symbol-dce", _CALLS_PASS, "symbol-dce")
# Asked for origins, Shardy can end the process.
_PROPAGATE = (
    "sdy-apply-sharding-constraints{debug-sharding-origins=true}",
    "sdy-sharding-group-import",
    "sdy-user-priority-propagate{keep-sharding-rules=true debug-sharding-origins=true}",
    "func.func(sdy-sink-data-flow-edges{sink-debug-sharding-origins=true})",
)
_PROPAGATE_WITHOUT_ORIGINS = (
    "sdy-apply-sharding-constraints",
    "sdy-sharding-group-import",
    "sdy-user-priority-propagate{keep-sharding-rules=true}",
    "func.func(sdy-sink-data-flow-edges)",
)

_CALLS = frozenset(("sdy.named_computation", "sdy.manual_computation"))
_LOOP = "stablehlo.while"
_BRANCHES = frozenset(("stablehlo.case", "stablehlo.if"))
_WITH_REGIONS = _CALLS | _BRANCHES | {_LOOP}
_RETURNS = frozenset(("sdy.return", "stablehlo.return", "func.return"))
_CONVOLVED = re.compile(r"<\[([^\]]*)\]x\[([^\]]*)\]->")
_GSPMD_SHARDING = b"mhlo.sharding"
_CONSTRAINTS = frozenset(("sdy.sharding_constraint", "sdy.reshard"))


def propagate(stablehlo: bytes) -> ShardedProgram | None:
    """The program with the sharding of every value; None when it was made for another partitioner than Shardy.

    Args:
      stablehlo: the program as MLIR bytecode, as JAX gave it to XLA.

    Raises RuntimeError when jaxlib cannot read it or lacks a pass.
    """
    with _mlir.open_module(stablehlo) as module:
        main = _mlir.main_function(module)
        if main is None or not _is_for_shardy(module, stablehlo):
            return None
        given, required = (_border_specs(main, name) for name in ("arg_attrs", "res_attrs"))
        if _mlir.has_pass(_CALLS_PASS):
            _mlir.run_passes(module, (_IMPORT, *_CALLS_TO_REGIONS))
        else:
            # With calls left in the program, jaxlib 0.9 can end the process.
            calls_to_regions(module)
            _mlir.run_passes(module, (_IMPORT,))
        rewrite_as_xla(module)
        add_missing_rules(module)
        propagated = run_passes_apart(_mlir.bytecode(module), _PROPAGATE)
        if propagated is None:
            _mlir.run_passes(module, _PROPAGATE_WITHOUT_ORIGINS)
            return _Walk(given=given, required=required).read(module)
    with _mlir.open_module(propagated) as module:
        return _Walk(given=given, required=required).read(module)


def _is_for_shardy(module: Any, stablehlo: bytes) -> bool:
    """Whether XLA runs Shardy on a program: made for it, or without any sharding."""
    if count_partitions(module) == 1:
        return True
    if has_gspmd_marks(module, stablehlo):
        return False
    if any(op.operation.name == "sdy.mesh" for op in module.body.operations):
        return True
    # Under `with mesh:` a program without shardings is on all its devices. Bytecode holds names as they are.
    return _GSPMD_SHARDING not in stablehlo


def _border_specs(main: Any, name: str) -> tuple[Spec | None, ...]:
    """The required shardings of the program's arguments or results, before propagation adds its choices."""
    return tuple(_first_spec(attributes, "sdy.sharding") for attributes in _each(main, name))


def _each(function: Any, name: str) -> Iterator[Any]:
    return iter(function.attributes[name]) if name in function.attributes else iter(())


def _first_spec(attributes: Any, name: str) -> Spec | None:
    specs = read_shardings(str(attributes[name])) if name in attributes else ()
    return specs[0] if specs else None


@dataclass(slots=True, kw_only=True)
class _Region:
    """Facts shared by the ops of one region: the op it belongs to, its name and frames, manual axes."""

    op: int | None = None
    place: Place = Place()  # noqa: RUF009  (frozen)
    manual: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Walk:
    """One pass over a propagated module. `found` maps MLIR's values to ours."""

    given: tuple[Spec | None, ...]
    required: tuple[Spec | None, ...]
    ops: list[ShardedOp] = field(default_factory=list)
    values: list[ShardedValue] = field(default_factory=list)
    links: list[tuple[int, int]] = field(default_factory=list)
    found: dict[Any, int] = field(default_factory=dict)
    constraints: dict[str, int] = field(default_factory=dict)
    meshes: list[dict[str, int]] = field(default_factory=list)
    origins: list[dict[str, str]] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)
    returned: tuple[int, ...] = ()

    def read(self, module: Any) -> ShardedProgram:
        self.meshes = [
            read_mesh(str(op.attributes["mesh"])) for op in module.body.operations if op.operation.name == "sdy.mesh"
        ]
        main = _mlir.main_function(module)
        block = main.regions[0].blocks[0]
        inputs = self._arguments(main, block)
        self._block(block, _Region())
        return ShardedProgram(
            ops=tuple(self.ops),
            values=tuple(self._with_origins()),
            inputs=inputs,
            outputs=self._outputs(main),
            meshes=tuple(mesh for mesh in self.meshes if mesh),
            links=tuple(self.links),
        )

    # ------------------------------------------------------------ the program's borders

    def _arguments(self, main: Any, block: Any) -> tuple[EntryValue, ...]:
        attributes = list(_each(main, "arg_attrs"))
        boundaries = []
        for number, argument in enumerate(block.arguments):
            own = attributes[number] if number < len(attributes) else {}
            spec = _first_spec(own, "sdy.sharding")
            origins = read_origins(str(own["sdy.sharding_origins"])) if "sdy.sharding_origins" in own else ()
            value = self._value(argument, spec, origins[0] if origins else {}, argument=number)
            name = read_location(str(argument.location)).name
            is_given = number < len(self.given) and self.given[number] is not None
            boundaries.append(EntryValue(name=name, value=value, spec=self.values[value].spec if is_given else None))
        return tuple(boundaries)

    def _outputs(self, main: Any) -> tuple[EntryValue, ...]:
        attributes = list(_each(main, "res_attrs"))
        boundaries = []
        for number, value in enumerate(self.returned):
            own = attributes[number] if number < len(attributes) else {}
            names = read_names(str(own["jax.result_info"])) if "jax.result_info" in own else ()
            spec = self.required[number] if number < len(self.required) else None
            dimensions = None if spec is None else spec.dimensions
            boundaries.append(EntryValue(name=names[0] if names else "", value=value, spec=dimensions))
        return tuple(boundaries)

    # ------------------------------------------------------------ ops and values

    def _block(self, block: Any, region: _Region) -> tuple[int, ...]:
        """Reads the ops of a block; the values it returns."""
        returned: tuple[int, ...] = ()
        for view in block.operations:
            op = view.operation
            if op.name in _RETURNS:
                returned = tuple(self.found[value] for value in op.operands if value in self.found)
                if op.name == "func.return":
                    self.returned = returned
            else:
                self._op(op, region)
        return returned

    def _op(self, op: Any, region: _Region) -> None:
        index = len(self.ops)
        place = self._place(op, region)
        attributes = op.attributes
        if "sdy.sharding_origin_name" in attributes:
            self.constraints[read_names(str(attributes["sdy.sharding_origin_name"]))[0]] = index
        self.ops.append(ShardedOp(opcode=op.name))
        results = self._results(op, index)
        self.ops[index] = ShardedOp(
            opcode=op.name,
            op_name=place.name,
            frames=place.frames,
            spans=place.spans,
            operands=tuple(self.found[value] for value in op.operands if value in self.found),
            results=results,
            rule=read_rule(str(attributes["sdy.sharding_rule"])) if "sdy.sharding_rule" in attributes else None,
            parent=region.op,
            manual=region.manual,
            wanted=_wanted(op),
            edges=_edges(op),
            detail=_detail(op),
        )
        if op.name in _WITH_REGIONS:
            self._regions(op, index, place, region)

    def _results(self, op: Any, index: int) -> tuple[int, ...]:
        specs = read_shardings(_sharding_text(op))
        origins = read_origins(str(op.attributes["sdy.sharding_origins"])) if _has_origins(op) else ()
        return tuple(
            self._value(
                result,
                specs[number] if number < len(specs) else None,
                origins[number] if number < len(origins) else {},
                op=index,
            )
            for number, result in enumerate(op.results)
        )

    def _value(
        self,
        value: Any,
        spec: Spec | None,
        origins: dict[str, str],
        *,
        op: int | None = None,
        argument: int | None = None,
    ) -> int:
        dtype, shape = read_tensor(str(value.type)) or (str(value.type), ())
        if spec is None or len(spec.dimensions) != len(shape):
            spec = Spec(dimensions=((),) * len(shape), closed=(False,) * len(shape))
        index = len(self.values)
        self.values.append(
            ShardedValue(dtype=dtype, shape=shape, spec=spec.dimensions, closed=spec.closed, op=op, argument=argument)
        )
        self.origins.append(origins)
        self.found[value] = index
        return index

    def _place(self, op: Any, region: _Region) -> Place:
        text = str(op.location)
        own = self.places.get(text)
        if own is None:
            own = self.places[text] = read_location(text)
        return own.within(region.place)

    # ------------------------------------------------------------ regions

    def _regions(self, op: Any, index: int, place: Place, region: _Region) -> None:
        manual = region.manual
        if op.name == "sdy.manual_computation":
            manual = (*manual, *read_names(str(op.attributes["manual_axes"])))
        # Ops in a called function are named from there; those in a loop or branch have full names.
        outer = place if op.name in _CALLS else region.place
        inner = _Region(op=index, place=outer, manual=manual)
        operands = self.ops[index].operands
        results = self.ops[index].results
        for part in op.regions:
            for block in part.blocks:
                self._block_arguments(op, block, index, operands, manual)
                returned = self._block(block, inner)
                if op.name != _LOOP:
                    self.links += zip(returned, results, strict=False)
                elif len(returned) == len(results):
                    # The body's; the condition returns one truth value, which may be all a loop carries, too.
                    self.links += zip(returned, results, strict=True)

    def _block_arguments(
        self, op: Any, block: Any, index: int, operands: tuple[int, ...], manual: tuple[str, ...]
    ) -> None:
        specs = self._inner_specs(op, index, operands, manual)
        for number, argument in enumerate(block.arguments):
            spec, origins = specs[number] if number < len(specs) else (None, {})
            value = self._value(argument, spec, origins, op=index)
            if number < len(operands):
                self.links.append((operands[number], value))

    def _inner_specs(
        self, op: Any, index: int, operands: tuple[int, ...], manual: tuple[str, ...]
    ) -> list[tuple[Spec | None, dict[str, str]]]:
        if op.name == _LOOP:
            return [(self._spec(value), self.origins[value]) for value in self.ops[index].results]
        if "in_shardings" not in op.attributes:
            return [(self._spec(value), self.origins[value]) for value in operands]
        specs = read_shardings(str(op.attributes["in_shardings"]))
        taken = frozenset(manual)
        return [(_without(spec, taken), self.origins[value]) for spec, value in zip(specs, operands, strict=False)]

    def _spec(self, value: int) -> Spec:
        entry = self.values[value]
        return Spec(dimensions=entry.spec, closed=entry.closed)

    # ------------------------------------------------------------ origins

    def _with_origins(self) -> Iterator[ShardedValue]:
        for value, names in zip(self.values, self.origins, strict=True):
            if not names or not value.axes:
                yield value
                continue
            # If parts of an axis have separate origins, the outermost part's is used for the axis.
            origin_of = {axis_name(axis): names[axis] for axis in reversed(value.axes) if axis in names}
            origins = tuple(
                self._origin(axis, origin_of.get(axis, ""), value) for axis in dict.fromkeys(map(axis_name, value.axes))
            )
            yield ShardedValue(
                dtype=value.dtype,
                shape=value.shape,
                spec=value.spec,
                closed=value.closed,
                origins=origins,
                op=value.op,
                argument=value.argument,
            )

    def _origin(self, axis: str, name: str, value: ShardedValue) -> AxisOrigin:
        if name == "self":
            if value.argument is not None:
                return AxisOrigin(axis=axis, kind="input", index=value.argument)
            return AxisOrigin(axis=axis, kind="constraint", index=value.op)
        if name in self.constraints:
            return AxisOrigin(axis=axis, kind="constraint", index=self.constraints[name])
        kind, _, number = name.partition(": ")
        if kind in ("input", "output") and number.isdigit():
            return AxisOrigin(axis=axis, kind="input" if kind == "input" else "output", index=int(number))
        return AxisOrigin(axis=axis, kind="manual" if name.startswith("mc_") else "unknown")


def _wanted(op: Any) -> tuple[Dimensions, ...]:
    if op.name != "sdy.manual_computation":
        return ()
    return tuple(spec.dimensions for spec in read_shardings(str(op.attributes["in_shardings"])))


def _sharding_text(op: Any) -> str:
    name = "sharding" if op.name in _CONSTRAINTS else "out_shardings" if op.name in _CALLS else "sdy.sharding"
    return str(op.attributes[name]) if name in op.attributes else ""


def _has_origins(op: Any) -> bool:
    return "sdy.sharding_origins" in op.attributes


def _without(spec: Spec, axes: frozenset[str]) -> Spec:
    """A sharding inside a `shard_map`, where the manual axes are cut off already."""
    dimensions = tuple(tuple(a for a in dimension if axis_name(a) not in axes) for dimension in spec.dimensions)
    return Spec(dimensions=dimensions, closed=spec.closed)


def _edges(op: Any) -> tuple[tuple[int, int], ...]:
    """Rows that a window reads beyond a piece, if pieces of operand and result begin at the same places.

    A window that spans e elements and moves by s reads e - s beyond the piece; for an operand with holes, that many
    fewer.
    """
    if op.name == "stablehlo.convolution":
        return _edges_of_convolution(op)
    if op.name != "stablehlo.reduce_window":
        return ()
    rank = len(op.operands[0].type.shape)
    sizes = _numbers(op, "window_dimensions", rank)
    names = ("window_strides", "window_dilations", "base_dilations")
    strides, spread, holes = (_numbers(op, name, rank) for name in names)
    return tuple((k, _beyond(sizes[k], strides[k], spread[k], holes[k])) for k in range(rank))


def _edges_of_convolution(op: Any) -> tuple[tuple[int, int], ...]:
    sides = _CONVOLVED.search(str(op.attributes["dimension_numbers"]))
    if sides is None:
        return ()
    image, kernel = (side.split(", ") for side in sides.groups())
    rank = len(image) - 2
    names = ("window_strides", "rhs_dilation", "lhs_dilation")
    strides, spread, holes = (_numbers(op, name, rank) for name in names)
    lengths = op.operands[1].type.shape
    return tuple(
        (image.index(str(k)), _beyond(lengths[kernel.index(str(k))], strides[k], spread[k], holes[k]))
        for k in range(rank)
    )


def _numbers(op: Any, name: str, rank: int) -> tuple[int, ...]:
    """An attribute of one number for each dimension; ones where it is left out."""
    numbers = tuple(op.attributes[name]) if name in op.attributes else ()
    return tuple(map(int, numbers)) if len(numbers) == rank else (1,) * rank


def _beyond(length: int, stride: int, spread: int, holes: int) -> int:
    return max(0, -(-((length - 1) * spread + 1 - stride) // holes))


def _detail(op: Any) -> str:
    """A distinction between ops of one opcode: a custom call's target, a composite's name, a reduction's function."""
    attributes = op.attributes
    if op.name == "stablehlo.custom_call":
        return read_names(str(attributes["call_target_name"]))[0]
    if op.name == "stablehlo.composite":
        return read_names(str(attributes["name"]))[0]
    if op.name in ("stablehlo.reduce", "stablehlo.reduce_window", "stablehlo.scatter", "stablehlo.all_reduce"):
        kinds = (inner.operation.name.rpartition(".")[2] for inner in op.regions[0].blocks[0].operations)
        return next(kinds, "")
    return ""
