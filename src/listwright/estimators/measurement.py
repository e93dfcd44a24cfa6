"""What lists are worth on problems that were not learned from, beside what people would do instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import FOLDS, Floats, Ints, folds_of
from listwright._internal.parameters import clone
from listwright._internal.pictures import html_table, intervals
from listwright._internal.progress import report_progress
from listwright._internal.saved import saved_as
from listwright.baselines import MMR, StaticList, TopK
from listwright.baselines.base import lists_by_score, n_steps
from listwright.checks.mistakes import correlations
from listwright.errors import InputError
from listwright.estimators.wide import WIDE
from listwright.evaluation.intervals import SHARES, estimate
from listwright.evaluation.values import best_of, list_values
from listwright.features.scale import dense
from listwright.guarantees import HeldOutCertificate
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.training.loop import Checkpoints
from listwright.walk.constraints import Constraints, as_budgets, as_constrained

FEWEST = 5  # problems below which nothing is measured
DIVERSITIES = tuple(np.linspace(0.0, 0.9, 10).tolist())  # that MMR chooses from, by lists for its training problems
TRIED = 8  # columns that go with the gains, of which the one with the best lists is taken
TREE_CELLS = 3e7  # rows times columns times folds up to which trees are grown to compare with

Values = Callable[[Problems, Problems], Floats]  # of lists for the second, by what was learned from the first


@saved_as("RivalValue")
class RivalValue(NamedTuple):
    """What another method's lists are worth on the same problems, and how far the model is ahead of it."""

    name: str
    value: float  # mean value of its lists
    ahead: float  # mean value of the model's lists minus that
    low: float | None  # the ends of the 95 % interval of `ahead`
    high: float | None

    def __str__(self) -> str:
        interval = "" if self.low is None else f" ({self.low:.3f} to {self.high:.3f})"
        return f"{self.name} ({self.value:.3f}): {self.ahead:+.3f}{interval}"


@saved_as("Measurement")
@dataclass(frozen=True)
class Measurement:
    """What lists of the length or budget asked for are worth on problems that were not learned from; print it to read
    it.

    The model is compared with the greedy static list (where items recur), with sorting by the best column and by
    extra-trees, and with tuned MMR, as far as they apply; all learn from the same problems.

    Attributes
    ----------
    value, low, high : float
        Mean value of the lists, and its 95 % interval (None where the problems do not tell).
    n : int
        Number of problems.
    limit : str
        What lists were limited to, such as "3 items".
    rivals : tuple of RivalValue
        The other methods, on the same problems.
    out_of_fold : bool
        True: each list was built by a copy of the model that had not learned from its problem. False: the model itself
        was measured, on problems that were held back.
    certificate : HeldOutCertificate or None
        What is certain, after `fit(..., certify=share)`.

    See Also
    --------
    SCP : Its attribute `measured_` is one of these.
    Report : The choice between methods, with a measurement of the chosen one.

    Examples
    --------
    >>> import listwright as lw
    >>> x = np.random.default_rng(0).random((100, 8, 2))
    >>> problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.8))
    >>> measured = lw.SCP(length=2, effort="fast", random_state=0).fit(problems).measured_
    >>> measured.n, measured.limit, [rival.name for rival in measured.rivals]
    (100, '2 items', ['sorting by the best column', 'sorting by trees', 'MMR'])
    """

    value: float
    low: float | None
    high: float | None
    n: int
    limit: str
    rivals: tuple[RivalValue, ...]
    out_of_fold: bool
    certificate: HeldOutCertificate | None = None

    @property
    def beats_rivals(self) -> bool:
        """Whether the lists are worth more than those of every other method, by more than chance explains."""
        return all(rival.low is not None and rival.low > 0 for rival in self.rivals)

    def __str__(self) -> str:
        interval = "" if self.low is None else f" ({self.low:.3f} to {self.high:.3f})"
        how = "out of fold" if self.out_of_fold else "held out"
        parts = [f"Lists of {self.limit} are worth {self.value:.3f}{interval} on {self.n:,} problems {how}."]
        ahead = [rival for rival in self.rivals if rival.low is not None and rival.low > 0]
        behind = [rival for rival in self.rivals if rival.high is not None and rival.high < 0]
        level = [rival for rival in self.rivals if rival not in (*ahead, *behind)]
        named = (("Ahead of", ahead), ("Behind", behind), ("No clear difference to", level))
        parts += [f"{words} {'; '.join(map(str, rivals))}." for words, rivals in named if rivals]
        text = fill(" ".join(parts), 110)
        return text if self.certificate is None else f"{text}\n{self.certificate}"

    def _repr_html_(self) -> str:
        how = "out of fold" if self.out_of_fold else "held out"
        own = "" if self.low is None else f"{self.low:.3f} to {self.high:.3f}"
        rows: list[list[Any]] = [["this model", self.value, own, "", ""]]
        for rival in self.rivals:
            span = "" if rival.low is None else f"{rival.low:+.3f} to {rival.high:+.3f}"
            rows.append([rival.name, rival.value, "", f"{rival.ahead:+.3f}", span])
        head = ["method", "value", "95 % interval", "this model is ahead by", "95 % interval"]
        return html_table(f"Lists of {self.limit}, {self.n:,} problems {how}", head, rows)

    def plot(self) -> Any:
        """Draw how far the lists are ahead of each other method, with 95 % intervals.

        Returns
        -------
        altair.Chart
            One row per method.
        """
        records = [
            {"method": rival.name, "mean": rival.ahead, "low": rival.low, "high": rival.high} for rival in self.rivals
        ]
        return intervals(records, f"value ahead, lists of {self.limit}", zero=True)


def measurement_of(
    values: Floats,
    rivals: Mapping[str, Floats],
    problems: Problems,
    limits: dict[str, Any],
    *,
    out_of_fold: bool = True,
) -> Measurement:
    bounded, length = reward_of(problems).bounded, limits["length"]
    limit = f"{length} item{'' if length == 1 else 's'}" if length else f"total size {limits['budget']:g}"
    own = estimate(values, bounds=SHARES if bounded else None)
    assert own is not None
    others = []
    for name, theirs in rivals.items():
        gap = estimate(values - theirs, bounds=(-1.0, 1.0) if bounded else None)
        assert gap is not None
        ahead = round(gap.mean, 12) + 0.0  # without what rounding in sums leaves
        others.append(RivalValue(name, float(theirs.mean()), ahead, gap.low, gap.high))
    return Measurement(own.mean, own.low, own.high, len(values), limit, tuple(others), out_of_fold)


def measure_out_of_fold(model: Any, problems: Problems) -> Measurement:
    if len(problems) < FEWEST:
        raise AttributeError(f"{len(problems)} problems are too few to hold some out: give at least {FEWEST}.")

    def values(learned: Problems, held: Problems) -> Floats:
        twin = clone(model).set_params(verbose=0)._fit(learned, Checkpoints())
        return list_values(twin.predict(held.without_reward()), held)

    report_progress("measuring out of fold")
    problems = as_constrained(problems, None, getattr(model, "per_group", None))
    own, limits = out_of_fold_values(problems, values), limits_of(model)
    return measurement_of(own, rival_values(problems, limits), problems, limits)


def measure_held_out(model: Any, learned: Problems, held: Problems, certificate: HeldOutCertificate) -> Measurement:
    learned, held = (as_constrained(some, None, getattr(model, "per_group", None)) for some in (learned, held))
    limits = limits_of(model)
    rivals = {name: values(learned, held) for name, values in rivals_for(learned, limits, 1).items()}
    own = list_values(model.predict(held.without_reward()), held)
    return replace(measurement_of(own, rivals, held, limits, out_of_fold=False), certificate=certificate)


def split_held_out(n_problems: int, share: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Split problem numbers at random into those to learn from and those to hold back, both in rising order."""
    if not 0 < share < 1:
        raise InputError(f"certify must be a share between 0 and 1, such as 0.2. Got {share!r}.")
    n_held = max(1, round(share * n_problems))
    if n_held >= n_problems:
        raise InputError(f"certify={share:g} would leave none of {n_problems} problems to learn from.")
    order = rng.permutation(n_problems)
    return np.sort(order[n_held:]), np.sort(order[:n_held])


def limits_of(model: Any) -> dict[str, Any]:
    return {"length": model.length if model.budget is None else None, "budget": model.budget}


def rival_values(
    problems: Problems, limits: dict[str, Any], n_folds: int = FOLDS, *, trees: bool = True
) -> dict[str, Floats]:
    rivals = rivals_for(problems, limits, n_folds, trees=trees)
    return {name: out_of_fold_values(problems, values, n_folds) for name, values in rivals.items()}


def out_of_fold_values(problems: Problems, values: Values, n_folds: int = FOLDS) -> Floats:
    folds, result = folds_of(problems.problem_ids, n_folds), np.zeros(len(problems))
    present = np.unique(folds)
    for fold in present:
        held = folds == fold
        result[held] = values(problems[~held if len(present) > 1 else held], problems[held])
    return result


def rivals_for(problems: Problems, limits: dict[str, Any], n_folds: int, *, trees: bool = True) -> dict[str, Values]:
    rivals: dict[str, Values] = {}
    if problems.catalogue is not None:
        rivals["static list"] = _fitted_values(StaticList().fit, limits)
    if problems.n_features:
        rivals["sorting by the best column"] = lambda learned, held: _column_values(learned, held, limits)
    width = problems.n_features + (0 if problems.context is None else problems.context.shape[1])
    if width:
        small = trees and problems.n_features <= WIDE and problems.n_rows * width * n_folds <= TREE_CELLS
        estimator = TopK("extra_trees" if small else "ridge", random_state=0)
        rivals["sorting by trees" if small else "sorting by ridge"] = _fitted_values(estimator.fit, limits)
    constraints = Constraints(problems, as_budgets(limits["budget"], problems), limits["length"])
    if (problems.n_features or problems.vectors is not None) and not constraints.stepwise:
        rivals["MMR"] = _fitted_values(lambda learned: fit_mmr(learned, limits), limits)
    return rivals


def fit_mmr(problems: Problems, limits: dict[str, Any]) -> MMR:
    model = MMR(relevance="ridge", length=limits["length"] or 1).fit(problems)

    def values(diversity: float) -> Floats:
        lists = model.set_params(diversity=diversity).predict(problems.without_reward(), **limits, allow_short=True)
        return list_values(lists, problems)

    return model.set_params(diversity=best_of(DIVERSITIES, values))


def _fitted_values(fit: Callable[[Problems], Any], limits: dict[str, Any]) -> Values:
    def values(learned: Problems, held: Problems) -> Floats:
        return list_values(fit(learned).predict(held.without_reward(), **limits, allow_short=True), held)

    return values


def _column_values(learned: Problems, held: Problems, limits: dict[str, Any]) -> Floats:
    """Return the values of lists sorted by the column, up or down, that sorts the learned problems best."""
    reward = reward_of(learned)
    along = correlations(learned.features, reward.gains(reward.start(learned)))
    likely = np.argsort(-np.abs(along), kind="stable")[:TRIED]
    signed = [(int(column), -1.0 if along[column] < 0 else 1.0) for column in likely]
    return _sorted_values(held, *best_of(signed, lambda option: _sorted_values(learned, *option, limits)), limits)


def _sorted_values(problems: Problems, column: int, sign: float, limits: dict[str, Any]) -> Floats:
    scores: Floats = sign * dense(problems.features[:, [column]])[:, 0].astype(np.float64)
    steps = n_steps(problems, limits["length"], allow_short=True)
    return list_values(lists_by_score(problems, scores, steps, as_budgets(limits["budget"], problems)), problems)
