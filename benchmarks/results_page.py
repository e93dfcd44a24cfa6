"""`python -m benchmarks.results_page`: writes figures and pictures of docs/results.md from benchmarks/*/results.json.

Text between `<!-- results: NAME -->` and `<!-- end of results -->` is written anew; the rest of the page stays.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import altair as alt

from benchmarks.context import section as packing_tables
from benchmarks.feedback import section as feedback_tables
from benchmarks.quality.methods import AUTO, FAST
from listwright.report.charts import PALETTE, as_png, as_svg, specification

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
BLOCK = re.compile(r"(<!-- results: (.+?) -->\n).*?(<!-- end of results -->)", re.DOTALL)
OURS = (AUTO, FAST)
KNOWING = ("oracle", "Oracle", "Random", "Greedy (Oracle)")  # no rivals: all knowledge, and none
MOST = 7  # methods that are drawn, one for each colour
KINDS = {
    "solvers": "share of instances that some solver of the list solves",
    "robot arm": "share of environments in which some seed of the list succeeds",
    "motion paths": "share of problems with a path free of collision in the list",
    "questions": "share of questions with all supporting paragraphs in the list",
    "key points": "share of key points that the list covers",
    "search results": "alpha-nDCG over all judged documents",
}
SUMMARIES = ("summaries, scisumm 2018", "summaries, opinosis")
TRAINING = "summaries, scisumm 2018, by training size"
PACKER, QUESTIONS = "packer, fitted", 200
ARM, NEWS = "trajectory, the paper's data", "news, simulated"


def main() -> None:
    """Writes all blocks of the page that have a name here."""
    page = DOCS / "results.md"
    page.write_text(with_results(page.read_text(encoding="utf8")), encoding="utf8")


def with_results(page: str) -> str:
    """A page with what its comments name; draws the pictures, too."""
    return BLOCK.sub(lambda found: f"{found[1]}\n{BLOCKS[found[2]]()}\n\n{found[3]}", page)


def overview() -> str:
    """How far the learned lists are ahead of the best rival, family by family."""
    rows = [_against_best(name, record["figure"], 100.0) for name, record in _quality().items()]
    for name in SUMMARIES:
        below = {row["method"]: row.get("1R below SCP") for row in _paper()[name]["records"]}
        rival = min(
            (m for m in below if below[m] and m not in KNOWING and not m.startswith("SCP")),
            key=lambda m: below[m]["mean"],
        )
        gap = below[rival]
        rows.append(_row(name, rival, gap["mean"], gap["mean"] - gap["half"], gap["mean"] + gap["half"]))
    rows.sort(key=lambda row: -row["ahead"])
    _save("results-overview", _forest(rows))
    counts = {kind: sum(row["kind"] == kind for row in rows) for kind in ("ahead", "level", "behind")}
    return (
        f"![Points by which learned lists are ahead of the best rival, by family](images/results-overview.png)\n\n"
        f"The learned lists are ahead of the best rival in {counts['ahead']} of {len(rows)} families, level in "
        f"{counts['level']}, behind in {counts['behind']}. Points are percentage points of the measure of each family, "
        "paired on the same problems, with 95 % intervals. Learned: `SCP()`; for summaries, `SCP` as in the paper's "
        "experiment. The best rival is the one with the highest mean of all that were run."
    )


def family(name: str) -> str:
    """One family of the comparison: a picture, a sentence, and the tables behind a fold."""
    record = _quality()[name]
    picture = _save(f"quality-{name.replace(' ', '-')}", _by_length(name, record["by length"]))
    looks = json.loads((HERE / "quality" / "looks.json").read_text(encoding="utf8"))
    day = max(look["day"] for look in looks if name in look["families"])
    row = _against_best(name, record["figure"], 100.0)
    sets = f"{record['sets']} set{'' if record['sets'] == 1 else 's'}, " if record["sets"] > 1 else ""
    seeds = f"{record['seeds']} seed{'' if record['seeds'] == 1 else 's'}"
    return "\n\n".join(
        [
            f"![{name}: mean value by length](images/{picture})",
            f"{_sentence(row)} {sets}{record['problems']:,} problems, {seeds}, {day}. "
            "Bars: 95 % intervals of the paired difference to SCP.".replace("  ", " "),
            _fold("All methods, training sizes, and where others are ahead", _family_tables(record)),
        ]
    )


def schedules() -> str:
    """Closed gaps of solver schedules under a time limit."""
    results = json.loads((HERE / "schedules.json").read_text(encoding="utf8"))
    gaps, seconds = results["gaps"], results["seconds"]
    lines = [f"| scenario | {' | '.join(seconds)} |", f"|---|{'---:|' * len(seconds)}"]
    lines += [f"| {name} | {' | '.join(f'{row[method]:.2f}' for method in seconds)} |" for name, row in gaps.items()]
    times = ", ".join(f"{method} {taken:g}" for method, taken in seconds.items())
    return "\n".join([*lines, "", f"{_as_of(results)} Median seconds of processor time of a fit: {times}."])


def budgets() -> str:
    """Summaries and passages under a budget: means, and how far `SCP()` is ahead of each method."""
    results = json.loads((HERE / "budgets.json").read_text(encoding="utf8"))
    seconds, figures = results["seconds"], results["figures"]
    places = list(dict.fromkeys((row["set"], row["at"]) for row in figures))
    cell = {(row["method"], row["set"], row["at"]): row for row in figures}
    lines = [f"| method | {' | '.join(f'{name}, {at}' for name, at in places)} |", f"|---|{'---|' * len(places)}"]
    for method in seconds:
        shown = [cell[method, *place] for place in places]
        lines.append(f"| {method} | {' | '.join(_with_lead(row, AUTO) for row in shown)} |")
    count = ", ".join(f"{name} {n}" for name, n in results["problems"].items())
    behind = "; ".join(f"{ours} {_lost(rows)}" for ours, rows in results["behind"].items())
    slowest = ", ".join(f"{method} {max(seconds[method].values()):g}" for method in seconds)
    return "\n".join(
        [
            *lines,
            "",
            f"In brackets: how far SCP is ahead, paired, with 95 % intervals over test problems ({count}). Behind a "
            f"rival by more than the interval: {behind}. {_as_of(results)} Median seconds of processor time of a fit, "
            f"of the slowest set: {slowest}.",
        ]
    )


def trajectory() -> str:
    """The paper's robot arm: failure by training environments, for lists of 3 and 5."""
    records = [row for row in _paper()[ARM]["records"] if row["length"] in (3, 5)]
    _save("results-trajectory", _panels(records, "n_train", "training environments", "failure, per cent"))
    last = {row["method"]: row for row in records if row["n_train"] == 310 and row["length"] == 5}
    return "\n\n".join(
        [
            "![Failure of lists of 3 and 5 by the number of training environments](images/results-trajectory.png)",
            f"With all 310 environments, lists of 5 fail in {_value(last['SCP'])} % of the test environments with SCP, "
            + ", ".join(f"{_value(last[name])} {name}" for name in ("ConSeqOpt", "Static list", "Regression"))
            + f". {_as_of(_paper())} Bands: 95 % intervals over test environments.",
            _fold("Lists of 5 in numbers", _wide(records, 5)),
        ]
    )


def news() -> str:
    """Simulated news readers: no click by the number of recommendations."""
    records = [row for row in _paper()[NEWS]["records"] if row["method"] != "Random"]
    _save("results-news", _lines(records, "length", "recommendations", "no click, per cent"))
    last = {row["method"]: row for row in records if row["length"] == 5}
    return "\n\n".join(
        [
            "![No click by the number of recommendations](images/results-news.png)",
            f"Of five recommendations none is clicked in {_value(last['SCP'])} % of the visits with SCP, "
            + ", ".join(f"{_value(last[name])} {name}" for name in ("Regression", "ConSeqOpt", "Static list"))
            + f". {_as_of(_paper())} Bands: 95 % intervals over folds. ConSeqOpt less SCP, paired: 1.3 ± 0.4 points.",
        ]
    )


def summaries() -> str:
    """ROUGE-1R of summaries of two published sets."""
    records = [
        {"set": name.removeprefix("summaries, "), "method": row["method"], **row["ROUGE-1R"]}
        for name in SUMMARIES
        for row in _paper()[name]["records"]
    ]
    _save("results-summaries", _dots(records))
    sentences = []
    for name in SUMMARIES:
        below = {row["method"]: row.get("1R below SCP") for row in _paper()[name]["records"]}
        told = ", ".join(f"{method} by {_value(below[method])}" for method in ("ConSeqOpt", "DPP", "SubMod"))
        sentences.append(f"{name.removeprefix('summaries, ')}: SCP covers more than {told} points.")
    tables = "\n\n".join(f"{name}\n\n{_rouge(name)}" for name in SUMMARIES)
    return "\n\n".join(
        [
            "![ROUGE-1R of summaries by method](images/results-summaries.png)",
            " ".join(sentences) + f" {_as_of(_paper())} Differences are paired by paper or topic, with 95 % intervals.",
            _fold("All scores", tables),
        ]
    )


def training() -> str:
    """Figure (c): ROUGE-1R of summaries by the number of training papers."""
    records = _paper()[TRAINING]["records"]
    _save("results-training", _lines(records, "n_train", "training papers", "ROUGE-1R, per cent", zero=False))
    length = records[0]["length"]
    first = {row["method"]: row for row in records if row["n_train"] == 3}
    return "\n\n".join(
        [
            "![ROUGE-1R by the number of training papers](images/results-training.png)",
            f"With three papers SCP has {_value(first['SCP'])} %, ConSeqOpt {_value(first['ConSeqOpt'])}, DPP "
            f"{_value(first['DPP'])}, SubMod {_value(first['SubMod'])}. {_as_of(_paper())} Bands: 95 % intervals over "
            "subsets of the training papers.",
            _fold("In numbers", _wide(records, length, "training papers")),
        ]
    )


def packing() -> str:
    """Passages for questions: all support in the first 2, 3 or 5, with intervals over questions."""
    results = _results("context")
    shown = results["hotpotqa"]
    names = {PACKER: "packer, fitted", "packer, as shipped": "packer as shipped, without the test questions"}
    names |= {name: name for name in ("ConSeqOpt, boosted trees", "boosted trees, sorted", "extra-trees, sorted")}
    names |= {name: name for name in ("MMR, tuned", "TF-IDF", "BM25")}
    records = [
        {"method": label, "at": length, "mean": share, **_share_interval(share, QUESTIONS)}
        for label, name in names.items()
        for length, share in zip((2, 3, 5), shown[name]["shares"], strict=True)
    ]
    _save("results-packing", _grouped(records, "passages", "share of questions with all support"))
    at_two = {row["method"]: f"{100 * row['mean']:.0f}" for row in records if row["at"] == 2}
    return "\n\n".join(
        [
            "![Share of questions with all supporting passages in the first 2, 3 and 5](images/results-packing.png)",
            f"**Both supporting passages are the first two for {at_two[PACKER]} % of the questions with the "
            f"fitted packer**, {at_two['packer, as shipped']} as shipped, {at_two['ConSeqOpt, boosted trees']} with "
            "ConSeqOpt, "
            f"{at_two['boosted trees, sorted']} sorted by boosted trees, {at_two['MMR, tuned']} with tuned MMR, "
            f"{at_two['BM25']} by BM25. HotpotQA, {QUESTIONS} questions. {_as_of(results)} Bars: 95 % intervals over "
            "questions; learned rivals see the same features as the packer.",
            _fold("All tables: made-up questions, behind scores, what <code>stop</code> saves, times",
                  packing_tables.written(results).strip()),
        ]
    )  # fmt: skip


def clicks() -> str:
    """Learning from clicks: lists without a click by method, over three populations."""
    results = _results("feedback")
    runs = results["failures"]
    records = [
        {
            "method": name,
            "set": "lists without a click, per cent",
            "mean": 100 * sum(run[name]["tested"] for run in runs) / len(runs),
            "low": 100 * min(run[name]["tested"] for run in runs),
            "high": 100 * max(run[name]["tested"] for run in runs),
        }
        for name in runs[0]
    ]
    _save("results-clicks", _dots(records, "per cent", lowest_first=True))
    mean = {row["method"]: f"{row['mean']:.1f}" for row in records}
    return "\n\n".join(
        [
            "![Lists of five without a click, by method](images/results-clicks.png)",
            f"**Of lists of five that OnlineSCP learned from clicks alone, {mean['OnlineSCP, inverse gap weighting']} "
            f"% get no click**; with full information {mean['SCP, full information']}, LSBGreedy {mean['LSBGreedy']}, "
            f"the best static list in hindsight {mean['static list in hindsight']}, ranked bandits "
            f"{mean['ranked bandits']}. {_as_of(results)} Lines: the lowest and the highest of {len(runs)} populations "
            "of simulated readers.",
            _fold("In numbers: regret, movies, tastes that change, trees, time and memory",
                  feedback_tables.learning(results)),
        ]
    )  # fmt: skip


def off_policy() -> str:
    """Estimates of other policies from a log: error by estimator, over all settings."""
    results = _results("feedback")
    found = results["estimates"]
    told = [
        errors
        for setting in found
        if None not in (errors := {n: row["error"] for n, row in setting["estimators"].items()}).values()
    ]
    records = [
        {
            "method": short,
            "set": "error of an estimate",
            **_quartiles([errors[name] / min(errors.values()) for errors in told]),
        }
        for name, short in feedback_tables.SHORT.items()
        if name in told[0]
    ]
    _save("results-off-policy", _dots(records, "multiple of the lowest error", lowest_first=True, ours="switch"))
    switch = next(row for row in records if row["method"] == "switch")
    return "\n\n".join(
        [
            "![Error of each estimator as a multiple of the lowest](images/results-off-policy.png)",
            f"**The error of `switch`, which `evaluate` recommends, is {switch['mean']:.2f} times the lowest of its "
            f"setting in the median of the {len(told)} of {len(found)} settings in which all estimators have "
            f"evidence.** {_as_of(results)} Lines: from the lower to the upper quartile of these settings.",
            _fold("How it was measured, coverage, and a real log", feedback_tables.estimates(results)),
        ]
    )


BLOCKS: dict[str, Callable[[], str]] = {
    "overview": overview,
    "schedules": schedules,
    "budgets": budgets,
    "trajectory": trajectory,
    "news": news,
    "summaries": summaries,
    "training": training,
    "packing": packing,
    "clicks": clicks,
    "off-policy": off_policy,
    **{name: (lambda name=name: family(name)) for name in KINDS},  # type: ignore[misc]
}


def _with_lead(row: dict[str, Any], ours: str) -> str:
    lead = "" if row["method"] == ours else f" ({row['ahead']:+.3f}: {row['low']:+.3f} to {row['high']:+.3f})"
    return f"{row['mean']:.3f}{lead}"


def _lost(rows: list[dict[str, Any]]) -> str:
    """Where the intervals say that a rival is ahead, or "nowhere"."""
    told = [f"{row['set']}, {row['at']}, {row['method']} ({row['ahead']:+.3f})" for row in rows]
    return f"at {' and '.join(told)}" if told else "nowhere"


def _results(benchmark: str) -> dict[str, Any]:
    return json.loads((HERE / benchmark / "results.json").read_text(encoding="utf8"))


def _quality() -> dict[str, Any]:
    return _results("quality")


def _paper() -> dict[str, Any]:
    return _results("paper")


def _as_of(results: dict[str, Any]) -> str:
    return f"As of {results['day']}."


def _share_interval(share: float, n: int) -> dict[str, float]:
    """The 95 % interval of a share of n (Wilson)."""
    z = 1.96**2 / n
    middle, half = (share + z / 2) / (1 + z), (share * (1 - share) * z + z * z / 4) ** 0.5 / (1 + z)
    return {"low": middle - half, "high": middle + half}


def _quartiles(values: Sequence[float]) -> dict[str, float]:
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"low": low, "mean": middle, "high": high}


def _against_best(name: str, figure: dict[str, Any], scale: float) -> dict[str, Any]:
    """The row of a family: `SCP()` against the best of all others."""
    rival = max((m for m in figure if m not in (*OURS, *KNOWING)), key=lambda method: figure[method]["mean"])
    gap = figure[rival]
    return _row(name, rival, scale * gap["ahead"], scale * gap["low"], scale * gap["high"])


def _row(name: str, rival: str, ahead: float, low: float, high: float) -> dict[str, Any]:
    kind = "ahead" if low > 0 else "behind" if high < 0 else "level"
    return {
        "family": f"{name}, against {rival}",
        "rival": rival,
        "ahead": ahead,
        "low": low,
        "high": high,
        "kind": kind,
    }


def _sentence(row: dict[str, Any]) -> str:
    interval = f"{row['ahead']:+.1f} points, {row['low']:+.1f} to {row['high']:+.1f}"
    word = {"ahead": "ahead of", "behind": "behind", "level": "level with"}[row["kind"]]
    return f"**SCP is {word} the best rival, {row['rival']}** ({interval})."


def _forest(rows: Sequence[dict[str, Any]]) -> Any:
    """Differences with intervals, one line for each family, and a line at 0."""
    order = [row["family"] for row in rows]
    base = alt.Chart(alt.Data(values=list(rows))).encode(
        y=alt.Y("family:N", sort=order, title=None, axis=alt.Axis(labelLimit=360)),
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=["ahead", "level", "behind"], range=[PALETTE[2], PALETTE[5], PALETTE[4]]),
            legend=alt.Legend(title=None, orient="top", symbolType="circle"),
        ),
    )
    zero = alt.Chart(alt.Data(values=[{"x": 0}])).mark_rule(color="#5c6570", strokeDash=[4, 3]).encode(x="x:Q")
    rule = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="points ahead of the best rival"), x2="high:Q")
    return alt.layer(zero, rule, base.mark_circle(size=80, opacity=1).encode(x="ahead:Q")).properties(
        width=420, height=220
    )


def _by_length(name: str, table: Sequence[dict[str, Any]]) -> Any:
    """Mean value by length, with the intervals of the difference to `SCP()` as bars."""
    means: dict[str, list[float]] = {}
    for row in table:
        means.setdefault(row["method"], []).append(row["mean"])
    order = sorted(means, key=lambda method: -sum(means[method]) / len(means[method]))
    shown = [method for method in order if method in OURS]
    shown += [method for method in order if method not in (*shown, *KNOWING)][: MOST - len(shown)]
    level = {row["at"]: row["mean"] for row in table if row["method"] == AUTO}
    rows = [
        {**row, "low": level[row["at"]] - row["high"], "high": level[row["at"]] - row["low"]}
        for method in shown
        for row in table
        if row["method"] == method
    ]
    return _grouped(rows, "length of the list", KINDS[name])


def _grouped(rows: Sequence[dict[str, Any]], title: str, value: str) -> Any:
    """Dots with intervals, side by side for each length, in the order of the methods."""
    rows = [_interval(row) | row for row in rows]
    shown, lengths = (list(dict.fromkeys(row[key] for row in rows)) for key in ("method", "at"))
    colours = [*PALETTE, "#3b3f45"][: len(shown)]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("at:N", title=title, sort=lengths, axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("method:N", sort=shown),
        color=alt.Color("method:N", sort=shown, scale=alt.Scale(domain=shown, range=colours),
                        legend=alt.Legend(title=None, orient="right", columns=1, symbolType="circle")),
    )  # fmt: skip
    scale = alt.Scale(zero=False)
    bars = base.mark_rule(strokeWidth=1.6).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    dots = base.mark_circle(size=46, opacity=1).encode(y=alt.Y("mean:Q", title=value, scale=scale))
    return alt.layer(bars, dots).properties(width=560, height=300)


def _lines(
    records: Sequence[dict[str, Any]], x: str, title: str, value: str, width: int = 520, *, zero: bool = True
) -> Any:
    """Lines with bands."""
    methods = list(dict.fromkeys(row["method"] for row in records))
    rows = [row | _interval(row) for row in records]
    scale = alt.Scale(type="log", nice=False, padding=6) if x == "n_train" else alt.Scale(nice=False, padding=12)
    ticks = sorted({row[x] for row in records})
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X(f"{x}:Q", title=title, scale=scale, axis=alt.Axis(values=ticks, format="d")),
        color=alt.Color("method:N", sort=methods, scale=alt.Scale(domain=methods, range=list(PALETTE[: len(methods)])),
                        legend=alt.Legend(title=None, orient="top", columns=3)),
    )  # fmt: skip
    band = base.mark_area(opacity=0.1).encode(y=alt.Y("low:Q", title=value, scale=alt.Scale(zero=zero)), y2="high:Q")
    line = base.mark_line(strokeWidth=2.2, point={"size": 30, "filled": True}).encode(y=alt.Y("mean:Q", title=value))
    return alt.layer(band, line).properties(width=width, height=260)


def _panels(records: Sequence[dict[str, Any]], x: str, title: str, value: str) -> Any:
    """Lists of 3 and of 5 side by side."""
    parts = [
        _lines([row for row in records if row["length"] == n], x, title, value, 300).properties(title=f"lists of {n}")
        for n in (3, 5)
    ]
    return alt.hconcat(*parts)


def _dots(
    records: Sequence[dict[str, Any]],
    title: str = "ROUGE-1R, per cent",
    *,
    lowest_first: bool = False,
    ours: str = "SCP",
) -> Any:
    """Means with intervals, one line for each method, one panel for each set."""
    sign, panels = 1 if lowest_first else -1, []
    for name in dict.fromkeys(row["set"] for row in records):
        part = [row for row in records if row["set"] == name]
        rows = [_interval(row) | row | {"learned": ours in row["method"]} for row in part]
        order = [row["method"] for row in sorted(rows, key=lambda row: sign * row["mean"])]
        base = alt.Chart(alt.Data(values=rows)).encode(
            y=alt.Y("method:N", sort=order, title=None, axis=alt.Axis(labelLimit=260)),
            color=alt.condition("datum.learned", alt.value(PALETTE[0]), alt.value(PALETTE[5])),
        )
        rule = base.mark_rule(strokeWidth=2).encode(
            x=alt.X("low:Q", title=title, scale=alt.Scale(zero=False)), x2="high:Q"
        )
        dots = base.mark_circle(size=70, opacity=1).encode(x="mean:Q")
        panels.append(alt.layer(rule, dots).properties(width=240, height=240, title=name))
    return panels[0].properties(width=420) if len(panels) == 1 else alt.hconcat(*panels)


def _save(name: str, chart: Any) -> str:
    (DOCS / "images" / f"{name}.png").write_bytes(as_png(as_svg(specification(chart)), scale=1.5))
    return f"{name}.png"


def _family_tables(record: dict[str, Any]) -> str:
    """Means, paired differences, training sizes, lengths, and where a rival is ahead."""
    sizes = record.get("failures by training size", {})
    columns = list(next(iter(sizes.values()))) if sizes else []
    head = ["method", "mean", f"{AUTO} ahead by", *(f"failures after {size}" for size in columns)]
    rows = [
        [name, f"{row['mean']:.4f}", _gap(row), *(f"{sizes[name][size]:.2f}" for size in columns)]
        for name, row in record["figure"].items()
    ]
    note = f"Failures are multiples of those of {AUTO}, by training size.\n\n" if columns else ""
    behind = "\n".join(f"- {line}" for line in record["behind"])
    return f"{note}{table(head, rows)}\n\n{behind}"


def _wide(records: Iterable[dict[str, Any]], length: int, what: str = "training environments") -> str:
    rows = [row for row in records if row["length"] == length]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    sizes = list(dict.fromkeys(row["n_train"] for row in rows))
    cell = {(row["n_train"], row["method"]): _value(row) for row in rows}
    return table([what, *methods], [[size, *(cell[size, name] for name in methods)] for size in sizes])


def _rouge(name: str) -> str:
    records = _paper()[name]["records"]
    heads = [head for head in records[0] if head != "method"] + ["1R below SCP"]
    return table(
        ["method", *heads], [[r["method"], *(_value(r[h]) if r.get(h) else "" for h in heads)] for r in records]
    )


def _interval(row: dict[str, Any]) -> dict[str, float]:
    return {"low": row["mean"] - row.get("half", 0.0), "high": row["mean"] + row.get("half", 0.0)}


def _value(row: dict[str, Any]) -> str:
    return f"{row['mean']:.1f} ± {row['half']:.1f}" if "half" in row else f"{row['mean']:.1f}"


def _gap(row: dict[str, Any]) -> str:
    return "" if row["ahead"] == row["low"] == 0 else f"{row['ahead']:+.4f} ({row['low']:+.4f} to {row['high']:+.4f})"


def _fold(title: str, text: str) -> str:
    return f"<details markdown>\n<summary>{title}</summary>\n\n{text}\n\n</details>"


def table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


if __name__ == "__main__":
    main()
