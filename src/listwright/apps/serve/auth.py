"""Who may do what: keys with roles. A key is shown once, when it is made; the file holds its hash."""

from __future__ import annotations

import json
import os
import re
import secrets
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from listwright.apps.serve.refusals import Refused
from listwright.errors import InputError

ROLES = ("lists", "feedback", "admin")
PREFIX = "lw_"
HASH = re.compile(r"[0-9a-f]{64}")
LIST = re.compile(r"/v1/lists/[^/]*")
# Open to all: they tell nothing of what is served. Whatever is not named here is for admins.
OPEN = {"/", "/healthz", "/readyz", "/docs", "/openapi.json"}
OPEN_FOLDER = "/page/"


def role_needed(method: str, path: str) -> str | None:
    """The role that a request needs beside admin; None where it needs no key.

    >>> role_needed("POST", "/v1/lists"), role_needed("GET", "/healthz"), role_needed("POST", "/v1/models")
    ('lists', None, 'admin')
    """
    if method in ("GET", "HEAD") and (path in OPEN or path.startswith(OPEN_FOLDER)):
        return None
    if method == "POST" and path in ("/v1/lists", "/v1/lists:batch"):
        return "lists"
    if method == "GET" and LIST.fullmatch(path):
        return "lists"
    if method == "POST" and path == "/v1/feedback":
        return "feedback"
    return "admin"


@dataclass(frozen=True)
class Key:
    """One entry of a keys file."""

    role: str
    sha256: str


@dataclass(frozen=True)
class Keys:
    """The keys that are known."""

    keys: tuple[Key, ...]

    @classmethod
    def read(cls, path: Path) -> Keys:
        """From a file that `new_key` wrote."""
        keys = tuple(_entry(entry, path) for entry in _entries(path))
        if not keys:
            raise InputError(f"{path} holds no keys. Make one with: listwright serve --new-key admin --keys {path}")
        return cls(keys)

    def roles(self, presented: str) -> set[str]:
        """Roles of a key. Every entry is compared in constant time, so that nothing is learned from how long it takes.

        >>> Keys((Key("lists", sha256(b"secret").hexdigest()),)).roles("secret")
        {'lists'}
        """
        digest = sha256(presented.encode("utf-8", "surrogateescape")).hexdigest()
        matches = [(compare_digest(key.sha256, digest), key.role) for key in self.keys]
        return {role for same, role in matches if same}

    def check(self, authorization: str | None, role: str) -> None:
        """Refuses a request whose key is missing, unknown or of another role."""
        scheme, _, presented = (authorization or "").partition(" ")
        roles = self.roles(presented.strip()) if scheme.lower() == "bearer" else set()
        if not roles:
            raise Refused(401, "no_key", "Send a known key in the header `Authorization: Bearer KEY`.")
        if not roles & {role, "admin"}:
            raise Refused(403, "wrong_role", f"This needs a key with the role {role}.")


def new_key(role: str, path: Path) -> str:
    """A new key, whose hash is added to the file; the key itself is nowhere but in what is returned."""
    if role not in ROLES:
        raise InputError(f"A role is one of {', '.join(ROLES)}. Got {role!r}.")
    entries = _entries(path) if path.exists() else []
    key = PREFIX + secrets.token_urlsafe(32)
    entries.append({"role": role, "sha256": sha256(key.encode()).hexdigest()})
    beside = path.with_name(f".{path.name}.part")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump({"keys": entries}, file, indent=1)
        file.write("\n")
    beside.replace(path)
    return key


def _entries(path: Path) -> list[dict[str, str]]:
    try:
        entries = json.loads(path.read_text())["keys"]
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError):
        entries = None
    if not isinstance(entries, list):
        raise InputError(f'{path} is no keys file: it must be JSON with a list "keys".')
    return entries


def _entry(entry: dict[str, str], path: Path) -> Key:
    known = isinstance(entry, dict) and entry.get("role") in ROLES
    if not known or not HASH.fullmatch(str(entry.get("sha256"))):
        raise InputError(f"{path}: each key needs a role ({', '.join(ROLES)}) and the sha256 of the key in hex.")
    return Key(entry["role"], entry["sha256"])
