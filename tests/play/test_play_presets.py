"""The layouts of the textbooks as presets: which apply and why others do not, and that they are what the books have."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.errors import ChangeError
from play.steps import experts, mlp, transformer
from play.test_play_results import arguments, collectives, train_step

NAMES = ("replicated", "data parallel", "FSDP", "Megatron", "2-D", "sequence parallel")


def playground(built) -> pi.Playground:
    play = pi.playground(built[0], *built[1])
    play.wait()
    return play


def specs(play: pi.Playground) -> dict[str, object]:
    return {group.label: group.spec for group in play.controls.groups if group.follows is None}


def test_a_transformer_has_every_one_of_them():
    play = playground(transformer((2, 4), is_by_hand=False))
    assert [own.name for own in play.presets] == list(NAMES)
    assert [own.why_not for own in play.presets] == [""] * 6
    play.apply("megatron")
    found = specs(play)
    # Heads and the hidden dimension over model, by columns and then by rows; the vocabulary of the head, too.
    assert found["params['layers']['q']"] == (None, None, "model", None)
    assert found["params['layers']['out']"] == (None, "model", None, None)
    assert found["params['layers']['up']"] == (None, None, "model")
    assert found["params['layers']['down']"] == (None, "model", None)
    assert found["params['head']"] == (None, "model")
    assert found["tokens"] == ("data", None)
    assert play.wait().work == 1.0
    play.close()


def test_megatron_sends_what_the_layout_made_by_hand_sends():
    by_hand = playground((jax.jit(train_step), arguments()))
    play = playground((jax.jit(train_step), jax.tree.map(_whole, arguments())))
    play.apply("Megatron")
    assert play.wait().sent_bytes == by_hand.base.sent_bytes
    assert specs(play)["params['layers'][*]['w1']"] == (None, "model")
    by_hand.close()
    play.close()


def _whole(own: jax.ShapeDtypeStruct) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(own.shape, own.dtype, sharding=NamedSharding(own.sharding.mesh, P()))


def test_data_parallel_is_what_jax_makes_of_a_split_batch():
    play = playground(mlp((2, 4), is_by_hand=False))
    play.apply("data parallel")
    found = play.wait()
    function, (params, x) = mlp((2, 4), is_by_hand=False)
    batch = jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=NamedSharding(x.sharding.mesh, P(("data", "model"))))
    whole = jax.tree.map(lambda own: own.sharding, params)
    compiled = pi.inspect(jax.jit(function, out_shardings=whole), params, batch, effort="partition")
    assert collectives(found.record) == collectives(compiled)
    play.close()


def test_fsdp_gathers_weights_and_nothing_else():
    play = playground(transformer((2, 4), is_by_hand=False, is_constrained=False))
    fsdp = next(own for own in play.presets if own.name == "FSDP")
    assert fsdp.sentence == "data and weights over data and model, the data held there by 6 new constraints"
    play.apply("FSDP")
    found = play.wait()
    weights = sum(own.global_bytes or 0 for own in play.controls.groups if own.label.startswith("params"))
    # Each weight is gathered for the forward and again for the backward pass, 7/8 of it received; each gradient, as
    # large, is added up. An all-reduce of CPUs sends twice that, and the loss a few bytes.
    assert found.work == 1.0
    assert found.sent_bytes is not None
    assert found.sent_bytes <= 4 * weights * 7 / 8 * 1.01
    play.close()


def test_code_with_new_constraints_is_proved():
    play = playground(transformer((2, 4), is_by_hand=False, is_constrained=False))
    play.apply("FSDP")
    found = play.wait()
    proof = play.code(prove=True).proof
    assert proof is not None
    assert proof.outcome == "equal"
    assert proof.sentence.endswith(f"changed in the copy: the same {found.collectives} collectives")
    play.close()


def accumulated(state, batches):
    """Gradients added up in a scan, half precision in the products, and a random key that comes back."""
    params, moments, key = state
    key, own = jax.random.split(key)

    def loss(p, x):
        return (jnp.tanh(x @ p["up"]) @ p["down"]).astype(jnp.float32).mean() + jax.random.uniform(own)

    def one(total, x):
        slope = jax.grad(loss)(jax.tree.map(lambda w: w.astype(jnp.bfloat16), params), x)
        return jax.tree.map(jnp.add, total, slope), None

    slope, _ = jax.lax.scan(one, jax.tree.map(jnp.zeros_like, params), batches)
    moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, slope)
    return jax.tree.map(lambda w, m: w - 0.1 * m, params, moments), moments, key


def test_state_follows_and_data_are_held_where_gradients_are_added_up_in_a_loop():
    mesh = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    def array(shape, *spec, dtype=jnp.float32):
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))

    params = {"up": array((64, 256)), "down": array((256, 64))}
    key = array((), dtype=jax.random.key(0).dtype)
    batches = array((4, 128, 64), None, "data", dtype=jnp.bfloat16)
    play = playground((accumulated, ((params, params, key), batches)))
    assert {own.label: own.follows for own in play.controls.groups if own.follows} == {
        "state[1]['up']": "state[0]['up']",
        "state[1]['down']": "state[0]['down']",
    }
    fsdp = next(own for own in play.presets if own.name == "FSDP")
    assert fsdp.sentence == "data and weights over data and model, the data held there by a new constraint"
    play.apply("FSDP")
    assert play.wait().argument_bytes == 2 * 2 * 64 * 256 * 4 // 8 + 4 * 128 * 64 * 2 // 8 + 8
    play.close()


def test_a_reference_model_is_split_as_weights_are_and_lines_that_stay_are_named():
    mesh = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    array = lambda shape, *spec: jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))  # noqa: E731

    def held(x, *spec):
        return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))

    def model(p, x):
        return held(jnp.tanh(held(x @ p["up"], "data", "model")) @ p["down"], "data")

    def step(policy, reference, x):
        slope = jax.grad(lambda p: ((model(p, x) - model(reference, x)) ** 2).mean())(policy)
        return jax.tree.map(lambda w, g: w - 0.1 * g, policy, slope)

    params = {"up": array((64, 256)), "down": array((256, 32))}
    play = playground((step, (params, params, array((128, 64), "data"))))
    sentence = next(own for own in play.presets if own.name == "replicated").sentence
    assert sentence.startswith("everything on every device; the constraints of test_play_presets.py:")
    assert sentence.endswith(" stay as they are")
    play.apply("Megatron")
    found = specs(play)
    assert found["reference['up']"] == found["policy['up']"] == (None, "model")
    assert found["reference['down']"] == found["policy['down']"] == ("model", None)
    assert play.wait().work == 1.0
    play.close()


def test_data_that_are_made_whole_are_named():
    mesh = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    array = lambda shape, *spec: jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))  # noqa: E731

    def step(p, image, text):
        def loss(p):
            return -jnp.diag(jax.nn.log_softmax((image @ p["image"]) @ (text @ p["text"]).T)).mean()

        return jax.tree.map(lambda w, g: w - 0.1 * g, p, jax.grad(loss)(p))

    # Each has a batch of its own, as every image meets every text.
    params = {"image": array((64, 128)), "text": array((64, 128))}
    play = playground((step, (params, array((32, 64), "data"), array((32, 64), "data"))))
    found = {own.name: own.sentence or own.why_not for own in play.presets}
    play.apply("data parallel")
    whole = [label for label in ("image", "text") if not any(specs(play)[label])]
    assert len(whole) == 1
    assert found["data parallel"].endswith(f"weights on every device; {whole[0]} on every device")
    assert (
        found["sequence parallel"]
        == "the data has no second dimension that goes through the products, as a sequence is"
    )
    play.close()


def test_it_is_no_sequence_parallelism_where_nothing_is_split_along_the_sequence():
    mesh = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    array = lambda shape, *spec: jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))  # noqa: E731

    def step(p, x):
        slope = jax.grad(lambda p: (jnp.tanh(x @ p["up"]) @ p["down"] + p["bias"]).mean())(p)
        return jax.tree.map(lambda w, g: w - 0.1 * g, p, slope)

    # A sequence of 3, which 4 devices do not divide.
    params = {"up": array((64, 256)), "down": array((256, 64)), "bias": array((64,))}
    play = playground((step, (params, array((32, 3, 64), "data"))))
    why = {own.name: own.why_not for own in play.presets}
    assert (why["Megatron"], why["sequence parallel"]) == (
        "",
        "no place for a constraint between the products has the data's second dimension with a size that model=4"
        " divides",
    )
    play.close()


def test_a_new_constraint_is_a_control_that_is_taken_out():
    play = playground(transformer((2, 4), is_by_hand=False, is_constrained=False))
    play.apply("FSDP")
    fsdp = play.wait()
    new = [own for own in play.controls.constraints if own.is_new]
    assert {own.spec[0] for own in new} == {("data", "model")}
    play.set(constraints={own.place: None for own in new})
    assert play.controls.constraints == ()
    out = play.wait()
    assert (out.sent_bytes or 0) > 5 * (fsdp.sent_bytes or 0)
    play.go_back(fsdp)
    play.set(constraints={new[0].place: ("data",)})
    assert [own.spec for own in play.controls.constraints] == [("data", None, None), *(own.spec for own in new[1:])]
    assert f"new constraint {new[0].place}: P('data', None, None)" in play.variant.change
    with pytest.raises(
        ChangeError, match=f"there is no with_sharding_constraint at nowhere; the program has {new[0].place}"
    ):
        play.set(constraints={"nowhere": None})
    play.close()


def test_a_constraint_of_the_users_holds_the_data_for_fsdp():
    play = playground(transformer((2, 4), is_by_hand=True))
    assert play.controls.constraints
    fsdp = next(own for own in play.presets if own.name == "FSDP")
    assert fsdp.setting is not None
    assert not fsdp.setting.added
    assert fsdp.sentence == "data and weights over data and model"
    play.close()


def test_one_click_sets_everything_and_the_history_says_so():
    play = playground((jax.jit(train_step), arguments()))
    play.set(results={"result[2]['each']": P()}, specs={"batch['x']": P()})
    found = play.apply("FSDP")
    assert found.preset == "FSDP"
    assert found.said[0] == "preset: FSDP"
    assert found.title.startswith("preset: FSDP; params['layers'][*]['w1']: P(None, ('data', 'model'))")
    # Nothing of what was set before is left.
    assert not any("each" in change for change in found.change)
    assert play.preset is not None
    assert play.preset.name == "FSDP"
    assert play.wait().preset == "FSDP"
    weights = [own for own in play.controls.groups if own.label.startswith("params")]
    # 1 / 8 on each device, and the optimizer's state with its parameters.
    assert [own.copies for own in weights] == [1, 1]
    assert all(not own.is_cut_loose for own in play.controls.groups)
    assert play.apply("FSDP").number == found.number
    play.set(specs={"batch['x']": P()})
    assert play.preset is None
    play.close()


def test_what_was_set_by_hand_is_the_preset_once_somebody_takes_it():
    play = playground(mlp((2, 4), is_by_hand=False))
    wanted = next(own for own in play.presets if own.name == "replicated").setting
    assert wanted is not None
    play.set(results=dict(wanted.results))
    assert play.wait().preset == ""
    assert play.apply("replicated").number == play.variant.number
    assert play.variant.preset == "replicated"
    play.close()


def test_what_is_none_says_why():
    play = playground(mlp((2, 4), is_by_hand=False))
    why = {own.name: own.why_not for own in play.presets}
    assert (
        why["sequence parallel"] == "the data has no second dimension that goes through the products, as a sequence is"
    )
    with pytest.raises(ChangeError, match="sequence parallel is no layout for step: the data has no second dimension"):
        play.apply("sequence parallel")
    with pytest.raises(ChangeError, match="no preset 'zero'; take one of replicated, data parallel, FSDP"):
        play.apply("zero")
    play.set(mesh={"data": 8, "model": 1})
    why = {own.name: own.why_not for own in play.presets}
    assert why["2-D"] == "it takes two mesh axes of more than one device, and this mesh has one; add an axis"
    assert why["FSDP"] == ""
    play.close()


def test_what_does_not_divide_says_what_would_have_to():
    mesh = AbstractMesh((3, 5), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
    array = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P()))  # noqa: E731
    function, _ = mlp((2, 4), is_by_hand=False)
    play = playground((function, ({"w1": array(7, 11), "w2": array(11, 7)}, array(8, 7))))
    assert {own.name: own.why_not for own in play.presets} == {
        "replicated": "",
        "data parallel": "no dimension of the data divides by (a=3 x b=5)",
        "FSDP": "no dimension of the data divides by (a=3 x b=5)",
        "Megatron": "no weight has a dimension that goes from one product to the next, and that b=5 divides",
        "2-D": "no weight has a dimension that goes from one product to the next, and that b=5 divides",
        "sequence parallel": "the data has no second dimension that goes through the products, as a sequence is",
    }
    play.close()


def test_the_axes_of_the_data_stay_the_datas_whatever_their_order():
    function, _ = mlp((2, 4), is_by_hand=False)
    mesh = AbstractMesh((4, 2), ("inner", "outer"), axis_types=(AxisType.Auto,) * 2)
    array = lambda shape, *spec: jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))  # noqa: E731
    params = {"w1": array((1024, 4096)), "w2": array((4096, 1024))}
    play = playground((function, (params, array((1024, 1024), "outer"))))
    play.apply("Megatron")
    assert specs(play) == {"params['w1']": (None, "inner"), "params['w2']": ("inner", None), "x": ("outer", None)}
    play.close()


def test_experts_are_split_whole():
    play = playground(experts((2, 4), is_by_hand=False))
    play.apply("Megatron")
    assert specs(play)["params['up']"] == ("model", None, None)
    play.close()


def test_a_record_of_a_file_has_those_of_the_live_one(tmp_path):
    function, given = mlp((2, 4), is_by_hand=False)
    record = pi.inspect(function, *given, effort="partition")
    record.save(tmp_path / "record.pjit")
    live, play = record.playground(), pi.load(tmp_path / "record.pjit").playground()
    assert [(own.name, own.why_not) for own in play.presets] == [(own.name, own.why_not) for own in live.presets]
    play.apply("Megatron")
    live.apply("Megatron")
    assert play.wait().sent_bytes == live.wait().sent_bytes
    play.close()
    live.close()


def test_a_layout_that_convolutions_may_have_is_not_said_to_be_none_for_them():
    mesh = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    def array(*shape: int, spec: P) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))

    def loss(params, x):
        for w in params:
            x = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return (x**2).mean()

    play = pi.playground(jax.grad(loss), (array(3, 3, 8, 16, spec=P()),) * 1, array(8, 8, 8, 8, spec=P("data")))
    why = {own.name: own.why_not for own in play.presets}
    assert why["Megatron"].endswith("; convolutions are not looked at")
    play.close()
