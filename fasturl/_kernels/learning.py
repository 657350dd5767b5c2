"""Whole episodes of any tabular learner: loops around the functions that a learner is made of.

A learner is a record of arrays, its tables, and functions on them. Levels count from 0 here; labels and
actions do everywhere.

    begin_episode(tables, rng)                     get ready to act: draw a sample, if the learner has one
    choose(tables, level, label, rng) -> action
    take_step(tables, level, label, action, reward, next_level, next_label)
    end_episode(tables, rng)                       take in the whole episode: plan anew
    start_at_zero(tables, level, label)            let a label that was never acted in start with values of 0
    fill_policy(tables, chances)                   what has been learned: chances float64[levels, labels,
    actions]

Where a step is learned from the value of the next label alone, two more functions do in one look what
choosing there and learning from it do in two. The update of a level then must not change what is seen at the
next one.

    look(tables, level, label, rng) -> action, value
    take_value(tables, level, label, action, reward, value)     the value is 0 where the episode is over

`next_level` is the number of levels where the episode is over; the next label means nothing then.
Learning from a trajectory is `take_step` for each of its steps, in order, and then `end_episode`. Playing is
`begin_episode` and then `choose` at each level. `rng` is the policy stream, uint64[4], and all that is drawn
comes from there.

On observations without their levels nobody can tell which one is the last (see `learn_observations`): the
episode is then over where the last observation was never acted in, and else goes on as from that observation.

`make_loops` puts the functions into the loops before they are compiled, so LLVM sees one piece of code. A
loop that is `checked` says in `place` (int64[3]: function, level, action) where it is, and returns False
where an action is out of range. This level counts from 1, but that of a look from 0: it comes a step earlier.

`labels[e, h, s]` is the label that the agent sees in episode e at level h when the latent state is s. The
loops never touch an observation.
"""

from typing import Any, NamedTuple

import numpy as np

from .compiling import inlined
from .dynamics import start_state, step
from .entries import get_entry, place_of_block
from .hashing import fetch_slots_ahead, find_or_add_row

BEGIN_EPISODE, CHOOSE, TAKE_STEP, END_EPISODE, FILL_POLICY, START_AT_ZERO, LOOK, TAKE_VALUE = range(8)
"""The functions, as `place` names them."""


class OneLook(NamedTuple):
    """The two functions that do with one look, and those in whose place they stand."""

    look: Any
    take_value: Any
    choose: Any
    take_step: Any


class LearnerFunctions(NamedTuple):
    """The compiled functions of a learner, as the head of this file describes them."""

    choose: Any
    take_step: Any
    fill_policy: Any
    begin_episode: Any
    end_episode: Any
    start_at_zero: Any
    one_look: OneLook | None = None


class Loops(NamedTuple):
    """Loops around the functions of one learner."""

    learn: Any
    explore: Any
    replay: Any
    take_in: Any
    draw_policy: Any
    fill_policy: Any
    learn_observations: Any


def do_nothing(tables: tuple, rng: np.ndarray) -> None:
    """What a learner does that has nothing to do there."""


def leave_as_it_is(tables: tuple, level: int, label: int) -> None:
    """The start of a label that has values of 0 anyway, or for whose learner 0 means nothing."""


@inlined
def is_action(a: int, n_actions: int) -> bool:
    """Whether a number is one of the actions; a fraction does not compile."""
    return 0 <= (a & a) < n_actions


def make_loops(functions: LearnerFunctions, compile_loop: Any, checked: bool) -> Loops:
    """The loops of a learner, compiled by a decorator when they are first called."""
    choose, take_step, fill_policy, begin_episode, end_episode, start_at_zero, one_look = functions
    looks = one_look is not None
    look, take_value, _, _ = one_look or OneLook(None, None, choose, take_step)

    @compile_loop
    def learn(dynamics, labels, tables, dynamics_rng, policy_rng, returns, trajectories, place):
        """Play and learn one episode for each entry of `returns`, which gets its return.

        labels uint8[E, H+1, S], int32 where there are more than 256; [1, H+1, S] where they are the same in
        all episodes. What happens is written down in `trajectories`; where that is None, the compiler leaves
        this out.
        """
        horizon, n_actions = dynamics.transitions.shape[0], dynamics.transitions.shape[2]
        n_states, share_labels = np.uint64(labels.shape[2]), labels.shape[0] == 1
        for e in range(returns.size):
            if checked:
                place[0] = BEGIN_EPISODE
                place[1] = 1
            begin_episode(tables, policy_rng)
            total = 0.0
            s = start_state(dynamics, dynamics_rng)
            if trajectories is not None:
                trajectories.states[e, 0] = s
            seen = place_of_block(labels, 0 if share_labels else e)
            x = np.int64(get_entry(labels, seen + np.uint64(s)))
            a = 0
            if looks:
                if checked:
                    place[0] = LOOK
                    place[1] = 0
                a, _ = look(tables, 0, x, policy_rng)
            for h in range(horizon):
                if not looks:
                    if checked:
                        place[0] = CHOOSE
                        place[1] = h + 1
                    a = choose(tables, h, x, policy_rng)
                if checked and not is_action(a, n_actions):
                    if looks:
                        place[0] = LOOK
                    place[2] = a
                    return False
                if checked and looks:
                    place[1] = h + 1
                s, reward = step(dynamics, dynamics_rng, h, s, a)
                if trajectories is not None:
                    trajectories.states[e, h + 1] = s
                    trajectories.actions[e, h] = a
                    trajectories.rewards[e, h] = reward
                total += reward
                seen += n_states
                next_x = np.int64(get_entry(labels, seen + np.uint64(s)))
                if looks:
                    next_a, value = 0, 0.0
                    if h + 1 < horizon:
                        if checked:
                            place[0] = LOOK
                        next_a, value = look(tables, h + 1, next_x, policy_rng)
                    if checked:
                        place[0] = TAKE_VALUE
                    take_value(tables, h, x, a, reward, value)
                    a = next_a
                else:
                    if checked:
                        place[0] = TAKE_STEP
                    take_step(tables, h, x, a, reward, h + 1, next_x)
                x = next_x
            if checked:
                place[0] = END_EPISODE
            end_episode(tables, policy_rng)
            returns[e] = total
        return True

    @compile_loop
    def explore(dynamics, labels, tables, dynamics_rng, policy_rng, trajectories, place):
        """Play without learning, and fill `trajectories`, a record of whole episodes."""
        n_actions, n_states = dynamics.transitions.shape[2], np.uint64(labels.shape[2])
        states, actions, rewards = trajectories.states, trajectories.actions, trajectories.rewards
        for e in range(states.shape[0]):
            if checked:
                place[0] = BEGIN_EPISODE
                place[1] = 1
            begin_episode(tables, policy_rng)
            s = start_state(dynamics, dynamics_rng)
            states[e, 0] = s
            seen = place_of_block(labels, e)
            for h in range(actions.shape[1]):
                if checked:
                    place[0] = CHOOSE
                    place[1] = h + 1
                a = choose(tables, h, np.int64(get_entry(labels, seen + np.uint64(s))), policy_rng)
                if checked and not is_action(a, n_actions):
                    place[2] = a
                    return False
                s, reward = step(dynamics, dynamics_rng, h, s, a)
                seen += n_states
                states[e, h + 1] = s
                actions[e, h] = a
                rewards[e, h] = reward
        return True

    @compile_loop
    def replay(tables, labels, actions, rewards, policy_rng, place):
        """Learn from finished trajectories: labels [E, H+1] and actions [E, H], bytes or int64, and rewards
        float64[E, H]."""
        horizon = actions.shape[1]
        for e in range(actions.shape[0]):
            if checked:
                place[0] = TAKE_STEP
            for h in range(horizon):
                if checked:
                    place[1] = h + 1
                x, next_x = np.int64(labels[e, h]), np.int64(labels[e, h + 1])
                take_step(tables, h, x, np.int64(actions[e, h]), rewards[e, h], h + 1, next_x)
            if checked:
                place[0] = END_EPISODE
            end_episode(tables, policy_rng)
        return True

    @compile_loop
    def take_in(tables, labels, actions, rewards, place):
        """As `replay`, without an end of any episode."""
        for e in range(actions.shape[0]):
            for h in range(actions.shape[1]):
                if checked:
                    place[0] = TAKE_STEP
                    place[1] = h + 1
                x, next_x = np.int64(labels[e, h]), np.int64(labels[e, h + 1])
                take_step(tables, h, x, np.int64(actions[e, h]), rewards[e, h], h + 1, next_x)
        return True

    @compile_loop
    def draw_policy(tables, n_actions, policy_rng, actions, place):
        """Fill `actions` (int64[H, X]) with the action at every level and label: one episode's policy."""
        if checked:
            place[0] = BEGIN_EPISODE
            place[1] = 1
        begin_episode(tables, policy_rng)
        for h in range(actions.shape[0]):
            for x in range(actions.shape[1]):
                if checked:
                    place[0] = CHOOSE
                    place[1] = h + 1
                a = choose(tables, h, x, policy_rng)
                if checked and not is_action(a, n_actions):
                    place[2] = a
                    return False
                actions[h, x] = a
        return True

    @compile_loop
    def fill_chances(tables, chances, place):
        """What has been learned: chances float64[H, X, A]."""
        if checked:
            place[0] = FILL_POLICY
            place[1] = 1
        fill_policy(tables, chances)
        return True

    @compile_loop
    def learn_observations(dynamics, words, keys, tables, dynamics_rng, policy_rng, returns, episode, place):
        """As `learn`, where a label is the row of an observation in the hash table of `keys`, an
        `ObservationKeys`: words uint64[E, H+1, S, W].

        An episode is played to its end before it is learned from; `episode` is an `EpisodeWorkspace`. Where
        the level is neither in the key nor in the tables, what follows the last action is an observation as
        any other. If it was acted in before, at any level, its row is what lies ahead; if not, nothing lies
        ahead, and it gets a row that starts at zero.
        """
        horizon, n_actions = dynamics.transitions.shape[0], dynamics.transitions.shape[2]
        rows, actions, rewards = episode.rows, episode.actions, episode.rewards
        levels_known = keys.level_in_key or keys.level_in_tables
        n_levels = horizon if keys.level_in_tables else 1
        for e in range(returns.size):
            if checked:
                place[0] = BEGIN_EPISODE
                place[1] = 1
            begin_episode(tables, policy_rng)
            total = 0.0
            fetch_slots_ahead(keys.table, words, e, keys.level_in_key)
            s = start_state(dynamics, dynamics_rng)
            for h in range(horizon):
                rows[h] = find_or_add_row(keys.table, words, e, h, s, keys.level_in_key)
                if checked:
                    place[0] = CHOOSE
                    place[1] = h + 1
                a = choose(tables, h if keys.level_in_tables else 0, rows[h], policy_rng)
                if checked and not is_action(a, n_actions):
                    place[2] = a
                    return False
                s, reward = step(dynamics, dynamics_rng, h, s, a)
                total += reward
                actions[h] = a
                rewards[h] = reward
            level_after_last = n_levels
            rows[horizon] = 0
            if not levels_known:
                n_rows = keys.table.size[0]
                row = find_or_add_row(keys.table, words, e, horizon, s, False)
                if row < n_rows:
                    level_after_last = 0
                    rows[horizon] = row
                else:
                    if checked:
                        place[0] = START_AT_ZERO
                    start_at_zero(tables, 0, row)
            for h in range(horizon):
                if checked:
                    place[0] = TAKE_STEP
                    place[1] = h + 1
                level, next_level = 0, 0
                if keys.level_in_tables:
                    level, next_level = h, h + 1
                if h + 1 == horizon:
                    next_level = level_after_last
                take_step(tables, level, rows[h], actions[h], rewards[h], next_level, rows[h + 1])
            if checked:
                place[0] = END_EPISODE
            end_episode(tables, policy_rng)
            returns[e] = total
        return True

    return Loops(learn, explore, replay, take_in, draw_policy, fill_chances, learn_observations)
