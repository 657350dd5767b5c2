"""
Train one agent and plot its run
================================

URL learns a combination lock of eight levels from observations of noisy bits.
"""

import fasturl as fu

lock = fu.LockBernoulli(horizon=8, switch=0.2)
run = fu.train(lock, fu.URL(), episodes=3_000, seeds=4)
run.plot()

# %%
# The curve counts every trajectory, those that taught the decoder too.
print(run)
