"""The one table of operations: what each of them does with its operands, as flags that several analyses ask for.

Rows have HLO's names, with hyphens. StableHLO's names, with underscores, are used for the program before partitioning,
and found by the same row. An operation without a row has no flag. Not its job: the analyses.
"""

from __future__ import annotations

from typing import Literal

Flag = Literal[
    "barrier",
    "body",
    "broadcast",
    "collective",
    "convert",
    "copy",
    "dot",
    "given",
    "host",
    "idle",
    "made",
    "move",
    "parameter",
    "part",
    "pieces",
    "product",
    "random",
    "region",
    "rename",
    "request",
    "same order",
    "slice",
    "sum",
    "token",
    "transfer",
    "tuple",
    "view",
    "write",
]
"""A property of an operation.

"barrier": yields its operand, and only orders the program. "body": runs each computation it calls once per run.
"broadcast": repeats its operand. "collective": moves data between devices, or sums over them. "convert": changes the
element type. "copy": yields its operand in other memory. "dot": a product of arrays, no convolution. "given": a
parameter or a constant. "host": talks to the host. "idle": nothing runs for it on a device. "made": makes its value
from no operand. "move": moves elements of its first operand without computing with them. "parameter": a computation's
parameter. "part": takes a part of its operand. "pieces": a collective whose operands are pieces of one array.
"product": a product of arrays; on a TPU all are convolutions. "random": draws numbers, or keeps their state. "region":
runs other computations in place, as a loop, branch or call. "rename": yields its operand under another shape, without a
copy. "request": by it a user sets a value's sharding. "same order": a view whose elements keep their row-major order.
"slice": a part at one position. "sum": a collective that combines values computed by the devices; all others only move
data. "token": orders side effects. "transfer": sends or receives in two halves. "tuple": packs or unpacks a tuple.
"view": has its operand's elements, unchanged. "write": writes a part of its first operand.
"""

_FLAGS: dict[str, tuple[Flag, ...]] = {
    "add-dependency": ("barrier", "idle"),
    "after-all": ("token", "idle"),
    "all-gather": ("collective",),
    "all-reduce": ("collective", "sum"),
    "all-to-all": ("collective", "pieces"),
    "async-start": ("body",),
    "bitcast": ("view", "same order", "rename", "idle"),
    "broadcast": ("broadcast",),
    "broadcast-in-dim": ("broadcast",),
    "call": ("region", "body"),
    "case": ("region",),
    "collective-broadcast": ("collective",),
    "collective-permute": ("collective",),
    "concatenate": ("move",),
    "conditional": ("region",),
    "constant": ("made", "given", "idle"),
    "convert": ("convert",),
    "convolution": ("product",),
    "copy": ("view", "same order", "copy"),
    "copy-done": ("copy",),
    "copy-start": ("copy",),
    "create-token": ("token", "idle"),
    "domain": ("barrier", "idle"),
    "dot": ("product", "dot"),
    "dot-general": ("product", "dot"),
    "dynamic-slice": ("move", "part", "slice"),
    "dynamic-update-slice": ("write",),
    "fusion": ("body",),
    "gather": ("part",),
    "get-dimension-size": ("idle",),
    "get-tuple-element": ("tuple", "idle"),
    "if": ("region",),
    "infeed": ("host",),
    "iota": ("made",),
    "manual-computation": ("region",),
    "named-computation": ("region",),
    "opt-barrier": ("barrier", "idle"),
    "optimization-barrier": ("barrier", "idle"),
    "outfeed": ("host",),
    "pad": ("move",),
    "parameter": ("parameter", "given", "idle"),
    "partition-id": ("made", "idle"),
    "ragged-all-to-all": ("collective", "pieces"),
    "recv": ("transfer", "host"),
    "recv-done": ("transfer",),
    "reduce-scatter": ("collective", "sum"),
    "replica-id": ("made", "idle"),
    "reshape": ("view", "same order"),
    "reshard": ("request",),
    "rng": ("random",),
    "rng-bit-generator": ("random",),
    "rng-get-and-update-state": ("random",),
    "scatter": ("write",),
    "send": ("transfer", "host"),
    "send-done": ("transfer",),
    "sharding-constraint": ("request",),
    "slice": ("move", "part", "slice"),
    "transpose": ("view",),
    "tuple": ("tuple", "idle"),
    "while": ("region",),
}


def operations(*flags: Flag) -> frozenset[str]:
    """The operations that have one of these flags, as HLO and as StableHLO spell them."""
    names = [name for name, own in _FLAGS.items() if not set(own).isdisjoint(flags)]
    return frozenset((*names, *(name.replace("-", "_") for name in names)))


def may_communicate(opcode: str) -> bool:
    """True if an instruction of this opcode may be (a part of) a collective: itself, or what it runs."""
    return opcode in _COMMUNICATES or opcode.endswith(("-start", "-done"))


_COMMUNICATES = operations("body", "collective", "transfer") | {"custom-call"}

SUMS = operations("sum")
REQUESTS = operations("request")
DOTS = operations("dot")
PRODUCTS = operations("product")
VIEWS = operations("view", "barrier")
REGIONS = operations("region")

MANUAL_BORDERS = frozenset(("SPMDFullToShardShape", "SPMDShardToFullShape"))
"""Custom calls at which a `shard_map` begins and ends: they compute nothing."""
