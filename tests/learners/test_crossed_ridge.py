"""Ridge regression over blocks that are never written out, against the same columns written out."""

from __future__ import annotations

import numpy as np
import pytest

import listwright as lw
from listwright.features import Candidate, Crossed, Features, Identity, Position, Rows
from listwright.learners import RidgeFTRL
from listwright.learners.examples import Examples, center_by_state
from tests.made_examples import made

N_ITEMS, N_STATES = 6, 8


def written_out(rows: Rows) -> np.ndarray:
    """The table, then a one-hot item x state block for every item."""
    crossed = rows.crossed
    states = crossed.states[rows.owners].astype(np.float64)
    blocks = [(crossed.items == item)[:, None] * states for item in range(crossed.n_items)]
    return np.concatenate([rows.table.astype(np.float64), *blocks], axis=1)


def make_examples(rng: np.random.Generator, *, whole: bool, closed: float, d: int, weight: float) -> Examples:
    counts = np.full(N_STATES, N_ITEMS) if whole else rng.integers(1, N_ITEMS + 1, size=N_STATES)
    owners = np.repeat(np.arange(N_STATES), counts)
    items = np.concatenate([rng.permutation(N_ITEMS)[:count] for count in counts])
    states = rng.normal(size=(N_STATES, 3)).astype(np.float32)
    table = rng.normal(size=(len(owners), d)).astype(np.float32)
    rows = Rows(table, owners, np.concatenate([[0], np.cumsum(counts)]), Crossed(items, N_ITEMS, states))
    options = rng.random(len(owners)) >= closed
    learned = rng.random(N_STATES) < 0.8
    return made(rows, rng.random(len(owners)), weight=weight, options=options, learned=learned)


def plain_ridge(stack: list[Examples], penalty: float, *, center: bool, center_blocks: bool = False) -> np.ndarray:
    """Normal equations on the written-out columns of the rows that are learned from."""
    total = written_out(stack[0].rows).shape[1]
    a, b = penalty * np.eye(total), np.zeros(total)
    for examples in stack:
        rows, offsets = examples.used_rows
        v, y = written_out(examples.rows)[rows], examples.gains[rows]
        if center and len(rows):
            split = total if center_blocks else examples.rows.table.shape[1]
            v[:, :split], y = center_by_state(v[:, :split], offsets), center_by_state(y, offsets)
        a += examples.weight * v.T @ v
        b += examples.weight * v.T @ y
    return np.linalg.solve(a, b)


def learned_weights(stack: list[Examples], learner: RidgeFTRL) -> np.ndarray:
    for examples in stack:
        learner.learn(examples)
    policy = learner.policy()
    return np.concatenate([policy.weights, policy.item_weights.ravel()])


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("d", [0, 1, 4])
@pytest.mark.parametrize(("whole", "closed"), [(True, 0.0), (True, 0.3), (False, 0.0), (False, 0.3)])
def test_blocks_equal_the_written_out_columns(whole: bool, closed: float, d: int, center: bool) -> None:
    rng = np.random.default_rng(5)
    stack = [make_examples(rng, whole=whole, closed=closed, d=d, weight=weight) for weight in (1.0, 0.25, 0.5)]
    got = learned_weights(stack, RidgeFTRL(0.3, center=center))
    np.testing.assert_allclose(got, plain_ridge(stack, 0.3, center=center), rtol=0, atol=1e-8)


@pytest.mark.parametrize("order", [(True, False, True), (False, True, True)])
def test_whole_and_incomplete_catalogues_can_follow_each_other(order: tuple[bool, ...]) -> None:
    rng = np.random.default_rng(6)
    stack = [make_examples(rng, whole=whole, closed=0.0, d=2, weight=0.5) for whole in order]
    got = learned_weights(stack, RidgeFTRL(1.0, center=False))
    np.testing.assert_allclose(got, plain_ridge(stack, 1.0, center=False), rtol=0, atol=1e-8)


def test_with_whole_catalogues_nothing_is_lost_by_leaving_the_blocks_where_they_are() -> None:
    rng = np.random.default_rng(7)
    stack = [make_examples(rng, whole=True, closed=0.0, d=2, weight=0.5) for _ in range(3)]
    got = learned_weights(stack, RidgeFTRL(0.7))
    np.testing.assert_allclose(got, plain_ridge(stack, 0.7, center=True, center_blocks=True), rtol=0, atol=1e-8)


class Recorder(RidgeFTRL):
    """Keeps the examples too."""

    def learn(self, examples: Examples) -> None:
        self.seen_ = [*getattr(self, "seen_", []), examples]
        super().learn(examples)


@pytest.mark.parametrize("features", [Identity(("context", "list")), Candidate() + Position() + Identity(("list",))])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("budget", [None, 7.0])
def test_a_whole_fit_equals_the_written_out_columns(features: Features, whole: bool, budget: float | None) -> None:
    rng = np.random.default_rng(8)
    counts = np.full(20, 6) if whole else rng.integers(3, 7, size=20)
    problems = lw.Problems.from_arrays(
        rng.random((counts.sum(), 2)),
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        context=rng.random((20, 2)),
        catalogue=np.concatenate([rng.permutation(6)[:count] for count in counts]),
        sizes=rng.integers(1, 6, size=counts.sum()).astype(float),
        reward=lw.rewards.Coverage((rng.random((counts.sum(), 5)) < 0.4).astype(float)),
    )
    model = lw.SCP(3, budget=budget, features=features, learner=Recorder(0.5, center=False), n_passes=2).fit(problems)
    seen = model.training_.learner.seen_
    if budget is not None:
        assert any(not examples.options.all() for examples in seen)
    got = np.concatenate([model.policy_.weights, model.policy_.item_weights.ravel()])
    np.testing.assert_allclose(got, plain_ridge(seen, 0.5, center=False), rtol=0, atol=1e-8)


def test_the_score_is_that_of_the_written_out_columns_and_the_same_alone_as_in_a_batch() -> None:
    rng = np.random.default_rng(9)
    examples = make_examples(rng, whole=False, closed=0.0, d=4, weight=1.0)
    policy = lw.policies.Linear(rng.normal(size=4), rng.normal(size=(N_ITEMS, 3)))
    weights = np.concatenate([policy.weights, policy.item_weights.ravel()])
    rows = examples.rows
    scores = policy.score(rows)
    np.testing.assert_allclose(scores, written_out(rows) @ weights, atol=1e-12)
    for i in range(N_STATES):
        mine = slice(rows.offsets[i], rows.offsets[i + 1])
        crossed = Crossed(rows.crossed.items[mine], N_ITEMS, rows.crossed.states[i : i + 1])
        n = rows.offsets[i + 1] - rows.offsets[i]
        alone = policy.score(Rows(rows.table[mine], np.zeros(n, dtype=np.int64), np.array([0, n]), crossed))
        np.testing.assert_array_equal(alone, scores[mine])
