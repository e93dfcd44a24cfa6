"""What a new user does first: fit, predict, save, load, pack, serve and ask the service for a list.

A program, not a test module: `python tests/first_steps.py` in an environment with `listwright[serve]` prints a line per
step and fails with the first that does not work. It needs nothing but the installed package.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import numpy as np

import listwright as lw

SECONDS = 600  # until the service must be ready: a busy machine takes long to compile


def main() -> None:
    """Take all steps, in a folder of their own."""
    print(f"listwright {lw.__version__}, Python {sys.version.split()[0]}, numpy {np.__version__}")
    rng = np.random.default_rng(0)
    x = rng.random((200, 10, 4), dtype=np.float32)
    problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] * rng.random((200, 10)) > 0.6))
    model = lw.SCP(3, effort="fast", random_state=0).fit(problems[:150])
    lists, new = model.predict(problems[150:]), problems[150:].without_reward()
    print(f"fit and predict: {lists}, worth {model.score(problems[150:]):.2f}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.listwright"
        model.save(file)
        np.testing.assert_array_equal(lw.load(file).predict(new).rows, lists.rows)
        print("save and load: the same lists")
        packed = lw.ContextPacker().pack("Who wrote it?", ["Ada wrote it.", "The sea is wide."], budget=50)
        assert packed.positions[0] == 0
        print(f"pack: {packed.tokens} tokens")
        items = [{"id": i, "features": row} for i, row in enumerate(x[150].tolist())]
        answer = ask_service(file, {"items": items})
    assert [item["id"] for item in answer["items"]] == lists[0].tolist()
    print("serve: the same list")


def ask_service(model: Path, body: dict[str, object]) -> dict[str, list[dict[str, object]]]:
    """Start a service, send it a request when it is ready, and return what it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    store = f"sqlite:///{(model.parent / 'lists.db').as_posix()}"
    command = [sys.executable, "-m", "listwright", "serve", str(model), "--store", store, "--port", str(port)]
    process = subprocess.Popen(command)
    try:
        _wait_until_ready(process, f"http://127.0.0.1:{port}/readyz")
        data, kind = json.dumps(body).encode(), {"Content-Type": "application/json"}
        with urlopen(Request(f"http://127.0.0.1:{port}/v1/lists", data, kind)) as answer:
            return json.load(answer)
    finally:
        process.terminate()
        process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], url: str) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urlopen(url):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise SystemExit(f"the service did not start; its status is {process.poll()}")


if __name__ == "__main__":
    main()
