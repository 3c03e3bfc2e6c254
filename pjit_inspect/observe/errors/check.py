"""What JAX says of a proposed change: the user's expression, changed, traced once with abstract arrays.

Only functions of JAX's, of numpy's and a few of Python's are called, on shapes and shardings: no function of the user's
runs, no array has data, nothing is compiled. What needs more than that cannot be checked. Not its job: what is proposed
(`analyze.errors`), which expression failed (`observe.errors.scene`).
"""

from __future__ import annotations

import ast
import contextlib
import enum
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy
from jax.core import Tracer

from pjit_inspect.model.report.explained_error import ErrorArray, Fit
from pjit_inspect.observe.errors.mesh_axes import is_array, to_error_array
from pjit_inspect.observe.errors.operands import MISSING, Expression, look_up

_MOST_STEPS = 2_000
_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.MatMult: operator.matmul, ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Pow: operator.pow, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
}  # fmt: skip
_BUILTINS: dict[str, Any] = {
    kind.__name__: kind for kind in (tuple, list, dict, set, frozenset, sorted, len, int, float, bool, slice, range)
}
_KNOWN: dict[str, Any] = {
    "jax": jax, "jnp": jnp, "np": numpy, "P": jax.sharding.PartitionSpec, "NamedSharding": jax.sharding.NamedSharding,
}  # fmt: skip
"""Names that proposals use, where the user's code has none."""
_PLAIN = (
    int, float, complex, str, bytes, bool, enum.Enum, type(None), type(...), numpy.dtype, numpy.generic, slice,
    jax.sharding.PartitionSpec, jax.sharding.Sharding, jax.sharding.Mesh, jax.sharding.AbstractMesh, jax.Device,
)  # fmt: skip
_EXPLICIT, _MANUAL = jax.sharding.AxisType.Explicit, jax.sharding.AxisType.Manual
_SCOPED = re.compile(r"jax\.set_mesh\((\w+)\)")
_LIBRARIES = ("jax", "jaxlib", "numpy", "einops")
_PURE = (
    "jax.numpy", "jax.lax", "jax.nn", "jax.random", "jax.scipy", "jax.sharding", "jax.tree", "jax._src.numpy",
    "jax._src.lax", "jax._src.nn", "jax._src.random", "jax._src.scipy", "jax._src.shard_map", "jax._src.pjit",
    "jax._src.named_sharding", "jax._src.partition_spec", "jax._src.tree", "jax._src.tree_util", "jax._src.image",
    "jax._src.ops", "jax._src.third_party", "jax._src.ad_checkpoint", "jax._src.sharding_impls", "jax._src.mesh",
    "numpy", "einops",
)  # fmt: skip
"""Modules whose functions only compute, but for those of `_IMPURE`."""
_OF_API = (
    "jit", "vmap", "grad", "value_and_grad", "jacrev", "jacfwd", "hessian", "jvp", "vjp", "device_put", "eval_shape",
    "linearize", "devices", "local_devices",
)  # fmt: skip
_IMPURE = (
    "save", "savez", "savez_compressed", "savetxt", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "copyto",
    "put", "place", "putmask", "fill_diagonal", "set_printoptions", "seterr", "set_mesh", "clear_caches",
)  # fmt: skip
_READ_ONLY = (
    "shape", "dtype", "ndim", "size", "T", "get", "filled", "name", "mesh", "spec", "sharding", "axis_names", "devices",
)  # fmt: skip
"""What may be asked of objects that are the user's own, which a method could change."""


_MUTABLE = (dict, list, set, numpy.ndarray)


class _UncheckedError(Exception):
    """What takes more than shapes and shardings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """An expression that JAX refused, ready to be tried with changes. It holds variables: not to be kept.

    Attributes:
      expression: the user's.
      variables: what its names are.
      values: what the operands are, by the names they have in the scene.
      message: what JAX said of it.
    """

    expression: Expression | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""

    def accepts(
        self, fit: Fit, arrays: tuple[ErrorArray, ...] = (), *, is_whole: bool = False
    ) -> ErrorArray | bool | None:
        """Whether JAX takes the expression with this change, and its first array then, if it makes one.

        None where that cannot be known without running it, as where the expression is not known, which a spec in place
        of another does not need.

        Where a function of the user's is called, what is put into it is looked at alone, unless `is_whole`.
        """
        if not fit.is_code:
            return None
        if not fit.replaces and fit.spec is not None:
            return self._takes_spec(fit, arrays)
        known = {a.name: jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays if a.shape is not None and a.dtype}
        trial = replace(self, values={**known, **{k: v for k, v in self.values.items() if v is not MISSING}})
        return trial._changed(fit, is_whole)  # noqa: SLF001

    def _changed(self, fit: Fit, is_whole: bool) -> ErrorArray | bool | None:
        if self.expression is None:
            return None
        own = ast.get_source_segment(self.expression.text, self.expression.node) or ""
        if scoped := _SCOPED.fullmatch(fit.edit):
            mesh = self.variables.get(scoped[1])
            return self._tried(own, mesh=mesh, is_open=True) if isinstance(mesh, jax.sharding.Mesh) else False
        changed = _with(own, fit.replaces, fit.edit) if fit.line is None else ""
        verdict = self._tried(changed) if changed else None
        return self._tried(fit.edit, is_open=True) if verdict is None and not is_whole else verdict

    def _takes_spec(self, fit: Fit, arrays: tuple[ErrorArray, ...]) -> bool | None:
        """Whether a spec in place of the one that was refused splits its array, or is one of a mesh at least."""
        own = [array for array in arrays if array.name == fit.target and array.shape is not None]
        meshes = [mesh for mesh in self.variables.values() if isinstance(mesh, jax.sharding.Mesh)]
        if own and own[0].mesh is not None and all(own[0].mesh.shape):
            meshes = [jax.sharding.AbstractMesh(own[0].mesh.shape, own[0].mesh.axis_names)]
        verdicts = [_is_legal(fit.spec or (), mesh, own[0].shape if own else None) for mesh in meshes]
        return any(verdicts) if verdicts else None

    def _tried(self, text: str, *, mesh: Any = None, is_open: bool = False) -> ErrorArray | bool | None:
        node = _parsed(text)
        if node is None or self.expression is None:
            return None
        said = self._said_of(node, mesh, is_open)
        if not isinstance(said, str):
            return said
        # A refusal counts where the expression as it was is refused for what the user saw.
        first = self._said_of(self.expression.node, None, is_open)
        return False if isinstance(first, str) and first[:60] == self.message[:60] else None

    def _said_of(self, node: ast.expr, mesh: Any, is_open: bool) -> ErrorArray | bool | str | None:
        """What JAX says against an expression; the first array it makes, or True, where it takes it."""
        reader, made = _Reader(self.variables, self.values, is_open), list[ErrorArray | None]()

        def traced(given: Mapping[str, Any]) -> Any:
            leaves = [leaf for leaf in jax.tree.leaves(reader.read(node, given)) if is_array(leaf)]
            made.extend(to_error_array("result", leaf) for leaf in leaves[:1])
            return leaves

        try:
            # What JAX only warns of it does not refuse.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                reader.read(node, None)
                with _in_mesh(reader.abstract, mesh):
                    jax.eval_shape(traced, reader.abstract)
        except (_UncheckedError, jax.errors.ConcretizationTypeError, NameError, NotImplementedError, RecursionError):
            return None
        except Exception as error:
            return str(error) or type(error).__name__
        return next(iter(made), None) or True


def _is_legal(spec: tuple[Any, ...], mesh: Any, shape: tuple[int, ...] | None) -> bool:
    try:
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec))
        if shape is not None:
            sharding.shard_shape(shape)
    except (ValueError, TypeError):
        return False
    return True


def _with(text: str, replaced: str, edit: str) -> str:
    end = r"(?!\w)" if replaced[-1:].isalnum() else ""
    changed, count = re.subn(rf"(?<![\w.]){re.escape(replaced)}{end}", lambda _: edit, text) if replaced else ("", 0)
    return changed if count else ""


@contextlib.contextmanager
def _in_mesh(arrays: Mapping[str, Any], mesh: Any) -> Any:
    """The mesh to trace under: one that is proposed, that of values which are traced, or what is set."""
    if mesh is None:
        meshes = [getattr(getattr(leaf, "sharding", None), "mesh", None) for leaf in jax.tree.leaves(arrays)]
        traced = [own for own in meshes if isinstance(own, jax.sharding.AbstractMesh) and not own.empty]
        typed = [own for own in meshes if isinstance(own, jax.sharding.Mesh) and _EXPLICIT in own.axis_types]
        is_unset = jax.sharding.get_abstract_mesh().empty
        kinds = {held for own in meshes if (held := getattr(own, "axis_types", ()))}
        if len(kinds) > 1 and any(_MANUAL in kind for kind in kinds):
            # What is from outside of a manual region is within it what no trace of ours has.
            raise _UncheckedError
        mesh = traced[0] if traced else typed[0] if typed and is_unset else None
    if mesh is None:
        yield
        return
    # What takes devices needs the mesh itself, which nothing that traces may set.
    with jax.set_mesh(mesh) if isinstance(mesh, jax.sharding.Mesh) else jax.sharding.use_abstract_mesh(mesh):
        yield


class _Reader:
    """Evaluates an expression; first without arrays, which finds those it needs, then with abstract ones."""

    def __init__(self, variables: Mapping[str, Any], values: Mapping[str, Any], is_open: bool) -> None:
        self.variables, self.is_open, self.steps = variables, is_open, 0
        self.abstract: dict[str, Any] = {}
        self.bound: list[dict[str, Any]] = []
        self.operands = {
            ast.dump(node): value for name, value in values.items()
            if value is not MISSING and (node := _parsed(name)) is not None and not isinstance(node, ast.Name)
        }  # fmt: skip

    def read(self, node: ast.AST, given: Mapping[str, Any] | None) -> Any:
        """The value of a part. Without `given` nothing is called, and what takes more than shapes raises."""
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise _UncheckedError
        scopes = [scope for scope in self.bound[::-1] if isinstance(node, ast.Name) and node.id in scope]
        if scopes and isinstance(node, ast.Name):
            return scopes[0][node.id]
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or ast.dump(node) in self.operands:
            value = self._found(node)
            if value is not MISSING:
                return self._held(node, value, given)
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Lambda(args=args, body=body):
                return self._function_of([arg.arg for arg in args.args], body, given)
            case ast.Tuple(elts=parts):
                return tuple(self.read(part, given) for part in parts)
            case ast.List(elts=parts):
                return [self.read(part, given) for part in parts]
            case ast.Set(elts=parts):
                return {self.read(part, given) for part in parts} if given is not None else set()
            case ast.Dict(keys=keys, values=values) if all(keys):
                return {self.read(key, given): self.read(value, given) for key, value in zip(keys, values, strict=True)}  # type: ignore[arg-type]
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(*(None if part is None else self.read(part, given) for part in (lower, upper, step)))
            case ast.BinOp(left=left, op=op, right=right) | ast.Compare(left=left, ops=[op], comparators=[right]):
                parts = [self.read(left, given), self.read(right, given)]
                return self._operated(op, parts, given)
            case ast.UnaryOp(op=op, operand=part):
                return self._operated(op, [self.read(part, given)], given)
            case ast.Subscript(value=holder, slice=index):
                held, key = self.read(holder, given), self.read(index, given)
                return held[_gathered(self._indexed(holder), key)] if given is not None else None
            case ast.Attribute(value=holder, attr="sharding") if is_array(array := self._found(holder)):
                return array.sharding
            case ast.Attribute(value=holder, attr=name) if not name.startswith("_"):
                held = self.read(holder, given)
                # The array of a trace is not the user's; a dict or an array of the host's is.
                if held is not None and not isinstance(held, Tracer) and isinstance(held, _MUTABLE):
                    self._only_read(name)
                return getattr(held, name) if given is not None else None
            case ast.Call(func=func, args=args, keywords=keywords) if all(key.arg for key in keywords):
                return self._called(func, args, keywords, given)
        raise _UncheckedError

    def _function_of(self, names: list[str], body: ast.expr, given: Mapping[str, Any] | None) -> Any:
        """A function that the text defines: it is read as the rest is, whenever JAX calls it."""

        def call(*values: Any, **named: Any) -> Any:
            self.bound.append(dict(zip(names, values, strict=False)) | named)
            try:
                return self.read(body, given)
            finally:
                self.bound.pop()

        return call if given is not None else call(*[None] * len(names))

    def _only_read(self, name: str) -> None:
        if name not in _READ_ONLY:
            raise _UncheckedError

    def _operated(self, op: ast.AST, parts: list[Any], given: Mapping[str, Any] | None) -> Any:
        if type(op) not in _OPERATORS:
            raise _UncheckedError
        return _OPERATORS[type(op)](*parts) if given is not None else None

    def _called(self, func: ast.expr, args: list[ast.expr], keywords: list[ast.keyword], given: Any) -> Any:
        if isinstance(func, ast.Name) and func.id not in self.variables and func.id in _BUILTINS:
            function = _BUILTINS[func.id]
        else:
            function = self._function(func, given)
        values = [self.read(part, given) for part in args]
        named = {key.arg: self.read(key.value, given) for key in keywords}
        return function(*values, **named) if given is not None else None  # type: ignore[arg-type]

    def _function(self, func: ast.expr, given: Mapping[str, Any] | None) -> Any:
        try:
            return self.read(func, given)
        except _UncheckedError:
            if not self.is_open:
                raise
            # The user's own, which does not run: its arguments alone are looked at.
            return lambda *values, **named: (values, named)

    def _indexed(self, holder: ast.expr) -> Any:
        """The user's array that is indexed, if its brackets or those of its `.at` stand there."""
        return self._found(holder.value if isinstance(holder, ast.Attribute) and holder.attr == "at" else holder)

    def _found(self, node: ast.AST) -> Any:
        root = node
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if isinstance(root, ast.Name) and any(root.id in scope for scope in self.bound):
            return MISSING
        dumped = ast.dump(node)
        if dumped in self.operands:
            return self.operands[dumped]
        if isinstance(node, ast.Attribute) and isinstance(holder := self._found(node.value), ModuleType):
            return getattr(holder, node.attr, MISSING) if _is_library(holder) else MISSING
        value = look_up(node, self.variables) if isinstance(node, ast.expr) else MISSING
        if value is MISSING and isinstance(node, ast.Name):
            return {**_BUILTINS, **_KNOWN}.get(node.id, MISSING)
        return value

    def _held(self, node: ast.AST, value: Any, given: Mapping[str, Any] | None) -> Any:
        """A variable as the trace sees it: arrays by their types alone."""
        key = ast.dump(node)
        if given is not None and key in given:
            return given[key]
        if isinstance(value, _PLAIN) or (isinstance(value, (ModuleType, type)) and _is_library(value)):
            return value
        if any(value is known for known in _BUILTINS.values()):
            return value
        if (
            isinstance(value, numpy.ndarray)
            and value.size <= _MOST_STEPS
            and (value.dtype.kind in "iub" or isinstance(value, numpy.ma.MaskedArray))
        ):
            # Numbers of the host's, such as how often each row repeats, or what has no type of JAX's: to be known.
            return value
        if is_array(value):
            self.abstract[key] = _abstract(value)
            return value
        if isinstance(value, (dict, list, tuple, set, frozenset)):
            if all(map(is_array, leaves := jax.tree.leaves(value))) and leaves:
                self.abstract[key] = jax.tree.map(_abstract, value)
                return value
            if all(isinstance(leaf, _PLAIN) for leaf in (value if isinstance(value, (set, frozenset)) else leaves)):
                return value
        if isinstance(value, jax.stages.Compiled):
            raise _UncheckedError
        if callable(value) and _is_pure(value) and _is_pure(getattr(value, "__wrapped__", value)):
            return value
        raise _UncheckedError


def _gathered(array: Any, key: Any) -> Any:
    """An index as JAX takes it of an array that is split, and that it has: as a gather, where a trace would slice."""
    parts = key if isinstance(key, tuple) else (key,)
    is_traced = not isinstance(array, jax.Array) or isinstance(array, Tracer) or array.sharding.is_fully_replicated
    if is_traced or not all(isinstance(part, (int, slice)) for part in parts) or len(parts) > array.ndim:
        return key
    slices = [place for place, part in enumerate(parts) if isinstance(part, slice)]
    return tuple(
        numpy.arange(length)[part].reshape([-1 if place == own else 1 for own in slices] or [1])
        for place, (part, length) in enumerate(zip(parts, array.shape, strict=False))
    )


def _is_pure(function: Any) -> bool:
    """Whether a function is a library's that only computes."""
    home, called = getattr(function, "__module__", None), getattr(function, "__name__", "")
    if not isinstance(home, str) or called in _IMPURE or home.startswith("numpy.random"):
        return False
    if home.startswith(("jax._src.api", "jax._src.dispatch", "jax._src.xla_bridge")) or home == "jax":
        return called in _OF_API
    return any(home == pure or home.startswith(f"{pure}.") for pure in _PURE)


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(f"({text}\n)", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _is_library(value: Any) -> bool:
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return isinstance(home, str) and home.partition(".")[0] in _LIBRARIES


def _abstract(value: Any) -> Any:
    # A tracer knows its type only; a numpy array, that it is on no device.
    aval = getattr(value, "aval", None)
    holder = aval if isinstance(value, Tracer) else value
    sharding = getattr(holder, "sharding", None)
    is_named = isinstance(sharding, jax.sharding.NamedSharding) and not sharding.mesh.empty
    return jax.ShapeDtypeStruct(value.shape, value.dtype, sharding=sharding if is_named else None)
