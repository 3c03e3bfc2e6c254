"""The table's rows of axes: unbound ones, collectives, kernels, `shard_map`, unreduced values.

*Source*: the texts in `jax/_src` of 0.8.1 to 0.12.0: `lax/parallel.py`, `lax/lax.py`, `lax/utils.py`, `shard_map.py`,
`core.py`, `named_sharding.py`, `sharding_impls.py`, `pallas/`, `tpu_custom_call.py`.
"""

# ruff: noqa: E501

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from pjit_inspect.analyze.errors import specs, ways
from pjit_inspect.analyze.errors.printed import TYPE, read_type
from pjit_inspect.analyze.errors.specs import axes_list, spec_words
from pjit_inspect.analyze.errors.table import Facts, Way, quoted, row
from pjit_inspect.analyze.errors.ways import advice, meshes_with, text_of
from pjit_inspect.model.program.mesh import spec_text
from pjit_inspect.model.report.explained_error import ErrorScene, Fit
from pjit_inspect.model.words.sentence import axis, code, name, say, spec

_SUMS = ("psum", "pmean", "pmax", "pmin", "psum_scatter")
_COLLECTIVES = (*_SUMS, "all_gather", "all_to_all", "ppermute", "axis_index", "axis_size", "pshuffle")


def _in_shard_map(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    """The refused collective under `jax.shard_map`, with its operand split over the axis along each dimension."""
    own, meshes = text_of(facts, "axis"), meshes_with(text_of(facts, "axis"), scene)
    operands = {array.name: array for array in scene.operands if array.name.isidentifier() and array.shape is not None}
    if len(operands) != 1 or not meshes or "lambda" in scene.expression:
        return
    (operand, array), (mesh, variable) = *operands.items(), meshes[0]
    size, shape = mesh.sizes[own], list(array.shape or ())
    for dimension in [place for place, length in enumerate(shape) if length % size == 0][:1]:
        split = spec_text((*(None,) * dimension, own))
        specs_ = f"in_specs={split}, out_specs={'P()' if scene.operator in _SUMS else split}"
        call = f"jax.shard_map(lambda {operand}: {scene.expression}, mesh={variable}, {specs_})"
        local = specs.shape_words(
            [length // size if place == dimension else length for place, length in enumerate(shape)]
        )
        effect = say("each of {} devices along {} has a part {} of {}", size, axis(own), local, name(operand))
        yield ways.instead(scene, f"{call}({operand})", effect)


def _unbound(match: re.Match[str], scene: ErrorScene) -> Facts:
    here = [variable for _, variable in meshes_with(match["axis"], scene)]
    operation = match.groupdict().get("code_op") or scene.operator or "a collective"
    return {"code_op": code(operation), **({"variable": code(here[0])} if here else {})}


def _nameless(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """A collective over an axis that is not there, which JAX 0.10 refuses without a word."""
    texts = ways.texts_of(scene)
    named = re.fullmatch(r"(['\"])([^'\"]{1,200})\1", texts.get("axis_name", texts.get("1", "")))
    if scene.operator not in _COLLECTIVES or named is None or meshes_with(named[2], scene):
        return None
    every = dict.fromkeys(own for mesh in scene.meshes for own in mesh.axis_names)
    near = tuple(ways.nearest_name(named[2], tuple(every), scene))
    return {"axis": axis(named[2]), "fits": near, **({"axes": axes_list(every)} if every else {})}


def _pairs(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    pairs = ast.literal_eval(match["pairs"])
    for own, side, verb in ((0, "source", "sends to"), (1, "destination", "receives from")):
        for device in (device for device, n in Counter(pair[own] for pair in pairs).items() if n > 1):
            others = [str(pair[1 - own]) for pair in pairs if pair[own] == device]
            return {"who": f"device {device} {verb} {' and '.join(others)}", "side": side}
    return None


def _varying(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    sets = [set(quoted(one)) for one in re.findall(r"frozenset\(([^()]*)\)", match["sets"])]
    every = sorted(set().union(*sets))
    operands = [array.name for array in scene.operands]
    lacks = [place for place, one in enumerate(sets) if one < set(every)]
    is_known = len(operands) == len(set(operands)) == len(sets) and len(lacks) == 1
    same = {"same": name(operands[lacks[0]])} if is_known else {}
    return {"over": axes_list(every), "axes": repr(tuple(every)), **same} if every else None


def _unreduced(match: re.Match[str], scene: ErrorScene) -> Facts:
    axes = sorted(set(quoted(match["wanted"])))
    written = re.search(r",?\s*(unreduced=(?:\{[^{}]*\}|frozenset\([^()]*\)|[\w.]+))", scene.expression)
    facts = {"whole": code(scene.expression.replace(written[0], "")), "own": code(written[1])} if written else {}
    wanted = axes_list(axes) if axes else "no axis, as nothing that is summed is split"
    return {**facts, "wanted": wanted, **({"set": "{" + ", ".join(map(repr, axes)) + "}"} if axes else {})}


def _partial(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The operand that holds partial sums: the side that the message has, or the only one."""
    groups, own = match.groupdict(), scene.operands
    place, operation = (
        int(groups.get("side") == "rhs"),
        code(groups.get("code_op") or scene.operator or "this operation"),
    )
    if len(own) <= place or (len(own) > 1 and not groups.get("side")):
        return {"code_op": operation}
    whole = spec(spec_text((None,) * len(own[place].shape or ())))
    return {"partial": name(own[place].name), "whole": whole, "code_op": operation}


def _mosaic(match: re.Match[str], scene: ErrorScene) -> Facts:
    arrays = tuple(array for array in scene.operands if array.spec is not None)
    meshes = {ways.mesh_named(array.mesh, scene) for array in arrays if array.mesh is not None}
    given = [spec_text(array.spec or ()) for array in arrays if array.mesh is not None] or ["specs"]
    mesh = (meshes.pop() if len(meshes) == 1 else "") or "mesh"
    in_specs = f"({', '.join(given)})" if len(given) > 1 else given[0]
    call = f"jax.shard_map(kernel, mesh={mesh}, in_specs={in_specs}, out_specs={given[0]}, check_vma=False)"
    operands = say(" ({})", specs.listed_words(arrays[:3])) if arrays else ""
    return {"operands": operands, "arrays": arrays, "call": code(call)}


def _auto(match: re.Match[str], scene: ErrorScene) -> Facts:
    if match["code_type"] != "Auto":
        is_manual = match["code_type"] == "Manual"
        return {"why": "the function already sees one device's part along a Manual axis" if is_manual else ""}
    facts: Facts = {"why": "Auto axes are left to XLA, and only a constraint may name them"}
    texts = [argument.text for argument in scene.arguments]
    written = re.search(r",\s*out_sharding=(.*)\)$", scene.expression)
    if scene.operator == "reshard" and len(texts) == 2 and all(texts):
        return {**facts, "array": code(texts[0]), "asked": code(texts[1])}
    if written is None:
        return facts
    return {**facts, "array": code(f"{scene.expression[: written.start()]})"), "asked": code(written[1].strip())}


def _inner_specs(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The argument that has another split than `in_specs`: the one of its type, or else the one of no known type."""
    own, known = ways.own_of(read_type(match["type"]), scene), [array.name for array in scene.operands]
    given = [one.text for one in scene.arguments]
    texts = [own.name] if own else [text for text in given if not any(held.startswith(text) for held in known)]
    which = {"which": code(texts[0])} if len(texts) == 1 else {}
    # A leaf of a tree is no text of the call.
    written = {"written": code(texts[0])} if len(texts) == 1 and texts[0] in given else {}
    return {"arrays": (own,) if own else (), **which, **written}


def _closed(match: re.Match[str], scene: ErrorScene) -> Facts:
    """An array that a function under `shard_map` takes from outside, which can be an argument."""
    said = read_type(match["type"])
    array, own = ways.own_of(said, scene), said.spec or ()
    what, is_split = name(array.name) if array is not None else specs.type_words(said), any(own)
    words, fits = "pass {} to the function as an argument, with {} in `in_specs`", list[Fit]()
    if is_split and array is not None:
        moved = ways.reshard_fit(array, (None,) * len(own), scene)
        effect = say("the function has all of it, as it is written; {}", moved.effect)
        fits.append(advice(say(words, code(moved.edit), spec_words(moved.spec)), effect))
    sees = "the function sees one device's part, and the result is split, too" if is_split else "a copy on every device"
    fits.append(replace(advice(say(words, what, spec_words(own)), sees), is_same=not is_split))
    return {"which": what, "own": spec_words(own), "fits": tuple(fits)}


_REDUCED = Way("jax.sharding.reshard({partial}, {whole})", "adds the partial sums", replaces="{partial}")
_REDUCE = Way("reduce it first with `jax.sharding.reshard`", "adds the partial sums", is_last=True)
AXIS_ROWS = (
    row("unbound axis", r"$", ("{operator} works along {axis}, which is no axis of this `jax.shard_map`: the meshes here have {axes}", "{operator} works along {axis}, which is no axis of this `jax.shard_map`: no mesh here has it"), facts=_nameless),
    row("unbound axis", r"(?:Found an unbound axis name: |unbound axis name: )(?P<axis>[^\s.]{1,200})" r"(?:\. To fix this, please call (?P<code_op>\w+) under)?",
         ("{code_op} works along {axis}, but this code is not inside `jax.shard_map` or a `vmap` that has this axis: {axis} is an axis of {variable}",
         "{code_op} works along {axis}, but this code is not inside `jax.shard_map` or a `vmap` that has this axis: no mesh of this line has {axis}"),
         _in_shard_map, Way("call the function that uses it under `jax.shard_map` with a mesh that has {axis}", "collectives work there", is_last=True), Way("name it in the `jax.vmap` that maps the function: `axis_name=`", "if the axis is that of a `vmap`", is_last=True), facts=_unbound),
    row("collective", r"ppermute sources and destinations must be unique, got (?P<pairs>\([\d(), ]{1,2000}\))\.",
         "`ppermute` takes each device once as a source and once as a destination, but {who}",
         Way("give every {side} once", "a device with no pair receives zeros"), Way("use `jax.lax.psum` or `jax.lax.all_gather` to combine several devices", "if all of them are needed"), facts=_pairs),
    row("collective", r"`perm` does not represent a permutation: (?P<code_perm>\[[\d, ]{0,400}\])",
         "`pshuffle` needs every device once in `perm`, and got {code_perm}",
         Way("use `jax.lax.ppermute` with pairs of source and destination", "if some devices are to get nothing")),
    row("collective", r"The size of all_to_all split_axis \((?P<n>\d+)\) has to be divisible by the size of the named axis " r"(?P<axis>\S{1,200}) \((?P<n_parts>\d+)\)",
         "`all_to_all` splits a device's part over {axis} ({n_parts} devices), but that part has {n} along the split dimension: {n/n_parts}",
         Way("make a device's part {n^n_parts} long along that dimension", "{n_parts} divides that"), Way("choose another `split_axis`", "one that {n_parts} divides in a device's part")),
    row("collective", r"all_to_all requires the size of the mapped axis axis_name to equal x\.shape\[split_axis\], but they are " r"(?P<n_parts>\d+) and (?P<n>\d+) respectively\.",
         "`all_to_all` without `tiled=True` gives one slice to each of {n_parts} devices, but a device's part has {n} along the split dimension",
         Way("give it `tiled=True`", "if {n_parts} divides that dimension: each device then gets several slices"), Way("make a device's part {n_parts} long along that dimension", "one slice for each device")),
    row("collective", r"tiled (?P<code_op>\w+) operand scatter dimension size (?P<n>\d+) must be divisible by shard_count (?P<n_parts>\d+)",
         "`psum_scatter` splits the sum over {n_parts} devices, but it has {n} along that dimension: {n/n_parts}",
         Way("make a device's part {n^n_parts} long along that dimension", "{n_parts} divides that"), Way("use `jax.lax.psum`", "every device then has the whole sum")),
    row("collective", r"(?P<code_op>\w+) operand scatter dimension size (?P<n>\d+) must match shard count (?P<n_parts>\d+)",
         "`psum_scatter` without `tiled=True` gives one slice to each of {n_parts} devices, but a device's part has {n} along that dimension",
         Way("give it `tiled=True`", "if {n_parts} divides that dimension"), Way("make a device's part {n_parts} long along that dimension", "one slice for each device")),
    row("kernel", r"Mosaic kernels cannot be automatically partitioned\. Please wrap the call in a shard_map",
         "XLA cannot split a Mosaic kernel (`pallas_call`), and an operand is split over devices{operands}",
         Way("wrap the kernel: {call}", "each device then runs it on its own part"), facts=_mosaic),
    row("kernel", r"Only interpret mode is supported on CPU backend",
         "a Pallas kernel is compiled for TPUs and GPUs only; on CPU it must be interpreted",
         Way("give `pl.pallas_call` `interpret=True`", "slow, and the same result")),
    row("kernel", r"When `check_vma=True` on `(?P<code_map>[\w.]+)`, `(?P<field>\w+)` on `jax\.ShapeDtypeStruct` must not be `None`",
         "`jax.shard_map` checks which results are equal on all devices, but `out_shape` of the kernel does not say: it has no `{field}`",
         Way("in `out_shape` write `jax.ShapeDtypeStruct(shape, dtype, {field}=jax.typeof(x).{field})`, with the operand as `x`", "if the result varies as the operand does"), Way("give `jax.shard_map` `check_vma=False`", "nothing is checked then")),
    row("manual axes", r"Primitive (?P<code_op>\w+) requires varying manual axes to match, but got \[(?P<sets>[^\]]{1,2000})\]",
         "{code_op} needs operands that vary over the same axes, but {same|one operand} is the same on all devices along {over}",
         Way("jax.lax.pcast({same}, {axes}, to='varying')", "marks {same} as varying; nothing is sent", replaces="{same}"),
         Way("mark that operand as varying with `jax.lax.pcast`, over {axes}", "nothing is sent", is_last=True), facts=_varying),
    row("manual axes", r"Unsupported pcast from=(?P<code_from>\w+), to='(?P<code_to>\w+)'",
         "the operand of `pcast` is {code_from} already, and cannot be made {code_to}",
         Way("use the operand itself", "if {code_to} is what is needed")),
    row("manual axes", r"Axes mentioned in `?(?:manual_axis_type|vma)`? (?:field )?of ShapedArray should be of type `Manual`\. .*? with axis: (?P<axis>\S+) of type",
         "inside `jax.shard_map`, {expression} uses a sharding of the whole mesh, where {axis} is not manual",
         Way("leave the constraint out", "along {axis} the function already sees one device's part"), Way("give `jax.shard_map` `axis_names` without the axes of the constraint", "those then stay with XLA, and a spec alone may name them")),
    row("manual axes", r"The spec of NamedSharding passed to with_sharding_constraint can only refer to Auto axes of the mesh\. Got " r"spec=(?P<spec>(?:P|PartitionSpec)\([^\n]{0,200}?\)) and mesh=",
         "{spec} names an axis that is not Auto here: a constraint can ask XLA for Auto axes only",
         Way("inside `jax.shard_map`, leave the constraint out", "the function already sees one device's part"), Way("on an Explicit mesh, use `jax.sharding.reshard`", "it moves the array to that split")),
    row("manual axes", r"PartitionSpec passed to (?P<code_op>\w+) cannot contain axis names that are of type Auto or Manual\. Got " r"PartitionSpec: (?P<spec>[^\n]{1,300}?) with axis name: (?P<axis>\S+) of type: (?:AxisType\.)?(?P<code_type>\w+)",
         "{code_op} takes Explicit axes only, and {axis} in {spec} is {code_type}: {why}",
         Way("jax.lax.with_sharding_constraint({array}, {asked})", "asks XLA for this split", replaces="{expression}"),
         Way("make the mesh with Explicit axes, by `axis_types`", "arrays then have their split in their type"), facts=_auto),
    row("unknown axis", r"jax\.shard_map requires axis_names=frozenset\(\{(?P<axes_asked>[^{}]*)\}\) to be a subset of mesh\.axis_names=(?:frozenset\()?[({](?P<axes>[^{}()]*)[)}]",
         "`axis_names` of `jax.shard_map` names {axes_asked}, but the mesh has {axes}",
         Way("name axes of the mesh in `axis_names`", "or leave it out: the function is then manual over all of them")),
    row("prefix", r"shard_map (?P<code_which>\w+) argument must be a pytree of `jax\.sharding\.PartitionSpec` instances, but:?\s+\w+\S* is (?P<code_value>.{1,100}?)(?:\(mesh=.*?)? of type (?P<code_type>\w+)",
         "{code_which} of `jax.shard_map` takes specs such as `P('data')`, and got a {code_type}",
         Way("give the spec alone", "the mesh is an argument of its own")),
    row("prefix", r"shard_map in_specs argument must be a pytree of `jax\.sharding\.PartitionSpec` instances, but it was `?None`?",
         "`jax.shard_map` has no `in_specs`: they can be left out for Explicit axes only",
         Way("give it `in_specs`, one spec for each argument", "`P()` for what every device gets whole")),
    row("other spec", r"in_specs passed to shard_map: (?P<spec>(?:P|PartitionSpec)\([^\n]*?\)) does not match the specs of the input: (?P<spec_own>(?:P|PartitionSpec)\([^\n]*?\)) for arg: " rf"(?P<type>{TYPE})",
         "{which|the argument} is {spec_own}, but `in_specs` asks for {spec}: on an Explicit mesh `jax.shard_map` moves nothing by itself",
         Way("jax.sharding.reshard({written}, {spec})", "moves {written} to this split", replaces="{written}"),
         Way("move that argument by `jax.sharding.reshard` to {spec}", "the function then sees the parts that it is written for", is_last=True), facts=_inner_specs),
    row("manual axes", r"Closing over inputs to shard_map where the input is sharded on `Explicit` axes is not implemented\..*? with shape " rf"(?P<type>{TYPE})",
         "{which}, which is {own}, is from outside of `jax.shard_map`: on an Explicit mesh its function gets arrays as arguments only", facts=_closed),
    row("manual axes", r"device_put with explicit device not allowed within shard_map-decorated functions, but got device (?P<code_device>\S+)",
         "inside `jax.shard_map` the function runs on every device, so {expression} cannot choose {code_device}",
         Way("place the array before the call of `jax.shard_map`", "or choose by `jax.lax.axis_index`")),
    row("unreduced", r"out_sharding's unreduced axes should be equal to the contracting specs\. Got unreduced axes=frozenset\((?P<axes_asked>[^()]*)\) and contracting spec=(?P<wanted>\(.*\))$",
         "a product leaves partial sums over the axes that split what it sums: {wanted}, but `out_sharding` says unreduced over {axes_asked}",
         Way("unreduced={set}", "unreduced over what the sum is split over", replaces="{own}"),
         Way("{whole}", "adds the partial sums", replaces="{expression}"), facts=_unreduced),
    row("unreduced", r"(?P<side>lhs|rhs) is unreduced while (?:lhs|rhs) is not\. `(?P<code_op>\w+)` operation does not",
         "{partial|an operand} holds partial sums (unreduced), and the other operand of {code_op} does not: adding it on every device would count it several times",
         _REDUCED, _REDUCE, facts=_partial),
    row("unreduced", r"lhs (?:and|or) rhs (?:to `(?P<code_op>\w+)`|passed to (?P<code_op2>\w+)) cannot be unreduced",
         "an operand holds partial sums (unreduced), and a product of partial sums is not the product of the sums",
         _REDUCE),
    row("unreduced", r"unreduced(?:/reduced)? rule for (?P<code_op>\w+) is not implemented",
         "{partial|an operand} holds partial sums (unreduced), and {code_op} of parts is not that of their sum",
         _REDUCED, _REDUCE, facts=_partial),
    row("unreduced", r"(?P<code_what>Unreduced|Reduced) axes can only refer to mesh axes that is of type `Explicit`\. Got (?:un)?reduced axes: frozenset\((?P<axes>[^()]*)\)",
         "a spec with unreduced axes needs an Explicit mesh, and {axes} is not Explicit",
         Way("make the mesh with Explicit axes, by `axis_types`", "partial sums are then part of an array's type")),
    row("unknown axis", r"(?:Unreduced|Reduced) axes (?P<axis>\S+) is not found in mesh\.axis_names=\((?P<axes>[^()]*)\)",
         "the spec is unreduced over {axis}, which the mesh does not have: it has {axes}"),
)  # fmt: skip
"""Each tried in turn."""
