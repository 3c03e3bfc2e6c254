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

from pjit_inspect.analyze.errors.printed import TYPE, read_type
from pjit_inspect.analyze.errors.specs import axes_list, next_multiple, spec_words, type_words
from pjit_inspect.analyze.errors.table import Facts, Way, listed_facts
from pjit_inspect.analyze.errors.table import row as _row
from pjit_inspect.analyze.errors.ways import (
    advice,
    mesh_named,
    meshes_with,
    nearest_name,
    own_of,
    reshard_fit,
    text_of,
)
from pjit_inspect.model.program.spec import spec_text
from pjit_inspect.model.report.explained_error import ErrorScene, Fit
from pjit_inspect.model.words.sentence import Phrase, axis, code, joined, name, say, spec

_SUMS = ("psum", "pmean", "pmax", "pmin", "psum_scatter")


def in_shard_map(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    """The refused collective under `jax.shard_map`, with its operand split over the axis along each dimension."""
    own, meshes = text_of(facts, "axis"), meshes_with(text_of(facts, "axis"), scene)
    operands = {array.name: array for array in scene.operands if array.name.isidentifier() and array.shape is not None}
    if len(operands) != 1 or not meshes or "lambda" in scene.expression:
        return
    (operand, array), = operands.items()  # fmt: skip
    mesh, variable = meshes[0]
    for dimension, length in enumerate(array.shape or ()):
        if length % mesh.sizes[own]:
            continue
        split = spec_text((*(None,) * dimension, own))
        out = "P()" if scene.operator in _SUMS else split
        body, specs = f"lambda {operand}: {scene.expression}", f"in_specs={split}, out_specs={out}"
        call = f"jax.shard_map({body}, mesh={variable}, {specs})"
        local = (str(n // mesh.sizes[own] if d == dimension else n) for d, n in enumerate(array.shape or ()))
        words = "each of {} devices along {} has a part [{}] of {}"
        effect = say(words, mesh.sizes[own], axis(own), ",".join(local), name(operand))
        yield Fit(edit=f"{call}({operand})", effect=effect, replaces=scene.expression)
        return


def _unbound(match: re.Match[str], scene: ErrorScene) -> Facts:
    own, here = axis(match["axis"]), [variable for _, variable in meshes_with(match["axis"], scene)]
    where = say("{} is an axis of {}", own, code(here[0])) if here else say("no mesh of this line has {}", own)
    operation = match.groupdict().get("code_op") or scene.operator
    return {"where": where, "code_op": code(operation or "a collective")}


def _pairs(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    pairs = ast.literal_eval(match["pairs"])
    for own, side, verb in ((0, "source", "sends to"), (1, "destination", "receives from")):
        for device in (device for device, n in Counter(pair[own] for pair in pairs).items() if n > 1):
            others = [str(pair[1 - own]) for pair in pairs if pair[own] == device]
            return {"who": f"device {device} {verb} {' and '.join(others)}", "side": side}
    return None


def _divided(match: re.Match[str], scene: ErrorScene) -> Facts:
    length, parts = int(match["length"]), int(match["parts"])
    own = match.groupdict().get("axis")
    over = say("over {} ({} devices)", axis(own), parts) if own else say("over {} devices", parts)
    return {
        "over": over, "local": f"{length:,} / {parts} = {length / parts:g}", "next": f"{next_multiple(length, parts):,}",
        "whole": f"{next_multiple(length, parts) * parts:,}", "code_op": code(match.groupdict().get("code_op") or "all_to_all"),
    }  # fmt: skip


def _varying(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    sets = [set(re.findall(r"'([^'\n]{1,200})'", one)) for one in re.findall(r"frozenset\(([^()]*)\)", match["sets"])]
    every = sorted(set().union(*sets))
    operands = [array.name for array in scene.operands]
    lacks = [place for place, one in enumerate(sets) if one < set(every)]
    is_known = len(operands) == len(set(operands)) == len(sets) and len(lacks) == 1
    known = name(operands[lacks[0]]) if is_known else None
    which = {"which": known, "name_same": known} if known else {"which": "one operand"}
    return {"over": axes_list(every), "axes": repr(tuple(every)), **which} if every else None


def _unreduced(match: re.Match[str], scene: ErrorScene) -> Facts:
    axes = sorted(set(re.findall(r"'([^'\n]{1,200})'", match["wanted"])))
    written = re.search(r",?\s*(unreduced=(?:\{[^{}]*\}|frozenset\([^()]*\)|[\w.]+))", scene.expression)
    summed = {"whole": code(scene.expression.replace(written[0], "")), "own": code(written[1])} if written else {}
    if not axes:
        return {"wanted": "no axis, as nothing that is summed is split", **summed}
    return {"wanted": axes_list(axes), "set": "{" + ", ".join(map(repr, axes)) + "}", **summed}


def _unreduced_operand(match: re.Match[str], scene: ErrorScene) -> Facts:
    groups, own = match.groupdict(), scene.operands
    operation = code(groups.get("code_op") or scene.operator or "this operation")
    place = 1 if groups.get("side") == "rhs" else 0
    if len(own) <= place or (len(own) > 1 and not groups.get("side")):
        return {"which": "an operand", "code_op": operation}
    which, whole = name(own[place].name), spec(spec_text((None,) * len(own[place].shape or ())))
    return {"which": which, "name_unreduced": which, "spec_whole": whole, "code_op": operation}


def _mosaic(match: re.Match[str], scene: ErrorScene) -> Facts:
    arrays = tuple(array for array in scene.operands if array.spec is not None)
    words = [say("{} is {}", name(array.name), Phrase("spec", spec_text(array.spec or ()))) for array in arrays[:3]]
    return {"operands": say(" ({})", joined(words)) if words else "", "arrays": arrays}


def _mapped_kernel(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    arrays = [array for array in scene.operands if array.spec is not None and array.mesh is not None]
    meshes = {mesh_named(array.mesh, scene) for array in arrays}
    mesh = (meshes.pop() if len(meshes) == 1 else "") or "mesh"
    specs = [spec_text(array.spec or ()) for array in arrays] or ["specs"]
    given = f"({', '.join(specs)})" if len(specs) > 1 else specs[0]
    call = f"jax.shard_map(kernel, mesh={mesh}, in_specs={given}, out_specs={specs[0]}, check_vma=False)"
    yield advice(say("wrap the kernel: {}", code(call)), "each device then runs it on its own part")


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
    own, known = own_of(read_type(match["type"]), scene), [array.name for array in scene.operands]
    given = [one.text for one in scene.arguments]
    texts = [own.name] if own else [text for text in given if not any(held.startswith(text) for held in known)]
    which = code(texts[0]) if len(texts) == 1 else "the argument"
    # A leaf of a tree is no text of the call.
    written = {"code_own": which} if len(texts) == 1 and texts[0] in given else {}
    return {"arrays": (own,) if own else (), "which": which, **written}


def _closed(match: re.Match[str], scene: ErrorScene) -> Facts:
    """What a function under `shard_map` takes from outside, whole: as an argument it is what its spec says."""
    quoted = read_type(match["type"])
    array, spec = own_of(quoted, scene), quoted.spec or ()
    what, is_split = name(array.name) if array is not None else type_words(quoted), any(spec)
    words, fits = "pass {} to the function as an argument, with {} in `in_specs`", list[Fit]()
    if is_split and array is not None:
        moved = reshard_fit(array, (None,) * len(spec), scene)
        effect = say("the function has all of it, as it is written; {}", moved.effect)
        fits.append(advice(say(words, code(moved.edit), spec_words(moved.spec)), effect))
    sees = "the function sees one device's part, and the result is split, too" if is_split else "a copy on every device"
    fits.append(replace(advice(say(words, what, spec_words(spec)), sees), is_same=not is_split))
    return {"which": what, "own": spec_words(spec), "fits": tuple(fits)}


_REDUCED = Way(
    "jax.sharding.reshard({name_unreduced}, {spec_whole})", "adds the partial sums", replaces="{name_unreduced}"
)
_SHARD_MAP = Way(
    is_last=True,
    edit="call the function that uses it under `jax.shard_map` with a mesh that has {axis}",
    effect="collectives work there",
)


def _nameless(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """What JAX refuses without a word: a collective over an axis that is not there (0.10)."""
    texts = {argument.key: argument.text for argument in scene.arguments}
    named = re.fullmatch(r"(['\"])([^'\"]{1,200})\1", texts.get("axis_name", texts.get("1", "")))
    if scene.operator not in _COLLECTIVES or named is None or meshes_with(named[2], scene):
        return None
    every = dict.fromkeys(own for mesh in scene.meshes for own in mesh.axis_names)
    has = say("the meshes here have {}", axes_list(every)) if every else "no mesh here has it"
    return {"axis": axis(named[2]), "code_op": code(scene.operator), "has": has, "near": tuple(every)}


def _nearest(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    yield from nearest_name(text_of(facts, "axis"), listed_facts(facts, "near", str), scene)


_COLLECTIVES = (
    "psum", "pmean", "pmax", "pmin", "all_gather", "all_to_all", "ppermute", "psum_scatter", "axis_index", "axis_size", "pshuffle",
)  # fmt: skip

AXIS_ROWS = (
    _row("unbound axis", r"$", "{code_op} works along {axis}, which is no axis of this `jax.shard_map`: {has}", _nearest, facts=_nameless),
    _row("unbound axis", r"(?:Found an unbound axis name: |unbound axis name: )(?P<axis>[^\s.]{1,200})" r"(?:\. To fix this, please call (?P<code_op>\w+) under)?",
         "{code_op} works along {axis}, but this code is not inside `jax.shard_map` or a `vmap` that has this axis: {where}",
         in_shard_map, _SHARD_MAP, Way("name it in the `jax.vmap` that maps the function: `axis_name=`", "if the axis is that of a `vmap`", is_last=True), facts=_unbound),
    _row("collective", r"ppermute sources and destinations must be unique, got (?P<pairs>\([\d(), ]{1,2000}\))\.",
         "`ppermute` takes each device once as a source and once as a destination, but {who}",
         Way("give every {side} once", "a device with no pair receives zeros"), Way("use `jax.lax.psum` or `jax.lax.all_gather` to combine several devices", "if all of them are needed"), facts=_pairs),
    _row("collective", r"`perm` does not represent a permutation: (?P<code_perm>\[[\d, ]{0,400}\])",
         "`pshuffle` needs every device once in `perm`, and got {code_perm}",
         Way("use `jax.lax.ppermute` with pairs of source and destination", "if some devices are to get nothing")),
    _row("collective", r"The size of all_to_all split_axis \((?P<length>\d+)\) has to be divisible by the size of the named axis " r"(?P<axis>\S{1,200}) \((?P<parts>\d+)\)",
         "`all_to_all` splits a device's part {over}, but that part has {length} along the split dimension: {local}",
         Way("make a device's part {next} long along that dimension", "{whole} over all {parts} devices, if it is split over the same axis"), Way("choose another `split_axis`", "one that {parts} divides in a device's part"), facts=_divided),
    _row("collective", r"all_to_all requires the size of the mapped axis axis_name to equal x\.shape\[split_axis\], but they are " r"(?P<parts>\d+) and (?P<length>\d+) respectively\.",
         "`all_to_all` without `tiled=True` gives one slice to each of {parts} devices, but a device's part has {length} along the split dimension",
         Way("give it `tiled=True`", "if {parts} divides that dimension: each device then gets several slices"), Way("make a device's part {parts} long along that dimension", "one slice for each device")),
    _row("collective", r"tiled (?P<code_op>\w+) operand scatter dimension size (?P<length>\d+) must be divisible by shard_count (?P<parts>\d+)",
         "`psum_scatter` splits the sum {over}, but it has {length} along that dimension: {local}",
         Way("make a device's part {next} long along that dimension", "{parts} divides that"), Way("use `jax.lax.psum`", "every device then has the whole sum"), facts=_divided),
    _row("collective", r"(?P<code_op>\w+) operand scatter dimension size (?P<length>\d+) must match shard count (?P<parts>\d+)",
         "`psum_scatter` without `tiled=True` gives one slice to each of {parts} devices, but a device's part has {length} along that dimension",
         Way("give it `tiled=True`", "if {parts} divides that dimension"), Way("make a device's part {parts} long along that dimension", "one slice for each device")),
    _row("kernel", r"Mosaic kernels cannot be automatically partitioned\. Please wrap the call in a shard_map",
         "XLA cannot split a Mosaic kernel (`pallas_call`), and an operand is split over devices{operands}",
         _mapped_kernel, facts=_mosaic),
    _row("kernel", r"Only interpret mode is supported on CPU backend",
         "a Pallas kernel is compiled for TPUs and GPUs only; on CPU it must be interpreted",
         Way("give `pl.pallas_call` `interpret=True`", "slow, and the same result")),
    _row("kernel", r"When `check_vma=True` on `(?P<code_map>[\w.]+)`, `(?P<field>\w+)` on `jax\.ShapeDtypeStruct` must not be `None`",
         "`jax.shard_map` checks which results are equal on all devices, but `out_shape` of the kernel does not say: it has no `{field}`",
         Way("in `out_shape` write `jax.ShapeDtypeStruct(shape, dtype, {field}=jax.typeof(x).{field})`, with the operand as `x`", "if the result varies as the operand does"), Way("give `jax.shard_map` `check_vma=False`", "nothing is checked then")),
    _row("manual axes", r"Primitive (?P<code_op>\w+) requires varying manual axes to match, but got \[(?P<sets>[^\]]{1,2000})\]",
         "{code_op} needs operands that vary over the same axes, but {which} is the same on all devices along {over}",
         Way("jax.lax.pcast({name_same}, {axes}, to='varying')", "marks {name_same} as varying; nothing is sent", replaces="{name_same}"),
         Way("mark that operand as varying with `jax.lax.pcast`, over {axes}", "nothing is sent", is_last=True), facts=_varying),
    _row("manual axes", r"Unsupported pcast from=(?P<code_from>\w+), to='(?P<code_to>\w+)'",
         "the operand of `pcast` is {code_from} already, and cannot be made {code_to}",
         Way("use the operand itself", "if {code_to} is what is needed")),
    _row("manual axes", r"Axes mentioned in `?(?:manual_axis_type|vma)`? (?:field )?of ShapedArray should be of type `Manual`\. .*? with axis: (?P<axis>\S+) of type",
         "inside `jax.shard_map`, {expression} uses a sharding of the whole mesh, where {axis} is not manual",
         Way("leave the constraint out", "along {axis} the function already sees one device's part"), Way("give `jax.shard_map` `axis_names` without the axes of the constraint", "those then stay with XLA, and a spec alone may name them")),
    _row("manual axes", r"The spec of NamedSharding passed to with_sharding_constraint can only refer to Auto axes of the mesh\. Got " r"spec=(?P<spec>(?:P|PartitionSpec)\([^\n]{0,200}?\)) and mesh=",
         "{spec} names an axis that is not Auto here: a constraint can ask XLA for Auto axes only",
         Way("inside `jax.shard_map`, leave the constraint out", "the function already sees one device's part"), Way("on an Explicit mesh, use `jax.sharding.reshard`", "it moves the array to that split")),
    _row("manual axes", r"PartitionSpec passed to (?P<code_op>\w+) cannot contain axis names that are of type Auto or Manual\. Got " r"PartitionSpec: (?P<spec>[^\n]{1,300}?) with axis name: (?P<axis>\S+) of type: (?:AxisType\.)?(?P<code_type>\w+)",
         "{code_op} takes Explicit axes only, and {axis} in {spec} is {code_type}: {why}",
         Way("jax.lax.with_sharding_constraint({array}, {asked})", "asks XLA for this split", replaces="{expression}"),
         Way("make the mesh with Explicit axes, by `axis_types`", "arrays then have their split in their type"), facts=_auto),
    _row("unknown axis", r"jax\.shard_map requires axis_names=frozenset\(\{(?P<axes_asked>[^{}]*)\}\) to be a subset of mesh\.axis_names=(?:frozenset\()?[({](?P<axes>[^{}()]*)[)}]",
         "`axis_names` of `jax.shard_map` names {axes_asked}, but the mesh has {axes}",
         Way("name axes of the mesh in `axis_names`", "or leave it out: the function is then manual over all of them")),
    _row("prefix", r"shard_map (?P<code_which>\w+) argument must be a pytree of `jax\.sharding\.PartitionSpec` instances, but:?\s+\w+\S* is (?P<code_value>.{1,100}?)(?:\(mesh=.*?)? of type (?P<code_type>\w+)",
         "{code_which} of `jax.shard_map` takes specs such as `P('data')`, and got a {code_type}",
         Way("give the spec alone", "the mesh is an argument of its own")),
    _row("prefix", r"shard_map in_specs argument must be a pytree of `jax\.sharding\.PartitionSpec` instances, but it was `?None`?",
         "`jax.shard_map` has no `in_specs`: they can be left out for Explicit axes only",
         Way("give it `in_specs`, one spec for each argument", "`P()` for what every device gets whole")),
    _row("other spec", r"in_specs passed to shard_map: (?P<spec>(?:P|PartitionSpec)\([^\n]*?\)) does not match the specs of the input: (?P<spec_own>(?:P|PartitionSpec)\([^\n]*?\)) for arg: " rf"(?P<type>{TYPE})",
         "{which} is {spec_own}, but `in_specs` asks for {spec}: on an Explicit mesh `jax.shard_map` moves nothing by itself",
         Way("jax.sharding.reshard({code_own}, {spec})", "moves {code_own} to this split", replaces="{code_own}"),
         Way("move that argument by `jax.sharding.reshard` to {spec}", "the function then sees the parts that it is written for", is_last=True), facts=_inner_specs),
    _row("manual axes", r"Closing over inputs to shard_map where the input is sharded on `Explicit` axes is not implemented\..*? with shape " rf"(?P<type>{TYPE})",
         "{which}, which is {own}, is from outside of `jax.shard_map`: on an Explicit mesh its function gets arrays as arguments only", facts=_closed),
    _row("manual axes", r"device_put with explicit device not allowed within shard_map-decorated functions, but got device (?P<code_device>\S+)",
         "inside `jax.shard_map` the function runs on every device, so {expression} cannot choose {code_device}",
         Way("place the array before the call of `jax.shard_map`", "or choose by `jax.lax.axis_index`")),
    _row("unreduced", r"out_sharding's unreduced axes should be equal to the contracting specs\. Got unreduced axes=frozenset\((?P<axes_asked>[^()]*)\) and contracting spec=(?P<wanted>\(.*\))$",
         "a product leaves partial sums over the axes that split what it sums: {wanted}, but `out_sharding` says unreduced over {axes_asked}",
         Way("unreduced={set}", "unreduced over what the sum is split over", replaces="{own}"),
         Way("{whole}", "adds the partial sums", replaces="{expression}"), facts=_unreduced),
    _row("unreduced", r"(?P<side>lhs|rhs) is unreduced while (?:lhs|rhs) is not\. `(?P<code_op>\w+)` operation does not",
         "{which} holds partial sums (unreduced), and the other operand of {code_op} does not: adding it on every device would count it several times",
         _REDUCED, Way("reduce it first with `jax.sharding.reshard`", "adds the partial sums", is_last=True), facts=_unreduced_operand),
    _row("unreduced", r"lhs (?:and|or) rhs (?:to `(?P<code_op>\w+)`|passed to (?P<code_op2>\w+)) cannot be unreduced",
         "an operand holds partial sums (unreduced), and a product of partial sums is not the product of the sums",
         Way("reduce it first with `jax.sharding.reshard`", "adds the partial sums", is_last=True)),
    _row("unreduced", r"unreduced(?:/reduced)? rule for (?P<code_op>\w+) is not implemented",
         "{which} holds partial sums (unreduced), and {code_op} of parts is not that of their sum",
         _REDUCED, Way("reduce it first with `jax.sharding.reshard`", "adds the partial sums", is_last=True), facts=_unreduced_operand),
    _row("unreduced", r"(?P<code_what>Unreduced|Reduced) axes can only refer to mesh axes that is of type `Explicit`\. Got (?:un)?reduced axes: frozenset\((?P<axes>[^()]*)\)",
         "a spec with unreduced axes needs an Explicit mesh, and {axes} is not Explicit",
         Way("make the mesh with Explicit axes, by `axis_types`", "partial sums are then part of an array's type")),
    _row("unknown axis", r"(?:Unreduced|Reduced) axes (?P<axis>\S+) is not found in mesh\.axis_names=\((?P<axes>[^()]*)\)",
         "the spec is unreduced over {axis}, which the mesh does not have: it has {axes}"),
)  # fmt: skip
"""Each tried in turn; of two rows with one pattern the first whose facts are there."""
