"""Decoders and emissions in C for tests of plug-ins, good ones and hostile ones."""

import cffi

SOURCE = r"""
#include <math.h>
#include <stdlib.h>
#include "fasturl.h"

int32_t tells_level(const float *x, int64_t n, int64_t dimension, int64_t level,
                    int32_t *labels, void *context)
{
    (void)x, (void)dimension, (void)context;
    for (int64_t i = 0; i < n; i++)
        labels[i] = (int32_t)(level + i);
    return 0;
}

int32_t fills_nothing(const float *x, int64_t n, int64_t dimension, int64_t level,
                      int32_t *labels, void *context)
{
    (void)x, (void)n, (void)dimension, (void)level, (void)labels, (void)context;
    return 0;
}

int32_t fails(const float *x, int64_t n, int64_t dimension, int64_t level, int32_t *labels, void *context)
{
    (void)x, (void)n, (void)dimension, (void)level, (void)labels, (void)context;
    return 42;
}

static uint64_t next_bits(uint64_t *s)
{
    const uint64_t mixed = s[0] + s[3], shifted = s[1] << 17;
    const uint64_t result = ((mixed << 23) | (mixed >> 41)) + s[0];
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3];
    s[2] ^= shifted, s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/* the state's code, and uniform noise of a width that is in the context */
int32_t uniform_noise(uint64_t *rng, int64_t level, int64_t state, float *x, int64_t dimension, void *context)
{
    (void)level;
    for (int64_t j = 0; j < dimension; j++)
        x[j] = (j == state) + *(double *)context * ((double)(next_bits(rng) >> 11) * 0x1p-53 - 0.5);
    return 0;
}

int32_t not_a_number(uint64_t *rng, int64_t level, int64_t state, float *x, int64_t dimension, void *context)
{
    (void)rng, (void)state, (void)context;
    for (int64_t j = 0; j < dimension; j++)
        x[j] = level == 2 && j == 1 ? NAN : 0.0f;
    return 0;
}

int32_t gives_up(uint64_t *rng, int64_t level, int64_t state, float *x, int64_t dimension, void *context)
{
    (void)rng, (void)state, (void)context;
    for (int64_t i = 0; i < dimension; i++)
        x[i] = 0.0f;
    return level == 1 ? -3 : 0;
}

int32_t writes_nothing(uint64_t *rng, int64_t level, int64_t state,
                       float *x, int64_t dimension, void *context)
{
    (void)rng, (void)level, (void)state, (void)x, (void)dimension, (void)context;
    return 0;
}
"""

DECODER = "int32_t {}(const float *, int64_t, int64_t, int64_t, int32_t *, void *);"
EMISSION = "int32_t {}(uint64_t *, int64_t, int64_t, float *, int64_t, void *);"
DECODERS = ("affine", "tells_level", "fills_nothing", "fails")
EMISSIONS = ("uniform_noise", "not_a_number", "gives_up", "writes_nothing")
ABI = cffi.FFI()
ABI.cdef(
    "\n".join([*(DECODER.format(name) for name in DECODERS), *(EMISSION.format(name) for name in EMISSIONS)])
)
