"""The routes of the API; docstrings of the handlers are their descriptions in the OpenAPI document."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from listwright.serve import messages
from listwright.serve.auth import roles_for
from listwright.serve.bodies import BINARY, content_type, from_binary, read_body, read_json, read_query
from listwright.serve.guard import KEY_NAME
from listwright.serve.learning.control import status
from listwright.serve.messages import ErrorAnswer, ListQuery
from listwright.serve.models import details, passages
from listwright.serve.refusals import Refused, invalid
from listwright.serve.service import Service

OCTETS = "application/octet-stream"
ABOUT = "Lists that are relevant and not redundant, built one item at a time, and learned from what came of them."
SCHEMAS = "#/components/schemas/{name}"
ERRORS = {
    400: "Not for this host",
    401: "No key, or an unknown key",
    403: "A key without the required role, or a request from another site",
    404: "Not there",
    409: "Conflict with what is stored",
    413: "Body too large",
    415: "No JSON",
    422: "A field is invalid",
    429: "Too many requests at once",
    503: "Try again",
}
Handler = Callable[[Request, Service], Awaitable[Response]]


@dataclass(frozen=True, eq=False)
class Route:
    """One route: what it takes and answers, for the router and for the OpenAPI document."""

    method: str
    path: str  # parts in braces are parameters
    handler: Handler
    tag: str | None  # section of the document; None for pages, which are not in it
    answer: type[Any] | None = None  # of a success
    body: type[Any] | None = None
    query: type[Any] | None = None
    takes: tuple[str, ...] = ()  # binary bodies that it takes
    gives: tuple[str, ...] = ()  # binary bodies that it answers with
    status: int = 200


ROUTES: list[Route] = []


def route(method: str, path: str, tag: str | None, **more: Any) -> Callable[[Handler], Handler]:

    def add(handler: Handler) -> Handler:
        ROUTES.append(Route(method, path, handler, tag, **more))
        return handler

    return add


class Json(Response):
    """A JSON response whose headers are written down as they are sent, which is faster than to build them."""

    media_type = "application/json"

    def __init__(self, content: Any, status: int = 200) -> None:
        body = msgspec.json.encode(content)
        self.body, self.status_code, self.background = body, status, None
        self.raw_headers = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]


@route("POST", "/v1/lists", "lists", answer=messages.ListAnswer, body=messages.ListRequest, takes=(BINARY,))
async def build_list(request: Request, service: Service) -> Response:
    """Build and store a list, so that feedback can refer to it."""
    return Json((await service.lists([await _read_list_query(request, service)], batch=False))[0])


async def _read_list_query(request: Request, service: Service) -> ListQuery:
    limit, kind = service.limits.body_bytes, content_type(request)
    if kind == BINARY:
        return from_binary(await read_body(request, limit))
    return ListQuery.of(await read_json(request, messages.ListRequest, limit, service.feature_names, media=kind))


@route("POST", "/v1/lists:batch", "lists", answer=messages.BatchAnswer, body=messages.BatchRequest)
async def build_lists(request: Request, service: Service) -> Response:
    """Build and store several lists: all of them, or none if one cannot be built."""
    batch = await read_json(request, messages.BatchRequest, service.limits.body_bytes, service.feature_names)
    if len(batch.lists) > service.limits.batch:
        raise invalid("lists", f"A batch has at most {service.limits.batch} lists. Got {len(batch.lists)}.")
    queries = [ListQuery.of(wanted) for wanted in batch.lists]
    return Json(messages.BatchAnswer(await service.lists(queries, batch=True)))


@route("GET", "/v1/lists", "page", answer=messages.RecentLists, query=messages.RecentQuery)
async def get_recent_lists(request: Request, service: Service) -> Response:
    """Return the latest lists, newest first. Pass the last `list_id` as `before` to read on."""
    wanted = read_query(request, messages.RecentQuery)
    return Json(await service.read(details.recent_lists, wanted.limit, wanted.before))


@route("GET", "/v1/lists/{list_id}", "lists", answer=messages.ListDetail, query=messages.ListDetailQuery)
async def get_list(request: Request, service: Service) -> Response:
    """Return a list with its feedback; with `explain`, also why its first items were picked, and which candidates were
    skipped in favour of which item.
    """
    list_id = request.path_params["list_id"]
    if len(list_id) != 32 or not list_id.isascii() or not list_id.isalnum():
        raise Refused(404, "not_found", "There is no such list.", field="list_id")
    explain = read_query(request, messages.ListDetailQuery).explain
    return Json(await service.read(details.list_detail, list_id, service.registry, explain))


@route("POST", "/v1/feedback", "feedback", answer=messages.FeedbackAnswer, body=messages.FeedbackRequest)
async def give_feedback(request: Request, service: Service) -> Response:
    """Store feedback on a list, or on passages that were packed or ranked; answers once it is durable."""
    sent = await read_json(request, messages.FeedbackRequest, service.limits.feedback_bytes)
    event = await service.feedback(sent, request.scope.get(KEY_NAME, ""))
    return Json(messages.FeedbackAnswer(event.list_id, event.number, event.duplicate))


@route("GET", "/v1/stats", "page", answer=messages.Stats)
async def get_stats(request: Request, service: Service) -> Response:
    """Number of lists, failure rates and progress of learning."""
    return Json(await service.read(details.totals, service.settings.learn))


@route("GET", "/v1/stats/series", "page", answer=messages.Series, query=messages.SeriesQuery)
async def get_series(request: Request, service: Service) -> Response:
    """Lists served and failure rate over time, by model version, with 95 % intervals."""
    wanted, now = read_query(request, messages.SeriesQuery), time.time()
    return Json(await service.read(details.series, now - wanted.seconds, now, wanted.step))


@route("GET", "/v1/stats/positions", "page", answer=messages.PositionGains)
async def get_positions(request: Request, service: Service) -> Response:
    """Mean gain by position and model version, with 95 % intervals."""
    return Json(await service.read(details.position_gains))


@route("GET", "/v1/learning", "learning", answer=messages.LearningStatus)
async def get_learning(request: Request, service: Service) -> Response:
    """State of learning by version: progress, snapshots, and the comparison with the deployed policy."""
    return Json(await service.read(status, service.settings.learn))


@route(
    "POST", "/v1/learning", "learning", answer=messages.LearningStatus, body=messages.LearningRequest, gives=(OCTETS,)
)
async def control_learning(request: Request, service: Service) -> Response:
    """Freezes or resumes learning, discards what was learned (reset), returns to a snapshot (rollback), or returns what
    was learned as a model file (export).
    """
    wanted = await read_json(request, messages.LearningRequest, service.limits.feedback_bytes)
    if wanted.action == "export":
        return Response(await service.export(wanted), media_type=OCTETS)
    await service.control(wanted)
    return await get_learning(request, service)


@route("GET", "/v1/compare", "models", answer=messages.VersionComparison, query=messages.CompareQuery)
async def get_comparison(request: Request, service: Service) -> Response:
    """Compare two versions by gain per list.

    `shown` compares the lists that each version served (A/B). `log` has off-policy estimates: what lists of
    each version would have been worth everywhere, by the probabilities with which their items were drawn.
    """
    wanted = read_query(request, messages.CompareQuery)
    return Json(await service.compare(wanted.new, wanted.old, wanted.lists))


@route("GET", "/v1/models", "models", answer=messages.ModelList)
async def get_models(request: Request, service: Service) -> Response:
    """All versions with their failure rates, and how traffic is shared."""
    return Json(await service.read(details.model_list, service.registry))


@route(
    "POST", "/v1/models", "models", answer=messages.ModelDetail, query=messages.NameQuery, takes=(OCTETS,), status=201
)
async def add_model(request: Request, service: Service) -> Response:
    """Store a model file as a new version, which gets no traffic until `PUT /v1/traffic` gives it some."""
    if content_type(request) != OCTETS:
        raise Refused(415, "not_a_file", f"Send the file, with the header `Content-Type: {OCTETS}`.")
    name = read_query(request, messages.NameQuery).name
    number = await service.add_model(name, await read_body(request, service.limits.model_bytes))
    return Json(await service.read(details.model_detail, number, service.registry), 201)


@route("GET", "/v1/models/{version}", "models", answer=messages.ModelDetail)
async def get_model(request: Request, service: Service) -> Response:
    """One version with its inputs, role, failure rate and certificate."""
    return Json(await service.read(details.model_detail, _version_number(request), service.registry))


@route("DELETE", "/v1/models/{version}", "models", answer=messages.ModelList)
async def delete_model(request: Request, service: Service) -> Response:
    """Deletes a version without traffic and what it learned; the lists that it built are kept."""
    await service.delete_model(_version_number(request))
    return await get_models(request, service)


def _version_number(request: Request) -> int:
    try:
        return msgspec.convert(request.path_params["version"], messages.VersionNumber, strict=False)
    except msgspec.ValidationError as error:
        raise invalid("version", f"{error}.") from None


@route("PUT", "/v1/traffic", "models", answer=messages.ModelList, body=messages.Traffic)
async def put_traffic(request: Request, service: Service) -> Response:
    """Set which version of a model is current, which gets a share as a canary, and which gets copies as a shadow."""
    await service.deploy(await read_json(request, messages.Traffic, service.limits.feedback_bytes))
    return await get_models(request, service)


@route("POST", "/v1/traffic:rollback", "models", answer=messages.ModelList, query=messages.ModelQuery)
async def roll_back(request: Request, service: Service) -> Response:
    """Make the version that served before the current one current again, without a canary."""
    await service.roll_back(read_query(request, messages.ModelQuery).model)
    return await get_models(request, service)


@route("POST", "/v1/pack", "passages", answer=passages.PackAnswer, body=passages.PackRequest)
async def pack(request: Request, service: Service) -> Response:
    """Choose passages that together contain what the answer to a question needs, within a budget of tokens, and store
    them, so that feedback can say which of them the answer cited.
    """
    wanted = await read_json(request, passages.PackRequest, service.limits.body_bytes)
    return Json(await service.pack(service.packing.pack, wanted))


@route("POST", "/v1/rerank", "passages", answer=passages.RerankAnswer, body=passages.RerankRequest)
async def rerank(request: Request, service: Service) -> Response:
    """Rank documents, with the request and answer format of Cohere's and Jina's rerankers, and store them: feedback
    takes the `id` of the answer as its `list_id`.
    """
    wanted = await read_json(request, passages.RerankRequest, service.limits.body_bytes)
    return Json(await service.pack(service.packing.rerank, wanted))


@route("POST", "/v2/rerank", "passages", answer=passages.RerankAnswer, body=passages.RerankRequest)
async def rerank_v2(request: Request, service: Service) -> Response:
    """Rank documents, at the address that the present client of Cohere calls."""
    return await rerank(request, service)


@route("GET", "/healthz", "health", answer=messages.Health)
async def healthz(request: Request, service: Service) -> Response:
    """Answer as long as the process runs; use it as a liveness probe."""
    return Json(messages.Health("ok"))


@route("GET", "/readyz", "health", answer=messages.Health)
async def readyz(request: Request, service: Service) -> Response:
    """Answer 200 if lists can be built, stored and learned from; use it as a readiness probe."""
    await service.check_ready()
    return Json(messages.Health("ready"))


@route("GET", "/metrics", "health", gives=("text/plain",))
async def get_metrics(request: Request, service: Service) -> Response:
    """Metrics in the Prometheus text format."""
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@route("GET", "/openapi.json", None)
async def openapi(request: Request, service: Service) -> Response:
    return Json(document())


@cache
def document() -> dict[str, Any]:
    documented = [entry for entry in ROUTES if entry.tag is not None]
    kinds = {kind for entry in documented for kind in (entry.answer, entry.body, entry.query) if kind is not None}
    ordered = sorted(kinds | {ErrorAnswer}, key=lambda kind: kind.__name__)
    _, schemas = msgspec.json.schema_components(ordered, ref_template=SCHEMAS)
    paths: dict[str, Any] = {}
    for entry in documented:
        paths.setdefault(entry.path, {})[entry.method.lower()] = _operation(entry, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "listwright", "version": "1", "description": ABOUT},
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
    }


def _operation(entry: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    name, roles = entry.handler.__name__, roles_for(entry.method, entry.path)
    described = re.sub(r"(?<!\n)\n[ ]*(?!\n)", " ", (entry.handler.__doc__ or "").strip())
    operation: dict[str, Any] = {
        "operationId": name,
        "summary": name.replace("_", " ").capitalize(),
        "description": described
        if roles is None
        else f"{described}\n\nNeeds a key with the role {' or '.join(roles)}.",
        "tags": [entry.tag],
        "responses": {str(entry.status): {"description": "Success", "content": _content_of(entry.answer, entry.gives)}},
    }
    if roles is not None:
        operation["security"] = [{"key": []}]
        failure = _content_of(ErrorAnswer, ())
        operation["responses"] |= {
            str(code): {"description": text, "content": failure} for code, text in ERRORS.items()
        }
    if entry.body is not None or entry.takes:
        operation["requestBody"] = {"required": True, "content": _content_of(entry.body, entry.takes)}
    if parameters := _parameters(entry, schemas):
        operation["parameters"] = parameters
    return operation


def _content_of(kind: type[Any] | None, binary: tuple[str, ...]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    if kind is not None:
        content["application/json"] = {"schema": {"$ref": SCHEMAS.format(name=kind.__name__)}}
    return content | {media: {"schema": {"type": "string", "format": "binary"}} for media in binary}


def _parameters(entry: Route, schemas: dict[str, Any]) -> list[dict[str, Any]]:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "integer" if name == "version" else "string"}}
        for name in re.findall(r"{(\w+)}", entry.path)
    ]
    if entry.query is None:
        return parameters
    query = schemas[entry.query.__name__]
    required = query.get("required", [])
    return parameters + [
        {"name": name, "in": "query", "required": name in required, "schema": schema}
        for name, schema in query["properties"].items()
    ]
