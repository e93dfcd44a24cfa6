"""The shipped model: SCP trained on the made-up news reports of `listwright.simulate.corpus`.

`python -m listwright.experiments.shipped_models` writes it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from listwright.estimators.scp import SCP
from listwright.loading import load
from listwright.summarize.problems import room_of, summary_features, summary_problems
from listwright.text.budget import Budget
from listwright.text.clusters import Cluster

SHIPPED = Path(__file__).with_name("reports.listwright")
BUDGET = Budget(665, "bytes")


def summary_model(clusters: Sequence[Cluster], *, budget: Budget = BUDGET) -> SCP:
    """Train a model that summarises, from clusters with references.

    Parameters
    ----------
    clusters : sequence of Cluster
        Training clusters; each needs at least one reference summary.
    budget : Budget, default 665 bytes
        Size of the summaries.

    Returns
    -------
    SCP
        A fitted model, to pass to `summarize`.

    See Also
    --------
    summarize : Uses the model.
    listwright.text.read_cluster_folders : Reads training clusters.
    """
    problems = summary_problems(clusters, unit=budget.unit, need_references=True)
    return SCP(budget=room_of(budget), features=summary_features(), random_state=0).fit(problems)


def shipped_model() -> SCP:
    """Load the model that is part of the package."""
    model: SCP = load(SHIPPED)
    return model
