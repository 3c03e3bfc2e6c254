"""Asks the user's partition rules of `custom_partitioning` how to split a call, again.

JAX keeps a rule with its executable, under a number that the program has. The rule is a function of the user's, which
JAX traces; it is asked in the process that has it, when somebody wants to know shardings or causes, and nothing runs.
JAX reuses the number of a rule that is gone, so rules are remembered with the program they were captured with. Not its
job: what XLA wants to know of a call (`observe.partitioner.rule_calls`).
"""

from __future__ import annotations

import hashlib
import weakref
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from pjit_inspect.errors import CaptureError
from pjit_inspect.guard import one_line
from pjit_inspect.observe.contract import _jax

_TARGET = b"CustomSPMDPartitioning"
_remembered: dict[bytes, tuple[weakref.ref[Any], bytes]] = {}
"""The key of a rule that a captured program has -> the rule, and that program."""


def remember_rules(stablehlo: bytes) -> None:
    """Remembers the rules of a program that was just captured, without keeping them alive."""
    if _TARGET not in stablehlo:
        return
    for key in [key for key, (rule, _) in _remembered.items() if rule() is None]:
        del _remembered[key]
    digest = hashlib.sha256(stablehlo).digest()
    for key, rule in list(_jax.partition_rules().items()):
        if key in stablehlo:
            _remembered[key] = weakref.ref(rule), digest


def ask_rule(stablehlo: bytes, asked: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """The answer of a rule about one call of a program, and the module that it makes of the call.

    `stablehlo` is the program that was captured, or a changed copy of it. Raises CaptureError with the reason if the
    rule is gone, or fails.
    """
    key = asked["key"].encode()
    rule, program = _remembered.get(key, (None, b""))
    digest = hashlib.sha256(stablehlo).digest()
    is_other = digest != program and any(digest == own for _, own in _remembered.values())
    if rule is None or is_other or rule() is None or _jax.partition_rules().get(key) is not rule():
        raise CaptureError(
            "the partition rule of a custom_partitioning call is gone, as JAX has dropped the compiled function; keep "
            "the jitted function, or ask about the program before it goes"
        )
    operands = [((dtype, sizes), b64decode(sharding)) for dtype, sizes, sharding in asked["operands"]]
    try:
        body, wanted, made = _jax.run_partition_rule(
            key, operands, asked["results"], b64decode(asked["result"]), is_tuple=asked["is_tuple"]
        )
    except Exception as error:
        raise CaptureError(f"the partition rule of a custom_partitioning call failed: {one_line(error)}") from error
    written = [b64encode(own).decode() for own in wanted]
    return {"asked": dict(asked), "operands": written, "result": b64encode(made).decode()}, body
