"""Tabular learners on (level, label): `learner` is the protocol; a file for each algorithm."""

from .c_learner import CLearner as CLearner
from .compiled import CompiledLearner as CompiledLearner
from .compiled import learner_functions as learner_functions
from .learner import Learner as Learner
from .learner import Memory as Memory
from .learner import Task as Task
from .learner import start as start
from .opsrl import OPSRL as OPSRL
from .oracleq import OracleQ as OracleQ
from .pooled_ucbvi import PooledUCBVI as PooledUCBVI
from .psrl import PSRL as PSRL
from .qlearning import QLearning as QLearning
from .rlsvi import RLSVI as RLSVI
from .rmax import RMax as RMax
from .ucbq_bernstein import UCBQBernstein as UCBQBernstein
from .ucbvi import UCBVI as UCBVI
