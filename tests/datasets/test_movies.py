"""MovieTweetings: time order, features from earlier ratings only."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from listwright.datasets import Movies, read_movies
from listwright.errors import InputError
from listwright.text.readers import ReadingNote

MOVIES = """0000010::Old War (1950)::Drama|War
0000020::New Fun (2012)::Comedy
0000030::Newer Fun (2013)::Comedy|Romance
0000040::Plain (2000)::
"""
# Ann (7) knows 10 and 20 at time 2000; Bob (9) rates early; Cy (11) rates too little, and dislikes.
RATINGS = """7::0000030::9::3000
7::0000010::4::1000
7::0000020::8::2000
7::0000040::3::3500
9::0000030::6::500
9::0000040::2::600
9::0000010::8::2900
9::0000020::1::4000
11::0000030::10::3200
12::0000010::9::100
12::0000020::9::200
12::0000030::2::9000
12::0000040::8::9100
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "movies.dat").write_text(MOVIES)
    (tmp_path / "ratings.dat").write_text(RATINGS)
    return tmp_path


def column(movies: Movies, name: str) -> list[float]:
    names = movies.problems.feature_names
    assert names is not None
    return movies.problems.features[:, names.index(name)].tolist()


def test_the_later_half_is_chosen_from(folder: Path) -> None:
    movies = read_movies(folder, min_ratings=4)
    problems = movies.problems
    assert movies.genres == ("Comedy", "Drama", "Romance", "War")
    assert problems.problem_ids.tolist() == [7, 9]  # the movie that user 12 likes has no genre
    assert problems.item_ids is not None
    assert problems.item_ids.tolist() == [30, 40, 10, 20]
    assert movies.decided.tolist() == [3000, 2900]
    state = problems.reward.start(problems)
    assert problems.reward.gains(state).tolist() == [1, 0, 1, 0]
    assert problems.vectors.tolist() == [[1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 1], [1, 0, 0, 0]]


def test_any_liked_movie(folder: Path) -> None:
    problems = read_movies(folder, min_ratings=4, reward="liked").problems
    assert problems.problem_ids.tolist() == [7, 9, 12]
    assert problems.reward.tables["success"].values.tolist() == [1, 0, 1, 0, 0, 1]
    strict = read_movies(folder, min_ratings=4, reward="liked", liked=9).problems
    assert strict.problem_ids.tolist() == [7]


def test_features_are_counted_before_the_choice(folder: Path) -> None:
    movies = read_movies(folder, min_ratings=4)
    counts = np.expm1(column(movies, "log_ratings"))
    np.testing.assert_allclose(counts, [1, 1, 2, 2], atol=1e-6)  # 30 and 40 by Bob; 10 and 20 by users 7 and 12
    # Before 3000 there are seven ratings with 46 stars, of which four are 8 or more.
    np.testing.assert_allclose(column(movies, "mean_rating")[0], (6 + 5 * 46 / 7) / 6, rtol=1e-6)
    np.testing.assert_allclose(column(movies, "liked_share")[0], (0 + 5 * 4 / 7) / 6, rtol=1e-6)


def test_context_is_the_earlier_half(folder: Path) -> None:
    movies = read_movies(folder, min_ratings=4)
    assert movies.problems.context is not None
    ann = movies.problems.context[0]
    np.testing.assert_allclose(ann[:4], [np.log1p(2), 6, 2, 0.5], rtol=1e-6)
    np.testing.assert_allclose(ann[4:8], [0.5, 0.5, 0, 0.5], rtol=1e-6)  # share of the genres
    np.testing.assert_allclose(ann[8:], [2 / 3 - 0.5, 1 / 3 - 0.5, 0, 1 / 3 - 0.5], rtol=1e-5)
    np.testing.assert_allclose(column(movies, "genre_taste")[0], (2 / 3 - 0.5) / 2, rtol=1e-5)


def test_later_ratings_change_nothing_that_is_known(folder: Path) -> None:
    before = read_movies(folder, min_ratings=4).problems
    path = folder / "ratings.dat"
    path.write_text(
        RATINGS.replace("12::0000030::2::9000", "12::0000030::10::9000").replace("11::0000030::10", "11::0000030::1")
    )
    after = read_movies(folder, min_ratings=4).problems[[0, 1]]
    np.testing.assert_array_equal(before.features, after.features)
    assert before.context is not None
    np.testing.assert_array_equal(before.context, after.context)


def test_what_was_rated_before_is_no_candidate(folder: Path) -> None:
    path = folder / "ratings.dat"
    path.write_text(RATINGS.replace("7::0000040::3", "7::0000040::9") + "7::0000010::9::3600\n7::0000040::1::3700\n")
    problems = read_movies(folder, min_ratings=6, reward="liked").problems
    assert problems.item_ids is not None
    assert problems.item_ids.tolist() == [40]
    assert problems.reward.tables["success"].values.tolist() == [1]


def test_parquet_says_the_same(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "parquet"
    other.mkdir()
    rows = [[int(value) for value in line.split("::")] for line in RATINGS.splitlines()]
    pq.write_table(
        pa.table(dict(zip(("user", "movie", "rating", "ts"), zip(*rows, strict=True), strict=True))),
        other / "ratings.parquet",
    )
    cells = [line.split("::") for line in MOVIES.splitlines()]
    names, titles, genres = zip(*cells, strict=True)
    table = {"movie": [int(name) for name in names], "title": titles, "genres": genres}
    pq.write_table(pa.table(table), other / "movies.parquet")
    mine, two = read_movies(folder, min_ratings=4), read_movies(other, min_ratings=4)
    np.testing.assert_array_equal(mine.problems.features, two.problems.features)
    assert mine.problems.problem_ids.tolist() == two.problems.problem_ids.tolist()


def test_marks_line_ends_and_colons_in_titles(folder: Path, tmp_path: Path) -> None:
    plain = read_movies(folder, min_ratings=4)
    other = tmp_path / "windows"
    other.mkdir()
    titled = MOVIES.replace("Plain", "Plain:: Part 2").replace("\n", "\r\n\r\n")
    (other / "movies.dat").write_bytes(b"\xef\xbb\xbf" + titled.encode())
    (other / "ratings.dat").write_bytes(RATINGS.replace("\n", "\r\n").encode())
    movies = read_movies(other, min_ratings=4)
    np.testing.assert_array_equal(movies.problems.features, plain.problems.features)
    assert movies.genres == plain.genres


def test_ratings_of_unknown_movies_are_counted(folder: Path) -> None:
    plain = read_movies(folder, min_ratings=4)
    (folder / "ratings.dat").write_text(RATINGS + "7::0000099::8::4500\n9::0000099::2::4600\n")
    with pytest.warns(ReadingNote, match=r"left out 2 of 15 records: 2 of movies that movies\.dat does not know"):
        movies = read_movies(folder, min_ratings=4)
    np.testing.assert_array_equal(movies.problems.features, plain.problems.features)


@pytest.mark.parametrize("name", ["ratings.dat", "movies.dat"])
@pytest.mark.parametrize("text", ["", "\n \n"])
def test_empty_files_are_named(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    with pytest.raises(InputError, match=rf"{name} is empty"):
        read_movies(folder, min_ratings=4)


@pytest.mark.parametrize("name", ["ratings", "movies"])
def test_tables_without_rows_are_named(folder: Path, name: str) -> None:
    columns = {"ratings": ("user", "movie", "rating", "ts"), "movies": ("movie", "title", "genres")}
    for empty, names in columns.items():
        rows = (
            {column: ["1"] for column in names}
            if empty != name
            else {column: pa.array([], "string") for column in names}
        )
        pq.write_table(pa.table(rows), folder / f"{empty}.parquet")
    with pytest.raises(InputError, match=rf"{name}.parquet has no rows"):
        read_movies(folder, min_ratings=4)


def test_bad_files_are_named(folder: Path) -> None:
    with pytest.raises(InputError, match='reward must be "genres" or "liked"'):
        read_movies(folder, reward="stars")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"No user has 10 ratings. The most is 4"):
        read_movies(folder)
    with pytest.raises(InputError, match="No user likes any of the later movies"):
        read_movies(folder, min_ratings=4, liked=11)
    with pytest.raises(InputError, match="min_ratings must be at least 2"):
        read_movies(folder, min_ratings=1)
    (folder / "movies.dat").write_text("0000099::Other (2001)::Drama\n")
    with pytest.raises(InputError, match=r"movies\.dat knows none of the movies that .*ratings\.dat rates"):
        read_movies(folder, min_ratings=4)
    (folder / "movies.dat").write_text("\n0000010::Old War (1950)\n")
    with pytest.raises(InputError, match=r"movies\.dat, line 2: expected movie::title::genres\. Got '0000010::Old War"):
        read_movies(folder, min_ratings=4)
    (folder / "movies.dat").write_text(MOVIES)
    (folder / "ratings.dat").write_text(RATINGS.replace("::9::", "::nine::", 1))
    with pytest.raises(InputError, match=r"Column rating of .*ratings\.dat must hold numbers: .*nine"):
        read_movies(folder, min_ratings=4)
    (folder / "ratings.dat").unlink()
    with pytest.raises(InputError, match=r"needs ratings.parquet or ratings.dat"):
        read_movies(folder)
