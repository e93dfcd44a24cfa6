"""MovieTweetings: which movies will a user like? Ratings from 0 to 10 with their time (Dooms et al. 2013)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.arrays import Bools, Floats, Floats32, Ints, starts_of
from listwright.datasets._fetch import locate
from listwright.datasets._reading import first_of, read_parquet
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards import AnySuccess, Coverage
from listwright.text.readers import note_skipped, read_text

MONTH = 30 * 24 * 3600
_SECONDS_PER_YEAR = 365.2425 * 24 * 3600
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
        users, history_owners = np.unique(ratings.users[history], return_inverse=True)
        decided = ratings.times[chosen[np.unique(ratings.users[chosen], return_index=True)[1]]]
        seen = ratings.users[history] * len(ratings.years) + ratings.movies[history]
        cells = ratings.users[chosen] * len(ratings.years) + ratings.movies[chosen]
        _, once = np.unique(cells, return_index=True)
        rows = chosen[once[~np.isin(cells[once], seen)]]
        owners = np.searchsorted(users, ratings.users[rows])
        return cls(users, decided, owners, ratings.movies[rows], ratings.liked[rows], history, history_owners)


@dataclass(frozen=True, eq=False)
class Profile:
    """What the history of each user says: how the user rates, and which genres."""

    own: Floats  # (problems, 4): log of 1 + number of ratings, mean and spread of stars, share liked
    share: Floats  # (problems, genres): share of the history that has a genre
    taste: Floats  # (problems, genres): how much oftener than usual the user likes movies of a genre

    @classmethod
    def of(cls, ratings: Ratings, choices: Choices) -> Profile:
        owners, n = choices.history_owners, len(choices.users)
        stars, likes = ratings.stars[choices.history], ratings.liked[choices.history].astype(np.float64)
        genres = ratings.genres[ratings.movies[choices.history]].astype(np.float64)
        count = np.bincount(owners, minlength=n).astype(np.float64)
        mean, square, liked = (np.bincount(owners, values, minlength=n) / count for values in (stars, stars**2, likes))
        spread = np.sqrt(np.maximum(square - mean**2, 0.0))
        held, held_liked = np.zeros((n, genres.shape[1])), np.zeros((n, genres.shape[1]))
        np.add.at(held, owners, genres)
        np.add.at(held_liked, owners, genres * likes[:, None])
        usual = liked[:, None]
        taste = (held_liked + _GENRE_PRIOR * usual) / (held + _GENRE_PRIOR) - usual
        return cls(np.stack([np.log1p(count), mean, spread, liked], axis=1), held / count[:, None], taste)


def choice_features(ratings: Ratings, choices: Choices, profile: Profile) -> tuple[Floats32, tuple[str, ...]]:
    when = choices.decided[choices.owners]
    count, stars, liked = _before(ratings, choices.movies, when)
    recent = count - _before(ratings, choices.movies, when - MONTH)[0]
    everyone, all_stars, all_liked = (part[choices.owners] for part in _all_before(ratings, choices.decided))
    genres = ratings.genres[choices.movies].astype(np.float64)
    n_genres, taste = genres.sum(axis=1), (genres * profile.taste[choices.owners]).sum(axis=1)
    columns = {
        "log_ratings": np.log1p(count),
        "log_recent_ratings": np.log1p(recent),
        "mean_rating": (stars + _PRIOR * all_stars / everyone) / (count + _PRIOR),
        "liked_share": (liked + _PRIOR * all_liked / everyone) / (count + _PRIOR),
        "genre_share": (genres * profile.share[choices.owners]).sum(axis=1) / np.maximum(n_genres, 1.0),
        "genre_taste": taste / np.maximum(n_genres, 1.0),
        "genre_taste_sum": taste,
        "n_genres": n_genres,
        "log_age": np.log1p(np.maximum(1970 + when / _SECONDS_PER_YEAR - ratings.years[choices.movies], 0.0)),
    }
    return np.stack(list(columns.values()), axis=1).astype(np.float32), tuple(columns)


def _before(ratings: Ratings, movies: Ints, when: Ints) -> tuple[Floats, Floats, Floats]:
    """Return, for pairs of movie and time, the number, summed stars and number liked of earlier ratings."""
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
    together = replace(ratings, movies=np.zeros_like(ratings.movies))
    count, stars, liked = _before(together, np.zeros_like(when), when)
    return np.maximum(count, 1.0), np.where(count == 0, 5.0, stars), np.where(count == 0, 0.5, liked)


_RATINGS = ("user", "movie", "rating", "ts")
_MOVIES = ("movie", "title", "genres")
_YEAR = re.compile(r"\((\d{4})\)\s*$")  # in brackets at a title's end


@dataclass(frozen=True, eq=False)
class Movies:
    """Users as problems, with the movies that they rated later as candidates."""

    problems: Problems  # one problem per user
    # by problem, the time (seconds since 1970) before which everything that features and context use was known
    decided: Ints
    genres: tuple[str, ...]  # name of each column of `problems.vectors`


def read_movies(
    path: str | Path, *, reward: Literal["genres", "liked"] = "genres", liked: float = 8, min_ratings: int = 10
) -> Movies:
    """Read MovieTweetings as problems: which of the movies that a user went on to rate does the user like?

    A user's ratings are cut in half by time. The first half is known: it gives the context (how the user rates, and
    which genres). The movies of the second half are the candidates, in order of their ids, except those rated before.
    Their features come from ratings before the first of them: how often and how well other users rated the movie, and
    how its genres fared with this user.

    Parameters
    ----------
    path : str or Path
        A folder with `ratings.dat` and `movies.dat` as published, or `ratings.parquet` and `movies.parquet`.
    reward : {"genres", "liked"}
        "genres", the share of the genres of liked candidates that liked movies of the list have; or "liked",
        whether any movie of the list is liked.
    liked : float
        The lowest rating of a movie that counts as liked.
    min_ratings : int
        Users with fewer ratings are left out.

    Returns
    -------
    Movies
        Users who like none of their candidates are left out; so are ratings of movies that the other file does not
        contain, with a `ReadingNote` that counts them.

    See Also
    --------
    read_questions : Passages for questions.
    listwright.simulate.news.news : Simulated readers, without data files.
    """
    if reward not in ("genres", "liked"):
        raise InputError(f'reward must be "genres" or "liked". Got {reward!r}.')
    if min_ratings < 2:
        raise InputError(f"min_ratings must be at least 2, one rating for each half. Got {min_ratings}.")
    ratings, genres = _read(locate(path), liked)
    choices = _choices(ratings, min_ratings)
    covers = sparse.csr_array(ratings.genres[choices.movies] * choices.liked[:, None])
    worth = np.asarray(covers.sum(axis=1)).ravel() if reward == "genres" else choices.liked
    wanted = np.bincount(choices.owners, worth, minlength=len(choices.users)) > 0
    if not wanted.any():
        raise InputError(f"No user likes any of the later movies: no rating of {liked} or more. Lower liked.")
    profile = Profile.of(ratings, choices)
    features, names = choice_features(ratings, choices, profile)
    problems = Problems.from_arrays(
        features,
        offsets=starts_of(np.bincount(choices.owners, minlength=len(choices.users))),
        context=np.concatenate([profile.own, profile.share, profile.taste], axis=1).astype(np.float32),
        problem_ids=ratings.user_ids[choices.users],
        item_ids=ratings.movie_ids[choices.movies],
        feature_names=names,
        vectors=ratings.genres[choices.movies],
        reward=Coverage(covers) if reward == "genres" else AnySuccess(choices.liked),
    )
    return Movies(problems[wanted], choices.decided[wanted], genres)


def _choices(ratings: Ratings, min_ratings: int) -> Choices:
    """Return the later half of the ratings of each user who has enough, with the earlier half as history."""
    order = np.lexsort((np.arange(len(ratings.users)), ratings.times, ratings.users))
    counts = np.bincount(ratings.users)
    place = np.arange(len(order)) - starts_of(counts)[:-1][ratings.users[order]]
    enough = counts[ratings.users[order]] >= min_ratings
    if not enough.any():
        raise InputError(f"No user has {min_ratings} ratings. The most is {counts.max()}. Lower min_ratings.")
    later = place >= counts[ratings.users[order]] // 2
    return Choices.of(ratings, history=order[enough & ~later], chosen=order[enough & later])


def _read(folder: Path, liked: float) -> tuple[Ratings, tuple[str, ...]]:
    file = first_of(folder, ("ratings.parquet", "ratings.dat"), "The MovieTweetings data")
    columns = dict(zip(_RATINGS, _columns(file, _RATINGS), strict=True))
    users, movies, stars, times = (_numbers(column, name, file) for name, column in columns.items())
    films = folder / f"movies{file.suffix}"
    known, titles, labels = _columns(films, _MOVIES)
    movie_ids, places = np.unique(_numbers(known, "movie", films).astype(np.int64), return_index=True)
    there = np.isin(movies.astype(np.int64), movie_ids)
    if not there.any():
        raise InputError(f"{films} knows none of the movies that {file} rates.")
    note_skipped(file, len(movies), {f"of movies that {films.name} does not know": int((~there).sum())})
    user_ids, user_rows = np.unique(users[there].astype(np.int64), return_inverse=True)
    genres, flags = _genre_flags(labels[places])
    ratings = Ratings(
        users=user_rows,
        movies=np.searchsorted(movie_ids, movies[there].astype(np.int64)),
        stars=stars[there],
        liked=stars[there] >= liked,
        times=times[there].astype(np.int64),
        genres=flags,
        years=np.array([int(year[1]) if (year := _YEAR.search(title)) else 0 for title in titles[places]]),
        user_ids=user_ids,
        movie_ids=movie_ids,
    )
    return ratings, genres


def _numbers(column: NDArray[np.object_], name: str, file: Path) -> Floats:
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"Column {name} of {file} must hold numbers: {error}.") from None


def _columns(file: Path, names: tuple[str, ...]) -> list[NDArray[np.object_]]:
    if file.suffix == ".parquet":
        table = read_parquet(file, names)
        return [table[name] for name in names]
    rows = []
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        cells = [cell.strip() for cell in line.split("::")]
        if names == _MOVIES and len(cells) > len(names):
            cells = [cells[0], "::".join(cells[1:-1]), cells[-1]]
        if line.strip() and len(cells) != len(names):
            raise InputError(f"{file}, line {number}: expected {'::'.join(names)}. Got {line.strip()!r}.")
        rows += [cells] if line.strip() else []
    return [np.array(column, dtype=object) for column in zip(*rows, strict=True)]


def _genre_flags(labels: NDArray[np.object_]) -> tuple[tuple[str, ...], Floats32]:
    """Return sorted genre names and a 0/1 table of shape (movies, genres) from labels such as "Drama|War"."""
    split = [[genre for genre in (label or "").split("|") if genre] for label in labels]
    names = sorted({genre for genres in split for genre in genres})
    return tuple(names), np.array([[name in genres for name in names] for genres in split], dtype=np.float32)
