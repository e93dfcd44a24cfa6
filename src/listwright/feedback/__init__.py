"""Learning from clicks: lists that were shown, what came back, and what other policies would have earned.

The flow, all of it::

    learner = lw.OnlineSCP(length=5, cascade=True)
    lists = learner.recommend(problems)  # with an id per list, and the chance that each pick had
    learner.feedback(lists.list_ids, clicks)  # at once or later, in any order

    log = lw.feedback.Log(cascade=True)
    log.append(lists)
    log.feedback(lists.list_ids, clicks)
    print(lw.feedback.evaluate(log, other_policy))

`RankedBandits` and `LSBGreedy` are what it is compared with, beside `listwright.baselines.StaticList` fitted on the
problems of a whole run, the best static list in hindsight.
"""

from listwright.feedback import explore
from listwright.feedback.importance import EvidenceWarning
from listwright.feedback.log import Log
from listwright.feedback.lsb_greedy import LSBGreedy
from listwright.feedback.off_policy.compare import PolicyComparison, compare
from listwright.feedback.off_policy.estimates import Evaluation, OffPolicyEstimate
from listwright.feedback.off_policy.evaluate import evaluate
from listwright.feedback.off_policy.examination import examination
from listwright.feedback.off_policy.rollout import Rollout, safe_rollout
from listwright.feedback.off_policy.verdict import Difference
from listwright.feedback.online import OnlineSCP
from listwright.feedback.ranked import RankedBandits
from listwright.feedback.recommendations import Recommendations
from listwright.feedback.records import Record

__all__ = [
    "Difference",
    "Evaluation",
    "EvidenceWarning",
    "LSBGreedy",
    "Log",
    "OffPolicyEstimate",
    "OnlineSCP",
    "PolicyComparison",
    "RankedBandits",
    "Recommendations",
    "Record",
    "Rollout",
    "compare",
    "evaluate",
    "examination",
    "explore",
    "safe_rollout",
]
