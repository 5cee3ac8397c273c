"""The page that shows the OpenAPI document works without the internet: all it needs comes from the same process."""

import re
from collections.abc import AsyncIterator
from html.parser import HTMLParser

import httpx
import pytest

from chassis.health import Health
from chassis.web import create_app

_ADDRESS = re.compile(r"(?:https?:)?//[\w.-]+")


class References(HTMLParser):
    """What a browser fetches for a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("src", "href")]


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(service="tester", health=Health(), title="Tester")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://tester") as opened:
        yield opened


async def test_the_page_names_no_other_host_and_everything_it_names_is_there(client: httpx.AsyncClient) -> None:
    page = await client.get("/docs")
    assert page.status_code == 200
    assert "/openapi.json" in page.text
    assert _ADDRESS.findall(page.text) == []
    references = References()
    references.feed(page.text)
    assert len(references.found) == 3
    for reference in references.found:
        asset = await client.get(reference)
        assert asset.status_code == 200
        assert len(asset.content) > 1_000
        assert "max-age" in asset.headers["cache-control"]


async def test_the_browser_is_told_to_ask_nobody_else(client: httpx.AsyncClient) -> None:
    policy = (await client.get("/docs")).headers["content-security-policy"]
    assert policy.startswith("default-src 'self';")
    assert "http" not in policy
    assert '"validatorUrl": null' in (await client.get("/docs")).text


@pytest.mark.parametrize("name", ["redoc.standalone.js", "../core.py", "%2e%2e%2fcore.py", "x"])
async def test_no_other_file_is_given_away(client: httpx.AsyncClient, name: str) -> None:
    assert (await client.get(f"/docs/{name}")).status_code == 404


async def test_the_style_sheet_fetches_nothing_from_elsewhere(client: httpx.AsyncClient) -> None:
    style = (await client.get("/docs/swagger-ui.css")).text
    assert [
        found for found in re.findall(r"url\(([^)]{0,40})", style) if not found.strip("'\"").startswith("data:")
    ] == []
