"""Records what each round of a fit achieved."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST = 2000  # rounds that are recorded individually

Columns = dict[str, NDArray[Any]]


class Noted(NamedTuple):
    """One round, or several that are recorded as one."""

    round: int  # number of the round, from 1
    states: int  # number of states
    training_value: float  # mean value of the lists that were built while learning
    held_out_value: float | None  # mean value on problems that were not learned from, if there are any

    def __str__(self) -> str:
        held = "" if self.held_out_value is None else f", {self.held_out_value:.3f} on problems held out"
        return f"lists were worth {self.training_value:.3f} while learning{held}"


def _both(one: Noted, other: Noted) -> Noted:
    """Return two rounds as one, with the values weighted by states; the later held-out value counts."""
    states = max(one.states + other.states, 1)
    value = (one.states * one.training_value + other.states * other.training_value) / states
    return Noted(other.round, states, value, other.held_out_value)


class History:
    """The rounds of a fit, as columns that a model file can hold."""

    def __init__(self, earlier: Columns | None = None) -> None:
        self.rounds: list[Noted] = []
        for number, states, training, held, known in zip(*earlier.values(), strict=True) if earlier else ():
            self.rounds.append(Noted(int(number), int(states), float(training), float(held) if known else None))

    def add(self, states: int, training_value: float, held_out_value: float | None = None) -> None:
        """Records one more round. Beyond `MOST` rounds, pairs of rounds are merged, so that memory stays bounded."""
        number = self.rounds[-1].round + 1 if self.rounds else 1
        self.rounds.append(Noted(number, states, training_value, held_out_value))
        if len(self.rounds) >= MOST:
            self.rounds = [_both(*self.rounds[i : i + 2]) for i in range(0, MOST, 2)]

    @property
    def columns(self) -> Columns:
        """The rounds as arrays by name."""
        number, states, training, held = zip(*self.rounds, strict=True) if self.rounds else ((), (), (), ())
        return {
            "round": np.array(number, dtype=np.int64),
            "states": np.array(states, dtype=np.int64),
            "training_value": np.array(training, dtype=np.float64),
            "held_out_value": np.array([value or 0.0 for value in held]),
            "held_out": np.array([value is not None for value in held], dtype=bool),
        }


def told(columns: Columns) -> Columns:
    """Return the columns for display, with nan where nothing was held out."""
    shown = {name: column for name, column in columns.items() if name != "held_out"}
    return shown | {"held_out_value": np.where(columns["held_out"], columns["held_out_value"], np.nan)}
