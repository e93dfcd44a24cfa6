"""The routes, each a few lines over the service."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic_core import to_json

from listwright.apps.serve import answers as out
from listwright.apps.serve import payloads as given
from listwright.apps.serve.details import list_detail, model_detail, model_list
from listwright.apps.serve.intake import read_body, read_json
from listwright.apps.serve.records import now
from listwright.apps.serve.refusals import Refused, invalid
from listwright.apps.serve.service import Service
from listwright.apps.serve.stats import gains, recent, series, totals

DAY = 86_400
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": out.ErrorAnswer, "description": text}
    for status, text in {
        400: "Not for this host",
        401: "No key, or one that is not known",
        403: "A key of another role",
        404: "Not there",
        409: "Against what is stored",
        413: "Body too large",
        415: "No JSON",
        422: "A field cannot be used",
        429: "Too many requests at once",
        503: "Try again",
    }.items()
}


class Direct(APIRoute):
    """A route whose function takes the request and nothing else, so there is nothing to work out before it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The function itself."""
        handler: Callable[[Request], Coroutine[Any, Any, Response]] = self.endpoint
        return handler


api = APIRouter(prefix="/v1", responses=ERRORS)
direct = APIRouter(prefix="/v1", responses=ERRORS, route_class=Direct)
health = APIRouter()


def takes(kind: type[BaseModel]) -> dict[str, Any]:
    """The body of a route, for the OpenAPI text: bodies are read by hand, which is quicker."""
    schema = {"$ref": f"#/components/schemas/{kind.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def answer(content: Any, status: int = 200) -> Response:
    """JSON."""
    body = content if isinstance(content, bytes) else to_json(content, inf_nan_mode="null")
    return Response(body, status, media_type="application/json")


def service_of(request: Request) -> Service:
    """The service that this app runs."""
    service: Service = request.app.state.service
    return service


@direct.post("/lists", response_model=out.ListAnswer, openapi_extra=takes(given.ListRequest), tags=["lists"])
async def build_list(request: Request) -> Response:
    """Builds a list; it is stored when it is answered, so feedback can come."""
    service = service_of(request)
    asked = await read_json(request, given.ListRequest, service.limits.body_bytes)
    return answer((await service.lists([asked], batch=False))[0].answer)


@direct.post("/lists:batch", response_model=out.BatchAnswer, openapi_extra=takes(given.BatchRequest), tags=["lists"])
async def build_lists(request: Request) -> Response:
    """Builds several lists; all of them, or none where one cannot be built."""
    service = service_of(request)
    asked = await read_json(request, given.BatchRequest, service.limits.body_bytes)
    if len(asked.lists) > service.limits.batch:
        raise invalid("lists", f"A batch has at most {service.limits.batch} lists. Got {len(asked.lists)}.")
    served = await service.lists(asked.lists, batch=True)
    return answer(b'{"lists":[' + b",".join(one.answer for one in served) + b"]}")


@api.get("/lists", response_model=out.RecentLists, tags=["page"])
async def recent_lists(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="Only older lists than this.")] = None,
) -> Response:
    """The latest lists."""
    return answer(await service_of(request).read(recent, limit, before))


@api.get("/lists/{list_id}", response_model=out.ListDetail, tags=["lists"])
async def get_list(request: Request, list_id: str) -> Response:
    """A list with its feedback, why each item was picked, and what was skipped for which item."""
    service = service_of(request)
    if len(list_id) != 32 or not list_id.isascii() or not list_id.isalnum():
        raise Refused(404, "not_found", "There is no such list.", field="list_id")
    return answer(await service.read(list_detail, list_id, service.fleet))


@direct.post(
    "/feedback", response_model=out.FeedbackAnswer, openapi_extra=takes(given.FeedbackRequest), tags=["feedback"]
)
async def give_feedback(request: Request) -> Response:
    """Stores what came of a list; answered when it is durable. A list takes feedback once."""
    service = service_of(request)
    told = await read_json(request, given.FeedbackRequest, service.limits.body_bytes)
    noted = await service.feedback(told)
    return answer({"list_id": told.list_id, "event": noted.event, "duplicate": noted.duplicate})


@api.get("/stats", response_model=out.Stats, tags=["page"])
async def stats(request: Request) -> Response:
    """Lists, failure rates and how far learning is."""
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


@api.get("/models", response_model=out.ModelList, tags=["models"])
async def models(request: Request) -> Response:
    """All versions with their failure rates, and how traffic is shared."""
    service = service_of(request)
    return answer(await service.read(model_list, service.fleet.traffic))


FILE = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}


@api.post(
    "/models",
    response_model=out.ModelDetail,
    status_code=201,
    openapi_extra={"requestBody": {"required": True, "content": FILE}},
    tags=["models"],
)
async def add_model(request: Request) -> Response:
    """Takes a model file as a new version, which serves nothing until traffic is given to it."""
    service = service_of(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/octet-stream":
        raise Refused(415, "not_a_file", "Send the file, with the header `Content-Type: application/octet-stream`.")
    number = await service.add_model(await read_body(request, service.limits.model_bytes))
    return answer(await service.read(model_detail, number, service.fleet), 201)


@api.get("/models/{version}", response_model=out.ModelDetail, tags=["models"])
async def get_model(request: Request, version: given.VersionNumber) -> Response:
    """One version, with its certificate."""
    service = service_of(request)
    return answer(await service.read(model_detail, version, service.fleet))


@api.put("/traffic", response_model=out.ModelList, openapi_extra=takes(given.Traffic), tags=["models"])
async def set_traffic(request: Request) -> Response:
    """Which version serves, and which share of lists goes to a canary; in force at once, no request is dropped."""
    service = service_of(request)
    await service.deploy(await read_json(request, given.Traffic, service.limits.body_bytes))
    return answer(await service.read(model_list, service.fleet.traffic))


@api.post("/traffic:rollback", response_model=out.ModelList, tags=["models"])
async def roll_back(request: Request) -> Response:
    """The version that served before the current one serves again, without a canary."""
    service = service_of(request)
    await service.roll_back()
    return answer(await service.read(model_list, service.fleet.traffic))


@health.get("/healthz", response_model=out.Health, tags=["health"])
async def healthz() -> Response:
    """The process runs."""
    return answer({"status": "ok"})


@health.get("/readyz", response_model=out.Health, responses={503: ERRORS[503]}, tags=["health"])
async def readyz(request: Request) -> Response:
    """It can build, store and learn."""
    await service_of(request).check_ready()
    return answer({"status": "ready"})


@health.get("/metrics", response_class=Response, tags=["health"], responses={401: ERRORS[401], 403: ERRORS[403]})
async def metrics(request: Request) -> Response:
    """For Prometheus."""
    return Response(service_of(request).metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
