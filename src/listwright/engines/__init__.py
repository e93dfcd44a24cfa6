"""Where a streamed fit runs: on this machine's threads, or on the machines of a Ray cluster."""

from listwright.engines.base import Crew, Engine, as_engine
from listwright.engines.local import Local
from listwright.engines.ray import Ray

__all__ = ["Crew", "Engine", "Local", "Ray", "as_engine"]
