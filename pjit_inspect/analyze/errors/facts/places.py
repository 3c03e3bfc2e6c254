"""Facts of errors of places: devices, meshes and memories that differ, shards put together by hand."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from pjit_inspect.analyze.errors import printed, specs, ways
from pjit_inspect.analyze.errors.printed import read_integers, read_mesh, read_type
from pjit_inspect.analyze.errors.specs import spec_words
from pjit_inspect.analyze.errors.table import Facts, read_code
from pjit_inspect.analyze.errors.ways import advice, mesh_named
from pjit_inspect.model.program.mesh import Mesh, MeshAxes, PartitionSpec, axes_of, spec_text
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, Fit
from pjit_inspect.model.words.sentence import Phrase, Sentence, code, name, place, say

_MOST_DEVICES = 4


def moved_fit(
    array: ErrorArray,
    place: str,
    effect: Sentence,
    scene: ErrorScene,
    words: str = "",
    spec: PartitionSpec | None = None,
) -> Fit:
    """An array placed elsewhere: as code where the user's line has both it and the place, else in words."""
    # What is "of" a function is called by that function's parameter.
    if not place or not array.is_named or " of " in array.name:
        return advice(say("place {}{} with `jax.device_put`", name(array.name), words), effect)
    edit, replaces = f"jax.device_put({array.name}, {place})", ways.replaced_text(array.name, scene)
    return Fit(edit=edit, effect=effect, spec=spec, target=array.name, replaces=replaces)


def _on_mesh(array: ErrorArray, mesh: MeshAxes, variable: str, effect: Sentence, scene: ErrorScene) -> Fit:
    """An array moved to a mesh; entries whose axes that has, and which divide there, stay."""
    spec = tuple(
        entry if set(axes_of(entry)) <= set(mesh.sizes) and specs.divides(entry, length, mesh.sizes) else None
        for entry, length in zip(array.spec or (), array.shape or (), strict=False)
    )
    return moved_fit(
        array, f"NamedSharding({variable}, {spec_text(spec)})" if variable else "", effect, scene, " on that mesh", spec
    )


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
    if own := ways.own_of(side, scene):
        return replace(own, device_ids=ids, is_named=True)
    function = (match["function1"] or match["function2"] or "").rpartition(">.")[2]
    return replace(side, name=f"{side.name} of {function}") if function else side


def devices(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The two sides that are on different devices, and either moved to the other's."""
    first, second = _side(match, 1, scene), _side(match, 2, scene)
    facts: dict[str, object] = {
        "arrays": (first, second), "one": _ids(first.device_ids), "other": _ids(second.device_ids),
    }  # fmt: skip
    if first.device_ids == second.device_ids:
        note = say("its message quotes the same devices for both sides, so which one is odd cannot be told")
        return facts | {"alike": True, "notes": (note,)}
    if not first.is_named and first.name == second.name:
        return facts | {"code_both": code(first.name)}
    is_turned = sorted(first.device_ids) == sorted(second.device_ids)
    order = ": the same devices in another order" if is_turned else ""
    facts |= {"first": _side_words(first), "second": _side_words(second), "order": order}
    # Where the program, and not an argument, names devices, JAX says the line.
    file, _, number = (match["where"] or "").rpartition(":")
    is_elsewhere = scene.frame is not None and file == scene.frame.file and int(number) != scene.frame.line
    notes = (say("the sharding is at {}", place(f"{PurePath(file).name}:{number}")),) if is_elsewhere else ()
    return facts | {"fits": tuple(_joining(first, second, scene)), "notes": notes}


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
    return f"devices {' '.join(map(str, ids[:_MOST_DEVICES]))}{' ...' if len(ids) > _MOST_DEVICES else ''}"


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
    is_variable = other.is_named and " of " not in other.name
    if mesh is not None:
        effect = say("copies {} to {} once, on {}", name(odd.name), _ids(mesh.device_ids), str(mesh))
        # An array knows its mesh where no variable of the line does.
        beside = f"{other.name}.sharding.mesh" if is_variable and other.mesh is not None else ""
        yield _on_mesh(odd, mesh, variable or beside, effect, scene)
    elif other.is_named and len(other.device_ids) == 1:
        effect = say("copies {} to device {} once", name(odd.name), other.device_ids[0])
        yield moved_fit(odd, f"{other.name}.sharding" if is_variable else "", effect, scene, " on that device")


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


def other_mesh(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The operand that is on another mesh, and the way to the mesh of the others."""
    wanted, other = read_mesh(match["mesh"]), read_mesh(match["other"])
    meshes = [(one.mesh.axes, one.mesh.axis_types) if one.mesh else None for one in scene.operands]
    odd = [one for one, mesh in zip(scene.operands, meshes, strict=True) if mesh == (other.axes, other.axis_types)]
    arrays = tuple(array for array in scene.operands if array.mesh is not None)
    if not arrays and (type_ := match.groupdict().get("type")):
        arrays = (replace(read_type(type_, "operand"), mesh=other),)
    target = printed.mesh_words(wanted, other)
    facts: dict[str, object] = {"other": printed.mesh_words(other, wanted), "wanted": target, "arrays": arrays}
    if len(odd) != 1:
        return facts
    fit = _on_mesh(odd[0], wanted, mesh_named(wanted, scene), say("moves {} to {}", name(odd[0].name), target), scene)
    return facts | {"what": name(odd[0].name), "fits": (fit,)}


def asked(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """An array that arrives with another spec than it is asked for, by a constraint or by `in_shardings`."""
    type_ = match.groupdict().get("type")
    if type_ is None:
        wanted, own = (ErrorArray(name="operand", spec=printed.read_spec(match[side])) for side in ("wanted", "own"))
    else:
        wanted, own = (printed.read_sharding(match[side]) for side in ("wanted", "own"))
        typed = read_type(type_)
        own = printed.of_shape(replace(own, name="argument", dtype=typed.dtype), typed.shape or ())
    if wanted.spec is None or (type_ and wanted.mesh is None):
        return None
    array = (ways.own_of(own, scene) if scene.is_complete else None) or own
    facts = {"own": spec_words(array.spec), "wanted": spec_words(wanted.spec), "arrays": (array,)}
    leave = (advice("leave `in_shardings` out", "arguments are taken as they come"),) if type_ else ()
    if not array.is_named:
        return {**facts, "fits": leave}
    target = (*wanted.spec, *(None,) * (len(array.shape or ()) - len(wanted.spec)))
    fit = ways.reshard_fit(array, target, scene)
    if type_:
        variable, words = mesh_named(wanted.mesh, scene), say(" as {}", spec_words(target))
        there = f"NamedSharding({variable}, {spec_text(target)})" if variable else ""
        fit = moved_fit(array, there, fit.effect, scene, words, target)
    return {**facts, "what": name(array.name), "fits": (fit, *leave)}


# ---------------------------------------------------------------- meshes


def meshes(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The mesh that is set, and the one that is given: within another `shard_map`, the same one with manual axes."""
    one, other = read_mesh(match["set"]), read_mesh(match["given"])
    variable, is_nested = mesh_named(other, scene), "manual" in one.axis_types and one.axes == other.axes
    free = [own for own, kind in zip(one.axis_names, one.axis_types, strict=False) if kind != "manual"]
    facts = {"given": code(printed.mesh_words(other, one)), "set": code(printed.mesh_words(one, other))}
    if is_nested and "op" not in match.groupdict():
        return {"manual": code(str(other)), "free": specs.axes_list(free) or None}
    return {**facts, "unset": True, "variable": code(variable) if variable else None}


def called_itself(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    """The function of the inner `shard_map` itself, which the outer one gives one device's part already."""
    if "manual" not in facts or facts["free"]:
        # It may be about the axes that are not manual yet.
        return
    effect = say("it sees one device's part already, and its collectives work there")
    match read_code(scene.expression):
        case ast.Call(func=ast.Call(args=[(ast.Name() | ast.Attribute()) as inner, *_])) if scene.arguments:
            arguments = ", ".join(argument.text for argument in scene.arguments)
            yield ways.instead(scene, f"{ast.unparse(inner)}({arguments})", effect)
        case _:
            yield advice("call the function itself, without the inner `jax.shard_map`", effect)


def without_mesh(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    """The call of `shard_map` without its mesh."""
    given = ways.texts_of(scene).get("mesh", "") if scene.operator == "shard_map" and "unset" in facts else ""
    edit = re.sub(rf",\s*mesh\s*=\s*{re.escape(given)}", "", scene.expression) if given else scene.expression
    if edit != scene.expression:
        yield ways.instead(scene, edit, "it then uses the mesh that is set")


# ---------------------------------------------------------------- memories, shards, exported functions


def memories(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The memory of each of two operands."""
    sides = [match["one"], match["other"]]
    kinds = ["host" if "<host>" in side else "device" for side in sides]
    types = [f"{one.dtype}{specs.shape_words(one.shape)}" for one in scene.operands]
    names = (
        [name(one.name) for one in scene.operands] if types == [re.sub(r"<\w+>", "", side) for side in sides] else []
    )
    facts = {
        "one": say("{} is in {} memory", *(names[:1] or ["one operand"]), kinds[0]),
        "two": say("{} in {} memory", *(names[1:] or ["another"]), kinds[1]),
    }
    return facts | {f"name_{kind}": own for kind, own in zip(kinds, names, strict=False)}


def shards(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The shards that are missing, by their devices where these are known, or too many."""
    wanted, given = int(match["n"]), int(match["n_given"])
    lack = f"{wanted - given} are missing" if given < wanted else f"{given - wanted} are too many"
    ids = sorted({number for array in scene.operands for number in array.device_ids})
    devices = {mesh.device_ids for mesh in scene.meshes if len(mesh.device_ids) == wanted}
    if len(scene.operands) == len(ids) == given and len(devices) == 1:
        missing = [number for number in devices.pop() if number not in ids]
        lack = f"those of devices {', '.join(map(str, missing))} are missing" if missing else lack
    return {"lack": lack}


def exported(match: re.Match[str], scene: ErrorScene) -> Facts:
    """A mesh of as many devices as the function was exported for."""
    own = [variable for mesh, variable in scene.meshes.items() if len(mesh.device_ids) == int(match["n"]) and variable]
    placed = code(f"jax.device_put(x, NamedSharding({own[0]}, P()))") if own else ""
    return {"variable": code(own[0]), "placed": placed} if own else {}
