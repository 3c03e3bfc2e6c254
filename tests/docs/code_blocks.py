"""The code and the text that a Markdown page shows, and what its code prints when it runs.

Not its job: what must be the same (the tests beside it).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]

_BETWEEN = "=" * 9 + "\n"

# In a thread, so that no frame of this code stands under those of the recipe.
_EACH = f"""
import concurrent.futures, runpy, sys
for path in sys.argv[1:]:
    concurrent.futures.ThreadPoolExecutor().submit(runpy.run_path, path).result()
    print({_BETWEEN!r}, end="")
"""


def read_page(name: str) -> str:
    """A page by its path from the root of the checkout."""
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)


def filled_in(name: str, outputs: Sequence[str]) -> None:
    """Writes the outputs into the text blocks of a page, in order."""
    rest = iter(outputs)
    texts = re.compile(r"^```text\n.*?^```$", flags=re.MULTILINE | re.DOTALL)
    page = texts.sub(lambda _: f"```text\n{next(rest)}```", read_page(name))
    (ROOT / name).write_text(page, encoding="utf-8")


def printed_one_after_the_other(codes: Sequence[str], folder: Path) -> list[str]:
    """What each piece of one script prints, saved as `example.py`."""
    script = folder / "example.py"
    # No line more, as places are compared too.
    script.write_text(f"print({_BETWEEN.strip()!r}); ".join(codes), encoding="utf-8")
    return _run([str(script)], folder).split(_BETWEEN)


def printed_each_by_itself(head: str, codes: Sequence[str], folder: Path) -> list[str]:
    """What each code prints, saved behind `head` as a file `recipe.py` of its own; one process runs them all."""
    paths = [folder / str(number) / "recipe.py" for number in range(len(codes))]
    for path, code in zip(paths, codes, strict=True):
        path.parent.mkdir()
        path.write_text(head + "\n" + code, encoding="utf-8")
    return _run(["-c", _EACH, *map(str, paths)], folder).split(_BETWEEN)[:-1]


def _run(arguments: Sequence[str], folder: Path) -> str:
    settings = os.environ | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *arguments], env=settings, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
