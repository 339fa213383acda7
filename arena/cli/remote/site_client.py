"""A client of a site, which exchanges JSON and uploads files; and the account that it acts for."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO
from urllib.parse import quote, urlencode

from arena.base.errors import SiteAwayError, SiteError, UsageError
from arena.base.names import is_printable_text
from arena.base.stored import is_whole
from arena.base.text import shortened_text
from arena.base.version import __version__
from arena.cli.remote.credentials import Credentials, SiteAddress, site_address
from arena.cli.remote.exchange import Reply, Upload, exchange, printable_sentence
from arena.store.people.secret import is_token

JSON, BYTES = "application/json", "application/octet-stream"
UNAUTHORIZED, NOT_FOUND, TOO_OFTEN = 401, 404, 429
MAX_RETRY_SECONDS = 3600


class SiteClient:
    def __init__(self, site: SiteAddress, token: str | None = None) -> None:
        self.site = site
        self._headers = {"Accept": JSON, "User-Agent": f"arena/{__version__}"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"

    def get_json(self, path: str, **query: str | int) -> dict[str, Any]:
        return self._asked("GET", _target(path, query))

    def post_json(self, path: str, value: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return self._asked("POST", _target(path), json.dumps(value or {}).encode(), JSON)

    def upload(self, path: str, file: BinaryIO, size_bytes: int, **query: str | int) -> dict[str, Any]:
        return self._asked("POST", _target(path, query), Upload(file, size_bytes), BYTES)

    def no_arena(self) -> SiteError:
        return SiteError(f"{self.site}: what answers there is no arena, or one of another version")

    def _asked(
        self, method: str, target: str, body: bytes | Upload | None = None, content_type: str = ""
    ) -> dict[str, Any]:
        headers = self._headers | ({"Content-Type": content_type} if content_type else {})
        reply = exchange(self.site, method, target, headers, body)
        if 300 <= reply.status < 400:
            place = shortened_text(printable_sentence(reply.headers.get("location", "")))
            raise SiteError(
                f"{self.site}: it leads to {place!r}; redirects are not followed, so give that address if it is right",
                reply.status,
            )
        value = _object_in(reply)
        if not 200 <= reply.status < 300:
            raise self._refusal(reply, value)
        if value is None:
            raise self.no_arena()
        return value

    def _refusal(self, reply: Reply, value: Mapping[str, Any] | None) -> SiteError | SiteAwayError:
        answer = value.get("error") if value is not None else None
        is_ours = isinstance(answer, str) and bool(answer)
        sentence = printable_sentence(str(answer)) if is_ours else f"it answers with {reply.status}"
        if reply.status >= 500 or reply.status == TOO_OFTEN:
            return SiteAwayError(f"{self.site}: {sentence}", _retry_after(reply))
        if not is_ours and reply.status != UNAUTHORIZED:
            return self.no_arena()
        return SiteError(f"{self.site}: {sentence}", reply.status)


def _target(path: str, query: Mapping[str, str | int] | None = None) -> str:
    return quote(path, safe="/%") + (f"?{urlencode(query)}" if query else "")


def _object_in(reply: Reply) -> dict[str, Any] | None:
    if not reply.headers.get("content-type", "").lower().startswith(JSON):
        return None
    try:
        value = json.loads(reply.body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _retry_after(reply: Reply) -> int | None:
    text = reply.headers.get("retry-after", "")
    return min(int(text), MAX_RETRY_SECONDS) if text.isascii() and text.isdigit() and len(text) <= 9 else None


# The fields of a site's reply, each checked for its type and length.
# Unknown fields are ignored: a newer arena may send more.

MAX_TEXT_CHARACTERS = 300
MAX_WORDS = 50


class Fields:
    def __init__(self, value: Mapping[str, Any], refusal: SiteError) -> None:
        self._value, self._refusal = value, refusal

    def _checked(self, name: str, is_right: Callable[[Any], bool]) -> Any:
        value = self._value.get(name)
        if not is_right(value):
            raise self._refusal
        return value

    def text(self, name: str) -> str:
        """Return a short printable text."""
        return str(self._checked(name, _is_shown))

    def address(self, name: str) -> str:
        """Return an address at the site itself: after its name, ``@evil.example.org/`` would be one elsewhere."""
        return str(self._checked(name, lambda value: _is_shown(value) and value.startswith("/")))

    def sentence(self, name: str) -> str:
        """Return a text as one printable line; it may be empty."""
        return printable_sentence(self._checked(name, lambda value: isinstance(value, str)))

    def whole(self, name: str, least: int, most: int) -> int:
        return int(self._checked(name, lambda value: is_whole(value, least, most)))

    def flag(self, name: str) -> bool:
        """Return a truth value; False if the field is missing."""
        return self._value.get(name) is True

    def texts(self, name: str, most: int) -> list[str]:
        return list(self._checked(name, lambda value: _is_list(value, most) and all(map(_is_shown, value))))

    def objects(self, name: str, most: int) -> list[Fields]:
        values = self._checked(
            name, lambda value: _is_list(value, most) and all(isinstance(each, dict) for each in value)
        )
        return [Fields(value, self._refusal) for value in values]


def _is_list(value: object, most: int) -> bool:
    return isinstance(value, list) and len(value) <= most


def _is_shown(value: object) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= MAX_TEXT_CHARACTERS and is_printable_text(value)


MAX_TOKENS = 1000


@dataclass(frozen=True, slots=True)
class Account:
    name: str
    role: str
    scopes: tuple[str, ...]
    expires_at: str


def account_of(client: SiteClient) -> Account:
    try:
        answer = Fields(client.get_json("/account"), client.no_arena())
    except SiteError as error:
        if error.status != NOT_FOUND:
            raise
        sentence = "nobody can sign in there; its operator can change that: arena serve --open-to authors"
        raise SiteError(f"{client.site}: {sentence}", NOT_FOUND) from error
    token = next((token for token in answer.objects("tokens", MAX_TOKENS) if token.flag("is_this")), None)
    if token is None:
        raise client.no_arena()
    scopes = tuple(token.texts("scopes", MAX_WORDS))
    return Account(answer.text("name"), answer.text("role"), scopes, token.text("expires_at"))


def end_token(client: SiteClient) -> None:
    client.post_json("/account/token/end")


TOKEN_VARIABLE = "ARENA_TOKEN"


def token_in_environment() -> str | None:
    text = os.environ.get(TOKEN_VARIABLE, "").strip()
    if text and not is_token(text):
        raise UsageError(f"${TOKEN_VARIABLE} is no token of an arena; expected arena_ and 49 more characters")
    return text or None


def for_site(url: str, may_be_plain: bool = False) -> SiteClient:
    """Return a client of a site, with the token in $ARENA_TOKEN, or else the one that ``arena site login`` has kept."""
    token = token_in_environment()
    if token is not None:
        return SiteClient(site_address(url, may_be_plain), token)
    site = site_address(url, may_be_plain=True)
    token = Credentials().find(site)
    if token is None:
        raise UsageError(f"site {str(site)!r}: you are not signed in there; sign in with: arena site login {site}")
    return SiteClient(site, token)
