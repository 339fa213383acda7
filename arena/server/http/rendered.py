"""A response as it is kept: its bytes, the same compressed, and the digest by which a reader asks for changes."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from hashlib import blake2b

from starlette.datastructures import Headers
from starlette.responses import Response

MIN_COMPRESSED_BYTES = 500
GZIP_LEVEL = 6

PAGE_CACHING = "public, max-age=1, stale-while-revalidate=30"
FOR_GOOD = "public, max-age=31536000, immutable"
NOT_KEPT = "no-store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """What was made of a value.

    Attributes:
        body: its bytes.
        compressed: the same by gzip; None where that would not be shorter.
        digest: of the bytes.
        content_type: what they are.
    """

    body: bytes
    compressed: bytes | None
    digest: str
    content_type: str

    @property
    def size_bytes(self) -> int:
        """How much memory it takes."""
        return len(self.body) + len(self.compressed or b"")


def rendered(body: bytes, content_type: str) -> Rendered:
    """Return bytes as they are kept."""
    compressed = gzip.compress(body, GZIP_LEVEL, mtime=0) if len(body) >= MIN_COMPRESSED_BYTES else None
    return Rendered(
        body=body,
        compressed=compressed if compressed is not None and len(compressed) < len(body) else None,
        digest=blake2b(body, digest_size=12).hexdigest(),
        content_type=content_type,
    )


def response_of(one: Rendered, request_headers: Headers, headers: dict[str, str], status: int = 200) -> Response:
    """Return the response to a request: compressed if the reader takes that, and nothing if it has the same already.

    Args:
        one: what to send.
        request_headers: of the request.
        headers: of the response.
        status: its status.
    """
    compressed = one.compressed if _takes_gzip(request_headers.get("accept-encoding", "")) else None
    tag = f'"{one.digest}-gzip"' if compressed is not None else f'"{one.digest}"'
    own = {"content-type": one.content_type, "vary": "Accept, Accept-Encoding"}
    if status == 200:
        own["etag"] = tag
        if _has_one_of(request_headers.getlist("if-none-match"), one.digest):
            return Response(status_code=304, headers={**headers, "etag": tag, "vary": own["vary"]})
    if compressed is not None:
        own["content-encoding"] = "gzip"
    return Response(one.body if compressed is None else compressed, status, {**headers, **own})


def _takes_gzip(accepted: str) -> bool:
    """Return whether the value of ``Accept-Encoding`` has gzip, unless with the weight 0."""
    for part in accepted.lower().split(","):
        name, _, weight = part.partition(";")
        if name.strip() in ("gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _has_one_of(values: list[str], digest: str) -> bool:
    """Return whether the tags of ``If-None-Match`` include this digest, in whatever encoding."""
    tags = {
        tag.strip().removeprefix("W/").strip('"').removesuffix("-gzip") for value in values for tag in value.split(",")
    }
    return digest in tags or "*" in tags
