"""Models to files and back."""

from __future__ import annotations

import copy
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from listwright._internal.files import write_whole
from listwright.errors import InputError
from listwright.storage.archive import MOST_BYTES, archive_of, read_archive
from listwright.storage.arrays import pack, unpack
from listwright.storage.boosters import Boosted, boosted
from listwright.storage.decode import Decoder
from listwright.storage.encode import Encoder
from listwright.storage.estimators import dump_estimators, load_estimators
from listwright.storage.registry import MODELS, name_of
from listwright.storage.trial import is_fitted, try_models

FORMAT = "listwright model"
VERSION = 1
MANIFEST, ARRAYS, ESTIMATORS = "manifest.json", "arrays.safetensors", "estimators.skops"
LARGEST_MANIFEST = 64 << 20


def save(model: Any, path: str | Path, *, slim: bool = False) -> None:
    """Writes a fitted model to one file, which `load` reads; nothing in it is code.

    The file is complete or not there at all: it is written beside the target and then takes its place.

    Parameters
    ----------
    slim : leave out what only further learning needs: a smaller file, whose model predicts and learns no more.

    >>> import tempfile
    >>> import listwright as lw
    >>> import numpy as np
    >>> x = np.random.default_rng(0).random((50, 4, 2))
    >>> problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.7))
    >>> model = lw.SCP(length=2, random_state=0).fit(problems)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.listwright")
    ...     again = load(f"{folder}/model.listwright")
    >>> again.predict(problems) == model.predict(problems)
    True
    """
    name = name_of(type(model))
    if name not in MODELS:
        raise InputError(f"Only {', '.join(MODELS)} can be saved. Got {type(model).__name__}.")
    if not is_fitted(model):
        raise InputError(f"This {name} is not fitted yet. Call fit first.")
    if "engine" in vars(model):
        model = copy.copy(model)
        model.engine = "local"  # where a model was fitted is no part of it: a file must not make anyone connect
    encoder = Encoder(slim=slim)
    tree = encoder.encode(model)
    members = {MANIFEST: _manifest(model, tree), ARRAYS: pack(encoder.arrays)}
    if encoder.estimators:
        members[ESTIMATORS] = dump_estimators(encoder.estimators)
    members |= {f"boosters/{i}.txt": text.encode() for i, text in enumerate(encoder.boosters)}
    write_whole(Path(path), archive_of(members))


def load(path: str | Path, *, limit: int = MOST_BYTES) -> Any:
    """The model in a file. It gives the same lists as before, and can learn on with `partial_fit`.

    A file that is damaged, or was made to harm, is an `InputError`: no code from it is ever run.

    Parameters
    ----------
    limit : bytes that the file may have.
    """
    members = read_archive(Path(path), limit=limit)
    manifest = _read_manifest(members, path)
    arrays = unpack(members.get(ARRAYS, b""), str(path))
    try:
        estimators = load_estimators(members[ESTIMATORS]) if ESTIMATORS in members else []
        decoder = Decoder(arrays, estimators, _boosters(members))
        model = decoder.decode(manifest.get("model"))
        if not isinstance(model, BaseEstimator) or name_of(type(model)) not in MODELS:
            raise InputError("it holds no model")
        try_models(decoder.models, model)
    except InputError as error:
        raise InputError(f"{path} cannot be loaded: {error}.") from None
    return model


def inspect(path: str | Path) -> dict[str, Any]:
    """What a model file says of itself, without loading the model: class, parameters, features, training, versions."""
    manifest = _read_manifest(read_archive(Path(path)), path)
    return {key: value for key, value in manifest.items() if key != "model"}


def _manifest(model: Any, tree: Any) -> bytes:
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
    if not hasattr(model, "training_"):
        return {"lists": model.playing_.version}
    ledger = model.training_.ledger
    return {"rounds": ledger.rounds, "passes": ledger.passes, "mean_value": ledger.value / max(ledger.rounds, 1)}


def _shown(value: Any) -> Any:
    return value if value is None or isinstance(value, str | bool | int | float) else repr(value)


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("listwright", "numpy", "scikit-learn", "lightgbm"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _read_manifest(members: dict[str, bytes], path: str | Path) -> dict[str, Any]:
    data = members.get(MANIFEST, b"")
    try:
        manifest = json.loads(data) if len(data) <= LARGEST_MANIFEST else None
    except (ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(f"{path} is no listwright model, or is damaged: it has no manifest.")
    if manifest.get("version") != VERSION:
        found = manifest.get("version")
        raise InputError(f"{path} has format version {found!r:.20}. This listwright reads {VERSION}: update it.")
    return manifest


def _boosters(members: dict[str, bytes]) -> list[Any]:
    """For each LightGBM text what makes a model of it, once it is known of which kind."""

    def opened(data: bytes) -> Any:
        def made(kind: str) -> Boosted:
            return boosted(data.decode(errors="replace"), kind)

        return made

    count = sum(name.startswith("boosters/") for name in members)
    return [opened(members.get(f"boosters/{i}.txt", b"")) for i in range(count)]
