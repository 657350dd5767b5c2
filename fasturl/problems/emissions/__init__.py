"""Emissions: how observations are drawn for latent states.

`Bernoulli` and `Categorical` give bits (uint8 zeros and ones); `Gaussian`, `MappedGaussian` and `CEmission`
give float32. An emission of your own is a subclass of `Emission`. Its `draw` returns an `ObservationBlock` of
reals, or the block that `packed` makes of bits.
"""

from ..blocks import ObservationBlock as ObservationBlock
from ..blocks import packed as packed
from .bits import Bernoulli as Bernoulli
from .bits import Categorical as Categorical
from .c_emission import CEmission as CEmission
from .emission import N_RNGS as N_RNGS
from .emission import Emission as Emission
from .emission import cumulative as cumulative
from .emission import raw_words as raw_words
from .emission import refuse_emission as refuse_emission
from .gaussian import LARGEST as LARGEST
from .gaussian import Gaussian as Gaussian
from .mapped_gaussian import MappedGaussian as MappedGaussian
