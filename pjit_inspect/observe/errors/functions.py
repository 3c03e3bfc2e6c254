"""The functions of the user's that the failing call was given: where they return, and what.

Reads source; calls nothing. Not its job: the call's other arguments (`observe.errors.calls`).
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FunctionType, MethodType
from typing import Any

import jax

from pjit_inspect.model.report.explained_error import ErrorFunction
from pjit_inspect.observe.errors.operands import MISSING, Expression, exact_text, look_up, parsed
from pjit_inspect.observe.live.frames import is_user_file, read_source

_MOST = 16
_MOST_LEAVES = 2_000
_MOST_WRAPPERS = 16
_LONGEST = 400_000
_DEEPEST = 16

Returns = tuple[tuple[int, str], ...]


def find_functions(
    expression: Expression, variables: Mapping[str, Any], file: str, line: int
) -> tuple[ErrorFunction, ...]:
    """The functions among the arguments of a call, also those in a list or tuple; the call begins at `line`."""
    keyed = keyed_arguments(expression.node)
    if isinstance(expression.node, ast.Call):
        # What is called is made of a function there, as `jax.shard_map(f, ...)(x)`, or was before.
        keyed += keyed_arguments(expression.node.func) or [("", expression.node.func)]
    found = [
        function for key, part in keyed for name, one in _each(key, part)
        if (function := _function(name, one, expression, variables, file, line)) is not None
    ]  # fmt: skip
    return tuple(found[:_MOST])


def keyed_arguments(node: ast.expr) -> list[tuple[str, ast.expr]]:
    """The arguments of a call, each with its keyword, or its position as a number; [] for anything else."""
    if not isinstance(node, ast.Call):
        return []
    named = [(word.arg or "", word.value) for word in node.keywords]
    return [*((str(place), part) for place, part in enumerate(node.args)), *named]


def _each(key: str, node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, (ast.List, ast.Tuple)):
        yield from ((f"{key}[{place}]", part) for place, part in enumerate(node.elts[:_MOST]))
    else:
        yield key, node


def _function(
    key: str, node: ast.expr, expression: Expression, variables: Mapping[str, Any], file: str, line: int
) -> ErrorFunction | None:
    if isinstance(node, ast.Lambda):
        names = tuple(argument.arg for argument in (*node.args.posonlyargs, *node.args.args))
        returned = ((line + node.body.lineno - 1, expression.exact(node.body)),)
        return ErrorFunction(key=key, name="", parameters=names, returns=returned, file=file)
    value, bound = _unwrapped(_held(node, variables))
    if not isinstance(value, FunctionType) or not is_user_file(value.__code__.co_filename):
        return None
    code = value.__code__
    names = code.co_varnames[bound : code.co_argcount]
    name = "" if code.co_name == "<lambda>" else code.co_name
    return ErrorFunction(
        key=key, name=name, parameters=names, returns=_returns(code), file=code.co_filename, values=_assigned(code)
    )


def _held(node: ast.expr, variables: Mapping[str, Any]) -> Any:
    """The value of a name or attribute, also a method's, which is the class's own function with its object bound."""
    value = look_up(node, variables)
    if value is not MISSING or not isinstance(node, ast.Attribute):
        return value
    holder = look_up(node.value, variables)
    found = inspect.getattr_static(type(holder), node.attr, None) if holder is not MISSING else None
    return MethodType(found, holder) if isinstance(found, FunctionType) else MISSING


def _unwrapped(value: Any) -> tuple[Any, int]:
    """The function that a method, a partial, a jitted or a wrapped function stands for, and how many it binds."""
    bound = 0
    for _ in range(_MOST_WRAPPERS):
        if isinstance(value, MethodType):
            value, bound = value.__func__, bound + 1
        elif type(value) is functools.partial:
            value, bound = value.func, bound + len(value.args)
        elif type(value).__name__ == "PjitFunction":
            value = getattr(value, "__wrapped__", MISSING)
        elif isinstance(value, FunctionType) and "__wrapped__" in value.__dict__:
            value = value.__dict__["__wrapped__"]
        else:
            break
    return value, bound


def _returns(code: CodeType) -> Returns | None:
    """Returns of a function: lines and texts; None when its source cannot be read or is not the only one."""
    text, node = read_definition(code)
    if node is None:
        return None
    if isinstance(node, ast.Lambda):
        return ((node.body.lineno, exact_text(text, node.body)),)
    own = [one for one, _ in own_nodes(ast.iter_child_nodes(node)) if isinstance(one, ast.Return)]
    return tuple((one.lineno, exact_text(text, one.value) if one.value else "None") for one in own)


def _assigned(code: CodeType) -> dict[str, str]:
    """Assignments in a function, as text: of several to a name, the last."""
    text, node = read_definition(code)
    own = [one for one, _ in own_nodes(ast.iter_child_nodes(node))] if node is not None else []
    given = [(one.targets[0], one.value) for one in own if isinstance(one, ast.Assign)]
    return {target.id: exact_text(text, value) for target, value in given if isinstance(target, ast.Name)}


def read_definition(code: CodeType) -> tuple[str, ast.AST | None]:
    """The text of a code's file, and the function, lambda or module that it is; None where that cannot be told."""
    source = read_source(code.co_filename)
    text = "\n".join(source.lines) if source else ""
    if not text or len(text) > _LONGEST:
        return "", None
    tree = parsed(text, "exec")
    if tree is None:
        return "", None
    if code.co_name == "<module>":
        return text, tree
    same = [node for node in ast.walk(tree) if _begins(node) == code.co_firstlineno and _is_named(node, code.co_name)]
    return text, same[0] if len(same) == 1 else None


def _begins(node: ast.AST) -> int:
    first = getattr(node, "decorator_list", None) or [node]
    return getattr(first[0], "lineno", -1)


def _is_named(node: ast.AST, name: str) -> bool:
    is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name
    return isinstance(node, ast.Lambda) if name == "<lambda>" else is_function


def own_nodes(nodes: Iterable[ast.AST], under: str = "") -> Iterator[tuple[ast.AST, str]]:
    """The nodes that are no other function's, each with what it stands under: loops, and what may not have run."""
    for node in nodes:
        yield node, under
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        deeper = under
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            deeper = f"{under} loop"
        elif isinstance(node, (ast.If, ast.Try, ast.Match, ast.IfExp, ast.BoolOp)):
            deeper = f"{under} if"
        yield from own_nodes(ast.iter_child_nodes(node), deeper)


# ---------------------------------------------------------------- what a loop starts with


def leaf_paths(node: ast.expr, variables: Mapping[str, Any]) -> tuple[str, ...]:
    """Paths of the leaves of an argument's value, `['w']` or "" for one alone; None is a leaf, too."""
    value = read_value(node, variables)
    try:
        leaves = jax.tree_util.tree_flatten_with_path(value, is_leaf=lambda one: one is None)[0]
    except Exception:
        return ()
    if value is MISSING or len(leaves) > _MOST_LEAVES:
        return ()
    return tuple(jax.tree_util.keystr(path) for path, _ in leaves)


def read_value(node: ast.expr, variables: Mapping[str, Any], depth: int = _DEEPEST) -> Any:
    """The value of a name, and of what is built of them in the line; `MISSING`, which is a leaf, for the rest."""
    if isinstance(node, (ast.Tuple, ast.List)) and depth and not any(isinstance(one, ast.Starred) for one in node.elts):
        items = [read_value(one, variables, depth - 1) for one in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    if isinstance(node, ast.Dict) and depth and all(isinstance(key, ast.Constant) for key in node.keys):
        keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
        return dict(zip(keys, (read_value(one, variables, depth - 1) for one in node.values), strict=True))
    if isinstance(node, ast.Set) and all(isinstance(one, ast.Constant) for one in node.elts):
        return {one.value for one in node.elts if isinstance(one, ast.Constant)}
    return look_up(node, variables)
