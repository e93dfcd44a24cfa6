"""Damaged table files and model files must end in an InputError or be read; never in another error, or in a crash.

    python benchmarks/fuzz/tables_and_models.py                                   # 100,000 tables and 20,000 models
    python benchmarks/fuzz/tables_and_models.py --tables 500 --models 200

Every case comes from its number alone, so that a failure can be run again: --first NUMBER --tables 1 --models 0.
Cases run in a process of their own: one that dies is told with the number of its case.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import multiprocessing
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

import listwright as lw
from listwright.errors import InputError
from listwright.estimators.stacking import PolicyScore
from listwright.loading import load
from listwright.storage import save
from listwright.tables import read
from listwright.training.signature import made_up

TOKENS = b'nan inf -1 1e999 " , | [ { ] } null true 99999999999999999999 0 qid: : # problem NA'.split(b" ")
TOKENS += [b"", b" ", b"\0", b"\xff", b"\n", b"\r\n", b"\xef\xbb\xbf"]
REWARDS = [
    "any:clicked",
    "coverage:topics",
    "coverage:topics*worth",
    "probabilistic:p_*",
    "facility:e",
    "graded:label",
    None,
]
OPTIONS: list[Any] = [
    {},
    {"categorical": ["clicked"]},
    {"context": ["p_1"]},
    {"catalogue": "item"},
    {"vectors": "e"},
    {"vectors": "p_*", "item": None},
]
CHUNK = 10_000  # cases of one process


@dataclass
class Tally:
    """What became of the cases."""

    read: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.read += other.read
        self.refused += other.refused
        self.failures += other.failures


def table_seeds() -> dict[str, bytes]:
    """Small good tables in every format."""
    rows = [
        {"problem": f"q{i // 3}", "item": f"d{i}", "size": 1 + i % 4, "price": i / 4, "clicked": i % 2, "label": i % 3}
        | {"p_1": 0.5, "p_2": i % 2, "topics": ["a", "b"][: i % 3], "worth": [1.0, 2.0][: i % 3], "e": [1.0, float(i)]}
        for i in range(9)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    plain = [{key: json.dumps(v) if isinstance(v, list) else v for key, v in row.items()} for row in rows]
    header = ",".join(plain[0])
    body = [",".join('"' + str(v).replace('"', '""') + '"' for v in row.values()) for row in plain]
    table = "\n".join([header, *body, ""]).encode()
    svm = "".join(f"{i % 2} qid:{i // 3} 1:{i / 4} 3:{i}  # docid = d{i}\n" for i in range(9)).encode()
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), sink)
    packed = {"t.csv.gz": gzip.compress(table, mtime=0), "t.jsonl.zst": pa.compress(lines, codec="zstd", asbytes=True)}
    return {"t.csv": table, "t.jsonl": lines, "t.svm": svm, "t.parquet": sink.getvalue()} | packed


def model_seeds(folder: Path) -> dict[str, bytes]:
    """Small good models of several kinds."""
    x = np.sin(np.arange(20 * 4 * 2) * 1.7).reshape(20, 4, 2)
    plain = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess((x[..., 0] > 0.5).astype(float)))
    known = plain.with_catalogue(np.tile(np.arange(4), 20))
    models = {
        "linear": lw.SCP(2, n_passes=1, effort="fast", random_state=0).fit(known),
        "sequence": lw.ConSeqOpt(2, n_passes=1, random_state=0).fit(plain),
        "free": lw.ContextFreeSCP(2, random_state=0).fit(plain),
        "stacked": lw.SCP(
            2, n_passes=1, features=PolicyScore(lw.SCP(2, n_passes=1, effort="fast")), random_state=0
        ).fit(plain),
        "forest": lw.SCP(2, n_passes=1, batch_size=20, learner=RandomForestRegressor(2, random_state=0)).fit(plain),
        "boosting": lw.SCP(2, n_passes=1, batch_size=20, learner=HistGradientBoostingRegressor(max_iter=2)).fit(plain),
    }
    if _has_lightgbm():
        from lightgbm import LGBMRegressor

        booster = LGBMRegressor(n_estimators=2, n_jobs=1, verbose=-1, min_child_samples=2)
        models["booster"] = lw.SCP(2, n_passes=1, batch_size=20, learner=booster).fit(plain)
    for name, model in models.items():
        save(model, folder / name)
    return {name: (folder / name).read_bytes() for name in models}


def _has_lightgbm() -> bool:
    from importlib.util import find_spec

    return find_spec("lightgbm") is not None


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """The bytes with one to three small damages."""
    for _ in range(rng.integers(1, 4)):
        data = _DAMAGES[rng.integers(len(_DAMAGES))](data, rng)
    return data


def mutated_table(name: str, seeds: dict[str, bytes], rng: np.random.Generator) -> bytes:
    """Damage to a file, or for packed files mostly to what is packed."""
    if name.endswith(".gz") and rng.random() < 0.7:
        return gzip.compress(mutated(seeds["t.csv"], rng), mtime=0)
    if name.endswith(".zst") and rng.random() < 0.7:
        return pa.compress(mutated(seeds["t.jsonl"], rng), codec="zstd", asbytes=True)
    return mutated(seeds[name], rng)


def _span(data: bytes, rng: np.random.Generator, most: int = 40) -> tuple[int, int]:
    start = int(rng.integers(len(data) + 1))
    return start, min(len(data), start + int(rng.integers(1, most)))


def _flip(data: bytes, rng: np.random.Generator) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    changed[rng.integers(len(data))] = int(rng.integers(256))
    return bytes(changed)


def _cut(data: bytes, rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng)
    return data[:end] + data[start:]


def _end(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: _span(data, rng)[0]] if rng.random() < 0.3 else data


def _insert(data: bytes, rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng, 8)
    return data[:start] + TOKENS[rng.integers(len(TOKENS))] + data[end if rng.random() < 0.5 else start :]


def _field(data: bytes, rng: np.random.Generator) -> bytes:
    """Another value in the place of a field or number."""
    cuts = [i for i, byte in enumerate(data) if byte in b',:\n" ']
    if len(cuts) < 2:
        return data
    i = int(rng.integers(len(cuts) - 1))
    return data[: cuts[i] + 1] + TOKENS[rng.integers(len(TOKENS))] + data[cuts[i + 1] :]


def _lines(data: bytes, rng: np.random.Generator) -> bytes:
    """Two lines change places."""
    lines = data.split(b"\n")
    i, j = rng.integers(len(lines), size=2)
    lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


_DAMAGES: list[Callable[[bytes, np.random.Generator], bytes]] = [_flip, _cut, _repeat, _end, _insert, _field, _lines]


def mutated_model(data: bytes, rng: np.random.Generator) -> bytes:
    """Damage to the archive, or to what is inside it with the archive itself made good again."""
    kind = rng.random()
    if kind < 0.15:
        return mutated(data, rng)
    members = _members(data)
    name = sorted(members)[rng.integers(len(members))]
    if name == "manifest.json" and kind < 0.75:
        members[name] = json.dumps(_changed(json.loads(members[name]), rng)).encode()
    elif name == "estimators.skops" and kind < 0.9:
        inner = _members(members[name])
        part = "schema.json" if rng.random() < 0.5 else sorted(inner)[rng.integers(len(inner))]
        if part == "schema.json" and rng.random() < 0.7:
            inner[part] = json.dumps(_changed(json.loads(inner[part]), rng)).encode()
        else:
            inner[part] = mutated(inner[part], rng)
        members[name] = _zipped(inner)
    else:
        members[name] = mutated(members[name], rng)
    return _zipped(members)


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}


def _zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def _changed(tree: Any, rng: np.random.Generator) -> Any:
    """The tree with one to three of its values changed for others, taken out, or put elsewhere."""
    for _ in range(rng.integers(1, 4)):
        places = list(_places(tree))
        holder, key = places[rng.integers(len(places))]
        other_holder, other_key = places[rng.integers(len(places))]
        kind = rng.integers(4)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            holder[key] = json.loads(json.dumps(other_holder[other_key]))
        else:
            values = [None, True, -1, 0, 3, 2**40, 1e300, "x", "", [], {}, {"tuple": []}, {"array": "0"}, {"same": 1},
                      {"number": "inf"}, {"class": "policies.RandomPolicy", "fields": {}}, [[1]], "inf"]  # fmt: skip
            holder[key] = values[rng.integers(len(values))]
    return tree


def _places(tree: Any) -> Any:
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in list(entries):
        yield tree, key
        yield from _places(value)


def try_table(number: int, seeds: dict[str, bytes], folder: Path) -> str | None:
    """Reads one damaged table; the error it was refused with, None where it was read."""
    rng = np.random.default_rng([number, 1])
    name = sorted(seeds)[number % len(seeds)]
    path = folder / name
    path.write_bytes(mutated_table(name, seeds, rng))
    try:
        options = OPTIONS[rng.integers(len(OPTIONS))]
        problems = read(path, reward=REWARDS[rng.integers(len(REWARDS))], **options)
        assert np.isfinite(np.asarray(problems.features.sum()))
    except InputError as error:
        return str(error).replace(str(folder), "")
    finally:
        _alone(path)
    return None


def try_model(number: int, seeds: dict[str, bytes], folder: Path) -> str | None:
    """Loads one damaged model, and builds lists with it where it is accepted."""
    rng = np.random.default_rng([number, 2])
    name = sorted(seeds)[number % len(seeds)]
    path = folder / name
    path.write_bytes(mutated_model(seeds[name], rng))
    try:
        model = load(path)
    except InputError as error:
        return str(error).replace(str(folder), "")
    finally:
        _alone(path)
    lists = model.predict(made_up(model.signature_, whole=True), length=2, allow_short=True)
    assert len(lists) == 1
    return None


def _alone(path: Path) -> None:
    """Nothing was written beside the file."""
    names = [file.name for file in path.parent.iterdir()]
    path.unlink()
    assert names == [path.name], f"left behind: {names}"


def run(kind: str, first: int, count: int) -> Tally:
    """Some cases of one kind, one after the other, in this process."""
    tally = Tally()
    with (
        tempfile.TemporaryDirectory() as seeds_folder,
        tempfile.TemporaryDirectory() as folder,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        seeds = table_seeds() if kind == "tables" else model_seeds(Path(seeds_folder))
        attempt = try_table if kind == "tables" else try_model
        for number in range(first, first + count):
            _progress(number)
            try:
                refused = attempt(number, seeds, Path(folder))
            except Exception:  # noqa: BLE001 - any other error is what is looked for
                tally.failures.append(f"{kind} {number}:\n{traceback.format_exc()}")
                continue
            if refused is None:
                tally.read += 1
            else:
                tally.refused[_gist(refused)] += 1
    return tally


_current: Any = None  # shared with the parent: the case that is running


def _progress(number: int) -> None:
    if _current is not None:
        _current.value = number


def _gist(message: str) -> str:
    """An error without its numbers and names."""
    return "".join("0" if letter.isdigit() else letter for letter in message.partition(": ")[2] or message)[:50]


def _child(kind: str, first: int, count: int, current: Any, results: Any) -> None:
    global _current
    _current = current
    results.put(run(kind, first, count))


def run_apart(kind: str, first: int, count: int) -> Tally:
    """The same in a process of its own, so that a crash is seen and told."""
    context = multiprocessing.get_context("spawn")
    current, results = context.Value("q", first), context.Queue()
    child = context.Process(target=_child, args=(kind, first, count, current, results))
    child.start()
    while child.is_alive() and results.empty():
        time.sleep(0.05)
    outcome = results.get() if not results.empty() or child.exitcode == 0 else None
    child.join()
    if outcome is not None:
        return outcome
    died = int(current.value)
    tally = Tally(failures=[f"{kind} {died}: the process died with exit code {child.exitcode}"])
    if died + 1 < first + count:
        tally.add(run_apart(kind, died + 1, first + count - died - 1))
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=100_000)
    parser.add_argument("--models", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    options = parser.parse_args()
    failed = 0
    for kind, count in (("tables", options.tables), ("models", options.models)):
        tally, start = Tally(), time.perf_counter()
        for first in range(options.first, options.first + count, CHUNK):
            tally.add(run_apart(kind, first, min(CHUNK, options.first + count - first)))
        if count:
            refused = sum(tally.refused.values())
            print(f"{kind}: {count:,} cases in {time.perf_counter() - start:.0f} s")
            print(f"  {tally.read:,} read, {refused:,} refused, {len(tally.failures)} failed")
            print("\n".join(f"  {times:>6} {gist}" for gist, times in tally.refused.most_common(12)))
        for failure in tally.failures[:20]:
            print(failure, file=sys.stderr)
        failed += len(tally.failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
