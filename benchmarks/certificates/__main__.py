"""`python -m benchmarks.certificates`: how often certificates are wrong.

For each population of problems and each number of held-out ones, draws samples, certifies each, and counts the bounds
that lie above the truth: as drawn, sorted by value, and for 100 problems also with every problem 25 times (named as
clusters), weighed by 1 or 4, looked at five times while problems arrive, and for the best of 20 models. Then how far
bounds on a mean lie below it, beside other methods', and the same rates for the online certificate, on runs whose true
values are known.

The work is cut into tasks that are the same for any number of `--workers`. What a task gives is kept in `--parts`, so
that a run which was interrupted goes on where it was. The end writes results.json beside this file, and the tables of
docs/how-to/certificate.md.
"""

from __future__ import annotations

import argparse
import json
import os
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.certificates import online
from benchmarks.certificates.populations import NAMES, Population, stored
from benchmarks.certificates.widths import KINDS, widths
from listwright.guarantees import HeldOutCertificate
from listwright.guarantees.held_out import HeldOutValues, make_certificate

FILE = Path(__file__).with_name("results.json")
TABLE = Path(__file__).parents[2] / "docs" / "snippets" / "certificates.md"
DELTA, SIZES, COPIES, MODELS, LOOKS = 0.05, (20, 100, 500, 5_000), 25, 20, 5
PART = 100  # draws of a task
STATEMENTS = {"value": "value", "share_of_greedy": "share of greedy", "share_of_best": "share of best"}

certify = partial(make_certificate, delta=DELTA, with_alone=False)
Draw = Callable[[Population, int, np.random.Generator], HeldOutCertificate]


def sample(population: Population, n: int, rng: np.random.Generator) -> HeldOutValues:
    """What was measured on so many of the problems, drawn with replacement."""
    return population.sample(rng.integers(len(population.measured.values), size=n))


def as_drawn(population: Population, n: int, rng: np.random.Generator) -> HeldOutCertificate:
    """A certificate from independent problems."""
    return certify(sample(population, n, rng))


def sorted_by_value(population: Population, n: int, rng: np.random.Generator) -> HeldOutCertificate:
    """The same, from a table that is sorted by what lists are worth."""
    rows = rng.integers(len(population.measured.values), size=n)
    return certify(population.sample(rows[np.argsort(-population.measured.values[rows])]))


def copied(population: Population, n: int, rng: np.random.Generator) -> HeldOutCertificate:
    """Every problem 25 times, named as a cluster."""
    rows = rng.integers(len(population.measured.values), size=max(n // COPIES, 1))
    measured = replace(population.sample(np.repeat(rows, COPIES)), clusters=np.repeat(np.arange(len(rows)), COPIES))
    return certify(measured)


def chosen(population: Population, n: int, rng: np.random.Generator) -> HeldOutCertificate:
    """The winner of 20 models that are equally good: the worst case of choosing."""
    made = (certify(sample(population, n, rng), n_models=MODELS) for _ in range(MODELS))
    return max(made, key=lambda certificate: certificate.value)


def looked_at(population: Population, n: int, rng: np.random.Generator) -> HeldOutCertificate:
    """The last of five certificates, each with further problems. Bounds never fall, so it is wrong if any is."""

    def draw(_: Any = None) -> HeldOutValues:
        return replace(sample(population, n // LOOKS, rng), further=draw)

    certificate = certify(draw())
    for _ in range(LOOKS - 1):
        certificate = certificate.update(None)
    return certificate


SETTINGS: dict[str, Draw] = {
    "as drawn": as_drawn,
    "sorted by value": sorted_by_value,
    "25 copies each, as clusters": copied,
    "weighed by 1 or 4": as_drawn,
    "looked at five times": looked_at,
    "the best of 20 models": chosen,
}


def settings() -> list[tuple[str, str, int]]:
    """Population, setting and number of problems: all settings for 100 problems, the plain one for every number."""
    kinds = {100: list(SETTINGS), 500: ["as drawn", "sorted by value"]}
    every = [(name, kind, n) for name in NAMES for n in SIZES for kind in kinds.get(n, ["as drawn"])]
    return [task for task in every if task[1] != "the best of 20 models" or task[0] == "coverage"]


def statements(certificate: HeldOutCertificate) -> dict[str, float]:
    """The bounds of a certificate, by name of the statement."""
    made = {name: getattr(certificate, name) for name in STATEMENTS}
    made |= {f"ahead of {name}": bound for name, bound in certificate.ahead_of.items()}
    return {name: bound for name, bound in made.items() if bound is not None}


def bounds(setting: tuple[str, str, int], part: int, draws: int, folder: Path) -> list[dict[str, float]]:
    """The bounds of some certificates of a setting, which depend on the setting and the number of the part alone."""
    name, kind, n = setting
    rng = np.random.default_rng([zlib.crc32(f"{setting}".encode()), part])
    population = stored(name, folder)
    if kind == "weighed by 1 or 4":
        population = population.weighed()
    return [statements(SETTINGS[kind](population, n, rng)) for _ in range(draws)]


def misses(setting: tuple[str, str, int], made: list[dict[str, float]], folder: Path) -> dict[str, Any]:
    """Shares of draws with a bound above the truth, of each statement and of any, and the mean bounds."""
    name, kind, n = setting
    population = stored(name, folder)
    truth = (population.weighed() if kind == "weighed by 1 or 4" else population).truth()
    wrong = {name: float(np.mean([bounds[name] > true for bounds in made])) for name, true in truth.items()}
    wrong["any"] = float(np.mean([any(bounds[name] > true for name, true in truth.items()) for bounds in made]))
    means = {name: float(np.mean([bounds[name] for bounds in made])) for name in truth}
    return {"population": name, "setting": kind, "n": n, "truth": truth, "mean_bounds": means, "wrong": wrong}


def kept(folder: Path, name: str, task: Callable[[], Any]) -> Any:
    """What a task gives, from its file if it was done before."""
    file = folder / f"{name}.json"
    if not file.exists():
        draft = file.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(task()), encoding="utf8")
        draft.replace(file)
    return json.loads(file.read_text(encoding="utf8"))


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


def narrower(results: dict[str, Any]) -> str:
    """By how many per cent the bound alone is nearer to what was seen than that of listwright 0.1: from, to."""
    below = [row["below"] for row in results["widths"] if row["n"] >= 100]
    shares = [round(100 * (1 - bounds["alone"] / bounds["listwright 0.1"])) for bounds in below]
    return f"{min(shares)} to {max(shares)}"


def page(results: dict[str, Any]) -> str:
    """The tables and a sentence on the online runs."""
    online_runs = results["online"]
    sentence = (
        f"On {online_runs['runs']:,} online runs on the distribution that is hardest for the theorem, at 90 % "
        f"confidence, the bound on the value failed in {100 * online_runs['value']:.1f} % of runs, and the bound "
        f"against the best list in {100 * online_runs['against_rival']:.1f} %."
    )
    below = (
        "How far bounds lie below what was seen (means over the same samples): a certificate's bound for the one "
        "statement (`certificate.alone`), what it prints beside four other statements, and other methods, alone too. "
        f"From 100 problems on, the former is {narrower(results)} % nearer than that of listwright 0.1:"
    )
    rows = results["held_out"]
    most = f"In each of the {len(rows)} settings, any of the statements was wrong in at most "
    most += f"{100 * max(row['wrong']['any'] for row in rows):.1f} % of {results['draws']:,} samples."
    fold = f"<details markdown>\n<summary>All settings</summary>\n\n{table(results)}\n\n</details>"
    return f"{most}\n\n{fold}\n\n{sentence}\n\n{below}\n\n{width_table(results)}\n"


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Everything that the page shows, by tasks in many processes; the longest ones start first."""
    folder: Path = options.parts
    folder.mkdir(parents=True, exist_ok=True)
    parts = range(-(-options.draws // PART))
    with ProcessPoolExecutor(options.workers) as pool:
        list(pool.map(partial(stored, folder=folder), NAMES))
        held_out = {
            (setting, part): pool.submit(
                kept,
                folder,
                f"bounds {zlib.crc32(f'{setting}'.encode())} {part}",
                partial(bounds, setting, part, min(PART, options.draws - part * PART), folder),
            )
            for setting in sorted(settings(), key=lambda task: -task[2] * (MODELS if "models" in task[1] else 1))
            for part in parts
        }
        online_runs = [
            pool.submit(kept, folder, f"online {seed}", partial(online.failures, seed))
            for seed in range(options.online_batches)
        ]
        tasks = [(kind, n) for kind in KINDS for n in SIZES]
        below = [
            pool.submit(kept, folder, f"widths {i}", partial(widths, *task, DELTA, options.draws // 5))
            for i, task in enumerate(tasks)
        ]
        rates = np.mean([task.result() for task in online_runs], axis=0)
        return {
            "delta": DELTA,
            "draws": options.draws,
            "held_out": [
                misses(setting, [made for part in parts for made in held_out[setting, part].result()], folder)
                for setting in settings()
            ],
            "online": {"runs": len(online_runs) * online.N_RUNS, "against_rival": rates[0], "value": rates[1]},
            "widths": [task.result() for task in below],
        }


def main() -> None:
    """Measures, writes and prints."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.certificates")
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--online-batches", type=int, default=10, help="thousands of online runs")
    parser.add_argument(
        "--parts", type=Path, default=Path("build/certificates"), help="where results of tasks are kept"
    )
    results = measure(parser.parse_args())
    FILE.write_text(json.dumps(results, indent=1) + "\n", encoding="utf8")
    TABLE.write_text(page(results), encoding="utf8")
    print(TABLE.read_text(encoding="utf8"))


if __name__ == "__main__":
    main()
