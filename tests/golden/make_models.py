"""Writes tests/golden/models.zip, with model files that together hold one object of each class that files may hold, and
the lists that the models give.

Run from the root of the repository, with Python 3.11 and numpy 2.4: python -m tests.golden.make_models
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

import listwright as lw
from listwright import baselines, features, learners, policies
from listwright.context.model import Calibration
from listwright.estimators.stacking import PolicyScore, StaticRank
from listwright.estimators.wide import Compressed
from listwright.features.base import WithNaN
from listwright.features.expected_coverage import ExpectedCoverage
from listwright.features.outcomes import Contrasts, Forest
from listwright.feedback.explore import Epsilon, Floor, Softmax
from listwright.learners.boosting import Boosting, BoostingRanker

HERE = Path(__file__).parent
N, ITEMS = 30, 4
SLIM = ("auto_catalogue", "boosting", "outcomes")  # whose files are large, or hold what slim ones do


def waves(*shape: int, step: float = 1.7) -> Any:
    """Numbers from 0 to 1 that no random generator has a part in."""
    return (0.5 + 0.5 * np.sin(np.arange(int(np.prod(shape))) * step)).reshape(shape)


def problems(*, plain: bool = False) -> lw.Problems:
    """Problems with all kinds of data, or plain ones with features only."""
    x = waves(N, ITEMS, 3)
    reward = lw.rewards.AnySuccess((x[..., 0] + 0.5 * x[..., 1] > 1.0).astype(float))
    if plain:
        return lw.Problems.from_arrays(x, reward=reward, feature_names=["a", "b", "c"])
    return lw.Problems.from_arrays(
        x,
        reward=reward,
        feature_names=["a", "b", "c"],
        context=waves(N, 2, step=0.9),
        catalogue=np.arange(ITEMS),
        sizes=0.5 + waves(N, ITEMS, step=2.3),
        vectors=waves(N, ITEMS, 2, step=1.1),
        links={"cites": (waves(N, ITEMS, ITEMS, step=2.9) > 0.7).astype(float)},
        aspects={"asked": waves(N, ITEMS, 2, step=3.1)},
    )


def topics() -> lw.Problems:
    """Problems whose reward is the coverage of topics."""
    x = waves(N, ITEMS, 3)
    covers = (x[..., :2] > 0.6).astype(float).reshape(-1, 2)
    return lw.Problems.from_arrays(x, reward=lw.rewards.Coverage(covers))


def summaries() -> lw.Problems:
    """Problems of sentences whose reward is the recall of words."""
    sentences = [["river", "rose"], ["town", "flooded"], ["nobody", "hurt"], ["river", "town"]] * N
    references = [[["river", "town", "flooded"]], [["nobody", "rose"]]] * (N // 2)
    vectors = lw.text.hashed_tf_idf(sentences, 64)
    return lw.Problems.from_arrays(waves(N, ITEMS, 3), vectors=vectors, reward=lw.rewards.Rouge(sentences, references))


def questions() -> lw.Problems:
    """Problems of questions and passages."""
    texts = ["Rivers rose in May.", "The town of Ulm flooded.", "Nobody was hurt.", "Ulm lies on the Danube."]
    return lw.text.question_problems(
        ["Which river floods Ulm?", "Who was hurt in May?"],
        [texts] * 2,
        reward=lw.rewards.AnySuccess([1, 0, 0, 1] * 2),
    )


def frame() -> Any:
    """Return the plain problems as a table with a column of text."""
    import pyarrow as pa

    table = problems(plain=True)
    clicked = (table.features[:, 0] + 0.5 * table.features[:, 1] > 1.0).astype(int)
    columns = {name: table.features[:, i] for i, name in enumerate("abc")}
    return pa.table({"problem": table.owners, "kind": ["u", "v"] * (N * ITEMS // 2), "clicked": clicked, **columns})


PLAIN = {"n_passes": 1, "random_state": 0}
TREE = DecisionTreeRegressor(max_depth=2, random_state=0)
EXPERTS = [policies.Linear(np.array([1.0, 0.0, 0.0])), policies.Linear(np.array([0.0, 1.0, 0.0]))]
OUTCOMES = ("static", "neighbours", "ridge", "kernel", Forest(2), Contrasts(2))


def scp(length: int = 2, **options: Any) -> lw.SCP:
    """Return an SCP that learns in one pass."""
    return lw.SCP(length, **(PLAIN | options))


def list_features() -> Any:
    """Return the sum of all features that describe a candidate and the list."""
    kinds = ("Distance", "Similarity", "Volume", "Links", "Position", "FirstPosition", "BestColumn")
    return sum((getattr(features, name)() for name in kinds), features.Candidate())


def perturbed(experts: Any = None) -> Any:
    """Return the follower of the perturbed leader."""
    return learners.FollowPerturbedLeader(experts)


def checkpoint() -> Any:
    """Return a model that an interrupted fit would resume from."""
    with tempfile.TemporaryDirectory() as folder:
        model = scp(features=features.Candidate(), batch_size=12)
        model.fit(problems(plain=True), checkpoint=f"{folder}/checkpoint")
        return lw.load(f"{folder}/checkpoint")


def with_clicks(model: Any, shown_for: lw.Problems) -> Any:
    """Return a model that learned from a few clicks."""
    names = [f"list {i}" for i in range(N)]
    model.recommend(shown_for.without_reward(), list_ids=names)
    model.feedback(names, [[1, 0]] * N)
    return model


def corrected() -> Any:
    """Return a model that goes on from one whose learner is not ridge."""
    base = scp(learner="hinge_rank").fit(problems(plain=True))
    return with_clicks(lw.OnlineSCP.from_model(base, explore=Floor(Epsilon(0.1)), random_state=0), problems(plain=True))


def fit_frame() -> Any:
    """Fit on a frame, with a certificate and a trial on held-out problems."""
    model = scp(effort="fast").fit(frame(), reward="any:clicked", categorical=["kind"], certify=0.5)
    assert model.measured_.n > 0
    return model


def calibrated() -> Any:
    """Return a model of passages that weighs given scores, as `ContextPacker.fit` leaves one."""
    model = scp(features=CANDIDATE + features.UncoveredTerms()).fit(questions())
    model.calibration_ = Calibration(weights={"score": 0.5}, sources={"web": 0.1})
    return model


CANDIDATE = features.Candidate()
MODELS: dict[str, Callable[[], Any]] = {
    "auto": lambda: lw.SCP(2, random_state=0).fit(problems(plain=True)),
    "auto_catalogue": lambda: lw.SCP(2, random_state=0).fit(problems()),
    "frame": fit_frame,
    "checkpoint": checkpoint,
    "list_features": lambda: scp(features=list_features()).fit(problems()),
    "identity": lambda: scp(features=features.Identity(("context", "list", "candidates"))).fit(problems()),
    "outcomes": lambda: scp(features=features.ExpectedGain(OUTCOMES)).fit(problems()),
    "static_rank": lambda: scp(features=StaticRank()).fit(problems()),
    "topics": lambda: scp(features=features.ExpectedGain(OUTCOMES[:3])).fit(topics()),
    "summaries": lambda: scp(features=CANDIDATE + ExpectedCoverage()).fit(summaries()),
    "terms": calibrated,
    "wide": lambda: scp(features=Compressed(CANDIDATE, n_columns=2, n_directions=2)).fit(problems(plain=True)),
    "stacked": lambda: scp(features=PolicyScore(scp(features=CANDIDATE))).fit(problems(plain=True)),
    "ridge": lambda: scp(features=CANDIDATE, keep="mixture", batch_size=12).fit(problems(plain=True)),
    "conseqopt": lambda: lw.ConSeqOpt(2, features=CANDIDATE, **PLAIN).fit(problems(plain=True)),
    "gradient": lambda: scp(features=CANDIDATE, learner="gradient").fit(problems(plain=True)),
    "hinge": lambda: scp(features=CANDIDATE, learner=learners.HingeLeader()).fit(problems(plain=True)),
    "softmax": lambda: scp(features=CANDIDATE, learner=learners.SoftmaxLeader()).fit(problems(plain=True)),
    "estimator": lambda: scp(features=CANDIDATE, learner=Ridge(), batch_size=15, keep="mixture").fit(
        problems(plain=True)
    ),
    "tree": lambda: scp(features=WithNaN(CANDIDATE), learner=TREE, batch_size=N).fit(problems(plain=True)),
    "boosting": lambda: scp(features=CANDIDATE, learner=Boosting(2), batch_size=N).fit(problems(plain=True)),
    "ranker": lambda: scp(features=CANDIDATE, learner=BoostingRanker(2), batch_size=N).fit(problems(plain=True)),
    "majority": lambda: scp(features=CANDIDATE, learner=learners.WeightedMajority(EXPERTS)).fit(problems(plain=True)),
    "leader": lambda: scp(features=CANDIDATE, learner=learners.FollowLeader(EXPERTS)).fit(problems(plain=True)),
    "perturbed": lambda: scp(features=CANDIDATE, learner=perturbed(EXPERTS)).fit(problems(plain=True)),
    "exp4": lambda: scp(features=CANDIDATE, learner=learners.Exp4(EXPERTS)).fit(problems(plain=True)),
    "free_majority": lambda: lw.ContextFreeSCP(2, **PLAIN).fit(problems()),
    "free_perturbed": lambda: lw.ContextFreeSCP(2, learner=perturbed(), **PLAIN).fit(problems()),
    "free_exp3": lambda: lw.ContextFreeSCP(2, learner="exp3", **PLAIN).fit(problems()),
    "online_gap": lambda: lw.OnlineSCP(2, random_state=0).fit(problems(plain=True)),
    "online_epsilon": lambda: lw.OnlineSCP(2, explore="epsilon", random_state=0).fit(problems(plain=True)),
    "online_trees": lambda: with_clicks(lw.OnlineSCP(2, learner="boosting", random_state=0), problems(plain=True)),
    "online_softmax": lambda: with_clicks(lw.OnlineSCP(2, explore=Softmax(), random_state=0), problems(plain=True)),
    "online_corrected": corrected,
    "online_exp3": lambda: with_clicks(lw.OnlineSCP(2, explore="exp3", random_state=0), problems()),
    "dpp": lambda: baselines.DPP(length=2).fit(problems(plain=True)),
    "forest_cover": lambda: baselines.ForestCover(2, 2, random_state=0).fit(problems()),
    "learned_dpp": lambda: baselines.LearnedDPP(length=2).fit(problems(plain=True)),
    "nearest_cover": lambda: baselines.NearestCover(3, 2).fit(problems()),
    "mmr": lambda: baselines.MMR(0.3, relevance="a", length=2).fit(problems(plain=True)),
    "random": lambda: baselines.Random(2, random_state=0).fit(problems(plain=True)),
    "static": lambda: baselines.StaticList(2).fit(problems()),
    "submod": lambda: baselines.SubMod(length=2).fit(problems(plain=True)),
    "top_k": lambda: baselines.TopK("ridge", 2).fit(problems(plain=True)),
}


def new_problems(name: str) -> lw.Problems:
    """Return the problems that a model is asked for lists: those that it learned from."""
    own = {"topics": topics, "terms": questions, "summaries": summaries, "frame": frame_problems}
    full = {
        "auto_catalogue",
        "list_features",
        "identity",
        "outcomes",
        "forest_cover",
        "nearest_cover",
        "static",
        "static_rank",
    }
    return (
        own[name]()
        if name in own
        else problems(plain=name not in full and not name.startswith(("free", "online_exp3")))
    )


def frame_problems() -> lw.Problems:
    """Return the problems of the frame as `fit` reads them."""
    return lw.Problems.from_frame(frame(), categorical=["kind"], ignore=["clicked"])


def write() -> None:
    """Write all models into one archive, packed, and their lists."""
    lists = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        zipfile.ZipFile(HERE / "models.zip", "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for name, make in MODELS.items():
            path = Path(folder, name)
            make().save(path, slim=name in SLIM)
            packed.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
            lists[name] = lw.load(path).predict(new_problems(name)).rows.tolist()
    (HERE / "lists.json").write_text(json.dumps(lists) + "\n")


if __name__ == "__main__":
    write()
