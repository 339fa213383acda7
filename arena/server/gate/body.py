"""What is sent with a request, bounded while it is read: fields of a form, JSON, or a file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable
from typing import Any
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from arena.base.errors import UploadError, UsageError
from arena.base.text import size_text
from arena.community.submissions.upload_directory import MAX_UPLOAD_BYTES, Received, Receiving, UploadDirectory
from arena.server.http.endpoint import content_type_of, not_taken, read_body
from arena.server.http.problems import Problem, ProblemError

# What is sent with a request, bounded while it is read: fields of a form, or JSON.

MAX_BODY_BYTES = 16 * 1024
MAX_FIELDS = 50
BODY_SECONDS = 10.0

FORM, JSON = "application/x-www-form-urlencoded", "application/json"


async def fields_of(request: Request, max_bytes: int = MAX_BODY_BYTES) -> dict[str, Any]:
    """Return the fields of a request by name; a field that is sent more than once is a list.

    Raises:
        ProblemError: if the body is too long, too slow, or neither a form nor JSON.
    """
    content_type = content_type_of(request)
    body = await read_body(request, "What is sent here", max_bytes, BODY_SECONDS)
    if not body:
        return {}
    if content_type == FORM:
        return _of_form(body)
    if content_type == JSON:
        return _of_json(body)
    raise not_taken(415, f"Expected one of the types {FORM}, {JSON}.")


def _of_form(body: bytes) -> dict[str, Any]:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError:
        raise not_taken(400, "The fields that were sent can't be read.") from None
    return by_name(pairs)


def by_name(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return fields by name; one that is sent more than once is a list."""
    fields: dict[str, Any] = {}
    for name, value in pairs:
        known = fields.get(name)
        if known is None:
            fields[name] = value
        else:
            fields[name] = [*(known if isinstance(known, list) else [known]), value]
    return fields


def _of_json(body: bytes) -> dict[str, Any]:
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
        UsageError: if no place is free for it, or it can't be written.
    """
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type not in (UPLOAD_FORM, FILE):
        raise _refused(415, f"Expected one of the types {UPLOAD_FORM}, {FILE}.")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:18]) > MAX_UPLOAD_BYTES + ROOM_BYTES:
        raise _too_large()
    try:
        async with asyncio.timeout(UPLOAD_SECONDS):
            if content_type == FILE:
                return {}, await _of_body(request, uploads.receive(person))
            return await _file_of_form(
                request, uploads.receive(person)
            )  # before anything is read: it may be that nothing is taken
    except TimeoutError:
        raise _refused(408, f"A file is sent within {UPLOAD_SECONDS:g} s.") from None


async def _of_body(request: Request, upload: Receiving) -> Received:
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
            form = await parser.parse()
        except MultiPartException:
            raise _refused(400, "The form that was sent can't be read.") from None
        except OSError as error:  # of the temporary file
            raise UsageError(f"uploads can't be taken now: {error.strerror}") from error
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
    """Yield what comes fast enough; the time that the arena takes for it does not count."""
    stream, left_seconds, time = request.stream(), GRACE_SECONDS, asyncio.get_running_loop().time
    while True:
        began = time()
        try:
            async with asyncio.timeout(left_seconds):
                piece = await anext(stream, None)
        except TimeoutError:
            least = f"{LEAST_BYTES_PER_SECOND // 1024} KiB"
            raise _refused(
                408, f"A file is sent at {least} each second or faster, after {GRACE_SECONDS:g} s."
            ) from None
        if piece is None:
            return
        left_seconds += len(piece) / LEAST_BYTES_PER_SECOND - (time() - began)
        yield piece


def _too_large() -> UploadError:
    return UploadError(f"the upload is larger than {size_text(MAX_UPLOAD_BYTES)}")


def _refused(status: int, sentence: str) -> ProblemError:
    return ProblemError(Problem(status=status, title="Not taken", error=sentence))
