"""The ASGI application: routes, middleware, error handlers and the OpenAPI document.

`create_app` is the only public name. It wires the routers of `api` to one `Service` and puts `Guard` in front of them,
so that every answer, including every error, has the same headers and the same JSON form.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.asyncexitstack import AsyncExitStackMiddleware
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware

from listwright.serve.api.auth import Keys, roles_for
from listwright.serve.api.guard import Guard
from listwright.serve.api.pages import page
from listwright.serve.api.passages import BODIES as PASSAGE_BODIES
from listwright.serve.api.passages import passages
from listwright.serve.api.routes import api, direct, health
from listwright.serve.api.shortcut import Shortcut
from listwright.serve.draining import drain_first
from listwright.serve.metrics import Metrics
from listwright.serve.models.requests import BODIES
from listwright.serve.refusals import Refused, field_name, invalid
from listwright.serve.service import Service
from listwright.serve.settings import Settings

TEXT = "Lists that are relevant and not redundant, built one item at a time, and learned from what came of them."


def create_app(settings: Settings) -> FastAPI:
    """Build the ASGI application of a service.

    Use it to run the service under another ASGI server, to mount it in a larger application, or in tests. To run it
    from a script or a shell, call `serve` or the command ``listwright serve``, which add limits on connections and
    headers that only the server can enforce.

    Model files and the store are opened here, so configuration errors surface before the server starts. The background
    work (following other replicas, learning, retention) begins and ends with the ASGI lifespan; a server that does not
    send lifespan events cannot run the application.

    Parameters
    ----------
    settings : Settings
        Which models are served, where lists are stored, which keys may call, and all limits.

    Returns
    -------
    FastAPI
        The application; its `state.service` is the running `Service`.

    Raises
    ------
    InputError
        If a setting is invalid, a model file cannot be read, or the store cannot be opened.

    See Also
    --------
    serve : Runs the application under uvicorn until a signal to stop.

    Examples
    --------
    .. code-block:: python

        from pathlib import Path
        from fastapi.testclient import TestClient
        from listwright.serve import Settings, create_app

        app = create_app(Settings(model=Path("model.listwright"), store="sqlite:///lists.db"))
        with TestClient(app, base_url="http://localhost") as client:
            client.get("/readyz").json()  # {"status": "ready"}
    """
    settings.check()
    keys = None if settings.keys is None else Keys.read(settings.keys)
    metrics = Metrics()
    service = Service(settings, metrics)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        """Start the service before the first request and stop it after the last one, also when starting fails."""
        app.state.service = service
        try:
            await service.start()
            drain_first(service, settings.drain_seconds)
            yield
        finally:
            await service.stop()

    app = FastAPI(
        title="listwright",
        version="1",
        description=TEXT,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # the service has its own
    )
    app.state.service = service
    for router in (direct, api, passages, health, page):
        app.router.routes.extend(router.routes)  # not included as routers, which would be searched one by one
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _no_route)
    _put_guard_first(app, Guard(settings=settings, keys=keys, metrics=metrics))
    _complete(app.openapi())
    return app


def _put_guard_first(app: FastAPI, guard: Guard) -> None:
    """Make `guard` the outermost middleware, and let it call busy routes without a detour."""
    routed = ExceptionMiddleware(AsyncExitStackMiddleware(app.router), handlers=app.exception_handlers)
    guard.app = Shortcut(routed, routes=[one for one in direct.routes if isinstance(one, APIRoute)])
    app.middleware_stack = guard


async def _not_valid(request: Request, error: Exception) -> Any:
    """Turn FastAPI's validation error into a 422 refusal that names the first offending field."""
    # The exception is raised rather than answered, so that `Guard` writes it in the form of all other refusals.
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    raise invalid(field_name(first["loc"][1:]), f"{first['msg']}.")


async def _no_route(request: Request, error: Exception) -> Any:
    """Turn Starlette's routing errors (404, 405) into refusals with a code and JSON body of the service's own."""
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "wrong_method"}.get(error.status_code, "refused")
    raise Refused(error.status_code, code, f"{error.detail}.")


def _complete(schema: dict[str, Any]) -> None:
    """Add to the OpenAPI document what FastAPI cannot derive."""
    _, found = msgspec.json.schema_components((*BODIES, *PASSAGE_BODIES), ref_template="#/components/schemas/{name}")
    schema["components"]["schemas"].update(found)
    schema["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            roles = roles_for(method.upper(), path)
            if roles is not None:
                route["security"] = [{"key": []}]
                route["description"] += f"\n\nNeeds a key with the role {' or '.join(roles)}."
