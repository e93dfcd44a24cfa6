"""Published data sets by name: downloaded from their own source, once, and kept in a cache.

Addresses name a commit of the source, so that what they give does not change. No source publishes checksums: those of
the first download are recorded in the cache and hold from then on.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from listwright._internal.extras import require_extra
from listwright._internal.files import write_whole
from listwright.datasets._convert import CONVERTERS
from listwright.errors import InputError

FOLDER = "LISTWRIGHT_DATA"  # the environment variable that names a folder of data sets


@dataclass(frozen=True)
class PublishedData:
    """What `published.toml` says of a set."""

    about: str
    licence: str
    citation: str
    source: str
    base: str = ""
    files: Sequence[str] = ()
    main: str = ""
    missing: str = ""

    def addresses(self) -> dict[str, str]:
        names = [name for form in self.files for name in _expand(form)]
        return {name: self.base + name if self.base.endswith("/") else self.base for name in names}

    def facts(self) -> dict[str, str]:
        return {"about": self.about, "source": self.source, "licence": self.licence, "citation": self.citation}

    def describe(self, name: str) -> str:
        return f"{name}: {self.about}\nSource: {self.source}\nLicence: {self.licence}\nCite: {self.citation}"


def _expand(form: str) -> list[str]:
    """Return all names that a form with braces stands for: "{a,b}.csv" is a.csv and b.csv."""
    before, _, rest = form.partition("{")
    words, brace, after = rest.partition("}")
    return [name for word in words.split(",") for name in _expand(before + word + after)] if brace else [form]


PUBLISHED = {
    name: PublishedData(**facts)
    for name, facts in tomllib.loads(Path(__file__).with_name("published.toml").read_text(encoding="utf8")).items()
}


def fetch(name: str) -> Path:
    """Return the folder of a published data set, which is downloaded if it is not there yet.

    The folder `name` in the folder that the environment variable `LISTWRIGHT_DATA` names is taken as it is. Otherwise
    the set is downloaded from its own source into the user's cache, and its licence and citation are printed. Readers
    take the same names: `read_aslib("aslib/SAT12-HAND")`.

    Addresses name a commit of the source. The sources publish no checksums, so the SHA-256 of every file is recorded at
    the first download, in the folder `checksums` of the cache; a file that differs from its record is refused. Copy
    that folder to another machine, and its first download is checked, too.

    Parameters
    ----------
    name : str
        One of `list_datasets()`.

    Raises
    ------
    InputError
        If there is no such set, it cannot be downloaded or kept, or a file is not the one that was recorded.
    MissingExtra
        If a download is needed and pooch, of the extra "data", is not installed.

    Examples
    --------
    >>> fetch("aslib") / "SAT12-HAND"  # doctest: +SKIP
    PosixPath('/home/ada/.cache/listwright/aslib/SAT12-HAND')
    """
    return obtain(name, describe=True)


def list_datasets() -> list[str]:
    """Return the names of all published data sets that readers, experiments and benchmarks use.

    Examples
    --------
    >>> list_datasets()[:3]
    ['argkp', 'aslib', 'aslib_dev']
    """
    return sorted(PUBLISHED)


def obtain(name: str, *, describe: bool) -> Path:
    """Return the folder of a data set; if it is downloaded now, `describe` prints licence and citation."""
    if name not in PUBLISHED:
        raise InputError(f"There is no data set {name!r}. Choose one of {', '.join(list_datasets())}.")
    known, given = PUBLISHED[name], os.environ.get(FOLDER)
    if given and (Path(given) / name).is_dir():
        return Path(given) / name
    if given and not Path(given).is_dir():
        raise InputError(f"{FOLDER} names {given}, which is not a folder. Correct it, or unset it to download {name}.")
    if not known.files:
        raise InputError(
            f"{name} cannot be downloaded. {known.missing} If you have it, name the folder above its own in {FOLDER}."
        )
    folder = _cache() / name
    if folder.is_dir():
        return folder
    if describe:
        print(known.describe(name), file=sys.stderr)
    try:
        _download(name, known, folder)
    except OSError as error:
        raise InputError(
            f"Cannot keep {name} in {folder.parent}: {error}. Name another folder for caches (XDG_CACHE_HOME on Linux)."
        ) from None
    return folder


def locate(path: str | Path) -> Path:
    """Return a path that exists, or the place that the name of a published set stands for, such as "aslib/IPC2018"."""
    given = Path(path)
    if given.exists() or given.is_absolute() or given.parts[:1] == () or given.parts[0] not in PUBLISHED:
        return given
    name, *rest = given.parts
    folder, main = fetch(name), PUBLISHED[name].main
    return folder / main if main and not rest and (folder / main).is_file() else folder.joinpath(*rest)


def _cache() -> Path:
    pooch = require_extra("pooch", "Downloads need pooch.", extra="data")
    return Path(pooch.os_cache("listwright"))


def _download(name: str, known: PublishedData, folder: Path) -> None:
    """Download and convert a set; the folder appears, and checksums are recorded, when it is complete."""
    record = folder.parent / "checksums" / f"{name}.json"
    record.parent.mkdir(parents=True, exist_ok=True)
    recorded = _checksums(record)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as place:
        raw, made = Path(place) / "raw", Path(place) / "made"
        checksums = {
            address: _retrieve(address, raw / file, f"{file} of {name}", recorded.get(address), record)
            for file, address in known.addresses().items()
        }
        if name in CONVERTERS:
            made.mkdir()
            CONVERTERS[name](raw, made)
        else:
            made = raw
        if new := len(checksums.keys() - recorded):
            write_whole(record, (json.dumps(recorded | checksums, indent=1, sort_keys=True) + "\n").encode())
            note = "The source has no checksums to compare with: recorded the SHA-256 of"
            print(f"{note} {new} file{'s' * (new > 1)} in {record}.", file=sys.stderr)
        try:
            made.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise


def _retrieve(address: str, path: Path, file: str, checksum: str | None, record: Path) -> str:
    """Download a file and return its SHA-256, which must be `checksum` if that is known."""
    pooch = require_extra("pooch", "Downloads need pooch.", extra="data")
    pooch.get_logger().setLevel("WARNING")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        pooch.retrieve(address, known_hash=None, fname=path.name, path=path.parent)
    except (OSError, ValueError) as error:  # what requests raises is either
        raise InputError(
            f"Cannot download {file} from {address}: {_reason(error)}. Try again, or name a folder with the set in "
            f"{FOLDER}."
        ) from None
    with path.open("rb") as content:
        if re.match(rb"\s*<(!doctype\s+)?html", content.read(200), re.IGNORECASE):
            raise InputError(f"{address} answered with a web page, not with {file}. Does this network ask for a login?")
    downloaded = str(pooch.file_hash(str(path)))
    if checksum and checksum != downloaded:
        raise InputError(
            f"{file} has changed: its SHA-256 differs from {checksum}, which {record} has for {address}. If the "
            "change is legitimate, remove that line and fetch the set again."
        )
    return downloaded


def _reason(error: Exception) -> str:
    """Return what happened, without the addresses and the chain of causes that requests quotes."""
    text = str(error).partition(" for url:")[0]
    cause = re.search(r"\[Errno -?\d+\] ([^\"')]+)", str(error)) or re.match(r"\('(.+?)'", text)
    return (cause[1] if cause else text).rstrip(".")


def _checksums(record: Path) -> dict[str, str]:
    if not record.is_file():
        return {}
    try:
        return {str(address): str(checksum) for address, checksum in json.loads(record.read_bytes()).items()}
    except (ValueError, AttributeError) as error:
        raise InputError(f"{record} does not hold checksums: {error}. Repair it, or remove it.") from None
