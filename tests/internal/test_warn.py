"""Warnings point at the user's line, wherever in the package they come from."""

from __future__ import annotations

import linecache
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import listwright as lw
from listwright._internal.threads import own_warnings
from listwright.errors import DataWarning


def leaking() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    clicked = (rng.random(240) > 0.7).astype(int)
    return pd.DataFrame(
        {"problem": np.repeat(np.arange(40), 6), "x": rng.random(240), "told": 2.0 * clicked, "clicked": clicked}
    )


def line_of(warning: Any) -> str:
    """The line of this file that a warning is shown at."""
    assert warning.filename == __file__
    return linecache.getline(warning.filename, warning.lineno).strip()


@pytest.mark.parametrize("settings", [{}, {"certify": 0.3}], ids=["fit", "certify"])
def test_a_warning_of_fit_is_at_the_line_that_calls_it(settings: dict[str, float]) -> None:
    model, table = lw.SCP(2, effort="fast", random_state=0), leaking()
    with pytest.warns(DataWarning, match="computed from told") as told:
        model.fit(table, reward="any:clicked", **settings)
    assert [line_of(one) for one in told] == ['model.fit(table, reward="any:clicked", **settings)']


def test_a_warning_of_a_table_is_at_the_line_that_reads_it() -> None:
    dated = leaking().assign(day=pd.Timestamp("2026-01-01"))
    with pytest.warns(DataWarning, match="'day'") as told:
        lw.Problems.from_frame(dated)
    assert line_of(told[0]) == "lw.Problems.from_frame(dated)"


def test_what_scikit_learn_does_to_the_filters_of_warnings_does_not_last():
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        filters = list(warnings.filters)
        with own_warnings():
            warnings.resetwarnings()
            warnings.warn("`sklearn.utils.parallel.delayed` should be used with `Parallel`", UserWarning, stacklevel=1)
            warnings.warn("not converged", UserWarning, stacklevel=1)
        assert warnings.filters == filters
    assert [str(warning.message) for warning in noted] == ["not converged"]
