"""The known facts of one of JAX's errors: its text, its origin, and changes that would fit.

Strings and numbers only, so that an explanation keeps no array, frame or exception alive. Not its job: reading the
message and finding what fits (`analyze.errors`), or the traceback (`observe.errors.scene`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pjit_inspect.model.program.mesh import Mesh, MeshAxes, SpecEntry
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.words.sentence import Sentence

ErrorKind = Literal[
    "indivisible", "contraction", "conflict", "axis twice", "indexing", "reshape", "split dimension", "other spec",
    "mesh", "devices", "rank", "unknown axis", "repeated axis", "mesh size", "new size", "update", "convolution",
    "compiled", "no mesh", "prefix", "pmap", "ordered effects", "loop type", "branch type", "replication",
    "loop structure", "branch structure", "callback", "deleted", "static argument", "traced value", "leaked value",
    "out of memory", "unbound axis", "collective",
    "kernel", "manual axes", "unreduced", "memory space", "shards", "exported", "mapped", "gradient", "tree",
    "argument", "random key", "unknown",
]  # fmt: skip
"""The subject of an error. The last but one are those of `analyze/errors/messages.txt`; "unknown" is any other."""

PLACING = (
    "device_put", "with_sharding_constraint", "reshard", "make_array_from_callback",
    "make_array_from_process_local_data", "shard_shape",
)  # fmt: skip
"""Functions whose arrays are what their first argument holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorArray:
    """An array that an error is about. What is not known is "", None or ().

    Attributes:
      name: the user's name of it (`params['w']`), or what it is in the operation ("lhs").
      dtype: its element type as JAX writes it.
      shape: its global shape.
      spec: how it is split, one entry per dimension when `shape` is known; None when that is not known.
      mesh: the mesh the spec is on; a `Mesh` where its devices are known.
      device_ids: the devices it is on, in the order of its sharding.
      is_named: whether `name` is the user's.
    """

    name: str
    dtype: str = ""
    shape: tuple[int, ...] | None = None
    spec: tuple[SpecEntry, ...] | None = None
    mesh: MeshAxes | None = None
    device_ids: tuple[int, ...] = ()
    is_named: bool = False

    @property
    def local_shape(self) -> tuple[int, ...] | None:
        """The piece of one device; None if it is not known or the axes do not divide a dimension."""
        if self.shape is None or self.spec is None or self.mesh is None or len(self.spec) > len(self.shape):
            return None
        local = list(self.shape)
        for dimension, entry in enumerate(self.spec):
            names = () if entry is None else (entry,) if isinstance(entry, str) else entry
            parts = math.prod(self.mesh.sizes.get(name, 0) for name in names)
            if parts < 1 or local[dimension] % parts:
                return None
            local[dimension] //= parts
        return tuple(local)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorArgument:
    """One argument of the call that failed, as it was written.

    Attributes:
      key: the keyword, or the position as a number.
      text: the user's text of its value.
      type: the name of the value's type; "" when it is not known.
      paths: where the leaves of its value are, None being one; () when it is not known. Of calls with functions only.
      is_static: whether the jitted function that is called, if that is known, has it as a static argument.
    """

    key: str
    text: str
    type: str = ""
    paths: tuple[str, ...] = ()
    is_static: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorFunction:
    """A function of the user's among the arguments of the call that failed, or which what it calls is made of.

    Attributes:
      key: which argument it is: the keyword, or the position as a number; `1[2]` for the third of a list; or "".
      name: what Python calls it; "" for a lambda.
      parameters: the names of its positional parameters.
      returns: the line and the text of what each `return` returns; None when its source cannot be read.
      file: the file of these lines.
      values: what is assigned to each name in it, as text: of several, the last.
    """

    key: str
    name: str
    parameters: tuple[str, ...] = ()
    returns: tuple[tuple[int, str], ...] | None = None
    file: str = ""
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorScene:
    """The origin of an error, as far as its traceback tells.

    Attributes:
      frame: the innermost line of the user's code; None when there is none.
      line: the text of that line; "" when it cannot be read.
      operator: what the failing expression does: "@", "+", "[]", or the name of the function it calls.
      operands: the arrays in the failing expression, in order; those of a tree by their paths.
      checked: JAX's own name of the argument it checked, such as `params['w']`; "" when it is not known.
      subscripts: what picks: the text between the brackets of `t[i]` and of `t.at[i]`, or the first argument of a call
        when it is a string, as in `einsum('ij,jk->ik', ...)`.
      meshes: the meshes that the user's variables hold, each with the variable's name; "" for one the line cannot see.
      is_complete: whether the value of every part of the expression that may be an array was found; if not, the only
        one in `operands` with some shape need not be the only one.
      is_mesh_set: whether a mesh is set where the error is explained.
      is_filtered: whether JAX took frames of its own out of the traceback.
      expression: the user's text of the failing expression; "" when it cannot be read or is a library's.
      arguments: the arguments of the call that it is; () when it is none, or unpacks some.
      specs: each PartitionSpec in the expression, its text as the name.
      statement: the statement that the line begins: "if", "while" or "assert"; "" for any other.
      condition: the text of that statement's condition.
      deleted: the operands whose data is gone, by the names they have in `operands`.
      taken: calls that take the data of such an operand, each as its line, its text, and whether it surely ran before.
      places: `file:line` of the definition of each function that was running, as far as the traceback has it.
      jax_name: what JAX calls the function of numpy or `math` that the expression calls ("jnp.sin"); "" for any other.
      is_mapped: whether the expression calls a function that `jax.pmap` made.
      functions: the functions of the user's among the call's arguments, and those that what is called is made of.
      computed: the names that the function gave a value which a call returned, before the line or in a loop around it.
    """

    frame: Frame | None = None
    line: str = ""
    operator: str = ""
    operands: tuple[ErrorArray, ...] = ()
    checked: str = ""
    subscripts: str = ""
    meshes: Mapping[Mesh, str] = field(default_factory=dict)
    is_complete: bool = True
    is_mesh_set: bool = False
    is_filtered: bool = False
    expression: str = ""
    arguments: tuple[ErrorArgument, ...] = ()
    specs: tuple[ErrorArray, ...] = ()
    statement: str = ""
    condition: str = ""
    deleted: tuple[str, ...] = ()
    taken: tuple[tuple[int, str, bool], ...] = ()
    places: tuple[str, ...] = ()
    jax_name: str = ""
    is_mapped: bool = False
    functions: tuple[ErrorFunction, ...] = ()
    computed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """One change that makes it legal.

    Attributes:
      edit: what to write, as code (a spec, a call), or what to do ("pad dimension 0 from 6 to 8"), a `Sentence`.
      effect: what it does and costs, in words.
      replaces: the user's text that code takes the place of; where the line has no such text (a leaf of a tree), what
        it is to be assigned to. "" for a spec, which takes the place of the one that was refused, for a statement
        before the line, and for advice.
      is_code: whether `edit` is Python; advice in words is not.
      spec: the spec in it; None when it has none.
      target: the array that `spec` is for: an operand's name, or "result".
      line: the line of the file that has `replaces`, where that is not the error's own; None elsewhere.
      is_same: whether what was asked for is then computed, as far as known; where not, `effect` says what is.
      is_checked: whether JAX takes it, tried on abstract arrays; of a call of the user's own function, its arguments
        alone. False for advice, which is also what a change becomes that cannot be tried.
    """

    edit: str
    effect: Sentence
    spec: tuple[SpecEntry, ...] | None = None
    target: str = ""
    replaces: str = ""
    is_code: bool = True
    line: int | None = None
    is_same: bool = True
    is_checked: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedError:
    """An error explained.

    Attributes:
      kind: which error it is; "unknown" for one that is not known.
      sentence: what is wrong, in one sentence; it knows which of its words are arrays, axes, specs and code.
      frame: the innermost line of the user's code; None when there is none.
      line: the text of that line; "" when it cannot be read.
      arrays: the arrays it is about.
      fits: what would make it legal, the nearest to what was asked first; () when nothing is known to.
      notes: what else is to be known, such as what could not be told.
    """

    kind: ErrorKind
    sentence: Sentence
    frame: Frame | None = None
    line: str = ""
    arrays: tuple[ErrorArray, ...] = ()
    fits: tuple[Fit, ...] = ()
    notes: tuple[Sentence, ...] = ()
