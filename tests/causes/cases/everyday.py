"""What people run into: fused projections, rotary embeddings, unrolled layers, caches, clustering, nested jits."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.lax import with_sharding_constraint
from jax.sharding import NamedSharding, PartitionSpec

from causes.case import A2A, AG, AR, CP, SUM, Case, Want, case
from causes.meshes import CUBE, LINE, MESH, array, named

CASES: list[Case] = []

MOVE = f"{AG}|{A2A}|{CP}|{AR}"
BOTH = "data model|data|model"


@case(
    CASES,
    "gate and value are the two halves of one product split over model: each half lies on two of four devices",
    Want(MOVE, "model|none", "halo", at="halves"),
    Want(AR, "model", "contraction", at="down"),
)
def fused_gate_and_value():
    def f(x, w, down):
        h = x @ w
        gate, value = jnp.split(h, 2, axis=-1)  # @halves
        return (jax.nn.silu(gate) * value) @ down  # @down

    return jax.jit(f), (array((16, 32), "data", None), array((32, 128), None, "model"), array((64, 32), "model", None))


@case(
    CASES,
    "the halves of each head's features change places, and features are split over model",
    Want(MOVE, "model|none", "halo", at="rotate"),
    Want(MOVE, "model|none", "halo", at="halves", optional=True),
    revised="the same, but the program asked for its result by sequence, by mistake; it slices on a line of its own",
)
def rotary_embedding_on_split_features():
    def f(x, cos, sin):
        a, b = x[..., :16], x[..., 16:]  # @halves
        turned = jnp.concatenate([-b, a], axis=-1)  # @rotate
        return x * cos + turned * sin

    a = array((16, 32), None, "model")
    wanted = named("data", None, "model")
    return jax.jit(f, out_shardings=wanted), (array((4, 16, 32), "data", None, "model"), a, a)


@case(CASES, "heads are split, features of a head are whole: turning them is local")
def rotary_embedding_on_split_heads():
    def f(x, cos, sin):
        a, b = jnp.split(x, 2, axis=-1)
        return x * cos + jnp.concatenate([-b, a], axis=-1) * sin

    a = array((8,), None)
    return jax.jit(f), (array((4, 16, 4, 8), "data", None, "model", None), a, a)


@case(
    CASES,
    "two layers on the same lines: each contracts its hidden dimension over model",
    Want(AR, "model", "contraction", at="mm2"),
    Want(AR, "data", "contraction", at="mm1", phase="backward"),
    Want(AR, "data", "contraction", at="mm2", phase="backward"),
    Want(AR, "model", "contraction", at="mm1", phase="backward"),
)
def unrolled_layers():
    def loss(layers, x):
        for first, second in layers:
            with jax.named_scope("layer"):
                h = jnp.tanh(x @ first)  # @mm1
                x = x + h @ second  # @mm2
        return jnp.sum(jnp.sin(x))

    layer = array((32, 64), None, "model"), array((64, 32), "model", None)
    return jax.jit(jax.grad(loss)), ([layer, layer], array((16, 32), "data", None))


@case(
    CASES,
    "one weight, gathered for two uses: once is enough",
    Want(AG, "x", "reshard_needed", at="first"),
    Want(AG, "x", "reshard_needed", at="second", optional=True),
)
def one_weight_used_twice():
    def f(w, x, y):
        a = jnp.sin(x @ w)  # @first
        b = jnp.cos(y @ w)  # @second
        return a, b

    a = array((256, 32), "x", None, mesh=LINE)
    return jax.jit(f), (array((32, 16), "x", None, mesh=LINE), a, a)


@case(
    CASES,
    "the constraint only slices x; that rows meet columns is the addition's need",
    Want(f"{A2A}|{AG}", "model", "reshard_needed", at="add"),
)
def constraint_that_makes_a_conflict():
    def f(x, y):
        x = with_sharding_constraint(jnp.sin(x), named("model", None))
        return jnp.cos(x) + y  # @add

    return jax.jit(f), (array((16, 32)), array((16, 32), None, "model"))


@case(CASES, "columns shall be whole, rows may stay as they are", Want(AG, "model", "reshard_requested", at="ask"))
def constraint_of_one_dimension_only():
    free = NamedSharding(MESH, PartitionSpec(PartitionSpec.UNCONSTRAINED, None))

    def f(x):
        y = with_sharding_constraint(jnp.sin(x), free)  # @ask
        return y * 2

    return jax.jit(f), (array((16, 32), "data", "model"),)


@case(
    CASES,
    "the user fixes the result of the inner function: her wish, as an output or as a constraint",
    Want(AG, "model", "output|reshard_requested"),
)
def out_shardings_of_an_inner_jit():
    def double(x):
        return jnp.sin(x) * 2

    inner = jax.jit(double, out_shardings=named())

    def f(x):
        return jnp.cos(inner(x))

    return jax.jit(f), (array((16, 8), "model", None),)


@case(
    CASES,
    "arguments without shardings of their own; in_shardings split k on both sides",
    Want(AR, "model", "contraction", at="mm"),
)
def in_shardings_of_the_jit():
    def f(x, w):
        return x @ w  # @mm

    shapes = jax.ShapeDtypeStruct((16, 32), jnp.float32), jax.ShapeDtypeStruct((32, 64), jnp.float32)
    return jax.jit(f, in_shardings=(named(None, "model"), named("model", None))), shapes


@case(
    CASES,
    "one leaf of the result is wanted whole",
    Want(AG, "model", "output", at="table"),
)
def one_leaf_of_the_result():
    def f(params):
        head = params["head"] * 2
        table = params["table"] * 3  # @table
        return {"head": head, "table": table}

    wanted = {"head": named(None, "model"), "table": named()}
    arguments = {"head": array((32, 64), None, "model"), "table": array((64, 32), "model", None)}
    return jax.jit(f, out_shardings=wanted), (arguments,)


@case(
    CASES,
    "images and texts split by batch over x: all texts for each image; softmax across images runs over the split rows",
    Want(AG, "x", "reshard_needed", at="scores"),
    Want(AR, "x", "reduction", at="across"),
    Want(AG, "x", "reshard_needed", at="across", optional=True),
    Want(AR, "x", "reduction", at="loss"),
    revised="the same without the optional one: the columns' maxima are split too, as they meet the rows' in the loss",
)
def contrastive_loss():
    def f(images, texts):
        scores = images @ texts.T  # @scores
        along = jax.nn.logsumexp(scores, axis=1)
        across = jax.nn.logsumexp(scores, axis=0)  # @across
        same = jnp.sum(images * texts, axis=1)
        return jnp.mean(along + across - 2 * same)  # @loss

    a = array((64, 16), "x", None, mesh=LINE)
    return jax.jit(f), (a, a)


@case(
    CASES,
    "centres are split over model: the nearest is looked for across model; points are split over data: sums by centre",
    Want(f"{AG}|{AR}", "model", "reduction", at="nearest"),
    Want(AR, "data", "indexing", at="sums"),
)
def nearest_centres():
    def f(points, centres):
        distance = jnp.sum(centres**2, axis=1) - 2 * points @ centres.T
        nearest = jnp.argmin(distance, axis=1)  # @nearest
        return jax.ops.segment_sum(points, nearest, num_segments=16)  # @sums

    return jax.jit(f), (array((64, 8), "data", None), array((16, 8), "model", None))


@case(
    CASES,
    "v is split over model as k of a; a @ v comes out over data and must become split over model for the next step",
    Want(AR, "model", "contraction", at="product"),
    Want(f"{AG}|{A2A}|{CP}", BOTH, "reshard_needed", optional=True),
    Want(AR, BOTH, "reduction", at="norm"),
)
def power_iteration():
    def f(a, v):
        def step(_, v):
            u = a @ v  # @product
            return u / jnp.sqrt(jnp.sum(u * u))  # @norm

        return jax.lax.fori_loop(0, 4, step, v)

    return jax.jit(f), (array((32, 32), "data", "model"), array((32,), "model"))


@case(
    CASES,
    "the low-rank path contracts the same split dimension as the full one: a sum over model for each",
    Want(AR, "model", "contraction", at="full"),
    Want(AR, "model", "contraction", at="low"),
)
def low_rank_adapter_on_split_rows():
    def f(x, w, a, b):
        full = x @ w  # @full
        low = x @ a  # @low
        return full + jnp.tanh(low) @ b

    arguments = (
        array((16, 32), "data", "model"),
        array((32, 64), "model", None),
        array((32, 4), "model", None),
        array((4, 64)),
    )
    return jax.jit(f), arguments


@case(
    CASES,
    "stages are split over model: each step hands every stage's state to the next one, whose work is local",
    Want(CP, "model", "halo", at="shift"),
)
def pipeline_by_shifting():
    def f(w, state):
        def step(state, _):
            state = jax.vmap(lambda w, x: jnp.tanh(x @ w))(w, state)
            return jnp.roll(state, 1, axis=0), None  # @shift

        return jax.lax.scan(step, state, length=5)[0]

    return jax.jit(f), (array((4, 16, 16), "model", None, None), array((4, 8, 16), "model", "data", None))


@case(
    CASES,
    "height is split over model, and each group's mean and variance run over it",
    Want(AR, "model", "reduction", at="mean"),
    Want(AR, "model", "reduction", at="var"),
)
def group_norm_over_split_height():
    def f(x):
        groups = x.reshape(2, 4, 2, 16, 16)
        mean = groups.mean((2, 3, 4), keepdims=True)  # @mean
        var = jnp.square(groups - mean).mean((2, 3, 4), keepdims=True)  # @var
        return ((groups - mean) * jax.lax.rsqrt(var + 1e-5)).reshape(2, 8, 16, 16)

    return jax.jit(f), (array((2, 8, 16, 16), "data", None, "model", None),)


@case(
    CASES,
    "which tokens an expert takes is looked for across all tokens, which are split over data",
    Want(AG, "data", "indexing", at="choose", platform="not tpu"),
    Want(f"{AR}|{AG}", "data", "indexing", at="take", platform="not tpu"),
    Want(A2A, "data", "indexing", at="choose", platform="tpu"),
    Want(CP, "data", "halo", at="choose", platform="tpu"),
    Want(CP, "data model", "indexing", at="take", platform="tpu"),
    Want(AR, "model:(1)2", "indexing", at="take", platform="tpu"),
    elsewhere="TPU: top_k is a sort and a slice, both split over tokens; complete rows are sorted and put back, then "
    "the best four go to two devices. The rows of x are moved to a part of model, as the positions have data",
)
def experts_choose_tokens():
    def f(x, scores):
        _, chosen = jax.lax.top_k(scores, 4)  # @choose
        return x[chosen]  # @take

    return jax.jit(f), (array((32, 16), "data", None), array((8, 32), None, "data"))


@case(
    CASES,
    "the masked sum and the count run over the batch on data",
    Want(AR, "data", "reduction", at="sum"),
    Want(AR, "data", "reduction", at="count"),
)
def masked_mean():
    def f(x, mask):
        total = jnp.sum(x * mask)  # @sum
        count = jnp.sum(mask)  # @count
        return total / count

    return jax.jit(f), (array((16,), "data"), array((16,), "data"))


@case(
    CASES,
    "a sample from split logits is an argmax of noisy logits",
    Want(f"{AG}|{AR}", "model", "reduction", at="sample"),
)
def sample_from_split_logits():
    def f(key, logits):
        return jax.random.categorical(key, logits)  # @sample

    return jax.jit(f), (array((2,), dtype=jnp.uint32), array((16, 64), "data", "model"))


@case(
    CASES,
    "rows are put in a random order: looked up by number in split rows",
    Want(MOVE, "x", "indexing", at="shuffle"),
)
def shuffle_of_split_rows():
    def f(x, order):
        return x[order]  # @shuffle

    arguments = array((64, 8), "x", None, mesh=LINE), array((64,), mesh=LINE, dtype=jnp.int32)
    return jax.jit(f, out_shardings=named("x", None, mesh=LINE)), arguments


@case(
    CASES,
    "weights are gathered once per step of the accumulation; each micro-batch's gradient contracts its rows",
    Want(AG, "x", "reshard_needed", at="mm"),
    Want(SUM, "x", "contraction", at="mm", phase="backward"),
)
def accumulated_fsdp_gradients():
    def loss(w, x):
        y = x @ w  # @mm
        return jnp.sum(jnp.sin(y))

    split = named("x", None, mesh=LINE)

    def f(w, batches):
        def step(total, x):
            return total + jax.grad(loss)(w, x), None

        return jax.lax.scan(step, jnp.zeros_like(w), batches)[0]

    arguments = array((32, 16), "x", None, mesh=LINE), array((4, 256, 32), None, "x", None, mesh=LINE)
    return jax.jit(f, out_shardings=split), arguments


@case(
    CASES,
    "x by rows and columns in three axes; the product contracts tp, and fsdp is gathered for the rows take it",
    Want(AG, "fsdp", "reshard_needed", at="out"),
    Want(AR, "tp", "contraction", at="out"),
)
def row_parallel_product_on_three_axes():
    def f(x, w):
        return x @ w  # @out

    arguments = array((256, 64), ("data", "fsdp"), "tp", mesh=CUBE), array((64, 32), "tp", "fsdp", mesh=CUBE)
    return jax.jit(f), arguments


@case(
    CASES,
    "x[1:] and x[:-1] of time on x, with a loss over both: edges forward, edges of cotangents backward",
    Want(MOVE, "x", "halo", at="shift"),
    Want(AR, "x", "reduction", at="loss"),
)
def next_step_loss():
    def loss(x):
        past, future = x[:, :-1], x[:, 1:]  # @shift
        return jnp.sum((jnp.tanh(past) - future) ** 2)  # @loss

    split = named(None, "x", mesh=LINE)
    return jax.jit(jax.value_and_grad(loss), out_shardings=(None, split)), (array((4, 64), None, "x", mesh=LINE),)


@case(CASES, "a buffer that is given away is updated where it lies")
def donated_update():
    def f(w, g):
        return w - 0.1 * g

    a = array((32, 64), "data", "model")
    return jax.jit(f, donate_argnums=0), (a, a)


@case(
    CASES,
    "every statistic of the batch at once: sums and maxima over both axes",
    Want(AR, BOTH, "reduction", at="stats"),
)
def several_statistics_on_one_line():
    def f(x):
        return x.min(), x.max(), x.mean(), jnp.abs(x).sum()  # @stats

    return jax.jit(f), (array((16, 32), "data", "model"),)


@case(
    CASES,
    "convolution with batch on data and output channels on model; the next one contracts those channels",
    Want(AR, "model", "contraction", at="second"),
)
def two_convolutions():
    def f(x, k0, k1):
        y = jax.nn.relu(jax.lax.conv_general_dilated(x, k0, (1, 1), "SAME"))
        return jax.lax.conv_general_dilated(y, k1, (1, 1), "SAME")  # @second

    arguments = (
        array((4, 3, 8, 8), "data", None, None, None),
        array((8, 3, 3, 3), "model", None, None, None),
        array((4, 8, 3, 3), None, "model", None, None),
    )
    return jax.jit(f), arguments


@case(
    CASES,
    "inside the manual region over data, the partitioner sums over model for the norm",
    Want(AR, "model", "reduction", at="norm"),
    Want(AR, "data", "written", at="mean"),
)
def reduction_inside_a_partly_manual_region():
    def block(x):
        norm = jnp.sum(x * x, axis=1)  # @norm
        return jax.lax.pmean(norm.sum(), "data")  # @mean

    f = jax.shard_map(block, mesh=MESH, in_specs=jax.P("data", None), out_specs=jax.P(), axis_names={"data"})
    return jax.jit(f), (array((16, 32), "data", "model"),)


@case(
    CASES,
    "the result's columns are split over model (rows have taken data), so a bias split over data changes its axis",
    Want(MOVE, BOTH, "reshard_needed", at="bias"),
)
def bias_on_the_axis_of_the_rows():
    def f(x, b):
        return jnp.tanh(x) + b  # @bias

    return jax.jit(f), (array((16, 64), "data", "model"), array((64,), "data"))


@case(
    CASES,
    "likewise, with a scale that is reshaped and converted: it has data until the product wants model",
    Want(MOVE, BOTH, "reshard_needed", at="scale"),
    revised="the line of the reshape; but data goes forward through a reshape before model comes back",
)
def scale_on_the_axis_of_the_rows():
    def f(x, scale):
        row = scale.reshape(1, -1).astype(jnp.float32)
        return x * row  # @scale

    return jax.jit(f), (array((16, 64), "data", "model"), array((64,), "data", dtype=jnp.bfloat16))


@case(
    CASES,
    "columns of a product take model from w; its rows have data from x; the bias has data and must have model",
    Want(MOVE, BOTH, "reshard_needed", at="bias"),
)
def bias_of_a_product_on_the_axis_of_the_rows():
    def f(x, w, b):
        return jax.nn.relu(x @ w + b)  # @bias

    arguments = (array((16, 32), "data", None), array((32, 64), None, "model"), array((64,), "data"))
    return jax.jit(f), arguments
