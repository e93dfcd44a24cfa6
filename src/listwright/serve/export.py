"""Copies of a store while the service runs: a log as Parquet, passages as JSON lines, a backup as SQLite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Connection, Select, func, insert, inspect, select
from sqlalchemy.exc import DatabaseError, InterfaceError

from listwright._internal.files import whole_file
from listwright._internal.progress import report_progress
from listwright.errors import InputError
from listwright.feedback.log_frames import as_arrow, file_mark
from listwright.serve.models.version import inspect_bytes
from listwright.serve.store.database import Database, cause_of, opening
from listwright.serve.store.records import answered_contexts, as_recommendations, with_feedback
from listwright.serve.store.schema import check_version, clock, leases, lists, metadata, models, version_table

AT_ONCE = 1000  # lists
# Columns that only some lists have, so that all can stand in one file.
OPTIONAL = {"group": pa.string(), "pinned": pa.int64()} | dict.fromkeys(("size", "budget"), pa.float64())
OPTIONAL |= dict.fromkeys(("levels", "per_group", "at_least"), pa.list_(pa.int64()))
OPTIONAL |= dict.fromkeys(("uses", "budgets"), pa.list_(pa.float64()))
SECONDS = 3_600.0  # that a query on PostgreSQL may take
SOME = 200  # rows of a backup at a time
INITIAL = (version_table, clock, leases)  # what a new store has rows of


def export(
    store: str, out: str | Path, *, version: int | None = None, cascade: bool = False, password: str | None = None
) -> int:
    """Write the lists of a store, with propensities and feedback, to a Parquet file."""
    return _export(store, out, password, lambda connection, file: _write(connection, file, version, cascade))


def export_passages(store: str, out: str | Path, *, password: str | None = None) -> int:
    """Write the questions of a store whose passages got feedback as JSON lines, which `ContextPacker.fit` reads."""
    return _export(store, out, password, _write_passages)


def _export(store: str, out: str | Path, password: str | None, write: Callable[[Connection, Path], int]) -> int:
    database = Database.of(_address(store), password=password, seconds=SECONDS)
    try:
        with whole_file(Path(out)) as beside, database.reading.connect() as connection:
            _check_store(connection)
            return write(connection, beside)
    except (DatabaseError, InterfaceError) as error:
        raise InputError(f"The store cannot be read: {cause_of(error)}.") from None
    except OSError as error:
        raise InputError(f"Cannot write {out}: {error.strerror or error}. Choose another path.") from None
    finally:
        database.close()


def _write_passages(connection: Connection, path: Path) -> int:
    count = 0
    with path.open("wb") as file:
        for record in answered_contexts(connection):
            file.write(msgspec.json.encode(record) + b"\n")
            count += 1
    if not count:
        raise InputError("The store has no feedback on passages yet.")
    return count


def _address(store: str) -> str:
    # Checks that an SQLite file exists, since connecting would otherwise create an empty one.
    if "://" in store:
        file = store.removeprefix("sqlite:///")
        if store.startswith("sqlite:") and not Path(file).is_file():
            raise InputError(f"There is no store {file}. Name the file that `listwright serve --store` writes.")
        return store
    if not Path(store).is_file():
        raise InputError(f"There is no store {store}. Name the file that `listwright serve --store` writes, or a URL.")
    return f"sqlite:///{Path(store).resolve()}"


def _write(connection: Connection, path: Path, version: int | None, cascade: bool) -> int:
    # The writer is closed in any case, so that a partial file can be removed.
    wanted = [] if version is None else [lists.c.version == version]
    total = int(connection.execute(select(func.count()).select_from(lists).where(*wanted)).scalar_one())
    if not total:
        raise InputError("The store has no such lists yet." if version is not None else "The store has no lists yet.")
    writer, done = None, 0
    try:
        for table in _tables(connection, with_feedback(*wanted).order_by(lists.c.id), cascade):
            if writer is None:
                writer = pq.ParquetWriter(path, table.schema.with_metadata(file_mark(cascade)))
            if not writer.schema.equals(table.schema):
                raise InputError(
                    "The store has lists of models with other features. Export one of them with --version."
                )
            writer.write_table(table.replace_schema_metadata(file_mark(cascade)))
            done += len(pa.compute.unique(table["list"]))
            report_progress("lists", done, total)
    finally:
        if writer is not None:
            writer.close()
    return done


def _check_store(connection: Connection) -> None:
    if not inspect(connection).has_table(version_table.name):
        raise InputError("This database is not a listwright store: it has no lists.")
    check_version(connection)


def _tables(connection: Connection, rows: Select[Any], cascade: bool) -> Iterator[pa.Table]:
    """Stream rows of the query as Arrow tables, each of at most `AT_ONCE` lists of a single model version."""
    names: dict[int, tuple[str, ...] | None] = {}
    streamed = connection.execution_options(stream_results=True, yield_per=AT_ONCE).execute(rows)
    for batch in streamed.partitions(AT_ONCE):
        for number, run in groupby(batch, key=lambda row: row.version):
            if number not in names:
                names[number] = _names(connection, number)
            shown, gains = as_recommendations(some := list(run), names[number], cascade=cascade)
            yield _with_more(as_arrow(shown, gains, nested=True), some, np.diff(shown.problems.offsets))


def _names(connection: Connection, version: int) -> tuple[str, ...] | None:
    with connection.engine.connect() as other:  # the first one is busy streaming
        file = other.execute(select(models.c.file).where(models.c.version == version)).scalar()
    names = None if file is None else inspect_bytes(file)["features"]
    return None if names is None else tuple(names)


def _with_more(table: pa.Table, rows: list[Any], counts: Any) -> pa.Table:
    for name, kind in (("created", None), ("state", None), ("metadata", pa.string())):
        values = np.array([getattr(row, name) for row in rows], dtype=object)
        table = table.append_column(name, pa.array(np.repeat(values, counts), type=kind))
    for name, kind in OPTIONAL.items():
        values = table[name] if name in table.column_names else pa.nulls(len(table), kind)
        table = table.select([column for column in table.column_names if column != name]).append_column(name, values)
    return table


def back_up(store: str, path: Path, *, password: str | None = None) -> dict[str, int]:
    """Copy a store, as it is at one moment, to a new SQLite file."""
    if path.exists():
        raise InputError(f"{path} already exists. Choose another name.")
    with whole_file(path) as part:
        try:
            return _copy_store(store, f"sqlite:///{part}", password, None)
        finally:
            for rest in ("-wal", "-shm"):
                Path(f"{part}{rest}").unlink(missing_ok=True)


def restore(path: Path, store: str, *, password: str | None = None) -> dict[str, int]:
    if not path.exists():
        raise InputError(f"Cannot read {path}: there is no such file.")
    return _copy_store(f"sqlite:///{path}", store, None, password)


def _copy_store(source: str, target: str, password: str | None, other: str | None) -> dict[str, int]:
    old, new = Database.of(source, password=password), Database.of(target, password=other)
    try:
        old.open()
        new.open()
        with opening(), _snapshot(old) as reading, new.maintenance.begin() as writing:
            if writing.execute(select(models.c.version).limit(1)).first() is not None:
                raise InputError("The store to restore to has models already. Give an empty one.")
            for table in INITIAL:
                writing.execute(table.delete())
            return {table.name: _copy_table(reading, writing, table) for table in metadata.sorted_tables}
    finally:
        old.close()
        new.close()


def _snapshot(database: Database) -> Connection:
    """Return a connection with a consistent snapshot of the store that blocks no writer."""
    if database.reading.dialect.name == "postgresql":
        return database.maintenance.connect().execution_options(isolation_level="REPEATABLE READ")
    return database.reading.connect()


def _copy_table(reading: Connection, writing: Connection, table: Any) -> int:
    count = 0
    for rows in reading.execute(select(table).execution_options(yield_per=SOME)).mappings().partitions(SOME):
        writing.execute(insert(table), [dict(row) for row in rows])
        count += len(rows)
    return count
