"""Slow, obvious references for the kernels: same names, same order of arguments, no compilation.

One file for each module of kernels. A generator is a list of four Python integers. Tables are numpy arrays,
read and written one entry at a time, so that a reference can be called with the very arguments of its kernel
(generators apart). Some files share names with others: these, and the slow learners and agents, are called as
`naive.hashing.play`.
"""

from . import assignment as assignment
from . import bit_pairs as bit_pairs
from . import clustering as clustering
from . import evaluation as evaluation
from . import fitting as fitting
from . import gaussians as gaussians
from . import hashing as hashing
from . import hindsight as hindsight
from . import learning as learning
from . import merging as merging
from . import mixtures as mixtures
from . import moments as moments
from . import networks as networks
from . import observations as observations
from . import pcid as pcid
from . import pooled_ucbvi as pooled_ucbvi
from . import q_table as q_table
from . import rmax as rmax
from . import slow_learners as slow_learners
from . import splitting as splitting
from . import ucbq_bernstein as ucbq_bernstein
from . import ucbvi as ucbvi
from . import variates as variates
from . import vector as vector
from .decoding import add_squares as add_squares
from .decoding import affine_scores as affine_scores
from .decoding import best_labels as best_labels
from .decoding import level_affine_scores as level_affine_scores
from .decoding import mix_units as mix_units
from .decoding import quadratic_scores as quadratic_scores
from .decoding import support_vector_labels as support_vector_labels
from .decoding import transpose as transpose
from .dynamics import cumulate as cumulate
from .dynamics import draw_lock as draw_lock
from .dynamics import start_state as start_state
from .dynamics import step as step
from .emission import bernoulli_words as bernoulli_words
from .emission import categorical_words as categorical_words
from .emission import fill_normals as fill_normals
from .emission import fill_words as fill_words
from .emission import hadamard_rows as hadamard_rows
from .emission import lock_words as lock_words
from .emission import mapped_rows as mapped_rows
from .emission import observe_bits as observe_bits
from .emission import observe_reals as observe_reals
from .emission import pack as pack
from .emission import unpack as unpack
from .labels import count_by_level as count_by_level
from .labels import count_labels as count_labels
from .labels import count_pairs as count_pairs
from .labels import count_table as count_table
from .labels import count_visits as count_visits
from .labels import effect_squares as effect_squares
from .labels import fix_label as fix_label
from .labels import fix_labels as fix_labels
from .labels import labels_along as labels_along
from .packed_decoding import fill_packed_tables as fill_packed_tables
from .packed_decoding import find_deciding_group as find_deciding_group
from .packed_decoding import packed_labels as packed_labels
from .packed_decoding import packed_scores as packed_scores
from .planning import occupancy as occupancy
from .planning import optimal_q as optimal_q
from .planning import policy_q as policy_q
from .planning import reachable as reachable
from .rng import below as below
from .rng import fill_bits as fill_bits
from .rng import fill_bits_in_lanes as fill_bits_in_lanes
from .rng import fill_uniforms as fill_uniforms
from .rng import next_bits as next_bits
from .rng import shuffle as shuffle
from .rng import uniform as uniform
from .seeding import seed_stream as seed_stream
from .tabular import constant_schedule as constant_schedule
from .tabular import draw_policy as draw_policy
from .tabular import epsilon_greedy as epsilon_greedy
from .tabular import falling_epsilons as falling_epsilons
from .tabular import fill_greedy as fill_greedy
from .tabular import greedy as greedy
from .tabular import jin_schedule as jin_schedule
from .tabular import rollout as rollout
