"""Decoders: what a fitted oracle hands on. `decoder` is the contract; a file for each kind."""

from .affine import AffineDecoder as AffineDecoder
from .by_level import LevelDecoder as LevelDecoder
from .c_decoder import CDecoder as CDecoder
from .checked import check_decoder as check_decoder
from .constant import ConstantDecoder as ConstantDecoder
from .decoder import MAX_LABELS as MAX_LABELS
from .decoder import Decoder as Decoder
from .predict import PredictDecoder as PredictDecoder
from .quadratic import QuadraticDecoder as QuadraticDecoder
from .support_vector import SupportVectorDecoder as SupportVectorDecoder
from .symbols import SymbolDecoder as SymbolDecoder
