"""`listwright demo`, `listwright reproduce` and `listwright data`: experiments, and the published data they take."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from listwright.cli.show import notes, progress, show_demo, show_json, show_section, show_text, table_bytes
from listwright.experiments import EXPERIMENTS, Experiment

if TYPE_CHECKING:
    from listwright.experiments.records import Record
    from listwright.report import Section

TABLES: dict[str, dict[str, Any]] = {
    "past.csv": {"n_readers": 200, "random_state": 1},
    "held_out.csv": {"n_readers": 100, "first": 200, "random_state": 2},
    "new.csv": {"n_readers": 20, "first": 300, "clicks": False, "random_state": 3},
}  # what readers saw, and clicked


def demo(
    out: Annotated[Path, typer.Option(help="File to write the report to.")] = Path("report.html"),
    tables: Annotated[
        Path | None, typer.Option(help="Write past.csv, held_out.csv and new.csv to this folder instead of a report.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False,
) -> None:
    """Train a policy that lists passages for made-up questions, compare it with other methods, and write a report with
    charts and lists. With --tables, write example tables for the other commands instead."""
    if tables is not None:
        written = write_tables(tables)
        show_json(written) if as_json else print("Wrote " + ", ".join(written))
        return
    with progress("learning"), ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        apart = pool.submit(_learn_apart)  # it imports and learns while this process does so with the other methods
        from listwright.experiments import demo as experiment
        from listwright.experiments.demo import report
        from listwright.report import write_page

        results = experiment.run(apart=apart.result)
    page = write_page(report(results), out)
    if as_json:
        show_json(results.records)
        return
    show_demo(results, page)


def _learn_apart() -> Any:
    """Fit half of the demo's methods. Runs in a second process, while the first one fits the others."""
    from listwright.experiments.demo import learn_apart

    return learn_apart()


def write_tables(folder: Path) -> list[str]:
    # Readers differ between the tables, so that held-out and new problems really are new.
    from listwright.report.page import write_bytes
    from listwright.simulate.readers import table

    written = {folder / name: table_bytes(table(**settings), ".csv") for name, settings in TABLES.items()}
    for path, content in written.items():
        write_bytes(path, content)
    return [str(path) for path in written]


NAMES = (*EXPERIMENTS, "all")
CHOICES = "; ".join(f"{experiment.name}: {experiment.about}" for experiment in EXPERIMENTS.values())
PARTS = "DUC data (one folder, or several by repeating the option), a .jsonl file, or a folder of clusters."


def _check_name(name: str) -> str:
    if name not in NAMES:
        raise typer.BadParameter(f"there is no experiment {name!r}. Choose one of {', '.join(NAMES)}.")
    return name


def reproduce(
    name: Annotated[
        str, typer.Argument(callback=_check_name, metavar="EXPERIMENT", help=f"{CHOICES}; or all of them: all.")
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            help="Real data: the name of a published set (trajectory: scp_trajectory; summaries: opinosis, scisumm) "
            "or a folder (summaries: a .jsonl file, DUC, or one folder per cluster); made-up data otherwise."
        ),
    ] = None,
    train: Annotated[list[Path] | None, typer.Option(help=f"summaries: training data. {PARTS}")] = None,
    test: Annotated[list[Path] | None, typer.Option(help="summaries: test data, of the same kinds.")] = None,
    task: Annotated[int | None, typer.Option(help="summaries: DUC task to read; the paper uses task 2.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Repetitions.")] = 10,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.", show_default="one per core")] = os.cpu_count() or 1,
    out: Annotated[Path, typer.Option(help="Folder for report.html, results.json and figures/.")] = Path("report"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False,
) -> None:
    """Reproduce an experiment of the paper, and write a report with tables, charts and numbers."""
    from listwright.datasets._fetch import locate
    from listwright.report import ReportPage, check_charts, write_report

    check_charts()
    data = None if data is None else locate(data)
    chosen = [experiment for experiment in EXPERIMENTS.values() if name in (experiment.name, "all")]
    sources = _sources(chosen, data, {"train": train or [], "test": test or [], "task": task})
    records: list[Record] = []
    sections: list[Section] = []
    findings: list[str] = []
    for experiment in chosen:
        measured, section, finding = _run(experiment, sources[experiment.name], seeds, jobs)
        records += measured
        sections.append(section)
        findings.append(finding)
        if not as_json:
            show_section(section)
            show_text(finding)
    report = ReportPage("The paper's experiments", " ".join(findings), sections)
    written = write_report(report, out, results=list(records))
    if as_json:
        show_json(records)
    else:
        print(f"\nWrote {written[0]}, {written[-1].name} and figures/")


def _sources(chosen: list[Experiment], data: Path | None, parts: dict[str, Any]) -> dict[str, dict[str, Any]]:
    named = {name: value for name, value in parts.items() if value}
    if named and not any(experiment.takes_parts for experiment in chosen):
        raise typer.BadParameter(f"only the experiment 'summaries' takes --{next(iter(named))}.")
    if ("train" in named) != ("test" in named):
        raise typer.BadParameter("--train and --test must be given together.")
    if data is not None and "train" in named:
        raise typer.BadParameter("give either --data, or --train and --test.")
    if data is not None and not any(experiment.reads for experiment in chosen):
        raise typer.BadParameter(f"the experiment {chosen[0].name!r} simulates its data. Leave --data out.")
    if data is not None and len(chosen) > 1 and not any(experiment.finds(data) for experiment in chosen):
        raise typer.BadParameter(f"no experiment can read {data}. Leave --data out.")
    sources: dict[str, dict[str, Any]] = {}
    for experiment in chosen:
        readable = data is not None and (experiment.finds(data) if len(chosen) > 1 else bool(experiment.reads))
        sources[experiment.name] = ({"data": data} if readable else {}) | (named if experiment.takes_parts else {})
    return sources


def _run(experiment: Experiment, source: dict[str, Any], seeds: int, jobs: int) -> tuple[list[Record], Section, str]:
    module = experiment.load()
    with notes(), progress(experiment.name):
        records = module.run(**source, seeds=seeds, jobs=jobs)
    return records, module.section(records, **source), module.findings(records, **source)


def data(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A published data set; without it, all are listed.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Download a published data set from its own source, once, and print where it is. Nothing is downloaded if the
    environment variable LISTWRIGHT_DATA names a folder that has the set."""
    from listwright.datasets._fetch import PUBLISHED, obtain

    if name is None:
        if as_json:
            show_json({key: PUBLISHED[key].facts() for key in sorted(PUBLISHED)})
        else:
            print("\n\n".join(PUBLISHED[key].describe(key) for key in sorted(PUBLISHED)))
        return
    folder = obtain(name, describe=False)  # which is printed below
    if as_json:
        show_json({"name": name, "folder": str(folder), **PUBLISHED[name].facts()})
    else:
        print(f"{PUBLISHED[name].describe(name)}\nFolder: {folder}")
