"""Whether this process is alive, whether it can work, and its numbers."""

import asyncio
from typing import Annotated, Literal

import structlog
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from clarion.api.door import engine_of
from clarion.api.errors import Unavailable
from clarion.api.metrics import CONTENT_TYPE, Metrics
from clarion.api.perform import perform
from clarion.store.database import Command
from clarion.store.migrate import steps
from clarion.store.queries import ask

log = structlog.get_logger("clarion.api")

router = APIRouter(tags=["health"])

READY_SECONDS = 5.0
"""For the database to answer."""


class AliveOut(BaseModel):
    """The process is alive."""

    status: Literal["ok"] = "ok"


class ReadyOut(BaseModel):
    """Whether requests can be served."""

    status: Literal["ready", "not ready"]
    database: Annotated[str, Field(description="ok, or what is wrong with it.")]
    schema_version: Annotated[str, Field(description="ok, or which migrations are to be run.")]
    relay: Annotated[Literal["here", "elsewhere"], Field(description="Whether relays run in this process.")]


@router.get("/healthz")
async def is_alive() -> AliveOut:
    """Tell that the process is alive. Asks nobody else."""
    return AliveOut()


@router.get("/readyz", response_model=ReadyOut, responses={503: {"model": ReadyOut, "description": "Not ready."}})
async def is_ready(request: Request) -> Response:
    """Tell whether requests can be served: the database answers and its schema is current."""
    engine = engine_of(request)
    database, schema = "ok", "ok"
    try:
        async with asyncio.timeout(READY_SECONDS):
            missing = await perform(engine, _find_missing_steps)
        if missing:
            schema = f"run `clarion migrate`: {', '.join(missing)}"
    except (Unavailable, TimeoutError):
        database, schema = "away", "unknown"
    except Exception:
        log.exception("readiness could not be told")
        database, schema = "ok", "unknown"
    ready = (database, schema) == ("ok", "ok")
    body = ReadyOut(
        status="ready" if ready else "not ready",
        database=database,
        schema_version=schema,
        relay="here" if engine.crew else "elsewhere",
    )
    return Response(body.model_dump_json(), 200 if ready else 503, media_type="application/json")


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def show_metrics(request: Request) -> Response:
    """Show the numbers of this process and of the outbox, for Prometheus.

    The outbox is measured at most every few seconds, however often this is asked.
    """
    metrics: Metrics = request.app.state.metrics
    return Response(await metrics.show(), media_type=CONTENT_TYPE)


def _find_missing_steps() -> Command[list[str]]:
    """Return the migrations that this release needs and that were not applied."""
    applied = {row["step"] for row in (yield ask("show_steps"))}
    return [step.name for step in steps() if step.phase == "pre" and step.name not in applied]
