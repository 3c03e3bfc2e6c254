"""What a backend noted is read where it is understood, and kept whole where it is not."""

from __future__ import annotations

import json
import re

import pytest
from data import hlo_fixtures as fixtures

from pjit_inspect.analyze.program.backend_config import BackendConfig, WindowConfig, read_backend_config
from pjit_inspect.model.program.hlo import HloModule


def config(module: HloModule, name: str) -> BackendConfig:
    found = module.find(name)
    assert found is not None
    return read_backend_config(found.details.backend_config)


def test_a_tpu_kernel_tells_its_windows_and_estimated_cycles():
    text, module = fixtures.text("mlp_step.v5e_2x4"), fixtures.module("mlp_step.v5e_2x4")
    lines = re.findall(r'^  (?:ROOT )?%(\S+) = .*"window_config":.*?"estimated_cycles":"(\d+)"', text, flags=re.M)
    assert len(lines) > 5
    for name, cycles in lines:
        found = config(module, name)
        assert found.estimated_cycles == int(cycles)
        assert found.window is not None


def test_windows_are_lists_of_lengths():
    raw = '{"window_config":{"kernel_window_bounds":["8","128"],"iteration_bounds":[2],"output_window_bounds":["x"]}}'
    assert read_backend_config(raw).window == WindowConfig(kernel_bounds=(8, 128), iteration_bounds=(2,))


def test_a_tpu_collective_tells_its_algorithm():
    text, module = fixtures.text("mlp_step.v5e_2x4"), fixtures.module("mlp_step.v5e_2x4")
    found = {name: config(module, name) for name in ("all-reduce", "all-reduce.1", "all-reduce.4")}
    assert all(name in text for name in found)
    assert [(c.collective_algorithm, c.collective_emitter) for c in found.values()] == [
        ("StrategyRing", "RotatedPincerShortEmitter"),
        ("", "SinglePhaseRingSumEmitter"),
        ("UniDirection1DRingStrategy", "RotatedPincerEmitter"),
    ]


def test_a_gpu_collective_tells_whether_it_runs_in_one_go_and_how():
    text, module = fixtures.text("transformer_step.h100_1x1x8"), fixtures.module("transformer_step.h100_1x1x8")
    lines = re.findall(r'^  (?:ROOT )?%(\S+) = .*"is_sync":(\w+),.*"kernel_strategy":"(\w+)"', text, flags=re.M)
    assert len(lines) > 20
    for name, is_sync, strategy in lines:
        found = config(module, name)
        assert found.is_sync is (is_sync == "true")
        assert found.collective_algorithm == ("" if strategy.endswith("DEFAULT") else strategy)


@pytest.mark.parametrize(
    ("name", "kind"), [("mlp_step.cpu_8", "__ynn_fusion"), ("mlp_step.h100_1x1x8", "__triton_nested_gemm_fusion")]
)
def test_fusions_of_cpu_and_gpu_tell_their_sort(name: str, kind: str):
    module = fixtures.module(name)
    kinds = {config(module, module.instruction(i).name).fusion for i in module.with_opcode("fusion").tolist()}
    assert (kind in kinds) == (f'"kind":"{kind}"' in fixtures.text(name))


@pytest.mark.parametrize("name", fixtures.SMALL)
def test_every_config_of_the_fixtures_is_read_whole(name: str):
    module = fixtures.module(name)
    for index in range(len(module)):
        raw = module.instruction(index).details.backend_config
        found = read_backend_config(raw)
        assert found.raw == raw
        assert dict(found.fields) == (json.loads(raw) if raw else {})


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "[1]",
        "{",
        "7",
        "{" * 5000,
        '{"a":' * 5000,
        '{"known_trip_count":7,"window_config":[],"collective_backend_config":{"is_sync":"yes"}}',
        '{"known_trip_count":{"n":"many"},"window_config":{"estimated_cycles":true,"iteration_bounds":"2"}}',
        '{"known_trip_count":{"n":"99999999999999999999999"}}',
        "\x00\xff",
    ],
)
def test_a_config_of_another_form_says_nothing_and_is_kept(raw: str):
    found = read_backend_config(raw)
    assert found.raw == raw
    assert (found.trip_count, found.estimated_cycles, found.is_sync) == (None, None, None)
    assert found.window in (None, WindowConfig())
