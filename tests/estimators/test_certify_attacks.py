"""Attempts to make `certify` print a false sentence: data of an adversary, drawn many times, and the rate of misses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.evaluation.values import list_values
from listwright.rewards import AnySuccess, Coverage, Function, Total, WeightedProblems
from listwright.training.round import first_gains

DELTA, DRAWS, HELD, POPULATION, ITEMS = 0.1, 60, 60, 3000, 6
LIMIT = DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / DRAWS)


def world(seed: int, n: int, reward: Callable[[np.random.Generator, np.ndarray], Any], **given: Any) -> lw.Problems:
    rng = np.random.default_rng(seed)
    x = rng.random((n, ITEMS, 3)).astype(np.float32)
    return lw.Problems.from_arrays(x, reward=reward(rng, x), **given)


def any_success(rng: np.random.Generator, x: np.ndarray) -> Any:
    return AnySuccess(rng.random(x.shape[:2]) < 0.6 * x[..., 0] * x[..., 1])


def huge(rng: np.random.Generator, x: np.ndarray) -> Any:
    return Total(x[..., 0] * np.where(rng.random((len(x), 1)) < 0.01, 100.0, 1.0))


def topics(rng: np.random.Generator, x: np.ndarray) -> Any:
    return Coverage((rng.random((*x.shape[:2], 5)) < 0.4 * x[..., :1]).reshape(-1, 5))


@pytest.mark.parametrize("reward", [any_success, huge, topics])
@pytest.mark.parametrize("order", ["by value", "against the rival"])
def test_the_sentence_is_false_in_at_most_delta_of_the_draws(reward, order) -> None:
    model = lw.SCP(2, effort="fast", random_state=0).fit(world(0, 100, reward))
    rival = lw.baselines.Random(2, random_state=0).fit(world(0, 100, reward))
    whole = world(1, POPULATION, reward)
    values, theirs = (list_values(one.predict(whole), whole) for one in (model, rival))
    best = list_values(lw.greedy(whole, 2), whole)
    key = {"by value": -values, "against the rival": theirs - values}[order]
    rng, false = np.random.default_rng(2), 0
    for _ in range(DRAWS):
        rows = rng.choice(POPULATION, HELD, replace=False)
        made = model.certify(whole[rows[np.argsort(key[rows])]], DELTA, rivals={"random": rival})
        false += made.value > values.mean() or (made.share_of_greedy or 0.0) > values.sum() / best.sum()
        false += made.ahead_of.get("random", -1.0) > (values - theirs).mean()
    assert false / DRAWS <= LIMIT


def synergy(rows: Any) -> float:
    """Items are worth little alone and much together: not submodular."""
    return (0.0, 0.1, 1.0)[min(len(rows), 2)]


def spoiled(rows: Any) -> float:
    """A second item spoils the list: not monotone."""
    return (0.0, 0.9, 0.2)[min(len(rows), 2)]


@pytest.mark.parametrize("function", [synergy, spoiled])
def test_nothing_is_said_of_the_best_lists_where_a_law_is_broken(function) -> None:
    problems = world(0, 120, lambda _, __: Function(lambda _, rows: function(rows)))
    made = lw.SCP(2, effort="fast", random_state=0).fit(problems[:60]).certify(problems[60:])
    assert made.share_of_best is None
    assert "Nothing is claimed against the best lists" in str(made)


@pytest.mark.parametrize("seed", range(5))
def test_what_chose_the_policy_is_refused(seed) -> None:
    problems = world(seed, 150, any_success)
    chosen = lw.SCP(2, features=lw.features.Candidate(), keep="best", random_state=0).fit(problems)
    for i in range(100, 150):
        with pytest.raises(InputError, match=r"1 of these 1 problems were (learned from|used to choose)"):
            chosen.certify(problems[i : i + 1])
    with pytest.raises(InputError, match="30 of these 30 problems were used to choose the policy"):
        chosen.fit(problems[:120], validation=problems[120:]).certify(problems[120:])


@pytest.mark.parametrize("seed", range(5))
def test_training_problems_without_context_are_refused(seed) -> None:
    success = np.random.default_rng(seed).random((20, 50)) < 0.05
    items = np.tile(np.arange(50), 20)
    problems = lw.Problems.from_arrays(np.zeros((20, 50, 0)), reward=AnySuccess(success), catalogue=items)
    with pytest.raises(InputError, match="20 of these 20 problems were learned from"):
        lw.ContextFreeSCP(2, random_state=0).fit(problems).certify(problems)


@pytest.mark.parametrize("shift", [1e-6, -1e-6])
def test_training_problems_that_were_moved_a_little_are_refused(shift) -> None:
    moved = world(0, 100, any_success)
    model = lw.SCP(2, effort="fast", random_state=0).fit(moved)
    near = lw.Problems.from_arrays(
        (moved.features + np.float32(shift)).reshape(100, ITEMS, 3), reward=moved.reward, problem_ids=range(500, 600)
    )
    with pytest.raises(InputError, match="nearly equal problems that were learned from"):
        model.certify(near)


def test_copies_under_new_ids_are_pointed_out() -> None:
    rng = np.random.default_rng(3)
    x = rng.random((108, ITEMS, 3)).astype(np.float32)
    success = rng.random((108, ITEMS)) < 0.6 * x[..., 0]
    whole = lw.Problems.from_arrays(x, reward=AnySuccess(success))
    model = lw.SCP(2, effort="fast", random_state=0).fit(whole[:100])
    rows = np.repeat(np.arange(100, 108), 25)
    copies = lw.Problems.from_arrays(
        x[rows],
        reward=AnySuccess(success[rows]),
        problem_ids=[f"new {i}" for i in range(200)],
    )
    assert "192 of these problems equal others" in str(model.certify(copies))
    named = model.certify(copies, cluster=rows)
    assert "equal others" not in str(named)
    assert named.n_groups == 8


@pytest.mark.parametrize(("moved", "junk"), [(0.0, 0), (1e-6, 0), (0.0, 1)])
def test_copies_under_new_ids_make_no_false_sentence_moved_or_with_a_candidate_more(moved, junk) -> None:
    rng, false = np.random.default_rng(3), 0
    x = rng.random((1000, ITEMS, 3)).astype(np.float32)
    success = rng.random((1000, ITEMS)) < 0.6 * x[..., 0] * x[..., 1]
    whole = lw.Problems.from_arrays(x, reward=AnySuccess(success))
    model = quick(whole[:60])
    truth = model.score(whole[60:])
    for _ in range(DRAWS):
        rows = np.tile(rng.choice(np.arange(60, 1000), 8, replace=False), 25)
        features = x[rows] + moved * rng.normal(size=(200, ITEMS, 3))
        features = np.concatenate([features, rng.random((200, junk, 3))], axis=1)
        wins = np.concatenate([success[rows], np.zeros((200, junk), dtype=bool)], axis=1)
        copies = lw.Problems.from_arrays(features, reward=AnySuccess(wins), problem_ids=range(2000, 2200))
        false += model.certify(copies, DELTA).value > truth
    assert false / DRAWS <= LIMIT
    with pytest.raises(InputError, match="of these 192 problems are equal to others in every feature and gain"):
        model.certify(copies[:8]).update(copies[8:])


class MostTopics(AnySuccess):
    """A reward of the user's own, of which greedy does not find the best list: the share of numbers covered."""

    def start(self, problems: lw.Problems) -> Any:
        return np.zeros((len(problems), 6), dtype=bool), problems

    def _covered(self, problems: lw.Problems) -> Any:
        return problems.features.astype(int).astype(bool)

    def gains(self, state: Any) -> Any:
        covered, problems = state
        return (self._covered(problems) & ~covered[problems.owners]).mean(axis=1)

    def gains_of(self, state: Any, rows: Any) -> Any:
        return self.gains(state)[rows]

    def value(self, state: Any) -> Any:
        return state[0].mean(axis=1)

    def add(self, state: Any, rows: Any) -> Any:
        covered, problems = state[0].copy(), state[1]
        some = rows >= 0
        covered[some] |= self._covered(problems)[rows[some]]
        return covered, problems


def test_a_reward_derived_from_anysuccess_is_not_taken_for_one() -> None:
    rng = np.random.default_rng(0)
    sets = np.array([[0, 1, 1, 1, 1, 0], [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]])  # greedy takes the first, of 4
    x = np.stack([np.eye(6, dtype=int)[rng.permutation(6)] for _ in range(300)])
    x = (sets @ x).astype(np.float32) + rng.random((300, 3, 6)).astype(np.float32) * 0.5
    problems = lw.Problems.from_arrays(x, reward=MostTopics(np.zeros((300, 3))))
    made = quick(problems[:60]).certify(problems[60:])
    assert made.share_of_greedy > made.mean  # greedy's lists are worth 5/6, the best ones 1
    assert made.share_of_best <= made.mean


def test_many_problems_are_certified_under_a_budget() -> None:
    sizes = np.random.default_rng(0).integers(1, 4, (400, ITEMS)).astype(float)
    problems = world(0, 400, topics, sizes=sizes)
    made = lw.SCP(budget=4.0, effort="fast", random_state=0).fit(problems[:100]).certify(problems[100:])
    assert made.n == 300
    assert 0.4 < made.share_of_best <= 1


@pytest.mark.parametrize(("width", "share"), [(3, 1.0), (40, 1.0), (30, 0.3)])
def test_moved_problems_are_found_with_many_columns_and_zeros(width, share) -> None:
    rng = np.random.default_rng(0)
    x = rng.random((60, ITEMS, width)).astype(np.float32)
    x = x if share == 1.0 else (x < share).astype(np.float32)
    reward = AnySuccess(rng.random((60, ITEMS)) < 0.4)
    model = lw.SCP(2, features=lw.features.Candidate(), n_passes=1, random_state=0)
    model.fit(lw.Problems.from_arrays(x, reward=reward))
    with pytest.raises(InputError, match="nearly equal problems that were learned from"):
        model.certify(lw.Problems.from_arrays(x + np.float32(1e-6), reward=reward, problem_ids=range(500, 560)))
    fresh = lw.Problems.from_arrays(rng.random((60, ITEMS, width)), reward=reward)
    assert model.certify(fresh).n == 60


def quick(problems: lw.Problems, **given: Any) -> lw.SCP:
    return lw.SCP(2, features=lw.features.Candidate(), n_passes=1, random_state=0, **given).fit(problems)


def test_training_problems_are_refused_with_another_reward_or_other_weights() -> None:
    problems = world(0, 60, any_success)
    model = quick(problems)
    with pytest.raises(InputError, match="nearly equal"):
        model.certify(problems.with_reward(Total(problems.features[:, 0], cap=1.0)))
    weighted = WeightedProblems(problems.reward, np.random.default_rng(0).random(60))
    with pytest.raises(InputError, match="60 of these 60 problems were learned from"):
        model.certify(problems.with_reward(weighted))
    with pytest.raises(InputError, match="60 of these 60 problems were learned from"):
        lw.certify_best([lw.baselines.TopK(length=2).fit(problems)], problems)


def two_keys(problem: Any, rows: Any) -> float:
    """A reward that takes two items of one kind, which nothing shows before the first of them is in the list."""
    keys = int((problem.features[list(rows), 0] > 0.6).sum())
    return min(1.0, 0.05 * len(rows) + 0.8 * (keys >= 2))


def test_greedy_looks_at_every_gain_where_the_reward_is_the_users_own() -> None:
    problems = world(0, 120, lambda _, __: Function(two_keys))
    made, held = quick(problems[:40]).certify(problems[40:]), problems[40:]
    assert made.greedy_mean == pytest.approx(lw.greedy(held, 2, method="naive").values.mean())
    assert made.greedy_mean > lw.greedy(held, 2).values.mean()


def test_a_mixture_is_certified_for_the_mean_over_its_draws() -> None:
    problems = world(0, 80, any_success)
    said = [str(quick(problems[:40], keep=keep).certify(problems[40:])) for keep in ("mixture", "last")]
    assert ["the mean over such draws" in text for text in said] == [True, False]


def pair(problem: Any, rows: Any) -> float:
    """Two of forty items are worth nothing alone and everything together."""
    needles = {int(row) for row in np.argsort(problem.features[:, 1])[:2]} & {int(row) for row in rows}
    return min(1.0, 0.3 * (len(rows) - len(needles)) + (len(needles) == 2))


def test_few_problems_show_that_a_reward_of_the_users_own_is_not_submodular() -> None:
    x = np.random.default_rng(0).random((240, 40, 2)).astype(np.float32)
    problems = lw.Problems.from_arrays(x, reward=Function(pair))
    model = quick(problems[:40])  # its lists are worth 0.6, the best ones 1
    made = [model.certify(problems[start : start + 20], DELTA) for start in range(40, 240, 20)]
    assert [one.share_of_best for one in made] == [None] * 10
    assert all(one.notes[-1].endswith("as seen here on all problems: from 0 to 1.") for one in made[:1])


def test_what_is_assumed_of_a_reward_is_no_more_than_what_is_claimed_needs() -> None:
    problems = world(0, 60, lambda _, __: Function(lambda _, rows: 3.0 * len(rows)))
    assert "on all problems: 0 or more." in str(quick(problems[:30]).certify(problems[30:]))


def test_a_function_that_is_said_to_be_unbounded_is_not_compared() -> None:
    function = Function(lambda _, rows: 0.1 * len(rows), bounded=False)
    problems = world(0, 60, lambda _, __: function)
    made = quick(problems[:30]).certify(problems[30:])
    assert (made.share_of_greedy, made.share_of_best) == (None, None)
    assert "values of this reward may be above 1" in str(made)


def test_values_below_zero_are_refused() -> None:
    problems = world(0, 60, lambda _, __: Function(lambda _, rows: -0.3 * len(rows)))
    with pytest.raises(InputError, match=r"worth 0 or more\. Got -0\.6"):
        quick(problems[:30]).certify(problems[30:])


def test_a_reward_of_the_users_own_is_named_as_an_assumption() -> None:
    problems = world(0, 60, lambda _, __: Function(lambda _, rows: 1 - 0.5 ** len(rows)))
    assert "takes your reward to be as seen" in str(quick(problems[:30]).certify(problems[30:]))


def test_update_refuses_problems_that_it_has_and_never_falls() -> None:
    model, held = quick(world(0, 60, topics)), world(1, 200, topics)
    first = model.certify(held[:100])
    with pytest.raises(InputError, match="10 of these 10 problems are part of this certificate already"):
        first.update(held[90:100])
    certificate = first
    for start in range(100, 200, 5):
        certificate, before = certificate.update(held[start : start + 5]), certificate
        assert certificate.value >= before.value
        assert certificate.share_of_greedy >= before.share_of_greedy
    assert certificate.value > first.value


def test_clusters_go_on_with_new_clusters_only() -> None:
    model, held, users = quick(world(0, 60, topics)), world(1, 200, topics), np.arange(200) // 4
    first = model.certify(held[:100], cluster=users[:100])
    with pytest.raises(InputError, match=r"with clusters, which are its draws\. Pass cluster="):
        first.update(held[100:])
    with pytest.raises(InputError, match=r"without clusters, which are its draws\. Do not pass cluster="):
        model.certify(held[:100]).update(held[100:], cluster=users[100:])
    with pytest.raises(InputError, match="8 of these 100 problems are of clusters that are part of this certificate"):
        first.update(held[100:], cluster=np.where(users[100:] < 27, 3.0, users[100:]))
    later = first.update(held[100:], cluster=users[100:])
    assert (first.n_groups, later.n, later.n_groups) == (25, 200, 50)
    assert later.mean == pytest.approx(model.score(held))
    assert later.value >= first.value


def test_clusters_that_arrive_are_wrong_in_at_most_delta_of_the_draws() -> None:
    rng, false = np.random.default_rng(4), 0
    x, success = rng.random((1000, ITEMS, 3)), rng.random((1000, ITEMS)) < 0.3
    whole = lw.Problems.from_arrays(x, reward=AnySuccess(success))
    model = quick(whole[:60])
    truth = model.score(whole[60:])
    for _ in range(DRAWS // 2):
        made = None
        for users in np.split(rng.choice(np.arange(60, 1000), 24, replace=False), 3):
            rows = np.repeat(users, 5)  # each user comes five times, under new ids
            visits = lw.Problems.from_arrays(
                x[rows], reward=AnySuccess(success[rows]), problem_ids=[f"{row} {i}" for i, row in enumerate(rows)]
            )
            made = model.certify(visits, DELTA, cluster=rows) if made is None else made.update(visits, cluster=rows)
        false += made.value > truth
    assert false / (DRAWS // 2) <= LIMIT


def test_update_is_about_the_model_and_the_limits_of_the_first_certificate() -> None:
    problems = world(0, 400, topics, groups=np.arange(400 * ITEMS) % 2)
    model = quick(problems[:100])
    first = model.certify(problems[100:200], per_group=1)
    later = first.update(problems[200:300])
    held = problems[100:300]
    assert later.mean == pytest.approx(list_values(model.predict(held, per_group=1), held).mean())
    assert later.greedy_mean == pytest.approx(list_values(lw.greedy(held, 2, per_group=1), held).mean())
    model.fit(problems[300:])
    assert first.update(problems[200:300]) == later
    with pytest.raises(InputError, match="100 of these 100 problems were learned from"):
        first.update(problems[:100])


def test_what_fit_learned_from_is_refused_when_its_own_certificate_goes_on() -> None:
    problems = world(0, 120, topics)
    model = lw.SCP(2, features=lw.features.Candidate(), n_passes=1, random_state=0).fit(problems, certify=0.25)
    with pytest.raises(InputError, match="were learned from"):
        model.certified_.update(problems)


def test_update_drops_what_later_problems_do_not_allow() -> None:
    problems = world(0, 90, lambda _, x: Function(lambda one, rows: len(rows) * (3.0 if one.context[0, 0] else 0.2)))
    problems = lw.Problems.from_arrays(
        problems.features.reshape(90, ITEMS, 3), reward=problems.reward, context=np.arange(90)[:, None] > 60
    )
    first = quick(problems[:30]).certify(problems[30:60])
    assert first.share_of_greedy is not None
    later = first.update(problems[60:])
    assert later.share_of_greedy is None
    assert "values of this reward may be above 1" in str(later)


def test_a_model_that_is_fitted_again_is_noticed() -> None:
    held, model = world(9, 80, any_success), lw.SCP(2, features=lw.features.Candidate(), n_passes=1, random_state=0)
    sentences = [str(model.fit(world(seed, 30, any_success)).certify(held)) for seed in (10, 11)]
    assert "equal ones, were used for 1 other certificate before" not in sentences[0]
    assert "were used for 1 other certificate before" in sentences[1]
    again = str(model.certify(held))
    assert again.startswith(sentences[1].split("These problems")[0])
    assert "The same was certified before, of the same problems: this is no further evidence." in again


def test_all_near_copies_left_out_are_counted_when_more_arrives() -> None:
    problems, held = world(0, 60, any_success), world(5, 120, any_success)
    model = quick(problems)

    def with_copies(new: lw.Problems, first: int, n: int) -> lw.Problems:
        parts = problems[first : first + n], new
        x = np.concatenate([part.features.reshape(-1, ITEMS, 3) for part in parts])
        x[:n] += 1e-6
        wins = np.concatenate([first_gains(part).reshape(-1, ITEMS) > 0 for part in parts])
        ids = [*(f"copy {i}" for i in range(first, first + n)), *new.problem_ids]
        return lw.Problems.from_arrays(x, reward=AnySuccess(wins), problem_ids=ids)

    certificate = model.certify(with_copies(held[:40], 0, 5))
    for more, n_left_out in ((with_copies(held[40:80], 10, 7), 12), (held[80:], 12)):
        certificate = certificate.update(more)
        left_out = [note for note in certificate.notes if note.startswith("Left out")]
        assert left_out == [f"Left out, and not covered: {n_left_out} that nearly equal training problems."]


def test_a_set_that_grows_between_certificates_is_noticed() -> None:
    model, held = quick(world(0, 30, any_success)), world(21, 90, any_success)
    assert "other certificate" not in str(model.certify(held[:20]))
    assert "1 other certificate before" in str(model.certify(held[:50]))
    assert "update, whose bounds hold together" in str(model.certify(held))


def test_weights_and_clusters_say_what_means_are_taken_over() -> None:
    problems = world(0, 160, any_success)
    model, held = quick(problems[:60]), problems[60:]
    weights = np.where(np.arange(100) < 50, 1.0, 3.0)
    values = list_values(model.predict(held), held)
    by_weight = model.certify(held, weight=weights)
    assert by_weight.mean == pytest.approx(np.average(values, weights=weights))
    assert by_weight.n_groups == 80
    assert "weigh more than the heaviest" in str(by_weight)
    in_reward = model.certify(held.with_reward(WeightedProblems(held.reward, weights)))
    assert in_reward.value == by_weight.value
    clusters = np.maximum(np.arange(100) - 50, 0)
    by_user = model.certify(held, cluster=clusters)
    assert by_user.mean == pytest.approx(np.mean([values[clusters == user].mean() for user in range(50)]))
    assert "of effectively 50 independent groups" in str(by_user)
    assert "Each group counts the same" in str(by_user)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_problems_without_a_cluster_are_not_taken_for_one_cluster(missing) -> None:
    x = np.random.default_rng(0).random((60, ITEMS, 2)).reshape(-1, 2)
    frame = pd.DataFrame(x, columns=["a", "b"]).assign(visit=np.repeat(np.arange(60), ITEMS), clicked=x[:, 0] > 0.8)
    model = lw.SCP(2, effort="fast", random_state=0).fit(frame[frame.visit < 30], problem="visit", reward="any:clicked")
    held = frame[frame.visit >= 30].assign(user=lambda held: held.visit.astype(object))
    held.loc[held.visit >= 50, "user"] = missing
    with pytest.raises(InputError, match="cluster has no entry for 10 of 30 problems, such as 50"):
        model.certify(held, cluster="user")
    with pytest.raises(InputError, match="cluster has no entry for 10 of 30 problems, such as 50"):
        model.certify(held, cluster=held.user[::ITEMS].to_list())


def test_no_confidence_reads_as_certainty() -> None:
    held = world(3, 20, any_success)
    sentence = str(quick(world(0, 30, any_success)).certify(held, delta=1e-60))
    assert "with 99.99" in sentence
    assert "100 %" not in sentence


def noise(rng: np.random.Generator, x: np.ndarray) -> Any:
    return AnySuccess(rng.random(x.shape[:2]) < 0.2)


def with_junk(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.concatenate([x, rng.random((len(x), 1, x.shape[2]))], axis=1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("change", ["rows in another order", "a candidate more", "scaled"])
def test_training_problems_in_disguise_are_refused_or_left_out(seed, change) -> None:
    rng = np.random.default_rng(seed)
    x, wins = rng.random((100, ITEMS, 3)), rng.random((100, ITEMS)) < 0.3
    model = lw.SCP(2, effort="fast", random_state=0).fit(lw.Problems.from_arrays(x, reward=AnySuccess(wins)))
    order = rng.permutation(ITEMS)
    if change == "scaled":
        x = 1.001 * x
    elif change == "a candidate more":
        x, wins = with_junk(x, rng), np.concatenate([wins, np.zeros((100, 1), dtype=bool)], axis=1)
    else:
        x, wins = x[:, order], wins[:, order]
    disguised = lw.Problems.from_arrays(x, reward=AnySuccess(wins), problem_ids=[f"new {i}" for i in range(100)])
    with pytest.raises(InputError, match=r"were learned from|nearly equal problems"):
        model.certify(disguised)


@pytest.mark.parametrize("seed", range(5))
def test_copies_on_both_sides_of_a_split_are_named_and_other_problems_are_not(seed) -> None:
    rng = np.random.default_rng(seed)
    x, wins = rng.random((60, ITEMS, 3)), rng.random((60, ITEMS)) < 0.2
    once, copies = (
        lw.Problems.from_arrays(np.tile(x, (n, 1, 1)), reward=AnySuccess(np.tile(wins, (n, 1)))) for n in (1, 2)
    )
    said = [str(lw.SCP(2, effort="fast", random_state=0).fit(some, certify=0.5).certified_) for some in (once, copies)]
    assert ["nearly equal training problems; " in text for text in said] == [False, True]


@pytest.mark.parametrize("kind", [lw.baselines.TopK, lw.baselines.Random])
def test_a_baseline_from_a_file_does_not_know_its_training_problems_and_says_so(kind, tmp_path) -> None:
    problems = world(0, 80, noise)
    kind(length=2).fit(problems).save(tmp_path / "model")
    said = str(lw.certify_best([lw.load(tmp_path / "model")], problems))
    assert ("not known here what the model learned from" in said) == (kind is lw.baselines.TopK)


def test_a_certificate_goes_on_with_the_policy_that_it_is_about_while_the_model_learns() -> None:
    problems = world(0, 400, any_success)
    models = [lw.SCP(2, effort="fast", random_state=0).fit(problems[:100]) for _ in range(2)]
    certificates = [model.certify(problems[100:200]) for model in models]
    models[0].partial_fit(problems[200:300])
    later = [certificate.update(problems[300:]) for certificate in certificates]
    assert later[0].value == later[1].value


def test_a_mixture_that_is_looked_at_problem_by_problem_is_wrong_in_at_most_delta_of_the_draws() -> None:
    good, bad = (
        world(seed, 100, lambda _, x, sign=sign: AnySuccess(sign * (x[..., 0] - 0.5) > 0.1))
        for seed, sign in ((1, 1), (2, -1))
    )
    whole = world(3, 1000, lambda _, x: AnySuccess(x[..., 0] > 0.6))
    false = 0
    for seed in range(DRAWS):
        model = lw.SCP(
            1, features=lw.features.Candidate(), batch_size=10, n_passes=1, keep="mixture", random_state=seed
        )
        model.fit(good).partial_fit(bad).partial_fit(bad)
        rows = np.random.default_rng(seed).choice(1000, 20, replace=False)
        made = model.certify(whole[rows[:1]], DELTA)
        for row in rows[1:]:
            made = made.update(whole[[row]])
        false += made.value > model.score(whole)
    assert false / DRAWS <= LIMIT


def test_an_order_that_fits_what_predict_draws_is_wrong_in_at_most_delta_of_the_draws() -> None:
    whole, false = world(0, POPULATION, noise), 0
    model = lw.baselines.Random(1, random_state=0).fit(whole[:1])
    picked = model.predict(whole[:HELD]).rows[:, 0] % ITEMS  # at each place, whatever the problem
    success = first_gains(whole).reshape(-1, ITEMS)
    for seed in range(DRAWS):
        left = list(np.random.default_rng(seed).choice(POPULATION, HELD, replace=False))
        order = [left.pop(int(np.argmax(success[left, pick]))) for pick in picked]
        false += lw.certify_best([model], whole[order], DELTA).value > success.mean()
    assert false / DRAWS <= LIMIT


def test_problems_of_equal_weight_do_not_show_how_heavy_others_are() -> None:
    """One problem in twenty weighs 25 times as much, and its lists are worth nothing: many samples have none."""
    whole = world(0, 600, lambda _, x: AnySuccess(x[..., 0] > np.where(np.arange(len(x)) % 20, 0.0, 2.0)[:, None]))
    weights, model = np.where(np.arange(600) % 20, 1.0, 25.0), quick(whole[:20])
    truth = np.average(list_values(model.predict(whole[20:]), whole[20:]), weights=weights[20:])
    for seed in range(DRAWS):
        rows = np.random.default_rng(seed).choice(np.arange(20, 600), 20, replace=False)
        made = model.certify(whole[rows], DELTA, weight=weights[rows])
        assert made.value <= truth or "takes none to weigh more than the heaviest here" in str(made)


def test_copies_that_arrive_kind_by_kind_are_refused() -> None:
    """By problems half of all lists are worth nothing; by kinds, one in twenty."""
    rng = np.random.default_rng(0)
    x, wins = rng.random((200, ITEMS, 3)), np.tile(np.arange(200)[:, None] % 20 > 0, ITEMS)
    kinds = lw.Problems.from_arrays(x, reward=AnySuccess(wins))
    model, arriving = quick(kinds[:60]), [np.repeat(kind, 1 if wins[kind, 0] else 25) for kind in range(60, 200)]
    batches = [
        lw.Problems.from_arrays(
            x[rows], reward=AnySuccess(wins[rows]), problem_ids=[f"{row} {i}" for i, row in enumerate(rows)]
        )
        for rows in arriving
    ]
    with pytest.raises(InputError, match="cannot be updated"):
        model.certify(batches[0], DELTA).update(batches[1])
    with pytest.raises(InputError, match="Some of these 25 problems are equal to others"):
        model.certify(batches[1], DELTA).update(batches[20])


def test_a_rival_that_learned_from_the_held_out_problems_is_named() -> None:
    problems = world(0, 90, any_success)
    old, own = quick(problems[:60]), lw.baselines.TopK(length=2).fit(problems[30:])
    said = str(quick(problems[:30]).certify(problems[30:], rivals={"today": old, "sorted": own}))
    assert "how good today is on new problems, because it learned from some of these" in said
    assert "how good sorted is on new problems, because it learned from some of these" in said
    assert "learned from some" not in str(quick(problems[:30]).certify(problems[30:60], rivals=["top_k"]))
