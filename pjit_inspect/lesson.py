"""What a lesson needs beside JAX and `%pjit`: a field for your prediction, and checks that take one quiet line.

    predict("bytes that device 3 sends")      a field: say a number before you look
    check(sends=2 * 7 * 2_048)                is that what each device sends, in the program that `%pjit` showed last?

A wrong number is no exception: it says both numbers, so that a student goes on. Not its job: showing what `%pjit`
shows.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from numbers import Real
from typing import Any

from pjit_inspect import api
from pjit_inspect.errors import RecordNotFoundError

__all__ = ["check", "predict"]

_WIDGET = "application/vnd.jupyter.widget-view+json"
_UNITS = {"": 1, "B": 1, "BYTES": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}
_NUMBER = re.compile(r"\s*(\d[\d_,]*(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def _held(record: api.CompileRecord) -> int | None:
    sizes = [one.bytes_per_device for one in record.inputs]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _run(record: api.CompileRecord) -> int | None:
    counts = [one.count for one in record.collectives]
    return None if None in counts else sum(count for count in counts if count is not None)


# Claim -> what is said before the number, its unit, and where it is found.
_CLAIMS: dict[str, tuple[str, str, Callable[[api.CompileRecord], float | None]]] = {
    "sends": ("Each device sends", "bytes", lambda record: record.sends),
    "holds": ("Each device holds", "bytes", _held),
    "collectives": ("This many run:", "collectives", _run),
    "flops": ("Each device does", "flops", lambda record: int(record.cost["flops"]) if record.cost else None),
}
_fields: list[Any] = []


def check(record: api.CompileRecord | None = None, /, **claims: float) -> None:
    """Compare your arithmetic with the program that `%pjit` showed last, or with `record`; one printed line for each.

    `sends`: bytes that each device sends per call (modelled: ring). `holds`: bytes of the arguments on each device.
    `collectives`: how many run in one call. `flops`: operations of each device (counted by XLA). A prediction typed
    into the newest `predict` field is judged with the first claim, and is used up. Raises TypeError for another name
    and for what is no number, RecordNotFoundError before the first `%pjit`.
    """
    record = _shown_last() if record is None else record
    for name, said in claims.items():
        if name not in _CLAIMS:
            raise TypeError(f"check() knows no {name!r}; it knows {', '.join(_CLAIMS)}")
        if not isinstance(said, Real):
            raise TypeError(f"check({name}=...) takes a number, and got {type(said).__name__}")
        words, unit, find = _CLAIMS[name]
        sys.stdout.write(f"{_verdict(said, find(record), words, unit)}\n")


def predict(what: str) -> Any:
    """Show a field for your own number; the next `check` says how it compares. A line of text where nothing runs.

    `what` names the number: "bytes that device 3 sends". The field takes 28672, 28,672 and 28 KiB.
    """
    import ipywidgets

    class Field(ipywidgets.Text):
        def __repr__(self) -> str:
            return f"Your prediction, {what}: ____"

        def _repr_mimebundle_(self, **kwargs: Any) -> Any:
            found = super()._repr_mimebundle_(**kwargs)
            bundle, metadata = found if isinstance(found, tuple) else (found, {})
            view = {_WIDGET: bundle[_WIDGET]} if bundle and _WIDGET in bundle else {}
            return {"text/plain": repr(self), **view}, metadata

    field = Field(
        description=f"{what}:",
        placeholder="your number",
        style={"description_width": "initial"},
        layout={"width": "30em"},
    )
    _fields[:] = [field]
    return field


def _shown_last() -> api.CompileRecord:
    mine = api.session_log().user_records()
    if not mine:
        raise RecordNotFoundError("no program to compare with: run one with %pjit first")
    return mine[-1]


def _verdict(said: float, found: float | None, words: str, unit: str) -> str:
    if found is None:
        return f"? {words} an unknown number of {unit}: the program was not captured whole."
    guess = _prediction()
    yours = "" if guess is None else " As you predicted." if guess == found else f" You predicted {guess:,}."
    if said == found:
        unit = unit.removesuffix("s") if found == 1 else unit
        return f"✓ {found:,} {unit}{yours and '.'}{yours}"
    return f"✗ You say {said:,} {unit}. {words} {found:,}. {_hint(said, found)}{yours}"


def _hint(said: float, found: float) -> str:
    for large, small, words in ((found, said, "It is {} times yours."), (said, found, "Yours is {} times that.")):
        if small > 0 and large % small == 0:
            return words.format(f"{large // small:,}")
    return "Which factor is missing?"


def _prediction() -> int | float | None:
    """The number in the newest field, which is used once; None if there is none."""
    typed = _fields.pop().value if _fields else ""
    match = _NUMBER.fullmatch(typed)
    scale = _UNITS.get(match[2].upper()) if match else None
    if match is None or scale is None:
        return None
    number = float(match[1].replace(",", "").replace("_", "")) * scale
    return int(number) if number.is_integer() else number
