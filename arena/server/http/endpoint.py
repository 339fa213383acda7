"""An address that is no page, such as the events: a path, what answers it, and how it is described to programs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.types import ASGIApp

Handler = Callable[[Request], Awaitable[ASGIApp]]
"""Returns the response to a request, which may raise our errors until it begins; the fields of the path are in
``request.path_params``.
"""


REFUSALS = {
    405: "Only GET and HEAD are answered.",
    421: "The request names a host that is not this one.",
    422: "What is stored can't be shown, or the rules of the game fail.",
}
"""What any address that is read can end with."""
TOO_LONG = {414: "The address is too long."}
"""What an address with a field in its path can end with."""
NOT_CHANGED = {"304": {"description": "It is as `If-None-Match` says."}}


class Description(NamedTuple):
    """The description of an operation.

    Attributes:
        operation: as an OpenAPI object.
        schemas: of the models in it, by name.
    """

    operation: Mapping[str, Any]
    schemas: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An address that is no page.

    Attributes:
        path: with fields in braces.
        handler: answers the requests.
        methods: which of them; HEAD comes with GET.
        operation: its description in the OpenAPI document; None to leave it out.
        descriptions: returns the same by method, where each has its own; called when somebody asks for the document,
            for it takes longer than the rest of the site.
    """

    path: str
    handler: Handler
    methods: tuple[str, ...] = ("GET",)
    operation: Mapping[str, Any] | None = field(default=None)
    descriptions: Callable[[], Mapping[str, Description]] = field(default=dict)

    @property
    def allowed(self) -> tuple[str, ...]:
        """The methods that are answered."""
        return (*self.methods, "HEAD") if "GET" in self.methods else self.methods


def operation(
    summary: str, content_type: str, parameters: Sequence[Mapping[str, Any]], refusals: dict[int, str]
) -> dict[str, Any]:
    """Return the description of an endpoint that is read.

    Args:
        summary: what it has.
        content_type: of the answer.
        parameters: of its address, as OpenAPI describes them.
        refusals: what statuses mean beside those of every address; each comes with a problem as HTML or as JSON.
    """
    answers = {str(status): problem_answer(meaning) for status, meaning in sorted((REFUSALS | refusals).items())}
    return {
        "summary": summary,
        "parameters": list(parameters),
        "responses": {"200": {"description": summary, "content": {content_type: {}}}, **answers},
    }


def problem_answer(meaning: str) -> dict[str, Any]:
    """Return the description of a response that is a problem."""
    problem = {"text/html": {"schema": {"type": "string"}}}
    problem |= {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": meaning, "content": problem}
