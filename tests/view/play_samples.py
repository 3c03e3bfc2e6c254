"""A playground for tests of its views: a transformer's step on TPUs, with figures made up to be told apart.

Not its job: expectations.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from pjit_inspect.model.diff.pairs import Change, Pair, PairTable
from pjit_inspect.model.play.code import Code, CodeLine
from pjit_inspect.model.play.controls import ArgumentGroup, Choice, ConstraintControl, Controls, ResultControl
from pjit_inspect.model.play.setting import Preset
from pjit_inspect.model.play.variant import HistoryTable, KindSent, Problem, Variant
from pjit_inspect.model.program.mesh import PartitionSpec, axes_of
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.target import SentOver
from pjit_inspect.model.report.cause import Cause, CauseKind
from pjit_inspect.model.report.collective import Collective, CollectiveTable
from pjit_inspect.model.words.sentence import Sentence
from pjit_inspect.view.play.given import PlayGiven, SearchState

__all__ = ["code_of", "collective", "controls", "given", "group", "variants", "with_one_alone"]

PRESETS = (
    Preset(name="FSDP", sentence="data and weights over data and model"),
    Preset(name="2-D", why_not="it takes two mesh axes"),
)
GIB, MIB = 2**30, 2**20
MESH = (("data", 2), ("model", 4))
_ARRAYS: tuple[tuple[str, int, tuple[int, ...], str, PartitionSpec], ...] = (
    ("batch['tok']", 2, (256, 1024), "int32", ("data", None)),
    ("params['emb']", 1, (32768, 2048), "bfloat16", ("model", "data")),
    ("params['layers'][*]['wq']", 12, (2048, 16, 128), "bfloat16", ("data", "model", None)),
    ("params['layers'][*]['wo']", 4, (16, 128, 2048), "bfloat16", ("model", None, "data")),
    ("params['layers'][*]['w1']", 4, (2048, 8192), "bfloat16", ("data", "model")),
    ("params['layers'][*]['w2']", 4, (8192, 2048), "bfloat16", ("model", "data")),
    ("params['layers'][*]['ln1']", 8, (2048,), "bfloat16", (None,)),
    ("params['out']", 1, (2048, 32768), "bfloat16", ("data", "model")),
    ("step", 1, (), "int32", ()),
)
_WIDTH = {"int32": 4, "bfloat16": 2, "float32": 4}


def choices(shape: tuple[int, ...], spec: PartitionSpec, mesh: tuple[tuple[str, int], ...]) -> Any:
    """For each dimension: none, each axis, all of them; those that do not divide or are taken with the reason."""
    sizes = dict(mesh)
    options = [(), *((name,) for name in sizes), tuple(sizes)]
    found = []
    for at, size in enumerate(shape):
        others = {axis: n for n, entry in enumerate(spec) if n != at for axis in axes_of(entry)}
        row = []
        for axes in dict.fromkeys(options):
            pieces = math.prod(sizes[axis] for axis in axes)
            taken = next((axis for axis in axes if axis in others), None)
            why = f"{taken} already splits dimension {others[taken]}" if taken else ""
            why = why or (f"{size:,} / {pieces:,} = {size / pieces:.2f}: does not divide" if size % pieces else "")
            row.append(Choice(axes=axes, allowed=not why, why_not=why, is_chosen=axes == axes_of(spec[at])))
        found.append(tuple(row))
    return tuple(found)


def group(
    label: str, count: int, shape: tuple[int, ...], dtype: str, spec: PartitionSpec, mesh: Any = MESH, **more: Any
) -> ArgumentGroup:
    """One group, with its bytes worked out."""
    sizes = dict(mesh)
    pieces = math.prod(sizes[axis] for entry in spec for axis in axes_of(entry))
    total = math.prod(shape) * _WIDTH[dtype] * count
    bad = [
        f"dimension {at}: {size:,} does not divide by {n}"
        for at, (size, entry) in enumerate(zip(shape, spec, strict=True))
        if size % (n := math.prod(sizes[axis] for axis in axes_of(entry)))
    ]
    return ArgumentGroup(
        label=label,
        family=label,
        paths=tuple(label.replace("*", str(n)) for n in range(count)),
        shape=shape,
        dtype=dtype,
        spec=spec,
        choices=choices(shape, spec, mesh),
        global_bytes=total,
        bytes_per_device=total // pieces,
        copies=math.prod(sizes.values()) // pieces,
        problem="; ".join(bad),
        **more,
    )


def result(
    label: str, shape: tuple[int, ...], dtype: str, spec: PartitionSpec, mesh: Any, **more: Any
) -> ResultControl:
    """One result."""
    own = group(label, 1, shape, dtype, spec, mesh)
    known = {name: getattr(own, name) for name in ("label", "paths", "shape", "dtype", "spec", "choices")}
    return ResultControl(**known, bytes_per_device=own.bytes_per_device, **more)


def controls(
    mesh: tuple[tuple[str, int], ...] = MESH,
    target: str = "tpu:v5e:2x4",
    specs: dict[str, PartitionSpec] | None = None,
    constraint: bool = True,
    is_set: bool = False,
) -> Controls:
    """The transformer's controls; `is_set` says of one result that it is not as XLA chooses."""
    specs = specs or {}
    own = [group(label, n, shape, kind, specs.get(label, spec), mesh) for label, n, shape, kind, spec in _ARRAYS]
    follow = [
        group(label.replace("params", "mu"), n, shape, "float32", specs.get(label, spec), mesh, follows=label)
        for label, n, shape, _, spec in _ARRAYS
        if label.startswith("params")
    ]
    spec: PartitionSpec = ("data", None, None)
    shape = (256, 1024, 2048)
    constraints = (
        ConstraintControl(
            place="train.py:13",
            source=(Frame(file="train.py", line=13, function="keep"),),
            count=9,
            shape=shape,
            asked=spec,
            spec=spec if constraint else None,
            is_on=constraint,
            choices=choices(shape, spec, mesh),
        ),
    )
    results = (
        result("result[0]['emb']", (32768, 2048), "bfloat16", ("model", "data"), mesh),
        result("result[1]['logits']", (256, 32768), "bfloat16", ("data", None), mesh, is_free=not is_set),
        result("result[1]['loss']", (), "float32", (), mesh),
    )
    return Controls(mesh=mesh, target=target, groups=(*own, *follow), constraints=constraints, results=results)


WQ = "params['layers'][*]['wq']"


def with_one_alone(own: Controls) -> Controls:
    """The controls with the third of twelve equal weights split over nothing."""
    (group_of,) = (one for one in own.groups if one.label == WQ)
    path = group_of.paths[2]
    spec: PartitionSpec = (None, None, None)
    alone = replace(group(path, 1, group_of.shape, group_of.dtype, spec, own.mesh), family=WQ)
    others = replace(
        group_of,
        label=f"{group_of.paths[0]} and 10 more",
        paths=tuple(one for one in group_of.paths if one != path),
        bytes_per_device=group_of.bytes_per_device and group_of.bytes_per_device * 11 // 12,
    )
    parts = [part for one in own.groups for part in ((others, alone) if one is group_of else (one,))]
    return replace(own, groups=tuple(parts))


def variant(number: int, change: tuple[str, ...], own: Controls, sent: float, memory: float, **more: Any) -> Variant:
    """One variant, its figures in GiB."""
    size = round(sent * GIB)
    model = round(size * 0.875)
    defaults: dict[str, Any] = {
        "sentence": "; ".join(change) or "as captured",
        "stage": "full",
        "sent_bytes": size,
        "collectives": 109 + number,
        "by_kind": (
            KindSent(kind="all-reduce", collectives=27 + number, sent_bytes=model),
            KindSent(kind="all-gather", collectives=82, sent_bytes=size - model),
        ),
        "by_axis": (SentOver(axes=("model",), sent_bytes=model), SentOver(axes=("data",), sent_bytes=size - model)),
        "flops": 66 * 10**12,
        "work": 1.0,
        "argument_bytes": 241 * MIB,
        "result_bytes": 60 * MIB,
        "memory_bytes": round(memory * GIB),
        "memory_source": "xla",
        "available_bytes": round(15.75 * GIB),
        "time_s": (0.336, 0.336 + sent * 0.02),
        "fits": memory <= 15.75,
        "seconds": 11.1,
    }
    return Variant(number=number, change=change, controls=own, **{**defaults, **more})


def variants() -> tuple[Variant, ...]:
    """Eight of them: as captured, some that are better, some that do not fit, one refused."""
    none: dict[str, PartitionSpec] = {label: (None,) * len(shape) for label, _, shape, _, _ in _ARRAYS[1:]}
    narrow: dict[str, PartitionSpec] = {"params['emb']": (None, "data"), "params['out']": ("data", None)}
    partial: dict[str, Any] = {"stage": "partitioned", "memory_source": "arguments and results", "fits": None}
    partial |= {"seconds": 0.54, "memory_bytes": 301 * MIB}
    wide = (("data", 8), ("model", 32))
    refused = Problem(
        text="16 does not divide by model = 32: params['layers'][*]['wq'], dimension 1",
        control="params['layers'][*]['wq']",
        remedy="choose another axis for it, or one of these meshes of 256 devices",
        meshes=((("data", 16), ("model", 16)), (("data", 32), ("model", 8)), (("data", 64), ("model", 4))),
    )
    return (
        variant(0, (), controls(), 16.7, 9.0),
        variant(1, ("\u2212 data \u2212 model on all weights",), controls(specs=none), 0.63, 31.3,
                problem=Problem(text="needs 31.3 GiB of 15.75 GiB", control="params['emb']")),
        variant(2, ("constraints off",), controls(constraint=False), 45.1, 13.1, work=2.0),
        variant(3, ("\u2212 model on emb, out",), controls(specs=narrow, is_set=True), 15.9, 9.1, **partial),
        variant(4, ("mesh 4 \u00d7 2",), controls((("data", 4), ("model", 2))), 6.13, 7.83, name="wide data"),
        variant(5, ("mesh 8 \u00d7 1",), controls((("data", 8), ("model", 1))), 1.67, 10.2),
        variant(6, ("mesh 16 \u00d7 16", "tpu:v5e:16x16"), controls((("data", 16), ("model", 16)), "tpu:v5e:16x16"),
                2.79, 0.67, **partial),
        Variant(number=7, change=("mesh 8 \u00d7 32",), controls=controls(wide, "tpu:v5e:16x16"), stage="refused",
                problem=refused, available_bytes=round(15.75 * GIB)),
    )  # fmt: skip


def collective(
    kind: str, axis: str, line: int, size: int, value: str, sentence: str, why: CauseKind = "contraction"
) -> Collective:
    """One collective with a cause."""
    cause = Cause(kind=why, sentence=Sentence(sentence), value=value, payload_bytes=size)
    return Collective(
        kind=kind, axes=(axis,), groups=((0, 1), (2, 3)), dtype="bf16", local_shape=(4, 4), payload_bytes=size,
        wire_bytes=size, source=(Frame(file="train.py", line=line, function="block"),), causes=(cause,),
        op_name="jit(step)/dot_general",
    )  # fmt: skip


SUM = "the dimension summed over is split over model; each device holds a partial sum"


def pairs() -> PairTable[Collective]:
    """What came and went between the first and the fifth variant."""
    before = [collective("all-reduce", "model", 20 + n, 600 * MIB, f"layers[{n}].h @ w2", SUM) for n in range(6)]
    after = [collective("all-reduce", "model", 20 + n, 90 * MIB, f"layers[{n}].h @ w2", SUM) for n in range(6)]
    moved = "it arrives split over data, used whole"
    new = [collective("collective-permute", "data", 18, 40 * MIB, f"x{n} @ out", moved) for n in range(9)]
    gone = collective(
        "all-reduce", "model", 36, 512 * MIB, "emb[tok]", "rows looked up lie on other devices along model", "indexing"
    )
    rows = [Pair(before=a, after=b) for a, b in zip(before, after, strict=True)]
    rows = [
        replace(pair, by=("operation",), changes=(Change(name="payload_bytes", before=600 * MIB, after=90 * MIB),))
        for pair in rows
    ]
    rows += [Pair(before=None, after=one) for one in new]
    rows += [Pair(before=gone, after=None)]
    return PairTable(tuple(rows))


def rows_of() -> CollectiveTable:
    """The collectives of the first variant."""
    return CollectiveTable(tuple(pair.before for pair in pairs() if pair.before is not None))


def code_of(number: int) -> Code:
    """The lines of one variant."""
    lines = (
        CodeLine(text='mesh = jax.make_mesh((4, 2), ("data", "model"))', is_changed=True, was="(2, 4)"),
        CodeLine(text="specs = {"),
        CodeLine(text='    "emb": P("model", "data"),'),
        CodeLine(text="}"),
        CodeLine(text="params = jax.device_put(params, jax.tree.map(lambda s: NamedSharding(mesh, s), specs))"),
    )
    return Code(number=number, lines=lines)


def given(chosen: int = 4, **more: Any) -> PlayGiven:
    """The playground with one of the variants looked at."""
    own = {
        "name": "train_step",
        "place": "train.py:45",
        "history": HistoryTable(variants(), chosen=chosen),
        "before": 0,
        "pairs": None if chosen in (0, 7) else pairs(),
        "rows": rows_of(),
        "code": code_of(chosen),
        "can_compute": True,
        "can_search": True,
        "search": SearchState(sentence=""),
        "presets": PRESETS,
        "preset": PRESETS[0] if chosen == 4 else None,
    }
    return PlayGiven(**{**own, **more})
