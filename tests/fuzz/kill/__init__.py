"""Sweeps that are killed at random moments, on full and on slow disks, by hand and by the loss of a cluster."""
