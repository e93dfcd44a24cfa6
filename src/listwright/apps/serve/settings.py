"""What a service is told when it starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from listwright.errors import InputError


@dataclass(frozen=True)
class Limits:
    """The most that one request, or all at once, may ask for; features are as many as the model has, no more."""

    body_bytes: int = 4 << 20
    model_bytes: int = 256 << 20
    items: int = 5_000  # candidates of one list
    length: int = 1_000
    batch: int = 100  # lists of one request
    in_flight: int = 256  # requests at the same time
    seconds: float = 10.0  # for one request


@dataclass(frozen=True)
class Settings:
    """One service: what it serves, where it stores, who may ask.

    Parameters
    ----------
    learn : learn from feedback; otherwise it is stored only.
    explore : how a learning service explores, as in `OnlineSCP`: "igw" or "epsilon".
    keys : file of hashed keys; without it the service only listens on this machine.
    keep_days : lists older than this are deleted, with their feedback, once that is learned from; None keeps all.
    """

    model: Path
    store: str = "sqlite:///listwright.db"
    learn: bool = False
    explore: str = "igw"
    seed: int = 0
    host: str = "127.0.0.1"
    port: int = 8000
    keys: Path | None = None
    keep_days: float | None = None
    limits: Limits = field(default_factory=Limits)

    def check(self) -> None:
        """Refuses to be reached from elsewhere without keys."""
        if self.keys is None and not is_loopback(self.host):
            raise InputError(
                f"--host {self.host} can be reached from other machines, so it needs --keys FILE. "
                "Make a key with: listwright serve --new-key admin --keys FILE"
            )
        if self.keep_days is not None and not self.keep_days > 0:
            raise InputError(f"--keep-days must be above 0. Got {self.keep_days:g}.")


def is_loopback(host: str) -> bool:
    """Whether an address belongs to this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
