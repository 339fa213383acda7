"""A request: who sends it, whether our own pages do, and what it contains, bounded while it is read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from arena.base.errors import UploadError
from arena.base.machine import is_loopback
from arena.base.text import size_text
from arena.community.submissions.upload_directory import (
    MAX_UPLOAD_BYTES,
    Received,
    Receiving,
    UploadDirectory,
    cannot_be_taken,
)
from arena.server.http.endpoint import content_type_of, not_taken, read_body
from arena.server.http.problems import Problem, ProblemError
from arena.store.people.people_store import PeopleStore
from arena.store.people.secret import is_secret, is_token
from arena.store.people.values import PERMISSIONS, Permission, Person, Role, permissions_of_token

# A browser sends its cookie with whatever other sites make it ask for, a program its token only where it wants to. So
# what a cookie proves counts for requests that come from our own pages alone (``check_origin``).

MAX_COOKIE_CHARACTERS = 4000
COOKIE_SECONDS = 180 * 24 * 60 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who asks, and what they may do: a person in a browser (with a session), a program (with a token), a visitor."""

    person: Person | None
    permissions: frozenset[Permission]
    session: int | None = None
    token: int | None = None

    @property
    def number(self) -> int | None:
        """Of the person in the database; None for a visitor."""
        return self.person.number if self.person is not None else None


VISITOR = Actor(person=None, permissions=PERMISSIONS[Role.VISITOR])


def actor_of(request: Request, people: PeopleStore) -> Actor:
    """Return who asks, from the database.

    Raises:
        ProblemError: for a token that is nobody's: a program must not go on as a visitor.
    """
    authorization = request.headers.get("authorization")
    if authorization is not None:
        return _actor_of_token(authorization, people)
    secret = session_secret(request)
    signed_in = people.sessions.find(secret) if secret is not None else None
    if signed_in is None:
        return VISITOR
    return Actor(
        person=signed_in.person, permissions=PERMISSIONS[signed_in.person.role], session=signed_in.session.number
    )


def _actor_of_token(authorization: str, people: PeopleStore) -> Actor:
    scheme, _, token = authorization.partition(" ")
    owner = people.tokens.find(token) if scheme.lower() == "bearer" and is_token(token) else None
    if owner is None:
        sentence = "The token is wrong or has expired; make another one on your account page"
        raise ProblemError(Problem(status=401, title="Sign in first", error=sentence))
    permissions = permissions_of_token(owner.person.role, owner.token.scopes)
    return Actor(person=owner.person, permissions=permissions, token=owner.token.number)


def session_secret(request: Request) -> str | None:
    """Return the secret in the cookie of a browser; None without one."""
    header = "; ".join(request.headers.getlist("cookie"))
    if len(header) > MAX_COOKIE_CHARACTERS:
        return None
    # not by http.cookies: what another program on this host has set may be no cookie by its rules
    pairs = [pair.strip().partition("=") for pair in header.split(";")]
    ours = [value for name, _, value in pairs if name == cookie_name(request)]
    return ours[0] if len(ours) == 1 and is_secret(ours[0]) else None  # of two, one was set by a stranger


def cookie_name(request: Request) -> str:
    """Return the cookie's name: with ``__Host-`` browsers keep it for this very host, and off plain http."""
    return "__Host-arena" if request.url.scheme == "https" else "arena-here"


def cookie_of(request: Request, secret: str | None) -> str:
    """Return the header that sets the cookie; with None, the one that removes it."""
    secure = "; Secure" if request.url.scheme == "https" else ""
    age = COOKIE_SECONDS if secret is not None else 0
    return f"{cookie_name(request)}={secret or ''}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}{secure}"


# Whether a request that changes something comes from our own pages.

CROSS_SITE = Problem(
    status=403,
    title="Not from this site",
    error="A page of another site sent this, so nothing was changed.",
)
NOT_ENCRYPTED = Problem(
    status=403,
    title="Only by https",
    error="Over a network, accounts need https, since others on the way could read passwords. Behind a proxy, the"
    " operator names it: arena serve --trusted-proxy ADDRESS",
)


def site_of(request: Request) -> str:
    """Return the address of the site as the request has it; its host is one that the site answers to."""
    return f"{request.url.scheme}://{request.headers.get('host', '')}"


def check_origin(request: Request) -> None:
    """Raise ProblemError for a request that another site made a browser send."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        is_ours = site in ("same-origin", "none")
    else:
        origin = request.headers.get("origin")
        # browsers too old for either header send no cookie with what another site posts: SameSite=Lax
        is_ours = origin is None or origin.lower() == site_of(request).lower()
    if not is_ours:
        raise ProblemError(CROSS_SITE)


def check_encryption(request: Request) -> None:
    """Raise ProblemError for a request whose secrets others could read on the way.

    Who asks this machine by another name than its own comes through a proxy, and nobody knows how they reach that.
    """
    address = request.client.host if request.client is not None else ""
    if request.url.scheme != "https" and not (is_loopback(address) and is_loopback(request.url.hostname or "")):
        raise ProblemError(NOT_ENCRYPTED)


# What is sent with a request, bounded while it is read: fields of a form, or JSON.

MAX_BODY_BYTES = 16 * 1024
MAX_FIELDS = 50
BODY_SECONDS = 10.0

FORM, JSON = "application/x-www-form-urlencoded", "application/json"


async def fields_of(request: Request, max_bytes: int = MAX_BODY_BYTES) -> dict[str, Any]:
    """Return the fields of a request by name; a field that is sent more than once is a list."""
    content_type = content_type_of(request)
    body = await read_body(request, "What is sent here", max_bytes, BODY_SECONDS)
    if not body:
        return {}
    if content_type == FORM:
        return _fields_of_form(body)
    if content_type == JSON:
        return _fields_of_json(body)
    raise not_taken(415, f"Expected one of the types {FORM}, {JSON}.")


def _fields_of_form(body: bytes) -> dict[str, Any]:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError:
        raise not_taken(400, "The fields that were sent can't be read.") from None
    return by_name(pairs)


def by_name(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return fields by name; one that is sent more than once is a list."""
    fields: dict[str, Any] = {}
    for name, value in pairs:
        earlier = fields.get(name)
        if earlier is None:
            fields[name] = value
        else:
            fields[name] = [*(earlier if isinstance(earlier, list) else [earlier]), value]
    return fields


def _fields_of_json(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise not_taken(400, "What was sent is not JSON.") from None
    if not isinstance(value, dict):
        raise not_taken(400, "What was sent is JSON, but no object.")
    return value


# A file that is sent with a request: written to the disk as it comes, and bounded while it is read.

UPLOAD_SECONDS = 300.0
GRACE_SECONDS = 10.0
LEAST_BYTES_PER_SECOND = 8 * 1024
"""After the grace, and on average: who is slower keeps a place from others."""
MAX_FIELDS_OF_UPLOAD = 5
MAX_FIELD_BYTES = 16 * 1024
ROOM_BYTES = 64 * 1024
"""For what is around the file in a form."""
PIECE_BYTES = 256 * 1024

UPLOAD_FORM, FILE = "multipart/form-data", "application/octet-stream"


async def receive_upload(
    request: Request, uploads: UploadDirectory, person: int | None
) -> tuple[dict[str, Any], Received]:
    """Return the other fields of a form with a file, and the file; or of a request whose body is the file.

    Raises:
        ProblemError: if it is neither, too slow, or has no file.
        UploadError: if it is too large or empty.
    """
    content_type = content_type_of(request)
    if content_type not in (UPLOAD_FORM, FILE):
        raise not_taken(415, f"Expected one of the types {UPLOAD_FORM}, {FILE}.")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:18]) > MAX_UPLOAD_BYTES + ROOM_BYTES:
        raise _too_large()
    try:
        async with asyncio.timeout(UPLOAD_SECONDS):
            if content_type == FILE:
                return {}, await _file_of_body(request, uploads.receive(person))
            return await _file_of_form(
                request, uploads.receive(person)
            )  # first, as it raises an error if no uploads are taken
    except TimeoutError:
        raise not_taken(408, f"A file is sent within {UPLOAD_SECONDS:g} s.") from None


async def _file_of_body(request: Request, upload: Receiving) -> Received:
    with upload as receiving:
        async for piece in _pieces(request):
            if piece:
                await asyncio.to_thread(receiving.write, piece)
        return await asyncio.to_thread(receiving.keep)


async def _file_of_form(request: Request, upload: Receiving) -> tuple[dict[str, Any], Received]:
    parser = MultiPartParser(
        request.headers, _bounded(request), max_files=1, max_fields=MAX_FIELDS_OF_UPLOAD, max_part_size=MAX_FIELD_BYTES
    )
    with upload as receiving:
        try:
            with cannot_be_taken():  # into a temporary file
                form = await parser.parse()
        except (MultiPartException, UnicodeError):  # the sender chooses the codec, such as idna
            raise not_taken(400, "The form that was sent can't be read.") from None
        try:
            file = form.get("file")
            if not isinstance(file, UploadFile) or not file.filename:
                raise UploadError("no file was chosen")
            fields = by_name((name, value) for name, value in form.multi_items() if isinstance(value, str))
            while piece := await file.read(PIECE_BYTES):
                await asyncio.to_thread(receiving.write, piece)
            return {**fields, "file_name": file.filename}, await asyncio.to_thread(receiving.keep)
        finally:
            await form.close()


async def _bounded(request: Request) -> AsyncGenerator[bytes, None]:
    size_bytes = 0
    async for piece in _pieces(request):
        size_bytes += len(piece)
        if size_bytes > MAX_UPLOAD_BYTES + ROOM_BYTES:
            raise _too_large()
        yield piece


async def _pieces(request: Request) -> AsyncGenerator[bytes, None]:
    """Yield the body in pieces while it comes fast enough; time that the arena itself takes does not count."""
    stream, left_seconds, time = request.stream(), GRACE_SECONDS, asyncio.get_running_loop().time
    while True:
        began = time()
        try:
            async with asyncio.timeout(left_seconds):
                piece = await anext(stream, None)
        except TimeoutError:
            least = f"{LEAST_BYTES_PER_SECOND // 1024} KiB"
            raise not_taken(
                408, f"A file is sent at {least} each second or faster, after {GRACE_SECONDS:g} s."
            ) from None
        if piece is None:
            return
        left_seconds += len(piece) / LEAST_BYTES_PER_SECOND - (time() - began)
        yield piece


def _too_large() -> UploadError:
    return UploadError(f"the upload is larger than {size_text(MAX_UPLOAD_BYTES)}")
