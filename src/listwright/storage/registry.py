"""The classes that a model file may name. No other is ever made from a file."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from listwright.errors import InputError

# Name in the file: where the class is. Names stay when classes move, so that old files can be read.
CLASSES = {
    "SCP": "listwright.estimators.scp",
    "ConSeqOpt": "listwright.estimators.conseqopt",
    "ContextFreeSCP": "listwright.estimators.context_free",
    "OnlineSCP": "listwright.feedback.online",
    "Training": "listwright.training.round",
    "Ledger": "listwright.training.round",
    "Ranges": "listwright.training.ranges",
    "Signature": "listwright.training.signature",
    "Span": "listwright.training.ranges",
    "Trial": "listwright.estimators.tuning",
    "Columns": "listwright.tables.columns",
    "engines.Progress": "listwright.training.checkpoints",
    "features.Aspects": "listwright.features.aspects",
    "features.Candidate": "listwright.features.candidate",
    "features.Distance": "listwright.features.distance",
    "features.Estimates": "listwright.features.given_failure",
    "features.ExpectedCoverage": "listwright.features.expected_coverage",
    "features.ExpectedGain": "listwright.features.expected_gain",
    "features.FirstPosition": "listwright.features.first_position",
    "features.GivenFailure": "listwright.features.given_failure",
    "features.Identity": "listwright.features.identity",
    "features.InList": "listwright.features.in_list",
    "features.Known": "listwright.features.expected_coverage",
    "features.Links": "listwright.features.links",
    "features.PolicyScore": "listwright.estimators.best_effort",
    "features.Position": "listwright.features.position",
    "features.PredictedTopics": "listwright.features.predicted_topics",
    "features.Ranks": "listwright.features.ranks",
    "features.Scale": "listwright.features.base",
    "features.Sum": "listwright.features.base",
    "features.Topics": "listwright.features.topics",
    "features.Volume": "listwright.features.volume",
    "outcomes.Contrasts": "listwright.features.outcomes",
    "outcomes.Forest": "listwright.features.outcomes",
    "outcomes.KernelRidge": "listwright.features.outcomes",
    "outcomes.Neighbours": "listwright.features.outcomes",
    "outcomes.Ridge": "listwright.features.outcomes",
    "outcomes.Static": "listwright.features.outcomes",
    "feedback.Epsilon": "listwright.feedback.explore",
    "feedback.GainRidge": "listwright.feedback.gain_ridge",
    "feedback.InverseGap": "listwright.feedback.explore",
    "feedback.Own": "listwright.feedback.explore",
    "feedback.Playing": "listwright.feedback.drawing",
    "learners.Aggregate": "listwright.learners.aggregate",
    "learners.Exp3": "listwright.learners.exp3",
    "learners.Exp4": "listwright.learners.exp4",
    "learners.FollowLeader": "listwright.learners.follow_leader",
    "learners.FollowPerturbedLeader": "listwright.learners.perturbed_leader",
    "learners.GradientDescent": "listwright.learners.gradient",
    "learners.PerPosition": "listwright.learners.per_position",
    "learners.RidgeLeader": "listwright.learners.ridge",
    "learners.RidgeSums": "listwright.learners.sums",
    "learners.SoftmaxLeader": "listwright.learners.softmax",
    "learners.Spent": "listwright.storage.spent",
    "learners.WeightedMajority": "listwright.learners.majority",
    "policies.Estimator": "listwright.policies.estimator",
    "policies.ItemDistribution": "listwright.policies.distribution",
    "policies.ItemLeader": "listwright.policies.perturbed",
    "policies.Linear": "listwright.policies.linear",
    "policies.Mixture": "listwright.policies.mixture",
    "policies.PolicyDistribution": "listwright.policies.distribution",
    "policies.PolicyLeader": "listwright.policies.perturbed",
    "policies.Random": "listwright.policies.random",
    "policies.Sequence": "listwright.policies.sequence",
    "policies.Uniform": "listwright.policies.mixture",
}
MODELS = ("SCP", "ConSeqOpt", "ContextFreeSCP", "OnlineSCP")


@cache
def class_of(name: str) -> type[Any]:
    """The class of a name in a file."""
    if name not in CLASSES:
        raise InputError(f"it names the class {name!r:.60}, which is none of listwright's")
    found: type[Any] = getattr(import_module(CLASSES[name]), name.rpartition(".")[2])
    return found


def name_of(kind: type[Any]) -> str | None:
    """The name of a class in files; None where files cannot hold it."""
    for name, module in CLASSES.items():
        if kind.__module__ == module and kind.__name__ == name.rpartition(".")[2]:
            return name
    return None
