"""What helps where an array's data is gone, and where a static argument cannot be one.

Not its job: values that are not known while tracing (`analyze.errors.traced`).
"""

from __future__ import annotations

import ast

from pjit_inspect.analyze.errors.fits import advice, listed
from pjit_inspect.analyze.errors.specs import type_words
from pjit_inspect.model.report.explained_error import (
    ErrorArgument,
    ErrorArray,
    ErrorFacts,
    ErrorScene,
    ExplainedError,
    Fit,
)
from pjit_inspect.model.words.sentence import Phrase, code, name, say

_ARRAYS = ("ArrayImpl", "Array", "ndarray")
_LOOKS_UP = "JAX looks up compiled programs by it"

# ---------------------------------------------------------------- data that is gone


def explain_deleted(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """An array whose data was given away or deleted."""
    if facts.reason in ("twice", "used"):
        return _given_twice(facts, scene)
    gone = [array for array in scene.operands if array.name in scene.deleted and _is_quoted(array, facts)]
    gone = list({array.name: array for array in gone}.values())
    names = [array.name for array in gone]
    unnamed = say("an array {}", type_words(facts.arrays[0])) if facts.arrays else "an argument"
    verb = "have" if len(names) > 1 else "has"
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    sentence = say("{}{} {} no data any more", listed(names[:3]) if names else unnamed, more, verb)
    taken = scene.taken[0] if names and scene.taken else None
    if taken is None:
        sentence += ": it was deleted, as a jitted function does with what it is given under `donate_argnums`"
        fits = (
            advice("go on with what the function returned", "that is where the data went"),
            advice("give the donating function a copy, as `jnp.copy` makes it", "both then have data, and need memory"),
        )
        return ExplainedError(kind="deleted", sentence=sentence, arrays=tuple(gone), fits=fits)
    line, call, is_sure = taken
    took = "and the function took its memory" if is_sure else "and its memory is gone once that has run"
    sentence += say(": {} in line {} donates it (`donate_argnums`), {}", code(call), line, took)
    return ExplainedError(
        kind="deleted", sentence=sentence, arrays=tuple(gone), fits=tuple(_kept(line, call, names, scene))
    )


def _is_quoted(array: ErrorArray, facts: ErrorFacts) -> bool:
    return not facts.arrays or (array.shape, array.dtype) == (facts.arrays[0].shape, facts.arrays[0].dtype)


def _kept(line: int, call: str, names: list[str], scene: ErrorScene) -> list[Fit]:
    fits = [advice(say("go on with what {} returned", code(call)), "that is where the data went")]
    own = scene.frame.line if scene.frame is not None else None
    for root in sorted({array.partition("[")[0].partition(".")[0] for array in names}):
        is_tree = any(other != root and other.startswith((f"{root}[", f"{root}.")) for other in names)
        copy = f"jax.tree.map(jnp.copy, {root})" if is_tree else f"jnp.copy({root})"
        if edit := _with_argument(call, root, copy):
            effect = say("{} keeps its data, and both need memory", name(root))
            fits.append(Fit(edit=edit, effect=effect, replaces=call, line=line if line != own else None))
    return fits[:2]


def _with_argument(call: str, variable: str, text: str) -> str:
    """A call with another text for the one argument that is a name; "" where none is, or several are."""
    try:
        node = ast.parse(call, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ""
    if not isinstance(node, ast.Call):
        return ""
    held = [*node.args, *(keyword.value for keyword in node.keywords)]
    same = [node for node in held if isinstance(node, ast.Name) and node.id == variable]
    # Python counts columns in bytes: they are places in the text only where every character is one.
    if len(same) != 1 or same[0].end_col_offset is None or not call.isascii():
        return ""
    return f"{call[: same[0].col_offset]}{text}{call[same[0].end_col_offset :]}"


def _given_twice(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    texts = [argument.text for argument in scene.arguments if argument.text]
    twice = next((text for text in texts if texts.count(text) > 1), "")
    sentence = say(
        "{} is given to two donated arguments, and its memory can be taken only once"
        if facts.reason == "twice"
        else "{} is given to a donated argument and to another one, which needs it, too",
        code(twice) if twice else "one array",
    )
    if twice:
        place = len(texts) - 1 - texts[::-1].index(twice)
        callee = scene.expression.partition("(")[0]
        changed = [f"jnp.copy({text})" if number == place else text for number, text in enumerate(texts)]
        keys = [argument.key for argument in scene.arguments]
        parts = [text if key.isdigit() else f"{key}={text}" for key, text in zip(keys, changed, strict=False)]
        if len(texts) == len(keys):
            edit, effect = f"{callee}({', '.join(parts)})", say("each has its own memory")
            fit = Fit(edit=edit, effect=effect, replaces=scene.expression)
            return ExplainedError(kind="deleted", sentence=sentence, fits=(fit,))
    fit = advice("give one of them a copy, as `jnp.copy` makes it", "each has its own memory")
    return ExplainedError(kind="deleted", sentence=sentence, fits=(fit,))


# ---------------------------------------------------------------- static arguments


def explain_static(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A static argument that has no hash."""
    type_ = facts.names[0] if facts.names else "object"
    if facts.reason == "not an array":
        return _not_an_array(facts, type_)
    argument = _argument(type_, scene)
    if len(facts.names) > 1:
        return _held(type_, facts.names[1], argument)
    what = code(argument.text) if argument is not None else "a static argument"
    is_ = "is static and of" if argument is not None else "is of"
    sentence = say("{} {} the type {}, which has no hash: {}", what, is_, _type(type_), _LOOKS_UP)
    if type_ in _ARRAYS:
        fits = [
            advice("leave it out of the static arguments", "an array is traced, and one program does for all values")
        ]
    elif type_ in ("list", "set"):
        fits = [_as_tuple(argument, type_)]
    elif type_ == "dict":
        fits = [
            advice("pass `tuple(sorted(d.items()))` of the dict, and make `dict` of it inside", "a tuple has a hash")
        ]
    else:
        fits = [
            advice(
                say("give {} a hash, as `@dataclass(frozen=True)` does", code(type_)),
                "equal objects then find the program that was compiled",
            )
        ]
    return ExplainedError(kind="static argument", sentence=sentence, fits=tuple(fits))


def _held(type_: str, inner: str, argument: ErrorArgument | None) -> ExplainedError:
    what = code(argument.text) if argument is not None else say("a static argument of the type {}", code(type_))
    words = "{} is static and holds something of the type {}, which has no hash: {}"
    sentence = say(words, what, _type(inner), _LOOKS_UP)
    if inner in ("list", "set"):
        fit = advice(f"make the {inner} in it a tuple", "a tuple has a hash where all in it have one")
    elif inner in _ARRAYS:
        fit = advice("give the array as an argument of its own that is traced", "one program does for all values")
    else:
        words = say("give what it holds of the type {} a hash, or leave it out", code(inner))
        fit = advice(words, "it is then found again")
    return ExplainedError(kind="static argument", sentence=sentence, fits=(fit,))


def _type(type_: str) -> Phrase:
    return code("array" if type_ in _ARRAYS else type_)


def _argument(type_: str, scene: ErrorScene) -> ErrorArgument | None:
    """The only argument of that type in the call."""
    same = [argument for argument in scene.arguments if argument.type.partition(" of ")[0] == type_ and argument.text]
    return same[0] if len(same) == 1 else None


def _as_tuple(argument: ErrorArgument | None, type_: str) -> Fit:
    make = "tuple(sorted" if type_ == "set" else "tuple"
    if argument is None or not argument.type.endswith("of plain"):
        return advice(f"pass a tuple in place of the {type_}", "a tuple has a hash where all in it have one")
    end = ")" * make.count("(")
    return Fit(edit=f"{make}({argument.text}){end}", effect=say("a tuple has a hash"), replaces=argument.text)


def _not_an_array(facts: ErrorFacts, type_: str) -> ExplainedError:
    path = facts.function
    words = "{} is given an object of the type {}, which is no array and cannot be traced"
    sentence = say(words, name(path), code(type_))
    if path.isidentifier():
        fit = advice(
            say("name it in the `jax.jit` of the function: {}", code(f"static_argnames={path!r}")),
            "for objects with a hash: it is then known while tracing, and compiled for each value",
        )
    else:
        root = name(path.partition("[")[0].partition(".")[0])
        words = say("take it out of {}, and give it as an argument of its own that is static", root)
        fit = advice(words, "all leaves of a tree are traced")
    return ExplainedError(kind="static argument", sentence=sentence, fits=(fit,))
