"""The functions of the table: checks, then the kernel. Names, order and types of arguments are those of
fasturl.h.

Nothing is written before everything has been checked, and nothing is raised: an exception in a C callback
would be lost. Of functions that Python answers (`named_learners`), the checks alone are here.
"""

from .dynamics import cumulate, draw_lock, optimal_q, start, step
from .labels import count_labels, fix_labels, latent_labels
from .learning import learn, train_oracleq, train_qlearning, update_trajectory
from .named_learners import (
    last_error,
    learner_final_policy,
    learner_learn,
    learner_policy,
    learner_replay,
    learner_start,
)
from .observations import decode_affine, gaussian_noise, lock_words, observe
from .streams import fill_bits, seed_stream, strerror

__all__ = [
    "count_labels",
    "cumulate",
    "decode_affine",
    "draw_lock",
    "fill_bits",
    "fix_labels",
    "gaussian_noise",
    "last_error",
    "latent_labels",
    "learn",
    "learner_final_policy",
    "learner_learn",
    "learner_policy",
    "learner_replay",
    "learner_start",
    "lock_words",
    "observe",
    "optimal_q",
    "seed_stream",
    "start",
    "step",
    "strerror",
    "train_oracleq",
    "train_qlearning",
    "update_trajectory",
]
