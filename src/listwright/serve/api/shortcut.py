"""ASGI middleware that calls the handlers of busy routes without FastAPI's routing.

Their handlers take the request and nothing else, and decode the body themselves. So there are no parameters to parse
and no dependencies to resolve, and a look into a dictionary replaces matching one route after the other.
"""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Receive, Scope, Send


class Shortcut:
    """Middleware that answers requests for some routes at once and passes all others on.

    Parameters
    ----------
    app : ASGIApp
        The application behind it, which has the same routes, for requests that come with a path of another form.
    routes : iterable of APIRoute
        Routes without path parameters, whose endpoints take a `Request` and return a `Response`.
    """

    def __init__(self, app: ASGIApp, *, routes: Iterable[APIRoute]) -> None:
        """Index the routes by method and path."""
        self.app = app
        self.routes = {(method, route.path): route for route in routes for method in route.methods or ()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; the route is noted in the scope, where logs and metrics look for it."""
        route = self.routes.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if route is None:
            await self.app(scope, receive, send)
            return
        scope["route"] = route
        response = await route.endpoint(Request(scope, receive, send))
        await response(scope, receive, send)
