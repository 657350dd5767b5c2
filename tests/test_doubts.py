"""What a run of URL says against itself, without the truth: quiet where all is well, loud where labels hide
states."""

import json
import math
import re

import numpy as np
import pytest
from command_line import fasturl
from told_trajectories import trajectories_of

import fasturl as fu
from fasturl.agents import doubts
from fasturl.agents.doubts import WARNINGS, labels_with_a_past, promised_return
from fasturl.agents.history import History
from fasturl.experiments import Cell, load, sweep
from fasturl.experiments.analysis import report

ONE, SPLIT, MOVE, PAST, PROMISE = WARNINGS.values()


def warned(run):
    """How many seeds each warning is said of."""
    return {sentence: len(seeds) for sentence, seeds in run.warnings.items()}


# --- the cases of real runs ---


@pytest.mark.parametrize(
    "env",
    [fu.LockBernoulli(5, 0.2), fu.LockGaussian(5, 0.2, 0.2), fu.RichLock(3), fu.RandomMDP(5)],
    ids=lambda env: type(env).__name__,
)
def test_a_run_that_goes_well_says_nothing(env):
    """Each of 16 runs is wrongly doubted with a probability of about one in a thousand: a promise is three
    standard errors away, labels are doubted once in a million times."""
    run = fu.train(env, fu.URL(), 3_000, seeds=4)
    assert run.near_optimal.all()
    assert run.warnings == {}
    assert all(one["decoder_stable"] for one in run.diagnostics)


def test_a_bound_on_states_that_is_too_small_is_told():
    """With two labels for three states the lock stays shut on some seeds, and no seed calls itself stable."""
    run = fu.train(fu.LockGaussian(8, 0.2, 0.1), fu.URL(n_states=2), 3_000, seeds=4)
    assert warned(run)[SPLIT] == 4
    assert not any(one["decoder_stable"] for one in run.diagnostics)


def test_observations_that_tell_nothing_apart_are_told():
    """States that all look alike have one label on every seed; one state alone is no reason to doubt."""
    tables = np.full((4, 2, 2, 2), 0.5), np.full((4, 2, 2), 0.5)
    alike = fu.BlockMDP(*tables, emission=fu.emissions.Gaussian(np.zeros((2, 3)), 0.1, n_levels=5))
    run = fu.train(alike, fu.URL(), 500, seeds=4)
    assert warned(run)[ONE] == 4
    assert not any(one["decoder_stable"] for one in run.diagnostics)
    single = fu.BlockMDP(
        np.ones((4, 1, 2, 1)),
        np.full((4, 1, 2), 0.5),
        emission=fu.emissions.Gaussian(np.zeros((1, 3)), 0.1, n_levels=5),
    )
    assert fu.train(single, fu.URL(), 500, seeds=4).warnings == {}


def test_a_river_whose_states_are_missed_is_told():
    """Four labels for the six states of the river, from clusters that are centres of k-means alone."""
    run = fu.train(fu.RiverSwim(), fu.URL(fu.oracles.KMeans(4), n_states=4), 4_000, seeds=4)
    assert warned(run)[SPLIT] == 4
    assert not any(one["decoder_stable"] for one in run.diagnostics)


def test_states_that_can_hardly_be_told_apart_are_told():
    """At noise 0.5 one observation in six has the label of another state."""
    run = fu.train(fu.LockGaussian(5, 0.2, 0.5), fu.URL(), 3_000, seeds=4)
    assert {MOVE, PAST} & set(run.warnings)
    assert all(one["warnings"] for one in run.diagnostics)
    assert not any(one["decoder_stable"] for one in run.diagnostics)


class Blind:
    """An oracle that labels at random, and swears by it."""

    n_states = 3

    def fit(self, X):
        self.centre_ = np.median(X.sum(axis=1))
        return self

    def predict(self, X):
        return (X.sum(axis=1) > self.centre_).astype(int)


def test_labels_that_say_nothing_of_states_are_told():
    run = fu.train(fu.LockGaussian(5, 0.2, 0.1), fu.URL(Blind(), levels="pooled"), 1_000, seeds=2)
    assert not run.near_optimal.any()
    assert warned(run)[SPLIT] == 2


def test_an_oracle_is_fitted_on_halves_where_its_last_fit_moved_a_label():
    """The border of `Blind` lies elsewhere after each fit. Of labels that stay what they are nothing more is
    asked (see `test_refits_wait_longer_the_longer_decoders_agree`)."""
    sizes = []

    class Records(Blind):
        def fit(self, X):
            sizes.append(len(X))
            return super().fit(X)

    run = fu.train(fu.LockGaussian(5, 0.2, 0.1), fu.URL(Records(), levels="pooled"), 1_000)
    n_fits = run.diagnostics[0]["oracle_fits"]
    assert len(sizes) == n_fits + 2
    assert max(sizes[n_fits:]) < sizes[n_fits - 1]


# --- each doubt by itself, on trajectories that are made up ---


def history_of(labels, actions, rewards):
    history = History(actions.shape[1], 3, 2)
    history.add(trajectories_of(labels, actions, rewards))
    return history


def walk(n, seed):
    """States, actions and rewards. Start in a random one of two states; action 0 leads to the same, and 1 to
    the other. At the second level both lead to the same, and state 1 pays."""
    generator = np.random.default_rng(seed)
    actions = generator.integers(2, size=(n, 2))
    states, rewards = np.empty((n, 3), np.int64), np.zeros((n, 2))
    states[:, 0] = generator.integers(2, size=n)
    states[:, 1] = states[:, 2] = states[:, 0] ^ actions[:, 0]
    rewards[:, 1] = states[:, 1]
    return states, actions, rewards


def hidden(states, levels=(1,)):
    """Labels that are states but for some levels, which show nothing."""
    labels = states.copy()
    labels[:, levels] = 0
    return labels


@pytest.mark.parametrize("seed", range(10))
def test_what_follows_a_label_depends_on_the_past_where_it_stands_for_two_states(seed):
    states, actions, rewards = walk(400, seed)
    assert labels_with_a_past(history_of(states, actions, rewards)) == 0
    assert labels_with_a_past(history_of(hidden(states), actions, rewards)) == 1


def test_a_reward_alone_gives_a_hidden_state_away():
    states, actions, rewards = walk(400, 0)
    labels, noise = hidden(states, (1, 2)), np.random.default_rng(1).normal(0, 0.1, rewards.shape)
    assert labels_with_a_past(history_of(labels, actions, rewards)) == 1
    assert labels_with_a_past(history_of(labels, actions, rewards + noise)) == 1
    assert labels_with_a_past(history_of(labels, actions, noise)) == 0


@pytest.mark.parametrize("greatest", [50, 10**12], ids=["counted", "sorted"])
def test_codes_are_counted_whether_there_may_be_few_or_many(greatest):
    codes = np.random.default_rng(0).integers(greatest // 5, size=200) * 5
    times = np.random.default_rng(1).integers(1, 4, size=200)
    for given, repeated in ((None, codes), (times, np.repeat(codes, times))):
        for found, expected in zip(
            doubts._counted(codes, given), np.unique(repeated, return_counts=True), strict=True
        ):
            np.testing.assert_array_equal(found, expected)


def slow_promise(labels, actions, rewards):
    """The same, one trajectory at a time."""
    trajectories = list(zip(labels, actions, rewards, strict=True))
    totals = []
    for plans, plays in ((trajectories[::2], trajectories[1::2]), (trajectories[1::2], trajectories[::2])):
        planned = played = np.zeros(3)
        for h in reversed(range(actions.shape[1])):
            q = [[_mean_gain(plans, h, label, action, planned) for action in (0, 1)] for label in range(3)]
            best, planned = np.argmax(q, axis=1), np.max(q, axis=1)
            played = np.array([_mean_gain(plays, h, label, best[label], played) for label in range(3)])
        totals.append(np.mean([played[seen[0]] for seen, _, _ in plays]))
    return min(totals)


def _mean_gain(trajectories, h, label, action, values):
    """What an action at a label earns on average, with what follows; the worst that was seen of any where it
    was never taken."""
    gains = [r[h] + values[x[h + 1]] for x, a, r in trajectories if x[h] == label and a[h] == action]
    return np.mean(gains) if gains else min(r[h:].sum() for _, _, r in trajectories)


@pytest.mark.parametrize("n", [2, 7, 60])
@pytest.mark.parametrize("levels", [(), (1,), (0, 1)])
@pytest.mark.parametrize("shift", [0.0, -3.0])
@pytest.mark.parametrize("entries", [1, 2**20], ids=["level by level", "all levels together"])
def test_a_promise_is_what_its_slow_reference_says(monkeypatch, n, levels, shift, entries):
    monkeypatch.setattr(doubts, "_MOST_TABLE_ENTRIES", entries)
    for seed in range(3):
        states, actions, rewards = walk(n, seed)
        labels = hidden(states, levels)
        promised = promised_return(history_of(labels, actions, rewards + shift), math.inf)
        assert promised == pytest.approx(slow_promise(labels, actions, rewards + shift), abs=1e-12)


def test_a_promise_is_the_value_of_the_best_policy_where_labels_are_states():
    states, actions, rewards = walk(4_000, 0)
    assert promised_return(history_of(states, actions, rewards), 1.0) == 1.0
    blind = promised_return(history_of(hidden(states, (0,)), actions, rewards), 1.0)
    assert blind == pytest.approx(0.5, abs=0.05)


def test_where_the_best_policy_earns_nothing_the_last_mistakes_break_no_promise():
    """Actions 1 and 2 may cost 1, and the learner tries them now and then: it earns a little less than 0."""
    transitions = np.random.default_rng(0).dirichlet(np.ones(3) / 2, size=(8, 3, 3))
    rewards = np.tile([0.0, -0.5, -0.5], (8, 3, 1))
    costs = np.full(rewards.shape, -1.0)
    emission = fu.emissions.Gaussian(np.eye(3, 10), 0.1, n_levels=9)
    env = fu.BlockMDP(transitions, rewards, reward_draw=costs, start=[0.2, 0.5, 0.3], emission=emission)
    run = fu.train(env, fu.URL(), 2000, seeds=[3, 4])
    assert run.values.min() > -0.01
    assert run.warnings == {}


@pytest.mark.parametrize(("steps", "trajectories", "every"), [(1, 500, 8), (3 * 250, 10, 16)])
def test_a_promise_of_many_trajectories_is_that_of_some_of_them(monkeypatch, steps, trajectories, every):
    monkeypatch.setattr(doubts, "_PROMISE_STEPS", steps)
    monkeypatch.setattr(doubts, "_LEAST_PROMISE_TRAJECTORIES", trajectories)
    states, actions, rewards = walk(4_000, 0)
    assert states.shape[1] == 3
    all_of_them = hidden(states, (0,)), actions, rewards + np.random.default_rng(2).normal(size=rewards.shape)
    promised = promised_return(history_of(*all_of_them), math.inf)
    some = [part[::every] for part in all_of_them]
    assert promised == pytest.approx(slow_promise(*some), abs=1e-12)
    assert promised != pytest.approx(slow_promise(*all_of_them), abs=1e-6)


def test_one_trajectory_promises_nothing():
    assert promised_return(history_of(*walk(1, 0)), 1.0) == 0.0


def test_a_promise_is_no_more_than_there_can_be():
    """The first action has the reward at once or in the second step. Labels do not tell that it was taken, so
    half of it seems to be there again."""
    early = np.arange(400) // 2 % 2  # half of either part
    rewards = np.stack([early, 1.0 - early], axis=1)
    actions = np.stack([early, np.zeros_like(early)], axis=1)
    history = history_of(np.zeros((400, 3), np.int64), actions, rewards)
    assert promised_return(history, math.inf) == 1.5
    assert promised_return(history, 1.0) == 1.0


# --- where warnings are shown ---


@pytest.fixture(scope="module")
def doubtful(tmp_path_factory):
    """Results of two agents, of which one has reason to doubt."""
    folder = tmp_path_factory.mktemp("doubtful")
    cells = [
        Cell.make("lock-gaussian", {"horizon": 3, "switch": 0.2}, agent, settings, 400)
        for agent, settings in (("url", {"n_states": 2}), ("oracleq-lat", {}))
    ]
    sweep(cells, range(3), folder, n_jobs=1)
    return folder


def test_results_count_warnings(doubtful):
    frame = load(doubtful)
    by_agent = frame.groupby("agent")["warnings"]
    assert by_agent.min()["url"] >= 1
    assert by_agent.max()["oracleq-lat"] == 0


def test_a_report_lists_warnings(doubtful):
    page = report.page(doubtful)
    assert f'data-name="Warning">{SPLIT}</td>' in page
    assert re.search(r'data-name="Seeds">3 of 3</td>', page)
    assert "oracleq-lat" not in page.split('id="warnings-title"')[1].split("</section>")[0]


def test_the_command_tells_them_in_table_and_json(tmp_path):
    words = ["train", "lock-gaussian", "--horizon", "3", "--agent", "url", "--n-states", "2"]
    words += ["--episodes", "400", "--seeds", "3"]
    done = fasturl(*words, "--json", tmp_path / "run.json")
    assert "warning" in done.stdout
    assert "(3 of 3)" in done.stdout
    assert json.loads((tmp_path / "run.json").read_text())["warnings"][SPLIT] == [0, 1, 2]


def test_followers_of_many_labels_differ_however_few_bytes_labels_have():
    """A number for each of 250 labels and three rewards does not fit into a byte."""
    labels, rewards = np.divmod(np.arange(750), 3)
    for kind in (np.uint8, np.int64):
        numbers = doubts.followers(labels.astype(kind)[None], rewards[None] / 2.0)
        assert np.unique(numbers).size == 750
