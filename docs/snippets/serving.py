"""Starts what `listwright serve` starts, requests a list and reports a click."""

import threading
import time
from pathlib import Path

import numpy as np
import uvicorn

import listwright as lw
from listwright.serve import Limits, Settings, create_app

# [start:model]
rng = np.random.default_rng(0)
x = rng.random((60, 8, 2))  # 60 problems of 8 candidates with two features
good = x[..., 0] + 0.3 * rng.random((60, 8)) > 0.9
problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(good))
lw.SCP(length=2, effort="fast", random_state=0).fit(problems).save("model.listwright")
# [end:model]

limits = Limits(seconds=120)  # the first list may have to wait for the compiler
app = create_app(
    Settings(Path("model.listwright"), store="sqlite:///lists.db", learn=True, limits=limits)
)
server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical"))
thread = threading.Thread(target=server.run)
thread.start()
while not server.started and thread.is_alive():
    time.sleep(0.01)

try:
    port = server.servers[0].sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}"

    # [start:client]
    import json
    from urllib.request import Request, urlopen

    url = "http://127.0.0.1:8000"  # where `listwright serve` listens

    def ask(path, body):
        request = Request(
            url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urlopen(request) as answer:
            return json.load(answer)

    # [end:client]
    url = f"http://127.0.0.1:{port}"

    # [start:request]
    candidates = [{"id": f"a{i}", "features": [i / 8, 0.5]} for i in range(8)]
    shown = ask("/v1/lists", {"items": candidates})
    first = shown["items"][0]["id"]
    stored = ask("/v1/feedback", {"list_id": shown["list_id"], "clicks": [first]})
    print(len(shown["items"]), "items; stored twice:", stored["duplicate"])
    # [end:request]
finally:
    server.should_exit = True
    thread.join()
