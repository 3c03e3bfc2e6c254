"""Whether two functions that were jitted come from one place in the source, or are two that share a name.

A name and a file do not tell: both branches of an `if` may define `f`, and one line may hold two lambdas. Not its job:
in what they differ (`analyze.recompiles.key_differences`).
"""

from __future__ import annotations

from pjit_inspect.model.record.compile_key import FunctionKey


def same_definition(old: FunctionKey, new: FunctionKey) -> bool | None:
    """True when one piece of source made both, perhaps edited in between; None when that cannot be told."""
    if old.serial is not None and old.serial == new.serial:
        return True
    if old.place is None or new.place is None:
        return None
    is_alone = old.twins == new.twins == 1
    if None in (old.version, new.version):
        return True if _place(old) == _place(new) and old.code == new.code else None
    if old.version == new.version:
        if _place(old) == _place(new):
            return True if old.code == new.code else is_alone or None
        # The text is read when a function is first called: with one definition in it, one of the two came from a text
        # that has gone since.
        return is_alone
    if old.code == new.code and "<lambda>" in old.name:
        return True
    return is_alone or None


def _place(function: FunctionKey) -> tuple[object, ...]:
    place = function.place
    return () if place is None else (place.line, place.columns)
