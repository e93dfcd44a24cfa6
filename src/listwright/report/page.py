"""The HTML page of a report: one file with style, scripts and data inside, which cannot reach the network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Literal

from listwright._internal.files import write_whole
from listwright.errors import InputError
from listwright.report.charts import FONT, as_png, as_svg, chart_config, script, specification


@dataclass(frozen=True)
class ReportTable:
    """A table of text and numbers; all columns but the first are aligned to the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    emphasis: Sequence[int] = ()  # rows to set in bold

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InputError(f"A row must have one entry per column ({len(self.columns)}). Got {list(row)!r}.")


@dataclass(frozen=True)
class Figure:
    name: str  # letters, digits and dashes; the files are <name>.png and <name>.svg
    chart: Any  # an altair chart, or a Vega-Lite specification
    caption: str = ""  # shown below

    def __post_init__(self) -> None:
        """Raise unless the name consists of letters, digits and dashes: it becomes a file name and an HTML id."""
        if not self.name.replace("-", "").isalnum():
            raise InputError(f"A figure's name may hold letters, digits and dashes only. Got {self.name!r}.")


@dataclass(frozen=True)
class PickedItem:
    title: str
    text: str
    adds: str
    kind: Literal["new", "repeat", "nothing"]


@dataclass(frozen=True)
class PickedList:
    method: str  # its name
    picks: Sequence[PickedItem]  # the items in order
    worth: str  # what the list is worth, in words


@dataclass(frozen=True)
class SideBySide:
    problem: str  # the problem, for example a question
    note: str  # a remark below it
    lists: Sequence[PickedList]  # one per method
    folded: bool = False  # whether the lists are hidden until a click


@dataclass(frozen=True)
class Note:
    text: str  # the paragraph
    link: str  # the link's text and target
    href: str


Part = ReportTable | Figure | SideBySide | Note


@dataclass(frozen=True)
class Section:
    title: str  # heading and paragraph
    text: str
    parts: Sequence[Part] = ()  # what follows, in order


@dataclass(frozen=True)
class ReportPage:
    title: str
    findings: str
    sections: Sequence[Section] = ()

    @property
    def figures(self) -> list[Figure]:
        figures = [part for section in self.sections for part in section.parts if isinstance(part, Figure)]
        names = [figure.name for figure in figures]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"Two figures are named {name!r}. Give each its own name.")
        return figures


# The page may run its own script and nothing else; it cannot reach the network.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"

STYLE = f"""
:root {{ color-scheme: light dark; --page: #fff; --text: #1c2127; --faint: #5c6570; --line: #e1e5ea; --card: #f6f8fa;
  --accent: #2f7fd1; --good: #14805e; }}
@media (prefers-color-scheme: dark) {{ :root {{ --page: #14181d; --text: #e3e6ea; --faint: #a3abb5; --line: #343b45;
  --card: #1c2229; --accent: #6cb0f5; --good: #4cc99a; }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: var(--page); color: var(--text); font: 16px/1.55 {FONT}; }}
main {{ max-width: 54rem; margin: 0 auto; padding: 2rem 1.1rem 4rem; }}
h1 {{ font-size: 1.7rem; line-height: 1.25; margin: 0 0 1rem; }}
h2 {{ font-size: 1.25rem; margin: 2.8rem 0 .5rem; }}
p {{ margin: .6rem 0; max-width: 46rem; }}
.findings {{ background: var(--card); border-left: 4px solid var(--accent); padding: .9rem 1.1rem; max-width: none; }}
figure {{ margin: 1.4rem 0; }}
figcaption {{ color: var(--faint); font-size: .88rem; margin-top: .4rem; max-width: 46rem; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .93rem; }}
th, td {{ padding: .32rem .8rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }}
th:first-child, td:first-child {{ text-align: left; padding-left: 0; }}
th {{ font-weight: 600; color: var(--faint); }}
tr.emphasis td {{ font-weight: 600; }}
.chart {{ width: 100%; overflow-x: auto; }}
.problem {{ margin: 1rem 0; border: 1px solid var(--line); border-radius: 6px; padding: .8rem 1rem; }}
.problem summary {{ cursor: pointer; }}
.asked {{ font-weight: 600; margin: 0; }}
.note {{ color: var(--faint); margin: .3rem 0 .6rem; }}
.worths {{ display: flex; flex-wrap: wrap; gap: 0 1.1rem; color: var(--faint); font-size: .86rem; margin-top: .2rem; }}
.lists {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(13.5rem, 1fr)); gap: 1.1rem 1.4rem; }}
.lists h3 {{ font-size: .95rem; margin: .2rem 0; }}
.lists ol {{ margin: 0; padding-left: 1.3rem; font-size: .9rem; line-height: 1.45; }}
.lists li {{ margin: .5rem 0; }}
.lists .nothing, .lists .repeat {{ color: var(--faint); }}
.adds {{ display: block; font-size: .86rem; }}
.new .adds {{ color: var(--good); font-weight: 600; }}
.worth {{ font-weight: 600; margin: .4rem 0 0; }}
a {{ color: var(--accent); }}
.vega-embed {{ width: 100%; }}
.vega-bindings {{ font-size: .9rem; color: var(--text); padding: .4rem 0 0; }}
.vega-bind label {{ display: flex; align-items: center; gap: .6rem; }}
.vega-bind input {{ accent-color: var(--accent); }}
@media (max-width: 40rem) {{ body {{ font-size: 15px; }} main {{ padding: 1.2rem .9rem 3rem; }}
  th, td {{ padding: .3rem .5rem; }} }}
@media (max-width: 30rem) {{ table {{ font-size: .8rem; }} th, td {{ padding: .3rem .28rem; }}
  th:first-child, td:first-child {{ white-space: normal; }} }}
@media print {{ .vega-bindings {{ display: none; }} }}
"""

# `ast` keeps Vega from compiling expressions to code, which the page's policy would refuse.
DRAW = """
const specifications = JSON.parse(document.getElementById("specifications").textContent);
const night = matchMedia("(prefers-color-scheme: dark)");
function draw() {
  const config = night.matches ? specifications.night : specifications.day;
  config.legend.columns = Math.max(2, Math.floor(Math.min(innerWidth, 860) / 170));
  if (innerWidth < 520) Object.assign(config.legend, {labelFontSize: 10, columnPadding: 6, symbolSize: 60});
  for (const [name, chart] of Object.entries(specifications.charts)) {
    vegaEmbed("#chart-" + name, chart, {config, mode: "vega-lite", actions: false, renderer: "svg", ast: true,
      tooltip: {theme: night.matches ? "dark" : "light"}});
  }
}
night.addEventListener("change", draw);
draw();
"""


def html_page(report: ReportPage, charts: Mapping[str, dict[str, Any]], stills: Mapping[str, str]) -> str:
    sections = "\n".join(_section(section, stills) for section in report.sections)
    drawing = _scripts(charts) if charts else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{escape(report.title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>{escape(report.title)}</h1>
<p class="findings">{escape(report.findings)}</p>
{sections}
</main>
{drawing}</body>
</html>
"""


def _section(section: Section, stills: Mapping[str, str]) -> str:
    parts = "\n".join(_part(part, stills) for part in section.parts)
    return f"<section>\n<h2>{escape(section.title)}</h2>\n<p>{escape(section.text)}</p>\n{parts}\n</section>"


def _part(part: Part, stills: Mapping[str, str]) -> str:
    match part:
        case ReportTable():
            return _table(part)
        case Figure():
            return _figure(part, stills)
        case SideBySide():
            return _side_by_side(part)
        case Note():
            return f'<p>{escape(part.text)} <a href="{escape(part.href, quote=True)}">{escape(part.link)}</a></p>'


def _side_by_side(part: SideBySide) -> str:
    """Return lists side by side, one column each; on a narrow screen, one below the other."""
    columns = "\n".join(_picked_list(picked) for picked in part.lists)
    inside = f'<p class="note">{escape(part.note)}</p>\n<div class="lists">\n{columns}\n</div>'
    if not part.folded:
        return f'<div class="problem"><p class="asked">{escape(part.problem)}</p>\n{inside}\n</div>'
    worth = "".join(f"<span>{escape(picked.method)}: <b>{escape(picked.worth)}</b></span>" for picked in part.lists)
    summary = f'<summary>{escape(part.problem)}<span class="worths">{worth}</span></summary>'
    return f'<details class="problem">{summary}\n{inside}\n</details>'


def _picked_list(picked: PickedList) -> str:
    picks = "\n".join(_pick(pick) for pick in picked.picks)
    worth = f'<p class="worth">{escape(picked.worth)}</p>'
    return f'<div class="list"><h3>{escape(picked.method)}</h3>\n<ol>\n{picks}\n</ol>\n{worth}</div>'


def _pick(pick: PickedItem) -> str:
    """Return one item of a list; repeats are struck out."""
    text = f"<b>{escape(pick.title)}</b> {escape(pick.text)}"
    shown = f"<s>{text}</s>" if pick.kind == "repeat" else text
    return f'<li class="{pick.kind}">{shown}<span class="adds">{escape(pick.adds)}</span></li>'


def _figure(figure: Figure, stills: Mapping[str, str]) -> str:
    still = f"<noscript>{stills[figure.name]}</noscript>"
    return f'<figure><div class="chart" id="chart-{figure.name}">{still}</div>{_caption(figure.caption)}</figure>'


def _caption(text: str) -> str:
    return f"<figcaption>{escape(text)}</figcaption>" if text else ""


def _table(table: ReportTable) -> str:
    """Return a table inside a box that scrolls sideways on narrow screens."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.columns)
    rows = []
    for index, row in enumerate(table.rows):
        cells = "".join(f"<td>{escape(str(entry))}</td>" for entry in row)
        rows.append(f'<tr class="emphasis">{cells}</tr>' if index in table.emphasis else f"<tr>{cells}</tr>")
    body = "\n".join(rows)
    shown = f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"
    return f'<figure><div class="scroll">{shown}</div>{_caption(table.caption)}</figure>'


def _scripts(charts: Mapping[str, dict[str, Any]]) -> str:
    # "<" is escaped in the JSON, so that no text in it can close the script element.
    day, night = chart_config(), chart_config(dark=True)
    data = json.dumps({"charts": charts, "day": day, "night": night}, allow_nan=False).replace("<", "\\u003c")
    return (
        f'<script type="application/json" id="specifications">{data}</script>\n'
        f"<script>{script()}</script>\n<script>{DRAW}</script>\n"
    )


def write_bytes(path: Path, content: bytes) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror or error}. Choose another path.") from None
    write_whole(path, content)
    return path


def write_text(path: Path, text: str) -> Path:
    return write_bytes(path, text.encode())


def write_json(path: Path, content: Any) -> Path:
    """Write JSON and return the path; a list gets one line per entry."""
    if isinstance(content, list):
        lines = ",\n".join(json.dumps(entry, allow_nan=False, ensure_ascii=False) for entry in content)
        return write_text(path, f"[\n{lines}\n]\n")
    return write_text(path, json.dumps(content, allow_nan=False, ensure_ascii=False, indent=2) + "\n")


def page_of(report: ReportPage) -> str:
    return html_page(report, *_render_charts(report))


def write_page(report: ReportPage, path: Path) -> Path:
    return write_text(path, page_of(report))


def write_report(report: ReportPage, folder: Path, *, results: Any = None) -> list[Path]:
    charts, stills = _render_charts(report)
    written = [write_text(folder / "report.html", html_page(report, charts, stills))]
    for name, svg in stills.items():
        written.append(write_text(folder / "figures" / f"{name}.svg", svg))
        written.append(write_bytes(folder / "figures" / f"{name}.png", as_png(svg)))
    if results is not None:
        written.append(write_json(folder / "results.json", results))
    return written


def _render_charts(report: ReportPage) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    charts = {figure.name: specification(figure.chart) for figure in report.figures}
    return charts, {name: as_svg(chart) for name, chart in charts.items()}
