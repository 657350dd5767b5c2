"""Beside rlberry-scool, which brings Gymnasium 0.29: its agents learn, and so do ours."""

import runpy
from pathlib import Path

from rlberry_scool.agents import UCBVIAgent
from rlberry_scool.envs.finite import Chain

agent = UCBVIAgent(Chain(3, 0.1), gamma=0.9, horizon=4)
agent.fit(budget=20)
runpy.run_path(str(Path(__file__).with_name("old_gymnasium.py")))
