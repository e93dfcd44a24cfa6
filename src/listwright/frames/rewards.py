"""Build reward objects, with rows in the order of the problems, from reward specs and table columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.arrays import Floats, Ints, first_bad, unit_rows
from listwright._internal.tokens import tokens
from listwright.errors import InputError
from listwright.frames.arrays import RowGroups, vectors
from listwright.frames.judgements import read_qrels, subtopic_coverage
from listwright.frames.reward_text import RewardSpec, is_pattern, parse_reward
from listwright.frames.table import ColumnTable
from listwright.frames.values import ListColumn, is_list, is_number, is_text, lists, numbers, texts, to_floats, to_ints
from listwright.rewards import (
    AnySuccess,
    ConcaveCoverage,
    Coverage,
    FacilityLocation,
    Function,
    ProbabilisticCoverage,
    Reward,
    Rouge,
    Total,
)

MOST_SIMILARITIES = 8e9  # bytes of similarities up to which facility location is built


class RewardData(NamedTuple):
    table: ColumnTable
    groups: RowGroups
    item_ids: NDArray[Any] | None  # in the order of the problems
    references: Mapping[str, list[str]] | None  # texts by problem


def as_spec(reward: Any) -> RewardSpec | None:
    """Return the spec of a reward that is given as text or as a spec; None for reward objects and None."""
    if isinstance(reward, RewardSpec):
        return reward
    if isinstance(reward, str):
        return parse_reward(reward)
    if reward is None or isinstance(reward, Reward):
        return None
    own = " Wrap your own function: rewards.Function(function)." if callable(reward) else ""
    must = "reward must be text such as 'any:clicked', or come from listwright.rewards"
    raise InputError(f"{must}. Got {reward!r:.60}.{own}")


def build_reward(reward: RewardSpec | Reward, data: RewardData) -> Reward:
    # A reward object is returned as it is, provided that the rows of the table are already in the order of the
    # problems; otherwise its rows would no longer match, and `InputError` is raised.
    if data.references is not None and getattr(reward, "kind", None) not in ("rouge", "rouge2"):
        raise InputError("references go with the reward 'rouge:COLUMN'. Leave them out, or change reward=.")
    if isinstance(reward, RewardSpec):
        return _BUILDERS[reward.kind](reward, data)
    if data.groups.order is not None:
        raise InputError(
            "The rows of a problem are not contiguous, so their order changes and this reward is for other rows."
            " Sort the table by problem, or give the reward as text."
        )
    return reward


def _any(spec: RewardSpec, data: RewardData) -> Reward:
    success = numbers(data.table, spec.argument, "reward")
    _within(data.table, spec.argument, success, 1.0, "For grades 0, 1, 2, ... write graded:COLUMN.")
    return AnySuccess(data.groups.sort(success))


def _graded_success(spec: RewardSpec, data: RewardData) -> Reward:
    """`graded:` - as `any:`, with success probability (2^grade - 1) / 2^highest, the stopping probability of ERR."""
    grades = numbers(data.table, spec.argument, "reward")
    _within(data.table, spec.argument, grades, 30.0, "Grades are 0, 1, 2, ...")
    highest = max(float(grades.max()), 1.0) if spec.highest is None else spec.highest
    return AnySuccess(data.groups.sort((2.0**grades - 1.0) / 2.0**highest))


def _total(spec: RewardSpec, data: RewardData) -> Reward:
    name, weight = spec.topics_and_weights(data.table)
    values = _not_negative(data.table, name)
    if weight is not None:
        values = values * _not_negative(data.table, weight)
    return Total(data.groups.sort(values), cap=spec.cap, share=spec.kind == "share")


def _coverage(spec: RewardSpec, data: RewardData) -> Reward:
    matrix, weights = topics_of(data.table, data.groups, *spec.topics_and_weights(data.table), shares=False)
    matrix.data = np.ones_like(matrix.data)
    return Coverage(matrix, weights)


def _probabilistic(spec: RewardSpec, data: RewardData) -> Reward:
    topics, weight = spec.topics_and_weights(data.table)
    matrix, weights = topics_of(data.table, data.groups, topics, weight, shares=True)
    if matrix.data.max(initial=0.0) > 1.0:
        row = data.groups.row_of(int(np.searchsorted(matrix.indptr, int(matrix.data.argmax()), side="right")) - 1)
        raise data.table.error(row, topics, f"{matrix.data.max():g} is no probability", "Give numbers from 0 to 1.")
    return ProbabilisticCoverage(matrix, weights)


def _concave(spec: RewardSpec, data: RewardData) -> Reward:
    matrix, weights = topics_of(data.table, data.groups, *spec.topics_and_weights(data.table), shares=True)
    return ConcaveCoverage(matrix, spec.kind, weights=weights)


def _facility(spec: RewardSpec, data: RewardData) -> Reward:
    """`facility:` - facility location with cosine similarities of all pairs of a problem's candidates."""
    offsets = data.groups.offsets
    if 4.0 * float((np.diff(offsets).astype(np.float64) ** 2).sum()) > MOST_SIMILARITIES:
        got = f"Got up to {int(np.diff(offsets).max())} items."
        raise InputError(f"facility needs the similarities of all pairs of a problem's items. {got}")
    chosen = tuple(data.table.matching(spec.argument, "reward"))
    table = data.groups.sort(vectors(data.table, chosen, "reward"))
    unit = unit_rows(table).astype(np.float32)
    return FacilityLocation([unit[a:b] @ unit[a:b].T for a, b in pairwise(offsets)])


def _rouge(spec: RewardSpec, data: RewardData) -> Reward:
    if data.references is None:
        what = "the texts that a good list would contain, by problem"
        raise InputError(f"{spec.kind} needs references: {what}. Pass references=.")
    candidates = [tokens(text) for text in texts(data.table, spec.argument, "reward")]
    if data.groups.order is not None:
        candidates = [candidates[row] for row in data.groups.order]
    references = [_references(data.references, str(name)) for name in data.groups.ids]
    return Rouge(candidates, references, n=2 if spec.kind == "rouge2" else 1)


def _references(by_problem: Mapping[str, list[str]], name: str) -> list[list[str]]:
    """Tokens of the references of one problem; raises `InputError` if they contain no word."""
    texts = [tokens(text) for text in by_problem.get(name, ())]
    if not any(texts):
        raise InputError(f"Problem {name} has no reference with any word. Add one, or leave the problem out.")
    return texts


def _qrels(spec: RewardSpec, data: RewardData) -> Reward:
    judgements = read_qrels(spec.argument)
    return Coverage(subtopic_coverage(judgements, data.groups.ids, data.item_ids, data.groups.offsets))


def _not_negative(table: ColumnTable, name: str) -> Floats:
    values = numbers(table, name, "reward")
    _within(table, name, values, np.inf, "What an item is worth is 0 or more.")
    return values


def _within(table: ColumnTable, name: str, values: Floats, high: float, advice: str) -> None:
    bad = first_bad(~((values >= 0) & (values <= high)))
    if bad is not None:
        limits = "below 0" if high == np.inf else f"not between 0 and {high:g}"
        raise table.error(bad, name, f"{values[bad]:g} is {limits}", advice)


_BUILDERS: dict[str, Callable[[RewardSpec, RewardData], Reward]] = {
    "any": _any,
    "graded": _graded_success,
    "share": _total,
    "sum": _total,
    "coverage": _coverage,
    "probabilistic": _probabilistic,
    "sqrt": _concave,
    "log": _concave,
    "facility": _facility,
    "rouge": _rouge,
    "rouge2": _rouge,
    "qrels": _qrels,
    "python": lambda spec, data: Function(load_function(spec.argument, spec.function)),
}


class TopicEntries(NamedTuple):
    """All (row, topic) pairs with an amount, flattened."""

    rows: Ints  # of the table
    topics: Ints  # index into `names`
    amounts: Floats  # amount to which the row covers the topic, above 0
    slots: Ints  # place of the entry in its row, for lists of weights
    names: list[str]  # by topic


def topics_of(
    table: ColumnTable, groups: RowGroups, topics: str, weight: str | None, *, shares: bool
) -> tuple[Any, Any]:
    # Topics are numbered within their problem, so that the matrix is only as wide as the problem with the most topics,
    # however large the vocabulary of the whole table is.
    entries = _entries(table, topics, shares=shares)
    if not len(entries.rows) and not table.streamed:
        raise InputError(f"{table.source}: no row has a topic in {topics!r}. Name the columns of topics with reward=.")
    owners = groups.codes[entries.rows]
    pairs, number = np.unique(owners * len(entries.names) + entries.topics, return_inverse=True)
    problem_of = pairs // len(entries.names)
    local = (np.arange(len(pairs)) - np.searchsorted(problem_of, np.arange(len(groups.ids)))[problem_of])[number]
    shape = (table.n_rows, int(local.max(initial=0)) + 1)
    place = entries.rows if groups.order is None else np.argsort(groups.order)[entries.rows]
    matrix = sparse.coo_array((entries.amounts, (place, local)), shape=shape).tocsr()
    if weight is None:
        return matrix, None
    values = _weights(table, weight, entries)
    _agree(table, groups, weight, entries, number, values)
    weights = np.zeros((len(groups.ids), shape[1]))
    weights[owners, local] = values
    return matrix, weights


def _entries(table: ColumnTable, topics: str, *, shares: bool) -> TopicEntries:
    """Read topics from a column of lists or from several numeric columns, whichever `topics` names."""
    kind = table.columns[topics].type if topics in table.columns else None
    if kind is not None and not is_pattern(topics) and (is_list(kind) or is_text(kind) or not shares):
        return _from_lists(table, topics, lists(table, topics, "reward"), shares=shares)
    return _from_columns(table, table.matching(topics, "reward"))


def _from_columns(table: ColumnTable, names: list[str]) -> TopicEntries:
    """One topic per numeric column; zeros are left out and negative amounts raise `InputError`."""
    columns = [numbers(table, name, "reward") for name in names]
    for name, values in zip(names, columns, strict=True):
        bad = first_bad(values < 0)
        if bad is not None:
            raise table.error(bad, name, f"{values[bad]:g} is below 0", "Topics are covered by amounts of 0 or more.")
    rows = [np.flatnonzero(values) for values in columns]
    topics = np.repeat(np.arange(len(names)), [len(part) for part in rows])
    amounts = np.concatenate([values[part] for values, part in zip(columns, rows, strict=True)])
    return TopicEntries(np.concatenate(rows), topics, amounts, topics, names)


def _as_text(table: ColumnTable, name: str, values: pa.Array) -> pa.Array:
    try:
        return values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        kind = f"{table.source}: column {name!r} must hold topics, or lists of topics. Got {values.type}"
        raise InputError(f"{kind}. Name the columns of topics with reward=.") from None


def _from_lists(table: ColumnTable, name: str, listed: ListColumn, *, shares: bool) -> TopicEntries:
    """One topic per distinct entry, or, for lists of amounts, one topic per position in the list."""
    rows = np.repeat(np.arange(table.n_rows), listed.lengths)
    slots = np.arange(len(rows)) - np.repeat(np.cumsum(listed.lengths) - listed.lengths, listed.lengths)
    if not shares or not is_number(listed.values.type):
        encoded = _as_text(table, name, listed.values).dictionary_encode()
        topics, names = to_ints(encoded.indices), encoded.dictionary.to_pylist()
        return TopicEntries(rows, topics, np.ones(len(rows)), slots, names)
    amounts = to_floats(listed.values)
    bad = first_bad(~((amounts >= 0) & np.isfinite(amounts)))
    if bad is not None:
        raise table.error(int(rows[bad]), name, f"{amounts[bad]:g} is not an amount of 0 or more", "Mend the list.")
    some = amounts > 0
    names = [f"{name} {slot}" for slot in range(int(slots.max(initial=-1)) + 1)]
    return TopicEntries(rows[some], slots[some], amounts[some], slots[some], names)


def _weights(table: ColumnTable, name: str, entries: TopicEntries) -> Floats:
    """Weight of each entry: the number of its row, or the number at its position in the row's list of weights."""
    column = table.column(name, "reward")
    if is_number(column.type):
        values = numbers(table, name, "reward")[entries.rows]
    else:
        listed = lists(table, name, "reward")
        needed = np.zeros(table.n_rows, dtype=np.int64)
        np.maximum.at(needed, entries.rows, entries.slots + 1)
        short = first_bad(listed.lengths < needed)
        if short is not None:
            problem = f"there are {listed.lengths[short]} weights for {needed[short]} topics"
            raise table.error(short, name, problem, "Give every topic a weight.")
        starts = np.cumsum(listed.lengths) - listed.lengths
        values = _as_numbers(table, name, listed)[starts[entries.rows] + entries.slots]
    bad = first_bad(~((values >= 0) & np.isfinite(values)))
    if bad is not None:
        raise table.error(int(entries.rows[bad]), name, f"weight {values[bad]:g} is below 0", "Weights are 0 or more.")
    return values


def _as_numbers(table: ColumnTable, name: str, listed: ListColumn) -> Floats:
    try:
        return to_floats(listed.values)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(f"{table.source}: column {name!r} must hold lists of numbers, the topics' weights.") from None


def _agree(
    table: ColumnTable, groups: RowGroups, name: str, entries: TopicEntries, number: Ints, values: Floats
) -> None:
    """Raise `InputError` if a topic has two different weights within one problem."""
    order = np.argsort(number, kind="stable")
    same = np.diff(number[order]) == 0
    bad = first_bad(same & (np.diff(values[order]) != 0))
    if bad is not None:
        entry, before = int(order[bad + 1]), int(order[bad])
        row, topic = int(entries.rows[entry]), entries.names[int(entries.topics[entry])]
        problem = f"topic {topic!s} of problem {groups.ids[groups.codes[row]]!s} weighs {values[entry]:g}, but"
        problem += f" {values[before]:g} at {table.place(int(entries.rows[before]))}"
        raise table.error(row, name, problem, "A topic has one weight in all rows of a problem.")


def load_function(path: str | Path, name: str) -> Callable[..., Any]:
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no file {path}. Write the reward as FILE.py:FUNCTION.")
    function = getattr(_run(path), name, None)
    if not callable(function):
        raise InputError(f"{path} has no function {name!r}. Define `def {name}(problem, items)` there.")
    return _name_errors(function, f"{path}:{name}")


def _name_errors(function: Callable[..., Any], place: str) -> Callable[..., Any]:
    @wraps(function)
    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            raise InputError(f"{place} failed: {type(error).__name__}: {error}") from error

    return call


def _run(path: Path) -> Any:
    """Execute a file as a module, which is not added to `sys.modules` and leaves no bytecode beside the file."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    try:
        exec(compile(path.read_bytes(), path, "exec"), vars(module))
    except Exception as error:
        raise InputError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    return module
