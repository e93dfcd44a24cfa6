"""Problems by the source's own split."""

from __future__ import annotations

from typing import NamedTuple

from listwright.problems import Problems


class TrainTest(NamedTuple):
    """Problems by the source's own split: `train, test = read_...(path)`."""

    train: Problems
    test: Problems
