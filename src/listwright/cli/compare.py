"""`listwright compare`: cross-validate several methods on a table and write a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from listwright.cli import options as given
from listwright.cli.show import notes, progress, show_json, show_section, show_text
from listwright.cli.sources import Read, check_folder, on_tables

if TYPE_CHECKING:
    from listwright.evaluation import Comparison
    from listwright.report import ReportPage, Section

METHODS = {
    "scp": ("listwright.estimators.scp", "SCP", {}),
    "scp-fast": ("listwright.estimators.scp", "SCP", {"effort": "fast"}),
    "conseqopt": ("listwright.estimators.conseqopt", "ConSeqOpt", {}),
    "top-k": ("listwright.baselines", "TopK", {}),
    "boosting": ("listwright.baselines", "TopK", {"estimator": "boosting"}),
    "static": ("listwright.baselines", "StaticList", {}),
    "mmr": ("listwright.baselines", "MMR", {"relevance": "ridge"}),
    "dpp": ("listwright.baselines", "DPP", {"relevance": "ridge"}),
    "nearest": ("listwright.baselines", "NearestCover", {}),
    "forest": ("listwright.baselines", "ForestCover", {}),
    "random": ("listwright.baselines", "Random", {}),
    "oracle": ("listwright.baselines", "Oracle", {}),
}
USUAL = "scp,conseqopt,top-k,mmr,random,oracle"


def _parse_methods(names: str) -> str:
    chosen = [name.strip() for name in names.split(",")]
    unknown = [name for name in chosen if name not in METHODS]
    if unknown:
        raise typer.BadParameter(f"there is no method {unknown[0]!r}. Choose from {', '.join(METHODS)}.")
    return ",".join(chosen)


@on_tables
def compare(
    read: Read,
    methods: Annotated[
        str,
        typer.Option(
            callback=_parse_methods,
            help=f"Methods, comma-separated; all are compared with the first. Known: {', '.join(METHODS)}.",
        ),
    ] = USUAL,
    lengths: Annotated[str, typer.Option("--lengths", "--length", help="Lengths of lists, comma-separated.")] = "1,3,5",
    budgets: Annotated[
        str | None,
        typer.Option("--budgets", "--budget", help="Total sizes of lists, comma-separated, instead of lengths."),
    ] = None,
    per_group: given.PerGroup = None,
    train_sizes: Annotated[
        str | None,
        typer.Option(help="Training set sizes, comma-separated: numbers of problems, or shares such as 0.5."),
    ] = None,
    folds: Annotated[
        int, typer.Option(min=2, help="Number of folds; each is tested with a model trained on the others.")
    ] = 5,
    seeds: Annotated[int, typer.Option(min=1, help="Number of repetitions, each with other folds.")] = 1,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for report.html, results.json and figures/.")] = Path(
        "report"
    ),
    as_json: given.AsJson = False,
) -> None:
    """Cross-validate several methods on the same folds of a table, and write a report with paired intervals and
    charts."""
    wanted: dict[str, Any] = {"lengths": given.numbers(lengths, "--lengths", int)}
    if budgets is not None:
        wanted["budgets"] = given.numbers(budgets, "--budgets", float)
    if train_sizes is not None:
        sizes = given.numbers(train_sizes, "--train-sizes", float)
        wanted["train_sizes"] = [int(size) if size > 1 else size for size in sizes]
    check_folder(out)
    from listwright.evaluation import compare as compare_methods
    from listwright.report import check_charts, write_report

    check_charts()
    problems = _limit_groups(read()[0], per_group)
    given.sizes_for(min(wanted["budgets"]) if "budgets" in wanted else None, problems, "Name it with --size-column.")
    chosen = {name: _method(name) for name in methods.split(",")}
    with notes(), progress("comparing"):
        comparison = compare_methods(chosen, problems, folds=folds, seeds=seeds, **wanted)
    report = build_report(comparison, f"{len(problems):,} problems, {problems.n_rows:,} candidates; {folds} folds.")
    with notes():
        report = replace(report, sections=[*report.sections, *_model_sections(chosen, problems, wanted)])
    results = comparison.table().records()
    written = write_report(report, out, results=results)
    if as_json:
        show_json({"means": results, "differences": _differences(comparison)})
        return
    show_section(report.sections[0])
    show_text(report.findings)
    print(f"\nWrote {written[0]}, {written[-1].name} and figures/")


def _limit_groups(problems: Any, per_group: Any) -> Any:
    # The limit is attached to the problems, so that it binds all methods alike, including those without such a
    # parameter.
    per_group = given.groups_for(per_group, problems, "Name it with --group-column.")
    if per_group is None:
        return problems
    return (problems.sample() if hasattr(problems, "shards") else problems).with_constraints(per_group=per_group)


def build_report(comparison: Comparison, about: str) -> ReportPage:
    from listwright.report import Figure, ReportPage, ReportTable, Section

    means = comparison.table()
    rows = [
        [_text(entry) for entry in (record | _describe_limits(record, comparison.limit)).values()]
        for record in means.records()
    ]
    heads = [name.replace("train_size", "learned from").replace("_", " ") for name in means.columns]
    caption = "Mean over problems; learned from this many problems of the other folds."
    parts: list[Any] = [ReportTable(heads, rows, caption)]
    apart = _differences(comparison)
    if apart:
        shown = ["method", "ahead", "low", "high", "wins", "losses", "ties"]
        limit = comparison.limit
        over = f"over all {limit}s" if len(set(means[limit].tolist())) > 1 else f"at one {limit}"
        caption = f"{comparison.methods[0]} minus the other method, problem by problem, {over}; 95 % interval."
        parts.append(ReportTable(shown, [[_text(record[name]) for name in shown] for record in apart], caption))
    parts.append(Figure("values", comparison.plot(), "Mean value with 95 % intervals."))
    return ReportPage("Methods compared", findings(comparison), [Section("Methods on the same folds", about, parts)])


def _model_sections(methods: dict[str, Any], problems: Any, wanted: dict[str, Any]) -> Sequence[Section]:
    """Report sections on what the first learned method uses: feature importance, weights and training history."""
    from listwright.estimators.base import ListEstimator
    from listwright.report.model_page import learned_sections

    model = next((method for method in methods.values() if isinstance(method, ListEstimator)), None)
    if model is None:
        return []
    limit = {"budget": max(wanted["budgets"])} if "budgets" in wanted else {"length": max(wanted["lengths"])}
    return learned_sections(model.set_params(**limit, allow_short=True), problems)


def findings(comparison: Comparison) -> str:
    """One sentence that places the first method relative to each other method."""
    # A difference is claimed only where its 95 % interval excludes 0, so the sentence never calls noise a win.
    parts = [_standing(record) for record in _differences(comparison)]
    return f"{comparison.methods[0]} is {', '.join(parts)}." if parts else f"Only {comparison.methods[0]} was measured."


def _standing(record: dict[str, Any]) -> str:
    low, high = record["low"], record["high"]
    if low is None or low <= 0 <= high:
        return f"level with {record['method']}"
    if low > 0:
        return f"ahead of {record['method']} by {low:.3f} to {high:.3f}"
    return f"behind {record['method']} by {-high:.3f} to {-low:.3f}"


def _differences(comparison: Comparison) -> list[dict[str, Any]]:
    if len(comparison.methods) < 2:
        return []
    records = comparison.differences(comparison.methods[0], pooled=True).records()
    return [{key: _finite(value) for key, value in record.items()} for record in records]


def _describe_limits(record: dict[str, Any], limit: str) -> dict[str, str]:
    size = record["train_size"]
    learned_from = "all" if size == 1 else f"{100 * size:g} %" if size < 1 else f"{size:.0f}"
    return {"train_size": learned_from, limit: f"{record[limit]:g}"}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not abs(value) < float("inf") else value


def _text(value: Any) -> str:
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def _method(name: str) -> Any:
    # Its module is imported only here, so that a comparison of two methods does not load all of them.
    module, kind, settings = METHODS[name]
    return getattr(import_module(module), kind)(**settings)
