"""Beside Gymnasium 1: an import of Gymnasium is all that it takes, and brings no Numba along."""

import sys

import gymnasium

assert "fasturl" not in sys.modules, "an import of Gymnasium brings no Numba along"
env = gymnasium.make("fasturl/LockBernoulli-v0", horizon=3, instance_seed=1, observe_level=True)
assert env.reset(seed=0)[0].shape == (3 + 3 + 4,)
envs = gymnasium.make_vec("fasturl/LockGaussian-v0", num_envs=4, horizon=3)
assert envs.reset(seed=0)[0].shape == (4, 6)
print(f"new_gymnasium: fine beside gymnasium {gymnasium.__version__}")
