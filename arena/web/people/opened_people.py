"""The part of the site for people, on an opened database."""

from __future__ import annotations

from arena.home import open_people
from arena.site.links import ServedLinks
from arena.site.render import asset_digests
from arena.web.endpoint import Endpoint
from arena.web.people.gate import Gate
from arena.web.people.table import OPERATIONS

ACCOUNT = "/account"


class OpenedPeople:
    """What people do on the site. Closed with ``close``.

    Attributes:
        links: the addresses of pages, for who can sign in.
        endpoints: the addresses of operations.
    """

    def __init__(self, directory: str | None) -> None:
        """Open the database.

        Args:
            directory: of the home.

        Raises:
            StoreError: if it can't be opened.
        """
        self._people = open_people(directory)
        self.links = ServedLinks(asset_digests(), ACCOUNT)
        self.endpoints: tuple[Endpoint, ...] = Gate(self._people, self.links, OPERATIONS).endpoints

    def close(self) -> None:
        """Close the database."""
        self._people.close()
