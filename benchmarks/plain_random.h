/* The generator of the programs in C here: xoshiro256++ (Blackman and Vigna, 2021), as fasturl draws. */
#include <stdint.h>

static uint64_t draw(uint64_t s[4])
{
    uint64_t sum = s[0] + s[3], bits = ((sum << 23) | (sum >> 41)) + s[0], shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return bits;
}

static double uniform(uint64_t s[4])
{
    return (double)(draw(s) >> 11) * 0x1.0p-53;
}
