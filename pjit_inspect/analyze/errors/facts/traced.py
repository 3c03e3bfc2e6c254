"""Facts of errors of values that JAX only traces, and of values that outlived their trace."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pjit_inspect.analyze.errors import specs, ways
from pjit_inspect.analyze.errors.printed import read_type
from pjit_inspect.analyze.errors.table import Facts, listed_facts, read_code
from pjit_inspect.analyze.errors.ways import advice, instead, listed
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, Fit
from pjit_inspect.model.words.sentence import Phrase, code, name, place, say

_TRACING = re.compile(
    r"The error occurred while tracing the function (.{1,300}?)(?: at ([^\n]{1,1000}?:\d+))? for (?P<for>\w{1,40})\."
)
_BECAME = "This value became a tracer due to"
_DEPENDS = re.compile(r"because it depends on the values? of the arguments? ([^\n]{1,2000}?)\.(?:\s|$)")

_KEYWORDS = dict.fromkeys(("nonzero", "where", "unique", "argwhere", "flatnonzero"), "size") | {
    "repeat": "total_repeat_length",
    "bincount": "length",
}
"""The argument that fixes the length of a result of `jax.numpy`."""
_PLAIN = {"abs", "bool", "float", "int", "len", "max", "min", "range", "round"}
"""Functions of Python's whose result is known where their arguments are."""
_PRINTED = re.compile(r"(?<![\w.])print\(")
_SLICE = re.compile(r"(?P<array>.+)\[(?P<whole>(?::, )*)(?P<lower>[^:,]+):(?P<upper>[^:,]+)\]")
_IN = re.compile(r"([\w.]+)( not)? in ([\w.]+)")

# ---------------------------------------------------------------- what asks for which value


def tracing(match: re.Match[str], scene: ErrorScene) -> dict[str, object]:
    """The line that needs a value, the function that is traced, and the arguments that the value depends on."""
    where, depends = _TRACING.search(match.string), _DEPENDS.search(match.string)
    names = tuple(filter(None, re.split(r", and |, | and ", depends[1]))) if depends else ()
    type_, texts = match.groupdict().get("type"), [argument.text for argument in scene.arguments]
    depends = say(", which depends on the argument{} {}", "s" * (len(names) > 1), listed(names)) if names else ""
    function, of = name(where[1]) if where else "the function", say(" for {}", code(where[3])) if where else ""
    facts: dict[str, object] = {
        "line": _line(scene), "function": function, "names": names, "is_jit": bool(where and where[3] == "jit"),
        "unknown": say("{}: while {} is traced{}, values are not known", depends, function, of),
        "type": (read_type(type_),) if type_ else (),
    }  # fmt: skip
    # What counts the parts of a list is no loop.
    if scene.operator != "range" or scene.line.startswith("for "):
        facts[f"of_{scene.operator.replace('[]', 'item')}"] = _line(scene)
    if scene.operator in _KEYWORDS:
        facts |= {"sized": code(scene.operator), "length": code(_KEYWORDS[scene.operator])}
    if scene.expression and _PRINTED.search(scene.line.partition(scene.expression)[0]):
        return {**facts, "is_jit": False, "printed": True, "fits": ()}
    facts["unprinted"] = True
    if scene.operator in ("int", "float") and len(texts) == 1 and texts[0]:
        facts["array"] = code(f"jnp.asarray({texts[0]}, {scene.operator})")
    elif scene.expression.endswith(".item()"):
        facts["array"] = code(scene.expression.removesuffix(".item()"))
    return facts


def formatted(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The same of a value that is printed."""
    return {"printed": True, **tracing(match, scene)}


def _line(scene: ErrorScene) -> Phrase | str:
    return code(scene.expression) if scene.expression else "the line"


_TRUTHS = ("any", "all", "max", "min", "sorted", "bool")
"""Functions of Python's that ask for a truth."""


def asked(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The line that asks whether an array is true."""
    # Python places what fails of `a and b` at either of them, or at both.
    has_parts = any(f" {word} " in f" {scene.condition} " for word in ("and", "or", "not"))
    is_statement = bool(scene.statement) and (scene.expression in ("", scene.condition) or has_parts)
    # A library asks, of what it was given.
    is_call = isinstance(read_code(scene.expression), ast.Call) and scene.operator not in _TRUTHS
    asks = say("{} needs a value" if is_call else "{} asks whether an array is true", _line(scene))
    if is_statement:
        asks = say("the {} asks whether {} is true", code(scene.statement), code(scene.condition))
    return {**tracing(match, scene), "is_truth": is_statement or not is_call, "asks": asks}


def outlived(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """Only of what depends on nothing that JAX names may it be said that it outlived the function."""
    where = _TRACING.search(match.string)
    is_known = _DEPENDS.search(match.string) or _BECAME in match.string or not scene.places
    if where is None or not where[2] or is_known or where[2] in scene.places:
        return None
    return {"line": _line(scene), **_origin(where), "notes": (say("the function is at {}", place(where[2])),)}


def _origin(where: re.Match[str] | None) -> Facts:
    if where is None:
        return {"origin": "a function that JAX traced"}
    own = name(where[1])
    function = {"function": own} if where[1] != "<lambda>" else {}
    return {"origin": say("{} (traced for {})", own, code(where["for"])), **function}


_LEAKED_FROM = re.compile(
    r"The function being traced when the value leaked was (.{1,300}?) at .{1,999}?:\d+ traced for (?P<for>\w{1,40})\."
)
_MADE_AT = re.compile(r"The leaked .{0,20}value was created on line (\S[^\n]{0,1000}?:\d{1,9}):\d{1,9} ")


def leaked(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The value that was kept, and the function that made it."""
    said, made = replace(read_type(match["type"]), spec=None), _MADE_AT.search(match.string)
    own = ways.own_of(said, scene) if scene.is_complete else None
    what = name(own.name) if own is not None else say("a value {}", specs.type_words(said))
    notes = (say("the value was made at {}", place(made[1])),) if made else ()
    return {"what": what, **_origin(_LEAKED_FROM.search(match.string)), "notes": notes}


# ---------------------------------------------------------------- code without the question


_STATEMENTS = {
    "while": ("use `jax.lax.while_loop`", "the loop is then part of the program"),
    "assert": ("use `jax.experimental.checkify`, or check before the call", "the check is then made when it runs"),
}
_SIGNS = {"and": "for each element, as `&` does", "or": "for each element, as `|` does"}
_BY_JAX = {
    "if else": ("jnp.where({}, {}, {})", "computes both and picks"), "any": ("jnp.any({})", "stays in the program"),
    "all": ("jnp.all({})", "stays in the program"), "sorted": ("jnp.sort({})", "stays in the program"),
    "max": ("jnp.maximum({}, {})", "for each element"), "min": ("jnp.minimum({}, {})", "for each element"),
}  # fmt: skip
"""Python's operations that ask for a truth, and the same in JAX, of as many parts."""


def truth(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    """The same without a question for a truth: by a function of JAX's, or in words."""
    if not facts["is_truth"]:
        return
    if scene.statement in _STATEMENTS:
        yield advice(*_STATEMENTS[scene.statement])
        return
    texts = [argument.text for argument in scene.arguments if argument.key.isdigit() and " for " not in argument.text]
    template, effect = _BY_JAX.get(scene.operator, ("", _SIGNS.get(scene.operator, "for each element")))
    both = texts[0] if texts else ""
    if member := _IN.fullmatch(scene.expression):
        both, effect = f"{'~' if member[2] else ''}jnp.any({member[3]} == {member[1]})", "stays in the program"
    elif scene.operator == "not" or (
        scene.operator in ("and", "or") and all(argument.type == "truth" for argument in scene.arguments)
    ):
        both = _one_truth(scene.expression)
    elif len(texts) == template.count("{}") and all(texts):
        both = template.format(_one_truth(both), *texts[1:]) if scene.operator == "if else" else template.format(*texts)
    else:
        both = ""
    if both and not scene.statement and len(texts) == len(scene.arguments):
        yield instead(scene, both, effect)
    else:
        yield advice("use `jnp.where`", "computes both sides, and picks for each element")
        yield advice("use `jax.lax.cond`", "runs one of two functions, for a single truth")


def _one_truth(text: str) -> str:
    """A condition in which nothing asks for the truth of a part of it: `and`, `or` and `not` as functions of JAX's."""

    def logical(node: ast.expr) -> str:
        match node:
            case ast.BoolOp(op=op, values=[first, *others]):
                both = logical(first)
                for part in others:
                    both = f"jnp.logical_{'and' if isinstance(op, ast.And) else 'or'}({both}, {logical(part)})"
                return both
            case ast.UnaryOp(op=ast.Not(), operand=part):
                return f"jnp.logical_not({logical(part)})"
        return ast.get_source_segment(text.strip(), node) or ""

    node = read_code(text)
    return text if node is None else logical(node)


def computing(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The same by `jax.numpy`, where JAX takes that: not where the result is as long as values say."""
    return {"fits": lambda judge: [fit for fit in _by_jax(scene) if judge(fit, ())], **tracing(match, scene)}


def _by_jax(scene: ErrorScene) -> Iterator[Fit]:
    if scene.jax_name and scene.arguments:
        yield instead(scene, scene.jax_name + scene.expression[scene.expression.index("(") :], "stays in the program")
    elif scene.operator == "[]" and scene.operands and scene.expression.endswith(f"[{scene.subscripts}]"):
        indexed = scene.expression[: -len(scene.subscripts) - 2]
        edit = f"jnp.asarray({indexed})[{scene.subscripts}]"
        yield instead(scene, edit, "an array of JAX's can be indexed by it")


def cut(match: re.Match[str], scene: ErrorScene) -> Facts:
    """A slice whose bounds are traced: of a length that JAX takes, or of one that it must know."""
    facts, cut = dict(tracing(match, scene)), _SLICE.fullmatch(scene.expression)
    names = tuple(dict.fromkeys(re.findall(r"(?<![\w.])[^\W\d]\w*", scene.subscripts)))
    facts |= {"bounds": listed(names), "static": _argnames(names)} if names else {}
    terms = [term.strip() for term in cut["upper"].split("+")] if cut else []
    if cut is None or len(terms) != 2 or cut["lower"] not in terms:
        return facts
    terms.remove(cut["lower"])
    where = f", axis={cut['whole'].count(':')}" if cut["whole"] else ""
    edit = f"jax.lax.dynamic_slice_in_dim({cut['array']}, {cut['lower']}, {terms[0]}{where})"
    effect = say("the slice may begin anywhere, and its length is fixed")
    return {"fits": lambda judge: ways.first_accepted([instead(scene, edit, effect)], judge), **facts}


# ---------------------------------------------------------------- static arguments


def static_repeat(facts: Facts, scene: ErrorScene) -> Iterable[Fit]:
    """The same of `repeat`, which takes a number: a length that is asked of an array cannot be static."""
    return static(facts, scene) if scene.operator == "repeat" else ()


def static(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    """Arguments of the jitted function itself, whose value would be known if they were static."""
    names = listed_facts(facts, "names", str)
    if facts["is_jit"] and names and all(map(str.isidentifier, names)) and _asks_arguments(facts, scene):
        yield advice(
            say("name it in the `jax.jit` of {}: {}", name(ways.text_of(facts, "function")), _argnames(names)),
            "for Python numbers, not arrays: it is then known while tracing, and compiled for each value",
        )


def _argnames(names: tuple[str, ...]) -> Phrase:
    return code(f"static_argnames={(names[0] if len(names) == 1 else names)!r}")


def _asks_arguments(facts: Facts, scene: ErrorScene) -> bool:
    """Tells whether the value that is asked for is made of the arguments alone, without a function of JAX's.

    Arrays cannot be static: what is asked of one of several elements is no number.
    """
    names = set(listed_facts(facts, "names", str))
    arguments = [array for array in scene.operands if array.name in names]
    test = scene.arguments[0].text if scene.operator == "if else" and scene.arguments else ""
    tree = read_code((scene.statement and scene.condition) or test or scene.expression)
    if tree is None or any(array.shape for array in (*listed_facts(facts, "type", ErrorArray), *arguments)):
        return False
    nodes = list(ast.walk(tree))
    # What is called first may be what asks.
    calls = [node.func for node in nodes[0 if facts.get("is_truth") else 1 :] if isinstance(node, ast.Call)]
    is_plain = all(isinstance(func, ast.Name) and func.id in _PLAIN for func in calls)
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    # Only an array has a method that yields another.
    held = [node.value for node in nodes if isinstance(node, ast.Attribute)]
    has_method = any(isinstance(node, ast.Name) and node.id in names for node in held)
    has_loop = any(isinstance(node, ast.comprehension) for node in nodes)
    if not is_plain or has_method or has_loop or not used & names or used & set(scene.computed):
        return False
    # What the other names hold is known to be no array, or is one of the arguments.
    return not facts.get("is_truth") or not (used - names) & {array.name for array in scene.operands}
