"""The return type of readers whose source defines a training and a test part."""

from __future__ import annotations

from typing import NamedTuple

from listwright.problems import Problems


class TrainTest(NamedTuple):
    """Problems by the source's own split; unpack it as `train, test = read_...(path)`.

    Attributes
    ----------
    train : Problems
        Problems to learn from.
    test : Problems
        Problems to evaluate on.

    See Also
    --------
    read_trajectory, read_motion_paths : Return such a pair.
    """

    train: Problems
    test: Problems
