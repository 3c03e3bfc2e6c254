"""Builds the controls with their present settings: grouped equal layers, choices, and problems.

Not its job: changing them (`settings`), or asking XLA.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from pjit_inspect.analyze.play.choices import choices_of, division_problem
from pjit_inspect.analyze.play.facts import Facts, FoundConstraint
from pjit_inspect.model.play.controls import ArgumentGroup, ConstraintControl, Controls, ResultControl
from pjit_inspect.model.play.setting import PlaySetting
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import PartitionSpec, axes_of, entry_of, local_shape
from pjit_inspect.model.program.shape import bits_of
from pjit_inspect.model.words.layers import path_pattern

Specs = Mapping[str, PartitionSpec | None]


def find_controls(facts: Facts, setting: PlaySetting, answered: Specs | None = None) -> Controls:
    """All controls of a setting.

    Args:
      facts: of the record.
      setting: the present setting.
      answered: path -> spec that XLA has chosen; None before it has answered.
    """
    specs, results = argument_specs(facts, setting, answered), result_specs(facts, setting, answered)
    sizes, free = setting.sizes, facts.free_results - {path for path, spec in setting.results if spec is not None}
    follows = {path: _pattern_label(leader) for path, leader in facts.follows.items()}
    arguments = _grouped(facts.arguments, lambda own: (specs[own.path], follows.get(own.path)))
    labels = {path: label for label, own in arguments for path in (one.path for one in own)}
    return Controls(
        mesh=setting.mesh,
        target=setting.target,
        groups=tuple(
            _group(label, family, own, facts, specs, sizes, labels)
            for (label, own), family in zip(arguments, _families([own for _, own in arguments], follows), strict=True)
        ),
        constraints=(
            *(_constraint(one, setting, facts.why_fixed) for one in facts.constraints),
            *(ConstraintControl(place=place, asked=spec, spec=spec, is_new=True) for place, spec in setting.added),
        ),
        results=tuple(
            _result(label, own, results, sizes, free, facts.why_fixed)
            for label, own in _grouped(facts.results, lambda own: (results[own.path], own.path in free), first=True)
        ),
    )


def on_mesh(spec: PartitionSpec | None, sizes: Mapping[str, int]) -> PartitionSpec | None:
    """A spec without the axes that the mesh does not have."""
    if spec is None:
        return None
    return tuple(entry_of([axis for axis in axes_of(entry) if axis in sizes]) for entry in spec)


def argument_specs(
    facts: Facts, setting: PlaySetting, answered: Specs | None = None
) -> dict[str, PartitionSpec | None]:
    """Path of each argument -> how it is split; None where it follows no mesh axes, or is left to XLA and unknown."""
    return _specs(facts.arguments, dict(setting.arguments), facts.free_arguments, facts, setting, answered)


def asked_specs(facts: Facts, setting: PlaySetting) -> dict[str, PartitionSpec | None]:
    """Path of each argument -> its requested spec; None if left to XLA, even if XLA has chosen one."""
    fixed = {own.path: facts.specs[own.path] for own in facts.arguments if own.path not in facts.free_arguments}
    asked = {**dict.fromkeys(own.path for own in facts.arguments), **fixed, **dict(setting.arguments)}
    return {path: on_mesh(spec, setting.sizes) for path, spec in asked.items()}


def result_specs(facts: Facts, setting: PlaySetting, answered: Specs | None = None) -> dict[str, PartitionSpec | None]:
    """The same for each result."""
    given = dict(setting.results)
    free = (facts.free_results - {path for path, spec in given.items() if spec is not None}) | {
        path for path, spec in given.items() if spec is None
    }
    return _specs(facts.results, given, free, facts, setting, answered)


def _specs(
    layouts: Sequence[ArrayLayout],
    given: Specs,
    free: Iterable[str],
    facts: Facts,
    setting: PlaySetting,
    answered: Specs | None,
) -> dict[str, PartitionSpec | None]:
    sizes, left = setting.sizes, frozenset(free)
    is_changed = setting.arguments or setting.results or setting.constraints or setting.added
    is_captured = not is_changed and setting.mesh == facts.mesh
    found: dict[str, PartitionSpec | None] = {}
    for own in layouts:
        path = own.path
        if path in left and given.get(path) is None:
            known = answered.get(path) if answered is not None else facts.specs[path] if is_captured else None
            found[path] = on_mesh(known, sizes)
        else:
            found[path] = on_mesh(given.get(path, facts.specs[path]), sizes)
    return found


# ---------------------------------------------------------------- equal layers together


def _grouped(
    layouts: Sequence[ArrayLayout], kind: Callable[[ArrayLayout], object], *, first: bool = False
) -> list[tuple[str, list[ArrayLayout]]]:
    """Arrays of equal layers that are alike, each with its label, in the order of their first."""
    groups: dict[object, list[ArrayLayout]] = {}
    for own in layouts:
        pattern = path_pattern(own.path, keep_first=first)
        groups.setdefault((pattern, own.global_shape, own.dtype, kind(own)), []).append(own)
    patterns = [path_pattern(own[0].path, keep_first=first) for own in groups.values()]
    return [
        (_label(pattern, own, patterns.count(pattern)), own)
        for pattern, own in zip(patterns, groups.values(), strict=True)
    ]


def _label(pattern: str, own: Sequence[ArrayLayout], groups: int) -> str:
    """The pattern if it belongs to one group; or else the first path, and the number of further paths."""
    if len(own) == 1:
        return own[0].path
    return pattern if groups == 1 else f"{own[0].path} and {len(own) - 1} more"


def _families(groups: Sequence[Sequence[ArrayLayout]], follows: Mapping[str, str]) -> list[str]:
    """For each group the common name of its equal arrays, however they are split."""
    keys = [(path_pattern(own[0].path), own[0].global_shape, own[0].dtype, follows.get(own[0].path)) for own in groups]
    arrays = Counter(key for key, own in zip(keys, groups, strict=True) for _ in own)
    patterns = Counter(pattern for pattern, *_ in arrays)
    found = []
    for key, own in zip(keys, groups, strict=True):
        pattern, shape, dtype, _ = key
        named = pattern if patterns[pattern] == 1 else f"{pattern} {dtype}{list(shape)}"
        found.append(own[0].path if arrays[key] == 1 else named)
    return found


def _pattern_label(path: str) -> str:
    return path_pattern(path)


def _group(
    label: str,
    family: str,
    own: Sequence[ArrayLayout],
    facts: Facts,
    specs: Specs,
    sizes: Mapping[str, int],
    labels: Mapping[str, str],
) -> ArgumentGroup:
    first = own[0]
    spec, leader = specs[first.path], facts.follows.get(first.path)
    sums = bytes_on_device(own, specs, sizes)
    whole = [one.global_bytes for one in own]
    pieces = math.prod(_pieces(spec, sizes)) if spec is not None else None
    return ArgumentGroup(
        label=label,
        family=family,
        paths=tuple(one.path for one in own),
        shape=first.global_shape,
        dtype=first.dtype,
        spec=spec,
        follows=None if leader is None else labels.get(leader),
        is_cut_loose=leader is not None and specs.get(leader) != spec,
        choices=choices_of(first.global_shape, spec, tuple(sizes.items()), why_fixed=facts.why_fixed),
        global_bytes=None if None in whole else sum(size or 0 for size in whole),
        bytes_per_device=sums,
        copies=None if pieces is None else max(1, math.prod(sizes.values()) // pieces),
        problem=division_problem(first.global_shape, spec, sizes),
    )


def _result(
    label: str,
    own: Sequence[ArrayLayout],
    specs: Specs,
    sizes: Mapping[str, int],
    free: frozenset[str],
    why_fixed: str,
) -> ResultControl:
    first = own[0]
    spec = specs[first.path]
    return ResultControl(
        label=label,
        paths=tuple(one.path for one in own),
        shape=first.global_shape,
        dtype=first.dtype,
        spec=spec,
        is_free=first.path in free,
        choices=choices_of(first.global_shape, spec, tuple(sizes.items()), why_fixed=why_fixed),
        bytes_per_device=None if spec is None else bytes_on_device(own, specs, sizes),
        problem="" if first.path in free else division_problem(first.global_shape, spec, sizes),
    )


def _constraint(found: FoundConstraint, setting: PlaySetting, why_fixed: str) -> ConstraintControl:
    changed, sizes = dict(setting.constraints), setting.sizes
    spec = on_mesh(changed.get(found.place, found.asked), sizes)
    shape = found.shape
    return ConstraintControl(
        place=found.place,
        source=found.source,
        count=found.count,
        shape=shape,
        asked=on_mesh(found.asked, sizes),
        spec=spec,
        is_on=not (found.place in changed and changed[found.place] is None),
        choices=() if shape is None else choices_of(shape, spec, setting.mesh, must_divide=False, why_fixed=why_fixed),
    )


# ---------------------------------------------------------------- memory


def bytes_on_device(own: Iterable[ArrayLayout], specs: Specs, sizes: Mapping[str, int]) -> int | None:
    """Bytes of arrays on one device (counted, padding of tiles not included); None where a width is unknown.

    What follows no mesh axes is on one device in full.
    """
    total = 0
    for one in own:
        bits = bits_of(one.dtype)
        if bits is None:
            return None
        shape = one.global_shape
        spec = specs.get(one.path)
        local = shape if spec is None else local_shape(shape, _pieces(spec, sizes))
        total += -(-math.prod(local) * bits // 8)
    return total


def _pieces(spec: PartitionSpec, sizes: Mapping[str, int]) -> list[int]:
    return [math.prod(sizes.get(axis, 1) for axis in axes_of(entry)) for entry in spec]
