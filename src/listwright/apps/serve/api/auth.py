"""Who may do what: keys with a name and a role. A key is shown once, when it is made; the file holds its hash."""

from __future__ import annotations

import json
import re
import secrets
import time
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Any

from listwright._internal.files import write_whole
from listwright.apps.serve.refusals import Refused
from listwright.errors import InputError

ROLES = ("lists", "feedback", "admin", "read", "metrics")
PREFIX = "lw_"
DAY = 86_400.0
RELOAD = 1.0  # seconds between two looks at the file
HASH = re.compile(r"[0-9a-f]{64}")
NAME = re.compile(r"[A-Za-z0-9_.@-]{1,64}")
LIST = re.compile(r"/v1/lists/[^/]*")
# Open to all: they tell nothing of what is served. Whatever is not named here is for admins.
OPEN = {"/", "/healthz", "/readyz", "/docs", "/openapi.json"}
OPEN_FOLDER = "/page/"
ASK = ("/v1/lists", "/v1/lists:batch", "/v1/pack", "/v1/rerank")


def roles_for(method: str, path: str) -> tuple[str, ...] | None:
    """The roles that may make a request; None where it needs no key.

    Examples
    --------
    >>> roles_for("POST", "/v1/lists"), roles_for("GET", "/healthz"), roles_for("POST", "/v1/models")
    (('lists', 'admin'), None, ('admin',))
    """
    looks = method in ("GET", "HEAD")
    if looks and (path in OPEN or path.startswith(OPEN_FOLDER)):
        return None
    if method == "POST" and path in ASK:
        return "lists", "admin"
    if method == "POST" and path == "/v1/feedback":
        return "feedback", "admin"
    if looks and path == "/metrics":
        return "metrics", "admin"
    if looks and LIST.fullmatch(path):
        return "lists", "read", "admin"
    return ("read", "admin") if looks and path.startswith("/v1/") else ("admin",)


@dataclass(frozen=True)
class Key:
    """One entry of a keys file."""

    role: str
    sha256: str
    name: str = ""
    expires: float | None = None  # seconds since 1970


class Keys:
    """The keys that are known; the file is read again when it has changed, so that keys can be added and revoked."""

    def __init__(self, keys: tuple[Key, ...], path: Path | None = None) -> None:
        self.keys, self.path = keys, path
        self.looked, self.changed = 0.0, None if path is None else _stamp(path)

    @classmethod
    def read(cls, path: Path) -> Keys:
        """From a file that `new_key` wrote."""
        return cls(_keys(path), path)

    def found(self, presented: str) -> Key | None:
        """The key that is presented, unless it has expired. Every entry is compared in constant time, so that nothing
        is learned from how long it takes.

        Examples
        --------
        >>> Keys((Key("lists", sha256(b"secret").hexdigest(), "web"),)).found("secret").name
        'web'
        """
        self._look()
        digest, now = sha256(presented.encode("utf-8", "surrogateescape")).hexdigest(), time.time()
        same = [key for key in self.keys if compare_digest(key.sha256, digest)]
        return next((key for key in same if key.expires is None or key.expires > now), None)

    def roles(self, presented: str) -> set[str]:
        """The role of a key, if it is known."""
        key = self.found(presented)
        return set() if key is None else {key.role}

    def check(self, authorization: str, roles: tuple[str, ...]) -> Key:
        """The key of a request; refused where it is missing, unknown, expired or of another role."""
        scheme, _, presented = authorization.partition(" ")
        key = self.found(presented.strip()) if scheme.lower() == "bearer" else None
        if key is None:
            raise Refused(401, "no_key", "Send a known key in the header `Authorization: Bearer KEY`.")
        if key.role not in roles:
            raise Refused(403, "wrong_role", f"This needs a key with the role {' or '.join(roles)}.")
        return key

    def _look(self) -> None:
        """Reads the file again where it has changed; one that cannot be read leaves the keys as they were."""
        if self.path is None or time.monotonic() - self.looked < RELOAD:
            return
        self.looked = time.monotonic()
        stamp = _stamp(self.path)
        if stamp != self.changed:
            try:
                self.keys = tuple(_entry(entry, self.path) for entry in _entries(self.path))  # none, if all are revoked
                self.changed = stamp
            except InputError:
                return


def new_key(role: str, path: Path, *, name: str = "", days: float | None = None) -> str:
    """A new key, whose hash is added to the file; the key itself is nowhere but in what is returned.

    Parameters
    ----------
    role : str
        One of lists, feedback, admin, read and metrics.
    name : str
        Whose key it is: it stands in the log, and a key is revoked by it.
    days : float or None
        After which the key expires; None: never.
    """
    if role not in ROLES:
        raise InputError(f"A role is one of {', '.join(ROLES)}. Got {role!r}.")
    entries = _entries(path) if path.exists() else []
    name = name or f"{role}-{len(entries) + 1}"
    if not NAME.fullmatch(name):
        raise InputError(f"The name of a key has letters, digits and _.@- and at most 64 of them. Got {name!r}.")
    if any(entry.get("name") == name for entry in entries if isinstance(entry, dict)):
        raise InputError(f"{path} has a key with the name {name} already. Revoke it first, or choose another.")
    if days is not None and not 0 < days < 36_500:
        raise InputError(f"--key-days must be above 0. Got {days:g}.")
    key = PREFIX + secrets.token_urlsafe(32)
    entry: dict[str, Any] = {"name": name, "role": role, "sha256": sha256(key.encode()).hexdigest()}
    if days is not None:
        entry["expires"] = round(time.time() + days * DAY)
    _write(path, [*entries, entry])
    return key


def revoke_key(name: str, path: Path) -> None:
    """Takes a key out of the file; a running service notices within a second or two."""
    entries = _entries(path)
    kept = [entry for entry in entries if not isinstance(entry, dict) or entry.get("name") != name]
    if len(kept) == len(entries):
        raise InputError(f"{path} has no key with the name {name}.")
    _write(path, kept)


def _write(path: Path, entries: list[Any]) -> None:
    write_whole(path, (json.dumps({"keys": entries}, indent=1) + "\n").encode(), mode=0o600)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino


def _keys(path: Path) -> tuple[Key, ...]:
    keys = tuple(_entry(entry, path) for entry in _entries(path))
    if not keys:
        raise InputError(f"{path} holds no keys. Make one with: listwright serve --new-key admin --keys {path}")
    return keys


def _entries(path: Path) -> list[Any]:
    try:
        entries = json.loads(path.read_text())["keys"]
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError):
        entries = None
    if not isinstance(entries, list):
        raise InputError(f'{path} is no keys file: it must be JSON with a list "keys".')
    return entries


def _entry(entry: Any, path: Path) -> Key:
    known = isinstance(entry, dict) and entry.get("role") in ROLES
    if not known or not HASH.fullmatch(str(entry.get("sha256"))):
        raise InputError(f"{path}: each key needs a role ({', '.join(ROLES)}) and the sha256 of the key in hex.")
    expires = entry.get("expires")
    if isinstance(expires, bool) or not isinstance(expires, int | float | None):
        raise InputError(f"{path}: expires must be seconds since 1970. Got {expires!r}.")
    return Key(entry["role"], entry["sha256"], str(entry.get("name", "")), expires)
