"""Floating-point errors that did not happen."""

import numpy as np

without_false_alarms = np.errstate(invalid="ignore")
"""For functions that multiply matrices of float32, and for calls of others' code on observations, which may:
now and then some processors call a product invalid that is finite."""
