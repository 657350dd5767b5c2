"""Records: arrays and numbers that travel into kernels together, as named tuples whose fields kernels read by
name.

Four kinds: what describes a problem or a model (`Dynamics`, `RealObservations`, `SupportVectors`), the limits
of a search (`SubsetLimits`), what a kernel fills (`Trajectories`), and workspaces, whose contents mean
nothing before and after the call. The caller owns the memory of all of them. The tables of a learner are a
record too, of its own kind (see `learning`).
"""

from typing import NamedTuple

import numpy as np

SIZE_ONE = np.ones((1, 1, 1, 1))
"""The sizes of random rewards that are 0 or 1."""
SIZE_ONE.setflags(write=False)

FIXED_REWARDS, RANDOM_REWARDS, NO_REWARDS = range(3)
"""What the rewards of a level can be: the means themselves, drawn at random around these, or all 0."""


class Dynamics(NamedTuple):
    """Tables of one Block MDP with H levels, at most S states a level, A actions.

    A random reward is its size with probability mean / size, and else 0.
    """

    start: np.ndarray  # float64[S], cumulative
    transitions: np.ndarray  # float64[H, S, A, S], cumulative over the last axis
    rewards: np.ndarray  # float64[H, S, A, S], mean reward of each transition
    reward_kinds: np.ndarray  # uint8[H], what the rewards of each level are
    reward_sizes: np.ndarray = SIZE_ONE  # float64[H, S, A, S], or [1, 1, 1, 1] where all have one size


class Trajectories(NamedTuple):
    """What happened in E episodes of H levels."""

    states: np.ndarray  # int64[E, H+1]
    actions: np.ndarray  # int64[E, H]
    rewards: np.ndarray  # float64[E, H]


def blank_trajectories(episodes: int, horizon: int) -> Trajectories:
    """Room for what will happen in so many episodes."""
    return Trajectories(
        states=np.empty((episodes, horizon + 1), np.int64),
        actions=np.empty((episodes, horizon), np.int64),
        rewards=np.empty((episodes, horizon)),
    )


class HashTable(NamedTuple):
    """Which row belongs to (level, observation of W words), as `_kernels.hashing` finds it."""

    slots: np.ndarray  # int32[capacity]
    keys: np.ndarray  # uint64[rows, 1 + W]
    size: np.ndarray  # int64[1], rows in use


class ObservationKeys(NamedTuple):
    """How observations become the labels of a learner."""

    table: HashTable
    level_in_key: bool  # whether an observation has a row of its own at each level
    level_in_tables: bool  # whether the learner's tables have a level for each of the episode, or one for all


class EpisodeWorkspace(NamedTuple):
    """Scratch of `learning.make_loops` for one episode of H levels."""

    rows: np.ndarray  # int64[H + 1]
    actions: np.ndarray  # int64[H]
    rewards: np.ndarray  # float64[H]


class SharedTables(NamedTuple):
    """Dynamics of N environments: H levels, at most S states a level, A actions, K distributions.

    M is 1 where all environments have the same table, else N; `ways` has an M of its own.
    """

    start: np.ndarray  # float64[M, S], cumulative
    outcomes: np.ndarray  # float64[K, S], cumulative
    ways: np.ndarray  # integers [H, M, S, A], the row of `outcomes` that an action leads to
    rewards: np.ndarray  # float64[H, M, S, A, S]
    random_rewards: np.ndarray  # bool[H, M]
    reward_sizes: np.ndarray = SIZE_ONE[None]  # float64[H, M, S, A, S], or [1, 1, 1, 1, 1] as in `Dynamics`


class Players(NamedTuple):
    """N environments; level H is the terminal one."""

    dynamics_rngs: np.ndarray  # uint64[N, 4]
    emission_rngs: np.ndarray  # uint64[N, 4, 4]
    levels: np.ndarray  # int64[N]
    states: np.ndarray  # int64[N]


class Coins(NamedTuple):
    """The bits of a lock's episodes under way, as `emission.lock_words` reads them."""

    raw: np.ndarray  # uint64[N, n, 4]
    words: np.ndarray  # uint64[N, 4 n], the same memory
    first: np.ndarray  # int64[L], where a level's words begin
    shift: np.ndarray  # uint64[L], bits of the first word that belong to levels before
    room: np.uint64  # how far coins move up to leave room for the code of the state


class Normals(NamedTuple):
    """The noise of episodes under way, and scratch for drawing two episodes: each pair is the same memory
    under two shapes."""

    deviation: np.float32
    drawn: np.ndarray  # float32[2, 2, n]
    grid: np.ndarray  # float32[2, coordinates, L]
    noise: np.ndarray  # float32[L, N, D]
    flat: np.ndarray  # float32[L, N D]
    means: np.ndarray  # float32[L, S, D]
    n_informative: int  # coordinates from here on have mean 0 in every state


class RealObservations(NamedTuple):
    """Real observations of E episodes for every state: noise to which the mean of a state is added."""

    noise: np.ndarray  # float32[E, D or more, L]
    means: np.ndarray  # float32[S, D, L]
    n_informative: int  # coordinates from here on have mean 0 in every state


class AffineScores(NamedTuple):
    """Scores bias[k] + weights[k] . x + curvature[k] |x|^2, with the same weights and bias at every level or
    with those of each level."""

    weights: np.ndarray  # float32[K, D] or float32[K, D, L]
    bias: np.ndarray  # float32[K] or float32[K, L]
    curvature: np.ndarray  # float32[K], or of no entry where there is none


class QuadraticScores(NamedTuple):
    """Scores bias[k] - |U_k x - centres[k]|^2 / 2 with upper triangular U_k = factors[k]."""

    factors: np.ndarray  # float32[K, D, D]
    centres: np.ndarray  # float32[K, D]
    bias: np.ndarray  # float32[K]


class PackedTables(NamedTuple):
    """What groups of packed bits add to K scores at each of T levels, or at all of them where T = 1, and the
    labels that one group decides for (see `packed_decoding`)."""

    scores: np.ndarray  # float32[T, groups, 2^bits of a group, K rounded up to a multiple of 4]
    deciding: np.ndarray  # uint64[T], the group that decides, or the number of groups where none does
    decided: np.ndarray  # int16[T, 2^bits of a group]


class SymbolTables(NamedTuple):
    """What the symbols of D categorical coordinates add to K scores. Coordinate j has the symbols least[j],
    least[j] + 1, ..., whose entries are the rows from starts[j] to starts[j + 1] - 1."""

    least: np.ndarray  # float32[D], whole numbers
    starts: np.ndarray  # int64[D + 1]
    entries: np.ndarray  # float32[starts[D], K]
    bias: np.ndarray  # float32[K]


class SupportVectors(NamedTuple):
    """An RBF support vector classifier of K classes, laid out as scikit-learn's SVC does, but for the axes of
    the vectors."""

    vectors: np.ndarray  # float64[R, V], a column for each
    starts: np.ndarray  # int64[K + 1], the vectors of class c are those from starts[c] to starts[c + 1]
    coefficients: np.ndarray  # float64[K - 1, V]
    intercepts: np.ndarray  # float64[K (K - 1) / 2]
    gamma: float


class VotingWorkspace(NamedTuple):
    """Scratch of `voting.support_vector_labels` for P points at a time."""

    points: np.ndarray  # float64[R, P]
    similarities: np.ndarray  # float64[V, P]
    totals: np.ndarray  # float64[P]
    votes: np.ndarray  # int64[K, P]


_VOTES_AT_A_TIME = 64
"""Points that are voted on at a time: enough to fill vectors of the machine, and so few that what hundreds of
support vectors say of them stays in the cache."""


def voting_workspace(classifier: SupportVectors, n_points: int = _VOTES_AT_A_TIME) -> VotingWorkspace:
    """A workspace for such a classifier and so many points at a time."""
    n_axes, n_vectors = classifier.vectors.shape
    return VotingWorkspace(
        points=np.empty((n_axes, n_points)),
        similarities=np.empty((n_vectors, n_points)),
        totals=np.empty(n_points),
        votes=np.empty((classifier.starts.size - 1, n_points), np.int64),
    )


class KMeansWorkspace(NamedTuple):
    """Scratch of `clustering.kmeans` for n samples in R dimensions and K clusters; reals are of the kind of
    the samples."""

    trial: np.ndarray  # [K, R]
    centre_norms: np.ndarray  # [K]
    chosen: np.ndarray  # int64[K]
    stale: np.ndarray  # bool[K]
    sums: np.ndarray  # float64[K, R]
    totals: np.ndarray  # float64[K]
    members: np.ndarray  # int64[K]
    names: np.ndarray  # int32[K]
    labels: np.ndarray  # int32[n]
    best_labels: np.ndarray  # int32[n]
    last_labels: np.ndarray  # int32[n]
    norms: np.ndarray  # [n]
    closest: np.ndarray  # [n]
    distances: np.ndarray  # [K, n]


def kmeans_workspace(points: np.ndarray, n_clusters: int) -> KMeansWorkspace:
    """A workspace for so many clusters of points [R, n]."""
    n_axes, n = points.shape
    return KMeansWorkspace(
        trial=np.empty((n_clusters, n_axes), points.dtype),
        centre_norms=np.empty(n_clusters, points.dtype),
        chosen=np.empty(n_clusters, np.int64),
        stale=np.empty(n_clusters, np.bool_),
        sums=np.empty((n_clusters, n_axes)),
        totals=np.empty(n_clusters),
        members=np.empty(n_clusters, np.int64),
        names=np.empty(n_clusters, np.int32),
        labels=np.empty(n, np.int32),
        best_labels=np.empty(n, np.int32),
        last_labels=np.empty(n, np.int32),
        norms=np.empty(n, points.dtype),
        closest=np.empty(n, points.dtype),
        distances=np.empty((n_clusters, n), points.dtype),
    )


class AdagradWorkspace(NamedTuple):
    """Scratch of `networks.adagrad_network`, whose sizes these are; all float32."""

    hidden_slopes: np.ndarray  # [1, Q]
    output_slopes: np.ndarray  # [1, U]
    hidden_squares: np.ndarray  # [K, Q], zeros at the start
    output_squares: np.ndarray  # [R, U], zeros at the start
    units: np.ndarray  # [U, P], zeros at the start
    errors: np.ndarray  # [1, P]
    back: np.ndarray  # [1, P]


class AdamWorkspace(NamedTuple):
    """Scratch of `networks.adam_network` for n samples of D coordinates, K units and R outputs; all
    float32."""

    hidden_slope: np.ndarray  # [K, D + 1]
    output_slope: np.ndarray  # [K + 1, R]
    hidden_moments: np.ndarray  # [2, K, D + 1], zeros at the start
    output_moments: np.ndarray  # [2, K + 1, R], zeros at the start
    units: np.ndarray  # [K + 1, n]
    errors: np.ndarray  # [R, n]
    back: np.ndarray  # [K, n]


class SubsetLimits(NamedTuple):
    """What bounds the search of `splitting.farthest_subset`: how far noise can take a set of rows, and how
    many rows a set has."""

    noise_trace: float  # of the covariance of the noise
    log_inverse_error: float  # log(1 / error rate)
    least_rows: int
    most_rows: int


class SidesTables(NamedTuple):
    """What there is to say of the sides A and B of splits of n rows with D coordinates, for K groups A."""

    means: np.ndarray  # float32[2, K, D], m_A and m_B
    products: np.ndarray  # float32[3, K], of m_A with itself, of m_B with itself, and of the two
    along: np.ndarray  # float32[K, n], products of rows with the mean of A
    scores: np.ndarray  # float32[K, n], how far rows lie towards A
    centres: np.ndarray  # float64[2, K], mean scores of A and of B
    variances: np.ndarray  # float64[2, K], of the scores of A and of B
    thresholds: np.ndarray  # float64[K], the scores above which a row is likelier to be in A


def blank_sides(n_groups: int, n_rows: int, dimension: int) -> SidesTables:
    """Tables of that size, to be filled in."""
    return SidesTables(
        means=np.empty((2, n_groups, dimension), np.float32),
        products=np.empty((3, n_groups), np.float32),
        along=np.empty((n_groups, n_rows), np.float32),
        scores=np.empty((n_groups, n_rows), np.float32),
        centres=np.empty((2, n_groups)),
        variances=np.empty((2, n_groups)),
        thresholds=np.empty(n_groups),
    )


class CFunctionCall(NamedTuple):
    """A user's C function, and what it gets as its context."""

    function: np.uint64  # address
    context: np.uint64  # address, 0 where there is none


class CLesson(NamedTuple):
    """The structs of fasturl.h that a learner in C is handed, member by member."""

    sizes: np.ndarray  # int64[6], fasturl_learner_sizes
    step: np.ndarray  # int64[5], fasturl_learner_step
    rewards: np.ndarray  # float64[4], fasturl_learner_rewards


class DecoderWorkspace(NamedTuple):
    """Scratch of the loop that calls a user's decoder: one episode in one state."""

    points: np.ndarray  # float32[D, L]
    labels: np.ndarray  # int32[L]


class EmissionWorkspace(NamedTuple):
    """Scratch of the loop that calls a user's emission: the generator of one level, and a copy for one
    state."""

    seeds: np.ndarray  # uint64[1, 4]
    rng: np.ndarray  # uint64[4]
