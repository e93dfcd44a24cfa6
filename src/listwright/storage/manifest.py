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
    """Returns what a model file says of itself, without loading the model.

    Use it to find out which classes a file from elsewhere needs before you trust it, or which library versions it was
    saved with.

    Parameters
    ----------
    path : str or Path
        A file that `save` wrote.

    Returns
    -------
    dict
        With the keys "format", "version", "class", "parameters", "features", "n_features", "n_items", "training",
        "libraries" and "needs_trust", the names of the classes that `load` must trust.

    Raises
    ------
    InputError
        If the file is not a model file or is damaged.

    See Also
    --------
    load : Loads the model.

    Examples
    --------
    >>> import tempfile
    >>> import listwright as lw
    >>> import numpy as np
    >>> x = np.random.default_rng(0).random((20, 4, 2))
    >>> problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.7))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lw.baselines.TopK(length=2).fit(problems).save(f"{folder}/model.listwright")
    ...     about = inspect(f"{folder}/model.listwright")
    >>> about["class"], about["n_features"], about["needs_trust"]
    ('TopK', 2, [])
    """
    members = read_archive(Path(path))
    manifest = read_manifest(members, path)
    about = {key: value for key, value in manifest.items() if key != "model"}
    return about | {"needs_trust": needed_classes(manifest.get("model"), members.get(ESTIMATORS))}


def manifest_of(model: Any, tree: Any) -> bytes:
    """Returns the manifest as JSON bytes: a description for readers and `inspect`, then the tree under "model"."""
    signature = model.signature_
    about = {
        "format": FORMAT,
        "version": VERSION,
        "class": type(model).__name__,
        "parameters": {name: _shown(value) for name, value in model.get_params(deep=False).items()},
        "features": None if signature.feature_names is None else list(signature.feature_names),
        "n_features": signature.n_features,
        "n_items": signature.n_items,
        "training": _training(model),
        "libraries": _versions(),
    }
    return json.dumps(about | {"model": tree}, allow_nan=False, indent=1).encode()


def _training(model: Any) -> dict[str, Any]:
    """Returns figures on how the model was trained: lists shown online, or rounds, passes and mean value; may be
    empty.
    """
    if hasattr(model, "playing_"):
        return {"lists": model.playing_.version}
    if not hasattr(model, "training_"):
        return {}
    ledger = model.training_.ledger
    return {"rounds": ledger.rounds, "passes": ledger.most_visits, "mean_value": ledger.value / max(ledger.rounds, 1)}


def _shown(value: Any) -> Any:
    """Returns a parameter as plain JSON: scalars as they are, everything else as its repr."""
    return value if value is None or isinstance(value, str | bool | int | float) else repr(value)


def _versions() -> dict[str, str]:
    """Returns the versions of Python and of the installed libraries that a model may depend on."""
    found = {"python": platform.python_version()}
    for name in ("listwright", "numpy", "scikit-learn", "lightgbm", "xgboost"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def read_manifest(members: dict[str, bytes], path: str | Path) -> dict[str, Any]:
    """Returns the manifest of a file, checked to be JSON of this format and version; `path` is for error messages."""
    data = members.get(MANIFEST, b"")
    try:
        manifest = json.loads(data) if len(data) <= LARGEST_MANIFEST else None
    except (ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(f"{path} is not a listwright model, or is damaged: it has no manifest.")
    if manifest.get("version") != VERSION:
        found = manifest.get("version")
        raise InputError(f"{path} has format version {found!r:.20}. This listwright reads {VERSION}: update it.")
    return manifest


def needed_classes(tree: Any, estimators: bytes | None) -> list[str]:
    """Returns the sorted names of the classes that are not listwright's, from the tree and from the skops member."""
    return sorted({*named_classes(tree), *([] if estimators is None else untrusted_types(estimators))})
