"""Which data may be looked at for what: settings are chosen on some data and reported on others.

`choose` may read the scenarios of aslib_dev, the training part of the trajectory data, and HotpotQA, which is
cross-validated. `report` reads the rest, once the method is frozen. Every report is written down as a look, with the
reason given for it and a fingerprint of the code, and the page says how many looks there were.
"""

from __future__ import annotations

import ast
import json
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from listwright.datasets import fetch

HERE = Path(__file__).parent
LOOKS = HERE / "looks.json"
CODE = HERE.parents[1] / "src" / "listwright"
FOLDERS = {
    "choose": {"aslib_dev", "scp_trajectory", "multihop_qa"},
    "report": {"aslib", "scp_trajectory", "motion_paths", "multihop_qa", "argkp", "trec_web"},
}
# What results depend on; a change elsewhere leaves them as they are.
DATA_CODE = ("datasets", "problems.py", "rewards", "text")
RIVALS_CODE = (*DATA_CODE, "baselines", "features/outcomes.py")
OWN_CODE = (*DATA_CODE, "estimators", "features", "learners", "policies", "training", "walk", "_kernels")


class NotAllowed(Exception):
    """Data that the command must not see."""


def folder(name: str, stage: str) -> Path:
    """Where a published data set is, if the stage may read it."""
    if name not in FOLDERS[stage]:
        raise NotAllowed(f"`{stage}` must not read {name}. It may read {', '.join(sorted(FOLDERS[stage]))}.")
    return fetch(name)


@cache
def fingerprint(parts: tuple[str, ...] = OWN_CODE) -> str:
    """Changes with the code of these parts; comments and docstrings do not count."""
    seen = sha256()
    for part in parts:
        path = CODE / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            seen.update(file.relative_to(CODE).as_posix().encode() + _code_of(file).encode())
    return seen.hexdigest()[:12]


def _code_of(file: Path) -> str:
    """The syntax tree of a file without its docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        match getattr(node, "body", None):
            case [ast.Expr(value=ast.Constant() as text), *_]:
                text.value = None
    return ast.dump(tree)


def looks() -> list[dict[str, Any]]:
    """All reports so far, in order."""
    return json.loads(LOOKS.read_text(encoding="utf-8")) if LOOKS.is_file() else []


def note_look(why: str, families: list[str]) -> int:
    """Writes a report down, and gives its number; going on with one that was stopped is the same look."""
    reports, code = looks(), fingerprint()
    if reports and (reports[-1]["code"], reports[-1]["why"]) == (code, why):
        reports[-1]["families"] = sorted({*reports[-1]["families"], *families})
    else:
        today = datetime.now(UTC).date().isoformat()
        reports.append({"day": today, "code": code, "why": why, "families": sorted(families)})
    LOOKS.write_text(json.dumps(reports, indent=1) + "\n", encoding="utf-8")
    return len(reports)
