"""API keys with a name, a role and an optional expiry date; their file holds only SHA-256 hashes."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Sequence
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from listwright._internal.files import write_whole
from listwright.errors import InputError
from listwright.serve.refusals import Refused

ROLES = ("lists", "feedback", "admin", "read", "metrics")
PREFIX = "lw_"
DAY = 86_400.0
RELOAD = 1.0  # seconds between two looks at the file
NAME = re.compile(r"[A-Za-z0-9_.@-]{1,64}")
LIST = re.compile(r"/v1/lists/[^/]*")
# Open to all: they tell nothing of what is served. Whatever is not named here is for admins.
PAGES = {"/", "/docs", "/openapi.json"}
OPEN = PAGES | {"/healthz", "/readyz"}
OPEN_FOLDER = "/page/"
ASK = ("/v1/lists", "/v1/lists:batch", "/v1/pack", "/v1/rerank", "/v2/rerank")


def is_page(path: str) -> bool:
    return path in PAGES or path.startswith(OPEN_FOLDER)


def roles_for(method: str, path: str) -> tuple[str, ...] | None:
    """Return the roles that may make a request; None where no key is needed."""
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


class Key(Struct, frozen=True, omit_defaults=True):
    """One entry of a keys file."""

    role: Annotated[str, Meta(pattern=rf"^({'|'.join(ROLES)})\Z")]
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]  # hash of the key
    name: str = ""  # of its owner, as it appears in the log
    expires: float | None = None  # seconds since 1970; None for never


class _KeysFile(Struct):
    keys: list[Key]


class Keys:
    """The known keys. Their file is read again when it changes, so keys can be added and revoked without a restart.

    Examples
    --------
    >>> keys = Keys((Key("lists", sha256(b"secret").hexdigest(), "web"),))
    >>> keys.check("Bearer secret", ("lists", "admin")).name
    'web'
    """

    def __init__(self, keys: Sequence[Key], path: Path | None = None) -> None:
        self.keys, self.path = keys, path
        self.looked, self.changed = 0.0, None if path is None else _stamp(path)

    @classmethod
    def read(cls, path: Path) -> Keys:
        """Read a file that `new_key` wrote; raises InputError if it holds no keys or is malformed."""
        keys = _read_keys(path)
        if not keys:  # nobody could make a request
            raise InputError(f"{path} holds no keys. Make one with: listwright serve --new-key admin --keys {path}")
        return cls(keys, path)

    def find(self, presented: str) -> Key | None:
        self._reload()
        digest, now = sha256(presented.encode("utf-8", "surrogateescape")).hexdigest(), time.time()
        same = [key for key in self.keys if compare_digest(key.sha256, digest)]
        return next((key for key in same if key.expires is None or key.expires > now), None)

    def check(self, authorization: str, roles: tuple[str, ...]) -> Key:
        scheme, _, presented = authorization.partition(" ")
        key = self.find(presented.strip()) if scheme.lower() == "bearer" else None
        if key is None:
            raise Refused(401, "no_key", "Send a known key in the header `Authorization: Bearer KEY`.")
        if key.role not in roles:
            raise Refused(403, "wrong_role", f"This needs a key with the role {' or '.join(roles)}.")
        return key

    def _reload(self) -> None:
        if self.path is None or time.monotonic() - self.looked < RELOAD:
            return
        self.looked = time.monotonic()
        stamp = _stamp(self.path)
        if stamp != self.changed:
            try:
                self.keys, self.changed = _read_keys(self.path), stamp  # none, if all are revoked
            except InputError:
                return


def new_key(role: str, path: Path, *, name: str = "", days: float | None = None) -> str:
    """Create an API key and add its hash to the keys file.

    The key is returned and stored nowhere else, so show it to its owner at once. A running service accepts it within
    about a second. ``listwright serve --new-key ROLE --keys FILE`` does the same.

    Parameters
    ----------
    role : {"lists", "feedback", "admin", "read", "metrics"}
        What the key may do: ask for lists, send feedback, everything, look at stored data, or read metrics.
    path : Path
        Keys file; created with mode 0600 if it does not exist.
    name : str
        Owner of the key, used in the log and to revoke it; by default the role and a number.
    days : float or None
        Days until the key expires; None for never.

    Returns
    -------
    str
        The key, beginning with ``lw_``.

    Raises
    ------
    InputError
        If the role is unknown, the name is taken or has other characters than letters, digits and ``_.@-``, or `days`
        is not positive.

    See Also
    --------
    revoke_key : Removes a key.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "keys.json"
    ...     key = new_key("lists", path, name="web", days=90)
    ...     Keys.read(path).find(key).name
    'web'
    """
    if role not in ROLES:
        raise InputError(f"A role is one of {', '.join(ROLES)}. Got {role!r}.")
    keys = _read_keys(path) if path.exists() else []
    name = name or f"{role}-{len(keys) + 1}"
    if not NAME.fullmatch(name):
        raise InputError(f"The name of a key has letters, digits and _.@- and at most 64 of them. Got {name!r}.")
    if any(known.name == name for known in keys):
        raise InputError(f"{path} has a key with the name {name} already. Revoke it first, or choose another.")
    if days is not None and not 0 < days < 36_500:
        raise InputError(f"--key-days must be above 0. Got {days:g}.")
    key = PREFIX + secrets.token_urlsafe(32)
    expires = None if days is None else float(round(time.time() + days * DAY))
    _write_keys(path, [*keys, Key(role, sha256(key.encode()).hexdigest(), name, expires)])
    return key


def revoke_key(name: str, path: Path) -> None:
    """Remove a key from the keys file by its name."""
    keys = _read_keys(path)
    kept = [key for key in keys if key.name != name]
    if len(kept) == len(keys):
        raise InputError(f"{path} has no key with the name {name}.")
    _write_keys(path, kept)


def _write_keys(path: Path, keys: list[Key]) -> None:
    write_whole(path, msgspec.json.format(msgspec.json.encode(_KeysFile(keys)), indent=1) + b"\n", mode=0o600)


def _read_keys(path: Path) -> list[Key]:
    """Read a keys file; the error names what is wrong, never a hash."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=_KeysFile).keys
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f'{path} is not a keys file: it must be JSON with a list "keys", each with a role ({", ".join(ROLES)}) and '
            f"the sha256 of the key in hex. {error}."
        ) from None


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return modification time and inode of a file, which change with every replacement; None if it is missing."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino
