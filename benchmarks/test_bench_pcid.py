"""PCID: its kernels beside their references of tests/naive, and a whole run beside one in plain Python."""

import naive
import numpy as np
import pytest
from conftest import Work, best_seconds, measured_beside_references, report, row

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl._kernels import clustering, fitting, networks, pcid
from fasturl._kernels.records import AdagradWorkspace, AdamWorkspace, Trajectories, kmeans_workspace
from fasturl.agents.past_decoding import PastDecoder
from fasturl.agents.pcid import default_samples
from fasturl.problems.environment import emission_rngs

HORIZON, EPISODES, SAMPLES = 20, 500, 600
DYNAMICS_RNG, POLICY_RNG = [5, 6, 7, 8], [1, 2, 3, 4]
ENV = fu.LockBernoulli(HORIZON, 0.2)
MODEL = ENV.instance(0)
DRAW = np.random.default_rng(0)
LABELS = np.tile(np.arange(3, dtype=np.uint8), (EPISODES, HORIZON + 1, 1))
ROWS = DRAW.normal(size=(SAMPLES, HORIZON + 3))
CODES = DRAW.integers(12, size=SAMPLES)
GROUP = "PCID: a run, horizon 20"


def exploring(stream):
    record = Trajectories(
        np.empty((EPISODES, HORIZON + 1), np.int64),
        np.empty((EPISODES, HORIZON), np.int64),
        np.empty((EPISODES, HORIZON)),
    )
    return (
        MODEL.dynamics,
        LABELS,
        DRAW.random((3, HORIZON - 1, 3, 4)),
        HORIZON,
        stream(DYNAMICS_RNG),
        stream(POLICY_RNG),
        record,
    )


def counting(_):
    before, after, taken = (
        DRAW.integers(3, size=10_000),
        DRAW.integers(3, size=10_000),
        DRAW.integers(4, size=10_000),
    )
    return before, taken, np.ones(10_000), after, np.zeros((3, 4, 3)), np.zeros((3, 4, 3))


def finding_clusters(stream):
    """Plain Python has no float32, so its points are those of float64."""
    compiled = stream is row
    kind = np.float32 if compiled else np.float64
    points = np.ascontiguousarray((np.eye(12)[CODES % 3] + DRAW.normal(0, 0.1, (SAMPLES, 12))).T, kind)
    rows, centres = np.ascontiguousarray(points.T), np.empty((3, 12), kind)
    workspace, uniforms = kmeans_workspace(points, 3), DRAW.random((10, 3))
    return uniforms, points, rows, np.ones(SAMPLES, kind), 1, 300, 0.0, workspace, centres


def regressing(_):
    return ROWS, CODES, 1e-9, np.empty((HORIZON + 3,) * 2), np.empty((12, HORIZON + 3))


def training_from_a_warm_start(_):
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
        AdamWorkspace(*(np.zeros(shape, np.float32) for shape in shapes)),
    )


EPOCHS = 100


def training(_):
    """The published network: three units, in rows of four; 24 coordinates, the constant among them."""
    columns = np.vstack([ROWS.T, np.ones((1, SAMPLES))]).astype(np.float32)
    hidden = DRAW.uniform(-0.2, 0.2, (3, HORIZON + 4)).astype(np.float32)
    output = np.zeros((12, 4), np.float32)
    output[:, :3] = DRAW.uniform(-0.5, 0.5, (12, 3))
    shapes = ((1, HORIZON + 4), (1, 4), hidden.shape, output.shape, (4, SAMPLES), (1, SAMPLES), (1, SAMPLES))
    workspace = AdagradWorkspace(*(np.zeros(shape, np.float32) for shape in shapes))
    return columns, CODES.astype(np.int32), 0.1, EPOCHS, hidden, output, workspace


WORK = {
    "pcid: explore": Work(pcid.explore, naive.pcid.explore, exploring, EPISODES * HORIZON),
    "pcid: count transitions": Work(pcid.count, naive.pcid.count, counting, 10_000),
    "pcid: least squares": Work(fitting.least_squares, naive.fitting.least_squares, regressing, SAMPLES),
    "pcid: k-means, ten starts": Work(clustering.kmeans, naive.clustering.kmeans, finding_clusters, SAMPLES),
    "pcid: network, 100 epochs": Work(
        networks.adagrad_network, naive.networks.adagrad_network, training, 12 * EPOCHS
    ),
    "pcid: network from a warm start": Work(
        networks.adam_network, naive.networks.adam_network, training_from_a_warm_start, SAMPLES
    ),
}
"""The references of least squares and of the networks are numpy's matrix products, not plain loops."""


LEVELS = HORIZON + 1
BLOCKS = {
    "bits": ENV.emission.draw(emission_rngs(Streams(0)), EPISODES),
    "reals": fu.LockGaussian(HORIZON, 0.2).emission.draw(emission_rngs(Streams(0)), EPISODES),
}


@pytest.mark.parametrize("model", ["linear", "neural"])
@pytest.mark.parametrize("kind", BLOCKS)
def test_label_table(benchmark, kind, model):
    """Every label of a block by a decoder that has learned all levels; its kernels are those of all
    decoders."""
    benchmark.group = "PCID: label table, horizon 20"
    decoder = PastDecoder(LEVELS, HORIZON + 3, 3, logistic=model == "neural")
    for level in range(2, LEVELS + 1):
        mixing = DRAW.normal(size=(3, 4)) if model == "neural" else None
        decoder.learn(level, DRAW.normal(size=(3, HORIZON + 3)), DRAW.normal(size=3), mixing)
    benchmark.pedantic(decoder.table, args=(BLOCKS[kind],), rounds=50, warmup_rounds=1)
    if seconds := best_seconds(benchmark):
        report(benchmark, steps_per_second=EPISODES * LEVELS * 3 / seconds)


test_reference, test_kernel = measured_beside_references(WORK)


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


@pytest.mark.parametrize("model", ["linear", "neural", "neural-warm-start"])
def test_a_run(benchmark, reference_rates, model):
    """Evaluation included. The reference is linear, and the networks do more work than that."""
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
    """Seconds depend on the machine: reported beside the figure to reach and not asserted. The published
    network would take its time."""
    benchmark.group = "PCID: a neural run, horizon 50"
    env, agent = fu.LockBernoulli(50, 0.2), fu.PCID(model="neural-warm-start")
    episodes = 50 * default_samples(50, 3, 4) + 2_000
    values = []
    benchmark.pedantic(
        lambda: values.append(fu.train(env, agent, episodes, n_jobs=1).values[0]), rounds=3, warmup_rounds=1
    )
    report(benchmark, seconds=best_seconds(benchmark) or 0.0, value=min(values), must_reach="5 s")
