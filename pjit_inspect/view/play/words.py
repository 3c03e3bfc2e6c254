"""Short words shared by parts of the playground: changes, meshes, sizes beside a base.

Not its job: figures (`view.document.quantities`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pjit_inspect.model.play.search import SearchProgress
from pjit_inspect.model.play.variant import MemorySource, Variant
from pjit_inspect.model.words.sentence import ONE_TURN
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.document.quantities import bytes_in, bytes_text, change_words, plural

MINUS, TIMES = "\u2212", "\u00d7"
_AS_CAPTURED = "as captured"


def change_text(before: float | None, after: float | None) -> str:
    """The change of a figure: "\u221263 %", "\u00d7 11.2", "gone", "same"; "" where one is unknown."""
    return change_words(before, after).replace("-", MINUS).replace("x ", f"{TIMES} ")


def caveat_words(variant: Variant) -> str:
    """Caveats of the bytes sent: loops of unknown length run once, other communication is not included; or ""."""
    once = f" {ONE_TURN}" if variant.runs_once else ""
    return f"{once} (beside that, {printable(variant.beside)})" if variant.beside else once


def silence_words(variants: Iterable[Variant], nothing: str) -> str:
    """`nothing`, the sentence that nothing is sent, if that is so; else the communication besides collectives."""
    found = next((one.beside for one in variants if one.beside), "")
    return f"No HLO collectives; {printable(found)}." if found else nothing


def chip_words(variant: Variant) -> str:
    """The chip whose memory limits a variant; "chip" for CPU targets."""
    platform, _, rest = variant.controls.target.partition(":")
    return rest.partition(":")[0] if platform != "cpu" else "chip"


def mesh_words(mesh: Sequence[tuple[str, int]]) -> str:
    """The sizes of a mesh: "2 \u00d7 4"; "1 device" for none."""
    return f" {TIMES} ".join(f"{size:,}" for _, size in mesh) or "1 device"


def variant_words(variant: Variant) -> str:
    """The changes from the captured program, in words."""
    return "; ".join(variant.said) or (_AS_CAPTURED if variant.number == 0 else variant.sentence or _AS_CAPTURED)


def progress_words(progress: SearchProgress) -> str:
    """The progress of a search: "12 of 30 s, 34 tried, 11 waiting, best #4"."""
    best = "" if progress.best is None else f", best #{progress.best}"
    gone = f"{min(progress.seconds, progress.budget_s):.0f} of {progress.budget_s:.0f} s"
    return f"{gone}, {progress.asked:,} tried, {progress.waiting:,} waiting{best}"


def short_words(variant: Variant, most: int = 3) -> str:
    """The same; of many changes only the first, and the number of the others."""
    more = len(variant.said) - most
    if more < 1:
        return variant_words(variant)
    return f"{'; '.join(variant.said[:most])}; and {plural(more, 'more change')}"


def size_parts(size: int) -> tuple[str, str]:
    """A size as its figure and its unit."""
    figure, _, unit = bytes_text(size).rpartition(" ")
    return figure, unit


def signed_bytes(difference: int) -> str:
    """A difference with its sign: "+1.50 MiB", "\u221210.5 GiB", "\u00b10"."""
    return "\u00b10" if not difference else f"{'+' if difference > 0 else MINUS}{bytes_text(abs(difference))}"


def signed_in(difference: int, unit: str) -> str:
    """The same in a column's unit; in a smaller unit where it rounds to zero."""
    if bytes_in(abs(difference), unit).startswith("<"):
        return signed_bytes(difference)
    return "\u00b10" if not difference else f"{'+' if difference > 0 else MINUS}{bytes_in(abs(difference), unit)}"


def known_memory(variant: Variant, source: MemorySource) -> int | None:
    """The memory of a variant, counted in one way; None where it is not known in this way."""
    if source == "xla":
        return variant.memory_bytes if variant.memory_source == "xla" else None
    if source == "arguments" or variant.argument_bytes is None or variant.result_bytes is None:
        return variant.argument_bytes if source == "arguments" else None
    return variant.argument_bytes + variant.result_bytes
