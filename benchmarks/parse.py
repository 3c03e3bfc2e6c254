"""What reading an optimized program costs: seconds and memory, beside other readers of the same program.

    python benchmarks/parse.py            # about a minute on 2 cores, 1 GB of memory
    python benchmarks/parse.py --quick    # a smoke test: a small program, few repeats, the figures mean nothing

Everything is measured in this one run, the readers in turn, and reported as medians and ratios of medians. Read are:

- *ours*: `parse_program`, bytes to columns, with the users of every instruction, its scope and its source frame.
- *upb*: `google.protobuf` parsing the same bytes whole, every message in them, with this package's own schema
  (`parse.wire.hlo_schema`, where instructions are messages instead of bytes). It yields no users, scopes or frames.
- *XLA*: `jaxlib._hlo.hlo_module_from_text` on the text of the same program.
- *jaxviz*: the reader of jaxviz 0.1.4 on that text, where somebody has installed it (`pip install jaxviz==0.1.4`).

The large program is made of the one with 86k instructions: its computations are repeated with new ids and names until
there are 541k, the size of a train step of 48 layers; the entry computation stays one, and copies have no schedule.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import gzip
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import google.protobuf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.wire.hlo_schema import message_class

DATA = Path(__file__).parents[1] / "tests" / "data"
PROGRAM, SMALL_PROGRAM = "train_step_16_layers.cpu_8", "transformer_step.cpu_8"
LARGE = 541_000

# ---------------------------------------------------------------- the programs


def program_text(name: str) -> str:
    return gzip.decompress((DATA / f"{name}.hlo.gz").read_bytes()).decode()


def program_proto(text: str) -> bytes:
    from jaxlib import _hlo

    return _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()


def repeated(data: bytes, instructions: int) -> bytes:
    """The program with its computations repeated, under new ids and names, until it has this many instructions."""
    module = message_class("Module").FromString(data)
    originals = [message_class("Computation").FromString(content) for content in module.computations]
    bodies = [[message_class("Instruction").FromString(i) for i in c.instructions] for c in originals]
    count = sum(map(len, bodies))
    step = 1 + max(max(c.id for c in originals), max(i.id for body in bodies for i in body))
    copies: list[bytes] = []
    copy = 0
    while count < instructions:
        copy += 1
        # Callees stand before their callers, so any beginning of the list is whole; the entry comes last, once.
        for computation, body in zip(originals[:-1], bodies, strict=False):
            if count >= instructions:
                break
            copies.append(renumbered(computation, body, copy * step, f".copy{copy}"))
            count += len(body)
    module.computations[:] = [*copies, *module.computations]
    return module.SerializeToString()


def renumbered(computation: Any, body: list[Any], shift: int, suffix: str) -> bytes:
    """One computation with `shift` added to every id and `suffix` to every name."""
    contents = []
    for original in body:
        instruction = type(original)()
        instruction.CopyFrom(original)
        instruction.id += shift
        instruction.name += suffix
        for ids in (instruction.operand_ids, instruction.control_predecessor_ids, instruction.called_computation_ids):
            ids[:] = [i + shift for i in ids]
        contents.append(instruction.SerializeToString())
    result = type(computation)()
    result.CopyFrom(computation)
    result.instructions[:] = contents
    result.id, result.root_id, result.name = computation.id + shift, computation.root_id + shift, result.name + suffix
    return result.SerializeToString()


# ---------------------------------------------------------------- the readers


def read_ours(data: bytes) -> HloModule:
    """Bytes to a module; scopes and source frames stand in its tables, users are built on first use."""
    module = parse_program(data)
    assert len(module.users) == len(module.instructions.op_name) == len(module.instructions.frame)
    return module


def whole_module_class() -> Any:
    """The message class of a module whose computations and instructions are messages too, not bytes."""
    file = descriptor_pb2.FileDescriptorProto()
    message_class("Module").DESCRIPTOR.file.CopyToProto(file)
    for owner, field, inner in (
        ("Module", "computations", "Computation"),
        ("Computation", "instructions", "Instruction"),
    ):
        message = next(message for message in file.message_type if message.name == owner)
        described = next(one for one in message.field if one.name == field)
        described.type, described.type_name = described.TYPE_MESSAGE, f".{file.package}.{inner}"
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{file.package}.Module"))


def jaxviz_reader() -> Callable[[str], Any] | None:
    try:
        from jaxviz import hlo_to_graph
    except ImportError:
        return None
    return hlo_to_graph._parse_module  # noqa: SLF001 (its only way in)


# ---------------------------------------------------------------- measuring


def seconds(function: Callable[[], Any]) -> float:
    gc.collect()
    start = time.perf_counter()
    result = function()
    took = time.perf_counter() - start
    del result
    return took


def medians(functions: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Median seconds of each, measured in turn."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            times[name].append(seconds(function))
    return {name: statistics.median(values) for name, values in times.items()}


def traced_peak(data: bytes) -> int:
    """The most bytes that reading takes at any time beyond the proto itself, as tracemalloc counts them."""
    gc.collect()
    tracemalloc.start()
    module = read_ours(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del module
    return peak


def resident_peak(data: bytes) -> int | None:
    """The same as the system counts it, in a process of its own; None where the system does not tell."""
    with tempfile.NamedTemporaryFile(suffix=".pb") as file:
        file.write(data)
        file.flush()
        command = [sys.executable, __file__, "--resident", file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip().isdigit() else None


def print_resident(path: str) -> None:
    """Print by how many bytes this process grows, at most, as it reads the proto at `path`."""
    # A small program first, so that what any first reading loads does not count.
    read_ours(program_proto(program_text("mlp_step.cpu_8")))
    data = Path(path).read_bytes()
    gc.collect()
    # Forget the highest size so far (Linux).
    Path("/proc/self/clear_refs").write_text("5")
    before = status_bytes("VmRSS")
    module = read_ours(data)
    print(status_bytes("VmHWM") - before)
    del module


def status_bytes(key: str) -> int:
    found = re.search(rf"^{key}:\s+(\d+) kB", Path("/proc/self/status").read_text(), flags=re.M)
    assert found
    return int(found[1]) * 1024


# ---------------------------------------------------------------- the report


def report_readers(name: str, text: str, data: bytes, rounds: int) -> float:
    """Prints what each reader takes and finds; returns our seconds per instruction."""
    from jaxlib import _hlo

    whole, jaxviz = whole_module_class(), jaxviz_reader()
    readers: dict[str, Callable[[], Any]] = {
        "ours": lambda: read_ours(data),
        "upb": lambda: whole.FromString(data),
        "XLA": lambda: _hlo.hlo_module_from_text(text),
    }
    if jaxviz is not None:
        readers["jaxviz"] = lambda: jaxviz(text)
    took = medians(readers, rounds)
    counts = {
        "ours": len(read_ours(data)),
        "upb": sum(len(computation.instructions) for computation in whole.FromString(data).computations),
        "XLA": sum(len(c.instructions()) for c in _hlo.hlo_module_from_text(text).computations()),
    }
    if jaxviz is not None:
        counts["jaxviz"] = sum(len(computation.instructions) for computation in jaxviz(text)[0].values())
    print(f"\n{name}: {len(data):,} bytes of proto, {len(text):,} of text; medians of {rounds}")
    print(f"{'reader':<8}{'ms':>10}{'ours / it':>11}  {'instructions':>12}")
    for reader, median in took.items():
        print(f"{reader:<8}{median * 1e3:>10.1f}{took['ours'] / median:>11.2f}  {counts[reader]:>12,}")
    if jaxviz is None:
        print("jaxviz  not installed")
    print(f"ours / upb {took['ours'] / took['upb']:.2f}   target 12")
    print(f"ours / XLA {took['ours'] / took['XLA']:.2f}   target below 1")
    return took["ours"] / counts["ours"]


def report_memory(data: bytes) -> None:
    traced, resident = traced_peak(data), resident_peak(data)
    print(f"most extra memory / size of the proto: {traced / len(data):.2f} (tracemalloc)", end="")
    print(f", {resident / len(data):.2f} (resident)" if resident is not None else ", resident: not measured", end="")
    print("   target 6")


def report_walk(module: HloModule, rounds: int) -> None:
    """Prints what walking and filtering take."""
    entry = module.computation(module.entry)
    scope = next((name for name in reversed(module.op_names) if "/" in name), "")
    took = medians(
        {
            "all-reduces, by opcode": lambda: module.with_opcode("all-reduce"),
            "opcode counts": lambda: module.opcode_counts,
            "bytes of every result": lambda: fresh(module).result_bytes,
            "instructions of one scope": lambda: in_scope(module, scope),
            "walk: opcode and operands of every instruction": lambda: walk(module),
            "walk: name, shape and frames of the entry's": lambda: [(i.name, i.shape, i.frames) for i in entry],
        },
        rounds,
    )
    print(f"\nusing {module!r}, of which {len(entry):,} in the entry")
    for name, median in took.items():
        print(f"{name:<48}{median * 1e3:>10.2f} ms")


def fresh(module: HloModule) -> HloModule:
    """The module with nothing built yet."""
    fields = {field.name: getattr(module, field.name) for field in dataclasses.fields(module) if field.init}
    return HloModule(**fields)


def in_scope(module: HloModule, scope: str) -> int:
    rows = [row for row, name in enumerate(module.op_names) if name.startswith(scope)]
    return int(sum((module.instructions.op_name == row).sum() for row in rows))


def walk(module: HloModule) -> int:
    opcodes, links = module.opcodes, module.instructions.operands
    return sum(len(opcodes[row]) for row in module.instructions.opcode.tolist()) + len(links.items.tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke test: the figures mean nothing")
    parser.add_argument("--resident", metavar="PROTO", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.resident:
        print_resident(arguments.resident)
        return
    name, rounds, large_rounds = (SMALL_PROGRAM, 1, 1) if arguments.quick else (PROGRAM, 11, 5)
    python, upb = platform.python_version(), google.protobuf.__version__
    print(f"python {python}, protobuf {upb}, {os.cpu_count()} cores")
    text = program_text(name)
    data = program_proto(text)
    per_instruction = report_readers(name, text, data, rounds)
    report_memory(data)
    module = read_ours(data)
    report_walk(module, rounds)
    large = repeated(data, 6 * len(module) if arguments.quick else LARGE)
    took = medians({"large": lambda: read_ours(large), "86k": lambda: read_ours(data)}, large_rounds)
    module = read_ours(large)
    ratio = took["large"] / len(module) / (took["86k"] / len(read_ours(data)))
    print(
        f"\n{len(module):,} instructions, {len(large):,} bytes: {took['large'] * 1e3:.1f} ms; medians of {large_rounds}"
    )
    print(f"seconds per instruction / those of the smaller: {ratio:.2f}   target 1.3")
    print(f"(the smaller took {per_instruction * 1e6:.2f} us per instruction above)")
    report_memory(large)
    report_walk(module, large_rounds)


if __name__ == "__main__":
    main()
