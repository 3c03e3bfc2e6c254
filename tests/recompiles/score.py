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
from pjit_inspect.handles.ledger import HISTORY
from recompiles.scenario import Scenario

__all__ = ["Outcome", "run_scenario"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a scenario: the sentence, and how many programs were compiled."""

    sentence: str | None
    compiles: int
    names: tuple[str, ...]


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
    return Outcome(sentence, len(records), tuple(f"{r.name}: {r.reason.sentence}" for r in records))


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
