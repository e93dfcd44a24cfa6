"""`python -m benchmarks.results_page`: writes the figures of pages from the results that the benchmarks wrote.

In docs/results.md, docs/gallery.md and README.md, text between `<!-- results: NAME -->` and `<!-- end of results -->`
is written anew, and the pictures are drawn; the rest of a page stays. Nothing is measured here.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from scipy import stats

from benchmarks.context import section as packing_tables
from benchmarks.feedback import section as feedback_tables
from benchmarks.quality.methods import AUTO, FAST
from benchmarks.results_charts import dots, forest, grouped, lines, panels, save
from benchmarks.results_quoted import BENCHMARKS, QUOTED, read_results

ROOT = BENCHMARKS.parent
PAGES = ("docs/results.md", "docs/gallery.md", "README.md")
BLOCK = re.compile(r"(<!-- results: (.+?) -->\n).*?(<!-- end of results -->)", re.DOTALL)
OURS = (AUTO, FAST)
RANK = {method: place for place, method in enumerate(OURS)}  # the same places and colours in all charts
KNOWING = ("oracle", "Oracle", "Random", "Greedy (Oracle)")  # no rivals: all knowledge, and none
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
ONLINE, ONLINE_RIVAL = "OnlineSCP, inverse gap weighting", "LSBGreedy"


def main() -> None:
    """Write all blocks of all pages."""
    for name in PAGES:
        page = ROOT / name
        page.write_text(with_results(page.read_text(encoding="utf8")), encoding="utf8")


def with_results(page: str) -> str:
    """Return a page with what its comments name; draw the pictures, too."""
    return BLOCK.sub(lambda match: f"{match[1]}\n{BLOCKS[match[2]]()}\n\n{match[3]}", page)


def overview() -> str:
    """How far the learned lists are ahead of the best rival, family by family."""
    rows = _overview_rows()
    save("results-overview", forest(rows))
    return (
        f"![Points by which learned lists are ahead of the best rival, by family](images/results-overview.png)\n\n"
        f"**{_counts(rows)}** Points are percentage points of the measure of each family, paired on the same problems "
        "(from clicks: on the same populations of readers), with 95 % intervals. Learned: `SCP()`; for the summaries "
        "of the paper's experiment, `SCP` as there; from clicks, `OnlineSCP`. The best rival is the one with the "
        "highest mean of all that were run."
    )


def measured() -> str:
    """The part of the front page: the same picture, and single figures with their commands."""
    return (
        f"![Points by which learned lists are ahead of the best rival, by family](docs/images/results-overview.png)\n\n"
        f"{_counts(_overview_rows())} (In points, paired, with 95 % intervals.) [Results](docs/results.md) has a "
        "picture for each family and the commands; [Performance](docs/performance.md) has the timings.\n\n"
        f"{QUOTED['front page']()}"
    )


def family(name: str) -> str:
    """One family of the comparison: all methods by length, who is ahead, and the means."""
    record = read_results("quality")[name]
    looks = json.loads((BENCHMARKS / "quality" / "looks.json").read_text(encoding="utf8"))
    day = max(look["day"] for look in looks if name in look["families"])
    picture = save(f"quality-{name.replace(' ', '-')}", _by_length(name, record["by length"]))
    sets = f"{record['sets']} sets, " if record["sets"] > 1 else ""
    seeds = f"{record['seeds']} seed{'' if record['seeds'] == 1 else 's'}"
    return _section(
        f"![{name}: mean value by length](images/{picture})",
        f"{_sentence(_against_best(name, record['figure']))} {sets}{record['problems']:,} problems, {seeds}, "
        f"{day}. Bars: 95 % intervals of the paired difference to SCP.",
        _fold("In numbers", _family_tables(record)),
    )


def schedules() -> str:
    """Closed gaps of solver schedules under a time limit."""
    results = read_results("schedules")
    gaps, seconds = results["gaps"], results["seconds"]
    rows = [
        {"method": method, "at": name.replace("-20", "|20").replace("12-", "12|"), "mean": row[method]}
        for name, row in gaps.items()
        for method in seconds
        if name != "mean"
    ]
    save("results-schedules", grouped(rows, None, "closed gap"))
    means = ", ".join(f"{method} {share:.2f}" for method, share in gaps["mean"].items() if method != AUTO)
    times = ", ".join(f"{method} {taken:g}" for method, taken in seconds.items())
    cells = [[name, *(f"{row[method]:.2f}" for method in seconds)] for name, row in gaps.items()]
    return _section(
        "![Closed gap by scenario and method](images/results-schedules.png)",
        f"**SCP closes {gaps['mean'][AUTO]:.2f} of the gap in the mean**, {means}. {_as_of(results)} Median seconds of "
        f"processor time of a fit: {times}.",
        _fold("In numbers", table(["scenario", *seconds], cells)),
    )


def budgets() -> str:
    """Summaries and passages under a budget: all methods, and how far `SCP()` is ahead of the best rival."""
    results = read_results("budgets")
    places = {place: _against_best(", ".join(place), figure) for place, figure in _budget_figures().items()}
    level = {(row["set"], row["at"]): row["mean"] for row in results["figures"] if row["method"] == AUTO}
    rows = [
        row | {"at": f"{row['set'].replace(', ', '|')}|{row['at']}"} | _around(row, level[row["set"], row["at"]])
        for row in results["figures"]
    ]
    save("results-budgets", grouped(rows, None, "mean value"))
    cell = {(row["method"], row["set"], row["at"]): row for row in results["figures"]}
    head = ["method", *(f"{name}, {at}" for name, at in places)]
    cells = [[method, *(_with_lead(cell[method, *place]) for place in places)] for method in results["seconds"]]
    slowest = ", ".join(f"{method} {max(taken.values()):g}" for method, taken in results["seconds"].items())
    counts = {kind: sum(row["kind"] == kind for row in places.values()) for kind in ("ahead", "level", "behind")}
    n = ", ".join(f"{count} of {name.partition(', ')[2]}" for name, count in results["problems"].items())
    return _section(
        "![Mean value by set and budget](images/results-budgets.png)",
        f"**SCP is ahead of the best rival in {counts['ahead']} of {len(places)} settings, level in {counts['level']}, "
        f"behind in {counts['behind']}.** {_as_of(results)} Bars: 95 % intervals of the paired difference to SCP over "
        f"test problems ({n}).",
        _fold(
            "In numbers",
            f"In brackets: how far SCP is ahead.\n\n{table(head, cells)}\n\nMedian seconds of processor time of a fit, "
            f"of the slowest set: {slowest}.",
        ),
    )


def trajectory() -> str:
    """The paper's robot arm: failure by training environments, for lists of 3 and 5."""
    paper = read_results("paper")
    records = [row for row in paper[ARM]["records"] if row["length"] in (3, 5)]
    save("results-trajectory", panels(records, "n_train", "training environments", "failure, per cent"))
    last = {row["method"]: row for row in records if row["n_train"] == 310 and row["length"] == 5}
    rivals = ", ".join(f"{name} in {_value(last[name])}" for name in ("ConSeqOpt", "Static list", "Regression"))
    return _section(
        "![Failure of lists of 3 and 5 by the number of training environments](images/results-trajectory.png)",
        f"**With all 310 environments, lists of 5 by SCP fail in {_value(last['SCP'])} % of the test environments**, "
        f"by {rivals}. {_as_of(paper)} Bands: 95 % intervals over test environments.",
        _fold("Lists of 5 in numbers", _wide(records, 5)),
    )


def news() -> str:
    """Simulated news readers: no click by the number of recommendations."""
    paper = read_results("paper")
    records = [row for row in paper[NEWS]["records"] if row["method"] != "Random"]
    save("results-news", lines(records, "length", "recommendations", "no click, per cent"))
    last = {row["method"]: row for row in records if row["length"] == 5}
    rivals = ", ".join(f"{name} in {_value(last[name])}" for name in ("Regression", "ConSeqOpt", "Static list"))
    return _section(
        "![No click by the number of recommendations](images/results-news.png)",
        f"**Five recommendations by SCP get no click in {_value(last['SCP'])} % of the visits**, by {rivals}. "
        f"{_as_of(paper)} Bands: 95 % intervals over folds, not paired.",
    )


def summaries() -> str:
    """ROUGE-1R of summaries of two published sets."""
    paper = read_results("paper")
    records = [
        {"set": name.removeprefix("summaries, "), "method": row["method"], **row["ROUGE-1R"]}
        for name in SUMMARIES
        for row in paper[name]["records"]
    ]
    save("results-summaries", dots(records, "ROUGE-1R, per cent"))
    leads = []
    for name in SUMMARIES:
        gaps = ", ".join(f"{method} by {_value(_below(name)[method])}" for method in ("ConSeqOpt", "DPP", "SubMod"))
        leads.append(f"on {name.removeprefix('summaries, ')} ahead of {gaps} points")
    tables = "\n\n".join(f"{name}\n\n{_rouge(paper[name]['records'])}" for name in SUMMARIES)
    return _section(
        "![ROUGE-1R of summaries by method](images/results-summaries.png)",
        f"**SCP is {'; '.join(leads)}.** {_as_of(paper)} Paired by paper or topic, with 95 % intervals.",
        _fold("All scores", tables),
    )


def training() -> str:
    """Figure (c): ROUGE-1R of summaries by the number of training papers."""
    paper = read_results("paper")
    records = paper[TRAINING]["records"]
    save("results-training", lines(records, "n_train", "training papers", "ROUGE-1R, per cent", zero=False))
    first = {row["method"]: row for row in records if row["n_train"] == 3}
    rivals = ", ".join(f"{name} {_value(first[name])}" for name in ("ConSeqOpt", "DPP", "SubMod"))
    return _section(
        "![ROUGE-1R by the number of training papers](images/results-training.png)",
        f"**After three papers SCP has {_value(first['SCP'])} %**, {rivals}. {_as_of(paper)} Bands: 95 % intervals "
        "over subsets of the training papers.",
        _fold("In numbers", _wide(records, records[0]["length"], "training papers")),
    )


def packing() -> str:
    """Passages for questions: all support in the first 2, 3 or 5, with intervals over questions."""
    results = read_results("context")
    names = {"packer as shipped, without the test questions": "packer, as shipped"}
    records = [
        {"method": names.get(name, name), "at": length, "mean": share, **_share_interval(share, QUESTIONS)}
        for name, row in sorted(results["hotpotqa"].items(), key=lambda item: -item[1]["shares"][0])
        for length, share in zip((2, 3, 5), row["shares"], strict=True)
    ]
    save("results-packing", grouped(records, "passages", "share of questions with all support"))
    at_two = {row["method"]: f"{100 * row['mean']:.0f}" for row in records if row["at"] == 2}
    return _section(
        "![Share of questions with all supporting passages in the first 2, 3 and 5](images/results-packing.png)",
        f"**Both supporting passages are the first two for {at_two[PACKER]} % of the questions with the fitted "
        f"packer**, {at_two['packer, as shipped']} as shipped, {at_two['ConSeqOpt, boosted trees']} with ConSeqOpt, "
        f"{at_two['boosted trees, sorted']} sorted by boosted trees, {at_two['MMR, tuned']} with tuned MMR, "
        f"{at_two['BM25']} by BM25. HotpotQA, {QUESTIONS} questions. {_as_of(results)} Bars: 95 % intervals over "
        "questions, not paired; learned rivals see the same features as the packer.",
        _fold(
            "In numbers: made-up questions, behind scores, what <code>stop</code> saves, times",
            packing_tables.written(results).strip(),
        ),
    )


def clicks() -> str:
    """Learning from clicks: lists without a click by method, over three populations."""
    results = read_results("feedback")
    runs = results["failures"]
    tested = {name: [100 * run[name]["tested"] for run in runs] for name in runs[0]}
    records = [
        {"method": name, "set": "lists without a click, per cent", "mean": statistics.mean(values), "low": min(values),
         "high": max(values)}
        for name, values in tested.items()
    ]  # fmt: skip
    save("results-clicks", dots(records, "per cent", lowest_first=True))
    mean = {row["method"]: f"{row['mean']:.1f}" for row in records}
    return _section(
        "![Lists of five without a click, by method](images/results-clicks.png)",
        f"**Of lists of five that OnlineSCP learned from clicks alone, {mean[ONLINE]} % get no click**; with full "
        f"information {mean['SCP, full information']}, LSBGreedy {mean['LSBGreedy']}, the best static list in "
        f"hindsight {mean['static list in hindsight']}, ranked bandits {mean['ranked bandits']}. "
        f"{_as_of(results, 'failures')} "
        f"Lines: the lowest and the highest of {len(runs)} populations of simulated readers.",
        _fold(
            "In numbers: regret, movies, tastes that change, trees, time and memory", feedback_tables.learning(results)
        ),
    )


def off_policy() -> str:
    """Estimates of other policies from a log: error by estimator, over all settings."""
    results = read_results("feedback")
    settings = [{name: row["error"] for name, row in each["estimators"].items()} for each in results["estimates"]]
    complete = [errors for errors in settings if None not in errors.values()]
    records = [
        {
            "method": short,
            "set": "error of an estimate",
            **_quartiles([errors[name] / min(errors.values()) for errors in complete]),
        }
        for name, short in feedback_tables.SHORT.items()
        if name in complete[0]
    ]
    save("results-off-policy", dots(records, "multiple of the lowest error", lowest_first=True, ours="switch"))
    switch = next(row for row in records if row["method"] == "switch")
    return _section(
        "![Error of each estimator as a multiple of the lowest](images/results-off-policy.png)",
        f"**The error of `switch`, which `evaluate` recommends, is {switch['mean']:.2f} times the lowest of its "
        f"setting in the median of the {len(complete)} of {len(settings)} settings in which all estimators have "
        f"evidence.** {_as_of(results, 'estimates')} Lines: from the lower to the upper quartile of these settings.",
        _fold("How it was measured, coverage, and a real log", feedback_tables.estimates(results)),
    )


def looks() -> str:
    """How often the data to report on was looked at, and why."""
    every = json.loads((BENCHMARKS / "quality" / "looks.json").read_text(encoding="utf8"))
    return "\n".join(f"{i}. {look['day']}, code {look['code']}: {look['why']}" for i, look in enumerate(every, start=1))


BLOCKS: dict[str, Callable[[], str]] = {
    "overview": overview,
    "looks": looks,
    "measured": measured,
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
    **{f"gallery, {name}": quote for name, quote in QUOTED.items() if name != "front page"},
}


def _overview_rows() -> list[dict[str, Any]]:
    rows = [_against_best(name, record["figure"]) for name, record in read_results("quality").items()]
    for name in SUMMARIES:
        below = {method: gap for method, gap in _below(name).items() if not method.startswith("SCP")}
        rival = min(below, key=lambda method: below[method]["mean"])
        mean, half = below[rival]["mean"], below[rival]["half"]
        rows.append(_row(f"the paper's {name}", rival, mean, mean - half, mean + half))
    rows += [_against_best(f"{name}, {at}", figure) for (name, at), figure in _budget_figures().items()]
    runs = read_results("feedback")["failures"]
    leads = [100 * (run[ONLINE_RIVAL]["tested"] - run[ONLINE]["tested"]) for run in runs]
    mean = statistics.mean(leads)
    half = float(stats.t.ppf(0.975, len(leads) - 1)) * statistics.stdev(leads) / len(leads) ** 0.5
    rows.append(_row("clicks of news readers", ONLINE_RIVAL, mean, mean - half, mean + half))
    return sorted(rows, key=lambda row: -row["ahead"])


def _counts(rows: Sequence[dict[str, Any]]) -> str:
    counts = {kind: sum(row["kind"] == kind for row in rows) for kind in ("ahead", "level", "behind")}
    return (
        f"The learned lists are ahead of the best rival in {counts['ahead']} of {len(rows)} comparisons, level in "
        f"{counts['level']}, behind in {counts['behind']}."
    )


def _budget_figures() -> dict[tuple[str, str], dict[str, Any]]:
    figures: dict[tuple[str, str], dict[str, Any]] = {}
    for row in read_results("budgets")["figures"]:
        figures.setdefault((row["set"], row["at"]), {})[row["method"]] = row
    return figures


def _below(name: str) -> dict[str, Any]:
    """Return how far each method is below SCP in ROUGE-1R, by method; without those that know the references."""
    records = read_results("paper")[name]["records"]
    return {
        row["method"]: row["1R below SCP"] for row in records if "1R below SCP" in row and row["method"] not in KNOWING
    }


def _against_best(name: str, figure: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a family: `SCP()` against the best of all others."""
    rival = max((m for m in figure if m not in (*OURS, *KNOWING)), key=lambda method: figure[method]["mean"])
    gap = figure[rival]
    return _row(name, rival, 100 * gap["ahead"], 100 * gap["low"], 100 * gap["high"])


def _row(name: str, rival: str, ahead: float, low: float, high: float) -> dict[str, Any]:
    kind = "ahead" if low > 0 else "behind" if high < 0 else "level"
    family = f"{name}, against {rival}"
    return {"family": family, "rival": rival, "ahead": ahead, "low": low, "high": high, "kind": kind}


def _sentence(row: dict[str, Any]) -> str:
    interval = f"{row['ahead']:+.1f} points, {row['low']:+.1f} to {row['high']:+.1f}"
    word = {"ahead": "ahead of", "behind": "behind", "level": "level with"}[row["kind"]]
    return f"**SCP is {word} the best rival, {row['rival']}** ({interval})."


def _by_length(name: str, rows: Sequence[dict[str, Any]]) -> Any:
    """Draw mean values by length, with the intervals of the difference to `SCP()`; ours first, then by mean."""
    means: dict[str, list[float]] = {}
    for row in rows:
        means.setdefault(row["method"], []).append(row["mean"])
    rivals = [method for method in means if method not in KNOWING]
    order = sorted(rivals, key=lambda method: (RANK.get(method, len(RANK)), -statistics.mean(means[method])))
    level = {row["at"]: row["mean"] for row in rows if row["method"] == AUTO}
    shown = [row | _around(row, level[row["at"]]) for method in order for row in rows if row["method"] == method]
    return grouped(shown, "length of the list", KINDS[name])


def _around(row: dict[str, Any], level: float) -> dict[str, float]:
    """Turn the interval of how far SCP is ahead into one around the mean of the other method."""
    return {"low": level - row["high"], "high": level - row["low"]}


def _family_tables(record: dict[str, Any]) -> str:
    """Means, paired differences, failures by training size, and where a rival is surely ahead."""
    sizes = record.get("failures by training size", {})
    columns = list(next(iter(sizes.values()))) if sizes else []
    head = ["method", "mean", f"{AUTO} ahead by", *(f"failures after {size}" for size in columns)]
    rows = [
        [name, f"{row['mean']:.4f}", _gap(row), *(f"{sizes[name][size]:.2f}" for size in columns)]
        for name, row in record["figure"].items()
    ]
    note = f"Failures are multiples of those of {AUTO}, by training size.\n\n" if columns else ""
    behind = "\n".join(f"- {line}" for line in record["behind"][1:])
    return f"{note}{table(head, rows)}\n\n{behind}"


def _wide(records: Iterable[dict[str, Any]], length: int, what: str = "training environments") -> str:
    rows = [row for row in records if row["length"] == length]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    sizes = list(dict.fromkeys(row["n_train"] for row in rows))
    cell = {(row["n_train"], row["method"]): _value(row) for row in rows}
    return table([what, *methods], [[size, *(cell[size, name] for name in methods)] for size in sizes])


def _rouge(records: Sequence[dict[str, Any]]) -> str:
    heads = [head for head in records[0] if head != "method"] + ["1R below SCP"]
    rows = [[row["method"], *(_value(row[head]) if row.get(head) else "" for head in heads)] for row in records]
    return table(["method", *heads], rows)


def _share_interval(share: float, n: int) -> dict[str, float]:
    """Return the 95 % interval of a share of n (Wilson)."""
    z = 1.96**2 / n
    middle, half = (share + z / 2) / (1 + z), (share * (1 - share) * z + z * z / 4) ** 0.5 / (1 + z)
    return {"low": middle - half, "high": middle + half}


def _quartiles(values: Sequence[float]) -> dict[str, float]:
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"low": low, "mean": middle, "high": high}


def _as_of(results: dict[str, Any], part: str = "") -> str:
    return f"As of {results.get('days', {}).get(part, results['day'])}."


def _value(row: dict[str, Any]) -> str:
    return f"{row['mean']:.1f} ± {row['half']:.1f}" if "half" in row else f"{row['mean']:.1f}"


def _with_lead(row: dict[str, Any]) -> str:
    lead = "" if row["method"] == AUTO else f" ({row['ahead']:+.3f}: {row['low']:+.3f} to {row['high']:+.3f})"
    return f"{row['mean']:.3f}{lead}"


def _gap(row: dict[str, Any]) -> str:
    return "" if row["ahead"] == row["low"] == 0 else f"{row['ahead']:+.4f} ({row['low']:+.4f} to {row['high']:+.4f})"


def _section(*parts: str) -> str:
    return "\n\n".join(parts)


def _fold(title: str, text: str) -> str:
    return f"<details markdown>\n<summary>{title}</summary>\n\n{text}\n\n</details>"


def table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    cells = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in cells)


if __name__ == "__main__":
    main()
