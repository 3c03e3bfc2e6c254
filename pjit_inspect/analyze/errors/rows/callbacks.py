"""The table's rows of callbacks to Python: refused where they are, or failed.

Not its job: effects that must keep their order on several devices (`analyze.errors.rows.arguments`).

*Source*: the texts in `jax/_src` of 0.8.1 to 0.12.0: `callback.py`, `ffi.py`, `ad_checkpoint.py`.
"""

# ruff: noqa: E501

from __future__ import annotations

import re

from pjit_inspect.analyze.errors.table import Facts, Way
from pjit_inspect.analyze.errors.table import row as _row
from pjit_inspect.model.report.explained_error import ErrorScene
from pjit_inspect.model.words.sentence import code, name, place, say

_LONGEST = 160
_START = r"INTERNAL: (?:Compute error: )?CpuCallback error calling callback: Traceback \(most recent call last\):\n"
_FRAME = re.compile(r'  File "([^"\n]{1,1000})", line (\d{1,9}), in (\S{1,300})$')
_RAISED = re.compile(r"([A-Za-z_][\w.]{0,200})(?:: ([^\n]{0,400}))?$")


def _result(match: re.Match[str], scene: ErrorScene) -> Facts:
    number = int(match["number"])
    sides = {
        key: match[key].replace(" ", "").replace("(", "[").replace(",)", "]").replace(")", "]")
        for key in ("given", "wanted")
    }
    lengths = [re.findall(r"\d+", side) for side in sides.values()]
    is_part = sides["given"] != sides["wanted"] and len(lengths[0]) == len(lengths[1]) and all(
        int(part) and not int(length) % int(part) for part, length in zip(*lengths, strict=True)
    )  # fmt: skip
    notes = ("within `jax.shard_map` a callback sees one device's part, and what is declared is that part's shape",)
    facts = {
        "which": f"result {number} of " if number else "the result of ",
        **{key: code(side) for key, side in sides.items()},
    }
    return facts | ({"notes": notes} if is_part and sides["given"].startswith("[") else {})


def _counts(match: re.Match[str], scene: ErrorScene) -> Facts:
    wanted, given = int(match["wanted"]), int(match["given"])
    words = {number: "1 array" if number == 1 else f"{number} arrays" for number in (wanted, given)}
    return {"given": words[given], "wanted": words[wanted], "were": "was" if wanted == 1 else "were"}


def _raised(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """What the function that was called raised: the last line of the traceback, and where."""
    lines = [line for line in match.string[match.end() :].splitlines() if line.strip()]
    ends = [number for number, line in enumerate(lines) if line.startswith("  File ")]
    # The exception stands after the last frame, its line and perhaps the marks below that.
    after = [line for line in lines[ends[-1] + 1 :] if not line.startswith(" ")] if ends else []
    raised, frame = _RAISED.match(after[0]) if after else None, _FRAME.match(lines[ends[-1]]) if ends else None
    if raised is None or frame is None or "/jax/_src/" in frame[1].replace("\\", "/"):
        return None
    message = raised[2] or ""
    said = f"{raised[1]}: {message}" if message and len(message) <= _LONGEST and "`" not in message else raised[1]
    return {
        "name": name(frame[3]),
        "said": code(said),
        "line": frame[2],
        "notes": (say("that is in {}", place(frame[1])),),
    }


CALLBACK_ROWS = (
    _row("callback", r"pure_callback only supports SingleDeviceSharding, but got <class '(?:[\w.]{0,200}\.)?(?P<code_type>\w{1,200})'>$",
         "`sharding` of a callback says which device calls, and got a {code_type}",
         # No other device instead: on 0.10.2 the results are zeros then on all devices but that one.
         Way("leave `sharding` out", "JAX then chooses the device")),
    _row("callback", r"Pure callbacks do not support JVP\.",
         "`pure_callback` calls Python, whose gradient JAX does not know",
         Way("call it in a function with `jax.custom_vjp` or `jax.custom_jvp`", "which says what the gradient is"),
         Way("give `pure_callback` the `jax.lax.stop_gradient` of its arguments", "if no gradient is to go through it")),
    _row("callback", r"IO callbacks do not support JVP\.",
         "`io_callback` calls Python, whose gradient JAX does not know",
         Way("give `io_callback` the `jax.lax.stop_gradient` of its arguments", "if no gradient is to go through it")),
    _row("callback", r"Cannot `vmap` ordered IO callback\.$",
         "`io_callback` with `ordered=True` is under `vmap`, where nothing says which element comes first",
         Way("ordered=False", "the calls may then come in any order", replaces="ordered=True"),
         Way("use `jax.lax.map` in place of `vmap`", "one after the other, in their order")),
    _row("callback", r"vmap is only supported for the (?P<code_op>pure_callback|ffi_call) primitive when vmap_method is one of .{1,300}\. Got vmap_method=None\.$",
         "{code_op} is under `vmap` and does not say how it takes a batch",
         Way("give it `vmap_method='sequential'`", "calls once for each element"),
         Way("give it `vmap_method='expand_dims'`", "if the function takes leading dimensions: calls once for all")),
    _row("callback", r"Effects not supported in (?:partial-eval|AD) of `checkpoint`/`remat`: \[.{0,2000}?\b(?:Ordered)?IOEffect\b.{0,2000}\]$",
         "`io_callback` is within `jax.checkpoint`, which computes again what it may not call twice",
         Way("call it outside of what `jax.checkpoint` is given", "it is then called once")),
    _row("callback", _START + r".*?RuntimeError: Incorrect output shape for return value #(?P<number>\d{1,6}): Expected: (?P<wanted>\([\d, ]{0,200}\)), Actual: (?P<given>\([\d, ]{0,200}\))$",
         "{which}the function that the callback calls has the shape {given}, but {wanted} was declared",
         Way("declare {given} in its `jax.ShapeDtypeStruct`", "if what it returned is right"), facts=_result),
    _row("callback", _START + r".*?RuntimeError: Incorrect output dtype for return value #(?P<number>\d{1,6}): Expected: (?P<wanted>\w{1,24}), Actual: (?P<given>\w{1,24})$",
         "{which}the function that the callback calls has the type {given}, but {wanted} was declared",
         Way("let it return {wanted}, as `.astype` makes it", "as was declared"), facts=_result),
    _row("callback", _START + r".*?RuntimeError: Mismatched number of outputs from callback\. Expected: (?P<wanted>\d{1,6}), Actual: (?P<given>\d{1,6})$",
         "the function that the callback calls returned {given}, and {wanted} {were} declared",
         Way("declare {given} with `jax.ShapeDtypeStruct`", "what it returns is then what is expected"), facts=_counts),
    _row("callback", _START,
         "the program called {name} in Python, which raised {said} in line {line}", facts=_raised),
)  # fmt: skip
"""Each tried in turn."""
