"""The part of the site for people: the table of operations, on an opened database."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from types import ModuleType

from arena.base.programs.service_program import HealthProblem
from arena.community.submissions.upload_directory import UploadDirectory, can_contain_uploads
from arena.server.gate.gate import Gate
from arena.server.gate.homes import Homes
from arena.server.gate.operation import Operation
from arena.server.http.opened_home import OpenedHome
from arena.server.http.page_cache import PageCache
from arena.server.operating.service_programs import problems
from arena.server.operations import (
    account,
    bot_logs,
    contest_changes,
    contest_results,
    contests,
    directing,
    invitations,
    people,
    playing,
    puzzles,
    submissions,
)
from arena.server.operations.contest_view import ContestNews
from arena.site.links import PLAY, ServedLinks
from arena.site.render import asset_digests
from arena.store.home import RECEIVING, home_path, open_people, open_visitors, uploads_path
from arena.store.people.values import Permission


def _declared_in(*modules: ModuleType) -> tuple[Operation, ...]:
    values = (value for module in modules for value in vars(module).values())
    tables = (value if isinstance(value, tuple) else (value,) for value in values)
    return tuple(value for table in tables for value in table if isinstance(value, Operation))


OPERATIONS = _declared_in(
    account,
    invitations,
    submissions,
    contests,
    contest_changes,
    contest_results,
    bot_logs,
    playing,
    puzzles,
    people,
    directing,
)
FOR_VISITORS = tuple(operation for operation in OPERATIONS if operation.who is Permission.PLAY)

ACCOUNT = "/account"


class OpenedPeople:
    """The people of the site, and the gate to what they do; closed with ``close``, after the gate."""

    def __init__(
        self,
        directory: str | os.PathLike[str] | None,
        upload_obstacle: Callable[[], str] | None = None,
        store: str | None = None,
        *,
        visitors_only: bool = False,
    ) -> None:
        """Open the database; ``upload_obstacle`` returns why no uploads are taken, by default by trying.

        With ``visitors_only`` nobody has an account, and all that people do is play against bots, and ask for analyses.
        """
        self._home = OpenedHome(directory, store)
        self._directory = home_path(directory)
        self.store = open_visitors(directory) if visitors_only else open_people(directory)
        uploads = UploadDirectory(
            uploads_path(directory), upload_obstacle or cache(lambda: can_contain_uploads().refusal)
        )
        uploads.remove_unfinished(RECEIVING)
        self.links = ServedLinks(asset_digests(), None if visitors_only else ACCOUNT, PLAY)
        self._homes = Homes(self._home, store)
        self.contest_news = ContestNews(self.store, self._homes.result_path)
        self.contest_news.number()
        operations = FOR_VISITORS if visitors_only else OPERATIONS
        self.gate = Gate(self.store, uploads, self._homes, self.links, operations)

    def show_pages_of(self, cache: PageCache) -> None:
        """Take what is shown of public pages from those that the site has built."""
        self._homes.pages = cache

    def problems(self) -> tuple[HealthProblem, ...]:
        """Return what is wrong with the services of the site."""
        return tuple(problems(self._directory, self.store))

    def close(self) -> None:
        """Close the databases."""
        self.contest_news.close()
        self.store.close()
        self._home.close()
