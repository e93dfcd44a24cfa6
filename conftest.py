"""Which modules pytest leaves alone: those that need an extra which is not installed."""

from importlib.util import find_spec

NEEDS_TORCH = ("kernels", "objectives")
collect_ignore = [] if find_spec("torch") else [f"src/listwright/selection/gpu/{name}.py" for name in NEEDS_TORCH]
