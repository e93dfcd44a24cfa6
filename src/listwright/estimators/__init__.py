"""The estimators: `SCP`, its rival `ConSeqOpt`, and the context-free form `ContextFreeSCP`.

All three are settings of `base.ListEstimator`, which holds fit, predict, score and certificates. What `effort="auto"`
tries is in `search` and `candidates`, how several methods are combined in `stacking`, how a model is measured on
problems held out in `held_out`, and how it is certified in `certification`. `wide` compresses tables with many columns.
"""

from listwright.estimators.certification import certify_best
from listwright.estimators.conseqopt import ConSeqOpt
from listwright.estimators.context_free import ContextFreeSCP
from listwright.estimators.scp import SCP

__all__ = ["SCP", "ConSeqOpt", "ContextFreeSCP", "certify_best"]
