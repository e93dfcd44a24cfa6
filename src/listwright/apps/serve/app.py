"""The application: routes, guard, and what the OpenAPI text says of both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException

from listwright.apps.serve.auth import Keys, role_needed
from listwright.apps.serve.guard import Guard
from listwright.apps.serve.metrics import Metrics
from listwright.apps.serve.page import page
from listwright.apps.serve.payloads import BatchRequest, FeedbackRequest, ListRequest, Traffic
from listwright.apps.serve.refusals import Refused, field_name, invalid
from listwright.apps.serve.routes import api, direct, health
from listwright.apps.serve.service import Service
from listwright.apps.serve.settings import Settings

BODIES = (ListRequest, BatchRequest, FeedbackRequest, Traffic)
TEXT = "Lists that are relevant and not redundant, built one item at a time, and learned from what came of them."


def create_app(settings: Settings) -> FastAPI:
    """The ASGI application of a service; it starts with its lifespan."""
    settings.check()
    keys = None if settings.keys is None else Keys.read(settings.keys)
    metrics = Metrics()
    service = Service(settings, metrics)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.service = service
        try:
            await service.start()
            yield
        finally:
            await service.stop()

    app = FastAPI(title="listwright", version="1", description=TEXT, docs_url=None, redoc_url=None, lifespan=lifespan)
    for router in (direct, api, health, page):
        app.router.routes.extend(router.routes)  # not included as routers, which would be searched one by one
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _no_route)
    app.add_middleware(Guard, limits=settings.limits, keys=keys, host=settings.host, metrics=metrics)
    schema = app.openapi()
    _complete(schema)
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
    _, found = models_json_schema(
        [(kind, "validation") for kind in BODIES], ref_template="#/components/schemas/{model}"
    )
    schema["components"]["schemas"].update(found["$defs"])
    schema["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            role = role_needed(method.upper(), path)
            if role is not None:
                route["security"] = [{"key": []}]
                route["description"] += f"\n\nNeeds a key with the role {role}."
