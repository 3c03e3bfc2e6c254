"""A playground: the controls of one record; one thread asks XLA after every change, the newest change first.

The thread exists only while a question is open, and waits only for another process. Not its job: evaluating an answer
(`subject`), or the search (`search`).
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pjit_inspect.analyze.play.settings import changed_setting
from pjit_inspect.errors import CaptureError, ChangeError, RecordNotFoundError
from pjit_inspect.guard import Guard
from pjit_inspect.handles.asked.change_specs import plain_spec
from pjit_inspect.handles.asked.targets import check_target
from pjit_inspect.handles.asked.what_if import given_sizes
from pjit_inspect.handles.background import stop_at_exit
from pjit_inspect.handles.play.advised import presets_of
from pjit_inspect.handles.play.history import History, PlayVariant
from pjit_inspect.handles.play.proof import prove as prove_setting
from pjit_inspect.handles.play.subject import PlayedProgram, PlayedRecord, Record
from pjit_inspect.model.play.code import Code, Proof
from pjit_inspect.model.play.controls import Controls
from pjit_inspect.model.play.setting import PlaySetting, Preset
from pjit_inspect.model.play.variant import Goal, Variant
from pjit_inspect.model.record.target import Effort
from pjit_inspect.model.report.edit import Edit
from pjit_inspect.observe.partitioner.service import LaneTicket
from pjit_inspect.view.pages.playground import playground_view
from pjit_inspect.view.play.output import is_in_notebook
from pjit_inspect.view.play.scatter import scatter_chart
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.shown import Shown, drawn

if TYPE_CHECKING:
    from pjit_inspect.handles.play.live import Live

_MOST_RECORDS = 12
"""Most records of variants that are kept; others are made again on demand."""
_TIMEOUT_S = 600.0
_TEXT_WAITS_S = 10.0

OnVariant = Callable[[Variant], object]


class Playground(Displayable):
    """The shardings of one program, to be changed and looked at again. Nothing runs.

    XLA's partitioner answers each change in the background; a newer change replaces an unanswered one. `observe`
    reports every stage; scripts call `wait`.
    """

    def __init__(self, source: PlayedRecord, *, fits: str | None = None, timeout_s: float = _TIMEOUT_S) -> None:
        """Begin with the program as captured, and ask XLA's partitioner about it.

        Args:
          source: the record; its program is changed in copies. Users call `CompileRecord.playground`.
          fits: the chip whose memory and speed are used to judge variants ("tpu:v5e"); the target's by default.
          timeout_s: time limit for one answer of XLA.

        Raises ChangeError for a record without a program, a program whose mesh cannot be changed, and an unknown chip.
        """
        self.subject: PlayedProgram = PlayedProgram(source, chip=fits, timeout_s=timeout_s)
        """The record that XLA is asked about; for the other modules of this room."""
        self._source = source
        self.holds: Any = None
        """The function, where somebody gave it: it may be traced again as long as anybody refers to it."""
        self._turn = threading.Condition(threading.RLock())
        self._settings: dict[int, PlaySetting] = {}
        self._numbers: dict[PlaySetting, int] = {}
        self._variants: dict[int, PlayVariant] = {}
        self._records: OrderedDict[int, Record] = OrderedDict()
        self._next = 0
        self._chosen = 0
        self._wanted: tuple[int, Effort] | None = None
        self._ticket: LaneTicket | None = None
        self._asked: tuple[int, Effort] | None = None
        self._ends: list[Callable[[], object]] = []
        self._is_closed = False
        self._advised: tuple[list[tuple[Edit, ...]], tuple[Preset, ...]] = [], ()
        self._live: Live | None = None
        self._observers: dict[int, OnVariant] = {}
        self._news: deque[PlayVariant] = deque()
        self._teller = threading.Lock()
        self.add(self.subject.base, origin="base", is_chosen=True)

    # ------------------------------------------------------------ what is set

    @property
    def controls(self) -> Controls:
        """All that can be changed, as it is set."""
        return self.variant.controls

    @property
    def variant(self) -> Variant:
        """The current variant, with the facts known about it."""
        with self._turn:
            return self._variants[self._chosen]

    @property
    def base(self) -> Variant:
        """The program as captured, as XLA's partitioner leaves it."""
        with self._turn:
            return self._variants[0]

    @property
    def history(self) -> History:
        """Every variant that was looked at, and the one that is."""
        with self._turn:
            return History(tuple(self._variants.values()), self._chosen)

    def best(self, goal: Goal = "bytes") -> Variant:
        """The best variant of the history, by the criteria of `History.best`."""
        return self.history.best(goal)

    def set(
        self,
        *,
        mesh: Mapping[str, int] | None = None,
        target: str | None = None,
        specs: Mapping[str, Any] | None = None,
        results: Mapping[str, Any] | None = None,
        constraints: Mapping[str, Any] | None = None,
    ) -> Variant:
        """Change the current variant, and ask XLA about it in the background. Anything not named is unchanged.

        Args:
          mesh: all axes, outermost first, with their sizes. An omitted axis is dropped from all specs.
          target: the machine, as in `CompileRecord.what_if`; by default as many fake CPU devices as the mesh has.
          specs: PartitionSpecs by the label of a group (`play.controls.groups`), or by a path with `*` for any key, of
            arguments and results; None leaves it to XLA. Optimizer state follows its parameter, unless it is split
            differently, or named itself.
          results: the same for results alone (`play.controls.results`), as `out_shardings` of `jax.jit`: by paths like
            "result[1]['loss']", which an argument may have, too. None lets XLA choose.
          constraints: PartitionSpecs by the place of a `with_sharding_constraint` ("train.py:41"); None removes it.

        Returns the variant with the facts known at once: bytes of its arguments, or why it is impossible. `wait` waits
        for XLA's answer. Raises ChangeError for unknown names, and for specs that do not fit their arrays.
        """
        axes = None if mesh is None else given_sizes(mesh)
        if target is not None:
            check_target(target)
        with self._turn:
            setting = changed_setting(
                self.subject.facts,
                self._settings[self._chosen],
                mesh=axes,
                target=target,
                specs={name: plain_spec(spec) for name, spec in (specs or {}).items()},
                results={name: plain_spec(spec) for name, spec in (results or {}).items()},
                constraints={place: plain_spec(spec) for place, spec in (constraints or {}).items()},
            )
            found = self.add(setting, origin="user", is_chosen=True, parent=self._chosen)
        self._tell()
        return found

    @property
    def presets(self) -> tuple[Preset, ...]:
        """The textbook layouts on the current mesh; layouts that do not apply to this program say why."""
        with self._turn:
            own = self._settings[self._chosen]
            return self.subject.presets(own.mesh, own.target)

    @property
    def advised(self) -> tuple[Preset, ...]:
        """The changes of the record's advice that are known by now, each as a preset: "advice 1" is the first row.

        Each is made with those before it, as it was counted. One that controls cannot make says why.
        """
        rows = tuple(self.subject.advice())
        with self._turn:
            if self._advised[0] != [row.edits for row in rows]:
                self._advised = [row.edits for row in rows], presets_of(self.subject, rows)
            return self._advised[1]

    @property
    def preset(self) -> Preset | None:
        """The textbook layout that the current variant is; None for none."""
        with self._turn:
            own = self._settings[self._chosen]
            return next((one for one in (*self.presets, *self.advised) if one.setting == own), None)

    def apply(self, preset: str) -> Variant:
        """Set all controls as a textbook or the advice has them, and ask XLA in the background.

        A textbook's layout is on the mesh that is looked at; advice is about the program as captured.

        Args:
          preset: the name of one of `presets` or of `advised`, in any case: "FSDP", "advice 1".

        Returns as `set`. Raises ChangeError for a name that there is none of, and where it is none for this program.
        """
        with self._turn:
            presets = (*self.presets, *self.advised)
            found = next((own for own in presets if own.name.lower() == str(preset).lower()), None)
            if found is None:
                names = ", ".join(own.name for own in presets)
                raise ChangeError(f"there is no preset {preset!r}; take one of {names}")
            if found.setting is None:
                raise ChangeError(f"{found.name} is no layout for {self.subject.facts.name}: {found.why_not}")
            variant = self.add(found.setting, origin="user", is_chosen=True)
            if variant.number and variant.preset != found.name:
                self._publish(replace(self._variants[variant.number], preset=found.name))
            variant = self.variant
        self._tell()
        return variant

    def go_back(self, variant: Variant | int | str) -> Variant:
        """Look at a variant of the history again: itself, its number or its name."""
        with self._turn:
            self._choose(self._number(variant))
            found = self.variant
        self._tell()
        return found

    def rename(self, variant: Variant | int | str, name: str) -> Variant:
        """Call a variant something; "" takes its name away."""
        with self._turn:
            number = self._number(variant)
            self._publish(replace(self._variants[number], name=str(name)))
            found = self._variants[number]
        self._tell()
        return found

    def full(self) -> Variant:
        """Have XLA compile the variant to the end, in the background: memory at the peak, whether it fits."""
        with self._turn:
            if self.variant.stage not in ("full", "refused"):
                self._want(self._chosen, "full")
            return self.variant

    def stop(self) -> None:
        """Withdraw the open question to XLA; known facts are kept."""
        with self._turn:
            self._wanted = None
            ticket, ends = self._ticket, list(self._ends)
        if ticket is not None:
            ticket.cancel()
        for end in ends:
            end()

    @property
    def is_closed(self) -> bool:
        """True if the playground was closed: XLA is asked nothing more."""
        return self._is_closed

    def close(self) -> None:
        """Stop, and release all records; the history is kept, and XLA is asked nothing more."""
        with self._turn:
            self._is_closed = True
            chosen, live = self.variant, self._live
            if not chosen.is_answered and chosen.number:
                # The variant will not be answered any more.
                self._choose(chosen.parent if chosen.parent in self._variants else 0)
            self._records.clear()
            self._observers.clear()
        self.stop()
        self.subject.close()
        if live is not None:
            live.closed()

    def code(self, *, prove: bool = False) -> Code:
        """Code to write to turn the program into the current variant.

        With `prove`, the function is retraced with these shardings, if it is available, and XLA is asked:
        `Code.proof` says whether that gives the variant's collectives. It takes as long as tracing takes.
        """
        with self._turn:
            setting, number = self._settings[self._chosen], self._chosen
        found = self.subject.code(setting, number)
        wanted = self.record_of(number) if prove else None
        if not prove:
            return found
        if wanted is None:
            return replace(found, proof=Proof(outcome="untried", sentence="not tried: XLA has not answered about it"))
        return replace(found, proof=prove_setting(self._source, self.subject, setting, wanted))

    # ------------------------------------------------------------ what becomes of it

    def observe(self, callback: OnVariant) -> Callable[[], None]:
        """Call `callback` with a variant whenever more is known of it; call the result to end that.

        It is called in the thread that asks or in the one that made a change, one call at a time, in order. Its
        exceptions are reported once.
        """
        key = id(callback)
        with self._turn:
            self._observers[key] = callback

        def end() -> None:
            with self._turn:
                self._observers.pop(key, None)

        return end

    def wait(self, timeout_s: float = _TIMEOUT_S) -> Variant:
        """Wait until XLA has answered about the variant that is looked at, and return it with the answer.

        After `full`, the end of that is waited for. Raises TimeoutError when that takes longer, and CaptureError when
        the question was taken back.
        """
        deadline = time.monotonic() + timeout_s
        with self._turn:
            while self._is_asking(self._chosen):
                if not self._turn.wait(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError(f"XLA has not answered about variant {self._chosen} in {timeout_s:g} s")
            if not self.variant.is_answered:
                why = "nothing is asked: this playground was closed" if self._is_closed else "set it again"
                raise CaptureError(f"the question about variant {self._chosen} was taken back; {why}")
            return self.variant

    def record_of(self, number: int) -> Record | None:
        """The record of a variant; made again where it was let go of."""
        with self._turn:
            found, variant = self._records.get(number), self._variants.get(number)
            if variant is None or variant.stage not in ("partitioned", "full"):
                return None
            setting = self._settings[number]
        if found is None:
            effort: Effort = "full" if variant.stage == "full" else "partition"
            found = self.subject.ask(setting, variant, effort=effort, ticket=LaneTicket()).record
            with self._turn:
                self._keep(number, found)
        return found

    def _is_asking(self, number: int) -> bool:
        return any(own is not None and own[0] == number for own in (self._wanted, self._asked))

    # ------------------------------------------------------------ for the search

    def add(
        self, setting: PlaySetting, *, origin: str, is_chosen: bool, name: str = "", parent: int | None = None
    ) -> Variant:
        """The variant of a setting, added to the history if it is new; if chosen, XLA is asked.

        `parent` is the number of the variant it is made from.
        """
        with self._turn:
            number = self._numbers.get(setting)
            if number is None:
                number = self._next
                self._next += 1
                # One that was left before it was answered is forgotten, and nothing is told by it.
                stays = parent and parent in self._variants and self._variants[parent].is_answered
                made_of = (parent, self._settings[parent]) if parent and stays else None
                begun = self.subject.begun(setting, number, origin=origin, parent=made_of)
                self._settings[number], self._numbers[setting] = setting, number
                self._publish(PlayVariant.made_of(replace(begun, name=name), _record_of=self.record_of))
            if is_chosen:
                self._choose(number)
            return self._variants[number]

    def stops(self, end: Callable[[], object]) -> Callable[[], None]:
        """Let `stop` call `end`, too, until the result of this is called."""
        with self._turn:
            self._ends.append(end)

        def forget() -> None:
            with self._turn:
                if end in self._ends:
                    self._ends.remove(end)

        return forget

    def drop(self, number: int) -> None:
        """Remove a variant from the history that was not answered and is not the current one."""
        with self._turn:
            own = self._variants.get(number)
            if own is not None and number not in (0, self._chosen) and not own.is_answered:
                self._forget(number)

    def setting_of(self, number: int) -> PlaySetting:
        """The setting of a variant."""
        with self._turn:
            return self._settings[number]

    def answered(self, variant: Variant, record: Record | None) -> None:
        """Takes over the answer to a question that was asked elsewhere."""
        with self._turn:
            if self._is_closed or variant.number not in self._variants:
                return
            self._keep(variant.number, record)
            own = self._variants[variant.number]
            known = replace(variant, name=own.name, preset=own.preset)
            self._publish(PlayVariant.made_of(_plain(known), _record_of=self.record_of))
            self._turn.notify_all()
        self._tell()

    # ------------------------------------------------------------ within the lock

    def _number(self, variant: Variant | int | str) -> int:
        if isinstance(variant, Variant):
            variant = variant.number
        if isinstance(variant, int) and variant in self._variants:
            return variant
        named = [number for number, own in self._variants.items() if own.name and own.name == variant]
        if not named:
            raise RecordNotFoundError(f"the history has no variant {variant!r}; it has {len(self._variants)}")
        return named[-1]

    def _choose(self, number: int) -> None:
        before, self._chosen = self._chosen, number
        if before != number and not self._variants[before].is_answered and before != 0:
            self._forget(before)
        chosen = self._variants[number]
        if chosen.problem is not None and chosen.problem.may_pass:
            begun = self.subject.begun(self._settings[number], number, origin=chosen.origin)
            kept = {name: getattr(chosen, name) for name in ("name", "parent", "step", "preset")}
            self._publish(PlayVariant.made_of(replace(begun, **kept), _record_of=self.record_of))
        if self._variants[number].is_answered:
            self._want(None, "partition")
            self._news.append(self._variants[number])
        else:
            self._want(number, "partition")

    def _forget(self, number: int) -> None:
        """Drop a variant that was left before XLA had answered."""
        del self._variants[number]
        del self._numbers[self._settings.pop(number)]

    def _want(self, number: int | None, effort: Effort) -> None:
        """Ask about a variant next, and take back the question about another."""
        wanted = None if number is None or self._is_closed else (number, effort)
        if wanted is not None and wanted == self._asked and self._ticket is not None and not self._ticket.is_cancelled:
            self._wanted = None
            return
        self._wanted = wanted
        if self._ticket is not None:
            self._ticket.cancel()
        elif wanted is not None:
            # No question is under way, so that no thread is there.
            self._begin()

    def _publish(self, variant: PlayVariant) -> None:
        self._variants[variant.number] = variant
        self._news.append(variant)

    def _keep(self, number: int, record: Record | None) -> None:
        if record is None or self._is_closed:
            return
        self._records[number] = record
        self._records.move_to_end(number)
        for old in [own for own in self._records if own not in (0, self._chosen)][: len(self._records) - _MOST_RECORDS]:
            del self._records[old]

    # ------------------------------------------------------------ the thread that asks

    def _begin(self) -> None:
        self._ticket = LaneTicket()
        self._asked, self._wanted = self._wanted, None
        thread = threading.Thread(target=self._run, name="pjit_inspect playground", daemon=True)
        stop_at_exit(thread, self.stop)
        thread.start()

    def _run(self) -> None:
        while True:
            with self._turn:
                asked, ticket = self._asked, self._ticket
            if asked is not None and ticket is not None:
                Guard().run("the playground", partial(self._answer, *asked, ticket), None)
            with self._turn:
                self._asked, self._ticket = self._wanted or self._missed(ticket), None
                self._wanted = None
                self._turn.notify_all()
                if self._asked is None:
                    return
                self._ticket = LaneTicket()

    def _missed(self, ticket: LaneTicket | None) -> tuple[int, Effort] | None:
        """The base, if a change came before it was answered, and nothing was stopped since."""
        is_open = self._variants[0].is_answered or self._is_closed or ticket is None or ticket.is_cancelled
        return None if is_open else (0, "partition")

    def _answer(self, number: int, effort: Effort, ticket: LaneTicket) -> None:
        with self._turn:
            if number not in self._variants:
                return
            variant, setting = _plain(self._variants[number]), self._settings[number]
        steps: tuple[Effort, ...] = ("partition", "full") if effort == "full" else ("partition",)
        for step in steps:
            if step == "partition" and variant.stage in ("partitioned", "full"):
                continue
            try:
                answer = self.subject.ask(setting, variant, effort=step, ticket=ticket)
            except CaptureError:
                return
            variant = answer.variant
            with self._turn:
                if ticket.is_cancelled:
                    # The answer came as the question was withdrawn.
                    return
            self.answered(variant, answer.record)
            if variant.stage == "refused":
                return

    def _tell(self) -> None:
        """Report news to the observers in order; a thread that is already reporting also reports these."""
        while self._news and self._teller.acquire(blocking=False):
            try:
                while self._news:
                    variant = self._news.popleft()
                    for callback in list(self._observers.values()):
                        Guard().run("an observer of the playground", partial(callback, variant), None)
            finally:
                self._teller.release()

    # ------------------------------------------------------------ showing

    @property
    def widget(self) -> Any:
        """The live widget: a `DOMWidget` of ipywidgets, to be put beside others and linked with them.

        Its traits `mesh`, `target`, `specs` and `variant` can be set; `stage`, `sent_bytes` and `memory_bytes` give the
        result.
        """
        return self._made_live().widget

    def _made_live(self) -> Live:
        from pjit_inspect.handles.play.live import Live

        with self._turn:
            if self._live is None:
                self._live = Live(self)
            return self._live

    @property
    def figure(self) -> Any:
        """Memory against bytes sent as a plotly figure, a point for each variant, the best joined."""
        from pjit_inspect.view.figures.figures import plotly_figure

        return plotly_figure(scatter_chart(self.history, donates=self.subject.donates))

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the playground as one page that loads nothing: its last state, every variant, and the code to write."""
        from pjit_inspect.handles.play.live import write_play_page

        write_play_page(self._made_live(), path)

    def _ipython_display_(self) -> None:
        """The live widget where there is a notebook; elsewhere text, which waits for XLA, as it cannot change later."""
        if is_in_notebook():
            self._made_live().display(str(self.show("text")))
            return
        with suppress(TimeoutError, CaptureError):
            self.wait(_TEXT_WAITS_S)
        sys.stdout.write(f"{self.show('text')}\n")

    def _display_(self) -> Any:
        """The live widget, for marimo, which asks for it by this name and knows no `_ipython_display_`."""
        return self.widget

    def show(self, view: str = "text") -> Any:
        """An object to display: the answer, the controls and the history as "text", or the live "widget"."""
        if view == "widget":
            return self.widget
        if view != "text":
            raise ValueError(f"a playground is shown as 'text' or 'widget', not as {view!r}")
        return Shown(drawn(playground_view(self.base, self.variant, self.history, self.subject.facts.name)))

    def to_json(self) -> str:
        """The history as JSON, with the controls of each variant."""
        return self.history.to_json()

    def __repr__(self) -> str:
        now = self.variant
        return f"<Playground {self.subject.facts.name}: {len(self._variants)} variants, {now.title}, {now.stage}>"


def _plain(variant: Variant) -> Variant:
    return variant.__reduce__()[0]() if isinstance(variant, PlayVariant) else variant
