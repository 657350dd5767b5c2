"""Block MDPs: the contract of environments, tables, emissions and blocks of noise, and a file for each
family."""

from .bandit import Bandit as Bandit
from .bidirectional_lock import BidirectionalLock as BidirectionalLock
from .block_mdp import BlockMDP as BlockMDP
from .deep_sea import DeepSea as DeepSea
from .description import Description as Description
from .description import ObservationSpace as ObservationSpace
from .detour_lock import DetourLock as DetourLock
from .environment import Environment as Environment
from .locks import LockBernoulli as LockBernoulli
from .locks import LockGaussian as LockGaussian
from .maze import Maze as Maze
from .random_mdp import RandomMDP as RandomMDP
from .rich_lock import RichLock as RichLock
from .river_swim import RiverSwim as RiverSwim
