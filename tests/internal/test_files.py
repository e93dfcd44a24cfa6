"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from listwright._internal.files import whole_file, write_whole
from listwright.errors import InputError


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")

    def write_half() -> None:
        with whole_file(path) as beside:
            beside.write_bytes(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["file"]


def test_a_new_file_has_the_mode_asked_for(tmp_path: Path) -> None:
    write_whole(tmp_path / "keys", b"secret", mode=0o600)
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "keys").read_bytes() == b"secret"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Cannot write .*nowhere.file: No such file"):
        write_whole(tmp_path / "nowhere" / "file", b"")
    write_whole(Path("/dev/null"), b"anything")
