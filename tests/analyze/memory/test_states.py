"""Which arguments are the state of an optimizer: what only the update reads need not be."""

from __future__ import annotations

from pjit_inspect.analyze.memory.memory_use import find_states
from pjit_inspect.model.program.layout import ArrayLayout

UPDATE, BOTH = frozenset(("optimizer",)), frozenset(("forward", "optimizer"))


def array(path: str, *shape: int, aliases: str | None = None) -> ArrayLayout:
    return ArrayLayout(path=path, dtype="float32", global_shape=shape, sharding=None, aliases=aliases)


def test_what_the_update_alone_reads_and_the_step_yields_again():
    inputs = [array("params['w']", 4, 8), array("moments['w']", 4, 8), array("rate")]
    outputs = [array("result[0]['w']", 4, 8), array("result[1]['w']", 4, 8)]
    users = {"params['w']": BOTH, "moments['w']": UPDATE, "rate": UPDATE}
    assert find_states(inputs, outputs, users) == {"moments['w']"}


def test_a_parameter_that_the_model_does_not_read_stands_beside_those_that_it_reads():
    inputs = [array("params['w']", 4, 8), array("params['unused']", 3), array("moments['unused']", 3)]
    outputs = [array("result[0]['w']", 4, 8), array("result[0]['unused']", 3), array("result[1]['unused']", 3)]
    users = {"params['w']": BOTH, "params['unused']": UPDATE, "moments['unused']": UPDATE}
    assert find_states(inputs, outputs, users) == {"moments['unused']"}


def test_with_a_mask_of_their_shape_it_is_not_known_which_are_the_moments():
    inputs = [array("params['w']", 4), array("moments['w']", 4), array("mask['w']", 4)]
    outputs = [array("result[0]['w']", 4), array("result[1]['w']", 4)]
    users = {"params['w']": BOTH, "moments['w']": UPDATE, "mask['w']": UPDATE}
    assert find_states(inputs, outputs, users) == frozenset()


def test_an_array_without_a_path_is_state_when_its_memory_is_given_up_for_a_result():
    users = {"w": BOTH, "m": UPDATE}
    inputs = [array("w", 4), array("m", 4)]
    assert find_states(inputs, [array("result[0]", 4), array("result[1]", 4)], users) == frozenset()
    assert find_states(inputs, [array("result[0]", 4), array("result[1]", 4, aliases="m")], users) == {"m"}
