"""The part of the site for people, on an opened database."""

from __future__ import annotations

import os
from collections.abc import Sequence

from arena.home import home_path, open_people, uploads_path
from arena.site.links import ServedLinks
from arena.site.render import asset_digests
from arena.submissions.upload_directory import RECEIVING, UploadDirectory
from arena.uploads.containment import can_contain_uploads
from arena.web.endpoint import Endpoint
from arena.web.people.gate import Gate
from arena.web.people.table import OPERATIONS
from arena.web.services import Service

ACCOUNT = "/account"


class OpenedPeople:
    """What people do on the site. Closed with ``close``.

    Attributes:
        links: the addresses of pages, for who can sign in.
        endpoints: the addresses of operations.
        services: programs that work beside the web process.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] | None,
        store: str | None = None,
        ladders: Sequence[str] = (),
        play_slots: int = 0,
    ) -> None:
        """Open the database.

        Args:
            directory: of the home.
            store: the URL of its database; None for a file in the home.
            ladders: tournament files of the ladders that submitted bots enter.
            play_slots: how many may play against bots at once.

        Raises:
            StoreError: if it can't be opened.
        """
        self._people = open_people(directory)
        uploads = UploadDirectory(uploads_path(directory), _refusal)
        uploads.remove_unfinished(RECEIVING)
        self.links = ServedLinks(asset_digests(), ACCOUNT)
        self.endpoints: tuple[Endpoint, ...] = Gate(self._people, uploads, self.links, OPERATIONS).endpoints

        place = str(home_path(directory).resolve())
        self.services = (
            Service("arena.submissions.checker_program", (place, store or "")),
            *(Service("arena.ladders.director_program", (place, store or "", path)) for path in ladders),
            *((Service("arena.playing.host_program", (place, store or "", str(play_slots))),) if play_slots else ()),
        )

    def close(self) -> None:
        """Close the database."""
        self._people.close()


def _refusal() -> str:
    """Return why this machine takes no uploads of strangers; "" if it does."""
    containment = can_contain_uploads()
    return "" if containment.is_enough else containment.reason
