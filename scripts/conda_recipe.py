"""Prints the recipe for conda-forge, from `pyproject.toml` and the sdist that PyPI has.

    python scripts/conda_recipe.py dist/pjit_inspect-0.2.0.tar.gz > recipe.yaml

Only the name of a maintainer and the address of the project are to be filled in: the project states neither.
"""

from __future__ import annotations

import hashlib
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

_RECIPE = """\
schema_version: 1

context:
  version: "{version}"
  python_min: "{python_min}"

package:
  name: {name}
  version: ${{{{ version }}}}

source:
  url: https://pypi.org/packages/source/{initial}/{name}/{module}-${{{{ version }}}}.tar.gz
  sha256: {sha256}

build:
  number: 0
  noarch: python
  script: ${{{{ PYTHON }}}} -m pip install . -vv --no-deps --no-build-isolation
  python:
    entry_points:
      - {command}

requirements:
  host:
    - python ${{{{ python_min }}}}.*
    - pip
    - hatchling
  run:
    - python >=${{{{ python_min }}}}
{dependencies}

tests:
  - python:
      imports: [{module}]
      pip_check: true
      python_version: ${{{{ python_min }}}}.*
  - script:
      - {program} --help

about:
  summary: "{description}"
  license: {license}
  license_file: [{license_files}]

extra:
  recipe-maintainers: []
"""


def recipe(sdist: Path) -> str:
    """The recipe for the release whose sdist is given."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ((program, function),) = project["scripts"].items()
    return _RECIPE.format(
        version=sdist.name.removesuffix(".tar.gz").rpartition("-")[2],
        python_min=project["requires-python"].removeprefix(">="),
        name=project["name"],
        initial=project["name"][0],
        module=project["name"].replace("-", "_"),
        sha256=hashlib.sha256(sdist.read_bytes()).hexdigest(),
        command=f"{program} = {function}",
        program=program,
        # conda writes "name >=1"; the names are the same there.
        dependencies="\n".join(f"    - {one.replace('>=', ' >=')}" for one in project["dependencies"]),
        description=project["description"],
        license=project["license"],
        license_files=", ".join(project["license-files"]),
    )


if __name__ == "__main__":
    sys.stdout.write(recipe(Path(sys.argv[1])))
