"""Signing a program in: it shows a code, somebody types it into a browser, and it gets a token.

The other end is ``arena/web/people/programs.py``.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

from arena.client.fields import Fields
from arena.client.site_client import NOT_FOUND, SiteClient
from arena.errors import SiteAwayError, SiteError
from arena.names import is_visible_text
from arena.people.roles import Scope
from arena.people.secret import is_secret, is_token

MAX_MACHINE_CHARACTERS = 64
MAX_INTERVAL_SECONDS = 60
MAX_WAIT_SECONDS = 3600
MAX_PAUSE_SECONDS = 30.0
"""Between two tries while the site is away."""

_CODE = re.compile(r"[A-Z0-9-]{4,20}", re.ASCII)
_PATH = re.compile(r"(/[A-Za-z0-9._-]+)+", re.ASCII)


@dataclass(frozen=True, slots=True)
class ShownCode:
    """A code that waits to be typed into a browser.

    Attributes:
        secret: by which the program asks for its token.
        code: to show.
        confirm_at: the address of the page where it is typed.
        interval_seconds: how long to wait between two questions.
        expires_in_seconds: how long it can be used.
    """

    secret: str = field(repr=False)
    code: str
    confirm_at: str
    interval_seconds: int
    expires_in_seconds: int

    @property
    def filled_in_at(self) -> str:
        """The address of the same page, with the code typed already."""
        return f"{self.confirm_at}?{urlencode({'code': self.code})}"


class Wait:
    """The time that a wait takes; tests have another."""

    def now_seconds(self) -> float:
        """Return what a clock shows."""
        return time.monotonic()

    def pause(self, seconds: float) -> None:
        """Wait for a while."""
        time.sleep(seconds)


def machine_name(name_of: Callable[[], str] = socket.gethostname) -> str:
    """Return what this machine is called, as it is shown to whoever types the code."""
    name = name_of().strip()[:MAX_MACHINE_CHARACTERS]
    return name if name and is_visible_text(name) else "a machine without a name"


def begin_login(client: SiteClient, scopes: Iterable[Scope]) -> ShownCode:
    """Ask a site for a code.

    Raises:
        SiteError: if it has no accounts, or is no arena.
        SiteAwayError: if it can't be reached, or fails.
    """
    try:
        value = client.post_json("/programs/requests", {"machine": machine_name(), "scopes": list(scopes)})
    except SiteError as error:
        if error.status != NOT_FOUND:
            raise
        raise SiteError(
            f"{client.site}: nobody can sign in there; its director can change that: arena serve --open-to authors",
            NOT_FOUND,
        ) from error
    answer = Fields(value, client.no_arena())
    path = urlsplit(answer.text("confirm_at")).path
    shown = ShownCode(
        secret=answer.text("secret"),
        code=answer.text("code"),
        confirm_at=f"{client.site}{path}",  # never another site than the one that was asked
        interval_seconds=answer.whole("interval_seconds", 1, MAX_INTERVAL_SECONDS),
        expires_in_seconds=answer.whole("expires_in_seconds", 1, MAX_WAIT_SECONDS),
    )
    if not (is_secret(shown.secret) and _CODE.fullmatch(shown.code) and _PATH.fullmatch(path)):
        raise client.no_arena()
    return shown


def wait_for_token(client: SiteClient, shown: ShownCode, wait: Wait | None = None) -> str:
    """Return the token, once somebody has typed the code. While the site is away, it is tried less often.

    Raises:
        SiteError: if nobody typed the code in time, or what answers is no arena.
        SiteAwayError: if the site was away until the code had expired.
    """
    wait = wait or Wait()
    end = wait.now_seconds() + shown.expires_in_seconds
    pause: float = shown.interval_seconds
    while True:
        wait.pause(pause)
        try:
            token = _token(client, shown)
        except SiteAwayError as error:
            pause = max(min(2 * pause, MAX_PAUSE_SECONDS), error.retry_after_seconds or 0)
            if wait.now_seconds() + pause >= end:
                raise
            continue
        if token is not None:
            return token
        pause = shown.interval_seconds
        if wait.now_seconds() + pause >= end:
            raise SiteError(f"{client.site}: nobody typed the code {shown.code} in time; run the command again")


def _token(client: SiteClient, shown: ShownCode) -> str | None:
    answer = Fields(client.post_json("/programs/tokens", {"secret": shown.secret}), client.no_arena())
    if answer.is_null("token"):
        return None
    token = answer.text("token")
    if not is_token(token):
        raise client.no_arena()
    return token
