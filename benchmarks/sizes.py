"""What each extra weighs: `python -m benchmarks.sizes WHEELS` prints the table of docs/installation.md.

WHEELS is a folder with the wheels of everything, from `pip download --dest WHEELS ".[cli,plots,...]"`. The size of a
download is that of the wheels; installed, that of the files in them, before Python adds its bytecode.
"""

from __future__ import annotations

import email
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
EXTRAS = "cli plots text data serve postgres boost ray langchain llama-index haystack tokens"


class Wheel(NamedTuple):
    """A package as it is downloaded."""

    download: int  # bytes
    installed: int
    requires: list[str]


def read_wheels(folder: Path) -> dict[str, Wheel]:
    """Return all wheels of a folder by the names of their packages."""
    wheels = {}
    for path in folder.glob("*.whl"):
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
            metadata = email.message_from_bytes(archive.read(min(names, key=len)))  # others are bundled
            size = sum(info.file_size for info in archive.infolist())
        requires = metadata.get_all("Requires-Dist") or []
        wheels[canonicalize_name(str(metadata["Name"]))] = Wheel(path.stat().st_size, size, requires)
    return wheels


def needed(requires: list[str], extras: frozenset[str], wheels: dict[str, Wheel], names: set[str]) -> set[str]:
    """Add to `names` the packages that these requirements need, with what those need."""
    for requirement in map(Requirement, requires):
        marker, name = requirement.marker, canonicalize_name(requirement.name)
        if marker is not None and not any(marker.evaluate({"extra": extra}) for extra in extras | {""}):
            continue
        if name == "listwright":
            for extra in requirement.extras:
                needed(_project()["optional-dependencies"][extra], frozenset(), wheels, names)
        elif name not in names:
            names.add(name)
            needed(wheels[name].requires, frozenset(requirement.extras), wheels, names)
    return names


def main() -> None:
    """Print one line for the library alone, and one for what each extra adds."""
    wheels, project = read_wheels(Path(sys.argv[1])), _project()
    base = needed(project["dependencies"], frozenset(), wheels, set())
    print("| | packages | download | installed |\n|---|---:|---:|---:|")
    print(_line("listwright alone", base, wheels))
    for extra in EXTRAS.split():
        own = needed(project["optional-dependencies"][extra], frozenset(), wheels, set())
        print(_line(f"`{extra}` adds", own - base, wheels))


def _line(what: str, names: set[str], wheels: dict[str, Wheel]) -> str:
    download, installed = (sum(wheels[name][i] for name in names) / 1e6 for i in (0, 1))
    return f"| {what} | {len(names)} | {download:,.1f} MB | {installed:,.1f} MB |"


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]


if __name__ == "__main__":
    main()
