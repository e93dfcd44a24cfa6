"""Learning from clicks comes close to learning from everything, at small size; and the baselines."""

from __future__ import annotations

import numpy as np
import pytest

import listwright as lw
from listwright.evaluation.values import list_values, measure_lists
from listwright.experiments.records import CandidateByContext
from listwright.features import Candidate, Distance, Features, Position
from listwright.feedback import LSBGreedy, RankedBandits
from listwright.feedback.bandit import ListBandit
from listwright.simulate.news import news


def news_features() -> Features:
    return Candidate() + CandidateByContext() + Distance() + Position()


def visits(count: int, seed: int) -> tuple[lw.Problems, lw.Problems]:
    """With drawn clicks, and with their probabilities."""
    world, each = news(pool=12, random_state=3), -(-count // 75)
    order = np.random.default_rng(seed).permutation(each * 75)[:count]
    drawn, valued = (
        world.visits(range(75), per_user=each, sampled=sampled, random_state=seed)[order] for sampled in (True, False)
    )
    return drawn, valued


def played(learner: ListBandit, seen: lw.Problems) -> lw.Lists:
    """The lists shown, one after the other, each learned from at once."""
    learner.begin(seen[: min(100, len(seen))])
    rows = np.full((len(seen), learner.length), -1)
    for i in range(len(seen)):
        lists = learner.recommend(seen[i], list_ids=[str(i)])
        gains = measure_lists(lists, seen[i]).gains
        assert gains is not None
        learner.feedback(str(i), np.clip(gains[0], 0, 1))
        rows[i, : lists.rows.shape[1]] = lists.rows[0] + seen.offsets[i]
    return lw.Lists(seen, rows)


def test_regret_grows_slower_than_time_and_failures_end_near_full_information() -> None:
    drawn, valued = visits(900, 1)
    test = visits(400, 2)[1]
    full = lw.SCP(3, features=news_features(), random_state=0).fit(drawn)
    learner = lw.OnlineSCP(3, features=news_features(), cascade=True, random_state=0)
    lost = list_values(full.predict(valued), valued) - list_values(played(learner, drawn), valued)
    total = np.cumsum(lost)
    assert np.log2(total[-1] / total[len(total) // 2 - 1]) < 0.9
    failed = 1.0 - list_values(learner.predict(test), test).mean()
    assert failed < 1.1 * (1.0 - full.score(test))
    ranked = RankedBandits(3, cascade=True, random_state=0)
    played(ranked, drawn)
    assert failed < 1.0 - list_values(ranked.predict(test), test).mean()


@pytest.mark.parametrize(
    "learner", [RankedBandits(3, cascade=True, random_state=0), LSBGreedy(3, cascade=True, random_state=0)]
)
def test_baselines_learn_too(learner: ListBandit) -> None:
    drawn = visits(500, 1)[0]
    test = visits(400, 2)[1]
    played(learner, drawn)
    chance = list_values(lw.baselines.Random(3, random_state=0).fit(test).predict(test), test).mean()
    assert list_values(learner.predict(test), test).mean() > chance + 0.02
    twin = type(learner)(**learner.get_params()).begin(drawn[:100]).restore(learner.state())
    assert twin.predict(test) == learner.predict(test)


def test_lsb_greedy_shows_what_is_uncertain_and_covers_topics() -> None:
    problem = lw.Problems.from_arrays(np.eye(3, dtype=np.float32)[[0, 0, 1, 2]][None])
    learner = LSBGreedy(3)
    lists = learner.recommend(problem, list_ids=["a"])
    assert sorted(lists[0].tolist()) == [0, 2, 3]  # the second item of the first topic adds nothing
    assert (lists.propensities == 1.0).all()
    with pytest.raises(lw.errors.InputError, match="shares of topics"):
        LSBGreedy(2).recommend(lw.Problems.from_arrays(np.full((1, 3, 1), 2.0)))


def test_a_slot_that_nobody_looked_at_explores() -> None:
    problem = lw.Problems.from_arrays(np.zeros((50, 4, 1)), catalogue=np.tile(np.arange(4), 50))
    learner = RankedBandits(2, cascade=True, random_state=0).begin(problem)
    learner.update(
        [lw.feedback.TrainingUpdate.of(str(i), problem[0], [0, 1], [0.25, 0.5], [1], cascade=True) for i in range(9)]
    )
    assert len({one[1] for one in learner.recommend(problem).rows % 4}) > 1
