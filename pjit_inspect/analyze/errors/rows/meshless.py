"""The table's rows of PartitionSpecs where no mesh says what their axes are.

*Source*: the texts in `jax/_src` of 0.8.1 to 0.12.0: `sharding_impls.py`, `api.py`, `shard_map.py`.
"""

# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from pjit_inspect.analyze.errors.fits import listed, with_argument
from pjit_inspect.analyze.errors.printed import read_spec
from pjit_inspect.analyze.errors.proposals import text_of
from pjit_inspect.analyze.errors.specs import spec_words
from pjit_inspect.analyze.errors.table import Facts, Way
from pjit_inspect.analyze.errors.table import row as _row
from pjit_inspect.model.program.spec import axes_of
from pjit_inspect.model.report.explained_error import ErrorScene, Fit
from pjit_inspect.model.sharding.mesh import Mesh
from pjit_inspect.model.words import sentence as phrases
from pjit_inspect.model.words.sentence import code, name, say

_MOST = 3


def _meshless(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The mesh of the user's that has the axes of the spec, of the axis types that the call needs."""
    groups, quoted = match.groupdict(), None
    # `reshard` and `out_sharding` name Explicit axes; on those a constraint is an assertion.
    is_typed = bool(groups.get("quoted"))
    # Some hold what is no axis, as `UNCONSTRAINED`.
    with suppress(ValueError):
        quoted = read_spec(groups.get("quoted") or "")
    place = groups.get("place") or ""
    called = place if place.endswith("_shardings") else groups.get("called") or groups.get("called2") or ""
    called = scene.operator if is_typed and scene.operator.isidentifier() else called
    specs = [quoted or (), *(spec.spec or () for spec in scene.specs)]
    axes = {axis for spec in specs for entry in spec for axis in axes_of(entry)}
    meshes = [mesh for mesh, variable in scene.meshes.items() if variable and axes <= set(mesh.sizes)]
    explicit = [mesh for mesh in meshes if set(mesh.axis_types) == {"explicit"}]
    auto = [mesh for mesh in meshes if mesh not in explicit]
    fitting = explicit if is_typed else auto if called == "with_sharding_constraint" else meshes
    texts = [spec.name for spec in scene.specs[:_MOST]]
    written = listed(texts, phrases.spec) if texts else "a PartitionSpec"
    several = say("{} have these axes", listed([scene.meshes[mesh] for mesh in meshes]))
    return {
        "called": code(called) if called else "this line", "given": written if quoted is None else spec_words(quoted), "notes": (several,) if len(meshes) > 1 else (),
        **_changes(is_typed, fitting, meshes, scene),
    }  # fmt: skip


def _changes(is_typed: bool, fitting: list[Mesh], meshes: list[Mesh], scene: ErrorScene) -> Facts:
    """What the ways name: the mesh, and the array and its spec where the whole call is to be another one."""
    texts = [argument.text for argument in scene.arguments]
    both = {"array": code(texts[0]), "spec": code(texts[1])} if len(texts) == 2 and all(texts) else {}
    is_reshard = is_typed and scene.operator == "reshard" and bool(both)
    if fitting:
        mesh = fitting[0]
        facts = {"variable": code(scene.meshes[mesh]), "on": str(mesh), "set": code(f"mesh={scene.meshes[mesh]}")}
        # Within jit, and before JAX 0.9.1 anywhere, `reshard` needs a mesh that is set, even with a `NamedSharding`.
        named = tuple({"own": code(spec.name)} for spec in scene.specs[:_MOST])
        return facts | ({**both, "why": say("the same spec, on {}", str(mesh))} if is_reshard else {"each": named})
    variable = scene.meshes[meshes[0]] if meshes else ""
    if is_reshard and meshes:
        return {**both, "auto": code(variable)}
    if is_typed:
        return {"make": say("{} has Auto axes; make", name(variable)) if meshes else "make"}
    if meshes:
        why = say("{} has Explicit axes, where a constraint is only an assertion", variable)
        return {**both, "variable": code(variable), "why": why}
    return {"lacking": "a mesh"}


def _set_mesh(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    if variable := text_of(facts, "variable") if "set" in facts else "":
        effect = say("before the call, outside of `jax.jit`: specs are then of {}", facts["on"])
        yield Fit(edit=f"jax.set_mesh({variable})", effect=effect)


def _with_mesh(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    edit = with_argument(scene, text_of(facts, "set")) if scene.operator == "shard_map" else ""
    if edit and "set" in facts:
        yield Fit(edit=edit, effect=say("on {}", facts["on"]), replaces=scene.expression)


_NO_MESH = Way(
    "with `jax.set_mesh`, set {lacking} that has the axes of the spec",
    "or put a `NamedSharding` of that mesh in place of the spec",
)

MESHLESS_ROWS = (
    _row("no mesh", r"(?:(?P<called>\w{1,60}) requires a non-empty mesh in context if you are passing `PartitionSpec`s to (?P<place>\w{1,40})\."
         r"|Please set a mesh via `jax\.set_mesh` if a PartitionSpec is passed to (?P<called2>device_put)\b"
         r"|Using PartitionSpec when you are not under a mesh context is not allowed\. .{1,300} Got (?P<quoted>.{1,400})$)",
         "{called} got {given}, but no mesh is set that says what its axes are",
         Way("jax.device_put({array}, NamedSharding({variable}, {spec}))", "{why}", replaces="{expression}"),
         Way("jax.lax.with_sharding_constraint({array}, NamedSharding({auto}, {spec}))", "`reshard` is for Explicit axes, and {auto} has Auto axes", replaces="{expression}"),
         Way("NamedSharding({variable}, {own})", "the same spec, on {on}", replaces="{own}"), _set_mesh, _NO_MESH,
         Way("{make} a mesh with `axis_types` of `AxisType.Explicit` and set it with `jax.set_mesh`", "{called} names axes of that type only"), facts=_meshless),
    _row("no mesh", r"The context mesh cannot be empty\. Use `jax\.set_mesh\(mesh\)` to enter into a mesh context$",
         "`shard_map` has no `mesh`, and none is set",
         _with_mesh, Way("give `jax.shard_map` {set}", "on {on}", is_last=True), _set_mesh, _NO_MESH, facts=_meshless),
)  # fmt: skip
"""Each tried in turn."""
