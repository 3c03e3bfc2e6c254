"""The messages of values that are not known while JAX traces a function, and of those that outlive it, as facts.

Not its job: what the line does with the value (`observe.errors.scene`), what to write instead
(`analyze.errors.traced`).

*Source*: the texts in `jax/_src` of 0.8.2, 0.10.2 and 0.12.0: `errors.py`, `core.py`, `numpy/indexing.py`, and Python's
own of objects that cannot be hashed or formatted.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts
from pjit_inspect.parse.messages.sharding_phrases import parse_array_type

__all__ = ["TRACED_READERS"]

_TYPE = r"(~?\w{1,24}\[[^\]\n]{0,400}\](?:\{[^}\n]{0,200}\})?)"
_FORMS = (
    ("bool", re.compile(rf"^Attempted boolean conversion of traced array with shape {_TYPE}")),
    ("array", re.compile(
        rf"^The numpy\.ndarray conversion method __array__\(\) was called on traced array with shape {_TYPE}")),
    ("integer", re.compile(rf"^The __index__\(\) method was called on traced array with shape {_TYPE}")),
    ("concrete", re.compile(
        rf"^Abstract tracer value encountered where concrete value is expected: traced array with shape {_TYPE}")),
    ("mask", re.compile(rf"^Array boolean indices must be concrete; got (?:ShapedArray\()?{_TYPE}")),
    ("mask", re.compile(rf"^Array boolean indices must be concrete: ShapedArray\({_TYPE}\)")),
)  # fmt: skip
_SHAPES = re.compile(r"^Shapes must be 1D sequences of concrete values of integer type, got (?=.{0,400}Trace)")
# 0.12.0.1 has the longer words.
_SLICE = re.compile(
    r"^(?:Slice entries must be static integers|Array slice indices must have static start/stop/step to be used with "
    r"NumPy indexing syntax)\. Got .{0,400}Trace.{0,400} at position \d"
)
_HASH = re.compile(r"^unhashable type: '(?:\w{0,40}Tracer)'$")
_FORMAT = re.compile(r"^unsupported format string passed to \w{0,40}Tracer\.__format__$")

_TRACING = re.compile(
    r"The error occurred while tracing the function (.{1,300}?)(?: at ([^\n]{1,1000}?:\d{1,9}))? for (\w{1,40})\."
)
_BECAME = "This value became a tracer due to"
_DEPENDS = re.compile(r"because it depends on the values? of the arguments? ([^\n]{1,2000}?)\.(?:\s|$)")
_CONTEXT = (
    ("float", re.compile(r"The problem arose with the `(?:float|complex)` function")),
    ("int", re.compile(r"The problem arose with the `int` function")),
    ("item", re.compile(r"This occurred in the item\(\) method")),
    ("tolist", re.compile(r"This occurred in the tolist\(\) method")),
    ("size", re.compile(
        r"[Tt]he size argument of|value for the size argument|total_repeat_length|number of repeats must be")),
    ("axis", re.compile(r"axis argument must be known statically")),
    ("shape", re.compile(r"It arose in the jnp\.arange argument|'num' argument of jnp\.linspace|jnp\.\w+ argument")),
)  # fmt: skip

_LEAK = re.compile(
    r"^Encountered an unexpected tracer\. .{0,300}?(?:intermediate value with type|intermediate value with shape) "
    rf"{_TYPE} (?:wrapped in a \w{{1,60}} )?to escape the scope of the transformation",
    re.S,
)
_LEAKED_FROM = re.compile(
    r"The function being traced when the value leaked was (.{1,300}?) at ([^\n]{1,1000}?:\d{1,9}) "
    r"traced for (\w{1,40})\."
)
_MADE_AT = re.compile(r"The leaked intermediate value was created on line (\S[^\n]{0,1000}?:\d{1,9}):\d{1,9} ")


def _traced(text: str) -> ErrorFacts | None:
    for reason, pattern in _FORMS:
        if found := pattern.match(text):
            return _tracing(text, reason, _array(found[1]))
    if _SHAPES.match(text):
        return _tracing(text, "shape", None)
    for reason, pattern in (("slice", _SLICE), ("hash", _HASH), ("format", _FORMAT)):
        if pattern.match(text):
            return ErrorFacts(kind="traced value", reason=reason)
    return None


def _array(text: str) -> ErrorArray:
    return replace(parse_array_type(text.removeprefix("~")), name="")


def _tracing(text: str, reason: str, array: ErrorArray | None) -> ErrorFacts:
    if reason == "concrete":
        reason = next((name for name, pattern in _CONTEXT if pattern.search(text)), "concrete")
    where, depends = _TRACING.search(text), _DEPENDS.search(text)
    # Only of what depends on nothing that JAX names may it be said that it outlived the function.
    place = (where[2] or "") if where and not depends and _BECAME not in text else ""
    names = re.split(r", and |, | and ", depends[1]) if depends else []
    return ErrorFacts(
        kind="traced value", reason=reason, arrays=(array,) if array else (), operation=where[3] if where else "",
        function=where[1] if where else "", place=place,
        names=tuple(name for name in names if name),
    )  # fmt: skip


def _leaked(text: str) -> ErrorFacts | None:
    found = _LEAK.match(text)
    if found is None:
        return None
    where, made = _LEAKED_FROM.search(text), _MADE_AT.search(text)
    return ErrorFacts(
        kind="leaked value", arrays=(_array(found[1]),), operation=where[3] if where else "",
        function=where[1] if where else "", place=made[1] if made else "",
    )  # fmt: skip


TRACED_READERS = (_traced, _leaked)
