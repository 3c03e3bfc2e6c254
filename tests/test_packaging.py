"""The wheel and the sdist: what is in them, that each installs without a network and works, and whose code they hold.

Not its job: versions of dependencies (`scripts/test-versions`).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

hatchling = pytest.importorskip("hatchling", reason="the test extra of pyproject.toml brings hatchling")

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "pjit_inspect"
FRONT = PACKAGE / "view" / "front"
LICENSES = FRONT / "LICENSES.txt"
BESIDE_PYTHON = {"SKILL.md", "analyze/errors/messages.txt", "py.typed", "view/front/LICENSES.txt"} | {
    f"view/front/{bundle}.js" for bundle in ("loader", "inspector", "compare", "play", "passes")
}
"""What the wheel holds of the package that is no Python."""


@dataclass(frozen=True, slots=True)
class Built:
    """Both archives, and the folder that the sdist was unpacked to."""

    wheel: Path
    sdist: Path
    unpacked: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", str(folder), path=search_path())
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return Built(wheel, sdist, folder / sdist.name.removesuffix(".tar.gz"))


def run(*command: str, cwd: Path = ROOT, path: list[str] | None = None) -> str:
    """What a command prints, which must succeed; Python finds nothing of this checkout but on `path`."""
    settings = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "IPYTHONDIR")}
    if path is not None:
        settings["PYTHONPATH"] = os.pathsep.join(path)
    done = subprocess.run(command, cwd=cwd, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def search_path() -> list[str]:
    """Where the packages that this Python uses are: its own, and where hatchling is."""
    own = sysconfig.get_paths()
    return list(dict.fromkeys((own["purelib"], own["platlib"], str(Path(hatchling.__file__ or "").parents[1]))))


def in_wheel(built: Built) -> set[str]:
    with zipfile.ZipFile(built.wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


def in_sdist(built: Built) -> set[str]:
    return {str(path.relative_to(built.unpacked)) for path in built.unpacked.rglob("*") if path.is_file()}


def test_the_wheel_is_small(built: Built) -> None:
    assert built.wheel.stat().st_size <= 1_750_000


def test_the_wheel_holds_the_package_and_nothing_else(built: Built) -> None:
    python = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if "node_modules" not in path.parts}
    inside = in_wheel(built)
    described = {name for name in inside if ".dist-info/" in name}
    assert inside - described == {f"pjit_inspect/{name}" for name in python | BESIDE_PYTHON}
    licenses = {name.partition("/licenses/")[2] for name in described if "/licenses/" in name}
    assert licenses == {"LICENSE", "pjit_inspect/view/front/LICENSES.txt"}
    told = LICENSES.read_text(encoding="utf-8").split("These npm packages")[0]
    scripts = {name.rpartition("/")[2] for name in BESIDE_PYTHON if name.endswith(".js")}
    assert set(re.findall(r"[a-z]+\.js", told)) == scripts


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="an unpacked sdist has no list of what was checked in")
def test_the_sdist_holds_all_that_is_checked_in(built: Built) -> None:
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")
    checked_in = {name for name in listed if name and (ROOT / name).is_file()}
    assert in_sdist(built) == checked_in | {"PKG-INFO"}


def test_the_sdist_makes_the_same_wheel(built: Built, tmp_path: Path) -> None:
    run(
        *(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)),
        cwd=built.unpacked,
        path=search_path(),
    )
    (again,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(built.wheel) as first, zipfile.ZipFile(again) as second:
        assert {name: first.read(name) for name in first.namelist()} == {
            name: second.read(name) for name in second.namelist()
        }


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """The Python of a new environment that finds this one's packages, but not this checkout."""
    run(sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv"))
    python = tmp_path / "venv" / "bin" / "python"
    site = run(str(python), "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])").strip()
    Path(site, "others.pth").write_text("\n".join(search_path()) + "\n", encoding="utf-8")
    return python


@pytest.mark.parametrize("archive", ["wheel", "sdist"])
def test_it_installs_without_a_network_and_works(built: Built, fresh: Path, tmp_path: Path, archive: str) -> None:
    pip = (sys.executable, "-m", "pip", "--python", str(fresh), "install", "--no-index", "--no-deps")
    # This environment may have the package as well, which pip is not to replace.
    run(*pip, "--no-build-isolation", "--ignore-installed", "--quiet", str(getattr(built, archive)))
    where = run(str(fresh), "-c", "import pjit_inspect; print(pjit_inspect.__file__)", cwd=tmp_path).strip()
    assert Path(where).is_relative_to(tmp_path / "venv")
    said = run(str(fresh), str(built.unpacked / "scripts" / "smoke.py"), cwd=tmp_path)
    assert said.endswith("  %unload_ext\n")


# ---------------------------------------------------------------- whose code it is


def front_imports() -> Iterator[tuple[str, str]]:
    """Each source of the inspector's JavaScript with each module that it imports, types in comments left out."""
    for path in (FRONT / "src").rglob("*.js"):
        code = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        named = re.findall(r"""^\s*(?:import|export)\s+[\w\s{},*$]+?\bfrom\s*["']([^"']+)["']""", code, re.MULTILINE)
        others = re.findall(r"""^\s*import\s*["']([^"']+)["']|\b(?:import|require)\(\s*["']([^"']+)["']""", code, re.M)
        yield from ((path.name, module) for module in (*named, *(one or other for one, other in others)))


def test_no_code_of_a_package_goes_into_the_bundle() -> None:
    found = list(front_imports())
    assert len(found) > 50
    assert [(name, module) for name, module in found if not module.startswith(".")] == []
    assert "dependencies" not in json.loads((FRONT / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((FRONT / "package-lock.json").read_text(encoding="utf-8"))
    assert all(package["dev"] for name, package in lock["packages"].items() if name)


def test_the_tools_that_make_the_bundle_are_named_with_version_and_licence() -> None:
    packages = json.loads((FRONT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    named = re.findall(r"^  (\S+) (\S+)\s+(\S+)$", LICENSES.read_text(encoding="utf-8"), re.MULTILINE)
    tools = [(name, packages[f"node_modules/{name}"]) for name in packages[""]["devDependencies"]]
    assert named == [(name, tool["version"], tool["license"]) for name, tool in tools]
    # The others in the lock file are these tools' own programs for each machine.
    owners = {name.removeprefix("node_modules/").split("/")[0].removeprefix("@") for name in packages if name}
    assert owners == {name for name, _ in tools}


def test_the_licence_files_are_those_of_the_project_file() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert all((ROOT / name).is_file() for name in project["license-files"])
    assert str(LICENSES.relative_to(ROOT)) in project["license-files"]
