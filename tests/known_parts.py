"""What the tests of what agents know share: locks, guises, and the bits of a run."""

import fasturl as fu

SMALL = {"batch": 6, "epsilon": 0.9, "delta": 0.9}
LOCKS = {
    "bits": lambda horizon: fu.LockBernoulli(horizon, 0.2),
    "reals": lambda horizon: fu.LockGaussian(horizon, 0.2, 0.1),
}


class Behind(fu.Environment):
    """A user's environment that hands on what another declares and draws."""

    def __init__(self, other):
        self.other = other
        self.horizon, self.n_actions, self.max_states = other.horizon, other.n_actions, other.max_states
        self.emission, self.max_return = other.emission, other.max_return
        self.reward_range = other.reward_range

    def draw(self, streams):
        return self.other.draw(streams)


def bits_of(run):
    """All that a run gives, but for names and times."""
    diagnostics = [{key: one[key] for key in one if key != "seconds"} for one in run.diagnostics]
    arrays = run.average_reward, run.final_average_reward, run.values, run.value_errors, run.optimal_values
    return [array.tobytes() for array in arrays], diagnostics
