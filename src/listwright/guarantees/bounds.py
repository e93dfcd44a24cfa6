"""The constants of the paper's theorems: ratios, regret bounds, confidence terms and the number of states they need."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from math import ceil, exp, log, log10, sqrt
from numbers import Real

from listwright.errors import InputError


def approximation_ratio(length: int, comparator_length: int | None = None, *, exact: bool = False) -> float:
    """Return the share of the value of the best list of k items that m learned picks reach.

    Parameters
    ----------
    length : int
        m, the length of the learned lists.
    comparator_length : int, optional
        k, the length of the lists to compete with; `length` by default.
    exact : bool, default False
        False returns 1 - exp(-m / k), as in the paper's theorems. True returns 1 - (1 - 1/k)^m, which Lemma 2 of the
        appendix proves and which is larger: 0.704 against 0.632 for lists of 3.

    See Also
    --------
    list_length_for : The inverse: the length that a ratio needs.

    Examples
    --------
    >>> round(approximation_ratio(5), 3), round(approximation_ratio(15, 5), 3)
    (0.632, 0.95)
    >>> round(approximation_ratio(3, exact=True), 3), approximation_ratio(1, exact=True)
    (0.704, 1.0)
    """
    length, comparator_length = validate_lengths(length, comparator_length)
    return 1.0 - (1.0 - 1.0 / comparator_length) ** length if exact else 1.0 - exp(-length / comparator_length)


def list_length_for(ratio: float, comparator_length: int) -> int:
    """Return the smallest length m whose approximation ratio against lists of k items is at least `ratio`.

    Parameters
    ----------
    ratio : float
        The share to reach: from 0 to below 1.
    comparator_length : int
        k, the length of the lists to compete with.

    See Also
    --------
    approximation_ratio : The ratio of a length.

    Examples
    --------
    >>> list_length_for(0.95, comparator_length=5), list_length_for(0.5, comparator_length=5)
    (15, 4)
    """
    if not 0 <= ratio < 1:
        raise InputError(f"ratio must be from 0 to below 1. Got {ratio}.")
    validate_lengths(comparator_length, comparator_length)
    length = max(1, ceil(-comparator_length * log(1.0 - ratio)) - 1)  # one below the formula, in case it was rounded up
    while approximation_ratio(length, comparator_length) < ratio:
        length += 1
    return length


def regret_bound(
    rounds: int, n_policies: int, length: int, comparator_length: int | None = None, delta: float = 0.05
) -> float:
    """Bound on the average expected regret E[R] / T of Weighted Majority over a finite class of policies.

    Parameters
    ----------
    rounds : int
        T, the number of states.
    n_policies : int
        N, the size of the class.
    length : int
        m, the length of the lists.
    comparator_length : int, optional
        k, the length of the lists to compete with; `length` by default.
    delta : float, default 0.05
        The bound fails with a probability of at most `delta`.

    See Also
    --------
    rounds_for : The number of states that an accuracy needs.

    Notes
    -----
    Corollary 2 with the constants of its proof in the appendix: 4 k' ln N / T + 2 sqrt(k' ln N / T) + 2^(9/4) (k' /
    T)^(3/4) ln(1 / delta')^(1/4) sqrt(ln N), with k' = min(m, k). The event of the theorem can fail in two ways, with
    probabilities delta and delta'; here each gets half of `delta`. The constant 2^(9/4) is as printed; the steps of the
    proof lead to 2^(5/4).

    Examples
    --------
    >>> round(regret_bound(10_000, 30, length=5), 4)
    0.1299
    """
    k = min(validate_lengths(length, comparator_length))  # the paper's k'
    validate_counts(rounds=rounds, n_policies=n_policies)
    size, half = log(n_policies), validate_delta(delta) / 2
    smaller = 2**2.25 * (k / rounds) ** 0.75 * log(1 / half) ** 0.25 * sqrt(size)
    return 4 * k * size / rounds + 2 * sqrt(k * size / rounds) + smaller


def confidence_terms(
    rounds: int, *, length: int, comparator_length: int | None = None, delta: float = 0.05, randomized: bool = True
) -> tuple[float, float]:
    """Return what the theorems subtract for chance: in the draw of the states, and in the picks of a randomized
    learner.

    Parameters
    ----------
    rounds, length, comparator_length, delta
        As in `regret_bound`.
    randomized : bool, default True
        Whether only the *expected* regret of a randomized learner is known. Otherwise the second term is 0 and the
        first gets all of `delta`.

    Returns
    -------
    tuple of float
        The term for the states and the term for the picks.

    See Also
    --------
    regret_bound : The other term of the theorems.

    Notes
    -----
    Both follow from the inequality of Hoeffding and Azuma with the exact range of the summands, which makes them
    smaller than the constants printed in the paper by factors of 2.4 and more.

    *States*: ratio * f(L*) - f(L_t) lies in an interval of width 1 + ratio, with ratio = 1 - (1 - 1/k)^m. This gives (1
    + ratio) sqrt(ln(1 / delta) / (2 T)).

    *Picks*: the gain of the pick at position i, minus its expectation given the list so far, lies in an interval of
    width w_i = (1 - 1/k)^(m - i). This gives sqrt(sum_i w_i^2 ln(1 / delta) / (2 T)). Each of the two then gets half of
    `delta`.

    Examples
    --------
    >>> [round(term, 4) for term in confidence_terms(10_000, length=5)]
    [0.0227, 0.0214]
    >>> [round(term, 4) for term in confidence_terms(10_000, length=5, randomized=False)]
    [0.0205, 0.0]
    """
    length, comparator_length = validate_lengths(length, comparator_length)
    validate_counts(rounds=rounds)
    chance = log(1 / (validate_delta(delta) / 2 if randomized else validate_delta(delta)))
    unit = sqrt(chance / (2 * rounds))
    squares = sum((1 - 1 / comparator_length) ** (2 * behind) for behind in range(length))
    states = (1 + approximation_ratio(length, comparator_length, exact=True)) * unit
    return states, sqrt(squares) * unit if randomized else 0.0


def rounds_for(
    accuracy: float, n_policies: int, length: int, comparator_length: int | None = None, delta: float = 0.05
) -> int:
    """Return the number of states needed: the smallest T whose regret bound and confidence terms sum to at most
    `accuracy`.

    These are worst cases. Actual runs do better, and their certificates say by how much.

    Parameters
    ----------
    accuracy : float
        How much of the value may be lost to regret and chance; above 0.
    n_policies, length, comparator_length, delta
        As in `regret_bound`.

    See Also
    --------
    regret_bound, confidence_terms : The two terms.

    Examples
    --------
    >>> rounds_for(0.1, 30, length=5)
    26450
    """
    if not accuracy > 0:
        raise InputError(f"accuracy must be above 0. Got {accuracy}.")

    def enough(rounds: int) -> bool:
        bound = regret_bound(rounds, n_policies, length=length, comparator_length=comparator_length, delta=delta)
        chance = confidence_terms(rounds, length=length, comparator_length=comparator_length, delta=delta)
        return bound + sum(chance) <= accuracy

    high = 1
    while not enough(high):
        high *= 2
    low = high // 2  # not enough, or 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def validate_lengths(length: int, comparator_length: int | None) -> tuple[int, int]:
    comparator_length = length if comparator_length is None else comparator_length
    validate_counts(length=length, comparator_length=comparator_length)
    return length, comparator_length


def validate_counts(**counts: int) -> None:
    for name, value in counts.items():
        if value < 1:
            raise InputError(f"{name} must be at least 1. Got {value}.")


def validate_delta(delta: float) -> float:
    if isinstance(delta, bool) or not isinstance(delta, Real) or not 0 < delta < 1:
        raise InputError(f"delta must be between 0 and 1. Got {delta!r}.")
    return float(delta)


def format_confidence(delta: float, *, of: int = 100) -> str:
    """Return 1 - delta in per cent (or `of` 1), rounded down and with enough digits never to read 100.

    >>> format_confidence(0.05), format_confidence(0.025), format_confidence(1e-9), format_confidence(0.05, of=1)
    ('95', '97.5', '99.9999999', '0.95')
    """
    digits = max(2, 2 + ceil(-log10(delta)))  # of the share, two more than of per cent
    with localcontext(prec=digits + 20):
        share = (1 - Decimal(str(delta))).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_FLOOR)
        text = f"{share * of:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_bound(bound: float, digits: int = 3, *, upper: bool = False) -> str:
    """Return a lower bound rounded down, or an upper one rounded up, so that what is printed holds too.

    >>> format_bound(19 / 27), format_bound(0.0371, upper=True), format_bound(0.29, 2)
    ('0.703', '0.038', '0.29')
    """
    with localcontext(prec=400):  # the digits of any float
        unit, rounding = Decimal(1).scaleb(-digits), ROUND_CEILING if upper else ROUND_FLOOR
        return f"{Decimal(str(float(bound))).quantize(unit, rounding=rounding) + 0:f}"
