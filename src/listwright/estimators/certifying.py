"""Certificates of a fitted model: lower bounds from held-out problems, and the paper's theorems for the run itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from listwright._internal.parameters import check_fitted
from listwright.estimators.held_out import Rivals, certified
from listwright.guarantees import Certificate, HeldOutCertificate
from listwright.guarantees import certify as certificate_of_run
from listwright.problems import Problems
from listwright.tables.frames_in import TakesFrames
from listwright.walk.limits import as_capped, as_limits


class Certifies(TakesFrames):
    """Mixin with the certificates of an estimator that learns in rounds."""

    length: int
    comparator_length: int | None
    budget: float | None
    per_group: Any
    weighting: str
    keep: str
    training_: Any  # the run, listwright.training.round.Training

    def certify(
        self,
        held_out: Problems,
        delta: float = 0.05,
        *,
        rivals: Rivals = (),
        length: int | None = None,
        budget: float | None = None,
        per_group: Any = None,
        training: Problems | None = None,
    ) -> HeldOutCertificate:
        """Return what is certain of the lists that `predict` builds, from problems that the model has not seen."""
        check_fitted(self)
        held_out = self._as_problems(held_out, measured=True)
        length, budget = as_limits(length, budget, self.length, self.budget)
        return certified(
            self,
            as_capped(held_out, per_group, self.per_group),
            limits={"length": length, "budget": budget},
            delta=delta,
            rivals=rivals,
            training=getattr(self, "training_problems_", None) if training is None else training,
            visits=self.training_.ledger.states,
        )

    def certify_own_split(self, held: Problems, rivals: Rivals = ()) -> HeldOutCertificate:
        """Certifies the model on problems that `fit` itself held back, where alike ones may be on both sides."""
        length, budget = as_limits(None, None, self.length, self.budget)
        return certified(
            self,
            as_capped(held, None, self.per_group),
            limits={"length": length, "budget": budget},
            delta=0.05,
            rivals=rivals,
            training=getattr(self, "training_problems_", None),
            visits=None,
        )

    def online_certificate(self, delta: float = 0.05) -> Certificate:
        """Return what the paper's theorems prove of the run, from the regret measured while learning."""
        check_fitted(self)
        ledger = self.training_.ledger
        return certificate_of_run(
            self.training_.learner,
            rounds=ledger.rounds,
            loss=ledger.loss,
            value=ledger.value,
            passes=ledger.most_visits,
            states=ledger.n_states,
            left_out=ledger.unlearned,
            left_out_value=ledger.unlearned_value,
            keep=self.keep,
            also=[*ledger.breaches, *self._peeked()],
            length=len(self.training_.weights),
            comparator_length=self.comparator_length,
            delta=delta,
            bounded=ledger.bounded,
            submodular=ledger.submodular,
            budgeted=self.budget is not None,
            grouped=self.training_.per_group is not None,
            per_size=self.training_.per_size,
            discounted=self.weighting == "discounted",
        )

    def _peeked(self) -> Iterator[str]:
        """Yields, in words, whatever saw training states before the online pass over them, which the theorems do not
        allow.
        """
        if self.training_.features.uses_training_data():
            yield "features were scaled or fitted on all states beforehand (standardize=False leaves them as they are)"
