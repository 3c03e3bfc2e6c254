"""Records of this process by the name of their function, from any capture.

Not its job: the records of one scope (`handles.session.log`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pjit_inspect.handles.session.captured import recent_records
from pjit_inspect.handles.session.log import Log
from pjit_inspect.handles.session.session import session_log

if TYPE_CHECKING:
    from pjit_inspect.handles.record import CompileRecord


def newest_record(name: str) -> CompileRecord:
    """The newest record of a name that is still held: in the session, or from `capture` or `inspect`.

    The user's functions come first. Raises RecordNotFoundError with the nearest names of the session.
    """
    known = Log(reversed([record for record in recent_records() if record.name == name]))
    return known[name] if known else session_log()[name]


def record_names() -> tuple[str, ...]:
    """The names that `newest_record` finds, newest first, the user's functions before others."""
    known = (*Log(recent_records()).names(), *session_log().names())
    return tuple(dict.fromkeys(known))
