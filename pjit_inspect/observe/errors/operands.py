"""The arrays in the expression that failed, by the user's words for them.

The expression is read from the source, and its names are looked up in the frame's variables: no code of the line runs
again, no property is asked. Values that only JAX's own frames hold (`f(x) @ w`) are taken from there. Not its job:
which frame it is (`observe.errors.scene`).
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

import jax

from pjit_inspect.model.report.explained_error import PLACING, ErrorArray
from pjit_inspect.observe.errors.mesh_axes import is_array, to_error_array
from pjit_inspect.observe.live.frames import read_source

_MOST_LEAVES = 2_000
_LONGEST = 4_000
_LONGEST_NAME = 200
MISSING: Any = object()
"""Stands for a value that is not known."""
_MAGIC = re.compile(r"get_ipython\(\)\.run_line_magic\('pjit', ")

_LOOSE = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.Await)
"""Expressions whose text needs brackets where something is done with them; it has none of its own."""

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_WITHIN = (*_COMPREHENSIONS, ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare)
"""Parts of an expression that have a value and no name."""

_SYMBOLS: dict[type, tuple[str, str]] = {
    ast.MatMult: ("@", "matmul"), ast.Add: ("+", "add"), ast.Sub: ("-", "subtract"), ast.Mult: ("*", "multiply"),
    ast.Div: ("/", "true_divide"), ast.Pow: ("**", "power"), ast.FloorDiv: ("//", "floor_divide"),
    ast.Mod: ("%", "remainder"), ast.BitAnd: ("&", "bitwise_and"), ast.BitOr: ("|", "bitwise_or"),
    ast.BitXor: ("^", "bitwise_xor"), ast.Lt: ("<", "less"), ast.LtE: ("<=", "less_equal"), ast.Gt: (">", "greater"),
    ast.GtE: (">=", "greater_equal"), ast.Eq: ("==", "equal"), ast.NotEq: ("!=", "not_equal"),
}  # fmt: skip
"""Each operator's sign, and the function of `jax.numpy` that it is."""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression of the user's: its tree, and the text the tree's columns count in."""

    node: ast.expr
    text: str

    def words(self, node: ast.expr) -> str:
        """The user's text of a part."""
        return " ".join((ast.get_source_segment(self.text, node) or "").split())[:_LONGEST_NAME]

    def exact(self, node: ast.expr) -> str:
        """The user's text of a part to the letter; "" for one of several lines."""
        return exact_text(self.text, node)


def exact_text(text: str, node: ast.expr) -> str:
    """The text of a part of some code to the letter; "" for one of several lines."""
    found = ast.get_source_segment(text, node) or ""
    return "" if "\n" in found else found


def read_expression(frame: FrameType, instruction: int, line: int) -> Expression | None:
    """The expression that an instruction evaluates; None when its text cannot be read."""
    source = read_source(frame.f_code.co_filename)
    if source is None:
        return None
    if magic := magic_text(source.line(line) or ""):
        return _of_a_magic(magic)
    place = next(itertools.islice(frame.f_code.co_positions(), instruction // 2, None), None)
    if place is None or None in place:
        return None
    first, last, begin, end = (number or 0 for number in place)
    lines = [text.encode() for text in source.lines[first - 1 : last]] or [b""]
    lines[-1] = lines[-1][:end]
    found = _parsed(b"\n".join([lines[0][begin:], *lines[1:]]).decode(errors="replace"))
    # Where JAX made the traceback anew it says how Python left a comprehension, and not what failed in there.
    return None if found is not None and isinstance(found.node, _COMPREHENSIONS) else found


def parsed(text: str, mode: str = "eval") -> Any:
    """Python code as a tree, of an expression its node; None for any other text."""
    try:
        tree: Any = ast.parse(text, mode=mode)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    return tree.body if mode == "eval" else tree


def _parsed(text: str) -> Expression | None:
    whole = f"({text}\n)"
    node = parsed(whole) if len(text) <= _LONGEST else None
    return Expression(node, whole) if node is not None else None


def magic_text(line: str) -> str:
    """The text after `%pjit` in a line that IPython has turned into a call of its own; "" for any other line."""
    found = _MAGIC.search(line)
    call = _parsed(line[found.start() :].strip().rstrip(";")) if found else None
    node = call.node if call else None
    if not isinstance(node, ast.Call) or len(node.args) != 2 or not isinstance(node.args[1], ast.Constant):
        return ""
    text = node.args[1].value
    return text.strip() if isinstance(text, str) else ""


def _of_a_magic(text: str) -> Expression | None:
    while text.startswith("--"):
        text = text.partition(" ")[2].strip()
    found = _parsed(text.rstrip(";"))
    if found is None and "=" in text:
        found = _parsed(text.partition("=")[2].rstrip(";"))
    return found


# ---------------------------------------------------------------- operands


def find_operands(
    expression: Expression, variables: Mapping[str, Any], inner: Sequence[FrameType]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Finds the operands: fields of an `ErrorScene`, and values by their names, not to be kept.

    The frames that the expression called are `inner`, outermost first.
    """
    operator, function, parts = _parts(expression.node)
    values = [look_up(part, variables) for part in parts]
    if any(value is MISSING for value in values):
        known = _passed(function, 2, inner) if len(parts) == 2 else [MISSING] * len(parts)
        values = [own if own is not MISSING else other for own, other in zip(values, known, strict=True)]
        given = _given(expression.node, function, inner, variables)
        values = [given.get(id(part), own) for part, own in zip(parts, values, strict=True)]
    arrays: list[ErrorArray] = []
    named: dict[str, Any] = {}
    for part, value in zip(parts, values, strict=True):
        words = expression.words(part)
        name = f"({words})" if isinstance(part, _LOOSE) else words
        named.setdefault(name, value)
        arrays += _arrays_of(name, value)
        if len(arrays) > _MOST_LEAVES:
            break
    unknown = {id(part) for part, value in zip(parts, values, strict=True) if value is MISSING}
    is_complete = not any(id(part) in unknown and _may_be_array(part) for part in _searched(expression.node, parts))
    facts = {"operator": operator, "operands": tuple(arrays), "subscripts": _subscripts(expression)}
    return {**facts, "is_complete": is_complete}, named


def _searched(node: ast.expr, parts: Sequence[ast.expr]) -> Iterable[ast.expr]:
    """The parts that can be what was refused: of a call that places, those of its first argument."""
    if isinstance(node, ast.Call) and node.args and _parts(node)[0] in PLACING:
        return _unpacked(node.args[0])
    return parts


def _may_be_array(node: ast.expr) -> bool:
    return not isinstance(node, (ast.Constant, ast.Lambda, ast.Slice, ast.JoinedStr))


def _subscripts(expression: Expression) -> str:
    """The text that picks: see `ErrorScene`."""
    match expression.node:
        case ast.Subscript(slice=index) | ast.Call(func=ast.Attribute(value=ast.Subscript(slice=index))):
            return expression.words(index)
        case ast.Call(args=[ast.Constant(value=str(text)), *_]):
            return text[:_LONGEST_NAME]
    return ""


def _parts(node: ast.expr) -> tuple[str, str, list[ast.expr]]:
    """Splits an expression into its operator, the function of JAX's for it, and its operands."""
    match node:
        case ast.BinOp(left=left, right=right, op=op):
            return *_SYMBOLS.get(type(op), ("", "")), [left, right]
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return *_SYMBOLS.get(type(op), ("", "")), [left, right]
        case ast.Subscript(value=value, slice=index):
            indices = index.elts if isinstance(index, ast.Tuple) else [index]
            return "[]", "", [value, *indices]
        case ast.Call(func=func, args=args, keywords=keywords):
            name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
            given = [*args, *(keyword.value for keyword in keywords)]
            return name, name, [*_receiver(func), *itertools.chain.from_iterable(map(_unpacked, given))]
    return "", "", []


def _receiver(func: ast.expr) -> list[ast.expr]:
    """`x` of `x.reshape(..)` and of `x.at[i].get(..)`; modules drop out later, as they are no arrays."""
    if not isinstance(func, ast.Attribute):
        return []
    node = func.value
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "at":
        return [node.value.value, node.slice]
    return [node]


def _unpacked(node: ast.expr, depth: int = 4) -> Iterator[ast.expr]:
    """Items of a list, a tuple or a dict of the expression; the expression itself for anything else."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Dict)) and depth:
        for item in node.values if isinstance(node, ast.Dict) else node.elts:
            yield from _unpacked(item, depth - 1)
    else:
        yield node


def _passed(function: str, count: int, frames: Sequence[FrameType]) -> list[Any]:
    """The first operands as the function of that name got them; nothing where it got fewer."""
    for code, held in ((frame.f_code, frame) for frame in frames):
        if count and code.co_name == function and code.co_argcount >= count:
            return [held.f_locals.get(name, MISSING) for name in code.co_varnames[:count]]
    return [MISSING] * count


def _given(node: ast.expr, function: str, frames: Sequence[FrameType], variables: Mapping[str, Any]) -> dict[int, Any]:
    """Values of unnamed arguments as the function of JAX's got them, by the nodes of the arguments."""
    args = node.args if isinstance(node, ast.Call) and _is_of_module(node.func, variables) else []
    if ast.Starred in set(map(type, args)):
        return {}
    pairs = zip(args, _passed(function, len(args), frames), strict=True)
    return {id(part): value for part, value in pairs if isinstance(part, _WITHIN)}


def _is_of_module(func: ast.expr, variables: Mapping[str, Any]) -> bool:
    """Tells whether a callee is `jnp.f`, and no method."""
    while isinstance(func, ast.Attribute):
        func = func.value
    return isinstance(func, ast.Name) and isinstance(variables.get(func.id), ModuleType)


def look_up(node: ast.expr, variables: Mapping[str, Any]) -> Any:
    """The value of a name, of an item or attribute of one, or of a literal, without running code; else `MISSING`."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
        case ast.Name(id=name):
            return variables.get(name, MISSING)
        case ast.Subscript(value=value, slice=ast.Constant(value=key)):
            return _item(look_up(value, variables), key)
        case ast.Attribute(value=value, attr=name):
            return _attribute(look_up(value, variables), name)
    return MISSING


def _item(holder: Any, key: Any) -> Any:
    if type(holder) in (dict, list, tuple):
        try:
            return holder[key]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return MISSING


def _attribute(holder: Any, name: str) -> Any:
    fields = getattr(type(holder), "_fields", ()) if isinstance(holder, tuple) else ()
    if name in fields:
        return tuple.__getitem__(holder, fields.index(name))
    try:
        found = object.__getattribute__(holder, "__dict__").get(name, MISSING)
    except AttributeError:
        found = MISSING
    return _of_class(holder, name) if found is MISSING and holder is not MISSING else found


def _of_class(holder: Any, name: str) -> Any:
    """Reads an attribute from the class of an object, unless asking for it would run code."""
    held = inspect.getattr_static(type(holder), name, MISSING)
    return MISSING if hasattr(type(held), "__get__") else held


def _arrays_of(name: str, value: Any) -> Iterator[ErrorArray]:
    """A value's arrays: itself, or the leaves of a tree by their paths."""
    if value is MISSING or value is None or isinstance(value, (str, bytes, int, float)):
        return
    if is_array(value):
        leaves = [((), value)]
    else:
        try:
            leaves = jax.tree_util.tree_flatten_with_path(value)[0][:_MOST_LEAVES]
        except Exception:
            return
    for path, leaf in leaves:
        array = to_error_array(name + jax.tree_util.keystr(path), leaf) if is_array(leaf) else None
        if array is not None:
            yield array
