"""Results to draw, for tests of figures."""

import numpy as np
from stored_results import frame_of, turning

SAMPLES = np.random.default_rng(11).random((12, 30)) / 2
SUCCEEDED = np.arange(12) < 9


def quadratic(horizons, points=400, variants=({},)):
    """Cells whose runs turn optimal after 10 H^2 trajectories, give or take."""
    runs = {
        h: [turning(10 * h * h + shift, points) for shift in (-20, -10, 0, 0, 0, 10, 20)] for h in horizons
    }
    return frame_of(
        *(({"horizon": h, **settings}, runs[h], [True] * 7) for h in horizons for settings in variants)
    )
