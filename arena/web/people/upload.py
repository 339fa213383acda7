"""A file that is sent with a request: written to the disk as it comes, and bounded while it is read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from arena.errors import UploadError, UsageError
from arena.submissions.upload_directory import MAX_UPLOAD_BYTES, Received, UploadDirectory
from arena.text import size_text
from arena.web.problems import Problem, ProblemError

UPLOAD_SECONDS = 300.0
MAX_FIELDS = 5
MAX_FIELD_BYTES = 16 * 1024
ROOM_BYTES = 64 * 1024
"""For what is around the file in a form."""
PIECE_BYTES = 256 * 1024

FORM, FILE = "multipart/form-data", "application/octet-stream"


async def receive_upload(request: Request, uploads: UploadDirectory) -> tuple[dict[str, Any], Received]:
    """Return the other fields of a form with a file, and the file; or of a request whose body is the file.

    Raises:
        ProblemError: if it is neither, too slow, or has no file.
        UploadError: if it is too large or empty.
    """
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type not in (FORM, FILE):
        raise _refused(415, f"Expected one of the types {FORM}, {FILE}.")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:18]) > MAX_UPLOAD_BYTES + ROOM_BYTES:
        raise _too_large()
    try:
        async with asyncio.timeout(UPLOAD_SECONDS):
            if content_type == FILE:
                return {}, await _of_body(request, uploads)
            return await _of_form(request, uploads)
    except TimeoutError:
        raise _refused(408, f"A file is sent within {UPLOAD_SECONDS:g} s.") from None


async def _of_body(request: Request, uploads: UploadDirectory) -> Received:
    with uploads.receive() as receiving:
        async for piece in request.stream():
            if piece:
                await asyncio.to_thread(receiving.write, piece)
        return await asyncio.to_thread(receiving.keep)


async def _of_form(request: Request, uploads: UploadDirectory) -> tuple[dict[str, Any], Received]:
    parser = MultiPartParser(
        request.headers, _bounded(request), max_files=1, max_fields=MAX_FIELDS, max_part_size=MAX_FIELD_BYTES
    )
    with uploads.receive() as receiving:  # before anything is read: it may be that nothing is taken
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
            fields = {name: value for name, value in form.items() if isinstance(value, str)}
            while piece := await file.read(PIECE_BYTES):
                await asyncio.to_thread(receiving.write, piece)
            return {**fields, "file_name": file.filename}, await asyncio.to_thread(receiving.keep)
        finally:
            await form.close()


async def _bounded(request: Request) -> AsyncGenerator[bytes, None]:
    size_bytes = 0
    async for piece in request.stream():
        size_bytes += len(piece)
        if size_bytes > MAX_UPLOAD_BYTES + ROOM_BYTES:
            raise _too_large()
        yield piece


def _too_large() -> UploadError:
    return UploadError(f"the upload is larger than {size_text(MAX_UPLOAD_BYTES)}")


def _refused(status: int, sentence: str) -> ProblemError:
    return ProblemError(Problem(status=status, title="Not taken", error=sentence))
