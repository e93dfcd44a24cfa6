"""At most so many items of a group: in every way of building lists, and the same compiled and plain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright import baselines
from listwright._internal.quotas import MOST
from listwright.errors import DataWarning, InputError
from listwright.features import Candidate, Distance, Identity, Position
from listwright.policies import Linear
from listwright.problems import Problems
from listwright.walk.constraints import Constraints
from listwright.walk.lists import build_lists, compiled_walk, plain_lists

LABELS = np.array(["red", "green", "blue"])


def made_problems(seed: int = 0, *, n: int = 30, count: int = 10, reward: bool = True) -> Problems:
    rng = np.random.default_rng(seed)
    features = rng.random((n, count, 4))
    worth = lw.rewards.Coverage((rng.random((n * count, 6)) < features[..., :1].reshape(-1, 1) / 2).astype(float))
    return Problems.from_arrays(
        features,
        catalogue=np.arange(count),
        context=rng.random((n, 2)),
        sizes=rng.uniform(0.5, 2.0, n * count),
        groups=LABELS[rng.integers(3, size=(n, count))],
        vectors=rng.random((n, count, 3)),
        reward=worth if reward else None,
    )


def most_of_a_group(lists: lw.Lists) -> int:
    groups = lists.problems.groups
    assert groups is not None
    rows = [row[row >= 0] for row in lists.rows]
    return max(int(np.unique(groups[one], return_counts=True)[1].max(initial=0)) for one in rows)


@pytest.mark.parametrize("parts", [(Candidate,), (Candidate, Distance, Position), (Candidate, Identity)])
@pytest.mark.parametrize("per_group", [1, 2, {"red": 0, "green": 1, "blue": 3}])
@pytest.mark.parametrize(("length", "budget", "repeats"), [(5, None, False), (None, 4.0, False), (5, None, True)])
def test_the_compiled_walk_builds_the_same_lists(
    parts: tuple[Any, ...], per_group: Any, length: int | None, budget: float | None, repeats: bool
) -> None:
    problems = made_problems(reward=False).with_constraints(per_group=per_group)
    features = lw.features.Sum([part() for part in parts]).fit(problems)
    rows, rng = features.rows(features.start(problems)), np.random.default_rng(1)
    items = None if rows.crossed is None else rng.normal(size=(rows.crossed.n_items, rows.crossed.states.shape[1]))
    policy = Linear(rng.normal(size=rows.table.shape[1]), items)
    assert compiled_walk(problems, features, policy) is not None
    options: dict[str, Any] = {"length": length, "rng": rng, "repeats": repeats}
    options["budgets"] = None if budget is None else np.full(len(problems), budget)
    compiled, plain = (build(problems, features, policy, **options) for build in (build_lists, plain_lists))
    np.testing.assert_array_equal(compiled.rows, plain.rows)
    assert most_of_a_group(compiled) <= (3 if isinstance(per_group, dict) else per_group)
    if isinstance(per_group, dict):
        assert problems.groups is not None
        assert "red" not in problems.groups[compiled.rows[compiled.rows >= 0]]


MODELS: list[Any] = [
    lw.SCP(4, random_state=0),
    lw.SCP(4, learner="hinge_rank", features=Candidate() + Position(), n_passes=2, random_state=0),
    lw.ConSeqOpt(4, random_state=0),
    baselines.TopK(length=4),
    baselines.MMR(0.5, relevance=0, length=4),
    baselines.DPP(relevance=0, length=4),
    baselines.LearnedDPP(length=4),
    baselines.SubMod(length=4),
    baselines.StaticList(4),
    baselines.NearestCover(length=4),
    baselines.ForestCover(n_estimators=10, length=4, random_state=0),
    baselines.Random(4, random_state=0),
    baselines.Oracle(4),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_every_model_keeps_to_the_limit(model: Any) -> None:
    problems = made_problems()
    free = model.fit(problems).predict(problems)
    assert most_of_a_group(free) > 1
    assert most_of_a_group(model.predict(problems, per_group=1)) == 1
    assert most_of_a_group(model.predict(problems.with_constraints(per_group=1))) == 1
    limited = type(model)(**(model.get_params(deep=False) | {"per_group": 2})).fit(problems)
    assert most_of_a_group(limited.predict(problems)) == 2
    assert most_of_a_group(limited.predict(problems, per_group=1)) == 1


def test_a_context_free_model_and_one_that_learns_online_keep_to_it() -> None:
    problems = made_problems()
    model = lw.ContextFreeSCP(4, random_state=0).fit(problems)
    assert most_of_a_group(model.predict(problems, per_group=1)) == 1
    assert most_of_a_group(model.predict(problems, per_group=1, best_list=True)) == 1
    online = lw.OnlineSCP.from_model(lw.SCP(3, effort="fast", random_state=0).fit(problems))
    assert most_of_a_group(online.recommend(problems.with_constraints(per_group=1))) == 1


@pytest.mark.parametrize("method", ["lazy", "naive"])
def test_greedy(method: str) -> None:
    problems = made_problems()
    lists = lw.greedy(problems, 4, per_group=1, method=method)
    assert most_of_a_group(lists) == 1
    free = lw.greedy(problems, 4, per_group=10, method="naive")
    np.testing.assert_array_equal(free.rows, lw.greedy(problems, 4, method="naive").rows)
    assert lists.ratio == 0.5
    assert lw.greedy(problems, budget=4.0, per_group=1).ratio is None


def test_greedy_has_half_of_the_best_list_within_the_groups() -> None:
    problems = made_problems(n=12, count=6)
    lists = lw.greedy(problems, 3, per_group=1)
    assert lists.bound == "at least 1/2 of the best list of this length within the groups"
    assert lists.values is not None
    for i in range(len(problems)):
        one = problems[i]
        rows = [[a, b, c] for a in range(6) for b in range(a) for c in range(b)]
        assert one.groups is not None
        allowed = [row for row in rows if len(set(one.groups[row])) == 3] or [[0]]
        best = max(float(lw.evaluation.list_values(lw.Lists(one, np.array([row])), one)[0]) for row in allowed)
        assert lists.values[i] >= best / 2 - 1e-9


def test_room_counts_down() -> None:
    problems = Problems.from_arrays(np.zeros((2, 3, 1)), groups=["a", "a", "b"]).with_constraints(
        per_group={"a": 1, "b": 0}
    )
    budgets = Constraints(problems, None)
    assert budgets.fits().tolist() == [True, True, False] * 2
    budgets.take(np.array([1, -1]))
    assert budgets.fits().tolist() == [False, False, False, True, True, False]


def test_groups_follow_selections_and_are_joined() -> None:
    problems = made_problems()
    assert problems.groups is not None
    np.testing.assert_array_equal(problems[[3, 1]].groups, problems.groups.reshape(30, 10)[[3, 1]].ravel())
    joined = Problems.concat([problems[:2].with_constraints(per_group=2), problems[2:5].with_constraints(per_group=1)])
    assert joined.quotas is not None
    assert joined.quotas.most[:, 0].tolist() == [2] * 20 + [1] * 30
    assert "3 groups" in repr(problems)
    partly = Problems.concat([problems[:2].with_constraints(per_group=2), problems[2:5]])
    assert partly.quotas is not None
    assert partly.quotas.most[:, 0].tolist() == [2] * 20 + [MOST] * 30


def test_the_limit_is_saved_and_certified(tmp_path: Path) -> None:
    problems = made_problems(n=80)
    model = lw.SCP(3, per_group={"red": 1, "green": 1, "blue": 1}, random_state=0).fit(problems[:50])
    model.save(tmp_path / "model.listwright")
    again = lw.load(tmp_path / "model.listwright")
    assert again.per_group == model.per_group
    np.testing.assert_array_equal(again.predict(problems[50:]).rows, model.predict(problems[50:]).rows)
    certificate = model.certify(problems[50:])
    assert 0.5 * certificate.share_of_greedy < certificate.share_of_best <= certificate.share_of_greedy
    assert any("group" in words for words in model.online_certificate().breaches)


@pytest.mark.parametrize(
    ("per_group", "message"),
    [
        (0, "per_group must be at least 1"),
        ({"red": (2, 1)}, "per_group must be .least, most. for group"),
        ({"red": 1, "green": -1, "blue": 1}, "per_group must be 0 or more. Got -1 for group 'green'"),
        ({"red": 1.5, "green": 1, "blue": 1}, "per_group"),
    ],
)
def test_bad_limits_are_named(per_group: Any, message: str) -> None:
    problems = made_problems()
    with pytest.raises(InputError, match=message):
        lw.greedy(problems, 3, per_group=per_group)
    with pytest.raises(InputError, match=message):
        lw.SCP(3, per_group=per_group).fit(problems)


def test_limits_need_groups() -> None:
    bare = Problems.from_arrays(np.zeros((2, 3, 1)), reward=lw.rewards.AnySuccess(np.eye(2, 3)))
    with pytest.raises(InputError, match="per_group needs groups"):
        lw.SCP(2, per_group=1).fit(bare)
    with pytest.raises(InputError, match="groups must have one entry"):
        Problems.from_arrays(np.zeros((2, 3, 1)), groups=["a"])


@pytest.mark.parametrize("limits", [1, (1, 2)])
def test_a_label_that_no_problem_has_is_named(limits: Any) -> None:
    problems = made_problems()
    with pytest.warns(DataWarning, match=r"names 'zz', but no row is in that group\. Groups: 'blue', 'green', 'red'\."):
        lw.SCP(3, per_group={"red": 1, "zz": limits}, effort="fast").fit(problems)
    lw.SCP(3, per_group={"red": 1, "zz": limits}, effort="fast").partial_fit(problems)  # others may follow


def test_none_is_no_limit_on_either_side() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        table, labels = rng.normal(size=(30, 3)), rng.choice(list("ab"), 30)
        few = lw.select(table, 8, groups=labels, per_group={"a": (None, 2)})
        assert (labels[few.rows] == "a").sum() <= 2
        many = lw.select(table, 8, groups=labels, per_group={"a": (5, None)})
        assert (labels[many.rows] == "a").sum() >= 5
        free = lw.select(table, 8, groups=labels, per_group=(None, None))
        assert free.rows.tolist() == lw.select(table, 8).rows.tolist()
