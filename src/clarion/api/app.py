"""The app: an ASGI application over an open engine."""

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from clarion.api.errors import on_http_error, on_wrong_request
from clarion.api.gate import Gate
from clarion.api.metrics import Metrics
from clarion.api.middleware import BodyLimit, EncodedSlashes, Failures, Observed
from clarion.api.openapi import DESCRIPTION, TAGS, Documented
from clarion.api.routes import choices, documentation, events, health, inbox, operate, people, places, posts, threads
from clarion.api.signing_in import Visits
from clarion.engine import Engine
from clarion.web import pages

ROUTERS = (
    people.router,
    places.organisations,
    places.spaces,
    threads.router,
    posts.router,
    events.router,
    inbox.router,
    choices.router,
    operate.router,
    health.router,
    documentation.router,
    pages.router,
)


def create_app(engine: Engine, *, demo: bool = False) -> FastAPI:
    """Return the API, its documentation and the inbox page, over an engine that the caller opens and closes.

    With `demo`, and from this very machine only, `/?as=HANDLE` signs a browser in as that person, and the API
    takes the page's cookie for a token.
    """
    app = Documented(
        title="Clarion",
        version="1",
        summary="Notifications: who hears, why, exactly once, and a badge that is never wrong.",
        description=DESCRIPTION,
        openapi_tags=TAGS,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.engine = engine
    app.state.metrics = metrics = Metrics(engine)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(RequestValidationError, on_wrong_request)
    for router in ROUTERS:
        app.include_router(router)
    app.state.site = pages.Site(Visits(engine), engine.settings.public_url, demo)
    # The last one added is the first to see a request.
    app.add_middleware(Gate, engine=engine, demo=demo)
    app.add_middleware(BodyLimit)
    app.add_middleware(EncodedSlashes)
    app.add_middleware(Failures)
    app.add_middleware(Observed, observe=metrics.observe)
    return app
