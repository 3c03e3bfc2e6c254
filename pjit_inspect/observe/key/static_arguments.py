"""The static arguments of a call, and the static parts that library wrappers hide from jit's signature.

`equinox.filter_jit` passes everything that is no array as one static argument; here it is taken apart again, by path.
Not its job: arguments that are traced.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from types import FrameType
from typing import Any

import jax
import numpy as np

from pjit_inspect.model.record.compile_key import NamedText
from pjit_inspect.observe.live.library_names import frame_of, positional_labels
from pjit_inspect.observe.live.short_text import static_text
from pjit_inspect.observe.live.untouched import is_a, plain_attribute

_MAX_STATICS = 200
_MAX_NODES = 2000
_ABSENT = object()


@dataclasses.dataclass(frozen=True, slots=True)
class StaticFacts:
    """Static arguments by name, the user's function where a library's wrapper hides it (None elsewhere).

    `keywords` are the names of those passed by keyword: to JAX's caches that is another call.
    """

    arguments: tuple[NamedText, ...] = ()
    function: Any = None
    keywords: tuple[str, ...] = ()


def static_facts(info: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType | None) -> StaticFacts:
    """The static arguments of a call; `info` is what jit knows about itself (None when that is not shown)."""
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
