"""Learners by name in a C program with threads that Python has never seen."""

import subprocess

import numpy as np
import pytest
from c_face import needs_shared_python, run_program

import fasturl as fu
from fasturl.capi import embed

PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "fasturl.h"

enum { HORIZON = 3, ENTRIES = HORIZON * 3 * 4 * 3, EPISODES = 5000, THREADS = 4 };

typedef struct {
    uint32_t seed;
    double total;
    char error[200];
} job;

static void must(int32_t status)
{
    if (status != FASTURL_OK) {
        fprintf(stderr, "%s\n", fasturl_strerror(status));
        exit(1);
    }
}

static void *work(void *given)
{
    job *mine = given;
    double *chances = calloc(ENTRIES, 8), *cumulative = calloc(ENTRIES, 8), *rewards = calloc(ENTRIES, 8);
    double *returns = calloc(EPISODES, 8), start[3] = {1.0, 1.0, 1.0};
    uint8_t labels[(HORIZON + 1) * 3], random_rewards[HORIZON] = {0, 0, 1};
    uint64_t rngs[4][4], learner;
    char wrong[20];
    for (uint32_t name = 0; name < 4; name++)
        must(fasturl_seed_stream(mine->seed, &name, 1, rngs[name], 4));
    must(fasturl_draw_lock(rngs[FASTURL_STREAM_INSTANCE], 4, HORIZON, 0.2, chances, ENTRIES));
    must(fasturl_cumulate(chances, ENTRIES, 3, cumulative, ENTRIES));
    for (int i = ENTRIES - 36; i < ENTRIES; i++)
        rewards[i] = i % 3 < 2 ? 0.5 : 0.0;
    fasturl_dynamics dynamics = {sizeof dynamics, HORIZON, 3, 4, start, 3, cumulative, ENTRIES,
                                 rewards, ENTRIES, random_rewards, HORIZON};
    fasturl_task task = {sizeof task, HORIZON, 3, 4, EPISODES, 1.0, 0.0, 1.0};
    must(fasturl_latent_labels(1, HORIZON, 3, labels, sizeof labels));
    snprintf(wrong, sizeof wrong, "nobody%u", mine->seed);
    if (fasturl_learner_start(wrong, NULL, &task, rngs[3], 4, &learner) != FASTURL_E_LEARNER)
        must(FASTURL_E_RANGE);
    must(fasturl_learner_start("oracleq", NULL, &task, rngs[FASTURL_STREAM_POLICY], 4, &learner));
    must(fasturl_learner_learn(learner, &dynamics, EPISODES, labels, sizeof labels, 1,
                               rngs[FASTURL_STREAM_DYNAMICS], 4, returns, EPISODES));
    must(fasturl_learner_free(learner));
    must(fasturl_last_error(mine->error, sizeof mine->error));
    for (int e = 0; e < EPISODES; e++)
        mine->total += returns[e];
    free(chances), free(cumulative), free(rewards), free(returns);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    job jobs[THREADS];
    if (!fasturl_get_table())
        return 1;
    for (uint32_t i = 0; i < THREADS; i++) {
        jobs[i] = (job){i, 0.0, ""};
        pthread_create(&threads[i], NULL, work, &jobs[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        printf("%.17g %s\n", jobs[i].total, jobs[i].error);
    }
    return 0;
}
"""


@needs_shared_python
def test_threads_of_a_c_program_train_learners_at_the_same_time(tmp_path):
    (tmp_path / "threads.c").write_text(PROGRAM)
    embed.build(tmp_path)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pthread", *embed.cflags(), *embed.libs(tmp_path)]
    subprocess.run(["cc", tmp_path / "threads.c", *flags, "-o", tmp_path / "threads"], check=True)
    done = run_program(tmp_path / "threads", timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    run = fu.train(fu.LockBernoulli(3, 0.2), fu.OracleQ(), episodes=5_000, seeds=4, points=[5_000])
    lines = done.stdout.splitlines()
    totals = [float(line.split()[0]) for line in lines]
    assert np.array(totals) / 5_000 == pytest.approx(run.average_reward[:, -1], abs=0)
    for seed, line in enumerate(lines):
        assert f"got 'nobody{seed}'" in line
