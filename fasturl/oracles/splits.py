"""The splitting oracle: a cluster is split in two for as long as the data say that it is two.

It is for the levels of a Block MDP one by one: it finds how many states there are to see, up to n_states,
from a handful of observations of one among thousands of another, in a hundred dimensions. `splitting` has the
test. After each split, observations go to the cluster that is likeliest to have made them. What is found
becomes a decoder in the space of the observations themselves (`likelihoods`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks
from .._base.false_alarms import without_false_alarms
from .._base.row_labels import numbered
from .._base.schema import setting
from ..decoders.constant import ConstantDecoder
from ..decoders.decoder import Decoder
from .counting import LabelCriterion
from .likelihoods import (
    CentredRows,
    Reals,
    RowLabels,
    clusters_of,
    log_odds,
)
from .noise import MOST_ROWS, Noise
from .oracle import DecodingOracle
from .projection import Observations
from .split_evidence import SplitRule
from .splitting import Split, best_split

_MOST_REASSIGNMENTS = 5
"""How often all observations may change clusters after a split."""
_FEW = 10
"""A cluster of so many observations or fewer may have been found by accident."""


@dataclass(eq=False, repr=False)
class Splits(DecodingOracle):
    """Clusters that are split in two for as long as the data say that they are two: as many as there are to
    see, up to n_states.

    States must differ by more than the noise does in its strongest direction: a difference that is small
    beside that is not looked for. Where the noise of some coordinate is far larger than that of most, as
    where units differ, and there are 32 observations of reals for each coordinate, states are looked for in
    coordinates in which noise is the same in all directions.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> states = (generator.random(500) < 0.02).astype(int)  # a state that is seen once in fifty times
    >>> X = np.eye(2, 40)[states] + generator.normal(0, 0.1, (500, 40))
    >>> labels = Splits(n_states=5).fit_predict(X)
    >>> len(np.unique(labels)), float(np.mean((labels == labels[0]) == (states == states[0])))
    (2, 1.0)
    """

    error_rate: float = setting(
        1e-3,
        above=0,
        most=1,
        help="Bound on the probability that a few observations of a state are taken for another one.",
        kw_only=True,
    )
    min_separation: float = setting(
        3.25,
        least=0,
        unit="standard deviations",
        help="Clusters whose centres are closer get one label.",
        kw_only=True,
    )

    takes_history: ClassVar[bool] = True

    def fit(self, X: ArrayLike, y: object = None, groups: object = None) -> Self:
        """Learn to label observations X [n, D]. Where they had labels y [n] so far, clusters with these are
        split further. Observations of one of the groups [n], whole numbers, may go together for another
        reason than their looks, such as what came before them: a cluster of which a group consists is found
        from fewer of them."""
        data = self._check(X)
        labels = None if y is None else _checked("y", y, len(data))
        group_numbers = None if groups is None else _checked("groups", groups, len(data))
        return self._keep(data, self._learn(data, labels, group_numbers))

    def _learn(
        self, data: Observations, labels: RowLabels | None = None, groups: RowLabels | None = None
    ) -> dict[str, Any]:
        observations = CentredRows(data)
        observations, labels = self._clusters(observations, labels, groups)
        n_clusters = int(labels.max()) + 1
        decoder: Decoder = ConstantDecoder(2)
        if n_clusters > 1:
            clusters = clusters_of(observations.rows, labels, n_clusters, of_bits=observations.of_bits)
            weights, bias = clusters.scores(observations.second_moments)
            decoder = observations.decoder(weights, bias)
        return {"decoder_": decoder, "n_clusters_": n_clusters}

    def _clusters(
        self, observations: CentredRows, labels: RowLabels | None, groups: RowLabels | None
    ) -> tuple[CentredRows, RowLabels]:
        """A label for each of the observations [n, D], which had these labels so far, if any, and the
        observations in the coordinates in which they were found."""
        rule, most = SplitRule(self.error_rate, self.min_separation), self._n_clusters
        generator = np.random.default_rng(self.random_state)
        rows, of_bits = observations.rows, observations.of_bits
        one_label = np.zeros(len(rows), np.int64)
        labels = one_label if labels is None else _established(labels)
        labels = _reassigned(rows, labels, of_bits=of_bits)
        labels = split_further(rows, labels, most, rule, generator, of_bits=of_bits, groups=groups)
        if not (observations.tell_their_noise and observations.is_uneven(labels)):
            return observations, labels
        # what was found may be cuts through the noise
        sphered, found = split_where_sphered(observations, one_label, most, rule, generator, groups)
        criterion = LabelCriterion(sphered.rows)
        return (sphered, found) if criterion(found) < criterion(labels) else (observations, labels)


def _checked(name: str, values: object, n: int) -> RowLabels:
    numbers = checks.array(name, values)
    if numbers.shape != (n,) or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be {n} whole numbers, one for each observation, got {checks.short_repr(values)}"
        )
    return numbers.astype(np.int64)


def _established(labels: RowLabels) -> RowLabels:
    """Labels 0, 1, ... [n], those of a few rows being merged into the most frequent one: a real cluster will
    be found again."""
    _, labels, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    labels[(sizes <= _FEW)[labels]] = sizes.argmax()
    return np.unique(labels, return_inverse=True)[1]


class _Test(NamedTuple):
    """A cluster as it was when it was tested, among so many, and how it falls apart, if it does."""

    members: NDArray[np.bool_]  # [n]
    split: Split | None
    n_clusters: int


@dataclass(frozen=True)
class _Tester:
    """Tests whether clusters of rows [n, D] are two; see `split_further`."""

    rows: Reals
    rule: SplitRule
    generator: np.random.Generator
    of_bits: bool
    sphered: bool
    groups: RowLabels | None

    def tests(self, labels: RowLabels, n_clusters: int, before: list[_Test]) -> list[_Test]:
        """A test of every cluster; those before that say of the present members whether they are two stay,
        if some cluster is two."""
        tests: list[_Test] = []
        for k in range(n_clusters):
            members = labels == k
            stays = k < len(before) and np.array_equal(before[k].members, members)
            tests.append(before[k] if stays else self._test(labels, n_clusters, members))
        if not any(test.split for test in tests):
            # with more clusters one knows more of their noise, and a sample may show more than the last one
            tests = [
                test if self._is_sure(test, n_clusters) else self._test(labels, n_clusters, test.members)
                for test in tests
            ]
        return tests

    def _is_sure(self, test: _Test, n_clusters: int) -> bool:
        """Whether another test among so many clusters would say the same."""
        if test.n_clusters == n_clusters:
            return True
        return not self._shares_noise and bool(np.count_nonzero(test.members) <= MOST_ROWS)

    def _test(self, labels: RowLabels, n_clusters: int, members: NDArray[np.bool_]) -> _Test:
        @cache
        def noise_of_others() -> Noise | None:
            if not self._shares_noise:
                return None
            clusters = clusters_of(self.rows, labels, n_clusters, of_bits=self.of_bits)
            return Noise.around(clusters.centres.astype(np.float32), self.rows, labels, ~members)

        split = best_split(
            self.rows[members],
            of_bits=self.of_bits,
            sphered=self.sphered,
            rule=self.rule,
            generator=self.generator,
            groups=None if self.groups is None else self.groups[members],
            noise_of_others=noise_of_others,
        )
        return _Test(members, split, n_clusters)

    @property
    def _shares_noise(self) -> bool:
        return self.rule.shares_noise and not self.of_bits


@without_false_alarms
def split_further(
    rows: Reals,
    labels: RowLabels,
    most: int,
    rule: SplitRule,
    generator: np.random.Generator,
    *,
    of_bits: bool,
    sphered: bool = False,
    groups: RowLabels | None = None,
) -> RowLabels:
    """Split the clusters of rows [n, D] around their mean, which have labels 0, 1, ... [n], until there are
    `most` of them or none looks like two; returns the labels [n]. Rows of one of the groups [n], if there are
    any, may go together; `sphered` rows have as much noise in one direction as in any other.

    A cluster is tested again when its members have changed, and all are before one believes that none is two.
    """
    tester = _Tester(rows, rule, generator, of_bits, sphered, groups)
    tests: list[_Test] = []
    for n_clusters in range(int(labels.max()) + 1, most):
        tests = tester.tests(labels, n_clusters, tests)
        candidates = [(test.split.excess, k, test.split) for k, test in enumerate(tests) if test.split]
        if not candidates:
            break
        _, k, split = max(candidates, key=lambda entry: entry[:2])
        labels = _after_split(rows, labels, k, split, n_clusters, of_bits=of_bits)
    return numbered(labels)


@without_false_alarms
def split_where_sphered(
    observations: CentredRows,
    labels: RowLabels,
    most: int,
    rule: SplitRule,
    generator: np.random.Generator,
    groups: RowLabels | None = None,
) -> tuple[CentredRows, RowLabels]:
    """As `split_further`, of reals with labels [n], in coordinates in which the noise around the clusters
    that were found so far has the same variance in all directions; returns these coordinates too."""
    sphered = observations.sphered(labels)
    for n_clusters in range(int(labels.max()) + 2, most + 1):
        found = split_further(
            sphered.rows, labels, n_clusters, rule, generator, of_bits=False, sphered=True, groups=groups
        )
        if found.max() == labels.max():
            break
        labels, sphered = found, observations.sphered(found)
    return sphered, labels


def _after_split(
    rows: Reals, labels: RowLabels, k: int, split: Split, new: int, *, of_bits: bool
) -> RowLabels:
    """The labels once cluster k is split, part of it being called `new`."""
    members = np.flatnonzero(labels == k)
    labels = labels.copy()
    gap = split.means[0] - split.means[1]
    if of_bits:
        shares = np.clip(split.means, 0.01, 0.99)
        weights, bias = log_odds(shares)
        gap, middle = weights[0] - weights[1], bias[1] - bias[0]
    else:
        middle = split.means.sum(axis=0) @ gap / 2
    labels[members[rows[members] @ gap.astype(np.float32) > middle]] = new
    return _reassigned(rows, labels, of_bits=of_bits)


def _reassigned(rows: Reals, labels: RowLabels, *, of_bits: bool) -> RowLabels:
    """Labels [n] once rows [n, D] with labels 0, 1, ... have gone to the clusters that are likeliest to have
    made them, until none changes."""
    n_clusters = int(labels.max()) + 1
    if n_clusters == 1:
        return labels
    total = float(np.einsum("nd,nd->n", rows, rows).sum(dtype=np.float64))
    for _ in range(_MOST_REASSIGNMENTS):
        new_labels = _likeliest(rows, labels, n_clusters, total, of_bits=of_bits)
        if np.array_equal(new_labels, labels):
            break
        labels = new_labels
    return labels


def _likeliest(rows: Reals, labels: RowLabels, n_clusters: int, total: float, *, of_bits: bool) -> RowLabels:
    """The cluster that is likeliest to have made each row, frequent ones being likelier; `total` is the sum
    of the squares of all rows."""
    clusters = clusters_of(rows, labels, n_clusters, of_bits=of_bits)
    if of_bits:
        weights, bias = clusters.scores(None)
        unit = 1.0
    else:
        weights = clusters.centres
        bias = -np.square(weights).sum(axis=1) / 2
        unit = float(total + 2.0 * clusters.sizes @ bias) / rows.size
    sizes = clusters.sizes
    scores = rows @ weights.T.astype(np.float32) + (bias + unit * np.log(np.maximum(sizes, 1)))
    scores[:, sizes == 0] = -np.inf
    return np.asarray(scores.argmax(axis=1))
