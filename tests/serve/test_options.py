"""Options of `listwright serve` that show when it starts: the port that it found, and the password of its store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from listwright.cli import main
from listwright.errors import InputError
from listwright.serve import Settings, create_app, server


def test_port_0_tells_the_port_that_was_found(
    model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []

    def run(app: Any, settings: Settings, listening: Any) -> None:
        found.append(listening.getsockname()[1])
        app.state.service.database.close()

    monkeypatch.setattr(server, "_run_one", run)
    with pytest.raises(SystemExit) as ended:
        main(["serve", str(model_file), "--store", f"sqlite:///{tmp_path}/store.db", "--port", "0"])
    assert not ended.value.code
    assert found[0] > 0
    assert f"Serving on http://127.0.0.1:{found[0]}," in capsys.readouterr().err


@pytest.fixture
def guarded(postgres: Any, empty_postgres: str) -> str:
    """Address of an empty database whose user needs the password "open sesame"."""
    rules = postgres.folder / "data" / "pg_hba.conf"
    if "guarded" not in rules.read_text():
        rules.write_text(f"host all guarded 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
    engine = create_engine(empty_postgres.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("DROP ROLE IF EXISTS guarded"))
        connection.execute(text("CREATE ROLE guarded LOGIN PASSWORD 'open sesame'"))
        connection.execute(text("GRANT ALL ON SCHEMA public TO guarded"))
        connection.execute(text("SELECT pg_reload_conf()"))
    engine.dispose()
    return empty_postgres.replace("listwright@", "guarded@")


@pytest.mark.system
def test_the_password_of_the_store_comes_from_a_file_or_the_environment(
    opened: Any, asked: Any, guarded: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "password"
    path.write_text("open sesame\r\n")
    client = opened(store=guarded, store_password_file=path)
    assert client.post("/v1/lists", json=asked()).status_code == 200
    monkeypatch.setenv("LISTWRIGHT_STORE_PASSWORD", "open sesame")
    assert opened(store=guarded).get("/readyz").status_code == 200
    path.write_text("wrong")
    with pytest.raises(InputError, match=r"cannot be opened.*password authentication failed") as refused:
        opened(store=guarded, store_password_file=path)
    assert "wrong" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "Cannot read"), (b"\n", "is empty. Write the password"), (b"\xff\xfe", "is not UTF-8 text")],
)
def test_a_password_file_that_holds_none(model_file: Path, tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "password"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        create_app(Settings(model_file, f"sqlite:///{tmp_path}/store.db", store_password_file=path))
