"""What a release needs beside the package: the workflow, the citation, and the pages for those who report something.

Not its job: the archives (`tests/test_packaging.py`).
"""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import pjit_inspect

yaml = pytest.importorskip("yaml", reason="jupyterlab of the test extra brings PyYAML")

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
conda_recipe = importlib.import_module("conda_recipe")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def jobs(name: str) -> dict[str, Any]:
    return read(f".github/workflows/{name}.yml")["jobs"]


def test_the_citation_is_of_this_version():
    citation = read("CITATION.cff")
    assert {"cff-version", "message", "title", "authors", "version", "date-released"} <= set(citation)
    assert (citation["version"], citation["license"]) == (pjit_inspect.__version__, PROJECT["license"])
    assert citation["keywords"] == PROJECT["keywords"]
    dated = re.search(
        r"^## \[([\d.]+)\] - ([\d-]+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert dated is not None
    assert [citation["version"], str(citation["date-released"])] == list(dated.groups())


def test_a_release_is_built_once_tested_on_every_python_and_published_by_trust():
    release = jobs("release")
    versions = [each for name in PROJECT["classifiers"] if (each := name.rpartition(" :: ")[2]).startswith("3.")]
    assert release["test"]["strategy"]["matrix"]["python"] == versions
    assert release["test"]["strategy"]["matrix"]["archive"] == ["*.whl", "*.tar.gz"]
    assert (release["test"]["needs"], release["publish"]["needs"]) == ("build", "test")
    assert release["publish"]["permissions"] == {"id-token": "write"}
    assert read(".github/workflows/release.yml")["permissions"] == {"contents": "read"}
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert [job for job, steps in release.items() if any("pypi-publish" in str(step) for step in steps["steps"])] == [
        "publish"
    ]


def test_the_recipe_for_conda_is_of_the_sdist_and_of_what_the_project_says(tmp_path: Path):
    sdist = tmp_path / f"pjit_inspect-{pjit_inspect.__version__}.tar.gz"
    sdist.write_bytes(b"an sdist")
    # rattler-build 0.73 renders what it says (seen once: PyPI's py-rattler-build).
    recipe = yaml.safe_load(conda_recipe.recipe(sdist))
    assert recipe["context"]["version"] == pjit_inspect.__version__
    assert recipe["source"]["sha256"] == "95cd0724dde50450781624283eab9a65260e994122e53e7523cf5c081920341f"
    assert [one.replace(" ", "") for one in recipe["requirements"]["run"][1:]] == PROJECT["dependencies"]
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {own}" for name, own in PROJECT["scripts"].items()]


def test_what_a_workflow_runs_of_the_checkout_is_there():
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    commands = [
        str(step.get("run", "")) for each in workflows for job in jobs(each.stem).values() for step in job["steps"]
    ]
    paths = [path for command in commands for path in re.findall(r"\b(?:checkout/)?(scripts/[\w.]+|\.ci/run)", command)]
    assert "scripts/smoke.py" in paths
    assert [path for path in paths if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize("page", ["SECURITY.md", "CODE_OF_CONDUCT.md"])
def test_the_pages_lead_to_what_is_there(page: str):
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / page).read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


def test_read_the_docs_builds_the_site_as_its_test_does():
    settings = read(".readthedocs.yaml")
    assert (ROOT / settings["sphinx"]["configuration"]).is_file()
    (command,) = settings["build"]["jobs"]["build"]["html"]
    assert "-W --keep-going -b html -c docs/site ." in command
    assert set(settings["python"]["install"][0]["extra_requirements"]) <= set(PROJECT["optional-dependencies"])
