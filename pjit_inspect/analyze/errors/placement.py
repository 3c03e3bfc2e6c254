"""What brings arrays on different devices or meshes together: one `jax.device_put`.

Not its job: how arrays on one mesh are split (`analyze.errors.operations`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from pjit_inspect.analyze.errors.fits import advice, replaced_text
from pjit_inspect.analyze.errors.specs import carried_over
from pjit_inspect.model.program.spec import spec_text
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts, ErrorScene, ExplainedError, Fit, MeshAxes

__all__ = ["explain_devices", "explain_mesh"]

_MOST_DEVICES = 4


def explain_devices(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """Arguments, or an argument and a sharding in the program, on different devices."""
    function = facts.operation.rpartition(">.")[2]
    sides = [_known(_renamed(side, scene), scene, function) for side in facts.arrays]
    first, second = sides
    if first.device_ids == second.device_ids:
        return ExplainedError(
            kind="devices", sentence="JAX found two sets of devices in one program", arrays=tuple(sides),
            notes=("its message quotes the same devices for both sides, so which one is odd cannot be told",),
        )  # fmt: skip
    if not first.is_named and first.name == second.name:
        places = f"devices that differ: {_ids(first.device_ids)} and {_ids(second.device_ids)}"
        sentence = f"`{first.name}` names {places}"
        return ExplainedError(kind="devices", sentence=sentence, arrays=tuple(sides))
    sentence = (
        f"{_side_words(first)} is on {_ids(first.device_ids)}, {_side_words(second)} on {_ids(second.device_ids)}"
    )
    if sorted(first.device_ids) == sorted(second.device_ids):
        sentence += ": the same devices in another order"
    fits = _placing(first, second, scene)
    return ExplainedError(kind="devices", sentence=sentence, arrays=tuple(sides), fits=tuple(fits))


def _renamed(side: ErrorArray, scene: ErrorScene) -> ErrorArray:
    # Outside of jit a constraint is a program of its own, whose result JAX speaks of.
    is_constraint = side.name == "out_shardings" and scene.operator == "with_sharding_constraint"
    return replace(side, name=scene.operator) if is_constraint else side


def _side_words(side: ErrorArray) -> str:
    if side.is_named:
        return f"`{side.name}`"
    return "the mesh that is set" if side.name == "set_mesh" else f"the sharding in `{side.name}`"


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
    mesh = _mesh_of(other, scene)
    if mesh is None:
        return _beside(odd, other, scene)
    if not other.is_named:
        fits = [_moved(odd, mesh, other, scene)]
        own = _mesh_of(odd, scene)
        if own is not None and own.name and other.name != "set_mesh":
            words = f"make the sharding in `{other.name}` one of `{own.name}`"
            fits.insert(0, advice(words, f"the devices that `{odd.name}` is on"))
        return fits
    return [_moved(odd, mesh, other, scene)]


def _odd_one_last(first: ErrorArray, second: ErrorArray, scene: ErrorScene) -> tuple[ErrorArray, ErrorArray]:
    """Both sides, first the one whose devices more operands are on.

    Of equally many: the one on more devices, then the one that has them in order.
    """
    counts = Counter(other.device_ids for other in scene.operands)

    def weight(side: ErrorArray) -> tuple[int, int, bool]:
        return counts[side.device_ids], len(side.device_ids), sorted(side.device_ids) == list(side.device_ids)

    return (second, first) if weight(second) > weight(first) else (first, second)


def _mesh_of(side: ErrorArray, scene: ErrorScene) -> MeshAxes | None:
    """The mesh a side is on, under the user's name of it where a variable holds it; None for a single device."""
    held = [mesh for mesh in scene.meshes if mesh.device_ids == side.device_ids]
    if side.mesh is None:
        if len(held) > 1:
            # Several meshes of these devices: the one that other operands are on.
            held = [mesh for mesh in held if any(mesh == other.mesh for other in scene.operands)]
        return held[0] if len(held) == 1 and len(side.device_ids) > 1 else None
    # Equality leaves the name out.
    return next((mesh for mesh in held if mesh == side.mesh), side.mesh)


def _moved(odd: ErrorArray, mesh: MeshAxes, other: ErrorArray, scene: ErrorScene) -> Fit:
    spec = carried_over(odd, mesh) if odd.shape is not None and odd.spec is not None else ()
    effect = f"copies `{odd.name}` to {_ids(mesh.device_ids)} once, on {mesh}"
    # An array knows its mesh where no variable of the line does.
    name = mesh.name or (f"{other.name}.sharding.mesh" if _is_variable(other) and other.mesh is not None else "")
    if not name or not _is_variable(odd):
        return advice(f"place `{odd.name}` on that mesh with `jax.device_put`", effect)
    edit = f"jax.device_put({odd.name}, NamedSharding({name}, {spec_text(spec)}))"
    return Fit(edit=edit, effect=effect, spec=spec, target=odd.name, replaces=replaced_text(odd.name, scene))


def _beside(odd: ErrorArray, other: ErrorArray, scene: ErrorScene) -> list[Fit]:
    if not other.is_named or len(other.device_ids) != 1:
        return []
    effect = f"copies `{odd.name}` to device {other.device_ids[0]} once"
    if not _is_variable(odd) or not _is_variable(other):
        return [advice(f"place `{odd.name}` on that device with `jax.device_put`", effect)]
    edit, replaces = f"jax.device_put({odd.name}, {other.name}.sharding)", replaced_text(odd.name, scene)
    return [Fit(edit=edit, effect=effect, target=odd.name, replaces=replaces)]


# ---------------------------------------------------------------- meshes of types


def explain_mesh(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """An operand whose type is on another mesh than the context's or the other operand's."""
    wanted, other = (_with_name(mesh, scene) for mesh in facts.meshes)
    odd = [array for array in scene.operands if array.mesh is not None and array.mesh.axes == other.axes]
    name = f"`{odd[0].name}`" if len(odd) == 1 else "an operand"
    sentence = f"{name} is on the mesh {other}, everything else on {wanted}"
    if facts.operation:
        sentence = f"{name} is on the mesh {other}, but the mesh that is set is {wanted}"
    arrays = tuple(array for array in scene.operands if array.mesh is not None) or facts.arrays
    fits = []
    if len(odd) == 1:
        spec = carried_over(odd[0], wanted)
        edit = f"jax.device_put({odd[0].name}, NamedSharding({wanted.name}, {spec_text(spec)}))"
        effect, replaces = f"moves `{odd[0].name}` to {wanted}", replaced_text(odd[0].name, scene)
        if wanted.name:
            fits.append(Fit(edit=edit, effect=effect, spec=spec, target=odd[0].name, replaces=replaces))
        else:
            fits.append(advice(f"place `{odd[0].name}` on that mesh with `jax.device_put`", effect))
    return ExplainedError(kind="mesh", sentence=sentence, arrays=arrays, fits=tuple(fits))


def _with_name(mesh: MeshAxes, scene: ErrorScene) -> MeshAxes:
    """The mesh under the name of the user's only variable that holds such a one."""
    held = [known for known in scene.meshes if known.axes == mesh.axes and known.types == mesh.types]
    return held[0] if len(held) == 1 else mesh
