"""What a display of the playground is made from: every variant by now, and what belongs to the one that is looked at.

Not its job: asking XLA (`handles.play`), or words (the other modules of this room).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.diff.pairs import PairTable
from pjit_inspect.model.play.code import Code
from pjit_inspect.model.play.preset import Preset
from pjit_inspect.model.play.variant import HistoryTable, Variant
from pjit_inspect.model.report.collective import Collective, CollectiveTable
from pjit_inspect.model.report.target_table import TargetTable


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchState:
    """How far a search is.

    Attributes:
      is_running: whether it goes on.
      share: of its seconds, 0 to 1.
      sentence: what it tried and found by now; "" before the first.
    """

    is_running: bool = False
    share: float = 0.0
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayGiven:
    """One state of a playground.

    Attributes:
      name: the function's.
      place: where it was defined or called; "" where that is not known.
      history: every variant, and which is looked at.
      against: the number of the variant that all is compared with.
      before: the number of the last variant that was answered and looked at; its figures stay until new ones are there.
      targets: the machines there are; None where nobody looked.
      pairs: the collectives of both variants, joined; None while they are not known, or both are the same variant.
      rows: the collectives of the variant; None while they are not known.
      code: the lines to write; None while they are not known.
      can_compute: whether the variant can be compiled to the end.
      is_computing: whether it is being compiled to the end.
      can_search: whether other layouts can be searched for.
      search: how far a search is; None before the first.
      presets: the layouts of the textbooks on the mesh of the variant; () where nobody looked.
      preset: that of them which the variant is; None for others.
      note: what could not be done for the page, and why; "" for nothing.
      is_comparing: whether `pairs` or `rows` come by themselves, where they are not known.
      is_checking: whether the code is being checked by compiling.
      is_closed: whether nothing is asked any more.
      donates: whether the program takes over arguments; which results take their places is modelled until XLA says it.
      is_mesh_given: whether the program was captured without a mesh, and got the one it has here.
      heard: the number of the last question of the page that this state knows of.
      version: counts states, so that an older one is dropped.
    """

    name: str
    place: str = ""
    history: HistoryTable
    against: int = 0
    before: int | None = None
    targets: TargetTable | None = None
    pairs: PairTable[Collective] | None = None
    rows: CollectiveTable | None = None
    code: Code | None = None
    can_compute: bool = False
    is_computing: bool = False
    can_search: bool = False
    search: SearchState | None = None
    presets: tuple[Preset, ...] = ()
    preset: Preset | None = None
    note: str = ""
    is_comparing: bool = False
    is_checking: bool = False
    is_closed: bool = False
    donates: bool = False
    is_mesh_given: bool = False
    heard: int = 0
    version: int = 0

    def variant(self, number: int) -> Variant:
        """The variant of a number."""
        return next(row for row in self.history.rows if row.number == number)

    @property
    def now(self) -> Variant:
        """The variant that is looked at."""
        return self.variant(self.history.chosen)

    @property
    def base(self) -> Variant:
        """The variant that it is compared with."""
        return self.variant(self.against)

    @property
    def last(self) -> Variant:
        """The variant whose figures are shown: that which is looked at, once XLA has answered."""
        if self.now.is_answered or self.before is None:
            return self.now
        return self.variant(self.before)

    @property
    def axes(self) -> tuple[str, ...]:
        """Every mesh axis of every variant, those of the program as captured first: an axis keeps its color."""
        return tuple(dict.fromkeys(name for row in self.history.rows for name, _ in row.controls.mesh))
