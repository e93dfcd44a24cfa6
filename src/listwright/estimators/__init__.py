"""The estimators: `SCP`, its rival `ConSeqOpt`, and the context-free form `ContextFreeSCP`.

All three are settings of `base.ListEstimator`, which holds fit, predict and score; `certifying` and `telling` add
certificates, weights and history. `effort="auto"` and `"best"` of `SCP` live in `menu` (what to try), `ways` (how one
way is tried), `choosing` (which is taken) and `small_policy` (how several are combined). `wide` and `basis` compress
tables with many columns.
"""

from listwright.estimators.conseqopt import ConSeqOpt
from listwright.estimators.context_free import ContextFreeSCP
from listwright.estimators.scp import SCP

__all__ = ["SCP", "ConSeqOpt", "ContextFreeSCP"]
