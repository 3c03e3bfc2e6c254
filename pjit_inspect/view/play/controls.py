"""The controls of a variant as data: mesh, machine, arguments, constraints, results, each with impossible choices.

Not its job: which sizes divide (`analyze.play`), drawing (`view/front/src/play`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pjit_inspect.model.play.controls import ArgumentGroup, Choice, ConstraintControl, ResultControl
from pjit_inspect.model.play.variant import Problem
from pjit_inspect.model.program.mesh import PartitionSpec, axes_of
from pjit_inspect.model.program.shape import short_dtype
from pjit_inspect.model.record.target import TargetRow
from pjit_inspect.view.document.notation import known_spec_text
from pjit_inspect.view.document.quantities import bytes_text, count_text, plural
from pjit_inspect.view.inspector.words import axes_data, name_data
from pjit_inspect.view.play.given import PlayGiven
from pjit_inspect.view.play.words import TIMES

_MOST_MEMBERS = 400
_HOST = 8
"""GPUs of one host."""


def controls_data(given: PlayGiven) -> dict[str, Any]:
    """All data of the left side."""
    now, base = given.now.controls, given.base.controls
    sizes, problem = dict(now.mesh), given.now.problem
    was = dict(base.mesh)
    before = {path: group.spec for group in base.groups for path in group.paths}
    named = {group.label: group.family for group in now.groups}
    places = {path: place for place, path in enumerate(before)}
    groups = [_family(one, before, places, sizes, problem, named) for one in _families(now.groups)]
    asked = {one.place: one for one in base.constraints}
    was_result = {path: one for one in base.results for path in one.paths}
    return {
        "mesh": [{"name": name_data(name), "size": size, "base": was.get(name)} for name, size in now.mesh],
        "mesh_problem": _mesh_problem(given),
        "target": _target(given),
        "groups": groups,
        "followers": _followers(now.groups),
        "constraints": [
            _constraint(one, asked.get(one.place), sizes, _of(problem, one.place)) for one in now.constraints
        ],
        "results": [_result(one, was_result[one.paths[0]], sizes, _of(problem, one.label)) for one in now.results],
        "results_words": _results_words(now.results),
    }


def _mesh_problem(given: PlayGiven) -> dict[str, Any] | None:
    """The words beside the mesh: a problem of no other control, and the meshes that would avoid it."""
    problem = given.now.problem
    if problem is None or given.now.stage != "refused":
        return None
    if not _is_elsewhere(given, problem):
        return _problem(problem)
    now = given.now.controls
    wrong = sum(bool(own.problem) for own in (*now.groups, *now.results))
    found = _problem(problem, devices=given.now.devices)["remedies"]
    if not wrong or (not found and now.mesh == given.base.controls.mesh):
        return None
    words = f"This mesh does not divide {plural(wrong, 'group')} of arrays, which say why beside them."
    return {"words": f"{words}{' Meshes that do:' if found else ''}", "remedies": found}


def _is_elsewhere(given: PlayGiven, problem: Problem) -> bool:
    """True if a control other than the mesh shows the problem; the mesh shows the problems of no control."""
    now = given.now.controls
    arrays = {one.label for one in (*now.groups, *now.results)}
    return problem.control in arrays | {one.place for one in now.constraints}


def _of(problem: Problem | None, control: str) -> Problem | None:
    return problem if problem is not None and problem.control == control else None


def _problem(problem: Problem, *, with_meshes: bool = True, devices: int | None = None) -> dict[str, Any]:
    """The problem and its remedies; a mesh with another number of devices than `devices` says how many."""
    meshes = [
        {"words": _named_mesh(mesh, devices), "set": {"mesh": [[name, size] for name, size in mesh]}}
        for mesh in (problem.meshes if with_meshes else ())
    ]
    text, remedy = name_data(problem.text, longest=400), name_data(problem.remedy, longest=400)
    if remedy:
        text = f"{text.removesuffix('.')}. {remedy[0].upper()}{remedy[1:]}"
    return {"words": text, "remedies": meshes}


def _named_mesh(mesh: Sequence[tuple[str, int]], devices: int | None) -> str:
    words = f" {TIMES} ".join(f"{name_data(name)} {size:,}" for name, size in mesh)
    own = math.prod(size for _, size in mesh)
    return words if devices in (None, own) else f"{words} ({plural(own, 'device')})"


# ---------------------------------------------------------------- the machine


def _target(given: PlayGiven) -> dict[str, Any]:
    now = given.now
    rows = given.targets.rows if given.targets is not None else ()
    options = [option for row in rows for option in _options(row, now.devices)]
    if all(one["value"] != now.controls.target for one in options):
        here = {"value": name_data(now.controls.target), "words": _machine(now.controls.target)}
        options.insert(0, {**here, "detail": "as it is", "allowed": True})
    facts = f"{bytes_text(now.available_bytes)} for programs on each" if now.available_bytes else ""
    return {
        "value": name_data(now.controls.target),
        "words": _machine(now.controls.target),
        "options": options,
        "facts": facts,
    }


def _machine(target: str) -> str:
    platform, _, rest = target.partition(":")
    return f"{rest} CPU devices" if platform == "cpu" else name_data(target.replace(":", " "))


def _options(row: TargetRow, devices: int) -> list[dict[str, Any]]:
    """The machines of a row with as many devices; if there is none, the row with the reason."""
    found = _topologies(row, devices)
    memory = f", {bytes_text(row.memory[-1].bytes)} each" if row.memory else ""
    if not row.ready:
        return [_option(row.name.rpartition(":")[0] or row.name, name_data(row.missing, longest=300), False)]
    if not found:
        return [_option(row.name.rpartition(":")[0], f"has no topology of {plural(devices, 'device')}", False)]
    start = row.name.rpartition(":")[0]
    return [_option(f"{start}:{one}", f"{plural(devices, 'device')}{memory}", True) for one in found]


def _option(value: str, detail: str, allowed: bool) -> dict[str, Any]:
    return {"value": value, "words": _machine(value) if allowed else value.replace(":", " "), "detail": detail,
            "allowed": allowed}  # fmt: skip


def _topologies(row: TargetRow, devices: int) -> list[str]:
    if row.platform == "cpu":
        return [str(devices)]
    if row.topologies:
        return [one for one in row.topologies if math.prod(map(int, one.split("x"))) * row.devices_per_chip == devices]
    if devices <= _HOST:
        return [f"1x{devices}"]
    return [] if devices % _HOST else [f"{devices // _HOST}x{_HOST}"]


# ---------------------------------------------------------------- arrays


def _families(groups: Sequence[ArgumentGroup]) -> Iterable[list[ArgumentGroup]]:
    """Groups of equal arrays, whatever their specs."""
    found: dict[str, list[ArgumentGroup]] = {}
    for one in groups:
        found.setdefault(one.family, []).append(one)
    return found.values()


def _family(
    groups: Sequence[ArgumentGroup],
    was: Mapping[str, PartitionSpec | None],
    places: Mapping[str, int],
    sizes: dict[str, int],
    problem: Problem | None,
    families: Mapping[str, str],
) -> dict[str, Any]:
    """One row for equal arrays, showing the most common sharding; exceptions are listed under it."""
    # On a tie, the row shows the arrays that are split as in the base.
    main = max(groups, key=lambda one: (len(one.paths), one.spec == was.get(one.paths[0])))
    paths = sorted((path for one in groups for path in one.paths), key=lambda path: places.get(path, len(places)))
    held = [one.bytes_per_device for one in groups]
    wrong = next((Problem(text=one.problem, control=one.label) for one in groups if one.problem), None)
    own = (problem if problem is not None and problem.control in {one.label for one in groups} else None) or wrong
    alone = len(paths) - len(main.paths)
    return {
        "key": main.family,
        "asks": main.label,
        "name": name_data(main.family),
        "title": _paths(paths),
        "search": name_data(" ".join((main.family, *paths[:_MOST_MEMBERS])), longest=4000),
        "sub": f"{_equal(main.dtype, len(paths))}{f', {alone:,} split differently' if alone else ''}",
        "scalar": _scalar(main.dtype),
        "dims": _dims(main.shape, main.spec, main.choices, sizes, was.get(main.paths[0])),
        "held": "unknown" if wrong or None in held else bytes_text(sum(size or 0 for size in held)),
        "copies": "" if wrong else _copies([one.copies for one in groups if one.copies is not None]),
        "follows": _follows(main),
        "can_follow": name_data(families.get(main.follows, main.follows)) if main.follows is not None else "",
        "changed": any(path in was and was[path] != one.spec for one in groups for path in one.paths),
        "problem": _problem(own, with_meshes=False) if own else None,
        "members": _members(main, groups, paths[:_MOST_MEMBERS], was, sizes) if len(paths) > 1 else [],
        "more_members": max(0, len(paths) - _MOST_MEMBERS),
    }


def _members(
    main: ArgumentGroup,
    groups: Sequence[ArgumentGroup],
    paths: Sequence[str],
    was: Mapping[str, PartitionSpec | None],
    sizes: dict[str, int],
) -> list[dict[str, Any]]:
    """Each array of a row; arrays that are split like the row have no dimensions (None)."""
    others = {path: one for one in groups if one is not main for path in one.paths}
    found = []
    for path in paths:
        one = others.get(path)
        dims = None if one is None else _dims(one.shape, one.spec, one.choices, sizes, was.get(path))
        leader = one.follows if one is not None and _follows(one) else None
        found.append(
            {"key": path, "name": name_data(path), "dims": dims, "as": "" if leader is None else name_data(leader)}
        )
    return found


def _follows(group: ArgumentGroup) -> bool:
    return group.follows is not None and not group.is_cut_loose


def _paths(paths: Sequence[str]) -> str:
    return "\n".join(name_data(path) for path in paths[:20]) + ("\n..." if len(paths) > 20 else "")


def _equal(dtype: str, count: int) -> str:
    kind = dtype if dtype == "bool" else short_dtype(dtype)
    return f"{kind}, {count_text(count)} equal arrays" if count > 1 else kind


def _scalar(dtype: str) -> str:
    """The name of an array without dimensions."""
    return "a random key" if dtype.startswith("key<") else "a scalar"


def _copies(copies: Sequence[int]) -> str:
    if not copies:
        return ""
    least, most = min(copies), max(copies)
    if least != most:
        return f"{count_text(least)} to {count_text(most)} copies"
    return "one copy" if most == 1 else f"{count_text(most)} copies"


def _followers(groups: Sequence[ArgumentGroup]) -> str:
    own = [group for group in groups if _follows(group)]
    held = [group.bytes_per_device for group in own]
    size = None if None in held else sum(size for size in held if size is not None)
    count = plural(len({group.family for group in own}), "group")
    return f"{count} as the parameters they belong to, {bytes_text(size)}" if own else ""


def _dims(
    shape: Sequence[int],
    spec: PartitionSpec | None,
    choices: Sequence[Sequence[Choice]],
    sizes: dict[str, int],
    base: PartitionSpec | None,
) -> list[dict[str, Any]]:
    found = []
    for at, size in enumerate(shape):
        axes = None if spec is None else axes_of(spec[at]) if at < len(spec) else ()
        was = None if base is None else axes_of(base[at]) if at < len(base) else ()
        pieces = 1 if axes is None else math.prod(sizes.get(axis, 1) for axis in axes)
        found.append({
            "size": size,
            "axes": None if axes is None else axes_data(axes),
            "pieces": pieces,
            "changed": spec is not None and base is not None and axes != was,
            "problem": bool(axes) and bool(pieces) and size % pieces != 0,
            "choices": [_choice(one, size, sizes) for one in (choices[at] if at < len(choices) else ())],
        })  # fmt: skip
    return found


def _choice(one: Choice, size: int, sizes: dict[str, int]) -> dict[str, Any]:
    pieces = math.prod(sizes.get(axis, 1) for axis in one.axes)
    whole = f"{size:,} on every device" if not one.axes else f"{size:,} / {pieces:,} = {size // max(1, pieces):,} each"
    return {
        "axes": axes_data(one.axes),
        "words": " \u00b7 ".join(axes_data(one.axes)) or "none",
        "detail": whole if one.allowed else name_data(one.why_not),
        "allowed": one.allowed,
    }


def _constraint(
    one: ConstraintControl, base: ConstraintControl | None, sizes: dict[str, int], problem: Problem | None
) -> dict[str, Any]:
    spec = one.spec if one.spec is not None else one.asked
    own = problem or (Problem(text=one.problem, control=one.place) if one.problem else None)
    places = f"{name_data(one.place)}, {plural(one.count, 'place')}"
    return {
        "key": one.place,
        "name": f"{known_spec_text(spec)} at {name_data(one.place)}",
        "words": [{"code": name_data(known_spec_text(spec))}] if spec is not None else ["several specs"],
        "place": f"new, at {name_data(one.place)}" if one.is_new else places,
        "on": one.is_on,
        "new": one.is_new,
        "dims": _dims(one.shape, spec, one.choices, sizes, one.asked) if one.shape is not None and one.choices else [],
        "changed": (base.spec, base.is_on) != (one.spec, one.is_on) if base is not None else one.is_new,
        "problem": _problem(own, with_meshes=False) if own else None,
    }


def _result(one: ResultControl, base: ResultControl, sizes: dict[str, int], problem: Problem | None) -> dict[str, Any]:
    own = problem or (Problem(text=one.problem, control=one.label) if one.problem else None)
    return {
        "key": one.label,
        "name": name_data(one.label),
        "title": _paths(one.paths),
        "sub": _equal(one.dtype, len(one.paths)),
        "scalar": _scalar(one.dtype),
        # XLA's choice is never a change by the reader.
        "dims": _dims(one.shape, one.spec, one.choices, sizes, None if one.is_free else base.spec),
        "held": bytes_text(one.bytes_per_device) if one.bytes_per_device is not None else "unknown",
        "free": one.is_free,
        "changed": one.is_free != base.is_free or (not one.is_free and one.spec != base.spec),
        "problem": _problem(own, with_meshes=False) if own else None,
    }


def _results_words(results: Sequence[ResultControl]) -> str:
    chosen = sum(not one.is_free for one in results)
    known = "all set" if chosen == len(results) else f"{chosen:,} set, the others as XLA chooses"
    return f"{plural(len(results), 'group')}, {known if chosen else 'as XLA chooses'}"
