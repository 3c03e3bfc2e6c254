"""The table's rows of places: meshes that differ, memories, shards of arrays put together by hand.

*Source*: the texts in `jax/_src` of 0.8.1 to 0.12.0: `shard_map.py`, `sharding_impls.py`, `mesh.py`, `array.py`,
`lax/lax.py`.
"""

# ruff: noqa: E501

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pjit_inspect.analyze.errors.fits import advice, mesh_named
from pjit_inspect.analyze.errors.printed import MESH, mesh_words, read_mesh
from pjit_inspect.analyze.errors.specs import axes_list
from pjit_inspect.analyze.errors.table import Facts, Way, read_code
from pjit_inspect.analyze.errors.table import row as _row
from pjit_inspect.model.report.explained_error import ErrorScene, Fit
from pjit_inspect.model.sharding.mesh import MeshAxes
from pjit_inspect.model.words.sentence import code, name, say

_MESHES = (rf"(?P<set>{MESH})", rf"(?P<given>{MESH})")


def _sides(match: re.Match[str]) -> tuple[MeshAxes, MeshAxes]:
    """The mesh that is set, and the one that is given."""
    one, other = (read_mesh(match[side]) for side in ("set", "given"))
    return one, other


def _meshes(match: re.Match[str], scene: ErrorScene) -> Facts:
    one, other = _sides(match)
    facts: dict[str, object] = {"set_words": code(mesh_words(one, other)), "given_words": code(mesh_words(other, one))}
    variable = mesh_named(other, scene)
    return facts | ({"given_mesh": code(variable)} if variable else {})


def _nested(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    one, other = _sides(match)
    if "manual" not in one.axis_types or one.axes != other.axes:
        return None
    free = [own for own, kind in zip(one.axis_names, one.axis_types, strict=True) if kind != "manual"]
    return {"given_words": code(str(other)), **({"free": axes_list(free)} if free else {})}


def _called_itself(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    """The function of the inner `shard_map` itself, which the outer one gives one device's part already."""
    effect = say("it sees one device's part already, and its collectives work there")
    if "free" in facts:
        # It may be about the axes that are not manual yet.
        return
    match read_code(scene.expression):
        case ast.Call(func=ast.Call(args=[(ast.Name() | ast.Attribute()) as inner, *_])) if scene.arguments:
            edit = f"{ast.unparse(inner)}({', '.join(argument.text for argument in scene.arguments)})"
            yield Fit(edit=edit, effect=effect, replaces=scene.expression)
        case _:
            yield advice("call the function itself, without the inner `jax.shard_map`", effect)


def _without_mesh(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    given = [argument.text for argument in scene.arguments if argument.key == "mesh" and argument.text]
    if scene.operator == "shard_map" and given:
        edit = re.sub(rf",\s*mesh\s*=\s*{re.escape(given[0])}", "", scene.expression)
        if edit != scene.expression:
            yield Fit(edit=edit, effect=say("it then uses the mesh that is set"), replaces=scene.expression)


def _memories(match: re.Match[str], scene: ErrorScene) -> Facts:
    sides = [match["one"], match["other"]]
    kinds = ["host" if "<host>" in side else "device" for side in sides]
    shapes = [re.sub(r"<\w+>", "", side) for side in sides]
    operands = list(scene.operands)
    facts: dict[str, object] = {"one": f"one operand is in {kinds[0]} memory", "two": f"another in {kinds[1]} memory"}
    if len(operands) == 2 and [f"{a.dtype}[{','.join(map(str, a.shape or ()))}]" for a in operands] == shapes:
        names = [name(array.name) for array in operands]
        facts |= {
            "one": say("{} is in {} memory", names[0], kinds[0]),
            "two": say("{} in {} memory", names[1], kinds[1]),
        }
        facts |= {f"name_{kind}": name(array.name) for kind, array in zip(kinds, operands, strict=True)}
    return facts


def _shards(match: re.Match[str], scene: ErrorScene) -> Facts:
    wanted, given = int(match["wanted"]), int(match["given"])
    lack = f"{wanted - given} are missing" if given < wanted else f"{given - wanted} are too many"
    ids = sorted({number for array in scene.operands for number in array.device_ids})
    meshes = [mesh for mesh in scene.meshes if len(mesh.device_ids) == wanted]
    if len(scene.operands) == given and len(ids) == given and len({mesh.device_ids for mesh in meshes}) == 1:
        missing = [number for number in meshes[0].device_ids if number not in ids]
        lack = f"those of devices {', '.join(map(str, missing))} are missing" if missing else lack
    return {"lack": lack}


PLACE_ROWS = (
    _row("mesh", r"The context mesh " + _MESHES[0] + r" should match the mesh passed to shard_map " + _MESHES[1],
         "one `jax.shard_map` is inside another and is given the whole mesh, {given_words}, whose axes are manual there",
         _called_itself, Way("leave `mesh` out of the inner `jax.shard_map`, and let its specs and `axis_names` name {free} only", "the other axes are manual already"), facts=_nested),
    _row("mesh", r"The context mesh " + _MESHES[0] + r" should match the mesh passed to shard_map " + _MESHES[1],
         "`jax.shard_map` is given the mesh {given_words}, but the mesh that is set is {set_words}",
         Way("set {given_mesh} with `jax.set_mesh`", "before the call"), _without_mesh, Way("leave `mesh` out, with specs for the mesh that is set", "it then uses that one", is_last=True), facts=_meshes),
    _row("mesh", r"Context mesh " + _MESHES[0] + r" should match the mesh of sharding " + _MESHES[1] + r" passed to (?P<code_op>\w+)",
         "{code_op} is given a sharding of the mesh {given_words}, but the mesh that is set is {set_words}",
         Way("give it a spec of the mesh that is set", "a spec alone is enough there"), Way("set {given_mesh} with `jax.set_mesh`", "before the call"), facts=_meshes),
    _row("mesh", r"Please pass `jax\.Array`s with a `NamedSharding` as input to `shard_map` when passing `AbstractMesh`",
         "`jax.shard_map` has an `AbstractMesh`, which has no devices, and its arguments are on no mesh",
         Way("place the arguments with `jax.device_put` and a `NamedSharding`", "their mesh has the devices"), Way("give it a `Mesh` of devices", "as `jax.make_mesh` makes it")),
    _row("mesh", r"`(?P<code_op>set_mesh|get_mesh)` can only be used outside of `jax\.jit`",
         "{code_op} is called while a function is traced; the mesh is fixed before that",
         Way("call `jax.set_mesh` before the jitted function", "what is traced then sees that mesh"), Way("inside, use `jax.sharding.get_abstract_mesh()`", "to see its axes")),
    _row("mesh", r"Mesh requires the ndim of its first argument \(`devices`\) to equal the length of its second argument " r"\(`axis_names`\), but got devices\.ndim == (?P<rank>\d+) and len\(axis_names\) == (?P<count>\d+)",
         "a mesh has one name for each dimension of its devices: they have {rank}, and the names are {count}",
         Way("reshape the devices to {count} dimensions, as in `np.array(jax.devices()).reshape(2, 4)`", "if the names are right"), Way("use `jax.make_mesh(shape, names)`", "it orders the devices, too")),
    _row("mesh", r"Number of axis names should match the number of axis_types\. Got axis_names=(?P<code_names>\([^()]*\)) and axis_types=(?P<code_types>\([^\n]*\))",
         "the axes {code_names} need one type each, and `axis_types` is {code_types}",
         Way("give `axis_types` one entry for each axis", "as in `(jax.sharding.AxisType.Auto,) * 2`")),
    _row("mesh", r"use_abstract_mesh cannot change the size of the mesh\. .*? with size=(?P<new>\d+) and prev mesh: .*? with size=(?P<old>\d+)",
         "the mesh that is set has {old} devices, and inside it a mesh of {new} was to be used: only another shape of as many devices can be",
         Way("use an `AbstractMesh` of {old} devices", "as many as the mesh that is set")),
    _row("memory space", r"memory_space of all inputs passed to `(?P<code_op>\w+)` must be the same\. Got one operand with type: (?P<one>\S+) " r"and another operand with type: (?P<other>\S+)",
         "{code_op} needs its operands in one memory: {one}, {two}",
         Way("jax.device_put({name_host}, jax.memory.Space.Device)", "copies {name_host} to the devices", replaces="{name_host}"),
         Way("move one of them with `jax.device_put` to `jax.memory.Space.Device`", "a copy in device memory", is_last=True), facts=_memories),
    _row("memory space", r"Could not find memory addressable by device (?P<device>\S+)\. Device \S+ can address the following memory kinds: (?P<kinds>[\w, ]+)\. Got memory kind: (?P<code_kind>\w+)",
         "a {device} device has no memory called {code_kind}: it has {kinds}",
         Way("choose one of {kinds}", "as `memory_kind`")),
    _row("shards", r"Expected (?P<wanted>\d+) per-device arrays \(this is how many devices are addressable by the sharding\), but got (?P<given>\d+)",
         "the sharding needs {wanted} shards, one for each device, and got {given}: {lack}",
         Way("give one array for each of the {wanted} devices, copies too", "in the order of `sharding.addressable_devices`"), Way("use `jax.make_array_from_callback`", "JAX then asks for each shard"), facts=_shards),
    _row("shards", r"Expected shard shape (?P<code_wanted>\([\d, ]*\)) doesn't match the single device array shape (?P<code_given>\([\d, ]*\))\. Shape of Array is (?P<code_type>\S+)",
         "a shard of {code_type} has the shape {code_wanted} here, and one of the arrays has {code_given}",
         Way("give arrays of shape {code_wanted}", "as `sharding.shard_shape` says")),
    _row("shards", r"When making an array from single-device arrays, the input arrays must be from distinct devices, but got device IDs (?P<ids>\[[\d, ]*\])",
         "each shard must be on a device of its own, and they are on the devices {ids}",
         Way("place each with `jax.device_put(shard, device)`", "before they are put together")),
    _row("shards", r"Addressable devices and per-device arrays devices do not match\. (?:Sharding contains devices \{(?P<lack>[\d, ]*)\} that are not present in per-device arrays\. ?)?(?:Per-device arrays contain devices \{(?P<more>[\d, ]*)\})?",
         "the shards are not on the sharding's devices: it needs one on each of {lack}",
         Way("place each shard with `jax.device_put(shard, device)`", "for the devices of the sharding")),
    _row("shards", r"When making an array from single-device arrays the input arrays must have one shard each\. An argument array had (?P<count>\d+) shard",
         "each shard must be an array on one device, and one of them is on {count}",
         Way("use its `addressable_shards`", "each has an array on one device in `data`")),
    _row("shards", r"When calling `make_array_from_process_local_data` on a single process, global_shape should be None or equal to local_data\.shape\.\s*Got global_shape=(?P<code_all>\([\d, ]*\)) and local_data\.shape=(?P<code_own>\([\d, ]*\))",
         "one process has all the data, so the global shape is that of the data: {code_own}, not {code_all}",
         Way("leave `global_shape` out", "it is then {code_own}")),
    _row("shards", r"Fetching value for `jax\.Array` that spans non-addressable",
         "part of the array is on devices of other processes, and cannot be read here",
         Way("use `jax.experimental.multihost_utils.process_allgather`", "gathers all of it on every process"), Way("read its `addressable_shards`", "what is on this process's devices")),
    _row("shards", r"Closing over jax\.Array that spans non-addressable",
         "the function uses an array from outside that is partly on devices of other processes",
         Way("pass the array as an argument", "it is then traced")),
    _row("shards", r"to_dlpack can only pack a dlpack tensor from an array on a singular device, but an array with a Sharding over (?P<count>\d+) devices",
         "DLPack takes arrays on one device, and this one is on {count}",
         Way("pass a part: `x.addressable_data(0)`", "what one device holds")),
)  # fmt: skip
"""Each tried in turn; of two rows with one pattern the first whose facts are there."""
