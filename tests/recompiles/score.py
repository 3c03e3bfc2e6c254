"""Runs one scenario under a capture and reads the reason of the record it asks for.

Not its job: what is expected (`scenario`).
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

import pjit_inspect as pi
from pjit_inspect.handles.session.history import HISTORY
from pjit_inspect.model.record.ledger import LedgerData
from pjit_inspect.model.record.reason import Reason
from recompiles.scenario import Scenario

__all__ = ["Outcome", "run_scenario"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a scenario: the sentence, how many programs were compiled, and why each was; the ledger of them."""

    sentence: str | None
    compiles: int
    names: tuple[str, ...]
    reasons: tuple[tuple[str, Reason], ...]
    ledger: LedgerData


def run_scenario(scenario: Scenario, folder: Path) -> Outcome:
    """Run a scenario in `folder` and return what there was to see. No earlier scenario is remembered."""
    jax.clear_caches()
    gc.collect()
    HISTORY.clear()
    is_notebook = scenario.run.__module__.endswith("notebooks")
    with pi.capture() as log:
        if is_notebook:
            with _shell(folder) as shell:
                scenario.run(shell)
        else:
            scenario.run(folder)
    # Threads may log in another order than that in which their compiles ended.
    records = sorted(log if scenario.of == "all" else log.user_records(), key=lambda one: one.data.key.serial)
    sentence = None
    if scenario.expect is not None:
        sentence = records[scenario.record].reason.sentence if records else "no record"
    names = tuple(f"{r.name}: {r.reason.sentence}" for r in records)
    return Outcome(sentence, len(records), names, tuple((r.name, r.reason) for r in records), pi.ledger(log).data)


@contextmanager
def _shell(folder: Path) -> Iterator[Any]:
    """An IPython that leaves Python as it was."""
    import atexit

    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    kept = {name: getattr(sys, name, None) for name in ("excepthook", "displayhook", "ps1", "ps2", "ps3")}
    main = sys.modules["__main__"]
    InteractiveShell.clear_instance()
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config, ipython_dir=str(folder))
    try:
        yield shell
    finally:
        atexit.unregister(shell.atexit_operations)
        shell.user_ns.clear()
        InteractiveShell.clear_instance()
        sys.modules["__main__"] = main
        for name, value in kept.items():
            if value is not None:
                setattr(sys, name, value)
            elif hasattr(sys, name):
                delattr(sys, name)
