"""What XLA dumps is found: on real dumps, and by the names other targets give their files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from data.hlo_texts import read_program

from pjit_inspect.errors import ParseError
from pjit_inspect.parse.files.dump_directory import DumpedModule, read_dump_directory

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(np.ones((16, 32), np.float32), NamedSharding(mesh, P("data", "model")))
w = jax.device_put(np.ones((32, 64), np.float32), NamedSharding(mesh, P("model")))
@jax.jit
def mlp(x, w): return jnp.tanh(x @ w)
@jax.jit
def norm(x): return jnp.sqrt((x * x).sum())
mlp(x, w).block_until_ready(), norm(x).block_until_ready()
"""


def dump(folder: Path, *flags: str) -> Path:
    """Everything XLA dumps of PROGRAM on 8 CPU devices."""
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "JAX_NUM_CPU_DEVICES": "8",
        "XLA_FLAGS": " ".join((f"--xla_dump_to={folder}", *flags)),
    }
    subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dump(tmp_path_factory.mktemp("texts"))


@pytest.fixture(scope="module")
def passes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    flags = "--xla_dump_hlo_pass_re=.*", "--xla_dump_hlo_as_proto", "--xla_dump_hlo_as_text"
    return dump(tmp_path_factory.mktemp("passes"), *flags, "--xla_dump_hlo_module_re=.*(mlp|norm).*")


def named(modules: tuple[DumpedModule, ...], name: str) -> DumpedModule:
    (found,) = (module for module in modules if module.name == name)
    return found


def test_a_real_dump_has_each_program_with_its_files(texts: Path):
    modules = read_dump_directory(texts)
    assert [m.module_id for m in modules] == sorted(m.module_id for m in modules)
    mlp, norm = named(modules, "jit_mlp"), named(modules, "jit_norm")
    assert mlp.module_id < norm.module_id
    for module, kind, end in (
        (mlp, mlp.optimized, "cpu_after_optimizations.txt"),
        (mlp, mlp.before, "before_optimizations.txt"),
        (mlp, mlp.buffer_assignment, "cpu_after_optimizations-buffer-assignment.txt"),
        (mlp, mlp.memory_usage, "cpu_after_optimizations-memory-usage-report.txt"),
    ):
        assert kind == texts / f"module_{module.module_id:04d}.{module.name}.{end}"
    assert mlp.passes == ()


def test_a_proto_is_preferred_to_a_text(passes: Path):
    mlp = named(read_dump_directory(passes), "jit_mlp")
    assert mlp.optimized is not None
    assert mlp.before is not None
    assert mlp.optimized.name.endswith("cpu_after_optimizations.hlo.pb")
    assert mlp.before.name.endswith("before_optimizations.hlo.pb")


def test_the_passes_stand_in_order_each_once(passes: Path):
    mlp = named(read_dump_directory(passes), "jit_mlp")
    assert [step.number for step in mlp.passes] == list(range(len(mlp.passes)))
    assert mlp.passes[0].after == "pipeline-start"
    partitioned = [step for step in mlp.passes if step.after == "spmd-partitioning"]
    assert partitioned
    assert all(step.path.exists() for step in mlp.passes)


def test_every_program_of_a_real_dump_is_read_and_nothing_in_it_is_unknown(passes: Path):
    for module in read_dump_directory(passes):
        paths = [module.optimized, module.before, *(step.path for step in module.passes)]
        for path in paths:
            assert path is not None
            for file in (path, path.with_name(path.name.replace(".hlo.pb", ".txt"))):
                program = read_program(file)
                assert program.module is not None
                assert not program.module.unknown


def test_text_and_proto_of_a_real_dump_say_the_same(passes: Path):
    mlp = named(read_dump_directory(passes), "jit_mlp")
    assert mlp.optimized is not None
    proto = read_program(mlp.optimized).module
    text = read_program(mlp.optimized.with_name(mlp.optimized.name.replace(".hlo.pb", ".txt"))).module
    assert proto is not None
    assert text is not None
    assert proto.opcode_counts == text.opcode_counts
    assert proto.device_counts == text.device_counts == (1, 8)


def touch(folder: Path, *names: str) -> tuple[DumpedModule, ...]:
    for name in names:
        (folder / name).touch()
    return read_dump_directory(folder)


def test_names_of_other_targets_are_understood(tmp_path: Path):
    gpu, tpu = touch(
        tmp_path,
        "module_0003.jit_f.sm_9.0_gpu_after_optimizations.txt",
        "module_0003.jit_f.sm_9.0_gpu_after_optimizations-buffer-assignment.txt",
        "module_0003.jit_f.gpu_target_config.pbtxt",
        "module_0003.jit_f.thunk_sequence.txt",
        "module_0012.jit_g.cl_813921542.after_optimizations.txt",
        "module_0012.jit_g.cl_813921542.after_optimizations.hlo.pb.gz",
        "module_0012.jit_g.tpu_comp_env.txt",
    )
    assert gpu.optimized == tmp_path / "module_0003.jit_f.sm_9.0_gpu_after_optimizations.txt"
    assert gpu.buffer_assignment is not None
    assert tpu.optimized == tmp_path / "module_0012.jit_g.cl_813921542.after_optimizations.hlo.pb.gz"
    assert (gpu.name, gpu.module_id, tpu.name, tpu.module_id) == ("jit_f", 3, "jit_g", 12)


def test_a_pass_called_after_optimizations_is_not_the_final_program(tmp_path: Path):
    (module,) = touch(tmp_path, "module_0001.jit_f.0007.p.after_x.before_after_optimizations.txt")
    assert module.optimized is None
    (step,) = module.passes
    assert (step.number, step.pipeline, step.after, step.before) == (7, "p", "x", "after_optimizations")


def test_two_processes_that_dump_into_one_directory_stay_apart(tmp_path: Path):
    modules = touch(
        tmp_path, "module_0001.jit_f.before_optimizations.txt", "module_0001.jit_g.before_optimizations.txt"
    )
    assert [module.name for module in modules] == ["jit_f", "jit_g"]


@pytest.mark.parametrize("names", [(), ("readme.txt",), ("module_0001.jit_f.debug_options",)])
def test_a_directory_without_programs_says_what_was_expected(tmp_path: Path, names: tuple[str, ...]):
    with pytest.raises(ParseError) as caught:
        touch(tmp_path, *names)
    assert caught.value.path == str(tmp_path)
    assert "xla_dump_to" in (caught.value.expected or "")


def test_a_link_is_not_followed(tmp_path: Path):
    (tmp_path / "other").write_text("secret")
    (tmp_path / "module_0001.jit_f.cpu_after_optimizations.txt").symlink_to(tmp_path / "other")
    with pytest.raises(ParseError, match="no program was dumped"):
        read_dump_directory(tmp_path)
