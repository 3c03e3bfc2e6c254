"""The table's rows of what `pmap` maps: the length along its dimension, and the devices. From 0.9 on `pmap` is a jit and a `shard_map`.

*Source*: the texts in `jax/_src` of 0.8.1 to 0.12.0: `pmap.py`, `interpreters/pxla.py`, `shard_map.py`, `pjit.py`,
`sharding_impls.py`, `lax/lax.py`.
"""

# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Sequence

from pjit_inspect.analyze.errors.printed import SHAPE, read_integers
from pjit_inspect.analyze.errors.specs import shape_words
from pjit_inspect.analyze.errors.table import Facts, Reader, Way
from pjit_inspect.analyze.errors.table import row as _row
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene
from pjit_inspect.model.words.sentence import code, joined, name, say

_MOST = 4
_AXIS = "_internal_pmap_axis_name"
_UNEVEN = (
    r".*?(?:implies that array axis \d{1,4} is partitioned (?P<parts>\d{1,12}) times, but the dimension size is (?P<length>\d{1,18})"
    r"|implies that the global size of its dimension \d{1,4} should be divisible by (?P<parts2>\d{1,12}), but it is equal to (?P<length2>\d{1,18})"
    r"|maps array axis \d{1,4} \(of size (?P<length3>\d{1,18})\) to mesh ax[^\n]{0,800}?, but (?P<parts3>\d{1,12}) does not evenly divide)"
)
_SLICES = (
    rf"(?:cannot select an axis to squeeze out which has size not equal to one, got shape=(?P<local>{SHAPE}) and dimensions=\((?P<dimension>\d{{1,4}}),\)$"
    r"|(?P<certain>compiling computation (?:`.{0,300}?` )?that requires (?P<asked>\d{1,9}) (?:logical devices|replicas), but only (?P<devices>\d{1,9}) XLA devices are available"
    r"|pmap got inconsistent sizes for array axes to be mapped:\n))"
)


def _of_pmap(read: Reader) -> Reader:
    """Reads an error of `pmap` only: most words are said of a jit, a `shard_map` or a `squeeze` of the user's, too."""

    def checked(match: re.Match[str], scene: ErrorScene) -> Facts | None:
        is_mapped = scene.is_mapped or _AXIS in match.string or match.groupdict().get("certain")
        return read(match, scene) if is_mapped else None

    return checked


def _mapped(match: re.Match[str], scene: ErrorScene) -> tuple[int, tuple[ErrorArray, ...], list[int]]:
    """The dimension that is mapped, the arrays that have it, and their lengths along it."""
    dimension = int(match.groupdict().get("dimension") or 0)
    arrays = tuple(array for array in scene.operands if len(array.shape or ()) > dimension)
    return dimension, arrays, [(array.shape or ())[dimension] for array in arrays]


def _of_any(match: re.Match[str], scene: ErrorScene) -> Facts:
    return {"arrays": _mapped(match, scene)[1]}


def _differing(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    dimension, arrays, lengths = _mapped(match, scene)
    words = [say("{} has {}", name(array.name), f"{n:,}") for array, n in zip(arrays[:_MOST], lengths, strict=False)]
    more = [f"{len(arrays) - _MOST} more follow"] if len(arrays) > _MOST else []
    facts = {"arrays": arrays, "dimension": dimension, "lengths": joined([*words, *more], ", ")}
    return facts if len(set(lengths)) > 1 else None


def _uneven(match: re.Match[str], scene: ErrorScene) -> Facts:
    """A length that is no multiple of the devices: of one argument, or of one of several."""
    length, parts = (int(next(filter(None, match.group(key, f"{key}2", f"{key}3")))) for key in ("length", "parts"))
    _, arrays, lengths = _mapped(match, scene)
    own, text = _of_length(arrays, lengths, length), scene.arguments[0].text if len(scene.arguments) == 1 else ""
    is_short = length * 1000 % parts == 0
    facts: dict[str, object] = {
        "arrays": arrays, "length": f"{length:,}", "parts": f"{parts:,}",
        "what": name(own[0].name) if len(own) == 1 else code(text) if text else "an argument",
        "share": f"{length:,} / {parts:,} = {length / parts:g}" if is_short else f"{parts:,} does not divide it",
    }  # fmt: skip
    return facts | ({"several": "all"} if len(scene.arguments) > 1 else {"alone": f"{parts:,}"})


def _of_length(arrays: Sequence[ErrorArray], lengths: Sequence[int], length: int) -> tuple[ErrorArray, ...]:
    return tuple(array for array, own in zip(arrays, lengths, strict=True) if own == length)


def _sliced(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """A length that is not that of the devices, with one slice for each."""
    dimension, arrays, lengths = _mapped(match, scene)
    length, count = _division(match, dimension, arrays)
    if not count or not (scene.is_complete or match["asked"]):
        return None
    own, each, is_whole = _of_length(arrays, lengths, length), length // count, length % count == 0
    share = f"= {length / count:g}" if length * 1000 % count == 0 else f"is {each} and {length % count} are left"
    facts: dict[str, object] = {
        "arrays": own[:1] or arrays, "what": name(own[0].name) if len(own) == 1 else "an argument",
        "length": f"{length:,}", "dimension": dimension, "count": f"{count:,}", "share": f"{length:,} / {count:,} {share}",
        "gain": f"a device may then hold {each} of them" if is_whole else "with no `pmap` at all",
    }  # fmt: skip
    local = shape_words((each, *(own[0].shape or ())[1:]) if len(own) == 1 else (each,))
    return facts | ({"local_shape": local, "sizes": f"{count:,} x {each:,}"} if is_whole and dimension == 0 else {})


def _of_part(match: re.Match[str], scene: ErrorScene) -> Facts:
    """What a device would get of arrays that are not known."""
    local, dimension = read_integers(match["local"] or "()"), int(match["dimension"] or 0)
    texts = [code(argument.text) for argument in scene.arguments]
    own = {"what": texts[0], "alone": texts[0]} if len(texts) == 1 else {"what": "one of them"}
    return {**own, "each": local[dimension]} if len(local) > dimension else {}


def _division(match: re.Match[str], dimension: int, arrays: Sequence[ErrorArray]) -> tuple[int, int]:
    """The length that was mapped, and the devices, 0 where that is not known."""
    if match["asked"]:
        return int(match["asked"]), int(match["devices"])
    # The message has the length of one device's part alone: the arrays that are like it in all other dimensions, and a
    # multiple of it in this one, must agree on a length.
    local = read_integers(match["local"]) if match["local"] else ()
    if len(local) <= dimension or not local[dimension]:
        return 0, 0
    shapes = [array.shape or () for array in arrays]
    rest = local[:dimension] + local[dimension + 1 :]
    same = {shape[dimension] for shape in shapes if shape[:dimension] + shape[dimension + 1 :] == rest}
    same = {length for length in same if length % local[dimension] == 0}
    length = same.pop() if len(same) == 1 else 0
    return length, length // local[dimension]


_ONE_LENGTH = "`pmap` needs one length along dimension {dimension} of all it maps: {lengths}"
_IN_AXES = Way(
    "give `pmap` `in_axes` with `None` for what is the same on all devices", "it is then not mapped, but copied"
)

PMAP_ROWS = (
    _row("pmap", r"Specified axis_size (?P<asked>\d{1,9}) doesn't match received axis_size (?P<own>\d{1,9})\.$",
         "`axis_size` is {asked}, but the arrays that `pmap` maps have {own}",
         Way("leave `axis_size` out", "`pmap` then takes {own} from the arrays"), facts=_of_pmap(_of_any)),
    _row("pmap", r".*?(?:is only valid for values of rank at least \d{1,4}, but was applied to a value of rank 0|_specs entry which is too long to be compatible)",
         "`pmap` maps dimension 0 of every argument, and one of them is a scalar",
         Way("give `pmap` `in_axes` with `None` for that argument", "every device then gets the same value"), facts=_of_pmap(_of_any)),
    _row("pmap", _UNEVEN, _ONE_LENGTH, _IN_AXES, facts=_of_pmap(_differing)),
    _row("pmap", _UNEVEN,
         # With one length for all of them, `pmap` takes as many devices.
         "{what} has {length} along dimension 0, and `pmap` gives it to {parts} devices: {share}",
         Way("give `pmap` `in_axes` with `None` for what is the same on {several} devices", "it is then not mapped, but copied"),
         Way("give it {alone} along dimension 0", "one slice for each device"),
         Way("use `jax.jit` of the `jax.vmap` of the function", "it takes any length, on {alone} devices or on one"), facts=_of_pmap(_uneven)),
    _row("pmap", _SLICES, _ONE_LENGTH, _IN_AXES, facts=_of_pmap(_differing)),
    _row("pmap", _SLICES,
         "{what} has {length} along dimension {dimension}, and `pmap` gives one to each of {count} devices: {share}",
         Way("reshape dimension 0 from {length} to {sizes} and give `pmap` the `jax.vmap` of the function", "a device then maps over {local_shape}"),
         Way("use `jax.jit` of the `jax.vmap` of the function, with the array placed on a mesh", "{gain}"), facts=_of_pmap(_sliced)),
    _row("pmap", _SLICES,
         "the arrays that `pmap` maps do not have one slice for each device along the mapped dimension: {what} has {each}",
         Way("use `jax.jit` of the `jax.vmap` of the function, with {alone} placed on a mesh", "a device may then hold {each} of them"), facts=_of_pmap(_of_part)),
    _row("pmap", _SLICES,
         "the arrays that `pmap` maps do not have one slice for each device along the mapped dimension", facts=_of_pmap(_of_any)),
)  # fmt: skip
"""Each tried in turn; of rows with one pattern the first whose facts are there."""
