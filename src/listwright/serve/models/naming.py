"""One row of a request in the order of the model's columns: numbers in order, numbers by name, and categories.

A model that was fitted on a frame has one 0/1 feature per level of a categorical column. Callers send the category
itself, as the frame had it: `{"price": 3.5, "kind": "food"}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from listwright.serve.refusals import invalid

Levels = Mapping[str, Sequence[str]]


def in_order(
    values: Sequence[float] | Mapping[str, float | str],
    width: int,
    names: Sequence[str] | None,
    levels: Levels,
    field: str,
) -> Sequence[float]:
    """Return the numbers of one row in the model's order."""
    if isinstance(values, Mapping):
        return _by_name(values, names, levels, field)
    if len(values) != width:
        raise invalid(field, f"The model takes {width} numbers here. Got {len(values)}.")
    return values


def _by_name(values: Mapping[str, float | str], names: Sequence[str] | None, levels: Levels, field: str) -> list[float]:
    """Return the values of a mapping in the order of `names`; missing and unknown names are refused."""
    if not names:
        raise invalid(field, "The features of this model have no names. Send an array.")
    numbers: dict[str, float] = {}
    for name, value in values.items():
        if name in levels:
            numbers |= _flags(name, value, levels[name], field)
        elif isinstance(value, str):
            raise invalid(f"{field}.{name}", "Expected a number, got text.")
        else:
            numbers[name] = value
    missing = next((name for name in names if name not in numbers), None)
    if missing is not None:
        column = missing.partition("=")[0]
        raise invalid(f"{field}.{column if column in levels else missing}", "This is missing.")
    if len(numbers) > len(names):
        raise invalid(field, f"The model has no feature {sorted(set(numbers) - set(names))[0]!r:.60}.")
    return [numbers[name] for name in names]


def _flags(name: str, value: float | str, levels: Sequence[str], field: str) -> dict[str, float]:
    """Return the 0/1 features of a category; one that was not in the training data is refused."""
    if value not in levels:
        known = ", ".join(levels[:5]) + (", ..." if len(levels) > 5 else "")
        raise invalid(f"{field}.{name}", f"The model does not know this category. It knows: {known:.200}.")
    return {f"{name}={level}": float(level == value) for level in levels}
