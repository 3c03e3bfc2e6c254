"""Finds who asked for the sharding of each argument and result: jit, the array itself, its type, or the function.

If nobody asked, XLA chose. Not its job: the sharding it became (`observe.live.layouts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax.sharding import NamedSharding, PartitionSpec, Sharding

from pjit_inspect.model.program.layout import layout_text
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.live.layouts import Asked
from pjit_inspect.observe.live.program import LiveProgram
from pjit_inspect.observe.live.shardings import entries_of, has_devices

_CALLS = (
    "jit", "pjit", "closed_call", "core_call", "checkpoint", "remat2",
    "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr",
)  # fmt: skip


INSIDE = -1
"""Marks a result of a loop or a branch; its body may ask for a sharding."""
Request = tuple[str, Any, bool]
"""An operation that gives its result a sharding, that sharding, and whether it leaves nothing to XLA."""


def requests_of(jaxpr: Any) -> tuple[Request | int | None, ...]:
    """For each result the operation that asks for its sharding, or the number of the argument that it is."""
    jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    arguments = {var: number for number, var in enumerate(jaxpr.invars)}
    makers = {var: (eqn, at) for eqn in jaxpr.eqns for at, var in enumerate(eqn.outvars)}
    inside: dict[int, tuple[Request | int | None, ...]] = {}

    def found(var: Any) -> Request | int | None:
        # A literal has no hash.
        while not hasattr(var, "val") and var in makers:
            eqn, at = makers[var]
            if (request := _request(eqn, at)) is not None:
                return request
            if eqn.primitive.name not in _CALLS:
                return INSIDE if _has_body(eqn) else None
            if id(eqn) not in inside:
                inside[id(eqn)] = requests_of(eqn.params.get("jaxpr") or eqn.params["call_jaxpr"])
            within = inside[id(eqn)][at]
            if not isinstance(within, int) or within == INSIDE:
                return within
            var = eqn.invars[within]
        return None if hasattr(var, "val") else arguments.get(var)

    return tuple(map(found, jaxpr.outvars))


def _request(eqn: Any, at: int) -> Request | None:
    """The request of one operation for its result number `at`; None for none."""
    name, given = eqn.primitive.name, eqn.params
    if name == "sharding_constraint":
        return "with_sharding_constraint", given["sharding"], not given["unconstrained_dims"]
    if name == "shard_map":
        mesh, manual = given["mesh"], given.get("newly_manual_axes", given.get("manual_axes"))
        return name, NamedSharding(mesh, given["out_specs"][at]), len(manual) == len(mesh.axis_names)
    where = {"device_put": "devices", "jit": "out_shardings", "pjit": "out_shardings"}.get(name)
    asked = None if where is None else given[where][at]
    where = name if where == "devices" else "out_shardings"
    return (where, asked, _is_whole(asked)) if isinstance(asked, Sharding) else None


def _has_body(eqn: Any) -> bool:
    given = (own if isinstance(own, tuple) else (own,) for own in eqn.params.values())
    return any(hasattr(one, "eqns") for own in given for one in own)


def asked_of(
    program: LiveProgram,
    names: Sequence[str],
    transform: str,
    leaves: Sequence[Any],
    results: Sequence[tuple[Any, Any, Request | int | None]],
) -> Asked:
    """The requests for each argument (with these `names`) and for each result.

    `leaves` and `results` are those of the call, as in `CallFacts`; () if the call was not seen.
    """
    everywhere = transform if transform in ("pmap", "shard_map") else None
    # Arrays that the function closes over, which JAX may pass as arguments, come first.
    hoisted = len(names) - len(leaves) if leaves else 0
    own = [*[(None, None, True, "", None)] * hoisted, *(leaves or [None] * len(names))]
    given = dict(zip(sorted(program.kept), program.asked_in, strict=False))
    inputs = [
        {
            "asked": everywhere or (_of_argument(given[index], leaf) if index in given else None),
            "passed": leaf[3] if leaf else "",
            "layout_asked": layout,
        }
        for index, (leaf, layout) in enumerate(zip(own, in_layouts(program), strict=False))
    ]
    if len(results) != len(program.out_avals):
        unseen = zip(program.asked_out, program.out_avals, strict=True)
        return inputs, [{"asked": everywhere or _of_unseen(*one)} for one in unseen]
    made = zip(program.asked_out, results, program.out_shardings, program.out_avals, strict=True)
    outputs = [
        {
            "asked": everywhere or _of_result(asked, wanted, request, final, aval.ndim),
            "layout_asked": _layout_text(layout),
            "returned": names[request + hoisted] if isinstance(request, int) and request != INSIDE else None,
        }
        for asked, (wanted, layout, request), final, aval in made
    ]
    return inputs, outputs


def _of_argument(given: Any, leaf: Any) -> str | None:
    """The asker for the sharding that JAX gave XLA for an argument; "" for nobody, None for unknown."""
    if _is_open(given):
        return ""
    if leaf is None:
        return None
    if leaf[4] is not None:
        return "device" if _jax.is_of_device(leaf[4]) else "in_shardings"
    # JAX itself replicates single numbers.
    return "argument" if leaf[2] else ""


def _of_result(given: Any, wanted: Any, request: Request | int | None, final: Any, rank: int) -> str | None:
    """The asker for the sharding of a result: jit, else its type, else the operation that makes it."""
    if isinstance(wanted, Sharding):
        return "device" if _jax.is_of_device(wanted) else _named("out_shardings", _is_whole(wanted))
    if not _is_open(given):
        return _named("type", _is_whole(given))
    if not isinstance(request, tuple):
        return None if request == INSIDE else ""
    where, asked, is_whole = request
    # Within jit a `device_put` may ask in vain.
    return _named(where, is_whole) if not is_whole or _lies_alike(asked, final, rank) else ""


def _of_unseen(given: Any, aval: Any) -> str | None:
    """The same for a call that was not seen: XLA's given sharding is then jit's, except on explicit axes."""
    mesh = getattr(getattr(aval, "sharding", None), "mesh", None)
    if _is_open(given) or getattr(mesh, "explicit_axes", ()):
        return None
    return "device" if _jax.is_of_device(given) else _named("out_shardings", _is_whole(given))


def _is_open(given: Any) -> bool:
    """True if XLA may choose; `AUTO`, which JAX had until 0.8, asks it to."""
    return type(given).__name__ in ("UnspecifiedValue", "AUTO")


def _named(where: str, is_whole: bool) -> str:
    return where if is_whole else f"{where}, in part"


def _is_whole(sharding: Any) -> bool:
    """True if it leaves no dimension to XLA."""
    return not hasattr(sharding, "spec") or PartitionSpec.UNCONSTRAINED not in entries_of(sharding.spec)


def _lies_alike(asked: Any, final: Any, rank: int) -> bool:
    """True if a result came out as an operation asked; one on an abstract mesh asks for no devices."""
    if hasattr(asked, "spec") and hasattr(final, "spec") and asked.mesh.axis_names == final.mesh.axis_names:
        asked = NamedSharding(final.mesh, asked.spec, memory_kind=final.memory_kind)
    return has_devices(asked) and asked.is_equivalent_to(final, rank)


def in_layouts(program: LiveProgram) -> list[str]:
    """The layout in memory that each argument was given, by jit or as it came; "" for the default."""
    texts = [""] * len(program.all_avals)
    if len(program.in_layouts) == len(program.kept) and max(program.kept, default=-1) < len(texts):
        for index, layout in zip(sorted(program.kept), program.in_layouts, strict=True):
            texts[index] = _layout_text(layout)
    return texts


def _layout_text(layout: Any) -> str:
    if layout is None:
        return ""
    # `AutoLayoutSingleton`, from JAX 0.12 on `AutoLayout`.
    return "AUTO" if "Auto" in type(layout).__name__ else layout_text(layout.major_to_minor, layout.tiling)
