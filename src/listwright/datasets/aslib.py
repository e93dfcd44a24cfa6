"""ASlib: algorithm-selection scenarios (Bischl et al. 2016). Which solvers should be tried on an instance?"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Bools, Floats, Floats32, Ints
from listwright._internal.extras import warn
from listwright.datasets._fetch import locate
from listwright.datasets._reading import first_of, read_parquet, require
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards import AnySuccess
from listwright.text.readers import ReadingNote, read_text

_ATTRIBUTE = re.compile(r"""@attribute\s+('[^']*'|"[^"]*"|\S+)\s+(.+)""", re.IGNORECASE)
_QUOTE = re.compile(r"""['"]""")
_DATA = re.compile(r"^\s*@data\s*$", re.IGNORECASE | re.MULTILINE)
MISSING = "?"


@dataclass(frozen=True, eq=False)
class Arff:
    """The columns of an ARFF file as text."""

    path: Path  # the file, for error messages
    kinds: dict[str, str]  # by name: "numeric", "string", "{a, b}", ... as in the file
    columns: dict[str, list[str]]  # by column, its cells

    def texts(self, name: str) -> NDArray[np.str_]:
        return np.array(self.columns[name], dtype=np.str_)

    def numbers(self, name: str) -> Floats:
        try:
            return np.array([np.nan if text == MISSING else float(text) for text in self.columns[name]])
        except ValueError as error:
            raise InputError(f"Column {name} of {self.path} must hold numbers: {error}.") from None

    def levels(self, name: str) -> list[str] | None:
        """Return the values that a nominal column may take; None for columns of other types."""
        kind = self.kinds[name]
        return _fields(kind.strip("{} \t")) if kind.startswith("{") else None


def read_arff(path: Path, columns: tuple[str, ...] = ()) -> Arff:
    head, *body = _DATA.split(read_text(path), maxsplit=1)
    attributes = [_ATTRIBUTE.match(line.strip()) for line in head.splitlines()]
    kinds = {_name(match[1], columns): match[2].strip() for match in attributes if match}
    require(kinds, columns, path)
    lines = [line for part in body for line in part.splitlines()]
    rows = [_fields(line) for line in lines if line.strip() and not line.lstrip().startswith("%")]
    for row in rows:
        if len(row) != len(kinds):
            raise InputError(f"{path} has {len(kinds)} attributes, but a row of {len(row)}: {','.join(row)[:80]}")
    table = zip(*rows, strict=True) if rows else ([] for _ in kinds)
    return Arff(path, kinds, {name: list(column) for name, column in zip(kinds, table, strict=True)})


def _name(written: str, known: tuple[str, ...]) -> str:
    name = written.strip("'\"")
    return name.lower() if name.lower() in known else name


def _fields(line: str) -> list[str]:
    """Split a row into its values; a value with commas stands in single or double quotes."""
    quote = _QUOTE.search(line)
    if quote is None:
        return [field.strip() for field in line.split(",")]
    cells = next(csv.reader([line], quotechar=quote[0], escapechar="\\", skipinitialspace=True))
    return [cell.strip() for cell in cells]


_Names = NDArray[np.str_]


@dataclass(frozen=True, eq=False)
class Scenario:
    """A scenario: one problem for each instance that some solver solves, one candidate for each solver."""

    name: str  # the scenario's name
    # no features; the instance's features as context; solvers as catalogue and item_ids; reward: any solver of the list
    # solves the instance
    problems: Problems
    folds: Ints  # the official fold of each problem, from 1
    context_names: tuple[str, ...]  # name of each context column

    @property
    def n_folds(self) -> int:
        return int(self.folds.max())

    def split(self, fold: int) -> tuple[Problems, Problems]:
        """Return training and test problems, with one official fold as the test part."""
        test = self.folds == fold
        if not test.any() or test.all():
            raise InputError(f"fold must be one of {', '.join(map(str, np.unique(self.folds)))}. Got {fold}.")
        return self.problems[~test], self.problems[test]


class _Raw(NamedTuple):
    """A scenario as its files have it, in three tables. Instances may occur more than once in each."""

    name: str  # the scenario's name
    ran: _Names  # by run: the instance
    solvers: _Names
    solved: Bools
    described: _Names  # by row of features: the instance
    features: Floats
    feature_names: list[str]  # name of each feature
    folded: _Names  # by row of folds: the instance
    folds: Ints


def read_aslib(path: str | Path) -> Scenario:
    """Read an ASlib scenario as problems: which solvers should be tried on an instance, and in which order?

    A solver solves an instance where its run is "ok" within the cutoff of the description; of repeated runs, the reward
    is the share that does. Instances that no solver solves are left out. Problems and solvers are in alphabetical
    order.

    Parameters
    ----------
    path : str or Path
        A scenario's folder, as published (`algorithm_runs.arff`, `feature_values.arff`, `cv.arff`, `description.txt`)
        or as Parquet (`runs.parquet`, `instances.parquet`).

    Returns
    -------
    Scenario
        With the problems and their official folds.

    See Also
    --------
    Scenario.split : Training and test problems by the official folds.
    listwright.baselines.NearestCover : A common baseline for portfolios of solvers.

    Notes
    -----
    In Parquet, the column `solved` is taken as it is; where runs with the status "ok" are marked as unsolved, a
    `ReadingNote` says how many, because such labels may come from a wrong cutoff. (The description of GRAPHS-2015 has
    a cutoff of 1.0e+08 milliseconds; cut at 1.0, most of its runs count as failures.)

    Instance features become the context, each instance by itself, so that nothing leaks from test instances: x is
    turned into sign(x) log(1 + abs(x)), because counts of variables and clauses have long tails, and a missing number
    into 0, with a 0/1 column for each group of features that are missing together. Scaling is left to the model.
    """
    folder = locate(path)
    runs = first_of(folder, ("algorithm_runs.arff", "runs.parquet"), "An ASlib scenario")
    raw = _read_published(folder) if runs.suffix == ".arff" else _parquet(folder)
    instances, solvers = np.unique(np.concatenate([raw.ran, raw.described])), np.unique(raw.solvers)
    rows, columns = np.searchsorted(instances, raw.ran), np.searchsorted(solvers, raw.solvers)
    shape = len(instances), len(solvers)
    success = np.nan_to_num(_means(rows * shape[1] + columns, raw.solved.astype(np.float64), shape))
    keep = success.max(axis=1) > 0
    if not keep.any():
        raise InputError(f"No solver solves any instance of {raw.name}. Check the runs in {folder}.")
    shape = len(instances), len(raw.feature_names)
    cells = np.searchsorted(instances, raw.described)[:, None] * shape[1] + np.arange(shape[1])
    context, names = _plain_context(_means(cells, raw.features, shape)[keep], raw.feature_names)
    problems = Problems.from_arrays(
        np.zeros((int(keep.sum()), len(solvers), 0), dtype=np.float32),
        context=context,
        catalogue=np.arange(len(solvers)),
        item_ids=solvers,
        problem_ids=instances[keep],
        reward=AnySuccess(success[keep]),
    )
    return Scenario(raw.name, problems, _folds(raw, instances[keep], folder), names)


def _plain_context(table: Floats, names: list[str]) -> tuple[Floats32, tuple[str, ...]]:
    missing = ~np.isfinite(table)
    known = np.where(missing, 0.0, table)
    some = np.flatnonzero(missing.any(axis=0))
    patterns, first = np.unique(missing[:, some], axis=1, return_index=True)
    flags = [f"{names[some[column]]} missing" for column in first]
    logs = np.sign(known) * np.log1p(np.abs(known))
    return np.concatenate([logs, patterns], axis=1).astype(np.float32), (*names, *flags)


def _read_published(folder: Path) -> _Raw:
    facts = _facts(read_text(folder / "description.txt"))
    runs = read_arff(folder / "algorithm_runs.arff", ("instance_id", "repetition", "algorithm", "runstatus"))
    features = read_arff(folder / "feature_values.arff", ("instance_id", "repetition"))
    folds = read_arff(folder / "cv.arff", ("instance_id", "repetition", "fold"))
    first = folds.numbers("repetition") == 1  # later repetitions are other ways to cut the folds
    table, names = _feature_table(features)
    return _Raw(
        name=facts.get("scenario_id", [folder.resolve().name])[0],
        ran=runs.texts("instance_id"),
        solvers=runs.texts("algorithm"),
        solved=_is_solved(runs, facts),
        described=features.texts("instance_id"),
        features=table,
        feature_names=names,
        folded=folds.texts("instance_id")[first],
        folds=folds.numbers("fold")[first].astype(np.int64),
    )


def _is_solved(runs: Arff, facts: dict[str, list[str]]) -> Bools:
    """Return, by run, whether it ended with status "ok" within the cutoff; only run-time scenarios are supported."""
    kind = facts.get("performance_type", ["runtime"])[0]
    if kind != "runtime":
        raise InputError(f"read_aslib reads scenarios of performance_type runtime. Got {kind} in {runs.path.parent}.")
    written = facts.get("algorithm_cutoff_time", [MISSING])[0]
    try:
        cutoff = np.inf if written == MISSING else float(written)  # 5000 or 1.0e+08
    except ValueError:
        raise InputError(
            f"algorithm_cutoff_time of {runs.path.parent} must be a number or ?. Got {written!r}."
        ) from None
    measure = next(name for name in runs.kinds if name not in ("instance_id", "repetition", "algorithm", "runstatus"))
    return (runs.numbers(measure) <= cutoff) & (runs.texts("runstatus") == "ok")


def _feature_table(features: Arff) -> tuple[Floats, list[str]]:
    """Return instance features as numbers with their names; a nominal feature becomes a 0/1 column per value."""
    columns: dict[str, Floats] = {}
    for name in features.kinds:
        if name in ("instance_id", "repetition"):
            continue
        levels = features.levels(name)
        if levels is None:
            columns[name] = features.numbers(name)
        else:
            columns |= {f"{name} is {level}": (features.texts(name) == level).astype(np.float64) for level in levels}
    return np.stack(list(columns.values()), axis=1), list(columns)


def _facts(text: str) -> dict[str, list[str]]:
    facts: dict[str, list[str]] = {}
    for line in text.splitlines():
        item = line.strip()
        if item.startswith("- ") and facts:
            facts[next(reversed(facts))].append(item[2:].strip(" \"'"))
        elif line[:1].strip() and ":" in line:
            name, _, value = line.partition(":")
            facts[name] = [part.strip(" \"'") for part in value.split(",") if part.strip()]
    return {name: values for name, values in facts.items() if values}


def _parquet(folder: Path) -> _Raw:
    runs = read_parquet(folder / "runs.parquet", ("instance_id", "algorithm", "solved"))
    solved = runs["solved"].astype(bool)
    ended = runs["status"] == "ok" if "status" in runs else solved
    if (ended & ~solved).any():
        warn(
            f"{folder / 'runs.parquet'}: {int((ended & ~solved).sum()):,} of {int(ended.sum()):,} runs with the status "
            "ok are marked as unsolved and count as failures. For labels by the scenario's own cutoff, read the "
            "published files.",
            ReadingNote,
        )
    columns = read_parquet(folder / "instances.parquet", ("instance_id", "fold"))
    ids, folds = columns.pop("instance_id").astype(np.str_), columns.pop("fold").astype(np.int64)
    table = np.array([column.astype(np.float64) for column in columns.values()]).reshape(-1, len(ids)).T
    ran, solvers = (runs[name].astype(np.str_) for name in ("instance_id", "algorithm"))
    return _Raw(folder.resolve().name, ran, solvers, solved, ids, table, list(columns), ids, folds)


def _means(cells: Ints, values: Floats, shape: tuple[int, int]) -> Floats:
    """Return the mean of the finite values in each cell of a table, whose cells are numbered; NaN where it has none."""
    known = np.isfinite(values)
    sums = np.bincount(cells[known], values[known], minlength=shape[0] * shape[1])
    counts = np.bincount(cells[known], minlength=shape[0] * shape[1])
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan).reshape(shape)


def _folds(raw: _Raw, instances: _Names, folder: Path) -> Ints:
    fold_of = dict(zip(raw.folded.tolist(), raw.folds.tolist(), strict=True))
    missing = [name for name in instances.tolist() if name not in fold_of]
    if missing:
        raise InputError(f"Instance {missing[0]} of {folder} has no fold.")
    return np.array([fold_of[name] for name in instances.tolist()], dtype=np.int64)
