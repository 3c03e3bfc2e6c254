"""Binder opens the tutorials: the folder `binder/` says what its image builder reads.

Not its job: building the image, which needs docker and a network.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BINDER = ROOT / "binder"


def read(name: str) -> str:
    return (BINDER / name).read_text(encoding="utf-8")


def test_the_image_gets_a_python_that_jax_still_supports():
    # Without runtime.txt the image builder takes Python 3.10.
    version = re.fullmatch(r"python-3\.(\d+)\n", read("runtime.txt"))
    assert version
    assert int(version[1]) >= 12


def test_the_image_installs_this_checkout_with_an_extra_that_exists():
    requirement = re.fullmatch(r"-e \.\[(\w+)\]\n", read("requirements.txt"))
    assert requirement
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert requirement[1] in project["optional-dependencies"]


@pytest.mark.parametrize("name", ["start", "postBuild"])
def test_its_scripts_run_as_they_are(name: str):
    assert read(name).startswith("#!/bin/bash\n")
    assert os.access(BINDER / name, os.X_OK)
    subprocess.run(["bash", "-n", str(BINDER / name)], check=True)


def test_the_session_starts_with_eight_cpu_devices_and_hands_over_its_arguments():
    script = [str(BINDER / "start"), "sh", "-c", 'echo "$JAX_PLATFORMS $JAX_NUM_CPU_DEVICES $1"', "sh", "two words"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    done = subprocess.run(script, env=clean, capture_output=True, text=True, check=True)
    assert done.stdout == "cpu 8 two words\n"


def test_the_notebooks_it_trusts_exist():
    patterns = re.findall(r"^jupyter trust (\S+)$", read("postBuild"), flags=re.MULTILINE)
    assert patterns
    assert all(list(ROOT.glob(pattern)) for pattern in patterns)


@pytest.mark.skipif(importlib.util.find_spec("repo2docker") is None, reason="jupyter-repo2docker is not installed")
def test_the_image_builder_copies_the_checkout_before_it_installs_it():
    # `--no-build` prints the Dockerfile and needs neither docker nor a network.
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    rendered = done.stdout + done.stderr
    assert done.returncode == 0, rendered[-2000:]
    assert re.search(r"environment for python=3\.12\b", rendered)
    copied = rendered.index("COPY --chown=0:0 src/ ${REPO_DIR}/")
    installed = rendered.index('pip install --no-cache-dir -r "binder/requirements.txt"')
    assert copied < installed < rendered.index("RUN ./binder/postBuild")
    assert 'R2D_ENTRYPOINT="${REPO_DIR}/binder/start"' in rendered
