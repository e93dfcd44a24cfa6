"""Saving models to files and reading them."""

from __future__ import annotations

import copy
import json
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from listwright._internal.extras import warn
from listwright._internal.files import write_whole
from listwright._internal.saved import saved_name
from listwright.errors import InputError, UnsavableWarning
from listwright.storage import archive
from listwright.storage.codec import Decoder, Encoder
from listwright.storage.estimators import dump_estimators, has_function, load_estimators, untrusted_types

MANIFEST, ARRAYS, ESTIMATORS = "manifest.json", "arrays.safetensors", "estimators.skops"  # members of a file
FORMAT = "listwright model"
VERSION = 1
LARGEST_MANIFEST = 64 << 20
LARGE = 4 << 20  # bytes past which a file leaves out what only further learning needs


def save(model: Any, path: str | Path, *, slim: bool | None = None) -> None:
    """Write a fitted model to one file, which `listwright.load` reads. Nothing in the file is code.

    The file is complete or not there at all: it is written beside the target and then takes its place.

    Your own features, learners, policies and estimators are saved too, by the name of their class. They must be defined
    at the top level of a module, with every argument of the constructor kept under its name and what is learned under
    names that end in _, as in scikit-learn. `listwright.load` asks for your trust in such classes.

    Parameters
    ----------
    model : SCP, ConSeqOpt, ContextFreeSCP, OnlineSCP or a baseline
        A fitted model.
    path : str or Path
        The file to write.
    slim : bool, optional
        True leaves out what only further learning needs: a smaller file, whose model predicts but cannot be trained
        further. False keeps it, for `partial_fit` and learning from clicks. By default it is kept where the file stays
        small with it (4 MiB), which it does for most linear models, and left out otherwise.

    See Also
    --------
    listwright.load : Reads the file.
    listwright.errors.UnsavableWarning : What fit issues for a model that could not be saved.

    Examples
    --------
    >>> import tempfile
    >>> import listwright as lw
    >>> import numpy as np
    >>> x = np.random.default_rng(0).random((50, 4, 2))
    >>> problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.7))
    >>> model = lw.SCP(length=2, effort="fast", random_state=0).fit(problems)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.listwright")
    ...     again = lw.load(f"{folder}/model.listwright")
    >>> again.predict(problems) == model.predict(problems)
    True
    """
    name = _check_model(model)
    if not model.__sklearn_is_fitted__():
        raise InputError(f"This {name} is not fitted yet. Call fit first.")
    members, own = _members(model, slim is True)
    if slim is None and hasattr(model, "training_") and sum(map(len, members.values())) > LARGE:
        members, own = _members(model, True)
    if own:  # what these classes do when they are made is not known: better to fail now than when the file is needed
        try:
            _decode_model(read_manifest(members, path), members, frozenset(own))
        except InputError as error:
            raise InputError(f"This {name} cannot be saved, because it could not be loaded again: {error}.") from None
    write_whole(Path(path), archive.archive_of(members))


def warn_unsavable(model: Any) -> None:
    parameters = {name: value for name, value in model.get_params(deep=False).items() if name != "engine"}
    encoder = Encoder(numbers=False)  # wrong ones are named by fit itself
    try:
        encoder.encode(parameters)
        doubtful = [estimator for estimator in encoder.estimators if has_function(estimator)]
        if doubtful:
            dump_estimators(doubtful)
    except InputError as error:
        reason = str(error).rstrip(".")
        warn(f"This {type(model).__name__} cannot be saved once it is fitted: {reason}.", UnsavableWarning)


def own_parts(model: Any) -> list[str]:
    """Return the names of the classes in a model that are not listwright's, as "module:Class"."""
    encoder, tree = _encode_model(model, slim=False)
    return needed_classes(tree, dump_estimators(encoder.estimators) if encoder.estimators else None)


def read_model(path: str | Path, *, trusted: Iterable[str] = (), limit: int = archive.MOST_BYTES) -> Any:
    """Return the model of a file whose classes are all imported already; `listwright.load` imports them first."""
    members = archive.read_archive(Path(path), limit=limit)
    manifest, names = read_manifest(members, path), archive.as_trusted(trusted)
    try:
        return _decode_model(manifest, members, names)
    except InputError as error:
        raise InputError(f"{path} cannot be loaded: {str(error).rstrip('.')}.") from None


def _check_model(model: Any) -> str:
    """Return the name of the model's class; raise, with the reason, unless it is one that can be saved."""
    if getattr(model, "unsavable", ""):
        raise InputError(f"This {type(model).__name__} cannot be saved: {model.unsavable}.")
    if not _is_model(model):
        raise InputError(f"Only estimators and baselines of listwright can be saved. Got {type(model).__name__}.")
    return type(model).__name__


def _is_model(value: Any) -> bool:
    return hasattr(value, "check_loaded") and any(saved_name(kind) is not None for kind in type(value).__mro__)


def _encode_model(model: Any, slim: bool) -> tuple[Encoder, Any]:
    if "engine" in vars(model):
        model = copy.copy(model)
        model.engine = "local"  # where a model was fitted is no part of it: a file must not make anyone connect
    encoder = Encoder(slim=slim)
    return encoder, encoder.encode(model)


def _members(model: Any, slim: bool) -> tuple[dict[str, bytes], list[str]]:
    encoder, tree = _encode_model(model, slim)
    members = {MANIFEST: manifest_of(model, tree), ARRAYS: archive.pack(encoder.arrays)}
    if encoder.estimators:
        members[ESTIMATORS] = dump_estimators(encoder.estimators)
    members |= {name: text.encode() for name, text in encoder.boosters.items()}
    return members, needed_classes(tree, members.get(ESTIMATORS))


def _decode_model(manifest: dict[str, Any], members: dict[str, bytes], trusted: frozenset[str]) -> Any:
    arrays = archive.unpack(members.get(ARRAYS, b""))
    archive.check_trusted(needed_classes(manifest.get("model"), members.get(ESTIMATORS)), trusted)
    estimators = load_estimators(members[ESTIMATORS], trusted) if ESTIMATORS in members else []
    decoder = Decoder(arrays, estimators, members, trusted)
    model = decoder.decode(manifest.get("model"))
    if not _is_model(model):
        raise InputError("it holds no model")
    parts = [part for _, some in decoder.models for part in some]
    for inner, own in decoder.models:
        if inner is model or inner.__sklearn_is_fitted__():  # one among the parameters of another need not be
            inner.check_loaded(own, parts)
    return model


def inspect(path: str | Path) -> dict[str, Any]:
    members = archive.read_archive(Path(path))
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
    if hasattr(model, "playing_"):
        return {"lists": model.playing_.version}
    if not hasattr(model, "training_"):
        return {}
    ledger = model.training_.ledger
    return {"rounds": ledger.rounds, "passes": ledger.most_visits, "mean_value": ledger.value / max(ledger.rounds, 1)}


def _as_json(value: Any) -> Any:
    return value if value is None or isinstance(value, str | bool | int | float) else repr(value)


def _versions() -> dict[str, str]:
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
    return sorted({*archive.named_classes(tree), *([] if estimators is None else untrusted_types(estimators))})
