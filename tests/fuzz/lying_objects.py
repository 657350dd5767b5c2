"""Objects of a user's that lie: honest parts of which one method or attribute gives what it may not.

A part is an environment, an emission, a decoder, an oracle, a learner, a memory or an agent. From some call
on its lie gives arrays of the wrong shape, type, order or content, numbers that are too large, things that
are no numbers at all, errors, or memory that is written to after it was handed over. Whatever it is,
training, playing and the Gymnasium face either end in figures that can be, or refuse in one line that names
the part or the lie.
"""

import contextlib
import io
import warnings

import numpy as np

import fasturl as fu
from fasturl.agents import LatentPolicy, Outcome
from fasturl.envs import ScalarEnv, VectorEnv, rollout
from fasturl.problems.blocks import ObservationBlock

from .honest_parts import HONEST, PARTS, HonestEmission, HonestMemory, HonestOracle
from .judgement import OwnError, expect, judge_refusal, judge_run
from .kinds import Kind
from .odd_values import in_words, odd_value, spoiled_array

OPEN = (HonestEmission, HonestMemory, HonestOracle, ObservationBlock, Outcome, LatentPolicy)
"""Classes whose members are for users to fill in."""
HARMLESS = 1_000
"""Sizes above this are not tried: what a person asks for in earnest may take its time and memory."""


class LyingObjects(Kind):
    name = "lying-objects"

    def play(self, chance, place, tell):
        part = chance.choice(PARTS)
        lie = None if chance.random() < 0.05 else chance.choice(part.members)
        spoiled = part.into(lambda honest: honest if lie is None else _liar(honest, lie, chance, tell))
        use = chance.choice([use for use in USES if USES[use].intersection(spoiled)])
        tell(f"{use.__name__} with a {part.kind} that lies about {lie}:")
        try:
            with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
                warnings.simplefilter("ignore")
                use(HONEST | spoiled)
        except Exception as error:
            expect(lie is not None, f"an honest {part.kind} is refused: {type(error).__name__}: {error}")
            judge_refusal(error, {lie.strip("_"), part.kind, f"Honest{part.kind.title()}", *part.also_named})


def _liar(honest, lie, chance, tell):
    """The same object with a lie: a method from some call on, or an attribute from the start."""
    truth = getattr(honest, lie)
    if not callable(truth):
        false = _false(chance, truth)
        tell(in_words(false))
        object.__setattr__(honest, lie, false)
        return honest
    calls, silent = [], chance.choice((0, 0, 0, 1, 3))

    def lying(*words, **options):
        answer = truth(*words, **options)
        calls.append(answer)
        if len(calls) <= silent:
            return answer
        if chance.random() < 0.1:
            raise OwnError("it fails")
        if len(calls) > 1 and chance.random() < 0.2:
            _write_to(calls[-2], chance)
            return calls[-2]
        false = _false(chance, answer)
        tell(in_words(false))
        return false

    object.__setattr__(honest, lie, lying)
    return honest


def _false(chance, truth):
    """Something in the place of a true answer."""
    if chance.random() < 0.2:
        return odd_value(chance, allow_huge=False)
    if isinstance(truth, np.ndarray):
        return spoiled_array(chance, truth)
    if isinstance(truth, bool):
        return chance.choice([not truth, None, 2, "yes"])
    if isinstance(truth, int):
        return chance.choice(
            [truth + 1, truth - 1, 0, -1, 2 * truth + 5, HARMLESS, np.int8(truth), float(truth)]
        )
    if isinstance(truth, float):
        return chance.choice([truth + 1, -truth, np.nan, np.inf, np.float32(truth), 1e300, -1e300])
    if isinstance(truth, tuple) and hasattr(truth, "_replace"):
        name = chance.choice(truth._fields)
        return truth._replace(**{name: _false(chance, getattr(truth, name))})
    if isinstance(truth, tuple):
        return tuple(_false(chance, one) for one in truth)
    members = [name for name in vars(truth) if not callable(vars(truth)[name])] if type(truth) in OPEN else []
    if members and chance.random() < 0.8:
        name = chance.choice(members)
        with contextlib.suppress(Exception):
            object.__setattr__(truth, name, _false(chance, getattr(truth, name)))
        return truth
    return odd_value(chance, allow_huge=False)


def _write_to(answer, chance):
    """Change what was handed over before."""
    arrays = [answer] if isinstance(answer, np.ndarray) else list(getattr(answer, "__dict__", {}).values())
    for array in arrays:
        if isinstance(array, np.ndarray) and array.dtype.kind in "iuf" and array.size:
            with contextlib.suppress(ValueError):  # ours cannot be written to
                array.reshape(-1)[:] = chance.choice([0, 1, 100])


# --- what is done with the parts ---


def train_on_latent_states(parts):
    judge_run(fu.train(parts["environment"](), parts["learner"](), 20, seeds=2, n_jobs=1), 0.0, 2.0)


def train_url(parts):
    agent = fu.URL(oracle=parts["oracle"](), learner=parts["learner"]())
    judge_run(fu.train(parts["environment"](), agent, 60, n_jobs=1), 0.0, 2.0)


def train_url_as_published(parts):
    agent = fu.URLAsPublished(oracle=parts["oracle"](), learner=fu.OracleQ(), batch=20)
    judge_run(fu.train(parts["environment"](), agent, 60, n_jobs=1), 0.0, 2.0)


def train_pcid(parts):
    judge_run(fu.train(parts["environment"](), fu.PCID(), 100, n_jobs=1), 0.0, 2.0)


def train_the_agent(parts):
    run = fu.train(parts["environment"](), parts["agent"](), 20, n_jobs=1)
    judge_run(run, -1e300, 1e300)  # what it enters is its own claim


def play_many(parts):
    envs = VectorEnv(parts["environment"](), num_envs=3)
    seen, _ = envs.reset(seed=0)
    for _ in range(5):
        seen, rewards, *_ = envs.step(np.ones(3, int))
        _see_that_they_can_be(seen, rewards)


def play_one(parts):
    env = ScalarEnv(parts["environment"]())
    env.reset(seed=0)
    for _ in range(2):
        seen, reward, *_ = env.step(1)
        _see_that_they_can_be(seen, reward)


def play_a_policy(parts):
    episodes = rollout(parts["environment"](), np.zeros((2, 2), int), 10)
    _see_that_they_can_be(episodes.observations, episodes.rewards)
    expect(set(episodes.states.tolist()) <= {0, 1}, f"states {episodes.states}")


def _see_that_they_can_be(observations, rewards):
    expect(np.isfinite(np.asarray(observations, float)).all(), f"observations {in_words(observations)}")
    rewards = np.asarray(rewards, float)
    expect(((rewards >= 0) & (rewards <= 1)).all(), f"rewards {in_words(rewards)}")


USES = {
    train_on_latent_states: {"environment", "learner"},
    train_url: {"environment", "oracle", "learner"},
    train_url_as_published: {"environment", "oracle"},
    train_pcid: {"environment"},
    train_the_agent: {"environment", "agent"},
    play_many: {"environment"},
    play_one: {"environment"},
    play_a_policy: {"environment"},
}
"""Each use with the parts that it has."""
KIND = LyingObjects
