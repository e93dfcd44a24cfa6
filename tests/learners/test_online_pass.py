"""A compiled pass over states is the same as learning from one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from listwright.errors import InputError
from listwright.features import Crossed, Rows
from listwright.learners import GradientDescent
from listwright.learners.examples import Examples


def made_examples(*, first: int = 0, last: int = 12) -> Examples:
    """States first to last of twelve, with 2 to 9 rows of 4 columns; some rows are no option, one state is solved."""
    rng = np.random.default_rng(0)
    counts = rng.integers(2, 10, size=12)
    table, gains = rng.normal(size=(counts.sum(), 4)).astype(np.float32), rng.random(counts.sum())
    options, learned = rng.random(counts.sum()) > 0.2, np.arange(12) != 5
    offsets = np.concatenate([[0], np.cumsum(counts)])
    rows = slice(offsets[first], offsets[last])
    owners = np.repeat(np.arange(last - first), counts[first:last])
    seen = Rows(table[rows], owners, offsets[first : last + 1] - offsets[first])
    none = np.full(last - first, -1)
    return Examples(seen, gains[rows], 0.5, 0, options[rows], none, learned[first:last])


@pytest.mark.parametrize("loss", ["squared", "hinge_rank", "logistic_rank"])
@pytest.mark.parametrize("penalty", [0.0, 0.3])
def test_same_weights_as_state_by_state(loss: str, penalty: float) -> None:
    one, other = GradientDescent(loss, penalty=penalty), GradientDescent(loss, penalty=penalty)
    together = one.learn_each(made_examples())
    for state in range(12):
        examples = made_examples(first=state, last=state + 1)
        if examples.learned.any():
            other.learn(examples)
            apart = other.policy()
    np.testing.assert_allclose(together.weights, apart.weights, rtol=1e-9)
    assert one.surrogate_loss() == pytest.approx(other.surrogate_loss())
    assert np.abs(together.weights).min() > 1e-3


def test_crossed_columns_are_refused() -> None:
    examples = made_examples()
    crossed = Crossed(np.zeros(len(examples.gains), dtype=np.int64), 1, np.ones((12, 1), np.float32))
    rows = Rows(examples.rows.table, examples.rows.owners, examples.rows.offsets, crossed)
    with pytest.raises(InputError, match="crossed"):
        GradientDescent().learn_each(
            Examples(rows, examples.gains, 1.0, 0, examples.options, examples.picks, examples.learned)
        )
