"""What the campaigns found: each find as a test of its own."""

import os
import re
from fractions import Fraction

import gymnasium
import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

import fasturl as fu
from fasturl import registry
from fasturl.agents import LatentPolicy
from fasturl.decoders import AffineDecoder, QuadraticDecoder, SupportVectorDecoder, SymbolDecoder
from fasturl.envs import ScalarEnv, VectorEnv
from fasturl.experiments import Cell, load, read_spec, reproduce, sweep
from fasturl.experiments.paper.rich_lock import rich_lock
from fasturl.experiments.tuning.problem import Problem
from fasturl.experiments.tuning.search import tune
from fasturl.learners import Task
from fasturl.problems.blocks import ObservationBlock
from fasturl.problems.emissions import Emission

from .honest_parts import HonestEnvironment, HonestLearner, HonestMemory
from .odd_values import Pretends, UnprintableInt

LOCK = fu.LockBernoulli(2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bias": np.zeros(1)}, "bias must be numbers of shape [3], got shape [1]"),
        ({"weights": b"x"}, "weights must be an array of real numbers, got b'x'"),
        ({"weights": np.float64(1)}, "weights must be numbers of shape [1 or more, 1 or more], got shape []"),
        ({"curvature": np.zeros(4)}, "curvature must be numbers of shape [3], got shape [4]"),
        ({"matrix": np.eye(3), "offset": np.zeros(2)}, "offset must be numbers of shape [3], got shape [2]"),
        ({"matrix": np.eye(2, 3)}, "weights must be numbers of shape [1 or more, 2], got shape [3, 3]"),
        ({"bias": np.full(3, np.nan)}, "bias must be numbers of shape [3], got nan"),
    ],
)
def test_an_affine_decoder_whose_tables_do_not_fit_is_refused_before_a_kernel_reads_beyond_them(
    changes, message
):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        AffineDecoder(**{"weights": np.eye(3), "bias": np.zeros(3)} | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"means": np.eye(2, 3)}, "precisions must be numbers of shape [2, 3, 3], got shape [3, 3, 3]"),
        ({"log_weights": np.zeros(2)}, "log_weights must be numbers of shape [3], got shape [2]"),
        ({"precisions": np.zeros((3, 3, 3))}, "precisions must be positive definite matrices, got "),
    ],
)
def test_so_is_a_quadratic_one(changes, message):
    honest = {"means": np.eye(3), "precisions": np.tile(np.eye(3), (3, 1, 1)), "log_weights": np.zeros(3)}
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        QuadraticDecoder(**honest | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"entries": np.eye(2)}, "entries must be numbers of shape [5, 2], got shape [2, 2]"),
        ({"n_symbols": [5]}, "n_symbols must be numbers of shape [2], got shape [1]"),
        ({"n_symbols": [2, -1]}, "n_symbols must be whole numbers, 1 or more, got [2, -1]"),
        ({"n_symbols": [2, 2.5]}, "n_symbols must be whole numbers, 1 or more, got [2, 2.5]"),
        ({"bias": 0.0}, "bias must be numbers of shape [1 or more], got shape []"),
    ],
)
def test_so_is_one_of_symbols(changes, message):
    honest = {"least": [0, 0], "n_symbols": [2, 3], "entries": np.zeros((5, 2)), "bias": [0.0, 0.0]}
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        SymbolDecoder(**honest | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"matrix": np.eye(1, 3)}, "matrix must be numbers of shape [2, 1 or more], got shape [1, 3]"),
        ({"offset": np.zeros(3)}, "offset must be numbers of shape [2], got shape [3]"),
        ({"classifier": SVC(kernel="linear")}, "classifier must have the kernel 'rbf', got 'linear'"),
    ],
)
def test_so_is_one_that_votes(changes, message):
    honest = {"matrix": np.eye(2, 3), "offset": np.zeros(2), "classifier": SVC()} | changes
    honest["classifier"].fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        SupportVectorDecoder(**honest)


@pytest.mark.parametrize("low", [Fraction(3), "none", int, None, np.nan, [1]])
def test_ends_of_a_range_that_are_none_are_refused_by_name(low):
    with pytest.raises(ValueError, match=r"^a range must have ends 0 < low <= high, got "):
        fu.Range(low, 2)


@pytest.mark.parametrize("ends", [1e30, (1,), (1, 0), "ab"])
def test_a_range_of_rewards_that_has_no_two_ends_is_refused_by_name(ends):
    with pytest.raises(ValueError, match=r"^reward_range must have two ends, the lower first, got"):
        fu.BlockMDP(np.ones((1, 1, 1, 1)), [[[0.5]]], reward_range=ends)


@pytest.mark.parametrize("name", [3, np.nan, b"x", None, "", "\0", np.array(["a"])])
def test_the_name_of_a_folder_must_be_one(name):
    cells = [Cell.make("lock-bernoulli", {"horizon": 1}, "oracleq-lat", {}, 5)]
    with pytest.raises(ValueError, match=r"^folder must be the name of a file or a folder, got"):
        load(name)
    with pytest.raises(ValueError, match=r"^out must be the name of a file or a folder, got"):
        sweep(cells, 1, name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_in_the_place_of_a_stored_file_is_refused_and_not_waited_for(tmp_path):
    cells = [Cell.make("lock-bernoulli", {"horizon": 1}, "oracleq-lat", {}, 5)]
    sweep(cells, 1, tmp_path / "out", n_jobs=1)
    (stored,) = (tmp_path / "out").glob("results/*/*.parquet")
    for path in (stored, tmp_path / "out" / "fasturl-results.json"):
        path.unlink()
        os.mkfifo(path)
        with pytest.raises(ValueError, match=r"^cannot read .*: it is no file$"):
            load(tmp_path / "out")
        path.unlink()
        path.write_bytes(b"")


def test_a_thousand_brackets_are_refused_in_words(tmp_path):
    spec = tmp_path / "spec.toml"
    for text in (f"a = {'[' * 5000}", f"seeds = {'[' * 5000}{']' * 5000}"):
        spec.write_text(text)
        with pytest.raises(ValueError, match=rf"^{re.escape(str(spec))} is nested too deeply$"):
            read_spec(spec)
    cells = [Cell.make("lock-bernoulli", {"horizon": 1}, "oracleq-lat", {}, 5)]
    whole = sweep(cells, 1, tmp_path / "out", n_jobs=1)
    (tmp_path / "out" / "fasturl-results.json").write_text("[" * 100_000)
    pd.testing.assert_frame_equal(load(tmp_path / "out"), whole)
    with pytest.warns(UserWarning, match="fasturl-results.json is damaged: set aside"):
        pd.testing.assert_frame_equal(sweep(cells, 1, tmp_path / "out", n_jobs=1), whole)


class OneHot(Emission):
    """Shows the state itself; a test spoils one of its members."""

    def __init__(self, **lies):
        self.n_levels, self.n_states, self.dimension, self.discrete = 3, 2, 2, False
        vars(self).update(lies)

    def draw(self, rngs, episodes):
        return ObservationBlock(np.broadcast_to(np.eye(2, dtype=np.float32), (episodes, 3, 2, 2)))


def chain(emission):
    return fu.BlockMDP(np.full((2, 2, 2, 2), 0.5), np.full((2, 2, 2), 0.5), emission=emission)


@pytest.mark.parametrize(
    ("lie", "value"),
    [("dimension", 2.0), ("dimension", "none"), ("dimension", 0), ("n_levels", 3.0), ("n_levels", None)],
)
def test_a_size_of_an_emission_that_is_no_count_is_refused_by_name(lie, value):
    with pytest.raises(ValueError, match=rf"^{lie} of OneHot must be an integer >= 1, got {value!r}$"):
        fu.train(chain(OneHot(**{lie: value})), fu.URL(), 40)


def test_an_emission_says_by_a_truth_value_whether_it_is_discrete():
    with pytest.raises(ValueError, match=r"^discrete of OneHot must be True or False, got array"):
        fu.train(chain(OneHot(discrete=np.ones(3))), fu.URL(), 40)


def test_observations_that_differ_in_length_are_refused_by_name():
    with pytest.raises(ValueError, match=r"^X must be an array of real numbers, got"):
        AffineDecoder(np.eye(3), np.zeros(3)).decode([[1], [2, 3]])


@pytest.mark.parametrize("lie", ["dimension", "n_levels", "n_states"])
def test_narrow_integers_of_numpy_do_for_the_sizes_of_an_emission(lie):
    narrow = OneHot(**{lie: np.int8(getattr(OneHot(), lie))})
    runs = [fu.train(chain(emission), fu.URL(), 60) for emission in (OneHot(), narrow)]
    np.testing.assert_array_equal(runs[0].average_reward, runs[1].average_reward)


@pytest.mark.parametrize("bounds", [(np.inf, -np.inf), None, (NotImplemented, 1), 3])
def test_bounds_of_an_emission_that_are_none_are_refused_by_name(bounds):
    emission = OneHot(bounds=lambda: bounds)
    with pytest.raises(ValueError, match=r"^bounds of OneHot must be two numbers, the lower first, got"):
        ScalarEnv(chain(emission))


def test_a_seed_that_cannot_be_printed_is_refused_in_words():
    for env in (VectorEnv(LOCK, num_envs=2), ScalarEnv(LOCK)):
        with pytest.raises(gymnasium.error.Error, match="actual value: -1"):
            env.reset(seed=UnprintableInt(-1))


@pytest.mark.parametrize("settings", [3.0, None, {1: 2}, np.zeros((2, 0)), ["horizon"]])
@pytest.mark.parametrize("which", ["env_settings", "agent_settings"])
def test_settings_of_a_cell_that_are_no_table_are_refused_by_name(which, settings):
    words = {"env": "lock-bernoulli", "env_settings": {"horizon": 1}, "agent": "url", "agent_settings": {}}
    with pytest.raises(ValueError, match=rf"^{which} must be settings by name, got"):
        Cell.make(**words | {which: settings}, episodes=5)


@pytest.mark.parametrize("part", ["labels", "actions", "rewards"])
@pytest.mark.parametrize("method", ["update", "replay", "take_in"])
def test_trajectories_whose_rows_differ_in_length_are_refused_by_name(method, part):
    task = Task(2, 3, 4, max_return=1.0, episodes=9, policy_rng=np.arange(1, 5, dtype=np.uint64))
    rows = {"labels": [0, 1, 2], "actions": [1, 3], "rewards": [0.0, 1.0]}
    trajectories = rows if method == "update" else {name: [row] for name, row in rows.items()}
    memory = fu.OracleQ().start(task)
    with pytest.raises(ValueError, match=f"^{part} must be an array of real numbers, got"):
        getattr(memory, method)(**trajectories | {part: [[1], [2, 3]]})


@pytest.mark.parametrize("progress", ["x", np.zeros(3), np.ma.ones(3), 1, np.nan])
def test_whether_to_show_progress_is_a_truth_value_or_none(progress, tmp_path):
    cells = [Cell.make("lock-bernoulli", {"horizon": 1}, "oracleq-lat", {}, 5)]
    for call in (
        lambda: fu.train(LOCK, fu.OracleQ(), 5, progress=progress),
        lambda: sweep(cells, 1, tmp_path / "out", progress=progress),
        lambda: tune(Problem.make("lock-bernoulli", "oracleq-lat", episodes=5), progress=progress),
        lambda: reproduce(tmp_path / "out", seeds=1, progress=progress),
        lambda: rich_lock(tmp_path / "out", seeds=1, progress=progress),
    ):
        with pytest.raises(ValueError, match=r"^progress must be True, False or None, got"):
            call()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("backend", [3, "dask", np.zeros(3), {}, False])
def test_a_place_to_compute_that_is_none_is_refused_by_name(backend, tmp_path):
    cells = [Cell.make("lock-bernoulli", {"horizon": 1}, "oracleq-lat", {}, 5)]
    with pytest.raises(ValueError, match=r"^backend must be one such as Local\(n_jobs=2\), got"):
        sweep(cells, 1, tmp_path / "out", backend=backend)


def test_an_agent_cannot_be_named_by_an_array():
    with pytest.raises(ValueError, match=r"^agent must be one of "):
        registry.agent(np.zeros(0))


def test_a_policy_of_rows_that_differ_in_length_is_refused_by_name():
    with pytest.raises(ValueError, match=r"^policy must be an array of real numbers, got"):
        LatentPolicy([[1], [2, 3]]).judge(LOCK.instance(0), None)


@pytest.mark.parametrize("oracle", [fu.oracles.KMeans(3), fu.oracles.GMM(3), fu.oracles.DBSCAN(n_states=3)])
@pytest.mark.parametrize(
    ("size", "message"),
    [
        (1e18, "X must be at most 1e+17 in size, got 1e+18: divide by a constant first"),
        (1e77, "X must be at most 1e+17 in size, got 1e+77: divide by a constant first"),
        *(
            (size, f"X must lie further apart: no coordinate has values more than {size:g} apart, whose squa")
            for size in (1e-200, 1e-18)
        ),
    ],
)
def test_observations_of_a_size_that_float32_cannot_hold_are_refused_by_name(oracle, size, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        oracle.fit(np.tile(np.eye(3), (20, 1)) * size)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    "oracle",
    [
        fu.oracles.KMeans(3),
        *(fu.oracles.GMM(3, covariance=kind) for kind in ("spherical", "tied", "diag", "full")),
        fu.oracles.Splits(3),
    ],
    ids=repr,
)
@pytest.mark.parametrize("size", [1e-17, 7e16])
def test_observations_as_small_and_as_large_as_may_be_are_told_apart(oracle, size, kind):
    # mixtures with hardly any noise, whose inverse float32 may not hold
    noise = 1e-5 if isinstance(oracle, fu.oracles.GMM) else 0.1
    rows = np.tile(np.eye(3), (40, 1)) + np.random.default_rng(0).normal(0.0, noise, (120, 3))
    labels = oracle.fit_predict((size * rows).astype(kind))
    assert (labels.reshape(40, 3) == labels[:3]).all()
    assert len(set(labels[:3].tolist())) == 3


@pytest.mark.parametrize(
    ("oracle", "message"),
    [
        (fu.oracles.KMeans(np.array(2)), "n_states must be a plain number, got array(2)"),
        (fu.oracles.FullGMM(2, max_iter=np.array(2)), "max_iter must be a plain number, got array(2)"),
        (fu.oracles.PCADBSCAN(2, eps=Fraction(3)), "eps must be a plain number, got Fraction(3, 1)"),
    ],
)
def test_numbers_that_scikit_learn_does_not_take_are_refused_by_name(oracle, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        oracle.fit(np.tile(np.eye(3), (20, 1)))


@pytest.mark.parametrize(
    "kind",
    [fu.oracles.KMeans, fu.oracles.GMM, fu.oracles.PCAKMeans, fu.oracles.BernoulliMixture],
    ids=lambda kind: kind.__name__,
)
def test_more_starts_than_there_is_memory_for_are_refused(kind):
    with pytest.raises(ValueError, match=r"^n_init must be an integer from 1 to 10000, got 1000000000$"):
        kind(3, n_init=10**9).fit(np.tile(np.eye(3), (20, 1)))


@pytest.mark.parametrize(
    ("learner", "setting", "value"),
    [
        (fu.UCBVI, "scale", 1e308),
        (fu.UCBQBernstein, "c1", 1e308),
        (fu.UCBQBernstein, "c2", 1e308),
        *((learner, "failure_probability", 5e-324) for learner in (fu.UCBVI, fu.UCBQBernstein, fu.OPSRL)),
    ],
)
def test_a_setting_whose_bonus_would_not_be_finite_is_refused_by_name(learner, setting, value):
    with pytest.raises(ValueError, match=f"^{setting} must be .*, got {re.escape(repr(value))}$"):
        learner(**{setting: value})


@pytest.mark.parametrize("constants", ["paper", "practical"])
@pytest.mark.parametrize("learner", [fu.UCBVI, fu.UCBQBernstein])
def test_the_largest_settings_of_a_bonus_still_give_finite_values(learner, constants):
    largest = {"scale": 1e50} if learner is fu.UCBVI else {"c1": 1e50, "c2": 1e50}
    for env in (LOCK, chain_that_pays(1e100), chain_that_pays(-1e100)):
        run = fu.train(env, learner(constants=constants, failure_probability=1e-100, **largest), 50)
        assert np.isfinite(run.values).all()


def chain_that_pays(reward):
    transitions = np.full((2, 2, 2, 2), 0.5)
    return fu.BlockMDP(transitions, np.full((2, 2, 2), reward), reward_draw="deterministic")


def test_settings_of_a_part_that_have_no_names_are_refused_by_name():
    with pytest.raises(ValueError, match=r"^learner must have settings by name, got \{1: 2\}$"):
        registry.agent("url", learner={1: 2})


def test_an_emission_that_pretends_to_have_anything_is_refused_by_name():
    for make in (ScalarEnv, lambda env: VectorEnv(env, 2), lambda env: fu.train(env, fu.URL(), 40)):
        with pytest.raises(ValueError, match=r"^emission must be None or one of fu\.emissions"):
            make(HonestEnvironment(Pretends()))


class Ragged(AffineDecoder):
    """A decoder, and an oracle, whose labels differ in length."""

    def __init__(self):
        super().__init__(np.eye(5)[:3], np.zeros(3))

    def fit(self, X):
        return self

    def predict(self, X):
        return [[1], [2, 3]]

    table = predict


@pytest.mark.parametrize("method", ["predict", "table"])
def test_labels_that_differ_in_length_are_refused_by_name(method):
    oracle = Ragged()
    if method == "table":
        oracle.decoder_ = oracle
    with pytest.raises(ValueError, match=rf"^{method} of Ragged must give .*, got \[\[1\], \[2, 3\]\]"):
        fu.train(LOCK, fu.URL(oracle=oracle, learner=fu.OracleQ()), 100)


def test_a_policy_of_a_memory_whose_rows_differ_in_length_is_refused_by_name():
    class RaggedMemory(HonestMemory):
        def policy(self):
            return [[1], [2, 3]]

    with pytest.raises(
        ValueError, match=r"^policy of RaggedMemory must be an array, got \[\[1\], \[2, 3\]\]"
    ):
        fu.train(HonestEnvironment(), HonestLearner(RaggedMemory), 20)


@pytest.mark.parametrize(
    "fit", [lambda X: fu.oracles.KMeans(2).fit(X), lambda X: fu.oracles.Splits(2).fit(X)]
)
def test_observations_to_fit_whose_rows_differ_in_length_are_refused_by_name(fit):
    with pytest.raises(ValueError, match=r"^X must be an array, got \[\[1\], \[2, 3\]\]$"):
        fit([[1], [2, 3]])


def test_more_states_than_labels_can_name_are_refused_whatever_the_oracle():
    env = HonestEnvironment()
    env.max_states = 1000
    with pytest.raises(ValueError, match=r"^n_states must be at most 256, got the 1000 that the environment"):
        fu.train(env, fu.URL(oracle=fu.oracles.KMeans(2)), 60)
