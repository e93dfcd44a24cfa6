"""`listwright serve`, `listwright backup` and `listwright export`: the HTTP service, and what it has stored.

Options of `serve` are made from the fields of `Settings` and `Limits`, so a new setting needs no change here. Each can
be given on the command line, in the environment (`LISTWRIGHT_...`) or in a TOML file, in this order of precedence.
"""

from __future__ import annotations

import inspect
import os
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from listwright.cli import options as given
from listwright.cli.show import STANDARD, progress, show_json
from listwright.cli.sources import check_place
from listwright.errors import InputError
from listwright.serve import import_part
from listwright.serve.settings import PRETRAINED, Limits, Settings

PREFIX = "LISTWRIGHT"
LIMIT = "limit_"
OWN = ("model", "limits", "models")  # fields that are no options of their own
FLAGS = {"learn": "--learn", "deploy": "--deploy/--no-deploy"}


def _read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Callback of `--config`: reads a TOML file and makes its values the defaults of the options."""
    # Unknown keys raise `typer.BadParameter`, so that a typing error does not silently leave a limit at its default.
    if path is None:
        return None
    try:
        config = tomllib.loads(path.read_text(encoding="utf8"))
    except OSError as error:
        raise typer.BadParameter(f"cannot read {path}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{path} is not valid TOML: {error}.") from None
    limits, models = config.pop("limits", {}), config.pop("models", {})
    values = {name.replace("-", "_"): value for name, value in config.items()}
    values |= {LIMIT + name.replace("-", "_"): value for name, value in limits.items()}
    known = {option.name for option in context.command.params} - {"config"}
    unknown = sorted(values.keys() - known)
    if unknown:
        raise typer.BadParameter(f"{path} has the key {unknown[0]!r}, which is not an option.")
    if models:
        values["models"] = [f"{name}={file}" for name, file in models.items()]
    context.default_map = values
    return path


def _options(kind: type[Any], prefix: str = "") -> Iterator[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        if field.name in OWN and not prefix:
            continue
        inner, text = get_args(hints[field.name])[:2]
        name = prefix + field.name
        flag = FLAGS.get(field.name, f"--{name.replace('_', '-')}")
        panel = "Limits" if prefix else None
        option = typer.Option(flag, envvar=f"{PREFIX}_{name.upper()}", help=text, rich_help_panel=panel)
        default = None if field.default is MISSING else field.default
        kind_of = inspect.Parameter.KEYWORD_ONLY
        yield inspect.Parameter(name, kind_of, default=default, annotation=Annotated[inner, option])


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator that adds the fields of `Settings` and `Limits` to a command as options."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    settings, limits = list(_options(Settings)), list(_options(Limits, LIMIT))

    def with_options(**values: Any) -> None:
        bounds = Limits(**{option.name.removeprefix(LIMIT): values.pop(option.name) for option in limits})
        chosen = {option.name: values.pop(option.name) for option in settings}
        command(lambda model, models: Settings(model, models=models, limits=bounds, **chosen), **values)

    both = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in own]
    with_options.__signature__ = inspect.Signature(both + settings + limits)  # type: ignore[attr-defined]
    with_options.__name__, with_options.__doc__ = command.__name__, command.__doc__
    return with_options


class ServeCommand(TyperCommand):
    """The command `serve`, where `--packer` without a value means the packer of the package."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--packer" in args:
            place = args.index("--packer") + 1
            if place == len(args) or args[place].startswith("-"):
                args = [*args[:place], PRETRAINED, *args[place:]]
        return super().parse_args(ctx, args)


@with_settings
def serve(
    settings: Callable[..., Settings],
    model: Annotated[
        Path | None,
        typer.Argument(
            metavar="MODEL",
            envvar=f"{PREFIX}_MODEL",
            help="Model file from `listwright fit`; without it, the model in the store is served.",
        ),
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="NAME=FILE",
            envvar=f"{PREFIX}_MODELS",
            help="Further models, which requests select by name.",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            is_eager=True,
            callback=_read_config,
            envvar=f"{PREFIX}_CONFIG",
            help="TOML file with options; the command line and environment variables take precedence.",
        ),
    ] = None,
    new_key: Annotated[
        str | None,
        typer.Option(
            metavar="ROLE",
            help="Create a key with this role (lists, feedback, read, metrics or admin), add it to --keys and exit.",
        ),
    ] = None,
    key_name: Annotated[str, typer.Option(help="With --new-key: name of the key's owner.")] = "",
    key_days: Annotated[float | None, typer.Option(help="With --new-key: days until it expires.")] = None,
    revoke_key: Annotated[str | None, typer.Option(metavar="NAME", help="Remove a key from --keys and exit.")] = None,
) -> None:
    """Serve lists over HTTP, store feedback durably, and learn from it. The API is described at /docs."""
    from listwright import serve as service  # only here: it takes packages that other commands do without

    chosen = settings(model, dict(map(_parse_model, models or [])))
    if new_key is not None or revoke_key is not None:
        if chosen.keys is None:
            raise typer.BadParameter("--new-key and --revoke-key need --keys FILE.", param_hint="--keys")
        if new_key is not None:
            print(service.new_key(new_key, chosen.keys, name=key_name, days=key_days))
        else:
            service.revoke_key(str(revoke_key), chosen.keys)
        return
    if model is None and not models and chosen.packer is None and _is_new(chosen.store):
        raise typer.BadParameter("give the model to serve.", param_hint="MODEL")
    service.serve(chosen)


def _is_new(store: str) -> bool:
    scheme, _, path = store.partition(":///")
    return scheme == "sqlite" and not Path(path).exists()


def _parse_model(text: str) -> tuple[str, Path]:
    name, equals, file = text.partition("=")
    if not equals or not name or not file:
        raise InputError(f"--model takes NAME=FILE. Got {text!r}.")
    return name, Path(file)


def backup(
    store: Annotated[
        str,
        typer.Argument(metavar="STORE", help="sqlite:///FILE or postgresql://USER@HOST/DATABASE, also while served."),
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write; it must not exist yet.")] = None,
    restore: Annotated[Path | None, typer.Option(help="Restore this backup into STORE, which must be empty.")] = None,
) -> None:
    """Back up the store of a service to one file, or restore such a backup into an empty store."""
    files = import_part("export")
    if (out is None) == (restore is None):
        raise typer.BadParameter("give either --out FILE or --restore FILE.", param_hint="--out")
    password = os.environ.get("LISTWRIGHT_STORE_PASSWORD")
    if restore is not None:
        counts = files.restore(restore, store, password=password)
    else:
        assert out is not None
        counts = files.back_up(store, out, password=password)
    summary = f"{counts['lw_lists']:,} lists, {counts['lw_feedback']:,} feedbacks and {counts['lw_models']:,} models"
    print(f"{'Restored' if restore else 'Backed up'} {summary}.", file=sys.stderr)


def export(
    store: Annotated[
        str,
        typer.Argument(
            metavar="STORE",
            help="What `listwright serve --store` names: sqlite:///FILE, postgresql://USER@HOST/DATABASE, or the path "
            "of an SQLite file.",
        ),
    ],
    out: Annotated[str, typer.Option("-o", "--out", help="File to write: Parquet, or JSON lines with --passages.")],
    version: Annotated[int | None, typer.Option(min=1, help="Export only the lists of this model version.")] = None,
    cascade: Annotated[bool, typer.Option("--cascade", help="Users stop looking at the first click.")] = False,
    passages: Annotated[
        bool, typer.Option("--passages", help="Export questions whose passages got feedback, for `pack --train`.")
    ] = False,
    as_json: given.AsJson = False,
) -> None:
    """Export the lists, propensities and feedback that a service stored as a log for `fit --log` and `evaluate --log`.
    The service may keep running. A password that is not in the address is taken from LISTWRIGHT_STORE_PASSWORD."""
    if out == STANDARD:
        raise InputError("A log is written to a file. Name one with --out.")
    check_place(out, store.removeprefix("sqlite:///"))
    if passages and (version is not None or cascade):
        raise InputError("--version and --cascade are for lists, not for --passages.")
    files, kind = import_part("export"), "questions" if passages else "lists"
    with progress("exporting"):
        password = os.environ.get("LISTWRIGHT_STORE_PASSWORD")
        if passages:
            count = files.export_passages(store, out, password=password)
        else:
            count = files.export(store, out, version=version, cascade=cascade, password=password)
    if as_json:
        show_json({kind: count, "log": out})
    else:
        print(f"Wrote {count:,} {kind} to {out}.")
