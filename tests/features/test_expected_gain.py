"""Expected gains of candidates that are known by their features: the reward's own gain on predicted topics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import listwright as lw
from listwright.features import ExpectedGain
from listwright.features.expected_gain import MOST_TOPICS, topics_of


def genres(n: int, seed: int = 0) -> lw.Problems:
    """Each candidate has one of three genres, which its features show, and is liked (covers it) by its quality."""
    rng = np.random.default_rng(seed)
    genre, quality = rng.integers(3, size=(n, 8)), rng.random((n, 8))
    covers = np.eye(3)[genre] * (quality > 0.5)[..., None]
    features = np.concatenate([np.eye(3)[genre], quality[..., None]], axis=2)
    return lw.Problems.from_arrays(features, reward=lw.rewards.Coverage(covers))


def logs(feature: ExpectedGain, seen: object, name: str) -> np.ndarray:
    return feature.columns(seen)[:, feature.names().index(name)]


def test_a_genre_that_the_list_has_is_expected_to_gain_less() -> None:
    problems = genres(80)
    feature = ExpectedGain(("forest",)).fit(problems)
    seen = feature.start(problems)
    good = problems.features[:, 3] > 0.6
    first = np.array(
        [np.flatnonzero(good[s : s + 8])[0] + s if good[s : s + 8].any() else -1 for s in problems.offsets[:-1]]
    )
    after = feature.add(seen, first)
    drop = logs(feature, seen, "forest gain given the list") - logs(feature, after, "forest gain given the list")
    held = np.zeros(problems.n_rows, dtype=bool)
    for problem, pick in enumerate(first):
        rows = slice(problems.offsets[problem], problems.offsets[problem + 1])
        if pick >= 0:
            held[rows] = (problems.features[rows, :3] == problems.features[pick, :3]).all(axis=1)
    picked = (first >= 0)[problems.owners]
    assert drop[held & good].mean() > 1
    assert abs(drop[picked & ~held & good].mean()) < 0.2
    alone = "forest gain alone"
    np.testing.assert_array_equal(logs(feature, seen, alone), logs(feature, after, alone))


def test_one_success_is_one_topic() -> None:
    rng = np.random.default_rng(0)
    features = rng.random((60, 6, 2))
    problems = lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(features[..., 0] > 0.7))
    feature = ExpectedGain(("ridge", "forest")).fit(problems[:40])
    seen = feature.start(problems[40:].without_reward())
    success = features[40:, :, 0].ravel() > 0.7
    assert (
        logs(feature, seen, "forest gain alone")[success].min()
        > logs(feature, seen, "forest gain alone")[~success].mean() + 1
    )
    assert feature.names()[:2] == ["ridge gain given the list", "forest gain given the list"]


def test_training_problems_are_predicted_without_themselves() -> None:
    rng = np.random.default_rng(0)
    liked = rng.random((50, 6)) < 0.5  # nothing to learn: what looks like learning is memory
    problems = lw.Problems.from_arrays(rng.normal(size=(50, 6, 20)), reward=lw.rewards.AnySuccess(liked))
    fitted = ExpectedGain(("forest",)).fit(problems)
    for view, remembers in ((fitted, True), (fitted.for_training(problems), False)):
        r = np.corrcoef(view.columns(view.start(problems))[:, -1], liked.ravel())[0, 1]
        assert (r > 0.4) == remembers, r
    some = problems[[30, 2, 17]]
    twin = fitted.for_training(problems)
    whole = twin.columns(twin.start(problems)).reshape(50, 6, -1)
    np.testing.assert_array_equal(twin.columns(twin.start(some)).reshape(3, 6, -1), whole[[30, 2, 17]])


def test_topics_are_those_of_the_rewards_columns() -> None:
    reward = lw.rewards.Coverage(np.array([[0, 1, 0], [0, 0, 1], [0, 1, 1], [0, 1, 0]]), weights=[9, 1, 3])
    problems = lw.Problems.from_arrays(np.zeros((4, 1)), offsets=[0, 2, 4], reward=reward)
    topics, amounts = topics_of(problems)
    assert amounts.tolist() == [[1, 0], [0, 1], [1, 1], [1, 0]]  # the most covered first
    assert topics.weights.tolist() == pytest.approx([0.25, 0.75])


def test_rare_topics_are_taken_together() -> None:
    covers = np.eye(MOST_TOPICS + 10)
    problems = lw.Problems.from_arrays(
        np.zeros((len(covers), 1)), offsets=[0, len(covers)], reward=lw.rewards.Coverage(covers)
    )
    _, amounts = topics_of(problems)
    assert amounts.shape == (len(covers), MOST_TOPICS)
    assert amounts[:, -1].sum() == 11


def test_expected_gain_makes_a_linear_policy_cover_genres() -> None:
    train, test = genres(60), genres(200, seed=1)
    plain = lw.SCP(3, features=lw.features.Candidate(), random_state=0).fit(train).score(test)
    model = lw.SCP(3, features=ExpectedGain(("forest",)), random_state=0).fit(train)
    assert model.score(test) > plain + 0.05
    assert model.predict(test) == model.predict(test.without_reward())


@pytest.mark.parametrize("slim", [False, True])
def test_a_saved_model_builds_the_same_lists(slim: bool, tmp_path: Path) -> None:
    problems = genres(30)
    links = {"same": np.random.default_rng(0).integers(2, size=(30, 8, 8))}
    problems = lw.Problems.from_arrays(problems.features, offsets=problems.offsets, links=links, reward=problems.reward)
    features = lw.features.Candidate() + lw.features.Links() + ExpectedGain(("forest", "ridge"))
    model = lw.SCP(3, features=features, random_state=0).fit(problems)
    model.save(tmp_path / "model.listwright", slim=slim)
    assert lw.load(tmp_path / "model.listwright").predict(problems) == model.predict(problems)
