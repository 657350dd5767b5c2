/*
 * fasturl.h - the C face of fasturl: exploration in Block MDPs with rich observations, at kernel speed.
 *
 * Functions are reached in two ways that may be mixed:
 *
 *   - through a table of function pointers, `const fasturl_table *`, that Python's `fasturl.capi.table()` or the
 *     library's `fasturl_get_table()` gives:            table->draw_lock(...)
 *   - by name, from a program that is linked with the library of `fasturl capi --build DIR`:   fasturl_draw_lock(...)
 *
 * Rules that hold for every function
 *
 *   - It returns FASTURL_OK or another fasturl_status. Arguments are checked before anything is written: whatever is not
 *     FASTURL_OK has left all memory as it was.
 *   - The caller owns all memory. Every array comes with its length in elements (not bytes), which may be greater than what
 *     is needed; 2^55 and more, which no memory has room for, are refused with FASTURL_E_SIZE. Arrays are dense, the last axis
 *     fastest, and aligned for their type. What a function writes may not overlap anything else that it is given.
 *   - There is no hidden state and no lock: calls on disjoint memory may run in any number of threads. Learners by name, which
 *     live behind handles, are the one exception; their section says what holds for them.
 *   - The same arguments give the same bits as the same calls made from Python.
 *   - Sizes are at least 1. There are at most 256 labels and 256 states at a level.
 *
 * Notation: H levels are acted in, S states a level, A actions, X labels, E episodes; x[E, H] is an array of that shape.
 * States, actions and labels count from 0. A level that is an argument counts from 1, as in Python: 1 to H are acted in and
 * H + 1 is the terminal one. Arrays are indexed from 0, so row h of x[H] belongs to level h + 1.
 * Names are those of Python. The one exception is switch_, Python's `switch`, which is a word of C.
 */
#ifndef FASTURL_H
#define FASTURL_H

#include <stddef.h>
#include <stdint.h>

/* The major number changes when something that exists changes or goes; the minor number when something is added at the end of the
   table. A program built for x.y works with every x.z, z >= y. */
#define FASTURL_ABI_MAJOR 1
#define FASTURL_ABI_MINOR 2

#if defined(_WIN32)
#define FASTURL_API __declspec(dllimport)
#else
#define FASTURL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------------------------------------------------------- */

enum fasturl_status {
    FASTURL_OK = 0,
    FASTURL_E_NULL = 1,      /* a pointer is null */
    FASTURL_E_SIZE = 2,      /* a size or length is negative, zero or too great */
    FASTURL_E_TOO_SMALL = 3, /* an array is shorter than what the sizes ask for */
    FASTURL_E_ALIGNMENT = 4, /* an array is not aligned for its type */
    FASTURL_E_OVERLAP = 5,   /* memory that would be written overlaps another argument */
    FASTURL_E_RANGE = 6,     /* a level, state, action, label or count is out of range */
    FASTURL_E_NUMBER = 7,    /* a number is not finite, or not in its interval */
    FASTURL_E_TABLE = 8,     /* a row of cumulative probabilities does not rise from 0 or more to 1 */
    FASTURL_E_STREAM = 9,    /* a stream is all zeros, which no seed gives */
    FASTURL_E_STRUCT = 10,   /* the size that a struct begins with is not that of this version */
    FASTURL_E_LIBRARY = 11,  /* Python or the fasturl package could not be loaded */
    FASTURL_E_HANDLE = 12,   /* no learner has this handle */
    FASTURL_E_LEARNER = 13   /* a learner by name cannot be had or has failed: fasturl_last_error says why */
};

/* What a status means: a constant string that lives as long as the process. Never null. */
typedef const char *fasturl_strerror_fn(int32_t status);

/* ---- Random streams ----------------------------------------------------------------------------------------------------- */

/* A stream is one xoshiro256++ generator, uint64_t[4], that the functions which draw from it advance.
   An emission stream is four of them side by side, uint64_t[4, 4]. */

/* Names of the streams of a run: the first (and mostly only) number of a spawn key. */
enum fasturl_stream {
    FASTURL_STREAM_INSTANCE = 0,   /* what makes an instance of a family: the action labels of a lock */
    FASTURL_STREAM_DYNAMICS = 1,   /* latent transitions and rewards */
    FASTURL_STREAM_EMISSION = 2,   /* observation noise */
    FASTURL_STREAM_POLICY = 3,     /* the agent's own choices */
    FASTURL_STREAM_ORACLE = 4,
    FASTURL_STREAM_EVALUATION = 5  /* the key {5, name} is a stream for evaluating a policy */
};

/* Fill rng[rng_length] with the state of numpy.random.SeedSequence(seed, spawn_key): with seed 7 and the key {1} and 4 words,
   exactly the dynamics stream of Python's run with seed 7. spawn_key may be null if its length is 0. */
typedef int32_t fasturl_seed_stream_fn(uint64_t seed, const uint32_t *spawn_key, int64_t spawn_key_length, uint64_t *rng,
                                       int64_t rng_length);

/* Fill bits[bits_length] with consecutive draws. */
typedef int32_t fasturl_fill_bits_fn(uint64_t *rng, int64_t rng_length, uint64_t *bits, int64_t bits_length);

/* ---- Latent dynamics ---------------------------------------------------------------------------------------------------- */

/* The tables of one Block MDP. */
typedef struct fasturl_dynamics {
    size_t size; /* sizeof(fasturl_dynamics) */
    int64_t horizon;
    int64_t n_states;
    int64_t n_actions;
    const double *start; /* [S], cumulative */
    int64_t start_length;
    const double *transitions; /* [H, S, A, S], cumulative over the last axis */
    int64_t transitions_length;
    const double *rewards; /* [H, S, A, S], mean reward of each transition, at most 1e100 in size; in [0, 1] where it is drawn */
    int64_t rewards_length;
    const uint8_t *random_rewards; /* [H], 1 where the level's rewards are Bernoulli draws, 2 where all are 0, which is faster to know, else 0 */
    int64_t random_rewards_length;
} fasturl_dynamics;

/* Fill probabilities[H, 3, 4, 3] with a fresh combination lock. Reaching state 0 or 1 after the last level pays Bernoulli(1/2). */
typedef int32_t fasturl_draw_lock_fn(uint64_t *rng, int64_t rng_length, int64_t horizon, double switch_,
                                     double *probabilities, int64_t probabilities_length);

/* Rows of n_outcomes probabilities as running sums, which reach exactly 1 at the last outcome that can happen.
   probabilities_length is a multiple of n_outcomes. */
typedef int32_t fasturl_cumulate_fn(const double *probabilities, int64_t probabilities_length, int64_t n_outcomes, double *cumulative,
                                    int64_t cumulative_length);

/* Draw states[n] at level 1. */
typedef int32_t fasturl_start_fn(const fasturl_dynamics *dynamics, uint64_t *dynamics_rng, int64_t dynamics_rng_length, int64_t n, int64_t *states,
                                 int64_t states_length);

/* One step of n episodes that are all at the given level, 1 to H: states[n] become the next ones. They draw one after the other.
   Only the rows of these moves are looked at, and of their rewards only whether they are finite. */
typedef int32_t fasturl_step_fn(const fasturl_dynamics *dynamics, int64_t level, uint64_t *dynamics_rng, int64_t dynamics_rng_length, int64_t n,
                                const int64_t *actions, int64_t actions_length, int64_t *states, int64_t states_length,
                                double *rewards, int64_t rewards_length);

/* q[H, S, A] and values[H + 1, S] by backward induction, from probabilities (not cumulative) and mean rewards [H, S, A, S], which
   are at most 1e100 in size. */
typedef int32_t fasturl_optimal_q_fn(const double *probabilities, int64_t probabilities_length, const double *rewards,
                                     int64_t rewards_length, int64_t horizon, int64_t n_states, int64_t n_actions, double *q,
                                     int64_t q_length, double *values, int64_t values_length);

/* ---- Observations ------------------------------------------------------------------------------------------------------- */

/* Scratch of fasturl_lock_words, in elements, for H levels. */
#define FASTURL_LOCK_WORDS(H) (((H) + 3 + 63) / 64)
#define FASTURL_LOCK_DRAWS(H) \
    (FASTURL_LOCK_WORDS(H) > 1 ? ((H) + 1) * FASTURL_LOCK_WORDS(H) : ((H) + 64 / (H)) / (64 / (H)))
#define FASTURL_LOCK_SCRATCH(H) ((FASTURL_LOCK_DRAWS(H) + 3) / 4 * 4)

/* Observations of a lock as packed bits, for every state: words[E, H + 1, 3, W], W = FASTURL_LOCK_WORDS(H). Coordinate j is bit
   j % 64 of word j / 64: the one-hot code of the state, then H coins. scratch[FASTURL_LOCK_SCRATCH(H)]. */
typedef int32_t fasturl_lock_words_fn(uint64_t *emission_rngs, int64_t emission_rngs_length, int64_t horizon, int64_t episodes,
                                      uint64_t *scratch, int64_t scratch_length, uint64_t *words, int64_t words_length);

/* Real observations of E episodes, for every state: noise to which the mean of a state is added. The level is the fastest axis. */
typedef struct fasturl_block {
    size_t size; /* sizeof(fasturl_block) */
    int64_t episodes;
    int64_t n_levels; /* L: H + 1 for whole episodes */
    int64_t n_states;
    int64_t dimension;   /* D */
    int64_t coordinates; /* C >= D: how many the noise has; those beyond D are not used */
    int64_t n_informative; /* coordinates from here on have mean 0 in every state; D if in doubt */
    float *noise;        /* [E, C, L] */
    int64_t noise_length;
    const float *means; /* [S, D, L] */
    int64_t means_length;
} fasturl_block;

/* Fill the block's noise with normals of mean 0 and standard deviation `noise`, from 0 to 1e15. coordinates * n_levels is a
   multiple of 8, and the least such number with coordinates >= dimension gives Python's numbers. scratch[C * L / 2]. */
typedef int32_t fasturl_gaussian_noise_fn(uint64_t *emission_rngs, int64_t emission_rngs_length, float noise, const fasturl_block *block,
                                          uint64_t *scratch, int64_t scratch_length);

/* What is seen along states[E, L]: observations[E, L, D]. */
typedef int32_t fasturl_observe_fn(const fasturl_block *block, const int64_t *states, int64_t states_length, float *observations,
                                   int64_t observations_length);

/* ---- Decoding ----------------------------------------------------------------------------------------------------------- */

/* labels[E, L, S] of a block: relabel[k] for the first k of greatest bias[k] + weights[k] . x, weights[X, D], bias[X], relabel[X].
   Weights are finite; a bias may be minus infinity, so that its label is not given; relabel has labels, from 0 to X - 1.
   scratch[(S + 1) * X * L]. */
typedef int32_t fasturl_decode_affine_fn(const fasturl_block *block, int64_t n_labels, const float *weights, int64_t weights_length,
                                         const float *bias, int64_t bias_length, const uint8_t *relabel, int64_t relabel_length,
                                         float *scratch, int64_t scratch_length, uint8_t *labels, int64_t labels_length);

/* labels[E, H + 1, S] of an agent that sees the latent state itself. */
typedef int32_t fasturl_latent_labels_fn(int64_t episodes, int64_t horizon, int64_t n_states, uint8_t *labels, int64_t labels_length);

/* FixLabel, first half: counts[N, X], how often label k occurs in labels[starts[i]] .. labels[starts[i + 1] - 1], starts[N + 1]. */
typedef int32_t fasturl_count_labels_fn(const uint8_t *labels, int64_t labels_length, int64_t n_sets, int64_t n_labels,
                                        const int64_t *starts, int64_t starts_length, int64_t *counts, int64_t counts_length);

/* FixLabel, second half: for the sets in order, where more than 3/5 of set i has one raw label, its output relabel[raw] and
   the label standards[i] that the set stands for are swapped. standards[N]; relabel[X] is the identity at first. */
typedef int32_t fasturl_fix_labels_fn(const int64_t *counts, int64_t counts_length, int64_t n_sets, int64_t n_labels,
                                      const int64_t *standards, int64_t standards_length, uint8_t *relabel, int64_t relabel_length);

/* ---- Learning ----------------------------------------------------------------------------------------------------------- */

/* One update for each level of a finished trajectory, labels[H + 1], actions[H], rewards[H]. With t the visits of (h, x, a), this one included,
       q <- min(cap, (1 - rates[t]) q + rates[t] (r + max q(next) + bonuses[t])).
   q[H, X, A]; visits[H, X, A]; rates and bonuses have an entry for each number of visits that occurs, entry 0 unused. */
typedef int32_t fasturl_update_trajectory_fn(int64_t horizon, int64_t n_labels, int64_t n_actions, const int64_t *labels,
                                             int64_t labels_length, const int64_t *actions, int64_t actions_length,
                                             const double *rewards, int64_t rewards_length, const double *rates, int64_t rates_length,
                                             const double *bonuses, int64_t bonuses_length, double cap, double *q, int64_t q_length,
                                             int64_t *visits, int64_t visits_length);

/* A learner in training. */
typedef struct fasturl_training {
    size_t size; /* sizeof(fasturl_training) */
    const fasturl_dynamics *dynamics;
    int64_t episodes;
    int64_t n_labels;
    const uint8_t *labels; /* [rows, H + 1, S]: what is seen in each state; episode e has row e % rows */
    int64_t labels_length;
    int64_t label_rows;
    uint64_t *dynamics_rng; /* stream of the dynamics */
    int64_t dynamics_rng_length;
    uint64_t *policy_rng; /* stream of the agent's choices */
    int64_t policy_rng_length;
    double *q; /* [H, X, A] */
    int64_t q_length;
    int64_t *visits; /* [H, X, A] */
    int64_t visits_length;
    double *rates; /* [E + 1] or more, by number of visits */
    int64_t rates_length;
    double *bonuses; /* as rates */
    int64_t bonuses_length;
    double *epsilons; /* [E]: how often actions are random */
    int64_t epsilons_length;
    double cap;
    double *returns; /* [E], filled: the return of each episode */
    int64_t returns_length;
} fasturl_training;

/* Constant form: schedule 0, rate learning_rate, bonus confidence sqrt(H / t). Form of Jin et al. (2018): schedule 1,
   rate (H + 1) / (H + t), bonus confidence sqrt(H^3 log(X A E H / failure_probability) / t). Spread form, since version 1.1: schedule 2,
   the rate of 1, bonus confidence / H sqrt(log(X A E H / failure_probability) / t), where confidence is Python's times the greatest
   reward less the least. q starts at max_return, its cap; in the form of Jin et al. q has no cap, and max q(next) counts for no more
   than max_return. That form goes on from q and visits as a learner by name alone, see below. */
typedef struct fasturl_oracleq {
    size_t size; /* sizeof(fasturl_oracleq) */
    int64_t schedule;
    double learning_rate;       /* in (0, 1] */
    double confidence;          /* 0 to 1e50 */
    double failure_probability; /* in [1e-100, 1) */
    double max_return;          /* 1 on a lock */
} fasturl_oracleq;

/* q starts at 0; the share of random actions falls linearly from 1 to 0.01 over exploration_fraction of the episodes. */
typedef struct fasturl_qlearning {
    size_t size; /* sizeof(fasturl_qlearning) */
    double learning_rate;        /* in (0, 1] */
    double exploration_fraction; /* in (0, 1] */
} fasturl_qlearning;

/* Play and learn `episodes` episodes, going on from q and visits; rates, bonuses, epsilons and cap are read. */
typedef int32_t fasturl_learn_fn(const fasturl_training *training);

/* A whole training from the first episode: fills rates, bonuses, epsilons, q and visits, then learns. The cap is the learner's own. */
typedef int32_t fasturl_train_oracleq_fn(const fasturl_training *training, const fasturl_oracleq *learner);
typedef int32_t fasturl_train_qlearning_fn(const fasturl_training *training, const fasturl_qlearning *learner);

/* ---- Learners by name, since version 1.1 --------------------------------------------------------------------------------- */

/* Every compiled learner that Python knows by name: fasturl's own (`fasturl list learners`) and those of installed packages.

   Such a learner lives in memory of the library, behind a handle, until it is freed. Its functions take Python's lock to begin
   and to end, not while episodes are played: many threads may train learners, and calls on one learner wait for each other.
   Beside what holds for every function, FASTURL_E_HANDLE says that there is no such learner, and FASTURL_E_LEARNER that
   something is wrong which a sentence tells best: fasturl_last_error has it. */

/* What a learner is told before the first episode. */
typedef struct fasturl_task {
    size_t size; /* sizeof(fasturl_task) */
    int64_t horizon;
    int64_t n_labels;
    int64_t n_actions;
    int64_t episodes;  /* at most so many are learned from */
    double max_return; /* greatest return of an episode: 1 on a lock */
    double least_reward; /* of one step, at most 1e100 in size */
    double greatest_reward;
} fasturl_task;

/* Start a learner and set *learner to its handle, which is not 0. `settings` are words such as "confidence=0.01 schedule=jin",
   with the names and values of Python; those that are left out, or all where it is null, have their defaults. Both texts end
   with a zero. The learner goes on with a copy of policy_rng[4]. Tables of more than 4 gigabytes are refused. */
typedef int32_t fasturl_learner_start_fn(const char *name, const char *settings, const fasturl_task *task, const uint64_t *policy_rng,
                                         int64_t policy_rng_length, uint64_t *learner);

/* Play and learn `episodes` episodes, and fill returns[episodes]. labels[rows, H + 1, S] is what is seen in each state: episode e
   has row e % rows. The dynamics have the horizon and the number of actions of the learner's task. */
typedef int32_t fasturl_learner_learn_fn(uint64_t learner, const fasturl_dynamics *dynamics, int64_t episodes, const uint8_t *labels,
                                         int64_t labels_length, int64_t label_rows, uint64_t *dynamics_rng, int64_t dynamics_rng_length,
                                         double *returns, int64_t returns_length);

/* Fill actions[H, X] with the action at each level and label in the coming episode: for episodes that your program plays itself,
   and has learned from by fasturl_learner_replay. */
typedef int32_t fasturl_learner_policy_fn(uint64_t learner, int64_t *actions, int64_t actions_length);

/* Learn from finished trajectories in their order: labels[E, H + 1], actions[E, H], rewards[E, H], which are at most 1e100 in
   size. */
typedef int32_t fasturl_learner_replay_fn(uint64_t learner, int64_t episodes, const int64_t *labels, int64_t labels_length,
                                          const int64_t *actions, int64_t actions_length, const double *rewards, int64_t rewards_length);

/* Fill chances[H, X, A] with what has been learned: a probability for each action. */
typedef int32_t fasturl_learner_final_policy_fn(uint64_t learner, double *chances, int64_t chances_length);

/* Forget a learner. Its handle is never given again. */
typedef int32_t fasturl_learner_free_fn(uint64_t learner);

/* Fill text[text_length] with one line, ending with a zero and cut where it does not fit, that says why the last call of this thread
   which gave FASTURL_E_LEARNER did so; with an empty line where there was none. */
typedef int32_t fasturl_last_error_fn(char *text, int64_t text_length);

/* ---- Your own code inside fasturl's loops ------------------------------------------------------------------------------- */

/* All are called from several threads at once, without Python's lock, and must not call Python. They return 0, or another number to
   stop the run with an error. `context` is what was given to CDecoder, CEmission or CLearner. */

/* Decoder: fill labels[n] for n observations of successive levels: observation i belongs to level + i, and its coordinate j is
   observations[j * n + i]. */
typedef int32_t fasturl_decoder_fn(const float *observations, int64_t n, int64_t dimension, int64_t level, int32_t *labels,
                                   void *context);

/* Emission: fill observation[dimension], what the state looks like at the level, with randomness from rng[4] alone. All states of
   one level of one episode get a copy of the same generator. */
typedef int32_t fasturl_emission_fn(uint64_t *rng, int64_t level, int64_t state, float *observation, int64_t dimension,
                                    void *context);

/* What a learner in C is asked to do. */
enum fasturl_learner_operation {
    FASTURL_LEARNER_START = 0,         /* fill numbers, which are zeros */
    FASTURL_LEARNER_BEGIN_EPISODE = 1, /* get ready to act, with randomness from rng */
    FASTURL_LEARNER_CHOOSE = 2,        /* set step->action at step->level and step->label, with randomness from rng */
    FASTURL_LEARNER_TAKE_STEP = 3,     /* learn from the step and its reward */
    FASTURL_LEARNER_END_EPISODE = 4,   /* learn from the episode as a whole, with randomness from rng */
    FASTURL_LEARNER_FILL_POLICY = 5,   /* fill chances[L, X, A] with what has been learned: a probability for each action */
    FASTURL_LEARNER_START_AT_ZERO = 6  /* let the values at step->level and step->label start at 0: an episode ended there before
                                          it was ever acted in, on observations without their levels */
};

/* The three structs that a learner in C is handed may get more members at their ends in later minor versions. */
typedef struct fasturl_learner_sizes {
    int64_t horizon;
    int64_t n_levels;  /* L: the horizon, or 1 where observations of all levels share a table */
    int64_t n_labels;  /* X */
    int64_t n_actions; /* A */
    int64_t n_numbers; /* K */
    int64_t episodes;  /* at most so many are learned from */
} fasturl_learner_sizes;

typedef struct fasturl_learner_step {
    int64_t level; /* from 1 to L */
    int64_t label;
    int64_t action;     /* -1 before it is chosen */
    int64_t next_level; /* L + 1 where the episode is known to be over; the next label means nothing then */
    int64_t next_label;
} fasturl_learner_step;

typedef struct fasturl_learner_rewards {
    double reward; /* of the step that is taken */
    double least;  /* of any step */
    double greatest;
    double max_return; /* greatest return of an episode */
} fasturl_learner_rewards;

/* Learner: do what the operation says. numbers[L, X, A, K] is all that it remembers; one run has one such block, and its calls come
   one after the other. rng[4] and chances are null in operations that do not name them. */
typedef int32_t fasturl_learner_fn(int64_t operation, const fasturl_learner_sizes *sizes, fasturl_learner_step *step,
                                   const fasturl_learner_rewards *rewards, double *numbers, double *chances, uint64_t *rng,
                                   void *context);

/* ---- The table ---------------------------------------------------------------------------------------------------------- */

typedef struct fasturl_table {
    size_t size; /* sizeof(fasturl_table) of the library: members beyond it are not there */
    uint32_t abi_major;
    uint32_t abi_minor;
    fasturl_strerror_fn *strerror;
    fasturl_seed_stream_fn *seed_stream;
    fasturl_fill_bits_fn *fill_bits;
    fasturl_draw_lock_fn *draw_lock;
    fasturl_cumulate_fn *cumulate;
    fasturl_start_fn *start;
    fasturl_step_fn *step;
    fasturl_optimal_q_fn *optimal_q;
    fasturl_lock_words_fn *lock_words;
    fasturl_gaussian_noise_fn *gaussian_noise;
    fasturl_observe_fn *observe;
    fasturl_decode_affine_fn *decode_affine;
    fasturl_latent_labels_fn *latent_labels;
    fasturl_count_labels_fn *count_labels;
    fasturl_fix_labels_fn *fix_labels;
    fasturl_update_trajectory_fn *update_trajectory;
    fasturl_learn_fn *learn;
    fasturl_train_oracleq_fn *train_oracleq;
    fasturl_train_qlearning_fn *train_qlearning;
    /* since version 1.1 */
    fasturl_learner_start_fn *learner_start;
    fasturl_learner_learn_fn *learner_learn;
    fasturl_learner_policy_fn *learner_policy;
    fasturl_learner_replay_fn *learner_replay;
    fasturl_learner_final_policy_fn *learner_final_policy;
    fasturl_learner_free_fn *learner_free;
    fasturl_last_error_fn *last_error;
} fasturl_table;

#ifndef FASTURL_NO_PROTOTYPES

/* The table, from a program linked with the library. The first call starts Python unless the process has it already. Null if Python or
   the package could not be loaded; standard error then says why. The table lives as long as the process. */
FASTURL_API const fasturl_table *fasturl_get_table(void);

FASTURL_API fasturl_strerror_fn fasturl_strerror;
FASTURL_API fasturl_seed_stream_fn fasturl_seed_stream;
FASTURL_API fasturl_fill_bits_fn fasturl_fill_bits;
FASTURL_API fasturl_draw_lock_fn fasturl_draw_lock;
FASTURL_API fasturl_cumulate_fn fasturl_cumulate;
FASTURL_API fasturl_start_fn fasturl_start;
FASTURL_API fasturl_step_fn fasturl_step;
FASTURL_API fasturl_optimal_q_fn fasturl_optimal_q;
FASTURL_API fasturl_lock_words_fn fasturl_lock_words;
FASTURL_API fasturl_gaussian_noise_fn fasturl_gaussian_noise;
FASTURL_API fasturl_observe_fn fasturl_observe;
FASTURL_API fasturl_decode_affine_fn fasturl_decode_affine;
FASTURL_API fasturl_latent_labels_fn fasturl_latent_labels;
FASTURL_API fasturl_count_labels_fn fasturl_count_labels;
FASTURL_API fasturl_fix_labels_fn fasturl_fix_labels;
FASTURL_API fasturl_update_trajectory_fn fasturl_update_trajectory;
FASTURL_API fasturl_learn_fn fasturl_learn;
FASTURL_API fasturl_train_oracleq_fn fasturl_train_oracleq;
FASTURL_API fasturl_train_qlearning_fn fasturl_train_qlearning;
FASTURL_API fasturl_learner_start_fn fasturl_learner_start;
FASTURL_API fasturl_learner_learn_fn fasturl_learner_learn;
FASTURL_API fasturl_learner_policy_fn fasturl_learner_policy;
FASTURL_API fasturl_learner_replay_fn fasturl_learner_replay;
FASTURL_API fasturl_learner_final_policy_fn fasturl_learner_final_policy;
FASTURL_API fasturl_learner_free_fn fasturl_learner_free;
FASTURL_API fasturl_last_error_fn fasturl_last_error;

#endif

#ifdef __cplusplus
}
#endif

#endif
