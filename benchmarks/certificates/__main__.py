"""`python -m benchmarks.certificates`: how often certificates are wrong.

For each population of problems and each number of held-out ones, draws samples, certifies each, and counts the bounds
that lie above the truth: as drawn, sorted by value, with every problem 25 times (named as clusters), looked at five
times while problems arrive, and for the best of 20 models. Then how far bounds on a mean lie below it, beside other
methods', and the same rates for the online certificate, on runs whose true values are known. Writes results.json beside
this file, and the tables of docs/how-to/certificate.md.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.certificates.populations import NAMES, Population, populations
from benchmarks.certificates.widths import widths
from listwright.guarantees import HeldOutCertificate
from listwright.guarantees.held_out import make_certificate
from tests.paper import test_bound_holds as online

FILE = Path(__file__).with_name("results.json")
TABLE = Path(__file__).parents[2] / "docs" / "snippets" / "certificates.md"
DELTA, SIZES, COPIES, MODELS, LOOKS = 0.05, (20, 100, 500, 5_000), 25, 20, 5
STATEMENTS = {"value": "value", "share_of_greedy": "share of greedy", "share_of_best": "share of best"}

Draw = Callable[[Population, int, np.random.Generator], HeldOutCertificate]


def as_drawn(population: Population, n: int, rng: np.random.Generator) -> HeldOutCertificate:
    """A certificate from independent problems."""
    rows = rng.integers(len(population.measured.values), size=n)
    return make_certificate(population.sample(rows), delta=DELTA)


def sorted_by_value(population: Population, n: int, rng: np.random.Generator) -> HeldOutCertificate:
    """The same, from a table that is sorted by what lists are worth."""
    rows = rng.integers(len(population.measured.values), size=n)
    return make_certificate(population.sample(rows[np.argsort(-population.measured.values[rows])]), delta=DELTA)


def copied(population: Population, n: int, rng: np.random.Generator) -> HeldOutCertificate:
    """Every problem 25 times, named as a cluster."""
    rows = rng.integers(len(population.measured.values), size=max(n // COPIES, 1))
    measured = replace(population.sample(np.repeat(rows, COPIES)), clusters=np.repeat(np.arange(len(rows)), COPIES))
    return make_certificate(measured, delta=DELTA)


def chosen(population: Population, n: int, rng: np.random.Generator) -> HeldOutCertificate:
    """The winner of 20 models that are equally good: the worst case of choosing."""
    return max(
        (
            make_certificate(
                population.sample(rng.integers(len(population.measured.values), size=n)), delta=DELTA, n_models=MODELS
            )
            for _ in range(MODELS)
        ),
        key=lambda certificate: certificate.value,
    )


def looked_at(population: Population, n: int, rng: np.random.Generator) -> HeldOutCertificate:
    """The last of five certificates, each with further problems. Bounds never fall, so it is wrong if any is."""
    rows = iter(np.array_split(rng.integers(len(population.measured.values), size=n), LOOKS))
    certificate = make_certificate(population.sample(next(rows)), delta=DELTA, measure=population.sample)
    for more in rows:
        certificate = certificate.update(more)
    return certificate


SETTINGS: dict[str, Draw] = {
    "as drawn": as_drawn,
    "sorted by value": sorted_by_value,
    "25 copies each, as clusters": copied,
    "looked at five times": looked_at,
}


def statements(certificate: HeldOutCertificate) -> dict[str, float]:
    """The bounds of a certificate, by name of the statement."""
    made = {"value": certificate.value, "share_of_greedy": certificate.share_of_greedy}
    made["share_of_best"] = certificate.share_of_best
    made |= {f"ahead of {name}": bound for name, bound in certificate.ahead_of.items()}
    return {name: bound for name, bound in made.items() if bound is not None}


def misses(population: Population, setting: str, draw: Draw, n: int, draws: int) -> dict[str, Any]:
    """Shares of draws with a bound above the truth, of each statement and of any, and the mean bounds."""
    rng, truth = np.random.default_rng(n), population.truth()
    bounds = [statements(draw(population, n, rng)) for _ in range(draws)]
    wrong = {name: float(np.mean([made[name] > true for made in bounds])) for name, true in truth.items()}
    wrong["any"] = float(np.mean([any(made[name] > true for name, true in truth.items()) for made in bounds]))
    means = {name: float(np.mean([made[name] for made in bounds])) for name in truth}
    return {
        "population": population.name,
        "setting": setting,
        "n": n,
        "truth": truth,
        "mean_bounds": means,
        "wrong": wrong,
    }


def all_misses(number: int, draws: int) -> list[dict[str, Any]]:
    """The rows of one population: the plain setting for every number of problems, and all settings for 100."""
    population, rows = populations(NAMES[number])[0], []
    for n in SIZES:
        settings = SETTINGS if n == SIZES[1] else {"as drawn": as_drawn}
        rows += [misses(population, name, draw, n, draws) for name, draw in settings.items()]
    if population.name == "coverage":
        rows.append(misses(population, "the best of 20 models", chosen, SIZES[1], draws))
    return rows


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
    """For each statement the truth, the mean bound and how often it was wrong, as a table in Markdown."""
    rivals = [name for name in results["held_out"][0]["truth"] if name not in STATEMENTS]
    names = STATEMENTS | {name: name.replace("_", " ") for name in rivals}
    head = ["problems", "held out", "rows", *names.values(), "any wrong"]
    lines = [
        "Each cell: the truth, the mean bound, and the share of samples in which the bound was above the truth.",
        "",
    ]
    lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in results["held_out"]:
        cells = [
            f"{row['truth'][name]:.3f}, {row['mean_bounds'][name]:.3f}, {100 * row['wrong'][name]:.1f} %"
            if name in row["truth"]
            else "-"
            for name in names
        ]
        cells = [row["population"], f"{row['n']:,}", row["setting"], *cells, f"{100 * row['wrong']['any']:.1f} %"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def width_table(results: dict[str, Any]) -> str:
    """How far bounds lie below what was seen, by method."""
    rows = results["widths"]
    names = list(rows[0]["below"])
    lines = ["| " + " | ".join(["statement", "held out", *names]) + " |", "|" + "---|" * (len(names) + 2)]
    for row in rows:
        cells = [f"{row['below'][name]:.4f}" if name in row["below"] else "-" for name in names]
        lines.append("| " + " | ".join([row["statement"], f"{row['n']:,}", *cells]) + " |")
    return "\n".join(lines)


def page(results: dict[str, Any]) -> str:
    """The tables and a sentence on the online runs."""
    online_runs = results["online"]
    sentence = (
        f"On {online_runs['runs']:,} online runs on the distribution that is hardest for the theorem, at 90 % "
        f"confidence, the bound on the value failed in {100 * online_runs['value']:.1f} % of runs, and the bound "
        f"against the best list in {100 * online_runs['against_rival']:.1f} %."
    )
    widths = (
        "How far bounds lie below what was seen (means over the same samples): alone, jointly with four other "
        "statements in a certificate, and by other methods, alone too:"
    )
    rows = results["held_out"]
    most = f"In each of the {len(rows)} settings, any of the statements was wrong in at most "
    most += f"{100 * max(row['wrong']['any'] for row in rows):.1f} % of {results['draws']:,} samples."
    fold = f"<details markdown>\n<summary>All settings</summary>\n\n{table(results)}\n\n</details>"
    return f"{most}\n\n{fold}\n\n{sentence}\n\n{widths}\n\n{width_table(results)}\n"


def rates(options: argparse.Namespace) -> dict[str, Any]:
    """How often certificates are wrong, from held-out problems and online."""
    with ProcessPoolExecutor(options.jobs) as pool:
        rows = [row for part in pool.map(partial(all_misses, draws=options.draws), range(len(NAMES))) for row in part]
    online_runs = online_rates(options.online_batches)
    return {"delta": DELTA, "draws": options.draws, "held_out": rows, "online": online_runs}


def main() -> None:
    """Measures, writes and prints."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.certificates")
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--online-batches", type=int, default=10, help="thousands of online runs")
    parser.add_argument("--only-widths", action="store_true", help="leave the other tables as they are")
    options = parser.parse_args()
    results = json.loads(FILE.read_text(encoding="utf8")) if options.only_widths else rates(options)
    results["widths"] = widths(DELTA, SIZES, options.draws // 5)
    FILE.write_text(json.dumps(results, indent=1) + "\n", encoding="utf8")
    TABLE.write_text(page(results), encoding="utf8")
    print(TABLE.read_text(encoding="utf8"))


if __name__ == "__main__":
    main()
