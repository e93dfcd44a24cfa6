"""Off-policy evaluation of one policy on a log, by twelve estimators."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, RandomState, as_generator, as_numbers
from listwright._internal.extras import warn
from listwright.errors import InputError
from listwright.evaluation.intervals import Bounds
from listwright.feedback.answered import AnsweredLists
from listwright.feedback.log import Log
from listwright.feedback.off_policy.estimates import (
    RECOMMENDED,
    EvidenceWarning,
    OffPolicyEstimate,
    OffPolicyEvaluation,
    estimate_of,
)
from listwright.feedback.off_policy.estimators import (
    ENOUGH,
    SUPPORT,
    InfluenceValues,
    estimators,
    temporal_errors,
    with_events,
)
from listwright.feedback.off_policy.evidence import Evidence, LoggedGains, evidence
from listwright.feedback.off_policy.examination import estimate_examined
from listwright.feedback.off_policy.propensities import ESTIMATED, check_arguments, known_gains, sensitivity
from listwright.feedback.off_policy.rollout import against_log
from listwright.feedback.off_policy.targets import LoggedChances, as_target

FEW = 50.0  # lists of equal weight, below which an interval should not be trusted
GIVEN = "chances="  # name of chances that are given as an array
MANY = 100.0  # of lists that agree in single slots
MODELLED = ("direct", "shrinkage_dr", "switch")  # a model's value, with the interval of the doubly robust estimate


def evaluate(
    log: Log,
    policy: object = None,
    *,
    chances: str | ArrayLike | None = None,
    value: str = "sum",
    propensity: str = "logged",
    clip: float | None = None,
    confidence: float = 0.95,
    random_state: RandomState = 0,
) -> OffPolicyEvaluation:
    """Estimate what a policy's lists are worth on the logged problems, from the lists that another one showed.

    Parameters
    ----------
    log : Log
        Lists that were shown with known chances. Lists without propensities are left out, with a warning.
    policy : OnlineSCP, SCP, anything with predict, or a function from problems to lists
        An `OnlineSCP` is taken as it would show lists now, with its exploration; `learner.predict` is the same without.
    chances : str or array of shape (lists, positions), optional
        In place of a policy: the chance of each shown item under any stochastic policy, given the items before it. The
        name of a column of the log's table, or an array with one row per answered list. Then there is no `direct`.
    value : {"sum", "any"}
        What a list is worth: the sum of its outcomes, or whether it got any click. The same where users stop at the
        first click (`Log(cascade=True)`).
    propensity : {"logged", "frequency", "model", "examination"}
        Where the chances of the shown items come from: the log; or, for logs without, how often an item was shown at a
        position, or a model of the policy that showed them. With the last two, `sensitivity` says how much depends on
        the estimate. "examination" adds an estimate that needs no chances, from how often users look at each position
        (`examination`), and recommends it; it takes what an item is worth not to depend on the items around it.
    clip : float, optional
        The largest weight of the clipped estimate; by default the square root of the number of lists.
    confidence : float
        The chance that an interval holds the truth.
    random_state : int, Generator or None
        Of the lists that are drawn from a policy that explores.

    Returns
    -------
    OffPolicyEvaluation
        Twelve estimates. Those by weights (`slate_ips` to `adaptive`) need lists that both policies could have shown:
        the effective size says how many there were. `direct` is a model of clicks alone. `per_position_dr` and
        `cascade_dr` put both together. `switch` is the one to look at first: `cascade_dr` where the effective size is
        at least a third of the lists; else `direct`, with as few corrections as the log shows to be needed. As neither
        knows its own bias, `direct` and `switch` have
        the interval of `cascade_dr` (or of `pseudo_inverse`, where only single slots agree with the log).

    See Also
    --------
    compare : Several policies, and whether to roll one out.

    References
    ----------
    Swaminathan et al. (2017), Off-policy evaluation for slate recommendation. McInerney et al. (2020), Counterfactual
    evaluation of slate recommendations with sequential reward interactions. Kiyohara et al. (2022), Doubly robust
    off-policy evaluation for ranking policies under the cascade behavior model. Wang, Agarwal & Dudik (2017), Optimal
    and adaptive off-policy evaluation in contextual bandits. Su, Srinath & Krishnamurthy (2020), Adaptive estimator
    selection for off-policy evaluation. Su et al. (2020), Doubly robust off-policy evaluation with shrinkage. Kiyohara
    et al. (2023), Off-policy evaluation of ranking policies under diverse user behavior. Fay & Kim (2017), Confidence
    intervals for directly standardized rates using mid-p gamma intervals.

    Examples
    --------
    >>> import listwright as lw
    >>> rng = np.random.default_rng(0)
    >>> problems = lw.Problems.from_arrays(rng.random((2000, 4, 2)))
    >>> ids = [str(i) for i in range(2000)]
    >>> shown = lw.OnlineSCP(length=2, random_state=0).recommend(problems, list_ids=ids)  # even odds
    >>> log = Log()
    >>> log.append(shown)
    >>> clicks = rng.random(shown.rows.shape) < problems.features[shown.rows, 0]
    >>> _ = log.feedback(ids, clicks)
    >>> learned = lw.OnlineSCP(length=2, random_state=0).fit_log(log)
    >>> print(evaluate(log, learned.predict))  # the two with the largest first feature: 0.8 + 0.6
                      value                   effective size  events
    direct            1.422 (1.367 to 1.510)             181     399
    slate ips         1.596 (1.364 to 1.856)             181     266
    self normalised   1.470 (1.373 to 1.559)             181     266
    pseudo inverse    1.446 (1.361 to 1.529)             289     657
    per position ips  1.500 (1.344 to 1.673)             181     399
    per position sn   1.446 (1.363 to 1.525)             181     399
    clipped           1.446 (1.363 to 1.525)             181     399
    adaptive          1.438 (1.375 to 1.498)             501     722
    per position dr   1.445 (1.370 to 1.517)             181     399
    cascade dr        1.440 (1.367 to 1.510)             181     399
    shrinkage dr      1.427 (1.367 to 1.510)             181     399
    switch *          1.422 (1.367 to 1.510)             181     399
    the log itself    1.008 (0.977 to 1.038)           2,000   2,015
    * look at this one first
    """
    check_arguments(log, value, confidence, propensity)
    known, looked = known_gains(log, value, propensity)
    if (policy is None) == (chances is None):
        raise InputError("Give either a policy or chances=, the column with the chances of the shown items.")
    if chances is not None:
        policy = LoggedChances(chances if isinstance(chances, str) else GIVEN)
    if chances is not None and not isinstance(chances, str):
        known = replace(known, logged=_with_chances(known.logged, as_numbers(chances, "chances")))
    target = as_target(policy, int(as_generator(random_state).integers(2**62)))
    seen = evidence(known, target)
    evaluation = evaluation_of(seen, estimators(seen, clip=clip), confidence, propensity)
    if looked is not None:
        part = estimate_examined(known.logged, target, looked)
        examined = estimate_of(part, confidence, (0.0, known.most), known.values)
        evaluation = replace(evaluation, examination=examined, recommended="examination")
    if evaluation.effective_size < FEW:
        _warn_few(evaluation, seen.ratios[:, 0])
    return evaluation


def _with_chances(logged: AnsweredLists, chances: Floats) -> AnsweredLists:
    if chances.shape != logged.rows.shape:
        raise InputError(f"chances must have the shape {logged.rows.shape} of the answered lists. Got {chances.shape}.")
    return replace(logged, others={**logged.others, GIVEN: chances})


def evaluation_of(
    seen: Evidence, parts: dict[str, InfluenceValues], confidence: float, propensity: str
) -> OffPolicyEvaluation:
    # Estimates that rest on the model (`direct`, `switch`) keep their value but take the interval of the basis
    # estimate, because their own spread does not include the model's bias.
    log, bounds = seen.log, (0.0, seen.log.most)
    estimates = {name: estimate_of(part, confidence, bounds, log.values) for name, part in parts.items()}
    known = estimates[basis_of(log, parts)]
    for name in MODELLED if seen.has_path else ():
        middle = min(max(parts[name].value, bounds[0]), bounds[1])
        ends = min(known.low, middle), max(known.high, middle)
        estimates[name] = OffPolicyEstimate(middle, *ends, known.effective_size, known.events)
    apart = least_varying(ways_of(log, parts), (log.values, log.values))
    old = logged_estimate(log, confidence)
    return OffPolicyEvaluation(
        **estimates,  # type: ignore[arg-type]
        logged=old,
        n_lists=len(log),
        against_log=against_log(("the policy", "the log"), estimates[RECOMMENDED], old, apart, seen, confidence),
        propensity=propensity,
        sensitivity=_sensitivity(seen, bounds) if propensity in ESTIMATED else None,
    )


def logged_estimate(log: LoggedGains, confidence: float) -> OffPolicyEstimate:
    part = with_events(log.values, np.ones(log.gains.shape), log.gains, float(len(log)))
    return estimate_of(part, confidence, (0.0, log.most), log.values)


def basis_of(log: LoggedGains, parts: dict[str, InfluenceValues]) -> str:
    """Return the name of the estimate that supplies the intervals of modelled ones."""
    robust, slots = parts["cascade_dr"].effective_size, parts["pseudo_inverse"].effective_size
    return "pseudo_inverse" if robust < ENOUGH and slots >= MANY and not log.stops else "cascade_dr"


def ways_of(log: LoggedGains, parts: dict[str, InfluenceValues]) -> tuple[Floats, Floats]:
    """Return what a policy is compared by: the influence of the basis, and that of weights alone."""
    basis = basis_of(log, parts)
    return parts[basis].influence, parts["per_position_sn" if basis == "cascade_dr" else basis].influence


def least_varying(new: tuple[Floats, Floats], old: tuple[Floats, Floats]) -> Floats:
    """Return the difference by list that varies least: weights alone if the policy shows much of what the log does."""
    return min((one - other for one, other in zip(new, old, strict=True)), key=np.std)


def _sensitivity(seen: Evidence, bounds: Bounds) -> tuple[float, float]:
    start, errors = temporal_errors(seen)
    low, high = (min(max(start.mean() + end, bounds[0]), bounds[1]) for end in sensitivity(seen.weights, errors))
    return float(low), float(high)


def _warn_few(found: OffPolicyEvaluation, first: Floats) -> None:
    size, n_lists = found.effective_size, found.n_lists
    reason = "the policy shows other lists than the log"
    cure = "Do not trust the intervals; log more lists, or with more exploration."
    if first.mean() - 3.0 * first.std() / np.sqrt(n_lists) > 1.0 / SUPPORT:
        reason = f"the weights of the first items average {first.mean():.2f} in place of 1"
        cure = "Log all candidates, also those that were not shown, and the propensities with which lists were drawn."
    elif found.against_log.verdict != "cannot tell":  # which says itself how many lists and clicks it rests on
        return
    warn(f"The effective sample size is {size:.1f} of {n_lists:,} lists: {reason}. {cure}", EvidenceWarning)
