"""What axe-core finds wrong with a page, run in the page itself; tests are skipped where it is not installed.

Not its job: which pages.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest

from pjit_inspect.view.inspector.page import BUNDLE

__all__ = ["AROUND", "wrong"]

AROUND = ("document-title", "html-has-lang", "landmark-one-main", "region", "page-has-heading-one")
"""Rules about the page around a widget, which is the notebook's."""
AXE = BUNDLE.parent / "node_modules" / "axe-core" / "axe.min.js"

WRONG = """async () => {
  const { violations } = await axe.run();
  const told = ({ html, failureSummary }) => [html, failureSummary];
  return violations.map(({ id, nodes }) => [id, nodes.length, ...nodes.slice(0, 3).map(told)]);
}"""


@functools.cache
def axe_source() -> str:
    if not AXE.exists():
        pytest.skip("needs axe-core: npm ci in pjit_inspect/view/front")
    return AXE.read_text(encoding="utf-8")


def wrong(frame: Any) -> list[Any]:
    """What axe finds: rule, number of places, the first of them."""
    frame.evaluate(f"() => {{ {axe_source()} }}")
    return frame.evaluate(WRONG)
