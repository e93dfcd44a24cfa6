"""Optional packages that are there, absent, or installed and broken."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import listwright as lw
from listwright._internal import extras
from listwright._internal.extras import find_extra, require_extra
from listwright.errors import BrokenExtraWarning, MissingExtra
from listwright.feedback.gain_trees import boosted_trees
from tests.problem_tools import small_problems

Break = Callable[[str], None]


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Break:
    """Makes a package installed but broken, as LightGBM is in a slim container."""
    monkeypatch.setattr(extras, "_broken", {})
    monkeypatch.syspath_prepend(tmp_path)

    def break_package(name: str) -> None:
        monkeypatch.delitem(sys.modules, name, raising=False)
        (tmp_path / f"{name}.py").write_text('raise OSError("libgomp.so.1: cannot open shared object file")')

    return break_package


def test_what_can_be_imported_is_returned() -> None:
    assert find_extra("math", instead="Nothing") is math
    assert require_extra("os.path", "Paths need os.", extra="none").sep


def test_what_is_not_installed_is_absent_without_a_warning() -> None:
    assert find_extra("no_such_package", instead="Nothing") is None
    assert find_extra("no_such_package.part", instead="Nothing") is None
    with pytest.raises(MissingExtra, match=r'^It needs more. Run: pip install "listwright\[more\]"$'):
        require_extra("no_such_package", "It needs more.", extra="more")


def test_what_is_broken_is_absent_with_one_warning(broken: Break) -> None:
    broken("half_installed")
    message = (
        r"half_installed is installed, but cannot .* \(OSError: libgomp.so.1: .*\)\. Something else is used instead"
    )
    with pytest.warns(BrokenExtraWarning, match=message):
        assert find_extra("half_installed", instead="Something else") is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_extra("half_installed", instead="Something else") is None
    with pytest.raises(
        MissingExtra, match=r"It needs more. half_installed is installed, but cannot .* libgomp.* Run: pip"
    ):
        require_extra("half_installed", "It needs more.", extra="more")


@pytest.mark.parametrize("error", ["OSError", "ImportError"])
def test_a_broken_package_of_serve_or_of_the_command_line_is_named(
    broken: Break, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: str
) -> None:
    pytest.importorskip("uvicorn")
    from listwright.cli import _app
    from listwright.serve import import_part

    for package, needs, load in (
        ("uvicorn", "Serving needs uvicorn", lambda: import_part("server")),
        ("typer", "The command line needs typer", _app),
    ):
        for name in [
            name for name in sys.modules if name.startswith(("listwright.serve.server", "listwright.cli.app"))
        ]:
            monkeypatch.delitem(sys.modules, name)
        broken(package)
        (tmp_path / f"{package}.py").write_text(f"raise {error}('libfoo.so: cannot open shared object file')")
        message = rf"^{needs}\. It is installed, but cannot be imported here \({error}: libfoo.*\)\. Run: pip"
        with pytest.raises(MissingExtra, match=message):
            load()


def test_a_package_whose_own_dependency_is_missing_is_broken(broken: Break, tmp_path: Path) -> None:
    (tmp_path / "half_installed.py").write_text("import no_such_package")
    with pytest.warns(BrokenExtraWarning, match="No module named 'no_such_package'"):
        assert find_extra("half_installed", instead="Something else") is None


def test_a_broken_lightgbm_does_not_stop_a_fit(broken: Break) -> None:
    broken("lightgbm")
    with pytest.warns(BrokenExtraWarning, match=r"lightgbm .* scikit-learn's boosting is used instead"):
        assert type(boosted_trees()).__name__ == "HistGradientBoostingRegressor"
    assert lw.SCP(length=2).fit(small_problems()).predict(small_problems())
