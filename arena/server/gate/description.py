"""OpenAPI descriptions of operations: requests, responses, permissions and refusals."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from arena.server.gate.operation import NoFields, Operation, Who
from arena.server.gate.request import FORM, JSON
from arena.server.http.endpoint import NOT_CHANGED, REFUSALS, TOO_LONG, Description, problem_answer
from arena.server.http.openapi import SCHEMAS, SESSION, TOKEN, identifier_of, is_in_path, parameters_of
from arena.store.people.values import PERMISSIONS, SCOPE_PERMISSIONS, Permission, Role

_HTML, _STREAM = "text/html", "text/event-stream"
_RANGE_TYPES = ("application/octet-stream", "application/zip")
"""Files on the disk, of which a program may ask for a piece."""


def description_of(operation: Operation) -> Description:
    """Return the description of an operation."""
    schemas: dict[str, Any] = {}
    fields = _schema(operation.fields, "validation", schemas)
    described = {
        "operationId": identifier_of(f"{operation.method.lower()}{operation.path}"),
        "summary": operation.summary,
        "description": who_may(operation),
        "security": _security(operation),
        "parameters": [
            parameter
            for parameter in parameters_of(operation.path, fields)
            if operation.method == "GET" or parameter["in"] == "path"
        ],
        "responses": _responses(operation, schemas),
    }
    if operation.method != "GET" and operation.fields is not NoFields:
        described |= _body(operation, fields)
    return Description(described, schemas)


def who_may(operation: Operation) -> str:
    """Return who may do it, in a sentence."""
    match operation.who:
        case Who.ANYBODY:
            return "Anybody may."
        case Who.MEMBER:
            return "Everybody who has signed in may, and any token."
        case Who.MEMBER_IN_BROWSER:
            return "Everybody who has signed in with a browser may, but no token."
    roles = [role for role, granted in PERMISSIONS.items() if operation.who in granted]
    scopes = _scopes(operation)
    return f"Roles: {', '.join(roles)}. " + (f"Tokens: {', '.join(scopes)}." if scopes else "No token.")


def _scopes(operation: Operation) -> list[str]:
    if operation.only_in_browser or not isinstance(operation.who, Permission):
        return []
    return [str(scope) for scope, granted in SCOPE_PERMISSIONS.items() if operation.who in granted]


def _security(operation: Operation) -> list[dict[str, list[str]]]:
    if operation.who is Who.ANYBODY:
        return [{}]
    scopes = _scopes(operation)
    session: list[dict[str, list[str]]] = [{}] if operation.who in PERMISSIONS[Role.VISITOR] else []
    token: list[dict[str, list[str]]] = [{TOKEN: scopes}] if scopes or operation.who is Who.MEMBER else []
    return [*session, {SESSION: []}, *token]


def _schema(
    model: type[BaseModel], mode: Literal["validation", "serialization"], schemas: dict[str, Any]
) -> dict[str, Any]:
    """Return the schema of a model; those it refers to are added to ``schemas``."""
    schema = model.model_json_schema(mode=mode, ref_template=f"{SCHEMAS}{{model}}")
    schemas.update(schema.pop("$defs", {}))
    return schema


def _body(operation: Operation, fields: dict[str, Any]) -> dict[str, Any]:
    sent = {name: kind for name, kind in fields["properties"].items() if not is_in_path(operation.path, name)}
    if not sent:
        return {}
    required = [name for name in fields.get("required", ()) if name in sent]
    content = {"schema": {"type": "object", "properties": sent, "required": required, "additionalProperties": False}}
    return {"requestBody": {"required": bool(required), "content": {FORM: content, JSON: content}}}


def _responses(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    if operation.media_type:
        content: dict[str, Any] = {operation.media_type: {"schema": {"type": "string", "format": "binary"}}}
        responses["200"] = {"description": operation.summary, "content": content}
        if operation.media_type in _RANGE_TYPES:
            responses["206"] = {"description": "The piece of it that `Range` names.", "content": content}
    elif operation.model is None:
        schema = {
            "type": "object",
            "properties": {"done": {"type": "string"}, "to": {"type": "string"}},
            "required": ["done", "to"],
        }
        responses["200"] = {"description": "It is done.", "content": {JSON: {"schema": schema}}}
        responses["303"] = {"description": "It is done; a browser is led to the page that follows."}
    else:
        schemas[operation.model.__name__] = _schema(operation.model, "serialization", schemas)
        content = {_HTML: {"schema": {"type": "string"}}} if operation.template else {}
        content[JSON] = {"schema": {"$ref": f"{SCHEMAS}{operation.model.__name__}"}}
        responses["200"] = {"description": operation.summary, "content": content}
    if operation.method == "GET" and operation.who is not Who.ANYBODY:
        responses["303"] = {"description": "Sign in first; a browser is led to the page for that."}
    if operation.method == "GET" and operation.media_type not in (*_RANGE_TYPES, _STREAM):
        responses |= NOT_CHANGED
    return responses | {str(status): problem_answer(text) for status, text in sorted(_refusals(operation).items())}


def _refusals(operation: Operation) -> dict[int, str]:
    refusals = {
        400: "What was sent is not right; the sentence says what is expected.",
        401: "Sign in first, or the token is wrong.",
        403: "This person, a page of another site, or a request without https may not do it.",
        404: "There is no such thing.",
        421: REFUSALS[421],
        422: REFUSALS[422],
        503: "The database can't be read, or too many ask; `Retry-After` says when to ask again.",
    }
    if is_in_path(operation.path, "secret"):
        refusals[404] = "The link can't be used: it was, it has expired, or nobody made it; always the same sentence."
    if "{" in operation.path:
        refusals |= TOO_LONG
    if operation.media_type in _RANGE_TYPES:
        refusals[416] = "The file has no such piece."
    if operation.method != "GET":
        refusals |= {
            408: "What is sent takes too long.",
            413: "What is sent is too long.",
            415: "What is sent is neither a form nor JSON.",
        }
    if operation.rate is not None or operation.takes_password:
        refusals[429] = "It was done too often; `Retry-After` says when to try again."
    return refusals
