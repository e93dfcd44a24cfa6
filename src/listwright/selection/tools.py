"""What does the heavy work: on the CPU, or on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from listwright.selection.facility import Blocks, value_curve
from listwright.selection.graph import neighbor_graph
from listwright.selection.volume import select_volume


class Tools(NamedTuple):
    """The functions that differ by device."""

    name: str
    board: Callable[..., Any]
    graph: Callable[..., Any]
    volume: Callable[..., Any]
    curve: Callable[..., Any]


CPU = Tools("cpu", Blocks, neighbor_graph, select_volume, value_curve)


def gpu_tools(*, exact: bool) -> Tools:
    """Those for the GPU, which need the extra `gpu`."""
    from listwright.selection.gpu import facility, graph, volume
    from listwright.selection.gpu.device import gpu_name

    board, make_graph = partial(facility.Tiles, exact=exact), partial(graph.neighbor_graph, exact=exact)
    return Tools(gpu_name(), board, make_graph, volume.select_volume, facility.value_curve)
