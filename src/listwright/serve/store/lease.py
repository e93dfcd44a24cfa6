"""Leases in the database, so that only one replica does certain work, such as learning.

A lease lasts some seconds by the database's clock and must be renewed. Its term grows with each new holder and acts as
a fencing token: `holds` checks it in the transaction that writes, so a replica that was paused and lost its lease
cannot write any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, case, select, update

from listwright.serve.store.database import clock_of
from listwright.serve.store.schema import leases

SECONDS = 5.0  # that a lease lasts; it is renewed long before


class Claim(NamedTuple):
    """A request for a lease."""

    name: str  # the work to be done, such as "learner"
    holder: str  # identity of the replica
    seconds: float = SECONDS  # duration of the lease


def take(connection: Connection, claims: Sequence[Claim]) -> list[int | None]:
    """Take or renew leases."""
    return [_take(connection, claim) for claim in claims]


def _take(connection: Connection, claim: Claim) -> int | None:
    """Take or renew one lease with a single conditional update, which is atomic on both databases."""
    now = clock_of(connection)
    mine = leases.c.holder == claim.holder
    free = (leases.c.name == claim.name) & (mine | (leases.c.expires < now))
    values = {
        "holder": claim.holder,
        "term": case((mine, leases.c.term), else_=leases.c.term + 1),
        "expires": now + claim.seconds,
    }
    term = connection.execute(update(leases).where(free).values(values).returning(leases.c.term)).scalar()
    return None if term is None else int(term)


def give_up(connection: Connection, claims: Sequence[Claim]) -> list[None]:
    """End leases, so that other replicas need not wait until they expire."""
    for claim in claims:
        mine = (leases.c.name == claim.name) & (leases.c.holder == claim.holder)
        connection.execute(update(leases).where(mine).values(expires=0.0))
    return [None] * len(claims)


def holds(connection: Connection, claim: Claim, term: int) -> bool:
    """Return whether the claim still has the lease in that term, and lock it until the transaction ends."""
    mine = (leases.c.name == claim.name) & (leases.c.holder == claim.holder) & (leases.c.term == term)
    return connection.execute(select(leases.c.term).where(mine).with_for_update()).scalar() is not None


def holder(connection: Connection, name: str) -> str | None:
    """Return the present holder of a lease; None if it has expired."""
    held = (leases.c.name == name) & (leases.c.expires >= clock_of(connection))
    return connection.execute(select(leases.c.holder).where(held)).scalar()
