"""Sweeps that are killed at random moments, on full and on slow disks, and with a cluster that is lost."""
