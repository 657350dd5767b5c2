"""PCID: its kernels beside their references of tests/naive, and a whole run beside one in plain Python."""

import naive
import numpy as np
import pytest
from conftest import Work, best_seconds, report, row
from fasturl.problems.models import emission_rngs

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl._kernels import fitting, pcid
from fasturl.agents.pcid import default_samples

HORIZON, EPISODES, SAMPLES = 20, 500, 600
LUCK, CHOICE = [5, 6, 7, 8], [1, 2, 3, 4]
ENV = fu.LockBernoulli(HORIZON, 0.2)
MODEL = ENV.instance(0)
DRAW = np.random.default_rng(0)
LABELS = np.tile(np.arange(3, dtype=np.uint8), (EPISODES, HORIZON + 1, 1))
WORDS = ENV.emission.draw(emission_rngs(Streams(0)), EPISODES).words
NORMALS = fu.LockGaussian(HORIZON, 0.2).emission.draw(emission_rngs(Streams(0)), EPISODES)
ROWS = DRAW.normal(size=(SAMPLES, HORIZON + 3))
CODES = DRAW.integers(12, size=SAMPLES)
GROUP = "PCID: a run, horizon 20"


def exploring(stream):
    record = [np.empty(EPISODES, kind) for kind in (int, int, float, int, float)]
    return (
        MODEL.dynamics,
        LABELS,
        DRAW.random((3, HORIZON - 1, 3, 4)),
        HORIZON,
        stream(LUCK),
        stream(CHOICE),
        *record,
    )


def counting(_):
    before, after, taken = (
        DRAW.integers(3, size=10_000),
        DRAW.integers(3, size=10_000),
        DRAW.integers(4, size=10_000),
    )
    return before, taken, np.ones(10_000), after, np.zeros((3, 4, 3)), np.zeros((3, 4))


def bits(logistic):
    found, mixing = (
        np.full(HORIZON + 1, 3),
        DRAW.normal(size=(3, 4, HORIZON + 1) if logistic else (0, 0, HORIZON + 1)).astype(np.float32),
    )
    tables = DRAW.normal(size=(HORIZON + 1, 6, 16, 4)).astype(np.float32)
    rows = np.empty((4, 3 * EPISODES), np.float32), np.empty((3, 3 * EPISODES), np.float32)
    return lambda _: (WORDS, tables, found, mixing, HORIZON + 1, *rows, np.empty(LABELS.shape, np.uint8))


def reals(_):
    weights, bias = (
        DRAW.normal(size=(3, HORIZON + 3, HORIZON + 1)).astype(np.float32),
        np.zeros((3, HORIZON + 1), np.float32),
    )
    scratch = *np.empty((3, *bias.shape), np.float32), np.empty(LABELS.shape, np.uint8)
    block = NORMALS.noise, NORMALS.means, NORMALS.n_informative
    return (
        *block,
        weights,
        bias,
        np.full(HORIZON + 1, 3),
        np.empty((0, 0, HORIZON + 1), np.float32),
        HORIZON + 1,
        *scratch,
    )


def clustering(stream):
    """Plain Python has no float32, so its points are those of float64."""
    compiled = stream is row
    kind = np.float32 if compiled else np.float64
    points = np.ascontiguousarray((np.eye(12)[CODES % 3] + DRAW.normal(0, 0.1, (SAMPLES, 12))).T, kind)
    (centres, trial), (labels, last_labels) = np.empty((2, 3, 12), kind), np.empty((2, SAMPLES), np.int32)
    scratch = (
        trial,
        np.empty(3, bool),
        labels,
        last_labels,
        np.empty(SAMPLES, kind),
        np.empty((3, SAMPLES), kind),
    )
    return (
        stream(CHOICE),
        points,
        np.ascontiguousarray(points.T),
        10,
        300,
        *scratch,
        centres,
        np.empty(3, int),
    )


def regressing(_):
    return ROWS, CODES, 1e-9, np.empty((HORIZON + 3,) * 2), np.empty((12, HORIZON + 3))


def training(_):
    weights = DRAW.normal(size=(3, HORIZON + 3)), DRAW.normal(size=(4, 12))
    hidden, output = (table.astype(np.float32) for table in weights)
    shapes = (
        hidden.shape,
        output.shape,
        (2, *hidden.shape),
        (2, *output.shape),
        (4, SAMPLES),
        (12, SAMPLES),
        (3, SAMPLES),
    )
    rows = ROWS.astype(np.float32)
    return (
        rows,
        np.ascontiguousarray(rows.T),
        CODES,
        0.02,
        40,
        hidden,
        output,
        *(np.zeros(shape, np.float32) for shape in shapes),
    )


LABELLED = EPISODES * (HORIZON + 1) * 3
WORK = {
    "pcid: explore": Work(pcid.explore, naive.pcid.explore, exploring, EPISODES * HORIZON),
    "pcid: count transitions": Work(pcid.count, naive.pcid.count, counting, 10_000),
    "pcid: label bits, linear": Work(pcid.bit_labels, naive.pcid.bit_labels, bits(False), LABELLED),
    "pcid: label bits, neural": Work(pcid.bit_labels, naive.pcid.bit_labels, bits(True), LABELLED),
    "pcid: label reals, linear": Work(pcid.real_labels, naive.pcid.real_labels, reals, LABELLED),
    "pcid: least squares": Work(fitting.least_squares, naive.fitting.least_squares, regressing, SAMPLES),
    "pcid: k-means, ten starts": Work(fitting.kmeans, naive.fitting.kmeans, clustering, SAMPLES),
    "pcid: network": Work(fitting.train_network, naive.fitting.train_network, training, SAMPLES),
}
"""The references of least squares and of the network are numpy's matrix products, not plain loops."""


@pytest.mark.parametrize("name", WORK)
def test_reference(benchmark, reference_rates, name):
    WORK[name].time_reference(benchmark, reference_rates, name)


@pytest.mark.parametrize("name", WORK)
def test_kernel(benchmark, reference_rates, name):
    WORK[name].time_kernel(benchmark, reference_rates, name)


RUN_EPISODES = HORIZON * default_samples(HORIZON, 3, 4) + 2_000


def play_naively(seed):
    """The same run, without the evaluation of its final policy."""
    streams = Streams(seed)
    samples = default_samples(HORIZON, 3, 4)
    return naive.pcid.Explorer(ENV.instance(seed), streams, emission_rngs(streams), 3, samples).play(
        RUN_EPISODES
    )


def test_a_run_in_plain_python(benchmark, reference_rates):
    benchmark.group = GROUP
    benchmark.pedantic(play_naively, args=(0,), rounds=1)
    if seconds := best_seconds(benchmark):
        reference_rates[GROUP] = RUN_EPISODES * HORIZON / seconds
        report(benchmark, steps_per_second=reference_rates[GROUP])


@pytest.mark.parametrize("model", ["linear", "neural"])
def test_a_run(benchmark, reference_rates, model):
    """Evaluation included. The reference is linear, and the neural model does more work than that."""
    benchmark.group = GROUP
    benchmark.pedantic(
        fu.train,
        args=(ENV, fu.PCID(model=model), RUN_EPISODES),
        kwargs={"n_jobs": 1},
        rounds=5,
        warmup_rounds=1,
    )
    if seconds := best_seconds(benchmark):
        report(benchmark, steps_per_second=RUN_EPISODES * HORIZON / seconds)
        if GROUP in reference_rates and model == "linear":
            ratio = RUN_EPISODES * HORIZON / seconds / reference_rates[GROUP]
            report(benchmark, ratio=ratio, must_reach=100)
            assert ratio >= 100


def test_fifty_levels_with_a_network(benchmark):
    """Seconds depend on the machine: reported beside the figure to reach and not asserted."""
    benchmark.group = "PCID: a neural run, horizon 50"
    env, samples = fu.LockBernoulli(50, 0.2), default_samples(50, 3, 4)
    values = []
    benchmark.pedantic(
        lambda: values.append(
            fu.train(env, fu.PCID(model="neural"), 50 * samples + 2_000, n_jobs=1).values[0]
        ),
        rounds=3,
        warmup_rounds=1,
    )
    report(benchmark, seconds=best_seconds(benchmark) or 0.0, value=min(values), must_reach="5 s")
