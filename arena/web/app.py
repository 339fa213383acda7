"""The application: an address to a page, or to a sentence that says what is wrong with it."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import anyio.to_thread
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from arena.errors import ArenaError, UnknownNameError
from arena.home import ArenaHome
from arena.site.links import ServedLinks
from arena.site.models.model import Model, Parameters
from arena.site.page import Page
from arena.site.pages import PAGES
from arena.site.render import Setting, asset, asset_digests, render, render_template

CONTENT_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def application(home: ArenaHome) -> Starlette:
    """Return the site of a home."""
    links = ServedLinks(asset_digests())
    routes: list[BaseRoute] = [Route("/static/{digest}/{name}", _static)]
    for page in PAGES:
        for suffix in (".json", ".csv", ""):
            path = f"{page.path}{suffix}" if page.path != "/" or not suffix else f"/index{suffix}"
            path = path.replace("{match}", "{match:int}")
            routes.append(Route(path, partial(_page, home, links, page, suffix)))
    return Starlette(routes=routes)


async def _page(home: ArenaHome, links: ServedLinks, page: Page, suffix: str, request: Request) -> Response:
    setting = Setting(links=links, topics=page.topics)
    try:
        query = dict(request.query_params)
        table = query.pop("table", None) if suffix == ".csv" else None
        parameters = page.parameters.model_validate({**query, **request.path_params})
        model = await anyio.to_thread.run_sync(build, page, home, parameters)
        if suffix == ".csv":
            return Response(model.csv(table), media_type="text/csv")
    except UnknownNameError as error:
        return _error(404, "Not found", str(error), setting)
    except (ArenaError, ValidationError) as error:
        return _error(400, "This address is not right", str(error), setting)
    if suffix == ".json" or "application/json" in request.headers.get("accept", ""):
        return JSONResponse(model.model_dump(mode="json"))
    return HTMLResponse(render(page, parameters, model, setting))


def build(page: Page, home: ArenaHome, parameters: Parameters) -> Model:
    """Build what a page shows."""
    module, _, function = page.builder.partition(":")
    model: Model = getattr(import_module(module), function)(home, parameters)
    return model


def _error(status: int, title: str, sentence: str, setting: Setting) -> Response:
    values: dict[str, Any] = {"room": "", "twin": None, "title": title, "sentence": sentence}
    return HTMLResponse(render_template("error.html.jinja", setting, **values), status)


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in asset_digests():
        return Response(status_code=404)
    return Response(asset(name), media_type=CONTENT_TYPES[name.rpartition(".")[2]])
