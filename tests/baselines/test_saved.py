"""Baselines in model files: the same lists as before, and nothing made from a file that does not fit."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.baselines import (
    DPP,
    MMR,
    ForestCover,
    LearnedDPP,
    NearestCover,
    Oracle,
    Random,
    StaticList,
    SubMod,
    TopK,
)
from listwright.errors import InputError

MODELS: list[Any] = [
    DPP(2.0, relevance="ridge", length=3),
    ForestCover(20, 3, random_state=0),
    LearnedDPP(length=3),
    NearestCover(5, 3),
    MMR(0.3, relevance="ridge", length=3),
    MMR(0.3, relevance="b", length=3),
    Random(3, random_state=0),
    StaticList(3),
    SubMod(length=3),
    TopK("boosting", 3, random_state=0),
    TopK("ridge", 3),
]


def made(*, catalogue: bool) -> lw.Problems:
    features = np.random.default_rng(0).random((40, 6, 2))
    reward = lw.rewards.AnySuccess(features[..., 0] > 0.7)
    items = np.arange(6) if catalogue else None
    return lw.Problems.from_arrays(features, reward=reward, feature_names=["a", "b"], catalogue=items)


@pytest.mark.parametrize("catalogue", [False, True], ids=["own items", "catalogue"])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_file_gives_the_same_lists(model: Any, catalogue: bool, tmp_path: Path) -> None:
    problems = made(catalogue=catalogue)
    model.fit(problems).save(tmp_path / "model")
    again = lw.load(tmp_path / "model")
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert again.predict(problems) == model.predict(problems)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (NearestCover(3), "it keeps its training problems with their reward. Only with AnySuccess is a table"),
        (ForestCover(5), "it keeps its training problems with their reward"),
        (Oracle(3), "it learns nothing, and builds lists with the reward in sight"),
    ],
    ids=repr,
)
def test_what_keeps_its_problems_or_needs_a_reward_is_refused(model: Any, reason: str, tmp_path: Path) -> None:
    problems = made(catalogue=True).with_reward(lw.rewards.Total(np.ones((40, 6))))
    with pytest.raises(InputError, match=f"This {type(model).__name__} cannot be saved: {reason}"):
        model.fit(problems).save(tmp_path / "model")
    with pytest.raises(InputError, match="This TopK is not fitted yet"):
        TopK().save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def changed(path: Path, **fields: Any) -> None:
    """Writes other fields into a model file."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    for name, value in fields.items():
        manifest["model"]["fields"][name] = value
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    ("model", "fields", "message"),
    [
        (StaticList(3), {"order_": [0, 1, 2, 2, 4, 9]}, "its list must name every item once"),
        (StaticList(3), {"length": "three"}, "field length of StaticList is of the wrong kind"),
        (NearestCover(5, 3), {"cover_": None}, "its parts do not fit together"),
        (TopK(length=3), {"model_": None}, "its parts do not fit together"),
        (TopK(length=3), {"n_items_": 2}, "its parts do not fit together"),
        (TopK(length=3), {"signature_": None}, "field signature_ of TopK is of the wrong kind"),
        (MMR(relevance="ridge", length=3), {"top_k_": None}, "its parts do not fit together"),
    ],
)
def test_files_that_do_not_fit_are_refused(model: Any, fields: dict[str, Any], message: str, tmp_path: Path) -> None:
    model.fit(made(catalogue=True)).save(tmp_path / "model")
    changed(tmp_path / "model", **fields)
    with pytest.raises(InputError, match=message):
        lw.load(tmp_path / "model")
