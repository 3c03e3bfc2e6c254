"""Asks JAX about a proposed change: traces the user's expression, changed, with abstract arrays.

Only functions of JAX's, of numpy's and a few of Python's are called, on shapes and shardings: no function of the user's
runs, no array has data, nothing is compiled. What needs more than that cannot be checked. Not its job: what is proposed
(`analyze.errors`), which expression failed (`observe.errors.scene`).
"""

from __future__ import annotations

import ast
import contextlib
import copy
import enum
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
from pjit_inspect.observe.errors.operands import MISSING, Expression, look_up, parsed

_MOST_STEPS = 2_000
_ALLOWED = (
    ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Slice, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Load,
    ast.keyword, ast.operator, ast.USub, ast.UAdd, ast.Invert, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq,
)  # fmt: skip
"""Nodes that are allowed, beside names, calls, attributes, items and functions."""
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
    "reshape", "astype", "ravel", "transpose", "copy", "sum", "mean", "max", "min",
)  # fmt: skip
"""Attributes that change nothing, of objects that may be the user's own."""


_MUTABLE = (dict, list, set, numpy.ndarray)


class _UncheckedError(Exception):
    """Raised for an expression that needs more than shapes and shardings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """An expression that JAX refused, ready to be tried with changes. It holds variables: not to be kept.

    Attributes:
      expression: the user's.
      variables: what its names are.
      values: what the operands are, by the names they have in the scene.
      message: what JAX said of it.
      known: what JAX says of it when it is tried as it is, for the operands that are known by name.
    """

    expression: Expression | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""
    known: dict[tuple[bool, frozenset[str]], Any] = field(default_factory=dict, compare=False)

    def accepts(
        self, fit: Fit, arrays: tuple[ErrorArray, ...] = (), *, is_whole: bool = False
    ) -> ErrorArray | bool | None:
        """Tells whether JAX takes the expression with this change, by the first array that it makes, if it makes one.

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
        """Tells whether a spec divides its array, or at least names axes of a mesh."""
        own = [array for array in arrays if array.name == fit.target and array.shape is not None]
        meshes = [mesh for mesh in self.variables.values() if isinstance(mesh, jax.sharding.Mesh)]
        if own and own[0].mesh is not None and all(own[0].mesh.shape):
            meshes = [jax.sharding.AbstractMesh(own[0].mesh.shape, own[0].mesh.axis_names)]
        verdicts = [_is_legal(fit.spec or (), mesh, own[0].shape if own else None) for mesh in meshes]
        return any(verdicts) if verdicts else None

    def _tried(self, text: str, *, mesh: Any = None, is_open: bool = False) -> ErrorArray | bool | None:
        node = parsed(f"({text}\n)")
        if node is None or self.expression is None:
            return None
        said = self._said_of(node, mesh, is_open)
        if not isinstance(said, str):
            return said
        # A refusal counts where the expression as it was is refused for what the user saw.
        key = is_open, frozenset(self.values)
        if key not in self.known:
            self.known[key] = self._said_of(self.expression.node, None, is_open)
        first = self.known[key]
        return False if isinstance(first, str) and first[:60] == self.message[:60] else None

    def _said_of(self, node: ast.expr, mesh: Any, is_open: bool) -> ErrorArray | bool | str | None:
        """Returns JAX's refusal of an expression; the first array it makes, or True, where it takes it."""
        made = list[ErrorArray | None]()
        try:
            # What JAX only warns of it does not refuse.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                trace = _Trace(self.variables, self.values, is_open)
                evaluate = trace.compiled(node)

                def traced(given: Mapping[str, Any]) -> Any:
                    leaves = [leaf for leaf in jax.tree.leaves(evaluate(given)) if is_array(leaf)]
                    made.extend(to_error_array("result", leaf) for leaf in leaves[:1])
                    return leaves

                with _in_mesh(trace.abstract, mesh):
                    jax.eval_shape(traced, trace.abstract)
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


class _Trace(ast.NodeTransformer):
    """Makes an expression one whose every name is a value that is known to be harmless: arrays are in `abstract`."""

    def __init__(self, variables: Mapping[str, Any], values: Mapping[str, Any], is_open: bool) -> None:
        self.variables, self.is_open, self.steps = variables, is_open, 0
        self.abstract: dict[str, Any] = {}
        self.arrays: dict[str, str] = {}
        self.known: dict[str, Any] = {"__builtins__": {}, "_pjit_get": _get, "_pjit_gathered": _gathered}
        self.bound: list[str] = []
        self.operands = {
            ast.dump(node): value for name, value in values.items()
            if value is not MISSING and (node := parsed(f"({name}\n)")) is not None and not isinstance(node, ast.Name)
        }  # fmt: skip

    def compiled(self, node: ast.expr) -> Callable[[Mapping[str, Any]], Any]:
        """The expression as a function of its arrays. Raises `_UncheckedError` for one that takes more."""
        whole = ast.fix_missing_locations(ast.Expression(self.visit(copy.deepcopy(node))))
        code = compile(whole, "<a way to fix an error>", "eval")
        # Everything it names is in `known` or an abstract array: nothing of the user's is called.
        return lambda given: eval(code, {**self.known, **given})

    def visit(self, node: ast.AST) -> Any:
        """A part, with its names bound."""
        self.steps += 1
        if isinstance(node, ast.Name) and node.id in self.bound:
            return node
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or ast.dump(node) in self.operands:
            value = self._found(node)
            if value is not MISSING:
                return self._held(node, value)
        if self.steps > _MOST_STEPS or not isinstance(
            node, (*_ALLOWED, ast.Lambda, ast.Call, ast.Attribute, ast.Subscript)
        ):
            raise _UncheckedError
        return super().visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        """A function that the text defines, of which JAX calls what is bound here."""
        names = [arg.arg for arg in node.args.args]
        if node.args.defaults or node.args.vararg or node.args.kwonlyargs or node.args.kwarg:
            raise _UncheckedError
        self.bound += names
        node.body = self.visit(node.body)
        del self.bound[len(self.bound) - len(names) :]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """`x.at` of an expression; of what is the user's own, only what cannot change it."""
        if node.attr == "sharding" and is_array(array := self._found(node.value)):
            return self._bound_to(array.sharding)
        if node.attr.startswith("_"):
            raise _UncheckedError
        return ast.Call(ast.Name("_pjit_get", ast.Load()), [self.visit(node.value), ast.Constant(node.attr)], [])

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        """An item, picked as JAX picks it of the user's array, if its brackets or those of its `.at` stand there."""
        holder = node.value
        indexed = self._found(holder.value if isinstance(holder, ast.Attribute) and holder.attr == "at" else holder)
        gathered = [self._bound_to(indexed), self.visit(node.slice)]
        key = ast.Call(ast.Name("_pjit_gathered", ast.Load()), gathered, [])
        return ast.Subscript(self.visit(holder), key, ast.Load())

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """A call of a function that only computes."""
        if not all(keyword.arg for keyword in node.keywords):
            raise _UncheckedError
        try:
            func = self.visit(node.func)
        except _UncheckedError:
            if not self.is_open:
                raise
            # The user's own, which does not run: its arguments alone are looked at.
            func = self._bound_to(lambda *values, **named: (values, named))
        return ast.Call(func, [self.visit(part) for part in node.args], [self.visit(part) for part in node.keywords])

    def _bound_to(self, value: Any) -> ast.Name:
        name = f"_pjit_{len(self.known)}"
        self.known[name] = value
        return ast.Name(name, ast.Load())

    def _found(self, node: ast.AST) -> Any:
        root = node
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if isinstance(root, ast.Name) and root.id in self.bound:
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

    def _held(self, node: ast.AST, value: Any) -> ast.Name:
        """A variable as the trace sees it: arrays by their types alone."""
        leaves = jax.tree.leaves(value) if isinstance(value, (dict, list, tuple, set, frozenset)) else [value]
        is_tree = isinstance(value, (dict, list, tuple))
        # Numbers of the host's, such as how often each row repeats, or what has no type of JAX's: to be known.
        host = value if isinstance(value, numpy.ndarray) and value.size <= _MOST_STEPS else None
        if host is not None and (host.dtype.kind in "iub" or isinstance(host, numpy.ma.MaskedArray)):
            return self._bound_to(value)
        if leaves and all(map(is_array, leaves)) and not isinstance(value, (*_PLAIN, set, frozenset)):
            name = self.arrays.setdefault(ast.dump(node), f"_pjit_array_{len(self.arrays)}")
            self.abstract[name] = jax.tree.map(_abstract, value) if is_tree else _abstract(value)
            return ast.Name(name, ast.Load())
        if isinstance(value, (set, frozenset)):
            leaves = list(value)
        is_plain = all(isinstance(leaf, _PLAIN) for leaf in leaves) and (
            is_tree or isinstance(value, (*_PLAIN, set, frozenset))
        )
        is_module = isinstance(value, (ModuleType, type)) and _is_library(value)
        is_pure = callable(value) and _is_pure(value) and _is_pure(getattr(value, "__wrapped__", value))
        is_builtin = any(value is known for known in _BUILTINS.values())
        if not (is_plain or is_module or is_builtin or is_pure) or isinstance(value, jax.stages.Compiled):
            raise _UncheckedError
        return self._bound_to(value)


def _get(holder: Any, name: str) -> Any:
    """Reads an attribute. The array of a trace is not the user's; a dict or an array of the host's is."""
    if isinstance(holder, _MUTABLE) and not isinstance(holder, Tracer) and name not in _READ_ONLY:
        raise _UncheckedError
    return getattr(holder, name)


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
    """Tells whether a function is a library's that only computes."""
    home, called = getattr(function, "__module__", None), getattr(function, "__name__", "")
    if not isinstance(home, str) or called in _IMPURE or home.startswith("numpy.random"):
        return False
    if home.startswith(("jax._src.api", "jax._src.dispatch", "jax._src.xla_bridge")) or home == "jax":
        return called in _OF_API
    return any(home == pure or home.startswith(f"{pure}.") for pure in _PURE)


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
