"""Cleaning all values of a field together finds what cleaning them one by one finds."""

import dataclasses
import random

import numpy as np
import pytest

import pjit_inspect as pi
from pjit_inspect.model.words.sentence import Phrase, Sentence
from pjit_inspect.parse.wire import clean as module

DIRTY = ("\x1b[31m", "\u202e", "\x07", "a\nb", "\u2028")


@pytest.fixture(scope="module")
def data():
    import jax
    from jax.sharding import AxisType, NamedSharding, PartitionSpec

    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    place = NamedSharding(mesh, PartitionSpec("data"))
    params = {name: jax.device_put(np.ones((8, 4), np.float32), place) for name in ("w", "b", "scale")}
    return pi.inspect(lambda p, x: {k: v * x for k, v in p.items()}, params, np.float32(2)).data


def spoiled(value, chance, dirt):
    """A copy with some strings spoiled, wherever they are."""
    if isinstance(value, Sentence):
        return Sentence.of((Phrase(text=dirt), *value.phrases)) if chance() else value
    if type(value) is str:
        return value + dirt if chance() else value
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(spoiled(item, chance, dirt) for item in value)
    if isinstance(value, dict):
        return {key: spoiled(item, chance, dirt) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = module._string_fields(type(value))
        changed = {name: spoiled(getattr(value, name), chance, dirt) for name in names}
        return dataclasses.replace(value, **changed)
    return value


@pytest.mark.parametrize("dirt", DIRTY, ids=ascii)
def test_a_single_spoiled_string_anywhere_is_found(data, dirt):
    places = []
    spoiled(data, lambda: places.append(0), dirt)
    assert len(places) > 50
    for wanted in random.Random(0).sample(range(len(places)), 25):
        count = iter(range(len(places)))
        dirty = spoiled(data, lambda count=count, wanted=wanted: next(count) == wanted, dirt)
        assert module.cleaned(dirty) == module._Cleaner().of(dirty)
        assert module.cleaned(module.cleaned(dirty)) == module.cleaned(dirty)


def test_clean_data_come_back_as_they_are(data):
    assert module.cleaned(data) is data
    assert module._Cleaner().of(data) is data


def test_keys_of_mappings_and_lines_of_texts_are_looked_at(data):
    assert module.cleaned({"a\x1b": "x"}) == {"a\\x1b": "x"}
    jaxpr = dataclasses.replace(data, jaxpr="line\n\tline\x1b[0m")
    assert module.cleaned(jaxpr).jaxpr == "line\n\tline\\x1b[0m"
    lines = dataclasses.replace(data, jaxpr="line\n\tline")
    assert module.cleaned(lines) is lines
