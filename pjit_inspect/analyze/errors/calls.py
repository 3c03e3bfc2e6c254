"""What helps a call that JAX refused: a program compiled for other arguments, no mesh, a tree that is no prefix.

Not its job: `pmap` (`analyze.errors.pmap`), what is wrong with a sharding in itself (`analyze.errors.divisibility`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pjit_inspect.analyze.errors.fits import advice, listed, mesh_named
from pjit_inspect.analyze.errors.specs import shape_words
from pjit_inspect.model.program.spec import axes_of, spec_text
from pjit_inspect.model.report.explained_error import (
    ErrorArray,
    ErrorFacts,
    ErrorScene,
    ExplainedError,
    Fit,
    MeshAxes,
)

__all__ = ["explain_compiled", "explain_no_mesh", "explain_ordered", "explain_prefix"]

_MOST = 3
_INDEXED = ("Cpu", "Cuda", "")

# ---------------------------------------------------------------- compiled ahead of time


def explain_compiled(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A compiled program that got arguments which it was not compiled for."""
    arrays = tuple(_named(side, scene) for side in facts.arrays)
    pairs = list(zip(arrays, facts.wanted, strict=True))
    is_type = facts.reason == "types"
    words = [_type_words(one, other) if is_type else _placed_words(one, other) for one, other in pairs[:_MOST]]
    more = [f"and {len(pairs) - _MOST} more"] if len(pairs) > _MOST else []
    fits = [] if is_type else [fit for one, other in pairs if (fit := _placed_fit(one, other, scene))]
    fits.append(
        advice("call the jitted function in place of the compiled one", "JAX then compiles for what it is given")
    )
    notes = ("every argument needs its own change",) if sum(fit.is_code for fit in fits) > 1 else ()
    return ExplainedError(
        kind="compiled", sentence="; ".join([*words, *more]), arrays=arrays, fits=tuple(fits), notes=notes
    )


def _named(side: ErrorArray, scene: ErrorScene) -> ErrorArray:
    """The argument as the user's variable; under the function's own name where that cannot be told."""
    same = [
        other for other in scene.operands
        if (other.shape, other.dtype) == (side.shape, side.dtype) and _is_placed_so(other, side)
    ]  # fmt: skip
    path = side.name[len(side.name.partition("[")[0]) :]
    same = [other for other in same if other.name.endswith(path)] if len(same) > 1 and path else same
    if len(same) != 1:
        return replace(side, is_named=False)
    return replace(side, name=same[0].name)


def _is_placed_so(other: ErrorArray, side: ErrorArray) -> bool:
    if side.mesh is not None:
        return other.spec == side.spec
    return not side.device_ids or other.device_ids == side.device_ids


def _type_words(passed: ErrorArray, wanted: ErrorArray) -> str:
    given, compiled = (f"`{side.dtype}{shape_words(side.shape or ())}`" for side in (passed, wanted))
    return f"`{passed.name}` is {given}, but the program was compiled for {compiled}"


def _placed_words(passed: ErrorArray, wanted: ErrorArray) -> str:
    given, compiled = _place(passed, passed.mesh != wanted.mesh), _place(wanted, passed.mesh != wanted.mesh)
    if given == compiled:
        return f"`{passed.name}` is {given}, as the program was compiled for, but on other devices or in another order"
    is_ = "is on" if passed.spec is None else "is"
    return f"`{passed.name}` {is_} {given}, but the program was compiled for {compiled}"


def _place(side: ErrorArray, with_mesh: bool) -> str:
    if side.spec is None:
        return f"device {side.device_ids[0]}" if side.device_ids else "other devices"
    return f"`{spec_text(side.spec)}`" + (f" on {side.mesh}" if with_mesh else "")


def _placed_fit(passed: ErrorArray, wanted: ErrorArray, scene: ErrorScene) -> Fit | None:
    if not passed.is_named:
        return None
    place = ""
    if wanted.spec is None:
        place = f"jax.devices()[{wanted.device_ids[0]}]" if wanted.device_ids else ""
    elif name := mesh_named(wanted.mesh, scene):
        place = f"NamedSharding({name}, {spec_text(wanted.spec)})"
    elif passed.mesh != wanted.mesh or passed.spec != wanted.spec:
        place = _as_compiled(passed, scene)
    if not place:
        return None
    effect = f"places `{passed.name}` as the program was compiled for, once"
    return Fit(
        edit=f"jax.device_put({passed.name}, {place})", effect=effect, spec=wanted.spec, target=passed.name,
        replaces=passed.name,
    )  # fmt: skip


def _as_compiled(passed: ErrorArray, scene: ErrorScene) -> str:
    """Where the compiled program itself says that an argument belongs; "" for one that cannot be found in the call."""
    callee = scene.expression.partition("(")[0]
    places = [argument.key for argument in scene.arguments if argument.text == passed.name and argument.key.isdigit()]
    return f"{callee}.input_shardings[0][{places[0]}]" if len(places) == 1 and callee else ""


# ---------------------------------------------------------------- no mesh


def explain_no_mesh(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A PartitionSpec where no mesh says what its axes are."""
    name = scene.operator if facts.reason == "explicit" and scene.operator.isidentifier() else facts.operation
    what = _given(facts, scene)
    sentence = (
        "`shard_map` has no `mesh`, and none is set"
        if facts.reason == "shard_map"
        else f"`{name}` got {what}, but no mesh is set that says what its axes are"
    )
    meshes = [mesh for mesh in scene.meshes if mesh.name and _axes(facts, scene) <= set(mesh.sizes)]
    explicit = [mesh for mesh in meshes if _is_explicit(mesh)]
    if facts.reason == "explicit":
        fits = list(_typed_fits(facts, scene, explicit, meshes))
    elif name == "with_sharding_constraint":
        fits = list(_constraint_fits(facts, scene, meshes))
    else:
        fits = list(_mesh_fits(facts, scene, meshes))
    notes = []
    if len(meshes) > 1:
        notes.append(f"{listed([mesh.name for mesh in meshes])} have these axes")
    return ExplainedError(kind="no mesh", sentence=sentence, fits=tuple(fits), notes=tuple(notes))


def _given(facts: ErrorFacts, scene: ErrorScene) -> str:
    if facts.arrays and facts.arrays[0].spec is not None:
        return f"`{spec_text(facts.arrays[0].spec)}`"
    return listed([spec.name for spec in scene.specs[:_MOST]]) if scene.specs else "a PartitionSpec"


def _axes(facts: ErrorFacts, scene: ErrorScene) -> set[str]:
    specs = [array.spec for array in (*facts.arrays, *scene.specs) if array.spec is not None]
    return {axis for spec in specs for entry in spec for axis in axes_of(entry)}


def _is_explicit(mesh: MeshAxes) -> bool:
    return bool(mesh.types) and all(kind == "explicit" for kind in mesh.types)


def _mesh_fits(facts: ErrorFacts, scene: ErrorScene, meshes: list[MeshAxes]) -> Iterator[Fit]:
    if not meshes:
        words = "with `jax.set_mesh`, set a mesh that has the axes of the spec"
        yield advice(words, "or put a `NamedSharding` of that mesh in place of the spec")
        return
    name = meshes[0].name
    if facts.reason == "shard_map":
        if scene.operator != "shard_map":
            yield advice(f"give `jax.shard_map` `mesh={name}`", f"on {meshes[0]}")
        elif scene.arguments:
            yield Fit(
                edit=f"{scene.expression.rstrip()[:-1].rstrip().rstrip(',')}, mesh={name})", effect=f"on {meshes[0]}",
                replaces=scene.expression,
            )  # fmt: skip
    else:
        yield from _named_specs(scene, meshes[0])
    yield Fit(
        edit=f"jax.set_mesh({name})", effect=f"before the call, outside of `jax.jit`: specs are then of {meshes[0]}"
    )


def _named_specs(scene: ErrorScene, mesh: MeshAxes) -> Iterator[Fit]:
    for spec in scene.specs[:_MOST]:
        yield Fit(
            edit=f"NamedSharding({mesh.name}, {spec.name})", effect=f"the same spec, on {mesh}", replaces=spec.name
        )


def _constraint_fits(facts: ErrorFacts, scene: ErrorScene, meshes: list[MeshAxes]) -> Iterator[Fit]:
    auto = [mesh for mesh in meshes if not _is_explicit(mesh)]
    if auto or not meshes:
        yield from _mesh_fits(facts, scene, auto)
        return
    # On an Explicit mesh a constraint is an assertion: what moves an array is `reshard`.
    name, given = meshes[0].name, [argument.text for argument in scene.arguments]
    if len(given) == 2 and all(given):
        edit = f"jax.sharding.reshard({given[0]}, NamedSharding({name}, {given[1]}))"
        effect = f"{name} has Explicit axes, where a constraint is only an assertion"
        yield Fit(edit=edit, effect=effect, replaces=scene.expression)


def _typed_fits(
    facts: ErrorFacts, scene: ErrorScene, explicit: list[MeshAxes], meshes: list[MeshAxes]
) -> Iterator[Fit]:
    """For `reshard` and `out_sharding`, which name axes of type Explicit."""
    if explicit:
        yield from _mesh_fits(facts, scene, explicit)
        return
    given = [argument.text for argument in scene.arguments]
    if meshes and scene.operator == "reshard" and len(given) == 2 and all(given):
        name = meshes[0].name
        edit = f"jax.lax.with_sharding_constraint({given[0]}, NamedSharding({name}, {given[1]}))"
        yield Fit(
            edit=edit, effect=f"`reshard` is for Explicit axes, and {name} has Auto axes", replaces=scene.expression
        )
        return
    what = f"`{meshes[0].name}` has Auto axes; make" if meshes else "make"
    yield advice(
        f"{what} a mesh with `axis_types` of `AxisType.Explicit` and set it with `jax.set_mesh`",
        f"`{scene.operator or facts.operation}` names axes of that type only",
    )


# ---------------------------------------------------------------- trees that are no prefix

_ONE = {"in_specs": "one spec", "out_specs": "one spec", "in_axes": "one number"}
_LEAVES = ("PytreeLeaf", "Tracer", "ArrayImpl", "ShapeDtypeStruct", "ndarray", "ShapedArray", "Array")


def explain_prefix(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """Shardings whose tree is neither that of the arrays nor a prefix of it."""
    spec = f"`{facts.operation}{facts.function}`"
    is_result = facts.operation.startswith("out_")
    what = "the result" if is_result else "the argument" if facts.function else "the arguments"
    one = _ONE.get(facts.operation, "one sharding")
    if facts.operation in ("shardings", "device"):
        spec, what = "the tree of shardings", "what is placed"
    alone = advice(f"give {one} in place of the tree", f"it then goes for all of {what}")
    if facts.reason == "keys":
        sentence, fits = _keys_words(spec, what, facts.names[0].split(","), facts.names[1].split(","))
    elif facts.reason in ("count", "length"):
        sentence, fits = _length_words(spec, what, facts)
    elif facts.reason == "no tuple":
        article = f"a {facts.names[0]}"
        sentence = (
            f"`{facts.operation}` is {article}, which is neither {one} nor a tuple with an entry for each argument"
        )
        fits = [advice("write a tuple with an entry for each argument", f"the {facts.names[0]} is then one of them")]
    else:
        given, wanted = (_type_name(name) for name in facts.names)
        sentence = f"{spec} is {given}, but {what} is {wanted}"
        fits = [] if wanted == "one array" else [advice(f"write it as {wanted}", "it then is the same tree")]
    return ExplainedError(kind="prefix", sentence=sentence, fits=(*fits, alone))


def _type_name(name: str) -> str:
    short = name.rpartition(".")[2]
    if short.endswith(_LEAVES):
        return "one array"
    return f"a {short}" if short in ("list", "tuple", "dict") else f"an object of the type `{short}`"


def _keys_words(spec: str, what: str, given: list[str], wanted: list[str]) -> tuple[str, list[Fit]]:
    extra, missing = [key for key in given if key not in wanted], [key for key in wanted if key not in given]
    sentence = f"{spec} has the keys {listed(given)}, but {what} has {listed(wanted)}"
    fits = []
    if extra or missing:
        steps = [f"take {listed(extra)} out of {spec}"] if extra else []
        steps += [f"add {listed(missing)} to it" if extra else f"add {listed(missing)} to {spec}"] if missing else []
        fits = [advice(" and ".join(steps), "the keys are then the same")]
    return sentence, fits


def _length_words(spec: str, what: str, facts: ErrorFacts) -> tuple[str, list[Fit]]:
    given, wanted = facts.new_shape
    entries = "1 entry" if given == 1 else f"{given} entries"
    if not facts.function and not facts.operation.startswith("out_"):
        args = "1 argument" if wanted == 1 else f"{wanted} arguments"
        sentence = f"{spec} has {entries}, but the call has {args}"
    else:
        sentence = f"{spec} has {entries}, but {what} has {wanted}"
    return sentence, [advice(f"give {spec} {wanted} {'entry' if wanted == 1 else 'entries'}", "one for each")]


# ---------------------------------------------------------------- ordered effects

_EFFECTS = {
    "OrderedDebugEffect": "`jax.debug.print` or `jax.debug.callback`",
    "OrderedIOEffect": "`io_callback`",
}


def explain_ordered(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """Effects that must keep their order, on several devices."""
    calls = " and ".join(_EFFECTS.get(name, f"`{name}`") for name in facts.names) or "an effect"
    counts = {len(array.device_ids) for array in scene.operands if len(array.device_ids) > 1}
    on = f"{counts.pop()} devices" if len(counts) == 1 else "several devices"
    sentence = f"the program runs on {on}, and {calls} in it has `ordered=True`: JAX keeps an order on one device only"
    if facts.reason == "partitioner":
        sentence = (
            f"the program runs on {on}, and {calls} in it has `ordered=True` and a result, which XLA cannot place"
        )
    fit = Fit(edit="ordered=False", effect="the calls may then come in any order", replaces="ordered=True")
    return ExplainedError(kind="ordered effects", sentence=sentence, fits=(fit,))
