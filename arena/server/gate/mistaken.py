"""What is wrong with what was sent: all of it at once, each with its field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from starlette.requests import Request

from arena.analysis.text.tables import printable
from arena.base.errors import UsageError
from arena.base.text import shortened_text
from arena.server.gate.operation import Operation
from arena.server.gate.responses import wants_json
from arena.server.http.problems import FieldProblem, Problem, problem_of

MAX_FIELDS = 50
"""That are listed."""
MAX_ERROR_CHARACTERS = 500


def problem_of_sent(
    request: Request, operation: Operation, sent: Mapping[str, Any], error: UsageError | ValidationError
) -> Problem:
    """Return the problem for what was sent.

    Args:
        request: with which it was sent.
        operation: what was to be done.
        sent: the fields.
        error: what is wrong.
    """
    fields: Sequence[FieldProblem]
    if isinstance(error, ValidationError):
        fields = _of_form(error, operation)
        if any(one.field in request.path_params for one in fields):
            return Problem(status=404, title="Not found", error="There is nothing at this address.")
    else:
        fields = operation.fields_refused(error, sent, wants_json(request))
    if fields:
        return _about(fields)
    problem = problem_of(error)
    title = "Not done" if problem.status == 400 else problem.title
    return problem.model_copy(update={"title": title, "error": _as_sentence(problem.error)})


def _about(fields: Sequence[FieldProblem]) -> Problem:
    listed = tuple(
        one.model_copy(update={"error": printable(one.error[:MAX_ERROR_CHARACTERS])}) for one in dict.fromkeys(fields)
    )
    if len(listed) > MAX_FIELDS:
        left_out = FieldProblem(field="", title="", error=f"{len(listed) - MAX_FIELDS} more mistakes are not listed")
        listed = (*listed[:MAX_FIELDS], left_out)
    sentence = "; ".join(one.sentence for one in listed)
    return Problem(status=400, title="Not done", error=_as_sentence(sentence), fields=listed)


def _as_sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _of_form(error: ValidationError, operation: Operation) -> list[FieldProblem]:
    """Return what is wrong with each field by itself. It does not repeat values: one of them may be a password."""
    return [_field_problem(dict(one), operation) for one in error.errors(include_url=False, include_input=False)]


def _field_problem(fault: Mapping[str, Any], operation: Operation) -> FieldProblem:
    name = str(fault["loc"][0]) if fault["loc"] else ""
    known = operation.fields.model_fields.get(name)
    place = shortened_text(".".join(map(str, fault["loc"])))
    return FieldProblem(
        field=name if known is not None else "",
        title=(known.title if known is not None else None) or repr(place),
        error=_error_of(fault),
    )


def _error_of(fault: Mapping[str, Any]) -> str:
    """Return what is wrong with a field, for those who have a form before them."""
    bounds = fault.get("ctx", {})
    match fault["type"]:
        case "missing":
            return "this is missing"
        case "string_too_short" if bounds["min_length"] == 1:
            return "this is empty"
        case "string_too_long":
            return f"expected at most {bounds['max_length']:,} characters"
    text = str(fault["msg"])
    return text[:1].lower() + text[1:]
