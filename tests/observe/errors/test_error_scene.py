"""What a traceback tells: the user's line, and the arrays in it, without running any code of the user's."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from pjit_inspect.model.report.explained_error import ErrorScene
from pjit_inspect.observe.errors.scene import error_scene, linked_errors
from pjit_inspect.observe.live.frames import read_variables


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass
class Model:
    kernel: Any

    asked: int = 0

    @property
    def hidden(self) -> Any:
        self.asked += 1
        return self.kernel


def fail(*_: Any, **__: Any) -> Any:
    raise ValueError("no")


class Refusing:
    """An array that refuses whatever is done with it."""

    shape, dtype = (2, 3), np.dtype("float32")
    __matmul__ = __add__ = __rmatmul__ = reshape = fail


X = Refusing()


def scene_of(code: str, file: str = "/home/me/line.py", **names: Any) -> ErrorScene:
    """The scene of a line that fails."""
    linecache.cache[file] = (len(code), None, [f"{line}\n" for line in code.splitlines()], file)
    with pytest.raises(Exception) as caught:  # noqa: PT011
        exec(compile(code, file, "exec"), {"fail": fail, "X": X, **names})
    error = caught.value
    # What `fail` does is this file's: the line under test is the one before it.
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code.co_filename != file:
        traceback = traceback.tb_next
    assert traceback is not None
    traceback.tb_next = None
    return error_scene(error.with_traceback(traceback))


def names_of(scene: ErrorScene) -> list[str]:
    return [array.name for array in scene.operands]


W = np.zeros((3, 4), np.float32)


@pytest.mark.parametrize(
    ("code", "operator", "names"),
    [
        ("y = X @ w", "@", ["X", "w"]),
        ("y = X @ params['w']", "@", ["X", "params['w']"]),
        ("y = X @ pair.right", "@", ["X", "pair.right"]),
        ("y = X @ model.kernel", "@", ["X", "model.kernel"]),
        ("y = X @ model.hidden", "@", ["X"]),
        ("y = X @ (\n    w\n)", "@", ["X", "w"]),
        ("fail(params, w)", "fail", ["params['b']", "params['w']", "w"]),
        ("fail({'v': w}, [X, w], key=w)", "fail", ["w", "X", "w", "w"]),
        ("X.reshape(3, 2)", "reshape", ["X"]),
        ("fail('ij,jk->ik', X, w)", "fail", ["X", "w"]),
        ("fail(1, None, 'w')", "fail", []),
        ("fail(*[w])", "fail", []),
    ],
)
def test_the_operands_have_the_user_s_words(code, operator, names):
    params = {"w": W, "b": W}
    model = Model(W)
    scene = scene_of(code, w=W, params=params, pair=Pair(W, W), model=model)
    assert model.asked == ("hidden" in code)  # by the line itself
    assert (scene.operator, names_of(scene)) == (operator, names)
    assert scene.frame is not None
    assert (scene.frame.file, scene.frame.line) == ("/home/me/line.py", 1)


def test_shapes_and_types_are_plain_values():
    (x, w) = scene_of("X @ w", w=W).operands
    assert (x.shape, w.shape, w.dtype, w.spec, w.mesh) == ((2, 3), (3, 4), "float32", None, None)


def test_the_text_that_picks_is_kept():
    assert scene_of("fail('ij,jk->ik', w)", w=W).subscripts == "ij,jk->ik"


def test_a_line_that_cannot_be_read_costs_the_operands_only():
    scene = scene_of("fail(w)", w=W)
    linecache.cache.pop("/home/me/line.py")
    assert names_of(scene) == ["w"]
    with pytest.raises(ValueError, match="no") as caught:
        exec(compile("fail(w)", "/home/me/gone.py", "exec"), {"fail": fail, "w": W})
    error = caught.value.with_traceback(caught.value.__traceback__.tb_next)  # type: ignore[union-attr]
    error.__traceback__.tb_next = None  # type: ignore[union-attr]
    found = error_scene(error)
    assert found.frame is not None
    assert (found.frame.file, found.line, found.operands) == ("/home/me/gone.py", "", ())


def test_what_a_library_did_with_the_arguments_is_not_the_user_s_expression():
    library: dict[str, Any] = {"fail": fail}
    exec(compile("def apply(w):\n    w @ w", "/x/site-packages/library.py", "exec"), library)
    linecache.cache["/home/me/call.py"] = (1, None, ["apply(w)\n"], "/home/me/call.py")
    with pytest.raises(ValueError, match="matmul") as caught:
        exec(compile("apply(w)", "/home/me/call.py", "exec"), {"apply": library["apply"], "w": W})
    error = caught.value
    scene = error_scene(error)
    assert scene.frame is not None
    assert scene.frame.file == "/home/me/call.py"
    assert scene.operands == ()


def test_an_error_without_a_traceback_has_an_empty_scene():
    assert error_scene(ValueError("never raised")) == ErrorScene()


def test_a_circle_of_errors_ends():
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    assert linked_errors(one) == [one, other]


def running(look: Callable[[Any], Any]) -> tuple[Any, bool]:
    """What `look` sees of a running function, and whether the function's own `locals()` is untouched."""
    value = object()
    mine = locals()
    seen = look(sys._getframe())
    return seen["value"] is value, mine["value"] is value


def test_variables_are_read_without_a_change_to_the_function():
    assert running(read_variables) == (True, True)
    assert read_variables(sys._getframe())["W"] is W
