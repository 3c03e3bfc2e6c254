"""Everyday indexing when a model is decoded: caches, masks, the last token, sampling.

Not its job: training (`everyday_training`), or one operation alone (`operations`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from causes.meshes import array

from operations.operation import LOOKS_UP, NEIGHBOURS, Operation, integers, operation

__all__ = ["PROGRAMS"]

PROGRAMS: list[Operation] = []

_NOWHERE = (*LOOKS_UP, *NEIGHBOURS)
_POSITION = ("indexing", "halo")
_CACHE = array((4, 32, 4, 8), "data", None, "model", None)
_LONG_CACHE = array((4, 32, 4, 8), "data", "model", None, None)
_NEW = array((4, 1, 4, 8), "data", None, None, None)
_LOGITS = array((8, 64), "data", "model")
_STATES = array((4, 32, 16), "data", "model", None)


# ---------------------------------------------------------------- caches


@operation(
    PROGRAMS,
    "heads are sharded, positions are whole: each device writes its heads",
    _CACHE,
    _NEW,
    integers(()),
    never=_NOWHERE,
)
def cache_of_sharded_heads(cache, new, i):
    return jax.lax.dynamic_update_slice(cache, new, (0, i, 0, 0))


@operation(
    PROGRAMS,
    "positions are sharded: the owner writes",
    _LONG_CACHE,
    _NEW,
    integers(()),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def cache_of_sharded_positions(cache, new, i):
    return cache.at[:, i].set(new[:, 0])


@operation(
    PROGRAMS,
    "each sequence has a length of its own; batch and positions are sharded",
    _LONG_CACHE,
    array((4, 4, 8), "data", None, None),
    integers((4,), "data"),
    causes=("indexing", "reshard_needed"),
    never=NEIGHBOURS,
)
def cache_of_unequal_lengths(cache, new, lengths):
    return cache.at[jnp.arange(4), lengths].set(new)


@operation(
    PROGRAMS,
    "the same for heads that are sharded, by vmap: the batch is a batch of the scatter",
    _CACHE,
    _NEW,
    integers((4,), "data"),
    causes=("indexing", "reshard_needed"),
    never=NEIGHBOURS,
)
def mapped_cache_update(cache, new, lengths):
    return jax.vmap(lambda c, n, i: jax.lax.dynamic_update_slice(c, n, (i, 0, 0)))(cache, new, lengths)


@operation(
    PROGRAMS,
    "the oldest position is overwritten",
    _LONG_CACHE,
    _NEW,
    integers(()),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def ring_buffer_cache(cache, new, i):
    return jax.lax.dynamic_update_slice_in_dim(cache, new, i % 32, axis=1)


@operation(
    PROGRAMS,
    "the prompt fills the first half; positions of the prompt are sharded, too, and so lie elsewhere",
    _LONG_CACHE,
    array((4, 16, 4, 8), "data", "model", None, None),
    causes=("indexing", "halo", "reshard_needed"),
)
def prefill_of_a_cache(cache, prompt):
    return cache.at[:, :16].set(prompt)


@operation(
    PROGRAMS, "eight positions before a number", _LONG_CACHE, integers(()), causes=("indexing",), never=NEIGHBOURS
)
def window_of_a_cache(cache, i):
    return jax.lax.dynamic_slice_in_dim(cache, i - 8, 8, axis=1)


@operation(
    PROGRAMS,
    "one query against all positions: softmax and sum along the sharded positions",
    array((4, 4, 8), "data", None, None),
    _LONG_CACHE,
    _LONG_CACHE,
    integers(()),
    causes=("reduction", "contraction"),
    backward=("reshard_needed",),
    never=_NOWHERE,
)
def attention_to_a_cache(q, k, v, i):
    scores = jnp.einsum("bhd,bshd->bhs", q, k)
    scores = jnp.where(jnp.arange(32) <= i, scores, -jnp.inf)
    return jnp.einsum("bhs,bshd->bhd", jax.nn.softmax(scores, -1), v)


@operation(
    PROGRAMS,
    "beams go on from other beams: rows of the sharded batch by number",
    _CACHE,
    integers((4,)),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def reorder_beams(cache, beams):
    return cache[beams]


@operation(
    PROGRAMS,
    "each sequence picks among its beams, which are sharded",
    array((8, 4, 16), "data", "model", None),
    integers((8, 4), "data", None),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def pick_beams(x, beams):
    return jnp.take_along_axis(x, beams[:, :, None], axis=1)


@operation(
    PROGRAMS,
    "pages are sharded, each sequence has a table of its pages",
    array((16, 8, 4, 8), "model", None, None, None),
    integers((4, 3), "data", None),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def paged_cache(pages, table):
    return pages[table].reshape(4, 24, 4, 8)


@operation(
    PROGRAMS,
    "one token of each sequence into a buffer sharded along positions",
    integers((8, 32), "data", "model"),
    integers((8,), "data"),
    integers(()),
    causes=("indexing",),
    never=NEIGHBOURS,
    has_gradient=False,
)
def append_tokens(tokens, new, i):
    return tokens.at[:, i].set(new)


# ---------------------------------------------------------------- the last token


@operation(
    PROGRAMS,
    "the last position lies on the last device along model",
    _STATES,
    array((16, 64)),
    causes=_POSITION,
    never=NEIGHBOURS,
    backward=("contraction",),
    revised="no such sum in the gradient: that the weight's gradient sums over the batch had been forgotten",
)
def logits_of_the_last_token(x, w):
    return x[:, -1] @ w


@operation(
    PROGRAMS,
    "each sequence has its last token elsewhere",
    _STATES,
    integers((4,), "data"),
    causes=("indexing", "reshard_needed"),
    never=NEIGHBOURS,
)
def last_token_by_length(x, lengths):
    return x[jnp.arange(x.shape[0]), lengths - 1]


@operation(
    PROGRAMS, "the same with take_along_axis", _STATES, integers((4,), "data"), causes=("indexing",), never=NEIGHBOURS
)
def last_token_by_take_along(x, lengths):
    return jnp.take_along_axis(x, (lengths - 1)[:, None, None], axis=1)[:, 0]


@operation(
    PROGRAMS,
    "the same as a sum over all positions",
    _STATES,
    integers((4,), "data"),
    causes=("contraction",),
    never=_NOWHERE,
)
def last_token_by_one_hot(x, lengths):
    return jnp.einsum("bsd,bs->bd", x, jax.nn.one_hot(lengths - 1, 32))


@operation(
    PROGRAMS, "the first position lies on the first device along model", _STATES, causes=_POSITION, never=NEIGHBOURS
)
def class_token(x):
    return x[:, 0]


@operation(
    PROGRAMS,
    "the sum of valid positions by their number",
    _STATES,
    array((4, 32), "data", "model"),
    causes=("reduction", "contraction"),
    never=_NOWHERE,
)
def mean_of_valid_tokens(x, mask):
    return jnp.sum(x * mask[..., None], axis=1) / jnp.sum(mask, axis=1)[:, None]


# ---------------------------------------------------------------- positions and masks


@operation(
    PROGRAMS,
    "each position counts the valid ones before it",
    integers((8, 32), "data", "model"),
    causes=("indexing",),
    never=_NOWHERE,
    has_gradient=False,
    revised="a halo, too, for the slices JAX makes a cumulative sum of elsewhere; on CPU it is one windowed reduction",
)
def position_ids(mask):
    return jnp.cumsum(mask, axis=1) - 1


@operation(
    PROGRAMS,
    "rows of a table sharded over model",
    array((32, 16), "model", None),
    integers((8, 32), "data", None),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def learned_positions(table, positions):
    return table[positions]


@operation(
    PROGRAMS,
    "the first 32 of 64 rows: two devices hold them",
    array((8, 32, 16), "data", None, None),
    array((64, 16), "model", None),
    causes=("halo", "reshard_needed"),
    never=LOOKS_UP,
    backward=("reduction",),
    revised="no such sum in the gradient: that the table's gradient sums over the batch had been forgotten",
)
def first_positions(x, table):
    return x + table[None, : x.shape[1]]


@operation(
    PROGRAMS, "each device makes its part of the mask", array((8, 16, 16), "data", "model", None), never=_NOWHERE
)
def causal_mask(scores):
    mask = jnp.tril(jnp.ones((16, 16), bool))
    return jnp.where(mask, scores, -1e9)


@operation(
    PROGRAMS,
    "lengths are sharded over model, which the positions have",
    array((8, 32), "data", "model"),
    integers((8,), "model"),
    causes=("reshard_needed",),
    never=_NOWHERE,
)
def padding_mask(x, lengths):
    return jnp.where(jnp.arange(32)[None] < lengths[:, None], x, 0.0)


@operation(
    PROGRAMS,
    "two positions are compared; each device its own",
    array((8, 16, 16), "data", "model", None),
    never=_NOWHERE,
)
def sliding_window_mask(scores):
    i, j = jnp.arange(16)[:, None], jnp.arange(16)[None]
    return jnp.where((j <= i) & (j > i - 4), scores, -1e9)


@operation(
    PROGRAMS,
    "segments of queries and of keys are the same array, whose axis the result can have once",
    array((8, 16, 16), "data", "model", None),
    integers((8, 16), "data", "model"),
    causes=("reshard_needed",),
    never=_NOWHERE,
)
def segment_mask(scores, segments):
    return jnp.where(segments[:, :, None] == segments[:, None, :], scores, -1e9)


@operation(
    PROGRAMS,
    "the same with heads, and positions of packed documents",
    array((4, 4, 16, 16), "data", None, "model", None),
    integers((4, 16), "data", "model"),
    integers((4, 16), "data", "model"),
    causes=("reshard_needed",),
    never=_NOWHERE,
)
def packed_causal_mask(scores, segments, positions):
    same = segments[:, None, :, None] == segments[:, None, None, :]
    before = positions[:, None, :, None] >= positions[:, None, None, :]
    return jnp.where(same & before, scores, -1e9)


@operation(
    PROGRAMS,
    "distances look up a bias; heads are sharded, the table's rows are whole",
    array((16, 4), None, "model"),
    never=_NOWHERE,
)
def relative_bias(table):
    distance = jnp.arange(16)[:, None] - jnp.arange(16)[None]
    return table[jnp.clip(distance + 8, 0, 15)]


@operation(
    PROGRAMS,
    "angles by position; halves of the sharded features change places",
    array((4, 16, 4, 8), "data", None, None, "model"),
    integers((4, 16), "data", "model"),
    causes=("halo", "reshard_needed"),
    never=LOOKS_UP,
)
def rotary_positions(x, positions):
    angle = positions[..., None, None] / 10000.0 ** (jnp.arange(4) / 4)
    a, b = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), b * jnp.cos(angle) + a * jnp.sin(angle)], -1)


@operation(
    PROGRAMS,
    "even and odd features are taken apart and put together again",
    array((4, 16, 32), "data", None, "model"),
    array((16,), "model"),
    causes=("halo", "reshard_needed"),
    never=LOOKS_UP,
    backward=("reduction",),
    revised="no such sum in the gradient: that the angles' gradient sums over the batch had been forgotten",
)
def interleaved_rotary(x, angle):
    a, b = x[..., ::2], x[..., 1::2]
    both = a * jnp.cos(angle) - b * jnp.sin(angle), b * jnp.cos(angle) + a * jnp.sin(angle)
    return jnp.stack(both, axis=-1).reshape(x.shape)


# ---------------------------------------------------------------- sampling


@operation(
    PROGRAMS,
    "the largest of a vocabulary sharded over model",
    array((4, 16, 64), "data", None, "model"),
    causes=("reduction",),
    never=_NOWHERE,
    has_gradient=False,
)
def greedy_token(logits):
    return jnp.argmax(logits[:, -1], axis=-1)


@operation(
    PROGRAMS,
    "candidates along the vocabulary, then a draw among them",
    _LOGITS,
    # On CPU top-k is a custom call that XLA splits along no dimension: sharded rows are gathered, too.
    causes=("indexing", "no_sharding_rule", "reduction"),
    never=NEIGHBOURS,
    has_gradient=False,
)
def top_k_sampling(logits):
    values, places = jax.lax.top_k(logits, 8)
    drawn = jax.random.categorical(jax.random.PRNGKey(0), values)
    return jnp.take_along_axis(places, drawn[:, None], axis=1)[:, 0]


@operation(
    PROGRAMS,
    "the vocabulary is sorted; probabilities are summed up to a limit",
    _LOGITS,
    causes=("indexing", "reduction", "halo"),
    has_gradient=False,
)
def top_p_sampling(logits):
    ordered = jnp.sort(logits, axis=-1)[:, ::-1]
    total = jnp.cumsum(jax.nn.softmax(ordered, -1), axis=-1)
    least = jnp.min(jnp.where(total < 0.9, ordered, jnp.inf), axis=-1, keepdims=True)
    return jax.random.categorical(jax.random.PRNGKey(0), jnp.where(logits < least, -jnp.inf, logits))


@operation(
    PROGRAMS,
    "probabilities are compared with the largest",
    _LOGITS,
    causes=("reduction",),
    never=_NOWHERE,
    has_gradient=False,
)
def min_p_sampling(logits):
    p = jax.nn.softmax(logits, -1)
    kept = jnp.where(p >= 0.1 * jnp.max(p, -1, keepdims=True), logits, -jnp.inf)
    return jnp.argmax(kept + jax.random.gumbel(jax.random.PRNGKey(0), logits.shape), -1)


@operation(
    PROGRAMS,
    "tokens said before are looked up and written in a sharded vocabulary",
    _LOGITS,
    integers((8, 16), "data", None),
    causes=("indexing", "reshard_needed"),
    never=NEIGHBOURS,
)
def repetition_penalty(logits, tokens):
    rows = jnp.arange(8)[:, None]
    said = jnp.take_along_axis(logits, tokens, axis=1)
    return logits.at[rows, tokens].set(jnp.where(said > 0, said / 1.2, said * 1.2))


@operation(PROGRAMS, "one column of the vocabulary is closed", _LOGITS, causes=("indexing", "halo"), never=NEIGHBOURS)
def forbid_a_token(logits):
    return logits.at[:, 0].set(-1e9)


@operation(
    PROGRAMS,
    "probabilities of the drawn tokens, from a sharded vocabulary",
    _LOGITS,
    integers((8,), "data"),
    causes=("reduction", "indexing"),
    never=NEIGHBOURS,
)
def probability_of_drawn_tokens(logits, drawn):
    return jnp.take_along_axis(jax.nn.log_softmax(logits), drawn[:, None], axis=-1)[:, 0]


@operation(
    PROGRAMS,
    "tokens until all sequences have ended: all devices wait for that; each turn looks for the largest of a vocabulary",
    array((64, 16), None, None),
    array((16, 64), None, "model"),
    integers((8,), "data"),
    causes=("loop_predicate", "reduction", "reshard_needed"),
    has_gradient=False,
    takes_product=False,
)
def decode_until_all_have_ended(table, head, first):
    def step(state):
        i, token, done = state
        token = jnp.argmax(table[token] @ head, axis=-1).astype(jnp.int32)
        return i + 1, token, done | (token == 1)

    def goes_on(state):
        return (state[0] < 16) & ~jnp.all(state[2])

    return jax.lax.while_loop(goes_on, step, (0, first, first == 1))[1]
