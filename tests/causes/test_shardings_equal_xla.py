"""Predicted shardings are those that XLA's own propagation gave, in its dump of the very compile.

On Explicit meshes they are also those in the jaxpr's types. A sample of the corpus runs always, all of it with `--all`.
Not its job: what follows from the shardings (`test_causes`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from typing import Any

import jax
import pytest

from causes.case import Case
from causes.corpus import CASES
from causes.xla_shardings import Comparison, Dumped, compare_by_name, compare_by_structure, dump
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.observe.live.shardings import find_meshes

_SAMPLE = 15


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "program" in metafunc.fixturenames:
        chosen = _chosen(metafunc.config)
        metafunc.parametrize("program", chosen, ids=[case.name for case in chosen])


def _chosen(config: pytest.Config) -> tuple[Case, ...]:
    return CASES if config.getoption("--all", default=False) else CASES[:: -(-len(CASES) // _SAMPLE)]


@cache
def _dumped(program: Case) -> Dumped:
    return dump(program)


@cache
def _by_structure(program: Case) -> Comparison:
    return compare_by_structure(_dumped(program))


def test_predicted_shardings_equal_those_of_xlas_propagation(program: Case) -> None:
    assert not _by_structure(program).different


def test_predicted_shardings_equal_those_in_the_hlo_that_xla_partitions(program: Case) -> None:
    mesh = _mesh(program)
    if mesh is None:
        pytest.skip("its arguments name no mesh")
    assert not compare_by_name(_dumped(program), mesh).different


def _mesh(program: Case) -> Mesh | None:
    _, arguments = program.build()
    shardings = [getattr(leaf, "sharding", None) for leaf in jax.tree.leaves(arguments)]
    meshes = find_meshes([sharding for sharding in shardings if sharding is not None], ())
    return meshes[0] if meshes else None


def test_at_most_one_value_in_a_hundred_differs(
    pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {case.name: _by_structure(case) for case in _chosen(pytestconfig)}
    equal = sum(result.equal for result in found.values())
    different = {name: len(result.different) for name, result in found.items() if result.different}
    rewritten = Counter(opcode for result in found.values() for opcode in result.rewritten)
    compared = equal + sum(different.values())
    lines = [f"JAX {jax.__version__}, {len(found)} programs: {equal:,} of {compared:,} values sharded as XLA does;"]
    lines += [f"  {n} not in {name};" for name, n in different.items()]
    lines += [f"  {rewritten.total():,} of ops that XLA merged or rewrote before: {dict(rewritten.most_common())}"]
    with capsys.disabled():
        print("", *lines, sep="\n")  # noqa: T201
    assert not different
    assert equal > 0.99 * compared


# ---------------------------------------------------------------- Explicit meshes

_EXPLICIT = [case for case in CASES if case.name.startswith("explicit")]


@pytest.mark.parametrize("explicit", _EXPLICIT, ids=[case.name for case in _EXPLICIT])
def test_on_an_explicit_mesh_predicted_shardings_equal_the_types_of_the_jaxpr(explicit: Case) -> None:
    function, arguments = explicit.build()
    if explicit.name == "explicit_gradient_of_reshard" and jax.__version_info__ < (0, 9):
        pytest.skip("JAX 0.8 does not lower the type it gives to the sum of two cotangents")
    typed = _types(function.trace(*arguments).jaxpr.jaxpr)
    ours = _predicted(_dumped(explicit).ours)
    joined = typed.keys() & ours.keys()
    assert joined
    assert {key: ours[key] for key in joined} == {key: typed[key] for key in joined}


def _types(jaxpr: Any) -> dict[tuple[str, tuple[int, ...]], set]:
    """(primitive's name, shape) -> the specs in the types of the equations' results, where all axes are Explicit."""
    found: dict[tuple[str, tuple[int, ...]], set] = defaultdict(set)
    border = [jaxpr]
    while border:
        for equation in border.pop().eqns:
            inner = [getattr(part, "jaxpr", part) for part in equation.params.values()]
            border += [part for part in inner if hasattr(part, "eqns")]
            for aval in (value.aval for value in equation.outvars):
                if getattr(aval, "sharding", None) is not None and aval.sharding.mesh.are_all_axes_explicit:
                    found[equation.primitive.name, aval.shape].add(_axes(aval.sharding.spec, aval.ndim))
    return found


def _axes(spec: Any, rank: int) -> tuple[tuple[str, ...], ...]:
    parts = [*spec, *[None] * (rank - len(spec))]
    return tuple(() if part is None else (part,) if isinstance(part, str) else tuple(part) for part in parts)


def _predicted(program: ShardedProgram) -> dict[tuple[str, tuple[int, ...]], set]:
    """The same from the prediction."""
    found: dict[tuple[str, tuple[int, ...]], set] = defaultdict(set)
    for op in program.ops:
        for value in (program.values[index] for index in op.results):
            found[op.op_name.rpartition("/")[2], value.shape].add(value.spec)
    return found
