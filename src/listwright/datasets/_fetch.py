"""Published data sets by name: downloaded from their own source, once, and kept in a cache.

Addresses name a commit of the source, so that what they give does not change. Where no checksum is known in advance,
that of the first download is recorded in the cache and holds from then on.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from listwright._internal.extras import require_extra
from listwright.datasets._convert import (
    convert_motion_paths,
    convert_opinosis,
    convert_questions,
    convert_scisumm,
)
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.text.readers import read_text

FOLDER = "LISTWRIGHT_DATA"  # the environment variable that names a folder of data sets
RECORDED = "checksums.json"


@dataclass(frozen=True)
class PublishedData:
    about: str  # one line
    licence: str
    citation: str
    source: str  # the public home
    files: Mapping[str, str]  # address by file name; none for a set that cannot be downloaded in the form that is read
    checksums: Mapping[str, str] | None = None  # SHA-256 by file name, where it is known in advance
    convert: Callable[[Path, Path], None] | None = None  # from the files as published to the form that is read
    main: str = ""  # what the name alone stands for, if that is a file of the folder
    missing: str = ""  # why a set has no files: what is not public, and where it is


def fetch(name: str) -> Path:
    """Return the folder of a published data set, which is downloaded if it is not there yet.

    The folder `name` in the folder that the environment variable `LISTWRIGHT_DATA` names is taken as it is. Otherwise
    the set is downloaded from its own source into the user's cache, with a checksum for each file, and its licence and
    citation are printed. Readers take the same names: `read_aslib("aslib/SAT12-HAND")`.

    Parameters
    ----------
    name : str
        One of `list_datasets()`.

    Raises
    ------
    InputError
        If there is no such set, it cannot be downloaded, or a file is not the one that was recorded.
    MissingExtra
        If a download is needed and pooch, of the extra "data", is not installed.

    Examples
    --------
    >>> fetch("aslib") / "SAT12-HAND"  # doctest: +SKIP
    PosixPath('/home/ada/.cache/listwright/aslib/SAT12-HAND')
    """
    return obtain(name, tell=lambda text: print(text, file=sys.stderr))


def obtain(name: str, *, tell: Callable[[str], None]) -> Path:
    """Return the folder of a data set; `tell` gets its licence and citation if it is downloaded now."""
    known = _published_data(name)
    given = os.environ.get(FOLDER)
    if given and (Path(given) / name).is_dir():
        return Path(given) / name
    folder = _cache() / name
    if not folder.is_dir():
        if not known.files:
            raise InputError(
                f"{name} cannot be downloaded. {known.missing} If you have its folder, name the folder above it in "
                f"{FOLDER}."
            )
        tell(describe(name))
        _download(name, known, folder)
    return folder


def list_datasets() -> list[str]:
    """Return the names of all published data sets that readers, experiments and benchmarks use.

    Examples
    --------
    >>> list_datasets()[:3]
    ['argkp', 'aslib', 'aslib_dev']
    """
    return sorted(PUBLISHED)


def locate(path: str | Path) -> Path:
    """Return a path that exists, or the place that the name of a published set stands for, such as "aslib/IPC2018"."""
    given = Path(path)
    if given.exists() or given.is_absolute() or given.parts[:1] == () or given.parts[0] not in PUBLISHED:
        return given
    name, *rest = given.parts
    folder = fetch(name).joinpath(*rest)
    main = folder / PUBLISHED[name].main
    return main if not rest and PUBLISHED[name].main and main.is_file() else folder


def describe(name: str) -> str:
    known = _published_data(name)
    return f"{name}: {known.about}\nSource: {known.source}\nLicence: {known.licence}\nCite: {known.citation}"


def _published_data(name: str) -> PublishedData:
    if name not in PUBLISHED:
        raise InputError(f"There is no data set {name!r}. Choose one of {', '.join(list_datasets())}.")
    return PUBLISHED[name]


def _cache() -> Path:
    pooch = require_extra("pooch", "Downloads need pooch.", extra="data")
    return Path(pooch.os_cache("listwright"))


def _download(name: str, known: PublishedData, folder: Path) -> None:
    """Download and convert a set; the folder appears when it is complete."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        raw, made = Path(place) / "raw", Path(place) / "made"
        _retrieve(name, known, raw)
        if known.convert is None:
            made = raw
        else:
            made.mkdir()
            known.convert(raw, made)
        try:
            made.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise


def _retrieve(name: str, known: PublishedData, raw: Path) -> None:
    pooch = require_extra("pooch", "Downloads need pooch.", extra="data")
    record = _cache() / RECORDED
    recorded: dict[str, str] = json.loads(record.read_text(encoding="utf8")) if record.is_file() else {}
    pooch.get_logger().setLevel("WARNING")
    for file, address in known.files.items():
        path = raw / file
        path.parent.mkdir(parents=True, exist_ok=True)
        checksum = (known.checksums or {}).get(file, recorded.get(address))
        try:
            pooch.retrieve(address, known_hash=checksum and f"sha256:{checksum}", fname=path.name, path=path.parent)
        except ValueError as error:
            raise InputError(f"{file} of {name} is not what it was: {error}") from None
        except OSError as error:  # what requests raises is one
            raise InputError(f"Cannot download {file} of {name} from {address}: {error}") from None
        recorded[address] = pooch.file_hash(str(path))
    record.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf8")


def _github(repository: str, commit: str, files: Mapping[str, str]) -> dict[str, str]:
    return {name: f"https://raw.githubusercontent.com/{repository}/{commit}/{path}" for name, path in files.items()}


def _scenarios(names: str) -> dict[str, str]:
    files = ("description.txt", "algorithm_runs.arff", "feature_values.arff", "cv.arff")
    paths = [f"{name}/{file}" for name in names.split() for file in files]
    return _github(
        "coseal/aslib_data", "551b22beef8df17de59286b4822ef720e0aa4d6f", dict(zip(paths, paths, strict=True))
    )


_ASLIB: dict[str, Any] = {
    "licence": "GPL-3.0",
    "citation": "Bischl et al.: ASlib: A Benchmark Library for Algorithm Selection. Artificial Intelligence 237, 2016.",
    "source": "https://github.com/coseal/aslib_data",
}
_MOTION_FILES = (
    "graph.txt path_library.dat world_library_assignment.dat coll_check_results.mat train_id.mat test_id.mat"
)
PUBLISHED: dict[str, PublishedData] = {
    "argkp": PublishedData(
        "ArgKP-2021: arguments on debatable topics, matched to key points.",
        "CDLA-Sharing-1.0",
        "Friedman et al.: Overview of the 2021 Key Point Analysis Shared Task. ArgMining 2021.",
        "https://github.com/IBM/KPA_2021_shared_task",
        _github(
            "IBM/KPA_2021_shared_task",
            "2f5e2d5ad5a387fe731da2f00b423ce1d845c5d2",
            {
                f"{kind}_{split}.csv": f"{'test' if split == 'test' else 'kpm'}_data/{kind}_{split}.csv"
                for kind in ("arguments", "key_points", "labels")
                for split in ("train", "dev", "test")
            },
        ),
        main="argkp2021.jsonl.gz",
    ),
    "aslib": PublishedData(
        "Eight scenarios of algorithm selection: which solver solves an instance?",
        **_ASLIB,
        files=_scenarios("ASP-POTASSCO GRAPHS-2015 IPC2018 QBF-2014 SAT11-HAND SAT12-HAND SAT12-INDU SAT20-MAIN"),
    ),
    "aslib_dev": PublishedData(
        "Seven more scenarios of algorithm selection, on which settings were chosen.",
        **_ASLIB,
        files=_scenarios("BNSL-2016 CPMP-2015 GLUHACK-2018 MAXSAT-PMS-2016 MAXSAT-WPMS-2016 MAXSAT12-PMS SAT15-INDU"),
    ),
    "motion_paths": PublishedData(
        "Which path of a library is free of collision, in five motion-planning problems; with derived features.",
        "BSD-3-Clause",
        "Choudhury et al.: Near-Optimal Edge Evaluation in Explicit Generalized Binomial Graphs. NIPS 2017.",
        "https://github.com/sanjibanc/graph_collision_checking_dataset",
        _github(
            "sanjibanc/graph_collision_checking_dataset",
            "caf033d181f100aa2306c3d9cb076f4d645688ba",
            {
                f"{name}/{file}": f"dataset_{name}/{file}"
                for name in ("2d_1", "2d_2", "heli_terrain_1", "herb_1", "xyh_1")
                for file in _MOTION_FILES.split()
            },
        ),
        {
            "2d_1/graph.txt": "d6b128a82fcad2674a82ba34b52aa27aa4e5152437eadbca16287e2fd641ab34",
            "2d_1/path_library.dat": "818a31ad4d1832c59e2ca90b24ed4aeda40a87685857e337b6960542b76f650d",
            "2d_2/path_library.dat": "c1e245dfcc03ca603587f204fd781eef6079f23b79221ef5588705627bd82628",
            "heli_terrain_1/path_library.dat": "97d2c9da3d208ecd17f5c29b2bd20973045285110a651433ae0f93e86bd123fa",
            "herb_1/path_library.dat": "e78bcade3079b15018eed5b92480e7c6bd0ae41c979f2c1ab774eb287c18d37a",
            "xyh_1/path_library.dat": "01f117152474f4e8038a150f820b87933435f242596565e6a9ed85e9794e657a",
            "2d_1/world_library_assignment.dat": "9c297a23c2697f486dcd5a14516901e37c952dbff69ace80380d414510188c38",
            "2d_2/world_library_assignment.dat": "839c3403163310bf4fe4c34547edf43c6fe0921689b36ccf81a9635651f1f2f3",
            "heli_terrain_1/world_library_assignment.dat": (
                "9c660608e2da309d655f66cd4f650a4650d072be9971da8cf8de49c198add2cd"
            ),
            "herb_1/world_library_assignment.dat": "0c669d000328e2d4bf0597da878bf43d84fc2e338841a389495df8a0c9f38549",
            "xyh_1/world_library_assignment.dat": "a11dc45c36856b75f9431c6ef5d23f52f11340a5d46f968da07928fb572d12bb",
        },
        convert=convert_motion_paths,
    ),
    "movietweetings100k": PublishedData(
        "100,000 movie ratings from tweets, with the genres of the movies.",
        "MIT",
        "Dooms et al.: MovieTweetings: a Movie Rating Dataset Collected From Twitter. CrowdRec 2013.",
        "https://github.com/sidooms/MovieTweetings",
        _github(
            "sidooms/MovieTweetings",
            "44c525d0c766944910686c60697203cda39305d6",
            {name: f"snapshots/100K/{name}" for name in ("ratings.dat", "movies.dat")},
        ),
    ),
    "multihop_qa": PublishedData(
        "200 questions of HotpotQA and 500 of 2WikiMultihopQA, with paragraphs of which a few support the answer.",
        "CC BY-SA 4.0 (HotpotQA), Apache-2.0 (2WikiMultihopQA)",
        "Yang et al.: HotpotQA. EMNLP 2018. Ho et al.: Constructing A Multi-hop QA Dataset. COLING 2020.",
        "https://github.com/AdelWang/MIGRES",
        _github(
            "AdelWang/MIGRES",
            "1de6265c9ca1014054d6ba875738e785830908f8",
            {name: f"data/{name}" for name in ("hotpot.json", "wikihop_train_preprocess.json")},
        ),
        convert=convert_questions,
        main="hotpotqa200.jsonl.gz",
    ),
    "open_bandit": PublishedData(
        "A log of a fashion shop: 10,000 shown items, with clicks, for each of three campaigns and two policies.",
        "CC BY 4.0",
        "Saito et al.: Open Bandit Dataset and Pipeline. NeurIPS Datasets and Benchmarks 2021.",
        "https://github.com/st-tech/zr-obp",
        _github(
            "st-tech/zr-obp",
            "0aeff65c131d24ee118be1fa503293b7ebbb7b72",
            {
                f"{policy}/{campaign}/{campaign}.csv": f"obp/dataset/obd/{policy}/{campaign}/{campaign}.csv"
                for policy in ("bts", "random")
                for campaign in ("all", "men", "women")
            },
        ),
    ),
    "opinosis": PublishedData(
        "51 topics of reviews, about 100 sentences each, with short summaries by people.",
        "Apache-2.0 (the repository); the sentences are from reviews on public sites",
        "Ganesan, Zhai and Han: Opinosis: A Graph Based Approach to Abstractive Summarization. COLING 2010.",
        "https://github.com/kavgan/opinosis-summarization",
        _github(
            "kavgan/opinosis-summarization",
            "7e351ea7cc38402134fded1e157710e12692c978",
            {"OpinosisDataset1.0_0.zip": "OpinosisDataset1.0_0.zip"},
        ),
        convert=convert_opinosis,
    ),
    "scisumm": PublishedData(
        "Scientific papers with abstracts and summaries by people, in sentences.",
        "CC BY 4.0",
        "Chandrasekaran et al.: Overview and Insights from the Shared Tasks at SDP 2020 and CL-SciSumm 2019.",
        "https://github.com/WING-NUS/scisumm-corpus",
        {
            "scisumm-corpus.zip": "https://codeload.github.com/WING-NUS/scisumm-corpus/zip/"
            "1dd68e44df5c94cc767cc301cd04e61c52e4bf68"
        },
        convert=convert_scisumm,
    ),
    "scp_trajectory": PublishedData(
        "The robot-arm data of the SCP paper: 30 seed trajectories in 310 training and 212 test environments.",
        "BSD-3-Clause",
        "Ross, Zhou, Yue, Dey and Bagnell: Learning Policies for Contextual Submodular Prediction. ICML 2013.",
        "https://github.com/robinzhoucmu/SCP_ListPrediction",
        _github(
            "robinzhoucmu/SCP_ListPrediction",
            "6431362d8496de2c91a1da0e40db9b80eacb55a9",
            {f"traj_{part}.txt": f"library/ExampleData/traj_{part}.txt" for part in ("train", "crossvalidate", "test")},
        ),
    ),
    "trec_web": PublishedData(
        "TREC Web Track 2009 to 2012, diversity: 198 queries, each with the first 50 documents of Indri.",
        "Judgements by NIST; runs and scores under the terms of their sources",
        "Clarke, Craswell and Soboroff: Overview of the TREC Web Track, 2009 to 2012.",
        "https://github.com/jzbjyb/DSSA",
        {},
        missing="Judgements, runs and suggestions are public (jzbjyb/DSSA on GitHub), and so are published rankings "
        "(qratosone/GDESA, su-zhan/PAD). The BM25 scores are not to be had safely: they are published as a pickle "
        "(bm25_scores.pkl of XuChen0427/FairDiverse), which can run code and is not read here, and the texts to "
        "compute them from (ClueWeb09-B) need a licence.",
    ),
}


class TrainTest(NamedTuple):
    """Problems by the source's own split; unpack it as `train, test = read_...(path)`."""

    train: Problems  # problems to learn from
    test: Problems  # problems to evaluate on


def require_path(path: str | Path, what: str) -> Path:
    path = locate(path)
    if not path.exists():
        raise InputError(f"{what} is not there: {path}.")
    return path


def first_of(folder: Path, names: Sequence[str], what: str) -> Path:
    if not folder.is_dir():
        raise InputError(f"{what} is a folder. Got {folder}.")
    there = [folder / name for name in names if (folder / name).is_file()]
    if not there:
        raise InputError(f"{what} needs {' or '.join(names)}, which {folder} does not hold.")
    return there[0]


def read_parquet(path: Path, columns: Sequence[str]) -> Any:
    try:
        table = pq.read_table(require_path(path, "A Parquet file"))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"Cannot read {path}: {error}.") from error
    require(table.column_names, columns, path)
    if not table.num_rows:
        raise InputError(f"{path} has no rows.")
    return table


def column_of(table: Any, name: str) -> NDArray[Any]:
    """Return a column of a pyarrow table as a numpy array; dictionary-encoded columns are decoded."""
    column = table.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.to_numpy()


def read_arrays(path: str | Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return arrays of an `.npz` file by name. Pickled objects are not read."""
    path = require_path(path, "An .npz file")
    try:
        with ZipFile(path), np.load(path) as arrays:
            require(arrays.files, names, path)
            return {name: arrays[name] for name in names}
    except (BadZipFile, OSError) as error:
        raise InputError(f"Cannot read {path}: {error}.") from error


def read_csv(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    reader = csv.DictReader(StringIO(read_text(path), newline=""))
    require(reader.fieldnames or (), columns, path)
    return list(reader)


def read_records(path: str | Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON file: one per line, or one list of them; also compressed (`.gz`)."""
    path = require_path(path, "A JSON file")
    text = read_text(path)
    try:
        if text.lstrip().startswith("["):
            records = json.loads(text)
        else:  # not splitlines: JSON strings may hold other line separators
            records = [json.loads(line) for line in text.split("\n") if line.strip()]
    except json.JSONDecodeError as error:
        raise InputError(f"{path} is not JSON: {error}.") from error
    if not all(isinstance(record, dict) for record in records):
        raise InputError(f"{path} must hold JSON objects, one per line or in one list.")
    return records


def require(there: Iterable[str], needed: Sequence[str], source: object) -> None:
    there = list(there)
    missing = [name for name in needed if name not in there]
    if missing:
        raise InputError(f"{source} lacks {', '.join(missing)}. It has {', '.join(there[:12]) or 'nothing'}.")
