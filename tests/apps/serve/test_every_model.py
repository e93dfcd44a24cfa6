"""Whatever can predict can be served; learning needs a model that can learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.baselines import MMR, StaticList, TopK
from listwright.errors import InputError


def saved(model: Any, folder: Path) -> Path:
    features = np.random.default_rng(0).random((60, 6, 3), dtype=np.float32)
    reward = lw.rewards.AnySuccess(features[..., 0] > 0.8)
    items = np.arange(6) if isinstance(model, StaticList) else None
    path = folder / "model.listwright"
    model.fit(lw.Problems.from_arrays(features, reward=reward, catalogue=items)).save(path)
    return path


@pytest.mark.parametrize("model", [MMR(0.3, relevance="ridge", length=2), TopK("ridge", 2)], ids=repr)
def test_a_baseline_is_served(opened, tmp_path: Path, model: Any) -> None:
    client = opened(model=saved(model, tmp_path))
    table = np.random.default_rng(1).random((5, 3)).round(4)
    items = [{"id": f"i{row}", "features": values} for row, values in enumerate(table.tolist())]
    told = client.post("/v1/lists", json={"items": items, "explain": True}).json()
    wanted = model.predict(lw.Problems.from_arrays(table[None].astype(np.float32)))[0]
    assert [item["id"] for item in told["items"]] == [f"i{row}" for row in wanted]
    assert client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": []}).status_code == 200


def test_one_that_cannot_learn_says_so(opened, tmp_path: Path) -> None:
    path = saved(TopK("ridge", 2), tmp_path)
    with pytest.raises(InputError, match="Got TopK, which can be served, but not learn"):
        lw.OnlineSCP.from_model(lw.load(path))


def test_one_that_learned_from_clicks_is_served_and_learns_on(opened, tmp_path: Path) -> None:
    problems = lw.Problems.from_arrays(np.random.default_rng(0).random((30, 6, 3)))
    online = lw.OnlineSCP(2, random_state=0)
    lists = online.recommend(problems, list_ids=[str(i) for i in range(30)])
    online.feedback(lists.list_ids, problems.features[lists.rows, 0] > 0.5)
    online.save(tmp_path / "online.listwright")
    client = opened(model=tmp_path / "online.listwright", learn=True)
    items = [{"id": f"i{row}", "features": [row / 5, 0.5, 0.5]} for row in range(5)]
    told = client.post("/v1/lists", json={"items": items}).json()
    assert all(0 < item["propensity"] <= 1 for item in told["items"])
