"""
A decoder in C
==============

A function in C decodes inside the compiled loops, without Python in between. It is compiled here with the C
compiler of the machine."""

import ctypes
import subprocess
import tempfile
from pathlib import Path

from matplotlib import pyplot

import fasturl as fu
from fasturl.capi import HEADER
from fasturl.decoders import CDecoder

SOURCE = """
#include "fasturl.h"

/* the greatest of the first three coordinates; coordinate j of observation i is x[j * n + i] */
int32_t greatest(const float *x, int64_t n, int64_t dimension, int64_t level, int32_t *labels, void *context)
{
    (void)dimension, (void)level, (void)context;
    for (int64_t i = 0; i < n; i++) {
        const float a = x[i], b = x[n + i], c = x[2 * n + i];
        labels[i] = a >= b && a >= c ? 0 : b >= c ? 1 : 2;
    }
    return 0;
}
"""

folder = Path(tempfile.mkdtemp())
(folder / "decoder.c").write_text(SOURCE)
command = ["cc", "-O3", "-shared", "-fPIC", f"-I{HEADER.parent}", "decoder.c", "-o", "decoder.so"]
subprocess.run(command, cwd=folder, check=True)
library = ctypes.CDLL(str(folder / "decoder.so"))

# %%
# It knows which coordinates matter, so it needs no fitting and is as good as the noise allows. URL with an
# oracle has to find that out, and gets as far.

lock = fu.LockGaussian(horizon=6, switch=0.2, noise=0.2)
figure, axes = pyplot.subplots(figsize=(5.5, 3.6), layout="constrained")
for name, oracle in {"decoder in C": CDecoder(library.greatest, n_labels=3), "oracle": None}.items():
    fu.train(lock, fu.URL(oracle=oracle), episodes=2_000, seeds=4).plot(axes, label=name)
axes.set(xlabel="number of trajectories", ylabel="average reward")
axes.legend(frameon=False)
