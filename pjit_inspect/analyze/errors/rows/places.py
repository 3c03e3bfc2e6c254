"""The table's rows of places: devices, meshes and memories that differ, another spec than asked, shards put together by hand.

*Source*: the texts in `jax/_src` of 0.8.1 to 0.12.0: `pjit.py`, `sharding_impls.py`, `core.py`, `shard_map.py`, `mesh.py`,
`array.py`, `lax/lax.py`, `lax/utils.py`, `export/_export.py`.
"""

# ruff: noqa: E501

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from pjit_inspect.analyze.errors import printed, specs, ways
from pjit_inspect.analyze.errors.printed import MESH, SHARDING, SPEC, read_integers, read_mesh, read_type
from pjit_inspect.analyze.errors.specs import spec_words
from pjit_inspect.analyze.errors.table import Facts, Way, read_code, row
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


def _devices(match: re.Match[str], scene: ErrorScene) -> Facts:
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


def _other_mesh(match: re.Match[str], scene: ErrorScene) -> Facts:
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


def _asked(match: re.Match[str], scene: ErrorScene) -> Facts | None:
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


def _meshes(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The mesh that is set, and the one that is given: the same one whose axes are manual, within another `shard_map`."""
    one, other = read_mesh(match["set"]), read_mesh(match["given"])
    variable, is_nested = mesh_named(other, scene), "manual" in one.axis_types and one.axes == other.axes
    free = [own for own, kind in zip(one.axis_names, one.axis_types, strict=False) if kind != "manual"]
    facts = {"given": code(printed.mesh_words(other, one)), "set": code(printed.mesh_words(one, other))}
    if is_nested and "op" not in match.groupdict():
        return {"manual": code(str(other)), **({"free": specs.axes_list(free)} if free else {"itself": True})}
    return {**facts, "unset": True, **({"variable": code(variable)} if variable else {})}


def _called_itself(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    """The function of the inner `shard_map` itself, which the outer one gives one device's part already."""
    if "itself" not in facts:
        # It may be about the axes that are not manual yet.
        return
    effect = say("it sees one device's part already, and its collectives work there")
    match read_code(scene.expression):
        case ast.Call(func=ast.Call(args=[(ast.Name() | ast.Attribute()) as inner, *_])) if scene.arguments:
            arguments = ", ".join(argument.text for argument in scene.arguments)
            yield ways.instead(scene, f"{ast.unparse(inner)}({arguments})", effect)
        case _:
            yield advice("call the function itself, without the inner `jax.shard_map`", effect)


def _without_mesh(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    given = ways.texts_of(scene).get("mesh", "") if scene.operator == "shard_map" and "unset" in facts else ""
    edit = re.sub(rf",\s*mesh\s*=\s*{re.escape(given)}", "", scene.expression) if given else scene.expression
    if edit != scene.expression:
        yield ways.instead(scene, edit, "it then uses the mesh that is set")


# ---------------------------------------------------------------- memories, shards, exported functions


def _memories(match: re.Match[str], scene: ErrorScene) -> Facts:
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


def _shards(match: re.Match[str], scene: ErrorScene) -> Facts:
    wanted, given = int(match["n"]), int(match["n_given"])
    lack = f"{wanted - given} are missing" if given < wanted else f"{given - wanted} are too many"
    ids = sorted({number for array in scene.operands for number in array.device_ids})
    devices = {mesh.device_ids for mesh in scene.meshes if len(mesh.device_ids) == wanted}
    if len(scene.operands) == len(ids) == given and len(devices) == 1:
        missing = [number for number in devices.pop() if number not in ids]
        lack = f"those of devices {', '.join(map(str, missing))} are missing" if missing else lack
    return {"lack": lack}


def _exported(match: re.Match[str], scene: ErrorScene) -> Facts:
    own = [variable for mesh, variable in scene.meshes.items() if len(mesh.device_ids) == int(match["n"]) and variable]
    placed = code(f"jax.device_put(x, NamedSharding({own[0]}, P()))") if own else ""
    return {"variable": code(own[0]), "placed": placed} if own else {}


def _of_side(number: int) -> str:
    # 0.8 and 0.9 write "and device ids", 0.10 and later "and with device ids".
    return (
        rf"(?:argument (?P<path{number}>.{{1,500}}?) of (?P<function{number}>.{{1,300}}?) with shape (?P<type{number}>\w{{1,24}}\[[\d,]{{0,200}}\]) and "
        rf"|(?P<place{number}>[\w' ]{{1,60}}?) )(?:with )?device ids (?P<ids{number}>\[[\d, ]{{0,16000}}\]) on platform \w{{1,40}}"
    )


PLACE_ROWS = (
    row("devices", rf"Received incompatible devices for \w{{1,40}} computation\. Got {_of_side(1)}(?: at [^\n]{{0,300}}?)?\s+and\s+{_of_side(2)}"
         r"(?: at (?P<where>[^\n]{1,1000}?:\d{1,9}):\d{1,9}(?: |$))?",
        ("{first} is on {one}, {second} on {other}{order}", "{code_both} names devices that differ: {one} and {other}", "{?alike}JAX found two sets of devices in one program"), facts=_devices),
    row("mesh", rf"For primitive \w{{1,80}}, context mesh (?P<mesh>{MESH}) .{{0,200}}?(?P<other>{MESH})(?: for shape (?P<type>\S{{1,400}}?)\. )?",
         "{what|an operand} is on the mesh {other}, but the mesh that is set is {wanted}", facts=_other_mesh),
    row("mesh", rf".{{0,400}}?(?:Got one mesh: |Got lhs: ?)(?P<mesh>{MESH}).{{0,200}}?(?P<other>{MESH})",
         "{what|an operand} is on the mesh {other}, everything else on {wanted}", facts=_other_mesh),
    row("other spec", rf"`with_sharding_constraint` acts as an assert .{{0,400}}? The array sharding: (?P<own>{SPEC}) did not match the sharding provided: (?P<wanted>{SPEC})\. ",
         "{what|an operand} is {own}, but `with_sharding_constraint` asks for {wanted}", facts=_asked),
    row("other spec", rf"Sharding passed to \w{{1,40}} does not match the sharding on the respective arg\. Got .{{0,200}}?(?P<wanted>{SHARDING}).{{0,400}}?(?P<own>{SHARDING})"
         r".{0,400}? for arg type: (?P<type>\S{1,400})\s*$",
         "{what|an argument} is {own}, but `in_shardings` asks for {wanted}", facts=_asked),
    row("mesh", rf"The context mesh (?P<set>{MESH}) should match the mesh passed to shard_map (?P<given>{MESH})",
        ("one `jax.shard_map` is inside another and is given the whole mesh, {manual}, whose axes are manual there", "`jax.shard_map` is given the mesh {given}, but the mesh that is set is {set}"),
        _called_itself, Way("leave `mesh` out of the inner `jax.shard_map`, and let its specs and `axis_names` name {free} only", "the other axes are manual already"),
        Way("set {variable} with `jax.set_mesh`", "before the call"), _without_mesh, Way("leave `mesh` out, with specs for the mesh that is set{?unset}", "it then uses that one", is_last=True), facts=_meshes),
    row("mesh", rf"Context mesh (?P<set>{MESH}) should match the mesh of sharding (?P<given>{MESH}) passed to (?P<op>\w+)",
         "`{op}` is given a sharding of the mesh {given}, but the mesh that is set is {set}",
         Way("give it a spec of the mesh that is set", "a spec alone is enough there"), Way("set {variable} with `jax.set_mesh`", "before the call"), facts=_meshes),
    row("mesh", r"Please pass `jax\.Array`s with a `NamedSharding` as input to `shard_map` when passing `AbstractMesh`",
         "`jax.shard_map` has an `AbstractMesh`, which has no devices, and its arguments are on no mesh",
         Way("place the arguments with `jax.device_put` and a `NamedSharding`", "their mesh has the devices"), Way("give it a `Mesh` of devices", "as `jax.make_mesh` makes it")),
    row("mesh", r"`(?P<code_op>set_mesh|get_mesh)` can only be used outside of `jax\.jit`",
         "{code_op} is called while a function is traced; the mesh is fixed before that",
         Way("call `jax.set_mesh` before the jitted function", "what is traced then sees that mesh"), Way("inside, use `jax.sharding.get_abstract_mesh()`", "to see its axes")),
    row("mesh", r"Mesh requires the ndim of its first argument \(`devices`\) to equal the length of its second argument " r"\(`axis_names`\), but got devices\.ndim == (?P<rank>\d+) and len\(axis_names\) == (?P<count>\d+)",
         "a mesh has one name for each dimension of its devices: they have {rank}, and the names are {count}",
         Way("reshape the devices to {count} dimensions, as in `np.array(jax.devices()).reshape(2, 4)`", "if the names are right"), Way("use `jax.make_mesh(shape, names)`", "it orders the devices, too")),
    row("mesh", r"Number of axis names should match the number of axis_types\. Got axis_names=(?P<code_names>\([^()]*\)) and axis_types=(?P<code_types>\([^\n]*\))",
         "the axes {code_names} need one type each, and `axis_types` is {code_types}",
         Way("give `axis_types` one entry for each axis", "as in `(jax.sharding.AxisType.Auto,) * 2`")),
    row("mesh", r"use_abstract_mesh cannot change the size of the mesh\. .*? with size=(?P<new>\d+) and prev mesh: .*? with size=(?P<old>\d+)",
         "the mesh that is set has {old} devices, and inside it a mesh of {new} was to be used: only another shape of as many devices can be",
         Way("use an `AbstractMesh` of {old} devices", "as many as the mesh that is set")),
    row("memory space", r"memory_space of all inputs passed to `(?P<code_op>\w+)` must be the same\. Got one operand with type: (?P<one>\S+) " r"and another operand with type: (?P<other>\S+)",
         "{code_op} needs its operands in one memory: {one}, {two}",
         Way("jax.device_put({name_host}, jax.memory.Space.Device)", "copies {name_host} to the devices", replaces="{name_host}"),
         Way("move one of them with `jax.device_put` to `jax.memory.Space.Device`", "a copy in device memory", is_last=True), facts=_memories),
    row("memory space", r"Could not find memory addressable by device (?P<device>\S+)\. Device \S+ can address the following memory kinds: (?P<kinds>[\w, ]+)\. Got memory kind: (?P<code_kind>\w+)",
         "a {device} device has no memory called {code_kind}: it has {kinds}",
         Way("choose one of {kinds}", "as `memory_kind`")),
    row("shards", r"Expected (?P<n>\d+) per-device arrays \(this is how many devices are addressable by the sharding\), but got (?P<n_given>\d+)",
         "the sharding needs {n} shards, one for each device, and got {n_given}: {lack}",
         Way("give one array for each of the {n} devices, copies too", "in the order of `sharding.addressable_devices`"), Way("use `jax.make_array_from_callback`", "JAX then asks for each shard"), facts=_shards),
    row("shards", r"Expected shard shape (?P<code_wanted>\([\d, ]*\)) doesn't match the single device array shape (?P<code_given>\([\d, ]*\))\. Shape of Array is (?P<code_type>\S+)",
         "a shard of {code_type} has the shape {code_wanted} here, and one of the arrays has {code_given}",
         Way("give arrays of shape {code_wanted}", "as `sharding.shard_shape` says")),
    row("shards", r"When making an array from single-device arrays, the input arrays must be from distinct devices, but got device IDs (?P<ids>\[[\d, ]*\])",
         "each shard must be on a device of its own, and they are on the devices {ids}",
         Way("place each with `jax.device_put(shard, device)`", "before they are put together")),
    row("shards", r"Addressable devices and per-device arrays devices do not match\. (?:Sharding contains devices \{(?P<lack>[\d, ]*)\} that are not present in per-device arrays\. ?)?(?:Per-device arrays contain devices \{(?P<more>[\d, ]*)\})?",
         "the shards are not on the sharding's devices: it needs one on each of {lack}",
         Way("place each shard with `jax.device_put(shard, device)`", "for the devices of the sharding")),
    row("shards", r"When making an array from single-device arrays the input arrays must have one shard each\. An argument array had (?P<count>\d+) shard",
         "each shard must be an array on one device, and one of them is on {count}",
         Way("use its `addressable_shards`", "each has an array on one device in `data`")),
    row("shards", r"When calling `make_array_from_process_local_data` on a single process, global_shape should be None or equal to local_data\.shape\.\s*Got global_shape=(?P<code_all>\([\d, ]*\)) and local_data\.shape=(?P<code_own>\([\d, ]*\))",
         "one process has all the data, so the global shape is that of the data: {code_own}, not {code_all}",
         Way("leave `global_shape` out", "it is then {code_own}")),
    row("shards", r"Fetching value for `jax\.Array` that spans non-addressable",
         "part of the array is on devices of other processes, and cannot be read here",
         Way("use `jax.experimental.multihost_utils.process_allgather`", "gathers all of it on every process"), Way("read its `addressable_shards`", "what is on this process's devices")),
    row("shards", r"Closing over jax\.Array that spans non-addressable",
         "the function uses an array from outside that is partly on devices of other processes",
         Way("pass the array as an argument", "it is then traced")),
    row("shards", r"to_dlpack can only pack a dlpack tensor from an array on a singular device, but an array with a Sharding over (?P<count>\d+) devices",
         "DLPack takes arrays on one device, and this one is on {count}",
         Way("pass a part: `x.addressable_data(0)`", "what one device holds")),
    row("exported", r"Function (?P<name>\S+) was exported for (?P<n>\d+) devices and is called in a context with (?P<n_given>\d+) devices",
         "{name} was exported for {n} devices, and its arguments are on {n_given}",
         Way("place the arguments on {variable}, as in {placed}", "that mesh has {n} devices"), Way("export it again for {n_given} devices", "`jax.sharding.AbstractMesh` is enough to export: no such devices are needed"), facts=_exported),
    row("exported", r"Function '(?P<name>[^'\n]+)' was exported for platforms '(?P<wanted>\([^\n]*?\))' but it is used on '(?P<given>\([^\n]*?\))'",
         "{name} was exported for the platforms {wanted}, and is called on {given}",
         Way("export it with `platforms` that has both", "one file then works on each")),
    row("exported", r"Shape mismatch for (?P<code_where>args\S*)\.shape\[(?P<dimension>\d+)\].*?: expected (?P<code_wanted>\([^()]*\)) and called with (?P<code_given>\([^()]*\))",
         "the exported function takes {code_wanted} as {code_where}, and got {code_given}: dimension {dimension} differs",
         Way("export it with a symbolic length, by `jax.export.symbolic_shape`", "it then takes any")),
)  # fmt: skip
"""Each tried in turn."""
