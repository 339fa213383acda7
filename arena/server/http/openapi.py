"""The description of the site for programs: OpenAPI 3.1, from the table of pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from arena.base.version import __version__
from arena.server.http.endpoint import NOT_CHANGED, REFUSALS, TOO_LONG, Endpoint
from arena.server.http.problems import Problem
from arena.site.frame.model import CONVENTIONS, MAX_NAME_CHARACTERS, Lane, Model, Page
from arena.site.links import INDEX_PATH

SCHEMAS = "#/components/schemas/"
SESSION, TOKEN = "session", "token"
"""The ways to say who asks."""

_SECURITY = {
    SESSION: {"type": "apiKey", "in": "cookie", "name": "__Host-arena", "description": "Of a browser."},
    TOKEN: {"type": "http", "scheme": "bearer", "description": "Of a program: `arena_…`, with scopes."},
}

_JSON, _CSV = "application/json", "text/csv"
_PAGE = {"text/html": {"schema": {"type": "string"}}}

_REFUSALS = {
    **REFUSALS,
    **TOO_LONG,
    400: "The address has a parameter or a value that the page does not take.",
    404: "There is no such thing; the sentence suggests the nearest name.",
    503: "The store can't be read, or the page takes too long; `Retry-After` says when to ask again.",
}

_NAMES_OF_TABLES = {
    "name": "table",
    "in": "query",
    "description": "Which table of the page; the first by default.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARACTERS},
}


def document(pages: Sequence[Page], endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """Return the description of the pages, and of the endpoints."""
    schemas = _schemas(pages)
    paths: dict[str, Any] = {}
    for page in pages:
        paths |= _paths(page, schemas)
    components: dict[str, Any] = {"schemas": schemas}
    for endpoint in endpoints:
        if endpoint.operation is not None:
            operation = {"operationId": identifier_of(endpoint.path), **endpoint.operation}
            paths[endpoint.path] = {method.lower(): operation for method in endpoint.methods}
        if descriptions := endpoint.descriptions():
            paths[endpoint.path] = {
                method.lower(): description.operation for method, description in descriptions.items()
            }
            for description in descriptions.values():
                schemas |= description.schemas
            components["securitySchemes"] = _SECURITY
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Grid arena",
            "version": __version__,
            "summary": "What is played in an arena: every page of its site as JSON, and its tables as CSV.",
            "description": CONVENTIONS,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": components,
    }


def _schemas(pages: Sequence[Page]) -> dict[str, Any]:
    models: list[tuple[type[BaseModel], Literal["serialization", "validation"]]] = [(Problem, "serialization")]
    for page in pages:
        models += [(page.model, "serialization"), (page.parameters, "validation")]
    _, schema = models_json_schema(models, ref_template=f"{SCHEMAS}{{model}}")
    return dict(schema["$defs"])


def _paths(page: Page, schemas: Mapping[str, Any]) -> dict[str, Any]:
    value = {"schema": {"$ref": f"{SCHEMAS}{page.model.__name__}"}}
    parameters = parameters_of(page.path, schemas[page.parameters.__name__])
    base = page.path if page.path != "/" else INDEX_PATH
    paths = {
        page.path: _operation(page, "", {**_PAGE, _JSON: value}, parameters),
        f"{base}.json": _operation(page, "json", {_JSON: value}, parameters),
    }
    if page.model.tables is not Model.tables:
        content = {_CSV: {"schema": {"type": "string"}}}
        paths[f"{base}.csv"] = _operation(page, "csv", content, [*parameters, _NAMES_OF_TABLES])
    return paths


def _operation(
    page: Page, form: str, content: Mapping[str, Any], parameters: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    refusal = {**({} if form else _PAGE), _JSON: {"schema": {"$ref": f"{SCHEMAS}{Problem.__name__}"}}}
    responses: dict[str, Any] = {"200": {"description": page.summary, "content": content}}
    if not form and page.lane is not Lane.SERVER:
        responses["202"] = {
            "description": "The arena is computing the page; ask again after `Retry-After`.",
            "content": _PAGE,
        }
    refusals = {str(status): {"description": text, "content": refusal} for status, text in sorted(_REFUSALS.items())}
    responses |= NOT_CHANGED | refusals
    if page.lane is Lane.SERVER:  # which says what is wrong as its value
        responses["503"] = {"description": _REFUSALS[503], "content": content}
    return {
        "get": {
            "operationId": f"{page.name}_{form}" if form else page.name,
            "summary": page.summary,
            "parameters": list(parameters),
            "responses": responses,
        }
    }


def parameters_of(path: str, schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the parameters of an address, from the schema of the model that reads them."""
    required = schema.get("required", ())
    return [
        {
            "name": name,
            "in": "path" if is_in_path(path, name) else "query",
            "required": name in required,
            "schema": kind,
        }
        for name, kind in schema.get("properties", {}).items()
    ]


def is_in_path(path: str, name: str) -> bool:
    """Return whether a path has a field of this name."""
    return f"{{{name}}}" in path


def identifier_of(path: str) -> str:
    """Return the name of an operation at a path."""
    return "".join(letter if letter.isalnum() else "_" for letter in path.strip("/"))
