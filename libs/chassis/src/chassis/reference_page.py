"""Shows an application's OpenAPI document at /docs with what this process holds: no other host is asked."""

from importlib import resources
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

PATH: Final = "/docs"
_ASSETS: Final = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon.png": "image/png",
}
"""Of the package fastapi-offline, which ships the same files that FastAPI would have a browser fetch elsewhere."""
_HEADERS: Final = {
    "content-security-policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline';"
        " img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
}
"""A browser keeps to it even if a later version of the files should want more."""


def add_reference_page(app: FastAPI) -> None:
    """Serve the page and its files."""
    page = get_swagger_ui_html(
        openapi_url="/openapi.json",
        title=app.title,
        swagger_js_url=f"{PATH}/swagger-ui-bundle.js",
        swagger_css_url=f"{PATH}/swagger-ui.css",
        swagger_favicon_url=f"{PATH}/favicon.png",
        swagger_ui_parameters={"validatorUrl": None},
    )
    page.headers.update(_HEADERS)

    async def show(_: Request) -> Response:
        return page

    app.router.routes += [Route(PATH, show), Route(f"{PATH}/{{name}}", _asset)]


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _ASSETS:
        raise HTTPException(404)
    file = Path(str(resources.files("fastapi_offline"))) / "static" / name
    return FileResponse(file, media_type=_ASSETS[name], headers={"cache-control": "public, max-age=86400"})
