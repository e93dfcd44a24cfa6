"""`listwright reproduce`: run the experiments of the paper and write a report.

Experiments are listed in `listwright.experiments.registry`; each is a module with `run`, `section` and `findings`,
loaded only when chosen. Without `--data`, data is simulated, so the figures show the effects that the paper reports and
not its exact numbers. Repetitions are distributed over processes; results do not depend on their number.

Typical use::

    listwright reproduce trajectory --seeds 10 --out report
    listwright reproduce summaries --train duc2003 --test duc2004
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from listwright.cli.show import notes, progress, show_json, show_section, show_text
from listwright.experiments.registry import EXPERIMENTS, Experiment

if TYPE_CHECKING:
    from listwright.experiments.records import Record
    from listwright.report import Section

NAMES = (*EXPERIMENTS, "all")
CHOICES = "; ".join(f"{one.name}: {one.about}" for one in EXPERIMENTS.values())
PARTS = "DUC data (one folder, or several by repeating the option), a .jsonl file, or a folder of clusters."


def _known(name: str) -> str:
    """Callback of EXPERIMENT: raises `typer.BadParameter` for an unknown name."""
    if name not in NAMES:
        raise typer.BadParameter(f"there is no experiment {name!r}. Choose one of {', '.join(NAMES)}.")
    return name


def reproduce(
    name: Annotated[
        str, typer.Argument(callback=_known, metavar="EXPERIMENT", help=f"{CHOICES}; or all of them: all.")
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with real data (trajectory: scp_trajectory.npz; summaries: a .jsonl file, DUC, or one "
            "folder per cluster); made-up data otherwise."
        ),
    ] = None,
    train: Annotated[list[Path] | None, typer.Option(help=f"summaries: training data. {PARTS}")] = None,
    test: Annotated[list[Path] | None, typer.Option(help="summaries: test data, of the same kinds.")] = None,
    task: Annotated[int | None, typer.Option(help="summaries: DUC task to read; the paper uses task 2.")] = None,
    rouge: Annotated[
        Path | None, typer.Option(help="summaries: ROUGE-1.5.5.pl, or its folder, to score the summaries with as well.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Repetitions.")] = 10,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.", show_default="one per core")] = os.cpu_count() or 1,
    out: Annotated[Path, typer.Option(help="Folder for report.html, results.json and figures/.")] = Path("report"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False,
) -> None:
    """Reproduce an experiment of the paper, and write a report with tables, charts and numbers."""
    from listwright.report import Report, check_charts, write_report

    check_charts()
    chosen = [one for one in EXPERIMENTS.values() if name in (one.name, "all")]
    sources = _sources(chosen, data, {"train": train or [], "test": test or [], "task": task, "rouge": rouge})
    records: list[Record] = []
    sections: list[Section] = []
    findings: list[str] = []
    for one in chosen:
        found, section, finding = _run(one, sources[one.name], seeds, jobs)
        records += found
        sections.append(section)
        findings.append(finding)
        if not as_json:
            show_section(section)
            show_text(finding)
    report = Report("The paper's experiments", " ".join(findings), sections)
    written = write_report(report, out, results=list(records))
    if as_json:
        show_json(records)
    else:
        print(f"\nWrote {written[0]}, {written[-1].name} and figures/")


def _sources(chosen: list[Experiment], data: Path | None, parts: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Decide which data options go to which experiment."""
    given = {name: value for name, value in parts.items() if value}
    if given and not any(one.takes_parts for one in chosen):
        raise typer.BadParameter(f"only the experiment 'summaries' takes --{next(iter(given))}.")
    if ("train" in given) != ("test" in given):
        raise typer.BadParameter("--train and --test must be given together.")
    if data is not None and "train" in given:
        raise typer.BadParameter("give either --data, or --train and --test.")
    if data is not None and not any(one.reads for one in chosen):
        raise typer.BadParameter(f"the experiment {chosen[0].name!r} simulates its data. Leave --data out.")
    if data is not None and len(chosen) > 1 and not any(one.finds(data) for one in chosen):
        raise typer.BadParameter(f"no experiment can read {data}. Leave --data out.")
    sources: dict[str, dict[str, Any]] = {}
    for one in chosen:
        readable = data is not None and (one.finds(data) if len(chosen) > 1 else bool(one.reads))
        sources[one.name] = ({"data": data} if readable else {}) | (given if one.takes_parts else {})
    return sources


def _run(one: Experiment, source: dict[str, Any], seeds: int, jobs: int) -> tuple[list[Record], Section, str]:
    """Run one experiment."""
    module = one.load()
    with notes(), progress(one.name):
        records = module.run(**source, seeds=seeds, jobs=jobs)
    return records, module.section(records, **source), module.findings(records, **source)
