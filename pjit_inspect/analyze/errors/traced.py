"""What to write where a line asks for the value of an array that JAX only traces, or for one that outlived its trace.

Not its job: which function was traced and what its value depends on (`parse.messages.function_errors`), what the line
does with it (`observe.errors.scene`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from pjit_inspect.analyze.errors.fits import advice, listed
from pjit_inspect.analyze.errors.specs import type_words
from pjit_inspect.model.report.explained_error import ErrorFacts, ErrorScene, ExplainedError, Fit
from pjit_inspect.model.words.sentence import Phrase, Sentence, code, name, place, say

_ASKS = {
    "bool": "whether an array is true",
    "array": "its values as a numpy array",
    "integer": "its value as an integer",
    "int": "its value as an integer",
    "float": "its value as a number",
    "item": "its value as a number",
    "tolist": "its values as a list",
    "shape": "a length of an array",
    "size": "the length of a result",
    "axis": "an axis",
    "slice": "where a slice begins or ends",
    "mask": "how many entries are true",
    "hash": "its value as a key",
    "format": "its value as text",
    "concrete": "its value",
}
_IN = re.compile(r"([\w.]+)( not)? in ([\w.]+)")
_NOT_IN_JAX = {"out", "order", "casting", "subok", "where"}
"""Arguments of numpy's functions that those of `jax.numpy` do not take, or not in the same sense."""
_SIZED = {
    "unique", "nonzero", "flatnonzero", "argwhere", "extract", "union1d", "intersect1d", "setdiff1d", "setxor1d",
    "trim_zeros", "bincount", "arange", "linspace", "repeat", "unique_values", "unique_counts", "unique_inverse",
    "unique_all", "compress", "delete", "zeros", "ones", "full", "empty",
}  # fmt: skip
"""Functions whose result is as long as values say: those of `jax.numpy` are refused, too, while tracing."""
_STATIC = ("bool", "integer", "int", "float", "shape", "axis", "slice", "hash", "concrete")
"""What a static argument would give."""


def explain_traced(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A value that is not known while JAX traces."""
    if facts.place and scene.places and facts.place not in scene.places:
        return _outlived(facts, scene)
    function = name(facts.function) if facts.function else "the function"
    for_ = say(" for {}", code(facts.operation)) if facts.operation else ""
    arguments = "arguments" if len(facts.names) > 1 else "argument"
    depends = say(", which depends on the {} {}", arguments, listed(facts.names)) if facts.names else ""
    sentence = say("{}{}: while {} is traced{}, values are not known", _asks(facts, scene), depends, function, for_)
    fits = [*_FITS.get(facts.reason, _nothing)(facts, scene), *_static(facts, scene)]
    return ExplainedError(kind="traced value", sentence=sentence, fits=tuple(fits))


def _asks(facts: ErrorFacts, scene: ErrorScene) -> Sentence:
    """What asks for which value."""
    # Python places what fails of `a and b` at either of them, or at both.
    is_asked = scene.statement and (scene.expression in ("", scene.condition) or _has_parts(scene.condition))
    if facts.reason == "bool" and is_asked:
        return say("the {} asks whether {} is true", code(scene.statement), code(scene.condition))
    verb = "asks" if facts.reason == "bool" else "needs"
    return say("{} {} {}", _line(scene), verb, _ASKS[facts.reason])


def _line(scene: ErrorScene) -> Phrase | str:
    return code(scene.expression) if scene.expression else "the line"


def _has_parts(condition: str) -> bool:
    return any(f" {word} " in f" {condition} " for word in ("and", "or", "not"))


def _outlived(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    words = "{} uses an intermediate value of {}, which was kept after the function returned: it has no data"
    sentence = say(words, _line(scene), say("{} (traced for {})", name(facts.function), code(facts.operation)))
    notes = (say("the function is at {}", place(facts.place)),) if facts.place else ()
    return ExplainedError(kind="leaked value", sentence=sentence, fits=(_returned(facts),), notes=notes)


def _returned(facts: ErrorFacts) -> Fit:
    function = name(facts.function) if facts.function and facts.function != "<lambda>" else "the function"
    return advice(say("return the value from {}", function), "what a traced function stores elsewhere has no data")


def explain_leaked(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A value of a traced function that was kept beyond it."""
    array = facts.arrays[0]
    same = [other for other in scene.operands if (other.dtype, other.shape) == (array.dtype, array.shape)]
    is_known = len(same) == 1 and scene.is_complete
    what = name(same[0].name) if is_known else say("a value {}", type_words(array))
    origin = name(facts.function) if facts.function else "a function that JAX traced"
    for_ = say(" (traced for {})", code(facts.operation)) if facts.operation else ""
    words = "{} is an intermediate value of {}{}, and was kept after the function returned: it has no data"
    sentence = say(words, what, origin, for_)
    notes = (say("the value was made at {}", place(facts.place)),) if facts.place else ()
    fits = (
        _returned(facts),
        advice("run it under `jax.checking_leaks()`", "JAX then raises in the function that keeps it"),
    )
    return ExplainedError(kind="leaked value", sentence=sentence, fits=fits, notes=notes)


# ---------------------------------------------------------------- what fits


def _nothing(facts: ErrorFacts, scene: ErrorScene) -> Iterator[Fit]:
    yield from ()


def _truth(facts: ErrorFacts, scene: ErrorScene) -> Iterator[Fit]:
    texts = [argument.text for argument in scene.arguments]
    is_read = all(texts) and bool(texts)
    if scene.statement == "while":
        yield advice("use `jax.lax.while_loop`", "the loop is then part of the program")
    elif scene.statement == "assert":
        yield advice("use `jax.experimental.checkify`, or check before the call", "the check is then made when it runs")
    elif scene.statement:
        yield from _picks()
    elif member := _IN.fullmatch(scene.expression):
        edit = f"jnp.any({member[3]} == {member[1]})"
        yield _replacing(scene, f"~{edit}" if member[2] else edit, "stays in the program")
    elif scene.operator == "if else" and is_read:
        test, body, orelse = texts
        yield _replacing(scene, f"jnp.where({_one_truth(test)}, {body}, {orelse})", "computes both and picks")
    elif scene.operator in ("and", "or") and is_read and all(argument.type == "truth" for argument in scene.arguments):
        both = texts[0]
        for text in texts[1:]:
            both = f"jnp.logical_{scene.operator}({both}, {text})"
        yield _replacing(scene, both, "for each element")
    elif scene.operator == "not" and is_read:
        yield _replacing(scene, f"jnp.logical_not({texts[0]})", "for each element")
    elif scene.operator in ("any", "all") and len(texts) == 1 and is_read and " for " not in texts[0]:
        yield _replacing(scene, f"jnp.{scene.operator}({texts[0]})", "stays in the program")
    elif scene.operator in ("max", "min") and len(texts) == 2 and is_read:
        function = "maximum" if scene.operator == "max" else "minimum"
        yield _replacing(scene, f"jnp.{function}({texts[0]}, {texts[1]})", "for each element")
    else:
        yield from _picks()


def _replacing(scene: ErrorScene, edit: str, effect: str) -> Fit:
    return Fit(edit=edit, effect=Sentence(effect), replaces=scene.expression)


def _one_truth(text: str) -> str:
    """A condition in which nothing asks for the truth of a part of it: `and`, `or` and `not` as functions of JAX's."""
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return text
    return _logical(node, text)


def _logical(node: ast.expr, text: str) -> str:
    own = ast.get_source_segment(text, node) or ""
    if isinstance(node, ast.BoolOp):
        word = "and" if isinstance(node.op, ast.And) else "or"
        both = _logical(node.values[0], text)
        for part in node.values[1:]:
            both = f"jnp.logical_{word}({both}, {_logical(part, text)})"
        return both
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"jnp.logical_not({_logical(node.operand, text)})"
    return own


def _picks() -> Iterator[Fit]:
    yield advice("use `jnp.where`", "computes both sides, and picks for each element")
    yield advice("use `jax.lax.cond`", "runs one of two functions, for a single truth")


def _numpy(facts: ErrorFacts, scene: ErrorScene) -> Iterator[Fit]:
    keys = {argument.key for argument in scene.arguments}
    function = scene.jax_name.rpartition(".")[2]
    is_same = bool(scene.arguments) and not keys & _NOT_IN_JAX and function not in _SIZED
    if scene.jax_name and is_same and not (function == "where" and len(keys) == 1):
        call = scene.jax_name + scene.expression[scene.expression.index("(") :]
        yield _replacing(scene, call, "stays in the program")
    elif scene.operator == "[]" and scene.operands and scene.expression.endswith(f"[{scene.subscripts}]"):
        indexed = scene.expression[: -len(scene.subscripts) - 2]
        edit = f"jnp.asarray({indexed})[{scene.subscripts}]"
        yield _replacing(scene, edit, "an array of JAX's can be indexed by it")
    else:
        yield advice("use a function of `jax.numpy`, where there is one", "numpy computes at once, and needs values")
        yield advice("use `jax.pure_callback`", "calls it with values each time that the program runs")


def _number(facts: ErrorFacts, scene: ErrorScene) -> Iterator[Fit]:
    texts = [argument.text for argument in scene.arguments]
    if facts.reason in ("int", "float") and scene.operator == facts.reason and len(texts) == 1 and texts[0]:
        yield advice(
            say("write {}", code(f"jnp.asarray({texts[0]}, {facts.reason})")),
            "where an array will do: it keeps the type, and is traced",
        )
    elif facts.reason == "item" and scene.expression.endswith(".item()"):
        words = say("write {}", code(scene.expression.removesuffix(".item()")))
        yield advice(words, "where an array will do: it stays in the program")


def _integer(facts: ErrorFacts, scene: ErrorScene) -> Iterator[Fit]:
    if scene.operator == "range":
        yield advice("use `jax.lax.fori_loop`", "the loop is then part of the program")
    elif scene.operator == "[]":
        yield advice("make one array of what it picks from, as `jnp.stack` does", "an array can be indexed by it")


def _slice(facts: ErrorFacts, scene: ErrorScene) -> Iterator[Fit]:
    yield advice("use `jax.lax.dynamic_slice`", "the slice may begin anywhere, and its length is fixed")
    yield advice("keep the length and set what is beyond to zero with `jnp.where`", "shapes stay as they are")


def _mask(facts: ErrorFacts, scene: ErrorScene) -> Iterator[Fit]:
    yield advice("use `jnp.where` of the mask, the array and what counts for nothing, such as 0", "the shape stays")
    yield advice(
        "use `jnp.nonzero` of the mask with `size=`", "gives that many indices, filled up where there are fewer"
    )


def _size(facts: ErrorFacts, scene: ErrorScene) -> Iterator[Fit]:
    keyword = "total_repeat_length" if scene.operator == "repeat" else "size"
    if scene.operator in ("repeat", "nonzero", "where", "unique", "argwhere", "flatnonzero", "bincount"):
        keyword = "length" if scene.operator == "bincount" else keyword
        words = say("give {} the argument {}", code(scene.operator), code(keyword))
        yield advice(words, "the result then has that length, whatever the values")


def _key(facts: ErrorFacts, scene: ErrorScene) -> Iterator[Fit]:
    yield advice("keep the values in an array and index it", "an array can be indexed by a traced value")


def _text(facts: ErrorFacts, scene: ErrorScene) -> Iterator[Fit]:
    yield advice("use `jax.debug.print`", "prints the values each time that the program runs")


def _static(facts: ErrorFacts, scene: ErrorScene) -> Iterator[Fit]:
    """Arguments of the jitted function itself, whose value would be known if they were static."""
    names = facts.names
    # What asks how long a result is asks it of an array, but for `repeat`, which takes a number.
    is_known = facts.reason in _STATIC or (facts.reason == "size" and scene.operator == "repeat")
    if not is_known or facts.operation != "jit" or not names or not all(map(str.isidentifier, names)):
        return
    if not _asks_arguments(facts, scene):
        return
    static = code(f"static_argnames={names[0]!r}" if len(names) == 1 else f"static_argnames={tuple(names)!r}")
    yield advice(
        say("name it in the `jax.jit` of {}: {}", name(facts.function), static),
        "for Python numbers, not arrays: it is then known while tracing, and compiled for each value",
    )


_PLAIN = {"abs", "bool", "float", "int", "len", "max", "min", "range", "round"}
"""Functions of Python's whose result is known where their arguments are."""


def _asks_arguments(facts: ErrorFacts, scene: ErrorScene) -> bool:
    """Whether what is asked for is made of the arguments alone, without a function of JAX's, which traces what it gets.

    Arrays cannot be static: what is asked of one of several elements is no number.
    """
    arguments = [array for array in scene.operands if array.name in facts.names]
    if any(array.shape for array in (*facts.arrays, *arguments)):
        return False
    is_truth = facts.reason == "bool"
    text = (scene.statement and scene.condition) or scene.expression
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    if is_truth and not all(isinstance(func, ast.Name) and func.id in _PLAIN for func in calls):
        return False
    if any(isinstance(node, ast.comprehension) for node in ast.walk(tree)):
        return False
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if not used & set(facts.names) or used & set(scene.computed):
        return False
    # What the other names hold is known to be no array, or is one of the arguments.
    others = (used - set(facts.names)) & {array.name for array in scene.operands}
    return not is_truth or not others


_FITS: dict[str, Callable[[ErrorFacts, ErrorScene], Iterator[Fit]]] = {
    "bool": _truth, "array": _numpy, "int": _number, "float": _number, "item": _number, "integer": _integer,
    "slice": _slice, "mask": _mask, "size": _size, "format": _text, "hash": _key,
}  # fmt: skip
