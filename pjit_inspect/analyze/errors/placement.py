"""What brings arrays on different devices or meshes together: one `jax.device_put`.

Not its job: how arrays on one mesh are split (`analyze.errors.operations`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from pjit_inspect.analyze.errors.fits import advice, mesh_named, replaced_text
from pjit_inspect.analyze.errors.specs import carried_over
from pjit_inspect.model.program.spec import spec_text
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts, ErrorScene, ExplainedError, Fit
from pjit_inspect.model.sharding.mesh import Mesh
from pjit_inspect.model.words.sentence import Phrase, code, name, say

_MOST_DEVICES = 4


def explain_devices(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """Arguments, or an argument and a sharding in the program, on different devices."""
    function = facts.operation.rpartition(">.")[2]
    sides = [_known(_renamed(side, scene), scene, function) for side in facts.arrays]
    first, second = sides
    if first.device_ids == second.device_ids:
        sentence = say("JAX found two sets of devices in one program")
        note = say("its message quotes the same devices for both sides, so which one is odd cannot be told")
        return ExplainedError(kind="devices", sentence=sentence, arrays=tuple(sides), notes=(note,))
    ids = _ids(first.device_ids), _ids(second.device_ids)
    if not first.is_named and first.name == second.name:
        sentence = say("{} names devices that differ: {} and {}", code(first.name), *ids)
        return ExplainedError(kind="devices", sentence=sentence, arrays=tuple(sides))
    sentence = say("{} is on {}, {} on {}", _side_words(first), ids[0], _side_words(second), ids[1])
    if sorted(first.device_ids) == sorted(second.device_ids):
        sentence += ": the same devices in another order"
    fits = _placing(first, second, scene)
    return ExplainedError(kind="devices", sentence=sentence, arrays=tuple(sides), fits=tuple(fits))


def _renamed(side: ErrorArray, scene: ErrorScene) -> ErrorArray:
    # Outside of jit a constraint is a program of its own, whose result JAX speaks of.
    is_constraint = side.name == "out_shardings" and scene.operator == "with_sharding_constraint"
    return replace(side, name=scene.operator) if is_constraint else side


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


def _known(side: ErrorArray, scene: ErrorScene, function: str) -> ErrorArray:
    """The side as the user's variable, the operand of its shape on its devices; else as JAX calls it."""
    if not side.is_named:
        return side
    same = [
        other
        for other in scene.operands
        if other.shape == side.shape and sorted(other.device_ids) == sorted(side.device_ids)
    ]
    # Each rule decides only where those before it leave several.
    same = [other for other in same if other.device_ids == side.device_ids] or same
    same = [other for other in same if _path(other.name) == _path(side.name)] or same
    if len(same) != 1:
        return replace(side, name=f"{side.name} of {function}") if function else side
    return replace(same[0], device_ids=side.device_ids, is_named=True)


def _path(name: str) -> str:
    """What follows the variable: `['w']` of `params['w']`, whatever the caller and the function call it."""
    return name[len(name) - len(name.lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")) :]


def _is_variable(side: ErrorArray) -> bool:
    """Whether its name is the user's text, not that of the function's parameter."""
    return side.is_named and " of " not in side.name


def _placing(first: ErrorArray, second: ErrorArray, scene: ErrorScene) -> list[Fit]:
    odd, other = _odd_one_last(first, second, scene)[::-1]
    if not odd.is_named:
        odd, other = other, odd
    if not odd.is_named:
        return []
    mesh, variable = _mesh_of(other, scene)
    own = _mesh_of(odd, scene)[1]
    if mesh is None and (other.is_named or not own):
        return _beside(odd, other, scene)
    fits = [_moved(odd, mesh, variable, other, scene)] if mesh is not None else []
    if not other.is_named and own and other.name != "set_mesh":
        words = say("make the sharding in {} one of {}", code(other.name), name(own))
        fits.insert(0, advice(words, say("the devices that {} is on", name(odd.name))))
    return fits


def _odd_one_last(first: ErrorArray, second: ErrorArray, scene: ErrorScene) -> tuple[ErrorArray, ErrorArray]:
    """Both sides, first the one whose devices more operands are on.

    Of equally many: the one on more devices, then the one that has them in order.
    """
    counts = Counter(other.device_ids for other in scene.operands)

    def weight(side: ErrorArray) -> tuple[int, int, bool]:
        return counts[side.device_ids], len(side.device_ids), sorted(side.device_ids) == list(side.device_ids)

    return (second, first) if weight(second) > weight(first) else (first, second)


def _mesh_of(side: ErrorArray, scene: ErrorScene) -> tuple[Mesh | None, str]:
    """The mesh a side is on, and the user's variable that holds it, or ""; None for a single device."""
    held = [mesh for mesh in scene.meshes if mesh.device_ids == side.device_ids]
    if isinstance(side.mesh, Mesh):
        return side.mesh, scene.meshes[side.mesh] if side.mesh in held else ""
    if len(held) > 1:
        # Several meshes of these devices: the one that other operands are on.
        held = [mesh for mesh in held if any(mesh == other.mesh for other in scene.operands)]
    return (held[0], scene.meshes[held[0]]) if len(held) == 1 and len(side.device_ids) > 1 else (None, "")


def _moved(odd: ErrorArray, mesh: Mesh, variable: str, other: ErrorArray, scene: ErrorScene) -> Fit:
    spec = carried_over(odd, mesh) if odd.shape is not None and odd.spec is not None else ()
    effect = say("copies {} to {} once, on {}", name(odd.name), _ids(mesh.device_ids), str(mesh))
    # An array knows its mesh where no variable of the line does.
    variable = variable or (f"{other.name}.sharding.mesh" if _is_variable(other) and other.mesh is not None else "")
    if not variable or not _is_variable(odd):
        return advice(say("place {} on that mesh with `jax.device_put`", name(odd.name)), effect)
    edit = f"jax.device_put({odd.name}, NamedSharding({variable}, {spec_text(spec)}))"
    return Fit(edit=edit, effect=effect, spec=spec, target=odd.name, replaces=replaced_text(odd.name, scene))


def _beside(odd: ErrorArray, other: ErrorArray, scene: ErrorScene) -> list[Fit]:
    if not other.is_named or len(other.device_ids) != 1:
        return []
    effect = say("copies {} to device {} once", name(odd.name), other.device_ids[0])
    if not _is_variable(odd) or not _is_variable(other):
        return [advice(say("place {} on that device with `jax.device_put`", name(odd.name)), effect)]
    edit, replaces = f"jax.device_put({odd.name}, {other.name}.sharding)", replaced_text(odd.name, scene)
    return [Fit(edit=edit, effect=effect, target=odd.name, replaces=replaces)]


# ---------------------------------------------------------------- meshes of types


def explain_mesh(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """An operand whose type is on another mesh than the context's or the other operand's."""
    wanted, other = facts.meshes
    odd = [array for array in scene.operands if array.mesh is not None and array.mesh.axes == other.axes]
    what = name(odd[0].name) if len(odd) == 1 else "an operand"
    rest = "but the mesh that is set is" if facts.operation else "everything else on"
    sentence = say("{} is on the mesh {}, {} {}", what, str(other), rest, str(wanted))
    arrays = tuple(array for array in scene.operands if array.mesh is not None) or facts.arrays
    fits = []
    if len(odd) == 1:
        spec = carried_over(odd[0], wanted)
        variable = mesh_named(wanted, scene)
        edit = f"jax.device_put({odd[0].name}, NamedSharding({variable}, {spec_text(spec)}))"
        effect, replaces = say("moves {} to {}", name(odd[0].name), str(wanted)), replaced_text(odd[0].name, scene)
        if variable:
            fits.append(Fit(edit=edit, effect=effect, spec=spec, target=odd[0].name, replaces=replaces))
        else:
            fits.append(advice(say("place {} on that mesh with `jax.device_put`", name(odd[0].name)), effect))
    return ExplainedError(kind="mesh", sentence=sentence, arrays=arrays, fits=tuple(fits))
