"""Pictures of a lock and of an agent on it."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest

import fasturl as fu
import fasturl.envs
from fasturl.envs import picture
from fasturl.envs.ladder import RUNGS, Ladder

LOCKS = ["fasturl/LockBernoulli-v0", "fasturl/LockGaussian-v0"]

# Two levels of two states; at the first, action 1 is worse than action 0 in state 0, and state 1 is lost.
PLAIN = fu.BlockMDP(
    [
        [[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.0, 1.0]]],
        [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]],
    ],
    [np.zeros((2, 2, 2)), np.array([[[0.8, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])],
)


def test_a_text_shows_levels_actions_and_the_agent():
    assert Ladder(PLAIN, [0, 0], [1], 0.0).text().splitlines() == [
        "level   state 0  state 1 ",
        "    3     end       x",
        "    2     [0x]      xx",
        "    1     (0-)      xx",
        "action 1, return 0",
    ]


@pytest.mark.parametrize("identity", LOCKS)
def test_a_lock_shows_two_good_and_two_dead_actions_for_the_living(identity):
    env = gymnasium.make(identity, horizon=4, switch=0.2, render_mode="ansi")
    env.reset(seed=0)
    transitions = env.unwrapped.instance.transitions
    lines = env.render().splitlines()[1:-1]
    for h, line in enumerate(reversed(lines[1:])):
        cells = [cell.strip("[]()") for cell in line.split()[1:]]
        for s in range(3):
            assert cells[s] == "".join("x" if transitions[h, s, a, 2] == 1 else str(a) for a in range(4))


def test_of_a_long_ladder_the_rungs_around_the_agent_are_shown():
    instance = fu.LockBernoulli(100).instance()
    for steps, first in ((0, 1), (11, 1), (50, 39), (100, 78)):
        levels = [
            int(line.split()[0])
            for line in Ladder(instance, [0] * (steps + 1), [0] * steps, 0.0).text().splitlines()[1:-1]
        ]
        assert levels == list(range(first, first + RUNGS))[::-1]


def test_a_picture_has_the_colours_of_what_it_shows_and_changes_with_the_agent():
    env = gymnasium.make(LOCKS[0], horizon=5, render_mode="rgb_array")
    env.reset(seed=0)
    frames = [env.render()]
    env.step(0)
    frames.append(env.render())
    assert all(frame.dtype == np.uint8 and frame.shape == frames[0].shape for frame in frames)
    assert all(side % 2 == 0 for side in frames[0].shape[:2])  # as video encoders want it
    assert not np.array_equal(*frames)
    good, _, dead = picture.VERDICTS
    for color in (good, dead, picture.AGENT, picture.PAPER, picture.LOST, picture.PRIZE):
        assert (frames[0] == color).all(axis=2).sum() > 50
    assert not (frames[0] == picture.TRAIL).all(axis=2).any()
    assert (frames[1] == picture.TRAIL).all(axis=2).sum() > 50
    assert not (frames[0] == picture.VERDICTS[1]).all(axis=2).any()
    assert (Ladder(PLAIN, [0], [], 0.0).picture() == picture.VERDICTS[1]).all(axis=2).sum() > 50


def test_pictures_need_no_drawing_library():
    code = (
        "import sys; sys.modules['matplotlib'] = sys.modules['PIL'] = sys.modules['pygame'] = None\n"
        "import fasturl.envs\n"
        "env = fasturl.envs.ScalarEnv('lock-bernoulli', render_mode='rgb_array')\n"
        "env.reset(seed=0)\nprint(env.render().ndim)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout == "3\n"


def test_rendering_needs_a_mode_and_a_reset():
    with pytest.raises(gymnasium.error.ResetNeeded):
        gymnasium.make(LOCKS[0], render_mode="ansi").unwrapped.render()
    with pytest.warns(UserWarning, match="render mode"):
        assert gymnasium.make(LOCKS[0]).unwrapped.render() is None


@pytest.mark.parametrize("total", [-12345.5, 1e300, 0.5, 3.0])
def test_any_return_can_be_written(total):
    assert Ladder(PLAIN, [0, 0, 0], [0, 0], total).picture().shape[2] == 3
