"""`listwright select`: pick representative or diverse rows from a table of vectors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from listwright.cli import options as given
from listwright.cli.show import STANDARD, progress, show_json
from listwright.cli.sources import check_place
from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.selection import Selection


def select(
    vectors: Annotated[
        Path, typer.Argument(metavar="VECTORS", help="Vectors: a .parquet file with a column of lists, or a .npy file.")
    ],
    k: Annotated[int | None, typer.Option("-k", min=1, help="Number of rows to pick.")] = None,
    out: Annotated[
        str, typer.Option("-o", "--out", help="File to write: .csv, .tsv, .jsonl or .parquet; - for standard output.")
    ] = STANDARD,
    column: Annotated[
        str | None, typer.Option(help="Column of the vectors, if the file has several columns of lists.")
    ] = None,
    reward: Annotated[
        str, typer.Option(help="facility_location, log_det, graph_cut, max_min, or another of lw.select.")
    ] = "facility_location",
    metric: Annotated[str, typer.Option(help="cosine, dot, rbf or euclidean.")] = "cosine",
    neighbors: Annotated[
        int | None, typer.Option(min=1, help="Use only this many nearest neighbours of each row.")
    ] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Estimate values on this many random rows.")] = None,
    targets: Annotated[
        Path | None, typer.Option(help="File of the rows to represent, if these are not the rows to pick from.")
    ] = None,
    groups: Annotated[str | None, typer.Option(help="Column of labels, for --per-group.")] = None,
    per_group: given.PerGroup = None,
    costs: Annotated[str | None, typer.Option(help="Column of costs, for --budget.")] = None,
    budget: given.CostBudget = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    precision: Annotated[str, typer.Option(help="On a GPU: fast (half precision) or exact.")] = "fast",
    engine: given.Engine = "local",
    address: given.Address = None,
    picture: Annotated[
        str | None,
        typer.Option(help="Chart of the picked rows and of the value by number of picks: .png, .svg or .html."),
    ] = None,
    seed: given.Seed = 0,
    as_json: given.AsJson = False,
) -> None:
    """Pick rows of a table of vectors that represent all rows, or that differ most from each other. Writes one line per
    pick: position, row, gain and value so far. The estimated memory is printed first."""
    from listwright.cli.show import check_ending, write_columns
    from listwright.selection import select as select_rows
    from listwright.selection.intake import describe_memory, read_column

    check_place(out, str(vectors), targets)
    check_ending(out)
    check_picture(picture)
    print(describe_memory(vectors, column, k, reward=reward, metric=metric, neighbors=neighbors), file=sys.stderr)
    labels = None if groups is None else read_column(vectors, groups)
    with progress("selecting"):
        selection = select_rows(
            vectors,
            k,
            column=column,
            reward=reward,
            metric=metric,
            neighbors=neighbors,
            sample=sample,
            targets=targets,
            groups=labels,
            per_group=given.by_label(per_group, labels),
            costs=None if costs is None else read_column(vectors, costs),
            budget=budget,
            device=device,
            precision=precision,
            engine=given.engine_of(engine, address),
            random_state=seed,
        )
    if as_json:
        names = ("value", "bound", "ratio", "knee", "device")
        lists = {"rows": selection.rows.tolist(), "gains": selection.gains.tolist()}
        show_json({name: getattr(selection, name) for name in names} | lists)
    if out != STANDARD or not as_json:
        write_columns({name: values.tolist() for name, values in selection.to_dict().items()}, out)
    if picture is not None:
        write_picture(selection, vectors, picture)
    print(selection, file=sys.stderr)


KINDS = (".png", ".svg", ".html")


def check_picture(path: str | None) -> None:
    if path is None:
        return
    if Path(path).suffix.lower() not in KINDS:
        raise InputError(f"A picture goes to a file that ends in {', '.join(KINDS)}. Got {path}.")
    from listwright.report.charts import charts

    charts()


def write_picture(selection: Selection, vectors: Path, path: str) -> None:
    """Write the charts of a selection: side by side as PNG or SVG, or one below the other on an HTML page."""
    from listwright.report import Figure, ReportPage, Section, write_page
    from listwright.report.charts import as_png, as_svg, specification
    from listwright.report.page import write_bytes, write_text

    if path.lower().endswith(".html"):
        figures = [Figure("rows", selection.plot("rows"), CAPTIONS[0])]
        figures.append(Figure("value", selection.plot("values"), CAPTIONS[1]))
        text = f"{len(selection):,} rows of {vectors.name}: {selection.bound}."
        write_page(ReportPage("Selected rows", text, [Section("Picks", "What was picked.", figures)]), Path(path))
        return
    svg = as_svg(specification(selection.plot()))
    if path.lower().endswith(".svg"):
        write_text(Path(path), svg)
    else:
        write_bytes(Path(path), as_png(svg))


CAPTIONS = (
    "Rows on the two directions in which they vary most; rows that were picked are marked.",
    "Value of the first picks; after the knee, more picks bring little.",
)
