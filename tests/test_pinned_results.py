"""What a configuration gives stays what it was: a folder of results that is continued must not mix old
numbers with new ones.

Rewards are counted, so the numbers are whole; and these locks are easy to decode, so nothing depends on how a
library rounds or on how an oracle comes to its clusters. URL as written is missing: with batches that are
small enough for a test its decoders make mistakes, and which ones is up to scikit-learn.
"""

import numpy as np
import pytest

import fasturl as fu
from fasturl import registry
from fasturl._base.streams import Streams
from fasturl.experiments import Cell
from fasturl.experiments.running.store import FORMAT
from fasturl.experiments.running.sweeping import SeedBlock, compute
from fasturl.problems.environment import emission_rngs

PINNED_FORMAT = 21
CHANGED = (
    "results have changed: if they should, raise FORMAT in running/files.py and pin here what they are now"
)

BITS, REALS = (
    ("lock-bernoulli", {"horizon": 3, "switch": 0.2}),
    ("lock-gaussian", {"horizon": 3, "switch": 0.2}),
)
THEORETICAL = {"learner": "oracleq", "schedule": "jin", "confidence": 1e-5}
"""URL's learner before it had one that needs no tuning: with it, runs are what they were before that."""
RUNS = {
    # environment, agent, settings, episodes; for seeds 0..5: rewards in the first half of the trajectories
    # and in all, values
    "oracleq-lat": (
        (BITS, "oracleq-lat", {}, 400),
        [[72, 75, 79, 71, 59, 76], [163, 166, 168, 148, 157, 169]],
        [0.5, 0.5, 0.5, 0.4, 0.34, 0.5],
    ),
    "oracleq-lat, theoretical schedule": (
        (BITS, "oracleq-lat", {"schedule": "jin"}, 400),
        [[87, 99, 99, 97, 83, 100], [185, 204, 196, 187, 185, 200]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "qlearning-lat": (
        (BITS, "qlearning-lat", {}, 400),
        [[48, 49, 47, 50, 38, 49], [145, 154, 143, 138, 138, 147]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "oracleq-obs": (
        (BITS, "oracleq-obs", {}, 1000),
        [[64, 226, 137, 157, 229, 216], [131, 479, 261, 347, 479, 480]],
        [0.135, 0.48725, 0.27075, 0.3945, 0.49375, 0.49175],
    ),
    "oracleq-obs, told the level": (
        (BITS, "oracleq-obs", {"level_in_key": True}, 1000),
        [[88, 97, 100, 70, 95, 105], [254, 282, 253, 237, 255, 283]],
        [0.3795, 0.3755, 0.4415, 0.35325, 0.43775, 0.3375],
    ),
    "qlearning-obs": (
        (BITS, "qlearning-obs", {}, 1000),
        [[107, 80, 105, 62, 130, 74], [361, 254, 336, 191, 376, 239]],
        [0.5005, 0.374, 0.4725, 0.2965, 0.49375, 0.30375],
    ),
    "qlearning-obs, told the level": (
        (BITS, "qlearning-obs", {"level_in_key": True}, 1000),
        [[102, 92, 101, 96, 102, 110], [352, 336, 349, 318, 349, 369]],
        [0.5005, 0.48725, 0.50725, 0.49475, 0.49375, 0.49175],
    ),
    "url, k-means": (
        (BITS, "url", {}, 600),
        [[121, 149, 143, 135, 117, 144], [263, 294, 294, 269, 293, 296]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "url, k-means, theoretical schedule": (
        (BITS, "url", THEORETICAL, 600),
        [[126, 150, 142, 141, 125, 151], [268, 296, 295, 277, 301, 304]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "url, Gaussian mixture": (
        (REALS, "url", {}, 600),
        [[121, 149, 143, 135, 117, 144], [263, 294, 294, 269, 293, 296]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "url, Gaussian mixture, theoretical schedule": (
        (REALS, "url", THEORETICAL, 600),
        [[126, 150, 142, 141, 125, 151], [268, 296, 295, 277, 301, 304]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "url as published, k-means": (
        (BITS, "url-as-published", {"oracle": "pca-kmeans", "batch": 50}, 600),
        [[64, 79, 67, 63, 74, 69], [196, 217, 218, 186, 244, 208]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "url as published, DBSCAN": (
        (BITS, "url-as-published", {"oracle": "pca-dbscan", "batch": 50}, 600),
        [[36, 34, 42, 37, 35, 38], [105, 93, 140, 124, 136, 120]],
        [0.1895682465, 0.30838005105, 0.36275831122, 0.408038503875, 0.3758809, 0.379067992183],
    ),
    "url as published, Gaussian mixture": (
        (REALS, "url-as-published", {"oracle": "full-gmm", "batch": 50}, 600),
        [[68, 79, 67, 68, 56, 70], [204, 217, 218, 198, 226, 214]],
        [0.4, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "pcid, linear": (
        (BITS, "pcid", {}, 1500),
        [[66, 63, 82, 74, 79, 73], [401, 389, 414, 389, 417, 404]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "url, in a short run": (
        (BITS, "url", THEORETICAL, 120),
        [[9, 15, 16, 17, 11, 20], [35, 52, 51, 51, 39, 52]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "pcid, neural": (
        (BITS, "pcid", {"model": "neural"}, 1500),
        [[78, 62, 78, 78, 77, 68], [405, 379, 407, 393, 428, 394]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "pcid, neural from a warm start": (
        (REALS, "pcid", {"model": "neural-warm-start"}, 1500),
        [[67, 74, 79, 74, 79, 73], [395, 391, 410, 389, 417, 404]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "opsrl-lat": (
        (BITS, "opsrl-lat", {}, 600),
        [[115, 137, 143, 131, 113, 130], [243, 271, 286, 261, 283, 268]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "opsrl-obs": (
        (BITS, "opsrl-obs", {}, 600),
        [[71, 92, 79, 72, 56, 80], [176, 196, 197, 172, 196, 182]],
        [0.5005, 0.48725, 0.50725, 0.49475, 0.49375, 0.49175],
    ),
    "pooled-ucbvi-lat": (
        (BITS, "pooled-ucbvi-lat", {}, 600),
        [[127, 148, 145, 141, 121, 144], [268, 290, 295, 273, 297, 296]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "pooled-ucbvi-obs": (
        (BITS, "pooled-ucbvi-obs", {}, 600),
        [[61, 73, 69, 60, 64, 62], [179, 198, 195, 156, 206, 187]],
        [0.5005, 0.48725, 0.50725, 0.49475, 0.49375, 0.49175],
    ),
    "psrl-lat": (
        (BITS, "psrl-lat", {}, 600),
        [[93, 113, 99, 101, 94, 109], [227, 245, 244, 227, 259, 250]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "psrl-obs": (
        (BITS, "psrl-obs", {}, 600),
        [[27, 14, 31, 26, 21, 23], [58, 57, 51, 52, 52, 56]],
        [0.468, 0.4395, 0.49, 0.482, 0.46125, 0.49175],
    ),
    "rlsvi-lat": (
        (BITS, "rlsvi-lat", {}, 600),
        [[108, 118, 118, 114, 94, 117], [238, 247, 254, 232, 257, 257]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "rlsvi-obs": (
        (BITS, "rlsvi-obs", {}, 600),
        [[38, 73, 46, 54, 39, 64], [110, 160, 140, 137, 147, 157]],
        [0.5005, 0.48725, 0.50725, 0.49475, 0.49375, 0.49175],
    ),
    "rmax-lat": (
        (BITS, "rmax-lat", {}, 600),
        [[114, 132, 125, 124, 113, 129], [256, 278, 278, 260, 289, 282]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "rmax-obs": (
        (BITS, "rmax-obs", {}, 600),
        [[27, 20, 27, 17, 19, 23], [78, 77, 83, 71, 84, 82]],
        [0.31375, 0.362, 0.287, 0.2675, 0.37425, 0.33875],
    ),
    "ucbq-bernstein-lat": (
        (BITS, "ucbq-bernstein-lat", {}, 600),
        [[117, 138, 125, 128, 110, 140], [255, 278, 271, 257, 282, 289]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "ucbq-bernstein-obs": (
        (BITS, "ucbq-bernstein-obs", {}, 600),
        [[21, 84, 39, 35, 90, 31], [42, 171, 68, 59, 211, 64]],
        [0.0675, 0.278, 0.1, 0.12675, 0.32525, 0.10075],
    ),
    "ucbq-bernstein-obs, told the level": (
        (BITS, "ucbq-bernstein-obs", {"level_in_key": True}, 600),
        [[41, 70, 40, 40, 51, 36], [134, 149, 146, 129, 174, 135]],
        [0.313, 0.29025, 0.429, 0.366, 0.40825, 0.373],
    ),
    "ucbvi-lat": (
        (BITS, "ucbvi-lat", {}, 600),
        [[124, 138, 134, 128, 120, 141], [263, 281, 287, 261, 296, 293]],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "ucbvi-obs": (
        (BITS, "ucbvi-obs", {}, 600),
        [[24, 26, 20, 24, 20, 23], [125, 124, 139, 114, 157, 140]],
        [0.42325, 0.46875, 0.49175, 0.4305, 0.49375, 0.43375],
    ),
}
NOISE = {
    # at the last level of the first and of the hundredth episode of seed 0
    fu.LockBernoulli: [[1, 1, 1, 1, 0, 0, 1, 1], [0, 0, 1, 0, 0, 0, 0, 0]],
    fu.LockGaussian: [
        [0.2416, -0.1631, 0.0783, -0.0547, -0.0432, -0.0075, -0.0314, -0.0153],
        [0.0499, 0.1736, -0.0294, 0.0267, 0.0781, -0.1765, 0.1076, 0.1282],
    ],
}


def test_the_pinned_numbers_are_those_of_this_format():
    assert PINNED_FORMAT == FORMAT, "FORMAT was raised: pin what runs give now and set PINNED_FORMAT"


@pytest.mark.parametrize("name", RUNS)
def test_a_run_gives_what_it_always_gave(name):
    (env, agent, settings, episodes), rewards, values = RUNS[name]
    run = compute(SeedBlock(Cell.make(*env, agent, settings, episodes, points=2), tuple(range(6)))).run
    assert np.rint(run.average_reward * run.trajectories).T.tolist() == rewards, CHANGED
    assert run.values.tolist() == pytest.approx(values, abs=1e-9), CHANGED


@pytest.mark.parametrize("lock", NOISE)
def test_observations_have_the_noise_they_always_had(lock):
    block = lock(8).emission.draw(emission_rngs(Streams(0)), 100)
    observations = block.observe(np.zeros((100, 9), np.uint8))
    np.testing.assert_allclose(observations[[0, -1], -1, 3:], NOISE[lock], atol=1e-4, err_msg=CHANGED)


def test_every_agent_is_pinned():
    assert {agent for (_, agent, _, _), *_ in RUNS.values()} == set(registry.agent_names()) - {
        "url-as-written"
    }
