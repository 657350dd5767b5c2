"""The shortest specification of a sweep, for tests that change it."""

import tomllib

from fasturl.experiments import parse_spec

MINIMAL = """
episodes = 100
seeds = 3
env = {name = "lock-bernoulli", horizon = 2}
agent = {name = "oracleq-lat"}
"""


def parse(text):
    return parse_spec(tomllib.loads(text))
