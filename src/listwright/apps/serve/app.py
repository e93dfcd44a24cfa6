"""The application: routes, guards, and what the OpenAPI text says of both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from listwright.apps.serve.api.auth import Keys, roles_for
from listwright.apps.serve.api.guard import Guard
from listwright.apps.serve.api.pages import page
from listwright.apps.serve.api.passages import BODIES as PASSAGE_BODIES
from listwright.apps.serve.api.passages import passages
from listwright.apps.serve.api.routes import api, direct, health
from listwright.apps.serve.draining import drain_first
from listwright.apps.serve.metrics import Metrics
from listwright.apps.serve.models.requests import BODIES
from listwright.apps.serve.refusals import Refused, field_name, invalid
from listwright.apps.serve.service import Service
from listwright.apps.settings import Settings

TEXT = "Lists that are relevant and not redundant, built one item at a time, and learned from what came of them."
LOCAL = ("localhost", "127.0.0.1", "[")  # the last stands for every address of version 6: names only can be faked


def create_app(settings: Settings) -> FastAPI:
    """The ASGI application of a service; it starts with its lifespan.

    Use it to run the service under another server, or in a test; `serve` runs it under uvicorn.

    Parameters
    ----------
    settings : Settings
        What is served, where it is stored, and who may ask.
    """
    settings.check()
    keys = None if settings.keys is None else Keys.read(settings.keys)
    metrics = Metrics()
    service = Service(settings, metrics)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.service = service
        try:
            await service.start()
            drain_first(service, settings.drain_seconds)
            yield
        finally:
            await service.stop()

    app = FastAPI(title="listwright", version="1", description=TEXT, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.service = service
    for router in (direct, api, passages, health, page):
        app.router.routes.extend(router.routes)  # not included as routers, which would be searched one by one
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _no_route)
    if keys is None:  # a page of another site, whose name was made to point here, could ask on the user's behalf
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*LOCAL, settings.host], www_redirect=False)
    app.add_middleware(Guard, settings=settings, keys=keys, metrics=metrics)
    _complete(app.openapi())
    return app


async def _not_valid(request: Request, error: Exception) -> Any:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    raise invalid(field_name(first["loc"][1:]), f"{first['msg']}.")


async def _no_route(request: Request, error: Exception) -> Any:
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "wrong_method"}.get(error.status_code, "refused")
    raise Refused(error.status_code, code, f"{error.detail}.")


def _complete(schema: dict[str, Any]) -> None:
    """Adds the bodies that are read by hand, and which key a route needs."""
    _, found = msgspec.json.schema_components((*BODIES, *PASSAGE_BODIES), ref_template="#/components/schemas/{name}")
    schema["components"]["schemas"].update(found)
    schema["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            roles = roles_for(method.upper(), path)
            if roles is not None:
                route["security"] = [{"key": []}]
                route["description"] += f"\n\nNeeds a key with the role {' or '.join(roles)}."
