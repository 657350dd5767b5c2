"""Slow, obvious references for the loops of `_kernels/learning.py`, one call of a function after the other.

`Loops(functions)` has the loops as methods with the arguments of the compiled ones. A loop is always checked:
`place` gets the function, the level counted from 1 (from 0 for a look) and the action where that is out of
range.
"""

from fasturl._kernels.learning import (
    BEGIN_EPISODE,
    CHOOSE,
    END_EPISODE,
    FILL_POLICY,
    LOOK,
    START_AT_ZERO,
    TAKE_STEP,
    TAKE_VALUE,
)

from . import hashing
from .dynamics import start_state, step


class Loops:
    """The loops around the functions of one learner."""

    def __init__(self, functions):
        self.functions = functions

    def learn(self, dynamics, labels, tables, dynamics_rng, policy_rng, returns, trajectories, place):
        """A step is learned from before the next action is chosen; what happens is recorded where there is
        a record."""
        horizon, _, n_actions, _ = dynamics.transitions.shape
        for e in range(len(returns)):
            self._begin(tables, policy_rng, place)
            seen = labels[e] if len(labels) > 1 else labels[0]
            total, s = 0.0, start_state(dynamics, dynamics_rng)
            if trajectories is not None:
                trajectories.states[e, 0] = s
            for h in range(horizon):
                label = int(seen[h, s])
                a = self._choose(tables, h, h, label, policy_rng, n_actions, place)
                if a is None:
                    return False
                s, reward = step(dynamics, dynamics_rng, h, s, a)
                if trajectories is not None:
                    trajectories.states[e, h + 1] = s
                    trajectories.actions[e, h], trajectories.rewards[e, h] = a, reward
                total += reward
                self._take(tables, h, (h, label, a, reward, h + 1, int(seen[h + 1, s])), place)
            self._end(tables, policy_rng, place)
            returns[e] = total
        return True

    def learn_by_looks(
        self, dynamics, labels, tables, dynamics_rng, policy_rng, returns, trajectories, place
    ):
        """The next label is looked at before a step is learned from: that look chooses there, and says what
        the label is worth. Nothing is recorded."""
        horizon, _, n_actions, _ = dynamics.transitions.shape
        for e in range(len(returns)):
            self._begin(tables, policy_rng, place)
            s = start_state(dynamics, dynamics_rng)
            seen = labels[e] if len(labels) > 1 else labels[0]
            returns[e], label = 0.0, int(seen[0, s])
            a, _ = self._look(tables, 0, label, policy_rng, place)
            for h in range(horizon):
                if not 0 <= a < n_actions:
                    place[:] = LOOK, h, a
                    return False
                s, reward = step(dynamics, dynamics_rng, h, s, a)
                returns[e] += reward
                next_label, next_a, value = int(seen[h + 1, s]), 0, 0.0
                if h + 1 < horizon:
                    next_a, value = self._look(tables, h + 1, next_label, policy_rng, place)
                place[:2] = TAKE_VALUE, h + 1
                self.functions.one_look.take_value(tables, h, label, a, reward, value)
                label, a = next_label, next_a
            self._end(tables, policy_rng, place)
        return True

    def explore(self, dynamics, labels, tables, dynamics_rng, policy_rng, trajectories, place):
        """Play and record, and learn nothing."""
        n_actions = dynamics.transitions.shape[2]
        states, actions, rewards = trajectories
        for e in range(len(states)):
            self._begin(tables, policy_rng, place)
            states[e, 0] = start_state(dynamics, dynamics_rng)
            for h in range(actions.shape[1]):
                label = int(labels[e, h, states[e, h]])
                a = self._choose(tables, h, h, label, policy_rng, n_actions, place)
                if a is None:
                    return False
                actions[e, h] = a
                states[e, h + 1], rewards[e, h] = step(dynamics, dynamics_rng, h, states[e, h], a)
        return True

    def replay(self, tables, labels, actions, rewards, policy_rng, place):
        """Learn from finished trajectories, one after the other."""
        for met, taken, gained in zip(labels, actions, rewards, strict=True):
            for h in range(len(taken)):
                self._take(tables, h, (h, met[h], taken[h], gained[h], h + 1, met[h + 1]), place)
            self._end(tables, policy_rng, place)
        return True

    def take_in(self, tables, labels, actions, rewards, place):
        """Every step of every trajectory, and no end."""
        for e in range(len(actions)):
            for h in range(actions.shape[1]):
                step_taken = (h, labels[e, h], actions[e, h], rewards[e, h], h + 1, labels[e, h + 1])
                self._take(tables, h, step_taken, place)
        return True

    def draw_policy(self, tables, n_actions, policy_rng, actions, place):
        """One action for every level and label, as of one episode."""
        self._begin(tables, policy_rng, place)
        for h in range(actions.shape[0]):
            for x in range(actions.shape[1]):
                a = self._choose(tables, h, h, x, policy_rng, n_actions, place)
                if a is None:
                    return False
                actions[h, x] = a
        return True

    def fill_policy(self, tables, chances, place):
        place[0] = FILL_POLICY
        self.functions.fill_policy(tables, chances)
        return True

    def learn_observations(
        self, dynamics, words, keys, tables, dynamics_rng, policy_rng, returns, episode, place
    ):
        """Play each episode to its end, and then learn from its steps; an observation that is new gets the
        next row.

        What follows the last step is over, where levels are known. Where they are not, it is the value of the
        last observation if that was acted in before, in this episode or an earlier one, and if not, nothing:
        its row then starts at zero.
        """
        horizon, _, n_actions, _ = dynamics.transitions.shape
        rows = hashing.dictionary(keys.table)
        for e in range(len(returns)):
            self._begin(tables, policy_rng, place)
            s, met = start_state(dynamics, dynamics_rng), []
            for h in range(horizon):
                row = hashing.find_or_add_row(
                    keys.table, rows, hashing.key(words, e, h, s, keys.level_in_key)
                )
                level = h if keys.level_in_tables else 0
                a = self._choose(tables, h, level, row, policy_rng, n_actions, place)
                if a is None:
                    return False
                s, reward = step(dynamics, dynamics_rng, h, s, a)
                met.append((level, row, a, reward))
            following = [step_taken[:2] for step_taken in met[1:]]
            following.append(self._end_of_episode(words, e, horizon, s, keys, rows, tables, place))
            returns[e] = 0.0
            for h, taken in enumerate(met):
                self._take(tables, h, (*taken, *following[h]), place)
                returns[e] += taken[3]
            self._end(tables, policy_rng, place)
        return True

    def _end_of_episode(self, words, e, horizon, s, keys, rows, tables, place):
        """The level and the row that the last step leads to."""
        if keys.level_in_tables:
            return horizon, 0
        if keys.level_in_key:
            return 1, 0
        observation = hashing.key(words, e, horizon, s, level_in_key=False)
        if observation in rows:
            return 0, rows[observation]
        place[0] = START_AT_ZERO
        self.functions.start_at_zero(tables, 0, hashing.find_or_add_row(keys.table, rows, observation))
        return 1, 0

    def _begin(self, tables, policy_rng, place):
        place[0] = BEGIN_EPISODE
        self.functions.begin_episode(tables, policy_rng)

    def _choose(self, tables, h, level, label, policy_rng, n_actions, place):
        """The action, or None where there is no such action."""
        place[:2] = CHOOSE, h + 1
        a = self.functions.choose(tables, level, label, policy_rng)
        if not 0 <= a < n_actions:
            place[2] = a
            return None
        return a

    def _look(self, tables, h, label, policy_rng, place):
        place[:2] = LOOK, h
        return self.functions.one_look.look(tables, h, label, policy_rng)

    def _take(self, tables, h, step_taken, place):
        place[:2] = TAKE_STEP, h + 1
        self.functions.take_step(tables, *step_taken)

    def _end(self, tables, policy_rng, place):
        place[0] = END_EPISODE
        self.functions.end_episode(tables, policy_rng)
