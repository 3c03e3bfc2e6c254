"""How much of the package's public types a type checker knows, as pyright counts it; 1 when that is below the minimum.

    python scripts/typed.py      scripts/check runs it

Not its job: whether the types are right (pyright).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PERCENT = 99.5
"""What is left are plotly figures: plotly has no types."""


def count() -> dict[str, Any]:
    """What pyright found: `completenessScore`, and `symbols` with what is unknown about each."""
    command = [sys.executable, "-m", "pyright", "--verifytypes", "pjit_inspect", "--ignoreexternal", "--outputjson"]
    # It looks for packages in the environment of the first `python` it finds.
    environment = {**os.environ, "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    try:
        return json.loads(done.stdout)["typeCompleteness"]
    except (ValueError, KeyError):
        sys.exit(f"error: pyright counted nothing: {done.stdout}{done.stderr}")


def main() -> int:
    """Print the figure and every public symbol that lacks a type."""
    found = count()
    percent = 100 * found["completenessScore"]
    print(f"{percent:.2f} % of public types are known; at least {PERCENT} % must be")
    for symbol in found["symbols"]:
        if symbol["isExported"] and not symbol["isTypeKnown"]:
            why = "; ".join(each["message"].splitlines()[0] for each in symbol.get("diagnostics", ()))
            print(f"  {symbol['name']}: {why or 'a part of it has no type'}")
    return int(percent < PERCENT)


if __name__ == "__main__":
    sys.exit(main())
