"""`listwright warmup`: compile the Numba kernels ahead of time.

Numba compiles a kernel for each combination of argument types on first use and caches it on disk. This command runs the
usual combinations once, so that the first real command does not wait. Run it when an image is built, with
NUMBA_CACHE_DIR set to a folder that the image keeps and that the user of the service can read.
"""

from __future__ import annotations

import sys
import time

from listwright.cli.show import progress


def warmup() -> None:
    """Compile the numeric kernels of fit, predict, evaluate, compare and explain. They are cached on disk (beside the
    package, or in NUMBA_CACHE_DIR), so that later commands start at once. Useful when a container image is built."""
    started = time.perf_counter()
    with progress("compiling"):
        _use_everything()
    print(f"Compiled in {time.perf_counter() - started:.1f} s.", file=sys.stderr)


def _use_everything() -> None:
    """Fit, certify, predict, evaluate and explain tiny problems: both kinds of limit, with two kinds of reward."""
    import numpy as np

    import listwright as lw

    rng = np.random.default_rng(0)
    x, sizes = rng.random((60, 6, 3)), rng.integers(1, 4, size=(60, 6)).astype(np.float64)
    success = x[..., 0] + 0.1 * rng.random((60, 6)) > 0.7
    rewards = (lw.rewards.AnySuccess(success), lw.rewards.Coverage(rng.random((60, 6, 4)) < 0.3))
    for reward in rewards:
        problems = lw.Problems.from_arrays(x, sizes=sizes, reward=reward)
        for limit in ({"length": 2}, {"budget": 4.0}):
            model = lw.SCP(**limit, effort="fast", n_passes=1, random_state=0).fit(problems[:50])
            model.certify(problems[50:], rivals=("top_k", "mmr"))
            lists = model.predict(problems[50:])
            lw.evaluate(lists, problems[50:])
            lists.explain(0)
