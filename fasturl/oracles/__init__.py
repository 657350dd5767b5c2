"""Unsupervised oracles: `fit` on observations, then a decoder. A file for each.

Any object with `fit` and `predict`, such as a clusterer or a pipeline of scikit-learn, serves as an oracle
beside these.
"""

from .autoencoder_simhash import AutoencoderSimHash as AutoencoderSimHash
from .bernoulli_mixture import BernoulliMixture as BernoulliMixture
from .categorical_mixture import CategoricalMixture as CategoricalMixture
from .dbscan import DBSCAN as DBSCAN
from .fitting import fit_decoder as fit_decoder
from .full_gmm import FullGMM as FullGMM
from .gmm import GMM as GMM
from .kmeans import KMeans as KMeans
from .pca_dbscan import PCADBSCAN as PCADBSCAN
from .pca_kmeans import PCAKMeans as PCAKMeans
from .poisson_mixture import PoissonMixture as PoissonMixture
from .splits import Splits as Splits
from .subspaces import Subspaces as Subspaces
