"""The addresses of pages: on a server, and in a folder of files."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from pydantic import ValidationError

from arena.site.frame.model import MAX_NAME_CHARACTERS, Page
from arena.site.page_table import PAGE_BY_NAME

INDEX_PATH = "/index"
"""The path of the first page where a suffix follows."""

SUFFIXES = (".json", ".csv")
"""The suffixes of addresses by which programs get the same page."""

MAX_PATH_BYTES = 5000
"""Of an address: for two of the longest names, in any letters."""

MAX_QUERY_BYTES = 8000

PLAY = "/play"

STATIC = "static"
"""Where a folder has the files of ``static``."""


class Links:
    """The addresses of pages and of files of the site, for the page that is being written; here there are none.

    Attributes:
        account: the address of the reader's account; None where nobody can sign in.
        play: the address where people play against bots; None where nobody can.
    """

    account: str | None = None
    play: str | None = None

    def page(self, name: str, suffix: str = "", **values: Any) -> str | None:
        """Return the address of a page of the table, with ".json", ".csv" or nothing; None without a page."""
        return None

    def asset(self, name: str) -> str:
        """Return the address of a file in ``static``; empty where pages have what they need in themselves."""
        return ""


class ServedLinks(Links):
    """Addresses on a server; whoever may have an account may play, and ``play`` is for visitors of other servers."""

    def __init__(self, asset_digests: dict[str, str], account: str | None = None, play: str | None = None) -> None:
        """Take digests of the files in ``static``: addresses contain them, so that browsers cache files for good."""
        self._digests, self.account = asset_digests, account
        self.play = PLAY if account else play

    def page(self, name: str, suffix: str = "", **values: Any) -> str | None:
        """Return the address of a page."""
        page = PAGE_BY_NAME.get(name)
        return None if page is None else address_of(page, values, suffix)

    def asset(self, name: str) -> str:
        """Return the address of a file in ``static``."""
        return f"/static/{self._digests[name]}/{name}"


def address_of(page: Page, values: dict[str, Any], suffix: str = "") -> str | None:
    """Return the address of a page on a server; None if no server answers there: a stored name may be of any kind.

    Parameters that have their default are left out.
    """
    path = (page.path if page.path != "/" or not suffix else INDEX_PATH).format(
        **{field: quote(str(values[field]), safe="@") for field in page.path_fields}
    )
    if not suffix and path.endswith(SUFFIXES):  # a name that ends like a suffix
        head, _, tail = path.rpartition(".")
        path = f"{head}%2E{tail}"
    defaults = {name: field.default for name, field in page.parameters.model_fields.items()}
    query = {
        name: str(values[name])
        for name in defaults
        if name in values and name not in page.path_fields and values[name] != defaults[name]
    }
    query_text = urlencode(query)
    if not _is_answered(page, values, defaults, path, query_text):
        return None
    return f"{path}{suffix}" + (f"?{query_text}" if query_text else "")


def _is_answered(page: Page, values: dict[str, Any], defaults: dict[str, Any], path: str, query: str) -> bool:
    """Return whether HTTP can carry an address, and its page takes values of this length."""
    if len(path) > MAX_PATH_BYTES or len(query) > MAX_QUERY_BYTES or "%00" in path or "%00" in query:
        return False
    if any(values[field] in _NO_NAMES for field in page.path_fields):
        return False
    texts = [value for key, value in values.items() if isinstance(value, str) and value != defaults.get(key)]
    if all(0 < len(text) <= MAX_NAME_CHARACTERS for text in texts):
        return True
    try:
        page.parameters.model_validate(values)
    except ValidationError:
        return False
    return True


def query_value(name: str) -> str:
    """Return a name as an address has it behind the question mark; nothing if no page takes it."""
    return quote(name) if 0 < len(name) <= MAX_NAME_CHARACTERS and "\0" not in name else ""


_NO_NAMES = ("", ".", "..")
"""Browsers remove these from a path, however they are encoded."""


class FolderLinks(Links):
    """Addresses in a folder of files, seen from one of them: they hold wherever the folder is, on a disk as well."""

    def __init__(self, place_of: Callable[[str, Mapping[str, Any]], str | None], here: str) -> None:
        """Take what returns the file of a page from its name and parameters, from the folder and without its ending,
        None without one; and the file (``here``, from the folder) from which links lead there.
        """
        self._place_of = place_of
        self._directory = posixpath.dirname(here)

    def page(self, name: str, suffix: str = "", **values: Any) -> str | None:
        """Return the address of a page; None if the folder does not have it."""
        ply = values.pop("ply", None)  # all positions of a match are in its page
        place = self._place_of(name, values)
        if place is None:
            return None
        path = f"{posixpath.dirname(place)}{suffix}" if suffix.startswith("/") else f"{place}{suffix or '.html'}"
        return self._from_here(path) + (f"#ply-{ply}" if ply is not None else "")

    def asset(self, name: str) -> str:
        """Return the address of a file in ``static``."""
        return self._from_here(f"{STATIC}/{name}")

    def _from_here(self, path: str) -> str:
        return posixpath.relpath(path, self._directory or ".")
