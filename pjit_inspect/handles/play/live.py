"""A playground on a page: applies changes from its controls, and draws every answer in its widget, page and twin.

States are drawn in order, each with its number: an older one is never shown last. Not its job: asking XLA
(`playground`), the data (`view.play`).
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pjit_inspect.errors import PjitInspectError
from pjit_inspect.guard import Guard, gc_paused
from pjit_inspect.handles.asked.targets import find_targets
from pjit_inspect.handles.background import in_background, stop_at_exit
from pjit_inspect.handles.play.search import Search
from pjit_inspect.handles.play.traits import public_traits, spec_entries, spec_lists
from pjit_inspect.model.diff.pairs import PairTable
from pjit_inspect.model.play.code import Code
from pjit_inspect.model.play.search import SearchProgress
from pjit_inspect.model.play.variant import HistoryTable, Variant
from pjit_inspect.model.record.target import TargetTable
from pjit_inspect.model.report.collective import Collective, CollectiveTable
from pjit_inspect.parse.files.whole_file import write_whole
from pjit_inspect.view.inspector.blob import json_text
from pjit_inspect.view.play.given import PlayGiven, SearchState
from pjit_inspect.view.play.history import history_data
from pjit_inspect.view.play.output import Twin
from pjit_inspect.view.play.page import play_page
from pjit_inspect.view.play.payload import play_data, state_data, variant_data
from pjit_inspect.view.play.still import play_still, twin_html
from pjit_inspect.view.play.widget import play_widget
from pjit_inspect.view.play.words import progress_words
from pjit_inspect.view.render.html import to_html

Playground = Any
"""A `Playground`; its module imports this one."""

_MOST_VARIANTS = 400
"""Most variants that a page holds in full; for others it has only figures."""
_TWIN_S = 0.7
"""Seconds without news after which the twin of the notebook's output is written anew."""

_CAME_AND_WENT = "what came and went"
_PAUSE_S = 0.6
"""Seconds after an answer before its differences are looked for."""
_SELDOM_S = 0.3
"""Seconds between two states that are drawn while a search goes on."""

Details = tuple[PairTable[Collective] | None, CollectiveTable | None]


def words_of(play: Playground) -> str:
    """The widget in one line, the same on every run."""
    return f"<pjit_inspect playground: {play.subject.facts.name}>"


class Live:
    """The widget of one playground, and its drawing.

    Attributes:
      widget: the anywidget.
    """

    def __init__(self, play: Playground) -> None:
        self._play = play
        self._turn = threading.RLock()
        self._version = self._heard = self._against = 0
        self._before: int | None = None
        self._computing: int | None = None
        self._note = ""
        self._drawn = 0.0
        self._proved: dict[int, Code] = {}
        self._searching: Search | None = None
        self._searches: threading.Thread | None = None
        self._search: SearchState | None = None
        self._checking: int | None = None
        self._hearing = 0
        self._details: dict[tuple[int, int], Details] = {}
        self._wanted: tuple[int, int] | None = None
        self._is_drawing = False
        self._twin: Twin | None = None
        self._is_shown = False
        self._timer: threading.Timer | None = None
        self._targets: TargetTable = find_targets()
        self._key = f"k{secrets.token_hex(4)}"
        given = self._given()
        self.widget: Any = play_widget(
            play_data(given),
            history_data(given.history),
            public_traits(given.now),
            words=words_of(play),
            key=self._key,
            still=lambda: to_html(play_still(self._given())) if not self._is_shown else "",
            asked=self._asked,
        )
        self.widget.observe(self._was_set, names=["mesh", "target", "specs", "variant"])
        play.observe(self._news)
        self._news(play.variant)

    # ------------------------------------------------------------ showing

    def display(self, text: str) -> None:
        """Show the widget, and under it its twin, which a notebook without a kernel shows in its place."""
        self._is_shown = True
        self._twin = Twin(self.widget, self._twin_bundle(text))

    def _twin_bundle(self, text: str) -> dict[str, str]:
        return {
            "text/plain": f"{words_of(self._play)}\n{text}",
            "text/html": twin_html(to_html(play_still(self._given())), self._key),
        }

    def _write_twin_later(self) -> None:
        """Once nothing has been new for a while: each writing is an output that the notebook takes over."""
        with self._turn:
            if self._twin is None:
                return
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(_TWIN_S, self._write_twin)
            self._timer.daemon = True
            self._timer.start()

    def _write_twin(self) -> None:
        def write() -> None:
            with self._turn:
                if self._twin is not None:
                    self._twin.write(self._twin_bundle(str(self._play.show("text"))))

        Guard().run("the still twin of the playground", write, None)

    def _given(self, number: int | None = None) -> PlayGiven:
        """The state of now, or with another variant looked at."""
        play = self._play
        history = play.history
        chosen = history.chosen if number is None else number
        numbers = {row.number for row in history.rows}
        if self._against not in numbers:
            self._against = 0
        before = self._before if self._before in numbers else None
        now = next(row for row in history.rows if row.number == chosen)
        # Until there is an answer, the last answer is shown.
        shown = chosen if now.is_answered or before is None else before
        pairs, rows = self._details.get((shown, self._against), (None, None))
        return PlayGiven(
            name=play.subject.facts.name,
            place=_place(play),
            history=HistoryTable(rows=history.rows, chosen=chosen),
            against=self._against,
            before=before,
            targets=self._targets,
            pairs=pairs,
            rows=rows,
            code=self._code(now),
            can_compute=now.stage == "partitioned",
            is_computing=self._computing == chosen and now.stage not in ("full", "refused"),
            can_search=not play.is_closed and play.subject.roles() is not None,
            search=self._search,
            presets=(*play.presets, *play.advised),
            preset=play.preset,
            note=self._note,
            is_comparing=number is None and not play.is_closed and (shown, self._against) not in self._details,
            is_checking=self._checking == chosen,
            is_closed=play.is_closed,
            donates=play.subject.donates,
            is_mesh_given=play.subject.facts.is_mesh_given,
            heard=self._heard,
            version=self._version,
        )

    def _code(self, now: Variant) -> Code | None:
        if now.number in self._proved:
            return self._proved[now.number]
        subject = self._play.subject

        def made() -> Code:
            return subject.code(self._play.setting_of(now.number), now.number)

        return None if now.stage == "refused" else Guard().run("the code of a variant", made, None)

    def page(self) -> str:
        """The page with the last state, and every variant that can be looked at."""
        self._compare_chosen()
        with self._turn, gc_paused():
            given = self._given()
            variants = [variant_data(self._given(number)) for number in _kept(given)]
            return play_page(given.name, state_data(given), variants, still=to_html(play_still(given)))

    # ------------------------------------------------------------ news

    def _news(self, variant: Variant) -> None:
        """More is known of a variant."""
        with self._turn:
            chosen = self._play.variant
            if self._searching is not None and variant.number != chosen.number:
                self._draw_seldom()
                return
            if chosen.is_answered:
                if chosen.stage != "refused":
                    self._before = chosen.number
                if chosen.stage in ("full", "refused"):
                    self._computing = None
                self._want_details(chosen)
            if self._hearing != threading.get_ident():
                self._draw()

    def closed(self) -> None:
        """Tells the page that the playground was closed, and that nothing is pending."""
        self._stop_search({})
        with self._turn:
            self._computing = self._wanted = None
        self._draw()

    def _draw(self) -> None:
        with self._turn:
            self._version += 1
            self._drawn = time.monotonic()
            given = self._given()
            self._is_drawing = True
            try:
                with self.widget.hold_sync():
                    self.widget._state = json_text(play_data(given))  # noqa: SLF001
                    self.widget._history = json_text(history_data(given.history))  # noqa: SLF001
                    for name, value in public_traits(given.now).items():
                        setattr(self.widget, name, value)
            finally:
                self._is_drawing = False
        if self._searching is None:
            self._write_twin_later()

    def _draw_seldom(self) -> None:
        """While a search goes on, which finds more than can be read."""
        if time.monotonic() - self._drawn > _SELDOM_S:
            self._draw()

    def _want_details(self, variant: Variant) -> None:
        """Requests the differences of the current variant, to be found when nothing else runs."""
        wanted = variant.number, self._against
        if variant.stage == "refused" or wanted in self._details:
            return
        is_under_way, self._wanted = self._wanted is not None, wanted
        if not is_under_way:
            in_background(self._find_details)

    def _find_details(self) -> None:
        while True:
            # Comparing takes the time of the next question: not between changes that follow each other quickly.
            time.sleep(_PAUSE_S)
            with self._turn:
                wanted = self._wanted
                if wanted is None:
                    return
            number, against = wanted
            found = Guard().run(_CAME_AND_WENT, partial(self._details_of, number, against), (None, None))
            with self._turn:
                self._details[wanted] = found
                if self._wanted != wanted:
                    continue
                self._wanted = None
            self._draw()

    def _compare_chosen(self) -> None:
        """Finds the differences of the chosen variant now, for a page that is written before they were found."""
        chosen = self._play.variant
        wanted = chosen.number, self._against
        if chosen.is_answered and chosen.stage != "refused" and wanted not in self._details:
            self._details[wanted] = Guard().run(_CAME_AND_WENT, partial(self._details_of, *wanted), (None, None))

    def _details_of(self, number: int, against: int) -> Details:
        record = self._play.record_of(number)
        if record is None or number == against:
            return None, None if record is None else record.collectives
        base = self._play.record_of(against)
        return None if base is None else record.diff(base).data.collectives, None

    # ------------------------------------------------------------ what is asked

    def _was_set(self, change: Any) -> None:
        """A trait was set in Python, or linked to another widget's."""
        if self._is_drawing:
            return
        name, value = change["name"], change["new"]
        self._hearing = threading.get_ident()
        try:
            if name == "variant":
                self._play.go_back(value)
            elif name == "specs":
                now = spec_lists(self._play.variant)
                specs = {label: spec_entries(spec) for label, spec in value.items() if now.get(label) != spec}
                self._play.set(specs=specs)
            else:
                self._play.set(**{name: value})
        finally:
            self._hearing = 0
            self._draw()

    def _asked(self, widget: Any, message: dict[str, Any]) -> None:
        """Handles a request of the page. Impossible requests are explained on the page."""
        number = message.get("seq")
        with self._turn:
            self._note = ""
            if isinstance(number, int):
                self._heard = max(self._heard, number)
        kinds: dict[str, Callable[[dict[str, Any]], None]] = {
            "set": self._set,
            "preset": self._take_preset,
            "follow": self._follow,
            "go_back": self._go_back,
            "rename": self._rename,
            "base": self._rebase,
            "full": self._full,
            "stop": self._stop,
            "inspect": self._inspect,
            "compare": self._compare,
            "check": self._check,
            "search": self._begin_search,
            "stop_search": self._stop_search,
        }
        work = kinds.get(str(message.get("type")))
        if work is None:
            return
        # The effects are drawn once, at the end.
        self._hearing = threading.get_ident()
        try:
            work(message)
        except (PjitInspectError, TypeError, ValueError, KeyError) as error:
            self._note = " ".join(str(error).split())
        finally:
            self._hearing = 0
        self._draw()

    def _set(self, message: dict[str, Any]) -> None:
        self._computing = None
        given: dict[str, Any] = {}
        if message.get("mesh") is not None:
            given["mesh"] = {str(name): int(size) for name, size in message["mesh"]}
        if message.get("target") is not None:
            given["target"] = str(message["target"])
        if message.get("specs"):
            given["specs"] = {name: spec_entries(spec) for name, spec in message["specs"].items()}
        if message.get("results"):
            given["results"] = {
                name: None if spec is None else spec_entries(spec) for name, spec in message["results"].items()
            }
        if message.get("constraints"):
            given["constraints"] = {
                place: self._asked_spec(place, own) for place, own in message["constraints"].items()
            }
        self._play.set(**given)

    def _take_preset(self, message: dict[str, Any]) -> None:
        self._computing = None
        self._play.apply(str(message["preset"]))

    def _asked_spec(self, place: str, wanted: Any) -> Any:
        """A constraint's spec: left out, as the program asks, or another."""
        if isinstance(wanted, list):
            return spec_entries(wanted)
        return next(own.asked for own in self._play.controls.constraints if own.place == place) if wanted else None

    def _follow(self, message: dict[str, Any]) -> None:
        group = self._play.controls.group(str(message["key"]))
        leader = self._play.controls.group(group.follows) if group is not None and group.follows else None
        if group is not None and leader is not None:
            self._play.set(specs={group.label: leader.spec})

    def _go_back(self, message: dict[str, Any]) -> None:
        self._computing = None
        self._play.go_back(int(message["number"]))

    def _rename(self, message: dict[str, Any]) -> None:
        self._play.rename(int(message["number"]), str(message["name"])[:80])

    def _rebase(self, message: dict[str, Any]) -> None:
        with self._turn:
            self._against = int(message["number"])
            self._want_details(self._play.variant)

    def _full(self, message: dict[str, Any]) -> None:
        self._computing = self._play.variant.number
        self._play.full()

    def _stop(self, message: dict[str, Any]) -> None:
        self._computing = None
        self._play.stop()

    def _inspect(self, message: dict[str, Any]) -> None:
        variant = self._play.variant
        in_background(lambda: self._send_page(f"Inspector of #{variant.number}", lambda: self._record(variant.number)))

    def _compare(self, message: dict[str, Any]) -> None:
        number, against = self._play.variant.number, self._against
        title = f"#{against} and #{number} compared"
        in_background(lambda: self._send_page(title, lambda: self._record(number).diff(self._record(against))))

    def _check(self, message: dict[str, Any]) -> None:
        number = self._play.variant.number

        def prove() -> None:
            found = Guard().run("the check of the code", lambda: self._play.code(prove=True), None)
            with self._turn:
                self._checking = None
                if found is None:
                    self._note = "The code could not be checked: play.code(prove=True) says why."
                else:
                    self._proved[found.number] = found
            self._draw()

        with self._turn:
            is_new = number not in self._proved and self._checking is None
            if is_new:
                self._checking = number
        if is_new:
            in_background(prove)

    def _begin_search(self, message: dict[str, Any]) -> None:
        goal, budget_s = message["goal"], float(message["budget_s"])
        with self._turn:
            if self._searching is not None:
                return
            search = Search(self._play, goal=goal, budget_s=budget_s, on_progress=self._progressed)
            self._searching, before = search, self._searches
            self._search = SearchState(is_running=True, sentence=f"0 of {budget_s:.0f} s")
            work = partial(self._run_search, search, before)
            self._searches = threading.Thread(target=work, name="pjit_inspect playground search", daemon=True)
            stop_at_exit(self._searches, self._play.stop)
            self._searches.start()

    def _run_search(self, search: Search, before: threading.Thread | None) -> None:
        if before is not None:
            # A stopped search withdraws its questions first.
            before.join()
        found = Guard().run("the search", search.run, None)
        with self._turn:
            if self._searching not in (search, None):
                return
            self._searching = None
            self._search = SearchState(sentence="; ".join(found.notes) if found is not None else "the search failed")
        self._news(self._play.variant)

    def _progressed(self, progress: SearchProgress) -> None:
        share = min(1.0, progress.seconds / progress.budget_s) if progress.budget_s else 1.0
        with self._turn:
            if self._searching is not None:
                self._search = SearchState(is_running=True, share=share, sentence=progress_words(progress))
                self._draw_seldom()

    def _stop_search(self, message: dict[str, Any]) -> None:
        """Stops the search: at once for the reader, while open questions are withdrawn."""
        with self._turn:
            search, self._searching = self._searching, None
            if search is not None:
                self._search = SearchState(sentence=f"stopped: {progress_words(search.progress())}")
        if search is not None:
            search.stop()

    def _record(self, number: int) -> Any:
        record = self._play.record_of(number)
        if record is None:
            raise ValueError(f"variant {number} has no record")
        return record

    def _send_page(self, title: str, make: Callable[[], Any]) -> None:
        page = ""
        try:
            with TemporaryDirectory() as folder:
                file = Path(folder) / "page.html"
                make().to_html(file)
                page = file.read_text(encoding="utf-8")
        finally:
            # Without a page, too: somebody waits for it.
            self.widget.send({"type": "page", "title": title, "page": page})


def _kept(given: PlayGiven) -> list[int]:
    """The numbers of the variants that a page holds in full: important ones first, then the latest."""
    rows = given.history.rows
    named = [row.number for row in rows if row.name or row.preset]
    front = [row.number for row in given.history.front]
    latest = [row.number for row in reversed(rows)]
    first = dict.fromkeys([given.now.number, given.against, 0, *named, *front, *latest])
    return sorted(list(first)[:_MOST_VARIANTS])


def _place(play: Playground) -> str:
    frame = play.subject.data.user_frame
    return "" if frame is None else frame.where


def write_play_page(live: Live, path: Any) -> None:
    """As `Playground.to_html`."""
    write_whole(path, live.page())
