"""The facts of the cache key of one compile: JAX looked it up, found no program, and compiled one.

Everything is a copy of short text and numbers: nothing here keeps a function, an array or a tracer alive. Not its job:
collecting the facts (`observe.key.compile_key`), comparing them (`analyze.recompiles.key_differences`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.program.layout import Sharding
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.program.source import Frame

FunctionKind = Literal["function", "lambda", "partial", "method", "object", "wrapper", "primitive"]

CacheLayer = Literal["tracing", "lowering", "compilation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedText:
    """A value by its name, as short text.

    Attributes:
      name: `n`, `scale`, `jax_enable_x64`, ...
      text: the value, cut to 80 characters; an array is its type and shape.
      serial: the number this process gave the object, so that two objects of one text can be told apart; objects that
        JAX takes for equal (`==`) share one. None for values that are equal when their texts are (numbers, strings,
        tuples of these) or cannot be tracked.
      digest: a hash of the whole value, for texts that are cut; None when it has none.
      unequal: True for a value that is not equal to itself, such as NaN: JAX finds a program for it again only by the
        very same object.
    """

    name: str
    text: str
    serial: int | None = None
    digest: int | None = None
    unequal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionKey:
    """The function object that was given to `jax.jit`; JAX's first cache is keyed on its identity.

    Attributes:
      name: the qualified name of the innermost function under wrappers and partials (`Model.loss`, `<lambda>`); of a
        primitive, its name.
      kind: what the object itself is; a "wrapper" has another function in its `__wrapped__`.
      wrapper: for a "wrapper", the function that made it, such as `grad`; for a primitive that `pmap` or `shard_map`
        runs by itself, outside jit, the function of the user's it belongs to; "" otherwise.
      serial: the number this process gave the object; None when JAX did not show it.
      place: where the innermost function is defined, a lambda with its columns; None when that is not known.
      version: a hash of the text of that file or cell as it stood when the function was first seen; None when there is
        no text.
      twins: how many functions of this qualified name that text defines; None for lambdas and when it is not known.
      code: a hash of the innermost function's bytecode; None when it has none.
      lines: its source as it stood at the first compile, at most 400 lines; () when there is none.
      bound: what the function carries with it: closed-over values, the arguments of a partial, the `self` of a method.
      defaults: the values its arguments have when they are not passed.
    """

    name: str
    kind: FunctionKind = "function"
    wrapper: str = ""
    serial: int | None = None
    place: Frame | None = None
    version: str | None = None
    twins: int | None = None
    code: str | None = None
    lines: tuple[str, ...] = ()
    bound: tuple[NamedText, ...] = ()
    defaults: tuple[NamedText, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """One inner node of the tree of arguments.

    Attributes:
      leaf: the index of the first leaf under it.
      leaves: how many leaves it holds.
      type: `dict`, `list`, `Model`, ...
      data: what it holds beside its leaves: static fields by name; () for keys and lengths, which paths show.
    """

    leaf: int
    leaves: int
    type: str
    data: tuple[NamedText, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentKey:
    """One leaf of the arguments, as JAX's caches see it.

    Attributes:
      path: the user's name for it: `params['w1']`.
      shape: the global shape.
      dtype: JAX's name of the element type.
      weak_type: True for Python numbers and what is computed from them alone.
      type: what was passed: "jax.Array", "numpy.ndarray", "float", "ShapeDtypeStruct", ...; "" when it was not seen.
      committed: True when the array was placed by the user; JAX moves others as it likes. None for what has no place.
      given: how it is cut and where it lies as it arrives; None for what has no place.
      mesh: the mesh of `given`; None when it follows none.
      type_spec: the sharding in its type, on meshes with explicit axes, or one it has on an AbstractMesh, which says
        how but not where; "" elsewhere.
      wanted: the `in_shardings` of jit for it; "" when jit leaves that open.
      layout: its layout in memory where that is not the default; "" otherwise.
    """

    path: str
    shape: tuple[int, ...]
    dtype: str
    weak_type: bool = False
    type: str = ""
    committed: bool | None = None
    given: Sharding | None = None
    mesh: Mesh | None = None
    type_spec: str = ""
    wanted: str = ""
    layout: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FedBack:
    """An argument that an earlier program returned.

    Attributes:
      path: the argument.
      serial: the compile that returned it.
      result: the path of that result; "" when several results of it look the same.
    """

    path: str
    serial: int
    result: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeBy:
    """An argument that a call of another function returned, on fewer devices than the program runs on.

    Attributes:
      path: the argument.
      serial: the compile that returned it.
      function: that function's name.
    """

    path: str
    serial: int
    function: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileKey:
    """Everything one compile was looked up by, and when.

    Attributes:
      serial: compiles are numbered from 1 in the order they ended in this process.
      process: tells one Python process from another, as serials do not.
      thread: the name of the thread that compiled.
      began_s, ended_s: when the first stage seen of it began and when XLA's compile ended, in seconds since 1970.
      clears: how often JAX's caches had been cleared (`jax.clear_caches`); None when JAX does not show it.
      missed: the first of JAX's caches that had no entry; None when nothing was compiled.
      disk: what the compilation cache on disk gave: "hit", "miss", or None when it was not asked.
      transform: "jit", "vmap", "grad forward", "grad backward", "eager", ...
      over: what the transform is over: the arguments that are differentiated, the dimensions that are batched.
      function: what was compiled; None when JAX did not show it.
      statics: static arguments, and the parameters of an eager operation.
      positional: how many arguments were passed by position; None when it is not known.
      keywords: the names of those passed by keyword, in alphabetical order.
      tree: a hash of the tree of arguments; None when it is not known.
      containers: the inner nodes of that tree, outermost first, at most 200.
      arguments: its leaves in order.
      outputs: the `out_shardings` of jit by result, where there are any.
      donated: the paths of the donated arguments.
      options: compiler options given to jit or to `compile`, and jit's `keep_unused` when it is set.
      config: JAX's configuration as far as programs depend on it.
      context: a hash of all that JAX's tracing cache is keyed on beside the call; None when it has none.
      context_mesh: the mesh of `jax.set_mesh` or `with mesh`; "" when there is none.
      devices: the devices of the program, as text ("cpu 0-7").
      dropped: the serials of those earlier programs of the function that were seen to be gone when this one was
        compiled: neither JAX nor the user held them any more.
      fed: the arguments that were seen to be results of an earlier program.
      made: the arguments that were seen to be results of another function, and lie on fewer devices than the program.
      called: the public function of JAX's that the user's line called (`where`, `zeros`); "device_put" for a program
        that only puts arrays on devices; "" when the line called a function of the user's, or nothing with such a name
        (an operator, an index).
      site: a hash of the instructions that led from the user's line to the compile through JAX alone: equal when the
        line ran again; None when another package lies between.
    """

    serial: int
    process: str = ""
    thread: str = ""
    began_s: float = 0.0
    ended_s: float = 0.0
    clears: int | None = None
    missed: CacheLayer | None = None
    disk: Literal["hit", "miss"] | None = None
    transform: str = "jit"
    over: tuple[NamedText, ...] = ()
    function: FunctionKey | None = None
    statics: tuple[NamedText, ...] = ()
    positional: int | None = None
    keywords: tuple[str, ...] = ()
    tree: int | None = None
    containers: tuple[Container, ...] = ()
    arguments: tuple[ArgumentKey, ...] = ()
    outputs: tuple[NamedText, ...] = ()
    donated: tuple[str, ...] = ()
    options: tuple[NamedText, ...] = ()
    config: tuple[NamedText, ...] = ()
    context: int | None = None
    context_mesh: str = ""
    devices: str = ""
    dropped: tuple[int, ...] = ()
    fed: tuple[FedBack, ...] = ()
    made: tuple[MadeBy, ...] = ()
    called: str = ""
    site: int | None = None
