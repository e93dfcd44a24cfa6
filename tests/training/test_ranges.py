"""The ranges of training columns: found by every way to fit, kept in model files, and never part of what must match."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest
from scipy import sparse

import listwright as lw
from listwright.errors import InputError
from listwright.training.signature import Ranges, Signature, Span


def made(low, high, n=40, *, context=None):
    table = np.random.default_rng(0).uniform(low, high, (n, 5, 3)).astype(np.float32)
    reward = lw.rewards.AnySuccess(table[..., 0] > (low + high) / 2)
    return lw.Problems.from_arrays(table, reward=reward, context=context)


def test_a_fitted_model_knows_the_range_of_every_column():
    context = np.linspace(-2, 7, 40)[:, None]
    problems = made(0, 1, context=context)
    ranges = lw.SCP(length=2, effort="fast", random_state=0).fit(problems).signature_.ranges
    np.testing.assert_array_equal(ranges.features.low, problems.features.min(axis=0))
    np.testing.assert_array_equal(ranges.features.high, problems.features.max(axis=0))
    assert (ranges.context.low, ranges.context.high) == (-2, 7)
    assert ranges.vectors is None


def test_partial_fit_widens_the_ranges():
    model = lw.SCP(length=2, effort="fast", random_state=0).fit(made(0, 1)).partial_fit(made(-3, 2))
    assert (model.signature_.ranges.features.low < -2).all()
    assert (model.signature_.ranges.features.high > 1.5).all()


def test_a_fit_on_files_knows_them_too(tmp_path):
    pytest.importorskip("pandas")
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"problem": np.repeat(np.arange(60), 4), "x": rng.random(240), "y": rng.random(240)})
    frame["clicked"] = frame.x > 0.6
    frame.to_parquet(tmp_path / "data.parquet", row_group_size=80)
    scan = lw.scan(tmp_path / "data.parquet", reward="any:clicked", shard_size=1)
    ranges = lw.SCP(length=2, effort="fast", random_state=0).fit(scan).signature_.ranges
    np.testing.assert_allclose(ranges.features.high, frame[["x", "y"]].max().to_numpy(), rtol=1e-6)


def test_a_file_keeps_them_and_an_older_file_has_none(tmp_path):
    model = lw.SCP(length=2, effort="fast", random_state=0).fit(made(0, 1))
    path = tmp_path / "model.listwright"
    model.save(path)
    again = lw.load(path).signature_
    np.testing.assert_array_equal(again.ranges.features.high, model.signature_.ranges.features.high)
    older = changed(path, tmp_path, lambda fields: fields.pop("ranges"))
    assert lw.load(older).signature_.ranges is None


def test_a_file_with_ranges_of_another_shape_is_refused(tmp_path):
    path = tmp_path / "model.listwright"
    lw.SCP(length=2, effort="fast", random_state=0).fit(made(0, 1)).save(path)
    bad = changed(
        path, tmp_path, lambda fields: fields["ranges"]["fields"].update(context=fields["ranges"]["fields"]["features"])
    )
    with pytest.raises(InputError, match="one range per column"):
        lw.load(bad)


def changed(path, folder, change):
    """A copy of a model file with the fields of its signature changed."""
    copy = folder / "changed.listwright"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(copy, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "manifest.json":
                manifest = json.loads(content)
                change(manifest["model"]["fields"]["signature_"]["fields"])
                content = json.dumps(manifest).encode()
            target.writestr(name, content)
    return copy


def test_models_trained_on_other_ranges_take_the_same_problems():
    one, other = Signature.of(made(0, 1)), Signature.of(made(-3, 2))
    assert one == other


def test_sparse_columns_have_ranges_with_their_zeros():
    span = Span.of(sparse.csr_matrix(np.array([[0.0, 2.0, -1.0], [0.0, 3.0, 0.0]])))
    np.testing.assert_array_equal(span.low, [0, 2, -1])
    np.testing.assert_array_equal(span.high, [0, 3, 0])


def test_limits_stay_within_float32():
    low, high = Span(np.array([-3e38], np.float32), np.array([3e38], np.float32)).limits(10.0)
    assert np.isfinite([low, high]).all()


def test_ranges_of_parts_are_those_of_the_whole():
    problems = made(-3, 2)
    parts = Ranges.of(problems[:15]).merge(Ranges.of(problems[15:]))
    np.testing.assert_array_equal(parts.features.low, Ranges.of(problems).features.low)
