"""What every folder stands on: named streams, checks, declared settings, names of components, optional
imports, the compile cache."""
