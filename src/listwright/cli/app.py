"""The `listwright` command with all its subcommands.

Modules of commands import only typer and light helpers at the top, and the library inside functions, so that `--help`
is answered without loading NumPy, Arrow and Numba. To add a command, register it here with an example.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Annotated

import typer

from listwright import __version__
from listwright.cli.compare import compare
from listwright.cli.evaluate import evaluate, explain, predict
from listwright.cli.fit import check, fit
from listwright.cli.inspect import inspect
from listwright.cli.logs import plan
from listwright.cli.reproduce import data, demo, reproduce
from listwright.cli.select import select
from listwright.cli.serve import ServeCommand, backup, export, serve
from listwright.cli.show import progress
from listwright.cli.text import pack, summarize


def warmup() -> None:
    """Compile the numeric kernels of fit, predict, evaluate, compare, explain, pack and serve. They are cached on disk
    (beside the package, or in NUMBA_CACHE_DIR), so that later commands start at once. Useful when a container image is
    built."""
    started = time.perf_counter()
    with progress("compiling"), warnings.catch_warnings(action="ignore"):
        _use_everything()
    print(f"Compiled in {time.perf_counter() - started:.1f} s.", file=sys.stderr)


def _use_everything() -> None:
    import numpy as np

    import listwright as lw

    rng = np.random.default_rng(0)
    x, sizes = rng.random((60, 6, 3)), rng.integers(1, 4, size=(60, 6)).astype(np.float64)
    success = x[..., 0] + rng.random((60, 6)) > 1.2
    rewards = (lw.rewards.AnySuccess(success), lw.rewards.Coverage(rng.random((60, 6, 4)) < 0.3))
    for reward in rewards:
        problems = lw.Problems.from_arrays(x, sizes=sizes, reward=reward)
        for limit in ({"length": 2}, {"budget": 4.0}):
            model = lw.SCP(**limit, effort="fast", n_passes=1, random_state=0).fit(problems[:50])
            model.certify(problems[50:], rivals=("top_k", "mmr"))
            lists = model.predict(problems[50:])
            lw.evaluate(lists, problems[50:])
            lists.explain(0)
        learner = lw.OnlineSCP.from_model(lw.SCP(2, effort="fast", random_state=0).fit(problems), random_state=0)
        one_group = np.zeros(problems.n_rows, dtype=int)
        for limits in ({"per_group": 2}, {"per_group": (1, 2)}, {}):
            kind = problems.with_constraints(**limits, groups=one_group) if limits else problems
            learner.predict(kind).explain(0)
            shown = learner.recommend(kind)
        learner.feedback(shown.list_ids, [success[0, :2]] * len(problems))
    lw.ContextPacker().pack("Who wrote it?", ["Ada wrote it.", "The sea is wide."], length=2).reasons  # noqa: B018


app = typer.Typer(
    name="listwright",
    help="Learn to build lists that are relevant and not redundant.",
    epilog="Example: listwright demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"listwright {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options that stand before a command."""


app.command(epilog="Example: listwright demo --out report.html")(demo)
app.command(epilog="Example: listwright check past.csv --reward any:clicked")(check)
app.command(epilog="Example: listwright fit past.csv --reward any:clicked --length 3 -o model.listwright")(fit)
app.command(epilog="Example: listwright predict model.listwright new.csv -o lists.csv --explain")(predict)
app.command(epilog="Example: listwright evaluate model.listwright held_out.csv")(evaluate)
app.command(epilog="Example: listwright plan candidate.listwright --log log.parquet --loss-budget 0.02")(plan)
app.command(epilog="Example: listwright explain model.listwright new.csv --problem q17")(explain)
app.command(epilog="Example: listwright compare past.csv --reward any:clicked --lengths 1,3,5")(compare)
app.command(epilog="Example: listwright inspect model.listwright held_out.csv -o model.html")(inspect)
app.command(epilog="Example: listwright reproduce trajectory --seeds 10 --jobs 2 --out report")(reproduce)
app.command(epilog="Example: listwright data aslib")(data)
app.command(epilog="Example: listwright summarize reports/ --budget 665b --explain")(summarize)
app.command(epilog="Example: listwright pack questions.jsonl --budget 2000 -o packed.jsonl")(pack)
app.command(epilog="Example: listwright select vectors.parquet -k 1000 -o rows.csv")(select)
app.command(cls=ServeCommand, epilog="Example: listwright serve model.listwright --learn")(serve)
app.command(epilog="Example: listwright backup sqlite:///lists.db -o backup.db")(backup)
app.command(epilog="Example: listwright export listwright.db -o log.parquet")(export)
app.command(epilog="Example: listwright warmup")(warmup)
