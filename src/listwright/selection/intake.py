"""Reads vectors from arrays, tensors, sparse matrices, files, columns of lists or a problem."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.arrays import Floats, as_numbers
from listwright.errors import InputError
from listwright.problems import Problems

HOMES = ("pyarrow", "polars", "pandas")
KINDS = "a numpy array, a scipy CSR matrix, a torch tensor, a .npy or .parquet file, a column of lists, or one problem"


class Source(NamedTuple):
    """Rows of numbers as they were passed, and their names and costs if they have any."""

    table: Any  # the rows; may be memory-mapped
    ids: NDArray[Any] | None = None  # names of the rows
    costs: Floats | None = None  # sizes of the rows, used as costs under a budget
    home: str | None = None  # the package of frames that they came from


def read_vectors(given: Any, name: str = "vectors", *, column: str | None = None, ids: Any = None) -> Source:
    if isinstance(given, Source):
        return given
    named = "column=" if column is not None else "ids= by the name of a column" if isinstance(ids, str) else ""
    if named and not isinstance(given, str | Path) and not _is_frame(given):
        raise InputError(f"{named} is for frames and Parquet files. Got {name} as {type(given).__name__}.")
    if isinstance(given, str | Path):
        source = _from_file(Path(given), name, column, ids)
    elif _is_frame(given):
        source = _from_frame(given, name, column, ids)
    elif isinstance(given, Problems):
        source = _from_problem(given, name)
    elif sparse.issparse(given):
        source = Source(sparse.csr_array(given))
    elif _home(given) == "torch":
        source = Source(_from_tensor(given))
    else:
        columns = ("Series", "ChunkedArray", "ListArray")
        is_column = _home(given) in HOMES and type(given).__name__.endswith(columns)
        source = Source(_from_column(given, name) if is_column else _plain(given, name), _index_of(given))
    home = _home(given) if _home(given) in HOMES else None
    source = source._replace(table=_validate_table(source.table, name), home=home)
    if ids is None or isinstance(ids, str):
        return source
    names = np.asarray(ids)
    if names.shape != (source.table.shape[0],):
        raise InputError(f"ids must have one name per row ({source.table.shape[0]}). Got shape {names.shape}.")
    return source._replace(ids=names)


def collect_frame(given: Any) -> Any:
    return given.collect() if type(given).__name__ == "LazyFrame" else given


def as_numbers_of(rows: Any, ids: NDArray[Any] | None, name: str) -> Any:
    """Return the numbers of rows that are passed by name; what is no text stays as it is."""
    array = np.asarray(list(rows) if isinstance(rows, set | frozenset) else rows)
    asked = {row for row in array.reshape(-1).tolist() if isinstance(row, str)} if array.dtype.kind in "OUT" else set()
    names = [] if ids is None else ids.tolist()
    unknown = asked.difference(names)
    if unknown:
        what = "no row has that name" if names else "the rows have no names: pass their numbers, or ids="
        raise InputError(f"{name} has {min(unknown)!r}, and {what}.")
    return [row for row, known in enumerate(names) if known in asked] if asked else rows


def _is_frame(given: Any) -> bool:
    return _home(given) in HOMES and type(given).__name__ in ("DataFrame", "LazyFrame", "Table", "RecordBatch")


def _from_frame(frame: Any, name: str, column: str | None, ids: Any) -> Source:
    """Return the column of lists of a frame, or else its columns of numbers, with the names of its rows."""
    import narwhals as nw
    import pyarrow as pa

    plain = frame.reset_index(drop=True) if _home(frame) == "pandas" else collect_frame(frame)
    plain = pa.Table.from_batches([frame]) if isinstance(frame, pa.RecordBatch) else plain
    table = nw.from_native(plain, eager_only=True).to_arrow()
    id_column = _id_column(plain.schema if _home(plain) == "pyarrow" else table.schema, ids, "The frame")
    names = _index_of(frame) if id_column is None else table[id_column].to_numpy()
    if column is not None or _list_columns(table.schema):
        wanted = _list_column(table.schema, Path("The frame"), column)
        return Source(_from_column(table[wanted], name), names)
    keys = [key for key in table.column_names if key != id_column]
    text = [key for key in keys if table[key].type in (pa.string(), pa.large_string())]
    if text:
        raise InputError(f"Column {text[0]!r} holds text. Leave it out, or pass ids={text[0]!r} if it names the rows.")
    columns = [(key, table[key].to_numpy()) for key in keys]
    numbers = [as_numbers(some, key, np.float64 if some.dtype.itemsize == 8 else np.float32) for key, some in columns]
    return Source(np.stack(numbers, axis=1) if numbers else np.zeros((len(table), 0)), names)


def _id_column(schema: Any, ids: Any, where: str) -> str | None:
    """Return the column that holds the names of the rows: as asked, "id", the only "..._id", or a pandas index."""
    columns = schema.names
    if isinstance(ids, str) and ids not in columns:
        raise InputError(f"{where} has no column {ids!r} of names. Its columns: {', '.join(columns)}.")
    if ids is not None:
        return ids if isinstance(ids, str) else None
    index = [key for key in (schema.pandas_metadata or {}).get("index_columns", []) if isinstance(key, str)]
    ending = [key for key in columns if str(key).endswith("_id")]
    return "id" if "id" in columns else next((some[0] for some in (ending, index) if len(some) == 1), None)


def _index_of(given: Any) -> NDArray[Any] | None:
    """Return the index of a pandas frame or column, unless it only counts the rows."""
    index = np.asarray(given.index if _home(given) == "pandas" and hasattr(given, "index") else [])
    counts = index.dtype.kind == "i" and np.array_equal(index, np.arange(len(index)))
    return None if counts or not index.size else index


def _plain(given: Any, name: str) -> NDArray[Any]:
    if isinstance(given, np.ndarray) and given.dtype.kind in "fiub":
        return given
    if given is None or isinstance(given, dict | set):
        raise InputError(f"{name} must be {KINDS}. Got {type(given).__name__}.")
    return as_numbers(given, name, np.float64 if isinstance(given, list) else np.float32)


def _validate_table(table: Any, name: str) -> Any:
    if table.ndim != 2:
        hint = " One row per item: (n, d)." if table.ndim == 1 else ""
        raise InputError(f"{name} must have two dimensions, rows and numbers. Got shape {table.shape}.{hint}")
    if 0 in table.shape:
        raise InputError(f"{name} must have at least one row and one column. Got shape {table.shape}.")
    if sparse.issparse(table) and not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    return table


def _from_tensor(tensor: Any) -> Any:
    tensor = tensor.detach()
    if str(tensor.layout) != "torch.strided":
        raise InputError("Sparse torch tensors are not read. Pass a scipy CSR matrix.")
    tensor = tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor
    return tensor.cpu().numpy()


def _from_problem(problems: Problems, name: str) -> Source:
    if len(problems) != 1:
        raise InputError(f"{name} must be one problem. Got {len(problems)}: pass problems[0], or see lw.greedy.")
    table = problems.features if problems.vectors is None else problems.vectors
    return Source(table, problems.item_ids, problems.sizes)


def _from_file(path: Path, name: str, column: str | None, ids: Any = None) -> Source:
    if not path.is_file():
        raise InputError(f"There is no file {path} to read {name} from.")
    if path.suffix == ".npy":
        return Source(_memory_map(path, name))
    if path.suffix in (".parquet", ".pq"):
        schema = _parquet(path).schema_arrow
        if column is None and not _list_columns(schema):
            return _from_frame(_parquet(path).read(), path.name, None, ids)
        names = _id_column(schema, ids, path.name)
        return Source(_from_parquet(path, column), None if names is None else read_column(path, names))
    raise InputError(f"{name} can be read from .npy and .parquet files. Got {path.name}.")


def shape_of(path: Path, column: str | None = None) -> tuple[int, int]:
    if path.suffix == ".npy" or not path.is_file() or path.suffix not in (".parquet", ".pq"):
        table = _validate_table(_from_file(path, "vectors", None).table, "vectors")
        return int(table.shape[0]), int(table.shape[1])
    file = _parquet(path)
    if column is None and not _list_columns(file.schema_arrow):
        named = _id_column(file.schema_arrow, None, path.name) is not None
        return int(file.metadata.num_rows), len(file.schema_arrow.names) - named
    wanted = _list_column(file.schema_arrow, path, column)
    first = next(file.iter_batches(columns=[wanted], batch_size=1), None)
    if first is None:
        raise InputError(f"{path} has no rows.")
    return int(file.metadata.num_rows), int(_lists(first.column(0), f"column {wanted!r}", 0, None).shape[1])


def read_column(path: Path, column: str) -> NDArray[Any]:
    if path.suffix not in (".parquet", ".pq"):
        raise InputError(f"Column {column!r} can be read from a Parquet file. Got {path.name}.")
    file = _parquet(path)
    if column not in file.schema_arrow.names:
        raise InputError(f"{path.name} has no column {column!r}. Its columns: {', '.join(file.schema_arrow.names)}.")
    return np.asarray(file.read(columns=[column]).column(0).to_numpy())


def _parquet(path: Path) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return parquet.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"Cannot read {path} as Parquet: {error}") from None


def _memory_map(path: Path, name: str) -> NDArray[Any]:
    try:
        table = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{path} is not a .npy file of numbers: {error}") from None
    if not isinstance(table, np.ndarray) or table.dtype.kind not in "fiub":
        raise InputError(f"{name} in {path} must be numbers. Got {getattr(table, 'dtype', type(table).__name__)}.")
    return table


def _from_parquet(path: Path, column: str | None) -> NDArray[np.float32]:
    file = _parquet(path)
    wanted = _list_column(file.schema_arrow, path, column)
    chunks = (batch.column(0) for batch in file.iter_batches(columns=[wanted], batch_size=16_384))
    return _join(chunks, f"column {wanted!r} of {path.name}", file.metadata.num_rows)


def _join(chunks: Iterable[Any], name: str, n: int) -> NDArray[np.float32]:
    """Return the lists of all chunks, n together, as one table."""
    table, at = np.zeros((0, 0), dtype=np.float32), 0
    for chunk in chunks:
        rows = _lists(chunk, name, at, table.shape[1] if at else None)
        table = table if at else np.empty((n, rows.shape[1]), dtype=np.float32)
        table[at : at + len(rows)] = rows
        at += len(rows)
    if not at:
        raise InputError(f"{name} has no rows.")
    return table


def _list_column(schema: Any, path: Path, column: str | None) -> str:
    matches = _list_columns(schema)
    if column is not None and column not in schema.names:
        raise InputError(f"{path.name} has no column {column!r}. Its columns: {', '.join(schema.names)}.")
    if column is not None and column not in matches:
        raise InputError(f"Column {column!r} of {path.name} holds {schema.field(column).type}, not lists of numbers.")
    if column is None and len(matches) != 1:
        several = f"several columns of lists ({', '.join(matches)}): name one, column="
        what = several if matches else "no column of lists"
        raise InputError(f"{path.name} has {what}. Its columns: {', '.join(schema.names)}.")
    return column or matches[0]


def _list_columns(schema: Any) -> list[str]:
    import pyarrow as pa

    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return [field.name for field in schema if any(is_kind(field.type) for is_kind in kinds)]


def _from_column(given: Any, name: str) -> NDArray[np.float32]:
    import pyarrow as pa

    try:
        column = pa.array(given) if _home(given) == "pandas" else given
        column = given.to_arrow() if hasattr(given, "to_arrow") else column
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"{name} must be a column of lists of numbers: {error}") from None
    return _join(column.chunks if isinstance(column, pa.ChunkedArray) else [column], name, len(column))


def _home(given: Any) -> str:
    return type(given).__module__.partition(".")[0]


def _lists(column: Any, name: str, first: int, width: int | None) -> NDArray[np.float32]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not hasattr(column, "flatten") or not hasattr(column.type, "value_type"):
        raise InputError(f"{name} must hold lists of numbers. Got {column.type}.")
    if column.null_count:
        row = first + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"{name} has no vector in row {row}. Leave such rows out.")
    lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
    width = int(lengths[0]) if width is None else width
    bad = np.flatnonzero(lengths != width)
    if len(bad):
        raise InputError(f"{name}: row {first + bad[0]} has {lengths[bad[0]]} numbers, and the rows before {width}.")
    try:
        numbers = column.flatten().cast(pa.float32()).to_numpy(zero_copy_only=False)
    except pa.ArrowException as error:
        raise InputError(f"{name} must hold numbers: {error}") from None
    return numbers.reshape(len(column), width)


CGROUPS = (("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),)  # limit and use of a container


def available() -> int:
    """Return the free memory in bytes, also inside a container; a very large number if the system does not say."""
    free = _from_meminfo()
    for limit, used in CGROUPS:
        try:
            free = min(free, int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # there is none, or it is "max"
            continue
    return max(free, 0)


def _from_meminfo() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 1 << 62


def in_words(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def must_fit(size: int, what: str, advice: str) -> None:
    free = available()
    if size > free:
        raise InputError(f"{what} needs about {in_words(size)} of memory, and {in_words(free)} are free. {advice}")


def describe_memory(
    path: Path, column: str | None, k: int | None, *, reward: str, metric: str, neighbors: int | None
) -> str:
    (n, d), on_disk = shape_of(path, column), path.suffix == ".npy"
    size = 64 * 1024**2 + 160 * n + (0 if on_disk else 4 * n * d)  # tiles and marks, and the scaled vectors
    if reward == "feature_based":
        size = 40 * n * d
    elif reward == "log_det":
        size += 4 * n * (k or n) if metric == "rbf" else 8 * (k or n) * d
    elif neighbors is not None:
        size += 44 * n * neighbors
    size += 0 if on_disk else 4 * n * d
    return f"{n:,} rows of {d:,} numbers: about {in_words(size)} of memory, and {in_words(available())} are free."
