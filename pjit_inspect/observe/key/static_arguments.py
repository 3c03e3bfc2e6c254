"""The static parts of a call: its static arguments, the tree of the others, and the names of keyword arguments.

`equinox.filter_jit` passes all that is no array as one static argument; here it is taken apart again, by path.
Not its job: the leaves (`observe.key.compile_key`).
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator
from types import FrameType
from typing import Any

import jax
import numpy as np

from pjit_inspect.model.record.compile_key import Container, NamedText
from pjit_inspect.observe.live.library_names import frame_of, positional_labels
from pjit_inspect.observe.live.short_text import static_text
from pjit_inspect.observe.live.untouched import is_a, plain_attribute

_MAX_STATICS = 200
_MAX_NODES = 2000
_MAX_CONTAINERS = 200
_MAX_TREES = 512
_ABSENT = object()
_MASK = 0xFFFF_FFFF_FFFF
_HASHED = {"dict", "list", "tuple", "NoneType"}
_PLAIN = (dict, list, tuple, type(None), collections.OrderedDict)
# By hash, not by tree, which would keep the user's keys alive. Only trees of plain dicts, lists and tuples: the hash
# says nothing of the type of a named tuple, nor of what other nodes hold beside their leaves.
_known: dict[int, tuple[Container, ...]] = {}


@dataclasses.dataclass(frozen=True, slots=True)
class StaticFacts:
    """Static arguments by name, and the user's function if a library's wrapper hides it (None otherwise).

    `keywords` are the names of static arguments passed by keyword: to JAX's caches that is another call.
    """

    arguments: tuple[NamedText, ...] = ()
    function: Any = None
    keywords: tuple[str, ...] = ()


def static_facts(info: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType | None) -> StaticFacts:
    """The static arguments of a call; `info` is jit's own description (None if JAX does not show it)."""
    if info is None or not (info.static_argnums or info.static_argnames):
        return StaticFacts()
    equinox = frame_of(frame, "/equinox/_jit.py", "_call") if info.static_argnums else None
    if equinox is not None and getattr(info.fun_signature, "parameters", {}).keys() >= {"dynamic_donate", "static"}:
        return _equinox_facts(equinox.f_locals)
    arguments = tuple(static_text(name, value) for name, value in _statics(info, args, kwargs))
    return StaticFacts(arguments, keywords=tuple(name for name in info.static_argnames if name in kwargs))


def _statics(info: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    names: list[str] = list(getattr(info.fun_signature, "parameters", None) or ())
    for number in info.static_argnums:
        place = number if number >= 0 else len(args) + number
        if 0 <= place < len(args):
            yield (names[place] if place < len(names) else f"argument {place}"), args[place]
    yield from ((name, kwargs[name]) for name in info.static_argnames if name in kwargs)


# ---------------------------------------------------------------- equinox


def _equinox_facts(local: dict[str, Any]) -> StaticFacts:
    wrapper = local["jit_wrapper"]
    bound = wrapper._signature.bind(*local["args"], **local["kwargs"])  # noqa: SLF001
    labels = [*positional_labels(bound), *sorted(bound.kwargs)]
    values = [*bound.args, *(value for _, value in sorted(bound.kwargs.items()))]
    found: list[NamedText] = []
    for label, value in zip(labels, values, strict=True):
        found += [static_text(name, item) for name, item in _parts(label, value)][: _MAX_STATICS - len(found)]
    return StaticFacts(tuple(found), wrapper.__wrapped__)


def _parts(label: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Every leaf that is no array and every static field of a tree, by path."""
    stack = [(label, value)]
    for _ in range(_MAX_NODES):
        if not stack:
            return
        name, node = stack.pop()
        children = jax.tree_util.tree_flatten_with_path(node, is_leaf=lambda item, node=node: item is not node)[0]
        if len(children) == 1 and not children[0][0]:
            if not is_a(node, jax.Array, np.ndarray, np.generic):
                yield name, node
            continue
        yield from ((f"{name}.{field}", item) for field, item in _static_fields(type(node), node))
        stack += reversed([(name + jax.tree_util.keystr(path), child) for path, child in children])


def _static_fields(kind: type, node: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a dataclass that are part of its tree and no leaves; `node` is an object of that `kind`."""
    for name in static_field_names(kind):
        if (value := plain_attribute(node, name, _ABSENT)) is not _ABSENT:
            yield name, value


def static_field_names(kind: type) -> tuple[str, ...]:
    """The names of those fields, as flax (`pytree_node=False`) and equinox and JAX (`static=True`) mark them."""
    if not dataclasses.is_dataclass(kind):
        return ()
    fields = dataclasses.fields(kind)
    return tuple(f.name for f in fields if f.metadata.get("static") or f.metadata.get("pytree_node") is False)


# ---------------------------------------------------------------- the tree


def tree_facts(tree: Any) -> tuple[int | None, tuple[Container, ...]]:
    """A number that tells trees apart within this process, and the inner nodes below `(args, kwargs)`.

    The nodes are outermost first, at most 200; None and () if there is no tree, or it cannot be hashed.
    """
    try:
        number = None if tree is None else hash(tree) & _MASK
    except Exception:
        number = None
    if number is None:
        return None, ()
    containers = _known.get(number)
    if containers is None:
        containers = tuple(_walk(tree))
        if all(container.type in _HASHED for container in containers):
            if len(_known) >= _MAX_TREES:
                _known.clear()
            _known[number] = containers
    more = [(container.type, container.data) for container in containers if container.type not in _HASHED]
    return hash((number, *more)) & _MASK, containers


def passed(tree: Any) -> tuple[int | None, tuple[str, ...]]:
    """The number of arguments passed by position, and the names of the others."""
    parts = tree.children() if tree is not None else []
    if len(parts) != 2 or parts[1].node_data() is None or parts[1].node_data()[0] is not dict:
        return None, ()
    return len(parts[0].children()), tuple(str(key) for key in parts[1].node_data()[1])


def _walk(tree: Any) -> list[Container]:
    found: list[Container] = []
    # (node, index of its first leaf, depth); the top two levels are the call itself.
    stack = [(tree, 0, 0)]
    while stack and len(found) < _MAX_CONTAINERS:
        node, first, depth = stack.pop()
        data = node.node_data()
        if data is None:
            continue
        if depth >= 2:
            found.append(Container(leaf=first, leaves=node.num_leaves, type=data[0].__name__, data=_data(*data)))
        below, start = [], first
        for child in node.children():
            below.append((child, start, depth + 1))
            start += child.num_leaves
        stack += reversed(below)
    return found


def _data(kind: type, data: Any) -> tuple[NamedText, ...]:
    """The static data of a node beside its leaves, by the names of its static fields if these are known."""
    if data is None or issubclass(kind, _PLAIN):
        return ()
    if kind.__name__ == "GraphDef" and plain_attribute(data, "attributes") is not None:
        return tuple(static_text(name, value) for name, value in _nnx_statics(data))[:_MAX_CONTAINERS]
    names = static_field_names(kind)
    if type(data) is tuple and names and len(names) <= len(data):
        # Equinox puts a marker first.
        return tuple(static_text(name, item) for name, item in zip(names, data[-len(names) :], strict=True))
    return (static_text("", data),)


def _nnx_statics(graph: Any) -> Iterator[tuple[str, Any]]:
    """The plain attributes of a `flax.nnx` module by path; its graph lists nodes and attributes in order."""
    yield from _nnx_node(iter(graph.nodes), iter(graph.attributes), "")


def _nnx_node(nodes: Iterator[Any], attributes: Iterator[tuple[Any, Any]], path: str) -> Iterator[tuple[str, Any]]:
    node = next(nodes, None)
    for _ in range(getattr(node, "num_attributes", 0)):
        key, attribute = next(attributes)
        inner = path + (f"[{key}]" if isinstance(key, int) else f".{key}")
        kind = type(attribute).__name__
        if kind == "NodeAttr":
            yield from _nnx_node(nodes, attributes, inner)
        elif kind in ("ArrayAttr", "MutableArrayAttr"):
            next(nodes, None)
        elif kind == "Static" and not str(key).startswith("_pytree"):
            yield inner.removeprefix("."), attribute.value
