"""What helps a call that JAX refused: a program compiled for other arguments, no mesh, a tree that is no prefix.

Not its job: `pmap` (`analyze.errors.pmap`), what is wrong with a sharding in itself (`analyze.errors.divisibility`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pjit_inspect.analyze.errors.fits import advice, clauses, listed, mesh_named
from pjit_inspect.analyze.errors.specs import spec_words, type_words
from pjit_inspect.model.program.spec import axes_of, spec_text
from pjit_inspect.model.report.explained_error import (
    ErrorArray,
    ErrorFacts,
    ErrorScene,
    ExplainedError,
    Fit,
)
from pjit_inspect.model.sharding.mesh import Mesh
from pjit_inspect.model.words import sentence as phrases
from pjit_inspect.model.words.sentence import Phrase, Sentence, code, joined, name, say

_MOST = 3
_COMPILED = "{} {} {}, but the program was compiled for {}"

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
    notes = (say("every argument needs its own change"),) if sum(fit.is_code for fit in fits) > 1 else ()
    return ExplainedError(
        kind="compiled", sentence=clauses([*words, *more]), arrays=arrays, fits=tuple(fits), notes=notes
    )


def _named(side: ErrorArray, scene: ErrorScene) -> ErrorArray:
    """The argument as the user's variable; under the function's own name where that cannot be told."""
    same = [
        other for other in scene.operands
        if (other.shape, other.dtype) == (side.shape, side.dtype) and _is_placed_so(other, side)
    ]  # fmt: skip
    # Of several that are alike, the one at the same place of its tree, whatever the function calls the argument.
    path = side.name[len(side.name.partition("[")[0]) :]
    same = [other for other in same if other.name.endswith(path)] if len(same) > 1 and path else same
    if not same and len(scene.arguments) == 1 and side.name.isidentifier() and scene.arguments[0].text:
        # The only argument of the call, whatever it is written as.
        return replace(side, name=scene.arguments[0].text)
    if len(same) != 1:
        return replace(side, is_named=False)
    return replace(side, name=same[0].name)


def _is_placed_so(other: ErrorArray, side: ErrorArray) -> bool:
    if side.mesh is not None:
        return other.spec == side.spec
    return not side.device_ids or other.device_ids == side.device_ids


def _type_words(passed: ErrorArray, wanted: ErrorArray) -> Sentence:
    return say(_COMPILED, name(passed.name), "is", type_words(passed), type_words(wanted))


def _placed_words(passed: ErrorArray, wanted: ErrorArray) -> Sentence:
    given, compiled = _place(passed, passed.mesh != wanted.mesh), _place(wanted, passed.mesh != wanted.mesh)
    if given == compiled:
        words = "{} is {}, as the program was compiled for, but on other devices or in another order"
        return say(words, name(passed.name), given)
    return say(_COMPILED, name(passed.name), "is on" if passed.spec is None else "is", given, compiled)


def _place(side: ErrorArray, with_mesh: bool) -> Sentence:
    if side.spec is None:
        return say("device {}", side.device_ids[0]) if side.device_ids else say("other devices")
    placed = spec_words(side.spec)
    return say("{} on {}", placed, str(side.mesh)) if with_mesh else say("{}", placed)


def _placed_fit(passed: ErrorArray, wanted: ErrorArray, scene: ErrorScene) -> Fit | None:
    if not passed.is_named:
        return None
    place = ""
    if wanted.spec is None:
        place = f"jax.devices()[{wanted.device_ids[0]}]" if wanted.device_ids else ""
    elif mesh := mesh_named(wanted.mesh, scene):
        place = f"NamedSharding({mesh}, {spec_text(wanted.spec)})"
    elif passed.mesh != wanted.mesh or passed.spec != wanted.spec:
        place = _as_compiled(passed, scene)
    if not place:
        return None
    effect = say("places {} as the program was compiled for, once", name(passed.name))
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
    called = scene.operator if facts.reason == "explicit" and scene.operator.isidentifier() else facts.operation
    sentence = (
        say("`shard_map` has no `mesh`, and none is set")
        if facts.reason == "shard_map"
        else say("{} got {}, but no mesh is set that says what its axes are", code(called), _given(facts, scene))
    )
    meshes = [mesh for mesh, variable in scene.meshes.items() if variable and _axes(facts, scene) <= set(mesh.sizes)]
    explicit = [mesh for mesh in meshes if _is_explicit(mesh)]
    if facts.reason == "explicit":
        fits = list(_typed_fits(facts, scene, explicit, meshes))
    elif called == "with_sharding_constraint":
        fits = list(_constraint_fits(facts, scene, meshes))
    else:
        fits = list(_mesh_fits(facts, scene, meshes))
    notes = []
    if len(meshes) > 1:
        notes.append(say("{} have these axes", listed([scene.meshes[mesh] for mesh in meshes])))
    return ExplainedError(kind="no mesh", sentence=sentence, fits=tuple(fits), notes=tuple(notes))


def _given(facts: ErrorFacts, scene: ErrorScene) -> Phrase | Sentence:
    if facts.arrays and facts.arrays[0].spec is not None:
        return spec_words(facts.arrays[0].spec)
    texts = [spec.name for spec in scene.specs[:_MOST]]
    return listed(texts, phrases.spec) if texts else say("a PartitionSpec")


def _axes(facts: ErrorFacts, scene: ErrorScene) -> set[str]:
    specs = [array.spec for array in (*facts.arrays, *scene.specs) if array.spec is not None]
    return {axis for spec in specs for entry in spec for axis in axes_of(entry)}


def _is_explicit(mesh: Mesh) -> bool:
    return set(mesh.axis_types) == {"explicit"}


def _mesh_fits(facts: ErrorFacts, scene: ErrorScene, meshes: list[Mesh]) -> Iterator[Fit]:
    if not meshes:
        words = "with `jax.set_mesh`, set a mesh that has the axes of the spec"
        yield advice(words, "or put a `NamedSharding` of that mesh in place of the spec")
        return
    variable, on = scene.meshes[meshes[0]], say("on {}", str(meshes[0]))
    if facts.reason == "shard_map":
        if scene.operator != "shard_map":
            yield advice(say("give `jax.shard_map` {}", code(f"mesh={variable}")), on)
        elif scene.arguments:
            edit = f"{scene.expression.rstrip()[:-1].rstrip().rstrip(',')}, mesh={variable})"
            yield Fit(edit=edit, effect=on, replaces=scene.expression)
    else:
        yield from _named_specs(scene, meshes[0])
    yield _set_mesh(scene, meshes[0])


def _set_mesh(scene: ErrorScene, mesh: Mesh) -> Fit:
    effect = say("before the call, outside of `jax.jit`: specs are then of {}", str(mesh))
    return Fit(edit=f"jax.set_mesh({scene.meshes[mesh]})", effect=effect)


def _put(given: Sequence[str], scene: ErrorScene, mesh: Mesh) -> str:
    """The array placed, of the texts of an array and a spec."""
    return f"jax.device_put({given[0]}, NamedSharding({scene.meshes[mesh]}, {given[1]}))"


def _named_specs(scene: ErrorScene, mesh: Mesh) -> Iterator[Fit]:
    effect = say("the same spec, on {}", str(mesh))
    for spec in scene.specs[:_MOST]:
        yield Fit(edit=f"NamedSharding({scene.meshes[mesh]}, {spec.name})", effect=effect, replaces=spec.name)


def _constraint_fits(facts: ErrorFacts, scene: ErrorScene, meshes: list[Mesh]) -> Iterator[Fit]:
    auto = [mesh for mesh in meshes if not _is_explicit(mesh)]
    if auto or not meshes:
        yield from _mesh_fits(facts, scene, auto)
        return
    # On an Explicit mesh a constraint is an assertion, and `reshard` would need the mesh to be set.
    variable, given = scene.meshes[meshes[0]], [argument.text for argument in scene.arguments]
    if len(given) == 2 and all(given):
        edit = _put(given, scene, meshes[0])
        effect = say("{} has Explicit axes, where a constraint is only an assertion", variable)
        yield Fit(edit=edit, effect=effect, replaces=scene.expression)


def _typed_fits(facts: ErrorFacts, scene: ErrorScene, explicit: list[Mesh], meshes: list[Mesh]) -> Iterator[Fit]:
    """For `reshard` and `out_sharding`, which name axes of type Explicit."""
    given = [argument.text for argument in scene.arguments]
    is_reshard = scene.operator == "reshard" and len(given) == 2 and all(given)
    if explicit and is_reshard:
        # Within jit, and before JAX 0.9.1 anywhere, `reshard` needs a mesh that is set, even with a `NamedSharding`.
        effect = say("the same spec, on {}", str(explicit[0]))
        yield Fit(edit=_put(given, scene, explicit[0]), effect=effect, replaces=scene.expression)
        yield _set_mesh(scene, explicit[0])
        return
    if explicit:
        yield from _mesh_fits(facts, scene, explicit)
        return
    if meshes and is_reshard:
        variable = scene.meshes[meshes[0]]
        edit = f"jax.lax.with_sharding_constraint({given[0]}, NamedSharding({variable}, {given[1]}))"
        effect = say("`reshard` is for Explicit axes, and {} has Auto axes", variable)
        yield Fit(edit=edit, effect=effect, replaces=scene.expression)
        return
    what = say("{} has Auto axes; make", name(scene.meshes[meshes[0]])) if meshes else "make"
    yield advice(
        say("{} a mesh with `axis_types` of `AxisType.Explicit` and set it with `jax.set_mesh`", what),
        say("{} names axes of that type only", code(scene.operator or facts.operation)),
    )


# ---------------------------------------------------------------- trees that are no prefix

_ONE = {"in_specs": "one spec", "out_specs": "one spec", "in_axes": "one number"}
_ARRAY = say("one array")
_LEAVES = ("PytreeLeaf", "Tracer", "ArrayImpl", "ShapeDtypeStruct", "ndarray", "ShapedArray", "Array")


def explain_prefix(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """Shardings whose tree is neither that of the arrays nor a prefix of it."""
    given: Phrase | str = code(facts.operation + facts.function)
    is_result = facts.operation.startswith("out_")
    what = "the result" if is_result else "the argument" if facts.function else "the arguments"
    one = _ONE.get(facts.operation, "one sharding")
    if facts.operation in ("shardings", "device"):
        given, what = "the tree of shardings", "what is placed"
    alone = advice(f"give {one} in place of the tree", f"it then goes for all of {what}")
    if facts.reason == "keys":
        sentence, fits = _keys_words(given, what, facts.names[0].split(","), facts.names[1].split(","))
    elif facts.reason in ("count", "length"):
        sentence, fits = _length_words(given, what, facts)
    elif facts.reason == "no tuple":
        words = "{} is a {}, which is neither {} nor a tuple with an entry for each argument"
        sentence = say(words, code(facts.operation), facts.names[0], one)
        fits = [advice("write a tuple with an entry for each argument", f"the {facts.names[0]} is then one of them")]
    else:
        own, wanted = (_type_name(type_) for type_ in facts.names)
        sentence = say("{} is {}, but {} is {}", given, own, what, wanted)
        fits = [] if wanted == _ARRAY else [advice(say("write it as {}", wanted), "it then is the same tree")]
    return ExplainedError(kind="prefix", sentence=sentence, fits=(*fits, alone))


def _type_name(qualified: str) -> Sentence:
    short = qualified.rpartition(".")[2]
    if short.endswith(_LEAVES):
        return _ARRAY
    return say("a {}", short) if short in ("list", "tuple", "dict") else say("an object of the type {}", code(short))


def _keys_words(given: Phrase | str, what: str, own: list[str], wanted: list[str]) -> tuple[Sentence, list[Fit]]:
    extra, missing = [key for key in own if key not in wanted], [key for key in wanted if key not in own]
    sentence = say("{} has the keys {}, but {} has {}", given, listed(own, code), what, listed(wanted, code))
    steps = [say("take {} out of {}", listed(extra, code), given)] if extra else []
    steps += [say("add {} to {}", listed(missing, code), "it" if extra else given)] if missing else []
    return sentence, [advice(joined(steps), "the keys are then the same")] if steps else []


def _length_words(given: Phrase | str, what: str, facts: ErrorFacts) -> tuple[Sentence, list[Fit]]:
    own, wanted = facts.new_shape
    has = f"{wanted}"
    if not facts.function and not facts.operation.startswith("out_"):
        what, has = "the call", "1 argument" if wanted == 1 else f"{wanted} arguments"
    sentence = say("{} has {}, but {} has {}", given, _entries(own), what, has)
    return sentence, [advice(say("give {} {}", given, _entries(wanted)), "one for each")]


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


# ---------------------------------------------------------------- ordered effects

_EFFECTS = {
    "OrderedDebugEffect": say("`jax.debug.print` or `jax.debug.callback`"),
    "OrderedIOEffect": say("`io_callback`"),
}


def explain_ordered(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """Effects that must keep their order, on several devices."""
    calls = joined([_EFFECTS.get(effect, code(effect)) for effect in facts.names], comma=" and ") or "an effect"
    counts = {len(array.device_ids) for array in scene.operands if len(array.device_ids) > 1}
    on = f"{counts.pop()} devices" if len(counts) == 1 else "several devices"
    why = ": JAX keeps an order on one device only"
    if facts.reason == "partitioner":
        why = " and a result, which XLA cannot place"
    sentence = say("the program runs on {}, and {} in it has `ordered=True`{}", on, calls, why)
    fit = Fit(edit="ordered=False", effect=say("the calls may then come in any order"), replaces="ordered=True")
    return ExplainedError(kind="ordered effects", sentence=sentence, fits=(fit,))
