"""The estimators: SCP, ConSeqOpt and the context-free form."""

from listwright.estimators.conseqopt import ConSeqOpt
from listwright.estimators.context_free import ContextFreeSCP
from listwright.estimators.scp import SCP

__all__ = ["SCP", "ConSeqOpt", "ContextFreeSCP"]
