"""What to write so that a program becomes a variant: the mesh, the specs of arguments and results, the constraints.

Not its job: proving that it does (`handles.play`).
"""

from __future__ import annotations

from pjit_inspect.analyze.play.facts import Facts
from pjit_inspect.model.play.code import Code
from pjit_inspect.model.play.setting import Setting

__all__ = ["code_for"]


def code_for(facts: Facts, base: Setting, setting: Setting, number: int) -> Code:
    """The lines of a variant, those that differ from the base marked."""
    return Code(number=number, lines=())
