"""The routes of the API; each reads its input, calls the `Service` and encodes the result.

Docstrings of the handlers are the descriptions in the OpenAPI document, so they address callers of the API. Routes
under heavy load are in `direct`: their handlers take the request alone, so that `Shortcut` can call them.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Path, Query, Request, Response

from listwright.serve.api import answers as out
from listwright.serve.api.bodies import BINARY, from_binary, kind_of, read_body, read_json
from listwright.serve.learning.control import status
from listwright.serve.models import requests as given
from listwright.serve.models.details import list_detail, model_detail, model_list
from listwright.serve.models.requests import DEFAULT, Asked
from listwright.serve.refusals import Refused, invalid
from listwright.serve.service import Service
from listwright.serve.store.ids import now
from listwright.serve.store.stats import gains, recent, series, totals

DAY = 86_400
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": out.ErrorAnswer, "description": text}
    for status, text in {
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
    }.items()
}
VersionNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]
Name = Annotated[str, Query(pattern=r"^[A-Za-z0-9_.-]{1,64}$", description="The name of the model.")]


api = APIRouter(prefix="/v1", responses=ERRORS)
direct = APIRouter(prefix="/v1", responses=ERRORS)  # called by `Shortcut`
health = APIRouter()
OCTETS = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
FLOATS = {BINARY: OCTETS["application/octet-stream"]}


def takes(kind: type[Any], **more: Any) -> dict[str, Any]:
    """Return the OpenAPI description of a JSON body that the handler decodes itself."""
    schema = {"$ref": f"#/components/schemas/{kind.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}, **more}}}


class Json(Response):
    """A JSON response whose headers are written down as they are sent, which is faster than to build them."""

    media_type = "application/json"

    def __init__(self, body: bytes, status: int) -> None:
        """Prepare the response."""
        self.body, self.status_code, self.background = body, status, None
        self.raw_headers = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]


def answer(content: Any, status: int = 200) -> Response:
    """Return a JSON response; `content` is encoded unless it is bytes already."""
    return Json(content if isinstance(content, bytes) else msgspec.json.encode(content), status)


def service_of(request: Request) -> Service:
    """Return the service of the application that received the request."""
    service: Service = request.app.state.service
    return service


@direct.post("/lists", response_model=out.ListAnswer, openapi_extra=takes(given.ListRequest, **FLOATS), tags=["lists"])
async def build_list(request: Request) -> Response:
    """Build and store a list, so that feedback can refer to it."""
    service = service_of(request)
    built = await service.lists([await asked_for(request, service)], batch=False)
    return answer(built[0].answer)


async def asked_for(request: Request, service: Service) -> Asked:
    """Read the request for one list, in either format."""
    if kind_of(request) == BINARY:
        return from_binary(await read_body(request, service.limits.body_bytes))
    return Asked.of(await read_json(request, given.ListRequest, service.limits.body_bytes, service.feature_names()))


@direct.post("/lists:batch", response_model=out.BatchAnswer, openapi_extra=takes(given.BatchRequest), tags=["lists"])
async def build_lists(request: Request) -> Response:
    """Build and store several lists: all of them, or none if one cannot be built."""
    service = service_of(request)
    asked = await read_json(request, given.BatchRequest, service.limits.body_bytes, service.feature_names())
    if len(asked.lists) > service.limits.batch:
        raise invalid("lists", f"A batch has at most {service.limits.batch} lists. Got {len(asked.lists)}.")
    built = await service.lists([Asked.of(one) for one in asked.lists], batch=True)
    return answer(b'{"lists":[' + b",".join(one.answer for one in built) + b"]}")


@api.get("/lists", response_model=out.RecentLists, tags=["page"])
async def recent_lists(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[
        str | None, Query(pattern="^[0-9a-f]{32}$", description="Only lists older than this one.")
    ] = None,
) -> Response:
    """Return the latest lists, newest first. Pass the last `list_id` as `before` to read on."""
    return answer(await service_of(request).read(recent, limit, before))


@api.get("/lists/{list_id}", response_model=out.ListDetail, tags=["lists"])
async def get_list(request: Request, list_id: str) -> Response:
    """Return a list with its feedback, why each item was picked, and which candidates were skipped in favour of which
    item.
    """
    service = service_of(request)
    if len(list_id) != 32 or not list_id.isascii() or not list_id.isalnum():
        raise Refused(404, "not_found", "There is no such list.", field="list_id")
    return answer(await service.read(list_detail, list_id, service.fleet))


@direct.post(
    "/feedback", response_model=out.FeedbackAnswer, openapi_extra=takes(given.FeedbackRequest), tags=["feedback"]
)
async def give_feedback(request: Request) -> Response:
    """Store feedback on a list; answers once it is durable."""
    service = service_of(request)
    told = await read_json(request, given.FeedbackRequest, service.limits.feedback_bytes)
    noted = await service.feedback(told)
    return answer({"list_id": told.list_id, "event": noted.event, "duplicate": noted.duplicate})


@api.get("/stats", response_model=out.Stats, tags=["page"])
async def stats(request: Request) -> Response:
    """Number of lists, failure rates and progress of learning."""
    service = service_of(request)
    return answer(await service.read(totals, service.settings.learn))


@api.get("/stats/series", response_model=out.Series, tags=["page"])
async def stats_series(
    request: Request,
    seconds: Annotated[int, Query(ge=60, le=400 * DAY, description="How far back.")] = DAY,
    step: Annotated[int, Query(ge=60, le=400 * DAY, description="Seconds of a point; whole minutes.")] = 300,
) -> Response:
    """Lists served and failure rate over time, by model version, with 95 % intervals."""
    return answer(await service_of(request).read(series, now() - seconds, now(), step))


@api.get("/stats/positions", response_model=out.Positions, tags=["page"])
async def stats_positions(request: Request) -> Response:
    """Mean gain by position and model version, with 95 % intervals."""
    return answer(await service_of(request).read(gains))


@api.get("/learning", response_model=out.LearningStatus, tags=["learning"])
async def learning(request: Request) -> Response:
    """State of learning by version: progress, snapshots, and the comparison with the deployed policy."""
    service = service_of(request)
    return answer(await service.read(status, service.settings.learn))


@api.post(
    "/learning",
    response_model=out.LearningStatus,
    openapi_extra=takes(given.LearningRequest),
    responses={200: {"content": OCTETS}},
    tags=["learning"],
)
async def control_learning(request: Request) -> Response:
    """Freezes or resumes learning, discards what was learned (reset), returns to a snapshot (rollback), or returns what
    was learned as a model file (export).
    """
    service = service_of(request)
    asked = await read_json(request, given.LearningRequest, service.limits.feedback_bytes)
    if asked.action == "export":
        return Response(await service.export(asked), media_type="application/octet-stream")
    await service.control(asked)
    return answer(await service.read(status, service.settings.learn))


@api.get("/compare", response_model=out.Comparison, tags=["models"])
async def compare(
    request: Request,
    new: Annotated[int, Query(ge=1, le=2**31 - 1, description="A version.")],
    old: Annotated[int, Query(ge=1, le=2**31 - 1, description="The version that it is compared with.")],
    lists: Annotated[int, Query(ge=1, le=20_000, description="The latest lists with feedback to look at.")] = 2_000,
) -> Response:
    """Compare two versions by gain per list.

    `shown` compares the lists that each version served (A/B). `log` has off-policy estimates: what each version would
    have earned on all lists, by the probabilities with which their items were drawn.
    """
    return answer(await service_of(request).compare(new, old, lists))


@api.get("/models", response_model=out.ModelList, tags=["models"])
async def models(request: Request) -> Response:
    """All versions with their failure rates, and how traffic is shared."""
    service = service_of(request)
    return answer(await service.read(model_list, service.fleet))


@api.post(
    "/models",
    response_model=out.ModelDetail,
    status_code=201,
    openapi_extra={"requestBody": {"required": True, "content": OCTETS}},
    tags=["models"],
)
async def add_model(request: Request, name: Name = DEFAULT) -> Response:
    """Store a model file as a new version, which gets no traffic until `PUT /v1/traffic` gives it some."""
    service = service_of(request)
    if kind_of(request) != "application/octet-stream":
        raise Refused(415, "not_a_file", "Send the file, with the header `Content-Type: application/octet-stream`.")
    number = await service.add_model(name, await read_body(request, service.limits.model_bytes))
    return answer(await service.read(model_detail, number, service.fleet), 201)


@api.get("/models/{version}", response_model=out.ModelDetail, tags=["models"])
async def get_model(request: Request, version: VersionNumber) -> Response:
    """One version with its inputs, role, failure rate and certificate."""
    service = service_of(request)
    return answer(await service.read(model_detail, version, service.fleet))


@api.delete("/models/{version}", response_model=out.ModelList, tags=["models"])
async def delete_model(request: Request, version: VersionNumber) -> Response:
    """Deletes a version without traffic and what it learned; the lists that it built are kept."""
    service = service_of(request)
    await service.delete_model(version)
    return answer(await service.read(model_list, service.fleet))


@api.put("/traffic", response_model=out.ModelList, openapi_extra=takes(given.Traffic), tags=["models"])
async def put_traffic(request: Request) -> Response:
    """Set which version of a model is current, which gets a share as a canary, and which gets copies as a shadow."""
    service = service_of(request)
    await service.deploy(await read_json(request, given.Traffic, service.limits.feedback_bytes))
    return answer(await service.read(model_list, service.fleet))


@api.post("/traffic:rollback", response_model=out.ModelList, tags=["models"])
async def roll_back(request: Request, model: Name | None = None) -> Response:
    """Make the version that served before the current one current again, without a canary."""
    service = service_of(request)
    await service.roll_back(model)
    return answer(await service.read(model_list, service.fleet))


@health.get("/healthz", response_model=out.Health, tags=["health"])
async def healthz() -> Response:
    """Answer as long as the process runs; use it as a liveness probe."""
    return answer({"status": "ok"})


@health.get("/readyz", response_model=out.Health, responses={503: ERRORS[503]}, tags=["health"])
async def readyz(request: Request) -> Response:
    """Answer 200 if lists can be built, stored and learned from; use it as a readiness probe."""
    await service_of(request).check_ready()
    return answer({"status": "ready"})


@health.get("/metrics", response_class=Response, tags=["health"], responses={401: ERRORS[401], 403: ERRORS[403]})
async def metrics(request: Request) -> Response:
    """Metrics in the Prometheus text format."""
    return Response(service_of(request).metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
