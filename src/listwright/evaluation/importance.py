"""Permutation importance: how much lists lose if a model no longer sees a column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, Ints, at_least_one
from listwright.errors import InputError
from listwright.evaluation.table import Table
from listwright.evaluation.values import list_values
from listwright.features import Features
from listwright.features.candidate import feature_names
from listwright.features.scale import dense
from listwright.policies import Linear
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.walk.lists import Block, blocks_of


def importance(
    model: Any, problems: Any, *, features: Sequence[str] | None = None, n_repeats: int = 5, random_state: int = 0
) -> Table:
    """Return how much the value of lists falls if a feature is permuted across problems, the most important first.

    The values of one column are shuffled among all candidates of all problems, so that they carry no information, and
    the model builds its lists with them. What lists lose is what the model gains from the column. Use problems that the
    model has not learned from. If two columns carry the same information, neither may seem important.

    Parameters
    ----------
    model : estimator or baseline
        A fitted model.
    problems : Problems or DataFrame
        With a reward; a pandas, polars or pyarrow frame if the model was fitted on one.
    features : list of str, optional
        Names of the columns to examine, if there are many; all by default.
    n_repeats : int, default 5
        How often each column is permuted.
    random_state : int, default 0
        Seed of the permutations, which are the same for all columns.

    Returns
    -------
    Table
        By feature (including columns of the context, and vectors as a whole): `importance`, the mean fall, and
        `spread`, its standard deviation over the repeats. `to_frame()` makes a frame of it.

    Raises
    ------
    InputError
        If the problems have no reward, or if a name in `features` is unknown.

    See Also
    --------
    SCP.weights_ : The weights of a linear policy.

    Examples
    --------
    >>> import listwright as lw
    >>> x = np.random.default_rng(0).random((200, 8, 3))
    >>> problems = lw.Problems.from_arrays(
    ...     x, reward=lw.rewards.AnySuccess(x[..., 1] > 0.9), feature_names=["age", "quality", "price"]
    ... )
    >>> model = lw.SCP(length=2, effort="fast", random_state=0).fit(problems[:100])
    >>> importance(model, problems[100:])["feature"][0]
    np.str_('quality')
    """
    at_least_one("n_repeats", n_repeats)
    problems = model._as_problems(problems, measured=True) if hasattr(model, "_as_problems") else problems
    reward_of(problems, "importance")
    value = float(list_values(model.predict(problems), problems).mean())
    orders = [np.random.default_rng([random_state, i]).permutation(problems.n_rows) for i in range(n_repeats)]
    drops = {
        name: [value - float(list_values(model.predict(copy), problems).mean()) for copy in permuted]
        for name, permuted in _permutations(problems, orders, _names_to_permute(problems, features))
    }
    names, falls = np.array(list(drops)), np.array(list(drops.values())).reshape(len(drops), n_repeats)
    means = falls.mean(axis=1)
    order = np.argsort(-means, kind="stable")
    columns = {"feature": names[order], "importance": means[order], "spread": falls.std(axis=1)[order]}
    return Table(columns, problems.backend)


def _names_to_permute(problems: Problems, features: Sequence[str] | None) -> set[str]:
    context = 0 if problems.context is None else problems.context.shape[1]
    known = [*feature_names(problems), *(f"context {i}" for i in range(context))]
    known += [] if problems.vectors is None else ["vectors"]
    unknown = [name for name in features or () if name not in known]
    if unknown:
        raise InputError(f"features must name columns of the problems. Got {unknown[0]!r}.")
    return set(known if features is None else features)


def _permutations(problems: Problems, orders: list[Ints], chosen: set[str]) -> Iterator[tuple[str, Iterator[Problems]]]:
    table = np.array(dense(problems.features))
    for column, name in enumerate(feature_names(problems)):
        if name in chosen:
            yield name, (_with_column(problems, table, column, order) for order in orders)
    for column in range(0 if problems.context is None else problems.context.shape[1]):
        if f"context {column}" in chosen:
            yield f"context {column}", (_with_context(problems, column, order) for order in orders)
    if "vectors" in chosen:
        yield "vectors", (problems._with(vectors=problems.vectors[order]) for order in orders)


def _with_column(problems: Problems, table: Any, column: int, order: Ints) -> Problems:
    changed = table.copy()
    changed[:, column] = table[order, column]
    return problems.with_features(changed)


def _with_context(problems: Problems, column: int, order: Ints) -> Problems:
    """Return the problems with one context column permuted: problems are ordered as their first rows are."""
    assert problems.context is not None
    changed = problems.context.copy()
    changed[:, column] = problems.context[np.argsort(order[problems.offsets[:-1]], kind="stable"), column]
    return problems._with(context=changed)


def weights_table(policies: Sequence[Linear], features: Features, problem: Problems, items: Sequence[str]) -> Table:
    """Return the weights of linear policies, one per position or one for all, by the columns seen of a problem."""
    blocks = blocks_of(features, features.start(problem))
    tables = [_named_weights(policy, blocks, items) for policy in policies]
    columns = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    if len(tables) > 1:
        columns["position"] = np.repeat(np.arange(1, len(tables) + 1), [len(table["weight"]) for table in tables])
    return Table(columns)


def _named_weights(policy: Linear, blocks: Sequence[Block], items: Sequence[str]) -> dict[str, Any]:
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
