"""The HTTP API as this command sees it: one call, or page after page; what goes wrong is a `Failure`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from pilot_cli.failures import ApiFailure, Exit, Failure

Json = Any
PAGE_MAX = 100
"""Every list of the API gives as many at once."""
ROWS_MAX = 100_000


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list in the API's words: `rows` are in the member `name`, or the body is the list itself."""

    body: Json
    name: str | None

    @property
    def rows(self) -> list[Json]:
        """What it lists."""
        return list(self.body if self.name is None else self.body[self.name])

    @property
    def next_cursor(self) -> str | None:
        """Where the next page begins, unless this is the last."""
        return None if self.name is None else self.body.get("nextCursor")

    def joined(self, rows: list[Json]) -> Json:
        """The body with more rows before these."""
        everything = [*rows, *self.rows]
        return everything if self.name is None else {**self.body, self.name: everything}


class Client:
    """One platform, one key. `base` is /v1 or /v1/admin."""

    def __init__(self, http: httpx.Client, *, base: str, headers: Mapping[str, str]) -> None:
        self._http, self._base, self._headers = http, base, dict(headers)

    def get(self, *path: str, **query: Any) -> Json:
        """GET; parts of the path are quoted, nothing is sent for None."""
        return self.call("GET", *path, query=query)

    def post(self, *path: str, body: Json = None, headers: Mapping[str, str] | None = None) -> Json:
        """POST."""
        return self.call("POST", *path, body=body, headers=headers)

    def page(self, *path: str, **query: Any) -> Page:
        """One page of a list, whichever member holds it."""
        body = self.get(*path, **query)
        if isinstance(body, list):
            return Page(body, None)
        for name in ("items", "data", "messages"):
            if isinstance(body, dict) and isinstance(body.get(name), list):
                return Page(body, name)
        raise Failure(Exit.FAILED, f"The API's answer to {'/'.join(path)} is not a list.")

    def pages(self, *path: str, rows_max: int = ROWS_MAX, **query: Any) -> Iterator[Page]:
        """Page after page, until so many rows."""
        cursor = query.pop("cursor", None)
        while rows_max > 0:
            page = self.page(*path, **query, limit=min(rows_max, PAGE_MAX), cursor=cursor)
            yield page
            rows_max -= len(page.rows)
            cursor = page.next_cursor
            if cursor is None:
                return

    def call(
        self,
        method: str,
        *path: str,
        query: Mapping[str, Any] | None = None,
        body: Json = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        """The answer's JSON; raises `Failure`."""
        params = {name: _spelled(value) for name, value in (query or {}).items() if value is not None}
        address = "/".join([self._base, *(quote(part, safe="") for part in path)])
        try:
            answer = self._http.request(
                method, address, params=params, json=body, headers={**self._headers, **(headers or {})}
            )
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            reason = "no answer in time" if isinstance(error, httpx.TimeoutException) else type(error).__name__
            raise Failure(Exit.UNAVAILABLE, f"{self._http.base_url} cannot be reached ({reason}).") from None
        return _read(answer)


def _spelled(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(answer: httpx.Response) -> Json:
    request_id = answer.headers.get("x-request-id")
    try:
        body = answer.json() if answer.content else {}
    except ValueError:
        body = None
    if answer.is_success and body is not None:
        return body
    if answer.is_success:
        raise Failure(Exit.FAILED, "The answer is not JSON: is this the address of the platform's API?")
    raise ApiFailure(answer.status_code, body if isinstance(body, dict) else {}, request_id=request_id)
