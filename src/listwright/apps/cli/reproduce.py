"""`listwright reproduce`: the paper's experiments."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from listwright.apps.cli.show import progress, show_json, show_section, show_text
from listwright.lab.experiments.registry import EXPERIMENTS, Experiment

if TYPE_CHECKING:
    from listwright.lab.experiments.records import Record
    from listwright.lab.report import Section

NAMES = (*EXPERIMENTS, "all")
CHOICES = "; ".join(f"{one.name}: {one.about}" for one in EXPERIMENTS.values())


def _known(name: str) -> str:
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
            "folder a cluster); made-up data otherwise."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Repetitions.")] = 10,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.", show_default="one a core")] = os.cpu_count() or 1,
    out: Annotated[Path, typer.Option(help="Folder for report.html, results.json and figures/.")] = Path("report"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False,
) -> None:
    """Run an experiment of the paper again and write a report with tables, charts and numbers."""
    from listwright.lab.report import Report, write_report

    chosen = [one for one in EXPERIMENTS.values() if name in (one.name, "all")]
    if data is not None and not any(one.reads for one in chosen):
        raise typer.BadParameter(f"the experiment {name!r} simulates its data. Leave --data out.")
    if data is not None and name == "all" and not any(one.finds(data) for one in chosen):
        raise typer.BadParameter(f"no experiment can read {data}. Leave --data out.")
    records: list[Record] = []
    sections: list[Section] = []
    findings: list[str] = []
    for one in chosen:
        readable = data is not None and (one.finds(data) if name == "all" else bool(one.reads))
        found, section, finding = _run(one, data if readable else None, seeds, jobs)
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


def _run(one: Experiment, data: Path | None, seeds: int, jobs: int) -> tuple[list[Record], Section, str]:
    module = one.load()
    with progress(one.name) as tick:
        records = module.run(data=data, seeds=seeds, jobs=jobs, tick=tick)
    return records, module.section(records, data=data), module.findings(records, data=data)
