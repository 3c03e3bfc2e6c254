"""Public names: each is there, is listed, and has a docstring. Those of modules and functions are checked by ruff."""

from __future__ import annotations

import importlib
import inspect

import pytest

import pjit_inspect


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
