"""A package that extends fasturl from outside: one module for each component, made known by entry points."""
