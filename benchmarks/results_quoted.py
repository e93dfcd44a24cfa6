"""Figures of the results that the front page and the gallery quote, as sentences and rows."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).parent
ARM = "trajectory, the paper's data"


def read_results(benchmark: str) -> Any:
    """Return what a benchmark wrote: a file of its folder, or of its name."""
    folder, file = BENCHMARKS / benchmark / "results.json", BENCHMARKS / f"{benchmark}.json"
    return json.loads((folder if folder.is_file() else file).read_text(encoding="utf8"))


def front_page() -> str:
    arm, summaries, solvers, speed = _arm(), _summaries(), read_results("quality")["solvers"], _seconds
    failures = _no_clicks()
    given, vectors = "facility location greedy, n=5000, k=100, similarity given", "the same from vectors, d=64"
    learned, own = (
        "list of 10 from 1000 candidates, d=128, learned policy",
        "list of 10 from 1000 candidates, d=128, our own MMR",
    )
    rows = [
        (
            "the paper's robot arm, lists of 5 that fail, after all 310 training environments",
            f"SCP {arm['SCP']} %, ConSeqOpt {arm['ConSeqOpt']}, static list {arm['Static list']}, regression "
            f"{arm['Regression']}",
            "`listwright reproduce trajectory --data scp_trajectory`",
        ),
        (
            f"solver portfolios ({solvers['sets']} ASlib scenarios on which no setting was chosen), lists of 1 to 8 "
            "that hold a solver that works",
            ", ".join(f"{_name(name)} {row['mean']:.4f}" for name, row in solvers["figure"].items()),
            "`python -m benchmarks.quality report`",
        ),
        (
            "news readers whose clicks are seen for shown articles only, lists of 5 without a click",
            f"OnlineSCP {failures['OnlineSCP, inverse gap weighting']} %, LSBGreedy {failures['LSBGreedy']}, best "
            f"static list {failures['static list in hindsight']}, ranked bandits {failures['ranked bandits']}; with "
            f"full information {failures['SCP, full information']}",
            "`python -m benchmarks.feedback`",
        ),
        (
            "scisumm 2018, words of summaries by hand, 665 bytes",
            f"SCP {summaries['SCP']} %, ConSeqOpt {summaries['ConSeqOpt']}, DPP {summaries['DPP']}, SubMod "
            f"{summaries['SubMod']}",
            "`listwright reproduce summaries --data scisumm`",
        ),
        (
            "facility location, n = 5000, k = 100",
            f"from a given similarity matrix {speed(given)} (apricot {speed(given, 'apricot')}, submodlib "
            f"{speed(given, 'submodlib')}); from vectors of 64 numbers, similarities included, {speed(vectors)} "
            f"({speed(vectors, 'apricot')} and {speed(vectors, 'submodlib')})",
            "`make bench`",
        ),
        (
            "one list of 10 from 1000 candidates of 128 features",
            f"learned policy with distance features {speed(learned)}, MMR of pyversity "
            f"{speed(learned, 'pyversity MMR')}, our own MMR {speed(own)}",
            "`make bench`",
        ),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in [("what", "figure", "command"), ("---",) * 3, *rows])


def recommendations() -> str:
    genres = read_results("feedback")["movies"]["genres"]
    learned, static = (_percent(genres[name]) for name in ("SCP, full information", "static list of earlier users"))
    return (
        f"Lists of three cover **{learned} %** of the genres that a user likes when learned by SCP, **{static} %** as "
        "the best fixed list (`python -m benchmarks.feedback movies`)."
    )


def passages() -> str:
    methods = read_results("context")["hotpotqa"]
    packed, words, vectors = (_percent(methods[name]["shares"][0]) for name in ("packer, fitted", "BM25", "TF-IDF"))
    return (
        f"Both supporting passages are among the first two for **{packed} %** of the questions when packed, for "
        f"**{words} %** by BM25 and for **{vectors} %** by TF-IDF (`python -m benchmarks.context`)."
    )


def arm() -> str:
    learned, static, sorted_ = (_arm(short=True)[name] for name in ("SCP", "Static list", "Regression"))
    return (
        f"On the paper's own data, lists of five fail in **{learned} %** of the environments when learned by SCP, in "
        f"**{static} %** as the best fixed list and in **{sorted_} %** when sorted by a regression "
        "(`listwright reproduce trajectory --data scp_trajectory`)."
    )


def solvers() -> str:
    record = read_results("quality")["solvers"]
    learned, trees, static = (
        f"{100 * record['figure'][name]['mean']:.1f}" for name in ("SCP", "extra-trees top-k", "static")
    )
    return (
        f"Over {record['sets']} such scenarios, lists hold a solver that works for **{learned} %** of the instances as "
        f"learned by `SCP()`, **{trees} %** when sorted by extra-trees, **{static} %** as the best fixed list "
        "(`python -m benchmarks.quality report`)."
    )


def summaries() -> str:
    scores = _summaries(short=True)
    return (
        f"On scientific papers, 665 bytes hold **{scores['SCP']} %** of the words of summaries by people when learned "
        f"by SCP, **{scores['MMR']} %** by tuned MMR and **{scores['Lead']} %** as the first sentences "
        "(`listwright reproduce summaries --data scisumm`)."
    )


def clicks() -> str:
    failures = _no_clicks()
    return (
        "Of lists of five that are learned from clicks alone, "
        f"**{failures['OnlineSCP, inverse gap weighting']} %** get no click; of the best fixed list in hindsight, "
        f"**{failures['static list in hindsight']} %** (`python -m benchmarks.feedback`)."
    )


def vectors() -> str:
    work = "the same from vectors, d=64"
    return (
        f"From vectors it takes **{_seconds(work)}** where apricot takes **{_seconds(work, 'apricot')}** (5,000 rows "
        "of 64 numbers, 100 picks; `make bench`)."
    )


QUOTED: dict[str, Callable[[], str]] = {
    "front page": front_page,
    "recommendations": recommendations,
    "passages": passages,
    "arm": arm,
    "solvers": solvers,
    "summaries": summaries,
    "clicks": clicks,
    "vectors": vectors,
}


def _arm(*, short: bool = False) -> dict[str, str]:
    records = read_results("paper")[ARM]["records"]
    last = [row for row in records if row["n_train"] == 310 and row["length"] == 5]
    return {row["method"]: _value(row, short=short) for row in last}


def _summaries(*, short: bool = False) -> dict[str, str]:
    records = read_results("paper")["summaries, scisumm 2018"]["records"]
    return {row["method"]: _value(row["ROUGE-1R"], short=short) for row in records}


def _no_clicks() -> dict[str, str]:
    runs = read_results("feedback")["failures"]
    return {name: f"{100 * statistics.mean(run[name]['tested'] for run in runs):.1f}" for name in runs[0]}


def _seconds(work: str, peer: str = "") -> str:
    """Return our time for a work, or that of a peer."""
    row = next(row for row in read_results("speed") if row["work"].startswith(work) and row["peer"].startswith(peer))
    seconds = row["peer_s"] if peer else row["ours_s"]
    digits = 2 if seconds < 0.1 else 3
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.{digits}g} ms"


def _value(row: dict[str, float], *, short: bool) -> str:
    return f"{row['mean']:.1f}" if short else f"{row['mean']:.1f} ± {row['half']:.1f}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"


def _name(method: str) -> str:
    return {"SCP": "`SCP()`", "SCP fast": "the fast SCP", "static": "static list"}.get(method, method)
