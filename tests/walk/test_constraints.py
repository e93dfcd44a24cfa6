"""Quotas both ways, nested groups, exclusions, pins and several budgets, compared with all lists of small problems."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.estimators.certification import as_certification
from listwright.evaluation.values import list_values
from listwright.problems import Problems
from listwright.training.round import first_gains, states_of

N, K = 8, 4
COARSE, FINE = np.array(list("aaaabbbb")), np.array(list("ccddeeff"))
CASES: dict[str, dict[str, Any]] = {
    "least": {"groups": COARSE, "per_group": {"b": (2, None)}},
    "both ways": {"groups": FINE, "per_group": {"c": (1, 1), "f": (1, 2), "d": 1}},
    "nested": {"groups": [COARSE, FINE], "per_group": [{"a": (2, 2), "b": (1, 3)}, {"c": (0, 1), "f": (1, 1), "e": 1}]},
    "nested needs": {"groups": [COARSE, FINE], "per_group": [(1, 3), {"c": (1, None), "d": (1, None)}]},
    "excluded": {"exclude": [0, 5]},
    "pinned": {"pin": [6, 1]},
    "all": {"groups": COARSE, "per_group": {"b": (2, 3)}, "exclude": [4], "pin": [5]},
    "budgets": {"budgets": [(np.array([3, 1, 1, 2, 2, 1, 1, 3.0]), 5.0), (np.array([1, 3, 1, 1, 1, 2, 2, 1.0]), 6.0)]},
}


def allowed(rows: tuple[int, ...], case: dict[str, Any]) -> bool:
    """Whether a set of rows keeps to the constraints, word by word."""
    labels = case.get("groups")
    for names, quotas in zip(
        labels if isinstance(labels, list) else [labels],
        case["per_group"] if isinstance(case.get("per_group"), list) else [case.get("per_group")],
        strict=True,
    ):
        for name in set(names) if quotas is not None else ():
            quota = quotas.get(name, (0, None)) if isinstance(quotas, dict) else quotas
            least, most = quota if isinstance(quota, tuple) else (0, quota)
            if not least <= sum(names[row] == name for row in rows) <= (N if most is None else most):
                return False
    if set(rows) & set(case.get("exclude", ())) or not set(case.get("pin", ())) <= set(rows):
        return False
    return all(used[list(rows)].sum() <= most for used, most in case.get("budgets", ()))


def made(seed: int) -> Problems:
    rng = np.random.default_rng(seed)
    reward = lw.rewards.Coverage((rng.random((N, 12)) < 0.3).astype(float), rng.random(12))
    return Problems.from_arrays(rng.random((1, N, 3)), vectors=rng.random((1, N, 3)), reward=reward)


def full(case: dict[str, Any]) -> list[tuple[int, ...]]:
    """All lists of K rows within the constraints, or of fewer under budgets."""
    sizes = range(1, K + 1) if "budgets" in case else [K]
    return [rows for size in sizes for rows in combinations(range(N), size) if allowed(rows, case)]


@pytest.mark.parametrize("name", CASES)
def test_greedy_keeps_to_them_and_to_its_ratio(name: str) -> None:
    case = CASES[name]
    for seed in range(10):
        problems = made(seed).with_constraints(**case)
        lists = lw.greedy(problems, K)
        assert allowed(tuple(lists[0]), case)
        assert len(lists[0]) == K or "budgets" in case
        assert lists[0][: len(case.get("pin", ()))].tolist() == case.get("pin", [])
        values = [list_values(lw.Lists(problems, np.array([rows])), problems)[0] for rows in full(case)]
        if "budgets" in case:
            assert lists.ratio is None
            assert "no ratio is known" in lists.bound
        else:
            assert lists.values[0] >= lists.ratio * max(values) - 1e-9


@pytest.mark.parametrize("name", CASES)
def test_models_and_baselines_keep_to_them(name: str) -> None:
    case, problems = CASES[name], made(0)
    models = [
        lw.SCP(length=K, effort="fast", random_state=0),
        lw.baselines.MMR(length=K, relevance="ridge"),
        lw.baselines.DPP(length=K, relevance="ridge"),
        lw.baselines.TopK("ridge", length=K),
        lw.baselines.Random(length=K),
    ]
    for model in models:
        row = model.fit(problems).predict(problems.with_constraints(**case))[0]
        assert allowed(tuple(row), case), model
        assert row[: len(case.get("pin", ()))].tolist() == case.get("pin", [])
        assert len(row) == K or "budgets" in case
    wanted = lw.baselines.SubMod(8.0, 0.0, length=K).fit(problems)  # leaves out rows that are alike, unless needed
    for seed in range(10):
        row = wanted.predict(made(seed).with_constraints(**case))[0]
        assert allowed(tuple(row), case)
        assert row[: len(case.get("pin", ()))].tolist() == case.get("pin", [])


@pytest.mark.filterwarnings("ignore:.* picks add nothing:UserWarning")
@pytest.mark.parametrize("name", [name for name in CASES if name not in ("pinned", "all")])
def test_select_keeps_to_them_and_to_its_ratio(name: str) -> None:
    case = dict(CASES[name])
    if "budgets" in case:
        used, most = zip(*case.pop("budgets"), strict=True)
        case |= {"costs": np.stack(used, axis=1), "budget": most}
    for seed in range(10):
        similarity = np.random.default_rng(seed).random((N, N))
        for metric, k in (("precomputed", K), ("cosine", K)):
            selection = lw.select(similarity, k, metric=metric, **case)
            assert allowed(tuple(selection.rows), CASES[name])
        selection = lw.select(similarity, K, metric="precomputed", **case)
        best = max(similarity[list(rows)].max(axis=0).sum() for rows in full(CASES[name]))
        assert selection.value >= (selection.ratio or 0.0) * best * (1 - 1e-6)
        assert lw.select(similarity, K, reward="log_det", **case).rows.shape == selection.rows.shape or "budget" in case


def test_problems_under_different_constraints_can_stand_in_one_batch() -> None:
    problems = [made(seed).with_constraints(**case) for seed, case in enumerate(CASES.values())]
    together = lw.greedy(Problems.concat(problems), K)
    for number, alone in enumerate(problems):
        assert together[number].tolist() == lw.greedy(alone, K)[0].tolist()


def test_under_a_budget_they_are_built_as_alone() -> None:
    sizes = np.array([1.0, 1, 1, 1, 1, 1, 1, 4])
    for seed in range(60):
        rng = np.random.default_rng(seed)
        worth = (rng.random((N, 12)) < 0.2).astype(float)
        worth[7] = rng.random(12) < 0.6
        reward = lw.rewards.Coverage(worth)
        free = Problems.from_arrays(rng.random((1, N, 3)), sizes=sizes, reward=reward)
        parts = [free, *(free.with_constraints(**CASES[name]) for name in ("excluded", "pinned", "budgets"))]
        together = lw.greedy(Problems.concat(parts), budget=4.0)
        for number, alone in enumerate(parts):
            assert together[number].tolist() == lw.greedy(alone, budget=4.0)[0].tolist()


def test_needs_come_first_under_a_budget() -> None:
    similarity, labels = np.random.default_rng(0).random((N, N)), COARSE
    selection = lw.select(
        similarity, metric="precomputed", costs=np.ones(N), budget=3, groups=labels, per_group={"b": (2, None)}
    )
    assert (labels[selection.rows[:2]] == "b").all()
    assert len(selection) == 3
    problems = Problems.from_arrays(np.zeros((1, N, 1)), sizes=np.ones(N), groups=labels, reward=made(0).reward)
    limited = problems.with_constraints(per_group={"b": (2, None)})
    assert (labels[lw.greedy(limited, budget=3)[0][:2]] == "b").all()
    with pytest.raises(InputError, match="need a length here, not a budget"):
        lw.baselines.DPP(length=3).fit(problems).predict(limited, budget=3)
    by_score = lw.baselines.TopK(0, length=3).fit(problems).predict(limited, budget=3)
    assert (labels[by_score[0][:2]] == "b").all()


def test_ratios_under_a_budget_are_claimed_only_where_they_hold() -> None:
    # The small row has the highest gain per size, and leaves no room for the large one.
    sizes, reward = np.array([1.0, 10.0, 5.0]), lw.rewards.Total([[0.02, 0.1, 0.5]])
    problems = Problems.from_arrays(np.zeros((1, 3, 1)), sizes=sizes, reward=reward)
    kept = lw.greedy(problems.with_constraints(exclude=[2]), budget=10)
    assert (kept[0].tolist(), kept.ratio) == ([1], 0.427)
    pinned = lw.greedy(problems.with_constraints(pin=[0]), budget=10)
    assert (pinned[0].tolist(), pinned.ratio) == ([0, 2], None)
    worthless = problems.with_constraints(alternatives=["x", "x", "y"])
    assert lw.greedy(worthless, 3).ratio is None  # row 0 would still add something to row 1
    assert lw.greedy(worthless.with_reward(lw.rewards.AnySuccess([[0, 1, 0]])), 3).ratio is not None


def best_values(problems: Problems, case: dict[str, Any]) -> Any:
    """The values of the best lists within the constraints, of all lists."""
    lists = [np.pad(rows, (0, K - len(rows)), constant_values=-1) for rows in full(case)]
    starts = problems.offsets[:-1, None]
    found = [list_values(lw.Lists(problems, np.where(rows >= 0, rows + starts, -1)), problems) for rows in lists]
    return np.max(found, axis=0)


def many(case: dict[str, Any], seed: int, n: int = 150) -> Problems:
    rng = np.random.default_rng(seed)
    reward = lw.rewards.Coverage((rng.random((n, N, 12)) < 0.3).astype(float), rng.random(12))
    problems, asked = Problems.from_arrays(rng.random((n, N, 3)), reward=reward), dict(case)
    labels = asked.get("groups")
    if labels is not None:
        asked["groups"] = [np.tile(names, n) for names in labels] if isinstance(labels, list) else np.tile(labels, n)
    starts = problems.offsets[:-1, None]
    asked |= {name: (starts + asked[name]).ravel() for name in ("exclude", "pin") if name in asked}
    asked |= {"budgets": [(np.tile(used, n), most) for used, most in case["budgets"]]} if "budgets" in case else {}
    return problems.with_constraints(**asked)


@pytest.mark.parametrize("name", CASES)
def test_certificates_hold_under_them(name: str) -> None:
    population, model = many(CASES[name], 1), lw.SCP(length=K, effort="fast", random_state=0).fit(many({}, 2))
    states = states_of(population, first_gains(population))
    population = population[np.argsort(states.seen ^ states.gains)]  # the order in which problems are measured
    measured = as_certification(model).measure(population)
    best = best_values(population, CASES[name])
    np.testing.assert_allclose(measured.greedy, lw.greedy(population, K).values)
    assert (measured.values <= best + 1e-9).all()
    assert measured.best is not None
    assert (measured.best >= best - 1e-9).all()
    value, wrong = measured.values.mean(), 0
    for seed in range(20):
        drawn = np.unique(np.random.default_rng(seed).integers(0, len(population), 60))
        certificate = model.certify(population[drawn])
        assert certificate.share_of_greedy is not None
        assert certificate.share_of_best is not None
        shares = (
            certificate.share_of_greedy > value / measured.greedy.mean(),
            certificate.share_of_best > value / best.mean(),
        )
        wrong += certificate.value > value or any(shares)
    assert wrong <= 4  # 1 is expected at most; 5 have a probability of 0.3 % then
    assert "keep to the same constraints" in str(certificate)


def test_what_certify_was_asked_for_holds_in_every_part_of_it() -> None:
    problems = Problems.concat([many({}, seed) for seed in (3, 4)])._with(groups=np.tile(FINE, 300))
    model = lw.SCP(length=K, effort="fast", random_state=0).fit(problems[:100])
    limited = problems.with_constraints(per_group=1)
    first = model.certify(problems[100:200], per_group=1)
    assert first == model.certify(limited[100:200])
    assert first.update(problems[200:]) == model.certify(limited[100:200]).update(limited[200:])
    bounded = lw.SCP(length=K, effort="fast", per_group=1, random_state=0).fit(problems[:100])
    best = lw.certify_best([bounded], problems[100:200])
    assert (
        best.greedy_mean
        == bounded.certify(problems[100:200]).greedy_mean
        < model.certify(problems[100:200]).greedy_mean
    )


def test_the_theorems_claim_nothing_under_constraints() -> None:
    options: dict[str, Any] = {"length": K, "effort": "fast", "keep": "mixture", "random_state": 0}
    for name in CASES:
        certificate = lw.SCP(**options).fit(many(CASES[name], 1, 40)).online_certificate()
        assert "lists kept to constraints of the problems, which the theorem does not cover" in certificate.breaches


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ({"groups": [FINE, COARSE], "per_group": [1, 1]}, "not nested"),
        ({"groups": [COARSE, FINE], "per_group": 1}, "1 entries for 2 levels"),
        ({"groups": COARSE, "per_group": {"a": (3, None), "b": (3, None)}}, "need at least 6 rows"),
        ({"exclude": [8]}, "exclude must hold row numbers from 0 to 7"),
        ({"exclude": [1], "pin": [1]}, "both pinned and excluded"),
        ({"pin": [0, 1, 2, 3, 4]}, "pinned rows do not fit"),
        ({"budgets": [(np.ones(3), 1.0)]}, "for each of 8 rows"),
    ],
)
def test_what_cannot_be_kept_to_is_refused(case: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        lw.greedy(made(0).with_constraints(**case), K)


def test_problems_lack_rows_that_a_quota_asks_for() -> None:
    problems = Problems.from_arrays(np.zeros((2, 3, 1)), groups=["a", "a", "b", "b", "b", "b"])
    limited = problems.with_constraints(per_group={"a": (3, None)})
    lists = lw.baselines.Random(length=2).fit(problems).predict(limited)
    assert set(lists[0]) == {0, 1}


@pytest.mark.parametrize("name", ["nested", "all", "budgets"])
@pytest.mark.filterwarnings("ignore::listwright.feedback.EvidenceWarning")
def test_off_policy_estimates_are_of_lists_within_them(name: str) -> None:
    n, k, covered, errors = 400, 2, 0, []
    coarse_and_fine, quotas = (list("aaabb"), list("ccdee")), [{"a": (1, 2)}, {"c": 1, "e": (1, 1)}]
    model = lw.SCP(k, effort="fast", random_state=0).fit(_clicked(np.random.default_rng(0), n)[0])
    for seed in range(12):
        rng = np.random.default_rng([seed, 1])
        problems, liked = _clicked(rng, n)
        asked: dict[str, Any] = {}
        if name != "budgets":
            asked |= {"groups": [np.tile(level, n) for level in coarse_and_fine], "per_group": quotas}
        if name == "all":
            asked |= {"exclude": np.arange(5 * n) % 5 == 1, "pin": 5 * np.arange(n) + 4}
        if name != "nested":
            asked["budgets"] = [(rng.random(5 * n), 1.2)]
        problems = problems.without_reward().with_constraints(**asked)
        shown = lw.OnlineSCP(k, random_state=seed).recommend(problems, length=k)
        clicks = (rng.random(shown.rows.shape) < liked[shown.rows]).astype(float)
        log = lw.feedback.Log()
        log.append(shown)
        log.feedback(list(shown.list_ids), [clicks[i, : len(shown[i])] for i in range(n)])
        rows = model.predict(problems, length=k, allow_short=True).rows
        true = np.where(rows >= 0, liked[rows], 0.0).sum(axis=1).mean()
        estimate = lw.feedback.evaluate(log, model).pseudo_inverse
        covered += estimate.low <= true <= estimate.high
        errors.append(estimate.value - true)
    assert covered >= 10
    assert abs(np.mean(errors)) < 3.5 * np.std(errors, ddof=1) / np.sqrt(len(errors))


def _clicked(rng: np.random.Generator, n: int) -> tuple[Problems, Any]:
    """Problems of five candidates, and the chance of a click on each."""
    features = rng.random((n, 5, 2))
    liked = 0.8 * features[:, :, 0]
    return Problems.from_arrays(features, reward=lw.rewards.Total(liked)), liked.ravel()
