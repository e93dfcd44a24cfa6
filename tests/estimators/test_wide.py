"""Tables with many columns: quick, small, and about as good as with all columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import listwright as lw
from listwright.estimators.wide import WIDE, Compressed, basis_of, learning_bytes
from listwright.features import Candidate, Distance, Position
from listwright.learners.examples import center_by_state


def problems(n: int, items: int, width: int, *, seed: int = 0) -> lw.Problems:
    """Gains follow a direction in the columns, and items of the same kind (a second one) are redundant."""
    rng = np.random.default_rng(seed)
    along = np.random.default_rng(99).standard_normal((2, width)) / np.sqrt(width)
    x = rng.standard_normal((n, items, width)).astype(np.float32)
    x += 2 * np.sign(x @ along[1])[..., None] * along[1]
    kind, wanted = x @ along[1] > 0, rng.random((n, 1)) < 0.5
    success = (x @ along[0] > 0.5) & (kind == wanted)
    return lw.Problems.from_arrays(
        x, reward=lw.rewards.AnySuccess(success), problem_ids=[f"{seed}-{i}" for i in range(n)]
    )


def fast(**settings) -> lw.SCP:
    return lw.SCP(3, effort="fast", random_state=0, **settings)


def test_few_columns_are_solved_in_full():
    given = problems(60, 8, 64)
    auto, full = fast().fit(given), fast(features=Candidate() + Distance() + Position()).fit(given)
    assert auto.predict(given) == full.predict(given)
    assert not isinstance(auto.training_.features, Compressed)


@pytest.mark.parametrize(("n", "items"), [(100, 8), (20, 8)])
def test_the_score_is_that_of_ridge_regression_on_all_columns(n, items):
    """Also where the columns outnumber the rows, and the regression is solved in their span."""
    given = problems(n, items, 300)
    gains, folds = given.reward.gains(given.reward.start(given)), np.arange(n) % 5
    basis = basis_of(given, gains, folds, columns=3, components=4)
    assert basis.weights.shape == (8, 300)
    spread = given.features.std(axis=0)
    x, y = center_by_state(given.features / spread, given.offsets), center_by_state(gains, given.offsets)
    score = basis.weights[0] * spread
    solutions = {p: np.linalg.solve(x.T @ x + p * np.eye(300), x.T @ y) for p in np.logspace(-1, 4, 6)}
    penalty = min(solutions, key=lambda p: np.abs(solutions[p] - score).max())
    np.testing.assert_allclose(score, solutions[penalty], rtol=1e-2, atol=1e-5)
    rows = np.repeat(folds != 2, items)
    without = np.linalg.solve(x[rows].T @ x[rows] + penalty * np.eye(300), x[rows].T @ y[rows])
    np.testing.assert_allclose(basis.fold_scores[2] * spread, without, rtol=1e-2, atol=1e-5)


def test_an_approximate_span_holds_the_solution(monkeypatch):
    """Past some size the span of the rows is drawn at random; the directions that regression needs are in it."""
    monkeypatch.setattr("listwright.estimators.wide.EXACT", 100)
    monkeypatch.setattr("listwright.estimators.wide.RANK", 80)
    given = problems(60, 8, 300)
    gains, folds = given.reward.gains(given.reward.start(given)), np.arange(60) % 5
    near = basis_of(given, gains, folds, columns=3, components=4)
    monkeypatch.undo()
    exact = basis_of(given, gains, folds, columns=3, components=4)
    for one, other in ((near.weights[0], exact.weights[0]), (near.fold_scores[1], exact.fold_scores[1])):
        assert np.corrcoef(given.features @ one, given.features @ other)[0, 1] > 0.9


def test_wide_tables_learn_and_are_small(tmp_path):
    given, held = problems(200, 10, 700), problems(100, 10, 700, seed=1)
    model = fast().fit(given)
    assert isinstance(model.training_.features, Compressed)
    assert len(model.policy_.weights) < 200
    assert model.score(held) > lw.baselines.Random(3).fit(given).score(held) + 0.1
    model.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 3_000_000
    loaded = lw.load(tmp_path / "model")
    assert loaded.predict(held) == model.predict(held)
    assert "score of 700 columns" in loaded.weights_["feature"]
    assert set(loaded.weights_["group"]) == {"relevance", "distance to the list", "position"}
    assert loaded.partial_fit(held).n_rounds_ > model.n_rounds_


def test_lists_do_not_depend_on_the_batch():
    given = problems(40, 8, 400)
    model = fast().fit(given)
    together = model.predict(given)
    assert all(np.array_equal(model.predict(given[i])[0], together[i]) for i in range(10))


def test_one_telling_column_among_many_is_not_lost():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((150, 8, 600)).astype(np.float32)
    names = [f"e{i}" for i in range(599)] + ["score"]
    given = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 599] > 1.0), feature_names=names)
    model = fast().fit(given[:100])
    assert "score" in model.weights_["feature"]
    assert model.score(given[100:]) > lw.baselines.Oracle(3).fit(given).score(given[100:]) - 0.05


def test_sparse_tables_are_wide_too():
    given = problems(60, 6, 300)
    thin = lw.Problems.from_arrays(sparse.csr_array(given.features), offsets=given.offsets, reward=given.reward)
    same = lw.Problems.from_arrays(given.features, offsets=given.offsets, reward=given.reward)
    one, other = fast().fit(thin).score(thin), fast().fit(same).score(same)
    assert one == pytest.approx(other, abs=0.05)


def test_an_engine_learns_from_wide_problems_part_by_part():
    given = problems(60, 6, 300)
    model = fast(engine=lw.engines.Local(threads=2), n_passes=2).fit(given)
    assert model.score(given) > 0.6


def test_large_files_leave_out_what_only_learning_needs(tmp_path):
    given = problems(400, 20, 60)
    fast().fit(given).save(tmp_path / "small")
    lw.load(tmp_path / "small").partial_fit(problems(20, 20, 60, seed=1))
    wide = fast(features=Candidate() + Distance() + Position()).fit(problems(30, 6, 180))
    wide.save(tmp_path / "auto")
    wide.save(tmp_path / "whole", slim=False)
    assert (tmp_path / "auto").stat().st_size < 1_000_000 < 4_000_000 < (tmp_path / "whole").stat().st_size
    with pytest.raises(lw.errors.InputError, match="slim=False"):
        lw.load(tmp_path / "auto").partial_fit(problems(20, 6, 180, seed=1))
    lw.load(tmp_path / "whole").partial_fit(problems(20, 6, 180, seed=1))


def test_the_estimate_grows_with_the_columns():
    assert learning_bytes(problems(20, 5, 1000)) < 20_000_000
    assert learning_bytes(problems(20, 5, WIDE)) > 8 * 8 * (3 * WIDE) ** 2


def test_the_default_chooses_between_methods_for_wide_tables_too():
    model = lw.SCP(3, random_state=0).fit(problems(60, 8, WIDE + 10))
    tried = {trial.name for trial in model.trials_} | set(model.report_.untried)
    assert {"one column", "linear, sorted", "linear", "softmax", "trees, sorted"} <= tried
    assert [rival.name for rival in model.measured_.rivals] == ["sorting by the best column", "sorting by ridge", "MMR"]


def test_the_default_takes_wide_sparse_tables():
    rng = np.random.default_rng(0)
    table = sparse.random_array((300, WIDE + 50), density=0.05, rng=rng, format="csr")
    given = lw.Problems.from_arrays(
        table, offsets=np.arange(0, 301, 6), reward=lw.rewards.AnySuccess(rng.random(300) < 0.3)
    )
    model = lw.SCP(2, time_limit=1e-9, random_state=0).fit(given)
    assert len(model.trials_) == 1
    assert "linear" in model.report_.untried
