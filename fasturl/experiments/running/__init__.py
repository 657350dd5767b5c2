"""Running: cells, sweeps that are described in files, where they are computed, and results on disk."""
