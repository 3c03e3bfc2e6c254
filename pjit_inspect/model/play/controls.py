"""What can be changed of a program without changing its function: the mesh, the machine, and how arrays are split.

Not its job: which choices divide (`analyze.play`), or asking XLA about them (`handles.play`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.spec import PartitionSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One thing that a dimension may be split over.

    Attributes:
      axes: mesh axes, outermost first; () for none.
      allowed: whether `jax.jit` would take it.
      why_not: where it would not, why ("16 / 32 = 0.50: does not divide"); "" where it is allowed.
      is_chosen: whether the dimension is split so.
    """

    axes: tuple[str, ...]
    allowed: bool = True
    why_not: str = ""
    is_chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentGroup:
    """Arguments that are split alike, because they are the same array of equal layers.

    Attributes:
      label: what they are called together, layers starred ("params['layers'][*]['w1']").
      family: what all equal arrays are called together, also those that are split differently, and so of other groups.
      paths: each of them, in the order of the arguments.
      shape: of each of them (global).
      dtype: JAX's name of the element type.
      spec: how they are split, an entry per dimension; None where they differ, or follow no mesh axes.
      follows: the label of the group of parameters they follow, as the state of an optimizer does; None for others.
      is_cut_loose: whether they would follow, but have a spec of their own.
      choices: for each dimension what it may be split over.
      global_bytes: of all of them together, held once; None where the width of an element is unknown.
      bytes_per_device: of all of them together on one device (counted); None likewise.
      copies: how many devices hold each element (counted).
      problem: what keeps `jax.jit` from taking the spec, with the arithmetic; "" where nothing does.
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
    """The `with_sharding_constraint`s of one line of the user's, or a new one of the setting's.

    Attributes:
      place: its line, by which it is changed ("train.py:41"); of a new one its line and what computes the value.
      source: the line's frames, innermost first.
      count: how many there are in the program, those of differentiation among them.
      shape: of what it is put on (global); None where they differ.
      asked: the spec that the program asks for; None where they differ.
      spec: the spec asked for with the change; None where it is left out, or `asked` is None.
      is_on: whether it is left in.
      is_new: whether a preset or a search has put it in; it is gone once it is taken out.
      choices: for each dimension what it may be split over.
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
    """Results that are split alike, because they are the same array of equal layers.

    Attributes:
      label: what they are called together.
      paths, shape, dtype, choices, problem: as in `ArgumentGroup`.
      spec: how they are split; None where that is left to XLA and not known yet.
      is_free: whether it is left to XLA.
      bytes_per_device: of all of them together on one device (counted); None where the spec is not known.
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
    """All that can be changed, as it is set.

    Attributes:
      mesh: axes with their sizes, outermost first.
      target: the machine ("cpu:8", "tpu:v5e:2x4").
      groups: the arguments, those of equal layers together, in the order of the arguments.
      constraints: the user's constraints, in program order, and new ones after them.
      results: the results, those of equal layers together.
    """

    mesh: tuple[tuple[str, int], ...]
    target: str
    groups: tuple[ArgumentGroup, ...] = ()
    constraints: tuple[ConstraintControl, ...] = ()
    results: tuple[ResultControl, ...] = ()

    @property
    def devices(self) -> int:
        """How many devices the mesh has."""
        count = 1
        for _, size in self.mesh:
            count *= size
        return count

    def group(self, name: str) -> ArgumentGroup | None:
        """The group of this label, or that has this path; None where there is none."""
        return next((own for own in self.groups if name == own.label or name in own.paths), None)
