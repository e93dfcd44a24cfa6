"""Features for the movie data: what was known about a user and a movie at the time of a choice.

All counts and means are over earlier ratings only, so that nothing looks ahead. `read_movies` uses `Choices.of` to
build the candidates, then `choice_features` for their rows and `user_context` for the context.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Bools, Floats, Floats32, Ints

MONTH = 30 * 24 * 3600
_YEAR = 365.2425 * 24 * 3600
_PRIOR = 5.0  # ratings that a movie's mean is mixed with
_GENRE_PRIOR = 2.0


@dataclass(frozen=True, eq=False)
class Ratings:
    """All ratings of a file, as parallel arrays, and the facts about movies. Users and movies are numbered from 0."""

    users: Ints  # by rating, its user and its movie
    movies: Ints
    stars: Floats  # by rating, from 0 to 10
    liked: Bools  # by rating, whether the stars reach the threshold for liking
    times: Ints  # by rating, seconds since 1970
    genres: Floats32  # (movies, genres), 0/1
    years: Ints  # by movie
    user_ids: Ints  # the ids of the source
    movie_ids: Ints


@dataclass(frozen=True, eq=False)
class Choices:
    """Candidate movies of some users, and the ratings that each of these users gave before."""

    users: Ints  # by problem
    decided: Ints  # by problem
    owners: Ints  # by candidate: its problem
    movies: Ints  # by candidate
    liked: Bools  # by candidate
    history: Ints  # rating numbers
    history_owners: Ints  # by rating of the history: its problem

    @classmethod
    def of(cls, ratings: Ratings, *, history: Ints, chosen: Ints) -> Choices:
        """Make candidates from rating numbers, ordered by user and movie."""
        users, history_owners = np.unique(ratings.users[history], return_inverse=True)
        first = chosen[np.unique(ratings.users[chosen], return_index=True)[1]]
        decided = ratings.times[first]
        seen = ratings.users[history] * len(ratings.years) + ratings.movies[history]
        cells = ratings.users[chosen] * len(ratings.years) + ratings.movies[chosen]
        _, once = np.unique(cells, return_index=True)
        rows = chosen[once[~np.isin(cells[once], seen)]]
        owners = np.searchsorted(users, ratings.users[rows])
        return cls(users, decided, owners, ratings.movies[rows], ratings.liked[rows], history, history_owners)

    def of_users(self, wanted: Bools) -> tuple[Choices, Ints]:
        """Return the choices of the problems marked in `wanted`, renumbered, and the rows of the candidates that are
        kept.
        """
        keep = np.zeros(len(self.users), dtype=bool)
        keep[: len(wanted)] = wanted
        number = np.cumsum(keep) - 1
        rows, past = np.flatnonzero(keep[self.owners]), keep[self.history_owners]
        return (
            Choices(
                self.users[keep],
                self.decided[keep],
                number[self.owners[rows]],
                self.movies[rows],
                self.liked[rows],
                self.history[past],
                number[self.history_owners[past]],
            ),
            rows,
        )


def choice_features(ratings: Ratings, choices: Choices) -> tuple[Floats32, tuple[str, ...]]:
    """Return one feature row per candidate, and the name of each column."""
    when = choices.decided[choices.owners]
    count, stars, liked = _before(ratings, choices.movies, when)
    recent = count - _before(ratings, choices.movies, when - MONTH)[0]
    everyone, all_stars, all_liked = (part[choices.owners] for part in _all_before(ratings, choices.decided))
    genres = ratings.genres[choices.movies].astype(np.float64)
    share, taste = _genre_profile(ratings, choices)
    n_genres = np.maximum(genres.sum(axis=1), 1.0)
    columns = {
        "log_ratings": np.log1p(count),
        "log_recent_ratings": np.log1p(recent),
        "mean_rating": (stars + _PRIOR * all_stars / everyone) / (count + _PRIOR),
        "liked_share": (liked + _PRIOR * all_liked / everyone) / (count + _PRIOR),
        "genre_share": (genres * share[choices.owners]).sum(axis=1) / n_genres,
        "genre_taste": (genres * taste[choices.owners]).sum(axis=1) / n_genres,
        "genre_taste_sum": (genres * taste[choices.owners]).sum(axis=1),
        "n_genres": genres.sum(axis=1),
        "log_age": np.log1p(np.maximum(1970 + when / _YEAR - ratings.years[choices.movies], 0.0)),
    }
    return np.stack(list(columns.values()), axis=1).astype(np.float32), tuple(columns)


def user_context(ratings: Ratings, choices: Choices) -> Floats32:
    """Return one context row per problem."""
    count, mean, square, liked = _history_means(ratings, choices)
    share, taste = _genre_profile(ratings, choices)
    spread = np.sqrt(np.maximum(square - mean**2, 0.0))
    own = np.stack([np.log1p(count), mean, spread, liked], axis=1)
    return np.concatenate([own, share, taste], axis=1).astype(np.float32)


def _history_means(ratings: Ratings, choices: Choices) -> tuple[Floats, Floats, Floats, Floats]:
    """Return, by problem, the number of earlier ratings, their mean, mean square, and the share liked."""
    stars = ratings.stars[choices.history]
    values = [stars, stars**2, ratings.liked[choices.history].astype(np.float64)]
    count = np.bincount(choices.history_owners, minlength=len(choices.users)).astype(np.float64)
    mean, square, liked = (np.bincount(choices.history_owners, v, minlength=len(count)) / count for v in values)
    return count, mean, square, liked


def _genre_profile(ratings: Ratings, choices: Choices) -> tuple[Floats, Floats]:
    """Return two arrays of shape (problems, genres): a genre's share of the history, and the taste for it."""
    count, _, _, liked_share = _history_means(ratings, choices)
    genres = ratings.genres[ratings.movies[choices.history]].astype(np.float64)
    held, liked = np.zeros((len(count), genres.shape[1])), np.zeros((len(count), genres.shape[1]))
    np.add.at(held, choices.history_owners, genres)
    np.add.at(liked, choices.history_owners, genres * ratings.liked[choices.history][:, None])
    usual = liked_share[:, None]
    return held / count[:, None], (liked + _GENRE_PRIOR * usual) / (held + _GENRE_PRIOR) - usual


def _before(ratings: Ratings, movies: Ints, when: Ints) -> tuple[Floats, Floats, Floats]:
    """Return, for pairs of a movie and a time, the number, summed stars and number liked of the movie's earlier
    ratings.
    """
    # Ratings are sorted by movie and time under one integer key, so that two binary searches and cumulative sums answer
    # all pairs at once.
    order = np.lexsort((ratings.times, ratings.movies))
    first, span = int(ratings.times.min()) - 1, int(np.ptp(ratings.times)) + 3
    keys = ratings.movies[order] * span + (ratings.times[order] - first)
    starts = np.searchsorted(keys, movies * span)
    ends = np.searchsorted(keys, movies * span + np.clip(when - first, 0, span - 1))
    sums = (np.ones(len(order)), ratings.stars[order], ratings.liked[order])
    count, stars, liked = (np.concatenate([[0.0], np.cumsum(part)]) for part in sums)
    return count[ends] - count[starts], stars[ends] - stars[starts], liked[ends] - liked[starts]


def _all_before(ratings: Ratings, when: Ints) -> tuple[Floats, Floats, Floats]:
    """Return the same three figures over all movies; where there is no earlier rating, one of 5 stars, half liked."""
    order = np.argsort(ratings.times, kind="stable")
    ends = np.searchsorted(ratings.times[order], when)
    stars, liked = np.cumsum(ratings.stars[order]), np.cumsum(ratings.liked[order])
    none = ends == 0
    last = np.maximum(ends - 1, 0)
    return np.maximum(ends, 1), np.where(none, 5.0, stars[last]), np.where(none, 0.5, liked[last])
