"""Calling the C face from tests: arrays as pointers with lengths, and trainings as structs."""

import numpy as np

from fasturl.capi import ffi, lib

C_NAMES = {"float64": "double", "float32": "float", "int64": "int64_t", "uint64": "uint64_t", "uint32": "uint32_t", "uint8": "uint8_t"}


def spread(array):
    """An array as the two arguments that it is on the C side: pointer and length."""
    array = array.view(np.uint8) if array.dtype == np.bool_ else array
    return ffi.cast(f"{C_NAMES[array.dtype.name]} *", array.ctypes.data), array.size


def struct(name, **members):
    """A struct with its size first; an array fills a pointer and its length. Returns the pointer and what must be kept alive."""
    made = ffi.new(f"{name} *")
    made.size = ffi.sizeof(name)
    for member, value in members.items():
        if isinstance(value, np.ndarray):
            pointer, length = spread(value)
            setattr(made, member, pointer)
            setattr(made, f"{member}_length", length)
        else:
            setattr(made, member, value)
    return made


def call(name, *arguments):
    """Call a function of the table; arrays take the place of a pointer and a length."""
    flat = []
    for argument in arguments:
        flat.extend(spread(argument) if isinstance(argument, np.ndarray) else [argument])
    return getattr(lib, f"fasturl_{name}")(*flat)


def done(name, *arguments):
    """As `call`, where it must succeed."""
    status = call(name, *arguments)
    assert status == lib.FASTURL_OK, ffi.string(lib.fasturl_strerror(status))


def stream(seed, *key, words=4):
    made = np.zeros(words, np.uint64)
    done("seed_stream", seed, np.array(key, np.uint32), made)
    return made


def dynamics(model):
    """The tables of a model as a struct, and the arrays it points to."""
    tables = model.dynamics
    arrays = {name: np.array(table) for name, table in tables._asdict().items()}
    made = struct("fasturl_dynamics", horizon=model.horizon, n_states=model.transitions.shape[1], n_actions=model.n_actions, **arrays)
    return made, arrays


class Training:
    """Everything that a training needs, as arrays, and the struct that points to them."""

    def __init__(self, model, labels, episodes, seed, n_labels=3):
        self.dynamics, self._tables = dynamics(model)
        self.labels = np.ascontiguousarray(labels, np.uint8)
        self.luck, self.choice = stream(seed, 1), stream(seed, 3)
        shape = (model.horizon, n_labels, model.n_actions)
        self.q, self.visits = np.full(shape, 7.0), np.full(shape, 7)
        self.rates, self.bonuses = np.full(episodes + 1, 7.0), np.full(episodes + 1, 7.0)
        self.epsilons, self.returns = np.full(episodes, 7.0), np.full(episodes, 7.0)
        self.episodes, self.n_labels = episodes, n_labels
        self.cap = 1.0

    ARRAYS = ("labels", "luck", "choice", "q", "visits", "rates", "bonuses", "epsilons", "returns")

    def struct(self, **changes):
        members = {name: getattr(self, name) for name in self.ARRAYS}
        members |= {"dynamics": self.dynamics, "episodes": self.episodes, "n_labels": self.n_labels, "cap": self.cap}
        return struct("fasturl_training", **(members | {"label_rows": self.labels.shape[0]} | changes))
