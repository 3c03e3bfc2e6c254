"""The input of a playground's display: every variant so far, and the data of the selected one.

Not its job: asking XLA (`handles.play`), or words (the other modules of this room).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.diff.pairs import PairTable
from pjit_inspect.model.play.code import Code
from pjit_inspect.model.play.setting import Preset
from pjit_inspect.model.play.variant import HistoryTable, Variant
from pjit_inspect.model.record.target import TargetTable
from pjit_inspect.model.report.collective import Collective, CollectiveTable


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchState:
    """The progress of a search.

    Attributes:
      is_running: whether it is still running.
      share: the elapsed share of its seconds, 0 to 1.
      sentence: its trials and results so far; "" before the first.
    """

    is_running: bool = False
    share: float = 0.0
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayGiven:
    """One state of a playground.

    Attributes:
      name: the function's name.
      place: the place of its definition or call; "" if unknown.
      history: every variant, and the selected number.
      against: the number of the variant to compare with.
      before: the number of the last answered variant that was selected; its figures stay until new ones arrive.
      targets: the available machines; None before anybody looked.
      pairs: the joined collectives of both variants; None while unknown, or if both are the same variant.
      rows: the collectives of the variant; None while unknown.
      code: the lines to write; None while unknown.
      can_compute: whether the variant can be compiled to the end.
      is_computing: whether it is being compiled to the end.
      can_search: whether other layouts can be searched for.
      search: the progress of a search; None before the first.
      presets: the textbook layouts on the variant's mesh; () before anybody looked.
      preset: the preset that equals the variant; None for others.
      note: a failed request of the page, with the reason; "" for none.
      is_comparing: whether unknown `pairs` or `rows` will arrive without being asked for.
      is_checking: whether the code is being checked by compiling.
      is_closed: whether XLA is no longer asked.
      donates: whether the program takes over arguments; until XLA answers, it is modelled which results take their
        places.
      is_mesh_given: whether the program was captured without a mesh, and got its mesh here.
      heard: the number of the page's last question that this state includes.
      version: counts states, so that older ones are dropped.
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
        """The variant with this number."""
        return next(row for row in self.history.rows if row.number == number)

    @property
    def now(self) -> Variant:
        """The selected variant."""
        return self.variant(self.history.chosen)

    @property
    def base(self) -> Variant:
        """The variant to compare with."""
        return self.variant(self.against)

    @property
    def last(self) -> Variant:
        """The variant whose figures are shown: the selected one, once XLA has answered."""
        if self.now.is_answered or self.before is None:
            return self.now
        return self.variant(self.before)

    @property
    def axes(self) -> tuple[str, ...]:
        """Every mesh axis of every variant; those of the captured program come first: an axis keeps its color."""
        return self.history.axes
