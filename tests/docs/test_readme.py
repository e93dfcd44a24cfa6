"""The code on the pages is the code that runs."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import listwright as lw

pytestmark = [
    pytest.mark.system,
    pytest.mark.filterwarnings("error::listwright.errors.DataWarning"),  # pages and programs make no mistakes
]
ROOT = Path(__file__).parents[2]
PAGES = ["README.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def python_blocks(page: Path) -> list[str]:
    """The page's Python blocks, each moved down by blank lines so that a traceback names the page's own line."""
    text = page.read_text(encoding="utf8")
    return ["\n" * text.count("\n", 0, match.start(1)) + match[1] for match in BLOCK.finditer(text)]


@pytest.mark.parametrize("name", PAGES)
def test_python_blocks_run_in_order(name: str) -> None:
    blocks = python_blocks(ROOT / name)
    assert blocks, f"{name} has no Python block"
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, name, "exec"), namespace)


def test_the_service_answers_the_requests_on_the_front_page(tmp_path: Path) -> None:
    pytest.importorskip("starlette", reason="needs the extra serve")
    client = pytest.importorskip("starlette.testclient")
    from listwright.serve import Settings, create_app

    rng = np.random.default_rng(0)
    table = pd.DataFrame(np.eye(3)[rng.integers(3, size=600)], columns=["sport", "music", "food"])
    table = table.assign(problem=np.repeat(np.arange(60), 10), quality=rng.random(600), clicked=rng.random(600) < 0.2)
    lw.SCP(2, effort="fast", random_state=0).fit(table, reward="any:clicked").save(tmp_path / "model.listwright")
    app = create_app(Settings(tmp_path / "model.listwright", store=f"sqlite:///{tmp_path}/lists.db"))
    page = (ROOT / "README.md").read_text(encoding="utf8")
    wanted, clicks = (shlex.split(line) for line in page.splitlines() if line.startswith("curl "))
    with client.TestClient(app, base_url="http://127.0.0.1:8000") as session:
        answer = session.post(wanted[1].partition(":8000")[2], json=json.loads(wanted[-1]))
        assert answer.status_code == 200, answer.text
        picked = [item["id"] for item in answer.json()["items"]]
        assert len(picked) == 2
        body = {**json.loads(clicks[-1]), "list_id": answer.json()["list_id"], "clicks": picked[1:]}
        assert body.keys() == json.loads(clicks[-1]).keys()
        feedback = session.post(clicks[1].partition(":8000")[2], json=body)
    assert feedback.status_code == 200, feedback.text
    assert feedback.json()["list_id"] == answer.json()["list_id"]
