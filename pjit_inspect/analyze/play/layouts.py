"""The starting points of a search (textbook layouts), and the changes by which it continues from the best one.

A layout assigns mesh axes to classes of dimensions (`roles`): names in the program do not matter. Not its job: asking
XLA, or the order of questions (`estimate`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pjit_inspect.analyze.play.choices import choices_of
from pjit_inspect.analyze.play.controls import find_controls
from pjit_inspect.analyze.play.facts import Facts
from pjit_inspect.analyze.play.roles import Pin, Roles
from pjit_inspect.analyze.play.settings import changed_setting, found_arrays, meshes_like, with_results_returned
from pjit_inspect.errors import ChangeError
from pjit_inspect.model.play.setting import PlaySetting
from pjit_inspect.model.program.mesh import PartitionSpec, axes_of, entry_of

_MOST_INNER = 6
_UNSEEN = 1.25
_MOST_AXES = 3
"""Most axes of more than one device that layouts use."""

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
class Proposal:
    """A setting that may be better.

    Attributes:
      setting: the setting.
      origin: its name.
      patience: a factor for its estimate, if the estimate cannot see the effect of the change.
    """

    setting: PlaySetting
    origin: str
    patience: float = 1.0


def seeds(
    facts: Facts,
    roles: Roles,
    base: PlaySetting,
    kept: Kept,
    constraint_ops: Mapping[str, int],
    pins: Sequence[Pin] = (),
) -> list[Proposal]:
    """The textbook layouts on the base's mesh, each once.

    `constraint_ops` maps each place of a constraint to one operation in `Roles.constraints`. Each layout occurs without
    new constraints, and with constraints at `pins` that keep the data on its axes.
    """
    axes = [name for name, size in base.mesh if size > 1][:_MOST_AXES]
    found: dict[PlaySetting, Proposal] = {}
    for data in _subsets(axes):
        rest = tuple(axis for axis in axes if axis not in data)
        for inner in _inner(roles) if rest else ((),):
            for spread in (False, True) if data else (False,):
                for split_sequence in (False, True) if rest and len(roles.batch) > 1 else (False,):
                    layout = MeshLayout(data=data, inner=inner, rest=rest, spread=spread, sequence=split_sequence)
                    proposal = proposal_of(layout, facts, roles, base, kept, constraint_ops)
                    if proposal is None:
                        continue
                    found.setdefault(proposal.setting, proposal)
                    added = () if kept.constraints else pinned(layout, roles, pins, base.sizes)
                    if added:
                        setting = replace(proposal.setting, added=added)
                        found.setdefault(setting, Proposal(setting=setting, origin=f"{layout.name} with constraints"))
    return list(found.values())


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


def _subsets(axes: Sequence[str]) -> Iterator[Axes]:
    for count in range(len(axes), -1, -1):
        yield from itertools.combinations(axes, count)


def _inner(roles: Roles) -> Iterator[tuple[int, ...]]:
    """Sets of classes that a model's axis may split: none, one, all but one, all."""
    known = roles.inner[:_MOST_INNER]
    sets = [(), *((own,) for own in known), *(tuple(one for one in known if one != own) for own in known), known]
    yield from dict.fromkeys(sets)


def proposal_of(
    layout: MeshLayout,
    facts: Facts,
    roles: Roles,
    base: PlaySetting,
    kept: Kept,
    constraint_ops: Mapping[str, int],
) -> Proposal | None:
    """The setting of a layout; None where it cannot be set. `constraint_ops` as in `seeds`."""
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
    return Proposal(setting=with_results_returned(facts, setting, kept.results), origin=layout.name)


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


# ---------------------------------------------------------------- changes of one thing


def moves(facts: Facts, setting: PlaySetting, kept: Kept) -> Iterator[Proposal]:
    """The settings that differ from one in a single thing: a dimension of a group, a constraint, the mesh."""
    controls = find_controls(facts, setting)
    for group in controls.groups:
        if group.follows is not None and not group.is_cut_loose:
            continue
        if kept.paths & set(group.paths) or group.spec is None:
            continue
        for spec in dict.fromkeys(_specs_near(group.shape, group.spec, setting.sizes)):
            yield from _moved(facts, setting, kept, {group.label: spec}, {})
    for own in controls.constraints if not kept.constraints else ():
        if own.is_on and not own.is_new:
            yield from _moved(facts, setting, kept, {}, {own.place: None})
        if own.shape is not None and own.spec is not None:
            for spec in dict.fromkeys(_specs_near(own.shape, own.spec, setting.sizes)):
                yield from _moved(facts, setting, kept, {}, {own.place: spec})
    for name, _ in setting.added:
        added = tuple(own for own in setting.added if own[0] != name)
        yield Proposal(setting=replace(setting, added=added), origin="search", patience=_UNSEEN)
    for mesh in () if kept.mesh else meshes_like(setting.mesh):
        if mesh != setting.mesh:
            yield Proposal(setting=replace(setting, mesh=mesh), origin="search", patience=_UNSEEN)


def _moved(
    facts: Facts,
    setting: PlaySetting,
    kept: Kept,
    specs: Mapping[str, PartitionSpec | None],
    constraints: Mapping[str, PartitionSpec | None],
) -> Iterator[Proposal]:
    try:
        changed = changed_setting(facts, setting, specs=specs, constraints=constraints, alone=kept.paths)
    except ChangeError:
        return
    yield Proposal(setting=with_results_returned(facts, changed, kept.results), origin="search")


def _specs_near(shape: Sequence[int], spec: PartitionSpec, sizes: Mapping[str, int]) -> Iterator[PartitionSpec]:
    """Specs with one dimension split differently, or an axis taken from one dimension to another."""
    for place, choices in enumerate(choices_of(tuple(shape), spec, tuple(sizes.items()))):
        for choice in choices:
            if choice.allowed and not choice.is_chosen:
                yield (*spec[:place], entry_of(choice.axes), *spec[place + 1 :])
    for place, entry in enumerate(spec):
        for other, length in enumerate(shape):
            axes = axes_of(entry)
            if axes and other != place and not length % math.prod(sizes[axis] for axis in axes):
                entries = list(spec)
                entries[place], entries[other] = spec[other], entry
                if all(
                    not own % math.prod(sizes[axis] for axis in axes_of(one))
                    for own, one in zip(shape, entries, strict=True)
                ):
                    yield tuple(entries)


def kept_paths(facts: Facts, names: Collection[str], setting: PlaySetting) -> tuple[frozenset[str], frozenset[str]]:
    """The paths of the arguments and of the results that names refer to: labels of groups, or paths with `*`.

    Raises ChangeError for an unknown name.
    """
    controls = find_controls(facts, setting)
    found = [found_arrays(facts, controls, name) for name in names]
    arguments = frozenset(path for paths, _, is_result in found if not is_result for path in paths)
    return arguments, frozenset(path for paths, _, is_result in found if is_result for path in paths)
