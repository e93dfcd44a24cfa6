"""What a fitted model reports about itself: its weights, the history of its rounds, and its held-out value."""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.parameters import check_fitted
from listwright.estimators.measured import LONG, Measured, tried
from listwright.evaluation.table import Table
from listwright.policies import Linear
from listwright.training.history import told
from listwright.training.loaded import made_up
from listwright.training.signature import Signature
from listwright.walk.replay import Block, blocks_of


class UnsetAttribute:
    """A fitted attribute that not every fit sets: asked of a model without it, it says which fit would have set it."""

    def __init__(self, why: str) -> None:
        self.why = why

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:  # the class itself has no such attribute
            raise AttributeError(f"Only fitted models have {self.name}.")
        check_fitted(model)
        raise AttributeError(f"This {type(model).__name__} has no {self.name}: {self.why.format(model=model)}")


class Tells:
    """Mixin with the weights, history and measurements of an estimator that learns in rounds.

    See Also
    --------
    SCP : Its attributes `weights_`, `history_` and `measured_` come from here.
    listwright.importance : What lists lose without a feature, for every kind of policy.
    """

    policy_: Any  # listwright.policies.Policy
    signature_: Signature
    training_: Any  # the run, listwright.training.round.Training
    rounds_: Any  # the columns of its history
    measurement_: Measured
    certified_: Any = UnsetAttribute(
        "no problems were held back. fit(..., certify=0.2) holds some back and certifies the model on them; "
        "certify(problems) does so on problems that you have held back."
    )

    @property
    def weights_(self) -> Table:
        """The weights of a linear policy: a table with one row per column that the policy sees.

        `feature` and `group` say what the column is, as reasons do; `weight` is what one spread (standard deviation
        over the training candidates) more of it adds to the score. Of `keep="mixture"` it is the mean over rounds; a
        model with a policy for each position has a column `position` too. `to_frame()` makes a frame of the table.
        """
        check_fitted(self)
        linear = self.policy_.linear()
        if linear is None:
            raise AttributeError(
                f"The policy of this {type(self).__name__} has no weights, as it is a {type(self.policy_).__name__} "
                "policy. See listwright.importance."
            )
        blocks, items = self._seen_columns(), self._item_names()
        tables = [_table(policy, blocks, items) for policy in linear]
        columns = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
        if len(tables) > 1:
            columns["position"] = np.repeat(np.arange(1, len(tables) + 1), [len(table["weight"]) for table in tables])
        return Table(columns)

    @property
    def history_(self) -> Table:
        """What each round of learning brought: a table with one row per round.

        `states` that were visited, `training_value`: the mean value of the lists built while learning, and
        `held_out_value`: that of the policy after the round on problems that were not learned from, with `keep="best"`
        or `fit(..., validation=...)`; else it is NaN. Past 2,000 rounds, several are merged into one row.
        """
        check_fitted(self)
        if not hasattr(self, "rounds_"):
            raise AttributeError(f"This {type(self).__name__} has no history: its file is of an older version.")
        return Table(told(self.rounds_))

    @property
    def measured_(self) -> Measured:
        """What lists are worth on problems that were not learned from, compared with sorting by a column or by a ridge
        score.

        After `fit(..., certify=0.2)` it is about this very model. Otherwise a copy is fitted on four fifths of the
        training problems, and measured on the others, when this is first asked for.
        """
        check_fitted(self)
        if hasattr(self, "measurement_"):
            return self.measurement_
        problems = getattr(self, "training_problems_", None)
        if problems is None:
            raise AttributeError(
                f"This {type(self).__name__} no longer has its training problems. Use certify with others, or fit with "
                "certify=0.2."
            )
        self.measurement_ = tried(self, problems)
        return self.measurement_

    def measured_within(self, seconds: float) -> Measured | None:
        """Return `measured_`, or None where it is not available or a trial would take about as long as a slow
        fit did.
        """
        if seconds > LONG and not hasattr(self, "measurement_"):
            return None
        return getattr(self, "measured_", None)

    def _seen_columns(self) -> list[Block]:
        """Return the blocks of columns that the policy sees, from a made-up problem of the known kind."""
        features = self.training_.features
        problem = made_up(self.signature_, whole=True)
        return blocks_of(features, features.start(problem))

    def _item_names(self) -> list[str]:
        """Return the names of the catalogue's items, or numbers where they have none."""
        names = getattr(getattr(self, "columns_", None), "catalogue_names", ())
        return list(names) or [f"item {i}" for i in range(self.signature_.n_items or 0)]


def _table(policy: Linear, blocks: list[Block], items: list[str]) -> dict[str, Any]:
    """Return the columns of the table of weights; weights per item are named after the item."""
    named = [(name, block.group) for block in blocks for name in block.names]
    weights: list[Floats] = [policy.weights]
    if policy.item_weights is not None:
        width = policy.item_weights.shape[1]
        crossed = [item if j == 0 else f"{item}, state {j}" for item in items for j in range(width)]
        named += [(name, "identity") for name in crossed]
        weights.append(policy.item_weights.ravel())
    features, groups = ([str(pair[i]) for pair in named] for i in (0, 1))
    return {"feature": np.array(features), "group": np.array(groups), "weight": np.concatenate(weights)}
