"""The function object that was given to jit: its kind, its definition, and the values it carries.

Two versions of the defining text tell an edited function from two functions of one name. Not its
job: the arguments of a call (`observe.key.compile_key`).
"""

from __future__ import annotations

import functools
import hashlib
import linecache
import re
import weakref
from collections import Counter
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any, NamedTuple

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.compile_key import FunctionKey, FunctionKind, NamedText
from pjit_inspect.observe.live.frames import cell_name, is_jax_file, source_lines
from pjit_inspect.observe.live.serials import serial_of
from pjit_inspect.observe.live.short_text import named_text
from pjit_inspect.observe.live.untouched import is_a, plain_attribute, type_name

_NAMED = (FunctionType, BuiltinFunctionType, MethodType, type)
_TRACEBACKS = "/jax/_src/traceback_util.py"
_MAX_LINES, _MAX_TEXT_LINES = 400, 20_000
_MAX_TEXTS = 64
_MAX_WRAPPERS = 30
_MAX_BOUND = 40


class _Definition(NamedTuple):
    """The facts of a function that its code object shows."""

    place: Frame | None = None
    code: str | None = None
    lines: tuple[str, ...] = ()
    version: str | None = None
    twins: int | None = None


class _Text(NamedTuple):
    """A file or cell: its lines, a hash of them, and the number of definitions of each qualified name."""

    given: list[str]
    lines: tuple[str, ...]
    version: str | None
    defined: Counter[str]


# Only addresses of code objects are keys; the weak references empty the table.
_definitions: dict[int, tuple[weakref.ref[CodeType], _Definition]] = {}
_texts: dict[str, _Text] = {}


def describe_function(function: Any, name: str = "") -> FunctionKey:
    """The facts of a function given to jit; `name` is JAX's name for it."""
    chain = list(_unwrapped(function))
    inner = chain[-1]
    code = plain_attribute(inner, "__code__") or plain_attribute(plain_attribute(type(inner), "__call__"), "__code__")
    found = _definition(code) if isinstance(code, CodeType) else _Definition()
    return FunctionKey(
        name=_qualified_name(inner, name),
        kind=_kind(function, chain),
        wrapper=_wrapper_name(chain),
        serial=serial_of(function),
        **found._asdict(),
        bound=tuple(_bound(chain))[:_MAX_BOUND],
        defaults=tuple(_defaults(inner))[:_MAX_BOUND],
    )


def _unwrapped(function: Any) -> Iterator[Any]:
    """The object and the objects it wraps, outermost first."""
    for _ in range(_MAX_WRAPPERS):
        yield function
        if is_a(function, functools.partial):
            inner = function.func
        elif is_a(function, MethodType):
            inner = function.__func__
        else:
            inner = plain_attribute(function, "__wrapped__")
        if inner is None or not callable(inner):
            return
        function = inner


def _kind(function: Any, chain: list[Any]) -> FunctionKind:
    if is_a(function, functools.partial):
        return "partial"
    if is_a(function, MethodType):
        return "method"
    if plain_attribute(function, "__code__") is None and plain_attribute(function, "__wrapped__") is None:
        return "object"
    if len(chain) > 1:
        return "wrapper"
    return "lambda" if plain_attribute(function, "__name__") == "<lambda>" else "function"


def _wrapper_name(chain: list[Any]) -> str:
    """`grad` for a function returned by `jax.grad`: the part of its code's name before `<locals>`."""
    for function in chain[:-1]:
        if is_a(function, functools.partial, MethodType):
            continue
        code = plain_attribute(_without_traceback_wrapper(function), "__code__")
        if not isinstance(code, CodeType):
            return type_name(type(function))
        name = code.co_qualname.split(".<locals>")[0]
        # `jax.shard_map` is made by `_shard_map`.
        return name.lstrip("_") if is_jax_file(code.co_filename) else name
    return ""


def _without_traceback_wrapper(function: Any) -> Any:
    """Removes the wrapper that JAX puts around its own wrappers to shorten tracebacks, with the inner name."""
    code = plain_attribute(function, "__code__")
    if not isinstance(code, CodeType) or not code.co_filename.replace("\\", "/").endswith(_TRACEBACKS):
        return function
    held = (cell.cell_contents for cell in function.__closure__ or ())
    return next((item for item in held if plain_attribute(item, "__code__") is not None), function)


def _qualified_name(inner: Any, name: str) -> str:
    found = plain_attribute(inner, "__qualname__") if is_a(inner, *_NAMED) else name
    found = found or plain_attribute(inner, "__name__")
    return found if isinstance(found, str) else type_name(type(inner))


def _bound(chain: list[Any]) -> Iterator[NamedText]:
    for function in chain:
        if is_a(function, functools.partial):
            yield from (named_text(name, value) for name, value in _positional(function))
            yield from (named_text(name, value) for name, value in sorted(function.keywords.items()))
        elif is_a(function, MethodType):
            yield named_text("self", function.__self__)
    yield from _closed_over(chain[-1])


def _positional(function: functools.partial[Any]) -> Iterator[tuple[str, Any]]:
    """The positional arguments that a partial holds, by name where its function shows them."""
    code = plain_attribute(function.func, "__code__")
    names = code.co_varnames[: code.co_argcount] if isinstance(code, CodeType) else ()
    if is_a(function.func, MethodType):
        names = names[1:]
    for number, value in enumerate(function.args):
        yield (names[number] if number < len(names) else f"argument {number}"), value


def _closed_over(function: Any) -> Iterator[NamedText]:
    if not is_a(function, FunctionType):
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield named_text(name, cell.cell_contents)
        except ValueError:  # A name that has no value yet.
            continue


def _defaults(function: Any) -> Iterator[NamedText]:
    if not is_a(function, FunctionType):
        return
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    yield from (named_text(name, value) for name, value in zip(names, defaults, strict=True))
    yield from (named_text(name, value) for name, value in (function.__kwdefaults__ or {}).items())


# ---------------------------------------------------------------- source


def _definition(code: CodeType) -> _Definition:
    entry = _definitions.get(id(code))
    if entry is not None and entry[0]() is code:
        return entry[1]
    file, first = code.co_filename, code.co_firstlineno
    is_lambda = code.co_name == "<lambda>"
    columns = _columns(code) if is_lambda else ()
    place = Frame(file=file, line=first, function=code.co_qualname, cell=cell_name(file), columns=columns)
    last = max((line or 0 for part in _codes(code) for _, _, line in part.co_lines()), default=first)
    text = text_of(file)
    lines = text.lines[first - 1 : min(last, first + _MAX_LINES - 1)]
    twins = None if text.version is None or is_lambda else text.defined[code.co_qualname]
    found = _Definition(place, _fingerprint(code), lines, text.version, twins)
    key = id(code)
    _definitions[key] = (weakref.ref(code, lambda _: _definitions.pop(key, None)), found)
    return found


def _columns(code: CodeType) -> tuple[int, ...]:
    """The columns of the first expression that a lambda computes; () if Python does not keep them."""
    for _, _, begin, end in code.co_positions():
        if begin is not None and end:
            return begin, end
    return ()


def _fingerprint(code: CodeType) -> str:
    digest = hashlib.sha1(usedforsecurity=False)
    for part in _codes(code):
        plain = [repr(item) for item in part.co_consts if not isinstance(item, CodeType)]
        facts = (part.co_code, part.co_names, part.co_varnames, part.co_freevars, part.co_cellvars, part.co_flags)
        digest.update(repr((*facts, plain)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from _codes(item)


def text_of(file: str) -> _Text:
    """The present text of a file or cell; without lines and version if there is none.

    All its functions share the object: `linecache` makes a new list when the text changes.
    """
    if not file.startswith("<"):
        # A module that was edited and reloaded is still cached as it was.
        linecache.checkcache(file)
    given = linecache.getlines(file)
    if not given or len(given) > _MAX_TEXT_LINES:
        return _Text([], (), None, Counter())
    known = _texts.get(file)
    if known is None or known.given is not given:
        lines = source_lines(file, given)
        text = "\n".join(lines)
        version = hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16]
        if len(_texts) >= _MAX_TEXTS:
            _texts.clear()
        known = _texts[file] = _Text(given, lines, version, Counter(defined_names(text)))
    return known


_TOKENS = re.compile(
    r"""
      \#[^\n]*
    | \"{3} (?: [^"\\] | \\. | "(?!"") )* \"{3}
    | '{3} (?: [^'\\] | \\. | '(?!'') )* '{3}
    | " (?: [^"\\\n] | \\. )* "
    | ' (?: [^'\\\n] | \\. )* '
    | ^ (?P<indent> [ \t]* ) (?: (?:async[ \t]+)? (?P<kind> def | class ) [ \t]+ (?P<name> \w+ ) | (?= [\w@] ) )
    """,
    flags=re.MULTILINE | re.DOTALL | re.VERBOSE,
)
"""Comments, strings, and words at the beginning of a line: these may contain a `def`, or end a block."""


def defined_names(text: str) -> Iterator[str]:
    """The qualified name of every function that a text defines, in order.

    By indentation: parsing takes forty times as long, half a second for a file of 12,000 lines, and this is done within
    the first compile of a function of that file. A cell with magics, which is no Python, has names as well.
    """
    blocks: list[tuple[int, str]] = []
    for token in _TOKENS.finditer(text):
        if token["indent"] is None:
            continue
        indent = len(token["indent"].expandtabs())
        while blocks and blocks[-1][0] >= indent:
            blocks.pop()
        prefix = blocks[-1][1] if blocks else ""
        if token["kind"] == "def":
            yield prefix + token["name"]
            blocks.append((indent, f"{prefix}{token['name']}.<locals>."))
        elif token["kind"] == "class":
            blocks.append((indent, f"{prefix}{token['name']}."))
