"""Collectives that run alone, and tiles that are padding: what two witnesses say, and what one of them does not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from data import hlo_fixtures as fixtures
from findings.on_tpu import matrices_of_half_a_tile, path_of

import pjit_inspect as pi
from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.findings.candidate import Subject
from pjit_inspect.analyze.findings.exposed import exposed_collectives
from pjit_inspect.analyze.findings.padding import padded_arguments, padded_temporaries
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.record.kernel_times import KernelTime, KernelTimes
from pjit_inspect.model.record.record import MemoryStats, RecordData


def subject_of(name: str, **data: object) -> Subject:
    module = fixtures.module(name)
    rows = tuple(find_collectives(module, fixtures.MESH))
    return Subject(data=RecordData(name="f", **data), module=module, collectives=rows)


def upstream(module: HloModule, start: Instruction) -> set[str]:
    """The names of all that an instruction needs, found one at a time."""
    seen: dict[str, Instruction] = {}
    border = [start]
    while border:
        for operand in border.pop().operands:
            if operand.name not in seen:
                seen[operand.name] = operand
                border.append(operand)
    return set(seen)


@pytest.mark.parametrize("name", ["transformer_step.v5e_2x4", "train_step.v5p", "transformer_step.h100_1x1x8"])
def test_what_runs_alone_has_nothing_beside_it_and_a_product_that_is_independent(name: str) -> None:
    subject = subject_of(name)
    assert subject.module is not None
    found = list(exposed_collectives(subject))
    by_name = {row.instructions[0]: row for row in subject.collectives}
    assert found
    for candidate in found:
        assert candidate.cost_bytes == sum(by_name[own].sent_bytes for own in candidate.removes)
        assert all(by_name[own].overlap_count == 0 for own in candidate.removes)
        first = subject.module.find(candidate.removes[0])
        product = next(
            one
            for phrase in candidate.sentence.phrases
            if phrase.kind == "code" and (one := subject.module.find(phrase.text)) is not None
        )
        assert first is not None
        assert product.name not in upstream(subject.module, first)
        assert not set(by_name[candidate.removes[0]].instructions) & upstream(subject.module, product)


def test_a_program_whose_backend_runs_one_thing_at_a_time_has_none() -> None:
    assert not list(exposed_collectives(subject_of("transformer_step.cpu_8")))


def timed(subject: Subject, share: float) -> Subject:
    names = {name for one in exposed_collectives(subject) for name in one.removes}
    parts = [part for row in subject.collectives if row.instructions[0] in names for part in row.instructions]
    rows = tuple(
        KernelTime(instruction=part, opcode="all-reduce", slowest_us=1000 * share / len(parts), mean_us=1.0)
        for part in parts
    )
    times = KernelTimes(calls=3, devices=8, call_us=1000.0, mean_call_us=1000.0, rows=rows)
    return replace(subject, data=replace(subject.data, kernel_times=times))


def test_where_it_was_measured_the_time_is_told_and_too_little_is_no_fault() -> None:
    subject = subject_of("transformer_step.v5e_2x4")
    told = list(exposed_collectives(timed(subject, 0.5)))
    assert told
    assert all("us of a call (measured)" in one.sentence and "of 1,000 us" in one.sentence for one in told)
    assert not list(exposed_collectives(timed(subject, 0.01)))
    assert not any("measured" in one.sentence for one in exposed_collectives(subject))


def test_layouts_that_do_not_come_to_what_xla_says_prove_nothing() -> None:
    record = pi.load(path_of(matrices_of_half_a_tile))
    subject = Subject(data=record.data, module=record.hlo)
    assert [one.kind for one in padded_arguments(subject)] == ["tile_padding"]
    memory = replace(record.data.memory, argument_bytes=record.data.memory.argument_bytes // 2)
    assert not list(padded_arguments(replace(subject, data=replace(record.data, memory=memory))))


def test_an_array_that_xla_has_no_room_for_is_not_in_memory() -> None:
    subject = subject_of("transformer_step.v5e_2x4")
    assert not list(padded_temporaries(subject))
    for size in (1 << 20, 1 << 40):
        memory = MemoryStats(argument_bytes=1 << 20, temporary_bytes=size)
        for one in padded_temporaries(replace(subject, data=replace(subject.data, memory=memory))):
            assert one.cost_bytes < size
