"""The `%pjit` and `%%pjit` magics: parse the line, call the API.

Not its job: anything that works without a notebook.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from contextlib import ExitStack
from typing import Any, cast

from IPython.core.displayhook import DisplayHook
from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, needs_local_scope, no_var_expand
from IPython.display import display
from traitlets import Bool, Enum

from pjit_inspect import api
from pjit_inspect.errors import PjitInspectError, RecordNotFoundError
from pjit_inspect.guard import Guard
from pjit_inspect.ipython.cells import Cells
from pjit_inspect.ipython.command import AS_TEXT, VIEWS, Command, ShowOptions, View, parse_command
from pjit_inspect.ipython.progress import progress
from pjit_inspect.ipython.run import (
    Run,
    can_change,
    compile_code,
    is_whole_statement,
    run_program,
    show_later_advice,
    show_note,
    show_record,
)
from pjit_inspect.ipython.target import check_target, show_for_target
from pjit_inspect.ipython.watch import CompileWatch, WatchOptions
from pjit_inspect.view.document.printable import printable


@magics_class
class PjitMagics(Magics):
    """Show what jax.jit made of sharded programs."""

    shell: Any
    view: Enum[str] = Enum(VIEWS, default_value="html", help="How records are shown unless --view says otherwise.").tag(
        config=True
    )
    times: Bool[bool, bool | int] = Bool(
        True, help="Whether to show the seconds of tracing, lowering, compiling, and measured kernels."
    ).tag(config=True)

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.cells: Cells = Cells(shell, self._explain)
        self.undo_load: ExitStack = ExitStack()
        self._session_is_ours = False
        self._watch: CompileWatch | None = None

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def pjit(self, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
        """Run code and show what jax.jit made of it: shards, collectives, kernels, times.

        The code runs as it would without the magic, once, at full speed, and nothing is compiled for the magic's sake
        (but with `--measure`, where the profiler slows it).
        Every function it compiles is shown above its result. So is a compiled function it only calls, even if it was
        compiled before this extension was loaded. A large result (more than 8 arrays, or 1,000 numbers in them) is a
        line for each of its trees, with shapes and specs; the values themselves are in `_`.

        Run one line. Its value is the value of the magic, and a `;` at the end hides it::

            %pjit train_step(params, batch)
            %pjit params = train_step(params, batch)
            params = %pjit train_step(params, batch)

        Run a cell. It behaves as a plain cell: `await`, the value of the last line, errors and line numbers::

            %%pjit
            for batch in batches:
                params = train_step(params, batch)

        Record the whole session, whatever cell compiles::

            %pjit on                  begin
            %pjit on --watch          begin, and say of each compile of your functions why, as it happens
            %pjit on --limit 5        begin, and warn at the fifth compile of one function
            %pjit off                 end
            %pjit log                 one row for each compile, those of %pjit runs too
            %pjit show                the newest record of your own functions
            %pjit show train_step     the newest record of that name (tab completes names), of `pi.inspect` and
                                      `pi.capture`, too, while somebody holds it
            %pjit show 0              the record that %pjit log lists under this number
            %pjit why                 why each collective of the newest record is there, most expensive first
            %pjit why train_step      the same of that name
            %pjit why --line 12       only those that line 12 of your source is the reason for
            %pjit shardings           how every value of it is sharded, beside your source
            %pjit advice              changes worth making to it, each tried with XLA, with the code to write
            %pjit time                where the seconds of a call go, on its own devices
            %pjit time --on tpu:v5e:4x4
                                      the same on a machine that need not be there
            %pjit time --on tpu:v5e:4x4 --quick
                                      a range soon: XLA only partitions it
            %pjit memory              what is alive at the peak of its memory: bytes, kind, spec, line
            %pjit passes              XLA's passes that changed it, and what they made of each collective
            %pjit arrays              the arrays that this process holds on its devices now
            %pjit play                its shardings, to be changed, with XLA asked after every change
            %pjit play f(x)           the same of a function, which is not called but traced
            %pjit diff                what changed between the two newest records of one function, and why
            %pjit diff train_step     the same of that name
            %pjit diff -1 -3          between the newest of your functions' records and the third newest, or between
                                      two numbers of %pjit log; the older one is before
            %pjit ledger              what was compiled again, why, what it cost, and what to do about it
            %pjit error               the last error: which sharding JAX refused, and ways to fix it
            %pjit forget              empty the log
            %pjit help                this text

        Options stand before code, and before or behind a subcommand::

            --view text|html|widget|tree|facts|memory|time
                                      plain text; the inspector, with a still display where no scripts run (the
                                      default); the inspector live, its selection to be read and set; what runs,
                                      in order, as one indented text; or specs and bytes alone, to compare; or what is
                                      alive at the peak of its memory; or where the seconds go
            --no-times                without seconds, so that the output is the same on every machine
            --measure                 run JAX's profiler with the code, and show how long each kernel took in a call
            --target tpu:v5e:4x4      then compile what ran for that machine, too, which need not be there, and show it
                                      (`pjit_inspect.targets()` lists them); your call runs on what is attached
            --mesh data=4,model=4     with other axes or sizes: by itself, on fake CPU devices
            --effort partition|full   as far as XLA's partitioner, for collectives and shardings (the default), or to
                                      the end, for kernels and memory

            %pjit --view text train_step(params, batch)
            %%pjit --no-times
            %pjit --measure train_step(params, batch)
            %pjit --view widget show train_step
            %pjit --target tpu:v5e:4x4 --mesh data=4,model=4 train_step(params, batch)
            %pjit --target tpu:v5e:2x4 --effort full show train_step

            %config PjitMagics.view = 'text'      the default for this session
            %config PjitMagics.times = False

        When a cell that is recorded fails because JAX refuses a sharding, or memory is too small, that explanation
        stands under the traceback.

        A line that is only `on`, `off`, `log`, `arrays`, `ledger`, `error`, `forget`, `help`, or `show`, `why`,
        `shardings`, `advice`, `time`, `memory`, `passes`, `play` or `diff` with or without a name, is the subcommand,
        even where a variable has that name. Anything else is code: `%pjit show(x)` calls your function, `%pjit (log)`
        is your variable.

        `%pjit --cell` inside a cell records from there to the end of the cell; `%%pjit` does the same from its top. One
        line cannot `await`; use `%%pjit` for that. The records are objects too: `import pjit_inspect as pi;
        pi.start()`, `with pi.capture() as log:`.
        """
        __tracebackhide__ = True
        names = local_ns or {}
        defaults = ShowOptions(view=cast(View, self.view), times=self.times)
        if cell is not None:
            command = parse_command(f"--cell {line}", defaults, names.__contains__)
            return self._run(command, cell, local_ns, skip_lines=1)
        command = parse_command(line, defaults, lambda name: self._is_defined(name, names))
        if command.action == "run":
            return self._run(command, command.text, local_ns)
        if command.action == "play":
            return self._play(command, local_ns)
        return getattr(self, f"_{command.action}")(command)

    def stop_session(self) -> None:
        """Ends what `%pjit on` began; a session that the user began with `start()` goes on."""
        self._end_watch()
        if self._session_is_ours:
            api.stop()
            self._session_is_ours = False

    def _is_defined(self, name: str, local_ns: dict[str, Any]) -> bool:
        return name in local_ns or name in self.shell.user_ns or hasattr(builtins, name)

    def _run(self, command: Command, code: str, local_ns: dict[str, Any] | None, *, skip_lines: int = 0) -> Any:
        __tracebackhide__ = True
        check_target(command.options)
        program = compile_code(self.shell, code, skip_lines=skip_lines)
        run, failed = Run(command.options), True
        try:
            value = run_program(self.shell, program, local_ns)
            failed = False
        finally:
            run.close()
            self.cells.when_done(lambda cell_failed: run.show(failed or cell_failed), failed=failed, early=True)
            self._then_for_target(run, command)
        self.cells.note_result(value)
        hidden = DisplayHook.semicolon_at_end_of_expression(code) and is_whole_statement()
        return None if hidden else value

    def _then_for_target(self, run: Run, command: Command) -> None:
        """Compiles for the target after all else of the cell is shown: it may take long."""
        if command.options.target is not None:
            self.cells.when_done(lambda _: show_for_target(self.shell, run.records(), command.options))

    def _cell(self, command: Command) -> None:
        check_target(command.options)
        # Without a running cell there is no end to stop at; nobody sees the output of a silent cell.
        if self.cells.is_running:
            run = Run(command.options)
            early = self.cells.note_recorded()
            self.cells.when_done(lambda _: run.close(), first=True, early=early)
            self.cells.when_done(run.show, early=early)
            self._then_for_target(run, command)

    def _on(self, command: Command) -> None:
        self._session_is_ours = self._session_is_ours or not api.is_started()
        api.start()
        self._end_watch()
        if command.watch or command.limit is not None:
            options = WatchOptions(lines=command.watch, limit=command.limit, times=command.options.times)
            self._watch = CompileWatch(self.shell, self.cells, options)
        show_note("%pjit is on: every compile is recorded. %pjit log shows them, %pjit off ends it")

    def _off(self, command: Command) -> None:
        self._end_watch()
        log = api.stop()
        self._session_is_ours = False
        show_note(f"%pjit is off. The log has {_records(len(log))}: %pjit log")

    def _log(self, command: Command) -> None:
        display(api.session_log().show(times=command.options.times), include=_only_text(command))

    def _show(self, command: Command) -> None:
        check_target(command.options)
        record = _record(command)
        if command.options.target is not None:
            show_for_target(self.shell, (record,), command.options)
            return
        show_record(record, command.options)

    def _why(self, command: Command) -> None:
        record = _record(command)
        display(record.explain(command.line), include=_only_text(command))
        if command.line is None:
            # The explanation of one line is about that line alone.
            show_later_advice(record, command.options, is_still=True)

    def _shardings(self, command: Command) -> None:
        display(_record(command).shardings, include=_only_text(command))

    def _advice(self, command: Command) -> None:
        record, include = _record(command), _only_text(command)
        if not can_change(command.options):
            display(record.advice, include=include)
            return
        handle = display(record.advice_now, include=include, display_id=True)
        if handle is not None:
            api.as_advice_comes(record, lambda: handle.update(record.advice_now, include=include))

    def _time(self, command: Command) -> None:
        record, effort = _record(command), "partition" if command.quick else "full"
        if command.quick and not command.on:
            raise UsageError("--quick needs a machine: %pjit time --on tpu:v5e:4x4 --quick")
        try:
            with progress(self.shell, f"estimating the time of {printable(record.name)}"):
                step = record.time_on(command.on, effort=effort) if command.on else record.time
        except PjitInspectError as error:
            raise UsageError(str(error)) from None
        display(step, include=_only_text(command))

    def _memory(self, command: Command) -> None:
        display(_record(command).memory_use, include=_only_text(command))

    def _passes(self, command: Command) -> None:
        record = _record(command)
        try:
            with progress(self.shell, f"asking XLA for the passes over {printable(record.name)}"):
                passes = record.passes
        except PjitInspectError as error:
            raise UsageError(str(error)) from None
        display(passes, include=_only_text(command))

    def _arrays(self, command: Command) -> None:
        display(api.live_arrays(), include=_only_text(command))

    def _play(self, command: Command, local_ns: dict[str, Any] | None) -> api.Playground:
        __tracebackhide__ = True
        if "(" not in command.text:
            return _record(command).playground()
        program = compile_code(self.shell, _played(command.text))
        return run_program(self.shell, program, local_ns)

    def _diff(self, command: Command) -> None:
        before, after = _two_records(command.text)
        display(api.diff(before, after), include=_only_text(command))

    def _ledger(self, command: Command) -> None:
        display(api.ledger().show(times=command.options.times), include=_only_text(command))

    def _error(self, command: Command) -> None:
        try:
            explanation = api.explain_error()
        except PjitInspectError as error:
            raise UsageError(str(error)) from None
        display(explanation, include=_only_text(command))

    def _explain(self, error: BaseException, recorded: bool) -> None:
        """Shows what an error means that ended a cell, if the error is known and the cell was recorded."""
        if not recorded and not api.is_started():
            return
        explanation = Guard().run("an explanation of the error", lambda: api.explain_known_error(error), None)
        if explanation is not None:
            display(explanation, include=["text/plain"] if self.view in AS_TEXT else None)

    def _end_watch(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def _help(self, _: Command) -> None:
        # The text that `%pjit?` shows in a pager, here in the output.
        sys.stdout.write(f"{inspect.getdoc(type(self).pjit)}\n")

    def _forget(self, command: Command) -> None:
        log = api.session_log()
        count = len(log)
        log.clear()
        show_note(f"%pjit forgot {_records(count)}")


def _played(call: str) -> str:
    """Code that makes a playground of a call without making the call."""
    try:
        tree = ast.parse(call.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        tree = None
    if not isinstance(tree, ast.Call):
        raise UsageError(f"%pjit play takes a call of a function, as in %pjit play f(x), not {call!r}")
    tree.args.insert(0, tree.func)
    tree.func = ast.parse("__import__('pjit_inspect').playground", mode="eval").body
    return ast.unparse(tree)


def _record(command: Command) -> api.CompileRecord:
    """The record that a command names: by number, the newest of a name, or the user's newest."""
    log = api.session_log()
    if command.text.isdecimal():
        return _numbered(log, int(command.text))
    try:
        return api.newest_record(command.text) if command.text else log.user_records()[-1]
    except RecordNotFoundError as error:
        raise UsageError(str(error)) from None
    except IndexError:
        raise UsageError("no function of yours has been recorded yet: run %pjit EXPRESSION, or %pjit on") from None


def _two_records(text: str) -> tuple[api.CompileRecord, api.CompileRecord]:
    """The two records to compare, older first: those of two numbers, or the two newest of one function."""
    log = api.session_log()
    numbers = text.split()
    if len(numbers) == 2:
        places = sorted(_place(log, number) for number in numbers)
        return log[places[0]], log[places[1]]
    records = tuple(log.find(text) if text else log.user_records())
    if text and not records:
        _record(Command(action="diff", text=text))
    for k in range(len(records) - 1, 0, -1):
        earlier = [one for one in records[:k] if one.name == records[k].name]
        if earlier:
            return earlier[-1], records[k]
    of = text or "no function of yours"
    there = "has been recorded once only" if text else "has been recorded twice"
    raise UsageError(f"{of} {there}: %pjit diff compares two records; %pjit log lists them, %pjit diff 0 1 picks two")


def _place(log: api.Log, number: str) -> int:
    """The place in the log of a record's number; negative numbers count the user's functions back from the newest."""
    own = [place for place, record in enumerate(log) if record.origin == "user"]
    if not number.startswith("-"):
        _numbered(log, int(number))
        return int(number)
    if 0 < -int(number) <= len(own):
        return own[int(number)]
    raise UsageError(f"no record {number}: {_records(len(own))} of your functions; %pjit log lists them")


def _numbered(log: api.Log, number: int) -> api.CompileRecord:
    """The record that `%pjit log` lists under this number."""
    if 0 <= number < len(log):
        return log[number]
    last = len(log) - 1
    there = "the log is empty" if last < 0 else "the log has record 0 only" if not last else f"the log has 0 to {last}"
    raise UsageError(f"no record {number}: {there}; %pjit log lists them")


def _only_text(command: Command) -> list[str] | None:
    return ["text/plain"] if command.options.view in AS_TEXT else None


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count} records"
