"""The charts of the results: differences by family, values by length, lines with bands, and means with intervals."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from textwrap import wrap
from typing import Any
from zlib import crc32

import altair as alt

from listwright.report.charts import PALETTE, as_png, as_svg, specification

IMAGES = Path(__file__).parents[1] / "docs" / "images"
COLOURS = (*PALETTE, "#3b3f45")
HEADER, KEY = 33, b"listwright data\0"  # bytes of a PNG before its chunks, and the name of ours
SHAPES = ("circle", "diamond", "triangle-up")  # a further shape when all colours are used


def save(name: str, chart: Any) -> str:
    """Draw a chart; the picture holds a fingerprint of its data, so that a test sees if it is out of date."""
    png = as_png(as_svg(specification(chart)), scale=1.5)
    text = b"tEXt" + KEY + fingerprint(chart).encode()
    chunk = len(text[4:]).to_bytes(4) + text + crc32(text).to_bytes(4)
    (IMAGES / f"{name}.png").write_bytes(png[:HEADER] + chunk + png[HEADER:])
    return f"{name}.png"


def fingerprint(chart: Any) -> str:
    """Return a text that changes with the numbers and names that a chart shows."""
    return sha256(json.dumps(list(_data_in(specification(chart))), sort_keys=True).encode()).hexdigest()


def fingerprint_in(picture: Path) -> str:
    """Return the fingerprint that `save` put into a picture, or nothing."""
    _, _, rest = picture.read_bytes().partition(b"tEXt" + KEY)
    return rest[:64].decode("latin-1")


def _data_in(node: Any) -> Iterator[Any]:
    if isinstance(node, dict):
        if isinstance(node.get("data"), dict):
            for row in node["data"].get("values", []):
                yield {name: round(x, 9) if isinstance(x, float) else x for name, x in row.items()}
        node = list(node.values())
    for part in node if isinstance(node, list) else []:
        yield from _data_in(part)


def forest(rows: Sequence[dict[str, Any]]) -> Any:
    """Differences with intervals, one line for each family, and a line at 0."""
    order = [row["family"] for row in rows]
    base = alt.Chart(alt.Data(values=list(rows))).encode(
        y=alt.Y("family:N", sort=order, title=None, axis=alt.Axis(labelLimit=420)),
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=["ahead", "level", "behind"], range=[PALETTE[2], PALETTE[5], PALETTE[4]]),
            legend=alt.Legend(title=None, orient="top", symbolType="circle"),
        ),
    )
    zero = alt.Chart(alt.Data(values=[{"x": 0}])).mark_rule(color="#5c6570", strokeDash=[4, 3]).encode(x="x:Q")
    rule = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="points ahead of the best rival"), x2="high:Q")
    dots = base.mark_circle(size=80, opacity=1).encode(x="ahead:Q")
    return alt.layer(zero, rule, dots).properties(width=420, height=24 * len(order))


def grouped(rows: Sequence[dict[str, Any]], title: str | None, value: str) -> Any:
    """Dots with intervals, side by side for each length, in the order of the methods, each with a colour and shape."""
    rows = [_interval(row) | row for row in rows]
    shown, lengths = (list(dict.fromkeys(row[key] for row in rows)) for key in ("method", "at"))
    colours = [COLOURS[i % len(COLOURS)] for i in range(len(shown))]
    shapes = [SHAPES[i // len(COLOURS)] for i in range(len(shown))]
    legend = alt.Legend(title=None, orient="right", columns=1)
    label = alt.Axis(labelAngle=0, labelExpr="split(datum.label, '|')")
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("at:N", title=title, sort=lengths, axis=label),
        xOffset=alt.XOffset("method:N", sort=shown),
        color=alt.Color("method:N", sort=shown, scale=alt.Scale(domain=shown, range=colours), legend=legend),
    )
    scale = alt.Scale(zero=False)
    bars = base.mark_rule(strokeWidth=1.6).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    dots = base.mark_point(size=46, opacity=1, filled=True).encode(
        y=alt.Y("mean:Q", title=_title(value), scale=scale),
        shape=alt.Shape("method:N", sort=shown, scale=alt.Scale(domain=shown, range=shapes), legend=legend),
    )
    return alt.layer(bars, dots).properties(width=680, height=320)


def lines(
    records: Sequence[dict[str, Any]], x: str, title: str, value: str, width: int = 520, *, zero: bool = True
) -> Any:
    """Lines with bands."""
    methods = list(dict.fromkeys(row["method"] for row in records))
    rows = [row | _interval(row) for row in records]
    scale = alt.Scale(type="log", nice=False, padding=6) if x == "n_train" else alt.Scale(nice=False, padding=12)
    ticks = _spread(sorted({row[x] for row in records}), 1.5 if x == "n_train" and width < 400 else 1.0)
    most = 3 if width < 400 else 6  # entries of the legend side by side
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X(f"{x}:Q", title=title, scale=scale, axis=alt.Axis(values=ticks, format="d")),
        color=alt.Color("method:N", sort=methods, scale=alt.Scale(domain=methods, range=list(PALETTE[: len(methods)])),
                        legend=alt.Legend(title=None, orient="top", columns=most)),
    )  # fmt: skip
    known = "isValid(datum.half)"  # a mean without an interval has no band
    band = base.mark_area(opacity=0.1).transform_filter(known)
    band = band.encode(y=alt.Y("low:Q", title=value, scale=alt.Scale(zero=zero)), y2="high:Q")
    line = base.mark_line(strokeWidth=2.2, point={"size": 30, "filled": True}).encode(y=alt.Y("mean:Q", title=value))
    return alt.layer(band, line).properties(width=width, height=260)


def _title(text: str) -> list[str]:
    """Return a title of an axis in one line, or in two if it is longer than the axis."""
    return wrap(text, len(text) if len(text) <= 46 else int(0.6 * len(text)))


def _spread(values: Sequence[float], ratio: float) -> list[float]:
    """Return the last value, and those before it that are smaller than the next one by a ratio."""
    kept = list(values[-1:])
    for value in reversed(values[:-1]):
        if kept[-1] >= ratio * value:
            kept.append(value)
    return kept


def panels(records: Sequence[dict[str, Any]], x: str, title: str, value: str) -> Any:
    """Lists of 3 and of 5 side by side, on one scale."""
    parts = [
        lines([row for row in records if row["length"] == n], x, title, value, 300).properties(
            title=alt.TitleParams(f"lists of {n}", frame="group")
        )
        for n in (3, 5)
    ]
    return alt.hconcat(*parts).resolve_scale(y="shared")


def dots(records: Sequence[dict[str, Any]], title: str, *, lowest_first: bool = False, ours: str = "SCP") -> Any:
    """Means with intervals, one line for each method, one panel for each set."""
    sign, parts = 1 if lowest_first else -1, []
    for name in dict.fromkeys(row["set"] for row in records):
        part = [row for row in records if row["set"] == name]
        rows = [_interval(row) | row | {"learned": ours in row["method"]} for row in part]
        order = [row["method"] for row in sorted(rows, key=lambda row: sign * row["mean"])]
        base = alt.Chart(alt.Data(values=rows)).encode(
            y=alt.Y("method:N", sort=order, title=None, axis=alt.Axis(labelLimit=260)),
            color=alt.condition("datum.learned", alt.value(PALETTE[0]), alt.value(PALETTE[5])),
        )
        rule = base.mark_rule(strokeWidth=2).encode(
            x=alt.X("low:Q", title=title, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=7)), x2="high:Q"
        )
        circles = base.mark_circle(size=70, opacity=1).encode(x="mean:Q")
        parts.append(alt.layer(rule, circles).properties(width=240, height=240, title=name))
    return parts[0].properties(width=420) if len(parts) == 1 else alt.hconcat(*parts)


def _interval(row: dict[str, Any]) -> dict[str, float]:
    return {"low": row["mean"] - row.get("half", 0.0), "high": row["mean"] + row.get("half", 0.0)}
