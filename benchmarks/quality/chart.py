"""One picture per family: mean value by length, one line per method."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import pandas as pd

from benchmarks.quality.methods import AUTO, BEST, FAST
from listwright.report.charts import as_png, as_svg, specification

MOST = 7  # methods that are drawn, one for each colour


def draw(family: str, table: pd.DataFrame, title: str, folder: Path) -> Path:
    """Writes the picture and says where it is."""
    order = table.groupby("method")["mean"].mean().sort_values(ascending=False).index
    shown = [name for name in order if name in (BEST, AUTO, FAST)]
    shown += [name for name in order if name not in shown and name != "oracle"][: MOST - len(shown)]
    records = table[table["method"].isin(shown)][["method", "at", "mean"]].to_dict("records")
    chart = alt.Chart(alt.Data(values=records)).mark_line(point=True)
    chart = chart.encode(
        x=alt.X("at:N", title="length of the list", sort=list(dict.fromkeys(table["at"])), axis=alt.Axis(labelAngle=0)),
        y=alt.Y("mean:Q", title=title, scale=alt.Scale(zero=False)),
        color=alt.Color("method:N", sort=shown, title=None, legend=alt.Legend(orient="right", columns=1)),
        strokeDash=alt.condition(f"indexof('{BEST}|{AUTO}', datum.method) >= 0", alt.value([1, 0]), alt.value([4, 3])),
        strokeWidth=alt.condition(
            f"datum.method == '{BEST}' || datum.method == '{AUTO}'", alt.value(3), alt.value(1.5)
        ),
    ).properties(width=480, height=280)
    path = folder / f"quality-{family.replace(' ', '-')}.png"
    path.write_bytes(as_png(as_svg(specification(chart))))
    return path
