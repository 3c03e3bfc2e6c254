"""The one table of operations: what each of them does with its operands, as flags that several analyses ask for.

Rows have HLO's names, with hyphens. StableHLO's names, with underscores, are used for the program before partitioning,
and found by the same row. An operation without a row has no flag. Not its job: the analyses.
"""

from __future__ import annotations

from typing import Literal

Flag = Literal[
    "arithmetic",
    "barrier",
    "body",
    "broadcast",
    "collective",
    "convert",
    "copy",
    "dot",
    "function",
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
    "reorder",
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

"arithmetic": computes each element of its result with one operation. "barrier": yields its operand, and only orders the
program. "body": runs each computation it calls once per run. "broadcast": repeats its operand. "collective": moves data
between devices, or sums over them. "convert": changes the element type. "copy": yields its operand in other memory.
"dot": a product of arrays, no convolution. "function": a function of each element that takes many machine instructions.
"given": a parameter or a constant. "host": talks to the host. "idle": nothing runs for it on a device. "made": makes
its value from no operand. "move": moves elements of its first operand without computing with them. "parameter": a
computation's parameter. "part": takes a part of its operand. "pieces": a collective whose operands are pieces of one
array. "product": a product of arrays; on a TPU all are convolutions. "random": draws numbers, or keeps their state.
"region": runs other computations in place, as a loop, branch or call. "rename": yields its operand under another shape,
without a copy. "reorder": reads elements far from each other, one after the other. "request": by it a user sets a
value's sharding. "same order": a view whose elements keep their row-major order. "slice": a part at one position.
"sum": a collective that combines values computed by the devices; all others only move data. "token": orders side
effects. "transfer": sends or receives in two halves. "tuple": packs or unpacks a tuple. "view": has its operand's
elements, unchanged. "write": writes a part of its first operand.
"""

_FLAGS: dict[str, tuple[Flag, ...]] = {
    "abs": ("arithmetic",),
    "add": ("arithmetic",),
    "add-dependency": ("barrier", "idle"),
    "after-all": ("token", "idle"),
    "all-gather": ("collective",),
    "all-reduce": ("collective", "sum"),
    "all-to-all": ("collective", "pieces"),
    "and": ("arithmetic",),
    "async-start": ("body",),
    "atan2": ("arithmetic", "function"),
    "bitcast": ("view", "same order", "rename", "idle"),
    "broadcast": ("broadcast",),
    "broadcast-in-dim": ("broadcast",),
    "call": ("region", "body"),
    "case": ("region",),
    "cbrt": ("arithmetic", "function"),
    "ceil": ("arithmetic",),
    "clamp": ("arithmetic",),
    "collective-broadcast": ("collective",),
    "collective-permute": ("collective",),
    "compare": ("arithmetic",),
    "concatenate": ("move",),
    "conditional": ("region",),
    "constant": ("made", "given", "idle"),
    "convert": ("convert",),
    "convolution": ("product",),
    "copy": ("view", "same order", "copy"),
    "copy-done": ("copy",),
    "copy-start": ("copy",),
    "cosine": ("arithmetic", "function"),
    "count-leading-zeros": ("arithmetic",),
    "create-token": ("token", "idle"),
    "divide": ("arithmetic",),
    "domain": ("barrier", "idle"),
    "dot": ("product", "dot"),
    "dot-general": ("product", "dot"),
    "dynamic-slice": ("move", "part", "slice"),
    "dynamic-update-slice": ("write",),
    "erf": ("arithmetic", "function"),
    "exponential": ("arithmetic", "function"),
    "exponential-minus-one": ("arithmetic", "function"),
    "floor": ("arithmetic",),
    "fusion": ("body",),
    "gather": ("part", "reorder"),
    "get-dimension-size": ("idle",),
    "get-tuple-element": ("tuple", "idle"),
    "if": ("region",),
    "infeed": ("host",),
    "iota": ("made",),
    "is-finite": ("arithmetic",),
    "log": ("arithmetic", "function"),
    "log-plus-one": ("arithmetic", "function"),
    "logistic": ("arithmetic", "function"),
    "manual-computation": ("region",),
    "maximum": ("arithmetic",),
    "minimum": ("arithmetic",),
    "multiply": ("arithmetic",),
    "named-computation": ("region",),
    "negate": ("arithmetic",),
    "not": ("arithmetic",),
    "opt-barrier": ("barrier", "idle"),
    "optimization-barrier": ("barrier", "idle"),
    "or": ("arithmetic",),
    "outfeed": ("host",),
    "pad": ("move",),
    "parameter": ("parameter", "given", "idle"),
    "partition-id": ("made", "idle"),
    "popcnt": ("arithmetic",),
    "power": ("arithmetic", "function"),
    "ragged-all-to-all": ("collective", "pieces"),
    "recv": ("transfer", "host"),
    "recv-done": ("transfer",),
    "reduce-precision": ("arithmetic",),
    "reduce-scatter": ("collective", "sum"),
    "remainder": ("arithmetic",),
    "replica-id": ("made", "idle"),
    "reshape": ("view", "same order"),
    "reshard": ("request",),
    "rng": ("random",),
    "rng-bit-generator": ("random",),
    "rng-get-and-update-state": ("random",),
    "round-nearest-afz": ("arithmetic",),
    "round-nearest-even": ("arithmetic",),
    "rsqrt": ("arithmetic", "function"),
    "scatter": ("write", "reorder"),
    "select": ("arithmetic",),
    "send": ("transfer", "host"),
    "send-done": ("transfer",),
    "sharding-constraint": ("request",),
    "shift-left": ("arithmetic",),
    "shift-right-arithmetic": ("arithmetic",),
    "shift-right-logical": ("arithmetic",),
    "sign": ("arithmetic",),
    "sine": ("arithmetic", "function"),
    "slice": ("move", "part", "slice"),
    "sqrt": ("arithmetic", "function"),
    "subtract": ("arithmetic",),
    "tan": ("arithmetic", "function"),
    "tanh": ("arithmetic", "function"),
    "transpose": ("view", "reorder"),
    "tuple": ("tuple", "idle"),
    "while": ("region",),
    "xor": ("arithmetic",),
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
