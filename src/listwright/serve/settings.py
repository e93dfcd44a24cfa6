"""The settings of a service: options of `listwright serve`, keys of its file, and variables of the environment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

from listwright.errors import InputError

POSITIVE = (
    "keep_days", "keep_gb", "tolerance", "leverage", "snapshot_every", "snapshot_hours", "workers", "grace_seconds",
    "loss_budget",
)  # fmt: skip
CHOICES = {
    "out_of_range": ("clip", "refuse"), "log_format": ("text", "json"), "explore_slots": ("all", "one"),
    "candidate_by": ("lists", "slots"), "commit": ("each", "group"),
}  # fmt: skip
PRETRAINED = "pretrained"  # names the packer of the package


@dataclass(frozen=True)
class Limits:
    """Limits on single requests and on all requests in progress.

    The fields are options of `listwright serve`, such as `--limit-items` for `items`; its help says what each is for.

    See Also
    --------
    Settings : The other options of a service.

    Examples
    --------
    >>> Limits(items=200).items
    200
    """

    body_bytes: Annotated[int, "Maximum bytes of a request for lists."] = 4 << 20
    feedback_bytes: Annotated[int, "Maximum bytes of a feedback request."] = 1 << 20
    model_bytes: Annotated[int, "Maximum bytes of a model file."] = 256 << 20
    items: Annotated[int, "Maximum number of candidates for one list."] = 5_000
    length: Annotated[int, "Maximum number of items in one list."] = 1_000
    metadata: Annotated[int, "Maximum bytes of the metadata of a request."] = 4_096
    batch: Annotated[int, "Maximum number of lists in one request."] = 100
    in_flight: Annotated[int, "Maximum number of concurrent requests."] = 256
    in_flight_bytes: Annotated[int, "Maximum bytes of all request bodies in progress."] = 64 << 20
    memory_bytes: Annotated[int, "Maximum memory of one request in bytes, estimated from its size."] = 256 << 20
    connections: Annotated[int, "Maximum number of concurrent connections."] = 1_000
    header_bytes: Annotated[int, "Maximum bytes of the headers of one request."] = 32 << 10
    header_seconds: Annotated[float, "Seconds within which the headers of a request must arrive."] = 10.0
    write_seconds: Annotated[float, "Seconds for which a client may leave an answer unread."] = 10.0
    seconds: Annotated[float, "Seconds for one request."] = 10.0
    upload_seconds: Annotated[float, "Seconds for the upload of a model file."] = 120.0
    store_seconds: Annotated[float, "Seconds for one transaction on PostgreSQL."] = 5.0

    def check(self) -> None:
        """Raise `InputError` for limits that are not positive and finite."""
        for name, value in vars(self).items():
            if not 0 < value < math.inf:
                raise InputError(f"{_option(f'limit_{name}')} must be above 0. Got {value:g}.")
        if self.items > 65_535:
            raise InputError(f"--limit-items can be at most 65,535. Got {self.items:,}.")


@dataclass(frozen=True)
class Settings:
    """Settings of one service: what it serves, where it stores lists, and who may send requests.

    The fields are options of `listwright serve`, with the same names and defaults; its help says what each is for. Pass
    the object to `create_app` to run the service inside your own ASGI server.

    Parameters
    ----------
    model : Path or None
        The model file to serve; None serves the model in the store.
    store : str, default "sqlite:///listwright.db"
        Where lists and feedback are kept: sqlite:///FILE or postgresql://USER@HOST/DATABASE.
    learn : bool, default False
        Whether to learn from feedback.
    keys : Path or None
        File of hashed keys; if given, every request needs a key.
    limits : Limits
        Limits on requests.

    See Also
    --------
    listwright.serve.create_app : Makes the application.

    Examples
    --------
    >>> from pathlib import Path
    >>> Settings(Path("model.listwright"), learn=True).port
    8000
    """

    model: Path | None = None
    store: Annotated[str, "Where lists and feedback are kept: sqlite:///FILE or postgresql://USER@HOST/DATABASE."] = (
        "sqlite:///listwright.db"
    )
    learn: Annotated[
        bool, "Learn from feedback. Otherwise feedback is only stored, and the policy learned so far is served."
    ] = False
    explore: Annotated[str, "With --learn: how to explore, igw or epsilon."] = "igw"
    explore_rate: Annotated[
        float | None, "Share of slots drawn evenly, which replaces --explore by epsilon; also without --learn."
    ] = None
    explore_floor: Annotated[float, "Share of each slot's chance spread evenly; also without --learn."] = 0.0
    explore_slots: Annotated[str, "Explore in all slots of a list, or in one: all or one."] = "all"
    candidate: Annotated[
        str | None, "Name of a --model to try on a share of the lists, until the feedback decides for or against it."
    ] = None
    candidate_by: Annotated[
        str,
        "With --candidate: show it in a share of the lists, or in a share of the slots of all lists: lists or slots.",
    ] = "lists"
    loss_budget: Annotated[float, "With --candidate: what may be lost per list, at the worst, to learn that."] = 0.02
    seed: Annotated[int, "Seed of the exploration."] = 0
    host: Annotated[str, "Address to listen on; any but the local machine's needs --keys."] = "127.0.0.1"
    port: Annotated[int, "Port to listen on; 0 picks a free one."] = 8000
    keys: Annotated[Path | None, "File of hashed keys; if given, every request needs a key."] = None
    keep_days: Annotated[float | None, "Delete lists and feedback older than this many days."] = None
    keep_gb: Annotated[float | None, "Delete the oldest lists and feedback once the store exceeds this size."] = None
    models: Annotated[Mapping[str, Path], "Further models, as NAME=FILE, which requests select by name."] = field(
        default_factory=dict
    )
    trust: Annotated[
        str, "Classes that model files need, as module:Class, comma-separated; their modules are imported."
    ] = ""
    deploy: Annotated[
        bool | None, "Whether to serve the model file instead of the stored model; by default, a new file is served."
    ] = None
    version: Annotated[int | None, "Serve this stored version, whatever file is given."] = None
    out_of_range: Annotated[
        str, "What to do with features far outside the trained range: clip them, or refuse the request."
    ] = "clip"
    tolerance: Annotated[float, "How far outside its trained range a feature may be, in widths of that range."] = 1.0
    leverage: Annotated[float, "Largest influence (leverage) of one list on the learned policy."] = 0.1
    snapshot_every: Annotated[int, "Number of lists between two snapshots of the learned policy."] = 1_000
    snapshot_hours: Annotated[
        float, "Hours until a snapshot of what was learned since the last; at most a quarter of --keep-days."
    ] = 24.0
    commit: Annotated[
        str,
        "When a list is answered: once it is stored (each), or before, and stored with others within 50 ms (group), so "
        "that a crash may lose the latest lists. Feedback is stored before it is answered, and its list with it.",
    ] = "each"
    store_password_file: Annotated[Path | None, "File with the password of the store."] = None
    workers: Annotated[int, "Processes that serve."] = 1
    drain_seconds: Annotated[
        float,
        "On shutdown: seconds during which the service reports that it is not ready, before it refuses connections.",
    ] = 0.0
    grace_seconds: Annotated[float, "On shutdown: seconds to finish the requests in progress."] = 15.0
    packer: Annotated[
        Path | None,
        "Packer for /v1/pack and /v1/rerank, which needs no model: a file, or without a value that of the package.",
    ] = None
    tokens: Annotated[str, "How /v1/pack counts tokens: estimate, words, tiktoken:NAME or huggingface:FILE."] = (
        "estimate"
    )
    forget_passages: Annotated[
        bool, "Do not store the questions and passages of /v1/pack and /v1/rerank; there is no feedback on them then."
    ] = False
    log_format: Annotated[str, "Format of log lines: text or json."] = "text"
    limits: Limits = field(default_factory=Limits)

    @property
    def explores(self) -> bool:
        return self.learn or self.explore_rate is not None or self.explore_floor > 0

    def check(self) -> None:
        """Raise `InputError` for invalid settings, and for a public address without keys."""
        if self.keys is None and not is_loopback(self.host):
            raise InputError(
                f"--host {self.host} can be reached from other machines, so it needs --keys FILE. "
                "Make a key with: listwright serve --new-key admin --keys FILE"
            )
        for name in POSITIVE:
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise InputError(f"{_option(name)} must be above 0, and finite. Got {value:g}.")
        for name in ("explore_rate", "explore_floor"):
            if not 0 <= (getattr(self, name) or 0.0) <= 1:
                raise InputError(f"{_option(name)} must be from 0 to 1. Got {getattr(self, name):g}.")
        if self.candidate is not None and self.candidate not in self.models:
            raise InputError(f"--candidate names one of the models given by --model NAME=FILE. Got {self.candidate!r}.")
        if self.candidate_by == "slots" and self.explore_slots == "one":
            raise InputError("--candidate-by slots may change several slots of a list. Leave out --explore-slots one.")
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise InputError(f"{_option(name)} must be {' or '.join(choices)}. Got {getattr(self, name)!r}.")
        if not 0 <= self.port <= 65_535:
            raise InputError(f"--port must be from 0 to 65,535. Got {self.port}.")
        if not 0 <= self.drain_seconds < math.inf:
            raise InputError(f"--drain-seconds must be 0 or more. Got {self.drain_seconds:g}.")
        self.limits.check()


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
