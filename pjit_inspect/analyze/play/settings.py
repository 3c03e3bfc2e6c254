"""Applies a change of the controls: resolves names, changes followers too, and refuses impossible settings.

Not its job: the controls (`controls`), or evaluating a setting.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from pjit_inspect.analyze.play.choices import division_problem
from pjit_inspect.analyze.play.controls import argument_specs, asked_specs, find_controls, on_mesh, result_specs
from pjit_inspect.analyze.play.facts import Facts
from pjit_inspect.errors import ChangeError
from pjit_inspect.model.play.controls import ArgumentGroup, Controls, ResultControl
from pjit_inspect.model.play.setting import PlaySetting
from pjit_inspect.model.play.variant import Problem
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import MeshAxes, PartitionSpec, axes_of, entry_of, spec_text

_MOST_SHOWN = 5
_MOST_MESHES = 3
"""Meshes that are offered where one does not divide."""
_MOST_TRIED = 4096
"""An axis of more devices is not tried size by size."""


def path_matcher(path: str) -> re.Pattern[str]:
    """A pattern for a path with `*` for any key: matches the array itself, and everything beneath it."""
    text = re.escape(path).replace(r"\[\*\]", r"\[[^\]]*\]").replace(r"\.\*", r"\.[^.\[]+").replace(r"\*", r"[^.\[\]]*")
    return re.compile(rf"{text}(?=$|[.\[])")


def changed_setting(
    facts: Facts,
    before: PlaySetting,
    *,
    mesh: Mapping[str, int] | None = None,
    target: str | None = None,
    specs: Mapping[str, PartitionSpec | None] | None = None,
    results: Mapping[str, PartitionSpec | None] | None = None,
    constraints: Mapping[str, PartitionSpec | None] | None = None,
    alone: Collection[str] = (),
) -> PlaySetting:
    """The setting with a change.

    Args:
      facts: of the record.
      before: the setting that is changed.
      mesh: all axes, outermost first.
      target: the machine; None keeps it, or takes as many fake CPU devices as a new mesh has.
      specs: spec by the label of a group, or by a path with `*` for any key, of arguments and results. What follows a
        parameter, and is split as that is, goes with it, unless it is named itself.
      results: the same of results alone, which an argument may share its name with; None leaves one to XLA.
      constraints: spec by the place of a constraint, of the program's or of the setting's; None takes it out.
      alone: the paths of arguments that follow nothing.

    Raises ChangeError for a name that there is none of, and for a spec that does not fit the array.
    """
    own = before if mesh is None else replace(before, mesh=tuple(mesh.items()))
    if target is not None:
        own = replace(own, target=target)
    elif own.devices != before.devices and own.target.startswith("cpu:"):
        own = replace(own, target=f"cpu:{own.devices}")
    own = _with_specs(facts, own, specs or {}, results or {}, alone)
    return _with_constraints(facts, own, constraints or {})


def _with_specs(
    facts: Facts,
    setting: PlaySetting,
    given: Mapping[str, PartitionSpec | None],
    given_results: Mapping[str, PartitionSpec | None],
    alone: Collection[str],
) -> PlaySetting:
    controls = find_controls(facts, setting)
    current = argument_specs(facts, setting)
    arguments, results = dict(setting.arguments), dict(setting.results)
    followers: dict[str, list[str]] = {}
    for path, leader in ((path, own) for path, own in facts.follows.items() if path not in alone):
        followers.setdefault(leader, []).append(path)
    named, led = dict[str, PartitionSpec | None](), dict[str, PartitionSpec | None]()
    named_at = [(name, spec, *found_arrays(facts, controls, name)) for name, spec in given.items()]
    named_at += [(name, spec, *found_results(facts, controls, name)) for name, spec in given_results.items()]
    for name, spec, paths, layouts, is_result in named_at:
        for path in paths:
            full = _full(name, spec, layouts[path], setting.sizes)
            if is_result:
                results[path] = full
                continue
            named[path] = full
            led |= {own: full for own in followers.get(path, ()) if current.get(own) == current.get(path)}
    arguments |= led | named
    return replace(
        setting,
        arguments=_less(arguments, facts, facts.free_arguments, setting.sizes),
        results=_less(results, facts, facts.free_results, setting.sizes),
    )


def _less(
    given: Mapping[str, PartitionSpec | None],
    facts: Facts,
    free: frozenset[str],
    sizes: Mapping[str, int],
) -> tuple[tuple[str, PartitionSpec | None], ...]:
    """The entries that differ from the record."""
    base = {path: None if path in free else on_mesh(spec, sizes) for path, spec in facts.specs.items()}
    return tuple(sorted((path, spec) for path, spec in given.items() if spec != base[path]))


Found = tuple[Sequence[str], Mapping[str, ArrayLayout], bool]
"""The paths a name refers to, all arrays of that kind, and whether these are results."""


def found_arrays(facts: Facts, controls: Controls, name: str) -> Found:
    """The arguments that a name refers to, or else the results. Raises ChangeError for an unknown name."""
    arguments = facts.arguments, controls.groups, False
    return _found(name, facts, (arguments, (facts.results, controls.results, True)))


def found_results(facts: Facts, controls: Controls, name: str) -> Found:
    """The results that a name refers to. Raises ChangeError for an unknown name."""
    return _found(name, facts, ((facts.results, controls.results, True),))


Kind = tuple[Sequence[ArrayLayout], Sequence[ArgumentGroup] | Sequence[ResultControl], bool]


def _found(name: str, facts: Facts, kinds: Sequence[Kind]) -> Found:
    for layouts, groups, is_result in kinds:
        by_path = {own.path: own for own in layouts}
        label = next((own for own in groups if own.label == name), None)
        pattern = path_matcher(name)
        paths = label.paths if label is not None else [path for path in by_path if pattern.match(path)]
        if paths:
            return paths, by_path, is_result
    what = "argument or result" if len(kinds) > 1 else "result"
    raise unknown_name(facts.name, what, name, [own.label for _, groups, _ in kinds for own in groups])


def unknown_name(function: str, what: str, name: str, names: Sequence[str]) -> ChangeError:
    """The error that a function has no array of this name, with the names that it has."""
    near = difflib.get_close_matches(name, names, n=1)
    shown = ", ".join(names[:_MOST_SHOWN]) + (f", and {len(names) - _MOST_SHOWN} more" if names[_MOST_SHOWN:] else "")
    return ChangeError(
        f"specs: {function} has no {what} {name!r}{f', did you mean {near[0]!r}' if near else ''}; it has "
        f"{shown or 'none'}"
    )


def _full(name: str, spec: PartitionSpec | None, layout: ArrayLayout, sizes: Mapping[str, int]) -> PartitionSpec | None:
    """A spec with an entry for each dimension, as entries are written."""
    return None if spec is None else checked_spec(name, spec, len(layout.global_shape), sizes)


def checked_spec(name: str, spec: PartitionSpec, rank: int, sizes: Collection[str]) -> PartitionSpec:
    """A spec with an entry for each dimension of an array. Raises ChangeError if it does not fit the array or mesh."""
    if len(spec) > rank:
        raise ChangeError(f"specs: {spec_text(spec)} has {len(spec)} entries, and {name} has {rank} dimensions")
    entries = [axes_of(tuple(entry) if isinstance(entry, list) else entry) for entry in spec]
    used = [axis for axes in entries for axis in axes]
    if unknown := [axis for axis in used if axis not in sizes]:
        raise ChangeError(
            f"specs: {spec_text(spec)} for {name} uses {unknown[0]!r}, and the mesh has {', '.join(sizes) or 'no axes'}"
        )
    if len(set(used)) < len(used):
        twice = max(used, key=used.count)
        raise ChangeError(f"specs: {spec_text(spec)} for {name} splits over {twice!r} twice")
    return (*map(entry_of, entries), *[None] * (rank - len(spec)))


def _with_constraints(facts: Facts, setting: PlaySetting, given: Mapping[str, PartitionSpec | None]) -> PlaySetting:
    found = {own.place: own for own in facts.constraints}
    constraints, added = dict(setting.constraints), dict(setting.added)
    for place, spec in given.items():
        if place in added and place not in found:
            if spec is None:
                del added[place]
            else:
                added[place] = checked_spec(f"the constraint at {place}", spec, len(added[place]), setting.sizes)
            continue
        if place not in found:
            shown = ", ".join([*found, *added]) or "none"
            raise ChangeError(f"constraints: there is no with_sharding_constraint at {place}; the program has {shown}")
        own = found[place]
        rank = max((len(shape) for shape in own.shapes), default=0)
        full = None if spec is None else checked_spec(f"the constraint at {place}", spec, rank, setting.sizes)
        constraints[place] = full
        if full is not None and full == on_mesh(own.asked, setting.sizes):
            del constraints[place]
    return replace(setting, constraints=tuple(sorted(constraints.items())), added=tuple(sorted(added.items())))


def results_set_apart(facts: Facts, setting: PlaySetting) -> tuple[tuple[str, PartitionSpec | None], ...]:
    """The results that are set differently from the arguments whose next values they are."""
    specs = argument_specs(facts, setting)
    return tuple(
        (path, spec)
        for path, spec in setting.results
        if path not in facts.returns or specs.get(facts.returns[path]) != spec
    )


def with_results_returned(
    facts: Facts, setting: PlaySetting, given: tuple[tuple[str, PartitionSpec | None], ...] = ()
) -> PlaySetting:
    """The setting with every result split like the argument whose next value it is.

    `given` are results that the user has set, which are kept; all others in the setting are replaced.
    """
    specs = argument_specs(facts, setting)
    wanted = {path: specs[argument] for path, argument in facts.returns.items() if specs.get(argument) is not None}
    merged = {**wanted, **dict(given)}
    return replace(setting, results=_less(merged, facts, facts.free_results, setting.sizes))


# ---------------------------------------------------------------- what cannot be


def first_problem(controls: Controls) -> Problem | None:
    """The first control whose choice `jax.jit` would refuse, with meshes that would do, of as many devices if any."""
    wrong = [own for own in (*controls.groups, *controls.results) if own.problem]
    if not wrong:
        return None
    first = wrong[0]
    more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    text = f"{first.label} {list(first.shape)} is {spec_text(first.spec or ())}: {first.problem}{more}"
    meshes = tuple(_that_divide(controls.mesh, wrong))
    named = " or ".join(str(_axes(mesh)) for mesh in meshes)
    remedy = f"take a mesh {named}, or split it otherwise" if meshes else "split it otherwise, or take another mesh"
    return Problem(text=text, control=first.label, remedy=remedy, meshes=meshes)


def _that_divide(mesh: Sequence[tuple[str, int]], wrong: Sequence[object]) -> list[tuple[tuple[str, int], ...]]:
    """Meshes of as many devices without problems; if there are none, meshes with one axis slightly changed."""
    alike = [own for own in meshes_like(mesh) if _divides(wrong, dict(own))][:_MOST_MESHES]
    if alike:
        return alike
    near = list[tuple[float, tuple[tuple[str, int], ...]]]()
    for place, (name, size) in enumerate(mesh):
        for way in (range(size + 1, 2 * size + 1), range(size - 1, 0, -1)) if size <= _MOST_TRIED else ():
            ways = ((*mesh[:place], (name, other), *mesh[place + 1 :]) for other in way)
            own = next((own for own in ways if _divides(wrong, dict(own))), None)
            if own is not None:
                near.append((abs(math.log2(own[place][1] / size)), own))
    return [own for _, own in sorted(near)[:_MOST_MESHES]]


def _axes(mesh: Sequence[tuple[str, int]]) -> MeshAxes:
    return MeshAxes(axis_names=tuple(name for name, _ in mesh), shape=tuple(size for _, size in mesh))


def _divides(groups: Iterable[object], sizes: Mapping[str, int]) -> bool:
    return not any(division_problem(own.shape, own.spec, sizes) for own in groups)  # pyright: ignore


def meshes_like(mesh: Sequence[tuple[str, int]]) -> list[tuple[tuple[str, int], ...]]:
    """Meshes of as many devices with the same axes, the most similar first."""
    names, sizes = [name for name, _ in mesh], [size for _, size in mesh]
    found = _factored(math.prod(sizes), len(sizes))
    near = sorted(found, key=lambda own: (sum(abs(math.log2(a / b)) for a, b in zip(own, sizes, strict=True)), own))
    return [tuple(zip(names, own, strict=True)) for own in near]


def _factored(count: int, parts: int) -> list[tuple[int, ...]]:
    if parts <= 1:
        return [(count,)] if parts else []
    return [
        (size, *rest)
        for size in range(1, count + 1)
        if not count % size
        for rest in _factored(count // size, parts - 1)
    ]


# ---------------------------------------------------------------- in words


def said_changes(facts: Facts, base: PlaySetting, setting: PlaySetting, controls: Controls) -> tuple[str, ...]:
    """Differences from the base, each in words; `controls` are those of the setting."""
    said = []
    if setting.mesh != base.mesh:
        said.append(f"mesh {_axes(setting.mesh)}")
    if setting.target != base.target and not (setting.target.startswith("cpu:") and base.target.startswith("cpu:")):
        said.append(f"target {setting.target}")
    sizes = setting.sizes
    was = {path: on_mesh(spec, sizes) for path, spec in asked_specs(facts, base).items()}
    now = asked_specs(facts, setting)
    changed = [own for own in controls.groups if any(was[path] != now[path] for path in own.paths)]
    led = {own.label for own in changed if own.follows in {one.label for one in changed} and not own.is_cut_loose}
    for own in changed:
        if own.label not in led:
            said.append(f"{own.label}: {_words(now[own.paths[0]])}")
    said += _said_results(facts, base, setting, controls)
    constraints = dict(base.constraints)
    for place, spec in setting.constraints:
        if constraints.get(place, "as captured") != spec:
            said.append(f"constraint at {place}: {'out' if spec is None else spec_text(spec)}")
    said += [f"constraint at {place}: as captured" for place in constraints if place not in dict(setting.constraints)]
    said += [
        f"new constraint {name}: {spec_text(spec)}" for name, spec in setting.added if (name, spec) not in base.added
    ]
    said += [f"without new constraint {name}" for name, _ in base.added if name not in dict(setting.added)]
    return tuple(said)


def _said_results(facts: Facts, base: PlaySetting, setting: PlaySetting, controls: Controls) -> list[str]:
    """Words for the results that are set; results split as their arguments are summed up in one entry."""
    before = dict(base.results)
    new = {path: spec for path, spec in setting.results if before.get(path, "as captured") != spec}
    alike = _returned_alike(facts, setting)
    said = []
    for one in controls.results:
        own = [path for path in one.paths if path in new and path not in alike]
        if own:
            said.append(f"{one.label}: {_words(new[own[0]])}")
        if any(path in before and path not in dict(setting.results) for path in one.paths):
            said.append(f"{one.label}: left to XLA")
    return [*said, *(["results split as their arguments"] if alike & new.keys() - _returned_alike(facts, base) else [])]


def _returned_alike(facts: Facts, setting: PlaySetting) -> set[str]:
    """The next values of arguments that are split as these; none where any next value is left to XLA."""
    given, specs = result_specs(facts, setting), argument_specs(facts, setting)
    free = facts.free_results - {path for path, spec in setting.results if spec is not None}
    free |= {path for path, spec in setting.results if spec is None}
    pairs = {path: specs[own] for path, own in facts.returns.items() if specs.get(own) is not None}
    return set() if free & pairs.keys() else {path for path, spec in pairs.items() if given[path] == spec}


def _words(spec: PartitionSpec | None) -> str:
    return "left to XLA" if spec is None else spec_text(spec)
