"""An address that is no page, such as the events: a path, what answers it, and how it is described to programs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp

Handler = Callable[[Request], Awaitable[ASGIApp]]
"""Returns the response to a request, which may raise our errors until it begins; the fields of the path are in
``request.path_params``.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An address that is no page.

    Attributes:
        path: with fields in braces.
        handler: answers the requests.
        methods: which of them; HEAD comes with GET.
        operation: its description in the OpenAPI document; None to leave it out.
    """

    path: str
    handler: Handler
    methods: tuple[str, ...] = ("GET",)
    operation: Mapping[str, Any] | None = field(default=None)

    @property
    def allowed(self) -> tuple[str, ...]:
        """The methods that are answered."""
        return (*self.methods, "HEAD") if "GET" in self.methods else self.methods
