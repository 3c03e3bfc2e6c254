"""The table's rows of arrays on different devices or meshes, and of arrays that arrive with another spec than asked.

*Source*: the texts in `jax/_src` of 0.8.1 to 0.12.0: `pjit.py`, `sharding_impls.py`, `core.py`, `lax/utils.py`.
"""

# ruff: noqa: E501

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from pjit_inspect.analyze.errors.fits import advice, mesh_named, replaced_text
from pjit_inspect.analyze.errors.printed import (
    MESH,
    SHARDING,
    SPEC,
    mesh_words,
    of_shape,
    read_integers,
    read_mesh,
    read_sharding,
    read_spec,
    read_type,
)
from pjit_inspect.analyze.errors.specs import divides, reshard_words, spec_words
from pjit_inspect.analyze.errors.table import Facts
from pjit_inspect.analyze.errors.table import row as _row
from pjit_inspect.model.program.spec import PartitionSpec, axes_of, spec_text
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, Fit
from pjit_inspect.model.sharding.mesh import Mesh, MeshAxes
from pjit_inspect.model.words.sentence import Phrase, Sentence, code, name, place, say

_MOST_DEVICES = 4


def _placed(array: ErrorArray, mesh: MeshAxes, variable: str, effect: Sentence, scene: ErrorScene) -> Fit:
    """An array moved to a mesh: as code where the user's line has both."""
    if not variable or not _is_variable(array):
        return advice(say("place {} on that mesh with `jax.device_put`", name(array.name)), effect)
    spec = _carried_over(array, mesh)
    edit = f"jax.device_put({array.name}, NamedSharding({variable}, {spec_text(spec)}))"
    return Fit(edit=edit, effect=effect, spec=spec, target=array.name, replaces=replaced_text(array.name, scene))


def _carried_over(array: ErrorArray, mesh: MeshAxes) -> PartitionSpec:
    """The array's spec on another mesh: entries whose axes it has, and which divide there, stay."""
    return tuple(
        entry if set(axes_of(entry)) <= set(mesh.sizes) and divides(entry, length, mesh.sizes) else None
        for entry, length in zip(array.spec or (), array.shape or (), strict=False)
    )


def _is_variable(side: ErrorArray) -> bool:
    """Whether its name is the user's text, not that of the function's parameter."""
    return side.is_named and " of " not in side.name


# ---------------------------------------------------------------- devices

_PLACES = {
    "ARG_SHARDING": "in_shardings", "explicit output sharding": "out_shardings", "shard_map inside jit": "shard_map",
    "sharding_constraint inside jit": "with_sharding_constraint", "jit's context mesh": "set_mesh",
}  # fmt: skip


def _side(match: re.Match[str], number: int, scene: ErrorScene) -> ErrorArray:
    """One side of the message: the user's variable, the operand of its shape on its devices; else as JAX calls it."""
    ids = read_integers(match[f"ids{number}"])
    if match[f"path{number}"] is None:
        words = match[f"place{number}"].strip()
        known = _PLACES.get(words, words)
        # Outside of jit a constraint is a program of its own, whose result JAX speaks of.
        is_constraint = known == "out_shardings" and scene.operator == "with_sharding_constraint"
        return ErrorArray(name=scene.operator if is_constraint else known, device_ids=ids)
    side = replace(read_type(match[f"type{number}"], match[f"path{number}"]), spec=None, device_ids=ids, is_named=True)
    same = [other for other in scene.operands if other.shape == side.shape and sorted(other.device_ids) == sorted(ids)]
    # Each rule decides only where those before it leave several.
    same = [other for other in same if other.device_ids == ids] or same
    same = [other for other in same if _path(other.name) == _path(side.name)] or same
    if len(same) == 1:
        return replace(same[0], device_ids=ids, is_named=True)
    function = (match["function1"] or match["function2"] or "").rpartition(">.")[2]
    return replace(side, name=f"{side.name} of {function}") if function else side


def _path(text: str) -> str:
    """What follows the variable: `['w']` of `params['w']`, whatever the caller and the function call it."""
    return re.sub(r"^\w+", "", text)


def _devices(match: re.Match[str], scene: ErrorScene) -> Facts:
    first, second = _side(match, 1, scene), _side(match, 2, scene)
    ids = _ids(first.device_ids), _ids(second.device_ids)
    facts: dict[str, object] = {"arrays": (first, second)}
    if first.device_ids == second.device_ids:
        note = say("its message quotes the same devices for both sides, so which one is odd cannot be told")
        return facts | {"what": "JAX found two sets of devices in one program", "notes": (note,)}
    if not first.is_named and first.name == second.name:
        return facts | {"what": say("{} names devices that differ: {} and {}", code(first.name), *ids)}
    order = ": the same devices in another order" if sorted(first.device_ids) == sorted(second.device_ids) else ""
    what = say("{} is on {}, {} on {}{}", _side_words(first), ids[0], _side_words(second), ids[1], order)
    notes = []
    # Where the program, and not an argument, names devices, JAX says the line.
    file, _, number = (match["where"] or "").rpartition(":")
    if scene.frame is not None and file == scene.frame.file and int(number) != scene.frame.line:
        notes = [say("the sharding is at {}", place(f"{PurePath(file).name}:{number}"))]
    return facts | {"what": what, "fits": tuple(_joining(first, second, scene)), "notes": tuple(notes)}


def _side_words(side: ErrorArray) -> Phrase | str:
    if side.is_named:
        return name(side.name)
    return "the mesh that is set" if side.name == "set_mesh" else say("the sharding in {}", code(side.name))


def _ids(ids: Sequence[int]) -> str:
    """`device 3`, `devices 0-7`, `devices 7 6 5 4 ...`: in the order they have, which can be what differs."""
    if len(ids) == 1:
        return f"device {ids[0]}"
    if tuple(ids) == tuple(range(ids[0], ids[0] + len(ids))):
        return f"devices {ids[0]}-{ids[-1]}"
    more = " ..." if len(ids) > _MOST_DEVICES else ""
    return f"devices {' '.join(map(str, ids[:_MOST_DEVICES]))}{more}"


def _joining(first: ErrorArray, second: ErrorArray, scene: ErrorScene) -> Iterator[Fit]:
    """The side that is moved is the one whose devices fewer operands are on.

    Of equally many: the one on fewer devices, then the one that has them in another order, then the second.
    """
    counts = Counter(other.device_ids for other in scene.operands)

    def weight(side: ErrorArray) -> tuple[int, int, bool]:
        return counts[side.device_ids], len(side.device_ids), sorted(side.device_ids) == list(side.device_ids)

    odd, other = (first, second) if weight(second) > weight(first) else (second, first)
    odd, other = (odd, other) if odd.is_named else (other, odd)
    if not odd.is_named:
        return
    mesh, variable = _mesh_of(other, scene)
    own = _mesh_of(odd, scene)[1]
    if not other.is_named and own and other.name != "set_mesh":
        words = say("make the sharding in {} one of {}", code(other.name), name(own))
        yield advice(words, say("the devices that {} is on", name(odd.name)))
    if mesh is not None:
        effect = say("copies {} to {} once, on {}", name(odd.name), _ids(mesh.device_ids), str(mesh))
        # An array knows its mesh where no variable of the line does.
        beside = f"{other.name}.sharding.mesh" if _is_variable(other) and other.mesh is not None else ""
        yield _placed(odd, mesh, variable or beside, effect, scene)
    elif other.is_named and len(other.device_ids) == 1:
        effect = say("copies {} to device {} once", name(odd.name), other.device_ids[0])
        if _is_variable(odd) and _is_variable(other):
            edit, replaces = f"jax.device_put({odd.name}, {other.name}.sharding)", replaced_text(odd.name, scene)
            yield Fit(edit=edit, effect=effect, target=odd.name, replaces=replaces)
        else:
            yield advice(say("place {} on that device with `jax.device_put`", name(odd.name)), effect)


def _mesh_of(side: ErrorArray, scene: ErrorScene) -> tuple[Mesh | None, str]:
    """The mesh a side is on, and the user's variable that holds it, or ""; None for a single device."""
    held = [mesh for mesh in scene.meshes if mesh.device_ids == side.device_ids]
    if isinstance(side.mesh, Mesh):
        return side.mesh, scene.meshes[side.mesh] if side.mesh in held else ""
    if len(held) > 1:
        # Several meshes of these devices: the one that other operands are on.
        held = [mesh for mesh in held if any(mesh == other.mesh for other in scene.operands)]
    return (held[0], scene.meshes[held[0]]) if len(held) == 1 and len(side.device_ids) > 1 else (None, "")


# ---------------------------------------------------------------- meshes and specs of types


def _other_mesh(match: re.Match[str], scene: ErrorScene) -> Facts:
    wanted, other = read_mesh(match["mesh"]), read_mesh(match["other"])
    target, source = mesh_words(wanted, other), mesh_words(other, wanted)
    meshes = [(mesh.axes, mesh.axis_types) if (mesh := array.mesh) else None for array in scene.operands]
    odd = [array for array, mesh in zip(scene.operands, meshes, strict=True) if mesh == (other.axes, other.axis_types)]
    arrays = tuple(array for array in scene.operands if array.mesh is not None)
    if not arrays and (type_ := match.groupdict().get("type")):
        arrays = (replace(read_type(type_, "operand"), mesh=other),)
    facts: dict[str, object] = {"what": "an operand", "other": source, "wanted": target, "arrays": arrays}
    if len(odd) != 1:
        return facts
    effect = say("moves {} to {}", name(odd[0].name), target)
    fit = _placed(replace(odd[0], is_named=True), wanted, mesh_named(wanted, scene), effect, scene)
    return facts | {"what": name(odd[0].name), "fits": (fit,)}


def _asserted(match: re.Match[str], scene: ErrorScene) -> Facts:
    own, wanted = read_spec(match["own"]), read_spec(match["wanted"])
    array = _arriving(ErrorArray(name="operand", spec=own), scene)
    target = _full(wanted, array)
    edit = f"jax.sharding.reshard({array.name}, {spec_text(target)})"
    return _differing(array, wanted, [_moved(array, target, edit, scene)] if array.is_named else [])


def _passed(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    asked, own = read_sharding(match["asked"]), read_sharding(match["own"])
    if asked.spec is None or asked.mesh is None:
        return None
    typed = read_type(match["type"])
    array = _arriving(of_shape(replace(own, name="argument", dtype=typed.dtype), typed.shape or ()), scene)
    target, variable = _full(asked.spec, array), mesh_named(asked.mesh, scene)
    edit = f"jax.device_put({array.name}, NamedSharding({variable}, {spec_text(target)}))" if variable else ""
    fits = [_moved(array, target, edit, scene)] if array.is_named else []
    return _differing(
        array, asked.spec, [*fits, advice("leave `in_shardings` out", "arguments are taken as they come")]
    )


def _arriving(given: ErrorArray, scene: ErrorScene) -> ErrorArray:
    """The operand that has the spec and the shape of the message, if there is one only."""
    same = [
        other for other in scene.operands
        if given.spec is not None and other.spec is not None and given.shape in (None, other.shape)
        # Trailing entries may be left out.
        and all(a == b for a, b in itertools.zip_longest(other.spec, given.spec))
    ]  # fmt: skip
    return same[0] if len(same) == 1 and scene.is_complete else given


def _full(spec: PartitionSpec, array: ErrorArray) -> PartitionSpec:
    return (*spec, *(None,) * (len(array.shape or ()) - len(spec)))


def _moved(array: ErrorArray, target: PartitionSpec, edit: str, scene: ErrorScene) -> Fit:
    words = reshard_words(array.name, array.spec or (), target)
    if edit:
        return Fit(edit=edit, effect=words, spec=target, target=array.name, replaces=replaced_text(array.name, scene))
    return advice(say("place {} as {} with `jax.device_put`", name(array.name), spec_words(target)), words)


def _differing(array: ErrorArray, wanted: PartitionSpec, fits: Sequence[Fit]) -> Facts:
    unnamed = f"an {array.name}" if array.name[:1] in "aeiou" else "the array"
    what = name(array.name) if array.is_named else unnamed
    return {
        "what": what,
        "own": spec_words(array.spec),
        "wanted": spec_words(wanted),
        "arrays": (array,),
        "fits": tuple(fits),
    }


def _of_side(number: int) -> str:
    # 0.8 and 0.9 write "and device ids", 0.10 and later "and with device ids".
    return (
        rf"(?:argument (?P<path{number}>.{{1,500}}?) of (?P<function{number}>.{{1,300}}?) with shape (?P<type{number}>\w{{1,24}}\[[\d,]{{0,200}}\]) and "
        rf"|(?P<place{number}>[\w' ]{{1,60}}?) )(?:with )?device ids (?P<ids{number}>\[[\d, ]{{0,16000}}\]) on platform \w{{1,40}}"
    )


DEVICE_ROWS = (
    _row("devices", rf"Received incompatible devices for \w{{1,40}} computation\. Got {_of_side(1)}(?: at [^\n]{{0,300}}?)?\s+and\s+{_of_side(2)}"
         r"(?: at (?P<where>[^\n]{1,1000}?:\d{1,9}):\d{1,9}(?: |$))?",
         "{what}", facts=_devices),
    _row("mesh", rf"For primitive \w{{1,80}}, context mesh (?P<mesh>{MESH}) .{{0,200}}?(?P<other>{MESH})(?: for shape (?P<type>\S{{1,400}}?)\. )?",
         "{what} is on the mesh {other}, but the mesh that is set is {wanted}", facts=_other_mesh),
    _row("mesh", rf".{{0,400}}?(?:Got one mesh: |Got lhs: ?)(?P<mesh>{MESH}).{{0,200}}?(?P<other>{MESH})",
         "{what} is on the mesh {other}, everything else on {wanted}", facts=_other_mesh),
    _row("other spec", rf"`with_sharding_constraint` acts as an assert .{{0,400}}? The array sharding: (?P<own>{SPEC}) did not match the sharding provided: (?P<wanted>{SPEC})\. ",
         "{what} is {own}, but `with_sharding_constraint` asks for {wanted}", facts=_asserted),
    _row("other spec", rf"Sharding passed to \w{{1,40}} does not match the sharding on the respective arg\. Got .{{0,200}}?(?P<asked>{SHARDING}).{{0,400}}?(?P<own>{SHARDING})"
         r".{0,400}? for arg type: (?P<type>\S{1,400})\s*$",
         "{what} is {own}, but `in_shardings` asks for {wanted}", facts=_passed),
)  # fmt: skip
"""Each tried in turn; of two rows with one pattern the first whose facts are there."""
