"""What hostile use once found: each case is a line here, whether or not it was mended before."""

import os
import stat

import numpy as np
import pytest
from command_line import fasturl

import fasturl as fu
from fasturl.experiments import Cell, sweep
from fasturl.experiments.running.store import Store
from fasturl.registry import environment

TINY = ("lock-bernoulli", {"horizon": 2}, "oracleq-lat", {}, 50)


# --- numbers of NumPy ---


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.uint8, np.uint64, np.int64])
def test_integers_of_numpy_become_integers_of_python(kind):
    agent = fu.URL(batch=kind(100), n_states=kind(3))
    assert (type(agent.batch), type(agent.n_states)) == (int, int)
    assert agent == fu.URL(batch=100, n_states=3)
    assert type(fu.LockBernoulli(kind(5)).horizon) is int
    run = fu.train(
        fu.LockBernoulli(kind(2)), fu.OracleQ(), kind(50), seeds=kind(2), points=kind(5), n_jobs=kind(1)
    )
    assert (type(run.episodes), type(run.seeds[0])) == (int, int)


def test_a_small_integer_of_numpy_does_not_wrap_around():
    assert fu.URL(batch=np.int16(300)).batch == 300


# --- objects that cannot be shown ---


class Unshowable:
    """An object of somebody else's whose text is an error."""

    def __repr__(self):
        raise RuntimeError("no text")


SHOWN = {
    "a setting of an agent": lambda it: fu.URL(batch=it),
    "an oracle": lambda it: fu.URL(oracle=it),
    "a learner": lambda it: fu.URL(learner=it),
    "a setting of an environment": lambda it: fu.LockBernoulli(it),
    "an environment": lambda it: fu.train(it, fu.OracleQ(), 5),
    "an agent": lambda it: fu.train(fu.LockBernoulli(2), it, 5),
    "episodes": lambda it: fu.train(fu.LockBernoulli(2), fu.OracleQ(), it),
    "seeds": lambda it: fu.train(fu.LockBernoulli(2), fu.OracleQ(), 5, seeds=it),
    "a seed": lambda it: fu.train(fu.LockBernoulli(2), fu.OracleQ(), 5, seeds=[it]),
    "points": lambda it: fu.train(fu.LockBernoulli(2), fu.OracleQ(), 5, points=it),
    "progress": lambda it: fu.train(fu.LockBernoulli(2), fu.OracleQ(), 5, progress=it),
    "tables": lambda it: fu.BlockMDP(it, it),
    "an emission": lambda it: fu.BlockMDP(np.ones((1, 1, 1, 1)), np.ones((1, 1, 1)), emission=it),
    "a name": lambda it: environment(it),
    "a cell": lambda it: sweep([it], 1, "never-made"),
}


@pytest.mark.parametrize("place", SHOWN)
def test_an_argument_that_cannot_be_shown_is_told_by_its_type(place):
    with pytest.raises(ValueError, match="got one of type Unshowable"):
        SHOWN[place](Unshowable())
    assert not os.path.exists("never-made")


# --- runs and parts ---


def test_a_run_shows_itself_in_a_line():
    run = fu.train(fu.LockBernoulli(3), fu.OracleQ(), 500, seeds=50)
    assert len(repr(run)) < 200


def test_a_clusterer_without_predict_is_told_what_it_lacks():
    from sklearn.cluster import AgglomerativeClustering

    with pytest.raises(ValueError, match=r"got AgglomerativeClustering\(n_clusters=3\) without predict$"):
        fu.URL(oracle=AgglomerativeClustering(3))


class Forgetful:
    """Says that it takes history, and does not."""

    takes_history = True

    def fit(self, X):
        return self

    def predict(self, X):
        return np.asarray(X).argmax(axis=1)


class Remembering(Forgetful):
    def fit(self, X, labels, **others):
        assert others.keys() == {"groups"}
        return self


@pytest.mark.parametrize("agent", [fu.URL, fu.URLAsPublished, fu.URLAsWritten])
def test_an_oracle_that_has_no_place_for_history_is_refused_where_it_enters(agent):
    message = r"oracle must have a fit that is called as fit\(X, y, groups=...\) where takes_history is True"
    with pytest.raises(ValueError, match=rf"^{message}, and that of Forgetful is fit\(X\)$"):
        agent(oracle=Forgetful())


def test_an_oracle_may_take_history_under_other_names():
    fu.train(fu.LockBernoulli(2), fu.URL(oracle=Remembering(), learner=fu.OracleQ()), 100)


# --- cells and sweeps ---


def test_a_cell_takes_a_part_as_an_object_and_keeps_it_by_name(tmp_path):
    cell = Cell.make("lock-bernoulli", {"horizon": 2}, "url", {"oracle": fu.oracles.KMeans(3)}, 50)
    assert cell.agent_settings["oracle"]["name"] == "kmeans"
    assert len(sweep([cell], 1, tmp_path / "results", n_jobs=1)["seed"].unique()) == 1


@pytest.mark.parametrize("wrong", [[fu.LockBernoulli(2)], fu.LockBernoulli(2), ["lock-bernoulli"], [None]])
def test_what_is_no_cell_is_refused_and_no_folder_is_left(wrong, tmp_path):
    with pytest.raises(ValueError, match=r"cells must be .*Cell\.make\(\.\.\.\), got "):
        sweep(wrong, 1, tmp_path / "results")
    assert not (tmp_path / "results").exists()


@pytest.fixture
def read_only(monkeypatch):
    """Makes a folder that no file can be made in, for the superuser too, who may write anywhere."""

    def close(folder):
        def refuse(*arguments, **options):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("fasturl.experiments.running.store.tempfile.TemporaryFile", refuse)
        os.chmod(folder, stat.S_IRUSR | stat.S_IXUSR)

    return close


def test_a_complete_sweep_needs_a_folder_that_can_be_read_and_no_more(tmp_path, read_only):
    cell, folder = Cell.make(*TINY), tmp_path / "results"
    first = sweep([cell], 2, folder, n_jobs=1)
    read_only(folder)
    with pytest.raises(ValueError, match="cannot write"):
        Store(folder, create=True)
    assert first.equals(sweep([cell], 2, folder, n_jobs=1))
    with pytest.raises(ValueError, match=f"cannot write {folder}: Permission denied"):
        sweep([cell], 3, folder, n_jobs=1)  # one run is missing
    os.chmod(folder, 0o700)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_spec_without_end_is_refused():
    done = fasturl("sweep", "/dev/full", "--dry-run")
    assert done.returncode == 2
    assert done.stderr == "fasturl: cannot read /dev/full: a spec has at most 4 MB, got more\n"


@pytest.mark.parametrize("name", [".png", ".pdf", ".SVG"])
def test_a_figure_needs_a_name_before_its_kind(name):
    words = "train lock-bernoulli --horizon 2 --agent oracleq-lat --episodes 10 --seeds 1 --plot"
    done = fasturl(*words.split(), name)
    assert done.returncode == 2
    assert done.stderr == (
        f"fasturl: cannot write {name}: a name is needed before {name}, as in curve{name}\n"
    )
