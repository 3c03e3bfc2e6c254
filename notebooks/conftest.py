"""`pytest --nbval notebooks` compares every word the tutorials print, and of each display how its text begins.

scripts/compared_outputs.py says why. Not its job: what the tutorials must have (tests/docs/test_tutorials.py).
"""

import importlib.util
from pathlib import Path

_PATH = Path(__file__).resolve().parents[1] / "scripts" / "compared_outputs.py"
_SPEC = importlib.util.spec_from_file_location("compared_outputs", _PATH)
_MODULE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)


def pytest_itemcollected(item):
    """Let a cell of a notebook compare what is to be compared."""
    compare = getattr(item, "compare_outputs", None)
    if compare is None or item.path.suffix != ".ipynb":
        return
    keep = _MODULE.compared_outputs
    item.compare_outputs = lambda test, ref, skip_compare=None: compare(keep(test), keep(ref), skip_compare)
