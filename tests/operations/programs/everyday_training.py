"""Everyday indexing when a model is trained: labels, shifted tokens, segments, experts, buckets, replay.

Not its job: decoding (`everyday_decoding`), or one operation alone (`operations`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from causes.meshes import array

from operations.operation import LOOKS_UP, NEIGHBOURS, Operation, integers, operation

__all__ = ["PROGRAMS"]

PROGRAMS: list[Operation] = []

_NOWHERE = (*LOOKS_UP, *NEIGHBOURS)
_TOKENS = integers((8, 32), "data", "model")
_LOGITS = array((4, 16, 64), "data", None, "model")
_LABELS = integers((4, 16), "data", None)
_X = array((64, 16), "data", None)
"""Tokens and their features."""


# ---------------------------------------------------------------- tokens and labels


@operation(
    PROGRAMS,
    "31 of 32 positions, twice, one apart: edges move, and what does not divide is replicated",
    _TOKENS,
    causes=("halo",),
    never=LOOKS_UP,
    has_gradient=False,
)
def inputs_and_labels(tokens):
    return tokens[:, :-1], tokens[:, 1:]


@operation(
    PROGRAMS, "each device's last token goes to the next", _TOKENS, causes=("halo",), never=LOOKS_UP, has_gradient=False
)
def shift_right(tokens):
    return jnp.pad(tokens[:, :-1], ((0, 0), (1, 0)), constant_values=2)


@operation(
    PROGRAMS,
    "the same by a roll, and the first is closed",
    array((8, 32, 16), "data", "model", None),
    causes=("halo",),
    never=LOOKS_UP,
)
def shift_states(x):
    moved = jnp.roll(x, 1, axis=1)
    return jnp.where(jnp.arange(32)[None, :, None] == 0, 0.0, moved)


@operation(
    PROGRAMS,
    "the same by a concatenation with a start token",
    _TOKENS,
    causes=("halo", "reshard_needed"),
    never=LOOKS_UP,
    has_gradient=False,
)
def prepend_a_start_token(tokens):
    return jnp.concatenate([jnp.full((8, 1), 2, tokens.dtype), tokens[:, :-1]], axis=1)


@operation(
    PROGRAMS,
    "softmax along a sharded vocabulary, and the label's place in it",
    _LOGITS,
    _LABELS,
    causes=("reduction", "indexing"),
    never=NEIGHBOURS,
)
def cross_entropy_by_take_along(logits, labels):
    scores = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(scores, labels[..., None], axis=-1))


@operation(
    PROGRAMS,
    "the same by a product with one-hot labels",
    _LOGITS,
    _LABELS,
    causes=("reduction", "contraction"),
    never=_NOWHERE,
)
def cross_entropy_by_one_hot(logits, labels):
    return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, 64) * jax.nn.log_softmax(logits), axis=-1))


@operation(
    PROGRAMS,
    "the same for valid tokens alone",
    _LOGITS,
    _LABELS,
    array((4, 16), "model", None),
    causes=("reduction", "indexing", "reshard_needed", "contraction"),
    never=NEIGHBOURS,
)
def masked_cross_entropy(logits, labels, mask):
    losses = jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
    return jnp.sum(losses * mask) / jnp.sum(mask)


@operation(
    PROGRAMS,
    "rows by their numbers, columns by label",
    array((64, 64), "data", "model"),
    integers((64,), "data"),
    causes=("indexing", "reshard_needed"),
    never=NEIGHBOURS,
)
def logits_by_label(logits, labels):
    return logits[jnp.arange(64), labels]


@operation(
    PROGRAMS,
    "the diagonal of a sharded square",
    array((64, 16), "data", None),
    array((64, 16), "model", None),
    causes=("indexing", "reshard_needed", "reduction", "contraction"),
    never=NEIGHBOURS,
)
def scores_of_true_pairs(x, y):
    scores = x @ y.T
    i = jnp.arange(64)
    return scores[i, i]


@operation(
    PROGRAMS,
    "rows of a vocabulary sharded over model",
    array((64, 16), "model", None),
    _LABELS,
    causes=("indexing",),
    never=NEIGHBOURS,
)
def embed_tokens(table, tokens):
    return table[tokens]


@operation(
    PROGRAMS,
    "features have the axis that the batch has",
    array((64, 32), "model", "data"),
    _LABELS,
    causes=("indexing", "reshard_needed"),
    never=NEIGHBOURS,
)
def embed_by_sharded_features(table, tokens):
    return table[tokens]


@operation(
    PROGRAMS,
    "tokens and rows of the weight have the same axis",
    array((64, 32)),
    integers((8, 16), "data", None),
    array((32, 64), "data", None),
    causes=("reshard_needed", "contraction"),
    never=_NOWHERE,
    backward=("indexing",),
    revised="no such sum in the gradient: that rows of the table are added to had been forgotten",
)
def embed_and_project(table, tokens, w):
    return table[tokens] @ w


@operation(
    PROGRAMS,
    "a number for all: the batch has the axis that the weight's rows have",
    array((64, 32)),
    integers((8,), "data"),
    array((32, 64), "data", None),
    causes=("reshard_needed", "contraction"),
    never=_NOWHERE,
    backward=("indexing",),
    revised="no such sum in the gradient: that rows of the table are added to had been forgotten",
)
def project_one_token_each(table, token, w):
    return table[token] @ w


@operation(
    PROGRAMS,
    "looked up and multiplied: the vocabulary is sharded both times",
    array((64, 16), "model", None),
    _LABELS,
    causes=("indexing", "reshard_needed"),
    backward=("contraction",),
    never=NEIGHBOURS,
)
def tied_embedding(table, tokens):
    return jnp.tanh(table[tokens]) @ table.T


@operation(
    PROGRAMS,
    "a loss in four parts: tokens of all sequences are merged and cut into parts, one for each turn of a loop",
    array((4, 16, 16), "data", None, None),
    array((16, 64), None, "model"),
    _LABELS,
    causes=("reshard_needed", "indexing", "reduction", "contraction"),
)
def loss_in_parts(x, w, labels):
    def part(total, both):
        x, labels = both
        logits = x @ w
        picked = jnp.take_along_axis(logits, labels[:, None], -1)[:, 0]
        return total + jnp.sum(jax.nn.logsumexp(logits, -1) - picked), None

    return jax.lax.scan(part, 0.0, (x.reshape(4, 16, 16), labels.reshape(4, 16)))[0]


# ---------------------------------------------------------------- pieces of sequences and images


@operation(
    PROGRAMS,
    "four pieces of eight positions, one on each device along model, side by side",
    array((8, 32, 16), "data", "model", None),
    causes=("halo", "reshard_needed"),
    never=LOOKS_UP,
)
def pieces_of_a_sequence(x):
    return jnp.stack([x[:, i : i + 8] for i in range(0, 32, 8)], axis=1)


@operation(
    PROGRAMS,
    "every other position: each device its own",
    array((8, 32, 16), "data", "model", None),
    causes=("halo",),
    never=LOOKS_UP,
)
def every_other_token(x):
    return x[:, ::2]


@operation(PROGRAMS, "31 of 32 tokens", array((8, 32, 16), "data", "model", None), causes=("halo",), never=LOOKS_UP)
def without_the_class_token(x):
    return x[:, 1:]


@operation(
    PROGRAMS,
    "33 of 32 tokens: all are moved by one",
    array((8, 32, 16), "data", "model", None),
    array((1, 1, 16), None, None, "model"),
    causes=("halo", "reshard_needed"),
    backward=("reduction",),
    never=LOOKS_UP,
)
def with_a_class_token(x, token):
    return jnp.concatenate([jnp.broadcast_to(token, (8, 1, 16)), x], axis=1)


@operation(
    PROGRAMS,
    "rows of pixels are sharded, and patches are made of them",
    array((4, 16, 16, 4), "data", "model", None, None),
    causes=("reshard_needed",),
    never=_NOWHERE,
)
def patches_of_images(x):
    return x.reshape(4, 4, 4, 4, 4, 4).transpose(0, 1, 3, 2, 4, 5).reshape(4, 16, 64)


@operation(
    PROGRAMS, "the channel is whole on every device", array((4, 16, 16, 4), "data", "model", None, None), never=_NOWHERE
)
def one_channel(x):
    return x[..., 0]


@operation(
    PROGRAMS,
    "eight of sixteen rows and columns",
    array((4, 16, 16, 4), "data", "model", None, None),
    causes=("halo",),
    never=LOOKS_UP,
)
def centre_of_images(x):
    return x[:, 4:-4, 4:-4]


@operation(
    PROGRAMS,
    "each image is cropped elsewhere, along a sharded height",
    array((4, 16, 16, 4), "data", "model", None, None),
    integers((4, 2), "data", None),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def random_crops(x, corners):
    return jax.vmap(lambda x, c: jax.lax.dynamic_slice(x, (c[0], c[1], 0), (8, 8, 4)))(x, corners)


@operation(
    PROGRAMS,
    "some images are mirrored along a sharded width",
    array((4, 16, 16, 4), "data", None, "model", None),
    array((4,), "data", dtype=jnp.bool_),
    causes=("halo",),
    never=_NOWHERE,
)
def mirror_some(x, mirrored):
    return jnp.where(mirrored[:, None, None, None], x[:, :, ::-1], x)


@operation(
    PROGRAMS,
    "heads are taken apart: features' pieces fall on whole heads; then products over features",
    array((4, 16, 96), "data", None, "model"),
    causes=("halo", "reshard_needed", "contraction"),
    never=LOOKS_UP,
)
def split_query_key_value(x):
    q, k, v = jnp.split(x, 3, axis=-1)
    return jnp.einsum("bsd,btd->bst", q, k) @ v


# ---------------------------------------------------------------- segments, groups, buckets


@operation(
    PROGRAMS,
    "documents are counted along sharded positions",
    _TOKENS,
    causes=("indexing",),
    never=_NOWHERE,
    has_gradient=False,
    revised="a halo, too, for the slices JAX makes a cumulative sum of elsewhere; on CPU it is one windowed reduction",
)
def segment_ids(tokens):
    return jnp.cumsum(tokens == 2, axis=1)


@operation(
    PROGRAMS,
    "each device sums its tokens by document",
    array((64,), "model"),
    integers((64,), "model"),
    causes=("indexing",),
    never=_NOWHERE,
)
def losses_of_documents(losses, documents):
    return jax.ops.segment_sum(losses, documents, num_segments=8)


@operation(
    PROGRAMS, "sums and counts by group, divided", _X, integers((64,), "data"), causes=("indexing",), never=_NOWHERE
)
def mean_of_groups(x, groups):
    sums = jnp.zeros((8, 16)).at[groups].add(x)
    counts = jnp.zeros((8,)).at[groups].add(1.0)
    return sums / jnp.maximum(counts, 1.0)[:, None]


@operation(PROGRAMS, "the same by a product", _X, integers((64,), "data"), causes=("contraction",), never=_NOWHERE)
def sum_of_groups_by_one_hot(x, groups):
    return jax.nn.one_hot(groups, 8).T @ x


@operation(
    PROGRAMS,
    "messages from the senders' rows to the receivers'",
    _X,
    integers((256,), "model"),
    integers((256,), "model"),
    causes=("indexing", "reshard_needed"),
    never=NEIGHBOURS,
)
def messages_of_a_graph(x, senders, receivers):
    return jax.ops.segment_sum(jnp.tanh(x[senders]), receivers, num_segments=64)


@operation(PROGRAMS, "limits are whole on every device", integers((64,), "data"), never=_NOWHERE, has_gradient=False)
def bucket_by_length(lengths):
    return jnp.searchsorted(jnp.array([8, 16, 24, 32]), lengths)


@operation(
    PROGRAMS,
    "the same, and how many there are of each: counts are summed",
    integers((64,), "data"),
    causes=("indexing",),
    never=NEIGHBOURS,
    has_gradient=False,
)
def sizes_of_buckets(lengths):
    return jnp.bincount(jnp.digitize(lengths, jnp.array([8, 16, 24])), length=4)


@operation(
    PROGRAMS,
    "the order of all lengths, and rows in that order",
    _X,
    integers((64,), "data"),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def sort_by_length(x, lengths):
    return x[jnp.argsort(lengths)]


@operation(
    PROGRAMS,
    "pairs above the diagonal, from rows sharded over data and columns over model",
    array((16, 16), "data", "model"),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def pairs_above_the_diagonal(x):
    i, j = jnp.triu_indices(16, 1)
    return x[i, j]


# ---------------------------------------------------------------- experts


@operation(
    PROGRAMS,
    "tokens in the order of their experts, and back",
    _X,
    integers((64,), "data"),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def sort_by_expert_and_back(x, experts):
    order = jnp.argsort(experts)
    return jnp.tanh(x[order])[jnp.argsort(order)]


@operation(
    PROGRAMS,
    "how many tokens each expert has, and where they start",
    integers((64,), "data"),
    causes=("indexing", "halo"),
    never=NEIGHBOURS,
    has_gradient=False,
)
def starts_of_experts(experts):
    sizes = jnp.bincount(experts, length=8)
    return jnp.cumsum(sizes) - sizes


@operation(
    PROGRAMS,
    "the two best of sharded experts, weights normalized",
    array((64, 8), "data", "model"),
    # On CPU top-k is a custom call that XLA splits along no dimension: sharded rows are gathered, too.
    causes=("indexing", "no_sharding_rule", "reduction"),
    never=NEIGHBOURS,
)
def two_best_experts(scores):
    values, _ = jax.lax.top_k(jax.nn.softmax(scores), 2)
    return values / jnp.sum(values, -1, keepdims=True)


@operation(
    PROGRAMS,
    "each token's place in its expert is a count of tokens before, along sharded tokens; then sums over tokens",
    _X,
    integers((64,), "data"),
    causes=("indexing", "halo", "contraction", "reduction", "reshard_needed"),
)
def dispatch_by_one_hot(x, experts):
    chosen = jax.nn.one_hot(experts, 8)
    place = jnp.sum((jnp.cumsum(chosen, axis=0) - 1) * chosen, axis=1).astype(jnp.int32)
    return jnp.einsum("te,tc,td->ecd", chosen, jax.nn.one_hot(place, 16), x)


@operation(
    PROGRAMS,
    "tokens are written to places of sharded experts",
    _X,
    integers((64,), "data"),
    integers((64,), "data"),
    array((8, 16, 16), "model", None, None),
    causes=("indexing", "reshard_needed"),
    never=NEIGHBOURS,
)
def dispatch_by_scatter(x, experts, places, buffer):
    return buffer.at[experts, places].set(x)


@operation(
    PROGRAMS,
    "tokens read what sharded experts made of them",
    array((8, 16, 16), "model", None, None),
    integers((64,), "data"),
    integers((64,), "data"),
    array((64,), "data"),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def combine_by_gather(made, experts, places, gates):
    return made[experts, places] * gates[:, None]


@operation(
    PROGRAMS,
    "each token takes its expert's weight: a gather of sharded experts, then a product",
    _X,
    array((8, 16, 16), "model", None, None),
    integers((64,), "data"),
    causes=("indexing", "reshard_needed", "contraction"),
    never=NEIGHBOURS,
)
def weight_of_each_token(x, w, experts):
    return jnp.einsum("td,tde->te", x, w[experts])


# ---------------------------------------------------------------- batches and replay


@operation(
    PROGRAMS,
    "rows in a new order",
    _X,
    integers((64,), "data"),
    causes=("indexing", "reshard_needed"),
    never=NEIGHBOURS,
)
def shuffle_a_batch(x, order):
    return x[order]


@operation(PROGRAMS, "eight rows from a number times eight", _X, integers(()), causes=("indexing",), never=NEIGHBOURS)
def minibatch(x, i):
    return jax.lax.dynamic_slice_in_dim(x, i * 8, 8)


@operation(
    PROGRAMS,
    "all parts of a batch, one for each turn of a loop, summed",
    _X,
    array((16, 16), "model", None),
    causes=("indexing", "reshard_needed", "contraction", "reduction"),
)
def loop_over_minibatches(x, w):
    def turn(i, total):
        return total + jnp.sum(jnp.tanh(jax.lax.dynamic_slice_in_dim(x, i * 8, 8) @ w), axis=0)

    return jax.lax.fori_loop(0, 8, turn, jnp.zeros(16))


@operation(
    PROGRAMS,
    "new rows go where a pointer says, round the end",
    array((64, 16), "model", None),
    array((8, 16), "data", None),
    integers(()),
    causes=("indexing", "reshard_needed"),
    never=NEIGHBOURS,
)
def insert_into_replay(buffer, rows, pointer):
    return buffer.at[(pointer + jnp.arange(8)) % 64].set(rows)


@operation(
    PROGRAMS,
    "four times after each start",
    array((64, 8), "model", None),
    integers((16,), "data"),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def windows_of_replay(buffer, starts):
    return buffer[starts[:, None] + jnp.arange(4)]


@operation(
    PROGRAMS,
    "what is gained later is summed backwards along sharded times",
    array((8, 32), "data", "model"),
    causes=("halo", "indexing"),
    never=LOOKS_UP,
)
def discounted_returns(rewards):
    return jax.lax.associative_scan(lambda a, b: 0.9 * a + b, rewards[:, ::-1], axis=1)[:, ::-1]


@operation(
    PROGRAMS,
    "values of the next time less those of this one, along sharded times",
    array((8, 32), "data", "model"),
    array((8, 32), "data", "model"),
    causes=("halo",),
    never=LOOKS_UP,
)
def temporal_differences(rewards, values):
    later = jnp.concatenate([values[:, 1:], jnp.zeros((8, 1))], axis=1)
    return rewards + 0.9 * later - values


@operation(
    PROGRAMS,
    "the value of the action that was taken; actions are sharded",
    array((64, 8), "data", "model"),
    integers((64,), "data"),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def values_of_actions(values, actions):
    return jnp.take_along_axis(values, actions[:, None], axis=1)[:, 0]


@operation(
    PROGRAMS,
    "the largest value, and its action, of sharded actions",
    array((64, 8), "data", "model"),
    causes=("reduction",),
    never=_NOWHERE,
)
def best_action_values(values):
    return jnp.max(values, axis=1) - jnp.mean(values, axis=1)


@operation(
    PROGRAMS,
    "columns by a constant list, from sharded columns",
    array((16, 32), "data", "model"),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def some_columns(x):
    return x[:, jnp.array([0, 3, 5, 7])]


@operation(
    PROGRAMS,
    "one cell of each axis, both sharded",
    array((16, 32), "data", "model"),
    causes=("indexing", "halo"),
    never=NEIGHBOURS,
)
def one_cell(x):
    return x[3, 5]


@operation(
    PROGRAMS,
    "a new dimension in the middle, against columns",
    array((16, 32), "data", "model"),
    array((8, 32), "model", None),
    causes=("reshard_needed",),
    backward=("reduction",),
    never=_NOWHERE,
)
def all_pairs_by_new_dimension(x, y):
    return x[:, None, :] - y[None, :, :]
