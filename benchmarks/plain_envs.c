/* Combination locks as one writes them by hand in C, in the style of PufferLib's Ocean: a struct for each environment,
   which points to its rows of the arrays that all share, and a loop that steps one after the other. The yardstick of
   the vector environments in test_bench_plain_envs.py. An episode that is over is reset by the step after it. */
#include <math.h>
#include <stdlib.h>

#include "plain_random.h"

enum { STATES = 3, ACTIONS = 4, DEAD = 2, LAYERS = 256 };

typedef struct {
    int8_t *bits;
    float *reals;
    const int64_t *action;
    double *reward;
    uint8_t *terminal;
    uint64_t random[4];
    double flip;
    float noise;
    int horizon, level, state;
    uint8_t *ways; /* [horizon][STATES][ACTIONS]: 0 the way on, 1 the flipped one, 2 the way out */
} Lock;

/* Normals by the ziggurat of Marsaglia and Tsang (2000): layers of equal area, of which the lowest has the tail. */
static float edges[LAYERS + 1], heights[LAYERS + 1];
static const double TAIL = 3.6541528853610088, AREA = 0.00492867323399;

static void lay(void)
{
    double edge = TAIL;
    edges[0] = (float)(AREA / exp(-0.5 * TAIL * TAIL));
    for (int i = 1; i < LAYERS; i++) {
        edges[i] = (float)edge;
        heights[i] = expf(-0.5f * edges[i] * edges[i]);
        edge = sqrt(-2.0 * log(fmin(1.0, exp(-0.5 * edge * edge) + AREA / edge)));
    }
    edges[LAYERS] = 0.0f;
    heights[LAYERS] = 1.0f;
}

static float normal(uint64_t s[4], uint32_t bits)
{
    for (;; bits = (uint32_t)(draw(s) >> 32)) {
        int layer = bits & (LAYERS - 1);
        float z = (float)((int32_t)bits >> 8) * 0x1.0p-23f * edges[layer];
        if (fabsf(z) < edges[layer + 1])
            return z;
        if (layer == 0) {
            double beyond;
            do
                beyond = -log(1.0 - uniform(s)) / TAIL;
            while (-2.0 * log(1.0 - uniform(s)) <= beyond * beyond);
            return (float)(z < 0 ? -TAIL - beyond : TAIL + beyond);
        }
        if (heights[layer] + (float)uniform(s) * (heights[layer + 1] - heights[layer]) < expf(-0.5f * z * z))
            return z;
    }
}

static void show_bits(Lock *lock)
{
    for (int first = 0; first < lock->horizon; first += 64) {
        uint64_t coins = draw(lock->random);
        int last = lock->horizon < first + 64 ? lock->horizon : first + 64;
        for (int i = first; i < last; i++)
            lock->bits[STATES + i] = coins >> (i - first) & 1;
    }
    for (int s = 0; s < STATES; s++)
        lock->bits[s] = s == lock->state;
}

static void show_reals(Lock *lock)
{
    int dimension = lock->horizon + STATES;
    for (int i = 0; i < dimension; i += 2) {
        uint64_t bits = draw(lock->random);
        lock->reals[i] = lock->noise * normal(lock->random, (uint32_t)bits);
        if (i + 1 < dimension)
            lock->reals[i + 1] = lock->noise * normal(lock->random, (uint32_t)(bits >> 32));
    }
    lock->reals[lock->state] += 1.0f;
}

static void show(Lock *lock)
{
    if (lock->bits)
        show_bits(lock);
    else
        show_reals(lock);
}

static void reset(Lock *lock)
{
    lock->level = 0;
    lock->state = 0;
    *lock->reward = 0.0;
    *lock->terminal = 0;
    show(lock);
}

static void step(Lock *lock)
{
    if (*lock->terminal) {
        reset(lock);
        return;
    }
    int way = lock->ways[(lock->level * STATES + lock->state) * ACTIONS + *lock->action];
    double u = uniform(lock->random);
    lock->state = way == 2 ? DEAD : (u < lock->flip) == (way == 0);
    lock->level++;
    *lock->terminal = lock->level == lock->horizon;
    *lock->reward = *lock->terminal && uniform(lock->random) < (lock->state == DEAD ? 0.0 : 0.5);
    show(lock);
}

/* One of `bits` and `reals` is given, [n][horizon + 3]. */
Lock *begin(int64_t n, int horizon, double flip, float noise, int8_t *bits, float *reals, const int64_t *actions,
            double *rewards, uint8_t *terminals)
{
    Lock *locks = malloc(n * sizeof *locks);
    lay();
    for (int64_t e = 0; e < n; e++) {
        Lock *lock = locks + e;
        *lock = (Lock){.action = actions + e, .reward = rewards + e, .terminal = terminals + e, .flip = flip,
                       .noise = noise, .horizon = horizon, .random = {e + 1, 2 * e + 3, 5, 7}};
        if (bits)
            lock->bits = bits + e * (horizon + STATES);
        else
            lock->reals = reals + e * (horizon + STATES);
        for (int i = 0; i < 20; i++)
            draw(lock->random);
        lock->ways = malloc(horizon * STATES * ACTIONS);
        for (int row = 0; row < horizon * STATES; row++) {
            uint8_t *ways = lock->ways + row * ACTIONS;
            for (int a = 0; a < ACTIONS; a++)
                ways[a] = 2;
            if (row % STATES == DEAD)
                continue;
            int on = draw(lock->random) % ACTIONS;
            ways[on] = 0;
            ways[(on + 1 + draw(lock->random) % (ACTIONS - 1)) % ACTIONS] = 1;
        }
        reset(lock);
    }
    return locks;
}

void step_all(Lock *locks, int64_t n)
{
    for (int64_t e = 0; e < n; e++)
        step(locks + e);
}

void end(Lock *locks, int64_t n)
{
    for (int64_t e = 0; e < n; e++)
        free(locks[e].ways);
    free(locks);
}
