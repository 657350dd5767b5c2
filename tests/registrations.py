"""Names that are known while a test or a file of tests runs, and by no other."""

import contextlib
import sys

import fasturl as fu
from fasturl._base import names


@contextlib.contextmanager
def passing_registrations():
    """What is registered within is forgotten in the end, by Gymnasium too."""
    registered = {kind: dict(components) for kind, components in names._registered.items()}
    known = _gymnasium_ids()
    try:
        yield
    finally:
        names._registered.update(registered)
        if _gymnasium_ids() != known:  # which is so as well where Gymnasium was first imported within
            _register_again()


@contextlib.contextmanager
def registered(*classes):
    """The classes are known by name, and forgotten in the end."""
    with passing_registrations():
        for cls in classes:
            fu.register(cls)
        yield


def _gymnasium_ids():
    """The ids that Gymnasium knows, once somebody has imported it."""
    return set(sys.modules["gymnasium"].registry) if "gymnasium" in sys.modules else set()


def _register_again():
    """Gymnasium knows from fasturl what is registered now."""
    import gymnasium

    from fasturl import envs

    for identity in envs.ids():
        del gymnasium.registry[identity]
    envs.register()
