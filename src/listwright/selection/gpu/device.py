"""Decides which device does the work."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from listwright.errors import InputError, MissingExtra

DEVICES = ("auto", "cpu", "cuda")
WORTH_IT = 1e12  # operations from which on "auto" looks for a GPU


def wants_gpu(device: str, operations: float) -> bool:
    """Whether to use the GPU: if it is requested, or if there is one and the work is large enough."""
    if device not in DEVICES:
        raise InputError(f"device must be one of {', '.join(DEVICES)}. Got {device!r}.")
    if device == "cpu" or (device == "auto" and operations < WORTH_IT):
        return False
    missing = [name for name in ("torch", "triton") if find_spec(name) is None]
    if missing and device == "auto":
        return False
    if missing:
        raise MissingExtra(f"device='cuda' needs {' and '.join(missing)}.", extra="gpu")
    return _has_cuda(device)


def _has_cuda(device: str) -> bool:
    """Whether PyTorch sees a CUDA GPU; raises `InputError` if it was requested and there is none."""
    if load_torch().cuda.is_available():
        return True
    if device == "auto":
        return False
    raise InputError(
        "device='cuda' was requested, but PyTorch sees no CUDA GPU. Install the NVIDIA driver and a CUDA build of "
        "PyTorch (pytorch.org/get-started), or pass device='cpu'."
    )


def load_torch() -> Any:
    """Returns the torch module."""
    import torch

    return torch


def gpu_name() -> str:
    """Returns the name of the GPU according to PyTorch."""
    return str(load_torch().cuda.get_device_name())


def must_fit_gpu(size: int, advice: str) -> None:
    """Raises `InputError` if the GPU has too little free memory, before anything is copied."""
    free = int(load_torch().cuda.mem_get_info()[0])
    if size > free:
        raise InputError(f"The GPU has {free / 1e9:.1f} GB free, and about {size / 1e9:.1f} GB are needed. {advice}")
