"""Programs for which the package is known to be wrong, with the reason. Whoever repairs one takes it off.

Not its job: which programs there are (`operations`, `everyday`).
"""

from __future__ import annotations

__all__ = ["NOT_YET"]

NOT_YET: dict[str, str] = {}
