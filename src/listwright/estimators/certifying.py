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
    rival_length: int | None
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
        """What is certain of the lists that `predict` builds, from problems that the model has not seen.

        It holds for any learner, any effort and budgets too, as it looks at lists only: lower confidence bounds on what
        they are worth, on their share of what greedy gets when it knows the reward, and on how far they are ahead of
        rivals on the same problems.

        Parameters
        ----------
        held_out : Problems
            Problems with a reward, drawn like those to come and not learned from. More of them give tighter bounds.
        delta : float
            Each bound fails with a probability of at most `delta`; those against rivals all together.
        rivals : list or dict
            "static" (the best fixed list), "top_k" (sorting by a ridge regression of gains), "mmr" (with the diversity
            that is best on the training problems), or fitted models; a dict gives them names.
        length, budget : optional
            Another length or budget than trained.
        per_group : int or dict, optional
            Another limit on groups than trained. Greedy and the rivals keep to it too.
        training : Problems, optional
            What named rivals learn from. A model that was just fitted in memory still has its problems.

        Returns
        -------
        HeldOutCertificate
            It prints itself in a few words.

        Raises
        ------
        InputError
            Where the model has learned from some of the problems: the message names them.

        See Also
        --------
        online_certificate : What the paper's theorems prove of the run itself.

        Examples
        --------
        >>> import numpy as np
        >>> import listwright as lw
        >>> features = np.random.default_rng(0).random((300, 9, 3))
        >>> problems = lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(features[..., 1] > 0.9))
        >>> model = lw.SCP(length=2, effort="fast", random_state=0).fit(problems[:200])
        >>> print(model.certify(problems[200:]))
        On problems like these 100, with 95 % confidence: lists are worth at least 0.45; at least 92 % of what greedy
        gets when it knows the reward.
        """
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
        """What the paper's theorems prove of the run, from the regret measured while learning.

        It is about the mixture of all rounds' policies of one pass, state by state, over independent draws
        (`n_passes=1, batch_size=1, keep="mixture"`, and features that are not scaled by the training problems); it
        names what a run does not keep of that. For the policy that `predict` uses, see `certify`.

        Parameters
        ----------
        delta : float
            The claims fail with a probability of at most `delta`.

        Returns
        -------
        Certificate
            The bounds, and which assumptions of the theorems the run does not meet.

        See Also
        --------
        certify : Bounds for the policy that `predict` uses, from held-out problems.
        """
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
            rival_length=self.rival_length,
            delta=delta,
            bounded=ledger.bounded,
            submodular=ledger.submodular,
            budgeted=self.budget is not None,
            grouped=self.training_.per_group is not None,
            per_size=self.training_.per_size,
            discounted=self.weighting == "discounted",
        )

    def _peeked(self) -> Iterator[str]:
        """Yields, in words, whatever saw training states before the online pass over them, which the theorems do
        not allow.
        """
        if self.training_.features.peeks():
            yield "features were scaled or fitted on all states beforehand (standardize=False leaves them as they are)"
