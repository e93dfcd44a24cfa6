"""Errors go from one process to another, as joblib and process pools send them."""

from __future__ import annotations

import pickle  # noqa: TID251

import pytest

from listwright.checks.base import LawBroken
from listwright.errors import InputError, MissingExtra


@pytest.mark.parametrize(
    "error",
    [
        InputError("length must be at least 1. Got 0."),
        MissingExtra("The picture needs altair.", extra="plots"),
        LawBroken("empty", "An empty list is worth 0.30 in problem q17: it must be worth 0."),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_can_be_sent(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.args == error.args
