"""Objects that show themselves: rich in a notebook, as text for `print`."""

from __future__ import annotations

from typing import Any


class Displayable:
    """The base of objects that a notebook draws by itself, by their `show`. Each class has its own short `repr`."""

    __slots__ = ()

    def show(self) -> Any:
        """An object to display: rich in a notebook, text in a terminal."""
        raise NotImplementedError

    def __str__(self) -> str:
        return repr(self.show())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.show()._repr_mimebundle_()
