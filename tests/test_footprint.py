"""What will not fit into memory is refused beforehand, with the number and the setting to change; what takes
much of it, or long, is announced."""

import math
import os
import platform
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from command_line import fasturl
from url_parts import Perfect

import fasturl as fu
from fasturl._base import memory, patience, progress
from fasturl.agents import history
from fasturl.agents.footprint import checked_footprint
from fasturl.agents.latent import LatentAgent
from fasturl.agents.url_training import URLTraining
from fasturl.envs import ScalarEnv, VectorEnv
from fasturl.envs.footprint import _bytes_of_one_more
from fasturl.learners.table_bytes import table_bytes

GB = 10**9
LOCK = fu.LockBernoulli(5)


@pytest.fixture
def with_memory(monkeypatch):
    """Sets what this process may use."""
    return lambda size: monkeypatch.setattr(memory, "memory_limit", lambda: size)


# --- the limit ---


def test_there_is_a_limit_on_this_machine():
    assert 2**26 < memory.memory_limit() < 2**60


def test_a_limit_of_the_process_counts():
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (8 * GB, hard))
    try:
        assert memory.memory_limit() <= 8 * GB
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def test_of_a_limit_of_the_process_what_it_has_already_is_not_left(monkeypatch, tmp_path):
    resource = pytest.importorskip("resource")
    pages = tmp_path / "statm"
    pages.write_text("1000 300 200 10 0 700 0\n")
    monkeypatch.setattr(memory, "_PAGES_IN_USE", pages)
    limits = {resource.RLIMIT_AS: 10**8, resource.RLIMIT_DATA: 9 * 10**7}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limits[kind], -1))
    page = os.sysconf("SC_PAGE_SIZE")
    assert list(memory._limits_of_process()) == [10**8 - 1000 * page, 9 * 10**7 - 700 * page]
    pages.unlink()  # where the system does not tell
    assert list(memory._limits_of_process()) == [10**8, 9 * 10**7]


@pytest.mark.parametrize(
    ("membership", "file", "text", "limit"),
    [
        ("0::/batch/job", "batch/memory.max", "5000000", 5_000_000),
        ("0::/batch/job", "batch/job/memory.max", "max", math.inf),
        ("0::/", "memory.max", "7000000", 7_000_000),
        ("4:memory:/docker/x", "memory/docker/x/memory.limit_in_bytes", "6000000", 6_000_000),
        ("4:memory:/docker/x", "memory/memory.limit_in_bytes", "6000000", 6_000_000),
        ("4:cpu,memory:/", "memory/memory.limit_in_bytes", "6000000", 6_000_000),
        ("4:cpu:/docker/x", "docker/x/memory.max", "6000000", math.inf),
    ],
)
def test_the_limits_of_control_groups_count(monkeypatch, tmp_path, membership, file, text, limit):
    """Those of a group and of all around it, in both versions of the system's interface."""
    (tmp_path / "groups" / file).parent.mkdir(parents=True)
    (tmp_path / "groups" / file).write_text(text + "\n")
    (tmp_path / "self").write_text(membership + "\n")
    monkeypatch.setattr(memory, "_CGROUPS", tmp_path / "groups")
    monkeypatch.setattr(memory, "_MEMBERSHIP", tmp_path / "self")
    assert min(memory._limits_of_groups(), default=math.inf) == limit


ALLOCATIONS = """
import resource, sys
import numpy as np
from fasturl._base import memory

if sys.argv[1] == "kept":
    memory.keep_freed_memory()
for _ in range(20):
    blocks = [np.ones(2**18) for _ in range(3)]
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    del blocks
    blocks = [np.ones(2**18) for _ in range(3)]
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
print(faults)
"""
"""Blocks of 2 MB are freed and asked for again; the pages that the system had to find for the last ones."""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries keep memory in other ways")
def test_freed_memory_is_used_again():
    def pages(mode):
        done = subprocess.run([sys.executable, "-c", ALLOCATIONS, mode], capture_output=True, text=True)
        return int(done.stdout)

    assert pages("kept") < 100 < 1000 < pages("given back")


def test_where_there_is_no_memory_none_is_kept(monkeypatch):
    monkeypatch.setattr(memory, "_KEPT_BYTES", 2**60)
    memory.keep_freed_memory()


@pytest.mark.parametrize(
    ("size", "words"), [(10, "1 kB"), (2_500_000, "2.5 MB"), (37.5e12, "37.5 TB"), (6e17, "600 PB")]
)
def test_sizes_are_told_in_words(size, words):
    assert memory.in_words(size) == words


# --- training ---


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (10_000, "horizon must be smaller: the tables of an instance would take about .* got 200"),
        (200_000, "horizon must be smaller: a block of observations would take about .* got 200"),
        (1_000_000, r"episodes must be smaller: the returns of a run would take .* use 1 MB, got 1000000"),
    ],
)
def test_a_run_that_does_not_fit_is_refused_before_it_is_played(with_memory, size, message):
    with_memory(size)
    with pytest.raises(ValueError, match=message):
        fu.train(fu.LockBernoulli(200), fu.OracleQ(), 10**6, sees="observation")


def test_a_learner_that_does_not_fit_is_refused(with_memory):
    env = fu.RandomMDP(horizon=10, emission="none")
    with_memory(env.instance_bytes() + 10_000)
    with pytest.raises(ValueError, match=r"horizon must be smaller: a run would take about .* got 10"):
        fu.train(env, fu.RMax(), 10)


@pytest.mark.parametrize("share", [0.99, 0.4])
def test_the_setting_that_takes_the_memory_is_named(with_memory, share):
    """A schedule has two numbers for each episode, a table some for each level: all of a run does not fit, or
    not even what is learned."""
    many, long = (fu.LockBernoulli(2), 10**6), (fu.LockBernoulli(20_000), 2)
    for (env, episodes), name in ((many, "episodes"), (long, "horizon")):
        with_memory(math.inf)
        size = checked_footprint(env, LatentAgent(fu.OracleQ()), episodes, episodes)
        with_memory(max(share * size.total, size.instance, size.returns))
        value = episodes if name == "episodes" else env.horizon
        with pytest.raises(ValueError, match=rf"^{name} must be smaller: .* got {value}$"):
            fu.train(env, fu.OracleQ(), episodes)


def test_n_jobs_that_do_not_fit_are_refused_and_fewer_are_chosen_where_nobody_says(with_memory):
    one = checked_footprint(LOCK, fu.URL(), 500, 500).total
    with_memory(1.5 * one)
    with pytest.raises(ValueError, match="n_jobs must be smaller: 4 runs at the same time would take about"):
        fu.train(LOCK, fu.URL(), 500, seeds=4, n_jobs=4)
    assert fu.train(LOCK, fu.URL(), 500, seeds=4).n_seeds == 4
    assert checked_footprint(LOCK, fu.URL(), 500, 500).workers(4) == 1


def test_the_memory_of_an_instance_is_what_its_tables_take():
    env = fu.RandomMDP(horizon=7, emission="none")
    instance = env.instance(0)
    tables = instance.transitions, instance.rewards, instance.dynamics.transitions
    assert env.instance_bytes() == sum(table.nbytes for table in tables)
    assert instance.instance_bytes() == 0  # it is there already


def test_the_memory_of_a_learner_is_what_its_tables_take():
    agent = fu.agents.LatentAgent(fu.UCBVI())
    known = LOCK.describe()
    started = []

    class Spy:
        def start(self, task):
            started.append(table_bytes(fu.UCBVI(), task))
            return fu.UCBVI().start(task)

    fu.train(LOCK, Spy(), 50)
    assert agent.learner_bytes(known, 50) == started[0]
    assert fu.agents.LatentAgent(Spy()).learner_bytes(known, 50) == 0  # it cannot be asked


@pytest.mark.parametrize("env", [fu.LockBernoulli(2), fu.LockGaussian(2)], ids=lambda env: env.name)
@pytest.mark.parametrize("episodes", [1, 3])
def test_the_memory_of_url_as_written_is_what_its_last_training_and_its_policies_take(env, episodes):
    sizes = []

    class Spy(Perfect):
        def fit(self, X):
            sizes.append(X.nbytes)
            return super().fit(X)

    agent, known = fu.URLAsWritten(oracle=Spy(), batch=5, epsilon=0.9, delta=0.9), env.describe()
    played = agent.trajectories(known, episodes)
    assert fu.train(env, agent, episodes).total_trajectories == played
    n_policies = agent.sizes(known, episodes).iterations * (episodes + 1)
    # an oracle is handed the observations of one level, and a decoder has weights for each label
    policies = 8 * n_policies * 3 * known.max_states * known.observations.dimension
    assert agent.history_bytes(known, played) == 2 * 3 * max(sizes) + policies


@pytest.mark.parametrize("env", [fu.LockBernoulli(3), fu.LockGaussian(3)], ids=lambda env: env.name)
@pytest.mark.parametrize(
    "settings", [{"iterations": 3}, {"iterations": 7}, {"iterations": 7, "late_batch": 5}]
)
def test_the_memory_of_url_as_published_is_what_its_batches_take(env, settings):
    sizes = []

    class Spy(Perfect):
        def fit(self, X):
            sizes.append(X.nbytes)
            return super().fit(X)

    agent = fu.URLAsPublished(oracle=Spy(), batch=20, **settings)
    fu.train(env, agent, 500)
    assert agent.history_bytes(env.describe(), 500) == 2 * max(sizes)
    assert agent.history_bytes(env.describe(), 1) < agent.history_bytes(env.describe(), 500)


def test_a_run_that_takes_much_is_announced(monkeypatch):
    monkeypatch.setattr(memory, "MUCH", 1000)
    with pytest.warns(UserWarning, match=r"a run takes about [\d.]+ kB of memory"):
        fu.train(LOCK, fu.OracleQ(), 100)


# --- Gymnasium's environments ---


def test_an_environment_of_a_horizon_that_does_not_fit_is_refused_at_once():
    with pytest.raises(
        ValueError, match=r"horizon must be smaller: the observations of an episode would take about 37\.5"
    ):
        ScalarEnv("lock-bernoulli", horizon=10**7)
    with pytest.raises(ValueError, match=r"horizon must be smaller: .* got 10000000"):
        VectorEnv("lock-bernoulli", num_envs=2, horizon=10**7)


@pytest.mark.parametrize("env", [LOCK, fu.LockGaussian(5), fu.RandomMDP(horizon=5), fu.RiverSwim(horizon=5)])
def test_more_environments_than_fit_are_refused_at_once(env):
    with pytest.raises(ValueError, match=r"num_envs must be smaller: environments side by side would take"):
        VectorEnv(env, num_envs=10**11)


@pytest.mark.parametrize("env", [LOCK, fu.LockGaussian(5), fu.RandomMDP(horizon=5)], ids=lambda env: env.name)
def test_what_one_more_environment_takes_is_what_its_arrays_have(env):
    """The tables and the buffer of ten and of eleven environments differ by so much."""

    def arrays(n_envs):
        envs = VectorEnv(env, num_envs=n_envs)
        tables, buffer = envs._tables, env.resolved_emission.observation_buffer(n_envs)
        own = [one for part in (tables, buffer) for one in vars(part).values()]
        flat = [one for part in own for one in (part if isinstance(part, tuple) else [part])]
        owners = {
            id(one.base if one.base is not None else one): one for one in flat if hasattr(one, "nbytes")
        }
        kept = n_envs * env.instance_bytes() * tables.keeps_instances
        return kept + sum(one.nbytes for one in owners.values() if isinstance(one, np.ndarray))

    assert arrays(11) - arrays(10) == pytest.approx(_bytes_of_one_more(env, latent=False), rel=0.05)


def test_environments_that_take_much_are_announced(monkeypatch):
    monkeypatch.setattr(memory, "MUCH", 1000)
    with pytest.warns(UserWarning, match=r"environments side by side, num_envs = 50, takes about [\d.]+ kB"):
        VectorEnv(LOCK, num_envs=50)


def test_a_reset_that_takes_long_is_announced(monkeypatch):
    envs = VectorEnv(LOCK, num_envs=300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs.reset(seed=0)
    monkeypatch.setattr(patience, "LONG_SECONDS", 0.0)
    with pytest.warns(UserWarning, match=r"seeding of 300 environments takes about \d+ seconds"):
        envs.reset(seed=0)
    families = VectorEnv(fu.RandomMDP(horizon=2), num_envs=300)
    with (
        pytest.warns(UserWarning, match="seeding of 300"),
        pytest.warns(UserWarning, match="drawing the inst"),
    ):
        families.reset(seed=0)


# --- what URL keeps ---


@pytest.mark.parametrize("env", [fu.LockBernoulli(40), fu.LockGaussian(40)])
def test_the_memory_of_a_history_is_what_its_arrays_take(env, monkeypatch):
    """The observations of 120 trajectories, where there is room for them, and less where there is not."""
    kept = []
    play = URLTraining.run
    monkeypatch.setattr(URLTraining, "run", lambda self: (kept.append(self._history), play(self))[1])
    fu.train(env, fu.URL(), 120, n_jobs=1)
    arrays = [kept[0].labels, kept[0].actions, kept[0].rewards, kept[0].observations]
    assert fu.URL().history_bytes(env.describe(), 120) == sum(array.nbytes for array in arrays)
    most = history.MOST_BYTES + history.MOST_RARE_BYTES
    assert fu.URL().history_bytes(env.describe(), 10**6) < most + 10**6 * 11 * 41


def test_trajectories_that_do_not_fit_are_refused(with_memory):
    with_memory(50 * 10**6)
    message = "episodes must be smaller: what is kept of the trajectories would take about .*, got 200000"
    with pytest.raises(ValueError, match=message):
        fu.train(fu.LockGaussian(40), fu.URL(), 200_000)


# --- the command line ---


def test_a_dry_run_says_what_training_takes_and_trains_nothing():
    words = (
        "train lock-bernoulli --horizon 3 --agent oracleq-lat --episodes 200 --seeds 3 --n-jobs 2 --dry-run"
    )
    done = fasturl(*words.split())
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(
        r"3 runs of 200 trajectories, 2 at the same time: about [\d.e-]+ s, and [\d.]+ kB of memory for each "
        r"run\n",
        done.stdout,
    )


def test_on_the_command_line_what_does_not_fit_is_one_line_and_exit_code_2():
    done = fasturl("train", "lock-bernoulli", "--horizon", "10000000", "--episodes", "5")
    assert done.returncode == 2
    assert re.fullmatch(r"fasturl: horizon must be smaller: .* got 10000000\n", done.stderr)


def test_where_there_is_no_terminal_progress_is_a_line_now_and_then(monkeypatch, capsys):
    assert not sys.stderr.isatty()
    fu.train(LOCK, fu.OracleQ(), 100)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    fu.train(LOCK, fu.OracleQ(), 100)
    assert capsys.readouterr().err.splitlines()[-1] == "training: 100 of 100 trajectories"
