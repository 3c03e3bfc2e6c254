"""The figures of a playground's variant, from XLA's answer about it.

Not its job: asking XLA (`subject`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from pjit_inspect.analyze.advice.counts import has_unknown_runs, product_work
from pjit_inspect.analyze.collectives.traffic import total_by_axes
from pjit_inspect.analyze.play.controls import bytes_on_device
from pjit_inspect.analyze.program.device_memory import with_places
from pjit_inspect.analyze.program.other_communication import find_other_communication
from pjit_inspect.analyze.report.report import collectives_of, sent_over
from pjit_inspect.handles.time.quick import quick_range
from pjit_inspect.model.play.variant import KindSent, Problem, Variant
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import CollectiveTable, other_words

_LESS = "split more of the arguments, or take more devices"


def with_figures(
    variant: Variant,
    data: RecordData,
    module: HloModule | None,
    *,
    whole: Callable[[], int | None],
    chip: str,
    step_s: float | None,
) -> Variant:
    """The variant with the figures of XLA's answer.

    Args:
      variant: the variant; its controls are those of the answer.
      data: the record of the answer.
      module: its program.
      whole: gives the operations of all products before the program is split; None if unknown.
      chip: the chip whose speed is used, as in "v5e" or "tpu:v5e".
      step_s: seconds of a call of the compiled program, as `StepTime.step_s`; None if unknown.
    """
    if not data.is_partial or module is None:
        # Collectives are counted as XLA's partitioner left them: only equal stages can be compared.
        sends = {"sent_bytes": 0, "collectives": 0} if variant.devices == 1 else {}
        return _with_memory(replace(variant, stage="full", step_s=step_s, **sends), data, module)
    rows = collectives_of(data, module)
    flops, all_of_it = product_work(module), whole()
    sent = sent_over(total_by_axes(rows, len(data.devices)))
    counted = replace(
        variant,
        stage="partitioned",
        flops=flops,
        runs_once=has_unknown_runs(module) or any(row.count is None for row in rows),
        work=flops * variant.devices / all_of_it if all_of_it else None,
        collectives=len(rows),
        by_kind=_by_kind(rows),
        by_axis=sent,
        sent_bytes=sum(own.sent_bytes for own in sent),
        beside=other_words(find_other_communication(module, len(data.devices))),
    )
    return _with_memory(replace(counted, time_s=quick_range(data, module, rows, chip)), data, module)


def _by_kind(rows: CollectiveTable) -> tuple[KindSent, ...]:
    counts, sent = Counter[str](), Counter[str]()
    for row in rows:
        counts[row.kind] += 1
        sent[row.kind] += row.least_sent_bytes
    found = [KindSent(kind=kind, collectives=counts[kind], sent_bytes=sent[kind]) for kind in counts]
    return tuple(sorted(found, key=lambda own: (-own.sent_bytes, own.kind)))


def _with_memory(variant: Variant, data: RecordData, module: HloModule | None) -> Variant:
    sizes = dict(variant.controls.mesh)
    own = with_places(data, module) if module is not None else data
    specs = {one.path: one.spec for one in own.outputs}
    arguments = bytes_on_device(own.parameters, {one.path: one.spec for one in own.inputs}, sizes)
    results = bytes_on_device([one for one in own.outputs if one.aliases is None], specs, sizes)
    known = [size for size in (arguments, results) if size is not None]
    memory, source = sum(known), "arguments and results"
    misfit = None if data.hypothesis is None else data.hypothesis.misfit
    stats = data.memory
    if not data.is_partial and stats is not None and stats.temporary_bytes is not None:
        parts = stats.argument_bytes, stats.output_bytes, stats.temporary_bytes
        memory, source = sum(part or 0 for part in parts) - (stats.alias_bytes or 0), "xla"
    fits = None
    if variant.available_bytes is not None:
        is_whole = source == "xla"
        fits = False if memory > variant.available_bytes else True if is_whole else None
    problem = variant.problem
    if misfit is not None:
        fits, problem = False, Problem(text=misfit.sentence, control="", remedy=_LESS)
        memory = max(memory, misfit.needed_bytes or 0)
    elif fits is False and variant.available_bytes is not None:
        problem = Problem(text=_too_much(memory, variant.available_bytes, source), remedy=_LESS)
    return replace(
        variant,
        argument_bytes=arguments,
        result_bytes=results,
        memory_bytes=memory,
        memory_source=source,
        fits=fits,
        problem=problem,
    )


def _too_much(memory: int, available: int, source: str) -> str:
    what = "it needs" if source == "xla" else f"its {source} alone are"
    return f"{what} {memory / 2**30:.2f} GiB of the {available / 2**30:.2f} GiB that a device has"
