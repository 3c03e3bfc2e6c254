"""The textbook layouts by name for a program on a mesh, or why there is none.

A reader who asks for "Megatron" wants the textbook's, and a search begins with it: axes that split
the data as captured remain the data's, the others are the weights'. Names in the program are ignored. Not its job:
applying a layout to an array (`layouts`), or asking XLA.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pjit_inspect.analyze.play.facts import Facts
from pjit_inspect.analyze.play.layouts import Kept, MeshLayout, layout_setting, pinned, spec_of
from pjit_inspect.analyze.play.roles import Pin, Roles
from pjit_inspect.model.play.setting import PlaySetting, Preset
from pjit_inspect.model.program.mesh import axes_of
from pjit_inspect.model.words.layers import path_pattern

PRESETS = ("replicated", "data parallel", "FSDP", "Megatron", "2-D", "sequence parallel")
_MOST_SHOWN = 3
_MOST_KINDS = 9
"""Most kinds of dimensions tried in all combinations: those with most bytes."""
_MOST_AXES = 3
_UNKNOWN = "what the dimensions of its arrays are to one another is not known: XLA gives no answer about the program"
_NO_SEQUENCE = (
    "no place for a constraint between the products has the data's second dimension with a size that {size} divides"
)
_NO_WEIGHT = "no weight has a dimension that goes from one product to the next, and that {size} divides"
_CONVOLUTIONS = "; convolutions are not looked at"

Axes = tuple[str, ...]
Found = MeshLayout | str
"""A layout, or why there is none."""


def find_presets(
    facts: Facts,
    roles: Roles | None,
    mesh: tuple[tuple[str, int], ...],
    target: str,
    constraint_ops: Mapping[str, int],
    pins: Sequence[Pin],
) -> tuple[Preset, ...]:
    """All of `PRESETS` on a mesh, in their order.

    Args:
      facts: of the record.
      roles: of its dimensions; None where they are not known.
      mesh: on which they are, axes with their sizes.
      target: the machine.
      constraint_ops: place of a constraint -> one operation in `Roles.constraints`.
      pins: where new constraints may go; FSDP, 2-D and sequence parallelism need them, or constraints of the user's.
    """
    if why := facts.why_fixed or (_UNKNOWN if roles is None else ""):
        return tuple(Preset(name=name, why_not=why) for name in PRESETS)
    assert roles is not None
    maker = _PresetMaker(facts, roles, PlaySetting(mesh=mesh, target=target), constraint_ops, pins)
    return tuple(maker.preset(name) for name in PRESETS)


class _PresetMaker:
    def __init__(
        self, facts: Facts, roles: Roles, base: PlaySetting, constraint_ops: Mapping[str, int], pins: Sequence[Pin]
    ) -> None:
        self._facts, self._roles, self._base = facts, roles, base
        self._constraint_ops, self._pins = constraint_ops, pins
        self._axes: Axes = tuple(name for name, size in base.mesh if size > 1)[:_MOST_AXES]
        self._data, self._rest = self._parted()

    def preset(self, name: str) -> Preset:
        """The layout of a name, or why there is none."""
        layout = self._layout(name)
        if isinstance(layout, str):
            return Preset(name=name, why_not=layout)
        setting = self._setting(layout)
        if setting is None:
            return Preset(name=name, why_not="one of its constraints cannot be set so")
        if layout.sequence and setting == self._setting(replace(layout, sequence=False), is_pinned=True):
            return Preset(name=name, why_not=_NO_SEQUENCE.format(size=self._size(self._rest)))
        sentence = _sentence(layout)
        if setting.added and not layout.sequence:
            several = f"{len(setting.added)} new constraints" if len(setting.added) > 1 else "a new constraint"
            sentence += f", the data held there by {several}"
        if layout.data and (whole := self._made_whole(setting)):
            sentence += f"; {_listed(whole)} on every device"
        if kept := self._kept():
            sentence += f"; the constraints of {_listed(kept)} stay as they are"
        return Preset(name=name, sentence=sentence, setting=setting)

    def _made_whole(self, setting: PlaySetting) -> list[str]:
        """The data that were split as captured, and are not: no dimension of theirs is the batch, or none divides."""
        return [
            path
            for path, spec in setting.arguments
            if path not in self._roles.parameters | self._facts.follows.keys()
            and spec is not None
            and not any(spec)
            and any(self._facts.specs[path] or ())
        ]

    def _has_sequence(self) -> bool:
        """True if one array of the data has the batch and another dimension of the data that products have."""
        both = set(self._roles.batch[:2])
        data = (own for path, own in self._roles.arguments.items() if path not in self._roles.parameters)
        return len(both) > 1 and any(both <= set(own) for own in data)

    def _kept(self) -> list[str]:
        """The places of constraints that no layout changes: of several shapes, or of unknown dimensions."""
        return [
            own.place
            for own in self._facts.constraints
            if own.shape is None or self._constraint_ops.get(own.place, -1) not in self._roles.constraints
        ]

    def _parted(self) -> tuple[Axes, Axes]:
        """The axes of the data and those of the weights: as captured, or else the last axis is the weights'."""
        as_captured = {
            axis
            for own in self._facts.arguments
            if own.path not in self._roles.parameters and own.path not in self._facts.follows
            for entry in self._facts.specs[own.path] or ()
            for axis in axes_of(entry)
        }
        data = tuple(axis for axis in self._axes if axis in as_captured)
        if not data or len(data) == len(self._axes):
            data = self._axes[:-1]
        return data, tuple(axis for axis in self._axes if axis not in data)

    def _layout(self, name: str) -> Found:
        if name == "replicated":
            return MeshLayout(data=(), inner=(), rest=self._axes, spread=False, sequence=False)
        if not self._axes:
            return "the mesh has one device"
        if name in ("data parallel", "FSDP"):
            return self._of_data(spread=name == "FSDP")
        return self._of_weights(name)

    def _of_data(self, *, spread: bool) -> Found:
        """The data over all axes, or as many as divide it."""
        subsets = [self._axes, *(self._axes[:at] + self._axes[at + 1 :] for at in range(len(self._axes)))]
        for data in filter(None, subsets):
            layout = MeshLayout(data=data, inner=(), rest=_others(self._axes, data), spread=spread, sequence=False)
            if not self._splits(layout, data, weights=False):
                continue
            if spread and not self._splits(layout, data, weights=True):
                return f"no weight has a dimension that {self._size(data)} divides"
            return layout
        return self._no_data(self._axes)

    def _of_weights(self, name: str) -> Found:
        data, rest = self._data, self._rest
        if name == "2-D" and not data:
            return "it takes two mesh axes of more than one device, and this mesh has one; add an axis"
        if name == "sequence parallel" and not self._has_sequence():
            return "the data has no second dimension that goes through the products, as a sequence is"
        layout = MeshLayout(
            data=data, inner=self._inner(rest), rest=rest, spread=name == "2-D", sequence=name == "sequence parallel"
        )
        if not self._splits(layout, rest, weights=True):
            more = _CONVOLUTIONS if self._roles.has_convolutions else ""
            return _NO_WEIGHT.format(size=self._size(rest)) + more
        if data and not self._splits(layout, data, weights=False):
            return self._no_data(data)
        if layout.spread and not self._splits(layout, data, weights=True):
            return f"no weight has another dimension that {self._size(data)} divides"
        return layout

    def _inner(self, axes: Axes) -> tuple[int, ...]:
        """The classes of the weights' dimensions to split over these axes.

        No weight has two of them: the result of one product is then split as the next one takes it. Criteria: first the
        most products shared, then the fewest bytes summed between devices. All layers of one kind of weight are treated
        alike.
        """
        kinds = self._kinds(math.prod(self._base.sizes[axis] for axis in axes))
        weights = [set(self._roles.arguments[path]) for path in self._roles.parameters if path in self._roles.arguments]
        best: tuple[tuple[float, float], frozenset[int]] = ((math.inf, 0.0), frozenset())
        for count in range(1, len(kinds) + 1):
            for chosen in itertools.combinations(kinds, count):
                own = frozenset().union(*chosen)
                if all(len(own & one) < 2 for one in weights):
                    best = min(best, (self._cost(own), own), key=lambda one: one[0])
        return tuple(sorted(best[1]))

    def _kinds(self, size: int) -> list[frozenset[int]]:
        """Classes that occur in products and that `size` divides, grouped by their places in equal layers."""
        multiplied = {own for product in self._roles.products for own in (*product.lhs.classes, *product.rhs.classes)}
        places: dict[int, set[tuple[str, int]]] = {}
        uneven = set[int]()
        for own in self._facts.arguments:
            if own.path not in self._roles.parameters:
                continue
            for place, one in enumerate(self._roles.arguments.get(own.path, ())):
                places.setdefault(one, set()).add((path_pattern(own.path), place))
                if own.global_shape[place] % size:
                    uneven.add(one)
        found: dict[frozenset[tuple[str, int]], set[int]] = {}
        for one in self._roles.inner:
            if one in multiplied and one in places and one not in uneven:
                found.setdefault(frozenset(places[one]), set()).add(one)
        return [frozenset(own) for own in list(found.values())[:_MOST_KINDS]]

    def _cost(self, classes: frozenset[int]) -> tuple[float, float]:
        """The share of the products that every device does in full, and the bytes of sums over split dimensions."""
        whole, alone, added = 0, 0, 0.0
        for own in self._roles.products:
            whole += own.flops
            alone += 0 if classes & {*own.lhs.classes, *own.rhs.classes} else own.flops
            added += math.prod(own.out.shape) * own.out.bytes * own.runs if classes & own.summed else 0
        return round(alone / whole, 2) if whole else 0.0, added

    def _setting(self, layout: MeshLayout, *, is_pinned: bool = False) -> PlaySetting | None:
        found = layout_setting(layout, self._facts, self._roles, self._base, Kept(), self._constraint_ops)
        if found is None:
            return None
        # Weights spread over the data's axes are gathered for a product only if the data keep these axes. If not, XLA
        # may split the products' results instead, which is another layout. A constraint of the user keeps them.
        is_held = any(layout.data in map(axes_of, spec or ()) for _, spec in found.constraints)
        is_pinned = is_pinned or layout.sequence or (layout.spread and not is_held)
        return replace(found, added=pinned(layout, self._roles, self._pins, self._base.sizes) if is_pinned else ())

    def _splits(self, layout: MeshLayout, axes: Axes, *, weights: bool) -> bool:
        """True if a layout splits one of the weights, or of the data, over these axes."""
        return any(
            axes in map(axes_of, spec_of(layout, self._roles, own.path, own.global_shape, self._base.sizes))
            for own in self._facts.arguments
            if own.path in self._roles.arguments and (own.path in self._roles.parameters) == weights
        )

    def _no_data(self, axes: Axes) -> str:
        if not self._roles.batch:
            return "no dimension of the data goes through the products, as a batch does"
        return f"no dimension of the data divides by {self._size(axes)}"

    def _size(self, axes: Axes) -> str:
        named = " x ".join(f"{axis}={self._base.sizes[axis]}" for axis in axes)
        return f"({named})" if len(axes) > 1 else named


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_SHOWN]) + (", ..." if len(names) > _MOST_SHOWN else "")


def _others(axes: Axes, data: Axes) -> Axes:
    return tuple(axis for axis in axes if axis not in data)


def _sentence(layout: MeshLayout) -> str:
    data, rest = " and ".join(layout.data), " and ".join(layout.rest)
    over = f"data over {data}, " if data else ""
    return {
        "replicated": "everything on every device",
        "data parallel": f"data over {data}, weights on every device",
        "FSDP": f"data and weights over {data}",
        "Megatron": f"{over}weights over {rest}",
        "2-D": f"{over}weights over {rest} and over {data}",
        "sequence parallel": f"{over}weights over {rest}, what flows between them over {rest} along the sequence",
    }[layout.name]
