"""The functions that do the heavy work of a selection, on the CPU or on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from listwright.selection.facility import Blocks, value_curve
from listwright.selection.graph import neighbor_graph
from listwright.selection.volume import select_volume


class Tools(NamedTuple):
    """The functions that differ by device, and the name of the device."""

    name: str  # "cpu", or the name of the GPU
    board: Callable[..., Any]  # makes the board of `Epochs`
    graph: Callable[..., Any]  # makes the graph of nearest neighbours
    volume: Callable[..., Any]  # selects by log det
    curve: Callable[..., Any]  # measures picks on all targets


CPU = Tools("cpu", Blocks, neighbor_graph, select_volume, value_curve)


def gpu_tools(*, exact: bool) -> Tools:
    """Return the functions for the GPU, which need the extra `gpu`."""
    from listwright.selection.gpu import facility, graph, volume
    from listwright.selection.gpu.device import gpu_name

    board, make_graph = partial(facility.Tiles, exact=exact), partial(graph.neighbor_graph, exact=exact)
    return Tools(gpu_name(), board, make_graph, volume.select_volume, facility.value_curve)
