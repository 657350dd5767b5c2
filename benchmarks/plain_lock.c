/* OracleQ on the latent states of a lock, as one writes it by hand for this problem and no other: the yardstick of
   test_bench_plain_c.py. It draws as fasturl does, so that the two give the same bits. */
#include "plain_random.h"

enum { STATES = 3, ACTIONS = 4, DEAD = 2 };

static int below(uint64_t s[4], uint64_t bound)
{
    uint64_t product = (draw(s) >> 32) * bound;
    if ((product & 0xFFFFFFFF) < bound)
        while ((product & 0xFFFFFFFF) < (0x100000000 - bound) % bound)
            product = (draw(s) >> 32) * bound;
    return (int)(product >> 32);
}

static int best_action(const double *q, uint64_t policy[4])
{
    int best = 0, ties = 1;
    for (int a = 1; a < ACTIONS; a++) {
        if (q[a] > q[best]) {
            best = a;
            ties = 1;
        } else if (q[a] == q[best]) {
            ties++;
        }
    }
    if (ties == 1)
        return best;
    int skip = below(policy, (uint64_t)ties);
    double greatest = q[best];
    for (best = 0; q[best] != greatest || skip-- > 0; best++)
        ;
    return best;
}

/* stays[h][s][a]: the probability that action a of a good state leads to state 0; -1 where it leads to the dead one.
   q and visits are [H][3][4]. */
void learn(int64_t episodes, int64_t horizon, double start, const double *stays, double rate, const double *bonuses,
           uint64_t dynamics[4], uint64_t policy[4], double *q, int64_t *visits, double *returns)
{
    for (int64_t e = 0; e < episodes; e++) {
        int state = uniform(dynamics) < start ? 0 : 1;
        double reward = 0.0;
        for (int64_t h = 0; h < horizon; h++) {
            int64_t row = (h * STATES + state) * ACTIONS;
            int action = best_action(q + row, policy);
            double stay = stays[row + action], u = uniform(dynamics);
            state = stay < 0.0 ? DEAD : u < stay ? 0 : 1;
            double value = 0.0;
            if (h + 1 == horizon) {
                reward = uniform(dynamics) < (state == DEAD ? 0.0 : 0.5) ? 1.0 : 0.0;
            } else {
                const double *next = q + ((h + 1) * STATES + state) * ACTIONS;
                value = next[0];
                for (int a = 1; a < ACTIONS; a++)
                    if (next[a] > value)
                        value = next[a];
            }
            int64_t t = ++visits[row + action];
            double target = (1.0 - rate) * q[row + action] + rate * (reward + value + bonuses[t]);
            q[row + action] = target < 1.0 ? target : 1.0;
        }
        returns[e] = reward;
    }
}
