"""What every command works with: the chosen platform, its two doors, the screen, and a question before harm."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

import httpx
import typer

from pilot_cli import profiles
from pilot_cli.client import Client, Page
from pilot_cli.failures import Exit, Failure
from pilot_cli.profiles import Profile, Profiles
from pilot_cli.screen import Column, Screen
from pilot_cli.settings import TIMEOUT_SECONDS, Environment

Item = TypeVar("Item")

AsJson = Annotated[bool, typer.Option("--json", help="Print the API's own JSON and nothing else.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; needed where nobody can answer.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=100_000, help="How many at most.")]
After = Annotated[str | None, typer.Option("--cursor", help="`nextCursor` of an earlier list.")]


@dataclass(slots=True, kw_only=True)
class Desk:
    """Nothing is read or called before a command needs it."""

    environment: Environment
    named_profile: str | None = None
    timeout_seconds: float = TIMEOUT_SECONDS
    screen: Screen = field(default_factory=Screen)
    closing: ExitStack = field(default_factory=ExitStack)
    _profile: Profile | None = None
    _http: httpx.Client | None = None

    @property
    def stored(self) -> Profiles:
        """The file's profiles."""
        return profiles.load(self.environment.profiles_path)

    @property
    def profile(self) -> Profile:
        """Raises `Failure` if no platform is known."""
        if self._profile is None:
            self._profile = profiles.chosen(self.environment, self.stored, self.named_profile)
        return self._profile

    def operator(self) -> Client:
        """The operators' door; raises `Failure` without an operator key."""
        key = self.profile.operator_key
        if key is None:
            raise Failure(Exit.UNAUTHORISED, "This needs an operator key: `pilot login`, or set PILOT_OPERATOR_KEY.")
        return Client(self.http(), base="/v1/admin", headers={"x-operator-key": key})

    def customer(self) -> Client:
        """The customers' door; raises `Failure` without an API key."""
        key = self.profile.api_key
        if key is None:
            raise Failure(Exit.UNAUTHORISED, "This needs an API key: `pilot login --api-key`, or set PILOT_API_KEY.")
        return Client(self.http(), base="/v1", headers={"x-api-key": key})

    def is_operator(self, *, as_customer: bool) -> bool:
        """Whether to go through the operators' door where both would do."""
        return self.profile.operator_key is not None and not as_customer

    def http(self) -> httpx.Client:
        """One connection pool, closed with the command."""
        if self._http is None:
            self._http = self.closing.enter_context(open_http(self.profile.url, self.timeout_seconds))
        return self._http

    def confirm(self, question: str, *, yes: bool) -> None:
        """Raises `Failure` unless somebody said yes, now or by option."""
        if yes:
            return
        if not sys.stdin.isatty():
            raise Failure(Exit.USAGE, f"{question} Nobody can answer here: repeat it with --yes.")
        if not typer.confirm(question, err=True):
            raise Failure(Exit.FAILED, "Nothing was changed.")

    def secret(self, what: str) -> str:
        """Asked for without showing it, or the next line of stdin: never an argument, for others can see those."""
        if sys.stdin.isatty():
            return str(typer.prompt(what, hide_input=True, err=True)).strip()
        given = sys.stdin.readline().strip()
        if not given:
            raise Failure(Exit.USAGE, f"{what}: nobody can be asked here, and stdin has no line for it.")
        return given

    def show(self, body: Any, columns: Sequence[Column]) -> None:
        """One thing."""
        if self.screen.as_json:
            self.screen.json(body)
        else:
            self.screen.record(body, columns)

    def show_list(self, pages: Iterator[Page], columns: Sequence[Column], *, nothing: str = "Nothing.") -> None:
        """All pages as one list; where it was cut, stderr says how to go on."""
        rows: list[Any] = []
        page = None
        for page in pages:
            body = page.joined(rows)
            rows += page.rows
        if page is None or self.screen.as_json:
            self.screen.json([] if page is None else body)
            return
        if rows or not self.screen.out.is_terminal:
            self.screen.rows(rows, columns)
        else:
            self.screen.note(nothing)
        if page.next_cursor:
            self.screen.note(f"More: --cursor {page.next_cursor}, or a larger --limit.")

    def each(self, what: str, items: Sequence[Item], work: Callable[[Item], Any]) -> list[tuple[Item, Any | Failure]]:
        """`work` on one after the other, with a bar; a failure of one does not stop the rest."""
        results: list[tuple[Item, Any | Failure]] = []
        with self.screen.progress(what, len(items)) as step:
            for item in items:
                try:
                    results.append((item, work(item)))
                except Failure as failure:
                    if failure.exit_code is Exit.UNAUTHORISED:
                        raise
                    results.append((item, failure))
                step()
        return results


def open_http(url: str, timeout_seconds: float) -> httpx.Client:
    """Never follows a redirect: keys go where they were meant to go. Raises `Failure` for what is no address."""
    profiles.check_url(url)
    headers = {"user-agent": "pilot-cli", "accept": "application/json"}
    return httpx.Client(base_url=url.rstrip("/"), timeout=timeout_seconds, headers=headers, follow_redirects=False)


def desk_of(context: typer.Context, *, as_json: bool = False) -> Desk:
    """The desk of this run."""
    desk: Desk = context.ensure_object(Desk)
    desk.screen.as_json = as_json
    return desk
