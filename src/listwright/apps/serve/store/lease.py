"""What only one replica may do, it does while it holds a lease in the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, case, select, update

from listwright.apps.serve.store.database import clock_of
from listwright.apps.serve.store.schema import leases

SECONDS = 5.0  # that a lease lasts; it is renewed long before


class Claim(NamedTuple):
    """Who asks for a lease."""

    name: str
    holder: str
    seconds: float = SECONDS


def take(connection: Connection, claims: Sequence[Claim]) -> list[int | None]:
    """Takes or renews leases: the term, or None where somebody else holds it."""
    return [_take(connection, claim) for claim in claims]


def _take(connection: Connection, claim: Claim) -> int | None:
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
    """Ends leases, so that others need not wait until they run out."""
    for claim in claims:
        mine = (leases.c.name == claim.name) & (leases.c.holder == claim.holder)
        connection.execute(update(leases).where(mine).values(expires=0.0))
    return [None] * len(claims)


def holds(connection: Connection, claim: Claim, term: int) -> bool:
    """Whether nobody has taken the lease since that term, and nobody can until the transaction ends."""
    mine = (leases.c.name == claim.name) & (leases.c.holder == claim.holder) & (leases.c.term == term)
    return connection.execute(select(leases.c.term).where(mine).with_for_update()).scalar() is not None


def holder(connection: Connection, name: str) -> str | None:
    """Who holds a lease at present."""
    held = (leases.c.name == name) & (leases.c.expires >= clock_of(connection))
    return connection.execute(select(leases.c.holder).where(held)).scalar()
