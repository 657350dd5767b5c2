/*
 * OracleQ on a combination lock, from C.
 *
 *   cc -std=c99 oracleq.c $(fasturl capi --cflags --libs) -o oracleq && ./oracleq 20 0.2 10000 7
 *
 * Prints the sum of the returns, the value of the optimal policy, and every number of the final table of action values, as hexadecimal
 * floating point: the same bits as fu.train(fu.LockBernoulli(20, 0.2), fu.OracleQ(), 10_000, seeds=[7]).
 */
#include <stdio.h>
#include <stdlib.h>

#include "fasturl.h"

enum { STATES = 3, ACTIONS = 4 };

static void must(int32_t status, const char *what)
{
    if (status != FASTURL_OK) {
        fprintf(stderr, "%s: %s\n", what, fasturl_strerror(status));
        exit(1);
    }
}

static void *array(int64_t length, size_t item)
{
    void *memory = calloc((size_t)length, item);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

static void seed_stream(uint64_t seed, uint32_t name, uint64_t *rng)
{
    must(fasturl_seed_stream(seed, &name, 1, rng, 4), "seed");
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: oracleq HORIZON SWITCH EPISODES SEED\n");
        return 2;
    }
    const int64_t horizon = atoll(argv[1]), episodes = atoll(argv[3]);
    const double switch_ = atof(argv[2]);
    const uint64_t seed = strtoull(argv[4], NULL, 10);
    if (horizon < 1 || episodes < 1) {
        fprintf(stderr, "HORIZON and EPISODES must be at least 1\n");
        return 2;
    }
    if (!fasturl_get_table())
        return 1;

    /* the lock of this seed */
    const int64_t entries = horizon * STATES * ACTIONS * STATES;
    double *chances = array(entries, sizeof *chances), *cumulative = array(entries, sizeof *cumulative);
    double *rewards = array(entries, sizeof *rewards);
    uint8_t *random_rewards = array(horizon, 1);
    const double start[STATES] = {1.0, 1.0, 1.0};
    uint64_t lock[4], dynamics_rng[4], policy_rng[4];
    seed_stream(seed, FASTURL_STREAM_INSTANCE, lock);
    seed_stream(seed, FASTURL_STREAM_DYNAMICS, dynamics_rng);
    seed_stream(seed, FASTURL_STREAM_POLICY, policy_rng);
    must(fasturl_draw_lock(lock, 4, horizon, switch_, chances, entries), "lock");
    must(fasturl_cumulate(chances, entries, STATES, cumulative, entries), "cumulate");
    for (int64_t i = entries - STATES * ACTIONS * STATES; i < entries; i++)
        rewards[i] = i % STATES < 2 ? 0.5 : 0.0; /* being alive at the end pays Bernoulli(1/2) */
    random_rewards[horizon - 1] = 1;
    fasturl_dynamics dynamics = {sizeof dynamics, horizon, STATES, ACTIONS, start, STATES, cumulative, entries,
                                 rewards, entries, random_rewards, horizon};

    /* the learner, which sees the latent states */
    const int64_t pairs = horizon * STATES * ACTIONS, seen = (horizon + 1) * STATES;
    uint8_t *labels = array(seen, 1);
    must(fasturl_latent_labels(1, horizon, STATES, labels, seen), "labels");
    fasturl_training training = {0};
    training.size = sizeof training;
    training.dynamics = &dynamics;
    training.episodes = episodes;
    training.n_labels = STATES;
    training.labels = labels;
    training.labels_length = seen;
    training.label_rows = 1;
    training.dynamics_rng = dynamics_rng;
    training.policy_rng = policy_rng;
    training.dynamics_rng_length = training.policy_rng_length = 4;
    training.q = array(pairs, sizeof *training.q);
    training.visits = array(pairs, sizeof *training.visits);
    training.q_length = training.visits_length = pairs;
    training.rates = array(episodes + 1, sizeof *training.rates);
    training.bonuses = array(episodes + 1, sizeof *training.bonuses);
    training.rates_length = training.bonuses_length = episodes + 1;
    training.epsilons = array(episodes, sizeof *training.epsilons);
    training.returns = array(episodes, sizeof *training.returns);
    training.epsilons_length = training.returns_length = episodes;
    const fasturl_oracleq learner = {sizeof learner, 0, 0.3, 1e-3, 0.05, 1.0};
    must(fasturl_train_oracleq(&training, &learner), "training");

    double *q = array(pairs, sizeof *q), *values = array(seen, sizeof *values);
    must(fasturl_optimal_q(chances, entries, rewards, entries, horizon, STATES, ACTIONS, q, pairs, values, seen), "planning");

    double total = 0.0;
    for (int64_t e = 0; e < episodes; e++)
        total += training.returns[e];
    printf("total %a\noptimal %a\n", total, values[0]);
    for (int64_t i = 0; i < pairs; i++)
        printf("%a\n", training.q[i]);

    free(chances), free(cumulative), free(rewards), free(random_rewards), free(labels), free(q), free(values);
    free(training.q), free(training.visits), free(training.rates), free(training.bonuses), free(training.epsilons), free(training.returns);
    return 0;
}
