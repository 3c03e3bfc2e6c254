"""The table's rows of calls: compiled ahead of time, data donated before, static arguments, values that JAX cannot take.

*Source*: the texts in `jax/_src` of 0.8.1 to 0.12.0: `stages.py`, `api_util.py`, `pjit.py`, `api.py`, `array.py`,
`dtypes.py`, `sharding_impls.py`, `numpy/`, `interpreters/mlir.py`, `interpreters/pxla.py`; PJRT's; and XLA's
`spmd_partitioner.cc` of 0.8 and 0.9.
"""

# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pjit_inspect.analyze.errors import specs, ways
from pjit_inspect.analyze.errors.printed import TYPE, of_shape, read_sharding, read_type
from pjit_inspect.analyze.errors.rows.places import moved_fit
from pjit_inspect.analyze.errors.rows.trees import AGAIN
from pjit_inspect.analyze.errors.specs import spec_words
from pjit_inspect.analyze.errors.table import Facts, Way, listed_facts, quoted, row
from pjit_inspect.analyze.errors.ways import clauses, listed
from pjit_inspect.model.program.mesh import spec_text
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, Fit
from pjit_inspect.model.words.sentence import Sentence, code, joined, name, say

# ---------------------------------------------------------------- compiled ahead of time

_PLACED = re.compile(
    r"Argument (?P<name>.{1,400}?) with shape (?P<type>\w{1,24}\[[\d,]{0,200}\]):\n\s*Passed sharding: (?P<passed>[^\n]{1,2000})\n\s*Required sharding: (?P<wanted>[^\n]{1,2000})"
)
_TYPED = re.compile(
    r"Argument '(?P<name>.{1,400}?)' compiled with (?P<wanted>\S{1,400}) and called with (?P<passed>\S{1,400})"
)
_ONE_DEVICE = re.compile(r"SingleDeviceSharding\(device=\w{1,40}\(id=(\d{1,9})\b")


def _compiled(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """Each argument that is another than the program was compiled for."""
    is_placed = "types" not in match[0]
    found = list((_PLACED if is_placed else _TYPED).finditer(match.string, match.end()))[:8]
    pairs = [(_named(_side(one, "passed"), scene), _side(one, "wanted")) for one in found]
    fits = tuple(fit for pair in pairs if is_placed for fit in _placed(*pair, scene))
    notes = (say("every argument needs its own change"),) if len(fits) > 1 else ()
    facts = {"what": clauses([_differs(*pair) for pair in pairs], 3), "arrays": tuple(passed for passed, _ in pairs)}
    return {**facts, "fits": fits, "notes": notes} if pairs else None


def _side(match: re.Match[str], side: str) -> ErrorArray:
    if "type" not in match.groupdict():
        return replace(read_type(match[side], match["name"]), is_named=True)
    array = replace(read_type(match["type"], match["name"]), spec=None, is_named=True)
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


def _placed(passed: ErrorArray, wanted: ErrorArray, scene: ErrorScene) -> Iterator[Fit]:
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


def _gone(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The arrays whose data is gone, and the call that took it."""
    said = replace(read_type(match["type"]), spec=None) if match.groupdict().get("type") else None
    same = ways.owns_of(said, scene) if said else scene.operands
    gone = {array.name: array for array in same if array.name in scene.deleted}
    unnamed = say("an array {}", specs.type_words(said)) if said else "an argument"
    more = f" and {len(gone) - 3} more" if len(gone) > 3 else ""
    what = say("{}{} {}", listed(list(gone)[:3]) if gone else unnamed, more, "have" if len(gone) > 1 else "has")
    if not gone or not scene.taken:
        return {"what": what, "arrays": tuple(gone.values()), "lost": True}
    line, text, is_sure = scene.taken[0]
    call = " ".join(text.split())
    took = "and the function took its memory" if is_sure else "and its memory is gone once that has run"
    by_name = re.search(rf"\b\w+\s*=\s*{re.escape(re.split(r'[.[]', next(iter(gone)))[0])}\b", call)
    donated = code("donate_argnames" if by_name else "donate_argnums")
    why = say("{} in line {} donates it ({}), {}", code(call), line, donated, took)
    return {"what": what, "arrays": tuple(gone.values()), "why": why, "call": code(call), "names": tuple(gone)}


def _kept(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
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


def _twice(match: re.Match[str], scene: ErrorScene) -> Facts:
    texts = [argument.text for argument in scene.arguments if argument.text]
    twice = next((text for text in texts if texts.count(text) > 1), "")
    edit = ways.with_text(scene.expression, twice, f"jnp.copy({twice})") if twice else ""
    fits = (ways.instead(scene, edit, "each has its own memory"),) if edit else ()
    return {"fits": fits, **({"what": code(twice)} if twice else {})}


# ---------------------------------------------------------------- static arguments

_FORMS = {"ArrayImpl": "array", "Array": "array", "ndarray": "array", "list": "list", "set": "list", "dict": "dict"}
# An object that has a hash of its own, but not of all that it holds.
_HELD = re.compile(r"^TypeError: unhashable type: '([^'\n]{1,200})'$", re.M)


def _hashless(match: re.Match[str], scene: ErrorScene) -> Facts:
    """Finds the value without a hash: a static argument, or something in it."""
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


def _untraceable(match: re.Match[str], scene: ErrorScene) -> Facts:
    path = match["name_path"]
    root = path.partition("[")[0].partition(".")[0]
    if root == "self":
        return {"self": code("self")}
    return {"static": code(f"static_argnames={path!r}")} if path.isidentifier() else {"root": name(root)}


_EFFECTS = {
    "OrderedDebugEffect": say("`jax.debug.print` or `jax.debug.callback`"),
    "OrderedIOEffect": say("`io_callback`"),
}


def _ordered(match: re.Match[str], scene: ErrorScene) -> Facts:
    text = match.groupdict().get("effects") or "OrderedIOEffect"
    effects = dict.fromkeys(re.findall(r"(?:<[\w.]{0,200}?)?(\w{1,60}Effect)\b", text))
    counts = {len(array.device_ids) for array in scene.operands if len(array.device_ids) > 1}
    calls = joined([_EFFECTS.get(effect, code(effect)) for effect in effects], comma=" and ") or "an effect"
    return {"calls": calls, "on": f"{counts.pop()} devices" if len(counts) == 1 else "several devices"}


# ---------------------------------------------------------------- values that JAX cannot take


def _masked(match: re.Match[str], scene: ErrorScene) -> Facts:
    own = [a.text for a in scene.arguments if a.type == "MaskedArray" and a.text]
    own = own or [a.name for a in scene.operands if a.dtype and len(scene.operands) == 1]
    return {"masked": name(own[0]), "written": name(ways.replaced_text(own[0], scene))} if len(own) == 1 else {}


def _typed(match: re.Match[str], scene: ErrorScene) -> Facts:
    type_ = match["class"].rpartition(".")[2]
    same = [argument.text for argument in scene.arguments if argument.type == type_ and argument.text]
    own = {} if type_ in ("str", "bytes", "object") else {"own_type": code(type_)}
    return own | ({"which": code(same[0])} if len(same) == 1 else {})


def _position(match: re.Match[str], scene: ErrorScene) -> Facts:
    text = ways.texts_of(scene).get(match["place"])
    value = {"value": code(text)} if text and match["code_type"] in ("list", "tuple") else {}
    return {"which": code(text) if text else f"argument {match['place']}", **value}


def _positional(match: re.Match[str], scene: ErrorScene) -> Facts:
    own = [argument for argument in scene.arguments if argument.text]
    is_one = len(own) == len(scene.arguments) == 1
    return {"positional": code(re.sub(rf"\b{re.escape(own[0].key)}\s*=\s*", "", scene.expression))} if is_one else {}


def _meshes(match: re.Match[str], scene: ErrorScene) -> Facts:
    own = [mesh for mesh, variable in scene.meshes.items() if variable]
    return {"axes": specs.axes_words(own[0].axis_names, own[0])} if len(own) == 1 else {}


def _unnamed(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The arguments that the function has, and those that are nearest to names that it has not."""
    known = [one for function in scene.functions[:1] for one in function.parameters]
    fits = tuple(fit for wrong in quoted(match["codes"]) for fit in ways.nearest_name(wrong, known, scene))
    return {"takes": say(": it takes {}", listed(known)) if known else "", "fits": fits}


def _no_spec(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """A `NamedSharding` of something else than a mesh and a spec."""
    texts = [argument.text for argument in scene.arguments]
    if scene.operator != "NamedSharding" or len(texts) != 2 or not all(texts):
        return None
    callee, (mesh, own) = scene.expression.partition("(")[0], texts
    edits = [f"{callee}({mesh}, P({own}))", f"{callee}({mesh}, P({own.strip('()[]')}))", f"{callee}({own}, {mesh})"]
    fits = [ways.instead(scene, edit, "a mesh, then a spec") for edit in edits]
    return {"fits": lambda judge: ways.first_accepted(fits, judge)}


_UNORDERED = Way("write `ordered=False` in place of `ordered=True`", "the calls may then come in any order")
_TUPLE = "a tuple has a hash where all in it have one"

CALL_ROWS = (
    row("compiled", r"(?:Computation was compiled for input shardings that disagree with the shardings of arguments passed to it|Argument types differ from the types for which this computation was compiled)\. ",
         "{what}",
         AGAIN, facts=_compiled),
    row("deleted", rf"(?:Array has been deleted with shape=(?P<type>{TYPE})\.?$"
         # 0.8 and 0.9 on one device; 0.10. Newer ones say the former.
         r"|.*?Invalid buffer passed(?: to Execute\(\) as argument \d{1,9} to replica .{0,200}|: buffer has been )deleted or donated)",
         "{what} no data any more: {why|it was deleted, as a jitted function does with what is donated to it}",
         Way("go on with what {call|the function} returned", "that is where the data went"), _kept,
         Way("give the donating function a copy, as `jnp.copy` makes it{?lost}", "both then have data, and need memory"), facts=_gone),
    row("deleted", r".*?Attempt to donate the same buffer twice in Execute\(\)",
         "{what|one array} is given to two donated arguments, and its memory can be taken only once",
         Way("give one of them a copy, as `jnp.copy` makes it", "each has its own memory", is_last=True), facts=_twice),
    row("deleted", r".*?Attempt to use a buffer that was previously donated in the same call to Execute\(\)",
         "{what|one array} is given to a donated argument and to another one, which needs it, too",
         Way("give one of them a copy, as `jnp.copy` makes it", "each has its own memory", is_last=True), facts=_twice),
    row("static argument", r"Non-hashable static arguments are not supported.{1,600}? of type <class '[^'\n]{1,200}Tracer'>",
         "a static argument is traced by what is around the call, and a static value must be known",
         Way("leave it out of the static arguments", "it is then traced"),
         Way("take it out of what is mapped, differentiated or jitted around the call", "as with `in_axes=None`: it is then one value, and known")),
    row("static argument", r"Non-hashable static arguments are not supported(?:\. An error occurred (?:during a call to '.{1,200}?' )?while trying to hash an object of type <(?:class|enum) '(?P<type>[^'\n]{1,300})'>, "
         # Elsewhere in JAX, of an argument.
         r"|, as this can lead to unexpected cache-misses\. Static argument \(index \d{1,4}\) of type <class '(?P<type2>[^'\n]{1,300})'> for function \S{1,200} is non-hashable\.)",
         "{what}, which has no hash: JAX looks up compiled programs by it",
         Way("pass a tuple in place of the {own_list}", _TUPLE, is_last=True),
         Way("pass `tuple(sorted(d.items()))` of the {own_dict}, and make `dict` of it inside", "a tuple has a hash"),
         Way("leave it out of the static arguments", "an {own_array} is traced, and one program does for all values"),
         Way("give {own_type} a hash, as `@dataclass(frozen=True)` does", "equal objects then find the program that was compiled"),
         Way("make the {held_list} in it a tuple", _TUPLE),
         Way("give the {held_array} as an argument of its own that is traced", "one program does for all values"),
         Way("give what it holds of the type {held_type} a hash, or leave it out", "it is then found again"), facts=_hashless),
    row("static argument", r"Error interpreting argument to .{1,500}? as an abstract array\. The problematic value is of type <(?:class|enum) '(?P<class>[^'\n]{1,300})'> and was passed to the function at path (?P<name_path>\S{1,300}?)\.\n",
         "{name_path} is given an object of the type {class}, which is no array and cannot be traced",
         Way("name it in the `jax.jit` of the function: {static}", "for objects with a hash: it is then known while tracing, and compiled for each value"),
         # A program that knows an object goes on with what the object held when it was compiled.
         Way("register the class as a tree, as `jax.tree_util.register_dataclass` does, with its arrays as the leaves", "{self} is then traced, and a call takes what it holds at the time"),
         Way("jit a function that takes the arrays of {self} as arguments", "what changes must be an argument"),
         Way("name it in the `jax.jit` of the function: `static_argnames='self'`, only if nothing in {self} ever changes", "it is compiled for each object: a later change of what the object holds is not seen"),
         Way("take it out of {root}, and give it as an argument of its own that is static", "all leaves of a tree are traced"), facts=_untraceable),
    row("ordered effects", r"The following ordered effects are not supported for more than 1 device: \[(?P<effects>.{1,2000})\]$",
         "the program runs on {on}, and {calls} in it has `ordered=True`: JAX keeps an order on one device only", _UNORDERED, facts=_ordered),
    # What XLA's partitioner of 0.8 and 0.9 says of an `io_callback` that must keep its order and has a result.
    row("ordered effects", r".*?side-effect HLO cannot have a replicated sharding: %.*? = \(token\[\],[^\n]{0,2000}? custom-call\([^\n]{0,2000}?custom_call_target=\"xla_(?:ffi_)?python_",
         "the program runs on {on}, and {calls} in it has `ordered=True` and a result, which XLA cannot place", _UNORDERED, facts=_ordered),
    row("compiled", r"Cannot apply JAX transformations to a function lowered and compiled for a particular signature",
         "{expression} calls a compiled program while another function is traced: a compiled program takes arrays only",
         Way("call the jitted function in place of the compiled one", "it is then traced, too")),
    row("argument", r"numpy masked arrays are not supported as direct inputs to JAX functions",
         "{masked|an argument} is a masked array of numpy, and JAX has no masks",
         Way("{masked}.filled(0)", "masked places become 0", replaces="{written}"), Way("call its `.filled(value)`", "masked places get that value", is_last=True), Way("pass its `.data` and its `.mask`, and use `jnp.where`", "if the mask matters"), facts=_masked),
    row("argument", r"(?P<code_op>\w+) requires ndarray or scalar arguments, got <(?:class|enum) '(?:[\w.]*\.)?(?P<code_type>\w+)'> at position (?P<place>\d+)",
         "{code_op} takes arrays and numbers, and {which} is of the type {code_type}",
         Way("jnp.asarray({value})", "an array of its elements", replaces="{value}"), facts=_position),
    row("argument", r"Error interpreting argument to (?P<op>.{1,200}?) as a JAX value\. The problematic value is of type <(?:class|enum) '(?:[\w.]*\.)?(?P<code_type>\w+)'>",
         "an argument is of the type {code_type}, and holds what is no number: JAX has no array of it"),
    row("argument", r"Argument '.{1,300}?' (?:of shape \S+ )?of type '?<(?:class|enum) '(?P<class>[\w.]{1,200})'>'? is not a valid JAX type",
         "{which|an argument} is of the type {class}, which JAX cannot take as an array",
         Way("name it in the `jax.jit` of the function, by `static_argnames`", "it is then known while tracing, and compiled for each value"),
         Way("register {own_type} as a tree, as `jax.tree_util.register_dataclass` does", "if it holds arrays"), facts=_typed),
    row("argument", r"function (?P<name_function>\S{1,200})(?: at \S{1,1000})? traced for (?P<code_for>\w+) returned a value of type <(?:class|enum) '(?:[\w.]*\.)?(?P<code_type>\w+)'>(?: at output component (?P<code_at>\S{1,200}))?, which is not a valid JAX type",
         "{name_function} returns an object of the type {code_type}, which is no array and cannot leave a function that is traced for {code_for}",
         Way("leave it out of what {name_function} returns, at {code_at}", "what is no array is known before the call"),
         Way("return arrays and numbers only", "in tuples, lists and dicts")),
    row("argument", r"(?P<code_function>[\w.<>]{1,200})\(\) missing \d+ required (?:positional|keyword-only) arguments?: (?P<codes>'[^\n]{1,400})$",
         "{expression} calls {code_function} without {codes}",
         Way("give {codes} in the call", "or a default in the definition")),
    row("argument", r"(?P<code_function>[\w.<>]{1,200})\(\) takes (?P<wanted>(?:from \d+ to )?\d+) positional arguments? but (?P<given>\d+) (?:was|were) given$",
         "{code_function} takes {wanted} by position, and {expression} calls it with {given}",
         Way("call it with {wanted}", "or name more in the definition")),
    row("argument", r"(?P<code_function>[\w.<>]{1,200})\(\) got an unexpected keyword argument '(?P<code_key>\w{1,200})'",
         "{expression} calls {code_function} with {code_key}, which it does not take",
         Way("leave {code_key} out, or name it in the definition", "each keyword is the name of an argument")),
    row("prefix", r"(?:'\w{1,200}' object has no attribute '\w{1,200}'|__init__\(\): incompatible function arguments\.)",
         "a `NamedSharding` is of a mesh and a `PartitionSpec`, and {expression} gives it something else",
         Way("give it a mesh and a spec, such as `P('data')`", "the spec has an entry for each dimension", is_last=True), facts=_no_spec),
    row("argument", r"axis (?P<place>-?\d+) is out of bounds for array of dimension (?P<rank>\d+)",
         "{expression} names dimension {place} of an array that has {rank}",
         Way("name a dimension below {rank}", "they are counted from 0, negative ones from the end")),
    row("argument", r"JAX arrays are immutable and do not support in-place item assignment",
         "arrays of JAX do not change in place",
         Way("write `x = x.at[index].set(value)`", "a new array; under `jax.jit` no copy is made where none is needed")),
    row("static argument", r"static_argnames and donate_argnames cannot intersect\. Argument names (?P<codes>\{[^{}]*\})",
         "{codes} is both static and donated, and a static argument has no array to donate",
         Way("leave it out of `donate_argnums`, or of `static_argnums`", "one of them only")),
    row("static argument", r"Jitted function has (?P<code_which>static_argnums|donate_argnums)=(?P<code_numbers>\([\d, -]*\)), but only accepts (?P<count>\d+) positional arguments",
         "{code_which} is {code_numbers}, counted from 0, but the function takes {count} by position",
         Way("count from 0, or name them with `static_argnames` or `donate_argnames`", "names do not shift")),
    row("static argument", r"Jitted function has invalid argnames (?P<codes>\{[^{}]*\}) in (?P<code_which>\w+)\. ",
         "{code_which} names {codes}, which is no argument of the function{takes}",
         Way("write the name that the definition has", "names are those of its arguments", is_last=True), facts=_unnamed),
    row("argument", r"pjit does not support kwargs when in_shardings is specified",
         "a function with `in_shardings` takes positional arguments only, and {expression} gives some by name",
         Way("{positional}", "by position", replaces="{expression}"), Way("give the arguments by position", "in the order of `in_shardings`", is_last=True), facts=_positional),
    row("prefix", r"(?P<code_which>\w+) leaf specifications are expected to be PartitionSpec instances or None, but got (?P<code_value>.{1,100})",
         "{code_which} takes shardings, and got {code_value}",
         Way("give a `NamedSharding`, of a mesh and a spec", "a spec alone needs a mesh that is set")),
    row("prefix", r"Unconstrained dims are not allowed when passed to (?P<code_which>\w+): ",
         "{code_which} must say how each dimension is split, and has `P.UNCONSTRAINED`",
         Way("write `None` or an axis in its place", "only `with_sharding_constraint` may leave that to XLA")),
    row("prefix", r"`jax\.device_put` only accepts .*? Received invalid value: (?P<code_value>.{1,100})",
         "`jax.device_put` places on a device or a sharding, and got {code_value}",
         Way("give it a `NamedSharding` of {mesh} and a spec", "a spec over {axes}"), Way("give it a `NamedSharding`", "a mesh and a spec"), facts=_meshes),
    row("prefix", r"`out_sharding` argument of (?P<code_op>\w+) only supports instances of `NamedSharding` or `PartitionSpec`\. Got (?P<code_value>.{1,100}?) of type",
         "`out_sharding` of {code_op} takes a spec or a `NamedSharding`, and got {code_value}",
         Way("give it a spec", "such as `P('data')`")),
    row("prefix", r"Missing required keyword argument: '(?P<code_key>(?:in|out)_sharding)'",
         "{expression} needs {code_key}: JAX cannot tell how an array is split where axes change their type",
         Way("give it {code_key}, a spec for each array", "`P()` for a copy on every device")),
    row("argument", r"Explicit sharding inference for (?P<code_op>\w+) is not currently implemented\. Please specify out_sharding",
         "JAX does not work out how the result of {code_op} is split on an Explicit mesh",
         Way("give it `out_sharding`", "a spec of the result")),
)  # fmt: skip
"""Each tried in turn."""
