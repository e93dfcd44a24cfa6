"""Reports: whole files, one page that needs nothing from outside, pictures."""

from __future__ import annotations

import json
import os
import re
import sys

import pytest

from listwright.errors import InputError, MissingExtra
from listwright.report import (
    Figure,
    ReportPage,
    ReportTable,
    Section,
    page_of,
    write_json,
    write_page,
    write_report,
)
from listwright.report.charts import Axis, as_svg, charts, curves, line_styles, specification
from listwright.report.page import write_text

RECORDS = [
    {
        "method": method,
        "n_train": size,
        "length": length,
        "mean": 0.4 / length,
        "low": 0.3 / length,
        "high": 0.5 / length,
    }
    for method in ("SCP", "Oracle")
    for size in (10, 30, 310)
    for length in (1, 2, 3)
]


def chart(records=RECORDS, **settings):
    return curves(
        records,
        x=Axis("n_train", "training environments", log=True),
        y=Axis("mean", "failure", ".0%"),
        methods=line_styles(["SCP", "Oracle"], dashed=["Oracle"]),
        **settings,
    )


@pytest.fixture
def report():
    table = ReportTable(["method", "failure"], [["SCP", "4.2"], ["a < b & c", "9.1"]], "per cent", emphasis=[0])
    small = Figure("small", {"mark": "point", "data": {"values": [{"x": 1}]}, "encoding": {"x": {"field": "x"}}})
    parts = [
        table,
        Figure("lengths", chart(slider=Axis("length", "List length"), at=2), "cap"),
        small,
    ]
    return ReportPage("Lists <i>", "SCP & friends </script>.", [Section("Failure", "How.", parts)])


def test_json_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "results.json"
    write_json(path, [{"mean": 0.5}, {"mean": None}])
    assert json.loads(path.read_text()) == [{"mean": 0.5}, {"mean": None}]
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, [{"mean": float("nan")}])
    assert json.loads(path.read_text()) == [{"mean": 0.5}, {"mean": None}]
    assert [file.name for file in path.parent.iterdir()] == ["results.json"]


def test_a_failed_write_leaves_the_old_file_and_nothing_beside(tmp_path, monkeypatch):
    path = write_json(tmp_path / "results.json", {"round": 1})

    def refuse(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(InputError, match=r"Cannot write .*results\.json: No space left on device"):
        write_json(path, {"round": 2})
    assert json.loads(path.read_text()) == {"round": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["results.json"]


def test_links_stay_links_and_pipes_are_written_to(tmp_path):
    (tmp_path / "real.json").write_text("")
    (tmp_path / "link.json").symlink_to("real.json")
    write_text(tmp_path / "link.json", "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_text(tmp_path / "pipe", "through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert {file.name for file in tmp_path.iterdir()} == {"real.json", "link.json", "pipe"}


def test_a_file_in_the_way_of_a_folder_is_told(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="Cannot write"):
        write_json(tmp_path / "taken" / "results.json", {})


def test_page_holds_everything_and_reaches_for_nothing(report):
    page = page_of(report)
    assert not re.search(r"""(src|href)\s*=\s*["']?\s*(https?:)?//""", page.partition("<script>")[0])
    assert "<link" not in page.partition("<script>")[0]
    assert "default-src 'none'" in page
    assert "window.vegaEmbed" in page
    assert 'name="viewport"' in page
    assert "prefers-color-scheme: dark" in page


def test_page_escapes_what_it_is_given(report):
    page = page_of(report)
    assert "<h1>Lists &lt;i&gt;</h1>" in page
    assert "SCP &amp; friends &lt;/script&gt;." in page
    assert "<td>a &lt; b &amp; c</td>" in page
    assert page.count("<script") - page.count("<script>") == 1  # the data, and what Vega writes of scripts in text
    assert '<tr class="emphasis"><td>SCP</td>' in page


def test_data_cannot_end_its_script():
    values = {"data": {"values": [{"name": "</script><b>"}]}, "mark": "text", "encoding": {"text": {"field": "name"}}}
    page = page_of(ReportPage("t", "f", [Section("s", "x", [Figure("a", values)])]))
    data = page.partition('id="specifications">')[2].partition("</script>")[0]
    assert json.loads(data)["charts"]["a"]["data"]["values"] == [{"name": "</script><b>"}]


def test_page_of_tables_needs_no_script():
    page = page_of(ReportPage("t", "f", [Section("s", "x", [ReportTable(["a"], [[1]])])]))
    assert "<script" not in page
    assert "<td>1</td>" in page


def test_report_writes_page_pictures_and_results(report, tmp_path):
    written = write_report(report, tmp_path, results=RECORDS)
    names = {str(path.relative_to(tmp_path)) for path in written}
    pictures = {f"figures/{name}.{kind}" for name in ("lengths", "small") for kind in ("png", "svg")}
    assert names == {"report.html", "results.json"} | pictures
    assert (tmp_path / "figures/lengths.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "figures/lengths.svg").read_text().startswith("<svg")
    assert json.loads((tmp_path / "results.json").read_text()) == RECORDS


def test_write_page_makes_one_file(report, tmp_path):
    assert write_page(report, tmp_path / "deep" / "page.html").read_text() == page_of(report)


def test_chart_shows_every_method_and_says_what_the_slider_chose():
    svg = as_svg(specification(chart(slider=Axis("length", "List length"), at=2)))
    assert "List length 2" in svg
    assert all(f">{name}</text>" in svg for name in ("SCP", "Oracle", "training environments", "310"))
    for look in line_styles(["SCP", "Oracle"]).values():
        assert look.colour in svg


def test_slider_over_uneven_values_is_a_menu():
    params = specification(chart(slider=Axis("n_train", "Environments")))["params"]
    bind = next(param["bind"] for param in params if param["name"] == "chosen")
    assert (bind["input"], bind["options"]) == ("select", [10, 30, 310])


def test_slider_of_one_value_is_a_title():
    records = [record for record in RECORDS if record["length"] == 1]
    spec = specification(chart(records, slider=Axis("length", "List length")))
    assert spec["title"] == "List length 1"
    assert "chosen" not in json.dumps(spec)


def test_chart_without_intervals():
    bare = [record | {"low": None, "high": None} for record in RECORDS if record["length"] == 1]
    assert as_svg(specification(chart(bare))).startswith("<svg")


def test_wrong_parts_are_refused():
    with pytest.raises(InputError, match=r"one entry per column \(2\)"):
        ReportTable(["a", "b"], [[1]])
    with pytest.raises(InputError, match=r"letters, digits and dashes only. Got '../a'"):
        Figure("../a", {})
    twice = Section("s", "x", [Figure("a", {}), Figure("a", {})])
    with pytest.raises(InputError, match="Two figures are named 'a'"):
        page_of(ReportPage("t", "f", [twice]))
    with pytest.raises(InputError, match="Got str"):
        specification("chart")


@pytest.mark.parametrize(("module", "call"), [("altair", charts), ("vl_convert", lambda: as_svg({}))])
def test_missing_packages_name_the_extra(module, call, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=re.escape('pip install "listwright[plots]"')):
        call()
