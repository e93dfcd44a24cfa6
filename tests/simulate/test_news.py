"""The simulated readers: who they are, what is known of them, and what they click."""

from __future__ import annotations

import numpy as np
import pytest

from listwright.errors import InputError
from listwright.simulate.news import news, soft_clusters


@pytest.fixture
def world():
    return news(random_state=0)


def success_of(problems):
    return problems.reward.tables["success"].values.reshape(len(problems), -1)


def test_the_same_seed_gives_the_same_world_and_visits(world):
    again = news(random_state=0)
    assert np.array_equal(world.preferences, again.preferences)
    first, second = (each.visits([1, 2], random_state=3) for each in (world, again))
    assert np.array_equal(first.features, second.features)
    assert np.array_equal(success_of(first), success_of(second))
    assert not np.array_equal(world.preferences, news(random_state=1).preferences)


def test_articles_and_memberships_are_shares(world):
    assert np.allclose(world.articles.sum(axis=1), 1.0)
    assert np.allclose(world.memberships.sum(axis=1), 1.0)
    assert world.memberships.min() >= 0.0


def test_groups_are_of_like_minded_users(world):
    group = world.memberships.argmax(axis=1)
    centred = world.preferences - world.preferences.mean(axis=0)
    within = sum(((centred[group == g] - centred[group == g].mean(axis=0)) ** 2).sum() for g in set(group))
    assert within < 0.4 * (centred**2).sum()


def test_soft_clusters_are_soft_between_two_centres():
    points = np.array([[0.0], [0.1], [0.2], [0.5], [0.8], [0.9], [1.0]])
    members = soft_clusters(points, 2, rng=np.random.default_rng(0))
    assert members[0].max() > 0.9
    assert members[3].max() < 0.7


def test_clicks_grow_with_the_linear_preference(world):
    liking = (world.preferences @ world.articles.T).ravel()
    chances = world.click_probabilities().ravel()
    assert (np.diff(chances[np.argsort(liking)]) >= 0).all()
    assert 0.0 < chances.min() < 0.1 < 0.9 < chances.max() < 1.0


def test_visits_offer_each_article_once_with_its_topics(world):
    problems = world.visits([4, 9], per_user=3, random_state=0)
    offered = problems.catalogue.reshape(6, world.pool)
    assert all(len(set(row)) == world.pool for row in offered)
    assert np.allclose(problems.features, world.articles[problems.catalogue], atol=1e-6)
    assert list(problems.problem_ids[[0, 5]]) == ["user 4, visit 0", "user 9, visit 2"]


def test_unsampled_visits_hold_the_users_own_probabilities(world):
    problems = world.visits([7], per_user=2, sampled=False, random_state=0)
    assert np.allclose(success_of(problems).ravel(), world.click_probabilities()[7, problems.catalogue])


def test_sampled_clicks_follow_the_probabilities(world):
    problems = world.visits([7], per_user=400, random_state=0)
    clicks = success_of(problems)
    assert set(np.unique(clicks)) == {0.0, 1.0}
    expected = world.click_probabilities()[7, problems.catalogue].mean()
    assert abs(clicks.mean() - expected) < 0.02


def test_corruption_goes_from_the_membership_to_noise():
    clean, noisy = (news(corruption=share, random_state=0) for share in (0.0, 1.0))
    users = np.arange(75)
    assert np.allclose(clean.visits(users, per_user=1).context, clean.memberships, atol=1e-6)
    seen = noisy.visits(users, per_user=20, random_state=0).context.reshape(75, 20, -1).mean(axis=1)
    assert abs(np.corrcoef(seen.ravel(), noisy.memberships.ravel())[0, 1]) < 0.15


def test_contexts_are_drawn_anew_at_each_visit(world):
    first, second = world.visits([0], per_user=2, random_state=0).context
    assert not np.allclose(first, second)


@pytest.mark.parametrize("settings", [{"n_users": 0}, {"pool": 101}, {"n_groups": 76}, {"corruption": 1.5}])
def test_impossible_worlds_are_refused(settings):
    with pytest.raises(InputError, match="Got"):
        news(**settings)


@pytest.mark.parametrize("users", [[75], [-1], [], [0.5]])
def test_unknown_users_are_refused(world, users):
    with pytest.raises(InputError, match="users"):
        world.visits(users)


def test_visits_need_a_count(world):
    with pytest.raises(InputError, match=r"per_user must be at least 1\. Got 0\."):
        world.visits([0], per_user=0)
