"""Beside a Gymnasium that is too old for our environments: everybody's imports work, what needs a newer one
says so, and the rest of fasturl does its work."""

import subprocess
import sys

import gymnasium

assert not hasattr(gymnasium.vector, "AutoresetMode"), gymnasium.__version__
assert "fasturl" not in sys.modules, "an import of Gymnasium does not import fasturl"
assert gymnasium.make("CartPole-v1").reset(seed=0)[0].shape == (4,)

quiet = subprocess.run(
    [sys.executable, "-W", "error", "-c", "import gymnasium"], capture_output=True, text=True
)
assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", ""), quiet

message = ""
try:
    gymnasium.make("fasturl/LockBernoulli-v0")
except ImportError as error:
    message = str(error)
assert message.startswith("fasturl.envs needs a newer gymnasium than "), message

import fasturl as fu  # noqa: E402  # not before it was seen that Gymnasium does without it


@fu.register
class Walk(fu.Environment):
    """A family of one's own can be registered although no environment of Gymnasium's comes of it."""

    horizon = n_actions = max_states = 1

    def __init__(self) -> None:
        pass

    def draw(self, streams):
        return fu.BlockMDP([[[[1.0]]]], [[[0.5]]])


run = fu.train(
    fu.LockBernoulli(horizon=3), fu.OracleQ(), sees="latent", episodes=500, seeds=2, progress=False
)
assert run.success_rate == 1.0
print(f"old_gymnasium: fine beside gymnasium {gymnasium.__version__}")
