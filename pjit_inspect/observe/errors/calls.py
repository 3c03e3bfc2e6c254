"""The call that failed, as the user wrote it: its arguments, what encloses it, and what took its data before.

Reads source and variables; no code of the line runs again. Not its job: the arrays in it (`observe.errors.operands`),
which frame it is (`observe.errors.scene`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import FrameType, ModuleType
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer

from pjit_inspect.model.program.mesh import SpecEntry
from pjit_inspect.model.report.explained_error import ErrorArgument, ErrorArray
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.errors.functions import keyed_arguments, leaf_paths, own_nodes, read_definition, read_value
from pjit_inspect.observe.errors.mesh_axes import spec_entries
from pjit_inspect.observe.errors.operands import MISSING, Expression, look_up, parsed

_MOST = 64
_MOST_TAKERS = 8
_PLAIN = (int, float, complex, str, bytes, bool, type(None))

# ---------------------------------------------------------------- the call


def find_arguments(expression: Expression, variables: Mapping[str, Any]) -> tuple[ErrorArgument, ...]:
    """The arguments of the call that failed; () for anything else, and for a call that unpacks."""
    node = expression.node
    if not isinstance(node, ast.Call) or len(node.args) + len(node.keywords) > _MOST:
        return ()
    if any(isinstance(part, ast.Starred) for part in node.args) or any(key.arg is None for key in node.keywords):
        return ()
    keyed = keyed_arguments(node)
    places, names = _jax.static_arguments(look_up(node.func, variables))
    static = {*map(str, places), *names}
    has_function = any(isinstance(part, ast.Lambda) or callable(look_up(part, variables)) for _, part in keyed)
    return tuple(
        ErrorArgument(
            key=key, text=expression.exact(part), type=_type_of(part, variables), is_static=key in static,
            paths=leaf_paths(part, variables) if has_function else (),
        )
        for key, part in keyed
    )  # fmt: skip


def _type_of(node: ast.expr, variables: Mapping[str, Any]) -> str:
    """The name of a value's type; `list of plain` for one of numbers and strings only; "" where it is not known."""
    value = read_value(node, variables)
    if value is MISSING:
        return type(node).__name__.lower() if isinstance(node, (ast.List, ast.Dict, ast.Set, ast.Tuple)) else ""
    name = type(value).__name__
    plain = type(value) in (list, set) and len(value) <= _MOST and all(type(item) in _PLAIN for item in value)
    return f"{name} of plain" if plain else name


def find_specs(expression: Expression, variables: Mapping[str, Any]) -> tuple[ErrorArray, ...]:
    """Each PartitionSpec in the expression, its text as the name; those inside a `NamedSharding` are left out."""
    found: dict[str, ErrorArray] = {}
    for node in _specs(expression.node, variables):
        text = expression.exact(node)
        found.setdefault(text, ErrorArray(name=text, spec=_entries(node, variables)))
    return tuple(found.values())


def _entries(node: ast.expr, variables: Mapping[str, Any]) -> tuple[SpecEntry, ...] | None:
    """Entries of a spec that is a variable, or a call with constants; None for anything else."""
    try:
        held = look_up(node, variables)
        if held is MISSING and isinstance(node, ast.Call) and not node.keywords:
            held = jax.sharding.PartitionSpec(*(ast.literal_eval(part) for part in node.args))
        return spec_entries(held, 0) if held is not MISSING else None
    except Exception:
        return None


def _specs(node: ast.AST, variables: Mapping[str, Any]) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call):
        made = look_up(node.func, variables)
        if made is jax.sharding.PartitionSpec:
            yield node
            return
        if made is jax.sharding.NamedSharding:
            return
    if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(look_up(node, variables), jax.sharding.PartitionSpec):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from _specs(child, variables)


def jax_name(expression: Expression, variables: Mapping[str, Any]) -> str:
    """The name in `jax.numpy` of the function of numpy or of `math` that an expression calls; "" for any other."""
    node = expression.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return ""
    module = look_up(node.func.value, variables)
    if not isinstance(module, ModuleType) or module.__name__.partition(".")[0] not in ("numpy", "math"):
        return ""
    path = [*module.__name__.split(".")[1:], node.func.attr]
    found: Any = jnp
    for name in path:
        found = getattr(found, name, None)
    own = getattr(module, node.func.attr, None)
    # What `jax.numpy` passes on as it is, such as `save`, needs values as before.
    return ".".join(("jnp", *path)) if callable(found) and found is not own else ""


def is_mapped(expression: Expression, variables: Mapping[str, Any]) -> bool:
    """Tells whether the expression calls a function that `jax.pmap` made."""
    node = expression.node
    return isinstance(node, ast.Call) and _jax.is_pmapped(_made_by(node.func, variables))


def _made_by(node: ast.expr, variables: Mapping[str, Any]) -> Any:
    """The value of a callee; `jax.pmap` itself for `jax.pmap(f)(x)`, which no variable holds."""
    if isinstance(node, ast.Call) and look_up(node.func, variables) is jax.pmap:
        return jax.pmap
    return look_up(node, variables)


# ---------------------------------------------------------------- what encloses it


def find_statement(line: str) -> tuple[str, str]:
    """The statement that a line begins, and the text of its condition; "" for any but an if, while and assert."""
    statement = _statement(line)
    names: dict[type, str] = {ast.If: "if", ast.While: "while", ast.Assert: "assert"}
    if not isinstance(statement, (ast.If, ast.While, ast.Assert)):
        return "", ""
    return names[type(statement)], ast.get_source_segment(_prepared(line), statement.test) or ""


def find_choice(line: str, failed: str) -> Expression | None:
    """The innermost `a if b else c`, `and`, `or` or `not` of a line that asks for the truth of what failed."""
    statement = _statement(line)
    if statement is None or isinstance(statement, (ast.If, ast.While, ast.Assert)):
        return None
    text = _prepared(line)
    for node in reversed(list(ast.walk(statement))):
        asked: list[ast.expr] = []
        if isinstance(node, ast.IfExp):
            asked = [node.test]
        elif isinstance(node, ast.BoolOp):
            asked = node.values
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            asked = [node.operand]
        # Python says that the condition failed, or all of what has it.
        if asked and any(ast.get_source_segment(text, part) == failed for part in (*asked, node)):
            return Expression(node, text)  # type: ignore[arg-type]
    return None


def _prepared(line: str) -> str:
    text = line.strip()
    text = text[2:] if text.startswith("elif ") else text
    return f"{text} pass" if text.endswith(":") else text


def _statement(line: str) -> ast.stmt | None:
    tree = parsed(_prepared(line), "exec")
    return tree.body[0] if tree is not None and len(tree.body) == 1 else None


# ---------------------------------------------------------------- data that is gone


def deleted_names(values: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the arrays whose data is gone, those in trees by their paths."""
    found: list[str] = []
    for name, value in values.items():
        try:
            leaves = jax.tree_util.tree_flatten_with_path(value)[0][:2_000]
        except Exception:
            continue
        found += [name + jax.tree_util.keystr(path) for path, leaf in leaves if _is_deleted(leaf)]
    return tuple(found[:_MOST])


def _is_deleted(value: Any) -> bool:
    return isinstance(value, jax.Array) and not isinstance(value, Tracer) and value.is_deleted()


def takers(
    frame: FrameType, line: int, names: tuple[str, ...], variables: Mapping[str, Any]
) -> tuple[tuple[int, str, bool], ...]:
    """The calls of the frame's own code, up to a line, that take the data of a named array, the likeliest first.

    Each as its line, its text, and whether it surely ran before: the failing line itself did so only in a loop. A call
    whose array has another value since then is none.
    """
    text, scope = read_definition(frame.f_code)
    if not names or scope is None:
        return ()
    inside = [step for step in own_nodes(ast.iter_child_nodes(scope)) if getattr(step[0], "lineno", line + 1) <= line]
    bound = [
        (node.id, node.lineno) for node, _ in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    found: list[tuple[bool, int, str]] = []
    for node, under in inside:
        if not isinstance(node, ast.Call):
            continue
        given = {word for word in _given_away(node, text, variables) if _holds(word, names)}
        if any(
            (word, later) for word in given for name, later in bound if name == word and node.lineno <= later < line
        ):
            continue
        segment = ast.get_source_segment(text, node) or ""
        if given:
            is_sure = "if" not in under and (node.lineno < line or "loop" in under)
            found.append((not is_sure, node.lineno, segment))
    return tuple((number, segment, not is_open) for is_open, number, segment in sorted(found)[:_MOST_TAKERS])


def computed_names(frame: FrameType) -> tuple[str, ...]:
    """The names to which a function or module assigns what a call returns, in order."""
    scope = read_definition(frame.f_code)[1]
    found: dict[str, None] = {}
    for node, _ in own_nodes(ast.iter_child_nodes(scope)) if scope else ():
        if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr)) or node.value is None:
            continue
        if any(isinstance(one, ast.Call) for one in ast.walk(node.value)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {one.id: None for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return tuple(found)[:_MOST]


def _holds(word: str, names: tuple[str, ...]) -> bool:
    return any(name == word or name.startswith((f"{word}[", f"{word}.")) for name in names)


def _given_away(node: ast.Call, text: str, variables: Mapping[str, Any]) -> Iterator[str]:
    places, keywords = _jax.donated_arguments(look_up(node.func, variables))
    if any(isinstance(part, ast.Starred) for part in node.args):
        return
    for place, part in enumerate(node.args):
        if place in places:
            yield ast.get_source_segment(text, part) or ""
    for keyword in node.keywords:
        if keyword.arg in keywords:
            yield ast.get_source_segment(text, keyword.value) or ""
