"""The tree of a call's arguments: which containers hold the leaves, what was passed by name.

Not its job: the leaves (`observe.key.compile_key`).
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

from pjit_inspect.model.record.compile_key import Container, NamedText
from pjit_inspect.observe.key.static_arguments import static_field_names
from pjit_inspect.observe.live.short_text import static_text
from pjit_inspect.observe.live.untouched import plain_attribute

_MAX_NODES = 200
_MAX_TREES = 512
_MASK = 0xFFFF_FFFF_FFFF
_HASHED = {"dict", "list", "tuple", "NoneType"}
_PLAIN = (dict, list, tuple, type(None), collections.OrderedDict)
# By hash, not by tree, which would keep the user's keys alive. Only trees of plain dicts, lists and tuples: the hash
# says nothing of the type of a named tuple, nor of what other nodes hold beside their leaves.
_known: dict[int, tuple[Container, ...]] = {}


def tree_facts(tree: Any) -> tuple[int | None, tuple[Container, ...]]:
    """A number that tells trees apart within this process, and the inner nodes below `(args, kwargs)`.

    Outermost first, at most 200; None and () when there is no tree, or it cannot be hashed.
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
    """How many arguments were passed by position, and the names of the others."""
    parts = tree.children() if tree is not None else []
    if len(parts) != 2 or parts[1].node_data() is None or parts[1].node_data()[0] is not dict:
        return None, ()
    return len(parts[0].children()), tuple(str(key) for key in parts[1].node_data()[1])


def _walk(tree: Any) -> list[Container]:
    found: list[Container] = []
    # (node, index of its first leaf, depth); the top two levels are the call itself.
    stack = [(tree, 0, 0)]
    while stack and len(found) < _MAX_NODES:
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
    """What a node holds beside its leaves, by the names of its static fields where these are known."""
    if data is None or issubclass(kind, _PLAIN):
        return ()
    if kind.__name__ == "GraphDef" and plain_attribute(data, "attributes") is not None:
        return tuple(static_text(name, value) for name, value in _nnx_statics(data))[:_MAX_NODES]
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
