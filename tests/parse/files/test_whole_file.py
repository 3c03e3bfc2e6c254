"""Files that users name are written whole or not at all, and nothing but a regular file is replaced."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from pjit_inspect.parse.files import whole_file
from pjit_inspect.parse.files.whole_file import write_together, write_whole

has_nameless = pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="this system gives every file a name at once")
IS_ROOT = os.geteuid() == 0
as_root = pytest.mark.skipif(not IS_ROOT, reason="needs root")


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def old_file(folder: Path, name: str = "page.html") -> Path:
    path = folder / name
    path.write_bytes(b"old")
    return path


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


def test_a_new_file_gets_the_permissions_that_open_gives(tmp_path: Path, umask: int):
    write_whole(tmp_path / "a", "text \udc80 é")
    assert (tmp_path / "a").read_bytes() == "text \\udc80 é".encode()
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o666 & ~umask
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755])
def test_the_permissions_of_an_old_file_stay(tmp_path: Path, mode: int, umask: int):
    path = old_file(tmp_path)
    path.chmod(mode)
    write_whole(path, b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", mode)


def test_extended_attributes_stay(tmp_path: Path):
    path = old_file(tmp_path)
    try:
        os.setxattr(path, "user.mine", b"1")
    except OSError:
        pytest.skip("this file system has none")
    write_whole(path, b"new")
    assert os.getxattr(path, "user.mine") == b"1"


@as_root
def test_the_owner_of_an_old_file_stays(tmp_path: Path):
    path = old_file(tmp_path)
    os.chown(path, 1234, 4321)
    path.chmod(0o640)
    write_whole(path, b"new")
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 4321, 0o640)


@as_root
def test_where_the_group_cannot_be_kept_another_one_may_do_no_more_than_others(tmp_path: Path, monkeypatch):
    path = old_file(tmp_path)
    os.chown(path, -1, 4321)
    path.chmod(0o664)

    def refuses(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("os.chown", refuses)
    write_whole(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path):
    (tmp_path / "there").mkdir()
    target = old_file(tmp_path / "there")
    (tmp_path / "second").symlink_to(Path("there") / "page.html")
    (tmp_path / "first").symlink_to("second")
    write_whole(tmp_path / "first", b"new")
    assert target.read_bytes() == b"new"
    assert (tmp_path / "first").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert (names(tmp_path), names(tmp_path / "there")) == (["first", "second", "there"], ["page.html"])


def test_a_link_to_nothing_makes_what_it_leads_to(tmp_path: Path):
    (tmp_path / "link").symlink_to("new.html")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "new.html").read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink()


def test_links_in_a_circle_are_an_error(tmp_path: Path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        write_whole(tmp_path / "a", b"new")
    assert (tmp_path / "a").is_symlink()


def test_other_hard_links_keep_the_old_content(tmp_path: Path):
    path = old_file(tmp_path)
    os.link(path, tmp_path / "second")
    write_whole(path, b"new")
    assert (path.read_bytes(), (tmp_path / "second").read_bytes()) == (b"new", b"old")


@pytest.mark.parametrize("kind", ["a pipe", "a socket", "a folder", "a device", "a link to a pipe"])
def test_nothing_but_a_regular_file_is_replaced(tmp_path: Path, kind: str, monkeypatch):
    path = tmp_path / "there"
    monkeypatch.chdir(tmp_path)
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a link to a pipe":
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to("pipe")
    elif kind == "a folder":
        path.mkdir()
    elif kind == "a socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("there")
    elif IS_ROOT:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    else:
        path = Path(os.devnull)
    before, listed = path.lstat(), names(tmp_path)
    with pytest.raises(OSError, match=f"this is {kind.removeprefix('a link to ')}, and only a regular file"):
        write_whole(path, b"new")
    assert os.path.samestat(before, path.lstat())
    assert names(tmp_path) == listed


@pytest.mark.parametrize("given", ["", "folder/", "new/", "file/"])
def test_a_path_that_names_no_file_is_an_error(tmp_path: Path, monkeypatch, given: str):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    old_file(tmp_path, "file")
    with pytest.raises(OSError, match=r"names no file|names a folder|a folder|Not a directory"):
        write_whole(given, b"new")
    assert names(tmp_path) == ["file", "folder"]


def test_a_file_by_a_descriptor_alone_has_no_place(tmp_path: Path):
    with (tmp_path / "a").open("w") as file:
        (tmp_path / "a").unlink()
        with pytest.raises(OSError, match="no name of its own"):
            write_whole(f"/dev/fd/{file.fileno()}", b"new")
    assert names(tmp_path) == []


def test_a_missing_folder_is_named(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"no such folder: .*nowhere'"):
        write_whole(tmp_path / "nowhere" / "a", b"new")


@pytest.mark.parametrize("name", ["n" * 250, "n" * 255, "\udc80odd", "with\nlines"])
def test_any_name_that_a_file_can_have(tmp_path: Path, name: str):
    for content in (b"first", b"second"):
        write_whole(tmp_path / name, content)
    assert (tmp_path / name).read_bytes() == b"second"
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("failing", ["os.replace", "os.fsync"])
@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), MemoryError()]
)
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch, failing: str, error: BaseException
):
    path = old_file(tmp_path)

    def fails(*_):
        raise error

    monkeypatch.setattr(failing, fails)
    with pytest.raises(type(error)):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["page.html"]


def test_a_file_system_that_cannot_be_asked_to_write_at_once_is_written_to(tmp_path: Path, monkeypatch):
    def fails(_):
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr("os.fsync", fails)
    write_whole(old_file(tmp_path), b"new")
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == {"page.html": b"new"}


def test_an_error_of_the_system_names_the_file_and_not_what_lies_beside_it(tmp_path: Path, monkeypatch):
    path = old_file(tmp_path)

    def fails(source, target):
        raise OSError(errno.EBUSY, "Device or resource busy", source, None, target)

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(OSError, match=r"Device or resource busy \(a file is written beside its place.*page\.html'$"):
        write_whole(path, b"new")


@as_root
def test_a_full_disk_leaves_the_old_file(tmp_path: Path):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp_path], check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        path = tmp_path / "page.html"
        write_whole(path, b"o" * 40_000)
        with pytest.raises(OSError, match="No space left on device"):
            write_whole(path, b"n" * 40_000)
        assert path.read_bytes() == b"o" * 40_000
        assert names(tmp_path) == ["page.html"]
    finally:
        subprocess.run(["umount", tmp_path], check=True)


# Rights, as a user has them who is not root.

UNPRIVILEGED = """
import os, sys
from pjit_inspect.parse.files.whole_file import write_whole
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    write_whole(sys.argv[1], b"new")
except OSError as error:
    print(type(error).__name__, error)
"""


def as_nobody(path: Path) -> str:
    for folder in path.parents:
        if not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    done = subprocess.run([sys.executable, "-c", UNPRIVILEGED, path], capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    return done.stdout.strip()


@as_root
def test_a_folder_that_may_not_be_written_is_named_and_the_file_stays(tmp_path: Path):
    path = old_file(tmp_path)
    path.chmod(0o666)
    tmp_path.chmod(0o755)
    said = as_nobody(path)
    assert said.startswith("PermissionError [Errno 13] Permission denied (a file is written beside its place")
    assert path.read_bytes() == b"old"


@as_root
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path):
    path = old_file(tmp_path)
    path.chmod(0o444)
    tmp_path.chmod(0o777)
    assert as_nobody(path).startswith("PermissionError [Errno 13] this file may not be written")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["page.html"]


@as_root
def test_a_file_of_somebody_else_that_its_group_may_write(tmp_path: Path):
    path = old_file(tmp_path)
    os.chown(path, 0, 65534)
    path.chmod(0o664)
    tmp_path.chmod(0o777)
    assert as_nobody(path) == ""
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode), path.stat().st_gid) == (b"new", 0o664, 65534)


# Several at once.


def test_several_files_are_put_into_place_in_reverse(tmp_path: Path, monkeypatch):
    order, real = [], os.replace

    def seen(source, target):
        order.append(os.path.basename(target))
        real(source, target)

    monkeypatch.setattr("os.replace", seen)
    write_together((tmp_path / name, name) for name in "abc")
    assert order == ["c", "b", "a"]
    assert {name: (tmp_path / name).read_text() for name in names(tmp_path)} == {"a": "a", "b": "b", "c": "c"}


@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("can_link", [True, False])
def test_of_several_files_all_or_none_are_written(tmp_path: Path, monkeypatch, at: int, can_link: bool):
    old_file(tmp_path, "a")
    old_file(tmp_path, "c")
    calls, real = [], os.replace

    def fails(source, target):
        calls.append(target)
        if len(calls) == at:
            raise OSError(errno.EIO, "Input/output error")
        real(source, target)

    def no_link(*_, **__):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("os.replace", fails)
    if not can_link:
        monkeypatch.setattr("os.link", no_link)
    with pytest.raises(OSError, match="Input/output error"):
        write_together((tmp_path / name, b"new") for name in "abc")
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == {"a": b"old", "c": b"old"}


def test_one_that_cannot_be_made_leaves_the_others_as_they_were(tmp_path: Path):
    old_file(tmp_path, "a")

    def files():
        yield tmp_path / "a", b"new"
        raise RuntimeError("the executable is gone")

    with pytest.raises(RuntimeError, match="the executable is gone"):
        write_together(files())
    assert (tmp_path / "a").read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


class _InterruptError(BaseException):
    pass


def run_until(step: int, write: Callable[[], None], code: str) -> bool:
    """Run, with an interrupt at this one of the steps that Python makes in a file; whether it came to the end.

    In a thread of its own: an interrupt as an `except` ends leaves Python in it, and whatever that thread raises later
    would be told as raised "during handling" of it.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_run_until, step, write, code).result()


def _run_until(step: int, write: Callable[[], None], code: str) -> bool:
    steps = 0

    def within(_: FrameType, event: str, __: object) -> Any:
        nonlocal steps
        if event == "opcode":
            steps += 1
            if steps == step:
                raise _InterruptError
        return within

    def called(frame: FrameType, *_: object) -> Any:
        frame.f_trace_opcodes = frame.f_code.co_filename == code
        return within if frame.f_trace_opcodes else None

    before = sys.gettrace()
    sys.settrace(called)
    try:
        write()
    except _InterruptError:
        return False
    finally:
        sys.settrace(before)
    return True


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize("old", [["old"], ["old", "old", None]])
def test_an_interrupt_between_any_two_steps_leaves_all_old_or_all_new(tmp_path: Path, old: list[str | None]):
    paths = [tmp_path / str(number) for number in range(len(old))]
    left = 0
    for step in itertools.count(1):
        for path, content in zip(paths, old, strict=True):
            if content is None:
                path.unlink(missing_ok=True)
            else:
                path.write_text(content)
        ended = run_until(step, lambda: write_together((path, "new") for path in paths), whole_file.__file__)
        assert [path.read_text() if path.exists() else None for path in paths] in (old, ["new"] * len(old))
        beside = set(tmp_path.iterdir()) - set(paths)
        left += bool(beside)
        for path in beside:
            path.unlink()
        if ended:
            break
    # One file leaves nothing. A second name of an old file may stay when the interrupt comes as it is being removed.
    assert left < (1 if len(old) == 1 else 60)


def test_threads_that_write_one_file_leave_one_of_their_contents(tmp_path: Path):
    contents, errors = [bytes([65 + k]) * 100_000 for k in range(6)], []

    def write(content: bytes) -> None:
        try:
            for _ in range(10):
                write_whole(tmp_path / "a", content)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert (tmp_path / "a").read_bytes() in contents
    assert names(tmp_path) == ["a"]


def test_a_process_that_is_killed_leaves_the_old_file_or_the_new(tmp_path: Path):
    path = tmp_path / "a"
    code = (
        "import sys\nfrom pjit_inspect.parse.files.whole_file import write_whole\n"
        "print(flush=True)\nwhile True:\n    write_whole(sys.argv[1], b'x' * 1_000_000)"
    )
    write_whole(path, b"x" * 1_000_000)
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.send_signal(signal.SIGKILL)
        assert path.read_bytes() == b"x" * 1_000_000


@has_nameless
def test_a_new_file_has_no_name_until_it_is_whole(tmp_path: Path, monkeypatch):
    seen: list[list[str]] = []
    real = os.fsync

    def look(file: int) -> None:
        seen.append(names(tmp_path))
        real(file)

    monkeypatch.setattr("os.fsync", look)
    write_whole(old_file(tmp_path), b"new")
    assert seen == [["page.html"]]


def test_where_a_file_needs_a_name_at_once_it_is_written_too(tmp_path: Path, monkeypatch):
    monkeypatch.delattr("os.O_TMPFILE", raising=False)
    path = old_file(tmp_path)
    path.chmod(0o640)
    write_whole(path, b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode), names(tmp_path)) == (b"new", 0o640, ["page.html"])


@has_nameless
def test_where_a_file_cannot_be_given_its_name_later_it_is_written_again(tmp_path: Path, monkeypatch):
    def refuses(*_, **__):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("os.link", refuses)
    write_whole(old_file(tmp_path), b"new")
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == {"page.html": b"new"}
