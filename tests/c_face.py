"""Calling the C face from tests and benchmarks: arrays as pointers with lengths, trainings as structs, a
decoder and programs in C."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from fasturl.capi import HEADER, ffi, lib
from fasturl.decoders import AffineDecoder, CDecoder

C_NAMES = {
    "float64": "double",
    "float32": "float",
    "int64": "int64_t",
    "uint64": "uint64_t",
    "uint32": "uint32_t",
    "uint8": "uint8_t",
    "int8": "char",
}


def needs_compiler(name):
    return pytest.mark.skipif(not shutil.which(name), reason=f"there is no compiler {name} here")


needs_cc = needs_compiler("cc")


def missing_to_embed():
    """What a C program that embeds this Python could not be built without; empty where everything is
    there."""
    paths, variable = sysconfig.get_paths(), sysconfig.get_config_var
    folders = [Path(variable("LIBDIR") or ""), Path(variable("LIBDIR") or "", variable("MULTIARCH") or "")]
    if not variable("Py_ENABLE_SHARED"):
        return "this Python has no shared library to embed"
    if not any((folder / variable("LDLIBRARY")).exists() for folder in folders):
        return f"there is no {variable('LDLIBRARY')} in {folders[0]}"
    if not Path(paths["include"], "Python.h").exists():
        return f"there is no Python.h in {paths['include']}"
    return "" if shutil.which("cc") else "there is no compiler cc here"


needs_shared_python = pytest.mark.skipif(bool(missing_to_embed()), reason=missing_to_embed())


def run_program(*command, timeout=None, **settings):
    """Run a C program where this Python's environment is activated: the embedded Python is that of the first
    python3 in PATH."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    return subprocess.run(
        list(map(str, command)),
        env=os.environ | {"PATH": path} | settings,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def spread(array):
    """An array as the two arguments that it is on the C side: pointer and length."""
    array = array.view(np.uint8) if array.dtype == np.bool_ else array
    return ffi.cast(f"{C_NAMES[array.dtype.name]} *", array.ctypes.data), array.size


def struct(name, **members):
    """A struct with its size first; an array fills a pointer and its length. Returns the pointer and what
    must be kept alive."""
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


def tables_in_c(model):
    """Copies of the tables that C has; random rewards are 0 or 1 there, so it has no sizes."""
    assert (model.reward_sizes == 1.0).all()
    tables = model.dynamics
    return {
        "start": tables.start.copy(),
        "transitions": tables.transitions.copy(),
        "rewards": tables.rewards.copy(),
        "random_rewards": tables.reward_kinds.copy(),
    }


def dynamics(model):
    """The tables of a model as a struct, and the arrays it points to."""
    arrays = tables_in_c(model)
    made = struct(
        "fasturl_dynamics",
        horizon=model.horizon,
        n_states=model.transitions.shape[1],
        n_actions=model.n_actions,
        **arrays,
    )
    return made, arrays


class Training:
    """Everything that a training needs, as arrays, and the struct that points to them."""

    def __init__(self, model, labels, episodes, seed, n_labels=3):
        self.dynamics, self.tables = dynamics(model)
        self.labels = np.ascontiguousarray(labels, np.uint8)
        self.dynamics_rng, self.policy_rng = stream(seed, 1), stream(seed, 3)
        shape = (model.horizon, n_labels, model.n_actions)
        self.q, self.visits = np.full(shape, 7.0), np.full(shape, 7)
        self.rates, self.bonuses = np.full(episodes + 1, 7.0), np.full(episodes + 1, 7.0)
        self.epsilons, self.returns = np.full(episodes, 7.0), np.full(episodes, 7.0)
        self.episodes, self.n_labels = episodes, n_labels
        self.cap = 1.0

    ARRAYS = (
        "labels",
        "dynamics_rng",
        "policy_rng",
        "q",
        "visits",
        "rates",
        "bonuses",
        "epsilons",
        "returns",
    )

    def struct(self, **changes):
        members = {name: getattr(self, name) for name in self.ARRAYS}
        members |= {
            "dynamics": self.dynamics,
            "episodes": self.episodes,
            "n_labels": self.n_labels,
            "cap": self.cap,
        }
        return struct("fasturl_training", **(members | {"label_rows": self.labels.shape[0]} | changes))


def oracleq(**changes):
    settings = {
        "schedule": 0,
        "learning_rate": 0.3,
        "confidence": 1e-3,
        "failure_probability": 0.05,
        "max_return": 1.0,
    }
    return struct("fasturl_oracleq", **(settings | changes))


def qlearning(**changes):
    return struct("fasturl_qlearning", **({"learning_rate": 0.1, "exploration_fraction": 0.5} | changes))


def task(**changes):
    told = {"horizon": 2, "n_labels": 3, "n_actions": 4, "episodes": 5, "max_return": 1.0}
    return struct("fasturl_task", **(told | {"least_reward": 0.0, "greatest_reward": 1.0} | changes))


def start_learner(name="oracleq", settings=None, rng=None, **changes):
    """The handle of a learner by name, for a task of 2 levels, 3 labels and 4 actions unless it is changed;
    AssertionError with what it says where it cannot be had."""
    handle = ffi.new("uint64_t *")
    words = ffi.NULL if settings is None else ffi.new("char[]", settings.encode())
    policy_rng = spread(stream(0, 3) if rng is None else rng)
    status = lib.fasturl_learner_start(
        ffi.new("char[]", name.encode()), words, task(**changes), *policy_rng, handle
    )
    assert status == lib.FASTURL_OK, (status, last_error())
    return handle[0]


def last_error(size=300):
    text = ffi.new("char[]", size)
    assert lib.fasturl_last_error(text, size) == lib.FASTURL_OK
    return ffi.string(text).decode()


AFFINE = r"""
#include <string.h>
#include "fasturl.h"

typedef float eight_floats __attribute__((vector_size(32)));
typedef int32_t eight_labels __attribute__((vector_size(32)));

/* context: n_labels, then for each label its weights and its bias, all float.
   Sums run from the last coordinate, as in fasturl; those of three labels are made in one go, so that an
   observation is read once for all of them. Beyond the last label the last one is scored again. */
static void label_eight(const float *x, int64_t n, int64_t dimension, const float *numbers, int32_t *labels)
{
    const int n_labels = (int)numbers[0];
    eight_floats best = {0}, row;
    eight_labels label = {0};
    for (int k = 0; k < n_labels; k += 3) {
        const int k1 = k + 1 < n_labels ? k + 1 : n_labels - 1, k2 = k + 2 < n_labels ? k + 2 : n_labels - 1;
        const float *u = numbers + 1 + k * (dimension + 1), *v = numbers + 1 + k1 * (dimension + 1);
        const float *w = numbers + 1 + k2 * (dimension + 1);
        const int names[3] = {k, k1, k2};
        eight_floats scores[3] = {{0}, {0}, {0}};
        for (int64_t j = dimension - 1; j >= 0; j--) {
            memcpy(&row, x + j * n, sizeof row);
            scores[0] += u[j] * row;
            scores[1] += v[j] * row;
            scores[2] += w[j] * row;
        }
        scores[0] += u[dimension];
        scores[1] += v[dimension];
        scores[2] += w[dimension];
        if (k == 0)
            best = scores[0];
        for (int i = 0; i < 3; i++) {
            const eight_labels better = scores[i] > best;
            label = (better & names[i]) | (~better & label);
            best = (eight_floats)((better & (eight_labels)scores[i]) | (~better & (eight_labels)best));
        }
    }
    memcpy(labels, &label, sizeof label);
}

int32_t affine(const float *x, int64_t n, int64_t dimension, int64_t level, int32_t *labels, void *context)
{
    const float *numbers = context;
    const int n_labels = (int)numbers[0];
    float best[8], first[8], second[8], third[8];
    (void)level;
    if (n >= 8) { /* the last eight again, where fewer are left */
        for (int64_t i = 0; i < n; i += 8) {
            const int64_t start = i < n - 8 ? i : n - 8;
            label_eight(x + start, n, dimension, numbers, labels + start);
        }
        return 0;
    }
    for (int k = 0; k < n_labels; k += 3) {
        const int k1 = k + 1 < n_labels ? k + 1 : n_labels - 1, k2 = k + 2 < n_labels ? k + 2 : n_labels - 1;
        const float *u = numbers + 1 + k * (dimension + 1), *v = numbers + 1 + k1 * (dimension + 1);
        const float *w = numbers + 1 + k2 * (dimension + 1);
        for (int64_t i = 0; i < n; i++)
            first[i] = second[i] = third[i] = 0.0f;
        int64_t j = dimension - 1;
        for (; j >= 3; j -= 4) {
            const float *a = x + j * n, *b = a - n, *c = b - n, *d = c - n;
            for (int64_t i = 0; i < n; i++) {
                first[i] = first[i] + u[j] * a[i] + u[j - 1] * b[i] + u[j - 2] * c[i] + u[j - 3] * d[i];
                second[i] = second[i] + v[j] * a[i] + v[j - 1] * b[i] + v[j - 2] * c[i] + v[j - 3] * d[i];
                third[i] = third[i] + w[j] * a[i] + w[j - 1] * b[i] + w[j - 2] * c[i] + w[j - 3] * d[i];
            }
        }
        for (; j >= 0; j--)
            for (int64_t i = 0; i < n; i++) {
                first[i] += u[j] * x[j * n + i];
                second[i] += v[j] * x[j * n + i];
                third[i] += w[j] * x[j * n + i];
            }
        for (int64_t i = 0; i < n; i++) {
            const float one = first[i] + u[dimension], two = second[i] + v[dimension];
            const float three = third[i] + w[dimension];
            float greatest = k == 0 || one > best[i] ? one : best[i];
            int32_t label = k == 0 || one > best[i] ? k : labels[i];
            label = two > greatest ? k1 : label;
            greatest = two > greatest ? two : greatest;
            labels[i] = three > greatest ? k2 : label;
            best[i] = three > greatest ? three : greatest;
        }
    }
    return 0;
}
"""


def shared_library(folder, source, *more_flags):
    """The path of a shared library that is built from C."""
    if not shutil.which("cc"):
        pytest.skip("there is no compiler cc here")
    (folder / "library.c").write_text(source)
    flags = [
        "-std=c99",
        "-O3",
        "-ffp-contract=off",
        "-Wall",
        "-Wextra",
        "-pedantic",
        "-Werror",
        "-shared",
        "-fPIC",
        f"-I{HEADER.parent}",
        *more_flags,
    ]
    subprocess.run(["cc", *flags, str(folder / "library.c"), "-o", str(folder / "library.so")], check=True)
    return str(folder / "library.so")


def affine_pair(library, dimension, seed=0, n_labels=3):
    """A decoder of ours, and the same in C: the function `affine` of a library."""
    rng = np.random.default_rng(seed)
    weights = (np.eye(n_labels, dimension) + 0.1 * rng.normal(size=(n_labels, dimension))).astype(np.float32)
    bias = (0.1 * rng.normal(size=n_labels)).astype(np.float32)
    context = np.concatenate([[n_labels], np.column_stack([weights, bias]).ravel()]).astype(np.float32)
    return AffineDecoder(weights, bias), CDecoder(library.affine, n_labels, context)
