"""Hostile feedback among honest feedback: what lists are worth meanwhile, and when learning is paused.

Each group of lists is shown, gets feedback from keys, is compared and learned from, as the service does it. Honest keys
report which items are good; a hostile key reports the opposite. Once learning is paused, the deployed policy serves.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import listwright as lw
from benchmarks.reliability.client import make_model, true_weights
from listwright.feedback.updates import TrainingUpdate
from listwright.serve import Settings
from listwright.serve.learning.monitor import PolicyMonitor
from listwright.serve.learning.updater import learner_maker

CANDIDATES, FEATURES, LENGTH, GROUP = 20, 8, 4, 16


@dataclass(frozen=True)
class Outcome:
    """Share of lists with a good item before, among the last 200 and afterwards, and when learning was paused."""

    before: float
    last: float
    after: float
    paused: int | None  # lists since the attack began

    def __str__(self) -> str:
        paused = "never paused" if self.paused is None else f"paused after {self.paused} lists"
        return f"good lists {self.before:.3f} before, {self.last:.3f} at the end, {self.after:.3f} afterwards; {paused}"


def run(share: float, lists: int, *, honest: int = 400, seed: int = 0) -> Outcome:
    """`honest` honest lists, then `lists` of which that share gets hostile feedback from one key, then 400 more."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = make_model(Path(folder) / "model", features=FEATURES, candidates=CANDIDATES, length=LENGTH)
        online = learner_maker(Settings())(lw.load(path))
        deployed = learner_maker(Settings())(lw.load(path))
    monitor, weights = PolicyMonitor(online.features_, deployed.playing_.policy), true_weights(FEATURES)
    good, paused = [], None
    total = honest + lists + 400
    for start in range(0, total, GROUP):
        table = rng.random((GROUP, CANDIDATES, FEATURES), dtype=np.float32)
        scores = table @ weights
        liked = scores > np.quantile(scores, 0.9)
        problems = lw.Problems.from_arrays(table)
        names = [f"{seed}-{start + i}" for i in range(GROUP)]
        shown = (online if paused is None else deployed).recommend(problems, length=LENGTH, list_ids=names)
        attacked = (rng.random(GROUP) < share) & (honest <= start < honest + lists)
        updates, sources = [], []
        for i in range(GROUP):
            outcome = liked[i][shown[i]].astype(float)
            good.append(outcome.any())
            reported = 1.0 - outcome if attacked[i] else outcome
            updates.append(TrainingUpdate.of(names[i], problems[i], shown[i], shown.propensities[i], reported))
            sources.append("hostile" if attacked[i] else f"honest-{i % 2}")
        if paused is not None:
            continue
        monitor.observe(online.playing_.policy, updates, sources)
        online.update(updates)
        comparison = monitor.comparison(online.playing_.policy)
        if monitor.contradiction() or (comparison is not None and comparison.behind):
            paused = start + GROUP - honest
    return Outcome(
        float(np.mean(good[:honest])),
        float(np.mean(good[honest + lists - 200 : honest + lists])),
        float(np.mean(good[-400:])),
        paused,
    )


def main(arguments: list[str]) -> None:
    """`hostile [share of hostile feedback] [lists] [seed]`."""
    share, lists, seed = (*map(float, arguments), *(0.25, 1200, 0)[len(arguments) :])
    print(run(share, int(lists), seed=int(seed)))
