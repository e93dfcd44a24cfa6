"""The return type of readers whose source defines a training and a test part."""

from __future__ import annotations

from typing import NamedTuple

from listwright.problems import Problems


class TrainTest(NamedTuple):
    """Problems by the source's own split; unpack it as `train, test = read_...(path)`."""

    train: Problems  # problems to learn from
    test: Problems  # problems to evaluate on
