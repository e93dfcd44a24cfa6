"""MovieTweetings: users replayed in time order, lists of three movies of those that they rated later."""

from __future__ import annotations

import numpy as np

import listwright as lw
from benchmarks.feedback.playing import play
from listwright.datasets import read_movies
from listwright.evaluation.values import list_values
from listwright.features import Volume
from listwright.features.auto import paper_features

LENGTH = 3
REWARDS = ("liked", "genres")


def with_movies(users: lw.Problems) -> lw.Problems:
    """Movies as the catalogue, numbered from the last to be seen first: so a part of the users knows how many."""
    _, first, codes = np.unique(users.item_ids, return_index=True, return_inverse=True)
    return users.with_catalogue(np.argsort(np.argsort(-first))[codes])


def replay(data: str, reward: str) -> dict[str, float]:
    """Mean value of the lists of the later half of the users.

    Learners from clicks play all users in time order. What learns from full information has the earlier half. The list
    in hindsight is fitted on the users that it is tested on.
    """
    assert reward in REWARDS
    movies = read_movies(data, reward=reward, liked=8)  # type: ignore[arg-type]
    users = movies.problems[np.argsort(movies.decided, kind="stable")]
    users = with_movies(users)
    half = len(users) // 2
    later = users[half:]
    plain = paper_features() + Volume(relative=True)  # as "auto" without the catalogue, which only the static list uses
    online = lw.OnlineSCP(LENGTH, features=plain, cascade=reward == "liked", random_state=0)
    static = lw.baselines.StaticList(LENGTH)
    return {
        "OnlineSCP": float(play(online, users)[half:].mean()),
        "static list of earlier users": static.fit(users[:half]).score(later),
        "static list in hindsight": static.fit(users).score(later),
        "SCP, full information": lw.SCP(LENGTH, features=plain, effort="fast", random_state=0)
        .fit(users[:half])
        .score(later),
        "random": lw.baselines.Random(LENGTH, random_state=0).fit(users).score(later),
        "best list": float(list_values(lw.greedy(later, LENGTH), later).mean()),
    }
