"""`listwright serve`: run the HTTP service.

Options are generated from the fields of the dataclasses `Settings` and `Limits`, so a new setting needs no change here.
Each can be given on the command line, in the environment (`LISTWRIGHT_...`) or in a TOML file, in this order of
precedence. The command also makes and revokes the keys of the service. The service itself is in
`listwright.serve`, whose packages are imported only when the command runs.

Typical use::

    listwright serve model.listwright --learn
    listwright serve model.listwright --model other=second.listwright --config serve.toml
    listwright serve --keys keys.json --new-key lists --key-name shop

A configuration file holds option names, and tables for limits and further models::

    learn = true
    [models]
    other = "second.listwright"
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from listwright.errors import InputError
from listwright.serve.settings import Limits, Settings

PREFIX = "LISTWRIGHT"
LIMIT = "limit_"
OWN = ("model", "limits", "models")  # fields that are no options of their own
FLAGS = {"learn": "--learn", "deploy": "--deploy/--no-deploy"}


def _configured(context: typer.Context, path: Path | None) -> Path | None:
    """Callback of `--config`: reads a TOML file and makes its values the defaults of the options."""
    # Unknown keys raise `typer.BadParameter`, so that a typing error does not silently leave a limit at its default.
    if path is None:
        return None
    try:
        found = tomllib.loads(path.read_text())
    except OSError as error:
        raise typer.BadParameter(f"cannot read {path}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{path} is not valid TOML: {error}.") from None
    limits, models = found.pop("limits", {}), found.pop("models", {})
    values = {name.replace("-", "_"): value for name, value in found.items()}
    values |= {LIMIT + name.replace("-", "_"): value for name, value in limits.items()}
    known = {one.name for one in context.command.params} - {"config"}
    unknown = sorted(values.keys() - known)
    if unknown:
        raise typer.BadParameter(f"{path} has the key {unknown[0]!r}, which is not an option.")
    if models:
        values["models"] = [f"{name}={file}" for name, file in models.items()]
    context.default_map = values
    return path


def _options(kind: type[Any], prefix: str = "") -> Iterator[inspect.Parameter]:
    """Make one command line option per field of a dataclass."""
    hints = get_type_hints(kind, include_extras=True)
    for one in fields(kind):
        if one.name in OWN and not prefix:
            continue
        inner, text = get_args(hints[one.name])[:2]
        name = prefix + one.name
        flag = FLAGS.get(one.name, f"--{name.replace('_', '-')}")
        panel = "Limits" if prefix else None
        option = typer.Option(flag, envvar=f"{PREFIX}_{name.upper()}", help=text, rich_help_panel=panel)
        default = None if one.default is MISSING else one.default
        yield inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[inner, option]
        )


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator that adds the fields of `Settings` and `Limits` to a command as options."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    settings, limits = list(_options(Settings)), list(_options(Limits, LIMIT))

    def joined(**values: Any) -> None:
        bounds = Limits(**{one.name.removeprefix(LIMIT): values.pop(one.name) for one in limits})
        chosen = {one.name: values.pop(one.name) for one in settings}
        command(lambda model, models: Settings(model, models=models, limits=bounds, **chosen), **values)

    both = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
    joined.__signature__ = inspect.Signature(both + settings + limits)  # type: ignore[attr-defined]
    joined.__name__, joined.__doc__ = command.__name__, command.__doc__
    return joined


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
            callback=_configured,
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

    chosen = settings(model, dict(map(_named, models or [])))
    if new_key is not None or revoke_key is not None:
        if chosen.keys is None:
            raise typer.BadParameter("--new-key and --revoke-key need --keys FILE.", param_hint="--keys")
        if new_key is not None:
            print(service.new_key(new_key, chosen.keys, name=key_name, days=key_days))
        else:
            service.revoke_key(str(revoke_key), chosen.keys)
        return
    if model is None and not models and _is_new(chosen.store):
        raise typer.BadParameter("give the model to serve.", param_hint="MODEL")
    service.serve(chosen)


def _is_new(store: str) -> bool:
    """Return whether the store is an SQLite file that does not exist yet."""
    scheme, _, path = store.partition(":///")
    return scheme == "sqlite" and not Path(path).exists()


def _named(text: str) -> tuple[str, Path]:
    """Parse a value of `--model`; raise `InputError` unless it has the form `NAME=FILE`."""
    name, equals, file = text.partition("=")
    if not equals or not name or not file:
        raise InputError(f"--model takes NAME=FILE. Got {text!r}.")
    return name, Path(file)
