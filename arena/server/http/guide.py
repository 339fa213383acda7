"""``/guide``: how to write a bot and submit it here, and the documentation."""

from __future__ import annotations

from functools import lru_cache

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from arena.base.errors import nearest, suggestion
from arena.base.text import shortened_text
from arena.server.http.addresses import LOCAL
from arena.server.http.endpoint import Endpoint, Handler, operation_of_names
from arena.server.http.page_value import PAGE_CACHING, Rendered, rendered, response_of
from arena.server.http.problems import bad_address
from arena.site.guide import GUIDE, example_bot, guide_contents, guide_names, guide_page
from arena.site.links import ServedLinks
from arena.site.render import Setting, render_template

HTML = "text/html; charset=utf-8"
MAX_KEPT = 100
ELSEWHERE = {"/docs": GUIDE, "/help": GUIDE, "/about": GUIDE, "/protocol": f"{GUIDE}/protocol"}
"""Addresses that people guess, and the pages they mean."""


class Guide:
    """Answers with the pages of the guide; their commands have the address under which the client reached the site."""

    def __init__(self, links: ServedLinks) -> None:
        self._links = links
        self._rendered = lru_cache(MAX_KEPT)(self._render)

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """The addresses of the guide, and others that lead there."""
        other_addresses = ELSEWHERE if self._links.play else {**ELSEWHERE, "/play": f"{GUIDE}/playing_in_the_browser"}
        fields = {GUIDE: (), f"{GUIDE}/{{page}}": ("page",), f"{GUIDE}/{{chapter}}/{{page}}": ("chapter", "page")}
        return (
            *(Endpoint(path=path, handler=self._answer, operation=_operation(names)) for path, names in fields.items()),
            *(Endpoint(path=path, handler=_leading_to(target)) for path, target in other_addresses.items()),
        )

    async def _answer(self, request: Request) -> Response:
        name = "/".join(request.path_params.values())
        if name and name not in guide_names():
            sentence = f"There is no page {shortened_text(name)!r} in the guide: {suggestion(name, guide_names())}"
            near = nearest(name, guide_names())
            raise bad_address(sentence, 404, GUIDE if near is None else f"{GUIDE}/{near}")
        site = f"{request.url.scheme}://{request.url.netloc}"
        rendering = await anyio.to_thread.run_sync(self._rendered, site, name)
        return response_of(rendering, request.headers, {"cache-control": PAGE_CACHING})

    def _render(self, site: str, name: str) -> Rendered:
        setting = Setting(links=self._links)
        page = guide_page(name)
        if page is not None:
            page = page if self._links.account else page.without_accounts()
            values = {"page": page, "site": site}
            html = render_template("guide_page", setting, room="guide", twin=None, **values)
        else:
            html = render_template(
                "guide",
                setting,
                room="guide",
                twin=None,
                bot=example_bot(),
                manifest=NEXT_MANIFEST,
                commands=_commands(site) if self._links.account else LOCAL_COMMANDS,
                contents=guide_contents(),
                has_readme="readme" in guide_names(),
                has_tonight="tonight" in guide_names(),
            )
        return rendered(html.encode(), HTML)


NEXT_MANIFEST = ('name = "my_bot"', 'version = "2"', 'command = ["python3", "my_bot.py"]')
"""Of the second version of the example; a file alone is always version 1."""
LOCAL_COMMANDS = ("arena play plaid my_bot.py arena:random_legal", "arena check my_bot.py")


def _commands(site: str) -> tuple[str, ...]:
    is_plain = site.startswith("http://") and site.removeprefix("http://").rsplit(":", 1)[0].strip("[]") not in LOCAL
    option = " --plain-http" if is_plain else ""
    return (*LOCAL_COMMANDS, f"arena site login {site}{option}", f"arena submit my_bot.py --to {site}{option}")


def _leading_to(target: str) -> Handler:
    async def answer(_: Request) -> Response:
        return RedirectResponse(target, 307)  # temporary, as the site may be opened to people later

    return answer


def _operation(names: tuple[str, ...]) -> dict[str, object]:
    summary = "A page of the guide." if names else "How to write a bot and submit it here, and the documentation."
    return operation_of_names(summary, "text/html", names, "The guide has no such page.")
