"""Emissions under their public name: `fasturl.emissions` is what `fasturl.problems.emissions` holds."""

from .problems.emissions import N_RNGS as N_RNGS
from .problems.emissions import Bernoulli as Bernoulli
from .problems.emissions import Categorical as Categorical
from .problems.emissions import CEmission as CEmission
from .problems.emissions import Emission as Emission
from .problems.emissions import Gaussian as Gaussian
from .problems.emissions import MappedGaussian as MappedGaussian
from .problems.emissions import ObservationBlock as ObservationBlock
from .problems.emissions import cumulative as cumulative
from .problems.emissions import packed as packed
from .problems.emissions import raw_words as raw_words
