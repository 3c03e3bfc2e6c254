"""JAX's errors explained: the message, the traceback and ways to fix it, put together, and the handle users hold.

Not its job: messages (`analyze.errors.table`), tracebacks (`observe.errors.scene`), or judging
(`analyze`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pjit_inspect.analyze.errors import explain as explain_errors
from pjit_inspect.errors import PjitInspectError
from pjit_inspect.guard import Guard
from pjit_inspect.handles.memory.autopsy import autopsy_of
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.model.memory.autopsy import Autopsy
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.shortage import MemoryShortage
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorKind, ErrorScene, ExplainedError, Fit
from pjit_inspect.model.words.sentence import Sentence, code, say, word
from pjit_inspect.parse.messages.memory_errors import parse_memory_shortage
from pjit_inspect.parse.wire.clean import cleaned
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.document import Document
from pjit_inspect.view.memory.memory import autopsy_blocks
from pjit_inspect.view.pages.error import error_view
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.shown import Shown, drawn

if TYPE_CHECKING:
    from pjit_inspect.observe.errors.check import Trial

_LONGEST_LINE = 400
_NAMES = "the names in an explained error"


class ErrorExplanation(Displayable):
    """Why JAX refused a sharding or a call, where, and ways to fix it: what `pjit_inspect.explain_error` returns.

    Rich in a notebook, text in a terminal; `print` and `repr` give the text. It holds words and numbers only: no array,
    no frame, not the exception.
    """

    __slots__ = ("_autopsy", "_data", "_record")

    def __init__(
        self, data: ExplainedError, autopsy: Autopsy | None = None, record: CompileRecord | None = None
    ) -> None:
        object.__setattr__(self, "_data", data)
        object.__setattr__(self, "_autopsy", autopsy)
        object.__setattr__(self, "_record", record)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"an explanation does not change: {name!r} cannot be set")

    @property
    def kind(self) -> ErrorKind:
        """The kind of error in one or two words, such as "indivisible"; "unknown" if it is not known."""
        return self._data.kind

    @property
    def sentence(self) -> Sentence:
        """The fault, with the user's names, the sizes and the arithmetic. Names are in `backticks`.

        It is a string; its `phrases` say which words are arrays, mesh axes, specs and code.
        """
        return self._data.sentence

    @property
    def frame(self) -> Frame | None:
        """The innermost line of the user's code in the traceback (`file`, `line`, `cell`); None when there is none."""
        return self._data.frame

    @property
    def arrays(self) -> tuple[ErrorArray, ...]:
        """The arrays it is about: `name`, `dtype`, `shape`, `spec`, `mesh`, `local_shape`, `device_ids`.

        What neither the message nor the traceback tells is None or empty.
        """
        return self._data.arrays

    @property
    def fits(self) -> tuple[Fit, ...]:
        """Changes that would make it legal, the nearest first; () if none is known.

        Each has an `edit`, its `effect` (what it does and costs), and `is_code`: whether the edit is Python, which goes
        where `replaces` stood, or advice in words.
        """
        return self._data.fits

    @property
    def notes(self) -> tuple[Sentence, ...]:
        """Further notes, such as parts that are not known."""
        return self._data.notes

    @property
    def memory(self) -> Autopsy | None:
        """The facts about a memory that was too small ("out of memory"); None for any other error.

        `shortage` is what XLA reported, `largest` its list of the largest buffers in the user's terms, `use` what is
        alive while the program runs, with `suggestions`.
        """
        return self._autopsy

    @property
    def record(self) -> CompileRecord | None:
        """The record of the program for which memory was too small; None where none was captured, or for other errors.

        One that was compiled and then failed to run has all that a record has; one that XLA refused has the program
        before optimization: `record.what_if(effort="full")` compiles it for fake CPU devices.
        """
        return self._record

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ErrorExplanation) and (self._data, self._autopsy) == (other._data, other._autopsy)

    def __hash__(self) -> int:
        return hash(self._data)

    def show(self) -> Shown:
        """An object to display: the sentence, the arrays, and ways to fix it."""
        document = error_view(self._data)
        if self._autopsy is None:
            return Shown(drawn(document))
        axes = () if self._record is None else document_axes(self._record.data)
        blocks = (*document.blocks, *autopsy_blocks(self._autopsy))
        return Shown(drawn(Document(axes=axes, blocks=blocks)))

    def __repr__(self) -> str:
        return repr(self.show())


def explain_error(error: BaseException | None = None) -> ErrorExplanation:
    """The fault in a sharding or a call that JAX refused, and ways to fix it.

    Without `error` it explains the last exception that nobody caught. Known are dimensions that their mesh axes do not
    divide, many a `ShardingTypeError` of an Explicit mesh, arguments on different devices, meshes or memories, specs
    and meshes that are wrong in themselves or missing, collectives and `shard_map`, kernels of Pallas, unreduced
    values, shards that do not make an array, shardings and trees that do not match, what a compiled, exported or mapped
    function cannot be called with, gradients that are not defined, types and trees of loops and branches, callbacks,
    arrays whose data was donated, static arguments, values that are only traced or outlived their trace, and memory
    that is too small for a compile or a run (`RESOURCE_EXHAUSTED`). The errors an error was raised from, or while
    handling, are looked at too, and a note tells. Any other error has the `kind` "unknown": its first line, and where.

    What JAX's message and the variables of the user's line tell is used, and nothing guessed. A change of code is tried
    by JAX on abstract arrays, and left out if it is refused; one that cannot be tried is advice in words. No
    function of the user's runs, nothing is compiled, and neither the error nor an array is kept or changed. Raises
    `PjitInspectError` when there is no error to explain, and `TypeError` when `error` is no exception.
    """
    from pjit_inspect.observe.errors.scene import last_error

    if error is None:
        error = last_error()
        if error is None:
            raise PjitInspectError("no exception went uncaught in this session; give one: explain_error(error)")
    if not isinstance(error, BaseException):
        raise TypeError(f"explain_error explains an exception, not {type(error).__name__}")
    return explain_known_error(error) or ErrorExplanation(cleaned(_unknown(error)))


def explain_known_error(error: BaseException) -> ErrorExplanation | None:
    """The explanation of an error that is known; None for any other."""
    from pjit_inspect.observe.errors.check import Trial
    from pjit_inspect.observe.errors.scene import linked_errors, read_error, user_places

    guard, seen = Guard(), error
    for link in linked_errors(error):
        # What JAX caught itself has frames of JAX's only: the user's line is in what was raised from it.
        seen = link if guard.run(_NAMES, lambda link=link: user_places(link), frozenset()) else seen
        message = _message(link)
        shortage = guard.run("an error of memory", lambda m=message: parse_memory_shortage(m), None)
        if shortage is None and not explain_errors.is_known(message):
            continue
        scene, trial = guard.run(_NAMES, lambda seen=seen: read_error(seen), (ErrorScene(), Trial()))
        explain = partial(_explained, message, trial) if shortage is None else partial(_autopsy, shortage)
        found = guard.run("an explanation of an error", partial(explain, scene, seen, error), None)
        if found is not None:
            return found
    return None


def _autopsy(
    shortage: MemoryShortage, scene: ErrorScene, link: BaseException, error: BaseException
) -> ErrorExplanation:
    from pjit_inspect.observe.errors.scene import user_places

    explained, autopsy, record = autopsy_of(cleaned(shortage), scene, user_places(link))
    return ErrorExplanation(cleaned(_told(explained, link, error)), autopsy, record)


def _explained(
    message: str, trial: Trial, scene: ErrorScene, link: BaseException, error: BaseException
) -> ErrorExplanation | None:
    """Explains a message, with the scene of the link that reaches the user's line, and its expression to be tried."""

    def judge(fit: Fit, arrays: tuple[ErrorArray, ...], *, is_whole: bool = True) -> ErrorArray | bool | None:
        what, own = "a trial of a way to fix an error", arrays or scene.operands
        return Guard().run(what, lambda: trial.accepts(fit, own, is_whole=is_whole), None)

    explained = explain_errors.explain_message(message, scene, judge)
    if explained is None:
        return None
    # What JAX refuses is left out; what cannot be tried is advice, and no code.
    verdicts = [judge(fit, explained.arrays, is_whole=False) for fit in explained.fits]
    fits = tuple(
        replace(fit, is_checked=True) if verdict else _as_advice(fit)
        for fit, verdict in zip(explained.fits, verdicts, strict=True) if verdict is not False
    )  # fmt: skip
    return ErrorExplanation(cleaned(_told(replace(explained, fits=fits), link, error)))


def _as_advice(fit: Fit) -> Fit:
    """A change of code that could not be tried, in words."""
    if not fit.is_code:
        return fit
    where = say(" in place of {}", code(fit.replaces)) if fit.replaces else ""
    line = f" in line {fit.line}" if fit.line is not None else ""
    return replace(fit, edit=say("write {}{}{}", code(fit.edit), where, line), replaces="", line=None, is_code=False)


def _told(explained: ExplainedError, link: BaseException, error: BaseException) -> ExplainedError:
    """Adds a note where the explained error is not the one that was raised in the end."""
    if link is error:
        return explained
    raised = code(type(error).__name__)
    note = say("what was raised in the end is {}; the error explained stands behind it", raised)
    return replace(explained, notes=(*explained.notes, note))


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        # Anybody's exception may fail to say what it is.
        return ""


def _unknown(error: BaseException) -> ExplainedError:
    """An error that is not known: what it says in its first line, and where."""
    from pjit_inspect.observe.errors.scene import error_scene

    scene = Guard().run(_NAMES, lambda: error_scene(error), ErrorScene())
    first = next((line.strip() for line in _message(error).splitlines() if line.strip()), "")
    said = word(f": {first[:_LONGEST_LINE]}" if first else "")
    sentence = say("{}{}", code(type(error).__name__), said)
    return ExplainedError(kind="unknown", sentence=sentence, frame=scene.frame, line=scene.line)
