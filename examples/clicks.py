# %% [markdown]
# # Clicks: from a log to a service and back
#
# A shop shows five of thirty products to each visitor, and keeps a log of what was clicked. The program learns a model
# from the log, asks the log whether to roll it out, serves it with some exploration, collects 2,000 visits over HTTP,
# turns what the service stored into a log again, and learns a second model, which is better than the first.

# %%
import json
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import listwright as lw
from listwright.evaluation.intervals import estimate

VISITORS, VISITS, PRODUCTS, LENGTH, KINDS = 3000, 2000, 30, 5, 4
LOOKS = np.array([1.0, 0.8, 0.65, 0.5, 0.4])  # visitors look at the first position most
rng = np.random.default_rng(0)

# %% [markdown]
# ## Visitors
#
# Visitors have tastes, products are of kinds, and some are better than others. What a visitor clicks on depends on all
# of that, on where the product stands, and on whether the list has shown something like it before. The shop sees the
# columns of `seen`, which do not say how these things go together.


# %%
def arrivals(n):
    """Visitors with their candidates: what the shop sees, and how much each product appeals in truth."""
    taste = rng.dirichlet(np.full(KINDS, 0.5), n)
    kind = rng.dirichlet(np.full(KINDS, 0.3), (n, PRODUCTS))
    quality, noise = rng.normal(size=(2, n, PRODUCTS))
    sold = quality + 1.5 * noise  # what sells is a poor sign of quality
    crossed = taste[:, None, :] * kind
    other = rng.normal(size=(n, PRODUCTS, 4))
    seen = np.concatenate([sold[..., None], quality[..., None], crossed, kind, other], axis=2)
    appeal = 1.0 / (1.0 + np.exp(3.2 - 4.0 * crossed.sum(axis=2) - 0.7 * quality))
    return seen.astype(np.float32), appeal, kind


def click_chances(appeal, kind, picks):
    """By position: the chance of a click on each shown product."""
    chances = np.take_along_axis(appeal, picks, 1)
    shown = np.take_along_axis(kind, picks[..., None], 1)
    alike = np.einsum("nik,njk->nij", shown, shown)
    before = np.tril(np.ones((LENGTH, LENGTH)), -1)
    return chances * (1.0 - 0.5 * np.minimum((alike * before).max(axis=2), 1.0)) * LOOKS


# %% [markdown]
# ## A log
#
# Until now the shop has shown what sells well, with a good deal of chance in it, and has written down the chance that
# each product had. The names of the columns are its own.

# %%
seen, appeal, kind = arrivals(VISITORS)
left, picks, chances = 0.4 * seen[..., 0], [], []
for _ in range(LENGTH):
    mass = np.exp(left - left.max(axis=1, keepdims=True))
    mass /= mass.sum(axis=1, keepdims=True)
    drawn = (mass.cumsum(axis=1) > rng.random((VISITORS, 1))).argmax(axis=1)
    picks.append(drawn)
    chances.append(mass[np.arange(VISITORS), drawn])
    left[np.arange(VISITORS), drawn] = -np.inf
picks, chances = np.stack(picks, axis=1), np.stack(chances, axis=1)
clicked = rng.random(picks.shape) < click_chances(appeal, kind, picks)


def by_candidate(values):
    """Values of shown products, one entry per candidate; null for what was not shown."""
    table = np.full((VISITORS, PRODUCTS), np.nan)
    np.put_along_axis(table, picks, values.astype(float), 1)
    return pa.array(table.ravel(), mask=np.isnan(table.ravel()))


columns = {
    "request_id": np.repeat(np.arange(VISITORS), PRODUCTS),
    "product_id": np.tile(np.arange(PRODUCTS), VISITORS),
    "rank": by_candidate(np.tile(np.arange(1, LENGTH + 1), (VISITORS, 1))),
    "clicked": by_candidate(clicked),
    "propensity": by_candidate(chances),
}
columns |= {f"x{j}": seen[..., j].ravel() for j in range(seen.shape[2])}
pq.write_table(pa.table(columns), "log.parquet")

# %% [markdown]
# ## A model
#
# The same on the command line: `listwright fit --log log.parquet --length 5 -o first.listwright`.

# %%
log = lw.feedback.Log.from_parquet("log.parquet")
print(log)
first = lw.OnlineSCP(LENGTH, random_state=0).fit_log(log)
first.save("first.listwright")

# %% [markdown]
# ## Roll it out?
#
# What would its lists have been worth to the same visitors, and more than those they saw? The log was drawn with
# chances that are known, so it can be asked. On the command line:
# `listwright evaluate first.listwright --log log.parquet`.

# %%
comparison = lw.feedback.compare(log, {"first": first.predict, "today": "logged"})
print(comparison)
print(lw.feedback.safe_rollout(log, first.predict))
comparison.plot().save("clicks.png", ppi=110)

# %% [markdown]
# ## Serve it
#
# The service builds lists, explores a little, stores what it showed with its chances, and learns from feedback. What a
# caller sends along as `metadata` is stored and never looked at.

# %%
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
command = [sys.executable, "-m", "listwright", "serve", "first.listwright", "--learn", "--store", "sqlite:///shop.db"]
service = subprocess.Popen([*command, "--port", str(port)], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def ask(connection, path, body):
    """One request."""
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    content = json.loads(answer.read())
    assert answer.status == 200, content
    return content


def wait(seconds=60.0):
    """Until the service answers."""
    for _ in range(int(10 * seconds)):
        try:
            connection = HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            return connection
        except OSError:
            time.sleep(0.1)
    raise TimeoutError("the service did not start")


try:
    connection = wait()
    seen, appeal, kind = arrivals(VISITS)
    for i in range(VISITS):
        items = [{"id": f"p{j}", "features": row} for j, row in enumerate(seen[i].round(5).tolist())]
        served = ask(connection, "/v1/lists", {"items": items, "length": LENGTH, "metadata": {"visitor": i}})
        shown = np.array([[int(item["id"][1:]) for item in served["items"]]])
        clicks = rng.random(LENGTH) < click_chances(appeal[i : i + 1], kind[i : i + 1], shown)[0]
        names = [item["id"] for item, click in zip(served["items"], clicks, strict=True) if click]
        ask(connection, "/v1/feedback", {"list_id": served["list_id"], "clicks": names})
    connection.close()
finally:
    service.terminate()
    service.wait(30)

# %% [markdown]
# ## Learn again
#
# `listwright export shop.db -o visits.parquet` turns the store into a log.

# %%
subprocess.run([sys.executable, "-m", "listwright", "export", "shop.db", "-o", "visits.parquet"], check=True)
visits = lw.feedback.Log.from_parquet("visits.parquet")
print(visits)
second = lw.OnlineSCP(LENGTH, random_state=0).fit_log(log).fit_log(visits)
second.save("second.listwright")

# %% [markdown]
# ## Is it better?
#
# The log of the service cannot be asked about a model that has learned from it. But here the truth is known: what new
# visitors would click on, were they shown the lists of either model.


# %%
def worth(model, problems, appeal, kind):
    """Clicks per list to be expected."""
    rows = model.predict(problems).rows - problems.offsets[:-1, None]
    return click_chances(appeal, kind, rows).sum(axis=1)


seen, appeal, kind = arrivals(4000)
problems = lw.Problems.from_arrays(seen, feature_names=first.signature_.feature_names)
values = {name: worth(model, problems, appeal, kind) for name, model in {"first": first, "second": second}.items()}
for name, value in values.items():
    print(f"{name} model: {estimate(value)} clicks per list")
ahead = estimate(values["second"] - values["first"])
print(f"the second is ahead by {ahead}")
for name in ("first.listwright", "log.parquet", "second.listwright", "shop.db", "visits.parquet"):
    assert Path(name).stat().st_size > 0
