"""The table's rows of calls: compiled ahead of time, exported, wrong arguments of `jax.jit`, values JAX cannot take.

*Source*: the texts in `jax/_src` of 0.8.1 to 0.12.0: `stages.py`, `api_util.py`, `pjit.py`, `sharding_impls.py`,
`dtypes.py`, `api.py`, `numpy/`, `export/_export.py`.
"""

# ruff: noqa: E501

from __future__ import annotations

import re

from pjit_inspect.analyze.errors.specs import axes_words
from pjit_inspect.analyze.errors.table import Facts, Way
from pjit_inspect.analyze.errors.table import row as _row
from pjit_inspect.analyze.errors.ways import first_accepted, listed, nearest_name, replaced_text
from pjit_inspect.model.report.explained_error import ErrorScene, Fit
from pjit_inspect.model.words.sentence import code, name, say


def _quoted(text: str) -> list[str]:
    return re.findall(r"'([^']{1,100})'", text)


# ---------------------------------------------------------------- values that JAX cannot take


def _masked(match: re.Match[str], scene: ErrorScene) -> Facts:
    own = [a.text for a in scene.arguments if a.type == "MaskedArray" and a.text]
    own = own or [a.name for a in scene.operands if a.dtype and len(scene.operands) == 1]
    if len(own) != 1:
        return {"which": "an argument"}
    return {"which": name(own[0]), "name_masked": name(own[0]), "name_written": name(replaced_text(own[0], scene))}


def _typed(match: re.Match[str], scene: ErrorScene) -> Facts:
    type_ = match["type"].rpartition(".")[2]
    same = [argument.text for argument in scene.arguments if argument.type == type_ and argument.text]
    own = {} if type_ in ("str", "bytes", "object") else {"own_type": code(type_)}
    return {"type": code(type_), "which": code(same[0]) if len(same) == 1 else "an argument", **own}


def _position(match: re.Match[str], scene: ErrorScene) -> Facts:
    text = next((argument.text for argument in scene.arguments if argument.key == match["place"]), "")
    value = {"code_value": code(text)} if text and match["code_type"] in ("list", "tuple") else {}
    return {"which": code(text) if text else f"argument {match['place']}", **value}


def _positional(match: re.Match[str], scene: ErrorScene) -> Facts:
    own = [argument for argument in scene.arguments if argument.text]
    is_one = len(own) == len(scene.arguments) == 1
    return {"positional": code(re.sub(rf"\b{re.escape(own[0].key)}\s*=\s*", "", scene.expression))} if is_one else {}


def _meshes(match: re.Match[str], scene: ErrorScene) -> Facts:
    own = [(mesh, variable) for mesh, variable in scene.meshes.items() if variable]
    if len(own) != 1:
        return {}
    mesh, variable = own[0]
    return {"mesh": code(variable), "axes": axes_words(mesh.axis_names, mesh)}


def _unnamed(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The arguments that the function has, and those that are nearest to names that it has not."""
    known = [one for function in scene.functions[:1] for one in function.parameters]
    fits = tuple(fit for wrong in _quoted(match["codes"]) for fit in nearest_name(wrong, known, scene))
    return {"takes": say(": it takes {}", listed(known)) if known else "", "fits": fits}


def _no_spec(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """A `NamedSharding` of something else than a mesh and a spec."""
    texts = [argument.text for argument in scene.arguments]
    if scene.operator != "NamedSharding" or len(texts) != 2 or not all(texts):
        return None
    callee, (mesh, own) = scene.expression.partition("(")[0], texts
    edits = [f"{callee}({mesh}, P({own}))", f"{callee}({mesh}, P({own.strip('()[]')}))", f"{callee}({own}, {mesh})"]
    fits = [Fit(edit=edit, effect=say("a mesh, then a spec"), replaces=scene.expression) for edit in edits]
    return {"fits": lambda judge: first_accepted(fits, judge)}


CALL_ROWS = (
    _row("compiled", r"Cannot apply JAX transformations to a function lowered and compiled for a particular signature",
         "{expression} calls a compiled program while another function is traced: a compiled program takes arrays only",
         Way("call the jitted function in place of the compiled one", "it is then traced, too")),
    _row("argument", r"numpy masked arrays are not supported as direct inputs to JAX functions",
         "{which} is a masked array of numpy, and JAX has no masks",
         Way("{name_masked}.filled(0)", "masked places become 0", replaces="{name_written}"), Way("call its `.filled(value)`", "masked places get that value", is_last=True), Way("pass its `.data` and its `.mask`, and use `jnp.where`", "if the mask matters"), facts=_masked),
    _row("argument", r"(?P<code_op>\w+) requires ndarray or scalar arguments, got <(?:class|enum) '(?:[\w.]*\.)?(?P<code_type>\w+)'> at position (?P<place>\d+)",
         "{code_op} takes arrays and numbers, and {which} is of the type {code_type}",
         Way("jnp.asarray({code_value})", "an array of its elements", replaces="{code_value}"), facts=_position),
    _row("argument", r"Error interpreting argument to (?P<op>.{1,200}?) as a JAX value\. The problematic value is of type <(?:class|enum) '(?:[\w.]*\.)?(?P<code_type>\w+)'>",
         "an argument is of the type {code_type}, and holds what is no number: JAX has no array of it"),
    _row("argument", r"Argument '.{1,300}?' (?:of shape \S+ )?of type '?<(?:class|enum) '(?P<type>[\w.]{1,200})'>'? is not a valid JAX type",
         "{which} is of the type {type}, which JAX cannot take as an array",
         Way("name it in the `jax.jit` of the function, by `static_argnames`", "it is then known while tracing, and compiled for each value"),
         Way("register {own_type} as a tree, as `jax.tree_util.register_dataclass` does", "if it holds arrays"), facts=_typed),
    _row("argument", r"function (?P<name_function>\S{1,200})(?: at \S{1,1000})? traced for (?P<code_for>\w+) returned a value of type <(?:class|enum) '(?:[\w.]*\.)?(?P<code_type>\w+)'>(?: at output component (?P<code_at>\S{1,200}))?, which is not a valid JAX type",
         "{name_function} returns an object of the type {code_type}, which is no array and cannot leave a function that is traced for {code_for}",
         Way("leave it out of what {name_function} returns, at {code_at}", "what is no array is known before the call"),
         Way("return arrays and numbers only", "in tuples, lists and dicts")),
    _row("argument", r"(?P<code_function>[\w.<>]{1,200})\(\) missing \d+ required (?:positional|keyword-only) arguments?: (?P<codes>'[^\n]{1,400})$",
         "{expression} calls {code_function} without {codes}",
         Way("give {codes} in the call", "or a default in the definition")),
    _row("argument", r"(?P<code_function>[\w.<>]{1,200})\(\) takes (?P<wanted>(?:from \d+ to )?\d+) positional arguments? but (?P<given>\d+) (?:was|were) given$",
         "{code_function} takes {wanted} by position, and {expression} calls it with {given}",
         Way("call it with {wanted}", "or name more in the definition")),
    _row("argument", r"(?P<code_function>[\w.<>]{1,200})\(\) got an unexpected keyword argument '(?P<code_key>\w{1,200})'",
         "{expression} calls {code_function} with {code_key}, which it does not take",
         Way("leave {code_key} out, or name it in the definition", "each keyword is the name of an argument")),
    _row("prefix", r"(?:'\w{1,200}' object has no attribute '\w{1,200}'|__init__\(\): incompatible function arguments\.)",
         "a `NamedSharding` is of a mesh and a `PartitionSpec`, and {expression} gives it something else",
         Way("give it a mesh and a spec, such as `P('data')`", "the spec has an entry for each dimension", is_last=True), facts=_no_spec),
    _row("argument", r"axis (?P<place>-?\d+) is out of bounds for array of dimension (?P<rank>\d+)",
         "{expression} names dimension {place} of an array that has {rank}",
         Way("name a dimension below {rank}", "they are counted from 0, negative ones from the end")),
    _row("argument", r"JAX arrays are immutable and do not support in-place item assignment",
         "arrays of JAX do not change in place",
         Way("write `x = x.at[index].set(value)`", "a new array; under `jax.jit` no copy is made where none is needed")),
    _row("static argument", r"static_argnames and donate_argnames cannot intersect\. Argument names (?P<codes>\{[^{}]*\})",
         "{codes} is both static and donated, and a static argument has no array to donate",
         Way("leave it out of `donate_argnums`, or of `static_argnums`", "one of them only")),
    _row("static argument", r"Jitted function has (?P<code_which>static_argnums|donate_argnums)=(?P<code_numbers>\([\d, -]*\)), but only accepts (?P<count>\d+) positional arguments",
         "{code_which} is {code_numbers}, counted from 0, but the function takes {count} by position",
         Way("count from 0, or name them with `static_argnames` or `donate_argnames`", "names do not shift")),
    _row("static argument", r"Jitted function has invalid argnames (?P<codes>\{[^{}]*\}) in (?P<code_which>\w+)\. ",
         "{code_which} names {codes}, which is no argument of the function{takes}",
         Way("write the name that the definition has", "names are those of its arguments", is_last=True), facts=_unnamed),
    _row("argument", r"pjit does not support kwargs when in_shardings is specified",
         "a function with `in_shardings` takes positional arguments only, and {expression} gives some by name",
         Way("{positional}", "by position", replaces="{expression}"), Way("give the arguments by position", "in the order of `in_shardings`", is_last=True), facts=_positional),
    _row("prefix", r"(?P<code_which>\w+) leaf specifications are expected to be PartitionSpec instances or None, but got (?P<code_value>.{1,100})",
         "{code_which} takes shardings, and got {code_value}",
         Way("give a `NamedSharding`, of a mesh and a spec", "a spec alone needs a mesh that is set")),
    _row("prefix", r"Unconstrained dims are not allowed when passed to (?P<code_which>\w+): ",
         "{code_which} must say how each dimension is split, and has `P.UNCONSTRAINED`",
         Way("write `None` or an axis in its place", "only `with_sharding_constraint` may leave that to XLA")),
    _row("prefix", r"`jax\.device_put` only accepts .*? Received invalid value: (?P<code_value>.{1,100})",
         "`jax.device_put` places on a device or a sharding, and got {code_value}",
         Way("give it a `NamedSharding` of {mesh} and a spec", "a spec over {axes}"), Way("give it a `NamedSharding`", "a mesh and a spec"), facts=_meshes),
    _row("prefix", r"`out_sharding` argument of (?P<code_op>\w+) only supports instances of `NamedSharding` or `PartitionSpec`\. Got (?P<code_value>.{1,100}?) of type",
         "`out_sharding` of {code_op} takes a spec or a `NamedSharding`, and got {code_value}",
         Way("give it a spec", "such as `P('data')`")),
    _row("prefix", r"Missing required keyword argument: '(?P<code_key>(?:in|out)_sharding)'",
         "{expression} needs {code_key}: JAX cannot tell how an array is split where axes change their type",
         Way("give it {code_key}, a spec for each array", "`P()` for a copy on every device")),
    _row("argument", r"Explicit sharding inference for (?P<code_op>\w+) is not currently implemented\. Please specify out_sharding",
         "JAX does not work out how the result of {code_op} is split on an Explicit mesh",
         Way("give it `out_sharding`", "a spec of the result")),
)  # fmt: skip
"""Each tried in turn."""
