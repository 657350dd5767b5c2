"""What is checked, in compiled code, before Python gets the arguments of a function of learners by name.

A check takes the arguments of the function in fasturl.h. Where the function has a learner, a check takes
three sizes of its task instead of its handle: horizon, number of labels, number of actions.
"""

from __future__ import annotations

import math
from typing import Any

from ...problems.description import LARGEST_REWARD
from ..access import address, field
from ..checks import (
    ANY,
    MANY,
    MAX_ACTIONS,
    MAX_LABELS,
    MOST_LEVELS,
    NULL,
    NUMBER,
    OK,
    RANGE,
    all_below,
    all_within,
    check,
    check_disjoint,
    check_size,
    check_stream,
    check_struct,
    span,
    struct_span,
    times,
    unless,
)
from . import dynamics


def learner_start(
    name: Any, _settings: Any, task: Any, policy_rng: Any, policy_rng_length: Any, learner: Any
) -> Any:
    status = unless(address(name) != 0, NULL) or check_struct(task)
    if status != OK:
        return status
    least, greatest = field(task, "least_reward"), field(task, "greatest_reward")
    return (
        check_size(field(task, "horizon"), MOST_LEVELS)
        or check_size(field(task, "n_labels"), MAX_LABELS)
        or check_size(field(task, "n_actions"), MAX_ACTIONS)
        or check_size(field(task, "episodes"), MANY)
        or unless(math.isfinite(field(task, "max_return")), NUMBER)
        or unless(-LARGEST_REWARD <= least <= greatest <= LARGEST_REWARD, NUMBER)
        or check_stream(policy_rng, policy_rng_length, 1)
        or check(learner, 1, 1)
        or check_disjoint((span(learner, 1),), (struct_span(task), span(policy_rng, 4)))
    )


def learner_learn(
    horizon: Any,
    n_labels: Any,
    n_actions: Any,
    d: Any,
    episodes: Any,
    labels: Any,
    labels_length: Any,
    label_rows: Any,
    dynamics_rng: Any,
    dynamics_rng_length: Any,
    returns: Any,
    returns_length: Any,
) -> Any:
    status = dynamics.check_dynamics(d)
    if status != OK:
        return status
    n_labelled = times(times(label_rows, horizon + 1), field(d, "n_states"))
    return (
        unless(field(d, "horizon") == horizon and field(d, "n_actions") == n_actions, RANGE)
        or check_size(episodes, MANY)
        or check_size(label_rows, ANY)
        or check(labels, labels_length, n_labelled)
        or check_stream(dynamics_rng, dynamics_rng_length, 1)
        or check(returns, returns_length, episodes)
        or check_disjoint(
            (span(dynamics_rng, 4), span(returns, episodes)),
            (span(labels, n_labelled), *dynamics.spans(d)),
        )
        or dynamics.check_contents(d)
        or unless(all_below(labels, n_labelled, n_labels), RANGE)
    )


def learner_policy(horizon: Any, n_labels: Any, _n_actions: Any, actions: Any, actions_length: Any) -> Any:
    return check(actions, actions_length, times(horizon, n_labels))


def learner_replay(
    horizon: Any,
    n_labels: Any,
    n_actions: Any,
    episodes: Any,
    labels: Any,
    labels_length: Any,
    actions: Any,
    actions_length: Any,
    rewards: Any,
    rewards_length: Any,
) -> Any:
    n_labelled, n_steps = times(episodes, horizon + 1), times(episodes, horizon)
    return (
        check_size(episodes, MANY)
        or check(labels, labels_length, n_labelled)
        or check(actions, actions_length, n_steps)
        or check(rewards, rewards_length, n_steps)
        or unless(all_below(labels, n_labelled, n_labels) and all_below(actions, n_steps, n_actions), RANGE)
        or unless(all_within(rewards, n_steps, -LARGEST_REWARD, LARGEST_REWARD), NUMBER)
    )


def learner_final_policy(
    horizon: Any, n_labels: Any, n_actions: Any, chances: Any, chances_length: Any
) -> Any:
    return check(chances, chances_length, times(times(horizon, n_labels), n_actions))


def last_error(text: Any, text_length: Any) -> Any:
    return check(text, text_length, 1)
