"""Facts of errors of axes: unbound ones, collectives, kernels, `shard_map`, unreduced values."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from pjit_inspect.analyze.errors import specs, ways
from pjit_inspect.analyze.errors.printed import read_type
from pjit_inspect.analyze.errors.specs import axes_list, spec_words
from pjit_inspect.analyze.errors.table import Facts, quoted
from pjit_inspect.analyze.errors.ways import advice, meshes_with, text_of
from pjit_inspect.model.program.mesh import spec_text
from pjit_inspect.model.report.explained_error import ErrorScene, Fit
from pjit_inspect.model.words.sentence import axis, code, name, say, spec

_SUMS = ("psum", "pmean", "pmax", "pmin", "psum_scatter")
_COLLECTIVES = (*_SUMS, "all_gather", "all_to_all", "ppermute", "axis_index", "axis_size", "pshuffle")


def in_shard_map(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    """The refused collective under `jax.shard_map`, its operand split along the first dimension it can be."""
    own, meshes = text_of(facts, "axis"), meshes_with(text_of(facts, "axis"), scene)
    operands = {array.name: array for array in scene.operands if array.name.isidentifier() and array.shape is not None}
    if len(operands) != 1 or not meshes or "lambda" in scene.expression:
        return
    (operand, array), (mesh, variable) = *operands.items(), meshes[0]
    for place, length in enumerate(array.shape or ()):
        if length % mesh.sizes[own] == 0:
            entries = (*(None,) * place, own)
            split, held = spec_text(entries), replace(array, spec=entries, mesh=mesh).local_shape
            in_out = f"in_specs={split}, out_specs={'P()' if scene.operator in _SUMS else split}"
            call = f"jax.shard_map(lambda {operand}: {scene.expression}, mesh={variable}, {in_out})({operand})"
            words = "each of {} devices along {} has a part {} of {}"
            effect = say(words, mesh.sizes[own], axis(own), specs.shape_words(held), name(operand))
            yield ways.instead(scene, call, effect)
            return


def unbound(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The collective, and a mesh that has the axis."""
    here = meshes_with(match["axis"], scene)
    operation = match.groupdict().get("code_op") or scene.operator or "a collective"
    return {"code_op": code(operation), "variable": code(here[0][1]) if here else None}


def nameless(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """A collective over an axis that is not there, which JAX 0.10 refuses without a word."""
    texts = ways.texts_of(scene)
    named = re.fullmatch(r"(['\"])([^'\"]{1,200})\1", texts.get("axis_name", texts.get("1", "")))
    if scene.operator not in _COLLECTIVES or named is None or meshes_with(named[2], scene):
        return None
    every = tuple(dict.fromkeys(own for mesh in scene.meshes for own in mesh.axis_names))
    fits = tuple(ways.nearest_name(named[2], every, scene))
    return {"axis": axis(named[2]), "fits": fits, "axes": axes_list(every) or None}


def pairs(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """The first device that is twice a source, or twice a destination."""
    given = ast.literal_eval(match["pairs"])
    for own, side, verb in ((0, "source", "sends to"), (1, "destination", "receives from")):
        for device in (device for device, n in Counter(pair[own] for pair in given).items() if n > 1):
            others = [str(pair[1 - own]) for pair in given if pair[own] == device]
            return {"who": f"device {device} {verb} {' and '.join(others)}", "side": side}
    return None


def varying(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """The axes that operands vary over, and the one operand that does not."""
    sets = [set(quoted(one)) for one in re.findall(r"frozenset\(([^()]*)\)", match["sets"])]
    every = sorted(set().union(*sets))
    operands = [array.name for array in scene.operands]
    lacks = [place for place, one in enumerate(sets) if one < set(every)]
    is_known = len(operands) == len(set(operands)) == len(sets) and len(lacks) == 1
    same = name(operands[lacks[0]]) if is_known else None
    return {"over": axes_list(every), "axes": repr(tuple(every)), "same": same} if every else None


def unreduced(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The axes that a product leaves partial sums over, and the argument that has others."""
    axes = sorted(set(quoted(match["wanted"])))
    written = re.search(r",?\s*(unreduced=(?:\{[^{}]*\}|frozenset\([^()]*\)|[\w.]+))", scene.expression)
    return {
        "whole": code(scene.expression.replace(written[0], "")) if written else None,
        "own": code(written[1]) if written else None,
        "wanted": axes_list(axes) if axes else "no axis, as nothing that is summed is split",
        "set": "{" + ", ".join(map(repr, axes)) + "}" if axes else None,
    }


def partial(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The operand that holds partial sums: the side that the message has, or the only one."""
    groups, own = match.groupdict(), scene.operands
    place, operation = int(groups.get("side") == "rhs"), groups.get("code_op") or scene.operator or "this operation"
    if len(own) <= place or (len(own) > 1 and not groups.get("side")):
        return {"code_op": code(operation)}
    whole = spec(spec_text((None,) * len(own[place].shape or ())))
    return {"partial": name(own[place].name), "whole": whole, "code_op": code(operation)}


def mosaic(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The kernel under `jax.shard_map`, its operands split as they are."""
    arrays = tuple(array for array in scene.operands if array.spec is not None)
    meshes = {ways.mesh_named(array.mesh, scene) for array in arrays if array.mesh is not None}
    given = [spec_text(array.spec or ()) for array in arrays if array.mesh is not None] or ["specs"]
    mesh = (meshes.pop() if len(meshes) == 1 else "") or "mesh"
    in_specs = f"({', '.join(given)})" if len(given) > 1 else given[0]
    call = f"jax.shard_map(kernel, mesh={mesh}, in_specs={in_specs}, out_specs={given[0]}, check_vma=False)"
    return {"operands": specs.listed_words(arrays[:3]) if arrays else None, "arrays": arrays, "call": code(call)}


def auto(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The array and the split that is asked for, of what takes Explicit axes only."""
    if match["code_type"] != "Auto":
        is_manual = match["code_type"] == "Manual"
        return {"why": "the function already sees one device's part along a Manual axis" if is_manual else ""}
    texts = [argument.text for argument in scene.arguments]
    if scene.operator != "reshard" or len(texts) != 2 or not all(texts):
        written = re.search(r",\s*out_sharding=(.*)\)$", scene.expression)
        texts = [f"{scene.expression[: written.start()]})", written[1].strip()] if written else []
    array, asked = map(code, texts) if texts else (None, None)
    return {"why": "Auto axes are left to XLA, and only a constraint may name them", "array": array, "asked": asked}


def inner_specs(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The argument that has another split than `in_specs`: the one of its type, or else the one of no known type."""
    own, known = ways.own_of(read_type(match["type"]), scene), [array.name for array in scene.operands]
    given = [one.text for one in scene.arguments]
    texts = [own.name] if own else [text for text in given if not any(held.startswith(text) for held in known)]
    which = code(texts[0]) if len(texts) == 1 else None
    # A leaf of a tree is no text of the call.
    written = which if which is not None and texts[0] in given else None
    return {"arrays": (own,) if own else (), "which": which, "written": written}


def closed(match: re.Match[str], scene: ErrorScene) -> Facts:
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
