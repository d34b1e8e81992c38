"""The documentation page: made from the OpenAPI description, and from nothing outside."""

from fastapi import APIRouter, Request, Response

from clarion.web.documentation import show_documentation

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def show_docs(request: Request) -> Response:
    """Show what the API offers."""
    return show_documentation(request.scope, request.app.openapi())
