"""The paper's experiments: its cells, tuned settings, figures and claims, and all of it in one call."""
