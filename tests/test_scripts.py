"""The two commands of the README: how they find Python, fill an environment, fail, and write the report.

Not its job: running them to the end (continuous integration does).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

ROOT = Path(__file__).parent.parent
MOST_FILES_OF_A_CAUSE = 70
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


def run(*command: str, **settings: str) -> subprocess.CompletedProcess[str]:
    inherited = {key: value for key, value in os.environ.items() if key not in ("PYTHON", "PJIT_INSPECT_VENV")}
    return subprocess.run(command, cwd=ROOT, env=inherited | settings, capture_output=True, text=True)


def prepare(**settings: str) -> subprocess.CompletedProcess[str]:
    script = f'set -euo pipefail; . "{ROOT}/scripts/environment.sh"; prepare_environment test; echo "ready: $python"'
    return run("bash", "-c", script, **settings)


def write_script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A virtual environment in all but its pip, which only writes down that it was called."""
    venv = tmp_path / "venv"
    pip = 'echo "$@" >>"${0%/bin/python}/calls"; echo "no such index"; exit "${PIP_EXIT:-0}"'
    text = f'#!/bin/sh\nif [ "${{2:-}}" = pip ]; then {pip}; fi\nexec "{sys.executable}" "$@"\n'
    write_script(venv / "bin" / "python", text)
    return venv


def calls_of_pip(venv: Path) -> list[str]:
    calls = venv / "calls"
    return calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []


@pytest.mark.parametrize(
    "script",
    [
        "scripts/check",
        "scripts/demo",
        "scripts/jax-suite",
        "scripts/test",
        "scripts/test-versions",
        "scripts/environment.sh",
        ".ci/run",
    ],
)
def test_every_script_parses_and_stops_at_the_first_error(script: str):
    subprocess.run(["bash", "-n", script], cwd=ROOT, check=True)
    text = (ROOT / script).read_text(encoding="utf-8")
    assert script.endswith(".sh") or ("\nset -euo pipefail\n" in text and os.access(ROOT / script, os.X_OK))


@pytest.mark.parametrize("script", ["scripts/demo", "scripts/jax-suite", "scripts/test", "scripts/test-versions"])
def test_help_is_printed_before_anything_is_installed(script: str):
    done = run(script, "--help", PYTHON="/nowhere/python")
    assert done.returncode == 0
    assert f"{script} " in done.stdout
    assert "set -euo" not in done.stdout


def test_a_python_that_is_too_old_is_named_with_what_is_needed(tmp_path: Path):
    old = write_script(tmp_path / "python", '#!/bin/sh\ncase "$2" in *print*) echo 3.9 ;; *) exit 1 ;; esac\n')
    done = prepare(PYTHON=str(old))
    assert done.returncode == 1
    assert done.stderr == f"error: PYTHON={old} is Python 3.9; pjit_inspect needs 3.11 or newer.\n"


def test_a_python_that_does_not_run_is_named():
    done = prepare(PYTHON="/nowhere/python")
    assert (done.returncode, done.stderr) == (1, "error: PYTHON=/nowhere/python does not run.\n")


def test_a_python_without_venv_says_which_package_brings_it(tmp_path: Path):
    bare = write_script(
        tmp_path / "python",
        f'#!/bin/sh\ncase "$2" in *ensurepip*) exit 1 ;; esac\nexec "{sys.executable}" "$@"\n',
    )
    done = prepare(PYTHON=str(bare), PJIT_INSPECT_VENV=str(tmp_path / "venv"))
    assert done.returncode == 1
    assert "comes without its venv module" in done.stderr
    assert f"apt install python{sys.version_info.major}.{sys.version_info.minor}-venv" in done.stderr


def test_a_folder_that_is_no_environment_is_never_deleted(tmp_path: Path):
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    done = prepare(PYTHON=sys.executable, PJIT_INSPECT_VENV=str(tmp_path))
    assert done.returncode == 1
    assert "is no virtual environment" in done.stderr
    assert (tmp_path / "thesis.txt").exists()


def test_an_environment_is_filled_once_for_the_same_project_file_and_python(environment: Path):
    first, second = (prepare(PJIT_INSPECT_VENV=str(environment)) for _ in range(2))
    assert f"ready: {environment}/bin/python" in first.stdout
    assert second.stdout == f"ready: {environment}/bin/python\n"
    assert calls_of_pip(environment) == [f"-m pip install --disable-pip-version-check --no-input -e {ROOT}[test]"]


def test_an_environment_made_from_another_project_file_is_filled_again(environment: Path):
    prepare(PJIT_INSPECT_VENV=str(environment))
    (environment / "pjit_inspect.test.stamp").write_text("another project file", encoding="utf-8")
    prepare(PJIT_INSPECT_VENV=str(environment))
    assert len(calls_of_pip(environment)) == 2


def test_a_failed_install_shows_what_pip_said_and_is_tried_again(environment: Path):
    failed = prepare(PJIT_INSPECT_VENV=str(environment), PIP_EXIT="1")
    assert failed.returncode == 1
    assert "no such index" in failed.stderr
    assert "pip could not install pjit_inspect[test]" in failed.stderr
    assert prepare(PJIT_INSPECT_VENV=str(environment)).returncode == 0
    assert len(calls_of_pip(environment)) == 2


# ---------------------------------------------------------------- the JavaScript's tools


@pytest.fixture
def front(tmp_path: Path) -> Path:
    """A folder that stands for the inspector's JavaScript, and programs that stand for node and npm."""
    folder = tmp_path / "front"
    write_script(folder / "package-lock.json", "{}")
    write_script(tmp_path / "bin" / "node", "#!/bin/sh\n")
    npm = 'echo "$@" >>"$CALLS"; [ "${NPM_EXIT:-0}" = 0 ] || exit "$NPM_EXIT"; mkdir -p node_modules'
    write_script(tmp_path / "bin" / "npm", f"#!/bin/sh\n{npm}\n")
    return folder


def in_front(front: Path, call: str, *, path: str | None = None, **settings: str) -> subprocess.CompletedProcess[str]:
    """Runs a function of the environment there; `path` is where programs are looked for."""
    script = f'set -euo pipefail; . "{ROOT}/scripts/environment.sh"; venv="{front.parent}"; front="{front}"; {call}'
    programs = path or f"{front.parent / 'bin'}:{os.environ['PATH']}"
    return run("/bin/bash", "-c", script, PATH=programs, CALLS=str(front.parent / "calls"), **settings)


def test_why_the_javascript_is_not_checked_is_said(front: Path, tmp_path: Path):
    asked = 'locate_front; echo "[$no_front]"'
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "dirname").symlink_to(shutil.which("dirname") or "/usr/bin/dirname")
    assert in_front(front, asked, path=str(tmp_path / "none")).stdout == "[there is no node]\n"
    missing = "[its tools are not installed (npm ci in pjit_inspect/view/front)]\n"
    assert in_front(front, asked).stdout == missing
    write_script(front / "node_modules" / ".bin" / "tsc", "")
    assert in_front(front, asked).stdout == missing
    write_script(front / "node_modules" / ".bin" / "prettier", "")
    assert in_front(front, asked).stdout == "[]\n"


def test_the_javascripts_tools_are_fetched_once_for_the_same_lock_file(front: Path):
    for _ in range(2):
        assert in_front(front, "prepare_front").returncode == 0
    calls = front.parent / "calls"
    assert calls.read_text() == "ci --ignore-scripts --no-audit --no-fund --fetch-retries=1\n"
    (front / "package-lock.json").write_text('{"name": "another"}', encoding="utf-8")
    assert in_front(front, "prepare_front").returncode == 0
    assert len(calls.read_text().splitlines()) == 2


def test_without_a_network_the_javascripts_tools_are_left_out_and_it_is_said(front: Path):
    done = in_front(front, "prepare_front; echo went on", NPM_EXIT="1")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "went on")
    assert "npm could not install them" in done.stdout


def test_what_the_javascripts_tools_check_is_written_down_once():
    package = json.loads((ROOT / "pjit_inspect/view/front/package.json").read_text(encoding="utf-8"))
    assert set(package["scripts"]) == {"build", "check", "format"}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in package["devDependencies"].values())
    lock = json.loads((ROOT / "pjit_inspect/view/front/package-lock.json").read_text(encoding="utf-8"))
    assert lock["packages"][""]["devDependencies"] == package["devDependencies"]


# ---------------------------------------------------------------- the report


@pytest.fixture(scope="module")
def to_offline_html():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        from execute_notebook import to_offline_html
    finally:
        sys.path.pop(0)
    return to_offline_html


@pytest.fixture(scope="module")
def page(to_offline_html) -> str:
    """A report with all that makes nbconvert's own page load something: mathematics, a diagram, a live widget."""
    view = {"model_id": "1", "version_major": 2, "version_minor": 0}
    widget = {"application/vnd.jupyter.widget-view+json": view, "text/plain": "a static form"}
    inner = "<body><script>document.body.append(6 * 7)</script></body>"
    display = {"text/html": f"<iframe sandbox='allow-scripts' srcdoc='{inner}'></iframe>"}
    outputs = [new_output("display_data", data=data) for data in (widget, display)]
    cells = [new_markdown_cell("# $x^2$\n\n```mermaid\ngraph LR; a-->b\n```"), new_code_cell("1", outputs=outputs)]
    notebook = new_notebook(cells=cells)
    state = {"state": {"1": {}}, "version_major": 2, "version_minor": 0}
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": state}
    return to_offline_html(notebook, "report")


class Requests(HTMLParser):
    """Collects what a page asks for as it loads: every address that is not within the page itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        loading = {"src", "srcset", "data", "poster"} | ({"href"} if tag == "link" else set())
        self.found += [value for key, value in attrs if key in loading and value and not value.startswith("data:")]


def test_a_live_widget_is_shown_in_its_static_form(page: str):
    assert "a static form" in page
    assert "widget-state+json" not in page


def test_the_report_names_nothing_to_load(page: str):
    reader = Requests()
    reader.feed(page)
    assert reader.found == []
    assert not re.findall(r"""import\(\s*["']|@import|url\(\s*["']?(?!data:)\w+:""", page)


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_the_report_opens_in_a_browser_without_a_request(page: str, tmp_path: Path):
    from playwright.sync_api import sync_playwright

    report = tmp_path / "report.html"
    report.write_text(page, encoding="utf-8")
    requests, problems = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page()
        tab.on("request", lambda request: requests.append(request.url))
        tab.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.goto(report.as_uri())
        inside = tab.frames[1].locator("body").inner_text()
        browser.close()
    assert requests == [report.as_uri()]
    assert problems == []
    assert inside == "42"


def prepare_browser(folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """`prepare_browser` where only the programs of `folder` are, as root."""
    write_script(folder / "id", "#!/bin/sh\necho 0\n")
    for name in ("dirname", "tail"):
        shutil.copy(shutil.which(name) or name, folder / name)
    script = (
        f'. "{ROOT}/scripts/environment.sh"; set -eu; venv={folder}; PATH={folder}; prepare_browser; echo "went on"'
    )
    return run("bash", "-c", script, **{"CI": "", "CHROMIUM": "", **settings})


def test_without_a_browser_a_person_is_told_and_nothing_is_installed(tmp_path: Path):
    write_script(tmp_path / "apt-get", f"#!/bin/sh\necho called >>{tmp_path}/calls\n")
    done = prepare_browser(tmp_path)
    assert "the browser tests will be skipped" in done.stdout
    assert done.stdout.endswith("went on\n")
    assert not (tmp_path / "calls").exists()


@pytest.mark.parametrize("exit_code", [0, 100])
def test_continuous_integration_installs_a_browser_and_goes_on_when_it_cannot(tmp_path: Path, exit_code: int):
    write_script(tmp_path / "apt-get", f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\nexit {exit_code}\n')
    done = prepare_browser(tmp_path, CI="true")
    assert done.stdout.endswith("went on\n")
    assert ("will be skipped" in done.stdout) == bool(exit_code)
    assert (tmp_path / "calls").read_text(encoding="utf-8").startswith("update\n")


def test_one_cause_runs_few_files_of_the_package():
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "size")], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [files] = re.findall(r"^one cause: (\d+) files", done.stdout, re.MULTILINE)
    # The rest of the record's report (kernels, notes, callbacks) is not needed for it.
    assert int(files) <= MOST_FILES_OF_A_CAUSE
