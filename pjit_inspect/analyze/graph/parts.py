"""Facts about a program before its rows become boxes. Not its job: finding them (`analyze.graph.build`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pjit_inspect.analyze.graph.arrays import Inputs
from pjit_inspect.analyze.graph.fold import Folding
from pjit_inspect.analyze.graph.kernels import KernelList
from pjit_inspect.analyze.graph.placing import Placing
from pjit_inspect.analyze.graph.sites import CollectiveSites
from pjit_inspect.analyze.graph.tree import Rows
from pjit_inspect.analyze.graph.work import Work
from pjit_inspect.model.report.collective import CollectiveTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GraphParts:
    """The parts of one program's graph.

    Attributes:
      kernels: its kernels, in the order of the schedule.
      collectives: its collectives.
      sites: which kernel each collective is.
      inputs: which arrays kernels take.
      placing: the scope and phase of each kernel.
      rows: the tree of scopes and loops.
      folding: which of the rows are folded.
      work: products and floating-point operations of each kernel.
      runs: upper bound of each kernel's runs per call; -1 if unknown.
      loops: the innermost loop around each kernel, as a row of `kernels.running.loops`; -1.
    """

    kernels: KernelList
    collectives: CollectiveTable
    sites: CollectiveSites
    inputs: Inputs
    placing: Placing
    rows: Rows
    folding: Folding
    work: Work
    runs: np.ndarray
    loops: list[int]
