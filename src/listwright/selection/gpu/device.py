"""Decides which device does the work, and how the kernels cut it."""

from __future__ import annotations

from typing import Any

from listwright._internal.extras import find_extra, require_extra
from listwright.errors import InputError

DEVICES = ("auto", "cpu", "cuda")
PACKAGES = ("torch", "triton")
WORTH_IT = 1e12  # operations from which on "auto" looks for a GPU
DOT, EUCLIDEAN, RBF = 0, 1, 2  # how a similarity follows from a dot product
ROWS, CANDIDATES = 128, 256  # targets and candidates of a tile
PROGRAMS = 1056  # fewest programs to start: eight per multiprocessor of an H200


def wants_gpu(device: str, operations: float) -> bool:
    """Return whether to use the GPU: if it is requested, or if there is one and the work is large enough."""
    if device not in DEVICES:
        raise InputError(f"device must be one of {', '.join(DEVICES)}. Got {device!r}.")
    if device == "cpu" or (device == "auto" and operations < WORTH_IT):
        return False
    if device == "cuda":
        for name in PACKAGES:
            require_extra(name, f"device='cuda' needs {name}.", extra="gpu")
    elif any(find_extra(name, instead="The processor") is None for name in PACKAGES):
        return False
    return _has_cuda(device)


def _has_cuda(device: str) -> bool:
    if load_torch().cuda.is_available():
        return True
    if device == "auto":
        return False
    raise InputError(
        "device='cuda' was requested, but PyTorch sees no CUDA GPU. Install the NVIDIA driver and a CUDA build of "
        "PyTorch (pytorch.org/get-started), or pass device='cpu'."
    )


def load_torch() -> Any:
    import torch

    return torch


def gpu_name() -> str:
    return str(load_torch().cuda.get_device_name())


def must_fit_gpu(size: int, advice: str) -> None:
    free = int(load_torch().cuda.mem_get_info()[0])
    if size > free:
        raise InputError(f"The GPU has {free / 1e9:.1f} GB free, and about {size / 1e9:.1f} GB are needed. {advice}")


def parts_of(n_targets: int, n_candidates: int) -> tuple[int, int]:
    """Return into how many parts the targets are cut, and the tiles per part, so that there are enough programs."""
    tiles, blocks = -(-n_targets // ROWS), -(-n_candidates // CANDIDATES)
    each = min(max(tiles * blocks // PROGRAMS, 1), max(tiles, 1))
    return -(-tiles // each), each
