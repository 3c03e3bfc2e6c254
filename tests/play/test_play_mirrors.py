"""State follows its parameter by the paths below and the shapes, and only where the program says which is which."""

from __future__ import annotations

from pjit_inspect.analyze.play.mirrors import find_followed
from pjit_inspect.analyze.program.paths import split_path

SHAPES = {
    "params['w1']": (4, 8),
    "params['w2']": (8, 4),
    "opt.mu['w1']": (4, 8),
    "opt.mu['w2']": (8, 4),
    "opt.count": (),
    "x": (16, 4),
}


def test_a_path_is_cut_at_its_keys():
    assert split_path("state['a'].mu[0]") == ("state", "['a']", ".mu", "[0]")
    assert split_path("x") == ("x",)


def test_a_tree_like_that_of_the_parameters_follows_it():
    assert find_followed(SHAPES, {"params['w1']", "params['w2']", "x"}) == {
        "opt.mu['w1']": "params['w1']",
        "opt.mu['w2']": "params['w2']",
    }


def test_nothing_follows_where_another_shape_is_in_the_tree():
    assert find_followed(SHAPES | {"opt.mu['w2']": (8, 5)}, {"params['w1']", "params['w2']"}) == {}


def test_nothing_follows_where_nobody_says_which_are_the_parameters():
    assert find_followed(SHAPES, set()) == {}
    assert find_followed(SHAPES, set(SHAPES)) == {}


def test_equal_layers_do_not_follow_one_another():
    shapes = {f"params[{n}]['{name}']": (4, 4) for n in range(3) for name in ("a", "b")}
    assert find_followed(shapes, set(shapes)) == {}


def test_a_single_array_follows_nothing():
    assert find_followed({"w": (4, 8), "m": (4, 8)}, {"w"}) == {}


def test_state_that_is_kept_beside_each_parameter_follows_it():
    shapes = {
        "params['w1']": (4, 8),
        "params['w2']": (8, 4),
        "state['w1']['m']": (4, 8),
        "state['w1']['v']": (4, 8),
        "state['w2']['m']": (8, 4),
        "state['w2']['v']": (8, 4),
        "state['count']": (),
    }
    assert find_followed(shapes, {"params['w1']", "params['w2']"}) == {
        "state['w1']['m']": "params['w1']",
        "state['w1']['v']": "params['w1']",
        "state['w2']['m']": "params['w2']",
        "state['w2']['v']": "params['w2']",
    }


def test_state_in_the_parameters_own_dictionary_follows_what_is_differentiated_of_it():
    shapes = {f"net['{layer}'].{name}": (4, 4) for layer in ("a", "b") for name in ("value", "mean")}
    assert find_followed(shapes, {"net['a'].value", "net['b'].value"}) == {
        "net['a'].mean": "net['a'].value",
        "net['b'].mean": "net['b'].value",
    }


def test_state_beside_one_parameter_of_another_shape_follows_nothing():
    shapes = {"params['w1']": (4, 8), "params['w2']": (8, 4), "state['w1']['m']": (4, 8), "state['w2']['m']": (8, 1)}
    assert find_followed(shapes, {"params['w1']", "params['w2']"}) == {}
