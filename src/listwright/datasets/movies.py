"""MovieTweetings: which movies will a user like? Ratings from 0 to 10 with their time (Dooms et al. 2013).

`read_movies` reads the files, cuts each user's ratings into history and candidates, and takes features from
`_movie_features`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.arrays import Floats, Floats32, Ints, starts_of
from listwright.datasets._files import column_of, first_of, read_parquet
from listwright.datasets._movie_features import Choices, Ratings, choice_features, user_context
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards import AnySuccess, Coverage
from listwright.text.files import note_skipped, read_text

_RATINGS = ("user", "movie", "rating", "ts")
_MOVIES = ("movie", "title", "genres")
_YEAR = re.compile(r"\((\d{4})\)\s*$")


@dataclass(frozen=True, eq=False)
class Movies:
    """Users as problems, with the movies that they rated later as candidates."""

    problems: Problems  # one problem per user
    # by problem, the time (seconds since 1970) before which everything that features and context use was known
    decided: Ints
    genres: tuple[str, ...]  # name of each column of `problems.vectors`


def read_movies(
    path: str | Path,
    *,
    reward: Literal["genres", "liked"] = "genres",
    liked: float = 8,
    min_ratings: int = 10,
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

    Raises
    ------
    InputError
        If files or columns are missing, an argument is out of range, or no user remains.

    See Also
    --------
    read_questions : Passages for questions.
    listwright.simulate.news.news : Simulated readers, without data files.
    """
    if reward not in ("genres", "liked"):
        raise InputError(f'reward must be "genres" or "liked". Got {reward!r}.')
    if min_ratings < 2:
        raise InputError(f"min_ratings must be at least 2, one rating for each half. Got {min_ratings}.")
    ratings, genres = _read(Path(path), liked)
    choices = _choices(ratings, min_ratings)
    covers = sparse.csr_array(ratings.genres[choices.movies] * choices.liked[:, None])
    worth = np.asarray(covers.sum(axis=1)).ravel() if reward == "genres" else choices.liked
    wanted = np.bincount(choices.owners, worth) > 0
    if not wanted.any():
        raise InputError(f"No user likes any of the later movies: no rating of {liked} or more. Lower liked.")
    choices, rows = choices.of_users(wanted)
    features, names = choice_features(ratings, choices)
    problems = Problems.from_arrays(
        features,
        offsets=starts_of(np.bincount(choices.owners)),
        context=user_context(ratings, choices),
        problem_ids=ratings.user_ids[choices.users],
        item_ids=ratings.movie_ids[choices.movies],
        feature_names=names,
        vectors=ratings.genres[choices.movies],
        reward=Coverage(covers[rows]) if reward == "genres" else AnySuccess(choices.liked),
    )
    return Movies(problems, choices.decided, genres)


def _choices(ratings: Ratings, min_ratings: int) -> Choices:
    """Return the later half of the ratings of each user who has enough, as candidates, with the earlier half as
    history.
    """
    order = np.lexsort((np.arange(len(ratings.users)), ratings.times, ratings.users))
    counts = np.bincount(ratings.users)
    place = np.arange(len(order)) - starts_of(counts)[:-1][ratings.users[order]]
    enough = counts[ratings.users[order]] >= min_ratings
    if not enough.any():
        raise InputError(f"No user has {min_ratings} ratings. The most is {counts.max()}. Lower min_ratings.")
    later = place >= counts[ratings.users[order]] // 2
    return Choices.of(ratings, history=order[enough & ~later], chosen=order[enough & later])


def _read(folder: Path, liked: float) -> tuple[Ratings, tuple[str, ...]]:
    """Read ratings and movies, keep the ratings of known movies, and return them with the genre names."""
    file = first_of(folder, ("ratings.parquet", "ratings.dat"), "The MovieTweetings data")
    read = _from_parquet if file.suffix == ".parquet" else _from_text
    columns = dict(zip(_RATINGS, read(file, _RATINGS), strict=True))
    users, movies, stars, times = (_numbers(column, name, file) for name, column in columns.items())
    films = folder / f"movies{file.suffix}"
    known, titles, labels = read(films, _MOVIES)
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
        years=_years(titles[places]),
        user_ids=user_ids,
        movie_ids=movie_ids,
    )
    return ratings, genres


def _numbers(column: NDArray[np.object_], name: str, file: Path) -> Floats:
    """Return a column as floats; raise an `InputError` that names column and file otherwise."""
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"Column {name} of {file} must hold numbers: {error}.") from None


def _from_parquet(file: Path, columns: tuple[str, ...]) -> list[NDArray[np.object_]]:
    """Return columns of a Parquet file as arrays."""
    table = read_parquet(file, columns)
    return [column_of(table, name) for name in columns]


def _from_text(file: Path, columns: tuple[str, ...]) -> list[NDArray[np.object_]]:
    """Return columns of a file with cells between double colons, in the order of `columns`."""
    rows = []
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        cells = [cell.strip() for cell in line.split("::")]
        if columns == _MOVIES and len(cells) > len(columns):
            cells = [cells[0], "::".join(cells[1:-1]), cells[-1]]
        if line.strip() and len(cells) != len(columns):
            raise InputError(f"{file}, line {number}: expected {'::'.join(columns)}. Got {line.strip()!r}.")
        rows += [cells] if line.strip() else []
    return [np.array(column, dtype=object) for column in zip(*rows, strict=True)]


def _genre_flags(labels: NDArray[np.object_]) -> tuple[tuple[str, ...], Floats32]:
    """Return sorted genre names and a 0/1 table of shape (movies, genres) from labels such as "Drama|War"."""
    split = [[genre for genre in (label or "").split("|") if genre] for label in labels]
    names = sorted({genre for genres in split for genre in genres})
    column = {name: number for number, name in enumerate(names)}
    flags = np.zeros((len(split), len(names)), dtype=np.float32)
    for row, genres in enumerate(split):
        flags[row, [column[genre] for genre in genres]] = 1.0
    return tuple(names), flags


def _years(titles: NDArray[np.object_]) -> Ints:
    """Return the year in brackets at each title's end; 0 where there is none."""
    found = [_YEAR.search(title) for title in titles]
    return np.array([int(year[1]) if year else 0 for year in found])
