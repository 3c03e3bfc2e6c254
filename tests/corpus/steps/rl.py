"""Reinforcement learning steps: environments scanned on devices, PPO, A2C, Q-learning, evolution.

Not its job: networks of any size.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax
from jax import lax

from corpus.arrays import grid, one, placed, state_of
from corpus.program import Built, Expected, Never, Program, program

PROGRAMS: list[Program] = []


def pendulum(state, action):
    angle, speed = state[..., 0], state[..., 1]
    speed = jnp.clip(speed + 0.05 * (15 * jnp.sin(angle) + 3 * action), -8, 8)
    angle = angle + 0.05 * speed
    return jnp.stack([angle, speed], -1), -(jnp.square(angle) + 0.1 * jnp.square(speed))


def actor_critic(p, obs):
    h = jnp.tanh(obs @ p["in"])
    h = jnp.tanh(h @ p["mid"])
    return (h @ p["mean"])[..., 0], (h @ p["value"])[..., 0]


def networks(mesh, *spec):
    return placed(mesh, {"in": ((2, 32),), "mid": ((32, 32), *spec), "mean": ((32, 1),), "value": ((32, 1),)})


@program(
    PROGRAMS,
    "RL",
    "PPO",
    "env scan",
    "DP",
    "adam",
    expected=(Expected(kind="all-reduce", axes="env", cause="contraction", says=("gradient",), shape=(32, 32)),),
    never=(Never(kind="all-to-all"),),
)
def ppo_with_scanned_environment() -> Built:
    mesh = grid(env=8)
    params, tx = networks(mesh), optax.chain(optax.clip_by_global_norm(0.5), optax.adam(3e-4))

    def train(params, opt, env, key):
        def act(carry, key):
            env = carry
            mean, value = actor_critic(params, env)
            action = mean + 0.3 * jax.random.normal(key, mean.shape)
            new, reward = pendulum(env, action)
            return new, (env, action, mean, value, reward)

        env, (obs, action, old, value, reward) = lax.scan(act, env, jax.random.split(key, 8))
        _, last = actor_critic(params, env)

        def gae(carry, x):
            adv, nxt = carry
            v, r = x
            adv = r + 0.99 * nxt - v + 0.99 * 0.95 * adv
            return (adv, v), adv

        _, adv = lax.scan(gae, (jnp.zeros_like(last), last), (value, reward), reverse=True)
        target = adv + value
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)

        def loss(p):
            mean, v = actor_critic(p, obs)
            logp = -jnp.square(action - mean) + jnp.square(action - old)
            ratio = jnp.exp(logp / (2 * 0.09))
            pg = -jnp.minimum(ratio * adv, jnp.clip(ratio, 0.8, 1.2) * adv).mean()
            return pg + 0.5 * jnp.square(v - target).mean()

        def epoch(carry, _):
            p, s = carry
            value, g = jax.value_and_grad(loss)(p)
            u, s = tx.update(g, s)
            return (optax.apply_updates(p, u), s), value

        (params, opt), losses = lax.scan(epoch, (params, opt), None, length=3)
        return params, opt, env, losses

    env, key = one(mesh, (64, 2), "env"), one(mesh, (2,), dtype=jnp.uint32)
    return jax.jit(train, donate_argnums=(0, 1, 2)), (params, state_of(mesh, tx, params), env, key)


@program(PROGRAMS, "RL", "A2C", "env scan", "FSDP", "rmsprop", "2-D")
def a2c_with_split_network() -> Built:
    mesh = grid([1, 0, 3, 2, 5, 4, 7, 6], env=4, net=2)
    params, tx = networks(mesh, "env", "net"), optax.rmsprop(7e-4, decay=0.99)

    @jax.jit
    def update(params, opt, env, key):
        def loss(p):
            def tick(env, key):
                mean, value = actor_critic(p, env)
                action = lax.stop_gradient(mean + jax.random.normal(key, mean.shape))
                new, reward = pendulum(env, action)
                return new, (reward, value, -jnp.square(action - mean) / 2)

            last, (reward, value, logp) = lax.scan(tick, env, jax.random.split(key, 5))
            boot = lax.stop_gradient(actor_critic(p, last)[1])
            _, returns = lax.scan(lambda g, r: (r + 0.99 * g, r + 0.99 * g), boot, reward, reverse=True)
            adv = returns - value
            return -(logp * lax.stop_gradient(adv)).mean() + 0.5 * (adv**2).mean(), last

        (value, last), g = jax.value_and_grad(loss, has_aux=True)(params)
        u, opt = tx.update(g, opt)
        return optax.apply_updates(params, u), opt, last, value

    env, key = one(mesh, (32, 2), "env"), one(mesh, (2,), dtype=jnp.uint32)
    return update, (params, state_of(mesh, tx, params), env, key)


@program(PROGRAMS, "RL", "DQN", "replay buffer", "target network", "gather from a split buffer")
def dqn_with_split_replay() -> Built:
    mesh = grid(buffer=8)
    q = placed(mesh, {"w0": ((4, 64),), "w1": ((64, 3),)})
    tx = optax.adam(1e-3)

    def values(p, s):
        return jax.nn.relu(s @ p["w0"]) @ p["w1"]

    @jax.jit
    def step(q, target, opt, replay, key):
        rows = jax.random.randint(key, (32,), 0, replay["s"].shape[0])
        batch = jax.tree.map(lambda a: a[rows], replay)
        best = batch["r"] + 0.99 * values(target, batch["n"]).max(-1)

        def loss(p):
            chosen = jnp.take_along_axis(values(p, batch["s"]), batch["a"][:, None], 1)[:, 0]
            return optax.huber_loss(chosen, best).mean()

        value, g = jax.value_and_grad(loss)(q)
        u, opt = tx.update(g, opt)
        q = optax.apply_updates(q, u)
        return q, optax.incremental_update(q, target, 0.005), opt, value

    replay = placed(mesh, {"s": ((256, 4), "buffer"), "n": ((256, 4), "buffer"), "r": ((256,), "buffer")})
    replay["a"] = one(mesh, (256,), "buffer", dtype=jnp.int32)
    return step, (q, q, state_of(mesh, tx, q), replay, one(mesh, (2,), dtype=jnp.uint32))


@program(
    PROGRAMS,
    "evolution",
    "population",
    "vmap",
    "argsort",
    expected=(
        Expected(
            kind="all-gather|all-reduce", axes="population", cause="indexing|reduction|contraction|reshard_needed"
        ),
    ),
)
def evolution_strategy() -> Built:
    mesh = grid([0, 2, 1, 3, 4, 6, 5, 7], population=8)

    @jax.jit
    def generation(mean, sigma, keys, x, y):
        noise = jax.vmap(lambda k: jax.random.normal(k, mean.shape))(keys)
        fitness = jax.vmap(lambda n: -((jnp.tanh(x @ (mean + sigma * n)).sum(-1) - y) ** 2).mean())(noise)
        ranks = jnp.argsort(jnp.argsort(fitness)) / (fitness.shape[0] - 1) - 0.5
        grad = jnp.tensordot(ranks, noise, axes=1) / (fitness.shape[0] * sigma)
        elite = noise[jnp.argmax(fitness)]
        return mean + 0.1 * grad + 0.01 * elite, sigma * 0.99, fitness.max()

    keys = one(mesh, (32, 2), "population", dtype=jnp.uint32)
    return generation, (one(mesh, (16, 8)), one(mesh, ()), keys, one(mesh, (64, 16)), one(mesh, (64,)))
