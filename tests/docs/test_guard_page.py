"""What `docs/guard.md` shows works: its tests, its budget, and the steps of its workflow, without GitHub."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from code_blocks import blocks, read_page

PAGE = read_page("docs/guard.md")
NAMED = {text.splitlines()[0].removeprefix("# "): text for kind in ("python", "toml") for text in blocks(PAGE, kind)}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files that the page shows, as they are before and after a pull request."""
    for folder in (tmp_path, tmp_path / "base"):
        folder.mkdir(exist_ok=True)
        for name in ("train.py", "test_train.py", "budget.toml"):
            (folder / name).write_text(NAMED[name])
    return tmp_path


def run(command: list[str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(Path(__file__).parents[2]), **more}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_tests_of_the_page_pass(project: Path):
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_train.py"]
    loaded = [] if "pjit_inspect" in run([sys.executable, "-m", "pytest", "--trace-config"], project).stdout else [
        "-p", "pjit_inspect.testing.plugin"
    ]  # fmt: skip
    made = run([*command, *loaded, "--pjit-golden-update"], project, **flags)
    assert "2 passed" in made.stdout, made.stdout + made.stderr
    assert "2 passed" in run([*command, *loaded], project, **flags).stdout


def test_the_budget_of_the_page_gives_the_text_of_the_page(project: Path):
    command = [sys.executable, "-m", "pjit_inspect", "check", "train.py:step", "--budget", "budget.toml"]
    found = run([*command, "--devices", "8"], project)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout in blocks(PAGE, "text")


def test_the_steps_of_the_workflow_run(project: Path):
    """`pip` and `gh` are programs of the test here; each says how it was called."""
    stubs = project / "stubs"
    stubs.mkdir()
    for name in ("pip", "gh"):
        (stubs / name).write_text(f'#!/bin/sh\necho {name} "$@"\n')
        (stubs / name).chmod(0o755)
    (text,) = blocks(PAGE, "yaml")
    steps = [step["run"] for step in yaml.safe_load(text)["jobs"]["check"]["steps"] if "run" in step]
    assert len(steps) == 3
    path = f"{stubs}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # A budget that does not hold ends the job, and the comment is made all the same.
    (project / "budget.toml").write_text(NAMED["budget.toml"].replace("48 KiB", "1 KiB"))
    found = [run(["bash", "-e", "-c", re.sub(r"\$\{\{.*?\}\}", "7", step)], project, PATH=path) for step in steps]
    assert [one.returncode for one in found] == [0, 1, 0], found
    assert found[1].stdout == "mlp: 1 of 6 budgets exceeded\nwrote comment.md\n"
    assert found[2].stdout == "gh pr comment 7 --body-file comment.md --edit-last --create-if-none\n"
    comment = (project / "comment.md").read_text()
    assert comment.startswith("### `mlp`: 1 of 6 budgets exceeded; nothing differs")
    assert "| sent over model, KiB | 48.00 | **48.00** | same | 1.00 | modelled, ring |" in comment
