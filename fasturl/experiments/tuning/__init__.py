"""Tuning: what is searched, and the search."""
