"""What an operation has led to, as a response: a page, JSON, a file, or what was wrong with its fields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlencode

from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from arena.analysis.text.tables import printable
from arena.base.errors import UsageError, suggestion
from arena.base.names import as_file_name
from arena.base.text import shortened_text
from arena.server.gate.operation import Document, Done, Download, OfHome, Operation
from arena.server.gate.request import Actor, cookie_of
from arena.server.http.page_response import HTML, JSON, wants_json
from arena.server.http.page_value import NOT_KEPT, rendered, response_of
from arena.server.http.problems import FieldProblem, Problem, problem_of
from arena.site.links import ServedLinks
from arena.site.render import Setting, render, render_template

MAX_PLACE_CHARACTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A rejected form: the problem, what was sent (to be shown again), and the end of the address it was sent to."""

    problem: Problem
    sent: Mapping[str, Any]
    action: str

    @property
    def wrong(self) -> dict[str, str]:
        """What is wrong with each field, by its name."""
        errors_by_field: dict[str, list[str]] = {}
        for field_problem in self.problem.fields:
            errors_by_field.setdefault(field_problem.field, []).append(field_problem.error)
        return {field: "; ".join(errors) for field, errors in errors_by_field.items() if field}


NO_REFUSAL = Refusal(problem=Problem(status=200, title="", error=""), sent={}, action="")


def page_response(
    request: Request,
    operation: Operation,
    links: ServedLinks,
    actor: Actor,
    model: Any,
    unseen: int = 0,
    refusal: Refusal = NO_REFUSAL,
) -> Response:
    """Return the page with the result of an operation, and with a rejected form if there is one.

    The bar shows how many messages are ``unseen``. The model may say of itself that it ``is_late``: some of it is still
    being built; which ``live_topics`` have the events that change it; and that it ``is_asked_for_again``: a browser
    does so every few seconds, as no event may tell of what it shows.
    """
    headers = {"cache-control": NOT_KEPT} | ({"retry-after": "1"} if getattr(model, "is_late", False) else {})
    if wants_json(request) or not operation.template:
        content, kind, status = model.model_dump_json(), JSON, 200
    else:
        setting = Setting(links=links, unseen=unseen)
        if refusal is NO_REFUSAL:
            topics, is_asked_for_again = getattr(model, "live_topics", ()), getattr(model, "is_asked_for_again", False)
            setting = replace(setting, topics=topics, is_asked_for_again=is_asked_for_again)
        content = render_template(
            operation.template,
            setting,
            room=operation.room,
            twin=None,
            model=model,
            actor=actor,
            error=refusal.problem.error,
            sent=refusal.sent,
            action=refusal.action,
            problems=refusal.problem.fields,
            wrong=refusal.wrong,
        )
        kind, status = HTML, refusal.problem.status
    return _personal(request, content, kind, headers, status)


def done_response(request: Request, done: Done) -> Response:
    """Lead a browser elsewhere; tell a program what was done."""
    if wants_json(request):
        body = json.dumps({"done": done.sentence, "to": done.to}).encode()
        response = response_of(rendered(body, JSON), _request_headers(request), {"cache-control": NOT_KEPT})
    else:
        response = Response(status_code=303, headers={"location": done.to, "cache-control": NOT_KEPT})
    if done.session is not None:
        response.headers["set-cookie"] = cookie_of(request, done.session or None)
    return response


_NOT_SHOWN = {"cache-control": NOT_KEPT, "content-security-policy": "sandbox"}


def _plain_name(name: str) -> str:
    return as_file_name(name).encode("ascii", "replace").decode()


def download_response(result: Download) -> Response:
    """Return a file that no browser shows or runs, whatever is in it."""
    name, media_type = _plain_name(result.name), "application/octet-stream"
    return FileResponse(result.path, headers=_NOT_SHOWN, media_type=media_type, filename=name)


def document_response(request: Request, result: Document) -> Response:
    """Return bytes as a file that no browser shows or runs."""
    headers = {**_NOT_SHOWN, "content-disposition": f'attachment; filename="{_plain_name(result.name)}"'}
    return response_of(rendered(result.content, result.media_type), _request_headers(request), headers)


def home_page_response(request: Request, result: OfHome) -> Response:
    """Return a page of another home."""
    if wants_json(request):
        content, kind = result.model.model_dump_json(), JSON
    else:
        content, kind = render(result.page, result.parameters, result.model, result.setting), HTML
    return _personal(request, content, kind, {"cache-control": NOT_KEPT})


def _personal(request: Request, content: str, kind: str, headers: dict[str, str], status: int = 200) -> Response:
    response = response_of(rendered(content.encode(), kind), _request_headers(request), headers, status)
    response.headers["vary"] += ", Cookie, Authorization"
    return response


def _request_headers(request: Request) -> Headers:
    if request.method in ("GET", "HEAD"):
        return request.headers
    return Headers({"accept-encoding": request.headers.get("accept-encoding", "")})


def place_of_ours(text: str) -> str:
    """Return a path if it is certainly on this site; else that of the account."""
    is_plain = text.isascii() and text.isprintable() and "\\" not in text and len(text) <= MAX_PLACE_CHARACTERS
    return text if is_plain and text.startswith("/") and not text.startswith("//") else "/account"


def to_sign_in(request: Request) -> Response:
    """Lead a visitor to the page on which one signs in, and then back."""
    query = request.scope["query_string"].decode("latin-1")
    next_path = quote(request.url.path) + (f"?{query}" if query else "")
    headers = {"location": f"/sign-in?{urlencode({'next': place_of_ours(next_path)})}", "cache-control": NOT_KEPT}
    return Response(status_code=303, headers=headers)


# Errors in the fields that were sent: all at once, each with its field.

MAX_FIELDS = 50
"""Field errors that a response lists."""
MAX_ERROR_CHARACTERS = 500


def problem_of_sent(
    request: Request, operation: Operation, sent: Mapping[str, Any], error: UsageError | ValidationError
) -> Problem:
    """Return the problem for what was sent."""
    fields: Sequence[FieldProblem]
    if isinstance(error, ValidationError):
        faults = error.errors(include_url=False, include_input=False)  # without values: one may be a password
        fields = [_field_problem(dict(fault), operation) for fault in faults]
        if any(field.field in request.path_params for field in fields):
            return Problem(status=404, title="Not found", error="There is nothing at this address.")
    else:
        fields = operation.fields_refused(error, sent, wants_json(request))
    if fields:
        return _problem_of_fields(fields)
    problem = problem_of(error)
    title = "Not done" if problem.status == 400 else problem.title
    return problem.model_copy(update={"title": title, "error": _as_sentence(problem.error)})


def _problem_of_fields(fields: Sequence[FieldProblem]) -> Problem:
    listed = tuple(
        field.model_copy(update={"error": printable(field.error[:MAX_ERROR_CHARACTERS])})
        for field in dict.fromkeys(fields)
    )
    if len(listed) > MAX_FIELDS:
        left_out = FieldProblem(field="", title="", error=f"{len(listed) - MAX_FIELDS} more mistakes are not listed")
        listed = (*listed[:MAX_FIELDS], left_out)
    sentence = "; ".join(field.sentence for field in listed)
    return Problem(status=400, title="Not done", error=_as_sentence(sentence), fields=listed)


def _as_sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _field_problem(fault: Mapping[str, Any], operation: Operation) -> FieldProblem:
    name = str(fault["loc"][0]) if fault["loc"] else ""
    field_info = operation.fields.model_fields.get(name)
    field_path = shortened_text(".".join(map(str, fault["loc"])))
    return FieldProblem(
        field=name if field_info is not None else "",
        title=(field_info.title if field_info is not None else None) or repr(field_path),
        error=_error_of(fault, operation),
    )


def _error_of(fault: Mapping[str, Any], operation: Operation) -> str:
    bounds = fault.get("ctx", {})
    match fault["type"]:
        case "extra_forbidden" if len(fault["loc"]) == 1:
            known = operation.fields.model_fields
            return f"no such field; {suggestion(str(fault['loc'][0]), known) if known else 'expected none'}"
        case "missing":
            return "this is missing"
        case "string_too_short" if bounds["min_length"] == 1:
            return "this is empty"
        case "string_too_long":
            return f"expected at most {bounds['max_length']:,} characters"
    text = str(fault["msg"])
    return text[:1].lower() + text[1:]
