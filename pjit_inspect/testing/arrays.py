"""Checks of arguments and results: how they are split, whether copies are held, and whether they are donated."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pjit_inspect.analyze.play.settings import path_matcher
from pjit_inspect.errors import CheckFailedError, NothingMatchedError
from pjit_inspect.handles.asked.change_specs import plain_spec
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.handles.session.log import Log
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import PartitionSpec, axes_of, spec_text
from pjit_inspect.model.sharding.sharded_program import axis_name
from pjit_inspect.testing.failure import failure
from pjit_inspect.testing.subjects import Options, each, not_known, size_of, unknown_axis
from pjit_inspect.view.document.quantities import bytes_text, plural

_MOST_LISTED = 12
_MOST_NEAR = 3


def assert_sharded(
    subject: Any,
    *args: Any,
    path: str | None = None,
    over: str | Collection[str],
    min_fraction: float = 1.0,
    **options: Any,
) -> None:
    """Of the bytes of these arguments and results at least this part is split over a mesh axis.

    `assert_sharded(record, "params", over="model", min_fraction=0.95)`, `assert_sharded("params", record, over="data")`
    and `assert_sharded(step, params, batch, path="params", over="model")` are all understood.

    Args:
      subject: a function, a record, or a log.
      *args: the arguments of a function.
      path: the path of an argument or result, which includes all beneath it: "params", "params['layers'][*]['w1']",
        "result[0]"; `*` is any key.
      over: a mesh axis, or several, each of which must split the array.
      min_fraction: from 0 to 1, of the bytes of the whole arrays.
      **options: those of `pjit_inspect.testing`; others are arguments of the function.

    Raises CheckFailedError; NothingMatchedError for a path or axis that does not exist, UnknownAnswerError where a
    sharding or a size is not known.
    """
    __tracebackhide__ = True
    subject, args, named = _with_given(subject, args, path, str, "path='params'")
    axes = [over] if isinstance(over, str) else list(over)

    def check(record: CompileRecord) -> CheckFailedError | None:
        arrays, error = _arrays(record, named)
        if error is not None:
            return error
        if sentence := unknown_axis(record, axes):
            return failure(f"{record.name}: {sentence}", kind=NothingMatchedError)
        unknown = [one for one in arrays if one.spec is None or one.global_bytes is None]
        bare = [one for one in arrays if one not in unknown and not set(axes) <= _axes(one)]
        whole = sum(one.global_bytes or 0 for one in arrays)
        split = whole - sum(one.global_bytes or 0 for one in (*bare, *unknown))
        # What is not known may be split, or be large: it decides where what is known does not.
        at_most = split + sum(one.global_bytes or 0 for one in unknown)
        if unknown and (at_most >= min_fraction * whole or any(one.global_bytes is None for one in unknown)):
            return _unknown(record, unknown)
        if split >= min_fraction * whole:
            return None
        over_axes = " and ".join(f"`{axis}`" for axis in axes)
        return failure(
            f"{record.name}: {split / whole:.1%} of `{named}` is split over {over_axes}",
            ("expected", [f"at least {min_fraction:.1%} of {bytes_text(whole)}"]),
            ("found", _listed(bare, lambda one: f"{_spec_words(one)}  {bytes_text(one.global_bytes)}")),
        )

    each(subject, args, Options.of(options), check)


def assert_specs(subject: Any, *args: Any, specs: Mapping[str, Any] | None = None, **options: Any) -> None:
    """Arguments and results have these PartitionSpecs: `assert_specs(record, {"params['w1']": P(None, "model")})`.

    Args:
      subject: a function, a record, or a log.
      *args: the arguments of a function.
      specs: a `jax.sharding.PartitionSpec`, or a tuple like one, by path as in `assert_sharded`. Entries of None at the
        end may be left out.
      **options: those of `pjit_inspect.testing`; others are arguments of the function.

    Raises CheckFailedError, NothingMatchedError for a path that does not exist, UnknownAnswerError where a sharding is
    not known.
    """
    __tracebackhide__ = True
    subject, args, given = _with_given(subject, args, specs, Mapping, "specs={path: PartitionSpec}")
    wanted = {path: _short(plain_spec(spec) or ()) for path, spec in given.items()}

    def check(record: CompileRecord) -> CheckFailedError | None:
        wrong, unknown = list[str](), list[ArrayLayout]()
        for path, spec in wanted.items():
            arrays, error = _arrays(record, path)
            if error is not None:
                return error
            unknown += [one for one in arrays if one.spec is None]
            wrong += [
                f"{one.path}  {_spec_words(one)}, not {spec_text(spec)}"
                for one in arrays
                if one.spec is not None and _short(one.spec) != spec
            ]
        if not wrong:
            return _unknown(record, unknown) if unknown else None
        return failure(f"{record.name}: {plural(len(wrong), 'array')} split differently", ("found", _cut(wrong)))

    each(subject, args, Options.of(options), check)


def assert_no_full_replication(
    subject: Any, *args: Any, min_bytes: int | str = "1 MiB", allow: Iterable[str] = (), **options: Any
) -> None:
    """No argument or result of this size is held in full by every device.

    Args:
      subject: a function, a record, or a log.
      *args: the arguments of a function.
      min_bytes: smaller arrays may be: "1 MiB".
      allow: paths of arrays that may be, as in `assert_sharded`.
      **options: those of `pjit_inspect.testing`; others are arguments of the function.

    Raises CheckFailedError; NothingMatchedError for a path that does not exist, or on one device; UnknownAnswerError
    where a sharding or a size is not known.
    """
    __tracebackhide__ = True
    least, allowed = size_of(min_bytes), tuple(allow)

    def check(record: CompileRecord) -> CheckFailedError | None:
        if len(record.data.devices) == 1:
            return failure(f"{record.name}: it runs on one device", kind=NothingMatchedError)
        free = set[str]()
        for path in allowed:
            arrays, error = _arrays(record, path)
            if error is not None:
                return error
            free |= {one.path for one in arrays}
        own = [one for one in (*record.inputs, *record.outputs) if one.path not in free]
        large = [one for one in own if one.global_bytes is None or one.global_bytes >= least]
        unknown = [one for one in large if one.global_bytes is None or one.replication is None]
        whole = [one for one in large if one not in unknown and _is_whole(one)]
        if not whole:
            return _unknown(record, unknown) if unknown else None
        held = sum(one.global_bytes or 0 for one in whole)
        return failure(
            f"{record.name}: every device holds all of {plural(len(whole), 'array')}, {bytes_text(held)}",
            ("expected", [f"none of at least {bytes_text(least)}"]),
            ("found", _listed(whole, lambda one: f"{_spec_words(one)}  {bytes_text(one.global_bytes)}")),
        )

    each(subject, args, Options.of(options), check)


def assert_donated(subject: Any, *args: Any, path: str | None = None, **options: Any) -> None:
    """These arguments are donated, and results reuse their memory: `assert_donated(record, "params")`.

    Args:
      subject: a function, a record, or a log.
      *args: the arguments of a function.
      path: as in `assert_sharded`.
      **options: those of `pjit_inspect.testing`; others are arguments of the function.

    Raises CheckFailedError, NothingMatchedError for a path that does not exist, and UnknownAnswerError where the
    compiled program is not there to tell what results reuse.
    """
    __tracebackhide__ = True
    subject, args, named = _with_given(subject, args, path, str, "path='params'")

    def check(record: CompileRecord) -> CheckFailedError | None:
        arrays, error = _arrays(record, named, record.inputs)
        if error is not None:
            return error
        reused = {one.aliases for one in record.outputs}
        kept = [one for one in arrays if not one.donated]
        unused = [one for one in arrays if one.donated and one.path not in reused]
        if unused and record.hlo is None:
            return not_known(record, "what results reuse", record.data.missing.get("hlo", "no optimized program"))
        if not kept and not unused:
            return None
        lines = [*(f"{one.path}  is not donated" for one in kept)]
        lines += [f"{one.path}  is donated, and no result reuses it" for one in unused]
        size = bytes_text(sum(one.bytes_per_device or 0 for one in (*kept, *unused)))
        return failure(
            f"{record.name}: the memory of {plural(len(lines), 'argument')} is not reused, {size} per device",
            ("found", _cut(lines)),
            ("remove", ["name them in donate_argnums or donate_argnames of jax.jit"] if kept else []),
        )

    each(subject, args, Options.of(options), check)


# ---------------------------------------------------------------- which arrays


def _with_given(
    subject: Any, args: tuple[Any, ...], given: Any, kind: type, missing: str
) -> tuple[Any, tuple[Any, ...], Any]:
    """The subject, its arguments, and what is asked of it: it may come before the subject, or after a record or log."""
    if given is not None:
        return subject, args, given
    if isinstance(subject, kind) and args and not isinstance(subject, (CompileRecord, Log)):
        return args[0], args[1:], subject
    if isinstance(subject, (CompileRecord, Log)) and args and isinstance(args[0], kind):
        return subject, args[1:], args[0]
    raise TypeError(f"it is missing what is asked: {missing}")


def _arrays(
    record: CompileRecord, path: str, among: Sequence[ArrayLayout] | None = None
) -> tuple[list[ArrayLayout], CheckFailedError | None]:
    """The arrays of a path; and the failure where there are none."""
    known = (*record.inputs, *record.outputs) if among is None else among
    found = [one for one in known if path_matcher(path).match(one.path)]
    if found:
        return found, None
    near = get_close_matches(path, [one.path for one in known], n=_MOST_NEAR, cutoff=0.3)
    close = [one for one in known if one.path in near] or list(known[:_MOST_NEAR])
    return [], failure(
        f"{record.name}: no argument or result is called {path}",
        ("near", _listed(close, _spec_words)),
        ("note", ["a check that matches nothing says nothing, so it fails"]),
        kind=NothingMatchedError,
    )


def _unknown(record: CompileRecord, arrays: Sequence[ArrayLayout]) -> CheckFailedError:
    first = arrays[0]
    follows_none = first.spec is None and first.sharding is not None
    why = "its sharding follows no mesh axes" if follows_none else "the record does not have it"
    return not_known(record, f"the sharding or the size of {first.path}", why)


def _axes(one: ArrayLayout) -> set[str]:
    return {axis_name(axis) for entry in one.spec or () for axis in axes_of(entry)}


def _is_whole(one: ArrayLayout) -> bool:
    return one.sharding is not None and one.replication == len(one.sharding.device_ids)


def _short(spec: PartitionSpec) -> PartitionSpec:
    """A spec without what is not split at its end; an entry of one axis is that axis."""
    entries = [own[0] if isinstance(own, tuple) and len(own) == 1 else own or None for own in spec]
    while entries and entries[-1] is None:
        entries.pop()
    return tuple(entries)


def _spec_words(one: ArrayLayout) -> str:
    return "follows no mesh axes" if one.spec is None else spec_text(one.spec)


def _listed(arrays: Sequence[ArrayLayout], words: Any) -> list[str]:
    return _cut([f"{one.path}  {one.dtype}[{','.join(map(str, one.global_shape))}]  {words(one)}" for one in arrays])


def _cut(lines: list[str]) -> list[str]:
    more = len(lines) - _MOST_LISTED
    return lines if more <= 1 else [*lines[:_MOST_LISTED], f"and {more} more"]
