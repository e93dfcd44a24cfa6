"""The estimators `SCP`, `ConSeqOpt` and `ContextFreeSCP`: settings of `base.ListEstimator`."""

from listwright.estimators.certification import certify_best
from listwright.estimators.conseqopt import ConSeqOpt
from listwright.estimators.context_free import ContextFreeSCP
from listwright.estimators.scp import SCP

__all__ = ["SCP", "ConSeqOpt", "ContextFreeSCP", "certify_best"]
