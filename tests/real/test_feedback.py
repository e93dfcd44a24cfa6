"""Learning from what users of a real site liked, in the order of time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import listwright as lw
from listwright.datasets import read_movies
from listwright.evaluation.values import list_values
from tests.feedback.test_learning import played


@pytest.mark.parametrize("reward", ["liked", "genres"])
def test_movies_in_time_order_beat_a_static_list(shared_data: Path, reward: str) -> None:
    movies = read_movies(shared_data / "movietweetings100k", reward=reward, liked=8)  # type: ignore[arg-type]
    users = movies.problems[np.argsort(movies.decided, kind="stable")[-500:]]
    _, first, codes = np.unique(users.item_ids, return_index=True, return_inverse=True)
    known = users.with_catalogue(np.argsort(np.argsort(-first))[codes])  # the earlier users have the highest number
    static = lw.baselines.StaticList(3).fit(known[:250]).score(known[250:])
    learner = lw.OnlineSCP(3, cascade=reward == "liked", random_state=0)
    values = list_values(played(learner, users), users)
    assert values[250:].mean() > static
