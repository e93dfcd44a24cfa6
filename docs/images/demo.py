"""The pictures of the front page: `python docs/images/demo.py` writes demo.png and demo.svg beside this file.

demo.png is the curve of the demo's methods; demo.svg is the screen that `make demo` shows.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from listwright.cli.show import show_demo
from listwright.experiments import demo
from listwright.report.charts import Axis, as_png, as_svg, curves, specification

HERE = Path(__file__)
DRAWN = (demo.SORTED, demo.TUNED, demo.DETERMINANTAL, "ConSeqOpt", demo.LEARNED, "oracle")


def curve(results: demo.Demo) -> bytes:
    """The share of what is needed that lists tell, by their length, with 95 % intervals."""
    records = [record for record in results.records if record["method"] in DRAWN]
    styles = {name: style for name, style in demo.LOOKS.items() if name in DRAWN}
    x, y = Axis("length", "passages in the list"), Axis("mean", "share of what is needed", ".0%")
    chart = curves(records, x=x, y=y, methods=styles).properties(width=620, height=280)
    return as_png(as_svg(specification(chart)), scale=1.5)


def screen(results: demo.Demo) -> str:
    """What `make demo` prints, as a picture that loads nothing from elsewhere."""
    demo.cost = lambda results: "Then: how long learning and a list took on your machine."  # type: ignore[assignment]
    console = Console(record=True, width=80, highlight=False, file=io.StringIO(), force_terminal=True)
    console.print("$ make demo\n", style="bold", markup=False)
    show_demo(results, Path("report.html"), console)
    picture = console.export_svg(title="listwright demo", unique_id="demo")
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL).replace("Fira Code", "DejaVu Sans Mono")


if __name__ == "__main__":
    results = demo.run(apart=demo.learn_apart)
    HERE.with_suffix(".png").write_bytes(curve(results))
    HERE.with_suffix(".svg").write_text(screen(results), encoding="utf8")
