"""Lower confidence bounds on the value of a policy's lists, from problems that it has not seen."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, Hashes, Ints
from listwright._internal.pictures import html_text, intervals
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.guarantees.betting import Gamblers, lower_share
from listwright.guarantees.bounds import format_bound, format_confidence, validate_delta
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.rewards.base import Laws

NAMES = {"static": "the best fixed list", "top_k": "sorting by predicted value", "mmr": "MMR with its best diversity"}
ORDER_SEED = 20130616  # of the order in which problems are bet on, with their keys
COPIES = 0.01  # share of problems that equal others, past which they are taken for copies
LEFT_OUT = "Left out, and not covered"
EXACT_SHARE = 0.9  # of a statement's part, for the exact bound of 0/1 rewards; the rest is for bets, and updates


@dataclass(frozen=True)
class HeldOutValues:
    """What lists are worth on held-out problems, one entry per problem: the input of a certificate."""

    values: Floats
    greedy: Floats  # of the lists that greedy builds with the reward in sight
    rivals: Mapping[str, Floats] = field(default_factory=dict)
    # upper bounds on the best list of each problem: `greedy` itself where it is the best; None if none are proved
    best: Floats | None = None
    clusters: Ints | None = None  # problems with the same number belong together
    weights: Floats | None = None  # of the problems
    bounded: bool = True  # whether the reward itself promises values from 0 to 1
    binary: bool = False  # whether values are mostly 0 or 1, as those of `AnySuccess`
    notes: tuple[str, ...] = ()
    remarks: Mapping[str, str] = field(default_factory=dict)  # by rival: what to say behind its bound
    keys: Hashes | None = None  # of what the problems contain
    further: Callable[..., HeldOutValues] | None = None  # measures problems that come later, and refuses known ones

    @property
    def n_groups(self) -> int | None:
        """The number of independent draws of equal weight that the problems are as good as; None if it is theirs."""
        if self.clusters is None and self.weights is None:
            return None
        weights = self._group_weights()
        return int(weights.sum() ** 2 / (weights**2).sum() + 1e-9)

    def average(self, column: Floats) -> float:
        """Return the mean that the bounds are about: by weight, and of the means of clusters."""
        return float(self._merge(column).sum() / self._merge(np.ones(len(column))).sum())

    def pairs(self) -> dict[str, tuple[Floats, Floats]]:
        """Return the statement's tops and bottoms by its name, one entry per independent cluster, in betting order."""
        tops = {"value": self.values}
        bottoms = {"value": np.ones(len(self.values))}
        if self.bounded:
            ahead = {name: (self.values - np.asarray(other, np.float64) + 1) / 2 for name, other in self.rivals.items()}
            tops |= {"greedy": self.values} | {f"ahead:{name}": np.clip(gap, 0.0, None) for name, gap in ahead.items()}
            bottoms |= {"greedy": np.clip(self.greedy, 0.0, 1.0)}
            if self.best is not None and self.best is not self.greedy:
                tops, bottoms = tops | {"best": self.values}, bottoms | {"best": np.clip(self.best, 0.0, 1.0)}
        ones, order = bottoms["value"], self._betting_order()
        return {
            name: (self._merge(top)[order], self._merge(bottoms.get(name, ones))[order]) for name, top in tops.items()
        }

    @property
    def total_weight(self) -> float:
        return float(self._group_weights().sum())

    def _group_weights(self) -> Floats:
        weights = np.ones(len(self.values)) if self.weights is None else self.weights
        if self.clusters is None:
            return weights
        total: Floats = np.bincount(self.clusters, weights).astype(np.float64)
        return total if self.weights is not None else np.ones(len(total))

    def _merge(self, column: Floats) -> Floats:
        """Return the weighted mean of each cluster times its share of the largest weight."""
        if self.clusters is not None:
            total: Floats = np.bincount(self.clusters, self.weights).astype(np.float64)
            weighted = column if self.weights is None else self.weights * column
            column = np.bincount(self.clusters, weighted) / np.maximum(total, 1e-300)
        weights = self._group_weights()
        return column * weights / weights.max()

    def _betting_order(self) -> Ints:
        """Return an order that does not depend on that of the problems, and is another one for other problems."""
        # One order for all would not do: a table that is sorted by value would give the same ranks in the same places
        # in every sample. The problems' own keys are the seed, so that the order is as good as drawn.
        columns = np.column_stack([self.values, self.greedy, *self.rivals.values()])
        roots = np.sqrt(2.0 + 3.0 * np.arange(columns.shape[1]))
        labels: Hashes = (columns @ roots).view(np.uint64)
        if self.keys is not None:
            tied = len(np.unique(self.keys)) < len(self.keys)  # problems that only later gains tell apart
            labels = self.keys + labels if tied else self.keys
        if self.clusters is not None:
            merged = np.zeros(self.clusters.max() + 1, np.uint64)
            np.add.at(merged, self.clusters, labels)
            labels = merged
        order = np.argsort(labels, kind="stable")
        return order[np.random.default_rng([ORDER_SEED, zlib.crc32(labels[order].tobytes())]).permutation(len(order))]


@saved_as("guarantees.HeldOutCertificate")
@dataclass(frozen=True)
class HeldOutCertificate:
    """Lower confidence bounds on what lists are worth, as returned by `certify` of a fitted model.

    All bounds hold together with a probability of at least 1 - `delta`. They hold for any policy and any way of
    learning, because the policy never saw these problems. They are about problems drawn independently from the same
    source (or clusters of problems, if `cluster=` names them), and do not cover data that change over time.

    Attributes
    ----------
    value : float
        Lower bound on the mean value of the lists.
    share_of_greedy : float or None
        Lower bound on that mean as a share of what greedy reaches when it knows the reward of the same problems. None
        if no bound is known: see `notes`.
    ahead_of : dict of str to float
        By rival: lower bound on how much more the lists are worth, on average, than the rival's on the same problems.
    n : int
        Number of held-out problems.
    delta : float
        Probability that one of the statements is wrong.
    length : int or None
        Length of the lists, if it is fixed.
    budget : float or None
        Budget of the lists, if they have one.
    mean, greedy_mean : float
        Mean values seen on the held-out problems, of these lists and of greedy: by weight, and by cluster.
    share_of_best : float or None
        Lower bound on the mean as a share of the best list's, which is bounded for each problem from the gains along
        greedy's list. None if nothing is proved: see `notes`.
    n_groups : int or None
        Effective number of independent draws: that of clusters, and fewer if their weights differ. None if every
        problem is a draw.
    winner : str, int or None
        Name or number of the model that `certify_best` chose.
    alone : dict
        The same statements, by name, where each holds with a probability of at least 1 - `delta` by itself, not
        together with others: higher bounds, for the one statement that was chosen before looking. Empty after
        `update`.
    notes : tuple of str
        What is not claimed, and why; what else to know.
    remarks : dict
        By rival, what is said behind its bound.

    See Also
    --------
    Certificate : What the paper's theorems say about an online run, without held-out problems.
    lower_mean : The bound on a mean.

    Examples
    --------
    >>> certificate = HeldOutCertificate(value=0.767, share_of_greedy=0.81, ahead_of={"mmr": 0.1}, n=100, delta=0.05)
    >>> print(certificate)
    On problems like these 100, with 95 % confidence in all of it: lists are worth at least 0.76; at least 81 % of what
    greedy gets when it knows the reward; at least 0.10 more than MMR with its best diversity.
    """

    value: float
    share_of_greedy: float | None
    ahead_of: dict[str, float]
    n: int
    delta: float
    length: int | None = None
    budget: float | None = None
    mean: float = float("nan")
    greedy_mean: float = float("nan")
    share_of_best: float | None = None
    n_groups: int | None = None
    winner: str | int | None = None
    alone: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = field(default=(), compare=False)
    remarks: dict[str, str] = field(default_factory=dict)
    continuation: Continuation | None = field(default=None, repr=False, compare=False)  # what `update` needs

    not_saved = ("continuation",)

    def update(self, more: Any, *, cluster: Any = None) -> HeldOutCertificate:
        """Return a certificate from further problems besides those that it was made from.

        The bounds of all certificates in such a row, with the first, hold at all times together, with probability
        1 - `delta`: look as often as you like, and stop when you like. They never fall. For rewards of 0 and 1 they are
        a little lower than those of a single look at the same problems.

        Parameters
        ----------
        more : Problems or frame
            Further held-out problems with a reward, drawn from the same source: which are passed first must not depend
            on their values. Those that are part of this certificate already are refused.
        cluster : str or array-like, optional
            Problems that belong together, as in `certify`: for a certificate that was made with clusters. Those that
            are part of it already are refused, because their problems are no new draws.

        Returns
        -------
        HeldOutCertificate
            The new certificate; this one stays as it is.

        Raises
        ------
        InputError
            If this certificate was made with `weight` or counts copies as one draw, is that of a chosen winner, or was
            read from a file, which does not hold what is needed to go on; or if problems or clusters occur again.

        Examples
        --------
        >>> import listwright as lw
        >>> import numpy as np
        >>> x = np.random.default_rng(0).random((300, 6, 2))
        >>> problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.8))
        >>> model = lw.SCP(length=2, effort="fast", random_state=0).fit(problems[:100])
        >>> first = model.certify(problems[100:200])
        >>> first.update(problems[200:]).n
        200
        """
        if self.continuation is None:
            raise InputError(
                "This certificate cannot be updated: it was read from a file, has weights or copies of problems, or is "
                "that of a chosen winner. Call certify again, with all problems."
            )
        return self.continuation.extend(self, more, cluster)

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def plot(self) -> Any:
        """Draw the lower bounds, and what was seen of the lists on the held-out problems.

        Returns
        -------
        altair.Chart
            A row for each statement, with a tick at its bound: the value of the lists, which has a point at the mean
            seen, shares of greedy and of the best lists, and how far the lists are ahead of rivals.
        """
        shares = {"share of greedy": self.share_of_greedy, "share of the best lists": self.share_of_best}
        bounds = {name: share for name, share in shares.items() if share is not None}
        bounds |= {f"ahead of {NAMES.get(name, name)}": bound for name, bound in self.ahead_of.items()}
        records = [{"method": "value of lists", "mean": self.mean, "low": self.value, "high": self.mean}]
        records += [{"method": name, "mean": np.nan, "low": bound, "high": np.nan} for name, bound in bounds.items()]
        title = f"ticks: lower bounds at {format_confidence(self.delta)} % confidence; point: mean seen"
        return intervals(records, title, zero=True)

    def __str__(self) -> str:
        parts = [f"lists are worth at least {format_bound(self.value, 2)}"]
        for share, what in (
            (self.share_of_greedy, "what greedy gets when it knows the reward"),
            (self.share_of_best, "the best lists"),
        ):
            if share is not None:
                parts.append(f"at least {format_bound(100 * share, 0)} % of {what}")
        parts += [_compare_in_words(name, bound) + self.remarks.get(name, "") for name, bound in self.ahead_of.items()]
        those = "this one" if self.n == 1 else f"these {self.n:,}"
        if self.n_groups is not None:
            those += f" of effectively {self.n_groups:,} independent groups"
        confidence = f"{format_confidence(self.delta)} % confidence in all of it"
        return " ".join([f"On problems like {those}, with {confidence}: {'; '.join(parts)}.", *self.notes])


@dataclass(frozen=True)
class Continuation:
    """What a certificate needs to go on with further problems: the state of all bets, and how to measure problems."""

    gamblers: dict[str, Gamblers]
    bounds: dict[str, float]
    measure: Callable[..., HeldOutValues]
    clustered: bool  # whether clusters were named
    weight: float  # of the problems so far

    def extend(self, certificate: HeldOutCertificate, more: Any, cluster: Any) -> HeldOutCertificate:
        if self.clustered != (cluster is not None):
            made, do = ("with", "Pass") if self.clustered else ("without", "Do not pass")
            raise InputError(f"This certificate was made {made} clusters, which are its draws. {do} cluster= here too.")
        measured = self.measure(more) if cluster is None else self.measure(more, cluster)
        pairs = measured.pairs()
        gamblers = {name: bets.play(*pairs[name]) for name, bets in self.gamblers.items() if name in pairs}
        bounds = _with_implied({name: max(self.bounds[name], bets.bound) for name, bets in gamblers.items()})
        n, weight = certificate.n + len(measured.values), self.weight + measured.total_weight
        groups = (certificate.n_groups or certificate.n) + (measured.n_groups or len(measured.values))
        share = measured.total_weight / weight
        measure = measured.further or self.measure
        earlier = [note for note in certificate.notes if not note.startswith(LEFT_OUT)]  # the new count is of all
        return replace(
            certificate,
            **_statements(bounds, measured),
            n=n,
            n_groups=None if groups == n else groups,
            mean=certificate.mean + (measured.average(measured.values) - certificate.mean) * share,
            greedy_mean=certificate.greedy_mean + (measured.average(measured.greedy) - certificate.greedy_mean) * share,
            alone={},
            notes=tuple(dict.fromkeys((*earlier, *measured.notes))),
            continuation=replace(self, gamblers=gamblers, bounds=bounds, measure=measure, weight=weight),
        )


def make_certificate(
    measured: HeldOutValues,
    *,
    delta: float,
    n_models: int = 1,
    length: int | None = None,
    budget: float | None = None,
    with_alone: bool = True,
) -> HeldOutCertificate:
    """Make the certificate from values on held-out problems, valid for each of `n_models` models at once."""
    delta_model = validate_delta(delta) / n_models
    pairs = measured.pairs()
    gamblers, bounds, alone = _first_bounds(measured, pairs, delta_model, with_alone)
    bounds = _with_implied(bounds)
    clustered = measured.clusters is not None and measured.weights is None
    return HeldOutCertificate(
        **_statements(bounds, measured),
        n=len(measured.values),
        delta=delta,
        length=length,
        budget=budget,
        mean=measured.average(measured.values),
        greedy_mean=measured.average(measured.greedy),
        n_groups=measured.n_groups,
        alone=_statements(alone, measured) if with_alone else {},
        notes=measured.notes,
        remarks=dict(measured.remarks),
        continuation=None
        if measured.further is None
        else Continuation(gamblers, bounds, measured.further, clustered, measured.total_weight),
    )


def _split_delta(names: Iterable[str], delta: float) -> dict[str, float]:
    """Return the part of each statement: the value, all shares together and all rivals together get the same."""
    kinds = {name: "ahead" if name.startswith("ahead:") else "value" if name == "value" else "share" for name in names}
    sizes = Counter(kinds.values())
    return {name: delta / len(sizes) / sizes[kind] for name, kind in kinds.items()}


def _first_bounds(
    measured: HeldOutValues, pairs: Mapping[str, tuple[Floats, Floats]], delta: float, with_alone: bool
) -> tuple[dict[str, Gamblers], dict[str, float], dict[str, float]]:
    """Return the bets of each statement, the bounds that hold together, and those that hold each by itself."""
    exact = {"value": np.ones(len(measured.values)), "greedy": measured.greedy, "best": measured.best}
    if not measured.binary or measured.clusters is not None or measured.weights is not None:
        exact = {}
    gamblers: dict[str, Gamblers] = {}
    bounds: dict[str, float] = {}
    alone: dict[str, float] = {}
    for name, part in _split_delta(pairs, delta).items():
        kind = {"shares": name != "value" or measured.bounded}
        staked = part * (1 - EXACT_SHARE) if name in exact else part
        gamblers[name] = Gamblers(staked, **kind).play(*pairs[name])
        bounds[name] = alone[name] = gamblers[name].bound
        if name not in exact:
            alone[name] = Gamblers(delta, **kind).play(*pairs[name]).bound if with_alone else 0.0
            continue
        of = np.asarray(exact[name]) > 0
        if of.any():  # values between 0 and 1 are rounded against the claim, so that the bound holds for them too
            n_ones, n = int((measured.values[of] >= 1).sum()), int(of.sum())
            bounds[name] = max(bounds[name], lower_share(n_ones, n, part - staked))
            alone[name] = max(alone[name], lower_share(n_ones, n, delta - staked))
    return gamblers, bounds, alone


def _with_implied(bounds: dict[str, float]) -> dict[str, float]:
    """Return the bounds, with what follows: greedy's lists are worth no more than the best, and these at most 1."""
    implied, least = dict(bounds), bounds["value"]
    for name in ("best", "greedy"):
        if name in implied:
            implied[name] = least = max(least, implied[name])
    return implied


def _statements(bounds: Mapping[str, float], measured: HeldOutValues) -> dict[str, Any]:
    return {
        "value": bounds["value"],
        "share_of_greedy": bounds.get("greedy"),
        "share_of_best": bounds.get("greedy" if measured.best is measured.greedy else "best"),
        "ahead_of": {
            name.removeprefix("ahead:"): 2 * bound - 1 for name, bound in bounds.items() if name.startswith("ahead:")
        },
    }


def _compare_in_words(name: str, bound: float) -> str:
    """Return the words that compare the lists with one rival; the printed number is rounded against the lists."""
    name = NAMES.get(name, name)
    if bound >= 0.01:
        return f"at least {format_bound(bound, 2)} more than {name}"
    less = format_bound(-bound, 2, upper=True)
    return f"no less than {name}" if bound >= 0 else f"at most {less} less than {name}"


def bound_best_lists(
    problems: Problems, lists: Iterable[Ints], *, length: int | None, budget: Floats | None
) -> tuple[Floats, set[str]]:
    """Return an upper bound on the best list of each problem, and the laws that gains along these lists break."""
    # No list adds more to a prefix than its largest gains do, one by one, if the reward is monotone and submodular; so
    # for every prefix P of any list, the best list is worth at most f(P) plus the sum of these gains. Under a budget
    # the sum is that of the fractional knapsack. `lists` are rows by problem and position, with -1 where a list has
    # ended.
    reward = reward_of(problems)
    best, broken = np.full(len(problems), np.inf), set()
    for rows in lists:
        state = reward.start(problems)
        laws = Laws(problems.n_rows, reward.value(state))
        for picks in [*rows.T, None]:
            values = reward.value(state)
            laws.check_values(values)
            gains = laws.watch(reward.gains(state))
            best = np.minimum(best, values + _most_addable(problems, gains, length, budget))
            if picks is not None:
                state = reward.add(state, picks)
        broken |= laws.broken
    return best, broken


def _most_addable(problems: Problems, gains: Floats, length: int | None, budget: Floats | None) -> Floats:
    """Return by problem the largest sum of gains within the length and, in fractions of items, within the budget."""
    gains, most = np.maximum(gains, 0.0), np.full(len(problems), np.inf)
    if length is not None:
        order = np.lexsort((-gains, problems.owners))
        rank = np.arange(len(order)) - np.repeat(problems.offsets[:-1], problems.counts)
        most = np.add.reduceat(np.where(rank < length, gains[order], 0.0), problems.offsets[:-1])
    if budget is not None and problems.sizes is not None:
        sizes = np.maximum(problems.sizes.astype(np.float64), 1e-300)
        order = np.lexsort((-gains / sizes, problems.owners))
        filled = np.cumsum(sizes[order]) - sizes[order]
        filled -= np.repeat(filled[problems.offsets[:-1]], problems.counts)
        share = np.clip((np.repeat(budget, problems.counts) - filled) / sizes[order], 0.0, 1.0)
        most = np.minimum(most, np.add.reduceat(share * gains[order], problems.offsets[:-1]))
    return most
