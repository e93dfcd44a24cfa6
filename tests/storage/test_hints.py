"""Fields of stored classes are declared in our own terms: no version of numpy or Python reads them otherwise."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args, get_origin

import numpy as np
import pytest

import listwright as lw
from listwright._internal.arrays import Dtype, Floats, Ints
from listwright._internal.saved import CLASSES
from listwright.storage.codec import declared_hints, fits

KINDS = {"float64", "float32", "int64", "uint64", "bool"}


def parts(hint: Any) -> list[Any]:
    """A hint and everything inside it, except the inside of our own array types."""
    if get_origin(hint) in (Annotated, Literal):
        return [hint]
    return [hint, *(part for inner in get_args(hint) for part in parts(inner))]


@pytest.mark.parametrize("name", sorted(CLASSES) if lw.SCP and lw.baselines.MMR else [])
def test_arrays_of_stored_classes_are_declared_by_our_own_types(name: str) -> None:
    for hint in (part for whole in declared_hints(CLASSES[name]).values() for part in parts(whole)):
        if get_origin(hint) is Annotated:
            assert [mark.name in KINDS for mark in hint.__metadata__] == [True]
        else:
            assert not getattr(get_origin(hint) or hint, "__module__", "").startswith("numpy") or hint in (
                np.random.Generator,
                np.integer,
            )


@pytest.mark.parametrize("dtype", sorted(KINDS))
def test_an_array_fits_its_own_dtype_only(dtype: str) -> None:
    hint = Annotated[Any, Dtype(dtype)]
    assert [kind for kind in sorted(KINDS) if fits(np.zeros(2, kind), hint)] == [dtype]


def test_a_list_is_no_array() -> None:
    assert not fits([1.0], Floats)
    assert not fits(1, Ints)
    assert fits(None, Floats | None)
