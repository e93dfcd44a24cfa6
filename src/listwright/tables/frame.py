"""Build problems from a data frame or table with one row per candidate.

`from_frame` is the public entry point. `build` is shared by frames and files: it chooses the role of each column,
collects the levels of categorical columns and calls `assembled`, which groups rows by problem and makes the arrays. A
scan calls `assembled` directly for each block, because its columns are already chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import pyarrow as pa
from numpy.typing import NDArray

from listwright._internal.arrays import Ints
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.tables.categories import catalogue_codes, catalogue_of, levels_of
from listwright.tables.columns import Columns, Wanted, choose
from listwright.tables.grouping import Groups, group, no_item_twice
from listwright.tables.linked import links_of
from listwright.tables.matrices import context_of, features_of, sizes_of, vectors_of
from listwright.tables.references import from_mapping, from_table
from listwright.tables.rewards import Measured, as_spec, build_reward
from listwright.tables.table import Part, Table, no_repeats
from listwright.tables.values import as_array, names


def from_frame(
    frame: Any,
    *,
    problem: str = "problem",
    item: str | None = "item",
    size: str | None = "size",
    group: str | None = None,
    features: Sequence[str] | None = None,
    context: Sequence[str] | None = None,
    vectors: str | Sequence[str] | None = None,
    links: str | Sequence[str] | None = None,
    catalogue: str | None = None,
    catalogue_names: Sequence[str] | None = None,
    categorical: Sequence[str] = (),
    levels: Mapping[str, Sequence[str]] | None = None,
    ignore: Sequence[str] = (),
    reward: Any = None,
    references: Any = None,
    columns: Columns | None = None,
    new_levels: str = "error",
) -> Problems:
    """Problems from a frame of pandas, polars or pyarrow with one row per candidate.

    Rows of a problem need not be contiguous; problems come in order of first appearance. Wherever several columns are
    named, patterns such as `"topic_*"` may stand for them.

    Parameters
    ----------
    problem, item, size
        The columns with the problem's id, the item's id, and what the item takes of a budget. The last two may be
        missing unless they are named.
    group : str or None
        The column with the item's group (source, author, section), for `per_group=`; it is no feature.
    features : sequence of str or None
        Columns of numbers; by default every numeric column that is nothing else.
    context : sequence of str or None
        Columns that say something of the problem as a whole, the same in all its rows.
    vectors : str, sequence of str or None
        What similarity is measured on: a column of lists of numbers, or several columns.
    links : str, sequence of str or None
        Columns that list the ids of other candidates of the same problem (citations, mentions), one kind of link per
        column. Ids of items that the problem does not offer are left out.
    catalogue : str or None
        The column that says which item of a recurring set a row is.
    catalogue_names : sequence of str or None
        Names of the catalogue's items in the order of a trained model.
    categorical : sequence of str
        Columns of text that become a 0/1 feature (or context) for each level.
    levels : dict or None
        Levels of categorical columns, where not those of this table.
    ignore : sequence of str
        Columns that are not features.
    reward
        What a list is worth, such as `"any:clicked"` or `"coverage:topics"`: see `tables.parse_reward`.
    references
        For `"rouge:..."`: a frame with columns problem and reference, or a dict of texts by problem.
    columns : Columns or None
        How an earlier table was read, instead of all column options above.
    new_levels : str
        What a level that is not known means: "error", or "zeros" for none of the levels.

    Returns
    -------
    Problems
        One problem per id, with its candidates in the order of the frame, and with the reward if one was given.

    Raises
    ------
    InputError
        If a column is missing, a value is missing or of the wrong kind, an item occurs twice in a problem, or no
        feature is left. The message names the row, the column and the option that helps.

    See Also
    --------
    read : The same from files.
    scan : The same for Parquet files that do not fit in memory.
    parse_reward : The syntax of `reward`.

    Examples
    --------
    >>> frame = pa.table(
    ...     {"problem": ["q1", "q2", "q1"], "item": ["a", "a", "b"], "price": [3, 1, 2], "clicked": [0, 1, 1]}
    ... )
    >>> problems = from_frame(frame, reward="any:clicked")
    >>> problems
    Problems: 2 problems, 3 candidates (1 to 2 each), 1 feature, reward AnySuccess
    >>> problems.features.ravel(), problems.item_ids
    (array([3., 2., 1.], dtype=float32), array(['a', 'b', 'a'], dtype='<U1'))
    """
    wanted = Wanted(
        problem=problem,
        item=item,
        size=size,
        group=group,
        features=features,
        context=context,
        vectors=vectors,
        links=links,
        catalogue=catalogue,
        catalogue_names=catalogue_names,
        categorical=categorical,
        levels=levels,
        ignore=ignore,
        new_levels=new_levels,
        columns=columns,
    )
    return build(as_table(frame), wanted, reward=reward, references=by_problem(references, problem))[0]


def build(table: Table, wanted: Wanted, *, reward: Any = None, references: Any = None) -> tuple[Problems, Columns]:
    """Choose the columns of a table and build its problems."""
    table = replace(table, fixed=wanted.fixed or wanted.columns is not None)
    if table.n_rows == 0:
        raise InputError(f"{table.source} has no rows. There must be one row per candidate.")
    spec = as_spec(reward)
    taken = set() if spec is None else set(spec.columns_of(table))
    columns = _with_levels(table, choose(table, wanted, taken))
    if not (columns.features or columns.numbered or columns.context or columns.catalogue):
        way = "Name some with features= or catalogue="
        raise InputError(f"{table.source} has no features: no numeric column is left. {way}.")
    known = reward if spec is None else spec
    return assembled(table, columns, known, references=references, new_levels=wanted.new_levels), columns


def assembled(table: Table, columns: Columns, reward: Any, *, references: Any, new_levels: str) -> Problems:
    """Build problems from a table whose columns are chosen and whose levels are known."""
    groups = group(table, columns.problem)
    features, feature_names = features_of(table, columns, groups, new_levels=new_levels)
    problems = Problems.from_arrays(
        features,
        offsets=groups.offsets,
        context=context_of(table, columns, groups, new_levels=new_levels),
        catalogue=_catalogue(table, columns, groups),
        sizes=sizes_of(table, columns, groups),
        problem_ids=groups.ids,
        item_ids=_items(table, columns, groups),
        feature_names=feature_names,
        vectors=vectors_of(table, columns, groups),
        links=links_of(table, columns, groups),
        groups=_labels(table, columns, groups),
    )
    if reward is None:
        return problems
    return problems.with_reward(build_reward(reward, Measured(table, groups, problems.item_ids, references)))


def by_problem(references: Any, problem: str) -> dict[str, list[str]] | None:
    """Reference texts by problem id, from a dict or a data frame; None stays None."""
    if references is None:
        return None
    if isinstance(references, Mapping):
        return from_mapping(references)
    return from_table(as_table(references), problem)


def as_table(frame: Any) -> Table:
    """Convert a data frame of pandas, polars or pyarrow to a `Table`."""
    try:
        eager = nw.from_native(frame, eager_only=True)
    except nw.exceptions.NarwhalsError as error:
        raise InputError(f"This frame cannot be read: {error}") from None
    except TypeError:
        kind = f"{type(frame).__module__}.{type(frame).__name__}"
        way = " Call collect() first." if hasattr(frame, "collect") else ""
        raise InputError(f"Give a frame of pandas, polars or pyarrow. Got {kind}.{way}") from None
    no_repeats(map(str, eager.columns), "The table")
    columns, unreadable = {}, {}
    for name in eager.columns:
        try:
            columns[str(name)] = plain(eager.get_column(name).to_arrow())
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            unreadable[str(name)] = str(error).partition("\n")[0]
    categories = tuple(str(name) for name, kind in eager.schema.items() if kind in (nw.Categorical, nw.Enum))
    return Table(columns, (Part("", len(eager)),), unreadable, categories)


def plain(column: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column as a chunked array; categorical (dictionary) columns are decoded to text."""
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    return chunked.cast(pa.string()) if pa.types.is_dictionary(chunked.type) else chunked


def _with_levels(table: Table, columns: Columns) -> Columns:
    """Fill in levels and catalogue items from the table where the caller has not given them."""
    levels = {name: given or levels_of(table, name) for name, given in columns.levels.items()}
    if columns.catalogue is not None and not columns.catalogue_names:
        columns = replace(columns, catalogue_names=catalogue_of(table, columns.catalogue))
    return replace(columns, levels=levels)


def _items(table: Table, columns: Columns, groups: Groups) -> NDArray[Any] | None:
    """Item ids by row in the order of the problems, or None without an item column; refuses an item listed twice."""
    if columns.item is None:
        return None
    codes, values = names(table, columns.item, "item")
    no_item_twice(table, groups, columns.item, codes, "item")
    return groups.sorted(as_array(values)[codes])


def _labels(table: Table, columns: Columns, groups: Groups) -> NDArray[Any] | None:
    """Group labels by row in the order of the problems, or None without a group column."""
    if columns.group is None:
        return None
    codes, values = names(table, columns.group, "group")
    return groups.sorted(as_array(values)[codes])


def _catalogue(table: Table, columns: Columns, groups: Groups) -> Ints | None:
    """Catalogue codes by row in the order of the problems, or None; refuses an item that a problem lists twice."""
    if columns.catalogue is None:
        return None
    codes = catalogue_codes(table, columns.catalogue, columns.catalogue_names)
    no_item_twice(table, groups, columns.catalogue, codes, "catalogue")
    return groups.sorted(codes)
