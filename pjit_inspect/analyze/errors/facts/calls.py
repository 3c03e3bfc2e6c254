"""Facts of errors of calls: compiled ahead of time, data donated before, static arguments, values JAX cannot take."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pjit_inspect.analyze.errors import specs, ways
from pjit_inspect.analyze.errors.facts.places import moved_fit
from pjit_inspect.analyze.errors.printed import of_shape, read_sharding, read_type
from pjit_inspect.analyze.errors.specs import spec_words
from pjit_inspect.analyze.errors.table import Facts, listed_facts, quoted
from pjit_inspect.analyze.errors.ways import alone, clauses, listed
from pjit_inspect.model.program.mesh import spec_text
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, Fit
from pjit_inspect.model.words.sentence import Sentence, code, joined, name, say

# ---------------------------------------------------------------- compiled ahead of time

_MOST = 8
_ONE_DEVICE = re.compile(r"SingleDeviceSharding\(device=\w{1,40}\(id=(\d{1,9})\b")


def compiled(match: re.Match[str], scene: ErrorScene, parts: list[re.Match[str]]) -> Facts:
    """Each argument that has another type than the program was compiled for."""
    return _compiled(
        [(read_type(one["passed"]), read_type(one["wanted"]), one["name"]) for one in parts[:_MOST]], scene
    )


def placed(match: re.Match[str], scene: ErrorScene, parts: list[re.Match[str]]) -> Facts:
    """Each argument that is placed otherwise than the program was compiled for, and its way there."""
    sides = [(_placed(one, "passed"), _placed(one, "wanted"), one["name"]) for one in parts[:_MOST]]
    facts = _compiled(sides, scene)
    wanted = [one for _, one, _ in sides]
    pairs = zip(listed_facts(facts, "arrays", ErrorArray), wanted, strict=True)
    fits = tuple(fit for own, one in pairs for fit in _there(own, one, scene))
    return {**facts, "fits": fits, "notes": (say("every argument needs its own change"),) if len(fits) > 1 else ()}


def _compiled(sides: list[tuple[ErrorArray, ErrorArray, str]], scene: ErrorScene) -> Facts:
    own = [_named(replace(passed, name=called, is_named=True), scene) for passed, _, called in sides]
    words = [_differs(passed, wanted) for passed, (_, wanted, _) in zip(own, sides, strict=True)]
    return {"what": clauses(words, 3), "arrays": tuple(own)}


def _placed(match: re.Match[str], side: str) -> ErrorArray:
    array = replace(read_type(match["type"]), spec=None)
    if one := _ONE_DEVICE.match(match[side]):
        return replace(array, device_ids=(int(one[1]),))
    sharding = read_sharding(match[side])
    placed = of_shape(replace(array, mesh=sharding.mesh, spec=sharding.spec), array.shape or ())
    if placed.spec is None:
        raise ValueError("this sharding is not understood")
    return placed


def _named(side: ErrorArray, scene: ErrorScene) -> ErrorArray:
    """The argument as the user's variable; under the function's own name where that cannot be told."""
    same = ways.owns_of(side if side.mesh is not None else replace(side, spec=None), scene)
    if not same and len(scene.arguments) == 1 and side.name.isidentifier() and scene.arguments[0].text:
        # The only argument of the call, whatever it is written as.
        return replace(side, name=scene.arguments[0].text)
    return replace(side, name=same[0].name) if len(same) == 1 else replace(side, is_named=False)


def _differs(passed: ErrorArray, wanted: ErrorArray) -> Sentence:
    is_other, verb = passed.mesh != wanted.mesh, "is on" if passed.device_ids else "is"
    given, compiled = _words(passed, is_other), _words(wanted, is_other)
    if given == compiled:
        words = "{} {} {}, as the program was compiled for, but on other devices or in another order"
        return say(words, name(passed.name), verb, given)
    return say("{} {} {}, but the program was compiled for {}", name(passed.name), verb, given, compiled)


def _words(side: ErrorArray, with_mesh: bool) -> Sentence:
    if side.device_ids or side.mesh is None:
        return say("{}", f"device {side.device_ids[0]}" if side.device_ids else specs.type_words(side))
    return say("{} on {}", spec_words(side.spec), str(side.mesh)) if with_mesh else say("{}", spec_words(side.spec))


def _there(passed: ErrorArray, wanted: ErrorArray, scene: ErrorScene) -> Iterator[Fit]:
    """The argument placed as the program was compiled for, or as the program itself says that it belongs."""
    callee, own = scene.expression.partition("(")[0], passed.name
    keys = [argument.key for argument in scene.arguments if argument.text == own and argument.key.isdigit()]
    place, is_other = "", (passed.mesh, passed.spec) != (wanted.mesh, wanted.spec)
    if wanted.device_ids:
        place = f"jax.devices()[{wanted.device_ids[0]}]"
    elif mesh := ways.mesh_named(wanted.mesh, scene):
        place = f"NamedSharding({mesh}, {spec_text(wanted.spec or ())})"
    elif len(keys) == 1 and callee and is_other:
        place = f"{callee}.input_shardings[0][{keys[0]}]"
    if place and passed.is_named:
        effect = say("places {} as the program was compiled for, once", name(own))
        yield replace(moved_fit(passed, place, effect, scene, spec=wanted.spec), replaces=own)


# ---------------------------------------------------------------- data that is gone


def gone(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The arrays whose data is gone, and the call that took it."""
    said = replace(read_type(match["type"]), spec=None) if match.groupdict().get("type") else None
    same = ways.owns_of(said, scene) if said else scene.operands
    gone = {array.name: array for array in same if array.name in scene.deleted}
    unnamed = say("an array {}", specs.type_words(said)) if said else "an argument"
    more = f" and {len(gone) - 3} more" if len(gone) > 3 else ""
    what = say("{}{} {}", listed(list(gone)[:3]) if gone else unnamed, more, "have" if len(gone) > 1 else "has")
    facts = {"what": what, "arrays": tuple(gone.values())}
    if not gone or not scene.taken:
        return {**facts, "lost": True}
    line, text, is_sure = scene.taken[0]
    call = " ".join(text.split())
    took = "and the function took its memory" if is_sure else "and its memory is gone once that has run"
    by_name = re.search(rf"\b\w+\s*=\s*{re.escape(re.split(r'[.[]', next(iter(gone)))[0])}\b", call)
    donated = code("donate_argnames" if by_name else "donate_argnums")
    why = say("{} in line {} donates it ({}), {}", code(call), line, donated, took)
    return {**facts, "why": why, "call": code(call), "names": tuple(gone)}


def kept(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    """The call that took the data, with a copy in its place."""
    names = listed_facts(facts, "names", str)
    for root in sorted({array.partition("[")[0].partition(".")[0] for array in names}):
        line, call, _ = scene.taken[0]
        is_tree = any(other.startswith((f"{root}[", f"{root}.")) for other in names)
        if edit := ways.with_text(call, root, f"jax.tree.map(jnp.copy, {root})" if is_tree else f"jnp.copy({root})"):
            effect = say("{} keeps its data, and both need memory", name(root))
            is_here = scene.frame is not None and line == scene.frame.line
            yield Fit(edit=edit, effect=effect, replaces=call, line=None if is_here else line)
            return


def twice(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The argument that is given twice, and a copy of it in the second place."""
    texts = [argument.text for argument in scene.arguments if argument.text]
    twice = next((text for text in texts if texts.count(text) > 1), "")
    edit = ways.with_text(scene.expression, twice, f"jnp.copy({twice})") if twice else ""
    fits = (ways.instead(scene, edit, "each has its own memory"),) if edit else ()
    return {"fits": fits, "what": code(twice) if twice else None}


# ---------------------------------------------------------------- static arguments

_FORMS = {"ArrayImpl": "array", "Array": "array", "ndarray": "array", "list": "list", "set": "list", "dict": "dict"}
# An object that has a hash of its own, but not of all that it holds.
_HELD = re.compile(r"^TypeError: unhashable type: '([^'\n]{1,200})'$", re.M)


def hashless(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The value without a hash: a static argument, or something in it."""
    type_, held = (match["type"] or match["type2"]).rpartition(".")[2], _HELD.search(match.string)
    inner = held[1].rpartition(".")[2] if held else type_
    # The only static argument that may be of that type.
    static = [argument for argument in scene.arguments if argument.is_static] or scene.arguments
    same = [argument for argument in static if argument.type.partition(" of ")[0] in (type_, "") and argument.text]
    argument, form = same[0] if len(same) == 1 else None, _FORMS.get(inner, "type")
    what, word = code(argument.text) if argument else "a static argument", "array" if form == "array" else inner
    if inner != type_:
        what = what if argument else say("a static argument of the type {}", code(type_))
        is_named = form in ("type", "dict")
        words = say("{} is static and holds something of the type {}", what, code(word))
        return {"what": words, f"held_{'type' if is_named else form}": code(inner) if is_named else word}
    words = say("{} {} the type {}", what, "is static and of" if argument else "is of", code(word))
    facts: dict[str, object] = {"what": words, f"own_{form}": code(word) if form == "type" else word}
    if argument is not None and argument.type.endswith("of plain"):
        edit = f"tuple(sorted({argument.text}))" if type_ == "set" else f"tuple({argument.text})"
        facts["fits"] = (Fit(edit=edit, effect=say("a tuple has a hash"), replaces=argument.text),)
    return facts


def untraceable(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The argument that cannot be traced: an object's own, one that can be static, or a part of a tree."""
    path = match["name_path"]
    root = path.partition("[")[0].partition(".")[0]
    if root == "self":
        return {"self": code("self")}
    return {"static": code(f"static_argnames={path!r}")} if path.isidentifier() else {"root": name(root)}


_EFFECTS = {
    "OrderedDebugEffect": say("`jax.debug.print` or `jax.debug.callback`"),
    "OrderedIOEffect": say("`io_callback`"),
}


def ordered(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The calls that must keep their order, and on how many devices."""
    text = match.groupdict().get("effects") or "OrderedIOEffect"
    effects = dict.fromkeys(re.findall(r"(?:<[\w.]{0,200}?)?(\w{1,60}Effect)\b", text))
    counts = {len(array.device_ids) for array in scene.operands if len(array.device_ids) > 1}
    calls = joined([_EFFECTS.get(effect, code(effect)) for effect in effects], comma=" and ") or "an effect"
    return {"calls": calls, "on": f"{counts.pop()} devices" if len(counts) == 1 else "several devices"}


# ---------------------------------------------------------------- values that JAX cannot take


def masked(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The only masked array of the call, or its only array."""
    own = [one.text for one in scene.arguments if one.type == "MaskedArray" and one.text]
    own = own or [one.name for one in scene.operands if one.dtype and len(scene.operands) == 1]
    return {"masked": alone(own), "written": alone([ways.replaced_text(one, scene) for one in own])}


def typed(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The only argument of a type that JAX cannot take."""
    type_ = match["class"].rpartition(".")[2]
    same = [argument.text for argument in scene.arguments if argument.type == type_ and argument.text]
    own_type = None if type_ in ("str", "bytes", "object") else code(type_)
    return {"own_type": own_type, "which": alone(same, code)}


def position(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The argument at a position."""
    text = ways.texts_of(scene).get(match["place"])
    value = code(text) if text and match["code_type"] in ("list", "tuple") else None
    return {"which": code(text) if text else f"argument {match['place']}", "value": value}


def positional(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The call with its only argument by position."""
    own = [argument for argument in scene.arguments if argument.text]
    is_one = len(own) == len(scene.arguments) == 1
    return {"positional": code(re.sub(rf"\b{re.escape(own[0].key)}\s*=\s*", "", scene.expression))} if is_one else {}


def meshes(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The axes of the user's only mesh."""
    own = [mesh for mesh, variable in scene.meshes.items() if variable]
    return {"axes": specs.axes_words(own[0].axis_names, own[0]) if len(own) == 1 else None}


def unnamed(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The arguments that the function has, and those that are nearest to names that it has not."""
    known = [one for function in scene.functions[:1] for one in function.parameters]
    fits = tuple(fit for wrong in quoted(match["codes"]) for fit in ways.nearest_name(wrong, known, scene))
    return {"takes": listed(known) if known else None, "fits": fits}


def no_spec(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """A `NamedSharding` of something else than a mesh and a spec, with its arguments as they can be one."""
    texts = [argument.text for argument in scene.arguments]
    if scene.operator != "NamedSharding" or len(texts) != 2 or not all(texts):
        return None
    callee, (mesh, own) = scene.expression.partition("(")[0], texts
    edits = [f"{callee}({mesh}, P({own}))", f"{callee}({mesh}, P({own.strip('()[]')}))", f"{callee}({own}, {mesh})"]
    fits = [ways.instead(scene, edit, "a mesh, then a spec") for edit in edits]
    return {"fits": lambda judge: ways.first_accepted(fits, judge)}
