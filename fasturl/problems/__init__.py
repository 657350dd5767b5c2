"""Block MDPs: the contract of environments, tables, emissions and blocks of noise, and a file for each
family."""

from .block_mdp import BlockMDP as BlockMDP
from .description import Description as Description
from .description import ObservationSpace as ObservationSpace
from .environment import Environment as Environment
