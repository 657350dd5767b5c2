"""Statuses as text, and random streams."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._kernels import rng as kernels
from ..._kernels import seeding
from ..access import four_numbers, view
from ..checks import ANY, OK, SIZE, check, check_disjoint, check_size, check_stream, message, span, unless


def strerror(status: Any) -> Any:
    return message(status)


def seed_stream(seed: Any, key: Any, key_length: Any, rng: Any, rng_length: Any) -> Any:
    status = (
        unless(key_length >= 0, SIZE) or check_size(rng_length, ANY) or check(rng, rng_length, rng_length)
    )
    if status == OK and key_length > 0:
        status = check(key, key_length, key_length) or check_disjoint(
            (span(rng, rng_length),), (span(key, key_length),)
        )
    if status == OK:
        pool = view(four_numbers(), (4,)).view(np.uint64)
        seeding.seed_stream(seed, view(key, (key_length,)), pool, view(rng, (rng_length,)))
    return status


def fill_bits(rng: Any, rng_length: Any, bits: Any, bits_length: Any) -> Any:
    status = (
        check_stream(rng, rng_length, 1)
        or check(bits, bits_length, 1)
        or check_disjoint((span(rng, 4), span(bits, bits_length)), ())
    )
    if status == OK:
        kernels.fill_bits(view(rng, (4,)), view(bits, (bits_length,)))
    return status
