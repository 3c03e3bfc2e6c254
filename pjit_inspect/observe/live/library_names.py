"""The user's names of arguments that a library hides.

`flax.nnx.jit` and `equinox.filter_jit` hand JAX flattened models: JAX calls a weight `model.states[0][10]` or
`dynamic_nodonate['first'][3]`. `haliax.named_jit` hands it all arguments in a pair: `dynamic_reserved[1][0][2].weight`.
This module restores `model.up.kernel` and `model.layers[0].weight`, from the structure of the call while it runs.

A container with plain strings as keys makes JAX write `stateweightsup`: that is `state['weights']['up']`. It is
restored outside of watched calls only, as within them no code of the user's may run.
Best effort: unrecognised arguments keep JAX's names. Not its job: names that JAX knows.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import FrameType
from typing import Any

import jax

from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.sharding.sharded_program import EntryValue, ShardedProgram
from pjit_inspect.observe.contract._jax import is_pmapped

_EQUINOX_ARGUMENT = re.compile(r"\w+\['(first|rest|fun)'\]\[(\d+)\]")
_PACKED = re.compile(r"\w+(?:\[\d+\])?(\[0\]\[\d+\].*|\[1\]\['.*)")
"""An argument of a wrapper that hands JAX its positional and keyword arguments in a pair."""
_NNX_STATE = re.compile(r"\.states\[\d+\]\[\d+\].*$")


def restore_names(
    frame: FrameType | None, tree: Any, result_tree: Any, arguments: list[str], results: list[str]
) -> tuple[list[str], list[str]]:
    """The names of arguments and results with the user's paths where a library's wrapper hid them.

    `tree` and `result_tree` are the tree structures of the call (None when unknown).
    """
    equinox = frame_of(frame, "/equinox/_jit.py", "_call") if "equinox" in sys.modules else None
    if equinox is not None and any(_EQUINOX_ARGUMENT.fullmatch(name) for name in arguments):
        local = equinox.f_locals
        return _equinox_names(local["jit_wrapper"], local["args"], local["kwargs"], arguments, results)
    haliax = frame_of(frame, "/haliax/partitioning.py", "_call") if "haliax" in sys.modules else None
    if haliax is not None:
        local = haliax.f_locals
        return _with_keys(local["self"], local["args"], local["kwargs"], arguments, results)
    named = _nnx_names(tree, arguments), _nnx_names(result_tree, results)
    return (named[0], [_nnx_result(name) for name in named[1]]) if named[0] != arguments else named


def names_of_call(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], arguments: list[str], results: list[str]
) -> tuple[list[str], list[str]]:
    """The same for a call that is lowered and does not run, of `jax.pmap` or `equinox.filter_jit`."""
    if is_pmapped(function):
        paths = _paths_of_call(function, args, kwargs)
        return (paths if len(paths) == len(arguments) else arguments), results
    if any(_EQUINOX_ARGUMENT.fullmatch(name) for name in arguments):
        return _equinox_names(function, args, kwargs, arguments, results)
    return _with_keys(function, args, kwargs, arguments, results)


def with_paths(program: ShardedProgram, data: RecordData) -> ShardedProgram:
    """A program whose arguments and results know the user's paths, as the record has them.

    As it was where the program and the record do not have equally many.
    """
    kept = [layout.path for layout in data.parameters]
    results = [layout.path for layout in data.outputs]
    return replace(program, inputs=_labelled(program.inputs, kept), outputs=_labelled(program.outputs, results))


def _labelled(boundaries: tuple[EntryValue, ...], paths: list[str]) -> tuple[EntryValue, ...]:
    if len(boundaries) != len(paths):
        return boundaries
    pairs = zip(boundaries, paths, strict=True)
    return tuple(replace(own, path="" if path == own.name else path) for own, path in pairs)


def frame_of(frame: FrameType | None, file_end: str, function: str) -> FrameType | None:
    """The innermost frame of a function in a file whose path ends with `file_end`; None if it is not running."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == function and code.co_filename.replace("\\", "/").endswith(file_end):
            return frame
        frame = frame.f_back
    return None


# ---------------------------------------------------------------- plain strings as keys, and all arguments as one


def _with_keys(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], arguments: list[str], results: list[str]
) -> tuple[list[str], list[str]]:
    """Names in which keys that are plain strings are written as the user does; results as the arguments like them."""
    try:
        labels, values = _given(function, args, kwargs)
    except (TypeError, ValueError):
        # A function of C has no signature; what is compiled already has its own arguments.
        return arguments, results
    paths, named, packed = dict[str, str](), dict[str, str](), dict[str, str]()
    for label, value, path in _leaves(labels, values):
        place = labels.index(label)
        pair = f"[0][{place}]" if place < len(args) else f"[1]['{label}']"
        own, found = jax.tree_util.keystr(path), _path(value, path)
        paths[own], named[label + own], packed[pair + own] = found, label + found, label + found
    if named.keys().isdisjoint(arguments):
        found = (_PACKED.fullmatch(name) for name in arguments)
        named = {own[0]: packed[own[1]] for own in found if own and own[1] in packed}
        if named and all(name.startswith("result[0]") for name in results):
            results = ["result" + name.removeprefix("result[0]") for name in results]
    found = (re.fullmatch(r"(result(?:\[\d+\])?)(.*)", name) for name in results)
    whole = [own and own[1] + paths.get(own[2], own[2]) for own in found]
    return [named.get(name, name) for name in arguments], [new or old for new, old in zip(whole, results, strict=True)]


def _path(value: Any, path: Sequence[Any]) -> str:
    """The path to a leaf of a value, as the user writes it: JAX joins keys that are plain strings without brackets."""
    text = ""
    for key in path:
        if isinstance(key, str):
            is_item = isinstance(value, Mapping) or not hasattr(value, key)
            key = jax.tree_util.DictKey(key) if is_item else jax.tree_util.GetAttrKey(key)
        text += jax.tree_util.keystr((key,))
        if isinstance(key, jax.tree_util.GetAttrKey):
            value = getattr(value, key.name, None)
        else:
            place: Any = getattr(key, "key", getattr(key, "idx", None))
            value = value[place] if isinstance(value, (Mapping, list, tuple)) else None
    return text


# ---------------------------------------------------------------- equinox


def _equinox_names(
    wrapper: Any, args: Sequence[Any], kwargs: Mapping[str, Any], arguments: list[str], results: list[str]
) -> tuple[list[str], list[str]]:
    known = _equinox_arguments(wrapper, args, kwargs)
    named = [known.get(_EQUINOX_ARGUMENT.sub(r"\1 \2", name), name) for name in arguments]
    return named, [_equinox_result(name) for name in results]


def _equinox_arguments(wrapper: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, str]:
    """Paths by group and number ("first 3"): equinox passes the first argument, and the others, as lists of leaves."""
    bound = wrapper._signature.bind(*args, **kwargs)  # noqa: SLF001
    labels = [*positional_labels(bound), *sorted(bound.kwargs)]
    values = [*bound.args, *(value for _, value in sorted(bound.kwargs.items()))]
    first, rest = _leaves(labels[:1], values[:1]), _leaves(labels[1:], values[1:])
    numbered = {f"first {i}": leaf for i, leaf in enumerate(first)} | {f"rest {i}": leaf for i, leaf in enumerate(rest)}
    return {number: label + _path(value, path) for number, (label, value, path) in numbered.items()}


def positional_labels(bound: inspect.BoundArguments) -> list[str]:
    """The name of each of `bound.args`; for `*rest` they are `rest[0]`, `rest[1]`."""
    labels: list[str] = []
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            labels += [f"{name}[{i}]" for i in range(len(bound.args) - len(labels))]
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            labels.append(name)
    return labels[: len(bound.args)]


def _leaves(labels: Sequence[str], values: Sequence[Any]) -> list[tuple[str, Any, Any]]:
    """For every leaf of some arguments, the argument's name and value, and JAX's path in it."""
    return [
        (label, value, path)
        for label, value in zip(labels, values, strict=True)
        for path, _ in jax.tree_util.tree_flatten_with_path(value)[0]
    ]


def _equinox_result(name: str) -> str:
    # Equinox returns (a marker it waits for, the arrays of the result, the rest).
    if name == "result[0]":
        return "equinox's marker"
    return "result" + name.removeprefix("result[1]") if name.startswith("result[1]") else name


# ---------------------------------------------------------------- pmap


def pmap_names(frame: FrameType, function: Any) -> list[str]:
    """The paths of the leaves of a call of `jax.pmap(function)`, from the frame of its wrapper; [] when unknown."""
    args, kwargs = frame.f_locals.get("args"), frame.f_locals.get("kwargs") or {}
    return [] if function is None or args is None else _paths_of_call(function, args, kwargs)


def _paths_of_call(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
    """The paths of the leaves of a call's arguments, by the names of the function's parameters."""
    return [label + _path(value, path) for label, value, path in _leaves(*_given(function, args, kwargs))]


def _given(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[str], list[Any]]:
    """The name of each argument of a call, and its value."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    labels = [*positional_labels(bound), *sorted(bound.kwargs)]
    return labels, [*bound.args, *(value for _, value in sorted(bound.kwargs.items()))]


# ---------------------------------------------------------------- flax.nnx


def _nnx_names(tree: Any, names: list[str]) -> list[str]:
    """Names in which the numbered leaves of nnx modules carry their attribute paths."""
    if tree is None or tree.num_leaves != len(names) or not any(_NNX_STATE.search(name) for name in names):
        # To make a tree of other leaves runs the user's code, and is done for nnx's own nodes only.
        return list(names)
    structure = jax.tree_util.tree_unflatten(tree, list(range(len(names))))
    renamed = list(names)
    for module in filter(_is_module, jax.tree_util.tree_leaves(structure, is_leaf=_is_module)):
        places = jax.tree_util.tree_leaves(module)
        graph = module._graphdef  # noqa: SLF001
        paths = list(_variable_paths(iter(graph.nodes), iter(graph.attributes), ""))
        for place, path in zip(places, paths, strict=True) if len(places) == len(paths) else ():
            renamed[place] = _NNX_STATE.sub("", names[place]) + path
    return renamed


def _nnx_result(name: str) -> str:
    """The user's name of a result: nnx returns (updated arguments, updated keywords, the function's result)."""
    if name.startswith("result[2]"):
        return "result" + name.removeprefix("result[2]")
    return "updated" + name.removeprefix("result[0]") if name.startswith("result[0][") else name


def _is_module(node: Any) -> bool:
    # nnx splits a module into `NodeStates`: a static graph and the values of its variables in the graph's order.
    return type(node).__name__ == "NodeStates" and hasattr(getattr(node, "_graphdef", None), "attributes")


def _variable_paths(nodes: Iterator[Any], attributes: Iterator[tuple[Any, Any]], path: str) -> Iterator[str]:
    """The paths of the variables of a module's graph, which lists its nodes, and their attributes, depth first."""
    node = next(nodes)
    if not hasattr(node, "num_attributes"):
        # A variable; a reference to one that was listed before has no value of its own.
        if type(node).__name__ != "NodeRef":
            yield path
        return
    for _ in range(node.num_attributes):
        key, attribute = next(attributes)
        inner = path + (f"[{key}]" if isinstance(key, int) else f".{key}")
        if type(attribute).__name__ == "NodeAttr":
            yield from _variable_paths(nodes, attributes, inner)
        elif type(attribute).__name__ in ("ArrayAttr", "MutableArrayAttr"):
            yield inner
