"""Expected coverage: what words are worth, how that is predicted, and how the list uses it up."""

from __future__ import annotations

import numpy as np
import pytest

import listwright as lw
from listwright._internal.tokens import word_number
from listwright.errors import InputError
from listwright.features.expected_coverage import TIMES, ExpectedCoverage, word_worth, words_of
from listwright.loading import load
from listwright.rewards import Rouge
from listwright.simulate.corpus import corpus
from listwright.storage import save
from listwright.text.summary_problems import paper_summary_features, summary_problems
from listwright.text.vectors import hashed_tf_idf

TEXTS = [["rain", "rain", "fell"], ["rain", "stopped"], ["a", "dog"]]
WIDTH = 1 << 16


def problems_of(n=6, *, references=(("rain", "rain", "stopped", "early"),), sizes=None):
    return lw.Problems.from_arrays(
        np.zeros((3 * n, 1)),
        offsets=np.arange(0, 3 * n + 1, 3),
        vectors=hashed_tf_idf(TEXTS * n, WIDTH),
        reward=Rouge(TEXTS * n, [list(references)] * n),
        sizes=sizes,
        problem_ids=[f"p{index}" for index in range(n)],
    )


@pytest.fixture(scope="module")
def clusters():
    return summary_problems(corpus(12, seed=5), need_references=True)


def test_words_are_slots_of_their_problem():
    words = words_of(problems_of(2))
    assert np.diff(words.starts).tolist() == [5, 5]
    assert sorted(words.columns[:5]) == sorted(
        word_number(word) % WIDTH for word in ("rain", "fell", "stopped", "a", "dog")
    )
    assert words.holds.sum(axis=1).tolist() == [2, 2, 2] * 2


def test_worth_is_what_the_reward_pays():
    problems = problems_of(1)
    words, worth = words_of(problems), word_worth(problems)
    by_word = dict(zip(words.columns.tolist(), worth.tolist(), strict=True))
    assert by_word[word_number("rain") % WIDTH] == [0.25, 0.25, 0.0]
    assert by_word[word_number("stopped") % WIDTH] == [0.25, 0.0, 0.0]
    assert by_word[word_number("dog") % WIDTH] == [0.0] * TIMES


def test_worth_adds_up_to_the_gains(clusters):
    """Where no sentence says a word twice, the words' worth is the reward's gain."""
    reward = clusters.reward
    gains = reward.gains(reward.start(clusters))
    words = words_of(clusters)
    predicted = words.holds @ word_worth(clusters)[:, 0]
    assert np.mean(predicted <= gains + 1e-9) > 0.98  # two words in one column are rare
    assert np.mean(np.isclose(predicted, gains)) > 0.2


def test_gains_fall_as_the_list_grows(clusters):
    feature = ExpectedCoverage().fit(clusters)
    seen = feature.start(clusters)
    before = feature.columns(seen)
    after = feature.columns(feature.add(seen, clusters.offsets[:-1]))
    assert (after[:, 0] <= before[:, 0] + 1e-6).all()
    assert (after[clusters.offsets[:-1], 0] < before[clusters.offsets[:-1], 0]).all()
    assert (feature.columns(feature.add(seen, np.full(len(clusters), -1))) == before).all()


def test_training_problems_are_foretold_without_them(clusters):
    """A word's own worth in a problem must not leak into what the policy sees of that problem."""
    feature = ExpectedCoverage().fit(clusters)
    changed = [["nothing", "alike"]] * len(clusters)
    stems = [list(map(str, row)) for row in np.arange(clusters.n_rows)[:, None]]
    other = clusters.with_reward(Rouge(stems, changed))
    mixed = lw.Problems.concat([clusters[1:], other[:1]])
    twin, moved = feature.for_training(clusters), ExpectedCoverage().fit(mixed).for_training(mixed)
    own = twin.columns(twin.start(clusters[:1]))
    assert not np.allclose(own, feature.columns(feature.start(clusters[:1])))
    assert moved.columns(moved.start(other[:1])).shape == own.shape


def test_it_tells_more_than_quality_alone(clusters):
    train, test = clusters[:8], clusters[8:]
    values = [
        lw.SCP(budget=300, features=features, n_passes=2, random_state=0).fit(train).score(test)
        for features in (paper_summary_features(), paper_summary_features() + ExpectedCoverage())
    ]
    assert values[1] > values[0] - 0.01


def test_sizes_give_a_second_column():
    assert len(ExpectedCoverage().fit(problems_of()).names()) == 1
    sized = ExpectedCoverage().fit(problems_of(sizes=np.full(18, 2.0)))
    assert sized.names() == ["expected new words", "expected new words by size"]
    assert sized.columns(sized.start(problems_of(sizes=np.full(18, 2.0)))).shape == (18, 2)


def test_it_is_saved_with_its_model(tmp_path):
    problems = problems_of()
    model = lw.SCP(length=2, features=lw.features.Candidate() + ExpectedCoverage(), random_state=0).fit(problems)
    for slim in (False, True):
        save(model, tmp_path / "model.listwright", slim=slim)
        again = load(tmp_path / "model.listwright").predict(problems)
        assert np.array_equal(again.rows, model.predict(problems).rows)


def test_one_problem_is_enough():
    problems = problems_of(1)
    assert ExpectedCoverage().fit(problems).columns(ExpectedCoverage().fit(problems).start(problems)).shape == (3, 1)


def test_problems_without_words_or_sizes_are_seen():
    feature = ExpectedCoverage().fit(problems_of(sizes=np.full(18, 2.0)))
    silent = lw.Problems.from_arrays(np.zeros((1, 2, 1)), vectors=np.zeros((1, 2, WIDTH)))
    assert (feature.columns(feature.start(silent)) == 0).all()


def test_what_it_needs_is_told():
    dense = lw.Problems.from_arrays(np.zeros((1, 2, 1)), vectors=np.ones((1, 2, 3)))
    with pytest.raises(InputError, match="needs sparse vectors"):
        ExpectedCoverage().fit(dense)
    bare = problems_of().without_reward()
    with pytest.raises(InputError, match="the reward Rouge with n=1"):
        ExpectedCoverage().fit(bare)
