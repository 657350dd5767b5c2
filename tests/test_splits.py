"""The splitting oracle: how many states there are to see, and which observation shows which."""

import numpy as np
import pytest
import scipy.stats
from oracle_samples import worst_share

import fasturl as fu
from fasturl.oracles import split_evidence, splits, splitting
from fasturl.oracles.noise import Noise
from fasturl.oracles.sides import Sample, Sides
from fasturl.oracles.split_evidence import SplitRule
from fasturl.oracles.splitting import best_split
from fasturl.problems.emissions import Gaussian
from fasturl.problems.emissions.mapped_gaussian import hadamard

RULE = SplitRule(error_rate=1e-3, min_separation=3.25)


def rich_rows(generator, shares, n, *, n_coins=20, noise=0.1, rotated=True):
    """Observations of one level of a rich lock, whose states have these shares, and the states."""
    states = generator.choice(len(shares), n, p=shares)
    rows = np.zeros((n, 32))
    rows[np.arange(n), states] = 1.0
    rows[:, : 3 + n_coins] += generator.normal(0.0, noise, (n, 3 + n_coins))
    return (rows @ hadamard(32) if rotated else rows).astype(np.float32), states


def bit_rows(generator, shares, n, *, n_coins=20):
    """The same as bits: the one-hot code of the state, and coins."""
    states = generator.choice(len(shares), n, p=shares)
    coins = generator.random((n, n_coins)) < 0.5
    return np.concatenate([np.eye(3)[states], coins], axis=1).astype(np.uint8), states


ROWS = pytest.mark.parametrize("rows_of", [rich_rows, bit_rows])


@ROWS
@pytest.mark.parametrize("n", [10, 40, 600, 2000])
def test_one_state_is_hardly_ever_split(rows_of, n):
    """With an error rate of 1e-3 and 50 samples of one state, two that are split have probability 0.0012."""
    splits = sum(
        fu.oracles.Splits(4, random_state=0)
        .fit(rows_of(np.random.default_rng(seed), [1.0], n)[0])
        .n_clusters_
        > 1
        for seed in range(50)
    )
    assert splits <= 1


@pytest.mark.parametrize(("n", "n_coins"), [(60, 200), (500, 400), (1500, 400), (1500, 1000), (4000, 400)])
def test_coins_are_hardly_ever_split_however_many_there_are(n, n_coins):
    """With an error rate of 1e-3 and 12 samples, one that is split has probability 0.012."""
    for seed in range(12):
        generator = np.random.default_rng(seed)
        rows, _ = bit_rows(generator, [1.0], n, n_coins=n_coins)
        assert best_split(rows.astype(np.float32), of_bits=True, rule=RULE, generator=generator) is None


def test_long_noise_is_not_split():
    """A normal that is ten times as long in one direction as in the others."""
    for seed in range(20):
        rows = np.random.default_rng(seed).normal(size=(1500, 12)) * np.r_[10.0, np.ones(11)]
        assert fu.oracles.Splits(3).fit(rows).n_clusters_ == 1


@pytest.mark.parametrize("spread", ["one direction", "falling", "neighbours"])
@pytest.mark.parametrize("n", [10, 20, 100, 400])
def test_noise_that_varies_by_direction_is_hardly_ever_split(spread, n):
    """Of 60 samples five at most, where the bound is not exact: the covariance is estimated from few rows."""
    factor = {
        "one direction": np.diag(np.r_[5.0, np.ones(19)]),
        "falling": np.diag(np.arange(1, 21) ** -0.5),
        "neighbours": np.linalg.cholesky(0.9 ** np.abs(np.subtract.outer(np.arange(20), np.arange(20)))),
    }[spread]
    found = 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        rows = (generator.normal(size=(n, 20)) @ factor.T).astype(np.float32)
        found += best_split(rows, of_bits=False, rule=RULE, generator=generator) is not None
    assert found <= 5


def few_among_many(seed, new, n_groups=30, noise=0.2, dimension=32):
    """1,000 observations of a state and two groups of a few of others: rows, groups, and which are new."""
    generator = np.random.default_rng(seed)
    means = generator.normal(size=(3, dimension))
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    states = np.r_[new, new, np.zeros(1_000, int)]
    rows = means[states] + generator.normal(0, noise, (states.size, dimension))
    groups = generator.integers(2, n_groups, states.size)
    groups[: len(new)], groups[len(new) : 2 * len(new)] = 0, 1
    return rows.astype(np.float32), groups, states != 0


@pytest.mark.parametrize("new", [(1, 1, 2), (1, 1, 2, 2), (1, 2, 0, 1)], ids=str)
def test_what_came_before_tells_a_state_from_a_few_observations(new):
    """On 18 of 20 samples at least, and on no fewer than without it."""
    told = {True: 0, False: 0}
    for seed in range(20):
        rows, groups, is_new = few_among_many(seed, new)
        for known in told:
            labels = (
                fu.oracles.Splits(3, random_state=0).fit(rows, groups=groups if known else None).predict(rows)
            )
            told[known] += np.mean((labels != np.bincount(labels).argmax()) == is_new) > 0.995
    assert told[True] >= 18
    assert told[True] >= told[False]


def test_groups_that_mean_nothing_split_nothing():
    """With an error rate of 1e-3 and 60 samples, two that are split have probability 0.0017."""
    found = 0
    for seed in range(60):
        rows, groups, _ = few_among_many(seed, (0, 0, 0))
        found += fu.oracles.Splits(3, random_state=0).fit(rows, groups=groups).n_clusters_ > 1
    assert found <= 1


@pytest.mark.parametrize("name", ["y", "groups"])
@pytest.mark.parametrize("values", [[1, 2], np.zeros(5), np.zeros((5, 1), int), "aaaaa"])
def test_labels_and_groups_of_another_shape_or_type_are_refused(name, values):
    with pytest.raises(ValueError, match=rf"^{name} must be 5 whole numbers, one for each observation, got "):
        fu.oracles.Splits(2).fit(np.eye(5), **{name: values})


@ROWS
def test_clusters_that_are_known_are_split_further(rows_of):
    """Of three states two were told apart, under other numbers, with every tenth observation mistaken."""
    rows, states = rows_of(np.random.default_rng(0), [0.6, 0.2, 0.2], 600)
    believed = np.where(states == 0, 7, 2)
    believed[::10] = 9 - believed[::10]
    labels = fu.oracles.Splits(3, random_state=0).fit(rows, believed).predict(rows)
    assert worst_share(labels, states) == 1.0


def test_where_as_many_clusters_are_known_as_there_may_be_none_is_looked_for():
    """Two labels for three states: fitted afresh, the state of 0.6 is told from the others."""
    rows, states = rich_rows(np.random.default_rng(0), [0.6, 0.2, 0.2], 600)
    believed = (states == 2).astype(int)
    oracle = fu.oracles.Splits(2, random_state=0)
    np.testing.assert_array_equal(oracle.fit(rows, believed).predict(rows) == 1, states == 2)
    labels = oracle.fit(rows).predict(rows)
    assert len(np.unique(labels[states == 0])) == 1


@pytest.mark.parametrize(("few", "many"), [(8, 8), (10, 30), (15, 15)])
def test_a_handful_of_two_states_is_two_where_the_noise_is_known(few, many):
    """In 60 dimensions, beside 300 observations of a third state."""
    told = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        states = np.repeat([0, 1, 2], [few, many, 300])
        rows = np.eye(3, 60)[states] + generator.normal(0, 0.2, (states.size, 60))
        told += worst_share(fu.oracles.Splits(3, random_state=0).fit_predict(rows), states) > 0.8
    assert told >= 18


@ROWS
@pytest.mark.parametrize(
    "shares", [(1 / 3, 1 / 3, 1 / 3), (0.45, 0.1, 0.45), (0.03, 0.03, 0.94), (0.3, 0.02, 0.68)]
)
@pytest.mark.parametrize("n", [1000, 4000])
def test_states_are_told_apart_however_rare(rows_of, shares, n):
    for seed in range(3):
        rows, states = rows_of(np.random.default_rng(seed), shares, n)
        labels = fu.oracles.Splits(3, random_state=0).fit_predict(rows)
        assert worst_share(labels, states) == 1.0


@pytest.mark.parametrize("rotated", [True, False])
def test_five_observations_among_a_thousand_are_a_state(rotated):
    for seed in range(5):
        rows, _ = rich_rows(np.random.default_rng(seed), [1.0], 1000, rotated=rotated)
        other = np.eye(32)[1] - np.eye(32)[0]
        rows[:5] += (other @ hadamard(32) if rotated else other).astype(np.float32)
        labels = fu.oracles.Splits(3, random_state=0).fit_predict(rows)
        np.testing.assert_array_equal(labels == labels[0], np.arange(1000) < 5)


def test_coins_that_go_together_are_a_state_and_coins_alone_are_none():
    generator = np.random.default_rng(0)
    coins = (generator.random((400, 30)) < 0.5).astype(np.uint8)
    assert fu.oracles.Splits(2).fit(coins).n_clusters_ == 1
    coins[:, 1] = coins[:, 0]
    labels = fu.oracles.Splits(2).fit_predict(coins)
    np.testing.assert_array_equal(labels == labels[0], coins[:, 0] == coins[0, 0])


@pytest.mark.parametrize("sizes", [[300] * 2, [300] * 3, [300, 200, 100], [300] * 4])
@pytest.mark.parametrize("noise", [0.01, 0.2])
def test_states_in_a_row_are_told_apart(sizes, noise):
    """As the heights of a gauge: of three, one lies no three standard deviations from both others together,
    as a cut through a single cluster does."""
    states = np.repeat(np.arange(len(sizes)), sizes)
    rows = noise * np.random.default_rng(0).normal(size=(states.size, 5))
    rows[:, 0] += states
    labels = fu.oracles.Splits(5, random_state=0).fit_predict(rows.astype(np.float32))
    assert worst_share(labels, states) > 0.97


def test_there_are_never_more_labels_than_allowed():
    rows, states = rich_rows(np.random.default_rng(0), [0.4, 0.3, 0.3], 500)
    oracle = fu.oracles.Splits(2).fit(rows)
    assert oracle.n_clusters_ == 2
    assert len(np.unique(states)) == 3


def test_decoding_is_close_to_the_best_that_can_be():
    """Two states 2.5 standard deviations from the middle: whoever knows the means errs in 0.62 % of the
    observations. Of 40,000 the oracle's decoder, fitted on 4,000, errs in at most 1.5 times as many, plus
    three standard errors (0.04 %)."""
    generator = np.random.default_rng(1)
    means = np.zeros((2, 10))
    means[1, 0] = 5.0
    states = generator.integers(2, size=44_000)
    rows = means[states] + generator.normal(size=(44_000, 10))
    labels = fu.oracles.Splits(2).fit(rows[:4000]).predict(rows[4000:])
    errors = np.mean((labels == labels[0]) != (states[4000:] == states[4000]))
    assert min(errors, 1 - errors) <= 1.5 * 0.0062 + 3 * 0.0004


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"error_rate": 0.0}, "error_rate must be a number in \\(0, 1\\], got 0.0"),
        ({"min_separation": -1}, "min_separation must be a number in \\[0, inf\\), got -1"),
        ({"n_states": 1}, "n_states must be an integer from 2 to 256, got 1"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        fu.oracles.Splits(**{"n_states": 2, **settings}).fit(np.random.default_rng(0).normal(size=(50, 3)))


def test_observations_that_are_all_the_same_are_one_cluster():
    assert fu.oracles.Splits(3).fit(np.ones((40, 5))).n_clusters_ == 1


def test_a_split_names_its_two_means():
    generator = np.random.default_rng(3)
    rows = np.concatenate([generator.normal(0, 1, (90, 4)), generator.normal(20, 1, (10, 4))])
    split = best_split(rows.astype(np.float32), of_bits=False, rule=RULE, generator=generator)
    np.testing.assert_allclose(
        split.means, [rows[90:].mean(axis=0), rows[:90].mean(axis=0)], rtol=1e-4, atol=1e-5
    )


def test_a_known_cluster_of_a_few_observations_is_given_up_where_it_is_none():
    """One observation has a label for itself, and two states share one: as many labels as there may be."""
    rows, states = rich_rows(np.random.default_rng(0), [0.9, 0.05, 0.05], 600)
    believed = np.minimum(states, 1)
    believed[np.flatnonzero(states == 0)[0]] = 2
    labels = fu.oracles.Splits(3, random_state=0).fit(rows, believed).predict(rows)
    assert worst_share(labels, states) == 1.0


def test_noise_is_told_where_the_first_row_has_a_cluster_of_its_own():
    """It lies on its own mean, and a direction that starts from nothing leads nowhere."""
    generator = np.random.default_rng(0)
    rows = generator.normal(0.0, 2.0, (200, 5)).astype(np.float32)
    labels = np.repeat([0, 1], [1, 199])
    centres = np.stack([rows[0], rows[1:].mean(axis=0)])
    noise = Noise.around(centres, rows, labels, np.ones(200, np.bool_))
    assert noise.trace == pytest.approx(20.0, rel=0.15)
    assert noise.norm == pytest.approx(4.0, rel=0.25)


@pytest.mark.parametrize("exponent", [-40, 18, 45])
def test_labels_do_not_depend_on_the_unit_of_observations(exponent):
    """A power of two changes no digits, so that every label is the same; squares of squares overflow."""
    rows, _ = rich_rows(np.random.default_rng(0), [0.7, 0.2, 0.1], 600)
    ours = fu.oracles.Splits(4, random_state=0)
    expected = ours.fit(rows).predict(rows)
    rows = np.ldexp(rows, exponent)
    np.testing.assert_array_equal(ours.fit(rows).predict(rows), expected)
    assert ours.n_clusters_ == 3


def test_large_observations_are_explored_without_a_warning():
    """The greatest means that an emission may have, with noise that decoders of single levels look into."""
    apart = np.array([[1.0, 0.5], [1.5, 0.5]]) * 5e14
    transitions = np.tile(np.eye(2)[None, None], (3, 2, 1, 1))
    rewards = np.tile([[0.0, 0.0], [0.0, 0.5]], (3, 1, 1))
    env = fu.BlockMDP(transitions, rewards, emission=Gaussian(apart, 3e13, n_levels=4))
    assert fu.train(env, fu.URL(levels="separate"), 200).success_rate == 1.0


def test_the_bound_on_improbability_holds_for_any_degrees_of_freedom():
    """Below it no bits are looked at."""
    totals = np.concatenate([[-1e-13, 0.0], np.geomspace(1e-3, 1200.0, 400)])
    bounds = np.array([split_evidence._greatest_improbability(total) for total in totals])
    for freedom in (1, 2, 5, 100):
        assert np.all(-scipy.stats.chi2(freedom).logsf(totals) <= bounds + 1e-9)
    assert np.all(bounds < -scipy.stats.chi2(1).logsf(totals) + 0.3)


def test_bits_that_tell_nothing_beside_one_are_one_cluster():
    """Their likelihood ratios are 0, and add up to less by rounding."""
    few = np.arange(6) < 1
    rows = np.concatenate([np.stack([np.full(6, bit), few], axis=1) for bit in (0, 1)]).astype(np.uint8)
    assert fu.oracles.Splits(2, random_state=0).fit(rows).n_clusters_ == 1


def test_whether_the_sides_of_a_split_are_two_is_asked_once(monkeypatch):
    """Coins are nearly two clusters in every direction, and so are their sides, and the sides of these."""
    test, depths = best_split, [0]

    def nested(*arguments, **settings):
        depths.append(depths[-1] + 1)
        result = test(*arguments, **settings)
        depths.append(depths[-1] - 1)
        return result

    monkeypatch.setattr(splitting, "best_split", nested)
    generator = np.random.default_rng(3)
    coins = 1.5 * generator.integers(2, size=(200, 12))
    rows = np.concatenate([coins, generator.normal(0, 0.1, (200, 3))], axis=1).astype(np.float32)
    nested(rows, of_bits=False, rule=SplitRule(1e-3, 3.25), generator=generator)
    assert max(depths) == 2


@pytest.fixture
def sizes(monkeypatch):
    """How many observations each cluster had that was tested."""
    sizes, test = [], splits.best_split

    def counted(rows, **settings):
        sizes.append(len(rows))
        return test(rows, **settings)

    monkeypatch.setattr(splits, "best_split", counted)
    return sizes


def of_six_states(kind, n):
    """Observations of six states, which take turns."""
    generator, codes = np.random.default_rng(0), np.kron(np.eye(6), np.ones(6))[np.arange(n) % 6]
    if kind == "bits":
        return (generator.random((n, 36)) < 0.02 + 0.96 * codes).astype(np.uint8)
    return codes + generator.normal(0.0, 0.1, (n, 36))


@pytest.mark.parametrize("kind", ["bits", "reals"])
def test_clusters_that_a_split_leaves_as_they_are_are_not_tested_again(kind, sizes):
    """The first test, and two for each split but the last."""
    labels = fu.oracles.Splits(6, random_state=0).fit_predict(of_six_states(kind, 300))
    assert worst_share(labels, np.arange(300) % 6) == 1.0
    assert len(sizes) == 1 + 2 * 4


@pytest.mark.parametrize(("kind", "n", "again"), [("bits", 300, 0), ("bits", 6000, 4), ("reals", 300, 4)])
def test_clusters_are_tested_again_before_none_is_said_to_be_two(kind, n, again, sizes):
    """All but the two of the last split, since the noise of more clusters is known by then, and samples of
    large ones are drawn anew; nothing is new about a few rows of bits."""
    labels = fu.oracles.Splits(7, random_state=0).fit_predict(of_six_states(kind, n))
    assert worst_share(labels, np.arange(n) % 6) == 1.0
    assert len(sizes) == 1 + 2 * 5 + again
    assert sizes[len(sizes) - again :] == [n // 6] * again


@pytest.mark.parametrize("n_rare", [4, 40, 100])
def test_splits_that_are_tested_together_pass_by_as_much_as_alone(n_rare):
    generator = np.random.default_rng(n_rare)
    bits = (generator.random((240, 17)) < 0.5).astype(np.float32)
    bits[:, 3], bits[:, 5] = 0.0, 1.0
    bits[:n_rare, 7:] = 1.0
    centre = bits.mean(axis=0, dtype=np.float64)
    scale = np.where((centre > 0.0) & (centre < 1.0), np.sqrt(centre * (1.0 - centre)), 1.0)
    sample = Sample.around(bits, centre, scale, of_bits=True)
    groups = np.stack([np.arange(240) < n for n in (n_rare, 120, 1)] + [bits[:, 8] > 0.0])
    sides = Sides(sample, groups)
    pairs = [split_evidence.Pair(sample, sides, k) for k in range(len(groups))]
    pairs.append(split_evidence.Pair(sample, sides, 0, log_choices=1.0))
    together = split_evidence.excesses(pairs, 7.0, scale, centre, lambda: None)
    alone = [split_evidence.excesses([pair], 7.0, scale, centre, lambda: None)[0] for pair in pairs]
    np.testing.assert_array_equal(together, alone)
    assert together[-1] > 0.0 > together[2]
