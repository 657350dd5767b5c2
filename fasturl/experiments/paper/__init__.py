"""The paper's experiments: its cells, tuned settings, figures and claims."""
