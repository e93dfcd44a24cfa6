"""The picture that no program in examples/ draws: `python docs/images/gallery.py` writes arm.png here."""

from __future__ import annotations

from pathlib import Path

import altair as alt

from listwright.experiments.trajectory import _pictures
from listwright.report.charts import as_png, as_svg, specification

HERE = Path(__file__).parent


def arm() -> None:
    """Seeds that were tried in three environments."""
    charts = [figure.chart.properties(title=f"try {place} works") for place, figure in enumerate(_pictures(), start=1)]
    (HERE / "arm.png").write_bytes(as_png(as_svg(specification(alt.hconcat(*charts))), scale=0.9))


if __name__ == "__main__":
    arm()
