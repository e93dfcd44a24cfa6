"""Streamed fits on this machine: what a round is, forks and joins, checkpoints, lists and measures."""

from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet
from sklearn.tree import DecisionTreeRegressor

import listwright as lw
from listwright.engines import Engine, Local, Ray, as_engine
from listwright.engines.base import ShardCache
from listwright.errors import InputError
from listwright.features.scale import Distinct, Moments
from listwright.learners import (
    Aggregate,
    Exp3,
    FollowLeader,
    FollowPerturbedLeader,
    GradientDescent,
    PerPosition,
    RidgeFTRL,
    SoftmaxLeader,
    WeightedMajority,
)
from listwright.tables import Scan, read
from listwright.training.round import Training
from listwright.training.sources import kept_share
from tests.scan_tools import scanned, table, weights

LEARNERS = [
    RidgeFTRL(),
    RidgeFTRL(penalty=1.0, center=False),
    GradientDescent(),
    SoftmaxLeader(),
    Aggregate(DecisionTreeRegressor(max_depth=3)),
    PerPosition(RidgeFTRL()),
    WeightedMajority(),
    FollowLeader(),
    FollowPerturbedLeader(),
    Exp3(),
]


@pytest.fixture
def data(tmp_path: Path) -> Scan:
    return scanned(tmp_path)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_parts_that_are_joined_teach_as_much_as_the_whole(learner) -> None:
    rows = table(60)
    problems = lw.Problems.from_frame(rows, reward="any:clicked", catalogue="item", item=None)
    view = lw.features.Candidate() + lw.features.Identity()
    features = view.fit(problems)
    trainings = [
        Training(features, as_new, as_new.first_policy(), np.ones(2), False, False, False)
        for as_new in (lw.learners.as_learner(learner), lw.learners.as_learner(learner))
    ]
    rng = np.random.default_rng(0)
    for _ in range(3):
        state = rng.bit_generator.state
        trainings[0].consume_batch(problems, rng)
        trainings[0].update()
        if isinstance(learner, FollowPerturbedLeader | WeightedMajority | Exp3):
            rng.bit_generator.state = state  # these draw: so the parts are drawn from the start, and must differ below
        for low in (0, 20, 40):
            part = trainings[1].fork()
            part.consume_batch(problems[low : low + 20], rng)
            trainings[1].join(part.learner, part.ledger)
        trainings[1].update()
    whole, parts = trainings
    assert whole.ledger.rounds == parts.ledger.rounds == 180
    if isinstance(learner, FollowPerturbedLeader | WeightedMajority | Exp3):
        assert parts.learner.n_states_ == whole.learner.n_states_
        assert parts.learner.most_ == whole.learner.most_
        assert parts.learner.gains_.sum() == pytest.approx(whole.learner.gains_.sum(), rel=0.25)
        return
    assert parts.ledger.value == pytest.approx(whole.ledger.value, rel=1e-9)
    seen = features.rows(features.start(problems))
    rng = np.random.default_rng(0)
    everything = np.ones(problems.n_rows, dtype=bool)
    scores = [training.policy.pick(seen, everything, 0, rng)[1] for training in trainings]
    assert scores[1] == pytest.approx(scores[0], rel=1e-7, abs=1e-9)
    assert np.ptp(scores[0]) > 0


def test_summaries_of_parts_are_those_of_the_whole() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(3, size=(90, 4)).astype(np.float32)
    rows[:, 2] = rows[:, 0]
    rows[:, 3] = 2.0
    rows[:30, 1] = rows[:30, 0]  # alike in the first part only
    moments, distinct = Moments.of(rows[:30]), Distinct.of(rows[:30])
    for low in (30, 60):
        moments = moments.merge(Moments.of(rows[low : low + 30]))
        distinct = distinct.merge(Distinct.of(rows[low : low + 30]))
    whole = Moments.of(rows)
    assert moments.n_rows == 90
    assert moments.mean == pytest.approx(whole.mean)
    assert moments.squares == pytest.approx(whole.squares)
    assert distinct.telling().tolist() == [0, 1]


def test_a_streamed_fit_learns_what_a_fit_in_memory_learns(data: Scan) -> None:
    whole = lw.Problems.from_frame(table(), reward="any:clicked", ignore=["grade"])
    new = lw.Problems.from_frame(table(seed=1), reward="any:clicked", ignore=["grade"])
    streamed = lw.SCP(length=2, effort="fast", random_state=0).fit(data)
    held = lw.SCP(length=2, effort="fast", random_state=0).fit(whole)
    assert streamed.score(new) == pytest.approx(held.score(new), abs=0.02)
    assert streamed.score(data) == pytest.approx(streamed.score(whole), abs=1e-12)
    assert streamed.n_rounds_ == held.n_rounds_
    assert streamed.online_certificate().value_seen == pytest.approx(held.online_certificate().value_seen, abs=0.02)
    scales = [model.training_.features.parts_[0].scale_ for model in (streamed, held)]
    assert scales[0].mean == pytest.approx(scales[1].mean, rel=1e-6)
    assert scales[0].spread == pytest.approx(scales[1].spread, rel=1e-6)
    one_batch = lw.SCP(length=2, random_state=0, n_passes=2, batch_size=300)
    assert weights(one_batch.fit(data)) == pytest.approx(weights(lw.SCP(**one_batch.get_params()).fit(whole)), abs=1e-7)


@pytest.mark.parametrize(
    "settings",
    [{}, {"learner": "hinge_rank"}, {"learner": DecisionTreeRegressor(max_depth=3)}, {"keep": "best"}, {"budget": 6.0}],
    ids=str,
)
def test_the_model_is_the_same_on_any_number_of_threads(data: Scan, settings) -> None:
    models = [
        lw.SCP(length=2, n_passes=2, effort="fast", random_state=0, engine=Local(threads), **settings).fit(data)
        for threads in (1, 3)
    ]
    lists = [np.concatenate([block.picked_scores for block in model.predict(data)]) for model in models]
    assert np.array_equal(lists[0], lists[1])
    assert models[0].score(data) > 0.5


def test_progress_counts_shards_once_for_the_look_and_once_a_pass(data: Scan) -> None:
    heard = []
    lw.SCP(length=2, n_passes=3, effort="fast", random_state=0).fit(
        data, progress=lambda what, done, total: heard.append((done, total)) if what == "shards" else None
    )
    total = 4 * len(data.shards)
    assert heard == [(done, total) for done in range(1, total + 1)]


def test_shards_are_read_once_where_they_fit(data: Scan) -> None:
    cache = ShardCache(data, 2 * data.row_bytes * data.shards[0].n_rows)
    for shard in (0, 1, 2):
        list(cache.blocks(shard))
    assert sorted(cache.kept) == [0, 1]
    assert all(one is other for one, other in zip(cache.blocks(0), cache.kept[0], strict=True))


def test_a_learner_that_keeps_rows_gets_a_sample(tmp_path: Path) -> None:
    data = scanned(tmp_path, max_memory=150_000)
    learner = Aggregate(DecisionTreeRegressor(max_depth=3))
    share = kept_share(data, learner, 2, 2)
    assert 0 < share < 0.9
    assert kept_share(data, RidgeFTRL(), 2, 2) == 1.0
    model = lw.SCP(length=2, n_passes=2, learner=learner, random_state=0).fit(data)
    kept = sum(len(rows) for rows in model.training_.learner.rows_)
    assert 0.2 * share < kept / (2 * 2 * data.n_rows) < share
    assert model.n_rounds_ == 600
    assert model.score(data) > 0.6


def test_partial_fit_goes_on(data: Scan, tmp_path: Path) -> None:
    model = lw.SCP(length=2, effort="fast", random_state=0, keep="mixture").partial_fit(data)
    before = model.policy_
    assert model.n_rounds_ == 300
    model.partial_fit(data)
    assert model.n_rounds_ == 600
    assert len(model.policy_.policies) >= len(before.policies)
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(InputError, match="partial_fit: the features are not those"):
        model.partial_fit(scanned(other, ignore=[]))
    assert model.n_rounds_ == 600


def test_lists_stream_to_parquet_and_are_those_of_problems_in_memory(data: Scan, tmp_path: Path) -> None:
    model = lw.SCP(length=2, effort="fast", random_state=0).fit(data)
    out = tmp_path / "lists.parquet"
    streamed = model.predict(data)
    streamed.to_parquet(out)
    whole = model.predict(read(tmp_path / "part0.parquet", columns=data.columns, format="parquet")[:100])
    written = parquet.read_table(out)
    assert written.num_rows == 600
    assert written["item"].to_pylist()[:200] == np.concatenate(whole.item_ids).tolist()
    assert [len(block) for block in streamed] == [shard.n_problems for shard in data.shards]
    with pytest.raises(InputError, match="candidates but length=9"):
        model.predict(data, length=9).to_parquet(tmp_path / "never.parquet")
    assert {path.name for path in tmp_path.iterdir()} == {"part0.parquet", "part1.parquet", "lists.parquet"}
    with pytest.raises(InputError, match="There is no folder"):
        streamed.to_parquet(tmp_path / "nowhere" / "lists.parquet")


def test_measures_of_a_scan_are_those_of_problems_in_memory(data: Scan) -> None:
    model = lw.SCP(length=2, effort="fast", random_state=0).fit(data)
    whole = lw.Problems.from_frame(table(), reward="any:clicked", ignore=["grade"])
    streamed, held = lw.evaluate(model, data), lw.evaluate(model, whole)
    assert streamed.n_problems == held.n_problems == 300
    assert streamed.metrics["value"] == held.metrics["value"]
    assert streamed.by_position == held.by_position
    assert str(streamed).startswith("300 problems")
    with pytest.raises(InputError, match="evaluate needs a reward"):
        lw.evaluate(model, data.without_reward())


class Broken(Exception):
    """What ends a fit in the middle."""


@pytest.mark.parametrize("settings", [{}, {"keep": "mixture"}, {"keep": "best"}, {"learner": "gradient"}], ids=str)
def test_a_fit_that_was_broken_off_goes_on_to_the_same_model(data: Scan, tmp_path: Path, settings) -> None:
    fresh = lw.SCP(length=2, n_passes=2, effort="fast", random_state=0, **settings)
    whole = lw.SCP(**fresh.get_params()).fit(data)
    path = tmp_path / "checkpoint.listwright"

    def stop(what: str, done: int, total: int) -> None:
        if what == "shards" and done > 0.7 * total:
            raise Broken

    with pytest.raises(Broken):
        fresh.fit(data, progress=stop, checkpoint=path, checkpoint_every=2)
    assert not hasattr(fresh, "policy_")
    assert 0 < lw.load(path).n_rounds_ < 600
    heard = []
    again = lw.SCP(**fresh.get_params())
    again.fit(data, progress=lambda what, done, total: heard.append(done / total), checkpoint=path, resume=True)
    assert heard[0] > 0.4
    assert heard[-1] == 1.0
    assert again.n_rounds_ == whole.n_rounds_
    expected, lists = ([block.picked_scores for block in model.predict(data)] for model in (whole, again))
    assert all(np.array_equal(one, other) for one, other in zip(expected, lists, strict=True))


def test_a_checkpoint_of_another_fit_is_refused(data: Scan, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.listwright"
    model = lw.SCP(length=2, n_passes=1, effort="fast", random_state=0)
    with pytest.raises(InputError, match="There is no checkpoint"):
        model.fit(data, checkpoint=path, resume=True)
    with pytest.raises(InputError, match="resume needs the checkpoint"):
        model.fit(data, resume=True)
    model.fit(data, checkpoint=path)
    with pytest.raises(InputError, match="checkpoint of another fit"):
        lw.SCP(length=3, n_passes=1, effort="fast").fit(data, checkpoint=path, resume=True)
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(InputError, match="a fit on other problems"):
        lw.SCP(length=2, n_passes=1, effort="fast").fit(scanned(other, shard_size=50_000), checkpoint=path, resume=True)
    model.save(tmp_path / "model.listwright")
    with pytest.raises(InputError, match="is a model, not a checkpoint"):
        model.fit(data, checkpoint=tmp_path / "model.listwright", resume=True)


def test_engines_by_name_and_what_they_refuse(data: Scan) -> None:
    assert as_engine("local") == Local()
    assert as_engine("ray") == Ray()
    with pytest.raises(InputError, match=r"engine must be one of local, ray, .*Got 'spark'"):
        lw.SCP(length=2, engine="spark", effort="fast").fit(data)
    with pytest.raises(InputError, match="threads must be at least 1"):
        lw.SCP(length=2, engine=Local(0), effort="fast").fit(data)
    assert issubclass(Ray, Engine)


def test_a_model_file_does_not_say_where_to_connect(data: Scan, tmp_path: Path) -> None:
    model = lw.SCP(length=2, n_passes=1, effort="fast", random_state=0).fit(data)
    model.engine = Ray("10.9.8.7:6379")
    model.save(tmp_path / "model.listwright")
    assert lw.load(tmp_path / "model.listwright").engine == "local"
    assert model.engine == Ray("10.9.8.7:6379")


def test_memory_that_runs_out_is_reported(data: Scan) -> None:
    def hungry(blocks, shard):
        raise MemoryError

    with pytest.raises(InputError, match=r"ran out of memory on shard 1 \(.*Lower max_memory"):
        ShardCache(data, 0).do(hungry, 1)
