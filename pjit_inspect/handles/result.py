"""The summary that `%pjit` shows in place of a large result.

Not its job: the results of a recorded program, which its record has.
"""

from __future__ import annotations

import sys
from typing import Any

from pjit_inspect.view.pages.result import result_lines


def result_text(value: Any) -> str | None:
    """A line for each tree of a large result, with shapes and specs; None for a small one and one without arrays."""
    if "jax" not in sys.modules:
        return None
    from pjit_inspect.observe.live.results import is_large, result_trees

    return result_lines(result_trees(value)) if is_large(value) else None
