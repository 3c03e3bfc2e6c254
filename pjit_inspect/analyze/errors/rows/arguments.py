"""The table's rows of arguments that a call cannot have: placed otherwise than compiled for, donated before, without a hash.

*Source*: the texts in `jax/_src` of 0.8.1 to 0.12.0: `interpreters/pxla.py`, `stages.py`, `pjit.py`, `api.py`,
`api_util.py`, `array.py`, `interpreters/mlir.py`; PJRT's; and XLA's `spmd_partitioner.cc` of 0.8 and 0.9.
"""

# ruff: noqa: E501

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from pjit_inspect.analyze.errors.printed import TYPE, of_shape, read_sharding, read_type
from pjit_inspect.analyze.errors.specs import spec_words, type_words
from pjit_inspect.analyze.errors.table import Facts, Way, listed_facts, read_code
from pjit_inspect.analyze.errors.table import row as _row
from pjit_inspect.analyze.errors.ways import clauses, listed, mesh_named
from pjit_inspect.model.program.spec import spec_text
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, Fit
from pjit_inspect.model.words.sentence import Sentence, code, joined, name, say

_MOST = 3

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
    parts = _TYPED if "types" in match[0] else _PLACED
    found = list(parts.finditer(match.string, match.end()))[:8]
    pairs = [(_named(_side(one, "passed"), scene), _side(one, "wanted")) for one in found]
    words = [_differs(passed, wanted) for passed, wanted in pairs[:_MOST]]
    more = [f"and {len(pairs) - _MOST} more"] if len(pairs) > _MOST else []
    fits = tuple(fit for pair in pairs if parts is _PLACED for fit in _placed(*pair, scene))
    notes = (say("every argument needs its own change"),) if len(fits) > 1 else ()
    facts = {"what": clauses([*words, *more]), "arrays": tuple(passed for passed, _ in pairs)}
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
    same = [
        other for other in scene.operands
        if (other.shape, other.dtype) == (side.shape, side.dtype) and _is_placed_so(other, side)
    ]  # fmt: skip
    # Of several that are alike, the one at the same place of its tree, whatever the function calls the argument.
    same = [other for other in same if _path(other.name) == _path(side.name)] if len(same) > 1 else same
    if not same and len(scene.arguments) == 1 and side.name.isidentifier() and scene.arguments[0].text:
        # The only argument of the call, whatever it is written as.
        return replace(side, name=scene.arguments[0].text)
    return replace(side, name=same[0].name) if len(same) == 1 else replace(side, is_named=False)


def _path(text: str) -> str:
    return text[len(text.partition("[")[0]) :]


def _is_placed_so(other: ErrorArray, side: ErrorArray) -> bool:
    return (
        other.spec == side.spec if side.mesh is not None else not side.device_ids or other.device_ids == side.device_ids
    )


def _differs(passed: ErrorArray, wanted: ErrorArray) -> Sentence:
    is_other = passed.mesh != wanted.mesh
    given, compiled = _words(passed, is_other), _words(wanted, is_other)
    verb = "is on" if passed.device_ids else "is"
    if given == compiled:
        words = "{} {} {}, as the program was compiled for, but on other devices or in another order"
        return say(words, name(passed.name), verb, given)
    return say("{} {} {}, but the program was compiled for {}", name(passed.name), verb, given, compiled)


def _words(side: ErrorArray, with_mesh: bool) -> Sentence:
    if side.device_ids:
        return say("device {}", side.device_ids[0])
    if side.mesh is None:
        return say("{}", type_words(side))
    return say("{} on {}", spec_words(side.spec), str(side.mesh)) if with_mesh else say("{}", spec_words(side.spec))


def _placed(passed: ErrorArray, wanted: ErrorArray, scene: ErrorScene) -> Iterator[Fit]:
    """The argument placed as the program was compiled for, or as the program itself says that it belongs."""
    callee, own = scene.expression.partition("(")[0], passed.name
    keys = [argument.key for argument in scene.arguments if argument.text == own and argument.key.isdigit()]
    place, is_other = "", (passed.mesh, passed.spec) != (wanted.mesh, wanted.spec)
    if wanted.device_ids:
        place = f"jax.devices()[{wanted.device_ids[0]}]"
    elif mesh := mesh_named(wanted.mesh, scene):
        place = f"NamedSharding({mesh}, {spec_text(wanted.spec or ())})"
    elif len(keys) == 1 and callee and is_other:
        place = f"{callee}.input_shardings[0][{keys[0]}]"
    if place and passed.is_named:
        effect = say("places {} as the program was compiled for, once", name(own))
        yield Fit(edit=f"jax.device_put({own}, {place})", effect=effect, spec=wanted.spec, target=own, replaces=own)


# ---------------------------------------------------------------- data that is gone


def _gone(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The arrays whose data is gone, and the call that took it."""
    quoted = read_type(match["type"]) if match.groupdict().get("type") else None
    gone = {array.name: array for array in scene.operands if array.name in scene.deleted and _is(array, quoted)}
    unnamed = say("an array {}", type_words(quoted)) if quoted else "an argument"
    more = f" and {len(gone) - 3} more" if len(gone) > 3 else ""
    facts: dict[str, object] = {
        "what": say("{}{} {}", listed(list(gone)[:3]) if gone else unnamed, more, "have" if len(gone) > 1 else "has"),
        "arrays": tuple(gone.values()),
    }  # fmt: skip
    if not gone or not scene.taken:
        why = "it was deleted, as a jitted function does with what is donated to it"
        return facts | {"why": say(why), "call": "the function", "copy": "a copy"}
    line, text, is_sure = scene.taken[0]
    call = " ".join(text.split())
    took = "and the function took its memory" if is_sure else "and its memory is gone once that has run"
    by_name = re.search(rf"\b\w+\s*=\s*{re.escape(re.split(r'[.[]', next(iter(gone)))[0])}\b", call)
    donated = code("donate_argnames" if by_name else "donate_argnums")
    why = say("{} in line {} donates it ({}), {}", code(call), line, donated, took)
    return facts | {"why": why, "call": code(call), "names": tuple(gone)}


def _is(array: ErrorArray, quoted: ErrorArray | None) -> bool:
    return quoted is None or (array.shape, array.dtype) == (quoted.shape, quoted.dtype)


def _kept(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    """The call that took the data, with a copy in its place."""
    names = listed_facts(facts, "names", str)
    for root in sorted({array.partition("[")[0].partition(".")[0] for array in names}):
        line, call, _ = scene.taken[0]
        is_tree = any(other.startswith((f"{root}[", f"{root}.")) for other in names)
        if edit := _with_argument(call, root, f"jax.tree.map(jnp.copy, {root})" if is_tree else f"jnp.copy({root})"):
            effect = say("{} keeps its data, and both need memory", name(root))
            is_here = scene.frame is not None and line == scene.frame.line
            yield Fit(edit=edit, effect=effect, replaces=call, line=None if is_here else line)
            return


def _with_argument(call: str, own: str, text: str) -> str:
    """A call with another text for the last argument that is written so; "" where none is."""
    node = read_code(call)
    held = [*node.args, *(keyword.value for keyword in node.keywords)] if isinstance(node, ast.Call) else []
    same = [part for part in held if ast.get_source_segment(call, part) == own]
    # Python counts columns in bytes: they are places in the text only where every character is one, and of one line.
    if not same or same[-1].end_col_offset is None or not call.isascii() or "\n" in call:
        return ""
    return f"{call[: same[-1].col_offset]}{text}{call[same[-1].end_col_offset :]}"


def _twice(match: re.Match[str], scene: ErrorScene) -> Facts:
    texts = [argument.text for argument in scene.arguments if argument.text]
    twice = next((text for text in texts if texts.count(text) > 1), "")
    edit = _with_argument(scene.expression, twice, f"jnp.copy({twice})") if twice else ""
    fit = Fit(edit=edit, effect=say("each has its own memory"), replaces=scene.expression)
    return {"what": code(twice) if twice else "one array", "fits": (fit,) if edit else ()}


# ---------------------------------------------------------------- static arguments

_FORMS = {"ArrayImpl": "array", "Array": "array", "ndarray": "array", "list": "list", "set": "list", "dict": "dict"}
# An object that has a hash of its own, but not of all that it holds.
_HELD = re.compile(r"^TypeError: unhashable type: '([^'\n]{1,200})'$", re.M)


def _hashless(match: re.Match[str], scene: ErrorScene) -> Facts:
    """What has no hash: a static argument, or something in it."""
    type_, held = (match["type"] or match["type2"]).rpartition(".")[2], _HELD.search(match.string)
    inner = held[1].rpartition(".")[2] if held else type_
    # The only static argument that may be of that type.
    static = [argument for argument in scene.arguments if argument.is_static] or scene.arguments
    same = [argument for argument in static if argument.type.partition(" of ")[0] in (type_, "") and argument.text]
    argument, form = same[0] if len(same) == 1 else None, _FORMS.get(inner, "type")
    what, word = code(argument.text) if argument else "a static argument", "array" if form == "array" else inner
    if inner != type_:
        what = what if argument else say("a static argument of the type {}", code(type_))
        words = say("{} is static and holds something of the type {}", what, code(word))
        is_named = form in ("type", "dict")
        return {"what": words, f"held_{'type' if is_named else form}": code(inner) if is_named else word}
    words = say("{} {} the type {}", what, "is static and of" if argument else "is of", code(word))
    edit = (f"tuple(sorted({argument.text}))" if type_ == "set" else f"tuple({argument.text})") if argument else ""
    is_plain = argument is not None and argument.type.endswith("of plain")
    fit = Fit(edit=edit, effect=say("a tuple has a hash"), replaces=argument.text if argument else "")
    return {"what": words, f"own_{form}": code(word) if form == "type" else word, "fits": (fit,) if is_plain else ()}


def _untraceable(match: re.Match[str], scene: ErrorScene) -> Facts:
    path = match["name_path"]
    facts: dict[str, object] = {"type": code(match["type"].rpartition(".")[2])}
    root = path.partition("[")[0].partition(".")[0]
    if root == "self":
        return facts | {"self": code("self")}
    return facts | ({"static": code(f"static_argnames={path!r}")} if path.isidentifier() else {"root": name(root)})


# ---------------------------------------------------------------- ordered effects

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


_UNORDERED = Way("write `ordered=False` in place of `ordered=True`", "the calls may then come in any order")
_TUPLE = "a tuple has a hash where all in it have one"

ARGUMENT_ROWS = (
    _row("compiled", r"(?:Computation was compiled for input shardings that disagree with the shardings of arguments passed to it|Argument types differ from the types for which this computation was compiled)\. ",
         "{what}",
         Way("call the jitted function in place of the compiled one", "JAX then compiles for what it is given"), facts=_compiled),
    _row("deleted", rf"(?:Array has been deleted with shape=(?P<type>{TYPE})\.?$"
         # 0.8 and 0.9 on one device; 0.10. Newer ones say the former.
         r"|.*?Invalid buffer passed(?: to Execute\(\) as argument \d{1,9} to replica .{0,200}|: buffer has been )deleted or donated)",
         "{what} no data any more: {why}",
         Way("go on with what {call} returned", "that is where the data went"), _kept,
         Way("give the donating function {copy}, as `jnp.copy` makes it", "both then have data, and need memory"), facts=_gone),
    _row("deleted", r".*?Attempt to donate the same buffer twice in Execute\(\)",
         "{what} is given to two donated arguments, and its memory can be taken only once",
         Way("give one of them a copy, as `jnp.copy` makes it", "each has its own memory", is_last=True), facts=_twice),
    _row("deleted", r".*?Attempt to use a buffer that was previously donated in the same call to Execute\(\)",
         "{what} is given to a donated argument and to another one, which needs it, too",
         Way("give one of them a copy, as `jnp.copy` makes it", "each has its own memory", is_last=True), facts=_twice),
    _row("static argument", r"Non-hashable static arguments are not supported.{1,600}? of type <class '[^'\n]{1,200}Tracer'>",
         "a static argument is traced by what is around the call, and a static value must be known",
         Way("leave it out of the static arguments", "it is then traced"),
         Way("take it out of what is mapped, differentiated or jitted around the call", "as with `in_axes=None`: it is then one value, and known")),
    _row("static argument", r"Non-hashable static arguments are not supported(?:\. An error occurred (?:during a call to '.{1,200}?' )?while trying to hash an object of type <(?:class|enum) '(?P<type>[^'\n]{1,300})'>, "
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
    _row("static argument", r"Error interpreting argument to .{1,500}? as an abstract array\. The problematic value is of type <(?:class|enum) '(?P<type>[^'\n]{1,300})'> and was passed to the function at path (?P<name_path>\S{1,300}?)\.\n",
         "{name_path} is given an object of the type {type}, which is no array and cannot be traced",
         Way("name it in the `jax.jit` of the function: {static}", "for objects with a hash: it is then known while tracing, and compiled for each value"),
         # A program that knows an object goes on with what the object held when it was compiled.
         Way("register the class as a tree, as `jax.tree_util.register_dataclass` does, with its arrays as the leaves", "{self} is then traced, and a call takes what it holds at the time"),
         Way("jit a function that takes the arrays of {self} as arguments", "what changes must be an argument"),
         Way("name it in the `jax.jit` of the function: `static_argnames='self'`, only if nothing in {self} ever changes", "it is compiled for each object: a later change of what the object holds is not seen"),
         Way("take it out of {root}, and give it as an argument of its own that is static", "all leaves of a tree are traced"), facts=_untraceable),
    _row("ordered effects", r"The following ordered effects are not supported for more than 1 device: \[(?P<effects>.{1,2000})\]$",
         "the program runs on {on}, and {calls} in it has `ordered=True`: JAX keeps an order on one device only", _UNORDERED, facts=_ordered),
    # What XLA's partitioner of 0.8 and 0.9 says of an `io_callback` that must keep its order and has a result.
    _row("ordered effects", r".*?side-effect HLO cannot have a replicated sharding: %.*? = \(token\[\],[^\n]{0,2000}? custom-call\([^\n]{0,2000}?custom_call_target=\"xla_(?:ffi_)?python_",
         "the program runs on {on}, and {calls} in it has `ordered=True` and a result, which XLA cannot place", _UNORDERED, facts=_ordered),
)  # fmt: skip
"""Each tried in turn."""
