"""Shared preparation of `evaluate`, `compare` and `safe_rollout`.

Argument checks, and the log as estimators take it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from listwright._internal.arrays import Floats
from listwright.errors import InputError
from listwright.feedback.log import Log
from listwright.feedback.off_policy.evidence import LoggedGains, gains_of
from listwright.feedback.off_policy.examination import looks
from listwright.feedback.off_policy.propensities import check_propensity, with_propensities

VALUES = ("sum", "any")


def check_arguments(log: Log, value: str, confidence: float, propensity: str) -> None:
    """Raise unless the arguments that all off-policy functions share make sense."""
    if not isinstance(log, Log):
        raise InputError(f"log must be a listwright.feedback.Log. Got {type(log).__name__}.")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must be between 0 and 1. Got {confidence!r}.")
    if value not in VALUES:
        raise InputError(f"value must be one of {', '.join(VALUES)}. Got {value!r}.")
    check_propensity(propensity)


def known_gains(log: Log, value: str, propensity: str) -> tuple[LoggedGains, Floats | None]:
    """Return the log as estimators take it, and the examination of each position where it is needed."""
    logged = log.answered()
    if propensity != "examination":
        return gains_of(with_propensities(logged, propensity), cascade=log.cascade, value=value), None
    if log.cascade or value == "any":
        raise InputError('propensity="examination" is for lists that are worth the sum of their clicks.')
    if np.isnan(logged.propensities[logged.rows >= 0]).any():  # then nothing else can be said
        logged = replace(logged, propensities=np.where(logged.rows >= 0, 1.0, np.nan))
    return gains_of(logged, cascade=False, value=value), looks(logged)
