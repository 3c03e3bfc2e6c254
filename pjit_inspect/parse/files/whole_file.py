"""Writes files whole: each is written beside its place, then renamed, so that no reader sees half a file.

All files that users name are written here. A replaced file keeps its permissions and, where the system allows it, its
owner. A symbolic link stays, and its target is replaced. Other hard links of the file keep the old content. Only
regular files are replaced. The folder has to be writable: a file that cannot be renamed into its place is refused,
never written in place, where a failure in the middle would lose the old content.

On Linux the new file has no name until it is whole (O_TMPFILE), so that a killed process leaves nothing behind.
Elsewhere it leaves `.pjit_inspect-*.tmp` beside the file.

Not its job: the contents of a file.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, BinaryIO

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def write_whole(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Writes one file; text as UTF-8, lone surrogates as escapes.

    Raises OSError (IsADirectoryError, PermissionError and so on); the old file is then untouched, and nothing is left
    beside it.
    """
    write_together([(path, content)])


def write_together(files: Iterable[tuple[str | os.PathLike[str], bytes | str]]) -> None:
    """Writes several files, or none: all are on the disk before the first is moved to its place.

    They are moved in reverse order, so that the last can describe the others. Raises as `write_whole`; files already
    moved are then restored.
    """
    # Every new file is registered for removal before it is made: Ctrl-C may come between any two steps.
    with ExitStack() as cleared, ExitStack() as undo:
        written: list[tuple[str, str]] = []
        for path, content in files:
            place = _place(path)
            beside = _beside(place)
            cleared.callback(_remove, beside)
            _write(beside, place, content)
            written.append((beside, place))
        for beside, place in reversed(written):
            if len(written) > 1:
                spare = _beside(place)
                cleared.callback(_remove, spare)
                undo.callback(_put_back, spare if _keep(place, spare) else "", place)
            with _named(place):
                os.replace(beside, place)
        undo.pop_all()


def _place(path: str | os.PathLike[str]) -> str:
    """The regular file at a path, or the one to make. Raises OSError where neither is possible."""
    name: str = os.fsdecode(path)
    try:
        found = os.stat(name)
    except FileNotFoundError:
        found = None
    place = os.path.realpath(name)
    if found is None:
        if not os.path.basename(name):
            code = errno.EISDIR if name else errno.ENOENT
            raise OSError(code, "this names a folder, not a file" if name else "this names no file", name)
        if not os.path.isdir(os.path.dirname(place)):
            raise FileNotFoundError(errno.ENOENT, "there is no such folder", os.path.dirname(place))
        return place
    kind = stat.S_IFMT(found.st_mode)
    if kind != stat.S_IFREG:
        code = errno.EISDIR if kind == stat.S_IFDIR else errno.EINVAL
        raise OSError(code, f"this is {_KINDS.get(kind, 'something else')}, and only a regular file is replaced", name)
    if not os.path.exists(place):
        raise OSError(errno.EINVAL, "this file has no name of its own that could be replaced", name)
    if not os.access(place, os.W_OK, **_AS_OPEN):
        raise PermissionError(errno.EACCES, "this file may not be written", name)
    return place


# Checks as `open` does: by the rights that the process has now.
_AS_OPEN: dict[str, Any] = {"effective_ids": True} if os.access in os.supports_effective_ids else {}


def _write(beside: str, place: str, content: bytes | str) -> None:
    # Not tempfile: its files are private to the user, and a new file should get the usual permissions.
    with _named(place):
        with open(beside, "xb", opener=_open_nameless) as file:
            own = beside if os.path.lexists(beside) else f"/proc/self/fd/{file.fileno()}"
            _fill(file, own, place, content)
            is_named = own == beside or _give_name(file.fileno(), beside)
        if not is_named:
            with open(beside, "xb") as file:
                _fill(file, beside, place, content)


def _fill(file: BinaryIO, own: str, place: str, content: bytes | str) -> None:
    _keep_permissions(place, own)
    file.write(content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content)
    file.flush()
    _to_disk(file.fileno())


def _give_name(file: int, name: str) -> bool:
    """Gives a nameless file its name; False if the system refuses."""
    try:
        # An absolute path does not need the folder, but without one Python does not follow the link.
        os.link(f"/proc/self/fd/{file}", name, src_dir_fd=file)
    except OSError:
        return False
    return True


def _open_nameless(name: str, flags: int) -> int:
    """A new file in the folder of a name, nameless if the system can name it later."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with suppress(OSError):
            return os.open(os.path.dirname(name), os.O_TMPFILE | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0), 0o666)
    return os.open(name, flags, 0o666)


def _to_disk(file: int) -> None:
    try:
        os.fsync(file)
    except OSError as error:
        # Some file systems cannot do this.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise


@contextmanager
def _named(place: str) -> Iterator[None]:
    """Makes system errors name the requested file, and explain the role of its folder."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        why = f" ({_WAY})" if error.errno in _OF_THE_FOLDER else ""
        raise OSError(error.errno, f"{error.strerror}{why}", place) from error


_WAY = "a file is written beside its place and renamed, which its folder has to allow; the old one is untouched"
_OF_THE_FOLDER = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV)


def _beside(place: str) -> str:
    # A short random name: the file's name may be as long as names can be.
    return os.path.join(os.path.dirname(place), f".pjit_inspect-{secrets.token_hex(8)}.tmp")


def _keep_permissions(place: str, beside: str) -> None:
    """Gives a new file the mode, the extended attributes (access lists too) and the owner of the old one."""
    try:
        old = os.stat(place)
    except FileNotFoundError:
        return
    with suppress(OSError):
        # This copies times, too; writing renews them a moment later.
        shutil.copystat(place, beside)
    mode, new = stat.S_IMODE(old.st_mode), os.stat(beside)
    if hasattr(os, "chown") and (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        for owner, group in ((old.st_uid, -1), (-1, old.st_gid)):
            with suppress(OSError):
                os.chown(beside, owner, group)
        if os.stat(beside).st_gid != old.st_gid:
            # Another group must not gain the rights of the old one.
            mode &= ~0o070 | (mode & 0o007) << 3
        if os.stat(beside).st_uid != old.st_uid:
            mode &= 0o777
    with suppress(OSError):
        os.chmod(beside, mode)


def _keep(place: str, spare: str) -> bool:
    """Gives the old file a second name, to restore it from; whether there is an old file."""
    if not os.path.exists(place):
        return False
    try:
        os.link(place, spare)
    except OSError:
        shutil.copy2(place, spare)
    return True


def _put_back(spare: str, place: str) -> None:
    with suppress(OSError):
        if spare:
            # This does nothing while both are names of the old file.
            os.replace(spare, place)
        else:
            os.unlink(place)


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
