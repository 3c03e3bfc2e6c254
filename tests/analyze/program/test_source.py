"""Only the user's frames are left of a chain."""

from __future__ import annotations

import contextlib

import pytest

import pjit_inspect
from pjit_inspect.analyze.program.source import UserFiles, is_library, package_of, user_frames
from pjit_inspect.model.program.source import Frame


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("/venv/lib/python3.12/site-packages/jax/_src/api.py", True),
        ("/venv/lib/python3.12/site-packages/flax/nnx/module.py", True),
        ("C:\\venv\\Lib\\site-packages\\optax\\_src\\base.py", True),
        ("/usr/lib/python3/dist-packages/IPython/core/x.py", True),
        ("/usr/lib/python3.13t/threading.py", True),
        (contextlib.__file__, True),
        ("<frozen runpy>", True),
        ("/venv/lib/python3.12/site-packages/my_models/net.py", False),  # the user's own, installed
        ("/home/me/jax/train.py", False),  # a folder of that name
        ("/venv/lib/python3.12/site-packages/pjit_inspect/observe/on_request.py", True),
        ("/home/me/checkout/pjit_inspect/observe/on_request.py", True),  # an editable install
        ("C:\\checkout\\pjit_inspect\\api.py", True),
        (pjit_inspect.__file__, True),
        ("/home/me/pjit_inspect/train.py", False),  # a folder of that name
        ("/home/me/my_pjit_inspect/api.py", False),
        ("/tmp/ipykernel_12/345.py", False),
        ("<ipython-input-3-abc>", False),
        ("train.py", False),
    ],
)
def test_library_files_are_known_by_where_they_are_installed(file: str, expected: bool):
    assert is_library(file) is expected


def test_of_installed_packages_only_the_one_that_defines_the_function_is_the_users():
    layer = "/venv/lib/python3.12/site-packages/haliax/core.py"
    model = "/venv/lib/python3.12/site-packages/my_models/net.py"
    assert [package_of(file) for file in (layer, model, "/home/me/train.py", LIBRARY.file)] == [
        "haliax",
        "my_models",
        "",
        "",
    ]
    assert [is_library(layer, package) for package in (None, "", "my_models", "haliax")] == [False, True, True, False]
    stack = (Frame(file=layer, line=1), Frame(file=model, line=2), USER)
    assert user_frames(stack, UserFiles(package="")) == (USER,)
    assert user_frames(stack, UserFiles(package="my_models")) == stack[1:]
    assert user_frames(stack[:2], UserFiles(package="")) == stack[:2]


USER = Frame(file="/home/me/train.py", line=3, function="step")
LIBRARY = Frame(file="/venv/lib/python3.12/site-packages/equinox/_jit.py", line=9)


def test_library_frames_are_dropped():
    assert user_frames((LIBRARY, USER, LIBRARY)) == (USER,)


def test_library_frames_stay_when_nothing_else_remains():
    assert user_frames((LIBRARY,)) == (LIBRARY,)
    assert user_frames(()) == ()


def test_frames_of_this_package_never_stay():
    own = Frame(file="/home/me/checkout/pjit_inspect/observe/on_request.py", line=64)
    assert user_frames((own, USER, own)) == (USER,)
    assert user_frames((own, LIBRARY)) == (LIBRARY,)
    assert user_frames((own,)) == ()


def test_frames_in_a_cell_carry_its_label():
    [frame] = user_frames((USER, LIBRARY), UserFiles({"/home/me/train.py": "In [7]"}))
    assert frame.where == "In [7]:3"
