"""The seconds of a call in one sentence: the first words of every display that knows seconds.

Not its job: the figures (`model.time`), or where the seconds go (`view.time.page`).
"""

from __future__ import annotations

from pjit_inspect.model.time.step_time import StepTime
from pjit_inspect.view.document.document import Spans, Text, spans, strong
from pjit_inspect.view.document.quantities import count_text, plural, time_text

_MODELS = {"XLA's estimate": "by XLA's estimate", "modelled": "by a roofline of each kernel"}


def seconds_spans(step: StepTime | None) -> Spans:
    """The sentence, without its full stop; () where seconds are unknown.

    An estimate has its range, its model, and what it leaves out beside it: it never stands alone. What was measured
    comes before it.
    """
    if step is not None and step.is_quick:
        least, most = (short(own or 0.0) for own in (step.floor_s, step.serial_s))
        return spans(strong(f"{least} to {most}"), f" a call{_machine(step)}, a quick estimate")
    if step is None or step.step_s is None:
        return ()
    bound = bound_words(step.bound_by)
    if step.is_measured:
        waits = f"; {short(step.exposed_s)} in collectives" if step.exposed_s else None
        return spans(strong(short(step.step_s)), f" a call, {_measured(step)}; {bound}", waits)
    if step.measured_s is not None:
        first = spans(strong(short(step.measured_s)), f" a call{_machine(step)}, {_measured(step)}; estimated ")
    else:
        first = ()
    took, where = (short(step.step_s), "") if first else (f"about {short(step.step_s)}", f" a call{_machine(step)}")
    words = f"{where}{_range(step)}, {_model(step)}; {bound}"
    return spans(first, Text(took, "none" if first else "strong"), words, _waits(step), _left_out(step))


def bound_words(bound: str) -> str:
    """The limit that takes most of a call, in words."""
    words = {"neither": "bound by no single limit", "unknown": "what limits it is unknown"}
    return words.get(bound, f"{bound}-bound")


def short(seconds: float) -> str:
    """Seconds in three digits."""
    return time_text(seconds * 1e6)


def _measured(step: StepTime) -> str:
    """That it was measured, and what of several devices."""
    return f"measured, the mean of {count_text(step.devices)} devices" if step.devices > 1 else "measured"


def _machine(step: StepTime) -> str:
    return "" if step.hardware is None else f" on {count_text(step.devices)} {step.hardware.name}"


def _range(step: StepTime) -> str:
    """The least and the most that it can be; "" where both round to one figure."""
    ends = [short(own) for own in (step.floor_s, step.serial_s) if own is not None]
    return f" ({ends[0]} to {ends[1]})" if len(set(ends)) > 1 else ""


def _model(step: StepTime) -> str:
    """The model that most of the kernels' seconds come from."""
    seconds = dict.fromkeys(_MODELS, 0.0)
    for row in step.kernels:
        if row.known_by in seconds:
            seconds[row.known_by] += row.seconds or 0.0
    most = max(seconds, key=lambda name: seconds[name])
    if step.hardware is not None and step.hardware.is_measured and most == "modelled":
        return "by speeds measured on this machine"
    return _MODELS[most]


def _waits(step: StepTime) -> Spans:
    """The communication that kernels wait for, where some is known."""
    known = [row for row in step.collectives if row.seconds is not None]
    if not known or step.exposed_s is None:
        return ()
    return spans("; ", strong(f"{short(step.exposed_s)} of communication exposed"))


def _left_out(step: StepTime) -> str | None:
    """The rows of unknown time, which the figure does not have."""
    parts = [
        plural(number, noun)
        for noun, rows in (("kernel", step.kernels), ("collective", step.collectives))
        if (number := sum(row.seconds is None for row in rows))
    ]
    return f"; without {' and '.join(parts)} of unknown time" if parts else None
