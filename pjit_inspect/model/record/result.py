"""The result of a call: its trees, each with its arrays.

Not its job: the arrays' values, except single numbers; results of a recorded program (`model.record.record`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.program.layout import ArrayLayout


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultTree:
    """One tree of a result: an entry of the returned tuple, list or dict, or the whole result.

    Attributes:
      path: its path in the result: "[0]", "['params']", ".step"; "" for the result itself.
      kind: the name of its Python type: "dict", "TrainState"; "array" for a single array.
      arrays: its arrays, in order.
      others: number of leaves that are no arrays.
      number: the value of a single array of one element, as text; "" for all others.
    """

    path: str
    kind: str
    arrays: tuple[ArrayLayout, ...] = ()
    others: int = 0
    number: str = ""
