"""
Train one agent and plot its run
================================

URL learns a combination lock of eight levels. It sees eleven bits, of which three tell the latent state and
eight are coins, and is told nothing about which is which."""

import fasturl as fu

lock = fu.LockBernoulli(horizon=8, switch=0.2)
run = fu.train(lock, fu.URL(), episodes=3_000, seeds=4)
run

# %%
# The line is the mean over seeds of the average reward so far, the band one standard deviation. Every
# trajectory counts, those that taught the decoder too, so the curve needs a while to forget the first ones.

run.plot()
