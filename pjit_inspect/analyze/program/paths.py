"""JAX's paths of arguments and results, step by step.

Not its job: what stands at them.
"""

from __future__ import annotations

import re

_STEP = re.compile(r"\[[^\[\]]*\]|\.[^.\[]+")


def split_path(path: str) -> tuple[str, ...]:
    """A path in its steps: "state['a'].mu[0]" -> ("state", "['a']", ".mu", "[0]")."""
    first = _STEP.search(path)
    if first is None:
        return (path,)
    return (path[: first.start()], *_STEP.findall(path[first.start() :]))
