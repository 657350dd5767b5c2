"""`Run`: what `train` returns."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest
from corridor import Corridor
from figure_parts import assert_legible

import fasturl as fu
from fasturl.agents.diagnostics import DIAGNOSTICS
from fasturl.problems.environment import Environment
from fasturl.training import as_agent

ENV = fu.LockBernoulli(horizon=4, switch=0.2)


@pytest.fixture(scope="module")
def run():
    return fu.train(fu.LockGaussian(4, 0.2, 0.1), fu.OracleQ(), episodes=100, seeds=[3, 1, 2], points=5)


def test_a_run_says_what_was_trained(run):
    assert (run.env, run.agent, run.oracle, run.episodes, run.seeds) == (
        "lock-gaussian",
        "oracleq-lat",
        None,
        100,
        [3, 1, 2],
    )
    assert run.settings == {"horizon": 4, "switch": 0.2, "noise": 0.1}
    assert run.title == "lock-gaussian, horizon 4, switch 0.2, noise 0.1"
    assert run.v_star == pytest.approx(0.5)
    assert run.average_reward.shape == (3, 5)
    assert run.values.shape == run.value_errors.shape == (3,)
    assert run.wall_seconds > 0


def test_values_of_latent_agents_are_exact(run):
    assert run.value_errors.tolist() == [0.0] * 3


def test_the_success_rate_is_the_share_of_seeds_at_nine_tenths_of_the_optimum(run):
    judged = replace(run, optimal_values=np.full(3, 0.5), values=np.array([0.45, 0.449, 0.5]))
    assert judged.near_optimal.tolist() == [True, False, True]
    assert judged.success_rate == pytest.approx(2 / 3)


class Uneven(Environment):
    """A family whose best reward is another one for each seed; the other action pays a fifth of it less."""

    horizon, n_actions, max_states, reward_range = 1, 2, 1, (-6.0, 6.0)

    def draw(self, streams):
        best = streams.generator("instance").uniform(-5, 5)
        rewards = np.array([best - 0.2 * abs(best), best]).reshape(1, 1, 2)
        return fu.BlockMDP(np.ones((1, 1, 2, 1)), rewards, reward_draw="deterministic")


def test_every_seed_is_judged_by_the_optimum_of_its_own_instance():
    env, seeds = Uneven(), [3, 0, 7, 2]
    best = [env.optimal_value(seed) for seed in seeds]
    run = fu.train(env, fu.OracleQ(), 50, seeds)
    assert run.optimal_values.tolist() == run.values.tolist() == best
    assert run.v_star == run.summary()["v_star"] == np.mean(best)
    assert run.success_rate == 1.0
    assert replace(run, values=run.values - 0.2 * np.abs(run.values)).success_rate == 0.0


@pytest.mark.parametrize("switch", [0, 0.1, 0.2, 0.5])
def test_v_star_is_exactly_the_value_that_all_seeds_have_in_common(switch):
    env = fu.LockBernoulli(7, switch)
    run = fu.train(env, fu.OracleQ(), 10, seeds=23)
    assert set(run.optimal_values) == {run.v_star} == {env.optimal_value()}


def test_runs_can_be_compared_and_kept_in_sets(run):
    other = replace(run)
    assert run == run
    assert run != other
    assert len({run, other, run}) == 2


AGENTS = [
    fu.OracleQ(),
    fu.URL(batch=20),
    fu.URLAsPublished(batch=20),
    fu.URLAsWritten(epsilon=0.9, delta=0.9, batch=10),
    fu.PCID(samples_per_level=60),
    as_agent(fu.OracleQ(), "observation"),
]


def test_help_says_what_every_field_is():
    for field in fields(fu.Run):
        assert f"\n    {field.name}\n        " in fu.Run.__doc__


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: type(agent).__name__)
def test_every_diagnostic_of_an_agent_is_described(agent):
    (about,) = fu.train(
        fu.LockBernoulli(1), agent, 2 if isinstance(agent, fu.URLAsWritten) else 200
    ).diagnostics
    described = {name for name, one in DIAGNOSTICS.items() if type(agent).__name__ in one.agents.split(", ")}
    general = {name for name, one in DIAGNOSTICS.items() if not one.agents.startswith(("URL", "PCID"))}
    assert described <= set(about) <= described | general
    assert all(f"`{phase}`" in DIAGNOSTICS["seconds"].meaning for phase in about.get("seconds", ()))


def test_the_summary_is_of_all_trajectories_wherever_the_curve_ends():
    run, whole = (fu.train(ENV, fu.OracleQ(), 100, seeds=4, points=points) for points in ([1, 5], 100))
    assert run.trajectories.tolist() == run.summary()["curve"]["trajectories"] == [1, 5]
    assert run.total_trajectories == run.summary()["total_trajectories"] == 100
    np.testing.assert_array_equal(run.final_average_reward, whole.average_reward[:, -1])
    for key in ("average_reward_mean", "average_reward_std"):
        assert run.summary()[key] == whole.summary()[key]


def test_a_title_tells_whole_numbers_as_they_are(run):
    long = replace(run, settings={"horizon": 1234567, "switch": 0.1234567, "noise": None})
    assert long.title == "lock-gaussian, horizon 1234567, switch 0.123457"


def test_a_run_is_shown_in_a_line(run):
    assert repr(run) == (
        "<Run: oracleq-lat on lock-gaussian, horizon 4, switch 0.2, noise 0.1; 100 episodes, 3 seeds, "
        f"average reward {run.final_average_reward.mean():.4g}, success rate {run.success_rate:.0%}>"
    )


def test_settings_of_any_family_are_in_title_and_summary(run):
    other = replace(run, env="ice", settings={"horizon": 3, "slip": 0.25, "width": "wide", "melts": True})
    assert other.title == "ice, horizon 3, slip 0.25, width wide, melts True"
    assert list(other.summary())[:5] == ["env", "horizon", "slip", "width", "melts"]


def test_the_frame_is_tidy(run):
    frame = run.to_pandas()
    assert list(frame.columns) == ["seed", "trajectories", "average_reward", "regret"]
    assert len(frame) == 15
    row = frame[(frame.seed == 1) & (frame.trajectories == 40)]
    assert row.average_reward.item() == run.average_reward[1, 1]
    assert row.regret.item() == run.regret[1, 1]


@pytest.mark.parametrize(
    ("seeds", "kind"),
    [([1, 2**31], np.int64), ([1, 2**63], np.uint64), ([2**64 - 1, 0], np.uint64), ([1, 2**64], object)],
)
def test_the_frame_keeps_seeds_of_any_size(seeds, kind):
    frame = fu.train(ENV, fu.OracleQ(), 10, seeds, points=2).to_pandas()
    assert frame.seed.dtype == kind
    assert [int(seed) for seed in frame.seed] == [seed for seed in seeds for _ in range(2)]


@pytest.mark.parametrize(("reward", "bottom"), [(-2.0, None), (0.0, 0.0), (2.0, 0.0)])
def test_the_plot_starts_at_zero_where_nothing_is_below(reward, bottom):
    import matplotlib.pyplot as plt

    env = fu.BlockMDP(
        np.ones((1, 1, 2, 1)), np.array([[[reward, 0.9 * reward]]]), reward_draw="deterministic"
    )
    run = fu.train(env, fu.OracleQ(), 50, seeds=5)
    axes = run.plot()
    low, high = axes.get_ylim()
    assert low < high
    assert low == bottom if bottom is not None else low < run.average_reward.min()
    assert high > run.average_reward.max()
    plt.close(axes.figure)


def test_the_plot_shows_the_mean_with_one_standard_deviation_shaded(run):
    import matplotlib.pyplot as plt

    axes = run.plot()
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), run.trajectories)
    np.testing.assert_allclose(axes.lines[0].get_ydata(), run.average_reward.mean(axis=0))
    (band,) = axes.collections
    top = (run.average_reward.mean(axis=0) + run.average_reward.std(axis=0)).max()
    assert band.get_paths()[0].vertices[:, 1].max() == pytest.approx(top)
    assert axes.get_xlabel() == "number of trajectories"
    assert run.plot(ax=axes, label="again") is axes
    assert len(axes.collections) == 2
    plt.close(axes.figure)


def test_a_long_title_of_the_plot_fits():
    import matplotlib.pyplot as plt

    axes = fu.train(fu.RichLock(horizon=3), fu.OracleQ(), 20).plot()
    assert_legible(axes.figure)
    plt.close(axes.figure)


def test_a_family_without_a_setting_horizon_is_titled_by_its_settings_alone():
    run = fu.train(Corridor(length=2), fu.OracleQ(), 20)
    assert run.title == "corridor, length 2, slip 0, lit True, paint white"
    assert (run.horizon, run.summary()["horizon"], run.summary()["length"]) == (2, 2, 2)


def test_the_seeds_and_their_number(run):
    assert run.n_seeds == run.summary()["seeds"] == 3
    assert run.summary()["seed_values"] == run.seeds == [3, 1, 2]


def test_the_summary_is_plain_json(run):
    summary = json.loads(json.dumps(run.summary(), allow_nan=False))
    promised = {
        "env",
        "horizon",
        "switch",
        "noise",
        "agent",
        "oracle",
        "episodes",
        "seeds",
        "v_star",
        "average_reward_mean",
    }
    promised |= {
        "average_reward_std",
        "regret_mean",
        "regret_std",
        "value_mean",
        "success_rate",
        "total_trajectories",
        "wall_seconds",
        "curve",
        "version",
    }
    assert promised <= set(summary)
    assert summary["version"] == fu.__version__
    assert summary["curve"] == {
        "trajectories": [20, 40, 60, 80, 100],
        "mean": run.average_reward.mean(axis=0).tolist(),
        "std": run.average_reward.std(axis=0).tolist(),
        "regret_mean": run.regret.mean(axis=0).tolist(),
        "regret_std": run.regret.std(axis=0).tolist(),
    }
    assert summary["average_reward_mean"] == run.average_reward[:, -1].mean()
