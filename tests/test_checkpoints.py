"""Evaluations in the course of a run: what they say, and that they leave the run as it is."""

import json

import numpy as np
import pytest

import fasturl as fu
from fasturl import registry
from fasturl._base.streams import Streams
from fasturl.agents.agent import Agent, Outcome
from fasturl.agents.evaluation import GLANCE_RETURNS, LatentPolicy, Verdict
from fasturl.experiments import Cell, sweep
from fasturl.experiments.running.spec import parse_spec
from fasturl.experiments.running.store import Store

LOCK = fu.LockBernoulli(3, 0.2)
AGENTS = {
    "oracleq-lat": registry.agent("oracleq-lat"),
    "opsrl-lat": registry.agent("opsrl-lat"),
    "psrl-lat": registry.agent("psrl-lat"),
    "oracleq-obs": registry.agent("oracleq-obs"),
    "url": fu.URL(),
    "url, levels apart": fu.URL(levels="separate"),
    "url-as-published": registry.agent("url-as-published"),
    "pcid": fu.PCID(samples_per_level=100),
}


def evaluations(run):
    return [one["evaluations"] for one in run.diagnostics]


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("every", [1, 37, 5000])
def test_a_run_with_evaluations_is_the_same_run_bit_for_bit(name, every):
    without = fu.train(LOCK, AGENTS[name], 700, seeds=2)
    watched = fu.train(LOCK, AGENTS[name], 700, seeds=2, points=fu.Recording(evaluate_every=every))
    np.testing.assert_array_equal(watched.average_reward, without.average_reward)
    np.testing.assert_array_equal(watched.values, without.values)
    for one, other in zip(watched.diagnostics, without.diagnostics, strict=True):
        plain = {key for key in other if key != "seconds"}
        assert {key: one[key] for key in plain} == {key: other[key] for key in plain}
        assert "evaluations" not in other
        assert one["evaluations"]["trajectories"][-1] == 700


@pytest.mark.parametrize("name", ["oracleq-lat", "oracleq-obs"])
def test_evaluations_are_at_every_so_many_trajectories_and_at_the_end(name):
    run = fu.train(LOCK, AGENTS[name], 100, seeds=2, points=fu.Recording(evaluate_every=30))
    assert [one["trajectories"] for one in evaluations(run)] == [[30, 60, 90, 100]] * 2


@pytest.mark.parametrize("levels", ["pooled", "separate"])
def test_an_agent_that_plays_in_batches_is_evaluated_amid_them(levels):
    run = fu.train(LOCK, fu.URL(levels=levels, batch=25), 130, points=fu.Recording(evaluate_every=40))
    assert evaluations(run)[0]["trajectories"] == [40, 80, 120, 130]


@pytest.mark.parametrize("count", [60, 240])
def test_an_evaluation_is_of_the_policy_that_a_run_which_ends_there_has(count):
    """The learner is not told how long the run is, so the shorter run is the beginning of the longer one; the
    value on latent states is exact."""
    agent = registry.agent("oracleq-lat")
    long = evaluations(fu.train(LOCK, agent, 600, seeds=3, points=fu.Recording(evaluate_every=60)))
    short = fu.train(LOCK, agent, count, seeds=3)
    place = long[0]["trajectories"].index(count)
    assert [one["values"][place] for one in long] == short.values.tolist()


def test_values_of_decoded_policies_are_within_four_standard_errors_of_the_verdict():
    """A fixed seed; a right program fails for less than 1 seed in 10,000."""
    lock, seeds = fu.LockGaussian(4, 0.2, 0.2), range(10_000, 10_004)
    run = fu.train(lock, fu.PCID(), 3000, seeds, points=fu.Recording(evaluate_every=500))
    for one, value, error in zip(evaluations(run), run.values, run.value_errors, strict=True):
        # forty times fewer observations than the verdict has
        assert abs(one["values"][-1] - value) <= 4 * np.sqrt(41) * error


def test_the_lowest_return_is_that_of_the_episodes_of_a_policy():
    lock = fu.RichLock(horizon=3)
    instance = lock.draw(Streams(1))
    best = LatentPolicy(optimal_policy(instance))
    glance = best.glance(instance, Streams(1).evaluation())
    assert (glance.value, glance.returns.tolist()) == (1.0, [1.0] * GLANCE_RETURNS)
    uniform = LatentPolicy(np.full((3, 3, 10), 0.1))
    glance = uniform.glance(instance, Streams(1).evaluation())
    assert glance.value < 0.1
    assert glance.returns.min() == 0.0


def optimal_policy(instance):
    """Zeros and ones [H, S, A]: the good actions of a rich lock are those that do not lead to state 2."""
    return np.eye(instance.n_actions)[instance.transitions[..., 2].argmin(axis=2)]


@pytest.mark.parametrize("written", [np.ndarray.tolist, lambda chances: chances.argmax(axis=2)])
def test_a_policy_may_be_written_for_an_evaluation_as_for_the_verdict(written):
    """As lists of probabilities, or as an action for each state."""
    instance = fu.RichLock(horizon=3).draw(Streams(1))
    policy = LatentPolicy(written(optimal_policy(instance)))
    glance = policy.glance(instance, Streams(1).evaluation())
    assert glance.value == policy.judge(instance, Streams(1).evaluation()).value == 1.0
    assert glance.returns.tolist() == [1.0] * GLANCE_RETURNS


def test_evaluations_draw_other_episodes_each_time():
    """Each draws further on the same streams, so that a policy has other returns in each."""
    instance, streams = fu.RichLock(horizon=2).draw(Streams(0)), Streams(0).evaluation().evaluation()
    uniform = LatentPolicy(np.full((2, 3, 10), 0.1))
    first, second = (uniform.glance(instance, streams).returns for _ in range(2))
    assert first.tolist() != second.tolist()


class Silent(Agent):
    """An agent that offers no policy before the end."""

    def play(self, game, ledger):
        ledger.enter(game.play_random(ledger.left).rewards.sum(axis=1))
        return Outcome(Uniform())


class Uniform:
    def judge(self, instance, streams):
        return Verdict(0.0)


class Offering(Silent):
    """One that offers policies which cannot be evaluated on the way."""

    offers_policies = True

    def play(self, game, ledger):
        outcome = super().play(game, ledger)
        ledger.offer(lambda: outcome.policy)
        return outcome


@pytest.mark.parametrize("value", [0, -3, 1.5, "ten", True])
def test_a_spacing_that_is_no_positive_integer_is_refused(value):
    with pytest.raises(ValueError, match="evaluate_every must be an integer >= 1"):
        fu.Recording(evaluate_every=value)


def test_agents_that_offer_nothing_on_the_way_are_refused_by_name():
    with pytest.raises(ValueError, match="evaluate_every must be left out for Silent"):
        fu.train(LOCK, Silent(), 100, points=fu.Recording(evaluate_every=10))
    with pytest.raises(ValueError, match="evaluate_every must be left out for URLAsWritten"):
        Cell.make("lock-bernoulli", {"horizon": 2}, "url-as-written", {}, 10, evaluate_every=10)
    with pytest.raises(ValueError, match=r"method glance, got .*Uniform.* after 100 trajectories"):
        fu.train(LOCK, Offering(), 100, points=fu.Recording(evaluate_every=10))


class Promising(Silent):
    """Promises to offer policies, and does not."""

    offers_policies = True


@pytest.mark.parametrize("spacing", [10, 1_000])
def test_an_agent_that_promises_policies_and_offers_none_is_refused(spacing):
    with pytest.raises(
        ValueError, match="play of Promising must offer its ledger policies, as its offers_policies promises"
    ):
        fu.train(LOCK, Promising(), 100, points=fu.Recording(evaluate_every=spacing))
    assert fu.train(LOCK, Promising(), 100).episodes == 100


@pytest.mark.parametrize("agent", [fu.URL(), fu.PCID(), fu.agents.URLAsPublished(), fu.OracleQ()], ids=repr)
def test_agents_of_ours_offer_policies_in_the_shortest_run(agent):
    for episodes in (1, 7):
        run = fu.train(LOCK, agent, episodes, points=fu.Recording(evaluate_every=1))
        assert run.diagnostics[0]["evaluations"]["trajectories"][-1] == run.total_trajectories


def test_cells_keep_evaluations_and_without_them_the_id_that_they_had(tmp_path):
    arguments = "lock-bernoulli", {"horizon": 2}, "oracleq-lat", {}, 50
    plain, watched = Cell.make(*arguments), Cell.make(*arguments, evaluate_every=20)
    assert "evaluate_every" not in plain.config
    assert plain.id != watched.id
    assert Cell.from_config(json.loads(json.dumps(watched.config))) == watched
    sweep([watched], 2, tmp_path, n_jobs=1, progress=False)
    (about,) = Store(tmp_path).about()
    assert [one["evaluations"]["trajectories"] for one in about["diagnostics"]] == [[20, 40, 50]] * 2


def test_a_spec_may_ask_for_evaluations():
    content = {"env": {"name": "lock-bernoulli", "horizon": 2}, "agent": {"name": "pcid"}, "episodes": 90}
    (cell,) = parse_spec(content | {"evaluate_every": 30}).cells
    assert cell.evaluate_every == 30
