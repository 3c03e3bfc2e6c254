"""Changes to a program that keep its function: the mesh, the machine, and the sharding of arrays.

Not its job: finding the choices that divide (`analyze.play`), or asking XLA about them (`handles.play`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.program.mesh import PartitionSpec
from pjit_inspect.model.program.source import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One choice of mesh axes for a dimension.

    Attributes:
      axes: mesh axes, outermost first; () for none.
      allowed: whether `jax.jit` accepts it.
      why_not: why not ("16 / 32 = 0.50: does not divide"); "" if it is allowed.
      is_chosen: whether it is the dimension's present choice.
    """

    axes: tuple[str, ...]
    allowed: bool = True
    why_not: str = ""
    is_chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentGroup:
    """Arguments with one sharding, because they are the same array of equal layers.

    Attributes:
      label: their common name, layers starred ("params['layers'][*]['w1']").
      family: the common name of all equal arrays, including those in other groups because they are split differently.
      paths: the path of each argument, in order.
      shape: the global shape of each.
      dtype: JAX's name of the element type.
      spec: their sharding, an entry per dimension; None if they differ, or follow no mesh axes.
      follows: the label of the parameter group they follow, as optimizer state does; None for others.
      is_cut_loose: whether they could follow a group, but have a separate spec.
      choices: for each dimension the choices of axes.
      global_bytes: bytes of all of them, held once; None if the width of an element is unknown.
      bytes_per_device: bytes of all of them on one device (counted); None likewise.
      copies: the number of devices that hold each element (counted).
      problem: why `jax.jit` rejects the spec, with the arithmetic; "" if it does not.
    """

    label: str
    family: str
    paths: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str
    spec: PartitionSpec | None
    follows: str | None = None
    is_cut_loose: bool = False
    choices: tuple[tuple[Choice, ...], ...] = ()
    global_bytes: int | None = None
    bytes_per_device: int | None = None
    copies: int | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintControl:
    """The `with_sharding_constraint`s of one line of the user's code, or one that the setting adds.

    Attributes:
      place: its line, which identifies it in changes ("train.py:41"); for a new one the line and the expression of the
        value.
      source: the line's frames, innermost first.
      count: their number in the program, including those made by differentiation.
      shape: the global shape of the constrained value; None if they differ.
      asked: the spec that the program asks for; None if they differ.
      spec: the spec after the change; None if the constraint is removed, or `asked` is None.
      is_on: whether it is kept.
      is_new: whether a preset or a search added it; removing it deletes it.
      choices: for each dimension the choices of axes.
      problem: as in `ArgumentGroup`.
    """

    place: str
    source: tuple[Frame, ...] = ()
    count: int = 1
    shape: tuple[int, ...] | None = None
    asked: PartitionSpec | None = None
    spec: PartitionSpec | None = None
    is_on: bool = True
    is_new: bool = False
    choices: tuple[tuple[Choice, ...], ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultControl:
    """Results with one sharding, because they are the same array of equal layers.

    Attributes:
      label: their common name.
      paths, shape, dtype, choices, problem: as in `ArgumentGroup`.
      spec: their sharding; None if XLA chooses it and it is not known yet.
      is_free: whether XLA chooses it.
      bytes_per_device: bytes of all of them on one device (counted); None if the spec is unknown.
    """

    label: str
    paths: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str
    spec: PartitionSpec | None
    is_free: bool = True
    choices: tuple[tuple[Choice, ...], ...] = ()
    bytes_per_device: int | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """Everything that can be changed, with its present settings.

    Attributes:
      mesh: axes with their sizes, outermost first.
      target: the machine ("cpu:8", "tpu:v5e:2x4").
      groups: the arguments in order, equal layers grouped.
      constraints: the user's constraints, in program order, and new ones after them.
      results: the results, equal layers grouped.
    """

    mesh: tuple[tuple[str, int], ...]
    target: str
    groups: tuple[ArgumentGroup, ...] = ()
    constraints: tuple[ConstraintControl, ...] = ()
    results: tuple[ResultControl, ...] = ()

    @property
    def devices(self) -> int:
        """The number of devices in the mesh."""
        count = 1
        for _, size in self.mesh:
            count *= size
        return count

    def group(self, name: str) -> ArgumentGroup | None:
        """The group of this label, or that has this path; None where there is none."""
        return next((own for own in self.groups if name == own.label or name in own.paths), None)
