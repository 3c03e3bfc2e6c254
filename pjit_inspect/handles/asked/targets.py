"""The table of machines that can be compiled for here.

Not its job: facts about each chip (`observe.partitioner.targets`, `observe.partitioner.chips`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pjit_inspect.model.record.target import TargetRow, TargetTable
from pjit_inspect.view.render.displayable import Displayable

if TYPE_CHECKING:
    from pjit_inspect.view.render.shown import Shown


@dataclass(frozen=True, slots=True, repr=False)
class Targets(Displayable, TargetTable):
    """The machines that programs can be compiled for, a row for each kind. In a notebook it displays itself.

    Attributes:
      rows: the kinds, CPU first.
    """

    def show(self) -> Shown:
        """An object to display."""
        from pjit_inspect.view.pages.targets import targets_view
        from pjit_inspect.view.render.shown import Shown, drawn

        return Shown(drawn(targets_view(self)))

    def __repr__(self) -> str:
        ready = sum(row.ready for row in self.rows)
        return f"<Targets: {len(self)} kinds of machine, {ready} of them ready>"


def find_targets() -> Targets:
    """Every target that is known, and whether this process can compile for it."""
    from pjit_inspect.observe.partitioner import chips, targets

    tpu, gpu = targets.why_missing("tpu"), targets.why_missing("cuda")
    rows = [
        TargetRow(
            name="cpu:N",
            example="cpu:256",
            platform="cpu",
            limit=f"1 to {targets.MOST_CPU_DEVICES:,} fake devices",
            ready=True,
        )
    ]
    for chip, topologies in targets.TOPOLOGIES.items():
        letters = "x".join("ABC"[: topologies[0].count("x") + 1])
        rows.append(
            TargetRow(
                name=f"tpu:{chip}:{letters}",
                example=f"tpu:{chip}:{topologies[3]}",
                platform="tpu",
                chip=chip,
                topologies=topologies,
                devices_per_chip=chips.DEVICES_OF_A_CHIP.get(chip, 1),
                memory=chips.memory_of(chip),
                ready=not tpu,
                missing=tpu,
            )
        )
    limit = f"1 to {targets.MOST_GPU_HOSTS} hosts x 1 to {targets.MOST_GPUS} GPUs of each"
    for chip in chips.GPUS:
        rows.append(
            TargetRow(
                name=f"cuda:{chip}:HxG",
                example=f"cuda:{chip}:4x8",
                platform="cuda",
                chip=chip,
                limit=limit,
                memory=chips.memory_of(chip),
                ready=not gpu,
                missing=gpu,
            )
        )
    return Targets(tuple(rows))


def check_target(name: str) -> None:
    """Raise ChangeError, with the available targets, for an unknown target name."""
    from pjit_inspect.observe.partitioner.targets import find_target

    find_target(name)


def target_names() -> tuple[str, ...]:
    """Target names to choose from: every known TPU slice, and usual sizes of the others."""
    from pjit_inspect.observe.partitioner import chips, targets

    cpus = [f"cpu:{2**n}" for n in range(targets.MOST_CPU_DEVICES.bit_length())]
    tpus = [f"tpu:{chip}:{sizes}" for chip, all_of_it in targets.TOPOLOGIES.items() for sizes in all_of_it]
    gpus = [f"cuda:{chip}:{hosts}" for chip in chips.GPUS for hosts in ("1x1", *(f"{2**n}x8" for n in range(10)))]
    return (*cpus, *tpus, *gpus)
