"""The part of the site for people, on an opened database."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

from arena.home import open_people, uploads_path
from arena.site.links import ServedLinks
from arena.site.render import asset_digests
from arena.submissions.upload_directory import RECEIVING, UploadDirectory
from arena.uploads.containment import can_contain_uploads
from arena.web.endpoint import Endpoint
from arena.web.people.gate import Gate
from arena.web.people.table import OPERATIONS

ACCOUNT = "/account"


class OpenedPeople:
    """What people do on the site. Closed with ``close``.

    Attributes:
        store: the database of people.
        links: the addresses of pages, for who can sign in.
        endpoints: the addresses of operations.
    """

    def __init__(self, directory: str | os.PathLike[str] | None, why_not: Callable[[], str] | None = None) -> None:
        """Open the database.

        Args:
            directory: of the home.
            why_not: returns why no uploads are taken, "" if they are; None to try out what this machine can contain.

        Raises:
            StoreError: if it can't be opened.
        """
        self.store = open_people(directory)
        uploads = UploadDirectory(uploads_path(directory), why_not or cache(_refusal))
        uploads.remove_unfinished(RECEIVING)
        self.links = ServedLinks(asset_digests(), ACCOUNT)
        self.endpoints: tuple[Endpoint, ...] = Gate(self.store, uploads, self.links, OPERATIONS).endpoints

    def close(self) -> None:
        """Close the database."""
        self.store.close()


def _refusal() -> str:
    """Return why this machine takes no uploads of strangers; "" if it does."""
    containment = can_contain_uploads()
    return "" if containment.is_enough else containment.reason
