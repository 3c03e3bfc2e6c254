"""Layouts of textbooks as settings: an assignment of mesh axes to classes of dimensions (`roles`).

Names in the program do not matter. Not its job: which layouts there are for a program (`presets`), or asking XLA.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.play.controls import find_controls
from pjit_inspect.analyze.play.facts import Facts
from pjit_inspect.analyze.play.roles import Pin, Roles
from pjit_inspect.analyze.play.settings import changed_setting, found_arrays, with_results_returned
from pjit_inspect.errors import ChangeError
from pjit_inspect.model.play.setting import PlaySetting
from pjit_inspect.model.program.mesh import PartitionSpec, entry_of

Axes = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The parts of a setting that a search must not change.

    Attributes:
      paths: arguments.
      mesh: whether the mesh is kept.
      constraints: whether constraints are kept.
      results: the specs of results that the user has set.
    """

    paths: frozenset[str] = frozenset()
    mesh: bool = False
    constraints: bool = False
    results: tuple[tuple[str, PartitionSpec | None], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshLayout:
    """An assignment of mesh axes to the data and the weights.

    Attributes:
      data: axes that split the data.
      inner: classes of the weights' dimensions split by the other axes.
      rest: the other axes.
      spread: whether weights are also spread over the data's axes.
      sequence: whether the other axes split the data's second class at the constraints.
    """

    data: Axes
    inner: tuple[int, ...]
    rest: Axes
    spread: bool
    sequence: bool

    @property
    def name(self) -> str:
        """As the textbooks call it."""
        if not self.data and not self.inner:
            return "replicated"
        if not self.inner:
            return "FSDP" if self.spread else "data parallel"
        if self.sequence:
            return "sequence parallel"
        return "2-D" if self.spread else "Megatron"


def layout_setting(
    layout: MeshLayout,
    facts: Facts,
    roles: Roles,
    base: PlaySetting,
    kept: Kept,
    constraint_ops: Mapping[str, int],
) -> PlaySetting | None:
    """The setting of a layout; None where it cannot be set.

    `constraint_ops` maps each place of a constraint to one operation in `Roles.constraints`.
    """
    specs: dict[str, PartitionSpec | None] = {}
    for own in facts.arguments:
        path = own.path
        if path in facts.follows or path in kept.paths or path not in roles.arguments:
            continue
        specs[path] = spec_of(layout, roles, path, own.global_shape, base.sizes)
    constraints = {} if kept.constraints else _constraints(layout, facts, roles, base, constraint_ops)
    try:
        setting = changed_setting(
            facts, base, specs=_with_followers(facts, specs, kept), constraints=constraints, alone=kept.paths
        )
    except ChangeError:
        return None
    return with_results_returned(facts, setting, kept.results)


def _with_followers(
    facts: Facts, specs: Mapping[str, PartitionSpec | None], kept: Kept
) -> dict[str, PartitionSpec | None]:
    led = {path: specs[leader] for path, leader in facts.follows.items() if leader in specs and path not in kept.paths}
    return {**specs, **led}


def spec_of(
    layout: MeshLayout, roles: Roles, path: str, shape: Sequence[int], sizes: Mapping[str, int]
) -> PartitionSpec:
    """The spec of an argument in a layout; dimensions that the axes do not divide are not split."""
    classes = roles.arguments[path]
    entries: list[Axes] = [()] * len(shape)
    if path not in roles.parameters:
        for place, own in enumerate(classes):
            if own in roles.batch[:1] and not any(entries) and _divides(shape[place], layout.data, sizes):
                entries[place] = layout.data
        return tuple(map(entry_of, entries))
    for place, own in enumerate(classes):
        if own in layout.inner and not any(entries) and layout.rest and _divides(shape[place], layout.rest, sizes):
            entries[place] = layout.rest
    if layout.spread:
        # The largest free dimension, and the last one of equals.
        free = [place for place in range(len(shape)) if not entries[place]]
        free.sort(key=lambda place: (-shape[place], -place))
        place = next((one for one in free if _divides(shape[one], layout.data, sizes)), None)
        if place is not None and math.prod(shape) > 1:
            entries[place] = layout.data
    return tuple(map(entry_of, entries))


def _divides(length: int, axes: Axes, sizes: Mapping[str, int]) -> bool:
    return bool(axes) and length % math.prod(sizes[axis] for axis in axes) == 0


def pinned(
    layout: MeshLayout, roles: Roles, pins: Sequence[Pin], sizes: Mapping[str, int]
) -> tuple[tuple[str, PartitionSpec], ...]:
    """The new constraints of a layout: on lookups, and on products whose dimensions no other axis splits."""
    found: dict[str, PartitionSpec] = {}
    for pin in pins:
        if not pin.is_lookup and set(pin.classes) & set(layout.inner):
            continue
        spec = _flowing(layout, roles, pin.classes, pin.shape, sizes)
        if any(entry is not None for entry in spec):
            found[pin.name] = spec
    return tuple(sorted(found.items()))


def _flowing(
    layout: MeshLayout,
    roles: Roles,
    classes: Sequence[int],
    shape: Sequence[int],
    sizes: Mapping[str, int],
    *,
    with_inner: bool = False,
) -> PartitionSpec:
    """The spec of an activation: data over their axes; `with_inner` also splits the weights' classes over theirs."""
    entries: list[Axes] = [()] * len(classes)
    of_rest = layout.inner if with_inner else ()
    # Dimensions split by weights come before a sequence: an axis splits one dimension.
    for wanted, axes in (
        (roles.batch[:1], layout.data),
        (of_rest, layout.rest),
        (_sequence(layout, roles), layout.rest),
    ):
        for place, one in enumerate(classes):
            if one in wanted and axes not in entries and not entries[place] and _divides(shape[place], axes, sizes):
                entries[place] = axes
    return tuple(map(entry_of, entries))


def _sequence(layout: MeshLayout, roles: Roles) -> tuple[int, ...]:
    return roles.batch[1:2] if layout.sequence else ()


def _constraints(
    layout: MeshLayout, facts: Facts, roles: Roles, base: PlaySetting, constraint_ops: Mapping[str, int]
) -> dict[str, PartitionSpec | None]:
    """The user's constraints with the layout's specs: data over their axes, results of split weights over theirs."""
    found: dict[str, PartitionSpec | None] = {}
    for own in facts.constraints:
        classes = roles.constraints.get(constraint_ops.get(own.place, -1))
        if classes is None or own.shape is None or len(classes) != len(own.shape):
            continue
        found[own.place] = _flowing(layout, roles, classes, own.shape, base.sizes, with_inner=True)
    return found


def kept_paths(facts: Facts, names: Collection[str], setting: PlaySetting) -> tuple[frozenset[str], frozenset[str]]:
    """The paths of the arguments and of the results that names refer to: labels of groups, or paths with `*`.

    Raises ChangeError for an unknown name.
    """
    controls = find_controls(facts, setting)
    found = [found_arrays(facts, controls, name) for name in names]
    arguments = frozenset(path for paths, _, is_result in found if not is_result for path in paths)
    return arguments, frozenset(path for paths, _, is_result in found if is_result for path in paths)
