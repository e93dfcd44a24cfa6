"""Pictures of the gallery that no program in examples/ draws: `python docs/images/gallery.py` writes them here.

select.png: rows picked out of vectors, and their value. arm.png: three environments of the simulated robot arm.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import altair as alt
import numpy as np

import listwright as lw
from listwright.cli.select import write_picture
from listwright.experiments.trajectory import _pictures
from listwright.report.charts import as_png, as_svg, specification

HERE = Path(__file__).parent


def select() -> None:
    """Thirty rows out of two thousand in eight clusters."""
    rng = np.random.default_rng(3)
    vectors = rng.normal(scale=3.0, size=(8, 16))[rng.integers(8, size=2000)] + rng.normal(size=(2000, 16))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "vectors.npy"
        np.save(file, vectors.astype(np.float32))
        selection = lw.select(file, 30, random_state=0)
        write_picture(selection, file, None, str(Path(folder) / "select.svg"))
        svg = (Path(folder) / "select.svg").read_text(encoding="utf8")
    (HERE / "select.png").write_bytes(as_png(svg, scale=0.9))


def arm() -> None:
    """Seeds that were tried in three environments."""
    charts = [figure.chart.properties(title=f"try {place} works") for place, figure in enumerate(_pictures(), start=1)]
    (HERE / "arm.png").write_bytes(as_png(as_svg(specification(alt.hconcat(*charts))), scale=0.9))


if __name__ == "__main__":
    select()
    arm()
