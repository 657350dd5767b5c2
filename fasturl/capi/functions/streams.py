"""Statuses as text, and random streams."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._kernels import rng, seeding
from ..access import four_numbers, view
from ..checks import ANY, OK, SIZE, check, check_disjoint, check_size, check_stream, message, span, unless


def strerror(status: Any) -> Any:
    return message(status)


def seed_stream(seed: Any, key: Any, key_length: Any, stream: Any, stream_length: Any) -> Any:
    status = (
        unless(key_length >= 0, SIZE)
        or check_size(stream_length, ANY)
        or check(stream, stream_length, stream_length)
    )
    if status == OK and key_length > 0:
        status = check(key, key_length, key_length) or check_disjoint(
            (span(stream, stream_length),), (span(key, key_length),)
        )
    if status == OK:
        pool = view(four_numbers(), (4,)).view(np.uint64)
        seeding.seed_stream(seed, view(key, (key_length,)), pool, view(stream, (stream_length,)))
    return status


def fill_bits(stream: Any, stream_length: Any, bits: Any, bits_length: Any) -> Any:
    status = (
        check_stream(stream, stream_length, 1)
        or check(bits, bits_length, 1)
        or check_disjoint((span(stream, 4), span(bits, bits_length)), ())
    )
    if status == OK:
        rng.fill_bits(view(stream, (4,)), view(bits, (bits_length,)))
    return status
