"""The manifest of a model file: what it says of itself, for `inspect` and for readers."""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from listwright.errors import InputError
from listwright.storage.archive import read_archive
from listwright.storage.estimators import untrusted_types
from listwright.storage.trust import named_classes

MANIFEST, ARRAYS, ESTIMATORS = "manifest.json", "arrays.safetensors", "estimators.skops"  # members of a file
FORMAT = "listwright model"
VERSION = 1
LARGEST_MANIFEST = 64 << 20


def inspect(path: str | Path) -> dict[str, Any]:
    """Return what a model file says of itself, without loading the model."""
    members = read_archive(Path(path))
    manifest = read_manifest(members, path)
    about = {key: value for key, value in manifest.items() if key != "model"}
    return about | {"needs_trust": needed_classes(manifest.get("model"), members.get(ESTIMATORS))}


def manifest_of(model: Any, tree: Any) -> bytes:
    """Return the manifest as JSON bytes: a description for readers and `inspect`, then the tree under "model"."""
    signature = model.signature_
    about = {
        "format": FORMAT,
        "version": VERSION,
        "class": type(model).__name__,
        "parameters": {name: _as_json(value) for name, value in model.get_params(deep=False).items()},
        "features": None if signature.feature_names is None else list(signature.feature_names),
        "n_features": signature.n_features,
        "n_items": signature.n_items,
        "training": _training(model),
        "libraries": _versions(),
    }
    return json.dumps(about | {"model": tree}, allow_nan=False, indent=1).encode()


def _training(model: Any) -> dict[str, Any]:
    """Return figures on how the model was trained: lists shown online, or rounds, passes and mean value; may be
    empty.
    """
    if hasattr(model, "playing_"):
        return {"lists": model.playing_.version}
    if not hasattr(model, "training_"):
        return {}
    ledger = model.training_.ledger
    return {"rounds": ledger.rounds, "passes": ledger.most_visits, "mean_value": ledger.value / max(ledger.rounds, 1)}


def _as_json(value: Any) -> Any:
    """Return a parameter as plain JSON: scalars as they are, everything else as its repr."""
    return value if value is None or isinstance(value, str | bool | int | float) else repr(value)


def _versions() -> dict[str, str]:
    """Return the versions of Python and of the installed libraries that a model may depend on."""
    versions = {"python": platform.python_version()}
    for name in ("listwright", "numpy", "scikit-learn", "lightgbm", "xgboost"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def read_manifest(members: dict[str, bytes], path: str | Path) -> dict[str, Any]:
    """Return the manifest of a file, checked to be JSON of this format and version; `path` is for error messages."""
    data = members.get(MANIFEST, b"")
    try:
        manifest = json.loads(data) if len(data) <= LARGEST_MANIFEST else None
    except (ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(f"{path} is not a listwright model, or is damaged: it has no manifest.")
    if manifest.get("version") != VERSION:
        number = manifest.get("version")
        raise InputError(f"{path} has format version {number!r:.20}. This listwright reads {VERSION}: update it.")
    return manifest


def needed_classes(tree: Any, estimators: bytes | None) -> list[str]:
    """Return the sorted names of the classes that are not listwright's, from the tree and from the skops member."""
    return sorted({*named_classes(tree), *([] if estimators is None else untrusted_types(estimators))})
