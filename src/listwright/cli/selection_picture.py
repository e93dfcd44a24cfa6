"""Pictures of a selection: rows on two principal components, and the value by number of picks.

Used by `listwright select --picture`. Charts are made with Altair; to keep files small, at most `SHOWN` rows that were
not picked are drawn, and components are computed from at most `MEASURED` rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.selection import Selection

KINDS = (".png", ".svg", ".html")
SHOWN = 4000  # rows that are not picked
MEASURED = 20_000  # rows that the components are computed from


def check_picture(path: str | None) -> None:
    """Raise for an unsupported ending, or if the chart packages are not installed, before any work is done."""
    if path is None:
        return
    if Path(path).suffix.lower() not in KINDS:
        raise InputError(f"A picture goes to a file that ends in {', '.join(KINDS)}. Got {path}.")
    from listwright.report.render import charts

    charts()


def write_picture(found: Selection, vectors: Path, column: str | None, path: str) -> None:
    """Write the charts of a selection: side by side as PNG or SVG, or one below the other on an HTML page."""
    from listwright.report import Figure, Report, Section, write_page
    from listwright.report.files import write_bytes, write_text
    from listwright.report.render import as_png, as_svg, charts, specification

    scatter, curve = _scatter(found, vectors, column), _curve(found)
    if path.lower().endswith(".html"):
        figures = [Figure("rows", scatter, CAPTIONS[0]), Figure("value", curve, CAPTIONS[1])]
        text = f"{len(found):,} rows of {vectors.name}: {found.bound}."
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


def _scatter(found: Selection, vectors: Path, column: str | None) -> Any:
    """Scatter plot of picked and other rows on the first two principal components."""
    import numpy as np

    from listwright.report.render import charts
    from listwright.selection.intake import read_vectors

    alt, rng = charts(), np.random.default_rng(0)
    table = read_vectors(vectors, column=column).table
    some = np.sort(rng.choice(len(table), min(MEASURED, len(table)), replace=False))
    block = np.asarray(table[some], dtype=np.float64)
    centre = block.mean(axis=0)
    _, directions = np.linalg.eigh(np.cov(block - centre, rowvar=False).reshape(block.shape[1], -1))
    axes = directions[:, ::-1][:, :2]
    others = np.setdiff1d(some, found.rows)
    others = np.sort(rng.choice(others, min(SHOWN, len(others)), replace=False))
    rows = np.concatenate([others, found.rows])
    points = (np.asarray(table[rows], dtype=np.float64) - centre) @ axes
    kinds = ["other"] * len(others) + ["picked"] * len(found.rows)
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


def _curve(found: Selection) -> Any:
    """Line chart of the value after each pick, with the knee marked."""
    from listwright.report.render import charts

    alt = charts()
    values = [{"picks": i + 1, "value": float(value)} for i, value in enumerate(found.values)]
    knee = [{"picks": found.knee, "value": values[found.knee - 1]["value"], "text": f"knee: {found.knee:,} rows"}]
    line = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=2.2)
        .encode(x=alt.X("picks:Q", title="rows picked"), y=alt.Y("value:Q", title="value", scale=alt.Scale(zero=False)))
    )
    mark = alt.Chart(alt.Data(values=knee)).encode(x="picks:Q", y="value:Q")
    point = mark.mark_circle(size=70, color="#d4465c")
    text = mark.mark_text(align="left", dx=8, dy=14).encode(text="text:N")
    return alt.layer(line, point, text).properties(width="container", height=340)
