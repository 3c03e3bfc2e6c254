"""Writes files whole: each is written beside its place and renamed, so that its place has the old content or the new.

All files that users name are written here. Permissions and, where the system allows it, the owner of a file that is
replaced are kept; a symbolic link stays, and what it leads to is replaced; of a file with several hard links the other
names keep the old content. Only regular files are replaced. The folder has to be writable: a file that cannot be
renamed into its place is refused, and never written in place, where a failure in the middle would lose the old content.
On Linux the new file has no name until it is whole (O_TMPFILE), so that nothing is left of it when the process is
killed. Elsewhere `.pjit_inspect-*.tmp` stays beside the file then.

Not its job: what is in a file.
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
    """Write one file; text as UTF-8, lone surrogates as escapes.

    Raises OSError (IsADirectoryError, PermissionError and so on); the old file is untouched then, and nothing is left
    beside it.
    """
    write_together([(path, content)])


def write_together(files: Iterable[tuple[str | os.PathLike[str], bytes | str]]) -> None:
    """Write several files, or none: all of them are on the disk before the first is put into its place.

    They are put there in reverse, so that the last may say what the others are. Raises as `write_whole`; what was put
    into its place until then is taken back.
    """
    # What is made is first noted to be removed: Ctrl-C may come between any two steps.
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
            _replace(beside, place)
        undo.pop_all()


def _place(path: str | os.PathLike[str]) -> str:
    """The regular file that a path leads to, or the one to make. Raises OSError where there can be none."""
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


# As `open` judges: by the rights that the process has now.
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
    """Give a nameless file its name; False where this system refuses that."""
    try:
        # The folder is not used for a path from the root, but without one Python does not follow the link.
        os.link(f"/proc/self/fd/{file}", name, src_dir_fd=file)
    except OSError:
        return False
    return True


def _open_nameless(name: str, flags: int) -> int:
    """A new file in the folder of a name, without that name where this system can give it one later."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with suppress(OSError):
            return os.open(os.path.dirname(name), os.O_TMPFILE | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0), 0o666)
    return os.open(name, flags, 0o666)


def _to_disk(file: int) -> None:
    try:
        os.fsync(file)
    except OSError as error:
        # Some file systems have no such thing.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise


def _replace(beside: str, place: str) -> None:
    with _named(place):
        os.replace(beside, place)


@contextmanager
def _named(place: str) -> Iterator[None]:
    """Have errors of the system name the file that was asked for, and say why its folder matters."""
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
    # A name of its own: that of the file may be as long as names can be.
    return os.path.join(os.path.dirname(place), f".pjit_inspect-{secrets.token_hex(8)}.tmp")


def _keep_permissions(place: str, beside: str) -> None:
    """Give a new file the mode, the extended attributes (lists of access among them) and the owner of the old one."""
    try:
        old = os.stat(place)
    except FileNotFoundError:
        return
    with suppress(OSError):
        # Its times, too, which are those of the writing a moment later.
        shutil.copystat(place, beside)
    mode, new = stat.S_IMODE(old.st_mode), os.stat(beside)
    if hasattr(os, "chown") and (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        for owner, group in ((old.st_uid, -1), (-1, old.st_gid)):
            with suppress(OSError):
                os.chown(beside, owner, group)
        if os.stat(beside).st_gid != old.st_gid:
            # What its group could do, another one must not do because of us.
            mode &= ~0o070 | (mode & 0o007) << 3
        if os.stat(beside).st_uid != old.st_uid:
            mode &= 0o777
    with suppress(OSError):
        os.chmod(beside, mode)


def _keep(place: str, spare: str) -> bool:
    """Give the old file a second name, to put it back from; whether there is an old file."""
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
            # Which does nothing where both are names of the old file still.
            os.replace(spare, place)
        else:
            os.unlink(place)


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
