"""Reports built by hand, for tests of displays: no JAX, no analysis, every figure worked out here.

The transformer's figures are those of `../shared/visual_target/text_form.txt` (a 4-layer train step on a 2 x 4 mesh,
compiled by JAX 0.10.2 on 8 CPU devices).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.program.mesh import Device, Mesh, SpecEntry
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.record.record import MemoryStats, RecordData, Timings
from pjit_inspect.model.report.advice import Advice, AdviceTable
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import AxisTotal, Collective, CollectiveTable
from pjit_inspect.model.report.edit import Edit
from pjit_inspect.model.report.fusion import Fusion, FusionTable
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding
from pjit_inspect.model.words.sentence import Sentence

MIB = 2**20


def mesh_of(**sizes: int) -> Mesh:
    number = math.prod(sizes.values())
    return Mesh(axis_names=tuple(sizes), shape=tuple(sizes.values()), device_ids=tuple(range(number)))


def devices_of(number: int, platform: str = "cpu", kind: str = "cpu") -> tuple[Device, ...]:
    return tuple(Device(id=i, platform=platform, kind=kind) for i in range(number))


def sharding_of(mesh: Mesh, *spec: SpecEntry, unreduced: tuple[str, ...] = ()) -> Sharding:
    """The tiles a PartitionSpec makes: a dimension's tile index is the mixed-radix number of its axes' indices."""
    entries = [() if e is None else (e,) if isinstance(e, str) else e for e in spec]
    tiles = tuple(math.prod(mesh.sizes[axis] for axis in axes) for axes in entries)
    tile_of = []
    for where in itertools.product(*(range(size) for size in mesh.shape)):
        index = dict(zip(mesh.axis_names, where, strict=True))
        tile = 0
        for axes, count in zip(entries, tiles, strict=True):
            position = 0
            for axis in axes:
                position = position * mesh.sizes[axis] + index[axis]
            tile = tile * count + position
        tile_of.append(tile)
    return Sharding(
        spec=tuple(spec), tiles=tiles, device_ids=mesh.device_ids, tile_of=tuple(tile_of), unreduced=unreduced
    )


def array(path: str, dtype: str, shape: tuple[int, ...], mesh: Mesh, *spec: SpecEntry, **more) -> ArrayLayout:
    full = (*spec, *(None,) * (len(shape) - len(spec)))
    return ArrayLayout(path=path, dtype=dtype, global_shape=shape, sharding=sharding_of(mesh, *full), **more)


MLP_SOURCE = SourceText(
    file="/tmp/ipykernel/1.py",
    cell="In [3]",
    lines=("@jax.jit", "def mlp(x, W1, W2):", "    h = jax.nn.relu(x @ W1)", "    return h @ W2"),
)


def mlp(way: str) -> RecordReport:
    """relu(x @ W1) @ W2 with batch 16, d 32, m 128 on 8 devices of axis X: replicated, data, fsdp or tensor."""
    mesh = mesh_of(X=8)
    specs = {
        "replicated": ((), (), (), ()),
        "data": (("X",), (), (), ("X",)),
        "fsdp": (("X",), ("X",), ("X",), ("X",)),
        "tensor": ((), (None, "X"), ("X",), ()),
    }[way]
    shapes = {"x": (16, 32), "W1": (32, 128), "W2": (128, 32), "result": (16, 32)}
    x, w1, w2, result = (
        array(path, "float32", shape, mesh, *spec) for (path, shape), spec in zip(shapes.items(), specs, strict=True)
    )
    collectives = _mlp_collectives(way)
    sent = sum(row.wire_bytes for row in collectives)
    payload = sum(row.payload_bytes for row in collectives)
    number = len(collectives)
    total = AxisTotal(axes=("X",), collectives=number, runs=number, payload_bytes=payload, sent_bytes=sent)
    kernel = Fusion(
        kind="loop",
        name="fusion",
        instructions=(("maximum", 1), ("broadcast", 1)),
        inputs=("f32[16,128]",),
        outputs=("f32[16,128]",),
        bytes_read=8192,
        bytes_written=8192,
        bytes_saved=16384,
        op_name="jit(mlp)/jit(main)/max",
        source=(Frame(file=MLP_SOURCE.file, line=3, cell="In [3]"),),
    )
    return RecordReport(
        data=RecordData(
            name="mlp",
            user_frame=Frame(file="/tmp/ipykernel/2.py", line=1, cell="In [4]"),
            defined_at=Frame(file=MLP_SOURCE.file, line=2, cell="In [3]"),
            inputs=(x, w1, w2),
            outputs=(result,),
            mesh=mesh,
            meshes=(mesh,),
            devices=devices_of(8),
            memory=MemoryStats(argument_bytes=34816, output_bytes=2048, alias_bytes=0, temporary_bytes=8192),
            timings=Timings(trace_s=0.012, lower_s=0.0301, compile_s=0.0492),
            sources=(MLP_SOURCE,),
        ),
        collectives=CollectiveTable(collectives),
        totals=(total,) if collectives else (),
        fusions=FusionTable((kernel,)),
        instructions=14,
    )


def _mlp_collectives(way: str) -> tuple[Collective, ...]:
    """FSDP gathers W1 (4 of 32 rows) and W2 (16 of 128 rows), 2 KiB each; tensor parallel adds up [16,32], 2 KiB."""
    line3, line4 = (Frame(file=MLP_SOURCE.file, line=line, cell="In [3]") for line in (3, 4))
    everyone = (tuple(range(8)),)
    if way == "fsdp":
        # A ring all-gather sends 7 shards of 2 KiB.
        return tuple(
            Collective(
                kind="all-gather",
                axes=("X",),
                groups=everyone,
                dtype="f32",
                local_shape=shape,
                payload_bytes=2048,
                wire_bytes=14336,
                implicit=True,
                op_name="jit(mlp)/jit(main)/reshard",
                source=(frame,),
            )
            for shape, frame in (((4, 128), line3), ((16, 32), line4))
        )
    if way == "tensor":
        # A ring all-reduce sends 2 * 7/8 of the operand.
        return (
            Collective(
                kind="all-reduce",
                axes=("X",),
                groups=everyone,
                dtype="f32",
                local_shape=(16, 32),
                payload_bytes=2048,
                wire_bytes=3584,
                implicit=True,
                op_name="jit(mlp)/jit(main)/dot_general",
                source=(line4,),
            ),
        )
    return ()


_MODEL = ((0, 1, 2, 3), (4, 5, 6, 7))
_DATA = ((0, 4), (1, 5), (2, 6), (3, 7))
_TRAIN_LINES = {
    12: 'q = jnp.einsum("btd,dhk->bthk", h, p["wq"])',
    19: 'x = x + jnp.einsum("bqhk,hkd->bqd", o, p["wo"])',
    23: 'h = jax.nn.gelu(h @ p["w1"])',
    24: 'x = x + h @ p["w2"]',
    29: 'x = params["emb"][batch["tok"]]',
    35: 'logp = jax.nn.log_softmax((x @ params["out"]).astype(jnp.float32))',
}

# how often, kind, axes, groups, payload and wire MiB of all of them, operation, phase, line of train.py
_TRAIN_ROWS = (
    (4, "all-reduce", ("model",), _MODEL, 384.0, 576.0, "transpose(jvp(layer{}))/attn/dot_general", "backward", 12),
    (4, "all-reduce", ("model",), _MODEL, 128.0, 192.0, "jvp(layer{})/attn/dot_general", "forward", 19),
    (4, "all-reduce", ("model",), _MODEL, 128.0, 192.0, "jvp(layer{})/mlp/dot_general", "forward", 24),
    (4, "all-reduce", ("model",), _MODEL, 128.0, 192.0, "transpose(jvp(layer{}))/mlp/dot_general", "backward", 23),
    (1, "all-reduce", ("data",), _DATA, 79.28, 79.28, "transpose(jvp())/reduce_sum", "backward", 11),
    (1, "all-reduce", ("model",), _MODEL, 32.0, 48.0, "jvp(embedding)/gather", "forward", 29),
    (1, "all-reduce", ("model",), _MODEL, 32.0, 48.0, "transpose(jvp(logits))/dot_general", "backward", 35),
    (1, "all-to-all", ("data",), _DATA, 32.0, 16.0, "jvp(embedding)/gather", "forward", 30),
    (1, "all-to-all", ("data",), _DATA, 32.0, 16.0, "transpose(jvp(embedding))/scatter-add", "backward", 29),
    (1, "all-gather", ("data",), _DATA, 15.63, 15.63, "jvp(logits)/dot_general", "forward", 35),
    (4, "all-gather", ("data",), _DATA, 8.0, 8.0, "jvp(layer{})/mlp/dot_general", "forward", 23),
    (4, "all-gather", ("data",), _DATA, 8.0, 8.0, "jvp(layer{})/mlp/dot_general", "forward", 24),
    (4, "all-gather", ("data",), _DATA, 2.0, 2.0, "jvp(layer{})/attn/dot_general", "forward", 12),
    (4, "all-gather", ("data",), _DATA, 2.0, 2.0, "jvp(layer{})/attn/dot_general", "forward", 13),
    (4, "all-gather", ("data",), _DATA, 2.0, 2.0, "jvp(layer{})/attn/dot_general", "forward", 14),
    (4, "all-gather", ("data",), _DATA, 2.0, 2.0, "jvp(layer{})/attn/dot_general", "forward", 19),
    (1, "all-reduce", ("model",), _MODEL, 0.04, 0.05, "jvp(logits)/reduce_max", "forward", 35),
    (1, "all-reduce", ("model",), _MODEL, 0.03, 0.05, "jvp(logits)/sub", "forward", 35),
    (1, "all-reduce", ("model",), _MODEL, 0.06, 0.09, "jvp(logits)/reduce_sum", "forward", 35),
    (1, "all-reduce", ("data", "model"), (tuple(range(8)),), 0.03, 0.03, "jvp()/reduce_sum", "forward", 37),
    (
        1,
        "collective-permute",
        None,
        ((0, 0), (4, 1), (1, 2), (5, 3), (2, 4), (6, 5), (3, 6), (7, 7)),
        0.03,
        0.03,
        "jvp(embedding)/gather",
        "forward",
        29,
    ),
)


def _train_collectives() -> tuple[Collective, ...]:
    rows = []
    for times, kind, axes, groups, payload, wire, name, phase, line in _TRAIN_ROWS:
        for layer in range(times):
            rows.append(
                Collective(
                    kind=kind,
                    axes=axes,
                    groups=groups,
                    dtype="f32",
                    local_shape=(16, 512, 1024),
                    operands=34 if line == 11 else 1,
                    payload_bytes=round(payload * MIB / times),
                    wire_bytes=round(wire * MIB / times),
                    implicit=line != 30,
                    phase=phase,
                    op_name=f"jit(train_step)/jit(main)/{name.format(layer)}",
                    source=(Frame(file="/home/me/train.py", line=line),),
                )
            )
    return tuple(sorted(rows, key=lambda row: -row.wire_bytes))


def totals_of(rows: tuple[Collective, ...]) -> tuple[AxisTotal, ...]:
    found = []
    for axes in dict.fromkeys(row.axes for row in rows):
        mine = [row for row in rows if row.axes == axes]
        counts = [row.count for row in mine]
        found.append(
            AxisTotal(
                axes=axes,
                collectives=len(mine),
                runs=None if None in counts else sum(count or 0 for count in counts),
                payload_bytes=sum(row.payload_bytes * (row.count or 1) for row in mine),
                sent_bytes=sum(row.wire_bytes * (row.count or 1) for row in mine),
            )
        )
    return tuple(sorted(found, key=lambda total: -total.sent_bytes))


def _train_arrays(root: str, mesh: Mesh, **more) -> list[ArrayLayout]:
    dtype = "bfloat16" if root == "params" else "float32"
    arrays = [
        array(f"{root}['emb']", dtype, (32000, 1024), mesh, "model", "data", **more),
        array(f"{root}['out']", dtype, (1024, 32000), mesh, "data", "model", **more),
    ]
    for layer in range(4):
        at = f"{root}['layers'][{layer}]"
        for name in ("wq", "wk", "wv"):
            arrays.append(array(f"{at}['{name}']", dtype, (1024, 16, 64), mesh, "data", "model", **more))
        arrays.append(array(f"{at}['wo']", dtype, (16, 64, 1024), mesh, "model", None, "data", **more))
        arrays.append(array(f"{at}['w1']", dtype, (1024, 4096), mesh, "data", "model", **more))
        arrays.append(array(f"{at}['w2']", dtype, (4096, 1024), mesh, "model", "data", **more))
        arrays.append(array(f"{at}['ln1']", dtype, (1024,), mesh, **more))
        arrays.append(array(f"{at}['ln2']", dtype, (1024,), mesh, **more))
    return arrays


def train_step() -> RecordReport:
    """A 4-layer transformer's train step on data=2 x model=4, with donated parameters."""
    mesh = mesh_of(data=2, model=4)
    inputs = [*_train_arrays("params", mesh, donated=True), *_train_arrays("mu", mesh, donated=True)]
    inputs.append(array("batch['tok']", "int32", (32, 512), mesh, "data"))
    inputs.append(array("batch['tgt']", "int32", (32, 512), mesh, "data"))
    outputs = [array("result[0]", "float32", (), mesh)]
    for index, root in ((1, "params"), (2, "mu")):
        for layout in _train_arrays(root, mesh):
            path = layout.path.replace(root, f"result[{index}]", 1)
            outputs.append(
                ArrayLayout(
                    path=path,
                    dtype=layout.dtype,
                    global_shape=layout.global_shape,
                    sharding=layout.sharding,
                    aliases=layout.path,
                )
            )
    collectives = _train_collectives()
    lines = [""] * 44
    for number, text in _TRAIN_LINES.items():
        lines[number - 1] = "    " + text
    return RecordReport(
        data=RecordData(
            name="train_step",
            user_frame=Frame(file="/tmp/ipykernel/9.py", line=1, cell="In [7]"),
            defined_at=Frame(file="/home/me/train.py", line=39),
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            mesh=mesh,
            meshes=(mesh,),
            devices=devices_of(8),
            memory=MemoryStats(
                argument_bytes=round(83.0 * MIB),
                output_bytes=round(82.9 * MIB),
                alias_bytes=round(82.9 * MIB),
                temporary_bytes=round(2264.4 * MIB),
            ),
            timings=Timings(trace_s=0.31, lower_s=0.14, compile_s=1.7),
            sources=(SourceText(file="/home/me/train.py", lines=tuple(lines)),),
        ),
        collectives=CollectiveTable(collectives),
        totals=totals_of(collectives),
        fusions=FusionTable(_train_kernels()),
        instructions=7570,
        notes=(
            "46 collectives send f32 where the program has bf16 (CPU backend)",
            "2 collectives follow no single mesh axis",
        ),
    )


def _train_kernels() -> tuple[Fusion, ...]:
    rows = []
    for kind in range(20):
        for layer in range(4):
            rows.append(
                Fusion(
                    kind="loop" if kind % 3 else "output",
                    name=f"fusion.{kind}.{layer}",
                    instructions=(("multiply", 3 + kind % 4), ("add", 2), ("convert", 1))[: 1 + kind % 3],
                    inputs=(f"f32[16,{512 + kind},1024]",),
                    outputs=(f"bf16[16,{512 + kind},1024]",),
                    bytes_read=(20 - kind) * 4 * MIB,
                    bytes_written=(20 - kind) * 2 * MIB,
                    bytes_saved=(20 - kind) * 8 * MIB,
                    op_name=f"jit(train_step)/jit(main)/jvp(layer{layer})/{'attn' if kind % 2 else 'mlp'}/mul",
                    source=(Frame(file="/home/me/train.py", line=11 + kind),),
                )
            )
    rows.append(
        Fusion(
            kind="custom-call",
            name="custom-call.1",
            instructions=(),
            target="__onednn$matmul",
            bytes_read=64 * MIB,
            bytes_written=32 * MIB,
            op_name="jit(train_step)/jit(main)/dot_general",
        )
    )
    return tuple(rows)


def without_hlo() -> RecordReport:
    """A record whose optimized HLO and whose argument shardings could not be had."""
    return RecordReport(
        data=RecordData(
            name="step",
            user_frame=Frame(file="/home/me/run.py", line=12),
            inputs=(ArrayLayout(path="x", dtype="float32", global_shape=(8, 8), sharding=None),),
            outputs=(),
            devices=devices_of(4, "tpu", "TPU v5 lite"),
            missing={
                "hlo": "jaxlib has no get_compiled_hlo",
                "outputs": "the executable does not say",
                "inputs": "the shardings are opaque",
            },
        )
    )


def one_device() -> RecordReport:
    """A plain jit on one GPU."""
    mine = Sharding(spec=None, tiles=(1,), device_ids=(0,), tile_of=(0,), kind="SingleDeviceSharding")
    return RecordReport(
        data=RecordData(
            name="<lambda>",
            user_frame=Frame(file="/tmp/ipykernel/9.py", line=1, cell="In [1]"),
            inputs=(ArrayLayout(path="x", dtype="float32", global_shape=(1024,), sharding=mine),),
            outputs=(ArrayLayout(path="result", dtype="float32", global_shape=(1024,), sharding=mine),),
            devices=devices_of(1, "gpu", "NVIDIA H200"),
            memory=MemoryStats(argument_bytes=4096, output_bytes=4096, alias_bytes=0, temporary_bytes=0),
            timings=Timings(compile_s=0.2),
            cached="persistent",
        ),
        collectives=CollectiveTable(()),
        fusions=FusionTable(()),
        instructions=3,
    )


def ranks() -> RecordReport:
    """Arrays of rank 0 to 5 on pod=2 x data=2 x model=2, split in many ways; one uneven, one a partial sum."""
    mesh = mesh_of(pod=2, data=2, model=2)
    inputs = (
        array("scalar", "float32", (), mesh),
        array("vector", "float32", (4096,), mesh, ("pod", "data")),
        array("uneven", "int4", (7, 13), mesh, "pod", ("data", "model")),
        array("cube", "bfloat16", (64, 8, 256), mesh, "pod", "data", "model"),
        array("images", "float32", (32, 224, 224, 3), mesh, ("pod", "data"), None, "model"),
        array("five", "bool", (2, 4, 8, 16, 32), mesh, "pod", None, "data", None, "model"),
    )
    partial = ArrayLayout(
        path="result",
        dtype="float32",
        global_shape=(64, 256),
        sharding=sharding_of(mesh, "data", None, unreduced=("model",)),
    )
    row = Collective(
        kind="all-reduce",
        axes=("pod", "data"),
        groups=((0, 2, 4, 6), (1, 3, 5, 7)),
        dtype="f32",
        local_shape=(64, 256),
        payload_bytes=65536,
        wire_bytes=98304,
        count=None,
        count_min=None,
        op_name="jit(f)/while/body/psum",
    )
    return RecordReport(
        data=RecordData(
            name="f", transform="shard_map", inputs=inputs, outputs=(partial,), mesh=mesh, devices=devices_of(8)
        ),
        collectives=CollectiveTable((row,)),
        totals=totals_of((row,)),
        fusions=FusionTable(()),
    )


def huge(inputs: int = 1000) -> RecordReport:
    """4,096 TPU devices as data=64 x model=64, and many inputs that do not fold."""
    mesh = mesh_of(data=64, model=64)
    both, rows_only = sharding_of(mesh, "data", "model"), sharding_of(mesh, "data", None)
    arrays = tuple(
        ArrayLayout(
            path=f"params['w{i}']",
            dtype="bfloat16",
            global_shape=(8192, 8192 + 64 * (i % 7)),
            sharding=both if i % 5 else rows_only,
        )
        for i in range(inputs)
    )
    groups = tuple(tuple(range(64 * i, 64 * i + 64)) for i in range(64))
    row = Collective(
        kind="all-gather",
        axes=("model",),
        groups=groups,
        dtype="bf16",
        local_shape=(128, 128),
        payload_bytes=32768,
        wire_bytes=63 * 32768,
        count=48,
        count_min=0,
        implicit=True,
        op_name="jit(step)/jit(main)/while/body/layer/dot_general",
        source=(Frame(file="model.py", line=88),),
    )
    devices = tuple(Device(id=i, platform="tpu", kind="TPU v5p", process=i // 4) for i in range(4096))
    return RecordReport(
        data=RecordData(name="step", inputs=arrays, outputs=arrays[:3], mesh=mesh, meshes=(mesh,), devices=devices),
        collectives=CollectiveTable((row,)),
        totals=totals_of((row,)),
        fusions=FusionTable(()),
        instructions=120_000,
    )


HOSTILE = (
    "<script>alert(1)</script>",
    "\" onerror='alert(1)' x=\"",
    "nul\x00bell\x07esc\x1b[31m",
    "right\u202eleft\u2066iso",
    "line\nbreak\r\ttab\u2028sep",
    "lone\udc80surrogate",
    "\u65e5\u672c\u8a9e\u306e\u540d\u524d",
    "x" * 100_000,
    "</details></table>",
    "&lt;&amp;",
)


def hostile() -> RecordReport:
    """Every string somebody else wrote is an attack."""
    mesh = Mesh(axis_names=(HOSTILE[0], HOSTILE[3]), shape=(2, 4), device_ids=tuple(range(8)))
    inputs = tuple(array(name, "float32", (16, 32), mesh, HOSTILE[0], HOSTILE[3]) for name in HOSTILE)
    frame = Frame(file=HOSTILE[1], line=3, function=HOSTILE[2], cell=HOSTILE[0])
    rows = tuple(
        Collective(
            kind=name[:300],
            axes=(HOSTILE[0],),
            groups=_DATA,
            dtype=name[:300],
            local_shape=(2,),
            payload_bytes=8,
            wire_bytes=8,
            op_name=f"jit(f)/{name}",
            source=(frame,),
        )
        for name in HOSTILE
    )
    kernels = tuple(
        Fusion(kind=name, name=name, instructions=((name, 2),), op_name=name, target=name, source=(frame,))
        for name in HOSTILE
    )
    return RecordReport(
        data=RecordData(
            name=HOSTILE[0],
            transform=HOSTILE[2],
            user_frame=frame,
            defined_at=Frame(file=HOSTILE[4], line=1),
            inputs=inputs,
            outputs=inputs,
            mesh=mesh,
            meshes=(mesh,),
            devices=devices_of(8, HOSTILE[0], HOSTILE[1]),
            sources=(SourceText(file=HOSTILE[1], cell=HOSTILE[0], lines=("", "", HOSTILE[0] + HOSTILE[2])),),
            missing={HOSTILE[0]: HOSTILE[2]},
        ),
        collectives=CollectiveTable(rows),
        totals=totals_of(rows),
        fusions=FusionTable(kernels),
        notes=HOSTILE,
    )


_STEP = SourceText(
    file="/home/me/step.py",
    lines=("def step(p, x):", "    h = x @ p['w1']", "    y = jax.nn.relu(h) @ p['w2']", "    return reshard(y)"),
)


def _at(line: int) -> tuple[Frame, ...]:
    return Frame(file=_STEP.file, line=line), Frame(file="/home/me/run.py", line=9)


def _gathered(layer: int) -> Collective:
    name = f"p['layers'][{layer}]['w1']"
    cause = Cause(
        kind="reshard_needed",
        sentence=(
            f"`x @ w1` (step.py:2) needs `{name}` as `P(None, 'model')`, but it is `P('data', 'model')`. "
            "Axis `data` already splits dimension 0 of the result."
        ),
        operation="`x @ w1` (step.py:2)",
        moved=name,
        facts=(f"operand 1, `{name}`: shape [512], P('data', 'model')", f"`data` on `{name}` comes from the argument"),
        evidence="sharding",
        source=_at(2),
        value=name,
        payload_bytes=MIB,
        candidates=2,
    )
    return _explained("all-gather", ("data",), _DATA, MIB, (cause,), instructions=(f"all-gather.{layer}",))


def _explained(kind: str, axes: tuple[str, ...] | None, groups, size: int, causes: tuple[Cause, ...], **more):
    return Collective(
        kind=kind,
        axes=axes,
        groups=groups,
        dtype="f32",
        local_shape=(size // 4,),
        payload_bytes=size,
        wire_bytes=size,
        implicit=True,
        phase=more.pop("phase", "forward"),
        op_name="jit(step)/dot_general",
        operands=more.pop("operands", 1),
        source=causes[0].source if causes else (),
        causes=causes,
        **more,
    )


def explained() -> RecordReport:
    """Collectives with causes of many kinds; 4 MiB of gathers, 3 of gradients, 2 written, 1 by name, 1 unknown."""
    mesh = mesh_of(data=2, model=4)
    gradient = Cause(
        kind="contraction",
        sentence="The gradient of `x @ w1` (step.py:2) sums over dimension 0 of `x`.",
        operation="the gradient of `x @ w1` (step.py:2)",
        phase="backward",
        facts=("operand 0, `x`: P('data', None)",),
        evidence="sharding",
        source=_at(2),
        payload_bytes=2 * MIB,
    )
    mean = Cause(
        kind="reduction",
        sentence="`y.mean()` (step.py:3) reduces dimension 0 of `y`.",
        operation="`y.mean()` (step.py:3)",
        evidence="sharding",
        source=_at(3),
        payload_bytes=MIB,
    )
    written = Cause(
        kind="written",
        sentence="`ppermute` is a collective in your code at step.py:3.",
        evidence="name",
        source=_at(3),
        payload_bytes=2 * MIB,
    )
    by_name = Cause(
        kind="indexing",
        sentence="It belongs to `gather` (step.py:3). By that name alone, the cause is probably indexing.",
        evidence="name",
        source=_at(3),
        payload_bytes=MIB,
        serves_with=("all-gather.9",),
    )
    unknown = Cause(kind="unknown", sentence="The program does not tell why.", payload_bytes=MIB)
    rows = (
        *(_gathered(layer) for layer in range(4)),
        _explained(
            "all-reduce", ("data",), _DATA, 3 * MIB, (gradient, mean), phase="backward", operands=2, is_cross_host=True
        ),
        _explained(
            "collective-permute", None, ((0, 1), (1, 0)), 2 * MIB, (written,), is_async=True, overlap_count=3,
            decomposed="all-gather",
        ),
        _explained("all-to-all", ("data",), _DATA, MIB, (by_name,)),
        _explained("all-reduce", ("model",), _MODEL, MIB, (unknown,)),
    )  # fmt: skip
    return RecordReport(
        data=RecordData(
            name="step", mesh=mesh, meshes=(mesh,), devices=devices_of(8), sources=(_STEP,), inputs=(), outputs=()
        ),
        collectives=CollectiveTable(rows),
        totals=totals_of(rows),
        fusions=FusionTable(()),
        warnings=("Involuntary full rematerialization of `h` at step.py:2",),
    )


def shardings() -> ShardingTable:
    """Values of two lines of `step.py`, two layers' arguments, and one inside a `shard_map`."""

    def value(name: str, shape: tuple[int, ...], local: tuple[int, ...], *spec: SpecEntry, **more) -> ValueSharding:
        size, whole = math.prod(local) * 4, math.prod(shape) * 4
        return ValueSharding(
            name=name,
            dtype="f32",
            global_shape=shape,
            local_shape=local,
            spec=spec,
            bytes_per_device=size,
            replication=more.pop("replication"),
            wasted_bytes=more.pop("wasted", size - whole // 8),
            **more,
        )

    # h: [2048, 512] f32 is 4 MiB; over data=2 each device has 2 MiB, where an even split over 8 would be 0.5.
    h = value(
        "x @ p['w1']", (2048, 512), (1024, 512), "data", None, op="dot_general", op_name="jit(step)/dot_general",
        source=_at(2), phase="forward", replication=4, origins={"data": "argument `x`, through `dot_general`"},
    )  # fmt: skip
    relu = value(
        "jax.nn.relu(h)", (2048, 512), (1024, 512), "data", None, op="max", op_name="jit(step)/max", source=_at(3),
        phase="forward", replication=4, origins={"data": "argument `x`, through `max`"},
    )  # fmt: skip
    shard = value(
        "jit(step)/shard_map/mul", (256, 128), (256, 128), None, None, op="mul", op_name="jit(step)/shard_map/mul",
        source=_at(3), replication=None, wasted=None, is_per_shard=True,
    )  # fmt: skip
    weights = [
        value(f"p['layers'][{i}]['w1']", (512, 512), (256, 128), "data", "model", replication=1) for i in range(2)
    ]
    return ShardingTable(rows=(h, relu, *weights, shard), devices=8, left_out=(("single numbers", 7), ("constants", 3)))


def advised() -> RecordReport:
    """The train step with a change that was counted, one on top of it that was compiled, and a fact."""
    at = Frame(file="/home/me/train.py", line=31)
    lost = Advice(
        kind="axis_lost",
        sentence=Sentence("`emb[tok]` (train.py:31) loses `fsdp`: the result is `P(None, None, 'fsdp')`"),
        change="x = jax.lax.with_sharding_constraint(emb[tok], P('fsdp', None, None))",
        edits=(Edit(kind="constrain", index=3),),
        sent=(4 * MIB, MIB),
        memory=(2 * MIB, 2 * MIB),
        multiplied=(1000, 500),
        collectives=(163, 50),
        source=(at,),
        number=2,
    )
    held = Advice(
        kind="replicated_argument",
        sentence=Sentence("`emb` arrives as `P()`; other arguments of its dimensions are split"),
        change="pass emb as P('fsdp', None)",
        edits=(Edit(kind="argument", index=0),),
        sent=(MIB, MIB + MIB // 8),
        memory=(2 * MIB, MIB),
        costs="sends 128 KiB more",
        state="compiled",
        with_edits=lost.edits,
    )
    kept = Advice(
        kind="not_donated",
        sentence=Sentence("`params` comes back changed, and the old one is not given up"),
        change="give `jax.jit` `donate_argnames=('params',)`",
        state="fact",
        source=(Frame(file="/home/me/train.py", line=40),),
        cost_bytes=2 * MIB,
        unit="held",
    )
    return replace(train_step(), advice=AdviceTable((lost, held, kept), asked=40, proposed=64))


def every_report() -> dict[str, RecordReport]:
    """All of them by name."""
    return {
        **{f"mlp_{way}": mlp(way) for way in ("replicated", "data", "fsdp", "tensor")},
        "train_step": train_step(),
        "without_hlo": without_hlo(),
        "one_device": one_device(),
        "ranks": ranks(),
        "huge": huge(),
        "hostile": hostile(),
        "explained": explained(),
        "advised": advised(),
    }
