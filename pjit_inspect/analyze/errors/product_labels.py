"""Which dimensions a product of two arrays contracts, as the labels of an `einsum`.

Not its job: their shardings (`analyze.errors.operations`).
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass

_EINSUM = re.compile(r"([a-zA-Z]*),([a-zA-Z]*)->([a-zA-Z]*)")
_MATMUL = ("@", "matmul", "dot")


@dataclass(frozen=True, slots=True)
class Product:
    """The labels of each operand's and the result's dimensions."""

    lhs: str
    rhs: str
    out: str

    @property
    def contracted(self) -> list[str]:
        """The labels that both operands have and the result has not."""
        return [label for label in self.lhs if label in self.rhs and label not in self.out]


def find_product(operator: str, lhs: tuple[int, ...], rhs: tuple[int, ...], subscripts: str) -> Product | None:
    """The product that an operator makes of two shapes; None when it is not known."""
    if operator in _MATMUL:
        # `dot` of more than two dimensions is no matrix product.
        return _matmul(lhs, rhs) if operator != "dot" or max(len(lhs), len(rhs)) <= 2 else None
    labels = _EINSUM.fullmatch(re.sub(r"\s", "", subscripts)) if operator == "einsum" else None
    if labels is None:
        return None
    product = Product(*labels.groups())
    plain = all(len(set(labels)) == len(labels) for labels in (product.lhs, product.rhs, product.out))
    # A label of one operand alone that the result lacks is summed before the product, so JAX multiplies other arrays.
    summed = set(product.lhs) ^ set(product.rhs)
    if not plain or len(product.lhs) != len(lhs) or len(product.rhs) != len(rhs) or not summed <= set(product.out):
        return None
    return product


def _matmul(lhs: tuple[int, ...], rhs: tuple[int, ...]) -> Product | None:
    if not lhs or not rhs or max(len(lhs), len(rhs)) > 20:
        return None
    batches = [shape[:-2] for shape in (lhs, rhs) if len(shape) > 2]
    if len(set(batches)) > 1:
        return None
    batch = string.ascii_lowercase[: len(batches[0])] if batches else ""
    rows, columns = ("M" if len(lhs) > 1 else "", "N" if len(rhs) > 1 else "")
    left = (batch if len(lhs) > 2 else "") + rows + "K"
    right = (batch if len(rhs) > 2 else "") + "K" + columns
    return Product(left, right, batch + rows + columns)
