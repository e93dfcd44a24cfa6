"""`listwright select`: pick representative or diverse rows from a table of vectors.

Wraps `listwright.selection.select` and needs no training. The memory that is needed is estimated and printed first. The
picks go to a file or standard output, the summary (value, upper bound, knee) to standard error.

Typical use::

    listwright select vectors.parquet -k 1000 -o rows.csv
    listwright select vectors.npy -k 200 --reward log_det --picture picks.html -o rows.csv
    listwright select vectors.parquet --budget 50 --costs price -o rows.csv
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
        str, typer.Option(help="facility_location, log_det, saturated_coverage or feature_based.")
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
    per_group: Annotated[int | None, typer.Option(min=1, help="Most rows of each group.")] = None,
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
    from listwright.cli.select import check_picture, write_picture
    from listwright.cli.show import check_ending, write_columns
    from listwright.selection import select as select_rows
    from listwright.selection.intake import read_column
    from listwright.selection.memory import told

    check_place(out, str(vectors), targets)
    check_ending(out)
    check_picture(picture)
    print(told(vectors, column, k, reward=reward, metric=metric, neighbors=neighbors), file=sys.stderr)
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
            groups=None if groups is None else read_column(vectors, groups),
            per_group=per_group,
            costs=None if costs is None else read_column(vectors, costs),
            budget=budget,
            device=device,
            precision=precision,
            engine=given.engine_of(engine, address),
            random_state=seed,
        )
    if as_json:
        show_json(_summary(selection) | {"rows": selection.rows.tolist(), "gains": selection.gains.tolist()})
    if out != STANDARD or not as_json:
        write_columns({name: values.tolist() for name, values in selection.to_dict().items()}, out)
    if picture is not None:
        write_picture(selection, vectors, column, picture)
    print(selection, file=sys.stderr)


def _summary(selection: Selection) -> dict[str, Any]:
    """Return the summary of a selection for `--json`: its value, upper bound, their ratio, the knee of the curve and
    the device.
    """
    return {
        "value": selection.value,
        "bound": selection.bound,
        "ratio": selection.ratio,
        "knee": selection.knee,
        "device": selection.device,
    }


KINDS = (".png", ".svg", ".html")
SHOWN = 4000  # rows that are not picked
MEASURED = 20_000  # rows that the components are computed from


def check_picture(path: str | None) -> None:
    """Raise for an unsupported ending, or if the chart packages are not installed, before any work is done."""
    if path is None:
        return
    if Path(path).suffix.lower() not in KINDS:
        raise InputError(f"A picture goes to a file that ends in {', '.join(KINDS)}. Got {path}.")
    from listwright.report.charts import charts

    charts()


def write_picture(selection: Selection, vectors: Path, column: str | None, path: str) -> None:
    """Write the charts of a selection: side by side as PNG or SVG, or one below the other on an HTML page."""
    from listwright.report import Figure, Report, Section, write_page
    from listwright.report.charts import as_png, as_svg, charts, specification
    from listwright.report.page import write_bytes, write_text

    scatter, curve = _scatter(selection, vectors, column), _curve(selection)
    if path.lower().endswith(".html"):
        figures = [Figure("rows", scatter, CAPTIONS[0]), Figure("value", curve, CAPTIONS[1])]
        text = f"{len(selection):,} rows of {vectors.name}: {selection.bound}."
        write_page(Report("Selected rows", text, [Section("Picks", "What was picked.", figures)]), Path(path))
        return
    both = charts().hconcat(scatter.properties(width=420), curve.properties(width=420))
    svg = as_svg(specification(both))
    if path.lower().endswith(".svg"):
        write_text(Path(path), svg)
    else:
        write_bytes(Path(path), as_png(svg))


CAPTIONS = (
    "Rows on the two directions in which they vary most; rows that were picked are marked.",
    "Value of the first picks; after the knee, more picks bring little.",
)


def _scatter(selection: Selection, vectors: Path, column: str | None) -> Any:
    """Scatter plot of picked and other rows on the first two principal components."""
    import numpy as np

    from listwright.report.charts import charts
    from listwright.selection.intake import read_vectors

    alt, rng = charts(), np.random.default_rng(0)
    table = read_vectors(vectors, column=column).table
    sample = np.sort(rng.choice(len(table), min(MEASURED, len(table)), replace=False))
    block = np.asarray(table[sample], dtype=np.float64)
    centre = block.mean(axis=0)
    _, directions = np.linalg.eigh(np.cov(block - centre, rowvar=False).reshape(block.shape[1], -1))
    axes = directions[:, ::-1][:, :2]
    others = np.setdiff1d(sample, selection.rows)
    others = np.sort(rng.choice(others, min(SHOWN, len(others)), replace=False))
    rows = np.concatenate([others, selection.rows])
    points = (np.asarray(table[rows], dtype=np.float64) - centre) @ axes
    kinds = ["other"] * len(others) + ["picked"] * len(selection.rows)
    values = [
        {"x": float(point[0]), "y": float(point[-1]), "row": int(row), "rows": kind}
        for row, point, kind in zip(rows, points, kinds, strict=True)
    ]
    colour = alt.Scale(domain=["other", "picked"], range=["#b9c0c9", "#d4465c"])
    size = alt.Scale(domain=["other", "picked"], range=[10, 34])
    return (
        alt.Chart(alt.Data(values=values))
        .mark_circle(opacity=0.75)
        .encode(
            x=alt.X("x:Q", title="first principal component"),
            y=alt.Y("y:Q", title="second principal component"),
            color=alt.Color("rows:N", scale=colour, legend=alt.Legend(title=None, orient="top", symbolType="circle")),
            size=alt.Size("rows:N", scale=size, legend=None),
            tooltip=["row:Q", "rows:N"],
        )
        .properties(width="container", height=340)
    )


def _curve(selection: Selection) -> Any:
    """Line chart of the value after each pick, with the knee marked."""
    from listwright.report.charts import charts

    alt = charts()
    values = [{"picks": i + 1, "value": float(value)} for i, value in enumerate(selection.values)]
    knee = [
        {
            "picks": selection.knee,
            "value": values[selection.knee - 1]["value"],
            "text": f"knee: {selection.knee:,} rows",
        }
    ]
    line = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=2.2)
        .encode(x=alt.X("picks:Q", title="rows picked"), y=alt.Y("value:Q", title="value", scale=alt.Scale(zero=False)))
    )
    mark = alt.Chart(alt.Data(values=knee)).encode(x="picks:Q", y="value:Q")
    point = mark.mark_circle(size=70, color="#d4465c")
    text = mark.mark_text(align="left", dx=8, dy=14).encode(text="text:N")
    return alt.layer(line, point, text).properties(width="container", height=340)
