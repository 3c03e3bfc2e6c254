"""The single history of this process's compiles, which explains why each happened.

Not its job: comparing keys (`analyze.recompiles.recompiles`), or the records (`handles.session.log`).
"""

from __future__ import annotations

from pjit_inspect.analyze.recompiles.recompiles import KeyHistory

HISTORY = KeyHistory()
"""The keys of every compile that was recorded in this process, by any scope."""
