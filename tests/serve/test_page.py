"""The page in a real browser: every view, by day and by night, on a phone, by keyboard, with and without keys."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import listwright as lw
from listwright.serve import app as page_module
from listwright.serve import new_key

pytestmark = pytest.mark.system

ARGUMENTS = ["no-sandbox", "disable-gpu", "disable-background-networking", "disable-component-update", "disable-sync"]
PATIENCE = 60_000  # milliseconds: a busy machine is slow
PHONE = {"width": 375, "height": 740}
VIEWS = {
    "Overview": "Overview",
    "Lists": "Lists",
    "Try it": "Try it",
    "Model": "Model version 1",
    "Learning": "Learning",
}
STRANGE = "<img src=x onerror=alert(1)>" + "long" * 40
Visit = Callable[..., Any]


@pytest.fixture(scope="module")
def browser(needs: Callable[[str], str]) -> Iterator[Any]:
    """Chromium, as it is installed."""
    path = needs("chromium")
    if not os.environ.get("LISTWRIGHT_CI"):
        pytest.importorskip("playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=[f"--{name}" for name in ARGUMENTS])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Visit]:
    """`visit(service, "#/lists")` opens a page. At the end: no fault on any console, no request to anybody else.

    What the service refuses is on the console too; `but` are words of what a test brings about.
    """
    with ExitStack() as stack:
        found: list[str] = []

        def open_page(service: Any, path: str = "", *, but: tuple[str, ...] = (), **options: Any) -> Any:
            context = browser.new_context(**options)
            stack.callback(context.close)
            page = context.new_page()
            page.set_default_timeout(PATIENCE)
            page.on("console", lambda told: found.append(told.text) if _is_fault(told, but) else None)
            page.on("pageerror", lambda error: found.append(str(error)))
            page.on("request", lambda asked: found.append(asked.url) if not asked.url.startswith(service.url) else None)
            page.goto(f"{service.url}/{path}")
            return page

        yield open_page
    assert found == []


def _is_fault(told: Any, but: tuple[str, ...]) -> bool:
    return told.type in ("error", "warning") and not any(text in told.text for text in but)


def wait_until_drawn(page: Any, title: str) -> None:
    """Waits until a view is there, with its charts."""
    page.get_by_role("heading", level=1, name=title, exact=True).wait_for()
    page.locator(".chart:not(:has(svg))").first.wait_for(state="detached")


@pytest.fixture(scope="module")
def service(
    running: type[Any], model_file: Path, other_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """Two versions, twelve lists, feedback on eight of them: of each four, the first brings something."""
    service = running(model=model_file, store=f"sqlite:///{tmp_path_factory.mktemp('page')}/store.db")
    try:
        octets = {"Content-Type": "application/octet-stream"}
        assert service.post("/v1/models", content=other_file.read_bytes(), headers=octets).status_code == 201
        assert service.put("/v1/traffic", json={"current": 1, "canary": 2, "share": 0.4}).status_code == 200
        for i in range(12):
            _serve_one(service, i)
        page_module.charts()  # bundled once, before a page waits for it
        yield service
    finally:
        service.stop()


def _serve_one(service: Any, i: int) -> None:
    items = [{"id": f"i{j}", "features": [j / 10, (i + j) % 5 / 5, 0.5]} for j in range(8)]
    items[7]["id"] = STRANGE
    answer = service.post("/v1/lists", json={"items": items}).json()
    if i < 8:
        clicks = [answer["items"][0]["id"]] if i % 4 == 0 else []
        told = service.post("/v1/feedback", json={"list_id": answer["list_id"], "clicks": clicks})
        assert told.status_code == 200


def texts(page: Any, selector: str) -> list[str]:
    return list(page.locator(selector).all_inner_texts())


def test_the_files_of_the_page_are_served_and_no_others(client: Any) -> None:
    assert {"index.html", "app.css", "app.js", "icon.svg"} <= page_module.NAMES
    assert {client.get(f"/page/{name}").status_code for name in page_module.NAMES} == {200}
    for name in ("other.js", "..%2fapp.py", "%2e%2e/app.py", ""):
        assert client.get(f"/page/{name}").status_code == 404


def test_click_through_by_day_and_by_night(visit: Visit, service: Any, tmp_path: Path) -> None:
    page = visit(service, color_scheme="light")
    pictures = {}
    for colours in ("light", "dark"):
        for link, title in VIEWS.items():
            page.get_by_role("navigation", name="Views").get_by_role("link", name=link).click()
            wait_until_drawn(page, title)
            pictures[colours, link] = page.screenshot(path=tmp_path / f"{colours}-{title}.png", full_page=True)
            assert page.locator("nav a[aria-current=page]").inner_text() == link
        page.get_by_role("button", name="Dark colours" if colours == "light" else "Light colours").click()
    assert all(pictures["light", link] != pictures["dark", link] for link in VIEWS)
    page.goto(f"{service.url}/docs")
    page.get_by_text("POST /v1/feedback").click()
    assert "idempotency_key" in page.locator("details[open]").inner_text()


def test_overview_shows_what_the_service_tells(visit: Visit, service: Any) -> None:
    page = visit(service)
    wait_until_drawn(page, "Overview")
    stats = service.get("/v1/stats").json()
    tiles = texts(page, ".tiles li")
    assert f"\n{stats['lists']}\n{stats['answered']} with feedback" in tiles[0]
    assert f"{100 * stats['failure_rate']:.1f}\xa0%" in tiles[1]
    assert "version 2 gets 40.0\xa0%" in tiles[3]
    versions = [one["version"] for one in stats["versions"] if one["answered"]]
    assert page.locator(".chart").count() == 3
    for chart in page.locator(".chart").all():
        assert chart.locator(".role-mark path").count() >= len(versions)
        assert all(f"version {version}" in chart.inner_text() for version in versions)
    page.get_by_role("link", name="Hour").click()
    page.get_by_text("per 5 minutes.").wait_for()
    wait_until_drawn(page, "Overview")
    page.locator(".mark-rect path").first.hover()
    assert "lists served" in page.locator("#tip").inner_text()


def test_colours_follow_the_system_until_told_otherwise(visit: Visit, service: Any) -> None:
    page = visit(service, color_scheme="dark")
    wait_until_drawn(page, "Overview")
    back = "getComputedStyle(document.body).backgroundColor"
    label = "document.querySelector('.chart .role-axis-label text').getAttribute('fill')"
    dark = page.evaluate(back), page.evaluate(label)
    page.emulate_media(color_scheme="light")
    page.locator(f".chart text[fill='{dark[1]}']").first.wait_for(state="detached")
    assert page.evaluate(back) != dark[0]
    page.get_by_role("button", name="Dark colours").click()
    page.reload()
    wait_until_drawn(page, "Overview")
    assert (page.evaluate(back), page.evaluate(label)) == dark


def test_explore_a_list(visit: Visit, service: Any) -> None:
    page = visit(service, "#/lists")
    wait_until_drawn(page, "Lists")
    listed = service.get("/v1/lists").json()["lists"]
    outcomes = {None: "no feedback", True: "failed", False: "success"}
    assert texts(page, "td .badge") == [outcomes[one["failed"]] for one in listed]
    told = service.get(f"/v1/lists/{listed[-1]['list_id']}?explain=true").json()
    page.get_by_role("link", name=f"List {told['list_id']}").click()
    wait_until_drawn(page, "One list")
    assert texts(page, "ol.picks .name .id") == [item["id"] for item in told["items"]]
    assert texts(page, "ol.picks .badge") == [f"gain {gain:.2f}" for gain in told["feedback"]["gains"]]
    for line, reason in zip(texts(page, "ol.picks .told"), told["reasons"]["picks"], strict=True):
        assert f"of {reason['runner_up']}" in line
        assert next(iter(reason["columns"])) in line
    assert texts(page, "ul.skipped .name") == [one["item"] for one in told["reasons"]["skipped"]]
    page.go_back()
    wait_until_drawn(page, "Lists")


def test_what_was_skipped_names_the_item_it_was_skipped_for(
    visit: Visit, service: Any, asked: Callable[..., dict[str, Any]]
) -> None:
    answer = service.post("/v1/lists", json=asked(12, seed=3)).json()
    skipped = service.get(f"/v1/lists/{answer['list_id']}?explain=true").json()["reasons"]["skipped"]
    page = visit(service, "#/lists")
    wait_until_drawn(page, "Lists")
    page.get_by_label("Open a list by its id").fill(answer["list_id"])
    page.keyboard.press("Enter")
    wait_until_drawn(page, "One list")
    lines = texts(page, "ul.skipped li")
    assert len(lines) == len(skipped) > 0
    for line, one in zip(lines, skipped, strict=True):
        assert one["item"] in line
        assert f"Skipped for {one['because_of']}" in line


def test_characters_that_turn_text_around_are_written_out(visit: Visit, client: Any) -> None:
    turned = "a\u202eb"
    items = [{"id": f"{turned}{i}", "features": [i / 9, 0.5, i % 2]} for i in range(9)]
    sent = {"items": items, "length": 3, "metadata": {"user": turned}}
    told = client.post("/v1/lists", json=sent).json()
    page = visit(client, f"#/lists/{told['list_id']}")
    wait_until_drawn(page, "One list")
    shown = page.locator("main").evaluate("(one) => one.textContent")
    assert "\u202e" not in shown
    assert all(item["id"].replace("\u202e", "\\u{202e}") in shown for item in told["items"])
    assert page.locator(".chart svg text").filter(has_text="\\u{202e}").count() > 0


def test_try_it(visit: Visit, service: Any) -> None:
    page = visit(service, "#/try")
    wait_until_drawn(page, "Try it")
    page.get_by_label("Candidates").fill(f'id; price; speed; weight\n"{STRANGE}"; 1; 1; 1\nb; 0.2; 0.5; 0\nc; 0; 0; 0')
    page.get_by_label("Length").fill("2")
    page.get_by_role("button", name="Build the list").click()
    page.get_by_role("heading", name="The list: 2 items").wait_for()
    stored = service.get("/v1/lists?limit=1").json()["lists"][0]["list_id"]
    told = service.get(f"/v1/lists/{stored}").json()
    assert texts(page, "#answer .name") == [item["id"] for item in told["items"]]
    assert STRANGE in texts(page, "#answer .name")
    assert page.locator("main img").count() == 0
    page.get_by_label("useful").nth(1).check()
    page.get_by_role("button", name="Send feedback").click()
    page.get_by_text("this is stored").wait_for()
    assert service.get(f"/v1/lists/{stored}").json()["feedback"]["gains"] == [0, 1]
    page.get_by_role("link", name="Explore this list").click()
    wait_until_drawn(page, "One list")


WRONG = {
    "price, speed\n1, 2": "must name the columns, one of them id",
    "id, price, speed, weight\na, 1, much, 3": 'line 2: speed must be a number. Got "much".',
    "id, price, speed, weight\na, 1, 2": "line 2: there are 4 columns, but 3 values",
    "id, price, speed\na, 1, 2": "Candidate 1, weight: This is missing.",
    '[{"id": "a"}]': "Candidate 1, features: Field required.",
    "[1,": "this is not valid JSON",
}


def test_try_it_says_what_is_wrong(visit: Visit, service: Any) -> None:
    page = visit(service, "#/try", but=("status of 422",))
    wait_until_drawn(page, "Try it")
    for text, message in WRONG.items():
        page.get_by_label("Candidates").fill(text)
        page.get_by_role("button", name="Build the list").click()
        alert = page.locator("#answer").get_by_role("alert").filter(has_text=message)
        alert.wait_for()
        assert alert.count() == 1


def test_model(visit: Visit, service: Any) -> None:
    told = service.get("/v1/models/2").json()
    page = visit(service, "#/model")
    wait_until_drawn(page, "Model version 1")
    page.get_by_role("link", name="Version 2 (canary)").click()
    wait_until_drawn(page, "Model version 2")
    assert page.locator(".statement").inner_text() == told["certificate"]["text"]
    assert "With probability" not in page.locator("dl").first.inner_text(), "the sentence says it, rounded safely"
    assert told["digest"] in page.locator("main").inner_text()
    assert "price, speed, weight" in page.locator("main").inner_text()


def test_keyboard_alone(visit: Visit, service: Any) -> None:
    page = visit(service)
    wait_until_drawn(page, "Overview")
    focused = "document.activeElement"
    walked = []
    views = ["Overview", "Lists", "Try it", "Model", "Learning"]
    for _ in range(9):
        page.keyboard.press("Tab")
        walked.append(page.evaluate(f"{focused}.textContent.trim()"))
        assert page.evaluate(f"getComputedStyle({focused}).outlineStyle") == "solid"
    assert walked == ["Skip to the content", "listwright", *views, "API", "Dark"]
    page.keyboard.press("Tab")
    assert page.evaluate(f"{focused}.textContent") == "Refresh"
    for _ in range(6):
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    wait_until_drawn(page, "Lists")
    assert page.evaluate(f"{focused}.id") == "main"
    page.goto(f"{service.url}/#/try")
    wait_until_drawn(page, "Try it")
    page.get_by_label("Budget").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.get_by_text("The list: 3 items").wait_for()
    assert page.evaluate(f"{focused}.textContent") == "Build the list"
    assert "A list of 3 items." in page.get_by_role("status").inner_text()


def test_skip_link_leads_to_the_content(visit: Visit, service: Any) -> None:
    page = visit(service, "#/model")
    wait_until_drawn(page, "Model version 1")
    page.keyboard.press("Tab")
    assert page.locator(".skip").is_visible()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert page.get_by_role("heading", level=1).inner_text() == "Model version 1"


def test_fits_a_phone(visit: Visit, service: Any, tmp_path: Path) -> None:
    page = visit(service, viewport=PHONE)
    newest = service.get("/v1/lists?limit=1").json()["lists"][0]["list_id"]
    unnamed = "[...document.querySelectorAll('input, textarea')].filter((one) => !one.labels.length).length"
    paths = {
        "Lists": "lists",
        "One list": f"lists/{newest}",
        "Overview": "",
        "Try it": "try",
        "Model version 1": "model",
    }
    for title, path in paths.items():
        page.goto(f"{service.url}/#/{path}")
        wait_until_drawn(page, title)
        page.screenshot(path=tmp_path / f"phone-{title}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        assert page.evaluate(unnamed) == 0


def test_nothing_yet(visit: Visit, opened: Any) -> None:
    client = opened()
    page = visit(client)
    wait_until_drawn(page, "Overview")
    assert "No lists have been served yet." in page.locator("main").inner_text()
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Lists").click()
    wait_until_drawn(page, "Lists")
    assert "No lists have been served yet." in page.locator("main").inner_text()
    client.post("/v1/lists", json={"items": [{"id": "only", "features": [0, 0, 0]}], "length": 1})
    page.goto(f"{client.url}/#/")
    wait_until_drawn(page, "Overview")
    assert "No feedback on the lists of this time." in page.locator("main").inner_text()


def test_without_the_charts_the_numbers_are_there(visit: Visit, service: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    page = visit(service, but=("status of 404",))
    page.get_by_text("Charts need vl-convert on the server").first.wait_for()
    page.get_by_text("As a table").last.click()
    assert page.get_by_role("table", name="Gain by position").is_visible()


def test_a_service_that_went_away_is_told(visit: Visit, client: Any) -> None:
    page = visit(client, but=("net::ERR_FAILED",))
    wait_until_drawn(page, "Overview")
    page.route("**/v1/**", lambda route: route.abort())
    page.get_by_role("button", name="Refresh").click()
    assert "The service cannot be reached." in page.locator("main").get_by_role("alert").inner_text()
    page.unroute("**/v1/**")
    page.get_by_role("button", name="Try again").click()
    wait_until_drawn(page, "Overview")


def test_keys(visit: Visit, opened: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    keys = {role: new_key(role, path) for role in ("admin", "lists")}
    page = visit(opened(keys=path), but=("status of 401", "status of 403"))
    for key in ("wrong", keys["lists"]):
        page.get_by_label("Key", exact=True).fill(key)
        page.get_by_role("button", name="Use this key").click()
        if key == "wrong":
            page.get_by_text("The service does not know this key.").wait_for()
    page.get_by_text("This needs a key with the role read or admin.").wait_for()
    page.get_by_role("button", name="Use another key").click()
    page.get_by_label("Key", exact=True).fill(keys["admin"])
    page.keyboard.press("Enter")
    wait_until_drawn(page, "Overview")
    assert page.evaluate("Object.values(sessionStorage)") == [keys["admin"]]
    assert keys["admin"] not in page.evaluate(
        "JSON.stringify(localStorage) + document.cookie + document.body.innerHTML"
    )
    page.get_by_role("button", name="Forget key").click()
    page.get_by_role("heading", name="This service needs a key").wait_for()
    assert page.evaluate("sessionStorage.length") == 0
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Without a key there is nothing to see here.").wait_for()


def test_learning_is_paused_forgotten_brought_back_and_downloaded(
    visit: Visit, opened: Callable[..., Any], asked: Callable[..., dict[str, Any]], learn: Callable[[Any], None]
) -> None:
    service = opened(learn=True, snapshot_every=4)
    for seed in range(8):
        list_id = service.post("/v1/lists", json=asked(8, seed=seed)).json()["list_id"]
        service.post("/v1/feedback", json={"list_id": list_id, "gains": [1, 0, 0]})
    learn(service)

    def told() -> dict[str, Any]:
        found: dict[str, Any] = service.get("/v1/learning").json()["versions"][0]
        return found

    page = visit(service, "#/learning")
    page.on("dialog", lambda question: question.accept())
    wait_until_drawn(page, "Learning")
    assert texts(page, ".facts dd") == ["8 lists", "nothing", "what was learned", page.locator("dd").last.inner_text()]
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("Frozen by an operator.").wait_for()
    assert (told()["state"], texts(page, ".badge")) == ("frozen", ["paused"])
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Pause").wait_for()
    assert (told()["state"], texts(page, ".badge")) == ("learning", ["learning"])
    page.get_by_role("button", name="Forget all").click()
    page.get_by_text("the model as deployed", exact=True).wait_for()
    assert (told()["lists"], told()["serves_learned"]) == (0, False)
    number = next(one["number"] for one in told()["snapshots"] if one["count"] == 8)
    page.get_by_role("row", name=f"{number} Go back 8").get_by_role("button").click()
    page.get_by_text("what was learned", exact=True).wait_for()
    assert (told()["lists"], told()["serves_learned"]) == (8, True)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as a model").click()
    assert lw.load(download.value.path()).version == 8


def test_what_the_service_refuses_is_told_on_the_page(
    visit: Visit, opened: Callable[..., Any], learn: Callable[[Any], None]
) -> None:
    service = opened(learn=True)
    learn(service)
    page = visit(service, "#/learning", but=("status of 503",))
    wait_until_drawn(page, "Learning")
    refused = '{"error": {"code": "unavailable", "message": "The store cannot be reached.", "field": null}}'
    page.route("**/v1/learning", lambda route: route.fulfill(status=503, body=refused))
    page.get_by_role("button", name="Pause").click()
    assert "The store cannot be reached." in page.locator(".said").get_by_role("alert").inner_text()
