"""The code of `docs/pmap.md` prints what the page shows.

`pytest tests/docs/test_pmap_page.py --update-golden` writes what it prints into the page; then read it.
"""

from __future__ import annotations

from pathlib import Path

import jax
import pytest
from code_blocks import blocks, filled_in, printed_one_after_the_other, read_page

PAGE = "docs/pmap.md"


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="the `pmap` of JAX 0.8 names its arrays otherwise")
def test_its_code_prints_what_it_shows(tmp_path: Path, request: pytest.FixtureRequest):
    printed = printed_one_after_the_other(blocks(read_page(PAGE), "python"), tmp_path)[1:]
    if request.config.getoption("--update-golden"):
        filled_in(PAGE, printed)
    assert blocks(read_page(PAGE), "text") == printed
