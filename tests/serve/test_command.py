"""`listwright serve`: what it says before it serves."""

from __future__ import annotations

import pytest

from listwright.cli import main
from listwright.serve.auth import Keys


@pytest.fixture
def call(capsys):
    """`call("--help")` gives (exit code, standard output, standard error)."""

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["serve", *arguments])
        return (ended.value.code or 0, *capsys.readouterr())

    return run


def test_help_tells_the_options(call):
    code, out, _ = call("--help")
    assert code == 0
    assert all(option in out for option in ("--store", "--learn", "--keys", "--new-key", "--keep-days"))


def test_a_new_key_is_printed_once_and_works(call, tmp_path):
    path = tmp_path / "keys.json"
    keys = [call("--new-key", role, "--keys", str(path))[1].strip() for role in ("admin", "lists")]
    assert [Keys.read(path).find(key).role for key in keys] == ["admin", "lists"]


def test_a_new_key_needs_a_file(call):
    code, _, error = call("--new-key", "admin")
    assert (code, "--keys FILE" in error) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{model}", "--host", "0.0.0.0"], "needs --keys"),
        (["{model}", "--store", "mysql://x"], "A store is sqlite"),
        (["{model}", "--keys", "none.json"], "Cannot read none.json"),
        (["{model}", "--keep-days", "0"], "above 0"),
        (["none.listwright"], "Cannot read none.listwright"),
    ],
)
def test_what_cannot_be_served_is_told_in_one_line(call, model_file, tmp_path, arguments, message):
    code, _, error = call(*(one.format(model=model_file) for one in arguments))
    assert code == 1
    assert message in error
    assert error.count("\n") == 1


def test_without_a_model_it_says_so(call):
    assert call()[0] == 2
