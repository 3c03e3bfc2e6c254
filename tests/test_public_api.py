"""What users can name: it is there, it is listed, and it says what it is."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest

import pjit_inspect

MODULES = sorted(found.name for found in pkgutil.walk_packages(pjit_inspect.__path__, prefix="pjit_inspect."))


def test_dir_lists_exactly_the_public_names():
    assert set(dir(pjit_inspect)) == {*pjit_inspect.__all__, "__version__"}


@pytest.mark.parametrize("name", pjit_inspect.__all__)
def test_every_public_name_exists_and_says_what_it_is(name: str):
    assert inspect.getdoc(getattr(pjit_inspect, name))


def test_an_unknown_name_is_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match="no attribute 'captrue'"):
        _ = pjit_inspect.captrue


def test_every_error_raised_on_purpose_has_one_base():
    errors = importlib.import_module("pjit_inspect.errors")
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), pjit_inspect.PjitInspectError)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_is_for(name: str):
    assert importlib.import_module(name).__doc__


def public_members(module_name: str):
    """Classes and functions that a module defines, but for private ones, and what its classes define themselves."""
    for name, found in vars(importlib.import_module(module_name)).items():
        if name.startswith("_") or getattr(found, "__module__", None) != module_name:
            continue
        yield name, found
        if inspect.isclass(found):
            members = ((key, value) for key, value in vars(found).items() if not key.startswith("_"))
            yield from ((f"{name}.{key}", value) for key, value in members if is_code(value))


def is_code(value: object) -> bool:
    return inspect.isfunction(value) or isinstance(value, property | classmethod | staticmethod)


def needs_docstring(value: object) -> bool:
    return inspect.isclass(value) or is_code(value)


@pytest.mark.parametrize("name", MODULES)
def test_every_name_a_module_offers_has_a_docstring(name: str):
    silent = [key for key, value in public_members(name) if needs_docstring(value) and not inspect.getdoc(value)]
    assert not silent, f"{name}: {', '.join(silent)}"
