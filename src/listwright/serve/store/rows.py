"""Statements on many rows at once.

A driver gives way to other threads at every statement and at every row that it fetches, and has to wait for its turn
again. So a group of writes is fastest with few statements: each insert here has as many rows as there are, and ids are
looked up by one parameter that holds all of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Column, Connection, Table

Row = Sequence[Any]  # one value per column of its table, in order
MOST = 128  # rows of one statement: databases limit the number of parameters
MARKS = {"sqlite": "?", "postgresql": "%s"}
AMONG = {"sqlite": "IN (SELECT value FROM json_each(?))", "postgresql": "= ANY(%s)"}


def put(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Insert rows."""
    _execute(connection, table, rows, adding=False)


def add_up(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Add rows of sums to a table: values are added to the row with the same primary key, where there is one."""
    # Pass rows sorted by key, so that concurrent transactions lock them in the same order and cannot deadlock.
    _execute(connection, table, rows, adding=True)


def _execute(connection: Connection, table: Table, rows: Sequence[Row], *, adding: bool) -> None:
    """Insert rows by statements of up to `MOST` rows each."""
    for start in range(0, len(rows), MOST):
        some = rows[start : start + MOST]
        statement = _insertion(connection.dialect.name, table, len(some), adding)
        connection.exec_driver_sql(statement, tuple(value for row in some for value in row))


@cache
def _insertion(dialect: str, table: Table, count: int, adding: bool) -> str:
    """Return the text of an insert of `count` rows; with `adding`, of an upsert that adds to existing sums."""
    names = [f'"{column.name}"' for column in table.columns]
    row = f"({', '.join([MARKS[dialect]] * len(names))})"
    text = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES {', '.join([row] * count)}"
    if not adding:
        return text
    keys = [f'"{column.name}"' for column in table.primary_key.columns]
    sums = [f"{name} = {table.name}.{name} + excluded.{name}" for name in names if name not in keys]
    return f"{text} ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {', '.join(sums)}"


def among(connection: Connection, column: Column[Any], values: Sequence[str]) -> tuple[str, Any]:
    """Return a condition that a column holds one of many texts, and its only parameter."""
    dialect = connection.dialect.name
    given = json.dumps(values) if dialect == "sqlite" else list(values)
    return f'{column.table.name}."{column.name}" {AMONG[dialect]}', given
