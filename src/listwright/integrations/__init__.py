"""Adapters that pack contexts in other libraries: import the module of the one that is installed."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from listwright.context import ContextPacker
from listwright.context.passages import values_of_all
from listwright.errors import InputError

SETTINGS = ("tokens", "score_weight", "style")


def make_packer(adapter: Any, method: str) -> ContextPacker:
    """Return the packer of an adapter. Files, limits and settings that cannot be are errors here, not when asked."""
    packer = _read_packer(adapter.packer) if isinstance(adapter.packer, Mapping) else adapter.packer
    if not isinstance(packer, ContextPacker):
        packer = ContextPacker(packer, **{name: getattr(adapter, name) for name in SETTINGS})
    packer.pack("", [], **limits_of(adapter))
    if adapter.embedder is not None and not hasattr(adapter.embedder, method):
        raise InputError(f"embedder must have a method {method}. Got {type(adapter.embedder).__name__}.")
    return packer


def limits_of(adapter: Any) -> dict[str, Any]:
    given = {value for value in (adapter.length, adapter.top_n, adapter.top_k) if value is not None}
    if len(given) > 1:
        raise InputError(f"length, top_n and top_k mean the same. Got {', '.join(map(str, sorted(given)))}.")
    limits = {name: getattr(adapter, name) for name in ("budget", "per_source", "stop")}
    return limits | {"length": given.pop() if given else None}


def serialize_setting(value: Any) -> Any:
    """Return a setting as JSON can hold it, a packer with its model; other objects are an error."""
    if isinstance(value, ContextPacker):
        settings = {name: getattr(value, name) for name in SETTINGS}
        return {**settings, "tokens": serialize_setting(value.tokens), "model": _write_model(value)}
    if isinstance(value, str | Path):
        return str(value)
    if isinstance(value, tuple):
        return [list(value)]  # (least, most) of a single level of sources, as files know no tuples
    if value is None or isinstance(value, Mapping | list | int):
        return value
    raise InputError(
        f"A {type(value).__name__} cannot be written to a file. Name tokens by a word, such as "
        '"tiktoken:cl100k_base", and give the embedder after reading.'
    )


def _write_model(packer: ContextPacker) -> str | None:
    if packer.model is None and not hasattr(packer, "model_"):
        return None
    with TemporaryDirectory() as folder:
        packer.save(Path(folder) / "packer.listwright")
        return b64encode((Path(folder) / "packer.listwright").read_bytes()).decode()


def _read_packer(stored: Mapping[str, Any]) -> ContextPacker:
    settings = {name: value for name, value in stored.items() if name != "model"}
    if unknown := settings.keys() - set(SETTINGS):
        raise InputError(f"A stored packer has model, {', '.join(SETTINGS)}. Got {min(unknown)!r}.")
    if stored.get("model") is None:
        return ContextPacker(**settings)
    with TemporaryDirectory() as folder:
        (Path(folder) / "packer.listwright").write_bytes(b64decode(stored["model"]))
        return ContextPacker.load(Path(folder) / "packer.listwright", **settings)


def keep_documents(
    adapter: Any,
    query: str,
    texts: list[str],
    *,
    scores: list[Any],
    sources: list[Any],
    length: int | None = None,
    **known: Any,
) -> list[tuple[int, str, float, dict[str, Any]]]:
    """Return by kept document its position, its new text, its score, and what its metadata gain."""
    given = values_of_all(scores)
    limits = limits_of(adapter) | ({} if length is None else {"length": length})
    packed = adapter._packer.pack(query, texts, scores=given, sources=values_of_all(sources), **known, **limits)
    return [
        (
            position,
            packed.texts[place],
            packed.scores[place],
            {
                "listwright_score": packed.scores[place],
                "listwright_probability": packed.probabilities[place],
                "listwright_reason": packed.reasons[place],
                **({} if given is None else {"retriever_score": given[position]}),
            },
        )
        for place, position in enumerate(packed.positions)
    ]
