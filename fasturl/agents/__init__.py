"""What is trained: `agent` is the contract, `game` what an agent plays with; a file for each agent."""

from .agent import Agent as Agent
from .agent import Outcome as Outcome
from .decoding import DecodingAgent as DecodingAgent
from .evaluation import DecodedPolicy as DecodedPolicy
from .evaluation import Glance as Glance
from .evaluation import LatentPolicy as LatentPolicy
from .evaluation import Verdict as Verdict
from .game import Game as Game
from .game import Trajectories as Trajectories
from .latent import LatentAgent as LatentAgent
from .ledger import Ledger as Ledger
from .observation import ObservationAgent as ObservationAgent
from .pcid import PCID as PCID
from .url import URL as URL
from .url_as_published import URLAsPublished as URLAsPublished
from .url_as_written import URLAsWritten as URLAsWritten
