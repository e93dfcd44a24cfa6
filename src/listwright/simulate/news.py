"""News readers: who clicks on which article? The experiment (b) of the paper, simulated.

Users have linear preferences over the topics of articles, near those of a few groups; what is known of a visitor is
only the soft membership in these groups, corrupted. A visit fails if there is no click (abandonment).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, Ints, RandomState, as_generator, as_whole_numbers
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards import AnySuccess

STEEPNESS = 9.0  # how sharply a preference turns into clicks
THRESHOLD = 0.62  # the preference at which a click is as likely as not
MIXING = 0.15  # how much users belong to several groups
INDIVIDUAL = 0.1  # spread of users about what their groups like


@dataclass(frozen=True, eq=False)
class News:
    """A population of users and articles, and what is known of them."""

    articles: Floats  # (articles, topics), shares that add up to 1
    preferences: Floats  # (users, topics), the linear weights; no method sees them
    memberships: Floats  # (users, groups), soft clusters of the preferences, before corruption
    corruption: float  # share of a context that is noise, from 0 to 1
    pool: int  # number of articles on offer in a visit

    @property
    def n_users(self) -> int:
        return len(self.preferences)

    def click_probabilities(self) -> Floats:
        """Return the probability that a user who sees an article clicks on it, shape (users, articles)."""
        liking = self.preferences @ self.articles.T
        return 1.0 / (1.0 + np.exp(-STEEPNESS * (liking - THRESHOLD)))

    def visits(
        self, users: ArrayLike, *, per_user: int = 10, sampled: bool = True, random_state: RandomState = None
    ) -> Problems:
        _check(per_user=per_user)
        rng = as_generator(random_state)
        visitors = np.repeat(self._validate(users), per_user)
        articles = len(self.articles)
        offered = np.stack([np.sort(rng.choice(articles, size=self.pool, replace=False)) for _ in visitors])
        chances, known = self.click_probabilities()[visitors[:, None], offered], self.memberships[visitors]
        noise = rng.dirichlet(np.ones(known.shape[1]), size=len(visitors))
        return Problems.from_arrays(
            self.articles[offered],
            context=((1.0 - self.corruption) * known + self.corruption * noise).astype(np.float32),
            catalogue=offered,
            reward=AnySuccess(rng.random(chances.shape) < chances if sampled else chances),
            problem_ids=[f"user {user}, visit {index % per_user}" for index, user in enumerate(visitors)],
            feature_names=[f"topic {topic}" for topic in range(self.articles.shape[1])],
        )

    def _validate(self, users: ArrayLike) -> Ints:
        numbers = np.atleast_1d(as_whole_numbers(users, "users"))
        if not len(numbers) or numbers.min() < 0 or numbers.max() >= self.n_users:
            raise InputError(f"users must be numbers from 0 to {self.n_users - 1}. Got {users!r}.")
        return numbers


def news(
    *,
    n_users: int = 75,
    n_articles: int = 100,
    n_topics: int = 10,
    n_groups: int = 7,
    pool: int = 30,
    corruption: float = 0.5,
    random_state: RandomState = None,
) -> News:
    """Draw users and articles.

    Parameters
    ----------
    n_users, n_articles, n_topics : int
        Sizes of the population.
    n_groups : int
        Groups of like-minded readers, and the width of the context.
    pool : int
        Number of articles on offer in a visit.
    corruption : float
        Share of a context that is noise, from 0 to 1.
    random_state : int, Generator or None
        The same seed gives the same population.

    Returns
    -------
    News
        The population; its method `visits` makes problems.

    Examples
    --------
    >>> world = news(random_state=0)
    >>> world.preferences.shape, world.articles.shape, world.memberships.shape
    ((75, 10), (100, 10), (75, 7))
    """
    _check(n_users=n_users, n_articles=n_articles, n_topics=n_topics, n_groups=n_groups, pool=pool)
    if n_groups > n_users or pool > n_articles:
        raise InputError(
            f"There must be no more groups than users and no larger pool than articles. Got {n_groups=}, {pool=}."
        )
    if not 0.0 <= corruption <= 1.0:
        raise InputError(f"corruption must be between 0 and 1. Got {corruption}.")
    rng = as_generator(random_state)
    articles = rng.dirichlet(np.full(n_topics, 0.15), size=n_articles)
    preferences = _preferences(n_users, n_topics, n_groups, rng)
    return News(articles, preferences, soft_clusters(preferences, n_groups, rng=rng), corruption, pool)


def soft_clusters(points: Floats, n_clusters: int, *, rng: np.random.Generator) -> Floats:
    """Return memberships by fuzzy c-means with exponent 2, shape (points, clusters); rows add up to 1."""
    centres = points[_spread(points, n_clusters, rng)]
    for _ in range(100):
        shares = _memberships(points, centres) ** 2
        centres = (shares.T @ points) / shares.sum(axis=0)[:, None]
    return _memberships(points, centres)


def _memberships(points: Floats, centres: Floats) -> Floats:
    gaps = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
    nearness = 1.0 / np.maximum(gaps, 1e-9)
    return nearness / nearness.sum(axis=1, keepdims=True)


def _preferences(n_users: int, n_topics: int, n_groups: int, rng: np.random.Generator) -> Floats:
    """Draw preferences, shape (users, topics), from 0 to 1."""
    liked = np.stack([rng.permutation(n_topics) < max(1, round(0.2 * n_topics)) for _ in range(n_groups)])
    tastes = np.where(liked, 1.0, 0.15)
    belongs = rng.dirichlet(np.full(n_groups, MIXING), size=n_users)
    return np.clip(belongs @ tastes + INDIVIDUAL * rng.standard_normal((n_users, n_topics)), 0.0, 1.0)


def _spread(points: Floats, count: int, rng: np.random.Generator) -> list[int]:
    chosen = [int(rng.integers(len(points)))]
    while len(chosen) < count:
        gaps = ((points[:, None] - points[chosen][None]) ** 2).sum(axis=2).min(axis=1)
        chosen.append(int(gaps.argmax()))
    return chosen


def _check(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise InputError(f"{name} must be at least 1. Got {count}.")
