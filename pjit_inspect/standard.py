"""Modules of the standard library, whatever files the program has.

This package loads its modules when they are first needed, and by then a folder of the user's, with a `resource.py` in
it, may be on the path: that file is not ours to run, and the standard module must not hide it from the user. Modules
that `import jax` loads anyway are imported as ever. Not its job: the modules of helpers (`observe.apart.interpreter`).
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from typing import Any

_loaded: dict[str, Any] = {}


def load_standard(name: str) -> Any:
    """The standard library's own module of this name, which need not be the one that `import` finds.

    Raises ModuleNotFoundError where this system has none.
    """
    if name not in _loaded:
        _loaded[name] = _load(name)
    return _loaded[name]


def _load(name: str) -> Any:
    spec = importlib.machinery.BuiltinImporter.find_spec(name)
    spec = spec or importlib.machinery.PathFinder.find_spec(name, _folders())
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"the standard library of this Python has no {name}", name=name)
    known = sys.modules.get(name)
    if known is not None and getattr(getattr(known, "__spec__", None), "origin", None) == spec.origin:
        return known
    module = importlib.util.module_from_spec(spec)
    if spec.submodule_search_locations is None:
        spec.loader.exec_module(module)
        return module
    # A package finds its own modules by its name, which may be a file of the user's before and after.
    before = {own: sys.modules.pop(own) for own in _within(name)}
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        for own in _within(name):
            del sys.modules[own]
        sys.modules.update(before)
    return module


def _within(name: str) -> list[str]:
    """The modules that are loaded of a package, itself among them."""
    return [own for own in sys.modules if own == name or own.startswith(f"{name}.")]


def _folders() -> list[str]:
    library = os.path.dirname(os.__file__)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    # Where modules in C lie is told by the prefix for such; Windows has them in a folder of its own.
    compiled = os.path.join(sys.base_exec_prefix, sys.platlibdir, version, "lib-dynload")
    return [library, compiled, os.path.join(library, "lib-dynload"), os.path.join(sys.base_exec_prefix, "DLLs")]
