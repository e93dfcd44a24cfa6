"""`python -m benchmarks.certificates`: how often certificates are wrong.

For each population of problems and each number of held-out ones, draws samples, certifies each, and counts the bounds
that lie above the truth. Then the same for the online certificate, on runs whose true values are known. Writes
results.json beside this file, and the table of docs/how-to/certificate.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.certificates.populations import LENGTH, Population, populations
from listwright.guarantees.held_out import certificate_of
from tests.paper import test_bound_holds as online

FILE = Path(__file__).with_name("results.json")
TABLE = Path(__file__).parents[2] / "docs" / "snippets" / "certificates.md"
DELTA, SIZES = 0.05, (20, 100, 1000)


def misses(population: Population, n: int, draws: int) -> dict[str, Any]:
    """Shares of draws with a bound above the truth, and the mean bounds."""
    rng = np.random.default_rng(n)
    truth = population.values.mean()
    share = truth / population.greedy.mean()
    ahead = {name: truth - rival.mean() for name, rival in population.rivals.items()}
    wrong, bounds = np.zeros(3), np.zeros(2)
    for _ in range(draws):
        rows = rng.integers(len(population.values), size=n)
        found = certificate_of(
            population.values[rows],
            population.greedy[rows],
            {name: rival[rows] for name, rival in population.rivals.items()},
            delta=DELTA,
            binary=population.binary,
            length=None if population.budget else LENGTH,
            budget=population.budget,
        )
        of_greedy = found.share_of_greedy or 0.0
        any_rival = any(found.ahead_of[name] > ahead[name] for name in ahead)
        wrong += [found.value > truth, of_greedy > share, any_rival]
        bounds += [found.value, of_greedy]
    rates = dict(zip(("value", "share_of_greedy", "ahead_of"), (wrong / draws).tolist(), strict=True))
    means = {"mean_value_bound": bounds[0] / draws, "mean_share_bound": bounds[1] / draws}
    return {"population": population.name, "n": n, "true_value": truth, "true_share": share, **rates, **means}


def online_rates(batches: int) -> dict[str, float]:
    """Theorem 1's certificate on the hardest distribution: `batches` thousand runs of 2,500 states, at delta = 0.1."""
    rival, value = [], []
    for seed in range(batches):
        rng = np.random.default_rng(seed)
        wanted = rng.integers(online.K, size=(online.T, online.N_RUNS))
        books = online.runs(wanted, rng.random((online.T, online.N_RUNS, online.K)))
        found = online.certificates(books)
        rival.append(online.share_of_failures(books, [one.lower_bound(online.BEST) for one in found]))
        value.append(online.share_of_failures(books, [one.lower_bound_on_value for one in found]))
    return {"runs": batches * online.N_RUNS, "against_rival": float(np.mean(rival)), "value": float(np.mean(value))}


def table(results: dict[str, Any]) -> str:
    """The rates as a table in Markdown."""
    head = [
        "problems",
        "held out",
        "true value",
        "bound, mean",
        "true share",
        "bound, mean",
        "value",
        "share",
        "rivals",
    ]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in results["held_out"]:
        numbers = [row["true_value"], row["mean_value_bound"], row["true_share"], row["mean_share_bound"]]
        rates = [f"{100 * row[name]:.2f} %" for name in ("value", "share_of_greedy", "ahead_of")]
        cells = [row["population"], f"{row['n']:,}", *(f"{number:.3f}" for number in numbers), *rates]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def page(results: dict[str, Any]) -> str:
    """The table and a sentence on the online runs."""
    online_runs = results["online"]
    sentence = (
        f"On {online_runs['runs']:,} online runs on the distribution that is hardest for the theorem, at 90 % "
        f"confidence, the bound on the value failed in {100 * online_runs['value']:.1f} % of runs, and the bound "
        f"against the best list in {100 * online_runs['against_rival']:.1f} %."
    )
    return f"{table(results)}\n\n{sentence}\n"


def main() -> None:
    """Measures, writes and prints."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.certificates")
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--online-batches", type=int, default=10, help="thousands of online runs")
    options = parser.parse_args()
    rows = [misses(population, n, options.draws) for population in populations() for n in SIZES]
    results = {"delta": DELTA, "draws": options.draws, "held_out": rows, "online": online_rates(options.online_batches)}
    FILE.write_text(json.dumps(results, indent=1) + "\n", encoding="utf8")
    TABLE.write_text(page(results), encoding="utf8")
    print(TABLE.read_text(encoding="utf8"))


if __name__ == "__main__":
    main()
