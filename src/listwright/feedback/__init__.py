"""Learning from clicks: show lists, learn from their outcomes, and evaluate other policies on the log.

The whole flow::

    learner = lw.OnlineSCP(length=5, cascade=True)
    lists = learner.recommend(problems)  # with an id per list, and the chance of each pick
    learner.feedback(lists.list_ids, clicks)  # at once or later, in any order

    log = lw.feedback.Log(cascade=True)
    log.append(lists)
    log.feedback(lists.list_ids, clicks)
    print(lw.feedback.evaluate(log, other_policy))

`compare` judges several policies on one log, `safe_rollout` how far to move towards a new one, and `examination`
measures position bias. `RankedBandits` and `LSBGreedy` are online baselines; `listwright.baselines.StaticList`, fitted
on the problems of a whole run, is the best static list in hindsight.
"""

from listwright.feedback import explore
from listwright.feedback.baselines import LSBGreedy, RankedBandits
from listwright.feedback.log import Log
from listwright.feedback.off_policy.compare import PolicyComparison, compare
from listwright.feedback.off_policy.estimates import Difference, EvidenceWarning, OffPolicyEstimate, OffPolicyEvaluation
from listwright.feedback.off_policy.evaluate import evaluate
from listwright.feedback.off_policy.examination import examination
from listwright.feedback.off_policy.rollout import Rollout, safe_rollout
from listwright.feedback.online import OnlineSCP
from listwright.feedback.planning import Plan, plan
from listwright.feedback.recommendations import Recommendations
from listwright.feedback.updates import TrainingUpdate

__all__ = [
    "Difference",
    "EvidenceWarning",
    "LSBGreedy",
    "Log",
    "OffPolicyEstimate",
    "OffPolicyEvaluation",
    "OnlineSCP",
    "Plan",
    "PolicyComparison",
    "RankedBandits",
    "Recommendations",
    "Rollout",
    "TrainingUpdate",
    "compare",
    "evaluate",
    "examination",
    "explore",
    "plan",
    "safe_rollout",
]
