"""The estimators: `SCP`, its rival `ConSeqOpt`, and the context-free form `ContextFreeSCP`.

All three are settings of `base.ListEstimator`, which holds fit, predict and certificates. For `effort="auto"` of `SCP`,
`search` has what is tried and how it is chosen, `candidates` the methods, and `stacking` how several are added up.
`measurement` says what lists are worth on problems that were not learned from, `certification` what is certain of it.
`wide` compresses tables with many columns.
"""

from listwright.estimators.certification import certify_best
from listwright.estimators.conseqopt import ConSeqOpt
from listwright.estimators.context_free import ContextFreeSCP
from listwright.estimators.scp import SCP

__all__ = ["SCP", "ConSeqOpt", "ContextFreeSCP", "certify_best"]
