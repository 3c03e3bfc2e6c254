"""What a program launches on a GPU, and that a large one is read in a time that grows with it.

Not its job: whose a kernel is (`test_command_buffers`).
"""

from __future__ import annotations

import time
from pathlib import Path

import pjit_inspect as pi
from pjit_inspect.analyze.measured.launches import Launch, launches_of
from pjit_inspect.model.program.hlo import HloModule

DATA = Path(__file__).parent.parent.parent / "data" / "gpu"


def module(name: str) -> HloModule:
    found = pi.load(DATA / f"{name}.nvidia_h200.pjit").hlo
    assert found is not None
    return found


def commands(name: str) -> dict[str, Launch]:
    return {one.instruction: one for of in launches_of(module(name)).commands.values() for one in of}


def test_a_copy_may_be_nothing_and_a_slice_that_is_cut_as_it_runs_never_is():
    found = commands("train_step")
    assert (found["copy.25"].moves, found["copy.25"].may_be_nothing) == (True, True)
    sliced = found["loop_dynamic_slice_fusion.17"]
    assert (sliced.moves, sliced.may_be_nothing) == (True, False)


def test_a_sort_copies_first_and_a_reduction_clears_first():
    assert [one for one in commands("sort").values() if one.copies_first]
    found = commands("chain")
    assert found["loop_reduce_fusion.1"].clears_first
    assert not any(one.copies_first or one.moves for one in found.values())


def test_of_libraries_those_of_products_have_one_kernel():
    calls = [one for one in commands("mlp").values() if one.is_library]
    assert calls
    assert all(one.is_product and not one.is_of_unknown_size for one in calls)
    assert any(one.is_of_unknown_size for one in commands("libraries").values())


def test_a_kernel_of_pallas_has_the_name_that_its_author_gave_it():
    functions = launches_of(module("pallas")).functions
    assert functions["double_it"].own == {"pallas_call.1"}
    assert not commands("pallas")["pallas_call.1"].is_library


def test_an_attention_of_cudnn_is_one_graph_of_kernels():
    (call,) = (one for one in commands("attention_cudnn").values() if one.is_attention)
    assert call.is_one_graph
    assert not call.is_of_unknown_size


def alike(number: int, tmp_path: Path) -> HloModule:
    """A program of so many fusions that compute the same."""
    bodies = [
        f"%f.{k} (p.{k}: f32[8]) -> f32[8] {{\n  %p.{k} = f32[8]{{0}} parameter(0)\n"
        f"  ROOT %a.{k} = f32[8]{{0}} add(%p.{k}, %p.{k})\n}}\n"
        for k in range(number)
    ]
    calls = [f"  %fusion.{k} = f32[8]{{0}} fusion(%x), kind=kLoop, calls=%f.{k}\n" for k in range(number)]
    entry = "\nENTRY %main (x: f32[8]) -> f32[8] {\n  %x = f32[8]{0} parameter(0)\n" + "".join(calls)
    path = tmp_path / f"{number}.hlo"
    path.write_text(
        f"HloModule jit_f, is_scheduled=true\n\n{''.join(bodies)}{entry}"
        f"  ROOT %out = f32[8]{{0}} copy(%fusion.{number - 1})\n}}\n"
    )
    found = pi.open(path).hlo
    assert found is not None
    return found


def test_thousands_of_fusions_that_share_a_function_are_read_in_a_time_that_grows_with_them(tmp_path: Path):
    many = alike(4000, tmp_path)
    began = time.process_time()
    functions = launches_of(many).functions
    # 0.6 s; when each function had a list of its own, it was 50 s.
    assert time.process_time() - began < 10
    assert len(functions) == 4000
    (names,) = functions["fusion_7"].instructions.values()
    assert len(names) == 4000
    assert functions["fusion_7"].own == {"fusion.7"}
