"""`listwright serve --packer`: the value may be left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from listwright import serve as service
from listwright.cli.app import app


@pytest.mark.parametrize(
    ("arguments", "packer"),
    [
        (["--packer"], Path("pretrained")),
        (["--packer", "--port", "8001"], Path("pretrained")),
        (["--packer", "my.listwright"], Path("my.listwright")),
    ],
)
def test_a_packer_without_a_value_is_that_of_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], packer: Path
) -> None:
    served: list[Any] = []
    monkeypatch.setattr(service, "serve", served.append)
    app(["serve", "--store", f"sqlite:///{tmp_path}/new.db", *arguments], standalone_mode=False)
    assert served[0].packer == packer
