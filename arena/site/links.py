"""The addresses of pages: on a server, and in a folder of files."""

from __future__ import annotations

from typing import Any, Protocol
from urllib.parse import quote, urlencode

from arena.site.page import Page
from arena.site.pages import PAGE_BY_NAME

SUFFIXES = (".json", ".csv")
"""What follows an address where a program wants the same page."""


class Links(Protocol):
    """Gives the address of a page or of a file of the site, for the page that is being written."""

    def page(self, name: str, suffix: str = "", **values: Any) -> str | None:
        """Return the address of a page; None if it is not there.

        Args:
            name: of the page, in the table of pages.
            suffix: ".json", ".csv", or nothing.
            values: its parameters.
        """

    def asset(self, name: str) -> str:
        """Return the address of a file in ``static``."""


class ServedLinks:
    """Addresses on a server."""

    def __init__(self, asset_digests: dict[str, str]) -> None:
        """Prepare addresses.

        Args:
            asset_digests: of the files in ``static``; they are part of addresses, so that files can be cached for good.
        """
        self._digests = asset_digests

    def page(self, name: str, suffix: str = "", **values: Any) -> str | None:
        """Return the address of a page."""
        page = PAGE_BY_NAME.get(name)
        return None if page is None else address_of(page, values, suffix)

    def asset(self, name: str) -> str:
        """Return the address of a file in ``static``."""
        return f"/static/{self._digests[name]}/{name}"


def address_of(page: Page, values: dict[str, Any], suffix: str = "") -> str:
    """Return the address of a page on a server; parameters that have their default are left out."""
    path = (page.path if page.path != "/" or not suffix else "/index").format(
        **{field: quote(str(values[field]), safe="") for field in page.path_fields}
    )
    if not suffix and path.endswith(SUFFIXES):  # a name that ends like this
        head, _, tail = path.rpartition(".")
        path = f"{head}%2E{tail}"
    defaults = {name: field.default for name, field in page.parameters.model_fields.items()}
    query = {
        name: str(values[name])
        for name in defaults
        if name in values and name not in page.path_fields and values[name] != defaults[name]
    }
    return f"{path}{suffix}" + (f"?{urlencode(query)}" if query else "")
