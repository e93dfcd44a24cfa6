"""SCP on data of the size of the paper's arm: 256 x 30 x 17 to learn from, 212 x 30 to predict, k = 8."""

from __future__ import annotations

from benchmarks.speed.timing import Record, against
from listwright import SCP
from listwright.features.auto import paper_features
from listwright.simulate import trajectory

THEIRS = "the authors' public C++ code (its time on a 2-core machine)"


def records() -> list[Record]:
    """Fit, and predict; on the simulated arm."""
    train, test = trajectory.problems()
    train = train[:256]
    model = SCP(8, features=paper_features(), n_passes=5, random_state=0)
    fitted = model.fit(train)
    return [
        against(
            "SCP fit, 256 x 30 x 17, k=8, 5 passes, linear",
            THEIRS,
            ours=lambda: model.fit(train),
            peer_s=2.2,
            at_least=25,
        ),
        against("SCP predict, 212 x 30, k=8", THEIRS, ours=lambda: fitted.predict(test), peer_s=0.33, at_least=100),
    ]
